/* fields.c - the fields that records of a session have. */
#include "harness/record/fields.h"

#include <stdio.h>
#include <string.h>

#define T FIELD_TEXT
#define W FIELD_WHOLE
#define N FIELD_NUMBER
#define A FIELD_ARRAY
#define O FIELD_OBJECT
#define B FIELD_TRUTH

enum {
	MAY = 0,
	ALL = FIELD_ALWAYS | FIELD_THIN, /* also of a thinned record */
	WHOLE = FIELD_ALWAYS,		 /* but of a thinned one */
	THIN = FIELD_THIN,
	TIMED = FIELD_MEASURED | FIELD_THIN,
	TIMED_WHOLE = FIELD_MEASURED,
	TIMED_THINNED = FIELD_MEASURED | FIELD_THINNED,
	OLD = FIELD_OLD,
	COLUMN = FIELD_COLUMN,
};

const struct record_field record_fields[] = {
	{ "plan", "record", T, ALL },
	{ "plan", "schema", T, ALL },
	{ "plan", "tool", T, ALL },
	{ "plan", "tool_version", T, ALL },
	{ "plan", "session_id", T, ALL },
	{ "plan", "plan_sha256", T, ALL },
	{ "plan", "argv", T, THIN },
	{ "plan", "start_utc", T, THIN },
	{ "plan", "sides", W, ALL },
	{ "plan", "against", T, THIN },
	{ "plan", "plan", O, ALL },
	{ "plan", "thinned", O, MAY },

	{ "header", "record", T, ALL },
	{ "header", "schema", T, ALL },
	{ "header", "session_id", T, ALL },
	{ "header", "side", T, ALL },
	{ "header", "process_index", W, ALL },
	{ "header", "attempt", W, THIN },
	{ "header", "tool", T, MAY },
	{ "header", "tool_version", T, MAY },
	{ "header", "plan_sha256", T, ALL },
	{ "header", "environment_sha256", T, ALL },
	{ "header", "seed", W, ALL },
	{ "header", "start_utc", T, ALL },
	{ "header", "command", T, THIN },
	{ "header", "git_commit", T, MAY },
	{ "header", "git_dirty", B, MAY },
	{ "header", "why_null", O, MAY },
	{ "header", "build", O, MAY },
	{ "header", "host", O, WHOLE },
	{ "header", "virt", O, MAY },
	{ "header", "gpu", O, WHOLE },
	{ "header", "libraries", O, MAY },
	{ "header", "env", O, WHOLE },
	{ "header", "cuda_flags", O, ALL },
	{ "header", "layers", A, MAY },
	{ "header", "boot_id", T, MAY },
	{ "header", "start_monotonic_ns", W, MAY },
	{ "header", "ready_s", N, MAY },
	{ "header", "startup", O, THIN },
	{ "header", "pinned_cpu", W, THIN },
	{ "header", "warmup", O, ALL },
	{ "header", "calib", O, WHOLE },

	{ "point", "record", T, ALL },
	{ "point", "side", T, ALL | COLUMN },
	{ "point", "process_index", W, ALL | COLUMN },
	{ "point", "status", T, ALL | COLUMN },
	{ "point", "axes", O, WHOLE | COLUMN },
	{ "point", "error", O, THIN },
	{ "point", "rounds", W, TIMED },
	{ "point", "blocks", W, TIMED | COLUMN },
	{ "point", "t_enq_ns", A, TIMED_WHOLE | FIELD_JOINED },
	{ "point", "t_total_ns", A, TIMED_WHOLE | FIELD_JOINED },
	{ "point", "t_dev_ns", A, TIMED_WHOLE | FIELD_JOINED },
	{ "point", "round_of_block", A, TIMED_WHOLE },
	{ "point", "marks", A, TIMED_WHOLE | FIELD_JOINED },
	{ "point", "canary_ns", A, TIMED_THINNED | FIELD_JOINED },
	{ "point", "sm_clock_mhz", A, MAY | FIELD_JOINED },
	{ "point", "host_canary_ns", A, MAY | FIELD_JOINED },
	{ "point", "utime_us", W, MAY | FIELD_SUMMED },
	{ "point", "stime_us", W, MAY | FIELD_SUMMED },
	{ "point", "steal_ticks", W, MAY | FIELD_SUMMED },
	{ "point", "retries", W, OLD },
	{ "point", "launches_per_step", N, THIN | FIELD_ALIKE },
	{ "point", "graph_steps", W, THIN | FIELD_ALIKE },
	{ "point", "step", O, THIN | FIELD_ALIKE },
	{ "point", "check", O, MAY },
	{ "point", "summary", O, TIMED_THINNED | COLUMN },
	{ "point", "turns", O, MAY },
	{ "point", "key", T, FIELD_ALWAYS | FIELD_THINNED | COLUMN },

	{ "summary", "n", W, MAY },
	{ "summary", "share_marked", N, MAY | COLUMN },
	{ "summary", "noisy", B, MAY | COLUMN },
	{ "summary", "modes", A, MAY },
	{ "summary", "t_enq_ns", O, MAY | COLUMN },
	{ "summary", "t_total_ns", O, MAY | COLUMN },

	{ "series", "median", N, MAY | COLUMN },
	{ "series", "min", N, MAY | COLUMN },
	{ "series", "p10", N, MAY | COLUMN },
	{ "series", "p25", N, MAY | COLUMN },
	{ "series", "p75", N, MAY | COLUMN },
	{ "series", "p90", N, MAY | COLUMN },
	{ "series", "p99", N, MAY | COLUMN },
	{ "series", "max", N, MAY | COLUMN },
	{ "series", "mad", N, MAY | COLUMN },

	{ "failure", "record", T, ALL },
	{ "failure", "side", T, ALL },
	{ "failure", "process_index", W, ALL },
	{ "failure", "key", T, ALL },
	{ "failure", "status", T, ALL },
	{ "failure", "error", O, THIN },

	{ "trailer", "record", T, ALL },
	{ "trailer", "side", T, ALL },
	{ "trailer", "process_index", W, ALL },
	{ "trailer", "records", W, ALL },
	{ "trailer", "failed", W, ALL },
	{ "trailer", "wall_s", N, THIN },
	{ "trailer", "cpu_s", N, THIN },
	{ "trailer", "blocks_s", N, THIN },
	{ "trailer", "checks_s", N, THIN },
	{ "trailer", "turns", W, THIN },
	{ "trailer", "workers", W, THIN },
	{ "trailer", "sentinels", A, MAY },
	{ "trailer", "canary_drift", N, THIN },
	{ "trailer", "nvml", O, MAY },
	{ "trailer", "layers", A, THIN },
	{ "trailer", "lines_sha256", T, FIELD_ALWAYS | FIELD_THINNED },
	{ "trailer", "alone", O, MAY },
	{ "trailer", "interim", O, THIN },
	{ "trailer", "look", O, OLD | THIN },
	{ "trailer", "complete", B, ALL },

	{ "fewer", "record", T, ALL },
	{ "fewer", "keys", A, ALL },
	{ "fewer", "left_ns", W, ALL },
	{ "fewer", "times_as_long", N, ALL },

	{ NULL, NULL, T, MAY },
};

