/*
 * test_price_work.c - harness/fit/price.h and copies.h: what launches do not know of a workload,
 * its first step, calls of libraries and copies.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/fit/copies.h"
#include "harness/fit/library.h"
#include "harness/fit/price.h"
#include "harness/fit/validate.h"
#include "tests/golden.h"
#include "tests/made_fit.h"

TestSuite(small_price_work, .timeout = 300);

static struct fake_session small_session(void)
{
	struct fake_session s = fake_session();

	s.processes = 5;
	s.noise = 0;
	s.quick = true;
	return s;
}

static double cells_ns(double cells)
{
	return 4000 + 10 * cells;
}

static double short_ns(double cells)
{
	(void)cells;
	return 1000;
}

static struct fake_session cells_session(void)
{
	struct fake_session s = small_session();

	s.workload = "myocyte";
	s.size = "1,100,1000";
	s.depth = "1,4,16,64";
	s.mode = "stream,graph";
	s.kernel_ns = cells_ns;
	return s;
}

static void say_errors(const char *name, const struct errors *e)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: n %d, %.1f %.1f %.1f %%\n", name, e->n, 100 * e->median,
		 100 * e->p95, 100 * e->worst);
	golden_said(text);
}

static void validate(struct work_validation *v, const struct fake_session *s)
{
	struct fake_session launch = small_session();
	struct made work = { 0 }, launches = { 0 };

	made_grid(&work, s);
	made_fit(&launches, &launch);
	validate_work(v, &work.grid, &launches.fit);
	say_errors("all", &v->all);
	say_errors("outside", &v->outside);
	say_errors("stream", &v->mode[MODE_STREAM]);
	say_errors("graph", &v->mode[MODE_GRAPH]);
	v->work = NULL;
	made_release(&work);
	made_release(&launches);
}

/* ---- a first step that is shorter ------------------------------------------------------- */

enum { FIRST_NS = 3000 };

/* The first step lacks so much of what the device has to do. */
static double first_is_shorter(const struct batch *b, int side)
{
	const struct model m = fake_model();
	double total_ns = recursion_block(&m, b).total_ns;

	(void)side;
	return (total_ns - FIRST_NS) / total_ns;
}

Test(small_price_work, a_first_step_that_is_shorter_is_told_by_the_shallowest_graph)
{
	struct fake_session s = cells_session();
	struct work_validation v;

	s.factor = first_is_shorter;
	validate(&v, &s);
	cr_assert(eq(int, v.seen, 9), "graphs of depth 1, 16 and 64 of each size: %d", v.seen);
	cr_assert(lt(dbl, v.all.worst, 0.02), "%g", v.all.worst);
	work_validation_release(&v);
	/* two depths say it too, as the slope between them is of the later steps */
	s.depth = "1,64";
	validate(&v, &s);
	cr_assert(eq(int, v.seen, 6), "%d", v.seen);
	cr_assert(lt(dbl, v.all.worst, 0.01), "%g", v.all.worst);
	work_validation_release(&v);
}

/* Where the host is what a block waits for, the device's first step makes no difference. */
Test(small_price_work, a_short_first_step_is_hidden_behind_launches)
{
	struct price_job job = { .batch = { MODE_STREAM, 64, 1, 1000 }, .measured_kernel = true };
	const struct model m = fake_model();
	double equal_ns = price_total_b(&m, &job);

	job.on_b.first_ns = -900;
	cr_assert(epsilon_eq(dbl, price_total_b(&m, &job), equal_ns, 1e-6), "64 launches of 2200");
	job.on_b.first_ns = 63 * 300 + 500; /* each launch leaves 300 ns of the device idle */
	cr_assert(epsilon_eq(dbl, price_total_b(&m, &job), equal_ns + 500, 1e-6), "longer");
	job.batch.depth = 1;
	job.on_b.first_ns = -900;
	cr_assert(epsilon_eq(dbl, price_total_b(&m, &job), 5800 + 100, 1e-6), "alone");
}

/*
 * What a block takes beyond the one whose steps and launches are equal. The device takes 1500 ns a
 * launch, who submits p.
 */
static double beyond_ns(double p, double depth, double launches, struct work_extra extra)
{
	struct price_job job = { .batch = { MODE_STREAM, depth, launches, 1400 },
				 .measured_kernel = true };
	struct model m = fake_model();
	double equal_ns;

	m.v[MODEL_C] = 500;
	m.v[MODEL_P] = p;
	m.v[MODEL_G] = 100;
	equal_ns = price_total_b(&m, &job);
	job.on_b = extra;
	return price_total_b(&m, &job) - equal_ns;
}

static void is_beyond(double p, double depth, struct work_extra extra, double want)
{
	cr_expect(epsilon_eq(dbl, beyond_ns(p, depth, 4, extra), want, 1e-6),
		  "p %g, depth %g, first %g: %g", p, depth, extra.first_ns,
		  beyond_ns(p, depth, 4, extra));
}

