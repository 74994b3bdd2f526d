/*
 * test_atlas_costs.c - harness/compare/atlas_costs.c: copies, memory and starts of made-up
 * sessions, of which it is known what side b adds.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/compare/atlas.h"
#include "harness/chart/atlas_chart.h"

#include "common/param.h"
#include "harness/base/param.h"
#include "harness/record/recorded.h"
#include "tests/atlas_printed.h"
#include "tests/compared.h"
#include "tests/chart_files.h"
#include "tests/fake_session.h"
#include "workloads/workload.h"

TestSuite(small_atlas_costs, .timeout = 120);
TestSuite(small_atlas_costs_chart, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 120);

/* ---- sessions --------------------------------------------------------------------------- */

enum { MIB = 1 << 20, PROCESSES = 5 };

/* A copy takes so much and so much a byte, memory so much and so much a MiB, a block so much more.
 */
struct truth {
	double device_ns, device_byte_ns, host_ns, host_byte_ns, memory_ns, mib_ns, block_ns;
};

static const struct truth truths[2] = {
	{ 3000, 0.02, 4500, 0.04, 30000, 5000, 2000 },
	{ 3600, 0.025, 5400, 0.05, 40000, 5000, 2200 },
};

static double number_of(const struct config *c, const char *name)
{
	const struct param *rows = c->workload->params;
	json_t *v = param_json(&rows[params_find(rows, name, strlen(name))], c->params.opts);
	double number = json_number_value(v);

	json_decref(v);
	return number;
}

static double step_ns(const struct truth *t, const struct config *c, double depth)
{
	const struct cost count = fake_count(c);
	double ns = t->block_ns / depth, bytes = number_of(c, "bytes");

	if (count.to_device.calls > 0)
		return ns + t->device_ns + t->device_byte_ns * bytes;
	if (count.to_host.calls > 0)
		return ns + t->host_ns + t->host_byte_ns * bytes;
	/* others than what is looked for are far off */
	return ns + t->memory_ns + t->mib_ns * bytes / MIB + (count.launches > 0 ? 1e6 : 0);
}

static char *usual[] = { "transfer.bytes=4,1k,1M", "transfer.dir=h2d,d2h", "memory.bytes=1,4M,64M",
			 "memory.touch=no,yes" };

static struct fake_session made_up(int sides)
{
	struct fake_session s = fake_session();

	s.workload = "memory";
	s.also = "transfer";
	s.assignment = usual;
	s.n_assignments = 4;
	s.depth = "1,16";
	s.mode = "stream";
	s.quick = true;
	s.processes = PROCESSES;
	s.sides = sides;
	s.step_of = fake_count;
	s.startup_ns[0] = 200e6;
	s.startup_ns[1] = 260e6;
	return s;
}

/* A session of its own, of which side k is as of[k] says, each process by 0.1 % otherwise. */
static void fill(struct journal *j, const struct fake_session *s, const char *id,
		 const struct truth *const of[2])
{
	fake_session_journal(s, j);
	free(j->path);
	cr_assert(lt(int, 0, asprintf(&j->path, "folder/%s.jsonl", id)), "memory");
	snprintf(j->session_id, sizeof(j->session_id), "%s", id);
	for (int r = 0; r < j->replicates; r++)
		for (int i = 0; i < j->plan.n_points; i++) {
			const struct plan_point *p = &j->plan.point[i];
			double depth = (double)p->depth;

			j->total_ns[r * j->plan.n_points + i] =
				depth * (1 + 0.001 * (r % PROCESSES - 2)) *
				step_ns(of[r / PROCESSES], &j->plan.config[p->config], depth);
		}
}

static const struct truth *const both[] = { &truths[0], &truths[1] };
static const struct truth *const alike[] = { &truths[0], &truths[0] };
static const struct truth *const slower[] = { &truths[1], &truths[1] };

/* An atlas of a base and one session, of one side or of two. */
static void begin(struct atlas *a, const struct fake_session *base, const struct fake_session *s,
		  const struct truth *const of[2], void (*change)(struct journal *))
{
	atlas_init(a, 1, &compare_not_given);
	fill(&a->base.session, base, "base", alike);
	cr_assert(zero(int, atlas_set_base(a, 0)), "base");
	fill(&a->entry[0].session, s, "guest", of);
	if (change)
		change(&a->entry[0].session);
	cr_assert(zero(int, atlas_add(a, 0, s->sides == 2 ? SIDE_ANY : 0)), "add");
}

