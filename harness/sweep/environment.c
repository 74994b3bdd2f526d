/* environment.c - the parts of a header that say where a process ran. */
#include "harness/sweep/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/json.h"

static const char *const parts[] = { "build", "host",	   "virt",	 "gpu",
				     "env",   "libraries", "cuda_flags", NULL };

/* Of the binary that runs: two sessions are of one binary or they are not. */
static json_t *binary_json(void)
{
	struct digest_hex hex;

	return digest_of_file("/proc/self/exe", &hex) ? json_null() : json_string(hex.s);
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

void environment_hash(const json_t *header, char out[HASH_TEXT])
{
	json_t *o = environment_parts(header);

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

		if (json_equal(value, other))
			continue;
		describe(part, name, exchanged ? other : value, exchanged ? value : other, what,
			 size);
		return true;
	}
	return false;
}

bool environment_differs(const json_t *before, const json_t *now, char *what, size_t size)
{
	json_t *x = environment_parts(before), *y = environment_parts(now);
	bool found = false;

	for (int i = 0; parts[i] && !found; i++) {
		json_t *a = json_object_get(x, parts[i]), *b = json_object_get(y, parts[i]);

		found = part_differs(parts[i], a, b, false, what, size) ||
			part_differs(parts[i], b, a, true, what, size);
		if (!found && json_is_array(a) && !json_equal(a, b)) {
			snprintf(what, size, "%s: another list", parts[i]);
			found = true;
		}
	}
	json_decref(x);
	json_decref(y);
	return found;
}