/* A step has four launches: 32 in a block of 8. */
Test(small_price_work, a_first_step_has_all_its_launches)
{
	is_beyond(1000, 8, (struct work_extra){ .first_ns = 700 }, 700);
	/* the later 28 still begin behind four launches and what is submitted with them */
	is_beyond(1000, 8, (struct work_extra){ .first_ns = -20000 }, 4 * 1000 - 4 * 1500);
	is_beyond(1000, 8, (struct work_extra){ .first_ns = -20000, .submit_ns = 300 },
		  4 * (1000 + 300) + 300 - 4 * 1500);
	/* where submission is waited for, each of 31 launches is later, and a quarter of a kernel
	 * is behind the last of three copies
	 */
	is_beyond(3000, 8, (struct work_extra){ .submit_ns = 500, .copies = 3 },
		  31 * 500 + 500 + 1400 / 4 - 1400);
	is_beyond(3000, 8, (struct work_extra){ .first_ns = -2000, .submit_ns = 500, .copies = 3 },
		  31 * 500 + 500 + 1400 / 4 - 1400);
	/* a block of one step: each launch is shorter by a quarter of what the step is */
	is_beyond(3000, 1, (struct work_extra){ .first_ns = -2000, .copies = 2 },
		  (1400 - 500) / 3 - 1400);
	is_beyond(3000, 1, (struct work_extra){ .first_ns = -8000 }, -1400);
	is_beyond(1000, 1, (struct work_extra){ .first_ns = -2000 },
		  3 * 1000 + 900 - 1400 - 3 * 1500);
	is_beyond(1000, 1, (struct work_extra){ .first_ns = 600 }, 600);
}

/* ---- calls of libraries ----------------------------------------------------------------- */

Test(small_price_work, calls_that_take_the_host_longer_are_told_by_the_shallowest_block)
{
	struct fake_session s = cells_session();
	struct work_validation v;

	s.kernel_ns = short_ns;
	s.model[0].v[MODEL_C] += 3000;
	s.model[0].v[MODEL_P] = s.model[0].v[MODEL_C];
	s.model[0].v[MODEL_Z] += 3000;
	validate(&v, &s);
	cr_assert(lt(dbl, v.all.worst, 0.02), "%g", v.all.worst);
	cr_assert(eq(int, v.seen, 12), "a stream block of each size more: %d", v.seen);
	work_validation_release(&v);
	/* kernels that outlast them hide them */
	s.kernel_ns = cells_ns;
	s.size = "1000";
	validate(&v, &s);
	cr_assert(eq(int, v.seen, 3), "%d", v.seen);
	work_validation_release(&v);
}

/* 64 calls that take the host 1000 ns longer: the slowest station has them 63 times. */
static double longer_ns(double c, double p)
{
	struct price_job job = { .batch = { MODE_STREAM, 64, 1, 100 }, .measured_kernel = true };
	struct model m = fake_model();
	double alone_ns;

	m.v[MODEL_C] = c;
	m.v[MODEL_P] = p;
	m.v[MODEL_G] = 0;
	alone_ns = price_total_b(&m, &job);
	job.on_b.call_ns = 1000;
	return (price_total_b(&m, &job) - alone_ns - 1000) / 63; /* one is in the wait */
}

Test(small_price_work, who_submits_takes_longer_for_a_library_too)
{
	cr_assert(epsilon_eq(dbl, longer_ns(2000, 2000), 1000, 1e-6), "the program alone");
	cr_assert(epsilon_eq(dbl, longer_ns(2000, 2200), 800, 1e-6),
		  "the program, which is now slower than the driver");
	cr_assert(epsilon_eq(dbl, longer_ns(100, 4000), 975, 1e-6), "a layer's process");
	cr_assert(epsilon_eq(dbl, longer_ns(2000, 4000), 500, 1e-6), "by half each");
}

/* A product of 32 columns every 6900 ns, as the gap is 900; of launch the axis is in us. */
static double product_ns(double size)
{
	return size == 32 ? 6000 : 1000 * size;
}

static void made_products(struct made *m, double p, char *impl)
{
	struct fake_session s = small_session();

	s.also = "matmul";
	s.assignment = &impl;
	s.n_assignments = 1;
	s.kernel_ns = product_ns;
	s.model[0].v[MODEL_P] = p;
	s.model[0].v[MODEL_Z] = p + 3600;
	fake_session_journal(&s, &m->journal);
	cr_assert(zero(int, grid_make(&m->grid, &m->journal, 0, "launch")), "grid");
	cr_assert(zero(int, fit_make(&m->fit, &m->grid, 0)), "fit");
}

/* On A a product takes 4700 ns longer than a launch, on B, whose launches take 6 us, 900 ns. */
Test(small_price_work, products_say_how_much_of_a_library_is_hidden)
{
	struct made a = { 0 }, b = { 0 }, tiled = { 0 }, slow = { 0 };
	double ratio = NAN;

	made_products(&a, 2200, "impl=cublas");
	made_products(&b, 6000, "impl=cublas");
	made_products(&slow, 8000, "impl=cublas");
	made_products(&tiled, 6000, "impl=tiled");
	cr_assert(library_ratio(&ratio, &a.fit, &b.fit), "both have them");
	cr_assert(epsilon_eq(dbl, ratio, 900. / 4700, 0.01), "%g", ratio);
	cr_assert(library_ratio(&ratio, &a.fit, &slow.fit), "both have them");
	cr_assert(epsilon_eq(dbl, ratio, 0, 0.01), "all of it is hidden: %g", ratio);
	cr_assert(not(library_ratio(&ratio, &slow.fit, &a.fit)), "no longer than launches on A");
	cr_assert(not(library_ratio(&ratio, &a.fit, &tiled.fit)), "B has none of cuBLAS");
	cr_assert(not(library_ratio(&ratio, &tiled.fit, &b.fit)), "A has none");
	made_release(&slow);
	made_release(&tiled);
	made_release(&b);
	made_release(&a);
}

