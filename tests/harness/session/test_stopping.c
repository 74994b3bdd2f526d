/* test_stopping.c - harness/session/stopping.h: what a plan can tell, and after which processes. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/session/stopping.h"
#include "tests/fake_workload.h"

TestSuite(small_stopping, .timeout = 300);

Test(small_stopping, seven_interims)
{
	static const int rows[][3] = {
		/* processes, most, next */
		{ 0, 100, 8 },	  { 7, 100, 8 },    { 8, 100, 12 },  { 11, 100, 12 },
		{ 12, 100, 18 },  { 17, 100, 18 },  { 18, 100, 28 }, { 27, 100, 28 },
		{ 28, 100, 42 },  { 41, 100, 42 },  { 42, 100, 64 }, { 63, 100, 64 },
		{ 64, 100, 100 }, { 99, 100, 100 }, { 100, 100, 0 }, { 100, 200, 0 },
		{ 8, 9, 9 },	  { 9, 9, 0 },	    { 0, 8, 8 },     { 8, 8, 0 },
		{ 0, 1, 1 },	  { 1, 1, 0 },	    { 28, 42, 42 },  { 42, 42, 0 }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct design d = { .sequential = true,
				    .processes = rows[i][1],
				    .goals.margin = 0.02 };

		cr_assert(eq(int, design_next_interim(&d, rows[i][0]), rows[i][2]), "%d of %d",
			  rows[i][0], rows[i][1]);
	}
	cr_assert(epsilon_eq(dbl, goals_interim_factor, 2.6901 / 1.95996, 2e-4), "%g",
		  goals_interim_factor);
}

/* Does the fake workload tell a goal with these points? */
static int refusal(const char *size, const char *depth, const char *mode, enum model_param goal,
		   double margin, int sides)
{
	struct plan_request r = { .workload = fakes,
				  .size = size,
				  .depth = depth,
				  .mode = mode,
				  .design = design_of(true) };
	struct plan p;
	int err;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	if (goal < MODEL_PARAMS)
		p.design.goals.parameter_ns[goal] = 1;
	p.design.goals.margin = margin;
	divert_stderr();
	err = goals_refuse(&p, sides);
	cr_assert(eq(int, *diverted_stderr() != '\0', err != 0), "one line");
	plan_release(&p);
	return err;
}

Test(small_stopping, a_fit_takes_three_points_of_two_depths)
{
	static const struct {
		const char *size, *depth, *mode;
		enum model_param goal;
		int err;
	} rows[] = {
		{ "1", "1,4,16", "stream", MODEL_C, 0 },
		{ "1,2", "1,4", "stream", MODEL_C, 0 },
		{ "1", "1,4", "stream", MODEL_C, -EINVAL },
		{ "1,2,3", "4", "stream", MODEL_C, -EINVAL },
		{ "1,2", "1,4", "graph", MODEL_C, -EINVAL },
		{ "1,2", "1,4", "stream", MODEL_GRAPH_Z, -EINVAL },
		{ "1,2", "1,4", "stream,graph", MODEL_GRAPH_Z, 0 },
		{ "1", "1,4", "stream,graph", MODEL_GRAPH_Z, -EINVAL },
		{ "1", "1", "stream", MODEL_PARAMS, 0 }, /* nothing is asked for */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(eq(int,
			     refusal(rows[i].size, rows[i].depth, rows[i].mode, rows[i].goal, 0, 1),
			     rows[i].err),
			  "%zu", i);
	cr_assert(eq(int, refusal("1", "1", "stream", MODEL_PARAMS, 0.02, 1), -EINVAL), "margin");
	cr_assert(zero(int, refusal("1", "1", "stream", MODEL_PARAMS, 0.02, 2)), "of two sides");
}
