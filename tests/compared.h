/* compared.h - what tests of comparisons share: made-up sessions, compared. */
#ifndef RIFT_TESTS_COMPARED_H
#define RIFT_TESTS_COMPARED_H

#include "harness/compare/compare.h"
#include "tests/fake_session.h"

struct compared {
	struct journal session[2]; /* the second only of two sessions */
	struct compared_side side[2];
	struct comparison c;
	int err;
};

/* launch, quick, 5 processes, 2 sides, sizes 0 to 50 us, little noise: a fit finds everything. */
struct fake_session two_sides(void);

/* Margin 2 %, one session. */
struct compare_options usual_terms(void);

/* Side b over side a of the session; change(), unless NULL, may spoil it before. */
struct compared *compared_sides(const struct fake_session *s, const struct compare_options *o,
				void (*change)(struct journal *));

/* Two sessions, one side each. */
struct compared *compared_sessions(const struct fake_session *a, const struct fake_session *b,
				   const struct compare_options *o);

void compared_free(struct compared *c);

/* Ways to spoil a session of two sides: side b lacks graphs, as records say it ... */
void spoil_graphs(struct journal *j);
/* ... or computes wrong results in all processes, at the points of depth 1. */
void spoil_alone(struct journal *j);

/* The parameter of this name; the test fails where there is none. */
const struct compared_parameter *parameter_of(const struct compared *c, const char *name);

#endif
