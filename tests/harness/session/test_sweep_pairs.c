/*
 * test_sweep_pairs.c - two sides in turns: what a pair's turns say of its processes, who writes
 * where, and sweeps on the CPU device whose workers wait for each other.
 */
#include "tests/test.h"
#include "harness/measure/choose.h"
#include "harness/record/journal_impl.h"
#include "harness/measure/plan_record.h"
#include "harness/session/worker.h"
#include "harness/session/workers.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/on_cpu.h"
#include "workloads/workload.h"

enum { ROUNDS = 5, PROCESSES = 2 };

TEST_FOLDER(folder);
static char path[64], part[80], visits[80];

static void prepare(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/s.jsonl", folder);
	snprintf(part, sizeof(part), "%s.part", path);
	snprintf(visits, sizeof(visits), "%s.visits", path);
}

TestSuite(small_sweep_pairs, .init = prepare, .fini = remove_folder, .timeout = 300);
TestSuite(large_sweep_pairs, .init = prepare, .fini = remove_folder, .timeout = 240);

/* ---- made-up visits ----------------------------------------------------------------------- */

static struct plan one_point(bool pairs)
{
	const struct workload *const first[] = { workloads[0], NULL };
	struct plan_request r = { .workload = first,
				  .size = "1",
				  .depth = "1",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	if (pairs)
		design_pairs(&r.design);
	r.design.rounds = ROUNDS;
	r.design.processes = PROCESSES;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, 1), "points");
	return p;
}

static void begin_replicate(struct journal *j, int replicate)
{
	json_t *header = json_pack("{s:{}, s:{}, s:{}, s:{}, s:{}, s:{}}", "calib", "host", "gpu",
				   "env", "cuda_flags", "warmup");

	cr_assert(zero(int, journal_begin(j, replicate)), "begin");
	cr_assert(zero(int, journal_header(j, replicate, header)), "header");
}

static void begin_session(struct journal *j, bool pairs)
{
	struct plan p = one_point(pairs);

	cr_assert(zero(int, journal_create(j, &p, path, "env", "rift sweep")), "create");
	begin_replicate(j, 0);
	begin_replicate(j, PROCESSES);
}

/* What all blocks of the point have in common. */
static int common_mark;

/* Two blocks; the marked one, with events around it, says nothing of the step. */
static void add_visit_of(struct journal *j, int replicate, int point, int round, int total_ns)
{
	json_t *o =
		json_pack("{s:i, s:i, s:[i, i], s:[i, i], s:[i], s:[i, i], s:[i, i], s:n}", "point",
			  point, "round", round, "t_enq_ns", total_ns / 2, 1, "t_total_ns",
			  total_ns, 7 * total_ns, "t_dev_ns", 900, "marks", common_mark,
			  common_mark | MARK_EVENTS, "canary_ns", 200000, 200000, "steal_ticks");

	cr_assert(zero(int, journal_visit(j, replicate, point, round, o)), "visit");
}

static void add_visit(struct journal *j, int replicate, int round, int total_ns)
{
	add_visit_of(j, replicate, 0, round, total_ns);
}

/* The machine is slow for a while, of both sides alike; b takes 2 % more in every turn. */
static const int slow_ns[ROUNDS] = { 10000, 14000, 10500, 13000, 10100 };

static void add_all(struct journal *j)
{
	for (int r = 0; r < ROUNDS; r++) {
		add_visit(j, r % 2 ? PROCESSES : 0, r, r % 2 ? slow_ns[r] / 100 * 102 : slow_ns[r]);
		add_visit(j, r % 2 ? 0 : PROCESSES, r, r % 2 ? slow_ns[r] : slow_ns[r] / 100 * 102);
	}
}

static double ratio_of(const double *value)
{
	return value[PROCESSES] / value[0];
}

