/* share.c - rift share WORKLOAD...: several clients on one GPU. */
#include "harness/share/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/picture.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/platform/enter.h"
#include "harness/measure/run.h"
#include "harness/share/across.h"
#include "harness/share/findings.h"
#include "harness/share/promises.h"
#include "harness/share/share_chart.h"
#include "harness/share/share_fault.h"
#include "harness/share/share_file.h"

/* ---- the command line --------------------------------------------------------------------- */

/* Options with values, as parameter rows: parsed and refused like all others. */
struct share_values {
	int64_t windows, repetitions, starts, depth, seed;
	double window_s, patience_s;
	int mode, sync, fault;
};

static const char *const modes[] = { "stream", "graph", "fused", NULL };

#define ROW(name, kind, f, unit, def, lo, hi, choices)                                             \
	{                                                                                          \
		name, kind, offsetof(struct share_values, f), unit, def, lo, hi, choices, "",      \
			NULL, NULL, false                                                          \
	}

static const struct param rows[] = {
	ROW("windows", PARAM_INT, windows, "windows", "2", 1, 100, NULL),
	ROW("repetitions", PARAM_INT, repetitions, "repetitions", "", 1, 10, NULL),
	ROW("starts", PARAM_INT, starts, "starts", "", 1, 10, NULL),
	ROW("window", PARAM_REAL, window_s, "s", "0.5", 0.01, 60, NULL),
	ROW("depth", PARAM_SIZE, depth, "steps", "1", 1, RUN_DEPTH_MAX, NULL),
	ROW("seed", PARAM_INT, seed, "", "1", 0, 4294967295.0, NULL),
	ROW("patience", PARAM_REAL, patience_s, "s", "60", 1, 3600, NULL),
	ROW("mode", PARAM_CHOICE, mode, "", "", 0, 0, modes),
	ROW("sync", PARAM_CHOICE, sync, "", "", 0, 0, sync_names),
	ROW("fault", PARAM_CHOICE, fault, "", "none", 0, 0, share_fault_names),
	PARAM_END,
};

struct share_args {
	struct arguments given;
	struct share_values values;
	struct word_list with, layers_of, from;
	const char *clients, *arms, *allow, *plot, *resume;
	bool dry_run, quick;
};

#define FIELD(name) offsetof(struct share_args, name)

