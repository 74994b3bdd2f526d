/*
 * test_fit_price.c - harness/fit/price.h and validate.h: what a workload would take elsewhere,
 * and what sessions of a real GPU say of the model.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/datafile.h"
#include "harness/fit/price.h"
#include "harness/fit/validate.h"
#include "harness/record/recorded.h"
#include "tests/cells_session.h"
#include "tests/made_fit.h"
#include "tests/golden.h"

TestSuite(small_fit_price, .timeout = 300);

/* ---- prices ----------------------------------------------------------------------------- */

/* Slower in everything: c, p, Z, graph calls. */
static struct model elsewhere(void)
{
	struct model m = fake_model();

	m.v[MODEL_C] = 4000;
	m.v[MODEL_P] = 6300;
	m.v[MODEL_G] = 1100;
	m.v[MODEL_Z] = 26000;
	m.v[MODEL_GRAPH_A] = 3000;
	m.v[MODEL_GRAPH_Z] = 21000;
	m.v[MODEL_FUSED_Z] = 25000;
	return m;
}

/* A workload on A and, to hold prices against, on B; launches on both. */
Test(small_fit_price, a_workload_priced_elsewhere)
{
	struct fake_session work = cells_session(), truth = cells_session();
	struct fake_session launch_a = small_session(), launch_b = small_session();
	struct made on_a = { 0 }, on_b = { 0 }, a = { 0 }, b = { 0 };
	struct prices p;

	truth.model[0] = launch_b.model[0] = elsewhere();
	made_grid(&on_a, &work);
	made_grid(&on_b, &truth);
	made_fit(&a, &launch_a);
	made_fit(&b, &launch_b);
	price_make(&p,
		   &(struct price_request){
			   .work = &on_a.grid, .b = &b.fit, .a = &a.fit, .measured = &on_b.grid });
	made_say_prices(&p);
	cr_assert(eq(int, p.all.n, on_a.grid.n_points), "%d", p.all.n);
	cr_assert(lt(dbl, p.all.worst, 0.01), "%g", p.all.worst);
	prices_release(&p);
	/* without A's fit its gap between nodes is counted twice */
	price_make(&p, &(struct price_request){
			       .work = &on_a.grid, .b = &b.fit, .measured = &on_b.grid });
	made_say_prices(&p);
	cr_assert(lt(dbl, 0.05, p.all.worst), "530 ns in 3500: %g", p.all.worst);
	prices_release(&p);
	made_release(&on_a);
	made_release(&on_b);
	made_release(&a);
	made_release(&b);
}

/* A wait of the workload's own, 3 us of which launches know nothing, is in what was measured. */
Test(small_fit_price, a_price_starts_from_what_was_measured)
{
	struct fake_session work = cells_session(), truth = cells_session();
	struct fake_session launch_a = small_session(), launch_b = small_session();
	struct made on_a = { 0 }, on_b = { 0 }, a = { 0 }, b = { 0 };
	struct price_request r = { .work = &on_a.grid, .a = &a.fit, .b = &b.fit };
	double without;
	struct prices p;

	truth.model[0] = launch_b.model[0] = elsewhere();
	work.model[0].v[MODEL_Z] += 3000;
	truth.model[0].v[MODEL_Z] += 3000;
	made_grid(&on_a, &work);
	made_grid(&on_b, &truth);
	made_fit(&a, &launch_a);
	made_fit(&b, &launch_b);
	r.measured = &on_b.grid;
	price_make(&p, &r);
	made_say_prices(&p);
	without = p.all.worst;
	prices_release(&p);
	r.from_measured = true;
	price_make(&p, &r);
	made_say_prices(&p);
	cr_assert(eq(int, p.all.n, on_a.grid.n_points), "%d", p.all.n);
	cr_assert(lt(dbl, p.all.worst, 0.01), "%g", p.all.worst);
	cr_assert(lt(dbl, 5 * p.all.worst, without), "%g without what was measured", without);
	for (int i = 0; i < p.n; i++)
		cr_assert(p.priced[i].total_ns.known, "an interval of block %d", i);
	prices_release(&p);
	/* on its own platform nothing is added */
	r.b = &a.fit;
	price_make(&p, &r);
	made_say_prices(&p);
	for (int i = 0; i < p.n; i++)
		cr_assert(epsilon_eq(dbl, p.priced[i].total_ns.value, on_a.grid.point[i].total_ns,
				     1e-6),
			  "block %d", i);
	prices_release(&p);
	made_release(&on_a);
	made_release(&on_b);
	made_release(&a);
	made_release(&b);
}

