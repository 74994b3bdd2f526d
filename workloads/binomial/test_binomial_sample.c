/*
 * test_binomial_sample.c - of large trees the check computes few, for all slots together, and
 * closed forms of every slot: how many nodes that takes, and which faults it finds all the same.
 * The reference is compiled into the test, so that its trees can be counted.
 */
/* compiled with -O2: it computes much */
#include "tests/plain.h"
#include "workloads/binomial/reference.h"

double uncounted_tree(const struct binomial_case *c, int64_t steps, double *workspace);
#define binomial_tree uncounted_tree
#include "workloads/binomial/reference.c"
#undef binomial_tree

#include "workloads/binomial/inputs.h"
#include "workloads/binomial/test_binomial.h"

TestSuite(large_binomial_sample, .timeout = 300);

enum { STEPS = 8192, OPTIONS = 2, SLOTS = 64 };

static const double nodes_of_tree = STEPS * (STEPS + 1.0) / 2;
static double nodes; /* of the reference's trees */

double binomial_tree(const struct binomial_case *c, int64_t steps, double *workspace)
{
	nodes += (double)steps * ((double)steps + 1) / 2;
	return uncounted_tree(c, steps, workspace);
}

static void put(struct run *r, int64_t slot, int64_t i, float value)
{
	CUDA(cudaMemcpy(device_out(r, slot) + i, &value, sizeof(value), cudaMemcpyHostToDevice));
}

static float price(const struct binomial_opts *o, int64_t slot, int64_t i, const double *logs)
{
	struct binomial_input in = binomial_input((uint32_t)i, (uint32_t)slot, (uint64_t)o->seed);
	struct binomial_case c = { in.S, in.X, in.T, o->rate, o->volatility };

	return (float)binomial_sum(&c, STEPS, logs);
}

/* Small trees are run, as large ones take the CPU device long; prices of large ones are put in. */
static struct run *run_large(float at[SLOTS][OPTIONS])
{
	struct binomial_opts o = make_opts(16, OPTIONS);
	double *logs = malloc((STEPS + 1) * sizeof(*logs));
	struct run *r;

	CHECK(logs, "memory");
	o.set.slots = SLOTS;
	r = run_begin(o);
	run_steps(r, SLOTS);
	r->o.steps = STEPS;
	binomial_logs(STEPS, logs);
	for (int64_t slot = 0; slot < SLOTS; slot++)
		for (int64_t i = 0; i < OPTIONS; i++) {
			at[slot][i] = price(&o, slot, i, logs);
			put(r, slot, i, at[slot][i]);
		}
	free(logs);
	return r;
}

/* A price is another one: the check fails with this text; it is as before. */
static void finds(struct run *r, float at[SLOTS][OPTIONS], int slot, int i, float value,
		  const char *says)
{
	struct verdict v;

	put(r, slot, i, value);
	v = run_check(r, SLOTS, false);
	cr_assert(!v.passed && strstr(v.worst, says), "not '%s': error %g, %s", says, v.error,
		  v.worst);
	put(r, slot, i, at[slot][i]);
}

Test(large_binomial_sample, few_large_trees_are_computed)
{
	static float at[SLOTS][OPTIONS];
	struct verdict v;
	struct run *r;

	need_device();
	r = run_large(at);
	v = run_check(r, SLOTS, false);
	cr_assert(v.passed && v.total == SLOTS * OPTIONS, "error %g: %s", v.error, v.worst);
	cr_assert(nodes >= 2 * nodes_of_tree && nodes <= 3 * nodes_of_tree, "%g trees",
		  nodes / nodes_of_tree);
	cr_assert(v.compared == v.total, "%ld by one reference or the other", (long)v.compared);
	finds(r, at, 0, 0, at[0][0] + 0.01f, "option 0, slot 0");
	finds(r, at, SLOTS - 1, OPTIONS - 1, at[SLOTS - 1][OPTIONS - 1] + 0.01f,
	      "option 1, slot 63");
	finds(r, at, 31, 1, at[31][1] + 0.01f, "option 1, slot 31");
	finds(r, at, 31, 0, NAN, "no price, slot 31");
	finds(r, at, 7, 0, at[8][0] == at[7][0] ? at[9][0] : at[8][0], "option 0, slot 7");
	run_end(r);
}