static const struct command_option options[] = {
	{ OPTION("clients", "N,N,...", option_once, FIELD(clients)),
	  "measure with these numbers of clients (default: 1,2,4)" },
	{ OPTION("arms", "ARM,ARM,...", option_once, FIELD(arms)),
	  "compare these sharing methods: processes, mps, remote, remote+mps, remote+shared, "
	  "remote-shared, streams, serial (default: all but remote+shared)",
	  .without = "allow" },
	{ OPTION("allow", "LIMITS", option_once, FIELD(allow)),
	  "measure whether a limit holds, instead of sharing methods: compute=30% (share of the "
	  "device's time that each client under --layer should get), memory=8G (that it may take), "
	  "or both with a comma" },
	{ OPTION_LAYER,
	  "run clients under this layer, which is to limit them as --allow says; repeatable, each "
	  "further layer inside the last; {client} in it stands for the client's number",
	  .with = "allow" },
	{ OPTION("with", "WORKLOAD", option_list, FIELD(with)),
	  "give clients alternately the first workload and this one, with its name=value in one "
	  "argument; repeatable for a third" },
	{ OPTION("layer-of", "CLIENT=LAYER", option_list, FIELD(layers_of)),
	  "run only CLIENT (1 is the first) under LAYER, which `rift layer` lists, if there are "
	  "other clients; repeatable",
	  .without = "allow" },
	{ OPTION("quick", NULL, option_flag, FIELD(quick)),
	  "take a first look: 1 and 2 clients, 3 repetitions of windows of 0.2 s, one start; too "
	  "few to show that a client is treated unfairly; with --allow: 1 client, windows of 2 s" },
	{ OPTION_ROW("mode", "stream|graph|fused"), "submit steps this way, as in rift run" },
	{ OPTION_ROW("depth", "N"),
	  "let a client enqueue N steps before it waits for them (default: 1)",
	  .without = "allow" },
	{ OPTION_ROW("sync", "KIND"),
	  "let clients wait for their steps by spin, yield, blocking, event or poll, as in rift "
	  "run (default: spin, CPU device: yield)" },
	{ OPTION_ROW("window", "SECONDS"),
	  "count steps in windows of this length (default: 0.5, with --allow 8; longer for long "
	  "steps)" },
	{ OPTION_ROW("windows", "N"), "count N windows per repetition (default: 2)",
	  .without = "allow" },
	{ OPTION_ROW("repetitions", "N"),
	  "measure N repetitions, throughout which clients keep running (default: as many as it "
	  "takes to show that a client is treated unfairly: 6 for 2 or 3 clients, 7 for 4 to 6)",
	  .without = "allow" },
	{ OPTION_ROW("starts", "N"),
	  "start each configuration's clients N times, each for a part of the repetitions; with 5 "
	  "starts or more, intervals are over starts, else over windows (default: as many as "
	  "repetitions by default, at most --repetitions; with --allow 5)" },
	{ OPTION_ROW("fault", "none|crash|kill|hang|memory"),
	  "then fail each configuration's first client: illegal address, kill -9, 10 s kernel, all "
	  "memory; show which others it hurts",
	  .without = "allow" },
	{ OPTION_ROW("seed", "N"), "seed the order of configurations (default: 1)" },
	{ OPTION_ROW("patience", "SECONDS"),
	  "count a client as lost if it is silent for longer (default: 60)" },
	{ OPTION_OUTPUT("FILE", option_file),
	  "write the record to this file (default: results/TIME-share-WORKLOAD.jsonl)" },
	{ OPTION("resume", "FILE", option_once, FIELD(resume)),
	  "continue an unfinished record, NAME.jsonl.part, which holds all other settings" },
	{ OPTION("from", "FILE", option_list, FIELD(from)),
	  "measure nothing; show the tables and charts of this record; repeatable: shows which "
	  "client hurts which, over all records" },
	{ OPTION("dry-run", NULL, option_flag, FIELD(dry_run)),
	  "only print the configurations and how long they take" },
	{ OPTION("plot", "DIR", option_folder, FIELD(plot)),
	  "also draw charts in this folder with gnuplot (PNG, SVG, data and scripts)" },
	{ OPTION_JSON, "print one JSON object with all results" },
	{ OPTION_QUIET, "print no progress and no remarks" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "measured; configurations not available here are `not run`; with --allow: what "
		   "is allowed holds" },
	{ RIFT_CHECK_FAILED, "the check of a client failed; with --allow: clients get more than "
			     "that, or less" },
	{ RIFT_FAILED_POINTS, "a client was lost: its configuration has no results; with --allow: "
			      "inconclusive" },
	{ RIFT_USAGE, "usage, bad input or, with --plot, no picture" },
	{ RIFT_NO_DEVICE, EXIT_USUAL },
	{ RIFT_INTERRUPTED, "interrupted; --resume continues" },
	{ 0 },
};

/* ---- the plan ------------------------------------------------------------------------------ */

static int take_counts(struct share_plan *p, const char *text)
{
	const char *at = text;

	do {
		char *end;
		long n = strtol(at, &end, 10);

		if (end == at || (*end && *end != ',') || n < 1 || n > SHARE_CLIENTS_MAX)
			return complain(EINVAL, "--clients=%s: give numbers from 1 to %d: 1,2,4",
					text_shown(text).s, SHARE_CLIENTS_MAX);
		if (p->counts && n <= p->clients[p->counts - 1])
			return complain(EINVAL, "--clients=%s: give each number once, in order",
					text_shown(text).s);
		if (p->counts == SHARE_COUNTS_MAX)
			return complain(EINVAL, "--clients=%s: more than %d numbers",
					text_shown(text).s, SHARE_COUNTS_MAX);
		p->clients[p->counts++] = (int)n;
		at = end + (*end == ',');
		if (*end == ',' && !*at)
			return complain(EINVAL, "--clients=%s: ends with a comma",
					text_shown(text).s);
	} while (*at);
	return 0;
}

