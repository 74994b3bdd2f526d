/* plan_check.c - is this a plan: fields, kinds and ranges of its record. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/session/clocks.h"
#include "harness/plan/plan.h"
#include "harness/record/record.h"
#include "harness/text.h"

/* Longer than any visit, warm-up or pause, ns: a day. */
static const json_int_t ns_max = (json_int_t)86400 * 1000000000;

enum { BLOCKS_MOST = 1000000 };

__attribute__((format(printf, 1, 2))) static struct text say(const char *fmt, ...)
{
	struct text t;
	va_list args;

	va_start(args, fmt);
	vsnprintf(t.s, sizeof(t.s), fmt, args);
	va_end(args);
	return t;
}

static const struct text nothing;

/* ---- fields ----------------------------------------------------------------------------- */

static bool is_whole(const json_t *o, const char *name, json_int_t lo, json_int_t hi)
{
	const json_t *v = json_object_get(o, name);

	return json_is_integer(v) && json_integer_value(v) >= lo && json_integer_value(v) <= hi;
}

static bool is_name(const json_t *v, const char *const *names)
{
	const char *name = json_string_value(v);

	for (int i = 0; name && names[i]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* A SHA-256 in hexadecimal digits. */
static bool is_key(const json_t *o, const char *name)
{
	const char *key = json_string_value(json_object_get(o, name));

	return key && strlen(key) + 1 == HASH_TEXT &&
	       strspn(key, "0123456789abcdef") + 1 == HASH_TEXT;
}

/* ---- design ----------------------------------------------------------------------------- */

/* Absent, "base", or MHz. */
static bool is_lock(const json_t *o)
{
	static const char *const base[] = { "base", NULL };
	const json_t *v = json_object_get(o, "lock_clocks_mhz");

	return !v || is_name(v, base) || is_whole(o, "lock_clocks_mhz", 1, CLOCK_MHZ_MAX);
}

/* One kind of waiting, or several, each once. */
static bool are_kinds(const json_t *o)
{
	const json_t *kinds = json_object_get(o, "sync_kinds"), *v;
	size_t i, n = json_array_size(kinds);

	if (!kinds)
		return is_name(json_object_get(o, "sync"), sync_names);
	json_array_foreach(kinds, i, v)
	{
		if (!is_name(v, sync_names))
			return false;
		for (size_t k = 0; k < i; k++)
			if (json_equal(v, json_array_get(kinds, k)))
				return false;
	}
	return n > 1;
}

static struct text design_wrong(const json_t *o)
{
	const struct {
		const char *name;
		json_int_t lo, hi;
		bool optional;
	} rows[] = {
		{ "processes", 1, PROCESSES_MAX, false },
		{ "rounds", 1, ROUNDS_MAX, false },
		{ "visit_ns", 1, ns_max, false },
		{ "blocks_min", 1, BLOCKS_MOST, false },
		{ "blocks_max", json_integer_value(json_object_get(o, "blocks_min")), BLOCKS_MOST,
		  false },
		{ "warmup_min_ns", 0, ns_max, true },
		{ "warmup_max_ns", 0, ns_max, true },
		{ "pause_min_ns", 0, ns_max, true },
		{ "pause_max_ns", 0, ns_max, true },
		{ "check_steps", 1, PLAN_DEPTH_MAX, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!(rows[i].optional && !json_object_get(o, rows[i].name)) &&
		    !is_whole(o, rows[i].name, rows[i].lo, rows[i].hi))
			return say("design.%s must be %lld to %lld", rows[i].name,
				   (long long)rows[i].lo, (long long)rows[i].hi);
	if (!are_kinds(o))
		return say("design.sync or sync_kinds must name how blocks are waited for");
	if (!is_lock(o))
		return say("design.lock_clocks_mhz must be \"base\" or 1 to %d", CLOCK_MHZ_MAX);
	return nothing;
}

/* ---- points ----------------------------------------------------------------------------- */

/* Of several kinds a point has one of them, and its key in a session of that alone. */
static bool has_kind(const json_t *o, const json_t *kinds)
{
	size_t i;
	json_t *v;

	json_array_foreach((json_t *)(uintptr_t)kinds, i, v)
	{
		if (json_equal(v, json_object_get(o, "sync")))
			return is_key(o, "key_alone");
	}
	return !kinds;
}

static struct text point_wrong(const json_t *o, int i, int n_configs, const json_t *kinds)
{
	static const char *const modes[] = { "stream", "graph", "fused", NULL };
	const json_t *block = json_object_get(o, "block_ns");

	if (!is_whole(o, "config", 0, n_configs - 1))
		return say("points[%d].config must be 0 to %d", i, n_configs - 1);
	if (!is_name(json_object_get(o, "mode"), modes))
		return say("points[%d].mode must be stream, graph or fused", i);
	if (!is_whole(o, "depth", 1, PLAN_DEPTH_MAX))
		return say("points[%d].depth must be 1 to %d", i, PLAN_DEPTH_MAX);
	if (block && !json_is_null(block) && !(json_number_value(block) >= 0))
		return say("points[%d].block_ns must be 0 or more, or null", i);
	if (!is_key(o, "key"))
		return say("points[%d].key must be a SHA-256", i);
	if (!has_kind(o, kinds))
		return say("points[%d] must have a sync of sync_kinds, and a key_alone", i);
	return nothing;
}

struct text plan_wrong(const json_t *o)
{
	const json_t *design = json_object_get(o, "design"), *points = json_object_get(o, "points");
	int n_configs = (int)json_array_size(json_object_get(o, "configs"));
	int n_points = (int)json_array_size(points);
	struct text wrong = design_wrong(design);

	if (!*wrong.s && !n_points)
		wrong = say("points must be there");
	for (int i = 0; i < n_points && !*wrong.s; i++)
		wrong = point_wrong(json_array_get(points, (size_t)i), i, n_configs,
				    json_object_get(design, "sync_kinds"));
	return wrong;
}