Test(small_sweep_pairs, a_pair_is_as_its_turns_are)
{
	struct journal j;

	begin_session(&j, true);
	add_all(&j);
	cr_assert(lt(dbl, fabs(ratio_of(j.total_ns) - 1.02), 1e-12), "%.17g", ratio_of(j.total_ns));
	cr_assert(lt(dbl, fabs(ratio_of(j.enq_ns) - 1.02), 1e-12), "%.17g", ratio_of(j.enq_ns));
	/* and between them lies what they were: the medians of 10500 and 10710 */
	cr_assert(lt(dbl, fabs(j.total_ns[0] * j.total_ns[PROCESSES] - 10500.0 * 10710), 1e-3),
		  "%g", j.total_ns[0]);
	journal_release(&j);
}

/* Beyond the queue all blocks have a mark; those with events still say nothing. */
Test(small_sweep_pairs, turns_with_a_full_queue_are_as_others)
{
	struct journal j;

	common_mark = MARK_QUEUE;
	begin_session(&j, true);
	add_all(&j);
	cr_assert(lt(dbl, fabs(ratio_of(j.total_ns) - 1.02), 1e-12), "%.17g", ratio_of(j.total_ns));
	cr_assert(eq(dbl, journal_first_turns_ns(&j, 0, 0, 1), slow_ns[0]), "the first");
	journal_release(&j);
}

/* One side was disturbed in two of its turns, which the medians of each side do not survive. */
Test(small_sweep_pairs, a_disturbed_turn_is_outvoted)
{
	struct journal j;

	begin_session(&j, true);
	for (int r = 0; r < ROUNDS; r++) {
		add_visit(&j, 0, r, 10000 + 1000 * r);
		add_visit(&j, PROCESSES, r, (10000 + 1000 * r) * (r < 2 ? 2 : 1));
	}
	cr_assert(lt(dbl, fabs(ratio_of(j.total_ns) - 1), 1e-12), "%g", ratio_of(j.total_ns));
	journal_release(&j);
}

Test(small_sweep_pairs, processes_apart_are_medians)
{
	struct journal j;

	begin_session(&j, false);
	add_all(&j);
	cr_assert(eq(dbl, j.total_ns[0], 10500), "%g", j.total_ns[0]);
	cr_assert(eq(dbl, j.total_ns[PROCESSES], 10710), "%g", j.total_ns[PROCESSES]);
	journal_release(&j);
}

static struct plan more_points(const char *depth)
{
	const struct workload *const first[] = { workloads[0], NULL };
	struct plan_request r = { .workload = first,
				  .size = "1",
				  .depth = depth,
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	design_pairs(&r.design);
	r.design.rounds = ROUNDS;
	r.design.processes = PROCESSES;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	return p;
}

/* Turns of the points that stay move up with them; each point's are its own, to the last round. */
Test(small_sweep_pairs, turns_stay_with_their_points)
{
	enum { ALL = 4 };
	static const bool stays[ALL] = { false, true, false, true };
	struct plan p = more_points("1,2,4,8");
	struct journal j;

	cr_assert(eq(int, p.n_points, ALL), "%d points", p.n_points);
	cr_assert(zero(int, journal_create(&j, &p, path, "env", "rift sweep")), "create");
	begin_replicate(&j, 0);
	begin_replicate(&j, PROCESSES);
	for (int i = 0; i < ALL; i++)
		for (int r = 0; r < ROUNDS; r++)
			for (int side = 0; side < 2; side++)
				add_visit_of(&j, side * PROCESSES, i, r,
					     10000 * (i + 1) + 1000 * (r + 1) + 100 * side);
	journal_keep_points(&j, stays);
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 2; i++)
			for (int n = 1; n <= ROUNDS; n++) {
				double ns = journal_first_turns_ns(&j, side * PROCESSES, i, n);
				double want = 10000 * (2 * i + 2) + 500 * (n + 1) + 100 * side;

				cr_assert(eq(dbl, ns, want), "side %d, point %d, %d turns: %g",
					  side, i, n, ns);
			}
	cr_assert(isnan(journal_first_turns_ns(&j, 1, 0, ROUNDS)), "not begun");
	cr_assert(isnan(journal_first_turns_ns(&j, 0, 0, 0)), "of none");
	journal_release(&j);
}

/*
 * Two workers that a point has ended: of that side it is deadly, in whichever processes they were.
 * It is known again when the session is gone on with.
 */
