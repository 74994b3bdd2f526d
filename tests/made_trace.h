/*
 * made_trace.h - traces that tests write row by row, with times of their own.
 *
 * Prices of the machine that they are of, ns: c 2000, Z 10000, of which an empty kernel's 1000, so
 * L and wake are 3500 each; g 1000.
 */
#ifndef RIFT_TESTS_MADE_TRACE_H
#define RIFT_TESTS_MADE_TRACE_H

#include <stdio.h>

enum { MADE_C = 2000, MADE_L = 3500, MADE_WAKE = 3500, MADE_G = 1000 };

#define MADE_CALIBRATION                                                                           \
	"{\"launch_call_ns\":[2000,2000,2000],\"launch_and_wait_ns\":[10000,10000,10000],"         \
	"\"gap_ns\":[1000,1000,1000],\"window\":null,"                                             \
	"\"recorder\":{\"call_ns\":0,\"pace_ns\":0,\"kernel_ns\":1000}}"

struct made {
	FILE *out;
	char path[64];
	long calls, ops; /* so far; a call's id is its number, from 1 */
	/* further members of the row of runs and of the end, a comma before each; NULL: none */
	const char *runs, *end;
	const double *wall_ns; /* what each run without the recorder took; NULL: all the same */
};

/*
 * A new file of that name in /tmp, its header with two threads, 0 and 1, and streams 1 legacy, 2
 * and 3 blocking, 4 non-blocking. more: further members of the header, each with a comma before
 * it, "" for none; calibration NULL: none.
 */
void made_begin(struct made *m, const char *more, const char *calibration);

/* Rows as they are, and an end of line. */
void made_row(struct made *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* more as above. A call's id. */
long made_call(struct made *m, const char *class, long t0, long t1, const char *more);

/* What the last call gave the device. */
void made_op(struct made *m, const char *kind, int stream, long t0, long t1, const char *more);

/* A launch at t0 that takes c, and its kernel. */
void made_kernel(struct made *m, int stream, long call_t0, long t0, long t1);

/* The end, n runs without the recorder that took wall_ns each where n is not 0; closes. */
void made_end(struct made *m, long t, int n, long wall_ns);

/* Removes the file. */
void made_remove(struct made *m);

#endif
