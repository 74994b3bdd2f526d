/*
 * test_sensitivity_predict.c - harness/probe/sensitivity_predict.h: the model on made-up figures,
 * of which its formula's results are known.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/probe/sensitivity_predict.h"

TestSuite(small_sensitivity_predict, .timeout = 60);

/* Kernels hide submitting: 10 us a step, of which 1 us are ends; the host needs 3 us. */
static struct step_figures hidden(void)
{
	return (struct step_figures){ .step_ns = 10000,
				      .submit_ns = 3000,
				      .kernel_ns = 9000,
				      .ends_ns = 16000,
				      .launches = 2,
				      .depth = 16,
				      .mode = MODE_STREAM };
}

static void predicts(const struct step_figures *f, const char *name, double value, double want)
{
	double got = step_predict(f, name, value);

	cr_assert(epsilon_eq(dbl, got, want, 1e-9), "%s=%g: %g, not %g", name, value, got, want);
}

static bool has(const struct step_figures *f, const char *a, const char *b)
{
	return step_has_cost(f, a) && step_has_cost(f, b);
}

static bool has_neither(const struct step_figures *f, const char *a, const char *b)
{
	return !step_has_cost(f, a) && !step_has_cost(f, b);
}

Test(small_sensitivity_predict, nothing_added_is_the_native_time)
{
	static const char *const names[] = {
		"call", "submit", "sync", "return", "latency", "copies"
	};
	struct step_figures f = hidden();

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		predicts(&f, names[i], 0, 1);
	f.kernel_ns = f.ends_ns = NAN;
	predicts(&f, "call", 0, 1);
	f.submit_ns = f.step_ns;
	predicts(&f, "call", 0, 1);
}

/* Two commands a step: the host's 3 us become 9 us at 3 us a call, and 13 us at 5 us. */
Test(small_sensitivity_predict, a_call_shows_when_the_host_is_the_slower)
{
	struct step_figures f = hidden();

	predicts(&f, "call", 3, 1);
	predicts(&f, "call", 5, 1.4);
	predicts(&f, "submit", 5, 1.4);
	f.copies = 1;
	predicts(&f, "call", 3, 1.3);
	predicts(&f, "copy", 7, 1.1);
}

Test(small_sensitivity_predict, a_wait_is_once_a_block)
{
	struct step_figures f = hidden();

	predicts(&f, "sync", 16, 1.1);
	predicts(&f, "return", 16, 1.1);
	predicts(&f, "latency", 16, 1.1);
	f.depth = 1;
	f.ends_ns = 1000;
	predicts(&f, "sync", 20, 3);
}

Test(small_sensitivity_predict, what_is_copied_has_a_rate)
{
	struct step_figures f = hidden();

	f.bytes_transferred = 90000;
	predicts(&f, "copies", 10, 1);
	predicts(&f, "copies", 1, 9.1);
}

/* A round trip more for each wait; what crosses: 90,000 bytes, and two commands of 136. */
Test(small_sensitivity_predict, a_network_has_a_round_trip_and_a_rate)
{
	struct step_figures f = hidden();

	cr_assert(has(&f, "rtt", "bandwidth"), "in every step");
	predicts(&f, "rtt", 16, 1.1);
	predicts(&f, "bandwidth", 0, 1);
	predicts(&f, "bandwidth", 1, 1);
	f.bytes_transferred = 90000;
	predicts(&f, "bandwidth", 100, 1);
	predicts(&f, "bandwidth", 10, (8 * 90272 / 10.0 + 1000) / 10000);
}

/* 16 steps are two graphs, or one fused launch. */
Test(small_sensitivity_predict, a_graph_is_one_call)
{
	struct step_figures f = hidden();

	f.mode = MODE_GRAPH;
	f.graphs = 2;
	cr_assert(epsilon_eq(dbl, step_commands(&f), 0.125, 1e-12), "graphs");
	predicts(&f, "call", 56, 1.1);
	f.mode = MODE_FUSED;
	cr_assert(epsilon_eq(dbl, step_commands(&f), 0.0625, 1e-12), "fused");
	predicts(&f, "call", 112, 1.1);
}

/* Ends that would leave less than the kernels take are cut. */
Test(small_sensitivity_predict, ends_are_no_longer_than_what_is_left)
{
	struct step_figures f = hidden();

	f.ends_ns = 1e6;
	predicts(&f, "call", 0, 1);
	predicts(&f, "call", 4, 1.2);
}

Test(small_sensitivity_predict, what_a_step_has)
{
	struct step_figures f = hidden();

	cr_assert(has(&f, "call", "sync"), "in every step");
	cr_assert(has(&f, "age", "byte"), "what is not known is measured");
	cr_assert(has_neither(&f, "copy", "copies"), "no copy");
	cr_assert(has_neither(&f, "alloc", "context"), "no memory taken");
	cr_assert(isnan(step_predict(&f, "age", 5)), "no formula");
	f.allocations = 2;
	cr_assert(has(&f, "alloc", "free"), "memory taken");
	cr_assert(isnan(step_predict(&f, "alloc", 5)), "no formula");
	f.bytes_transferred = 8;
	cr_assert(has(&f, "copies", "copy"), "copies, how many is not known");
	cr_assert(isnan(step_predict(&f, "copy", 5)), "so what they cost is not either");
	f.mode = MODE_GRAPH;
	cr_assert(has_neither(&f, "copy", "copies"), "in a graph");
}