Test(small_sweep_pairs, a_point_is_deadly_to_its_side)
{
	enum { ALL = 4 };
	struct plan p = more_points("1,2,4,8");
	struct journal j;

	cr_assert(zero(int, journal_create(&j, &p, path, "env", "rift sweep")), "create");
	for (int i = 0; i < 2 * PROCESSES; i++)
		begin_replicate(&j, i);
	for (int n = 0; n < 4; n++) {
		/* point 2 of b, point 1 of a, point 1 of b in either process, point 2 of b again */
		static const int replicate[] = { 3, 1, 2, 3 }, point[] = { 2, 1, 1, 2 };

		cr_assert(zero(int, journal_failure(&j, replicate[n], point[n], "failed",
						    json_pack("{s:i}", "code", 9), false)),
			  "%d", n);
		cr_assert(eq(int, j.failures[3 * ALL + 2], 1 + (n == 3)), "%d", n);
		cr_assert(eq(int, journal_is_deadly(&j, 2, 2), n == 3), "%d", n);
	}
	for (int again = 0; again < 2; again++) {
		int sum = 0;

		for (int i = 0; i < 2 * PROCESSES * ALL; i++)
			sum += j.failures[i];
		cr_assert(eq(int, sum, 4), "%d", sum);
		for (int i = 0; i < 2 * PROCESSES; i++)
			for (int k = 0; k < ALL; k++)
				cr_assert(eq(int, journal_is_deadly(&j, i, k),
					     i >= PROCESSES && k == 2),
					  "%d of %d", k, i);
		if (!again) {
			journal_release(&j);
			cr_assert(zero(int, journal_open(&j, path)), "open");
		}
	}
	cr_assert(zero(int, journal_count(&j, POINT_FAILED)), "none is lost yet");
	cr_assert(
		zero(int, journal_failure(&j, 3, 2, "failed", json_pack("{s:i}", "code", 9), true)),
		"lost");
	cr_assert(zero(int,
		       journal_failure(&j, 1, 3, "skipped", json_pack("{s:i}", "code", 9), true)),
		  "lost");
	cr_assert(eq(int, journal_count(&j, POINT_FAILED), 1), "failed");
	cr_assert(eq(int, journal_count(&j, POINT_SKIPPED), 1), "skipped");
	cr_assert(eq(int, journal_count_failed(&j), 2), "both");
	cr_assert(eq(int, j.status[3 * ALL + 2], POINT_FAILED), "which");
	cr_assert(eq(int, j.status[1 * ALL + 3], POINT_SKIPPED), "which");
	journal_release(&j);
}

/* Where a pair's other side failed, a side is what it measured. */
Test(small_sweep_pairs, one_side_alone_stays_what_it_is)
{
	struct journal j;

	begin_session(&j, true);
	for (int r = 0; r < ROUNDS; r++)
		add_visit(&j, 0, r, slow_ns[r]);
	cr_assert(zero(int, journal_failure(&j, PROCESSES, 0, "error", json_object(), true)), "b");
	cr_assert(eq(dbl, j.total_ns[0], 10500), "%g", j.total_ns[0]);
	journal_release(&j);
}

/* ---- visits of two processes --------------------------------------------------------------- */

static int kept(const struct journal *j, int replicate)
{
	int n = 0;

	for (int r = 0; r < ROUNDS; r++)
		n += journal_visits(j, replicate, 0)[r] != NULL;
	return n;
}

Test(small_sweep_pairs, visits_of_both_are_gone_on_with)
{
	struct journal j;

	begin_session(&j, true);
	for (int r = 0; r < 3; r++)
		add_visit(&j, 0, r, 10000);
	for (int r = 0; r < 2; r++)
		add_visit(&j, PROCESSES, r, 10000);
	journal_release(&j);
	cr_assert(zero(int, journal_open(&j, path)), "open");
	cr_assert(eq(int, kept(&j, 0), 3), "%d of a", kept(&j, 0));
	cr_assert(eq(int, kept(&j, PROCESSES), 2), "%d of b", kept(&j, PROCESSES));
	/* to begin what is under way forgets nothing */
	cr_assert(zero(int, journal_begin(&j, 0)), "begin");
	cr_assert(zero(int, journal_begin(&j, PROCESSES)), "begin");
	cr_assert(eq(int, kept(&j, 0) + kept(&j, PROCESSES), 5), "all");
	journal_release(&j);
}