Test(small_fit_price, prices_say_what_they_do_not_know)
{
	struct fake_session work = small_session(), launch_b = small_session();
	struct made on_a = { 0 }, b = { 0 };
	struct prices p;

	work.size = "0,2,10,3000";
	work.depth = "1,16";
	work.mode = "stream,graph";
	launch_b.mode = "stream";
	made_grid(&on_a, &work);
	made_fit(&b, &launch_b);
	price_make(&p, &(struct price_request){ .work = &on_a.grid, .b = &b.fit });
	made_say_prices(&p);
	cr_assert(eq(int, p.n_known, 8), "no graphs on B: %d of %d", p.n_known, p.n);
	cr_assert(zero(int, p.all.n), "nothing measured on B");
	for (int i = 0; i < p.n; i++)
		if (p.priced[i].known)
			cr_assert(eq(int, p.priced[i].covered,
				     on_a.grid.point[i].batch.kernel_ns < 3e6),
				  "3000 us was not swept on B");
	prices_release(&p);
	made_release(&on_a);
	made_release(&b);
}

/* B swept two of three sizes, and has no result of its last block. */
static void make_prices_with_a_failure(struct prices *p, struct price_request *r, struct made *work,
				       struct made *on_b, struct made *b)
{
	struct fake_session cells = cells_session(), truth = cells_session();
	struct fake_session launch = small_session();

	cells.size = "1,100,1000";
	truth.size = "1,100";
	made_grid(work, &cells);
	made_grid(on_b, &truth);
	made_fit(b, &launch);
	on_b->grid.n_points--;
	*r = (struct price_request){ .work = &work->grid, .b = &b->fit, .measured = &on_b->grid };
	price_make(p, r);
	made_say_prices(p);
}

Test(small_fit_price, a_block_that_failed_on_b_is_told_from_one_that_was_not_swept)
{
	struct made work = { 0 }, on_b = { 0 }, b = { 0 };
	struct price_request r;
	const struct plan_point *lost;
	struct prices p;
	int failed = 0, measured = 0;

	make_prices_with_a_failure(&p, &r, &work, &on_b, &b);
	lost = &on_b.journal.plan.point[on_b.grid.point[on_b.grid.n_points].point];
	for (int i = 0; i < p.n; i++) {
		const char *key = work.journal.plan.point[work.grid.point[i].point].key;

		cr_expect(eq(int, p.priced[i].b_failed, !strcmp(key, lost->key)), "%d", i);
		failed += p.priced[i].b_failed;
		measured += isfinite(p.priced[i].b_ns);
	}
	cr_expect(eq(int, failed, 1), "%d blocks failed", failed);
	cr_expect(eq(int, measured, on_b.grid.n_points), "%d blocks were measured", measured);
	prices_release(&p);
	r.measured = NULL;
	price_make(&p, &r);
	made_say_prices(&p);
	for (int i = 0; i < p.n; i++)
		cr_expect(not(p.priced[i].b_failed), "nothing of B was measured: %d", i);
	prices_release(&p);
	made_release(&work);
	on_b.grid.n_points++; /* the block that was taken from it */
	made_release(&on_b);
	made_release(&b);
}

/* The row of a price, which a test has chosen, with what is not a number of the block left out. */
static void row_says(struct prices *p, const struct price_request *r, const struct priced *at,
		     const char *want)
{
	static char text[65536];
	FILE *out = fmemopen(text, sizeof(text), "w");

	p->priced[at->point] = *at;
	prices_print(p, r, out);
	fclose(out);
	golden_said(text);
	cr_expect(tells(text, want), "%s: %s", want, text);
}