/* Calls that take 3 us longer on A: those of launches on B come every 6 us. */
Test(small_price_work, calls_of_a_library_take_what_products_say)
{
	struct fake_session cells = cells_session(), launch = small_session();
	struct made work = { 0 }, on_a = { 0 }, on_b = { 0 };
	const double half = 0.5;
	struct price_request r = { .work = &work.grid, .from_measured = true };
	struct price_job assumed, measured;

	made_fit(&on_a, &launch);
	launch.model[0].v[MODEL_P] = launch.model[0].v[MODEL_C] = 6000;
	made_fit(&on_b, &launch);
	cells.kernel_ns = short_ns;
	cells.size = "1";
	cells.model[0].v[MODEL_C] += 3000;
	cells.model[0].v[MODEL_P] = cells.model[0].v[MODEL_C];
	made_grid(&work, &cells);
	r.a = &on_a.fit;
	r.b = &on_b.fit;
	for (int i = 0; i < work.grid.n_points; i++) {
		const struct batch *b = &work.grid.point[i].batch;

		if (b->mode != MODE_STREAM || b->depth != 64)
			continue;
		r.library = NULL;
		assumed = price_job_of(&r, i);
		r.library = &half;
		measured = price_job_of(&r, i);
		cr_assert(epsilon_eq(dbl, assumed.on_b.call_ns, 3000, 30), "%g",
			  assumed.on_b.call_ns);
		cr_assert(epsilon_eq(dbl,
				     price_recursion(&on_b.fit.model, &assumed, true) -
					     price_recursion(&on_b.fit.model, &measured, true),
				     64 * 1500, 64 * 30),
			  "half of 3 us less, 64 times");
		cr_assert(epsilon_eq(dbl, measured.on_b.least_ns, 2200 + 3000, 60), "%g",
			  measured.on_b.least_ns);
	}
	made_release(&work);
	made_release(&on_b);
	made_release(&on_a);
}

/* A layer that makes a library's calls elsewhere still has to make them. */
Test(small_price_work, calls_of_a_library_come_no_faster_than_on_a)
{
	struct price_job job = { .batch = { MODE_STREAM, 64, 1, 100 }, .measured_kernel = true };
	struct model m = fake_model();
	double hidden_ns;

	m.v[MODEL_C] = m.v[MODEL_P] = 6000;
	job.model = m;
	job.on_b.call_is_all = true;
	hidden_ns = price_total_b(&m, &job);
	job.on_b.least_ns = 5000;
	cr_assert(epsilon_eq(dbl, price_total_b(&m, &job), hidden_ns, 1e-6), "p is longer");
	job.on_b.least_ns = 7000;
	cr_assert(epsilon_eq(dbl, price_total_b(&m, &job), hidden_ns + 63 * 1000, 1e-6), "%g",
		  price_total_b(&m, &job) - hidden_ns);
}

/* ---- copies ------------------------------------------------------------------------------- */

/* 2 us a call, 80 us for 4 MiB. */
static struct copy_paces paces(double call_ns, double large_ns)
{
	struct copy_paces p = copy_paces_none();

	p.to_device[0] = p.to_host[0] = (struct copy_pace){ call_ns, call_ns, 4e6, large_ns, 0 };
	return p;
}

static struct step_copies said_copies(const struct copy_paces *own, const struct copy_paces *other,
				      const struct cost *step, enum mode mode)
{
	const struct step_copies c = copies_of_step(own, other, step, mode);
	char text[160];

	snprintf(text, sizeof(text), "%g copies, %.4g %.4g %.4g%s\n", c.copies, c.submit_ns,
		 c.device_ns, c.first_ns, c.in_turn ? ", in turn" : "");
	golden_said(text);
	return c;
}

static void say_pace(FILE *out, const struct copy_pace *p)
{
	fprintf(out, "%.4g %.4g %g %.4g %.3g\n", p->call_ns, p->submit_ns, p->bytes, p->large_ns,
		p->host_ns_per_byte);
}

/* What side a of a session says of copies. */
static int said_paces(struct copy_paces *p, const struct journal *j)
{
	static char text[65536];
	FILE *out = fmemopen(text, sizeof(text), "w");
	int err = copy_paces_of(p, j, 0);

	for (int i = 0; i < 2; i++) {
		say_pace(out, &p->to_device[i]);
		say_pace(out, &p->to_host[i]);
	}
	for (int mode = 0; mode < MODE_COUNT; mode++)
		for (int i = 0; i < p->turns[mode].n; i++) {
			const struct copy_turn *t = &p->turns[mode].of[i];

			fprintf(out, "%s: %g of %g, %.4g %.4g\n", mode_name(mode), t->copies,
				t->bytes, t->ns, t->first_ns);
		}
	fclose(out);
	golden_said(text);
	return err;
}

static const struct cost step = { .launches = 1, .to_device = { 2, 2e6 }, .to_host = { 1, 1e6 } };

