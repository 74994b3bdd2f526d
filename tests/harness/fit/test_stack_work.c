/*
 * test_stack_work.c - harness/fit/stack.h and validate.h: workloads by what launches and
 * copies cost on the same platform.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/stacks.h"

#include "common/datafile.h"
#include "harness/fit/validate.h"
#include "harness/record/recorded.h"

TestSuite(small_stack_work, .timeout = 300);

/* ---- of launches -------------------------------------------------------------------------- */

/* A step of cells with a copy of 12000 bytes to the device and one of 4000 back. */
enum { COPIES_NS = 500 + 1200 + 800 + 800, KERNEL_NS = 40000 };

static double cells_ns(double cells)
{
	return KERNEL_NS + COPIES_NS + 10 * cells;
}

static struct fake_session cells_session(void)
{
	struct fake_session s = quiet();

	s.workload = "myocyte";
	s.size = "1,100,10000";
	s.depth = "1,4,16,64";
	s.kernel_ns = cells_ns;
	s.step.to_device = (struct copies){ 1, 12000 };
	s.step.to_host = (struct copies){ 1, 4000 };
	return s;
}

static const struct copy_costs costs = {
	.to_device = { { .call_ns = 500, .byte_ns = 0.1 }, { .call_ns = 9000, .byte_ns = 9 } },
	.to_host = { { .call_ns = 800, .byte_ns = 0.05, .knee = 1e6, .below_byte_ns = 0.2 },
		     { .call_ns = 9000, .byte_ns = 9 } },
};

static void work_and_launches(struct made *work, struct made *launches,
			      const struct fake_session *s)
{
	const struct fake_session launch = quiet();

	made_grid(work, s);
	made_fit(launches, &launch);
}

Test(small_stack_work, a_workload_by_what_launches_and_copies_cost)
{
	struct fake_session s = cells_session();
	struct made work = { 0 }, launches = { 0 };
	struct stack_request r = { .work = &work.grid, .from = &launches.fit, .costs = &costs };
	struct stack *all;

	work_and_launches(&work, &launches, &s);
	all = stacks_make(&r);
	adds_up(&work.grid, all);
	expect(find_stack(&work.grid, all, MODE_STREAM, 100, 16),
	       (double[]){ 16 * (KERNEL_NS + 1000.0), 15 * 900, 2000, 3800, 16.0 * COPIES_NS,
			   NAN });
	expect(find_stack(&work.grid, all, MODE_GRAPH, 1, 64),
	       (double[]){ 64 * (KERNEL_NS + 10.0), 63 * 500, 1000 + 64 * 30, 4500,
			   64.0 * COPIES_NS, NAN });
	cr_assert(has_note(&r, all, "transfer: up to 15.6 KiB a step"), "said");
	free(all);
	/* without a costs file nobody knows what of it is copies */
	r.costs = NULL;
	all = stacks_make(&r);
	expect(find_stack(&work.grid, all, MODE_STREAM, 100, 16),
	       (double[]){ 16 * (KERNEL_NS + COPIES_NS + 1000.0), 15 * 900, 2000, 3800, NAN, NAN });
	cr_assert(has_note(&r, all, "part of kernel (--costs"), "said");
	free(all);
	made_release(&work);
	made_release(&launches);
}

/* What real kernels do that those of `launch` do not is other. */
static double slow_ends(const struct batch *b, int side)
{
	(void)side;
	return b->depth == 1 ? 1.5 : 1;
}

Test(small_stack_work, what_launches_do_not_explain_is_other)
{
	struct fake_session s = cells_session();
	struct made work = { 0 }, launches = { 0 };
	const struct stack *at;
	struct stack *all;

	s.factor = slow_ends;
	work_and_launches(&work, &launches, &s);
	all = stacks_make(&(struct stack_request){
		.work = &work.grid, .from = &launches.fit, .costs = &costs });
	at = find_stack(&work.grid, all, MODE_STREAM, 100, 1);
	cr_assert(epsilon_eq(dbl, at->part_ns[STACK_OTHER], at->total_ns / 3, 0.01 * at->total_ns),
		  "%g of %g", at->part_ns[STACK_OTHER], at->total_ns);
	free(all);
	made_release(&work);
	made_release(&launches);
}

Test(small_stack_work, older_records_know_nothing_of_copies)
{
	struct fake_session s = cells_session();
	struct made work = { 0 }, launches = { 0 };
	struct stack_request r = { .work = &work.grid, .from = &launches.fit, .costs = &costs };
	struct stack *all;

	s.older = true;
	work_and_launches(&work, &launches, &s);
	all = stacks_make(&r);
	cr_assert(isnan(all[0].part_ns[STACK_TRANSFER]), "not 0");
	cr_assert(has_note(&r, all, "older"), "said");
	free(all);
	made_release(&work);
	made_release(&launches);
}

/* A size at one depth: no slope; what launches take of its block is not called kernel. */
Test(small_stack_work, sizes_of_one_depth)
{
	struct fake_session s = cells_session();
	struct made work = { 0 }, launches = { 0 };
	struct stack *all;

	s.depth = "1";
	work_and_launches(&work, &launches, &s);
	all = stacks_make(&(struct stack_request){
		.work = &work.grid, .from = &launches.fit, .costs = &costs });
	for (int mode = 0; mode < MODE_COUNT; mode++) {
		const struct stack *at = find_stack(&work.grid, all, (enum mode)mode, 100, 1);

		cr_assert(epsilon_eq(dbl, at->part_ns[STACK_KERNEL], KERNEL_NS + 1000.0,
				     0.01 * at->total_ns),
			  "mode %d: %g", mode, at->part_ns[STACK_KERNEL]);
	}
	free(all);
	made_release(&work);
	made_release(&launches);
}

