/*
 * test_share_promise.c - whether clients get what --allow says: what may be allowed, how steps are
 * counted over time, and verdicts of made-up windows whose shares are known.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/share/promise.h"

#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/share/share_file.h"
#include "harness/share/window.h"
#include "tests/golden.h"
#include "tests/made_share.h"

#include <errno.h>

TestSuite(small_share_promise, .timeout = 60);

/* ---- what may be allowed ----------------------------------------------------------------------
 */

Test(small_share_promise, what_may_be_allowed)
{
	static const struct {
		const char *text;
		double compute, memory;
	} rows[] = {
		{ "compute=30%", 0.3, 0 },
		{ "compute=12.5", 0.125, 0 },
		{ "memory=8G", 0, 8589934592.0 },
		{ "compute=100%,memory=1", 1, 1 },
		{ "memory=64k,compute=0.1%", 0.001, 65536 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct share_allow a = { .compute = 0 };

		cr_expect(zero(int, allow_parse(&a, rows[i].text)), "%s", rows[i].text);
		cr_expect(epsilon_eq(dbl, a.compute, rows[i].compute, 1e-12), "%s", rows[i].text);
		cr_expect(eq(dbl, (double)a.memory, rows[i].memory), "%s", rows[i].text);
	}
}

Test(small_share_promise, what_may_not)
{
	static const char *const rows[] = {
		"",
		",",
		"30%",
		"compute",
		"compute=",
		"compute=0",
		"compute=101%",
		"compute=30%,compute=30%",
		"memory=0",
		"memory=8X",
		"memory=-1",
		"compute=30%,",
		"memory=1e9%",
		"compute=nan%",
		"us=3",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct share_allow a = { .compute = 0 };

		cr_expect(ne(int, allow_parse(&a, rows[i]), 0), "%s", rows[i]);
		cr_expect(eq(int, allow_is_given(&a), 0), "%s", rows[i]);
	}
}

/* ---- steps over time --------------------------------------------------------------------------
 */

/* 35 ms from 1 s on: steps at 1, 12, 13 and 34 ms, one before the window and one at its end. */
Test(small_share_promise, steps_count_where_they_end)
{
	enum { MS = 1000000, FROM = 1000 * MS };
	static const int at_ms[] = { -1, 1, 12, 13, 34, 35 };
	static const double want[] = { 1, 2, 0, 1 };
	double times[8];
	struct timeline t;
	json_t *o;

	timeline_init(&t, FROM, FROM + 35 * MS, times, 8);
	cr_assert(eq(int, t.bins, 4));
	for (size_t i = 0; i < sizeof(at_ms) / sizeof(*at_ms); i++)
		timeline_note(&t, FROM + (int64_t)at_ms[i] * MS, 1);
	timeline_end(&t);
	for (int i = 0; i < t.bins; i++)
		cr_expect(eq(dbl, t.steps[i], want[i]), "bin %d", i);
	cr_expect(eq(long, (long)t.longest_ns, 21L * MS), "from 13 to 34 ms");
	cr_expect(eq(long, (long)t.times, 4L));
	cr_expect(eq(dbl, times[1], 11.0 * MS));
	o = timeline_json(&t);
	cr_expect(eq(dbl, json_get_number(o, "bin_s"), 0.01));
	cr_expect(eq(dbl, json_get_number(o, "longest_s"), 0.021));
	cr_expect(eq(int, (int)json_array_size(json_object_get(o, "steps")), 4));
	json_decref(o);
	timeline_release(&t);
	timeline_init(&t, FROM, FROM + 10 * MS, times, 1);
	cr_expect(eq(int, t.bins, 1));
	for (int i = 0; i < 3; i++) /* steps of a block share its time; two at a time have none */
		timeline_note(&t, FROM + (i < 2 ? 8 : 9) * MS, 4);
	cr_expect(eq(dbl, times[0], 2.0 * MS), "room for one");
	cr_expect(eq(long, (long)t.times, 1L));
	cr_expect(eq(dbl, t.steps[0], 12));
	timeline_release(&t);
}

Test(small_share_promise, a_window_without_a_step_is_one_pause)
{
	struct timeline t;

	timeline_init(&t, 0, 50000000, NULL, 0);
	timeline_end(&t);
	cr_expect(eq(long, (long)t.longest_ns, 50000000L));
	timeline_release(&t);
}

/* Files are told apart by their last folder. */
Test(small_share_promise, what_layers_are_called)
{
	static const char *const rows[][3] = {
		{ "mps threads=25", "mps threads=25", "mps" },
		{ "preload lib=/a/b/hami-O2/libvgpu.so set=A=1",
		  "preload lib=hami-O2/libvgpu.so set=A=1", "hami-O2" },
		{ "preload lib=/lib.so", "preload lib=/lib.so", "preload" },
		{ "preload lib=/a/lib.so  set=/", "preload lib=a/lib.so set=/", "a" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct share_allow a = { .layer = { rows[i][0] }, .layers = 1 };

		cr_expect(eq(str, allow_layers_text(&a).s, (char *)(uintptr_t)rows[i][1]));
		cr_expect(eq(str, allow_layers_name(&a).s, (char *)(uintptr_t)rows[i][2]));
	}
}

Test(small_share_promise, layers_are_joined_and_long_ones_cut)
{
	static char longest[600];
	struct share_allow a = { .layer = { "mps threads=25", "emulate call=5" },
				 .layers = 2,
				 .compute = 0.3,
				 .memory = 1 << 20 };

	cr_expect(eq(str, allow_layers_text(&a).s, "mps threads=25 > emulate call=5"));
	cr_expect(eq(str, allow_layers_name(&a).s, "mps > emulate"));
	cr_expect(eq(str, allow_text(&a).s, "30 % of the compute and 1.00 MiB of memory"));
	a.memory = 0;
	cr_expect(eq(str, allow_text(&a).s, "30 % of the compute"));
	a.compute = 0, a.memory = 1;
	cr_expect(eq(str, allow_text(&a).s, "1 B of memory"));
	memset(longest, 'x', sizeof(longest) - 1);
	for (a.layers = 0; a.layers < ALLOW_LAYERS_MAX; a.layers++)
		a.layer[a.layers] = longest;
	cr_expect(eq(sz, strlen(allow_layers_text(&a).s), sizeof(struct text_line) - 1));
}

/* What a record's plan may allow. */
Test(small_share_promise, limits_of_what_a_plan_allows)
{
	static const struct {
		double compute;
		json_int_t memory;
		int layers;
		bool valid;
	} rows[] = {
		{ 0, 1, 0, true },	     { 1, 0, 1, true },
		{ 0.5, 1LL << 50, 8, true }, { 0.5, (1LL << 50) + 1, 1, false },
		{ 0.5, 1, 9, false },	     { 0.5, -1, 1, false },
		{ 1.01, 1, 1, false },	     { -0.01, 1, 1, false },
		{ 0, 0, 1, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *layers = json_array(), *plan;
		struct share_allow a;

		for (int k = 0; k < rows[i].layers; k++)
			json_array_append_new(layers, json_string("mps"));
		plan = json_pack("{s:{s:f, s:I}, s:o}", "allow", "compute", rows[i].compute,
				 "memory", rows[i].memory, "layers", layers);
		cr_expect(eq(int, allow_from_json(&a, plan), rows[i].valid ? 0 : -EINVAL),
			  "row %zu", i);
		cr_expect(eq(int, rows[i].valid ? a.layers : rows[i].layers, rows[i].layers));
		json_decref(plan);
	}
}

/* A base is counted for a second at most: nothing holds it back. */
Test(small_share_promise, windows_of_a_base_are_short)
{
	const struct share_set base = { ARM_PROCESSES, 1, 0 }, limited = { ARM_LIMITED, 1, 0 };
	struct share_plan p = { .window_s = 8, .allow = { .compute = 0.3 } };

	cr_expect(eq(dbl, window_planned_s(&p, &base), 1));
	cr_expect(eq(dbl, window_planned_s(&p, &limited), 8));
	p.window_s = 0.4;
	cr_expect(eq(dbl, window_planned_s(&p, &base), 0.4));
	p = (struct share_plan){ .window_s = 8 };
	cr_expect(eq(dbl, window_planned_s(&p, &base), 8), "no promise");
}

/* ---- made-up windows --------------------------------------------------------------------------
 */

enum { STARTS = 6, BINS = 400 };

/* So many workloads, all `launch`, under a layer, promised so much compute: windows of 4 s of one
 * client of each, and of n. */
static void begin_on(struct share *s, double compute, int n, int mixes, bool is_gpu)
{
	static char launch[] = "launch";
	char *words[] = { launch };

	*s = (struct share){ .file = LINE_FILE_NONE };
	s->plan = (struct share_plan){
		.clients = { n },
		.counts = 1,
		.mixes = mixes,
		.arm = { [ARM_LIMITED] = true },
		.allow = { .compute = compute, .layer = { "emulate compute=30" }, .layers = 1 },
		.seed = 1,
		.window_s = 4,
		.windows = TIMELINE_HOWS,
		.repetitions = STARTS,
		.starts = STARTS,
		.depth = 1
	};
	for (int i = 0; i < mixes; i++)
		cr_assert(zero(int, share_workload_parse(&s->plan.mix[i], words, 1)));
	share_init(s);
	cr_assert(zero(int, share_add(s, json_pack("{s:s, s:s, s:b}", "record", "platform",
						   "device", "a GPU", "is_gpu", (int)is_gpu))));
}

static void begin(struct share *s, double compute, int n)
{
	begin_on(s, compute, n, 1, true);
}

/* A client that may save up `burst` steps, then does `rate` steps a second, of 1000 that it could.
 */
static json_t *made_timeline(double rate, double burst)
{
	json_t *steps = json_array();
	double done = 0;

	for (int i = 1; i <= BINS; i++) {
		double so_far = fmin(10.0 * i, burst + rate * 0.01 * i);

		json_array_append_new(steps, json_real(so_far - done));
		done = so_far;
	}
	return json_pack("{s:f, s:o, s:f}", "bin_s", 0.01, "steps", steps, "longest_s", 0.07);
}

/* All windows of a set; those of the base have no burst, and wait as long as they work. */
static void fill_set(struct share *s, const struct share_set *set, const double *queued,
		     const double *waits, double burst)
{
	for (int k = 0; k < STARTS * TIMELINE_HOWS; k++) {
		json_t *o = share_line("window", set), *clients = json_array();

		for (int i = 0; i < set->n; i++) {
			double rate = (k % TIMELINE_HOWS ? waits[i] : queued[i]) * (1 + 1e-3 * k);
			json_t *c = made_share_client(rate);

			json_object_set_new(c, "timeline", made_timeline(rate, burst));
			json_array_append_new(clients, c);
		}
		json_object_set_new(o, "repetition", json_integer(k / TIMELINE_HOWS));
		json_object_set_new(o, "window", json_integer(k % TIMELINE_HOWS));
		json_object_set_new(o, "seconds", json_real(4));
		json_object_set_new(o, "clients", clients);
		cr_assert(zero(int, share_add(s, o)));
	}
	made_share_check(s, set, true);
}

static void fill(struct share *s, double base_waits, const double *queued, const double *waits,
		 double burst)
{
	static const double alone[] = { 990 };

	for (int i = 0; i < s->sets; i++)
		if (s->set[i].set.arm == ARM_LIMITED)
			fill_set(s, &s->set[i].set, queued, waits, burst);
		else
			fill_set(s, &s->set[i].set, alone, &base_waits, 0);
}

/* All that is said of it is held, too. */
static void keep(const struct share *s)
{
	static char text[1 << 15];
	FILE *out = fmemopen(text, sizeof(text), "w");
	json_t *o = promise_json(s);

	promise_answer_print(s, out);
	promise_print(s, out);
	fclose(out);
	golden_said(text);
	json_object_del(o, "version");
	golden_said_json(o);
	json_decref(o);
}

static json_t *made_steps(const json_t *window)
{
	const json_t *client = json_array_get(json_object_get(window, "clients"), 0);

	return json_object_get(json_object_get(client, "timeline"), "steps");
}

/* What one client gets, queued and waited for, of 990 steps a second where 30 % are allowed. */
static const struct {
	double queued, waits, base_waits;
	enum promise_verdict of_queued, of_waits, all;
	int exit_code;
} cases[] = {
	{ 297, 297, 900, PROMISE_HOLDS, PROMISE_HOLDS, PROMISE_HOLDS, 0 },
	{ 420, 297, 900, PROMISE_MORE, PROMISE_HOLDS, PROMISE_MORE, 1 },
	{ 297, 600, 900, PROMISE_HOLDS, PROMISE_MORE, PROMISE_MORE, 1 },
	{ 200, 297, 900, PROMISE_LESS, PROMISE_HOLDS, PROMISE_LESS, 1 },
	{ 0, 0, 900, PROMISE_LESS, PROMISE_LESS, PROMISE_LESS, 1 },
	{ 297, 150, 160, PROMISE_HOLDS, PROMISE_UNUSED, PROMISE_HOLDS, 0 },
	{ 312, 297, 900, PROMISE_OPEN, PROMISE_HOLDS, PROMISE_OPEN, 2 },
};

Test(small_share_promise, verdicts_of_shares_that_are_known)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct promise p;
		struct share s;

		begin(&s, 0.3, 1);
		fill(&s, cases[i].base_waits, &cases[i].queued, &cases[i].waits, 0);
		promise_init(&p, &s);
		cr_assert(eq(int, p.rows, TIMELINE_HOWS));
		cr_expect(epsilon_eq(dbl, p.row[0].share, cases[i].queued / 990, 0.002), "case %zu",
			  i);
		cr_expect(eq(int, p.row[0].verdict, cases[i].of_queued), "case %zu", i);
		cr_expect(eq(int, p.row[1].verdict, cases[i].of_waits), "case %zu", i);
		cr_expect(eq(int, p.verdict, cases[i].all), "case %zu", i);
		cr_expect(eq(int, promise_exit_code(&s), cases[i].exit_code), "case %zu", i);
		promise_release(&p);
		keep(&s);
		share_release(&s);
	}
}

/* Thirty steps are saved up: 30 ms of the device, which are spent 43 ms after idling. */
Test(small_share_promise, what_was_saved_up_is_found)
{
	static const double rate = 297;
	struct promise p;
	struct share s;

	begin(&s, 0.3, 1);
	fill(&s, 900, &rate, &rate, 30);
	promise_init(&p, &s);
	cr_expect(epsilon_eq(dbl, p.row[0].burst_s, 0.03, 0.001), "%g", p.row[0].burst_s);
	cr_expect(epsilon_eq(dbl, p.row[0].settled_s, 0.04, 0.011), "%g", p.row[0].settled_s);
	cr_expect(eq(dbl, p.row[0].pause_s, 0.07));
	for (int i = 0; i < PROMISE_SPANS; i++)
		cr_expect(epsilon_eq(dbl, p.row[0].spread[i].lo, 0.3, 0.01), "span %d", i);
	promise_release(&p);
	keep(&s);
	share_release(&s);
}

/* 1000 t = 2100 + 300 t: what was saved up lasts for 3 s of the window's 4. */
Test(small_share_promise, what_lasts_beyond_half_of_a_window_is_said)
{
	static const double rate = 300;
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct promise p;
	struct share s;

	begin(&s, 0.3, 1);
	fill(&s, 990, &rate, &rate, 2100);
	promise_init(&p, &s);
	cr_expect(epsilon_eq(dbl, p.row[0].full_s, 3, 0.11), "%g", p.row[0].full_s);
	cr_expect(eq(int, p.compute, PROMISE_MORE));
	promise_release(&p);
	promise_answer_print(&s, out);
	fclose(out);
	cr_expect(strstr(text, "; it ran at full speed for the first 3 s: a longer --window") !=
			  NULL,
		  "%s", text);
	share_release(&s);
}

/* Work that comes in bursts and pauses, another one in each window; the last bin is a short one. */
static json_t *uneven_client(double rate, double part, unsigned *state)
{
	json_t *steps = json_array(), *c = made_share_client(rate);

	for (int i = 0; i < BINS - 1; i++) {
		*state = *state * 1103515245 + 12345;
		json_array_append_new(
			steps, json_real(rate * 0.01 *
					 (1 + part * (2.0 * (*state >> 16 & 1023) / 1023 - 1))));
	}
	json_object_set_new(c, "timeline",
			    json_pack("{s:f, s:o, s:f}", "bin_s", 0.01, "steps", steps, "longest_s",
				      1e-4 * (*state >> 16 & 255)));
	return c;
}

static void fill_unevenly(struct share *s, const struct share_set *set, const double *rate,
			  double part, unsigned *state)
{
	for (int k = 0; k < STARTS * TIMELINE_HOWS; k++) {
		json_t *o = share_line("window", set), *clients = json_array();

		for (int i = 0; i < set->n; i++)
			json_array_append_new(clients,
					      uneven_client(rate[i] * (k % TIMELINE_HOWS ? 0.8 : 1),
							    part, state));
		json_object_set_new(o, "repetition", json_integer(k / TIMELINE_HOWS));
		json_object_set_new(o, "window", json_integer(k % TIMELINE_HOWS));
		json_object_set_new(o, "seconds", json_real(3.985));
		json_object_set_new(o, "clients", clients);
		cr_assert(zero(int, share_add(s, o)));
	}
	made_share_check(s, set, true);
}

/* Two workloads, a client of each. */
Test(small_share_promise, shares_that_vary_are_told_in_full)
{
	static const double alone[] = { 4000, 1500 }, limited[] = { 1300, 380 };
	unsigned state = 1;
	struct share s;

	begin_on(&s, 0.3, 2, 2, true);
	for (int i = 0; i < s.sets; i++)
		if (s.set[i].set.arm == ARM_LIMITED)
			fill_unevenly(&s, &s.set[i].set, limited, 1, &state);
		else
			fill_unevenly(&s, &s.set[i].set, alone + s.set[i].set.first, 0.2, &state);
	keep(&s);
	share_release(&s);
}

/* A base whose windows of 100 ms have 15 steps, give or take some: it is not called unsteady. */
Test(small_share_promise, a_base_of_few_steps_is_not_judged_by_them)
{
	static const double alone = 150, limited = 45;
	struct promise p;
	unsigned state = 1;
	struct share s;

	begin(&s, 0.3, 1);
	for (int i = 0; i < s.sets; i++)
		fill_unevenly(&s, &s.set[i].set,
			      s.set[i].set.arm == ARM_LIMITED ? &limited : &alone, 1, &state);
	promise_init(&p, &s);
	cr_expect(isnan(p.base[0].least));
	cr_expect(promise_is_steady(&p.base[0]));
	promise_release(&p);
	keep(&s);
	share_release(&s);
}

/* 1000 t = 350 + 300 t: half a second, seen in steps of a tenth. */
Test(small_share_promise, how_long_full_speed_lasts)
{
	static const double rate = 300;
	struct promise p;
	struct share s;

	begin(&s, 0.3, 1);
	fill(&s, 990, &rate, &rate, 350);
	promise_init(&p, &s);
	for (int i = 0; i < TIMELINE_HOWS; i++)
		cr_expect(epsilon_eq(dbl, p.row[i].full_s, 0.5, 1e-9), "%g", p.row[i].full_s);
	promise_release(&p);
	share_release(&s);
}

/* A base that is slowed for a fifth of the time shows nothing, whatever clients get. */
Test(small_share_promise, a_base_that_is_not_steady_decides_nothing)
{
	static const double rate = 600;
	struct promise p;
	struct share s;

	begin(&s, 0.3, 1);
	fill(&s, 900, &rate, &rate, 0);
	for (int i = 0; i < BINS; i++)
		if (i % 100 >= 80)
			for (int k = 0; k < s.sets; k++)
				for (int w = 0; w < STARTS * TIMELINE_HOWS; w++)
					if (s.set[k].set.arm == ARM_PROCESSES)
						json_array_set_new(made_steps(s.set[k].window[w]),
								   (size_t)i, json_real(3));
	promise_init(&p, &s);
	cr_expect(le(dbl, p.base[0].least, 0.4), "%g", p.base[0].least);
	cr_expect(eq(int, p.row[0].judged.judged.verdict, VERDICT_SLOWER), "else it would be more");
	cr_expect(eq(int, p.row[0].verdict, PROMISE_OPEN));
	cr_expect(eq(int, promise_exit_code(&s), 2));
	promise_release(&p);
	keep(&s);
	share_release(&s);
}

/* Two clients of a GPU that were promised 75 % each: that one has less is no fault of the limit. */
Test(small_share_promise, clients_promised_more_than_there_is_are_not_judged)
{
	static const double rate[] = { 490, 490 }, more[] = { 900, 90 };
	struct promise p;
	struct share s;

	begin(&s, 0.75, 2);
	fill(&s, 900, rate, rate, 0);
	promise_init(&p, &s);
	cr_expect(eq(int, p.row[1].verdict, PROMISE_CROWDED));
	cr_expect(eq(int, p.verdict, PROMISE_OPEN));
	promise_release(&p);
	keep(&s);
	share_release(&s);
	begin(&s, 0.75, 2);
	fill(&s, 900, more, more, 0);
	promise_init(&p, &s);
	cr_expect(eq(int, p.row[0].verdict, PROMISE_MORE), "that is one");
	promise_release(&p);
	keep(&s);
	share_release(&s);
}

Test(small_share_promise, a_part_of_the_windows_decides_nothing)
{
	struct promise p;
	struct share s;

	begin(&s, 0.3, 1);
	promise_init(&p, &s);
	cr_expect(eq(int, p.verdict, PROMISE_OPEN));
	cr_expect(eq(int, p.row[0].known, 0));
	promise_release(&p);
	keep(&s);
	share_release(&s);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

#define GIB 1073741824.0

static json_t *memory(double one, double many, double exited, double killed)
{
	return json_pack("{s:s, s:{s:f, s:f}, s:{s:f}, s:{s:f}, s:{s:f}, s:{s:f}}", "record",
			 "memory", "alone", "one", one, "many", many, "freed", "one", one, "beside",
			 "one", 0.0, "exited", "one", exited, "killed", "one", killed);
}

Test(small_share_promise, verdicts_of_memory)
{
	static const struct {
		double one, many, exited, killed;
		bool is_cpu;
		enum promise_verdict want;
	} rows[] = {
		{ GIB, GIB, GIB, GIB, true, PROMISE_HOLDS },
		{ GIB + 1, GIB, GIB, GIB, true, PROMISE_MORE },
		{ GIB, GIB + 2e6, GIB, GIB, false, PROMISE_HOLDS },
		{ GIB, 2 * GIB, GIB, GIB, false, PROMISE_MORE },
		{ GIB / 2, GIB / 2, GIB / 2, GIB / 2, false, PROMISE_LESS },
		{ GIB, GIB, GIB, GIB / 2, false, PROMISE_LESS },
		{ GIB, GIB, 0, GIB, false, PROMISE_LESS },
		{ GIB, GIB, GIB - 1, GIB, true, PROMISE_LESS },
		{ GIB, GIB, GIB - 1, GIB, false, PROMISE_HOLDS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *o = memory(rows[i].one, rows[i].many, rows[i].exited, rows[i].killed);

		cr_expect(eq(ptr, (void *)(uintptr_t)promise_memory_wrong(o), NULL), "row %zu", i);
		cr_expect(eq(int, promise_of_memory(o, (int64_t)GIB, rows[i].is_cpu), rows[i].want),
			  "row %zu", i);
		json_decref(o);
	}
	cr_expect(eq(int, promise_of_memory(NULL, 1, true), PROMISE_OPEN), "not yet");
}

/* Arrays that no limit counts are more than was allowed; a process's own context is part of it,
 * where the layer shows the client no more than that in all. */
Test(small_share_promise, memory_by_other_calls_and_of_contexts)
{
	static const struct {
		const char *member;
		double bytes, total;
		enum promise_verdict want;
	} rows[] = {
		{ "array", 2 * GIB, 80 * GIB, PROMISE_MORE },
		{ "graph", 2 * GIB, GIB, PROMISE_MORE },
		{ "pool", 2 * GIB, GIB, PROMISE_MORE },
		{ "pool", GIB / 2, GIB, PROMISE_HOLDS },
		{ "pool", GIB / 2, 80 * GIB, PROMISE_LESS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *o = memory(0.9 * GIB, 0.9 * GIB, 0.9 * GIB, 0.9 * GIB);
		json_t *alone = json_object_get(o, "alone");

		json_object_set_new(alone, rows[i].member, json_real(rows[i].bytes));
		json_object_set_new(alone, "total", json_real(rows[i].total));
		json_object_set_new(alone, "free", json_real(rows[i].total - 0.1 * GIB));
		cr_expect(eq(int, promise_of_memory(o, (int64_t)GIB, false), rows[i].want),
			  "row %zu", i);
		json_decref(o);
	}
}

/* Every member of the memory's line, with compute and without. */
Test(small_share_promise, what_is_said_of_memory)
{
	static const double rate = 297;

	for (int with = 0; with < 2; with++) {
		struct share s;
		json_t *o = memory(1 << 30, (1 << 30) - 4096, 1 << 30, 1 << 29);
		json_t *alone = json_object_get(o, "alone"), *beside = json_object_get(o, "beside");

		json_object_update_new(
			alone, json_pack("{s:f, s:f, s:f, s:f, s:f, s:s, s:s, s:s, s:s, s:s, s:s}",
					 "total", with ? 1e9 : 3e9, "free", with ? 9e8 : 2e9,
					 "pool", 5e8, "array", 4e8, "graph", 3e8, "graph_error",
					 "no graph", "one_error", "out of memory", "many_error",
					 "none left", "pool_error", "no pool", "array_error",
					 "no array", "pinned", "not counted"));
		json_object_set_new(beside, "one_error", json_string("not a byte"));
		begin(&s, with ? 0.3 : 0, 1);
		s.plan.allow.memory = 1 << 30;
		if (with)
			fill(&s, 900, &rate, &rate, 0);
		cr_assert(zero(int, share_add(&s, o)));
		keep(&s);
		share_release(&s);
	}
}

/* To the byte, on the CPU device; and after a limit that rounds up what it counts. */
Test(small_share_promise, what_is_said_where_all_memory_holds)
{
	static const double rate = 297;

	for (int more = 0; more < 2; more++) {
		struct share s;

		begin_on(&s, more ? 0 : 0.3, 1, 1, more);
		s.plan.allow.memory = 1 << 30;
		if (!more)
			fill(&s, 900, &rate, &rate, 0);
		cr_assert(zero(int, share_add(&s, memory(GIB, GIB + 4096 * more, GIB, GIB))));
		keep(&s);
		share_release(&s);
	}
}

/* What a GPU gives out at once is no more than was allowed, a byte beyond it is; and so of less. */
Test(small_share_promise, where_verdicts_of_memory_turn)
{
	static const double granule = 2097152;
	static const struct {
		double one, exited;
		enum promise_verdict want;
	} rows[] = {
		{ GIB + granule, GIB, PROMISE_HOLDS },
		{ GIB + granule + 1, 2 * GIB, PROMISE_MORE },
		{ GIB, GIB - granule, PROMISE_HOLDS },
		{ GIB, GIB - granule - 1, PROMISE_LESS },
		{ GIB * (1 - PROMISE_MARGIN), GIB, PROMISE_HOLDS },
		{ GIB * (1 - PROMISE_MARGIN) - 1, GIB, PROMISE_LESS },
	};
	static const struct {
		double total, is_free, want;
	} contexts[] = {
		{ GIB + granule, GIB, granule },
		{ GIB + granule + 1, GIB, 0 },
		{ GIB, GIB, 0 },
		{ GIB, GIB + 1, 0 },
		{ GIB, GIB - 1, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *o = memory(rows[i].one, 1, rows[i].exited, 2 * GIB);

		cr_expect(eq(int, promise_of_memory(o, (int64_t)GIB, false), rows[i].want),
			  "row %zu", i);
		json_decref(o);
	}
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		json_t *o = json_pack("{s:{s:f, s:f}}", "alone", "total", contexts[i].total, "free",
				      contexts[i].is_free);

		cr_expect(eq(dbl, promise_context_bytes(o, (int64_t)GIB), contexts[i].want),
			  "context %zu", i);
		json_decref(o);
	}
}

/* ---- lines of a record ------------------------------------------------------------------------
 */

Test(small_share_promise, lines_that_are_wrong)
{
	static const char *const wrong[] = {
		"{}",
		"{\"timeline\": {\"bin_s\": 0.01, \"steps\": [1], \"longest_s\": 0}}",
		"{\"timeline\": {\"bin_s\": 0, \"steps\": [1, 2], \"longest_s\": 0}}",
		"{\"timeline\": {\"bin_s\": 0.01, \"steps\": [1, -2], \"longest_s\": 0}}",
		"{\"timeline\": {\"bin_s\": 0.01, \"steps\": [1, \"2\"], \"longest_s\": 0}}",
		"{\"timeline\": {\"bin_s\": 0.01, \"steps\": [1, 2]}}",
		"{\"timeline\": {\"bin_s\": 0.01, \"steps\": [1, 2], \"longest_s\": -0.5}}",
		"{\"timeline\": {\"bin_s\": 0.01, \"steps\": [1, -0.5], \"longest_s\": 0}}",
	};
	static const char *const whens[] = { "alone", "freed", "beside", "exited", "killed" };
	json_t *o = memory(1, 1, 1, 1);
	json_t *right = json_loads("{\"timeline\": {\"bin_s\": 0.01, \"steps\": [1, 0], "
				   "\"longest_s\": 0}}",
				   0, NULL);

	cr_expect(eq(ptr, (void *)(uintptr_t)promise_client_wrong(right), NULL));
	json_decref(right);
	for (size_t i = 0; i < sizeof(whens) / sizeof(*whens); i++) {
		json_t *at = json_object_get(o, whens[i]);

		json_object_set_new(at, "one", json_real(-0.5));
		cr_expect(eq(str, (char *)(uintptr_t)promise_memory_wrong(o),
			     (char *)(uintptr_t)whens[i]));
		json_object_set_new(at, "one", json_real(0));
	}
	json_object_set_new(json_object_get(o, "alone"), "many", json_real(-0.5));
	cr_expect(eq(str, (char *)(uintptr_t)promise_memory_wrong(o), "many"));
	json_object_set_new(json_object_get(o, "alone"), "many", json_real(0));
	cr_expect(eq(ptr, (void *)(uintptr_t)promise_memory_wrong(o), NULL));

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		json_t *client = json_loads(wrong[i], 0, NULL);

		cr_expect(eq(str, (char *)(uintptr_t)promise_client_wrong(client), "timeline"),
			  "%s", wrong[i]);
		json_decref(client);
	}
	json_object_del(o, "killed");
	cr_expect(eq(str, (char *)(uintptr_t)promise_memory_wrong(o), "killed"));
	json_decref(o);
}

/* A plan is read as it was written, and one that would be another mode's is refused. */
Test(small_share_promise, a_plan_with_a_promise)
{
	struct share_plan p;
	struct share s;
	json_t *plan, *again;

	begin(&s, 0.3, 2);
	plan = share_plan_json(&s.plan);
	cr_assert(zero(int, share_plan_parse(&p, plan, "here")));
	cr_expect(eq(dbl, p.allow.compute, 0.3));
	cr_expect(eq(str, (char *)(uintptr_t)p.allow.layer[0], "emulate compute=30"));
	again = share_plan_json(&p);
	cr_expect(eq(int, json_equal(plan, again), 1));
	json_decref(again);
	share_plan_release(&p);
	json_object_set_new(plan, "windows", json_integer(3));
	cr_expect(ne(int, share_plan_parse(&p, plan, "here"), 0), "windows");
	share_plan_release(&p);
	json_object_set_new(plan, "windows", json_integer(2));
	json_object_del(plan, "allow");
	cr_expect(ne(int, share_plan_parse(&p, plan, "here"), 0), "limited without a promise");
	share_plan_release(&p);
	json_decref(plan);
	share_release(&s);
}
