/*
 * reference.h - the particle filter in plain C, written apart from the kernels: what they are
 * checked against.
 *
 * Sums run in ascending order, ancestors come of a merge of thresholds and cumulative weights;
 * all of it in double.
 */
#ifndef RIFT_PARTICLEFILTER_REFERENCE_H
#define RIFT_PARTICLEFILTER_REFERENCE_H

#include "workloads/particlefilter/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pf_reference {
	struct pf_rules rules;
	const uint8_t *video; /* [frames][rows][cols], the caller's */
	int64_t particles;

	/* The last frame: positions before resampling; weights that add up to 1, and their
	 * running sum. */
	double *x, *y, *loglik, *w, *c;
	int32_t *ancestor;
	double *resampled_x, *resampled_y; /* where the next frame starts */
	int32_t *lcg;			   /* states */

	double xe, ye, sum, ess; /* estimate; sum of weights before they are divided by it */
	double u1;		 /* the first threshold */
};

/* Allocates, and puts every particle at the start. Returns 0 or -ENOMEM after one line. */
int particlefilter_ref_init(struct pf_reference *r, const struct pf_rules *rules,
			    const uint8_t *video, int64_t particles);
void particlefilter_ref_release(struct pf_reference *r);

/* Frame k, 1 to frames - 1, in order. */
void particlefilter_ref_frame(struct pf_reference *r, int64_t k);

/* Log-likelihood of a disk at (x, y) of frame k. */
double particlefilter_ref_loglik(const struct pf_rules *rules, const uint8_t *video, int64_t k,
				 double x, double y);

/* The pixel of a coordinate; of one that is far out or not finite, -1000000000. */
int64_t particlefilter_ref_pixel(double t, bool rounds);

/* One step of motion: particle i's position in frame k, from where it is resampled to. lcg: the
 * generator's state, moved on; NULL with Philox. */
void particlefilter_ref_move(const struct pf_rules *rules, int64_t i, int64_t k, int32_t *lcg,
			     double *x, double *y);

#ifdef __cplusplus
}
#endif
#endif
