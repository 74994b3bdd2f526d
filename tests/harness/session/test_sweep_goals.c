/*
 * test_sweep_goals.c - harness/session/stopping.h: what may be asked of a session, when it ends,
 * and what it then says.
 */
/* sanitizers: one thread */
/* begins early: it waits long */
#include "tests/test.h"
#include "common/philox.h"
#include "harness/base/command.h"
#include "harness/measure/plan_record.h"
#include "harness/session/stopping.h"
#include "harness/stats/contrast.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"
#include "tests/golden.h"

TestSuite(small_sweep_goals, .timeout = 300);

/* ---- what is asked for -------------------------------------------------------------------- */

Test(small_sweep_goals, times_with_their_units)
{
	struct goals g = { 0 };

	cr_assert(not(goals_any(&g)), "none");
	cr_assert(zero(int, goals_take_resolve(&g, "c=100ns,Z=0.5us,Zg=2ms")), "three");
	cr_assert(goals_any(&g), "some");
	cr_assert(eq(dbl, g.parameter_ns[MODEL_C], 100), "c");
	cr_assert(eq(dbl, g.parameter_ns[MODEL_Z], 500), "Z");
	cr_assert(eq(dbl, g.parameter_ns[MODEL_GRAPH_Z], 2e6), "Zg");
	cr_assert(eq(dbl, g.parameter_ns[MODEL_G], 0), "g");
	cr_assert(zero(int, goals_take_margin(&g, "2.5%")), "margin");
	cr_assert(eq(dbl, g.margin, 0.025), "%g", g.margin);
}

static void is_refused(int (*take)(struct goals *, const char *), const char *text,
		       const char *says)
{
	struct goals g = { .parameter_ns[MODEL_P] = 5 };
	const char *said;
	int err;

	divert_stderr();
	err = take(&g, text);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EINVAL), "%s: %d", text, err);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, says), NULL), "%s: %s", text, said);
}

Test(small_sweep_goals, what_is_no_goal_is_refused)
{
	is_refused(goals_take_resolve, "", "''");
	is_refused(goals_take_resolve, "q=1us", "'q'");
	is_refused(goals_take_resolve, "k=1us", "'k'"); /* a pure number */
	is_refused(goals_take_resolve, "Q=1us", "'Q'"); /* launches */
	is_refused(goals_take_resolve, "c", "c=100ns");
	is_refused(goals_take_resolve, "c=5", "c=100ns");
	is_refused(goals_take_resolve, "c=5s", "c=100ns");
	is_refused(goals_take_resolve, "c=us", "c=100ns");
	is_refused(goals_take_resolve, "c=0us", "c=100ns");
	is_refused(goals_take_resolve, "c=-1us", "c=100ns");
	is_refused(goals_take_resolve, "c=infus", "c=100ns");
	is_refused(goals_take_resolve, "c=1us,c=2us", "c ");
	is_refused(goals_take_resolve, "c=1ns,c=2us", "c ");
	is_refused(goals_take_resolve, "c=0.001ns,c=2us", "c ");
	is_refused(goals_take_resolve, "p=1us", "p ");
	is_refused(goals_take_margin, "", "2%");
	is_refused(goals_take_margin, "0", "2%");
	is_refused(goals_take_margin, "101%", "2%");
	is_refused(goals_take_margin, "2%%", "2%");
	is_refused(goals_take_margin, "nan", "2%");
}

