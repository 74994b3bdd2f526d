/*
 * test_template.c - steps of the template workload, and what its check has to find. Modes against
 * each other, lost launches and the like: tests/test_conformance.c tries them on every workload.
 */
#include "tests/plain.h"
#include "workloads/template/template.h"

#include "tests/cli.h"

/* run_begin() and the like drive the hooks as the harness does. */
#define RUN template
#include "tests/workload_run.h"

/* Suites are small_ or large_, by name: `make test SIZE=small` leaves the large ones out. */
TestSuite(small_template, .timeout = 300, .init = need_device);

/* Around the 256 threads of a block; the last has more elements than a launch has threads. */
Test(small_template, numbers_are_right_at_every_size)
{
	static const int64_t sizes[] = { 1, 255, 256, 257, 300000 };

	for (int i = 0; i < 5; i++) {
		struct run *r = run_begin((struct template_opts){ .n = sizes[i] });
		uint32_t y, add = 2 * (uint32_t)(sizes[i] - 1) + 1;

		run_steps(r, 3);
		cr_assert(run_check(r, 3, true).passed, "n=%ld", (long)sizes[i]);
		CUDA(cudaMemcpy(&y, r->s.y + sizes[i] - 1, sizeof(y), cudaMemcpyDeviceToHost));
		cr_assert(y == 5 * (5 * add + add) + add, "n=%ld: %u", (long)sizes[i], y);
		run_end(r);
	}
}

Test(small_template, the_check_finds_what_is_wrong)
{
	struct run *r = run_begin((struct template_opts){ .n = 1001 });

	run_steps(r, 5);
	cr_assert(run_check(r, 5, true).passed, "as it is");
	cr_assert(!run_check(r, 4, true).passed, "a step too many");
	cr_assert(!run_check(r, 6, true).passed, "a step too few");
	CUDA(cudaMemset(r->s.y + 1000, 0, sizeof(*r->s.y)));
	cr_assert(run_check(r, 5, true).error == 1, "the last element");
	run_end(r);
}