Test(small_fit_price, a_price_is_printed_as_it_is)
{
	struct made work = { 0 }, on_b = { 0 }, b = { 0 };
	struct price_request r;
	struct prices p;
	double depth;
	struct priced at = { .known = true, .covered = true, .doubtful = true };

	make_prices_with_a_failure(&p, &r, &work, &on_b, &b);
	depth = work.grid.point[0].batch.depth;
	at.a_ns = 2000 * depth;
	at.total_ns = (struct interval){ 5000 * depth, 4500 * depth, 5500 * depth, 5, true };
	at.copies_ns = 4500 * depth;
	at.b_ns = 4000 * depth;
	row_says(&p, &r, &at, " 2.00 us*5.00 us*±10 %* 2.500*4.00 us*+25.0 %*copies 90 %\n");
	at.doubtful = at.covered = false;
	at.b_ns = NAN;
	at.b_failed = true;
	row_says(&p, &r, &at, " 2.500 *failed*outside\n");
	for (int i = 0; i < p.n; i++) { /* the first line: the least, the most, the median */
		p.priced[i].known = i < 3;
		p.priced[i].a_ns = 1000;
		p.priced[i].total_ns.value = 1000 * (1 + i * i);
	}
	row_says(&p, &r, &p.priced[0],
		 "On B a step takes 1.00 to 5.00 times as long as on A, 2.00 in the median of 3 "
		 "samples\n"
		 "predict");
	p.all = (struct price_errors){ 10, 0.01, 0.02, 0.03 };
	p.sure = (struct price_errors){ 6, 0.004, 0.005, 0.006 };
	row_says(&p, &r, &p.priced[0],
		 "median 1.00 %*within 2.00 %*worst 3.00 %, n = 10 samples\n*low confidence*median "
		 "0.40 %*within 0.50 %*worst 0.60 %, n = 6\n");
	p.sure.n = 10; /* none is of low confidence */
	row_says(&p, &r, &p.priced[0], "worst 3.00 %, n = 10 samples\n± is half of");
	p.all.n = 0;
	row_says(&p, &r, &p.priced[0], "none of these samples was measured on B\n± is half of");
	prices_release(&p);
	made_release(&work);
	on_b.grid.n_points++; /* the block that was taken from it */
	made_release(&on_b);
	made_release(&b);
}

/* The largest kernels of both take 3 % more than their nominal 1000 us: all the same, both had it.
 */
Test(small_fit_price, what_both_swept_is_covered)
{
	struct fake_session s = small_session();
	struct made a = { 0 }, b = { 0 };
	struct prices p;

	s.model[0].v[MODEL_CLOCK] = 1.03;
	made_fit(&a, &s);
	s.seed = 2;
	made_fit(&b, &s);
	price_make(&p, &(struct price_request){ .work = &a.grid, .a = &a.fit, .b = &b.fit });
	made_say_prices(&p);
	for (int i = 0; i < p.n; i++)
		cr_assert(p.priced[i].covered, "point %d of %d, size %g", i, p.n,
			  a.grid.size[a.grid.point[i].size].value);
	prices_release(&p);
	made_release(&a);
	made_release(&b);
}

/* ---- what a launch takes on the device ---------------------------------------------------- */

static double half(const struct batch *b, int side)
{
	return b->kernel_ns < 3100 && !side ? 0.5 : 1;
}

