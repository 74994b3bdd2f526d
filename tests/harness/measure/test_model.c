/*
 * test_model.c - harness/measure/model.h: blocks worked out by hand, and the closed
 * form against the recursion, which does not know it.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/measure/model.h"
#include "tests/fake_session.h"

TestSuite(small_model, .timeout = 300);

static struct batch batch(enum mode mode, double depth, double kernel_ns)
{
	return (struct batch){ mode, depth, 1, kernel_ns };
}

static void expect_time(const struct model *m, enum mode mode, double depth, double kernel_ns,
			double ns)
{
	const struct batch b = batch(mode, depth, kernel_ns);

	cr_assert(epsilon_eq(dbl, model_total_ns(m, &b), ns, 1e-6), "mode %d, depth %g, K %g: %g",
		  mode, depth, kernel_ns, model_total_ns(m, &b));
	cr_assert(epsilon_eq(dbl, recursion_block(m, &b).total_ns, ns, 1e-6),
		  "recursion: mode %d, depth %g, K %g: %g", mode, depth, kernel_ns,
		  recursion_block(m, &b).total_ns);
}

/* ---- by hand ---------------------------------------------------------------------------- */

/* c 2000, p 2200, g 900, Z 5800 */
Test(small_model, stream_blocks)
{
	const struct model m = fake_model();

	expect_time(&m, MODE_STREAM, 1, 0, 5800);
	expect_time(&m, MODE_STREAM, 1, 5000, 10800);
	expect_time(&m, MODE_STREAM, 3, 0, 5800 + 2 * 2200);
	expect_time(&m, MODE_STREAM, 3, 1000, 5800 + 1000 + 2 * 2200); /* 1900 < 2200: p hides it */
	expect_time(&m, MODE_STREAM, 3, 5000, 5800 + 5000 + 2 * 5900);
}

Test(small_model, what_a_kernel_takes_beyond_its_nominal_time)
{
	struct model m = fake_model();

	m.v[MODEL_CLOCK] = 1.1;
	m.v[MODEL_E] = 300;
	expect_time(&m, MODE_STREAM, 2, 5000, 5800 + 5800 + 6700);
	expect_time(&m, MODE_STREAM, 2, 0, 5800 + 2200); /* an empty kernel has none of either */
	expect_time(&m, MODE_GRAPH, 2, 5000, 1060 + 4500 + 2 * 5800 + 500);
	expect_time(&m, MODE_FUSED, 2, 5000, 5600 + 2 * 5500 + 60);
}

/* a 1000, b 30, Zg 4500, gn 500, G 800 */
Test(small_model, graph_blocks)
{
	const struct model m = fake_model();
	const double one = 1000 + 30 * 4, nodes = 4 * 2000 + 3 * 500;

	expect_time(&m, MODE_GRAPH, 1, 2000, 1030 + 4500 + 2000);
	expect_time(&m, MODE_GRAPH, 4, 2000, one + 4500 + nodes);
	/* 4 and a rest of 2 */
	expect_time(&m, MODE_GRAPH, 6, 2000, one + 4500 + nodes + 800 + 2 * 2000 + 500);
	/* 4 and a rest of 1 */
	expect_time(&m, MODE_GRAPH, 5, 2000, one + 4500 + nodes + 800 + 2000);
	/* 1024 nodes at most: two graphs, and no kernels to hide the second call */
	expect_time(&m, MODE_GRAPH, 2048, 0, 1000 + 30 * 1024 + 4500 + 2 * 1023 * 500 + 800);
}

/* Graphs that the host submits more slowly than the device runs them. */
Test(small_model, graphs_that_wait_for_the_host)
{
	struct model m = fake_model();
	const double host = 1000 + 5000 * 1024.0;

	m.v[MODEL_GRAPH_B] = 5000;
	expect_time(&m, MODE_GRAPH, 3072, 0, 3 * host + 4500 + 1023 * 500);
	/* 1024 once, and a rest of 16 whose call ends before the device is free */
	expect_time(&m, MODE_GRAPH, 1040, 0,
		    fmax(host + 4500 + 1023 * 500 + 800, host + 1000 + 16 * 5000 + 4500) +
			    15 * 500);
}