/* As a worker of one side has begun when the other one's comes. */
Test(small_sweep_pairs, the_beginning_of_one_leaves_the_visits_of_the_other)
{
	struct plan p = one_point(true);
	struct journal j;

	cr_assert(zero(int, journal_create(&j, &p, path, "env", "rift sweep")), "create");
	begin_replicate(&j, 0);
	add_visit(&j, 0, 0, 10000);
	begin_replicate(&j, PROCESSES);
	journal_release(&j);
	cr_assert(zero(int, journal_open(&j, path)), "open");
	cr_assert(eq(int, kept(&j, 0), 1), "%d", kept(&j, 0));
	journal_release(&j);
}

/* The first trailer of a pair leaves what the other side has under way. */
Test(small_sweep_pairs, the_end_of_one_leaves_the_visits_of_the_other)
{
	struct journal j;

	begin_session(&j, true);
	for (int r = 0; r < ROUNDS; r++)
		add_visit(&j, 0, r, 10000);
	add_visit(&j, PROCESSES, 0, 10000);
	cr_assert(zero(int, journal_trailer(&j, 0, json_object())), "trailer");
	journal_release(&j);
	cr_assert(zero(int, journal_open(&j, path)), "open");
	cr_assert(j.complete[0] && !j.complete[PROCESSES], "one is complete");
	cr_assert(eq(int, kept(&j, PROCESSES), 1), "%d", kept(&j, PROCESSES));
	journal_release(&j);
}

/* ---- who is next ---------------------------------------------------------------------------- */

