/*
 * predict.c - rift predict SESSION|TRACE --on SESSION: a workload or a program of A, priced on B.
 * validate.c has --validate.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/cmd/options.h"
#include "harness/fit/library.h"
#include "harness/fit/price.h"
#include "harness/fit/source.h"
#include "harness/probe/costs.h"
#include "harness/probe/stack_sources.h"
#include "harness/profile/program_price.h"
#include "harness/trial/trial.h"
#include "workloads/workload.h"

/* ---- the command line ------------------------------------------------------------------- */

struct predict_args {
	struct arguments given;
	const char *measured, *from_costs;
	struct word_list what_if;
	bool validate;
};

#define FIELD(name) offsetof(struct predict_args, name)

static const struct command_option options[] = {
	{ OPTION_ON, "take platform B's launch costs from this session, preferably of the workload "
		     "launch (default with --validate: the first SESSION)" },
	{ OPTION_FROM,
	  "take platform A's launch costs from this session, preferably of the workload launch: "
	  "B's time is then A's measured time plus B's extra launch cost (default: SESSION, if it "
	  "has launch)",
	  .without = "validate" },
	{ OPTION("measured", "FILE", option_text, FIELD(measured)),
	  "compare the prediction with this session of the same workload on B, or, for a TRACE, "
	  "with a trace of the same program there or its record of rift time under B",
	  .without = "validate" },
	{ OPTION("validate", NULL, option_flag, FIELD(validate)),
	  "instead predict the workloads of each SESSION on the platform where they were measured, "
	  "and show the error" },
	{ OPTION_COSTS,
	  "use these call costs of B (rift probe --output FILE) to predict copies, and in a TRACE "
	  "allocations and event records; needs --from-costs (default for a session: its workload "
	  "transfer)",
	  .without = "validate" },
	{ OPTION("from-costs", "FILE", option_text, FIELD(from_costs)),
	  "use these call costs of A; needs --costs", .without = "validate" },
	{ OPTION("what-if", "CHANGE", option_list, FIELD(what_if)),
	  "for a TRACE: predict this change: graphs, batch=N, pinned, pool, sync=KIND (spin, "
	  "yield, blocking, event, poll), merge=N, kernels=FACTOR or overlap; repeatable "
	  "(default: the first four, batch=4)",
	  .without = "validate" },
	{ OPTION_SIDE, "use this side of SESSION, if it has two (rift sweep --against); FILE:a or "
		       "FILE:b does the same, for the other sessions too" },
	{ OPTION_WORKLOAD,
	  "use this workload, if SESSION has several; add its parameters, as \"matmul n=256\", if "
	  "it was swept with several values (default: their defaults)",
	  .without = "validate" },
	{ OPTION_SYNC, "use this wait policy of all sessions, if one was swept with several" },
	{ OPTION_JSON, "print one JSON object" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "ok (with --validate: accepted or not)" },
	{ RIFT_FAILED_POINTS, "TRACE failed its self-check, so no prediction" },
	{ RIFT_USAGE,
	  "usage, a file that is not a complete session, or a trace without device times" },
	{ RIFT_NOT_COMPARABLE,
	  "--measured is of another workload or program; with --validate: sessions of different "
	  "devices" },
	{ 0 },
};

/* ---- sessions ----------------------------------------------------------------------------- */

static int same_workload(const struct grid *work, const struct grid *measured, const char *path)
{
	if (work->workload == measured->workload && !strcmp(work->others, measured->others))
		return 0;
	return complain(EXDEV, "--measured=%s: is of %s%s%s, the session of %s%s%s", path,
			measured->workload->name, *measured->others ? " " : "", measured->others,
			work->workload->name, *work->others ? " " : "", work->others);
}

/* What was asked, and what comes of it. */
struct predicted {
	const struct price_request *request;
	struct prices prices;
};

static void print(const void *found, FILE *out)
{
	const struct predicted *p = found;

	prices_print(&p->prices, p->request, out);
}

