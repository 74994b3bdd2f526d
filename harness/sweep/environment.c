/* environment.c - the parts of a header that say where a process ran. */
#include "harness/sweep/environment.h"

#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/command.h"
#include "harness/json.h"

extern char **environ;

static const char *const parts[] = { "build", "host", "virt", "gpu", "env", "cuda_flags", NULL };

/* What changes by itself; null in the hash. */
static const char *const changing[] = { "uptime_s", "load", "other_processes", "mem_free_bytes",
					NULL };

static bool is_recorded(const char *variable)
{
	static const char *const start[] = { "CUDA_",	    "NVIDIA_",		"RIFT_",
					     "LD_PRELOAD=", "LD_LIBRARY_PATH=", NULL };

	for (int i = 0; start[i]; i++)
		if (!strncmp(variable, start[i], strlen(start[i])))
			return true;
	return false;
}

static json_t *variables_json(void)
{
	json_t *o = json_object();

	for (char **v = environ; *v; v++) {
		const char *equals = strchr(*v, '=');
		char *name;

		if (!equals || !is_recorded(*v))
			continue;
		name = strndup(*v, (size_t)(equals - *v));
		CHECK(name, "memory of a name");
		json_object_set_new(o, name, json_text(equals + 1));
		free(name);
	}
	return o;
}

json_t *environment_json(const struct platform *p)
{
	json_t *build =
		json_pack("{s:s, s:s}", "device", platform_build(), "compiler", __VERSION__);

	return json_pack("{s:o, s:o, s:o, s:o}", "build", build, "host", platform_host_json(p),
			 "gpu", platform_device_json(p), "env", variables_json());
}

static bool is_changing(const char *name)
{
	for (int i = 0; changing[i]; i++)
		if (!strcmp(name, changing[i]))
			return true;
	return false;
}

/* A copy of the parts without what changes by itself. */
static json_t *steady_parts(const json_t *header)
{
	json_t *out = json_object();

	for (int i = 0; parts[i]; i++) {
		json_t *part = json_deep_copy(json_object_get(header, parts[i]));

		if (!part)
			continue;
		for (int j = 0; changing[j]; j++)
			json_object_del(part, changing[j]);
		json_object_set_new(out, parts[i], part);
	}
	return out;
}

void environment_hash(const json_t *header, char out[HASH_TEXT])
{
	json_t *o = steady_parts(header);

	hash_json(o, out);
	json_decref(o);
}

static char *shown(const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("missing");

	CHECK(text, "memory of a value");
	return text;
}

static void describe(const char *part, const char *name, const json_t *a, const json_t *b,
		     char *what, size_t size)
{
	char *before = shown(a), *now = shown(b);

	snprintf(what, size, "%s.%s: %.60s -> %.60s", part, name, before, now);
	free(before);
	free(now);
}

/* Fields of a that b has otherwise; those that only b has are found with the sides exchanged. */
static bool part_differs(const char *part, json_t *a, json_t *b, bool exchanged, char *what,
			 size_t size)
{
	const char *name;
	json_t *value;

	json_object_foreach(a, name, value)
	{
		const json_t *other = json_object_get(b, name);

		if (is_changing(name) || json_equal(value, other))
			continue;
		describe(part, name, exchanged ? other : value, exchanged ? value : other, what,
			 size);
		return true;
	}
	return false;
}

bool environment_differs(const json_t *before, const json_t *now, char *what, size_t size)
{
	for (int i = 0; parts[i]; i++) {
		json_t *a = json_object_get(before, parts[i]), *b = json_object_get(now, parts[i]);

		if (part_differs(parts[i], a, b, false, what, size) ||
		    part_differs(parts[i], b, a, true, what, size))
			return true;
	}
	return false;
}
