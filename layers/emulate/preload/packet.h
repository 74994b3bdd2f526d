/*
 * packet.h - commands that wait in packets, and their delivery.
 *
 * A packet is open until it holds packet_commands, is packet_age old, or is flushed. Age closes it
 * whatever the program does: also while it reads memory and calls nothing. It is
 * delivered at max(close + latency, the delivery before) + bytes / bandwidth + submit. Then its
 * commands are issued, in the order in which all threads gave them: one queue and one thread for
 * the process, so that a program's order among threads holds. Each command carries its thread's
 * device, and gives its error back to its thread.
 *
 * Without latency, and where the caller submits, nobody need wait: the caller delivers. A packet
 * that grows old without a call is then submitted by a thread that sleeps meanwhile.
 */
#ifndef RIFT_LAYER_EMULATE_PACKET_H
#define RIFT_LAYER_EMULATE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layers/emulate/preload/spin.h"

/* A thread that calls. Never freed: commands of a thread that has ended may wait. */
struct thread {
	struct thread *next; /* of all that ever called */
	bool inside;	     /* within a call of the layer's own */
	int device;
	int error; /* of a command of this thread, not yet given back; or 0 */
	struct account account;
};

/* The thread that calls this. */
struct thread *thread_self(void);
void thread_is(struct thread *t);

enum { WORDS = 8 };

struct command {
	struct command *next;
	struct thread *from;
	long call;			  /* enum runtime_call */
	int (*make)(const void *payload); /* or a product, by its arguments: 0 where it is made */
	int device;
	const void *stream, *event; /* NULL: the legacy default stream; no event */
	size_t bytes;		    /* of arguments */
	bool in_blocks;		    /* a copy between host and device over a network */
	uint64_t
		ready; /* ticks: not issued before; 0: memory that it is the first to use is none */
	const uint64_t *arguments, *arguments_end; /* a kernel's, in the payload; or NULL */
	uint64_t words[WORDS]; /* as the program gave them, pointers to what was copied */
	uint64_t payload[];
};

/* The next library's function. Looked up once. */
void *next_function(long call);

/* Calls it as the runtime would have it: up to eight words. */
int call_next(long call, const uint64_t words[WORDS]);

/*
 * A copy whose words are to, from and bytes. Blocks cross the network one after another while the
 * GPU copies those before: ceil(N / block) max(t_net, t_gpu) + min(t_net, t_gpu).
 */
int copy_in_blocks(long call, const uint64_t words[WORDS]);

/* Do commands wait at all, with these costs, and in this process? */
bool packets_in_use(void);

/* Adds a command; owns it from then on. Spends submit_ns where the caller submits. */
void packet_add(struct command *c);

/* Closes the open packet. */
void packet_flush(struct thread *by);

/* The same, and waits until all that any thread gave before has been issued. */
void packet_drain(struct thread *by);

/* After a wait: what keeps packets one after another is given back where their work has ended. */
void packet_settle(void);

/* Does a command of this stream wait? Or, with an event, its record? */
bool packet_has(const void *stream, const void *event);

/* A pointer as a word of a command. */
static inline uint64_t word_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

#endif