Test(small_price_work, copies_of_a_step_by_what_they_take_on_both_platforms)
{
	struct copy_paces a = paces(2000, 80000), b = paces(5000, 84000);
	struct step_copies c = said_copies(&b, &a, &step, MODE_STREAM);

	cr_assert(epsilon_eq(dbl, c.submit_ns, 3 * 5000, 1e-6), "%g", c.submit_ns);
	cr_assert(epsilon_eq(dbl, c.device_ns, 3 * 4000, 1e-6), "4 us, a call's time: fixed: %g",
		  c.device_ns);
	b = paces(5000, 105000);
	c = said_copies(&b, &a, &step, MODE_STREAM);
	cr_assert(epsilon_eq(dbl, c.device_ns, 3 * (5000 + 20000 * 1e6 / 4e6), 1e-6),
		  "25 us: what is beyond a call is the rate: %g", c.device_ns);
	b = paces(2150, 84000);
	c = said_copies(&b, &a, &step, MODE_STREAM);
	cr_assert(epsilon_eq(dbl, c.device_ns, 3 * 4000 * 1e6 / 4e6, 1e-6),
		  "small ones are as before: all of it is the rate: %g", c.device_ns);
	b = paces(5000, 105000);
	b.to_host[0].call_ns = NAN;
	c = said_copies(&b, &a, &step, MODE_STREAM);
	cr_assert(epsilon_eq(dbl, c.submit_ns, 2 * 5000, 1e-6), "one direction is not known: %g",
		  c.submit_ns);
}

Test(small_price_work, copies_that_are_not_known_are_said_to_be)
{
	struct copy_paces a = paces(2000, 80000), none = copy_paces_none();
	const struct cost launches = { .launches = 1 }, one_way = { .to_device = { 1, 1e6 } };

	cr_assert(eq(int, copying_of_step(&a, &a, &launches), STEP_COPIES_NOTHING), "no copies");
	cr_assert(eq(int, copying_of_step(&a, &a, &step), STEP_COPIES_KNOWN), "both");
	cr_assert(eq(int, copying_of_step(&a, &none, &step), STEP_COPIES_UNKNOWN), "one");
	cr_assert(eq(int, copying_of_step(NULL, NULL, &step), STEP_COPIES_UNKNOWN), "none");
	none.to_device[0] = a.to_device[0];
	cr_assert(eq(int, copying_of_step(&a, &none, &step), STEP_COPIES_UNKNOWN), "one way");
	cr_assert(eq(int, copying_of_step(&none, &a, &one_way), STEP_COPIES_KNOWN),
		  "the other way is not taken");
}

/* What is said of all prices, from copies on. */
static void say_head(const struct prices *p, const struct price_request *r)
{
	static char text[65536];
	FILE *out = fmemopen(text, sizeof(text), "w");
	char *from, *end;

	prices_print(p, r, out);
	fclose(out);
	from = strstr(text, "\ncopies ");
	cr_assert(ne(ptr, from, NULL), "%s", text);
	end = strstr(from, "\n\n");
	cr_assert(ne(ptr, end, NULL), "%s", text);
	end[1] = '\0';
	golden_said(from + 1);
}

/* Kernels of 4 to 14 us; a step has three copies. Blocks of launches end so much later on B. */
static void price_from(bool from_measured, struct prices *p, struct made *work,
		       const struct copy_paces *a, const struct copy_paces *b, double later_ns)
{
	struct fake_session cells = cells_session(), launch = small_session();
	struct made launches = { 0 }, later = { 0 };
	struct price_request r;

	made_grid(work, &cells);
	made_fit(&launches, &launch);
	launch.model[0].v[MODEL_Z] += later_ns;
	launch.model[0].v[MODEL_GRAPH_B] += later_ns / 3;
	made_fit(&later, &launch);
	for (int i = 0; i < work->grid.n_points; i++)
		work->journal.step[work->grid.point[i].point] = step;
	r = (struct price_request){ .work = &work->grid,
				    .a = &launches.fit,
				    .b = &later.fit,
				    .from_measured = from_measured,
				    .copies_a = a,
				    .copies_b = b,
				    .measured = &work->grid };
	price_make(p, &r);
	say_head(p, &r);
	made_say_prices(p);
	made_release(&launches);
	made_release(&later);
}

static void price_by(struct prices *p, struct made *work, const struct copy_paces *a,
		     const struct copy_paces *b, double later_ns)
{
	price_from(true, p, work, a, b, later_ns);
}

/* Those of A cost 2 us a call, those of B so much. */
static void price_with_copies(struct prices *p, double call_ns)
{
	const struct copy_paces a = paces(2000, 80000), b = paces(call_ns, 80000);
	struct made work = { 0 };

	price_by(p, &work, &a, &b, 0);
	made_release(&work);
}

Test(small_price_work, prices_that_are_copies_for_a_fifth_are_doubtful)
{
	struct prices p;

	price_with_copies(&p, 2000);
	cr_assert(zero(int, p.n_doubtful), "the same copies");
	cr_assert(eq(int, p.sure.n, p.all.n), "all are sure");
	prices_release(&p);
	price_with_copies(&p, 8000);
	cr_assert(lt(int, 0, p.n_doubtful), "copies of 8 us for 2");
	cr_assert(eq(int, p.sure.n, p.all.n - p.n_doubtful), "%d of %d", p.sure.n, p.all.n);
	for (int i = 0; i < p.n; i++) {
		const struct priced *at = &p.priced[i];
		double share = at->copies_ns / at->total_ns.value;

		cr_assert(eq(int, at->doubtful, share > 0.2), "block %d: %g", i, share);
		cr_assert(epsilon_eq(dbl, at->total_ns.value, at->a_ns + at->copies_ns, 1),
			  "nothing else costs more on B");
	}
	prices_release(&p);
}

