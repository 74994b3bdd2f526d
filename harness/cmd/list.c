/* list.c - rift list [WORKLOAD]: what there is, and what it takes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/cmd/options.h"
#include "harness/platform/platform.h"
#include "harness/measure/run.h"
#include "harness/base/together.h"

static const struct command_option options[] = {
	{ OPTION_JSON, "print workloads and parameters as one JSON object" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

/* What the default configuration allows; a workload that refuses its own defaults is a bug. */
static void default_limits(const struct workload *w, struct limits *limits)
{
	void *opts = calloc(1, w->opts_size ? w->opts_size : 1);
	struct params params;

	CHECK(opts, "%zu bytes of options", w->opts_size);
	params_init(&params, w->params, w->name, opts);
	CHECK(workload_limits(w, opts, limits) == 0, "%s refuses its own defaults", w->name);
	params_release(&params);
	free(opts);
}

/* The modes that are allowed on one line, then a line for each refusal with its reason. */
static void print_modes(const struct workload *w, FILE *out)
{
	struct limits limits;
	const char *why, *between = "";

	default_limits(w, &limits);
	fprintf(out, "  modes    ");
	for (int m = 0; m < MODE_COUNT; m++) {
		why = mode_refused(w, &limits, (enum mode)m);
		if (!why) {
			fprintf(out, "%s%s", between, mode_name((enum mode)m));
			between = ", ";
		}
	}
	fprintf(out, "\n");
	for (int m = 0; m < MODE_COUNT; m++) {
		why = mode_refused(w, &limits, (enum mode)m);
		if (why)
			fprintf(out, "           not %s: %s\n", mode_name((enum mode)m), why);
	}
	if (limits.depth_max && limits.depth_max < RUN_DEPTH_MAX)
		fprintf(out, "           depth at most %ld: %s\n", (long)limits.depth_max,
			limits.depth_why ? limits.depth_why : "no reason given");
	if (limits.launch_max_ms > 0)
		fprintf(out,
			"           a sweep leaves out launches over %g ms, %g ms where a watchdog "
			"ends kernels\n",
			limits.launch_max_ms, limits.launch_max_watched_ms);
	if (limits.device_refused)
		fprintf(out, "           not on this device: %s\n", limits.device_refused);
}

static void print_head(const struct workload *w, FILE *out)
{
	fprintf(out, "%s: %s\n", w->name, w->summary);
	fprintf(out, "  follows  %s\n", w->source);
	fprintf(out, "  step     %s\n", w->step_unit);
	print_modes(w, out);
	if (w->plot)
		fprintf(out, "  picture  rift run %s --plot\n", w->name);
}

enum { NAME, KIND, UNIT, DEFAULT, RANGE, COLUMNS };

static void fill_cells(const struct param *row, char cell[COLUMNS][256])
{
	snprintf(cell[NAME], 256, "%s%s", row->name,
		 row->axis	   ? " (*)"
		 : row->one_factor ? " (+)"
				   : "");
	snprintf(cell[KIND], 256, "%s", param_kind_name(row));
	snprintf(cell[UNIT], 256, "%s", *row->unit && row->kind != PARAM_PATH ? row->unit : "-");
	snprintf(cell[DEFAULT], 256, "%s", *row->def ? row->def : "none");
	param_range(row, cell[RANGE], 256);
}

static void print_cells(char cell[COLUMNS][256], const int width[COLUMNS], const char *help,
			const char *need, FILE *out)
{
	char cells[COLUMNS * 258] = " ", text[1024];
	size_t used = 1;

	for (int c = 0; c < COLUMNS; c++)
		used += (size_t)snprintf(cells + used, sizeof(cells) - used, " %-*s ", width[c],
					 cell[c]);
	snprintf(text, sizeof(text), *need ? "%s (%s)" : "%s", help, need);
	row_last(out, cells, text);
}

/* Columns as wide as their widest cell; the meaning comes last and may be long. */
static void print_table(const struct workload *w, FILE *out)
{
	const struct param *rows = w->params;

	char cell[COLUMNS][256] = { "parameter", "kind", "unit", "default", "range" };
	char head[COLUMNS][256];
	int width[COLUMNS];

	memcpy(head, cell, sizeof(head));
	for (int c = 0; c < COLUMNS; c++)
		width[c] = (int)strlen(head[c]);
	for (const struct param *row = rows; row->name; row++) {
		fill_cells(row, cell);
		for (int c = 0; c < COLUMNS; c++)
			if ((int)strlen(cell[c]) > width[c])
				width[c] = (int)strlen(cell[c]);
	}
	print_cells(head, width, "meaning", "", out);
	for (const struct param *row = rows; row->name; row++) {
		fill_cells(row, cell);
		print_cells(cell, width, row->help, param_need_text(w->needs, row->name).s, out);
	}
}

