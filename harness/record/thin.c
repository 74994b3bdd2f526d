/* thin.c - a complete session without its blocks. */
#include "harness/record/thin.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/record/fields.h"
#include "harness/record/journal_impl.h"
#include "harness/record/point_record.h"
#include "harness/record/validate_record.h"

/* ---- keys ------------------------------------------------------------------------------- */

bool plan_is_thinned(const json_t *plan_record)
{
	return json_is_object(json_object_get(plan_record, "thinned"));
}

bool is_key(const char *given, const char *key)
{
	size_t n = strlen(given);

	return n >= THIN_KEY_DIGITS && !strncmp(given, key, n);
}

const json_t *of_key(const json_t *by_point, const char *key)
{
	const json_t *v = json_object_get(by_point, key);
	char digits[THIN_KEY_DIGITS + 1];

	if (v || strlen(key) < THIN_KEY_DIGITS)
		return v;
	memcpy(digits, key, THIN_KEY_DIGITS);
	digits[THIN_KEY_DIGITS] = '\0';
	return json_object_get(by_point, digits);
}

static json_t *first_digits(const char *key)
{
	return json_stringn(key, strlen(key) < THIN_KEY_DIGITS ? strlen(key) : THIN_KEY_DIGITS);
}

/* ---- lines ------------------------------------------------------------------------------ */

struct thinning {
	struct record_file out;
	struct journal whole;
	char original[HASH_TEXT]; /* of the bytes of the session itself, unpacked */
	json_t *headers;	  /* "side policy" -> true: one is written whole */
	json_t *counts;		  /* key -> what the line before of this point counts of a step */
	double host_ns[2];	  /* the least and the most so far */
};

/* The members that a line keeps; where it has one. New reference. */
static json_t *only(const json_t *line, const char *const *name)
{
	json_t *o = json_object();

	for (; *name; name++) {
		json_t *v = json_object_get(line, *name);

		if (v)
			json_object_set(o, *name, v);
	}
	return o;
}

static json_t *thin_plan(struct thinning *t, const json_t *line)
{
	json_t *o = json_copy((json_t *)(uintptr_t)line);

	json_object_set_new(o, "schema", json_string(RECORD_SCHEMA));
	json_object_set_new(o, "thinned", json_pack("{s:s}", "sha256", t->original));
	return o;
}

/* The first of a side and its wait policy stays whole: the others are of the same machine. */
static json_t *thin_header(struct thinning *t, const json_t *line)
{
	const char *side = json_string_value(json_object_get(line, "side"));
	const char *sync =
		json_string_value(json_object_get(json_object_get(line, "cuda_flags"), "sync"));
	char name[64];

	snprintf(name, sizeof(name), "%s %s", side ? side : "", sync ? sync : "");
	if (json_object_get(t->headers, name))
		return fields_thin(line, "header");
	json_object_set_new(t->headers, name, json_true());
	return json_incref((json_t *)(uintptr_t)line);
}

static json_t *thin_summary(const json_t *line)
{
	static const char *const kept[] = { "noisy", NULL };
	json_t *summary = point_summary(line), *o = only(summary, kept);

	for (int k = 0; k < TURN_SERIES; k++)
		json_object_set_new(
			o, turn_series[k],
			json_pack("{s:o}", "median",
				  json_number(summary_median(summary, turn_series[k]))));
	json_decref(summary);
	return o;
}