static int64_t depth_of(const struct atlas_entry *e, int which)
{
	const struct plan *plan = &e->c.side[PAIR_A]->view.plan;

	return plan->point[e->cost[which].pair->at[PAIR_A]].depth;
}

/* ---- what is found ---------------------------------------------------------------------- */

/* of: b's own value; the base's is a's. */
static void expect(const struct atlas *a, int which, double of_a, double of_b, double off)
{
	const struct atlas_cost *cost = &a->entry[0].cost[which];
	const char *name = atlas_cost_names[which];

	cr_assert(eq(int, cost->state, ATLAS_KNOWN), "%s", name);
	cr_assert(epsilon_eq(dbl, cost->of.value, of_b - of_a, off), "%s: %g, not %g", name,
		  cost->of.value, of_b - of_a);
	cr_assert(cost->of.known && cost->of.n == PROCESSES, "%s", name);
	cr_assert(cost->of.lo < of_b - of_a + off && of_b - of_a - off < cost->of.hi,
		  "%s: %g to %g", name, cost->of.lo, cost->of.hi);
	cr_assert(epsilon_eq(dbl, cost->own[PAIR_A].value, of_a, 1e-3 * of_a), "%s of a", name);
	cr_assert(epsilon_eq(dbl, cost->own[PAIR_B].value, of_b, 1e-3 * of_b), "%s of b", name);
	cr_assert(cost->own[PAIR_B].lo <= of_b && of_b <= cost->own[PAIR_B].hi, "%s of b", name);
	cr_assert(epsilon_eq(dbl, a->base.cost[which].own[PAIR_A].value, of_a, 1e-3 * of_a),
		  "%s of the base", name);
}

static void expect_all(const struct atlas *a)
{
	/* bytes a second by hand: 2^20 bytes in 3000 + 125 + 20971.52 ns, on b in 3600 + 137.5 +
	 * 26214.4 */
	expect(a, ATLAS_COPY_TO_DEVICE, 5000.08, 5800.1, 20);
	expect(a, ATLAS_RATE_TO_DEVICE, 43.5157e9, 35.0086e9, 0.1e9);
	expect(a, ATLAS_COPY_TO_HOST, 6500.16, 7600.2, 20);
	expect(a, ATLAS_RATE_TO_HOST, 22.5144e9, 18.0945e9, 0.1e9);
	expect(a, ATLAS_ALLOCATION, 52000, 62200, 200);
	expect(a, ATLAS_START, 200e6, 260e6, 1e6);
}

/* The smallest copy at depth 1, the largest at 16; memory of the default size, untouched. */
static void expect_points(const struct atlas_entry *e)
{
	static const struct {
		double bytes;
		int64_t depth;
	} want[] = { { 4, 1 }, { MIB, 16 }, { 4, 1 }, { MIB, 16 }, { 4 * MIB, 1 } };

	for (int i = 0; i < ATLAS_START; i++) {
		cr_assert(eq(dbl, e->cost[i].bytes, want[i].bytes), "%s: %g bytes",
			  atlas_cost_names[i], e->cost[i].bytes);
		cr_assert(eq(i64, depth_of(e, i), want[i].depth), "%s", atlas_cost_names[i]);
	}
}

Test(small_atlas_costs, of_two_sides)
{
	const struct fake_session base = made_up(1), s = made_up(2);
	struct atlas a;

	begin(&a, &base, &s, both, NULL);
	expect_all(&a);
	expect_points(&a.entry[0]);
	expect_points(&a.base);
	for (int i = 0; i < ATLAS_COSTS; i++)
		cr_assert(ne(int, a.entry[0].cost[i].of.lo > 0, a.entry[0].cost[i].of.hi < 0), "%s",
			  atlas_cost_names[i]);
	atlas_release(&a);
}

/* A session of its own: what sessions differ by is in its intervals. */
Test(small_atlas_costs, of_one_side_over_the_base)
{
	const struct fake_session base = made_up(1);
	struct fake_session s = made_up(1);
	struct atlas a;

	s.startup_ns[0] = 260e6;
	begin(&a, &base, &s, slower, NULL);
	expect_all(&a);
	cr_assert(lt(dbl, 200,
		     a.entry[0].cost[ATLAS_COPY_TO_DEVICE].of.hi -
			     a.entry[0].cost[ATLAS_COPY_TO_DEVICE].of.lo),
		  "1 %% a session");
	atlas_release(&a);
}