/* Without what was measured, too, a price has what copies take on B. */
Test(small_price_work, copies_of_b_are_in_a_price_by_the_model_alone)
{
	const struct copy_paces a = paces(2000, 80000), b = paces(8000, 80000);
	struct made work = { 0 };
	struct prices same, more;
	int some = 0;

	price_from(false, &same, &work, &a, &a, 0);
	made_release(&work);
	price_from(false, &more, &work, &a, &b, 0);
	for (int i = 0; i < more.n; i++) {
		/* long kernels hide them */
		cr_assert(le(dbl, 0, more.priced[i].copies_ns), "block %d", i);
		some += more.priced[i].copies_ns > 1000;
		cr_assert(epsilon_eq(dbl, more.priced[i].total_ns.value,
				     same.priced[i].total_ns.value + more.priced[i].copies_ns,
				     1e-3),
			  "block %d", i);
	}
	cr_assert(lt(int, 10, some), "%d", some);
	made_release(&work);
	prices_release(&same);
	prices_release(&more);
}

/* 3 copies of 5 us and a launch of 2.2 us: the host sets the pace; with 1 us copies the device. */
Test(small_price_work, copies_take_turns_with_launches)
{
	struct price_job job = { .batch = { MODE_STREAM, 64, 1, 10000 }, .measured_kernel = true };
	const struct model m = fake_model();

	job.on_b = (struct work_extra){ .submit_ns = 15000, .copies = 3 };
	cr_assert(epsilon_eq(dbl, price_total_b(&m, &job), 5800 + 63 * 17200 + 15000 + 10000 / 4.,
			     1e-6),
		  "%g", price_total_b(&m, &job));
	job.on_b = (struct work_extra){ .submit_ns = 3000, .device_ns = 1000, .copies = 3 };
	cr_assert(epsilon_eq(dbl, price_total_b(&m, &job), 5800 + 11000 + 63 * 11900, 1e-6), "%g",
		  price_total_b(&m, &job));
}

/* Copies of 4 bytes take 2 us here, those of 1 MB 20 us. */
static double copied_ns(double bytes)
{
	return bytes > 1000 ? 20000 : 500;
}

Test(small_price_work, a_session_of_transfer_says_what_copies_cost)
{
	struct fake_session s = small_session();
	struct copy_paces p;
	struct journal j;

	s.workload = "transfer";
	s.size = "4,1000000";
	s.depth = "1,16,64";
	s.mode = "stream";
	s.kernel_ns = copied_ns;
	fake_session_journal(&s, &j);
	cr_assert(zero(int, said_paces(&p, &j)), "read");
	cr_assert(epsilon_eq(dbl, p.to_device[0].call_ns, 2000, 1), "c: %g",
		  p.to_device[0].call_ns);
	cr_assert(epsilon_eq(dbl, p.to_device[0].submit_ns, 2200, 1), "p: %g",
		  p.to_device[0].submit_ns);
	cr_assert(epsilon_eq(dbl, p.to_device[0].large_ns, 20900, 1), "K + g: %g",
		  p.to_device[0].large_ns);
	cr_assert(eq(dbl, p.to_device[0].bytes, 1e6), "bytes");
	cr_assert(isnan(p.to_host[0].call_ns) && isnan(p.to_device[1].call_ns), "not swept");
	journal_release(&j);
}

/* The call of a large copy takes the host twice as long, or half of what a small one takes. */
static double large_calls_are_longer(const struct batch *b, int side)
{
	(void)side;
	return b->kernel_ns > 1000 ? 2 : 1;
}

static double large_calls_are_shorter(const struct batch *b, int side)
{
	(void)side;
	return b->kernel_ns > 1000 ? 0.5 : 1;
}

/* What a session of such copies says of each direction and kind of memory: which are known. */
static void knows_paces(const char *of, const char *size,
			double (*factor)(const struct batch *, int), const char *known)
{
	char assignment[64], *assigned = assignment, got[5] = "";
	struct fake_session s = small_session();
	struct copy_paces p;
	struct journal j;

	snprintf(assignment, sizeof(assignment), "%s", of);
	s.workload = "transfer";
	s.size = size;
	s.depth = "1,16,64";
	s.mode = "stream";
	s.kernel_ns = copied_ns;
	s.factor = factor;
	s.assignment = &assigned;
	s.n_assignments = 1;
	fake_session_journal(&s, &j);
	cr_assert(zero(int, said_paces(&p, &j)), "%s", of);
	for (int i = 0; i < 2; i++) {
		got[i] = isfinite(p.to_device[i].call_ns) ? 'd' : '-';
		got[2 + i] = isfinite(p.to_host[i].call_ns) ? 'h' : '-';
	}
	cr_assert(eq(str, got, (char *)known), "%s", of);
	journal_release(&j);
}

