/* check.h - what the parts of the particle filter's check share. */
#ifndef RIFT_PARTICLEFILTER_CHECK_H
#define RIFT_PARTICLEFILTER_CHECK_H

#include "workloads/particlefilter/particlefilter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may differ: rounding, fused multiply-add and the device's exp, log and cos. */
struct allowance {
	double position;  /* of a particle or an estimate, of its coordinate if that exceeds 1 */
	double share;	  /* of the sum of weights, of the effective sample size */
	double threshold; /* of 1 */
};

enum { PF_SAMPLE = 256 }; /* particles beside the first and the last */

struct comparison {
	const struct particlefilter_opts *opts;
	struct particlefilter_state *state;
	const struct pf_rules *rules;
	struct verdict *verdict;
	struct allowance may;
	int64_t last;		    /* frame after which the run ended */
	int64_t frames;		    /* that the run went through at least once */
	struct pf_estimate *ring;   /* of the run */
	struct pf_view end;	    /* of the run */
	struct pf_view before, now; /* of two frames that follow each other */
	double *cells;		    /* L of the pixels of one frame, NaN: not known yet; or NULL */
};

/* A difference, of what is allowed; the largest one is the verdict's error. NaN stays. */
void particlefilter_differ(struct comparison *c, double off, double may, const char *what,
			   int64_t k);

/* The view's weights and their sums by the reference, instead of the device's; its estimate, whose
 * sum is a logarithm. 0 or -EINTR. */
int particlefilter_weigh(struct comparison *c, int64_t k, struct pf_view *v, struct pf_estimate *e);

/* Frame k, c->now, after c->before, which has been weighed. 0 or -EINTR. */
int particlefilter_compare_frame(struct comparison *c, int64_t k, bool all);

#ifdef __cplusplus
}
#endif

#endif
