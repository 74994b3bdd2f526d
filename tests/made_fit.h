/* made_fit.h - the grid and the fit of a made-up session (tests/fake_session.h). */
#ifndef RIFT_TESTS_MADE_FIT_H
#define RIFT_TESTS_MADE_FIT_H

#include "harness/fit/fit.h"
#include "tests/fake_session.h"

struct made {
	struct journal journal;
	struct grid grid; /* of side a */
	struct fit fit;
};

struct prices;

/* grid, and then fit: both must succeed. */
void made_grid(struct made *m, const struct fake_session *s);
void made_fit(struct made *m, const struct fake_session *s);
void made_release(struct made *m);

/* What a fit and prices hold is said (tests/golden.h). */
void made_say_fit(const struct fit *f);
void made_say_prices(const struct prices *p);

/* 5 processes, which have few different resamples: quick to fit. */
struct fake_session few_processes(double noise);

#endif