Test(small_sweep_pairs, who_is_behind_is_next)
{
	static const struct {
		int x[3], y[3], want;
	} cases[] = {
		{ { 0, 0, 0 }, { 0, 0, 0 }, 0 },
		{ { 0, 0, 1 }, { 0, 0, 0 }, 1 },
		{ { 0, 1, 0 }, { 0, 0, 3 }, 1 },
		{ { 1, TURN_SET_UP, 0 }, { 0, TURN_PUT_AWAY, 0 }, 1 },
		{ { 0, TURN_SET_UP, 0 }, { 0, 0, 0 }, -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int order = turns_order(cases[i].x, cases[i].y, false);

		cr_assert(eq(int, order, cases[i].want), "%zu", i);
		cr_assert(eq(int, turns_order(cases[i].y, cases[i].x, false), -order), "%zu", i);
	}
}

Test(small_sweep_pairs, apart_who_has_begun_goes_on_to_the_end)
{
	static const int idle[] = { 2, TURN_SET_UP, 0 }, first[] = { 2, 0, 0 },
			 late[] = { 2, 7, 3 }, end[] = { 2, TURN_PUT_AWAY, 0 },
			 next[] = { 3, TURN_SET_UP, 0 };

	cr_assert(zero(int, turns_order(idle, idle, true)), "neither has begun");
	cr_assert(eq(int, turns_order(first, idle, true), -1), "first round");
	cr_assert(eq(int, turns_order(idle, late, true), 1), "a later round");
	cr_assert(eq(int, turns_order(end, idle, true), -1), "its end");
	cr_assert(eq(int, turns_order(next, idle, true), 1), "then the other one");
}

static struct plan two_of(double bytes, double free_bytes, bool pairs)
{
	struct plan p = one_point(pairs);

	for (int side = 0; side < 2; side++) {
		p.config[0].timing[side].device_bytes = bytes;
		p.free_bytes[side] = free_bytes;
	}
	return p;
}

Test(small_sweep_pairs, apart_is_what_does_not_fit_twice)
{
	static const struct {
		double bytes, free_bytes;
		bool pairs;
		int apart;
	} cases[] = {
		{ 10e9, 80e9, true, 0 },  { 40e9, 80e9, true, 1 }, { 60e9, 80e9, true, 1 },
		{ 60e9, 80e9, false, 0 }, { NAN, 80e9, true, 0 },  { 60e9, NAN, true, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct plan p = two_of(cases[i].bytes, cases[i].free_bytes, cases[i].pairs), again;
		json_t *o;

		cr_assert(eq(int, predict_apart(&p), cases[i].apart), "%zu", i);
		o = plan_json(&p);
		cr_assert(zero(int, plan_parse(&again, o, workloads, "")), "%zu", i);
		cr_assert(eq(int, again.config[0].apart, cases[i].apart), "%zu, read back", i);
		json_decref(o);
		plan_release(&p);
		plan_release(&again);
	}
}

/* In turns the ratio is that of turns; apart, that of medians. */
Test(small_sweep_pairs, apart_turns_are_not_beside_each_other)
{
	struct journal j;

	begin_session(&j, true);
	j.plan.config[0].apart = true;
	add_all(&j);
	cr_assert(eq(dbl, j.total_ns[0], 10500), "%g", j.total_ns[0]);
	cr_assert(eq(dbl, j.total_ns[PROCESSES], 10710), "%g", j.total_ns[PROCESSES]);
	journal_release(&j);
}

/* ---- a worker ------------------------------------------------------------------------------- */

struct said {
	int lines, turns, visits;
};

static int note_line(const json_t *o, void *arg)
{
	struct said *s = arg;

	s->lines++;
	s->turns += record_is(o, "turn");
	s->visits += record_is(o, "visit");
	return 0;
}

static void note_error(const char *line, void *arg)
{
	(void)arg;
	cr_log_info("%s", line);
}

/* Lets it say what it has to say until it waits for its turn once more. */
static void read_to_turn(struct child *c, struct said *s)
{
	int turns = s->turns;

	while (s->turns == turns) {
		bool ended = child_ended(c);

		cr_assert(zero(int, child_read(c, note_line, note_error, s)), "a line");
		cr_assert(s->turns > turns || !ended, "it has ended after %d turns", turns);
		child_wait(&c, 1, 20);
	}
}

/* A set-up and a visit of this plan take some ms. */
static void says_nothing(struct child *c, struct said *s)
{
	int lines = s->lines;

	usleep(300000);
	cr_assert(zero(int, child_read(c, note_line, note_error, s)), "a line");
	cr_assert(eq(int, s->lines, lines), "%d lines before its turn", s->lines - lines);
}

/* Its set-up and its first visit, beside which a process of the other side may be at work. */
Test(small_sweep_pairs, a_worker_waits_for_its_turn)
{
	char worker[4200];
	struct session s = { .lanes = 2 };
	struct lane *l = &s.lane[1];
	struct said said = { 0 };
	struct plan p = one_point(true);

	need_device();
	p.design.warmup_min_ns = p.design.warmup_max_ns = 1000000;
	snprintf(worker, sizeof(worker), "sh -c 'exec \"%s\" sweep-worker' --", rift());
	cr_assert(zero(int, journal_create(&s.journal, &p, path, worker, "rift sweep")), "create");
	*l = (struct lane){ .session = &s, .replicate = PROCESSES, .child = child_none() };
	cr_assert(zero(int, session_start_worker(l)), "start");
	read_to_turn(&l->child, &said);
	says_nothing(&l->child, &said);
	child_go(&l->child);
	read_to_turn(&l->child, &said);
	says_nothing(&l->child, &said);
	cr_assert(zero(int, said.visits), "visits before the first turn of a visit");
	child_go(&l->child);
	read_to_turn(&l->child, &said);
	child_release(&l->child);
	journal_release(&s.journal);
}

/* ---- two workers ----------------------------------------------------------------------------- */

/*
 * A command that notes in the file `pieces` where its worker begins a piece of work, as its job or
 * a turn is passed on to it, and where it has ended one, before it says so.
 */
static void write_noting(char command[80])
{
	FILE *out;

	snprintf(command, 80, "%s/noting", folder);
	out = fopen(command, "w");
	cr_assert(ne(ptr, out, NULL), "%s", command);
	fprintf(out,
		"#!/bin/sh\n"
		"cd '%s' || exit 1\n"
		"trap 'exit 0' TERM\n"
		"mkfifo told.$$\n"
		"{\n"
		"'%s' sweep-worker <told.$$ | while IFS= read -r line; do\n"
		"case $line in *'\"record\":\"turn\"'*) echo end >>pieces ;; esac\n"
		"printf '%%s\\n' \"$line\"\n"
		"done\n"
		"echo end >>pieces\n"
		"kill $$\n"
		"} &\n"
		"exec 3>told.$$\n"
		"while IFS= read -r line; do\n"
		"echo begin >>pieces\n"
		"printf '%%s\\n' \"$line\" >&3\n"
		"done\n"
		"wait\n",
		folder, rift());
	fclose(out);
	shell(NULL, "chmod +x '%s'", command);
}

/* Until both have ended in order. */
static void run_both(struct session *s)
{
	while (!s->lane[0].done || !s->lane[1].done) {
		struct lane *l = session_to_start(s), *ended;

		if (l)
			cr_assert(zero(int, session_start_worker(l)), "start");
		cr_assert(zero(int, session_attend(s, &ended)), "attend");
		if (!ended)
			continue;
		cr_assert(ne(ptr, ended->bye, NULL), "it was lost");
		child_release(&ended->child);
		json_decref(ended->bye);
		free(ended->alone_ns);
		ended->done = true;
	}
}

/* How many pieces of work there were, and how many of them were under way at a time at most. */
static int count_pieces(int *together)
{
	char name[96], line[16];
	int pieces = 0, at_work = 0;
	FILE *in;

	snprintf(name, sizeof(name), "%s/pieces", folder);
	in = fopen(name, "r");
	cr_assert(ne(ptr, in, NULL), "%s", name);
	*together = 0;
	while (fgets(line, sizeof(line), in)) {
		bool begins = !strcmp(line, "begin\n");

		pieces += begins;
		at_work += begins ? 1 : -1;
		*together = at_work > *together ? at_work : *together;
	}
	fclose(in);
	cr_assert(zero(int, at_work), "all have ended");
	return pieces;
}

/* Real workers, here both of side b, which is the one that has a command. */
Test(small_sweep_pairs, one_works_at_a_time)
{
	struct session s = { .lanes = 2, .patience_ns = 60e9 };
	struct plan p = one_point(true);
	char command[80];
	int together, pieces;

	need_device();
	write_noting(command);
	p.design.warmup_min_ns = p.design.warmup_max_ns = 1000000;
	s.policy = p.design.sync;
	cr_assert(zero(int, journal_create(&s.journal, &p, path, command, "rift sweep")), "create");
	s.watch = watch_open("");
	for (int i = 0; i < 2; i++) {
		s.lane[i] = (struct lane){ .session = &s,
					   .replicate = PROCESSES + i,
					   .child = child_none() };
		cr_assert(zero(int, journal_begin(&s.journal, PROCESSES + i)), "begin");
	}
	run_both(&s);
	/* of each its start, a set-up, its rounds and an end; and of one its rounds alone */
	pieces = count_pieces(&together);
	cr_assert(le(int, 2 * (3 + ROUNDS), pieces), "%d pieces", pieces);
	cr_assert(eq(int, together, 1), "%d at a time", together);
	watch_close(s.watch);
	for (int side = 0; side < 2; side++)
		json_decref(s.remarked[side]);
	journal_release(&s.journal);
}

/* ---- sweeps --------------------------------------------------------------------------------- */

#define SWEEP "sweep launch us=0,1 --depth 1,4 --mode stream --quick --processes 2 --warm-up 0.01 "

static int count_matches(const char *what)
{
	const char *text;

	shell(&text, "grep -o '%s' '%s' | wc -l", what, path);
	return atoi(text);
}

/* 4 points of 16 rounds, which both sides come to: that many turns in which they are level. */
Test(large_sweep_pairs, both_sides_take_turns_at_every_visit)
{
	const char *text;
	int turns = 0;

	cr_assert(zero(int, run_rift(ERR, &text, SWEEP "--against env --output '%s'", path)), "%s",
		  text);
	shell(&text, "sed -n 's/.*\"turns\":\\([0-9]*\\).*/\\1/p' '%s' | sort -n | head -n 1",
	      path);
	turns = atoi(text);
	cr_assert(le(int, 4 * 16, turns), "%d turns", turns);
	cr_assert(eq(int, count_matches("\"pairs\":true"), 1), "the design says so");
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", path)), "%s", text);
}

Test(large_sweep_pairs, apart_nobody_waits)
{
	const char *text;

	cr_assert(
		zero(int, run_rift(ERR, &text, SWEEP "--apart --against env --output '%s'", path)),
		"%s", text);
	cr_assert(zero(int, count_matches("\"turns\":")), "turns");
	cr_assert(zero(int, count_matches("\"pairs\":")), "pairs");
}

/* Side b says hello, is probed, and is then killed where it waits or measures: another one comes.
 */
Test(large_sweep_pairs, a_lost_worker_is_replaced_beside_the_other)
{
	const char *text;

	shell(NULL,
	      "cat >'%s/side' <<'E'\n#!/bin/sh\necho >>'%s/starts'\n"
	      "[ \"$(wc -l <'%s/starts')\" = 3 ] || exec \"$@\"\n"
	      "\"$@\" <&0 &\nsleep 0.5\nkill -KILL $!\nexit 1\nE\nchmod +x '%s/side'",
	      folder, folder, folder, folder);
	cr_assert(zero(int,
		       run_rift(ERR, &text, SWEEP "--rounds 50 --against '%s/side' --output '%s'",
				folder, path)),
		  "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", path)), "%s", text);
	cr_assert(ne(ptr, strstr(text, "16 points ok, 0 failed"), NULL), "%s", text);
	shell(&text, "wc -l <'%s/starts'", folder);
	cr_assert(eq(int, atoi(text), 5), "started %s times", text);
}

