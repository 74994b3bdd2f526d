/* layer.c - rift layer: the layers that there are, or a command under one of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/platform/enter.h"
#include "harness/base/together.h"
#include "layers/layer.h"

static const struct command_option options[] = {
	{ OPTION_JSON, "print layers and parameters as one JSON object" },
	{ OPTION_QUIET, "report nothing when COMMAND has ended" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_USAGE, EXIT_USUAL },
	{ (enum exit_code)LAYER_NOT_IN_FORCE,
	  "the layer cannot be entered, or one of its helpers failed" },
	{ (enum exit_code)LAYER_NOT_RUN, "COMMAND cannot be run" },
	{ (enum exit_code)LAYER_NOT_FOUND, "COMMAND is not found" },
	{ 0 },
};

/* ---- the list ------------------------------------------------------------------------------ */

static void print_params(const struct layer *l, FILE *out)
{
	for (const struct param *row = layer_params(l); row->name; row++) {
		char range[256], cells[128], text[1024];

		param_range(row, range, sizeof(range));
		snprintf(cells, sizeof(cells), "    %s=%s ", row->name,
			 *row->def ? row->def : "...");
		snprintf(text, sizeof(text), "%s (%s%s)", row->help, range, param_unit(row).s);
		row_last(out, cells, text);
	}
}

static void print_presets(const struct layer *l, FILE *out)
{
	char cells[128];

	for (const struct preset *p = l->presets; p && p->name; p++) {
		snprintf(cells, sizeof(cells), "    preset=%s ", p->name);
		row_last(out, cells, p->help);
		row_last(out, "       ", p->values);
	}
}

static void print_layer(const struct layer *l, FILE *out)
{
	const char *why = layer_missing(l);
	char cells[64], text[512];

	snprintf(cells, sizeof(cells), "%-10s %-6s", l->name, l->model ? "model" : "real");
	row_last(out, cells, l->summary);
	if (why) {
		snprintf(text, sizeof(text), "not available here: %s", why);
		row_last(out, "                 ", text);
	}
	print_params(l, out);
	print_presets(l, out);
}

static void print(const void *found, FILE *out)
{
	const struct layer *one = found;

	for (const struct layer *const *l = layers; *l; l++)
		if (!one || one == *l)
			print_layer(*l, out);
}

static json_t *layer_json(const struct layer *l)
{
	const char *why = layer_missing(l);
	json_t *params = json_array();

	for (const struct param *row = layer_params(l); row->name; row++)
		json_array_append_new(params, param_row_json(row));
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:b, s:b, s:o, s:o}", "name", l->name,
			 "summary", l->summary, "label", l->model ? "model" : "real", "available",
			 !why, "why_not", why ? json_text(why) : json_null(), "wraps_runtime",
			 l->wraps_runtime, "disturbs", l->disturbs, "params", params, "presets",
			 presets_json(l->presets));
}

static json_t *json(const void *found)
{
	const struct layer *one = found;
	json_t *all = json_array();

	for (const struct layer *const *l = layers; *l; l++)
		if (!one || one == *l)
			json_array_append_new(all, layer_json(*l));
	return command_json("layer", "layers", all);
}

/* ---- the command --------------------------------------------------------------------------- */

static int run_command(const struct arguments *a)
{
	struct layered l;
	int code;

	if (!a->words.n)
		return complain(EINVAL, "rift layer: no layer before --; `rift layer` lists them");
	if (!*a->rest)
		return complain(EINVAL, "rift layer: no command after --");
	if (layer_parse(&l, a->words.word, a->words.n))
		return -EINVAL;
	code = layer_enter(&l, a->rest, a->quiet, NULL);
	layer_release(&l);
	return code;
}

static int layer(void *arguments)
{
	const struct arguments *a = arguments;
	const struct layer *one = NULL;

	if (a->rest)
		return run_command(a);
	if (a->words.n && !(one = layer_find(a->words.word[0])))
		return -EINVAL;
	if (a->words.n > 1)
		return complain(EINVAL,
				"rift layer %s: no command; write -- and the command after it",
				text_shown(a->words.word[0]).s);
	show(a, one, print, json);
	return RIFT_OK;
}

const struct command command_layer = {
	.name = "layer",
	.usage = "[NAME -- COMMAND]",
	.line = "list the layers, or run a command under one",
	.words = "[NAME [name=value...] -- COMMAND...]",
	.doc = "Lists the layers: what each is, whether it is real or a model, and whether it is "
	       "available here. After --, it runs COMMAND, rift itself or any CUDA program, under "
	       "a layer.",
	.remarks = "Layers nest: rift layer cpu share=50 -- rift layer shim -- ./app. COMMAND's "
		   "exit code is passed on, unless the layer fails first.",
	.exits = exits,
	.options = options,
	.has_rest = true,
	.run = layer,
};