Test(small_model, fused_blocks)
{
	struct model m = fake_model();

	m.v[MODEL_FUSED_B0] = 10;
	expect_time(&m, MODE_FUSED, 1, 3000, 5600 + 3000);
	expect_time(&m, MODE_FUSED, 5, 3000, 5600 + 5 * 3000 + 4 * 60);
	expect_time(&m, MODE_FUSED, 5, 0, 5600 + 4 * 10);
}

/* Q 4, W 40000: the fifth launch waits until the first has ended and that is known. */
Test(small_model, a_full_queue)
{
	struct model m = fake_model();

	m.v[MODEL_Q] = 4;
	m.v[MODEL_W] = 40000;
	expect_time(&m, MODE_STREAM, 4, 1000, 5800 + 1000 + 3 * 2200);
	expect_time(&m, MODE_STREAM, 8, 1000, 5800 + 1000 + 3 * 2200 + 4 * (41000 / 4.0));
	/* kernels that outlast the round trip do not notice */
	expect_time(&m, MODE_STREAM, 8, 50000, 5800 + 50000 + 7 * 50900);
}

/* Launch by launch: the first four end at 6800, 9000 and so on, each next four 41000 later. */
Test(small_model, a_full_queue_launch_by_launch)
{
	static const double ends_ns[] = { 6800,	 9000,	11200, 13400, 47800,
					  50000, 52200, 54400, 88800 };
	const double kernels_ns[] = { 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 };
	struct model m = fake_model();

	m.v[MODEL_Q] = 4;
	m.v[MODEL_W] = 40000;
	for (int n = 1; n <= 9; n++) {
		struct batch b = batch(MODE_STREAM, n, 1000);

		cr_assert(epsilon_eq(dbl, recursion_block(&m, &b).total_ns, ends_ns[n - 1], 1e-6),
			  "%d: %g", n, recursion_block(&m, &b).total_ns);
		cr_assert(epsilon_eq(dbl, recursion_stream(&m, kernels_ns, n).total_ns,
				     ends_ns[n - 1], 1e-6),
			  "%d launches", n);
	}
}

Test(small_model, steps_of_several_launches)
{
	const struct model m = fake_model();
	const struct batch b = { MODE_STREAM, 3, 4, 0 }, g = { MODE_GRAPH, 512, 4, 0 };

	cr_assert(epsilon_eq(dbl, model_total_ns(&m, &b), 5800 + 11 * 2200, 1e-6), "12 launches");
	cr_assert(epsilon_eq(dbl, recursion_block(&m, &b).total_ns, 5800 + 11 * 2200, 1e-6),
		  "recursion");
	cr_assert(epsilon_eq(dbl, graph_shape_of(&g).graphs, 2, 0), "1024 launches a graph");
	cr_assert(epsilon_eq(dbl, graph_shape_of(&g).nodes, 1024, 0), "nodes");
}

Test(small_model, what_the_host_waits_in_calls)
{
	struct model m = fake_model();
	struct batch b = batch(MODE_STREAM, 10, 5000);

	cr_assert(epsilon_eq(dbl, model_enqueue_ns(&m, &b), 20000, 1e-6), "10 calls");
	m.v[MODEL_Q] = 4;
	/* the last call waits for the end of the sixth launch */
	cr_assert(epsilon_eq(dbl, model_enqueue_ns(&m, &b), 5800 + 5000 + 5 * 5900, 1e-6), "%g",
		  model_enqueue_ns(&m, &b));
	b = batch(MODE_GRAPH, 64, 5000);
	cr_assert(epsilon_eq(dbl, model_enqueue_ns(&m, &b), 1000 + 64 * 30, 1e-6), "a graph");
	b = batch(MODE_FUSED, 64, 5000);
	cr_assert(epsilon_eq(dbl, model_enqueue_ns(&m, &b), 2000, 1e-6), "one call");
}

/* ---- regimes ---------------------------------------------------------------------------- */

static enum regime regime_at(const struct model *m, double depth, double kernel_ns)
{
	const struct batch b = batch(MODE_STREAM, depth, kernel_ns);

	return model_regime(m, &b);
}

