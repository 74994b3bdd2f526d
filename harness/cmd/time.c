/* time.c - rift time -- COMMAND: a program by itself and under layers, in turns. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/param.h"
#include "harness/base/text.h"
#include "harness/cmd/time.h"
#include "harness/platform/enter.h"
#include "harness/platform/program.h"

/* ---- the command line --------------------------------------------------------------------- */

struct time_values {
	int64_t runs;
};

static const struct param rows[] = {
	{ "runs", PARAM_INT, offsetof(struct time_values, runs), "runs", "", 1, TRIAL_ROUNDS_MAX,
	  NULL, "", NULL, NULL, false },
	PARAM_END,
};

struct time_args {
	struct arguments given;
	struct time_values values;
	struct word_list against;
	double margin, within_s, patience_s;
	const char *same_output, *resume, *plot;
	bool bare;
};

#define FIELD(name) offsetof(struct time_args, name)

enum { PATIENCE_USUAL_S = 600 };

static const struct time_args defaults = { .margin = NAN };

/* "90", "90s", "5m", "1h" */
static int take_time(void *field, const struct command_option *o, char *text)
{
	static const struct {
		const char *unit;
		double s;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 } };
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (end != text && !strcmp(end, units[i].unit) && value > 0 && value <= 1e6) {
			*(double *)field = value * units[i].s;
			return 0;
		}
	return complain(EINVAL, "--%s=%s: must be a time above 0: 90, 90s, 5m, 1h", o->name,
			text_shown(text).s);
}

static int take_same_output(void *field, const struct command_option *o, char *text)
{
	(void)o;
	*(const char **)field = text ? text : "";
	return 0;
}

static const struct command_option options[] = {
	{ OPTION_LAYER, "also run COMMAND under LAYER, which `rift layer` lists; repeatable: one "
			"side each" },
	{ OPTION("against", "COMMAND", option_list, FIELD(against)),
	  "also run COMMAND with this command in front of it, for example 'docker run --rm --gpus "
	  "all IMAGE'; "
	  "repeatable: one side each" },
	{ OPTION("margin", "PERCENT", option_percent, FIELD(margin)),
	  "ignore differences up to this, and stop as soon as every side is decided (default: 2)" },
	{ OPTION("within", "TIME", take_time, FIELD(within_s)),
	  "stop after this time: 90, 90s, 5m, 1h (default: 2m, or longer if no verdict is possible "
	  "before)" },
	{ OPTION_ROW("runs", "N"),
	  "run each side exactly N times (default: as often as --margin and --within say)" },
	{ OPTION("patience", "TIME", take_time, FIELD(patience_s)),
	  "end a run that takes longer, with all processes it started (default: 10m)" },
	{ OPTION("same-output", "FILE,FILE,...", take_same_output, FIELD(same_output)),
	  "a side must also print the same on stdout, and write the same to each FILE",
	  .may_lack = true },
	{ OPTION("bare", NULL, option_flag, FIELD(bare)),
	  "do not load the library that notes a program's first and last CUDA calls" },
	{ OPTION_OUTPUT("FILE", option_file),
	  "write the record to this file (default: results/TIME-time-COMMAND.jsonl)" },
	{ OPTION("resume", "FILE", option_once, FIELD(resume)),
	  "continue an unfinished record, NAME.jsonl.part, which holds all other settings" },
	{ OPTION("plot", "DIR", option_folder, FIELD(plot)),
	  "also draw a chart in this folder with gnuplot (PNG, SVG, data and script)" },
	{ OPTION_JSON, "print one JSON object with all results" },
	{ OPTION_QUIET, "print no progress and no remarks" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "no side is slower" },
	{ RIFT_CHECK_FAILED, "a side is slower, or the program is wrong under it" },
	{ RIFT_FAILED_POINTS, "inconclusive" },
	{ RIFT_USAGE,
	  "usage, bad input, a program that does not start or, with --plot, no picture" },
	{ RIFT_NO_DEVICE, "a layer is not available here" },
	{ RIFT_INTERRUPTED, "interrupted; --resume continues" },
	{ 0 },
};

/* ---- the plan ------------------------------------------------------------------------------ */

static int add_side(struct trial_plan *p, const char *layer, const char *against)
{
	if (p->sides == TRIAL_SIDES_MAX)
		return complain(EINVAL, "more than %d sides", TRIAL_SIDES_MAX - 1);
	p->side[p->sides++] = (struct trial_side){ layer, against };
	return 0;
}

static int take_layers(struct trial_plan *p, const struct word_list *layers)
{
	char *command;
	int err = 0;

	for (int i = 0; i < layers->n && !err; i++) {
		err = layer_command(&layers->word[i], 1, &command);
		free(command);
		if (!err && layer_texts_name_secret(&layers->word[i], 1))
			err = complain(
				EINVAL,
				"--layer: cannot name a secret, as the record would keep it");
		if (!err)
			err = add_side(p, layers->word[i], NULL);
	}
	return err;
}

/* Splits the texts in place. */
static int take_files(struct trial_plan *p, char *files)
{
	char *name;

	while (files && (name = strsep(&files, ","))) {
		if (!*name)
			continue;
		if (p->files == TRIAL_FILES_MAX)
			return complain(EINVAL, "--same-output: more than %d files",
					TRIAL_FILES_MAX);
		p->file[p->files++] = name;
	}
	return 0;
}

