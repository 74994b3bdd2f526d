/* in_force.c - see in_force.h. */
#include "harness/platform/in_force.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "layers/layer.h"

/* ---- the variable ------------------------------------------------------------------------- */

/*
 * The value as text. TOKEN=x among variables is nobody's business: records are published. A file is
 * looked for again by its name, whatever that is.
 */
static void shown_value(const struct param *row, const void *opts, char *out, size_t size)
{
	bool is_file = row->kind == PARAM_PATH && !*row->unit;

	param_format(row, opts, out, size);
	if (!is_file && text_names_secret(out))
		snprintf(out, size, LAYER_HIDDEN);
}

static json_t *params_json(const struct params *p, json_t *set)
{
	json_t *o = json_object();
	char value[1024];

	for (const struct param *row = p->rows; row->name; row++) {
		json_t *typed = param_json(row, p->opts);

		shown_value(row, p->opts, value, sizeof(value));
		if (json_is_string(typed)) {
			json_decref(typed);
			typed = json_text(value);
		}
		json_object_set_new(o, row->name, typed);
		if (!param_is_default(row, p->opts))
			json_array_append_new(set, json_sprintf("%s=%s", row->name, value));
	}
	return o;
}

json_t *layer_entry_json(const struct layered *l)
{
	json_t *set = json_array(), *params = params_json(&l->params, set);

	return json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", l->layer->name, "label",
			 l->layer->model ? "model" : "real", "version", RIFT_VERSION, "params",
			 params, "set", set);
}

/* ---- in force? ---------------------------------------------------------------------------- */

static const struct layer *known_layer(const char *name)
{
	for (const struct layer *const *l = layers; name && *l; l++)
		if (!strcmp((*l)->name, name))
			return *l;
	return NULL;
}

/* The layer again, of what it said of itself. */
static int parse_entry(struct layered *l, const json_t *entry)
{
	enum { WORDS_MAX = 64 };
	char *words[WORDS_MAX] = { (char *)(uintptr_t)json_get_text(entry, "name") };
	const json_t *set = json_object_get(entry, "set"), *word;
	size_t i;
	int n = 1;

	json_array_foreach(set, i, word) if (json_is_string(word) && n < WORDS_MAX) words[n++] =
		(char *)(uintptr_t)json_string_value(word);
	return layer_parse(l, words, n);
}

static void ask(json_t *entry)
{
	const struct layer *layer = known_layer(json_get_text(entry, "name"));
	char detail[LAYER_DETAIL] = "";
	json_t *answer = json_null();
	struct layered l;

	if (layer && layer->in_force && !parse_entry(&l, entry)) {
		answer = json_boolean(layer->in_force(l.opts, detail));
		layer_release(&l);
	}
	json_object_set_new(entry, "in_force", answer);
	json_object_set_new(entry, "detail", *detail ? json_text(detail) : json_null());
}

json_t *layers_entered(void)
{
	const char *text = getenv(LAYERS_VARIABLE);
	json_t *all = text ? json_loads(text, 0, NULL) : NULL;

	if (json_is_array(all))
		return all;
	json_decref(all);
	return json_array();
}

json_t *layers_in_force(void)
{
	json_t *all = layers_entered(), *entry;
	size_t i;

	json_array_foreach(all, i, entry) if (json_is_object(entry)) ask(entry);
	return all;
}

int layers_refuse(const json_t *all)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(all, i, entry)
	{
		if (json_is_false(json_object_get(entry, "in_force")))
			return complain(ENODEV, "the layer %s is not active: %s",
					json_get_text(entry, "name"),
					json_get_text(entry, "detail"));
	}
	return 0;
}

json_t *layers_details(const json_t *all)
{
	json_t *details = json_array();
	const json_t *entry, *detail;
	size_t i;

	json_array_foreach(all, i, entry)
	{
		detail = json_object_get(entry, "detail");
		if (json_is_string(detail))
			json_array_append_new(details,
					      json_pack("{s:s, s:s}", "name",
							json_get_text(entry, "name"), "detail",
							json_string_value(detail)));
	}
	if (json_array_size(details))
		return details;
	json_decref(details);
	return NULL;
}

/* ---- for tables ---------------------------------------------------------------------------- */

/* A setting as it is. */
static void put_setting(const char *word, FILE *out)
{
	fprintf(out, " %s", text_escaped(word).s);
}

/* A setting in short: of a path its file name, and of a long text the beginning. */
static void put_short_setting(const char *word, FILE *out)
{
	enum { SHOWN = 28 };
	const char *value = strchr(word, '='), *slash = strrchr(word, '/');
	int name = value ? (int)(value - word + 1) : 0;
	struct text_line shown = text_escaped(
		slash && value && value[1] == '/' && !strchr(word, ',') ? slash + 1 : word + name);

	fprintf(out, " %.*s%.*s%s", name, word, SHOWN, shown.s,
		strlen(shown.s) > SHOWN ? "..." : "");
}

static void put_layers(const json_t *all, void (*put)(const char *word, FILE *out), char *out,
		       size_t size)
{
	FILE *text = fmemopen(out, size, "w");
	const json_t *entry, *word;
	size_t i, k;

	CHECK(text, "memory of a text");
	*out = '\0';
	json_array_foreach(all, i, entry)
	{
		fprintf(text, "%s%s", i ? " > " : "", json_get_text(entry, "name"));
		json_array_foreach(json_object_get(entry, "set"), k, word)
		{
			if (json_is_string(word))
				put(json_string_value(word), text);
		}
		fprintf(text, " (%s)", json_get_text(entry, "label"));
	}
	fclose(text);
	out[size - 1] = '\0';
}

void layers_text(const json_t *all, char *out, size_t size)
{
	put_layers(all, put_setting, out, size);
}

void layers_text_short(const json_t *all, char *out, size_t size)
{
	put_layers(all, put_short_setting, out, size);
}
