/* test_mlp.h - what the tests of the mlp workload share: a run through its hooks. */
#ifndef RIFT_MLP_TEST_MLP_H
#define RIFT_MLP_TEST_MLP_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/mlp/check.h"

/* The defaults that test_mlp_options.c holds against the rows, but for the images: few of them. */
static inline struct mlp_opts default_opts(void)
{
	struct mlp_opts o;

	memset(&o, 0, sizeof(o));
	o.batch = 64;
	o.hidden.n = 1;
	o.epilogues = MLP_EPILOGUES_YES;
	o.rate = -1;
	o.momentum = 0.9;
	o.seed = 1;
	o.data = MLP_DATA_GENERATED;
	o.images = 600;
	o.data_seed = 1;
	return o;
}

static inline struct mlp_opts hidden_opts(int n, const int64_t *width)
{
	struct mlp_opts o = default_opts();

	o.hidden.n = n;
	for (int i = 0; i < n; i++)
		o.hidden.value[i] = width[i];
	return o;
}

#define RUN mlp
#include "tests/workload_run.h"

/* Something is compared. */
static inline struct verdict run_verdict(struct run *r, int64_t steps, bool full)
{
	struct verdict v = run_check(r, steps, full);

	cr_assert(v.compared > 0 && v.compared <= v.total, "%ld of %ld", (long)v.compared,
		  (long)v.total);
	return v;
}

/* Bits of all weights and velocities. */
static inline uint64_t run_bits(struct run *r)
{
	struct mlp_sum sum = mlp_fingerprint_weights(&r->s);

	cr_assert(!sum.odd, "%lu numbers are not finite", (unsigned long)sum.odd);
	return sum.bits;
}

/* An array on the device, as struct mlp_net says, in double. To be freed. */
static inline double *fetch_numbers(const struct run *r, const float *device)
{
	size_t n = r->s.net.numbers;
	float *host = (float *)malloc(n * sizeof(*host));
	double *wide = (double *)malloc(n * sizeof(*wide));

	CHECK(host && wide, "%zu numbers", n);
	CUDA(cudaMemcpy(host, device, n * sizeof(*host), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < n; i++)
		wide[i] = (double)host[i];
	free(host);
	return wide;
}

#endif