static int take_arms(struct share_plan *p, const char *text)
{
	char *copy = strdup(text), *rest = copy, *name;
	int arm = 0;

	CHECK(copy, "memory of arms");
	while (arm >= 0 && (name = strsep(&rest, ","))) {
		arm = share_arm_find(name);
		if (arm == ARM_LIMITED)
			arm = complain(EINVAL, "--arms: limited needs --allow instead");
		else if (arm >= 0 && p->arm[arm])
			arm = complain(EINVAL, "--arms: %s is given twice", name);
		if (arm >= 0)
			p->arm[arm] = true;
	}
	free(copy);
	return arm < 0 ? arm : 0;
}

/* "myocyte cells=32" */
static int take_with(struct share_plan *p, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word[SHARE_WORDS_MAX], *each;
	int n = 0, err = 0;

	CHECK(copy, "memory of a workload");
	while (n < SHARE_WORDS_MAX && (each = strsep(&rest, " \t")))
		if (*each)
			word[n++] = each;
	if (!n)
		err = complain(EINVAL, "--with: needs a workload");
	else if (rest)
		err = complain(EINVAL, "--with: a workload has %d words at most", SHARE_WORDS_MAX);
	else if (p->mixes == SHARE_MIX_MAX)
		err = complain(EINVAL, "--with: more than %d workloads", SHARE_MIX_MAX);
	else
		err = share_workload_parse(&p->mix[p->mixes++], word, n);
	free(copy);
	return err;
}

/* "2=emulate launch=20" */
static int take_layer_of(struct share_plan *p, char *text)
{
	char *end, *command;
	long client = strtol(text, &end, 10);
	int err;

	if (end == text || *end != '=' || client < 1 || client > SHARE_CLIENTS_MAX)
		return complain(EINVAL,
				"--layer-of=%s: give CLIENT=LAYER, CLIENT from 1 to %d: "
				"'2=emulate call=5'",
				text_shown(text).s, SHARE_CLIENTS_MAX);
	if (p->layer_of[client - 1])
		return complain(EINVAL, "--layer-of: client %ld has one already", client);
	end++;
	err = layer_command(&end, 1, &command);
	if (!err && layer_texts_name_secret(&end, 1))
		err = complain(EINVAL,
			       "--layer-of: cannot name a secret, as the record would keep it");
	free(command);
	p->layer_of[client - 1] = end;
	return err;
}

static int take_layers_of(struct share_plan *p, const struct word_list *layers)
{
	int most = p->clients[p->counts - 1], err = 0;

	for (int i = 0; i < layers->n && !err; i++)
		err = take_layer_of(p, layers->word[i]);
	for (int i = most; i < SHARE_CLIENTS_MAX && !err; i++)
		if (p->layer_of[i])
			err = complain(EINVAL, "--layer-of: there are %d clients at most, not %d",
				       most, i + 1);
	return err;
}

/* Do all workloads allow this mode and depth? */
static int check_limits(const struct share_plan *p, int mode)
{
	int err = 0;

	for (int i = 0; i < p->mixes && !err; i++) {
		const struct workload *w = p->mix[i].workload;
		struct limits limits;
		const char *why;

		err = workload_limits(w, p->mix[i].opts, &limits);
		why = p->mode ? mode_refused(w, &limits, (enum mode)mode) : NULL;
		if (!err && limits.device_refused)
			err = complain(ENODEV, "%s does not run on this device: %s", w->name,
				       limits.device_refused);
		if (!err && why)
			err = complain(EINVAL, "--mode=%s: %s refuses it: %s", p->mode, w->name,
				       why);
		if (!err && limits.depth_max && p->depth > limits.depth_max)
			err = complain(EINVAL, "--depth=%ld: %s allows at most %ld: %s",
				       (long)p->depth, w->name, (long)limits.depth_max,
				       limits.depth_why ? limits.depth_why : "no reason given");
	}
	return err;
}

static bool is_given(const struct share_args *a, const char *row)
{
	return a->given.rows.given[params_find(rows, row, strlen(row))];
}

