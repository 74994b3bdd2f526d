/* profile.c - rift profile FILE, or -- COMMAND: what kind of program it is; or what that costs. */
#include "harness/profile/profile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/param.h"
#include "harness/base/picture.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/profile/chrome.h"
#include "harness/profile/profile_chart.h"
#include "harness/profile/recorder_cost.h"
#include "harness/profile/recording.h"
#include "harness/profile/trace_files.h"

/* ---- the command line --------------------------------------------------------------------- */

/* Options with values, as parameter rows: parsed and refused like all others. */
struct profile_values {
	int64_t runs, recordings, host_runs, max_events;
	double delay_s, duration_s;
	int recorder; /* enum recorder_choice */
};

#define VALUE(name) offsetof(struct profile_values, name)

static const struct param rows[] = {
	{ "runs", PARAM_INT, VALUE(runs), "runs", "5", 0, RECORDING_RUNS_MAX, NULL, "", NULL, NULL,
	  false },
	{ "recordings", PARAM_INT, VALUE(recordings), "runs", "1", 1, RECORDING_RUNS_MAX, NULL, "",
	  NULL, NULL, false },
	{ "host-runs", PARAM_INT, VALUE(host_runs), "runs", "0", 0, RECORDING_RUNS_MAX, NULL, "",
	  NULL, NULL, false },
	{ "max-events", PARAM_INT, VALUE(max_events), "rows", "2000000", 1000, TRACE_ROWS_MAX, NULL,
	  "", NULL, NULL, false },
	{ "delay", PARAM_REAL, VALUE(delay_s), "s", "0", 0, 1e6, NULL, "", NULL, NULL, false },
	{ "duration", PARAM_REAL, VALUE(duration_s), "s", "0", 0, 1e6, NULL, "", NULL, NULL,
	  false },
	{ "recorder", PARAM_CHOICE, VALUE(recorder), "", "auto", 0, 0, recorder_choices, "", NULL,
	  NULL, false },
	PARAM_END,
};

struct profile_args {
	struct arguments given;
	struct profile_values values;
	struct kind_rules rules;
	const char *chrome, *plot, *range, *cupti;
	bool anonymous, calibrate, ranges;
};

#define FIELD(name) offsetof(struct profile_args, name)

static int take_rule(void *field, const struct command_option *o, char *text);

