/* atlas.c - rift atlas BASE SESSION...: many layers or platforms against one base, on one page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/atlas/atlas.h"
#include "harness/atlas/atlas_chart.h"
#include "harness/base/picture.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"

/* ---- the command line ------------------------------------------------------------------- */

struct atlas_args {
	struct arguments given;		 /* words: the base, then sessions */
	const struct workload *workload; /* NULL: all */
	const char *plot;		 /* folder of the charts; NULL: none */
	bool force;
};

#define FIELD(name) offsetof(struct atlas_args, name)

static const struct command_option options[] = {
	{ OPTION("workload", "NAME", option_workload, FIELD(workload)),
	  "only the points of this one" },
	{ OPTION("plot", "DIR", option_folder, FIELD(plot)),
	  "also a chart of which layer hurts which program, one of each workload, and one of other "
	  "costs, with gnuplot, PNG and SVG, data and script beside it, in this folder" },
	{ OPTION("force", NULL, option_flag, FIELD(force)),
	  "also what was measured on another GPU, with another kind of --sync or another binary, "
	  "or beside another base" },
	{ OPTION_SYNC, "which, where the sessions were swept with several wait policies" },
	{ OPTION_JSON, "one JSON object with everything" },
	{ OPTION_QUIET, "no remarks" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "every figure that there is stands in the tables" },
	{ RIFT_FAILED_POINTS, "the same, but some results are missing or failed their check (not "
			      "supported is neither)" },
	{ RIFT_USAGE, "usage, bad input or, with --plot, no pictures" },
	{ RIFT_NOT_COMPARABLE, "a session is not comparable with the base" },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

/* ---- sessions --------------------------------------------------------------------------- */

static int read_base(struct atlas *a, const struct arguments *given)
{
	const struct session_arg arg = session_word(given, 0);
	int side, err = session_read_any(&a->base.session, &arg, given->sync, &side);

	if (!err && side == SIDE_ANY)
		return complain(EINVAL, "%s has two sides: name the base's, %s:a or %s:b",
				a->base.session.path, a->base.session.path, a->base.session.path);
	return err ? err : atlas_set_base(a, side);
}

/*
 * NAME=SESSION: the row's name, malloc()ed, and the session; without a name all of the word. A word
 * that is a file as it stands is one, and so is one with a slash before the sign.
 */
static const char *split_name(const char *word, char **name)
{
	const char *sign = strchr(word, '='), *slash = strchr(word, '/');

	*name = NULL;
	if (!sign || sign == word || (slash && slash < sign) || !access(word, F_OK))
		return word;
	*name = strndup(word, (size_t)(sign - word));
	CHECK(*name, "memory of a name");
	return sign + 1;
}

static int read_entry(struct atlas *a, const struct arguments *given, int number)
{
	struct atlas_entry *e = &a->entry[number];
	struct session_arg arg = session_word(given, number + 1);
	int side, err;

	arg.word = split_name(arg.word, &e->given_name);
	err = session_read_any(&e->session, &arg, given->sync, &side);
	return err ? err : atlas_add(a, number, side);
}

static int read_all(struct atlas *a, const struct arguments *given)
{
	int err = read_base(a, given);

	for (int i = 0; i < a->n && !err; i++) {
		progress("%s", given->words.word[i + 1]);
		err = interrupted() ? -EINTR : read_entry(a, given, i);
	}
	progress_clear();
	return err;
}

/* ---- output ----------------------------------------------------------------------------- */

static void print(const void *found, FILE *out)
{
	atlas_print(found, out);
}

static json_t *json(const void *found)
{
	return atlas_json(found);
}

static int draw(const struct atlas *a, const struct atlas_args *args)
{
	struct atlas_charts charts;
	int err = args->plot ? picture_folder("--plot", args->plot) : 0;

	if (err || !args->plot)
		return err;
	err = atlas_charts_write(&charts, a, args->plot);
	if (!err)
		err = gnuplot_check(args->plot, "*.gp");
	if (!err)
		err = atlas_charts_draw(&charts);
	if (!args->given.json)
		atlas_charts_print(&charts, stdout);
	if (!args->given.quiet)
		atlas_charts_remark(&charts, stderr);
	atlas_charts_release(&charts);
	return err;
}

static int atlas(void *arguments)
{
	const struct atlas_args *args = arguments;
	struct atlas a;
	int err;

	if (args->given.words.n < 2)
		return complain(EINVAL,
				"%s is the base; name the sessions to hold against it: "
				"rift atlas BASE SESSION...",
				args->given.words.word[0]);
	interrupt_install();
	progress_init(args->given.quiet);
	atlas_init(&a, args->given.words.n - 1, args->workload, args->force);
	err = read_all(&a, &args->given);
	if (!err) {
		show(&args->given, &a, print, json);
		err = draw(&a, args);
		note_cpu(&args->given, session_is_cpu(&a.base.session, a.base.side[PAIR_B].side));
	}
	if (!err)
		err = (int)atlas_exit_code(&a);
	atlas_release(&a);
	/* of another schema or platform: a finding here */
	return err == -EPROTONOSUPPORT ? (int)RIFT_NOT_COMPARABLE : err;
}

const struct command command_atlas = {
	.name = "atlas",
	.usage = "BASE [NAME=]SESSION...",
	.line = "many layers or platforms against one base, on one page",
	.words = "BASE [NAME=]SESSION...",
	.doc = "Says on one page which of many layers or platforms hurts which program, and what "
	       "each adds to the parameters of the model, to the time of a step, and to copies, "
	       "allocations and cold starts. BASE and SESSION are record files of rift "
	       "sweep. A session with two sides (rift sweep --layer, --against) is taken b over "
	       "a, and its side a has to be the base platform; one with one side, FILE, FILE:a or "
	       "FILE:b, is taken over the base. NAME=SESSION gives a row a name of yours.",
	.remarks = "Differences are found as rift compare finds them; it shows two sides in full.",
	.exits = exits,
	.options = options,
	.missing = "no base; write rift atlas BASE SESSION...",
	.size = sizeof(struct atlas_args),
	.run = atlas,
};