static int check_fault(const struct share_plan *p)
{
	const char *missing = share_fault_missing(p->fault, sync_default() == SYNC_YIELD);

	if (missing)
		return complain(ENODEV, "--fault=%s: cannot be tried here: %s",
				share_fault_names[p->fault], missing);
	if (p->fault != FAULT_NONE && p->clients[p->counts - 1] < 2)
		return complain(EINVAL, "--fault: takes 2 clients or more");
	return 0;
}

/* What is not given: as many as verdicts take, of the largest set. */
static int take_starts(struct share_plan *p)
{
	int needed = share_fairness_needs(p->clients[p->counts - 1]);

	if (!p->repetitions)
		p->repetitions = needed;
	if (!p->starts)
		p->starts = p->repetitions < needed ? p->repetitions : needed;
	if (p->starts > p->repetitions)
		return complain(EINVAL, "--starts=%d: is more than --repetitions=%d", p->starts,
				p->repetitions);
	return 0;
}

/* "emulate compute=30": the layers are looked at, and kept as they are. */
static int take_layers(struct share_allow *allow, const struct word_list *layers)
{
	char *command;
	int err;

	if (layers->n > ALLOW_LAYERS_MAX)
		return complain(EINVAL, "--layer: more than %d layers", ALLOW_LAYERS_MAX);
	if (!layers->n && allow->compute > 0)
		return complain(EINVAL, "--allow compute=: needs --layer, as the share is that of "
					"what clients get without the layer");
	if (!layers->n)
		return 0;
	err = layer_command(layers->word, layers->n, &command);
	for (int i = 0; i < layers->n; i++)
		allow->layer[allow->layers++] = layers->word[i];
	if (!err && layer_texts_name_secret(layers->word, layers->n))
		err = complain(EINVAL,
			       "--layer: cannot name a secret, as the record would keep it");
	free(command);
	return err;
}

/* Five starts are the fewest that have intervals; each has a window of either way of waiting. */
static int take_allow(struct share_plan *p, const struct share_args *a)
{
	int err = allow_parse(&p->allow, a->allow);

	if (err)
		return err;
	p->arm[ARM_LIMITED] = true;
	p->window_s = is_given(a, "window") ? p->window_s : a->quick ? 2 : 8;
	p->starts = p->starts ? p->starts : 5;
	p->repetitions = p->starts;
	p->windows = TIMELINE_HOWS;
	if (p->window_s < 4 * TIMELINE_BIN_NS / 1e9)
		return complain(EINVAL, "--window=%g: must be 0.04 or longer with --allow",
				p->window_s);
	return take_layers(&p->allow, &a->given.layers);
}

/* What is not given. */
static void be_quick(struct share_plan *p, const struct share_args *a)
{
	if (!is_given(a, "window"))
		p->window_s = 0.2;
	if (!p->repetitions)
		p->repetitions = p->starts > 3 ? p->starts : 3;
	if (!p->starts)
		p->starts = 1;
}

static const char *default_counts(const struct share_args *a)
{
	if (a->clients)
		return a->clients;
	return a->allow ? (a->quick ? "1" : "1,2") : (a->quick ? "1,2" : "1,2,4");
}

static int make_plan(struct share_plan *p, const struct share_args *a)
{
	const struct share_values *v = &a->values;
	int err;

	*p = (struct share_plan){ .seed = (uint64_t)v->seed,
				  .window_s = v->window_s,
				  .windows = (int)v->windows,
				  .repetitions = (int)v->repetitions,
				  .starts = (int)v->starts,
				  .mode = is_given(a, "mode") ? modes[v->mode] : NULL,
				  .sync = is_given(a, "sync") ? sync_names[v->sync] : NULL,
				  .depth = v->depth,
				  .fault = (enum share_fault)v->fault };
	if (a->quick && !a->allow)
		be_quick(p, a);
	err = share_workload_parse(&p->mix[p->mixes++], a->given.words.word, a->given.words.n);
	for (int i = 0; i < a->with.n && !err; i++)
		err = take_with(p, a->with.word[i]);
	if (!err)
		err = take_counts(p, default_counts(a));
	if (!err)
		err = a->allow ? take_allow(p, a) : take_starts(p);
	if (!err && a->arms)
		err = take_arms(p, a->arms);
	for (int i = 0; i < ARMS && !a->arms && !a->allow; i++)
		p->arm[i] = i != ARM_REMOTE_ONE && i != ARM_LIMITED;
	if (!err)
		err = take_layers_of(p, &a->layers_of);
	if (!err)
		err = check_limits(p, v->mode);
	return err ? err : check_fault(p);
}