Test(small_price_work, which_copies_a_session_of_transfer_speaks_of)
{
	knows_paces("dir=h2d", "4,1000000", large_calls_are_longer, "d---");
	knows_paces("dir=h2d", "4,1000000", large_calls_are_shorter, "d---");
	knows_paces("dir=h2d", "1000000", NULL, "d---"); /* one size says nothing of bytes */
	knows_paces("dir=d2h", "4,1000000", NULL, "--h-");
	knows_paces("dir=d2d", "4,1000000", NULL, "----");
	knows_paces("dir=h2d,d2h", "4,1000000", NULL, "d-h-");
	knows_paces("host=pageable", "4,1000000", NULL, "-d--");
	knows_paces("host=registered", "4,1000000", NULL, "----");
	knows_paces("host=pinned,pageable", "4,1000000", NULL, "dd--");
	knows_paces("call=sync", "4,1000000", NULL, "----");
	knows_paces("split=256", "4,1000000", NULL, "----");
}

/* ---- copies in turn with kernels ---------------------------------------------------------- */

/* 1 us a node, and 450 ns more in a line of three. */
static double nodes_ns(double nodes)
{
	return 1000 * nodes + (nodes == 3 ? 450 : 0);
}

/* Lines of whole turns: of 3, 12 and 48 nodes, and, with ten copies in a turn, of 12 and 48. */
Test(small_price_work, a_session_of_streamed_nodes_says_what_turns_cost)
{
	char *assignments[] = { "node=streamed", "us=20", "op=launch,eager", "bytes=4k,64k",
				"copies=1,10" };
	struct fake_session s = small_session();
	struct copy_paces p;
	struct journal j;

	s.workload = "graph";
	s.size = "3,12,48";
	s.depth = "1,16,64";
	s.mode = "stream";
	s.kernel_ns = nodes_ns;
	s.assignment = assignments;
	s.n_assignments = 5;
	fake_session_journal(&s, &j);
	cr_assert(zero(int, said_paces(&p, &j)), "read");
	for (int mode = MODE_STREAM; mode <= MODE_GRAPH; mode++) {
		const struct copy_turns *t = &p.turns[mode];

		cr_assert(eq(int, t->n, 4), "mode %d: %d turns", mode, t->n);
		for (int i = 0; i < 4; i++) {
			const struct copy_turn *turn = &t->of[i];
			bool one = turn->copies == 1;

			cr_assert(eq(dbl, turn->bytes, i / 2 ? 65536 : 4096), "%g", turn->bytes);
			cr_assert(eq(dbl, turn->copies, i % 2 ? 10 : 1), "%g", turn->copies);
			cr_assert(epsilon_eq(dbl, turn->ns, one ? 2970 : 12000, 1),
				  "three nodes, by lines of 3 and 48, or twelve: %g", turn->ns);
			cr_assert(epsilon_eq(dbl, turn->first_ns, one ? 6280 : 5800, 1),
				  "Z and what is beyond a turn, by a line of one: %g",
				  turn->first_ns);
		}
	}
	journal_release(&j);
	assignments[1] = "us=0"; /* the host may be what is waited for */
	fake_session_journal(&s, &j);
	cr_assert(zero(int, said_paces(&p, &j)), "read");
	cr_assert(zero(int, p.turns[MODE_STREAM].n + p.turns[MODE_GRAPH].n), "not those");
	journal_release(&j);
	assignments[1] = "us=20";
	s.size = "3";
	fake_session_journal(&s, &j);
	cr_assert(zero(int, said_paces(&p, &j)), "read");
	cr_assert(zero(int, p.turns[MODE_STREAM].n + p.turns[MODE_GRAPH].n),
		  "lines of one length do not say what one more takes");
	journal_release(&j);
}

/* Sizes of 4 kB, 64 kB and 1 MB; the ends of a block take 5 us more than a turn. */
static struct copy_turns turns(double small_ns, double middle_ns, double large_ns)
{
	return (struct copy_turns){ 3,
				    { { 1, 4e3, small_ns, 5000 },
				      { 1, 64e3, middle_ns, 5000 },
				      { 1, 1e6, large_ns, 5000 } } };
}

static void knows(struct copy_turns *t, double copies, double bytes, double ns)
{
	t->of[t->n++] = (struct copy_turn){ copies, bytes, ns, NAN };
}

static double graph_ns(const struct copy_paces *b, const struct copy_paces *a,
		       const struct cost *of)
{
	return said_copies(b, a, of, MODE_GRAPH).device_ns;
}