static json_t *json(const void *found)
{
	const struct predicted *p = found;

	return prices_json(&p->prices, p->request);
}

static void price(const struct arguments *a, const struct price_request *r)
{
	struct predicted p = { .request = r };

	price_make(&p.prices, r);
	show(a, &p, print, json);
	prices_release(&p.prices);
	note_cpu(a, session_is_cpu(r->work->j, r->work->side));
}

/* What is measured on B. Held against itself, blocks that say K are no test: r->measured tells. */
static int read_measured(struct source *measured, const struct predict_args *a,
			 struct price_request *r)
{
	const struct session_arg arg = session_option("--measured", a->measured);
	int err = source_grid(measured, &arg, a->given.workload, a->given.sync);

	if (err)
		return err;
	r->measured = source_same(r->work, &measured->grid) ? r->work : &measured->grid;
	return same_workload(r->work, &measured->grid, a->measured);
}

/* What copies cost on both platforms. */
struct copies_read {
	struct copy_paces a, b;
};

static int copies_of_file(struct copy_paces *out, const char *path)
{
	json_t *costs = NULL;
	int err = costs_read(path, &costs);

	if (!err)
		costs_copy_paces(out, costs);
	json_decref(costs);
	return err;
}

/* By --costs and --from-costs, else of the sessions of launches: those that they swept. */
static int read_copies(struct copies_read *c, const struct predict_args *a,
		       const struct source *from, const struct source *on)
{
	int err = a->from_costs ? copies_of_file(&c->a, a->from_costs)
				: copy_paces_of(&c->a, from->j, from->grid.side);

	if (err)
		return err;
	return a->given.costs ? copies_of_file(&c->b, a->given.costs)
			      : copy_paces_of(&c->b, on->j, on->grid.side);
}

/* Copies are what A's blocks hold beyond A's launches: why these are not at hand. */
static int refuse_costs(const struct price_request *r, const struct source *from,
			const struct source *on)
{
	const struct grid *work = r->work;

	if (work->nominal)
		return complain(EINVAL,
				"--costs and --from-costs: cannot be used: sizes of %s are kernel "
				"durations, and only its launches are predicted",
				work->workload->name);
	if (!from->grid.j)
		return complain(EINVAL, "--costs and --from-costs: a session needs A's launch "
					"costs too; give --from SESSION");
	if (!from->grid.nominal)
		return complain(EINVAL,
				"--costs and --from-costs: a session needs A's launch costs, but "
				"--from is of %s, whose sizes are not durations",
				from->grid.workload->name);
	CHECK(source_same(&from->grid, &on->grid), "launches of A");
	return complain(EINVAL, "--costs and --from-costs: a session needs A's launch costs, but "
				"those given are B's, from --on");
}

static int take_copies(struct price_request *r, struct copies_read *c, const struct predict_args *a,
		       const struct source *from, const struct source *on)
{
	int err;

	if (!r->from_measured)
		return a->given.costs ? refuse_costs(r, from, on) : 0;
	err = read_copies(c, a, from, on);
	r->copies_a = &c->a;
	r->copies_b = &c->b;
	return err;
}

/* Both or neither. */
static int refuse_half_costs(const struct predict_args *a)
{
	return !a->given.costs == !a->from_costs
		       ? 0
		       : complain(EINVAL, "--costs and --from-costs: must be given together, for B "
					  "and for A");
}

/* Launches and copies would both be priced by what a copy takes. */
static int refuse_no_launches(const struct grid *work, const struct workload *priced_by)
{
	if (!work->n_points || work->workload == priced_by ||
	    work->j->step[work->point[0].point].launches != 0)
		return 0;
	return complain(EINVAL,
			"--workload=%s: cannot predict: its steps launch no kernel; `rift compare` "
			"compares it with B's own samples",
			work->workload->name);
}