/* ---- output ------------------------------------------------------------------------------- */

static void print(const void *found, FILE *out)
{
	share_print(found, out);
}

static json_t *json(const void *found)
{
	return share_json(found);
}

static void print_plan(const void *found, FILE *out)
{
	share_dry_print(found, out);
}

static json_t *plan_json(const void *found)
{
	return share_dry_json(found);
}

static int draw_promises(const struct promises *all, const struct share_args *a)
{
	struct picture p;
	int err;

	if (!a->plot)
		return 0;
	err = promises_chart_write(&p, all, a->plot);
	if (!err)
		err = show_picture(&a->given, a->plot, &p, 0);
	picture_release(&p);
	return err;
}

static int show_promises(const struct share_args *a)
{
	struct promises *all = malloc(sizeof(*all));
	int err;

	CHECK(all, "memory of records");
	err = promises_read(all, a->from.word, a->from.n);
	if (!err) {
		show(&a->given, all, promises_print, promises_json);
		err = draw_promises(all, a);
		note_cpu(&a->given, share_is_cpu(&all->record[0]));
		err = err ? err : promises_exit_code(all);
	}
	promises_release(all);
	free(all);
	return err;
}

/* The chart of one record is that of several; it is read from its file. */
static int draw_promise(const struct share *s, const struct share_args *a)
{
	struct promises *all = malloc(sizeof(*all));
	char *path = s->file.path;
	int err;

	CHECK(all, "memory of records");
	err = promises_read(all, &path, 1);
	err = err ? err : draw_promises(all, a);
	promises_release(all);
	free(all);
	return err;
}

static int draw(const struct share *s, const struct share_args *a)
{
	struct picture p[SHARE_CHARTS];
	int err;

	if (!a->plot)
		return 0;
	if (share_plan_has_promise(&s->plan))
		return s->plan.allow.compute > 0 ? draw_promise(s, a) : 0;
	err = share_charts_write(p, s, a->plot);
	for (int i = 0; i < SHARE_CHARTS && !err; i++)
		err = show_picture(&a->given, a->plot, &p[i], 0);
	share_charts_release(p);
	return err;
}

static int show_all(const struct share *s, const struct share_args *a)
{
	int err;

	show(&a->given, s, print, json);
	err = draw(s, a);
	note_cpu(&a->given, share_is_cpu(s));
	if (!err)
		err = share_plan_has_promise(&s->plan) ? promise_exit_code(s) : share_exit_code(s);
	return err;
}

/* ---- the command -------------------------------------------------------------------------- */

static int begin(struct share *s, const struct share_args *a)
{
	char path[4096], what[64];
	int err = make_plan(&s->plan, a);

	if (err)
		return err;
	if (a->dry_run) {
		share_init(s);
		show(&a->given, s, print_plan, plan_json);
		return 0;
	}
	snprintf(what, sizeof(what), "share-%s", a->given.words.word[0]);
	err = choose_output(&a->given, what, path, sizeof(path));
	return err ? err : share_create(s, path);
}

static int measure(struct share *s, const struct share_args *a)
{
	int err;

	if (!a->given.quiet)
		share_plan_print(s, stderr);
	err = share_measure(s, a->values.patience_s);
	if (err)
		share_abandon(s);
	if (err == -EINTR && !s->platform)
		complain(EINTR, "interrupted; nothing was measured");
	else if (err == -EINTR)
		complain(EINTR, "interrupted; rift share --resume %s.part continues", s->file.path);
	if (!err && !a->given.quiet)
		fprintf(stderr, "%s\n", s->file.path);
	return err;
}