Test(small_sweep_goals, a_plan_keeps_them)
{
	const struct workload *const launch[] = { workload_find("launch"), NULL };
	struct plan_request r = { .workload = launch,
				  .size = "0",
				  .depth = "1,4,16",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p, again;
	json_t *o;

	r.design.goals.parameter_ns[MODEL_C] = 100;
	r.design.goals.margin = 0.02;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	o = plan_json(&p);
	cr_assert(zero(int, plan_parse(&again, o, launch, "")), "read back");
	cr_assert(zero(int, memcmp(&again.design.goals, &p.design.goals, sizeof(struct goals))),
		  "the same");
	json_decref(o);
	plan_release(&again);
	cr_assert(zero(int, goals_refuse(&p, 2)), "three depths");
	divert_stderr();
	cr_assert(eq(int, goals_refuse(&p, 1), -EINVAL), "a margin of one side");
	p.design.goals.margin = 0;
	cr_assert(zero(int, goals_refuse(&p, 1)), "but c of one");
	p.design.goals.parameter_ns[MODEL_GRAPH_A] = 100;
	cr_assert(eq(int, goals_refuse(&p, 1), -EINVAL), "no graphs");
	p.design.goals.parameter_ns[MODEL_GRAPH_A] = 0;
	p.n_points = 2;
	cr_assert(eq(int, goals_refuse(&p, 1), -EINVAL), "two points");
	p.n_points = 3;
	for (int i = 0; i < 3; i++)
		p.point[i].depth = 1;
	cr_assert(eq(int, goals_refuse(&p, 1), -EINVAL), "one depth");
	p.design.goals = (struct goals){ 0 };
	memset(p.design.policy, 1, sizeof(p.design.policy));
	cr_assert(zero(int, goals_refuse(&p, 1)), "what lies before the parameters is none");
	diverted_stderr();
	plan_release(&p);
}

/* ---- interims -------------------------------------------------------------------------------- */

/* 5 % in seven parts, by the normal distribution. */
Test(small_sweep_goals, each_look_has_its_share)
{
	const double z = 1.959963985;

	cr_assert(epsilon_eq(dbl, erfc(z / sqrt(2)), 0.05, 1e-9), "5 %%");
	cr_assert(epsilon_eq(dbl, erfc(goals_interim_factor * z / sqrt(2)), 0.05 / 7, 1e-5), "%g",
		  erfc(goals_interim_factor * z / sqrt(2)));
}

static double normal(uint32_t a, uint32_t b, uint32_t c)
{
	struct philox r = philox4x32(a, b, c, 0, 20261124);

	return sqrt(-2 * log(1 - philox_uniform(r.word[0]))) *
	       cos(2 * M_PI * philox_uniform(r.word[1]));
}

/*
 * Pairs whose ratio is 1.1, give or take 1 % each: sessions that end at the interim at which it is
 * known to half a percent hold it in at least 93 of 100 cases.
 */
Test(small_sweep_goals, stopping_early_leaves_intervals_honest)
{
	enum { SESSIONS = 200, PAIRS_MAX = 100 };
	struct design d = { .sequential = true, .processes = PAIRS_MAX, .goals.margin = 0.01 };
	double a[PAIRS_MAX], b[PAIRS_MAX], pairs = 0;
	int held = 0;

	for (int i = 0; i < PAIRS_MAX; i++)
		a[i] = 1;
	for (uint32_t s = 0; s < SESSIONS; s++) {
		struct interval in = { 0 };
		int n = 0, next = design_next_interim(&d, 0);

		for (; next; next = (in.hi - in.lo) / 2 <= 0.005 ? 0 : design_next_interim(&d, n)) {
			struct contrast c;

			for (; n < next; n++)
				b[n] = 1.1 * (1 + 0.01 * normal(s, (uint32_t)n, 0));
			contrast_init(&c, n, n, true, design_looks(&d));
			cr_assert(zero(int, contrast_ratio(&in, &c, &(struct point_pair){ b, a })),
				  "ratio");
			contrast_release(&c);
		}
		held += in.lo <= 1.1 && 1.1 <= in.hi;
		pairs += n;
	}
	cr_assert(eq(int, design_looks(&d), 7), "looks");
	cr_assert(le(int, SESSIONS * 93 / 100, held), "%d of %d", held, SESSIONS);
	cr_assert(lt(dbl, 12, pairs / SESSIONS), "it took %g pairs", pairs / SESSIONS);
	cr_assert(lt(dbl, pairs / SESSIONS, 90), "it took %g pairs", pairs / SESSIONS);
}

/* ---- sessions ----------------------------------------------------------------------------- */

/* Both sides; b takes 300 ns more to launch. */
static void session(struct journal *j, int sides, int processes)
{
	struct fake_session s = fake_session();

	s.processes = processes;
	s.done = processes > 8 ? 8 : 0;
	s.noise = 0.01;
	s.sides = sides;
	s.size = "0,10,50";
	s.depth = "1,16,256";
	s.mode = "stream";
	s.model[1] = s.model[0];
	s.model[1].v[MODEL_C] += 300;
	s.model[1].v[MODEL_P] += 300;
	fake_session_journal(&s, j);
}

static struct interim interim(struct journal *j, const char *resolve, const char *margin,
			      json_t **said)
{
	j->plan.design.goals = (struct goals){ 0 };
	j->plan.design.sequential = true;
	if (resolve)
		cr_assert(zero(int, goals_take_resolve(&j->plan.design.goals, resolve)), "resolve");
	if (margin)
		cr_assert(zero(int, goals_take_margin(&j->plan.design.goals, margin)), "margin");
	return goals_take_interim(j, 8, said);
}

Test(small_sweep_goals, a_session_ends_where_all_is_known)
{
	struct journal j;
	struct interim l;
	json_t *said;

	session(&j, 2, 20); /* more could come */
	l = interim(&j, "c=900ns,Z=900ns", "90%", &said);
	cr_assert(l.stop && l.points == 3 && !l.wide && !l.next, "%d of %d", l.wide, l.points);
	json_decref(said);
	l = interim(&j, "c=0.001ns,Z=900ns", NULL, &said);
	cr_assert(l.wide == 1 && !l.stop && l.points == 2 && l.next == 12, "%d of %d, %d", l.wide,
		  l.points, l.next);
	cr_assert(
		eq(str,
		   (char *)json_string_value(json_array_get(json_object_get(said, "wide_keys"), 0)),
		   "c"),
		"which");
	json_decref(said);
	l = interim(&j, NULL, "0.0001%", NULL);
	cr_assert(l.wide == 1 && !l.stop, "the mean ratio");
	journal_release(&j);
	session(&j, 1, 8);
	l = interim(&j, "c=0.001ns", NULL, NULL);
	cr_assert(l.stop && l.wide == 1, "no more are to come");
	journal_release(&j);
}

static const char *printed(const struct journal *j)
{
	static char text[2048];
	FILE *f = fmemopen(text, sizeof(text), "w");

	goals_print(j, 10e9, f);
	fclose(f);
	golden_said(text);
	return text;
}

Test(small_sweep_goals, what_it_came_to_is_said)
{
	struct journal j;
	const char *said, *at;
	double half_width, processes;

	session(&j, 2, 5);
	interim(&j, "c=900ns,bf=1us", NULL, NULL);
	said = printed(&j);
	cr_assert(ne(ptr, strstr(said, "c, b - a: +"), NULL), "%s", said);
	cr_assert(epsilon_eq(dbl, atof(strstr(said, "+") + 1), 300, 20), "%s", said);
	cr_assert(tells(said, "±900 ns: * 5 "), "%s", said);
	cr_assert(tells(said, " 5 processes *10 s; * 20 processes *40 s\n"), "%s", said);
	cr_assert(ne(ptr, strstr(said, "bf, b - a: not known: "), NULL), "%s", said);
	interim(&j, "c=0.1ns", NULL, NULL);
	said = printed(&j);
	at = strstr(said, ", not reached after 5 processes a side, 10 s: ");
	cr_assert(ne(ptr, (void *)(uintptr_t)at, NULL), "%s", said);
	/* by the square of how much too wide it is, with the interims' factor */
	cr_assert(eq(int, sscanf(strstr(said, "±"), "±%lf ns", &half_width), 1), "%s", said);
	cr_assert(eq(int, sscanf(strstr(at, "about "), "about %lf", &processes), 1), "%s", said);
	cr_assert(epsilon_eq(dbl, processes,
			     ceil(5 * pow(goals_interim_factor * half_width / 0.1, 2)),
			     0.02 * processes),
		  "%s", said);
	journal_release(&j);
	session(&j, 1, 5);
	interim(&j, "c=900ns", NULL, NULL);
	said = printed(&j);
	cr_assert(eq(int, strncmp(said, "c: 2.0", 6), 0), "of one side the value: %s", said);
	journal_release(&j);
}

/* Where kernels are empty p hides g: the fit has a value of it, but none that it stands for. */
Test(small_sweep_goals, what_is_not_identified_is_not_known)
{
	struct fake_session s = fake_session();
	struct journal j;
	struct interim l;
	const char *said;

	s.processes = 8;
	s.noise = 0.01;
	s.size = "0";
	s.depth = "1:256:x4";
	s.mode = "stream";
	fake_session_journal(&s, &j);
	l = interim(&j, "g=900ns,c=900ns", NULL, NULL);
	cr_assert(l.points == 2 && l.wide == 1, "%d of %d", l.wide, l.points);
	said = printed(&j);
	cr_assert(ne(ptr, strstr(said, "g: not known: "), NULL), "%s", said);
	cr_assert(ne(ptr, strstr(said, "c: 2.0"), NULL), "%s", said);
	journal_release(&j);
}

/* Each workload has goals of its own, and is named. */
Test(small_sweep_goals, goals_of_two_workloads)
{
	struct fake_session s = fake_session();
	struct journal j;
	char text[512];

	s.also = "matmul";
	s.processes = 5;
	s.noise = 0.01;
	s.quick = true;
	for (s.sides = 1; s.sides <= 2; s.sides++) {
		s.model[1].v[MODEL_Z] = 5500;
		fake_session_journal(&s, &j);
		interim(&j, "c=0.1ns,Z=900ns,Zf=1us", s.sides > 1 ? "1%" : NULL, NULL);
		printed(&j);
		goals_text(&j, text, sizeof(text));
		golden_said(text);
		golden_said("\n");
		interim(&j, "c=0.1ns", NULL, NULL); /* one of each */
		printed(&j);
		journal_release(&j);
	}
}

/* More goals than there is room for at first. */
Test(small_sweep_goals, many_goals)
{
	struct fake_session s = fake_session();
	struct journal j;
	struct interim l;

	s.processes = 5;
	s.noise = 0;
	s.size = "0,10";
	s.depth = "1,16,256";
	s.mode = "stream";
	fake_session_journal(&s, &j);
	l = interim(&j, "c=9us,p=9us,g=9us,Z=9us,a=9us,b=9us,Zg=9us,gn=9us,Zf=9us,bf=9us", NULL,
		    NULL);
	cr_assert(eq(int, l.points, 10), "%d", l.points);
	journal_release(&j);
}

Test(small_sweep_goals, a_look_in_one_line)
{
	struct journal j;
	char text[256];
	double c = 0, ratio = 0;
	int end = 0;

	session(&j, 2, 5);
	interim(&j, "c=900ns,bf=1us", "90%", NULL);
	goals_text(&j, text, sizeof(text));
	sscanf(text, "c ±%lf ns of 900 ns, bf ±? of 1.00 us, b / a ±%lf %% of 45 %%%n", &c, &ratio,
	       &end);
	cr_assert(eq(sz, (size_t)end, strlen(text)), "%s", text);
	/* of 5 pairs, blocks with 1 % of noise around 2000 ns */
	cr_assert(c > 0.1 && c < 20, "%s", text);
	cr_assert(ratio > 0.001 && ratio < 1, "%s", text);
	for (int i = 0; i < j.plan.n_points; i++) /* two of five pairs */
		for (int process = 0; process < 2; process++)
			j.total_ns[(5 + process) * j.plan.n_points + i] *= 10;
	interim(&j, NULL, "90%", NULL);
	goals_text(&j, text, sizeof(text));
	cr_assert(eq(str, text, "b / a ±>100 % of 45 %"), "%s", text);
	interim(&j, "bf=1us", NULL, NULL);
	/* what lies before the parameters in a design is none */
	memset(j.plan.design.policy, 1, sizeof(j.plan.design.policy));
	goals_text(&j, text, sizeof(text));
	cr_assert(eq(str, text, "bf ±? of 1.00 us"), "%s", text);
	goals_text(&j, text, 8);
	cr_assert(eq(str, text, "bf ±? "), "cut to 7 bytes: %s", text);
	interim(&j, NULL, NULL, NULL);
	goals_text(&j, text, sizeof(text));
	cr_assert(eq(str, text, ""), "nothing was asked: %s", text);
	journal_release(&j);
	session(&j, 1, 5);
	interim(&j, "bf=1us", NULL, NULL);
	memset(j.plan.design.policy, 1, sizeof(j.plan.design.policy));
	goals_text(&j, text, sizeof(text));
	cr_assert(eq(str, text, "bf ±? of 1.00 us"), "of one side: %s", text);
	journal_release(&j);
}

/* What lies before and behind the parameters is none of them. */
Test(small_sweep_goals, goals_as_records_keep_them)
{
	struct {
		double before;
		struct goals g;
	} of = { 5, { .margin = 0.02 } }, again = { 6, { .margin = 0.03 } };
	json_t *o = goals_json(&of.g);

	cr_assert(zero(sz, json_object_size(o)), "only a margin");
	goals_parse(&again.g, o);
	cr_assert(eq(dbl, again.before, 6), "%g", again.before);
	cr_assert(eq(dbl, again.g.margin, 0.03), "%g", again.g.margin);
	json_decref(o);
	of.g.margin = 0;
	cr_assert(not(goals_any(&of.g)), "none");
	of.g.parameter_ns[0] = 100;
	cr_assert(goals_any(&of.g), "the first");
	of.g.parameter_ns[MODEL_PARAMS - 1] = 2.5;
	o = goals_json(&of.g);
	cr_assert(eq(sz, json_object_size(o), 2), "the first and the last");
	goals_parse(&again.g, o);
	for (int i = 0; i < MODEL_PARAMS; i++)
		cr_assert(eq(dbl, again.g.parameter_ns[i], of.g.parameter_ns[i]), "%d", i);
	json_decref(o);
	of.g.parameter_ns[0] = 0;
	cr_assert(goals_any(&of.g), "the last");
}

/* ---- the command -------------------------------------------------------------------------- */

TEST_FOLDER(folder);
static char path[64];

static void prepare(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/s.jsonl", folder);
}

TestSuite(large_sweep_goals, .init = prepare, .fini = remove_folder, .timeout = 300);

/* Launches cost so much that it does not matter whether the device's threads are awake. */
static const char *sweep(const char *options)
{
	const char *text;

	setenv("RIFT_CPU_LAUNCH_NS", "20000", 1);
	cr_assert(
		zero(int,
		     run_rift(OUT, &text,
			      "sweep launch us=0 --depth 1,4,16 --mode stream --express --rounds 2 "
			      "--warm-up 0.01 --output '%s' %s",
			      path, options)),
		"%s", text);
	return text;
}

Test(large_sweep_goals, a_sweep_ends_at_the_first_look_that_is_enough)
{
	const char *text = sweep("--resolve c=1ms --against env");

	cr_assert(tells(text, "±1.00 ms: * 8 pairs"), "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", path)), "%s", text);
	shell(&text, "grep -c '\"record\":\"trailer\"' '%s'", path);
	cr_assert(eq(int, atoi(text), 16), "%s", text);
	shell(&text, "grep -c '\"interim\":{.*\"stop\":true' '%s'", path);
	cr_assert(le(int, 1, atoi(text)), "the record says where it ended: %s", text);
}

Test(large_sweep_goals, and_at_the_latest_where_it_was_told_to)
{
	const char *text = sweep("--resolve c=0.001ns --processes 9");

	cr_assert(tells(text, "not * 9 processes"), "%s", text);
	shell(&text, "grep -c '\"record\":\"trailer\"' '%s'", path);
	cr_assert(eq(int, atoi(text), 9), "%s", text);
}

Test(large_sweep_goals, what_cannot_be_told_is_refused)
{
	refused(3, "--resolve: a ", "sweep us=0 --mode stream --resolve a=1us --output '%s'", path);
	refused(3, "--margin: ", "sweep us=0 --margin 2%% --output '%s'", path);
	refused(3, "--resolve", "sweep us=0 --resolve c=1us --sync spin,yield");
	refused(3, "--resume", "sweep --resolve c=1us --resume '%s'", path);
}