static int predict_work(const struct predict_args *a)
{
	const struct arguments *given = &a->given;
	const struct session_arg session = session_word(given, 0);
	const struct session_arg b = session_option("--on", given->on);
	const struct session_arg gap = session_option("--from", given->from);
	struct source work = { 0 }, on = { .before = &work }, from = { .before = &on };
	struct source measured = { .before = &from };
	struct price_request r = { .work = &work.grid, .b = &on.fit };
	struct copies_read copies;
	double library;
	int err = refuse_half_costs(a);

	if (!err)
		err = source_grid(&work, &session, given->workload, given->sync);
	/* groups of draws: A 0, B 1 */
	if (!err)
		err = source_platform(&on, &b, given->sync, 1);
	if (!err && given->from)
		err = source_platform(&from, &gap, given->sync, 0);
	else if (!err && work.grid.nominal) /* its own blocks tell what A adds to a kernel */
		err = fit_make_values(&work.fit, &work.grid);
	else if (!err && source_has_launch(work.j))
		err = source_platform(&from, &session, given->sync, 0);
	r.a = from.grid.j ? &from.fit : !err && work.grid.nominal ? &work.fit : NULL;
	/* on A itself that would be what was measured, and no test of the model */
	r.from_measured = !err && from.grid.j && from.grid.nominal && !work.grid.nominal &&
			  !source_same(&from.grid, &on.grid);
	if (!err)
		err = refuse_no_launches(&work.grid, on.grid.workload);
	if (!err)
		err = take_copies(&r, &copies, a, &from, &on);
	if (!err && r.from_measured && library_ratio(&library, &from.fit, &on.fit))
		r.library = &library;
	if (!err && a->measured)
		err = read_measured(&measured, a, &r);
	if (!err)
		price(given, &r);
	source_release(&measured);
	source_release(&from);
	source_release(&on);
	source_release(&work);
	return err;
}

/* ---- programs ----------------------------------------------------------------------------- */

/* Files that the price of a program is made of. */
struct program_sources {
	struct profile profile;
	struct source on, from, sync_b[SYNC_COUNT], sync_a[SYNC_COUNT];
	json_t *costs_b, *costs_a;
	struct price_sources prices;
	double measured_ns;
};

enum { WHAT_IFS_MAX = 16, BATCH = 4, BATCH_MAX = 1000000 };

static void print_program(const void *found, FILE *out)
{
	program_report_print(found, out);
}

static json_t *program_json(const void *found)
{
	return program_report_json(found);
}

/* Not refused, and re-timed: else nothing of it can be priced. */
static int read_trace(struct profile *p, const char *path)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	int err = profile_make(p, path, &rules, false);

	if (err)
		return err;
	if (!p->retimed)
		return complain(EINVAL, "%s: cannot predict: %s", text_shown(path).s,
				p->trace.device_times ? "the trace has no calibration"
						      : "the trace has no times of the device");
	if (p->trust == TRUST_REFUSED)
		complain(EINVAL,
			 "%s: cannot predict: the trace failed its self-check; run `rift profile "
			 "%s` for details",
			 text_shown(path).s, text_shown(path).s);
	return 0;
}

static int read_costs(struct program_sources *s, const struct predict_args *a)
{
	int err = refuse_half_costs(a);

	if (!err && a->given.costs)
		err = costs_read(a->given.costs, &s->costs_b);
	if (!err && a->from_costs)
		err = costs_read(a->from_costs, &s->costs_a);
	s->prices.costs_b = s->costs_b;
	s->prices.costs_a = s->costs_a;
	return err;
}

static const char *word_at(const json_t *words, size_t i)
{
	const char *word = json_string_value(json_array_get(words, i));

	return word ? word : "";
}

/* In which folder a program lies may differ from machine to machine. */
static bool is_same_program(const json_t *x, const json_t *y)
{
	if (json_array_size(x) != json_array_size(y))
		return false;
	for (size_t i = 0; i < json_array_size(x); i++) {
		const char *p = word_at(x, i), *q = word_at(y, i);

		if (strcmp(i ? p : basename(p), i ? q : basename(q)) != 0)
			return false;
	}
	return true;
}