/* By series, the times from which the pair's ratio comes; NULL: there is no pair. */
static json_t *thin_turns(const struct thinning *t, const json_t *line, const char *key)
{
	int processes = t->whole.plan.design.processes, point = journal_point_of(&t->whole, key),
	    n = 1;
	int replicate = (int)json_integer_value(json_object_get(line, "process_index"));
	const char *side = json_string_value(json_object_get(line, "side"));
	json_t *o = json_object();

	replicate += side && !strcmp(side, "b") ? processes : 0;
	for (int k = 0; k < TURN_SERIES && n; k++) {
		double ns[2];
		json_t *times = json_array();

		n = point < 0 ? 0 : journal_middle_turns(&t->whole, replicate, point, k, ns);
		for (int i = 0; i < n; i++)
			json_array_append_new(times, json_number(ns[i]));
		json_object_set_new(o, turn_series[k], times);
	}
	if (n)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *last_of(const json_t *array)
{
	size_t n = json_array_size(array);
	json_t *o = json_array();

	if (n)
		json_array_append(o, json_array_get(array, n - 1));
	return o;
}

/* Only the least and the most of a session count. NULL: it is neither. */
static json_t *host_extreme(struct thinning *t, const json_t *line)
{
	double ns = point_host_ns(line);

	if (!isfinite(ns) || (ns >= t->host_ns[0] && ns <= t->host_ns[1]))
		return NULL;
	t->host_ns[0] = fmin(t->host_ns[0], ns);
	t->host_ns[1] = fmax(t->host_ns[1], ns);
	return json_pack("[o]", json_number(ns));
}

/* What a step counts is the same in every process, as a rule: the line before of this point says
 * it. */
static void drop_known(struct thinning *t, json_t *o, const char *name)
{
	const char *key = json_string_value(json_object_get(o, "key"));
	json_t *of_point = json_object_get(t->counts, key), *v = json_object_get(o, name);

	if (!of_point) {
		of_point = json_object();
		json_object_set_new(t->counts, key, of_point);
	}
	if (v && json_equal(v, json_object_get(of_point, name)))
		json_object_del(o, name);
	else if (v)
		json_object_set(of_point, name, v);
}

static void set_if(json_t *o, const char *name, json_t *value)
{
	if (value)
		json_object_set_new(o, name, value);
}

static json_t *thin_point(struct thinning *t, const json_t *line)
{
	static const char *const of_check[] = { "state", "error", "tolerance", NULL };
	const json_t *check = json_object_get(line, "check");
	const char *key = json_string_value(json_object_get(line, "key"));
	json_t *o = fields_thin(line, "point");

	json_object_set_new(o, "key", first_digits(key));
	if (json_is_object(check))
		json_object_set_new(o, "check", only(check, of_check));
	if (!json_object_get(line, "summary"))
		return o; /* no result */
	json_object_set_new(o, "summary", thin_summary(line));
	set_if(o, "turns", thin_turns(t, line, key));
	json_object_set_new(o, "canary_ns", last_of(json_object_get(line, "canary_ns")));
	set_if(o, "host_canary_ns", host_extreme(t, line));
	drop_known(t, o, "step");
	drop_known(t, o, "launches_per_step");
	return o;
}

/* Of the sentinels the one that counts: with the longest set_up_ns. */
static json_t *most_held(const json_t *sentinels)
{
	json_t *most = NULL, *o, *out = json_array();
	size_t i;

	json_array_foreach(sentinels, i, o)
	{
		if (!most || json_number_value(json_object_get(o, "set_up_ns")) >
				     json_number_value(json_object_get(most, "set_up_ns")))
			most = o;
	}
	if (most)
		json_array_append(out, most);
	return out;
}

static json_t *thin_alone(const json_t *alone)
{
	json_t *o = json_copy((json_t *)(uintptr_t)alone), *ns, *by_point = json_object();
	const char *key;

	json_object_foreach(json_object_get(alone, "t_total_ns"), key, ns)
	{
		char digits[HASH_TEXT];

		snprintf(digits, sizeof(digits), "%.*s", THIN_KEY_DIGITS, key);
		json_object_set(by_point, digits, ns);
	}
	json_object_set_new(o, "t_total_ns", by_point);
	return o;
}

static json_t *thin_trailer(struct thinning *t, const json_t *line)
{
	json_t *o = fields_thin(line, "trailer"), *v;
	char hash[HASH_TEXT];

	v = json_object_get(line, "sentinels");
	if (v)
		json_object_set_new(o, "sentinels", most_held(v));
	v = json_object_get(line, "alone");
	if (json_is_object(v))
		json_object_set_new(o, "alone", thin_alone(v));
	hash_text(&t->out.hash, hash);
	json_object_set_new(o, "lines_sha256", json_string(hash));
	return o;
}

static json_t *thin_line(struct thinning *t, const json_t *line)
{
	if (record_is(line, "plan"))
		return thin_plan(t, line);
	if (record_is(line, "header"))
		return thin_header(t, line);
	if (record_is(line, "point"))
		return thin_point(t, line);
	if (record_is(line, "trailer"))
		return thin_trailer(t, line);
	return json_incref((json_t *)(uintptr_t)line);
}

static int write_line(const json_t *line, const struct record_scan *scan, void *arg)
{
	struct thinning *t = arg;

	(void)scan;
	return record_write(&t->out, thin_line(t, line));
}

/* ---- a session -------------------------------------------------------------------------- */

static int note_first(const json_t *line, const struct record_scan *scan, void *arg)
{
	bool *is_thinned = arg;

	*is_thinned |= !scan->line && plan_is_thinned(line);
	return 0;
}

static int read_whole(struct thinning *t, const char *from)
{
	struct record_facts facts;
	struct record_scan scan;
	bool is_thinned = false;
	int err = record_check(&facts, from, NULL);

	if (!err && (facts.incomplete || !facts.sides || facts.torn))
		err = complain(EINVAL, "%s: must be a complete session to be thinned", from);
	if (!err)
		err = record_read(&scan, from, note_first, &is_thinned);
	if (!err && is_thinned)
		err = complain(EINVAL, "%s: is thinned already", from);
	if (err)
		return err;
	hash_text(&scan.hash, t->original);
	return journal_read(&t->whole, from);
}

int record_thin(const char *from, const char *to)
{
	struct thinning t = { .out = { .fd = -1 },
			      .whole = JOURNAL_NONE,
			      .headers = json_object(),
			      .counts = json_object(),
			      .host_ns = { INFINITY, -INFINITY } };
	struct record_scan scan;
	int err = read_whole(&t, from);

	if (!err)
		err = record_create(&t.out, to);
	if (!err)
		err = record_read(&scan, from, write_line, &t);
	if (!err)
		err = record_sync(&t.out, true);
	record_close(&t.out);
	journal_release(&t.whole);
	json_decref(t.headers);
	json_decref(t.counts);
	return err;
}