Test(small_atlas_costs, what_is_the_same_is_not_resolved)
{
	const struct fake_session base = made_up(1);
	struct fake_session s = made_up(2);
	struct atlas a;

	s.startup_ns[1] = s.startup_ns[0];
	begin(&a, &base, &s, alike, NULL);
	for (int i = 0; i < ATLAS_COSTS; i++)
		cr_assert(eq(int, a.entry[0].cost[i].state, ATLAS_NOT_RESOLVED), "%s",
			  atlas_cost_names[i]);
	cr_assert(tells(printed(&a), "  guest *not resolved (*to *GB/s)"), "%s", printed(&a));
	atlas_release(&a);
}

Test(small_atlas_costs, a_table_with_a_row_for_each)
{
	const struct fake_session base = made_up(1), s = made_up(2);
	struct atlas a;

	begin(&a, &base, &s, both, NULL);
	cr_assert(tells(printed(&a), "copies, memory, cold start: *\n"
				     "*copy to the device, 4 B *rate to the device, 1.00 MiB *n\n"
				     "  base *5.00 us (*43.5 GB/s (* 5\n"
				     "  guest *+800 ns (*-8.51 GB/s (* 5\n"
				     "*copy to the host, 4 B *rate to the host, 1.00 MiB *n\n"
				     "*allocation, 4.00 MiB *cold start *n\n"
				     "  base *52.0 us (*200 ms (*5\n"
				     "  guest *+10.2 us (*+60* ms (* 5\n"
				     "*allocation: memory bytes=4M stream depth 1; "),
		  "%s", printed(&a));
	atlas_release(&a);
}

/* ---- what is not there ------------------------------------------------------------------ */

static struct fake_session launches(int sides)
{
	struct fake_session s = two_sides();

	s.sides = sides;
	s.mode = "stream";
	return s;
}

static void begin_launches(struct atlas *a, const struct fake_session *base,
			   const struct fake_session *s)
{
	atlas_init(a, 1, &compare_not_given);
	fake_session_journal(base, &a->base.session);
	cr_assert(zero(int, atlas_set_base(a, 0)), "base");
	fake_session_journal(s, &a->entry[0].session);
	snprintf(a->entry[0].session.session_id, sizeof(a->entry[0].session.session_id), "other");
	cr_assert(zero(int, atlas_add(a, 0, SIDE_ANY)), "add");
}

/* Sessions of launches alone, by a rift that did not time starts. */
Test(small_atlas_costs, columns_that_nobody_has_are_not_printed)
{
	struct fake_session base = launches(1), s = launches(2);
	struct atlas a;

	begin_launches(&a, &base, &s);
	for (int i = 0; i < ATLAS_COSTS; i++)
		cr_assert(eq(int, a.entry[0].cost[i].state, ATLAS_NOTHING), "%s",
			  atlas_cost_names[i]);
	cr_assert(not(tells(printed(&a), "cold start")), "%s", printed(&a));
	cr_assert(not(tells(printed(&a), "copies, memory")), "%s", printed(&a));
	atlas_release(&a);

	s.startup_ns[0] = 100e6;
	s.startup_ns[1] = 150e6;
	begin_launches(&a, &base, &s);
	cr_assert(eq(int, a.entry[0].cost[ATLAS_START].state, ATLAS_KNOWN), "starts");
	cr_assert(tells(printed(&a), "\n*cold start *n\n  base *- *-\n*+50* ms ("), "%s",
		  printed(&a));
	cr_assert(not(tells(printed(&a), "copy to")), "%s", printed(&a));
	atlas_release(&a);
}

/* A session of two sides has its own base, which may have more points. */
Test(small_atlas_costs, a_base_without_copies)
{
	static char *memory[] = { "memory.bytes=1,4M,64M" };
	struct fake_session base = made_up(1), s = made_up(2);
	struct atlas a;

	base.also = NULL;
	base.assignment = memory;
	base.n_assignments = 1;
	begin(&a, &base, &s, both, NULL);
	cr_assert(tells(printed(&a), "*copy to the device, 4 B *rate to the device, 1.00 MiB *n\n"
				     "  base *- *- *-\n"
				     "  guest *+800 ns (*-8.51 GB/s (* 5\n"),
		  "%s", printed(&a));
	cr_assert(tells(printed(&a), " copy to the device: transfer bytes=4 stream depth 1; "),
		  "%s", printed(&a));
	atlas_release(&a);
}

/* The start of one process is not known: side b was begun with an older rift, or elsewhere. */
static void lose_a_start(struct journal *j)
{
	j->startup_ns[j->replicates - 1] = NAN;
}

