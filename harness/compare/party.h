/*
 * party.h - one of the two that are compared: processes of one side of a session, which is read
 * from a record file.
 */
#ifndef RIFT_COMPARE_PARTY_H
#define RIFT_COMPARE_PARTY_H

#include "harness/record/journal.h"

enum half { HALF_BOTH, HALF_FIRST, HALF_SECOND };

struct party {
	const char *path;
	int side; /* of the session: 0 a, 1 b */
	enum half half;
	bool alone;	     /* the session has one side */
	struct journal view; /* its processes, as side a of a session: journal_view() */
	int n;		     /* of them */
	int failed;	     /* results that are missing or failed their check */
	double canary_ns;    /* median of the processes'; NAN: none */
};

/*
 * Halves are taken in the order 1 2 2 1, so that a drift hits both alike. The session must live as
 * long. Release it also where it was never filled in, if it is zeroed.
 */
void party_init(struct party *p, const struct journal *session, const char *path, int side,
		enum half half);
void party_release(struct party *p);

/* Did each process of one run together with that of the other: pairs of one session? */
bool party_is_pair(const struct party *a, const struct party *b);

/* The header of its first process. */
const json_t *party_header(const struct party *p);

/*
 * ns per step of every process at a point of its plan. Returns how many have measured it; only
 * where that is p->n are they in the order of processes.
 */
int party_values(const struct party *p, int point, double *value);

#endif