/* 10 us less, and 2 us less for each MB. A step has 1.5 MB each way. */
Test(small_price_work, a_step_that_copies_both_ways_takes_a_turn_of_the_device)
{
	struct copy_paces a = paces(2000, 80000), b = paces(5000, 105000);
	double without_ns = graph_ns(&b, &a, &step);
	struct cost other = step;

	a.turns[MODE_GRAPH] = turns(14000, 17000, 54000);
	b.turns[MODE_GRAPH] = turns(14000 - 10008, 17000 - 10128, 54000 - 12000);
	cr_assert(epsilon_eq(dbl, graph_ns(&b, &a, &step), -13000, 1e-6), "%g",
		  graph_ns(&b, &a, &step));
	cr_assert(eq(dbl, said_copies(&b, &a, &step, MODE_STREAM).device_ns, without_ns),
		  "streams were not swept");
	other.launches = other.to_device.calls = other.to_host.calls = 4;
	cr_assert(epsilon_eq(dbl, graph_ns(&b, &a, &other), 4 * -10000 - 3000, 1e-6),
		  "four turns: %g", graph_ns(&b, &a, &other));
	other.launches = 0.25;
	cr_assert(lt(dbl, 0, graph_ns(&b, &a, &other)), "four copies back of a launch");
	other.to_device.calls = other.to_host.calls = 1;
	cr_assert(epsilon_eq(dbl, graph_ns(&b, &a, &other), -13000, 1e-6), "one turn at least: %g",
		  graph_ns(&b, &a, &other));
	other = step;
	other.to_device.calls = 0;
	cr_assert(lt(dbl, 0, graph_ns(&b, &a, &other)), "back alone");
	other = step;
	other.pageable = true;
	cr_assert(zero(dbl, graph_ns(&b, &a, &other)), "pageable");
	other = step;
	other.to_host.calls = 0;
	cr_assert(lt(dbl, 0, graph_ns(&b, &a, &other)), "one way");
	other = step;
	other.to_device.calls = 8;
	other.to_host.calls = 3;
	cr_assert(lt(dbl, 0, graph_ns(&b, &a, &other)),
		  "a launch with three copies back is no turn");
	other.launches = 1.5;
	cr_assert(lt(dbl, graph_ns(&b, &a, &other), 0), "two for each launch are");
	b.turns[MODE_GRAPH].n = 0;
	cr_assert(eq(dbl, graph_ns(&b, &a, &step), without_ns), "not known on B");
}

/* The mean of one size may round, so distances from it do not say that it is one. */
Test(small_price_work, one_size_says_no_rate)
{
	struct copy_paces a = paces(2000, 80000), b = a;
	struct copy_turns *on_a = &a.turns[MODE_GRAPH], *on_b = &b.turns[MODE_GRAPH];

	for (int i = 0; i < 2000; i++) {
		on_a->n = on_b->n = 0;
		knows(on_a, 1, 98304, 40000 + 7.7 * i);
		knows(on_b, 1, 98304, 41000 + 7.7 * i);
		cr_assert(epsilon_eq(dbl, graph_ns(&b, &a, &step), 1000, 1e-6), "%d: %g", i,
			  graph_ns(&b, &a, &step));
	}
}

/* Errors of turns are relative: what 1 MB takes says little of 4 kB. */
Test(small_price_work, small_turns_count_for_more_than_large_ones)
{
	struct copy_paces a = paces(2000, 80000), b = a;
	const struct cost small = { .launches = 1, .to_device = { 1, 4e3 }, .to_host = { 1, 4e3 } };

	a.turns[MODE_GRAPH] = turns(10000, 10000, 1e7);
	b.turns[MODE_GRAPH] = turns(9000, 9000, 1.05e7);
	cr_assert(epsilon_eq(dbl, graph_ns(&b, &a, &small), -1000, 50), "%g",
		  graph_ns(&b, &a, &small));
}

/* A turn of ten copies takes 9 x 0.5 us more than one of one, by the smallest: 64 kB say else. */
Test(small_price_work, one_more_copy_of_a_turn_has_a_price_of_its_own)
{
	struct copy_paces a = paces(2000, 80000), b = a;
	struct copy_turns *on_a = &a.turns[MODE_GRAPH], *on_b = &b.turns[MODE_GRAPH];
	const struct cost most = { .launches = 1, .to_device = { 5, 0 }, .to_host = { 2, 0 } };

	*on_a = turns(14000, 17000, 54000);
	*on_b = turns(13000, 16000, 53000);
	cr_assert(epsilon_eq(dbl, graph_ns(&b, &a, &most), -1000, 1e-6), "not known: nothing");
	knows(on_a, 10, 4e3, 30000);
	knows(on_b, 10, 4e3, 30000 - 1000 + 9 * 500);
	knows(on_a, 4, 4e3, 20000);
	knows(on_b, 4, 4e3, 20000);
	knows(on_a, 10, 64e3, 30000);
	knows(on_b, 10, 64e3, 90000);
	cr_assert(epsilon_eq(dbl, graph_ns(&b, &a, &most), -1000 + 5 * 500, 1e-6),
		  "4 more to the device, one more back: %g", graph_ns(&b, &a, &most));
	on_a->of[0].copies = 2; /* that of one copy is not known there */
	cr_assert(lt(dbl, 5 * 500, graph_ns(&b, &a, &most)), "by 64 kB: %g",
		  graph_ns(&b, &a, &most));
}

/* Turns are known in graphs alone, and take 20 us more on B: that is no reason for doubt. */
Test(small_price_work, turns_count_in_blocks_of_their_mode)
{
	struct copy_paces a = paces(2000, 80000), b = a;
	struct made work = { 0 };
	struct prices p;

	a.turns[MODE_GRAPH] = turns(14000, 17000, 54000);
	b.turns[MODE_GRAPH] = turns(34000, 37000, 74000);
	price_by(&p, &work, &a, &b, 0);
	for (int i = 0; i < p.n; i++) {
		const struct batch *at = &work.grid.point[p.priced[i].point].batch;

		cr_assert(epsilon_eq(dbl, p.priced[i].copies_ns,
				     at->mode == MODE_GRAPH ? 20000 * at->depth : 0, 1),
			  "mode %d, depth %g: %g", at->mode, at->depth, p.priced[i].copies_ns);
	}
	cr_assert(zero(int, p.n_doubtful), "%d", p.n_doubtful);
	prices_release(&p);
	made_release(&work);
	for (int i = 0; i < 3; i++) /* lines of a single turn were not swept */
		a.turns[MODE_GRAPH].of[i].first_ns = NAN;
	price_by(&p, &work, &a, &b, 0);
	for (int i = 0; i < p.n; i++)
		cr_assert(p.priced[i].known && isfinite(p.priced[i].total_ns.value), "block %d", i);
	prices_release(&p);
	made_release(&work);
	b.turns[MODE_GRAPH].n = 0; /* not known there */
	price_by(&p, &work, &a, &b, 0);
	prices_release(&p);
	made_release(&work);
	price_by(&p, &work, &b, &a, 0);
	prices_release(&p);
	made_release(&work);
}