int workload_print(const struct workload *w, FILE *out)
{
	const struct param *axis = workload_axis(w);

	print_head(w, out);
	if (!w->params[0].name)
		return fprintf(out, "  no parameters\n") < 0 ? -EIO : 0;
	fprintf(out, "\n");
	print_table(w, out);
	if (axis)
		fprintf(out, "\n  (*) makes kernels larger; values to try: %s\n", axis->axis);
	for (const struct param *row = w->params; row->name; row++)
		if (row->one_factor) {
			fprintf(out, "  (+) a full sweep varies it, at the centre of its grid\n");
			break;
		}
	for (const struct preset *p = w->presets; p && p->name; p++)
		fprintf(out, "  preset=%s: %s (%s)\n", p->name, p->help, p->values);
	fprintf(out, "  Sizes and lists take k, M and G, powers of 1024. Reals take 1e-6, whole "
		     "numbers do not.\n");
	return 0;
}

static json_t *modes_json(const struct workload *w, const struct limits *limits)
{
	json_t *o = json_object();

	for (int m = 0; m < MODE_COUNT; m++) {
		const char *why = mode_refused(w, limits, (enum mode)m);

		json_object_set_new(
			o, mode_name((enum mode)m),
			json_pack("{s:b, s:o}", "allowed", !why, "why_not", json_text(why)));
	}
	return o;
}

static json_t *workload_json(const struct workload *w)
{
	json_t *o = json_object(), *params = json_array();
	struct limits limits;

	default_limits(w, &limits);
	for (const struct param *row = w->params; row->name; row++) {
		struct need_text need = param_need_text(w->needs, row->name);
		json_t *each = param_row_json(row);

		json_object_set_new(each, "counts_only", json_text(*need.s ? need.s : NULL));
		json_array_append_new(params, each);
	}
	json_object_set_new(o, "name", json_string(w->name));
	json_object_set_new(o, "summary", json_text(w->summary));
	json_object_set_new(o, "source", json_text(w->source));
	json_object_set_new(o, "step", json_text(w->step_unit));
	json_object_set_new(o, "modes", modes_json(w, &limits));
	json_object_set_new(o, "depth_max",
			    limits.depth_max ? json_integer(limits.depth_max) : json_null());
	json_object_set_new(o, "launch_max_ms",
			    limits.launch_max_ms > 0 ? json_real(limits.launch_max_ms)
						     : json_null());
	json_object_set_new(o, "launch_max_watched_ms",
			    limits.launch_max_ms > 0 ? json_real(limits.launch_max_watched_ms)
						     : json_null());
	json_object_set_new(o, "device_refused", json_text(limits.device_refused));
	json_object_set_new(o, "picture", json_boolean(w->plot != NULL));
	json_object_set_new(o, "presets", presets_json(w->presets));
	json_object_set_new(o, "params", params);
	return o;
}

/* The workload that is named, or all of them: NULL. */
struct listed {
	const struct workload *workload;
};

static void list_print(const void *found, FILE *out)
{
	const struct listed *l = found;

	if (l->workload)
		workload_print(l->workload, out);
	else
		for (const struct workload *const *each = workloads; *each; each++)
			if (!(*each)->hidden)
				print_head(*each, out);
}

static json_t *list_json(const void *found)
{
	const struct listed *l = found;
	json_t *array = json_array();

	for (const struct workload *const *each = workloads; *each; each++)
		if (l->workload ? *each == l->workload : !(*each)->hidden)
			json_array_append_new(array, workload_json(*each));
	return json_pack("{s:s, s:s, s:o}", "version", RIFT_VERSION, "build", platform_build(),
			 "workloads", array);
}

static int list(void *arguments)
{
	const struct arguments *a = arguments;
	struct listed l = { NULL };

	if (a->words.n && !(l.workload = workload_find(a->words.word[0])))
		return -EINVAL;
	show(a, &l, list_print, list_json);
	return RIFT_OK;
}

/* With a workload, what there is to say of it. */
static int help(void *arguments)
{
	const struct arguments *a = arguments;

	if (a->words.n)
		return list(arguments);
	command_help(&command_list, stdout);
	return RIFT_OK;
}

const struct command command_list = {
	.name = "list",
	.usage = "[WORKLOAD]",
	.line = "list the workloads, or one workload's parameters",
	.words = "[WORKLOAD]",
	.doc = "Lists the workloads, or one workload's parameters: kind, unit, default, range.",
	.options = options,
	.takes = "one workload",
	.most = 1,
	.help = help,
	.run = list,
};