static const struct command_option options[] = {
	{ OPTION_OUTPUT("FILE", option_file),
	  "write the trace to this new file (default: COMMAND.trace)" },
	{ OPTION_ROW("runs", "N"), "run COMMAND N times without the recorder, for the self-check, "
				   "which needs 5 (default: 5)" },
	{ OPTION_ROW("recordings", "N"),
	  "record COMMAND N times, alternating with runs without the recorder, and keep the median "
	  "trace (default: 1, and 5 with 10 runs if 5 runs differ by more than 5 %)" },
	{ OPTION_ROW("host-runs", "N"),
	  "run COMMAND N times more with only its calls recorded, which slows it less, and take "
	  "the times between calls, and of graphs, from these runs (default: 0)" },
	{ OPTION("anonymous", NULL, option_flag, FIELD(anonymous)),
	  "leave the names of the program, its kernels, functions and threads out of the trace; "
	  "names of CUDA functions stay" },
	{ OPTION_ROW("recorder", "NAME"),
	  "record with device: calls and times of the device, by CUPTI on a GPU; calls: only "
	  "calls, by a preloaded library; auto: device if available, else calls (default: auto)" },
	{ OPTION("calibrate", NULL, option_flag, FIELD(calibrate)),
	  "measure what the recorder costs here, in --runs processes with it and without; takes no "
	  "COMMAND" },
	{ OPTION("cupti", "FILE", option_once, FIELD(cupti)),
	  "use this libcupti.so of NVIDIA, which records on a GPU (default: search for it)" },
	{ OPTION_ROW("delay", "SECONDS"),
	  "start recording after this time (default: at the start)" },
	{ OPTION_ROW("duration", "SECONDS"), "record for this long, from the start of the program "
					     "or after --delay (default: to the end)" },
	{ OPTION_ROW("max-events", "N"),
	  "record at most N rows, repeats folded, 1000 to 20000000 (default: 2000000)" },
	{ OPTION("range", "NAME", option_once, FIELD(range)),
	  "record only inside NVTX ranges of this name; @profiler: between the program's own calls "
	  "of cudaProfilerStart and Stop" },
	{ OPTION("ranges", NULL, option_flag, FIELD(ranges)),
	  "on a GPU: also record the program's NVTX ranges, as --range=NAME does (the CPU device "
	  "always does)" },
	{ OPTION("rule", "NAME=PERCENT", take_rule, FIELD(rules)),
	  "call a program bound from this share on; repeatable (default: gpu=85, gap=10, api=15, "
	  "sync=15, transfer=30, allocation=20, cpu=30)" },
	{ OPTION("chrome", "FILE", option_file, FIELD(chrome)),
	  "also write a timeline for chrome://tracing and Perfetto, as recorded" },
	{ OPTION("plot", "DIR", option_folder, FIELD(plot)),
	  "also draw charts in this folder with gnuplot (PNG, SVG, data and scripts): the "
	  "timeline, one step of it, the shares" },
	{ OPTION_JSON, "print one JSON object" },
	{ OPTION_QUIET, "print no progress and no remarks" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_FAILED_POINTS, "the re-timed trace failed the self-check" },
	{ RIFT_USAGE,
	  "usage, no trace, a damaged or incomplete trace or, with --plot, no picture" },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

static const struct kind_rules default_rules = KIND_DEFAULTS;

static const char *const rule_names[] = { "gpu",      "gap",	    "api", "sync",
					  "transfer", "allocation", "cpu", NULL };

static int refuse_rule(const char *text, const char *name)
{
	struct suggestion near = suggest_start(name);

	for (int i = 0; rule_names[i]; i++)
		suggest_offer(&near, rule_names[i]);
	return complain(EINVAL,
			"--rule=%s: must be gpu, gap, api, sync, transfer, allocation or cpu, "
			"= and a percentage%s",
			text_shown(text).s, suggest_hint(&near).s);
}

/* NAME=PERCENT */
static int take_rule(void *field, const struct command_option *o, char *text)
{
	struct kind_rules *rules = field;
	size_t n = strcspn(text, "=");
	char name[32];
	int i = 0;

	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	while (rule_names[i] && strcmp(rule_names[i], name) != 0)
		i++;
	if (!rule_names[i] || !text[n])
		return refuse_rule(text, name);
	if (percent_parse(text + n + 1, &rules->least[i]))
		return 0;
	return complain(EINVAL, "--%s=%s: %s must be a percentage, 0 or 0.1 to 100: %s=30 is 30 %%",
			o->name, text_shown(text).s, name, name);
}

/* ---- recording ---------------------------------------------------------------------------- */

/* COMMAND.trace in the folder at hand, or the first free COMMAND-2.trace ...; to be freed. */
static char *free_name(const char *command)
{
	const char *slash = strrchr(command, '/');
	const char *stem = slash ? slash + 1 : command;
	char *name = NULL;

	for (int i = 1; !name || !access(name, F_OK); i++) {
		char number[16] = "";

		free(name);
		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		CHECK(asprintf(&name, "%s%s.trace", stem, number) > 0, "memory of a name");
	}
	return name;
}

static void print_status(const struct profile_args *a, const struct recording *r)
{
	FILE *out = a->given.json ? stderr : stdout;

	if (a->given.json && a->given.quiet)
		return;
	fprintf(out, "the program %s\n", profile_ended(r->status).s);
}

/* A file without a line is none: its name is given back. */
static void complain_interrupted(const char *path)
{
	struct stat st;
	bool there = !stat(path, &st) && S_ISREG(st.st_mode);

	if (there && st.st_size)
		complain(EINTR, "interrupted; rift profile %s analyses what was recorded",
			 text_shown(path).s);
	else
		complain(EINTR, "interrupted; nothing was recorded");
	if (there && !st.st_size)
		unlink(path);
}

/* All files that were written: processes that the program started have traces of their own. */
static void print_trace(const struct profile_args *a, const char *path, const char *before)
{
	char *names = trace_files_names(path, before);

	if (!a->given.quiet)
		row(a->given.json ? stderr : stdout, "trace", "%s%s%s", path,
		    *names ? ", and of processes that it started: " : "", names);
	free(names);
}

static int record(const struct profile_args *a, const char *path)
{
	bool told = a->given.rows.given[params_find(rows, "recordings", strlen("recordings"))];
	const struct recording_request request = {
		.argv = a->given.rest,
		.output = path,
		.anonymous = a->anonymous,
		.delay_ns = (int64_t)(a->values.delay_s * 1e9),
		.duration_ns = (int64_t)(a->values.duration_s * 1e9),
		.max_events = a->values.max_events,
		.range = a->range,
		.ranges = a->ranges || (a->range && *a->range != '@'),
		.cupti = a->cupti,
		.recorder = (enum recorder_choice)a->values.recorder,
		.unprofiled = (int)a->values.runs,
		.recordings = told ? (int)a->values.recordings : 0,
		.host_runs = (int)a->values.host_runs,
		.stdout_to_stderr = a->given.json,
	};
	struct recording recording;
	char *before = trace_files_names(path, "");
	int err = recording_run(&request, &recording);

	if (err == -EINTR)
		complain_interrupted(path);
	if (!err) {
		print_status(a, &recording);
		print_trace(a, path, before);
	}
	free(before);
	return err;
}

/* ---- output ------------------------------------------------------------------------------- */

static void print(const void *found, FILE *out)
{
	profile_print(found, out);
}

static json_t *json(const void *found)
{
	return profile_json(found);
}

static int write_chrome(const struct profile *p, struct output *chrome)
{
	if (!chrome->file)
		return 0;
	chrome_write(&p->trace, chrome->file);
	return output_commit(chrome);
}

static int draw(const struct profile *p, const struct profile_args *a)
{
	int err = 0;

	for (int i = 0; a->plot && i < PROFILE_CHARTS && !err; i++) {
		struct picture picture;

		err = profile_chart_write(&picture, p, (enum profile_chart)i, a->plot);
		err = show_picture(&a->given, a->plot, &picture, err);
		profile_chart_release(&picture);
	}
	return err;
}

static int analyse(const struct profile_args *a, const char *path, struct output *chrome)
{
	struct profile p;
	int err = profile_make(&p, path, &a->rules, a->plot);

	if (!err) {
		show(&a->given, &p, print, json);
		note_cpu(&a->given, p.trace.is_cpu);
		err = write_chrome(&p, chrome);
	}
	if (!err)
		err = draw(&p, a);
	if (!err && p.trust == TRUST_REFUSED)
		err = RIFT_FAILED_POINTS;
	profile_release(&p);
	return err;
}

/* ---- what the recorder costs --------------------------------------------------------------- */

static void print_costs(const void *found, FILE *out)
{
	recorder_costs_print(found, out);
}

static json_t *costs_json(const void *found)
{
	return recorder_costs_json(found);
}

static int calibrate(const struct profile_args *a)
{
	const struct recording_request request = {
		.recorder = (enum recorder_choice)a->values.recorder,
		.cupti = a->cupti,
	};
	struct recorder_costs *costs = calloc(1, sizeof(*costs));
	int err;

	CHECK(costs, "memory of costs");
	err = recorder_costs_take(costs, &request, (int)a->values.runs);
	if (!err) {
		show(&a->given, costs, print_costs, costs_json);
		note_cpu(&a->given, costs->is_cpu);
	} else if (err == -EINTR) {
		complain(EINTR, "interrupted; nothing is reported");
	}
	free(costs);
	return err;
}

/* ---- the command -------------------------------------------------------------------------- */

/* A recording without a call is of no use, and would be in the way of the next one. */
static void remove_empty(const struct profile_args *a, const char *path)
{
	struct trace t;

	if (!trace_read(&t, path) && !t.calls && !*t.failed && !unlink(path) && !a->given.quiet)
		fprintf(a->given.json ? stderr : stdout, "removed           %s\n",
			text_escaped(path).s);
	trace_release(&t);
}

static int record_and_analyse(const struct profile_args *a, struct output *chrome)
{
	char *named = a->given.output ? NULL : free_name(a->given.rest[0]);
	const char *path = named ? named : a->given.output;
	int err = record(a, path);

	if (!err) {
		err = analyse(a, path, chrome);
		if (err)
			remove_empty(a, path);
	}
	free(named);
	return err;
}

struct given_option {
	bool given;
	const char *name;
};

/* The first of n options that was given, or of the rows, but for two; NULL: none. */
static const char *first_given(const struct given_option *option, size_t n,
			       const struct profile_args *a, const char *but, const char *and_but)
{
	for (size_t i = 0; i < n; i++)
		if (option[i].given)
			return option[i].name;
	for (int i = 0; rows[i].name; i++)
		if (a->given.rows.given[i] && strcmp(rows[i].name, but) != 0 &&
		    strcmp(rows[i].name, and_but) != 0)
			return rows[i].name;
	return NULL;
}

/* An option that --calibrate has no use for. */
static const char *unused_by_calibrate(const struct profile_args *a)
{
	const struct given_option options[] = {
		{ a->given.output != NULL, "output" },
		{ a->chrome != NULL, "chrome" },
		{ a->plot != NULL, "plot" },
		{ a->range != NULL, "range" },
		{ a->anonymous, "anonymous" },
		{ a->ranges, "ranges" },
		{ memcmp(&a->rules, &default_rules, sizeof(a->rules)) != 0, "rule" },
	};

	return first_given(options, sizeof(options) / sizeof(*options), a, "runs", "recorder");
}

/* An option that is for a recording alone. */
static const char *unused_by_trace(const struct profile_args *a)
{
	const struct given_option options[] = {
		{ a->given.output != NULL, "output" }, { a->range != NULL, "range" },
		{ a->anonymous, "anonymous" },	       { a->ranges, "ranges" },
		{ a->cupti != NULL, "cupti" },
	};

	return first_given(options, sizeof(options) / sizeof(*options), a, "", "");
}

static int check_calibrate(const struct profile_args *a)
{
	const char *unused = unused_by_calibrate(a);

	if (a->given.rest || a->given.words.n)
		return complain(EINVAL, "--calibrate: takes no program and no trace; it measures "
					"programs of its own");
	if (unused)
		return complain(EINVAL, "--calibrate: cannot be combined with --%s", unused);
	if (!a->values.runs)
		return complain(EINVAL, "--runs=0: --calibrate needs a run with the recorder and "
					"one without");
	return 0;
}

static int check_range(const struct profile_args *a)
{
	if (!a->range || *a->range == '@' || a->values.recorder != RECORDER_CALLS)
		return 0;
	return complain(EINVAL,
			"--range=%s: --recorder calls sees no NVTX ranges; use @profiler, or "
			"--recorder device",
			text_shown(a->range).s);
}

/* They lie beside a recording of the device, and see calls alone. */
static int check_host_runs(const struct profile_args *a)
{
	if (!a->values.host_runs)
		return 0;
	if (a->values.recorder == RECORDER_CALLS)
		return complain(EINVAL, "--host-runs: cannot be combined with --recorder calls, "
					"which already records only calls");
	if (a->values.delay_s > 0 || a->values.duration_s > 0)
		return complain(EINVAL,
				"--host-runs: compares calls by number, but --%s cuts each run at "
				"a different call; leave one out",
				a->values.delay_s > 0 ? "delay" : "duration");
	if (a->range && *a->range != '@')
		return complain(
			EINVAL,
			"--host-runs: sees no NVTX ranges; leave --range=%s out, or use @profiler",
			text_shown(a->range).s);
	return 0;
}

static int check_words(const struct profile_args *a)
{
	if (a->calibrate)
		return check_calibrate(a);
	if (a->given.rest && !*a->given.rest)
		return complain(EINVAL, "rift profile: no command after --");
	if (a->given.rest && a->given.words.n)
		return complain(EINVAL,
				"rift profile takes a trace, or a command after --, not both");
	if (a->range && !*a->range)
		return complain(EINVAL,
				"--range=: is empty; give the name of a range, or @profiler");
	if (!a->given.rest && !a->given.words.n)
		return complain(EINVAL, "rift profile: no trace; write rift profile FILE, or rift "
					"profile -- COMMAND to record one");
	if (!a->given.rest && unused_by_trace(a))
		return complain(EINVAL,
				"--%s: needs a command to record, but %s is a trace already",
				unused_by_trace(a), text_shown(a->given.words.word[0]).s);
	return 0;
}

/* It replaces an earlier timeline, and no other file. */
static int check_chrome(const struct profile_args *a)
{
	if (!a->chrome)
		return 0;
	if (output_same_file(a->chrome, a->given.rest ? a->given.output : a->given.words.word[0]))
		return complain(EINVAL, "--chrome=%s: is the trace itself; give another name",
				text_shown(a->chrome).s);
	if (!access(a->chrome, F_OK) && !chrome_is(a->chrome))
		return complain(EEXIST,
				"--chrome=%s: exists and is not a timeline; give another name",
				text_shown(a->chrome).s);
	return 0;
}

/* Before the recording: what cannot be written to is not worth minutes. */
static int open_targets(const struct profile_args *a, struct output *chrome)
{
	int err = check_words(a);

	err = err ? err : check_range(a);
	err = err ? err : check_host_runs(a);
	err = err ? err : check_chrome(a);
	if (!err && a->given.output)
		err = output_refuse("--output", a->given.output);
	if (!err && a->plot)
		err = picture_folder("--plot", a->plot);
	return err || !a->chrome ? err : output_open(chrome, "--chrome", a->chrome);
}

static int profile(void *arguments)
{
	const struct profile_args *a = arguments;
	struct output chrome = { 0 };
	int err = open_targets(a, &chrome);

	progress_init(a->given.quiet);
	if (!err)
		err = a->calibrate    ? calibrate(a)
		      : a->given.rest ? record_and_analyse(a, &chrome)
				      : analyse(a, a->given.words.word[0], &chrome);
	output_discard(&chrome);
	return err;
}

static const struct profile_args defaults = {
	.rules = KIND_DEFAULTS,
};

const struct command command_profile = {
	.name = "profile",
	.usage = "FILE, or -- COMMAND",
	.line = "record a program; find its bottleneck and what would help",
	.words = "FILE\n-- COMMAND [ARGUMENT...]\n--calibrate",
	.doc = "Records a program's CUDA calls and what the device does, or reads the trace of "
	       "such a recording or one that PyTorch's profiler or nsys exported, and shows where "
	       "its time "
	       "goes: shares that add up to 100 %, the "
	       "kind of program (its bottleneck), what would help, and what a slower call would "
	       "cost it.",
	.exits = exits,
	.options = options,
	.takes = "one trace, or a command after --",
	.most = 1,
	.has_rest = true,
	.size = sizeof(struct profile_args),
	.defaults = &defaults,
	.rows = rows,
	.values = offsetof(struct profile_args, values),
	.run = profile,
};