static const json_t *program_of(const struct program_sources *s)
{
	return json_object_get(s->profile.trace.header, "program");
}

/* Of a record of rift time whose one layer is B. */
static int read_measured_trial(struct program_sources *s, const char *path)
{
	struct trial_findings f;
	struct trial t;
	int err = trial_read(&t, path);
	json_t *plan = err ? NULL : trial_plan_json(&t.plan);

	if (!err && !is_same_program(json_object_get(plan, "program"), program_of(s)))
		err = complain(EXDEV, "--measured=%s: is of %s, the trace of %s",
			       text_shown(path).s, trial_program_name(&t.plan).s,
			       s->profile.trace.program);
	if (!err && t.plan.sides != 2)
		err = complain(EINVAL,
			       "--measured=%s: has %d sides beside the program by itself; give a "
			       "record of one: rift time --layer LAYER",
			       text_shown(path).s, t.plan.sides - 1);
	if (!err) {
		trial_findings_init(&f, &t, NAN);
		s->measured_ns = 1e9 * f.side[1].wall_s.value;
		trial_findings_release(&f);
	}
	if (!err && !isfinite(s->measured_ns))
		err = complain(EINVAL, "--measured=%s: no round is whole, or its program is wrong",
			       text_shown(path).s);
	json_decref(plan);
	trial_release(&t);
	return err;
}

/* The median of runs without a recorder, of a trace that was recorded on B. */
static int read_measured_program(struct program_sources *s, const char *path)
{
	struct trace t;
	int err;

	if (trial_file_is(path))
		return read_measured_trial(s, path);
	err = trace_read(&t, path);
	if (!err && !*t.program)
		err = complain(EXDEV,
			       "--measured=%s: is anonymous, so it may be of another program; give "
			       "a trace with names",
			       text_shown(path).s);
	if (!err && !is_same_program(json_object_get(t.header, "program"), program_of(s)))
		err = complain(EXDEV, "--measured=%s: is of %s, the trace of %s",
			       text_shown(path).s, t.program, s->profile.trace.program);
	if (!err && !t.unprofiled)
		err = complain(EINVAL, "--measured=%s: has no run without the recorder",
			       text_shown(path).s);
	if (!err)
		s->measured_ns = median_of(t.unprofiled_wall_ns, t.unprofiled);
	trace_release(&t);
	return err;
}

static int has_policy(const struct session_arg *arg, enum wait_policy sync, bool *has)
{
	struct journal j = JOURNAL_NONE;
	char *path;
	int side, err = session_word_parse(arg, &path, &side);

	if (!err)
		err = journal_read(&j, path);
	*has = !err && plan_has_policy(&j.plan, sync);
	journal_release(&j);
	free(path);
	return err;
}

/* Both platforms' launches by another policy. A's session may lack it: then B alone is priced. */
static int read_sync(struct program_sources *s, const struct predict_args *a, enum wait_policy sync)
{
	const struct session_arg b = session_option("--on", a->given.on);
	const struct session_arg from = session_option("--from", a->given.from);
	bool has = false;
	int err;

	if (s->prices.sync_b[sync])
		return 0;
	err = has_policy(&b, sync, &has);
	if (!err && !has)
		err = complain(EINVAL,
			       "--what-if=sync=%s: %s was not swept with it; use rift sweep launch "
			       "--sync %s,... and name the program's own policy with --sync",
			       sync_names[sync], text_shown(b.word).s, sync_names[sync]);
	if (!err)
		err = source_platform(&s->sync_b[sync], &b, sync_names[sync], 1);
	s->prices.sync_b[sync] = &s->sync_b[sync].fit;
	if (err || !a->given.from)
		return err;
	err = has_policy(&from, sync, &has);
	if (err || !has)
		return err;
	s->prices.sync_a[sync] = &s->sync_a[sync].fit;
	return source_platform(&s->sync_a[sync], &from, sync_names[sync], 0);
}

