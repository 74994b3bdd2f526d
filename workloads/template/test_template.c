/* test_template.c - steps of the template workload, and what its check has to find. */
#include "workloads/template/template.h"

#include <math.h>

#include "tests/cli.h"
#include "tests/races.h"

/* run_begin() and the like drive the hooks as the harness does. */
#define RUN template
#include "tests/workload_run.h"

/* Suites are small_ or large_, by name: `make test SIZE=small` leaves the large ones out. */
TestSuite(small_template, .timeout = 300);

enum { STEPS = 5 };

static struct run *begin(int64_t n, double share)
{
	need_device();
	return run_begin((struct template_opts){ .n = n, .share = share });
}

/* Step by step, and by the check, which has a formula. */
static void numbers_are_right(int64_t n, double share)
{
	struct run *r = begin(n, share);
	struct template_cell cell;
	float x;

	run_steps(r, STEPS);
	cr_assert(run_check(r, STEPS, true).passed, "n=%ld", (long)n);
	for (int64_t i = 0; i < n; i += 1 + n / 100) {
		double y = 0;

		CUDA(cudaMemcpy(&x, r->s.x + i, sizeof(x), cudaMemcpyDeviceToHost));
		CUDA(cudaMemcpy(&cell, r->s.cell + i, sizeof(cell), cudaMemcpyDeviceToHost));
		for (int step = 0; step < STEPS; step++)
			y += share * (x - y);
		cr_assert(fabs(cell.y - y) <= 5e-7, "n=%ld: y[%ld] is %.9g, not %.9g", (long)n,
			  (long)i, cell.y, y);
	}
	run_end(r);
}

/* Around the 256 threads of a block; the last has more elements than a launch has threads. */
Test(small_template, numbers_are_right_at_every_size)
{
	static const int64_t sizes[] = { 1, 255, 256, 257, 1000, 300000 };

	for (int i = 0; i < (RACES ? 5 : 6); i++) {
		numbers_are_right(sizes[i], 0.25);
		numbers_are_right(sizes[i], 1);
	}
}

Test(small_template, every_mode_passes_the_check)
{
	struct run *r = begin(1000, 0.01);

	run_steps(r, STEPS);
	run_fused(r, 1000);
	cr_assert(run_check(r, STEPS + 1000, true).passed, "fused");
	run_reset(r);
	run_graphs(r, STEPS, 3);
	cr_assert(run_check(r, 3 * STEPS, true).passed, "graphs");
	run_end(r);
}

/* With share=1 every step leaves the same y: the counts alone tell. */
Test(small_template, the_check_finds_what_is_wrong)
{
	enum { N = 1001, LAST = N - 1 };
	struct run *r = begin(N, 1);
	struct template_cell right;

	run_steps(r, STEPS);
	cr_assert(!run_check(r, STEPS - 1, true).passed, "a step too many");
	cr_assert(!run_check(r, STEPS + 1, true).passed, "a step too few");
	CUDA(cudaMemcpy(&right, r->s.cell + LAST, sizeof(right), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 3; i++) {
		const struct template_cell wrong[] = { { right.y + 1e-6f, STEPS },
						       { NAN, STEPS },
						       { right.y, STEPS + 1 } };

		CUDA(cudaMemcpy(r->s.cell + LAST, wrong + i, sizeof(right),
				cudaMemcpyHostToDevice));
		cr_assert(!run_check(r, STEPS, true).passed, "element %d, %d", LAST, i);
	}
	CUDA(cudaMemcpy(r->s.cell + LAST, &right, sizeof(right), cudaMemcpyHostToDevice));
	cr_assert(run_check(r, STEPS, true).passed, "as it was");
	run_end(r);
}
