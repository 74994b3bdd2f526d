/* template.h - the template workload: what its two halves share, template.c and template.cu. */
#ifndef RIFT_TEMPLATE_H
#define RIFT_TEMPLATE_H

#include "workloads/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters of a run, which the harness fills in: a field for each row of params. */
struct template_opts {
	int64_t n;
};

/* What a run owns, given to every hook; zero before setup. */
struct template_state {
	uint32_t *y; /* [n], device memory */
};

extern const struct workload workload_template;

/* template.cu: makes the driver load the kernel; enqueues steps as one launch. */
void template_load(void);
void template_launch(const struct template_opts *o, const struct template_state *s, int64_t steps,
		     cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