static int read_program(struct program_sources *s, const struct predict_args *a)
{
	const struct session_arg b = session_option("--on", a->given.on);
	const struct session_arg from = session_option("--from", a->given.from);
	int err;

	if (a->given.workload || a->given.side != SIDE_ANY)
		return complain(EINVAL, "--workload and --side need a session, not a trace");
	err = read_trace(&s->profile, a->given.words.word[0]);
	/* sessions take seconds to read */
	if (!err && s->profile.trust == TRUST_REFUSED)
		err = RIFT_FAILED_POINTS;
	/* groups of draws: A 0, B 1 */
	if (!err)
		err = source_platform(&s->on, &b, a->given.sync, 1);
	if (!err && a->given.from)
		err = source_platform(&s->from, &from, a->given.sync, 0);
	s->prices.b = &s->on.fit;
	s->prices.a = a->given.from ? &s->from.fit : NULL;
	if (!err)
		err = read_costs(s, a);
	if (!err && a->measured)
		err = read_measured_program(s, a->measured);
	return err;
}

static int refuse_remedy(const char *text)
{
	struct suggestion near = suggest_start(text);

	for (int i = 0; remedy_names[i]; i++)
		suggest_offer(&near, remedy_names[i]);
	return complain(EINVAL,
			"--what-if=%s: must be graphs, batch=N or merge=N (2 to %d), pinned, pool, "
			"sync=KIND (spin, yield, blocking, event or poll), kernels=FACTOR (0.01 to "
			"100) or overlap%s",
			text_shown(text).s, BATCH_MAX, suggest_hint(&near).s);
}

static int parse_batch(struct remedy *out, const char *value)
{
	char *end;

	errno = 0;
	out->n = strtol(value, &end, 10);
	return errno || *end || end == value || out->n < 2 || out->n > BATCH_MAX ? -EINVAL : 0;
}

static int parse_kind(struct remedy *out, const char *value)
{
	for (int i = 0; sync_names[i]; i++)
		if (!strcmp(sync_names[i], value)) {
			out->sync = (enum wait_policy)i;
			return 0;
		}
	return -EINVAL;
}

static int parse_factor(struct remedy *out, const char *value)
{
	char *end;

	out->factor = strtod(value, &end);
	return *end || end == value || !(out->factor >= 0.01 && out->factor <= 100) ? -EINVAL : 0;
}

static int parse_value(struct remedy *out, const char *value)
{
	switch (out->kind) {
	case REMEDY_SYNC:
		return parse_kind(out, value);
	case REMEDY_KERNELS:
		return parse_factor(out, value);
	default:
		return parse_batch(out, value);
	}
}

static bool has_value(int remedy)
{
	return remedy == REMEDY_BATCH || remedy == REMEDY_SYNC || remedy == REMEDY_MERGE ||
	       remedy == REMEDY_KERNELS;
}

/* "graphs", "batch=4", "sync=blocking" */
static int parse_remedy(struct remedy *out, const char *text)
{
	size_t n = strcspn(text, "=");
	int i = 0, err = 0;

	while (remedy_names[i] &&
	       (strlen(remedy_names[i]) != n || strncmp(remedy_names[i], text, n) != 0))
		i++;
	*out = (struct remedy){ .kind = (enum remedy_kind)i };
	if (!remedy_names[i] || has_value(i) != (text[n] == '='))
		return refuse_remedy(text);
	if (text[n])
		err = parse_value(out, text + n + 1);
	return err ? refuse_remedy(text) : 0;
}

