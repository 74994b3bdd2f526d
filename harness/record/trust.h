/*
 * trust.h - may the results of a session be believed?
 *
 * A process says of a point that it was noisy (struct process_value): what disturbed its blocks
 * moved its value. A result is the median over processes, which outvotes a few of them. It is noisy
 * where half of its processes are or more, unless they agree: of BOOTSTRAP_N_MIN or more, half lie
 * within NOISE_SHARE of their median.
 */
#ifndef RIFT_RECORD_TRUST_H
#define RIFT_RECORD_TRUST_H

#include <stdio.h>

#include "harness/record/journal.h"

/* Results of a session: one for each point and side that any process has measured. */
struct trust {
	int results;
	int noisy;
	int unknown; /* others, whose processes spread by over 100 % about their median */
};

struct trust trust_of(const struct journal *j);

enum { TRUST_TEXT = 160 };

/*
 * Why nothing that a session says is to be believed: more than half of its results are noisy or
 * unknown. Who prints results says it first. "": they may be believed.
 */
const char *session_distrust(const struct journal *j, char out[TRUST_TEXT]);

enum { DISTRUSTED_TEXT = 640 };

/* Those of several sessions that are not to be believed; zeroed at first. */
struct distrusted {
	int n, named;
	char text[DISTRUSTED_TEXT]; /* of the first names, "NAME (why), NAME (why)" */
};

/* Adds the session under that name, unless it may be believed. */
void distrusted_add(struct distrusted *d, const char *name, const struct journal *j);

/* The line "3 sessions cannot be trusted: NAME (why) and 2 more."; nothing where there are none. */
void distrusted_print(const struct distrusted *d, FILE *out);

#endif