/* The first option given that a record says already; NULL: none is. */
static const char *said_twice(const struct share_args *a)
{
	for (int i = 0; rows[i].name; i++)
		if (a->given.rows.given[i] && strcmp(rows[i].name, "patience") != 0)
			return rows[i].name;
	return a->quick		 ? "quick"
	       : a->clients	 ? "clients"
	       : a->arms	 ? "arms"
	       : a->allow	 ? "allow"
	       : a->with.n	 ? "with"
	       : a->layers_of.n	 ? "layer-of"
	       : a->given.output ? "output"
	       : a->dry_run	 ? "dry-run"
				 : NULL;
}

static int check_words(const struct share_args *a)
{
	bool from = a->from.n, resume = a->resume;

	if (from && resume)
		return complain(EINVAL, "--from and --resume: give one of them");
	if ((from || resume) && a->given.words.n)
		return complain(EINVAL, "%s: the record names the workload; leave '%s' out",
				from ? "--from" : "--resume", text_shown(a->given.words.word[0]).s);
	if ((from || resume) && said_twice(a))
		return complain(EINVAL, "%s: the record holds the plan; leave --%s out",
				from ? "--from" : "--resume", said_twice(a));
	if (!from && !resume && !a->given.words.n)
		return complain(EINVAL, "rift share: no workload; write rift share WORKLOAD, `rift "
					"list` shows them");
	if (a->given.words.n > SHARE_WORDS_MAX)
		return complain(EINVAL, "a workload has %d words at most", SHARE_WORDS_MAX);
	return 0;
}

static int draw_across(const struct across *all, const struct share_args *a)
{
	struct picture p[ACROSS_CHARTS];
	int n = 0, err;

	if (!a->plot)
		return 0;
	err = across_charts_write(p, &n, all, a->plot);
	for (int i = 0; i < n && !err; i++)
		err = show_picture(&a->given, a->plot, &p[i], 0);
	across_charts_release(p);
	return err;
}

static int show_across(const struct share_args *a)
{
	struct across *all = malloc(sizeof(*all));
	int err;

	CHECK(all, "memory of records");
	err = across_read(all, a->from.word, a->from.n);
	if (!err) {
		show(&a->given, all, across_print, across_json);
		err = draw_across(all, a);
		note_cpu(&a->given, share_is_cpu(&all->record[0]));
		err = err ? err : across_exit_code(all);
	}
	across_release(all);
	free(all);
	return err;
}

static int share_or_show(struct share *s, const struct share_args *a)
{
	int err;

	if (a->from.n > 1)
		return promises_are_in(a->from.word[0]) ? show_promises(a) : show_across(a);
	if (a->from.n)
		err = share_read(s, a->from.word[0]);
	else
		err = a->resume ? share_resume(s, a->resume) : begin(s, a);
	if (!err && a->dry_run)
		return RIFT_OK;
	if (!err && !a->from.n)
		err = measure(s, a);
	return err ? err : show_all(s, a);
}

static int share(void *arguments)
{
	const struct share_args *a = arguments;
	struct share s = { .file = LINE_FILE_NONE };
	int err = check_words(a);

	if (err)
		return err;
	interrupt_install();
	progress_init(a->given.quiet);
	/* before the measuring: a folder that cannot be written to is not worth minutes */
	if (a->plot)
		err = picture_folder("--plot", a->plot);
	if (!err)
		err = share_or_show(&s, a);
	share_release(&s);
	return err;
}

const struct command command_share = {
	.name = "share",
	.usage = "WORKLOAD [name=value...]",
	.line = "run several clients on one GPU: what a neighbour costs",
	.words = "WORKLOAD [name=value...]",
	.doc = "Runs several clients of a workload on one GPU at the same time, and shows what "
	       "each neighbour costs and which sharing method (arm) is fair. Each sharing method "
	       "is compared with one client alone. With --allow it shows whether clients get the "
	       "share of the device that a layer promises them.",
	.remarks = "A sharing method that is not available here is `not run`, with the reason.",
	.exits = exits,
	.options = options,
	.hint = "parameters are written name=value",
	.size = sizeof(struct share_args),
	.rows = rows,
	.values = offsetof(struct share_args, values),
	.layers_are_a_side = true,
	.run = share,
};
