/* stubs.h - what the runtime of stubs sees and says; the assembler has these offsets, too. */
#ifndef RIFT_TESTS_LAYERS_STUBS_H
#define RIFT_TESTS_LAYERS_STUBS_H

#include <stdint.h>

struct stub_seen {
	uint64_t whole[8];     /* rdi rsi rdx rcx r8 r9 rax r10 */
	uint64_t vector[8][2]; /* xmm0 to xmm7 */
	uint64_t stack[4];     /* above the return address */
	uint64_t call;	       /* which function, in the order of names.h */
	uint64_t sp;	       /* rsp at its entry */
};

struct stub_answer {
	uint64_t rax, rdx, xmm0[2];
};

struct stub_seen *stubs_seen(void);
struct stub_answer *stubs_answer(void);

#endif