bool field_is(const json_t *v, enum field_kind kind)
{
	switch (kind) {
	case FIELD_TEXT:
		return json_is_string(v);
	case FIELD_WHOLE:
		return json_is_integer(v);
	case FIELD_NUMBER:
		return json_is_number(v);
	case FIELD_ARRAY:
		return json_is_array(v);
	case FIELD_OBJECT:
		return json_is_object(v);
	default:
		return json_is_boolean(v);
	}
}

static bool is_needed(const struct record_field *f, struct field_rules rules)
{
	bool is_required =
		(f->flags & FIELD_ALWAYS) || (rules.is_measured && (f->flags & FIELD_MEASURED));

	return is_required && (!rules.is_thinned || (f->flags & (FIELD_THIN | FIELD_THINNED)));
}

/* In today's schema. */
static bool is_known(const char *record, const char *name)
{
	for (const struct record_field *f = record_fields; f->record; f++)
		if (!strcmp(f->record, record) && !strcmp(f->name, name))
			return !(f->flags & FIELD_OLD);
	return false;
}

const char *field_parts(const struct record_field *f)
{
	if (!strcmp(f->name, "summary"))
		return "summary";
	return strcmp(f->record, "summary") || f->kind != FIELD_OBJECT ? NULL : "series";
}

static struct text unknown_field(const json_t *o, const char *record)
{
	struct text wrong = { "" };
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)o, name, v)
	{
		if (!is_known(record, name))
			snprintf(wrong.s, sizeof(wrong.s),
				 "a field that its schema does not have: %.30s",
				 text_shown(name).s);
	}
	return wrong;
}

struct text fields_wrong(const json_t *o, const char *record, struct field_rules rules)
{
	struct text wrong = { "" };

	for (const struct record_field *f = record_fields; f->record && !*wrong.s; f++) {
		const json_t *v = json_object_get(o, f->name);

		if (strcmp(f->record, record))
			continue;
		if (is_needed(f, rules) ? !field_is(v, f->kind)
					: v && !json_is_null(v) && !field_is(v, f->kind))
			snprintf(wrong.s, sizeof(wrong.s),
				 "a field is missing or of the wrong kind: %s", f->name);
		else if (field_parts(f) && json_is_object(v))
			wrong = fields_wrong(v, field_parts(f), rules);
	}
	return *wrong.s || !rules.knows_all ? wrong : unknown_field(o, record);
}

json_t *fields_thin(const json_t *o, const char *record)
{
	json_t *out = json_object();

	for (const struct record_field *f = record_fields; f->record; f++) {
		json_t *v = json_object_get(o, f->name);

		if (v && !strcmp(f->record, record) && (f->flags & FIELD_THIN))
			json_object_set(out, f->name, v);
	}
	return out;
}
