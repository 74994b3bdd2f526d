/* environment.c - the parts of a header that say where a process ran. */
#include "harness/record/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"

static const char *const parts[] = { "build", "host",	   "virt",	 "gpu",
				     "env",   "libraries", "cuda_flags", NULL };

/* The digest of the running binary: two sessions are of one binary or they are not. */
static json_t *binary_json(void)
{
	struct digest_hex hex;

	return digest_of_large_file("/proc/self/exe", &hex) ? json_null() : json_string(hex.s);
}

json_t *environment_of(const struct platform *p)
{
	json_t *o = platform_json(p);

	json_object_set_new(json_object_get(o, "build"), "binary_sha256", binary_json());
	return o;
}

json_t *environment_parts(const json_t *header)
{
	json_t *all = platform_lasting(header), *out = json_object();

	for (int i = 0; parts[i]; i++)
		if (json_object_get(all, parts[i]))
			json_object_set(out, parts[i], json_object_get(all, parts[i]));
	json_decref(all);
	return out;
}

void environment_layers(const json_t *header, char out[LAYERS_TEXT])
{
	const json_t *layers = json_object_get(header, "layers");
	char text[LAYERS_TEXT - 8];

	*out = '\0';
	if (!json_array_size(layers))
		return;
	layers_text(layers, text, sizeof(text));
	snprintf(out, LAYERS_TEXT, "under %s", text);
}

/*
 * What makes two processes be of one machine. All else may change from process to process: a
 * container has a new host name each time, a wrapper sets a variable to a new value.
 */
static const struct field {
	const char *part, *name, *inner;
} identity[] = {
	{ "build", "binary_sha256", NULL }, { "gpu", "uuid", NULL },
	{ "gpu", "mig_profile", NULL },	    { "gpu", "driver_version", NULL },
	{ "gpu", "libcuda", "sha256" },	    { "host", "kernel", NULL },
	{ "host", "cpu_model", NULL },	    { "virt", "declared_platform", NULL },
	{ "cuda_flags", "sync", NULL },	    { "cuda_flags", "sync_flag", NULL },
};

enum { IDENTITY_FIELDS = sizeof(identity) / sizeof(identity[0]) };

static const json_t *value_at(const json_t *header, const struct field *f)
{
	const json_t *v = json_object_get(json_object_get(header, f->part), f->name);

	return f->inner ? json_object_get(v, f->inner) : v;
}

/* A field that is null says as little as one that is not there. */
static bool is_same(const json_t *a, const json_t *b)
{
	bool has_a = a && !json_is_null(a), has_b = b && !json_is_null(b);

	return has_a && has_b ? json_equal(a, b) : has_a == has_b;
}

void environment_hash(const json_t *header, char out[HASH_TEXT])
{
	json_t *o = json_object();
	char name[64], layers[LAYERS_TEXT];

	environment_layers(header, layers);
	if (*layers)
		json_object_set_new(o, "layers", json_string(layers));
	for (int i = 0; i < IDENTITY_FIELDS; i++) {
		const json_t *v = value_at(header, &identity[i]);

		snprintf(name, sizeof(name), "%s.%s", identity[i].part, identity[i].name);
		if (v && !json_is_null(v))
			json_object_set_new(o, name, json_deep_copy(v));
	}
	hash_json(o, out);
	json_decref(o);
}

static char *value_text(const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("missing");

	CHECK(text, "memory of a value");
	return text;
}

/* "gpu.uuid: a -> b", behind what is there already. */
static void append_change(const char *part, const char *name, const json_t *a, const json_t *b,
			  char *what, size_t size)
{
	size_t used = strlen(what);
	char *before = value_text(a), *now = value_text(b);

	snprintf(what + used, size - used, "%s%s.%s: %.60s -> %.60s", used ? "; " : "", part, name,
		 before, now);
	free(before);
	free(now);
}

static bool says_change(const struct field *f, const json_t *before, const json_t *now, char *what,
			size_t size)
{
	const json_t *a = value_at(before, f), *b = value_at(now, f);

	*what = '\0';
	if (!is_same(a, b))
		append_change(f->part, f->name, a, b, what, size);
	return *what;
}

bool environment_field_differs(const json_t *before, const json_t *now, const char *part,
			       const char *name, char *what, size_t size)
{
	const struct field f = { part, name, NULL };

	return says_change(&f, before, now, what, size);
}

bool environment_differs(const json_t *before, const json_t *now, char *what, size_t size)
{
	char layers_before[LAYERS_TEXT], layers_now[LAYERS_TEXT];

	environment_layers(before, layers_before);
	environment_layers(now, layers_now);
	if (strcmp(layers_before, layers_now)) {
		snprintf(what, size, "layers: %s -> %s", *layers_before ? layers_before : "none",
			 *layers_now ? layers_now : "none");
		return true;
	}
	for (int i = 0; i < IDENTITY_FIELDS; i++)
		if (says_change(&identity[i], before, now, what, size))
			return true;
	return false;
}

bool environment_explains(const char *name)
{
	return !strcmp(name, "why_null") || !strcmp(name, "evidence");
}

/* Fields of one part that b has otherwise, and have not been remarked on before. */
static void part_changes(const char *part, json_t *a, json_t *b, json_t *known, char *what,
			 size_t size)
{
	json_t *names = json_copy(a), *value;
	const char *name;

	json_object_update_missing(names, b);
	json_object_foreach(names, name, value)
	{
		const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);
		char key[128];

		snprintf(key, sizeof(key), "%s.%s", part, name);
		if (is_same(x, y) || environment_explains(name) || json_object_get(known, key))
			continue;
		json_object_set_new(known, key, json_true());
		append_change(part, name, x, y, what, size);
	}
	json_decref(names);
}

bool environment_changes(const json_t *before, const json_t *now, json_t *known, char *what,
			 size_t size)
{
	json_t *x = environment_parts(before), *y = environment_parts(now);

	*what = '\0';
	for (int i = 0; parts[i]; i++) {
		json_t *a = json_object_get(x, parts[i]), *b = json_object_get(y, parts[i]);

		if (json_is_object(a) && json_is_object(b))
			part_changes(parts[i], a, b, known, what, size);
	}
	json_decref(x);
	json_decref(y);
	return *what;
}