/* ---- a GPU -------------------------------------------------------------------------------- */

static void read_kept(struct made *m, const char *name)
{
	char path[DATAFILE_PATH_BYTES];

	cr_assert(zero(int, datafile_find(name, path)), "%s", name);
	cr_assert(zero(int, session_read(&m->journal, path, NULL)), "%s", path);
	cr_assert(zero(int, grid_make(&m->grid, &m->journal, 0, NULL)), "%s", path);
}

/* Launches explain all but 10 % of each of their blocks, and all but 5 % of myocyte's. */
Test(small_stack_work, kept_sessions)
{
	struct made launch = { 0 }, work = { 0 };
	struct stack *own, *from;

	read_kept(&launch, "data/sessions/h200-launch.jsonl");
	read_kept(&work, "data/sessions/h200-myocyte.jsonl");
	cr_assert(zero(int, fit_make(&launch.fit, &launch.grid, 0)), "fit");
	own = stacks_make(&(struct stack_request){ .work = &launch.grid, .own = &launch.fit });
	from = stacks_make(&(struct stack_request){ .work = &work.grid, .from = &launch.fit });
	adds_up(&launch.grid, own);
	adds_up(&work.grid, from);
	for (int i = 0; i < launch.grid.n_points; i++)
		cr_assert(le(dbl, fabs(own[i].part_ns[STACK_OTHER]), 0.1 * own[i].total_ns),
			  "launch, point %d", i);
	for (int i = 0; i < work.grid.n_points; i++)
		cr_assert(le(dbl, fabs(from[i].part_ns[STACK_OTHER]), 0.05 * from[i].total_ns),
			  "myocyte, point %d", i);
	free(own);
	free(from);
	made_release(&launch);
	made_release(&work);
}

/* ---- do launches predict workloads -------------------------------------------------------- */

Test(small_stack_work, a_workload_that_launches_explain_is_predicted)
{
	struct fake_session s = cells_session();
	struct made work = { 0 }, launches = { 0 };
	struct work_validation v;
	struct errors all;

	work_and_launches(&work, &launches, &s);
	validate_work(&v, &work.grid, &launches.fit);
	/* of 3 sizes the two deepest graphs and fused blocks and the shallowest graph are seen */
	cr_assert(v.seen == 15 && v.all.n + v.outside.n == 21, "%d seen, %d", v.seen, v.all.n);
	cr_assert(lt(dbl, v.all.worst, 0.01), "%g", v.all.worst);
	cr_assert(v.accepted && !v.unknown, "accepted");
	for (int mode = 0; mode < MODE_COUNT; mode++)
		cr_assert(v.mode[mode].n > 0 && v.mode[mode].n < v.all.n, "mode %d: %d", mode,
			  v.mode[mode].n);
	all = validate_all_work(&v, 1);
	cr_assert(all.n == v.all.n && all.p95 == v.all.p95, "of one: the same");
	work_validation_release(&v);
	made_release(&work);
	made_release(&launches);
}

Test(small_stack_work, one_that_does_more_is_not)
{
	struct fake_session s = cells_session();
	struct made work = { 0 }, launches = { 0 };
	struct work_validation v[2];
	struct errors all;

	s.factor = slow_ends;
	work_and_launches(&work, &launches, &s);
	validate_work(&v[0], &work.grid, &launches.fit);
	cr_assert(not(v[0].accepted), "1.5 times as long at depth 1");
	cr_assert(epsilon_eq(dbl, v[0].all.worst, 1.0 / 3, 0.01), "%g", v[0].all.worst);
	cr_assert(eq(dbl, work.grid.point[v[0].all.worst_point].batch.depth, 1), "there");
	v[1] = v[0];
	all = validate_all_work(v, 2);
	cr_assert(all.n == 2 * v[0].all.n && all.worst == v[0].all.worst, "both");
	work_validation_release(&v[0]);
	made_release(&work);
	made_release(&launches);
}

/* What was not swept of launches is told apart, and not called predicted. */
Test(small_stack_work, what_launches_do_not_cover)
{
	struct fake_session s = cells_session(), launch = quiet();
	struct made work = { 0 }, launches = { 0 };
	struct work_validation v;

	launch.size = "0,1,10";
	launch.mode = "stream,graph";
	made_grid(&work, &s);
	made_fit(&launches, &launch);
	validate_work(&v, &work.grid, &launches.fit);
	cr_assert(v.all.n == 0 && !v.accepted, "kernels of 40 us and more: %d", v.all.n);
	cr_assert(v.outside.n > 0 && v.unknown == 12, "%d outside, %d unknown", v.outside.n,
		  v.unknown);
	work_validation_release(&v);
	made_release(&work);
	made_release(&launches);
}

/* What was asked of the model of a real workload on this GPU. */
Test(small_stack_work, myocyte_is_predicted_from_launches)
{
	struct made launch = { 0 }, work = { 0 };
	struct work_validation v;

	read_kept(&launch, "data/sessions/h200-launch.jsonl");
	read_kept(&work, "data/sessions/h200-myocyte.jsonl");
	cr_assert(zero(int, fit_make(&launch.fit, &launch.grid, 0)), "fit");
	validate_work(&v, &work.grid, &launch.fit);
	cr_assert(v.accepted && v.all.n >= 24, "median %g, 95 %% %g, n %d", v.all.median, v.all.p95,
		  v.all.n);
	work_validation_release(&v);
	made_release(&launch);
	made_release(&work);
}