static int take_argv(struct trial_plan *p, char **rest)
{
	char found[4096];
	int n = 0, err;

	while (rest[n])
		n++;
	p->argv = calloc((size_t)n + 1, sizeof(*p->argv));
	CHECK(p->argv, "memory of %d words", n);
	for (int i = 0; i < n; i++)
		p->argv[i] = rest[i];
	err = find_command(rest[0], found);
	return err ? complain(-err, "%s: cannot be started: %s", text_shown(rest[0]).s,
			      strerror(-err))
		   : 0;
}

static int make_plan(struct trial_plan *p, const struct time_args *a)
{
	int err;

	*p = (struct trial_plan){ .sides = 1,
				  .rounds = (int)a->values.runs,
				  .margin = isnan(a->margin) ? MARGIN_DEFAULT : a->margin,
				  .within_s = a->within_s,
				  .patience_s =
					  a->patience_s > 0 ? a->patience_s : PATIENCE_USUAL_S,
				  .bare = a->bare,
				  .same_output = a->same_output != NULL };
	err = take_argv(p, a->given.rest);
	if (!err)
		err = take_layers(p, &a->given.layers);
	for (int i = 0; i < a->against.n && !err; i++)
		err = add_side(p, NULL, a->against.word[i]);
	if (!err && a->same_output)
		err = take_files(p, (char *)(uintptr_t)a->same_output);
	return err;
}

/* ---- output -------------------------------------------------------------------------------- */

static void print(const void *found, FILE *out)
{
	trial_print(found, out);
}

static json_t *json(const void *found)
{
	return trial_json(found);
}

static int show_trial(const struct arguments *a, const struct trial *t, double margin,
		      const char *plot)
{
	struct picture picture = { .asked = false };
	struct trial_findings f;
	int err = 0;

	trial_findings_init(&f, t, margin);
	show(a, &f, print, json);
	if (plot)
		err = show_picture(a, plot, &picture, trial_chart_write(&picture, &f, plot));
	picture_release(&picture);
	note_cpu(a, trial_is_cpu(t));
	err = err ? err : (int)trial_exit_code(&f);
	trial_findings_release(&f);
	return err;
}

int trial_show_file(const struct arguments *a, const char *path, double margin)
{
	struct trial t;
	int err = trial_read(&t, path);

	if (!err)
		err = show_trial(a, &t, margin, NULL);
	trial_release(&t);
	return err;
}

/* ---- the command --------------------------------------------------------------------------- */

static int begin(struct trial *t, const struct time_args *a)
{
	char path[4096], what[80];
	const char *slash, *name;
	int err = make_plan(&t->plan, a);

	if (err)
		return err;
	slash = strrchr(t->plan.argv[0], '/');
	name = slash ? slash + 1 : t->plan.argv[0];
	snprintf(what, sizeof(what), "time-%.64s", name);
	choose_output(&a->given, what, path, sizeof(path));
	return trial_create(t, path);
}

static int measure(struct trial *t, const struct time_args *a)
{
	int err = trial_measure(t);

	if (err && !a->resume && !t->side[0].run[0].there) {
		line_file_abandon(&t->file);
		if (err == -EINTR)
			complain(EINTR, "interrupted; nothing was timed");
	} else if (err == -EINTR) {
		complain(EINTR, "interrupted; rift time --resume %s.part continues", t->file.path);
	}
	if (!err && !a->given.quiet)
		fprintf(stderr, "%s\n", t->file.path);
	return err;
}

static int check_words(const struct time_args *a)
{
	bool other = a->given.layers.n || a->against.n || a->given.rest || a->given.output ||
		     a->same_output || a->values.runs || a->bare || !isnan(a->margin) ||
		     a->within_s > 0 || a->patience_s > 0;

	if (a->resume && other)
		return complain(EINVAL, "--resume: the record holds all other settings");
	if (!a->resume && !a->given.rest)
		return complain(EINVAL, "needs a program: rift time --layer LAYER -- COMMAND");
	return 0;
}

static int time_or_resume(struct trial *t, const struct time_args *a)
{
	int err = check_words(a);

	if (!err && a->plot)
		err = picture_folder("--plot", a->plot);
	if (!err)
		err = a->resume ? trial_resume(t, a->resume) : begin(t, a);
	if (!err)
		err = measure(t, a);
	return err ? err : show_trial(&a->given, t, NAN, a->plot);
}

static int run_time(void *arguments)
{
	const struct time_args *a = arguments;
	struct trial t = { .file = LINE_FILE_NONE };
	int err;

	interrupt_install();
	progress_init(a->given.quiet);
	err = time_or_resume(&t, a);
	trial_release(&t);
	return err;
}

const struct command command_time = {
	.name = "time",
	.usage = "--layer LAYER -- COMMAND",
	.line = "time a program with and without a layer, alternately",
	.words = "-- COMMAND",
	.doc = "Times a whole program, by itself and under each layer, alternately, and tells "
	       "whether "
	       "a layer makes it slower, by how much, and whether the program still does the same.",
	.remarks = "A first run of each side is not timed. What COMMAND prints is not shown; it "
		   "reads the same stdin in each run.",
	.exits = exits,
	.options = options,
	.has_rest = true,
	.layers_are_a_side = true,
	.takes = "no word before --",
	.most = 0,
	.size = sizeof(struct time_args),
	.defaults = &defaults,
	.rows = rows,
	.values = offsetof(struct time_args, values),
	.run = run_time,
};
