/* part.h - which calls of a trace are a step: a period that repeats, or all of it. */
#ifndef RIFT_REPLAY_PART_H
#define RIFT_REPLAY_PART_H

#include "workloads/replay/replay.h"

struct steps;
struct trace;
struct trace_fold;

/* A call of the step over all repeats: sums, and the last one of them. */
struct replay_seen {
	int64_t call; /* that last one */
	int64_t n, with_op;
	double gap_ns, slept_ns, own_ns, op_ns;
	bool overlaps; /* another kernel ran beside it */
};

struct replay_choice {
	const struct trace *t;
	const struct steps *s;
	int64_t first, last;	       /* calls of the whole */
	const struct trace_fold *fold; /* one of the period; NULL: the whole is a step */
	int64_t *turn;		       /* of each fold of the trace; -1: not of the period */
	int64_t n, repeats;	       /* calls of a step, and of steps */
	double ns;		       /* of all repeats, as recorded */
	int threads;		       /* that made the calls */
	struct replay_seen *seen;      /* of each call of a step */
};

/* 0, or a negative errno after one line; replay_part_release() may follow a failure. */
int replay_part_choose(struct replay_choice *p, const struct trace *t, const struct steps *s,
		       const struct replay_opts *o);

/* Which call of a step it is; -1: none. */
int64_t replay_part_position(const struct replay_choice *p, int64_t i);

/* Which row of steps it is of, a fold or the whole, from 0 on; -1: none. */
int64_t replay_part_row(const struct replay_choice *p, int64_t i);

/* Fills p->seen and p->threads. */
void replay_part_see(struct replay_choice *p);
void replay_part_release(struct replay_choice *p);

#endif