/* p 2200, g 900: the corner is at K = 1300, from 970 to 1688. */
Test(small_model, regimes)
{
	struct model m = fake_model();
	const struct batch graph = batch(MODE_GRAPH, 8, 0), fused = batch(MODE_FUSED, 8, 0);

	cr_assert(eq(int, regime_at(&m, 64, 0), REGIME_LAUNCH), "0");
	cr_assert(eq(int, regime_at(&m, 64, 960), REGIME_LAUNCH), "960");
	cr_assert(eq(int, regime_at(&m, 64, 980), REGIME_CORNER), "980");
	cr_assert(eq(int, regime_at(&m, 64, 1680), REGIME_CORNER), "1680");
	cr_assert(eq(int, regime_at(&m, 64, 1695), REGIME_DEVICE), "1695");
	cr_assert(eq(int, model_regime(&m, &graph), REGIME_GRAPH), "graph");
	cr_assert(eq(int, model_regime(&m, &fused), REGIME_FUSED), "fused");
	m.v[MODEL_Q] = 16;
	m.v[MODEL_W] = 80000;
	cr_assert(eq(int, regime_at(&m, 16, 0), REGIME_LAUNCH), "fits the queue");
	cr_assert(eq(int, regime_at(&m, 17, 0), REGIME_WINDOW), "does not");
	cr_assert(eq(int, regime_at(&m, 17, 50000), REGIME_DEVICE), "does not matter");
}

/* ---- closed form and recursion ---------------------------------------------------------- */

/* Native, WSL2-like, remote with a small window, one with a stage behind a cheap call. */
static struct model invented(int i)
{
	static const double v[][6] = { { 1800, 2200, 900, 5800, INFINITY, 0 },
				       { 6300, 6300, 1000, 26000, 1024, 0 },
				       { 1500, 9000, 1200, 80000, 16, 95000 },
				       { 300, 4000, 2500, 12000, 64, 600000 } };
	struct model m = fake_model();

	m.v[MODEL_C] = v[i][0];
	m.v[MODEL_P] = v[i][1];
	m.v[MODEL_G] = v[i][2];
	m.v[MODEL_Z] = v[i][3];
	m.v[MODEL_Q] = v[i][4];
	m.v[MODEL_W] = v[i][5];
	m.v[MODEL_GRAPH_B] = i == 1 ? 9000 : 30;
	return m;
}

Test(small_model, the_closed_form_is_the_sum_of_the_recursion)
{
	static const double kernels_ns[] = { 0, 500, 1000, 2000, 5000, 10000, 200000 };

	for (int i = 0; i < 4; i++) {
		const struct model m = invented(i);

		for (int k = 0; k < 7; k++)
			for (double depth = 1; depth <= 4096; depth *= 2)
				for (int mode = MODE_STREAM; mode <= MODE_GRAPH; mode++) {
					const struct batch b =
						batch((enum mode)mode, depth, kernels_ns[k]);
					double want = recursion_block(&m, &b).total_ns;

					cr_assert(epsilon_eq(dbl, model_total_ns(&m, &b) / want, 1,
							     1e-9),
						  "platform %d, mode %d, K %g, depth %g", i, mode,
						  kernels_ns[k], depth);
				}
	}
}

/* Three launches by hand: c 2000, then p hidden, then g: 100 and 9000 ns, then 100 again. */
Test(small_model, kernels_of_different_lengths)
{
	struct model m = fake_model();
	const double kernels_ns[] = { 100, 9000, 100 };

	m.v[MODEL_P] = 2000; /* Z = c + L: L 3800 */
	/* calls return at 2000, 4000, 6000; starts 5800, 7800 (behind its call), 16800 + 900 */
	cr_assert(epsilon_eq(dbl, recursion_stream(&m, kernels_ns, 3).total_ns, 16800 + 900 + 100,
			     1e-6),
		  "%g", recursion_stream(&m, kernels_ns, 3).total_ns);
	cr_assert(epsilon_eq(dbl, recursion_stream(&m, kernels_ns, 3).enqueue_ns, 6000, 1e-6),
		  "calls");
}

/* The last of 8 steps of 4 launches finds a queue of 28 full, and waits for the end of the first.
 */
Test(small_model, a_full_queue_of_several_launches_a_step)
{
	struct model m = fake_model();
	struct batch b = { MODE_STREAM, 8, 4, 50e3 }, before = { MODE_STREAM, 1, 4, 50e3 };

	m.v[MODEL_Q] = 28;
	cr_assert(epsilon_eq(dbl, model_enqueue_ns(&m, &b), model_total_ns(&m, &before), 1e-6),
		  "%g and %g", model_enqueue_ns(&m, &b), model_total_ns(&m, &before));
}