/* Prices every point of a session of cells in one mode, by what launches cost on both sides. */
static void device_time_is(const char *mode, const char *depth, double more, double off)
{
	struct fake_session work = cells_session(), launches = small_session();
	struct made a = { 0 }, on_a = { 0 };

	work.mode = mode;
	work.depth = depth;
	work.size = "1,100,1000";
	made_grid(&on_a, &work);
	made_fit(&a, &launches);
	for (int i = 0; i < on_a.grid.n_points; i++) {
		const struct price_job job = price_job_of(
			&(struct price_request){ .work = &on_a.grid, .b = &a.fit, .a = &a.fit }, i);
		double want = cells_ns(on_a.grid.size[on_a.grid.point[i].size].value) + more;
		double got = job.batch.mode == MODE_FUSED ? job.fused_ns : job.batch.kernel_ns;

		cr_assert(job.known, "%s, %s", mode, depth);
		cr_assert(epsilon_eq(dbl, got, want, off), "%s at %s, point %d: %g, not %g", mode,
			  depth, i, got, want);
	}
	made_release(&on_a);
	made_release(&a);
}

/*
 * The session was made up of kernels of cells_ns(), to which what A's launches cost was added: of
 * several depths the slope, of one depth the block less Z and three gaps (or a call and Zg), has to
 * give them back. A unit of a fused block of 4 keeps 3 / 4 of the 60 ns between units.
 */
Test(small_fit_price, device_time_is_what_the_session_was_made_of)
{
	device_time_is("stream", "1,4,16,64", 0, 20);
	device_time_is("graph", "1,4,16,64", 0, 20);
	device_time_is("fused", "1,4,16,64", 60, 20);
	device_time_is("stream", "4", 0, 40);
	device_time_is("graph", "4", 0, 40);
	device_time_is("fused", "4", 45, 40);
}

/* Kernels of launch have a nominal time, to which A's clock and offset are added; none have none.
 */
Test(small_fit_price, nominal_times_are_by_the_clock_of_a)
{
	struct fake_session work = small_session(), launches = small_session();
	struct made a = { 0 }, on_a = { 0 };

	work.mode = "stream";
	work.size = "0,100";
	work.depth = "1,4";
	made_grid(&on_a, &work);
	made_fit(&a, &launches);
	a.fit.model.v[MODEL_CLOCK] = 1.5;
	a.fit.model.v[MODEL_E] = 40;
	for (int i = 0; i < on_a.grid.n_points; i++) {
		const struct price_job job = price_job_of(
			&(struct price_request){ .work = &on_a.grid, .b = &a.fit, .a = &a.fit }, i);
		bool is_empty = !(on_a.grid.size[on_a.grid.point[i].size].value > 0);

		cr_assert(epsilon_eq(dbl, job.batch.kernel_ns, is_empty ? 0 : 150040, 1e-6),
			  "point %d: %g", i, job.batch.kernel_ns);
	}
	made_release(&on_a);
	made_release(&a);
}

static double nothing_ns(double cells)
{
	(void)cells;
	return 0;
}

/* A block that took less than A's launches of nothing holds no kernel time, and not less. */
Test(small_fit_price, device_time_is_never_negative)
{
	struct fake_session work = cells_session(), launches = small_session();
	struct made a = { 0 }, on_a = { 0 };
	struct price_job job;

	work.mode = "stream";
	work.depth = "4";
	work.size = "1,1000";
	work.model[0].v[MODEL_Z] = 100;
	work.model[0].v[MODEL_C] = work.model[0].v[MODEL_P] = work.model[0].v[MODEL_G] = 0;
	work.factor = half;
	made_grid(&on_a, &work);
	made_fit(&a, &launches);
	job = price_job_of(&(struct price_request){ .work = &on_a.grid, .b = &a.fit, .a = &a.fit },
			   0);
	cr_assert(zero(dbl, job.batch.kernel_ns), "6120 ns, and Z and gaps are 8500: %g",
		  job.batch.kernel_ns);
	made_release(&on_a);
	/* in graphs a node took 30 ns, of which A's gaps are 530 */
	work = cells_session();
	work.mode = "graph";
	work.model[0].v[MODEL_GRAPH_G] = 0;
	work.model[0].v[MODEL_GRAPH_GG] = 0;
	work.kernel_ns = nothing_ns;
	made_grid(&on_a, &work);
	job = price_job_of(&(struct price_request){ .work = &on_a.grid, .b = &a.fit, .a = &a.fit },
			   0);
	cr_assert(zero(dbl, job.batch.kernel_ns), "nodes: %g", job.batch.kernel_ns);
	made_release(&on_a);
	made_release(&a);
}