/* Those asked for, else all that need no word of what is wanted but of how many. */
static int choose_remedies(struct remedy *out, int *n, const struct word_list *asked)
{
	int err = 0;

	if (asked->n > WHAT_IFS_MAX)
		return complain(EINVAL, "--what-if: must be given at most %d times", WHAT_IFS_MAX);
	for (*n = 0; *n < asked->n && !err; ++*n)
		err = parse_remedy(&out[*n], asked->word[*n]);
	for (int i = 0; !asked->n && i < REMEDY_SYNC; i++)
		out[(*n)++] = (struct remedy){ .kind = (enum remedy_kind)i, .n = BATCH };
	return err;
}

static void price_program(const struct predict_args *a, const struct program_sources *s,
			  struct remedy *remedy, int n)
{
	struct program_price price;
	const struct program_report report = { &price, remedy, n, s->measured_ns, a->measured };

	program_price_make(&price, &s->profile, &s->prices);
	for (int i = 0; i < n; i++)
		program_price_remedy(&price, &remedy[i]);
	show(&a->given, &report, print_program, program_json);
	program_price_release(&price);
	note_cpu(&a->given, s->profile.trace.is_cpu);
}

static int predict_program(const struct predict_args *a)
{
	struct program_sources s = { .measured_ns = NAN, .from.before = &s.on };
	struct remedy remedy[WHAT_IFS_MAX];
	int n = 0, err = choose_remedies(remedy, &n, &a->what_if);

	if (!err)
		err = read_program(&s, a);
	for (int i = 0; i < n && !err; i++)
		if (remedy[i].kind == REMEDY_SYNC)
			err = read_sync(&s, a, remedy[i].sync);
	if (!err)
		price_program(a, &s, remedy, n);
	json_decref(s.costs_a);
	json_decref(s.costs_b);
	for (int i = 0; i < SYNC_COUNT; i++) {
		source_release(&s.sync_a[i]);
		source_release(&s.sync_b[i]);
	}
	source_release(&s.from);
	source_release(&s.on);
	profile_release(&s.profile);
	return err;
}

/* ---- the command -------------------------------------------------------------------------- */

#define WRITE "write rift predict SESSION --on SESSION, the second of the platform to predict for"
#define TAKES "one session or trace, or up to 16 sessions with --validate"

static int predict(void *arguments)
{
	const struct predict_args *a = arguments;

	if (a->validate)
		return predict_validate(&a->given);
	if (a->given.words.n > 1)
		return complain(EINVAL, "unexpected argument '%s': rift predict takes " TAKES,
				text_shown(a->given.words.word[1]).s);
	if (!a->given.on)
		return complain(EINVAL, "rift predict: no --on; " WRITE);
	if (trace_is(a->given.words.word[0]))
		return predict_program(a);
	if (a->what_if.n)
		return complain(EINVAL, "--what-if needs a trace (rift profile), not a session");
	return predict_work(a);
}

const struct command command_predict = {
	.name = "predict",
	.usage = "SESSION|TRACE --on SESSION",
	.line = "predict a workload or program on another platform",
	.words = "SESSION --on SESSION\nTRACE --on SESSION\n--validate SESSION... [--on SESSION]",
	.doc = "Predicts how long the samples of a workload that was swept on platform A would "
	       "take "
	       "on platform B, whose launch costs come from another session. Kernels are assumed "
	       "to last as long on both. In a session with two sides, this predicts side a with "
	       "the launch costs of side b and compares with what was measured there: rift predict "
	       "FILE:a --on FILE:b --measured FILE:b.\n\nFor a TRACE (rift profile) it predicts "
	       "how long the whole program would take on platform B, where its time goes there, "
	       "and which change would help.\n\nWith --validate it predicts every sample of the "
	       "swept workloads from the launch costs of the same platform and the times of the "
	       "workload's own kernels, and shows the error. The first session must have the "
	       "workload launch, or --on must name one that has. Blocks that gave the kernels' "
	       "times are left out.",
	.exits = exits,
	.options = options,
	.takes = TAKES,
	.most = VALIDATE_SESSIONS_MAX,
	.missing = "no session; " WRITE,
	.size = sizeof(struct predict_args),
	.run = predict,
};
