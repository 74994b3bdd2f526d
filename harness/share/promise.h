/*
 * promise.h - does a client get what it was promised (allow.h)?
 *
 * Compute. A client's share is its steps a second over those of the base, the same workload without
 * layers and with work always queued: 1 is all that the device does. It is of the second half of
 * each window, so that what was saved up while the client idled is spent, if the window is long
 * enough for that. Clients wait for each step in every other window; without layers they then get
 * less than 1, and where that is no more than the promise, the promise is not used up and nothing
 * is judged.
 *
 * Memory. What can be taken, in bytes, by the call that is given most; see taker.c. A process's own
 * context counts as part of what was promised, where the layer counts it.
 *
 * A base that is not steady is no base: then nothing is shown.
 *
 * The verdict is that of harness/stats/decide.h over starts, with a margin of 5 %, corrected for
 * the number of clients and ways of waiting.
 */
#ifndef RIFT_SHARE_PROMISE_H
#define RIFT_SHARE_PROMISE_H

#include "harness/share/timeline.h"
#include "harness/share/share.h"
#include "harness/stats/contrast.h"

#define PROMISE_MARGIN 0.05

enum promise_verdict {
	PROMISE_HOLDS,
	PROMISE_MORE,	 /* it gets more than was allowed */
	PROMISE_LESS,	 /* it gets less */
	PROMISE_OPEN,	 /* inconclusive */
	PROMISE_UNUSED,	 /* it does not ask for as much */
	PROMISE_CROWDED, /* the clients together were promised more than there is */
};
extern const char *const promise_names[]; /* by enum promise_verdict */

/* Windows within the second half, by which a share scatters: 10 ms, 100 ms, 1 s. */
enum { PROMISE_SPANS = 3 };
extern const double promise_span_s[PROMISE_SPANS];

/* From the 5th to the 95th of a hundred windows; NAN: there is none, or a step is too long. */
struct promise_spread {
	double lo, hi;
};

/* A client of a set, queued or waiting. */
struct promise_row {
	const struct share_measured *of;
	int client;
	enum timeline_how how;
	bool known;
	double share;		    /* of the device's time, the median of starts */
	struct judged_point judged; /* share over what was promised */
	struct promise_spread spread[PROMISE_SPANS];
	double burst_s;	  /* device time beyond its share, after idling; the median of starts */
	double settled_s; /* when that was spent */
	double pause_s;	  /* the longest time without the end of a step, of all starts */
	double full_s; /* from the beginning on as fast as without a limit; the median of starts */
	enum promise_verdict verdict;
};

/* A workload without layers. */
struct promise_base {
	double rate;  /* steps a second, queued; NAN: not measured */
	double waits; /* share of it where each step is waited for */
	double least; /* the 5th of a hundred of its windows of 100 ms, over their median; NAN: none
		       * has 20 steps */
};

/* A base that falls below this part of itself is slowed by others, and by more than a client that
 * idles most of the time: no share of it is judged. */
#define PROMISE_STEADY 0.9

static inline bool promise_is_steady(const struct promise_base *b)
{
	return !(b->least < PROMISE_STEADY);
}

struct promise {
	struct promise_base base[SHARE_MIX_MAX];
	struct promise_row *row;
	int rows;
	int starts;
	double level;		      /* of intervals; NAN: there are none */
	enum promise_verdict compute; /* of all rows; OPEN without any */
	enum promise_verdict memory;  /* OPEN where none was promised, or it is still to come */
	enum promise_verdict verdict; /* of what was promised */
};

void promise_init(struct promise *l, const struct share *s);
void promise_release(struct promise *l);

/* Of a record's memory line; `is_cpu`: counted to the byte, else to what a GPU gives out at once.
 */
enum promise_verdict promise_of_memory(const json_t *line, int64_t allowed, bool is_cpu);

/* The most bytes that a client was given at a time, and by which call. */
struct promise_taken {
	const char *member, *by;
	double bytes;
};
struct promise_taken promise_most(const json_t *line);

/* What a process has of its allowance before it takes anything, by cudaMemGetInfo(); 0 where that
 * tells of more than was allowed: then the layer does not count it. */
double promise_context_bytes(const json_t *line, int64_t allowed);

/* RIFT_OK, 1: more or less than promised, 2: inconclusive; or as share_exit_code() says. */
int promise_exit_code(const struct share *s);

void promise_print(const struct share *s, FILE *out);
void promise_answer_print(const struct share *s, FILE *out); /* its first line */
json_t *promise_json(const struct share *s);

/* NULL: the client's part of a window is right. */
const char *promise_client_wrong(const json_t *client);

/* NULL: the line of memory is right. */
const char *promise_memory_wrong(const json_t *line);

#endif