/* Device times of work, in ns, by its cells. */
static double listed_ns(double cells)
{
	return cells < 2 ? 4000 : cells < 3 ? 66000 : 69000;
}

/*
 * B swept 0 to 50 us, which take 1.25 times as long there and 5 us: up to 67.5 us of device time.
 * What is shorter than the 5 us is as short as nothing, which B swept too.
 */
Test(small_fit_price, device_time_is_covered_by_what_sizes_take)
{
	struct fake_session work = cells_session(), launches = small_session();
	struct made b = { 0 }, on_a = { 0 };
	struct prices p;

	launches.model[0].v[MODEL_CLOCK] = 1.25;
	launches.model[0].v[MODEL_E] = 5000;
	launches.size = "0,2,5,10,20,50";
	work.kernel_ns = listed_ns;
	work.mode = "stream";
	work.size = "1,2,3";
	made_grid(&on_a, &work);
	made_fit(&b, &launches);
	cr_assert(epsilon_eq(dbl, b.fit.model.v[MODEL_E], 5000, 100), "%g", b.fit.model.v[MODEL_E]);
	price_make(&p, &(struct price_request){ .work = &on_a.grid, .b = &b.fit });
	made_say_prices(&p);
	for (int i = 0; i < p.n; i++) {
		double cells = on_a.grid.size[on_a.grid.point[i].size].value;

		cr_assert(eq(int, p.priced[i].covered, cells < 3), "%g cells", cells);
	}
	prices_release(&p);
	made_release(&on_a);
	made_release(&b);
}

/* ---- kept sessions ---------------------------------------------------------------------- */

static void read_kept(struct made *m, const char *name, bool fitted)
{
	char path[DATAFILE_PATH_BYTES];

	cr_assert(zero(int, datafile_find(name, path)), "%s", name);
	cr_assert(zero(int, session_read(&m->journal, path, NULL)), "%s", path);
	cr_assert(zero(int, grid_make(&m->grid, &m->journal, 0, NULL)), "%s", path);
	if (fitted)
		cr_assert(zero(int, fit_make(&m->fit, &m->grid, 0)), "%s", path);
}

/* What was asked of the model on this GPU. */
Test(small_fit_price, an_h200_is_predicted_from_half_of_its_points)
{
	struct made launch = { 0 };
	struct validation v;

	read_kept(&launch, "data/sessions/h200-launch.jsonl", false);
	validate_grid(&v, &launch.grid);
	cr_assert(eq(int, v.all.n, 103), "%d", v.all.n);
	cr_assert(le(dbl, v.all.median, 0.03), "%g", v.all.median);
	cr_assert(le(dbl, v.all.p95, 0.10), "%g", v.all.p95);
	validation_release(&v);
	made_release(&launch);
}

/*
 * A real workload from its kernels and what launches cost, of which it has no part. The 24 blocks
 * that say how long kernels take are no test.
 */
Test(small_fit_price, myocyte_is_priced_from_launches)
{
	struct made launch = { 0 }, myocyte = { 0 };
	struct prices p;

	read_kept(&launch, "data/sessions/h200-launch.jsonl", true);
	read_kept(&myocyte, "data/sessions/h200-myocyte.jsonl", false);
	price_make(&p, &(struct price_request){ .work = &myocyte.grid,
						.b = &launch.fit,
						.a = &launch.fit,
						.measured = &myocyte.grid });
	made_say_prices(&p);
	cr_assert(eq(int, p.all.n, 31), "%d", p.all.n);
	cr_assert(le(dbl, p.all.median, 0.03), "%g", p.all.median);
	cr_assert(le(dbl, p.all.p95, 0.05), "%g", p.all.p95);
	prices_release(&p);
	made_release(&launch);
	made_release(&myocyte);
}