static void ends_later(struct copy_turns *t)
{
	t->of[0].first_ns += 1000;
	t->of[1].first_ns += 4000; /* the median */
	t->of[2].first_ns += 9000;
}

/*
 * What a block of one turn takes beyond a turn: 4 us more on B, a block of launches 1.5 us. In
 * streams that counts where the device is waited for.
 */
Test(small_price_work, the_ends_of_a_block_that_copies_count_once)
{
	struct copy_paces a = paces(100, 80000), b = a;
	struct made work = { 0 };
	struct prices p;

	for (int mode = MODE_STREAM; mode <= MODE_GRAPH; mode++) {
		a.turns[mode] = b.turns[mode] = turns(14000, 17000, 54000);
		ends_later(&b.turns[mode]);
	}
	price_by(&p, &work, &a, &b, 1500);
	for (int i = 0; i < p.n; i++) {
		const struct priced *at = &p.priced[i];

		const struct batch *batch = &work.grid.point[at->point].batch;
		/* a graph's nodes are later each, and those of a turn are in its ends */
		double later_ns = batch->mode == MODE_GRAPH ? 500 * batch->depth : 1500;

		cr_assert(epsilon_eq(dbl, at->copies_ns, 2500, 20),
			  "what is beyond launches, block %d: %g", i, at->copies_ns);
		cr_assert(epsilon_eq(dbl, at->total_ns.value, at->a_ns + later_ns + 2500, 20),
			  "block %d: %g", i, at->total_ns.value - at->a_ns);
	}
	prices_release(&p);
	b.turns[MODE_GRAPH].of[1].first_ns = NAN; /* longer lines alone were swept */
	cr_assert(epsilon_eq(dbl, said_copies(&b, &a, &step, MODE_GRAPH).first_ns, 5000, 1e-6),
		  "of the two others");
	made_release(&work);
}

/* ---- what A's model does not have of a block ------------------------------------------------ */

/* Streams of kernels take a tenth less than graphs of them say; or more, but no library's call. */
static double streams_are_quicker(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_STREAM ? 0.9 : 1;
}

static double streams_are_slower(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_STREAM ? 1.2 : 1;
}

/* ns a launch between 16 and 64 in a stream. */
struct paces_priced {
	double a_ns, b_ns;
};

/* Kernels of 14 us or of 1 us, where launches take 2.2 us on A and b_ns on B. */
static struct paces_priced price_paces(double (*kernel_ns)(double),
				       double (*factor)(const struct batch *, int), double b_ns)
{
	struct fake_session cells = cells_session(), launch = small_session(), other = launch;
	struct made work = { 0 }, on_a = { 0 }, on_b = { 0 };
	struct paces_priced out = { 0, 0 };
	struct prices p;

	cells.size = "1000";
	cells.depth = "16,64";
	cells.kernel_ns = kernel_ns;
	cells.factor = factor;
	other.model[0].v[MODEL_P] = other.model[0].v[MODEL_C] = b_ns;
	made_grid(&work, &cells);
	made_fit(&on_a, &launch);
	made_fit(&on_b, &other);
	price_make(&p, &(struct price_request){ .work = &work.grid,
						.a = &on_a.fit,
						.b = &on_b.fit,
						.from_measured = true });
	made_say_prices(&p);
	for (int i = 0; i < p.n; i++) {
		const struct batch *b = &work.grid.point[p.priced[i].point].batch;
		double share = b->mode == MODE_STREAM ? (b->depth > 16 ? 1 : -1) / 48. : 0;

		out.a_ns += share * p.priced[i].a_ns;
		out.b_ns += share * p.priced[i].total_ns.value;
	}
	prices_release(&p);
	made_release(&work);
	made_release(&on_a);
	made_release(&on_b);
	return out;
}

Test(small_price_work, what_the_device_does_not_take_is_hidden_behind_launches)
{
	struct paces_priced pace = price_paces(cells_ns, streams_are_quicker, 20000);

	cr_assert(epsilon_eq(dbl, pace.b_ns, 20000, 200), "launches alone: %g", pace.b_ns);
}

/* Kernels and gaps of 1.9 us behind launches of 2.2 us on A, of 1 us on B: 0.3 us less. */
Test(small_price_work, what_launches_take_longer_is_not_the_devices)
{
	struct paces_priced pace = price_paces(short_ns, streams_are_slower, 1000);

	cr_assert(epsilon_eq(dbl, pace.a_ns - pace.b_ns, 300, 60), "%g", pace.a_ns - pace.b_ns);
}
