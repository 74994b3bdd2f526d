/*
 * kinds.h - what each call of the runtime is: how it is charged, and what of it must be known.
 *
 * Words are a call's arguments, counted from 0.
 */
#ifndef RIFT_LAYER_EMULATE_KINDS_H
#define RIFT_LAYER_EMULATE_KINDS_H

#include <stdbool.h>

#include "layers/emulate/preload/command.h"
#include "layers/interpose.h"

enum { CALL_NO_WORD = -1 };

/* A call that is kept or waited for. */
struct call_row {
	const char *name;
	enum emulate_kind kind;
	int words;
	int stream, event; /* which word; CALL_NO_WORD: none */
	enum keep keep;
	int given; /* bits of words that are not 0 in a call that will succeed */
	int flags; /* which word is 0 or 1 in such a call; CALL_NO_WORD: none */
};

/* One more than the runtime has: it does nothing and costs PROBE_NS, for calibration. */
enum { CALL_PROBE = RUNTIME_CALLS, CALLS };

#define PROBE_NS 300

/* By the number of the call, from classify_calls() on. */
extern unsigned char call_kinds[CALLS];
extern const struct call_row *call_rows[CALLS]; /* NULL: charged, and jumped to */
extern bool call_per_thread[CALLS];		/* its default stream is the calling thread's */

void classify_calls(void);

#endif
