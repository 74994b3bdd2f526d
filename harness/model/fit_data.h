/* fit_data.h - what the parts of a fit are fitted to. */
#ifndef RIFT_MODEL_FIT_DATA_H
#define RIFT_MODEL_FIT_DATA_H

#include "harness/model/grid.h"
#include "harness/stats/bootstrap.h"

/* The medians over processes, or those of one draw. */
struct fit_data {
	double *total_ns, *enq_ns; /* of each point of the grid */
	double *kernel_ns;	   /* K of each size */
};

void fit_data_of(struct fit_data *d, const struct grid *g);
void fit_data_release(struct fit_data *d);

/* Medians of every draw: [point][draw]. */
struct fit_draws {
	struct resamples resamples;
	double *total, *enq;
};

/* Returns 0, or -EINVAL after one line. Released also after a failure. */
int fit_draws_init(struct fit_draws *m, const struct grid *g, uint32_t group);
void fit_draws_release(struct fit_draws *m);

/* Those of one draw into d, which fit_data_of() has made. */
void fit_draws_take(const struct fit_draws *m, const struct grid *g, int draw, struct fit_data *d);

#endif