Test(small_atlas_costs, a_start_of_all_or_none)
{
	const struct fake_session base = made_up(1), s = made_up(2);
	struct atlas a;

	begin(&a, &base, &s, both, lose_a_start);
	cr_assert(eq(int, a.entry[0].cost[ATLAS_START].state, ATLAS_NOTHING), "no start");
	cr_assert(eq(int, a.entry[0].cost[ATLAS_ALLOCATION].state, ATLAS_KNOWN), "all else");
	cr_assert(tells(printed(&a), "  base *200 ms (*5\n  guest *+10.2 us (*) *- * 5\n"), "%s",
		  printed(&a));
	atlas_release(&a);
}

/* One size is a time, and there is no rate of it. Pageable memory: nothing plainer was swept. */
Test(small_atlas_costs, one_size_is_no_rate)
{
	static char *one[] = { "transfer.bytes=1M", "transfer.host=pageable", "memory.bytes=1",
			       "memory.touch=yes" };
	struct fake_session base = made_up(1), s = made_up(2);
	struct atlas a;

	base.assignment = s.assignment = one;
	base.n_assignments = s.n_assignments = 4;
	begin(&a, &base, &s, both, NULL);
	cr_assert(eq(int, a.entry[0].cost[ATLAS_COPY_TO_DEVICE].state, ATLAS_KNOWN), "a time");
	cr_assert(eq(int, a.entry[0].cost[ATLAS_RATE_TO_DEVICE].state, ATLAS_NOTHING), "no rate");
	cr_assert(eq(int, a.entry[0].cost[ATLAS_COPY_TO_HOST].state, ATLAS_NOTHING), "not swept");
	cr_assert(eq(int, a.entry[0].cost[ATLAS_ALLOCATION].state, ATLAS_NOTHING), "with a kernel");
	cr_assert(not(tells(printed(&a), "rate to")), "%s", printed(&a));
	cr_assert(tells(printed(&a), "transfer bytes=1M host=pageable stream depth 1; "), "%s",
		  printed(&a));
	atlas_release(&a);
}

/* Side b takes no memory: side a says what a step is. */
static void lack_memory(struct journal *j)
{
	for (int r = PROCESSES; r < 2 * PROCESSES; r++)
		for (int i = 0; i < j->plan.n_points; i++)
			if (!strcmp(plan_workload(&j->plan, i)->name, "memory"))
				j->status[r * j->plan.n_points + i] = POINT_NOT_SUPPORTED;
}

Test(small_atlas_costs, what_is_not_supported_is_a_finding)
{
	const struct fake_session base = made_up(1), s = made_up(2);
	struct atlas a;

	begin(&a, &base, &s, both, lack_memory);
	cr_assert(eq(int, a.entry[0].cost[ATLAS_ALLOCATION].state, ATLAS_NOT_SUPPORTED), "memory");
	cr_assert(eq(int, a.entry[0].cost[ATLAS_COPY_TO_HOST].state, ATLAS_KNOWN), "copies");
	cr_assert(tells(printed(&a), "  guest *not supported *+60* ms ("), "%s", printed(&a));
	atlas_release(&a);
}

/* The base has copies of 4 bytes, the other one of 1 KiB and more. */
Test(small_atlas_costs, other_points_are_named)
{
	static char *other[] = { "transfer.bytes=1k,1M", "transfer.dir=h2d,d2h",
				 "memory.bytes=1,4M,64M" };
	struct fake_session base = made_up(1), s = made_up(2);
	struct atlas a;

	s.assignment = other;
	s.n_assignments = 3;
	begin(&a, &base, &s, both, NULL);
	cr_assert(tells(printed(&a), "guest: copy to the host of transfer bytes=1k dir=d2h stream "
				     "depth 1 in place of transfer bytes=4*dir=d2h "),
		  "%s", printed(&a));
	cr_assert(not(tells(printed(&a), "rate to the device of")), "%s", printed(&a));
	atlas_release(&a);
}

/* ---- for machines ----------------------------------------------------------------------- */

static const json_t *cost_of(const json_t *of, const char *name)
{
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(of, "costs"), i, o)
	{
		if (!strcmp(json_string_value(json_object_get(o, "name")), name))
			return o;
	}
	cr_fatal("no %s", name);
	return NULL;
}

static double value_of(const json_t *o, const char *part)
{
	return json_number_value(json_object_get(json_object_get(o, part), "value"));
}

