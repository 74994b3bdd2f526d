/* allow.c - see allow.h. */
#include "harness/share/allow.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/json.h"
#include "harness/base/param.h"

#define MEMORY_MAX 1125899906842624.0 /* 1 PiB: more is a slip of the finger */

/* ---- the option ------------------------------------------------------------------------- */

struct allow_values {
	double compute; /* % */
	int64_t memory;
};

static const struct param rows[] = {
	{ "compute", PARAM_REAL, offsetof(struct allow_values, compute), "%", "", 0.1, 100, NULL,
	  "", NULL, NULL, false },
	{ "memory", PARAM_SIZE, offsetof(struct allow_values, memory), "bytes", "", 1, MEMORY_MAX,
	  NULL, "", NULL, NULL, false },
	PARAM_END,
};

/* "compute=30%" is compute=30, in place. */
static char *without_percent(char *word)
{
	size_t n = strlen(word);

	if (!strncmp(word, "compute=", strlen("compute=")) && word[n - 1] == '%')
		word[n - 1] = '\0';
	return word;
}

static int refuse_word(const char *word)
{
	return complain(EINVAL,
			"--allow: '%s' must be compute=PERCENT or memory=BYTES, as in "
			"--allow compute=30%%,memory=8G",
			text_shown(word).s);
}

static bool is_ours(const char *word)
{
	return !strncmp(word, "compute=", strlen("compute=")) ||
	       !strncmp(word, "memory=", strlen("memory="));
}

int allow_parse(struct share_allow *a, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;
	struct allow_values v = { .compute = 0 };
	struct params p;
	int err = 0;

	CHECK(copy, "memory of a text");
	params_init(&p, rows, "--allow", &v);
	p.prefix = "--allow ";
	while (!err && (word = strsep(&rest, ",")))
		err = is_ours(word) ? params_assign(&p, without_percent(word)) : refuse_word(word);
	params_release(&p);
	free(copy);
	if (err)
		return err;
	a->compute = v.compute / 100;
	a->memory = v.memory;
	return 0;
}

/* ---- texts ------------------------------------------------------------------------------ */

struct text_line allow_text(const struct share_allow *a)
{
	struct text_line t = { "" };
	int used = 0;

	if (a->compute > 0)
		used = snprintf(t.s, sizeof(t.s), "%g %% of the compute", 100 * a->compute);
	if (a->memory > 0)
		snprintf(t.s + used, sizeof(t.s) - (size_t)used, "%s%s of memory",
			 used ? " and " : "", text_bytes((double)a->memory).s);
	return t;
}

/* Of a word NAME=/PATH, where its last folder begins, which tells builds of a library apart; else
 * the word. */
static const char *last_folder(const char *word, size_t length)
{
	const char *value = memchr(word, '=', length), *end = word + length, *at = end;
	int slashes = 0;

	if (!value || value + 1 >= end || value[1] != '/')
		return word;
	while (slashes < 2 && --at > value)
		slashes += *at == '/';
	return at > value ? at + 1 : word;
}

/* "preload lib=hami-O2/libvgpu.so set=..." */
static struct text_line without_folders(const char *layer)
{
	struct text_line t = { "" };
	size_t used = 0;

	while (*layer && used < sizeof(t.s)) {
		size_t length = strcspn(layer, " "), blanks = strspn(layer + length, " ");
		const char *from = last_folder(layer, length);
		int name = from == layer ? 0 : (int)(strcspn(layer, "=") + 1);
		int rest = (int)(layer + length - from);

		used += (size_t)snprintf(t.s + used, sizeof(t.s) - used, "%.*s%.*s%s", name, layer,
					 rest, from, blanks ? " " : "");
		layer += length + blanks;
	}
	return t;
}

/* "hami-O2" of "preload lib=/a/hami-O2/libvgpu.so set=...", "mps" of "mps threads=25". */
static struct text_line layer_name(const char *layer)
{
	const char *word = strstr(layer, " lib=/"), *folder = layer;
	struct text_line t;

	if (word)
		folder = last_folder(word + 1, strcspn(word + 1, " "));
	if (!word || folder == word + 1)
		folder = layer;
	snprintf(t.s, sizeof(t.s), "%.*s", (int)strcspn(folder, " /"), folder);
	return t;
}

static struct text_line join_layers(const struct share_allow *a,
				    struct text_line (*say)(const char *layer))
{
	struct text_line t = { "" };
	size_t used = 0;

	for (int i = 0; i < a->layers && used < sizeof(t.s); i++)
		used += (size_t)snprintf(t.s + used, sizeof(t.s) - used, "%s%.400s", i ? " > " : "",
					 text_shown(say(a->layer[i]).s).s);
	return t;
}

struct text_line allow_layers_text(const struct share_allow *a)
{
	return join_layers(a, without_folders);
}

struct text_line allow_layers_name(const struct share_allow *a)
{
	return join_layers(a, layer_name);
}

/* ---- the plan --------------------------------------------------------------------------- */

void allow_to_json(const struct share_allow *a, json_t *plan)
{
	json_t *layers = json_array();

	if (!allow_is_given(a)) {
		json_decref(layers);
		return;
	}
	for (int i = 0; i < a->layers; i++)
		json_array_append_new(layers, json_text(a->layer[i]));
	json_object_set_new(
		plan, "allow",
		json_pack("{s:f, s:I}", "compute", a->compute, "memory", (json_int_t)a->memory));
	json_object_set_new(plan, "layers", layers);
}

static int take_layers(struct share_allow *a, const json_t *layers)
{
	const json_t *each;
	size_t i;

	if (!json_is_array(layers) || json_array_size(layers) > ALLOW_LAYERS_MAX)
		return -EINVAL;
	json_array_foreach(layers, i, each)
	{
		if (!json_is_string(each))
			return -EINVAL;
		a->layer[a->layers++] = json_string_value(each);
	}
	return 0;
}

int allow_from_json(struct share_allow *a, const json_t *plan)
{
	const json_t *o = json_object_get(plan, "allow"), *memory = json_object_get(o, "memory");

	*a = (struct share_allow){ .layers = 0 };
	if (!o)
		return 0;
	a->compute = json_get_number(o, "compute");
	a->memory = json_integer_value(memory);
	if (!(a->compute >= 0 && a->compute <= 1) || !json_is_integer(memory) || a->memory < 0 ||
	    (double)a->memory > MEMORY_MAX || !allow_is_given(a))
		return -EINVAL;
	return take_layers(a, json_object_get(plan, "layers"));
}