/* The 60 MiB that copies of 6 MiB take fit into 100 once, so that the second set-up would fail
 * while the first is there. */
Test(large_sweep_pairs, what_does_not_fit_twice_is_measured_apart)
{
	const char *text;
	struct journal j;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	setenv("RIFT_CPU_MEMORY_MIB", "100", 1);
	cr_assert(zero(int,
		       run_rift(ERR, &text,
				"sweep transfer bytes=4k,6M --depth 1 --mode stream --processes 2 "
				"--rounds 3 --warm-up 0.01 --quick --against env --output '%s'",
				path)),
		  "%s", text);
	cr_assert(zero(int, journal_read(&j, path)), "%s", path);
	cr_assert(not(j.plan.config[0].apart), "4k");
	cr_assert(j.plan.config[1].apart, "6M");
	cr_assert(eq(int, journal_count(&j, POINT_OK), j.replicates *j.plan.n_points),
		  "all points");
	journal_release(&j);
}

/* 50 us of a launch call are side b's own, though its processes run beside side a's. */
Test(large_sweep_pairs, a_cost_of_one_side_is_that_sides)
{
	const char *text;
	struct journal j;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	cr_assert(zero(int, run_rift(ERR, &text,
				     SWEEP "--against 'env RIFT_CPU_LAUNCH_NS=50000' --output '%s'",
				     path)),
		  "%s", text);
	cr_assert(zero(int, journal_read(&j, path)), "%s", path);
	for (int i = 0; i < PROCESSES * j.plan.n_points; i++) {
		double depth = (double)j.plan.point[i % j.plan.n_points].depth;
		double a_ns = j.total_ns[i], b_ns = j.total_ns[i + PROCESSES * j.plan.n_points];

		cr_assert(lt(dbl, 25000, (b_ns - a_ns) / depth), "%d: %g and %g", i, a_ns, b_ns);
	}
	journal_release(&j);
}

Test(small_sweep_pairs, apart_is_of_two_sides)
{
	const char *text;

	cr_assert(eq(int, run_rift(ERR, &text, "sweep --apart --dry-run"), 3), "%s", text);
	cr_assert(ne(ptr, strstr(text, "--against"), NULL), "%s", text);
}
