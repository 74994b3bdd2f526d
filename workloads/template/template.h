/*
 * template.h - the template workload: a vector y that follows a vector x. A step takes each element
 * a share of the way: y += share * (x - y). template.c is the host's part, template.cu the
 * device's.
 */
#ifndef RIFT_TEMPLATE_H
#define RIFT_TEMPLATE_H

#include "workloads/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters of a run, which the harness fills in: a field for each row of params. */
struct template_opts {
	int64_t n;
	double share;
};

/* An element of y, and how often it was written: the check finds every step that is lost. */
struct template_cell {
	float y;
	uint32_t steps;
};

/* What a run owns, given to every hook; zero before setup. */
struct template_state {
	float *x;		    /* [n], device memory */
	struct template_cell *cell; /* [n], device memory */
};

extern const struct workload workload_template;

/* template.cu: loads the kernel, as a first launch would be slow; enqueues steps as one launch. */
void template_load(void);
void template_launch(const struct template_opts *o, const struct template_state *s, int64_t steps,
		     cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