Test(small_atlas_costs, all_of_them_in_json)
{
	const struct fake_session base = made_up(1), s = made_up(2);
	const json_t *o, *of_base;
	struct atlas a;
	json_t *all;

	begin(&a, &base, &s, both, lose_a_start);
	all = atlas_json(&a);
	o = cost_of(json_array_get(json_object_get(all, "sessions"), 0), "rate to the host");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "state")), "known"),
		  "state");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "unit")), "bytes/s"),
		  "unit");
	cr_assert(epsilon_eq(dbl, value_of(o, "difference"), -4.42e9, 0.01e9), "difference");
	cr_assert(epsilon_eq(dbl, value_of(o, "a"), 22.51e9, 0.01e9), "a");
	cr_assert(epsilon_eq(dbl, value_of(o, "b"), 18.09e9, 0.01e9), "b");
	o = json_object_get(o, "axes");
	cr_assert(eq(i64, json_integer_value(json_object_get(o, "bytes")), MIB), "bytes");
	o = cost_of(json_array_get(json_object_get(all, "sessions"), 0), "cold start");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "state")), "not identified"),
		  "state");
	of_base = cost_of(json_object_get(all, "base"), "cold start");
	cr_assert(epsilon_eq(dbl, json_number_value(json_object_get(of_base, "value")), 200e6, 1),
		  "the base's");
	json_decref(all);
	atlas_release(&a);
}

/* ---- charts ----------------------------------------------------------------------------- */

static void script_is(const char *chart, const char *variable, const char *want)
{
	cr_expect(eq(str, (char *)script_value(chart, variable), (char *)want), "%s: %s", chart,
		  variable);
}

/* A panel each, in its own unit; and all programs on one page. */
Test(small_atlas_costs_chart, of_costs_and_of_programs)
{
	static const double unit[ATLAS_COSTS] = { 1, 1e9, 1e3, 1e9, 1e3, 1e6 };
	const struct fake_session base = made_up(1), s = made_up(2);
	struct atlas_charts charts;
	const struct table *t;
	struct atlas a;

	begin(&a, &base, &s, both, NULL);
	cr_assert(zero(int, atlas_charts_write(&charts, &a, chart_folder)), "charts");
	t = table_read("costs-atlas-cells.csv");
	cr_assert(eq(int, t->rows, ATLAS_COSTS), "%d cells", t->rows);
	for (int i = 0; i < ATLAS_COSTS; i++) {
		const struct interval *of = &a.entry[0].cost[i].of;
		const double want[] = {
			i + 1, 0, of->value / unit[i], of->lo / unit[i], of->hi / unit[i], 1, 5
		};

		for (int k = 0; k < 7; k++)
			cr_expect(epsilon_eq(dbl, t->v[i][k], want[k], 1e-5 * fabs(want[k])),
				  "%s, column %d: %g", atlas_cost_names[i], k, t->v[i][k]);
	}
	script_is("costs-atlas", "title",
		  "copies, memory or cold starts differ from the base in 1 of 1 rows");
	script_is("costs-atlas", "head1", "copy to device (ns)");
	script_is("costs-atlas", "head2", "rate to device (GB/s)");
	script_is("costs-atlas", "head6", "cold start (ms)");
	script_is("costs-atlas", "own1", "base: 5.0 µs, 4 B");
	script_is("costs-atlas", "own2", "base: 43.5 GB/s");
	script_is("costs-atlas", "own6", "base: 200 ms");
	script_is("costs-atlas", "words", "0");
	t = table_read("programs-atlas-cells.csv");
	cr_assert(eq(int, t->rows, 2 * 2), "%d cells", t->rows);
	for (int i = 0; i < 4; i++) {
		const struct workload *w = atlas_workload(&a, i % 2);
		const struct atlas_cell cell = atlas_step(&a, &a.entry[0], w, i / 2);

		cr_expect(eq(dbl, t->v[i][0], i / 2), "%d: depth", i);
		cr_expect(eq(dbl, t->v[i][1], i % 2), "%d: workload", i);
		cr_expect(eq(dbl, t->v[i][2], 0), "%d: row", i);
		cr_expect(epsilon_eq(dbl, t->v[i][3], cell.of.value, 1e-5), "%d: %g", i,
			  t->v[i][3]);
	}
	script_is("programs-atlas", "rows", "1");
	script_is("programs-atlas", "columns", "2");
	script_is("programs-atlas", "panels", "2");
	script_is("programs-atlas", "depth1", "1");
	script_is("programs-atlas", "depth2", "64");
	script_is("programs-atlas", "row1", "guest");
	script_is("programs-atlas", "column1", atlas_workload(&a, 0)->name);
	script_is("programs-atlas", "column2", atlas_workload(&a, 1)->name);
	script_says("programs-atlas", "title", "in 1 of 1 rows some cell is over 5 %; worst: ");
	atlas_charts_release(&charts);
	atlas_release(&a);
}
