/* validate_record.c - is a record file whole and valid; its summaries as CSV. */
#include "harness/record/validate_record.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/plan/plan.h"
#include "harness/plan/plan_record.h"
#include "harness/record/point_record.h"
#include "harness/record/record.h"
#include "harness/record/thin.h"

/* ---- are blocks possible, and a summary theirs? ----------------------------------------- */

static const struct text nothing;

/* ---- arrays ----------------------------------------------------------------------------- */

static size_t length(const json_t *o, const char *name)
{
	return json_array_size(json_object_get(o, name));
}

/* Whole numbers from lo to hi. */
static bool are_whole(const json_t *o, const char *name, json_int_t lo, json_int_t hi)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(o, name), i, v)
	{
		if (!json_is_integer(v) || json_integer_value(v) < lo || json_integer_value(v) > hi)
			return false;
	}
	return true;
}

/* What is wrong with the arrays that a visit and a point have; "": nothing. */
static struct text blocks_wrong(const json_t *o)
{
	const json_t *enq = json_object_get(o, "t_enq_ns");
	const json_t *total = json_object_get(o, "t_total_ns");
	size_t n = json_array_size(total);

	if (json_array_size(enq) != n || length(o, "marks") != n)
		return (struct text){ "t_enq_ns, t_total_ns and marks are not of one length" };
	for (size_t i = 0; i < n; i++) {
		json_int_t e = json_integer_value(json_array_get(enq, i));
		json_int_t t = json_integer_value(json_array_get(total, i));

		if (e <= 0 || t < e)
			return (struct text){
				"a block whose times cannot be: 0 < t_enq <= t_total"
			};
	}
	if (!are_whole(o, "marks", 0, MARK_ALL))
		return (struct text){ "marks that no block can have" };
	return nothing;
}

/* ---- visit ------------------------------------------------------------------------------ */

static int count_marked(const json_t *o, enum mark mark)
{
	const json_t *v;
	size_t i;
	int n = 0;

	json_array_foreach(json_object_get(o, "marks"), i, v)
	{
		n += (json_integer_value(v) & mark) != 0;
	}
	return n;
}

/* Numbers that are added up over the visits; null: not known. */
static bool are_counts(const json_t *o, const char *const *name)
{
	for (; *name; name++) {
		const json_t *v = json_object_get(o, *name);

		if (v && !json_is_null(v) && (!json_is_integer(v) || json_integer_value(v) < 0))
			return false;
	}
	return true;
}

/* Two clocks, or none on a device without. */
static bool are_clocks(const json_t *mhz)
{
	if (!mhz || json_is_null(mhz))
		return true;
	for (size_t i = 0; i < json_array_size(mhz); i++)
		if (!json_is_integer(json_array_get(mhz, i)) &&
		    !json_is_null(json_array_get(mhz, i)))
			return false;
	return json_is_array(mhz);
}

static bool is_verdict(const char *state)
{
	return state && (!strcmp(state, "passed") || !strcmp(state, "failed"));
}

struct text visit_wrong(const json_t *visit)
{
	static const char *const counts[] = { "point",	     "round",	"utime_us",    "stime_us",
					      "steal_ticks", "retries", "graph_steps", NULL };
	const json_t *check = json_object_get(visit, "check");
	const json_t *launches = json_object_get(visit, "launches_per_step");
	const json_t *step = json_object_get(visit, "step");
	const json_t *crc = json_object_get(visit, "crc32");
	struct text wrong = blocks_wrong(visit);

	if (*wrong.s)
		return wrong;
	if (!json_is_integer(json_object_get(visit, "point")) ||
	    !json_is_integer(json_object_get(visit, "round")) || !are_counts(visit, counts))
		return (struct text){ "point, round or a count is no whole number" };
	if (!length(visit, "t_total_ns"))
		return (struct text){ "a visit without blocks" };
	if (length(visit, "t_dev_ns") != (size_t)count_marked(visit, MARK_EVENTS) ||
	    !are_whole(visit, "t_dev_ns", 0, INT64_MAX))
		return (struct text){ "t_dev_ns is not of the blocks with mark 16" };
	if (length(visit, "canary_ns") != 2 || !are_whole(visit, "canary_ns", 0, INT64_MAX) ||
	    !are_clocks(json_object_get(visit, "sm_clock_mhz")))
		return (struct text){ "canary_ns or sm_clock_mhz is not of two canaries" };
	if (json_object_get(visit, "host_canary_ns") &&
	    (length(visit, "host_canary_ns") != 2 ||
	     !are_whole(visit, "host_canary_ns", 1, INT64_MAX)))
		return (struct text){ "host_canary_ns is not of two canaries" };
	if ((launches && !json_is_number(launches)) || (step && !json_is_object(step)) ||
	    (check && !json_is_object(check)))
		return (struct text){ "launches_per_step, step or check is of the wrong kind" };
	if (check && !is_verdict(json_string_value(json_object_get(check, "state"))))
		return (struct text){ "a check that neither passed nor failed" };
	if (crc && json_integer_value(crc) != record_crc32(visit))
		return (struct text){ "crc32 is not of this line" };
	return nothing;
}

/* ---- summary ---------------------------------------------------------------------------- */

/* Reals are written with 12 digits. */
static bool same_number(double x, double y)
{
	return fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y));
}

/* Members that only one has do not count: another version may have more. */
static bool are_equal(const json_t *x, const json_t *y)
{
	const char *name;
	json_t *v;

	if (json_is_number(x) && json_is_number(y))
		return same_number(json_number_value(x), json_number_value(y));
	if (json_is_array(x) && json_is_array(y)) {
		bool same = json_array_size(x) == json_array_size(y);

		for (size_t i = 0; i < json_array_size(x) && same; i++)
			same = are_equal(json_array_get(x, i), json_array_get(y, i));
		return same;
	}
	if (!json_is_object(x) || !json_is_object(y))
		return json_equal(x, y);
	json_object_foreach((json_t *)(uintptr_t)x, name, v)
	{
		const json_t *other = json_object_get(y, name);

		if (other && !are_equal(v, other))
			return false;
	}
	return true;
}

/* Drops the reference of found. */
static struct text summary_differs(const json_t *said, json_t *found)
{
	struct text wrong = nothing;
	const char *name;
	json_t *v;

	json_object_foreach(found, name, v)
	{
		const json_t *other = json_object_get(said, name);

		if (other && !are_equal(other, v))
			snprintf(wrong.s, sizeof(wrong.s),
				 "summary.%.20s is not that of the blocks", name);
	}
	json_decref(found);
	return wrong;
}

/* By today's rule or the former one: a later rift may have gone on with a session. */
static struct text summary_wrong(const json_t *point)
{
	const json_t *said = json_object_get(point, "summary");
	struct text wrong = summary_differs(said, assemble_summary(point));

	if (!json_object_get(said, "t_enq_ns") || !json_object_get(said, "t_total_ns"))
		return (struct text){ "a summary without t_enq_ns or t_total_ns" };
	if (*wrong.s && !*summary_differs(said, assemble_former_summary(point)).s)
		return nothing;
	return wrong;
}

/* ---- counts ----------------------------------------------------------------------------- */

/* Launches, calls and bytes of a step: no more bytes than addresses, so that no product of them
 * with times leaves the range of a double. */
static const double count_max = 0x1p63;

static bool is_bounded(const json_t *v)
{
	const char *name;
	json_t *member;

	if (json_is_number(v))
		return json_number_value(v) >= 0 && json_number_value(v) <= count_max;
	json_object_foreach((json_t *)(uintptr_t)v, name, member)
	{
		if (!is_bounded(member))
			return false;
	}
	return true;
}

static struct text counts_wrong(const json_t *point)
{
	static const char *const names[] = { "launches_per_step", "step" };
	struct text wrong = nothing;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!is_bounded(json_object_get(point, names[i])))
			snprintf(wrong.s, sizeof(wrong.s), "%s: counts are 0 to 2^63", names[i]);
	return wrong;
}

/* The same of a point that was measured, in at most so many rounds, and its summary. */
static struct text measured_wrong(const json_t *point, int rounds)
{
	size_t n = length(point, "t_total_ns");
	struct text wrong = blocks_wrong(point);

	if (!*wrong.s)
		wrong = counts_wrong(point);
	if (*wrong.s)
		return wrong;
	if (!n)
		return (struct text){ "a measured point without blocks" };
	if (json_integer_value(json_object_get(point, "blocks")) != (json_int_t)n ||
	    length(point, "round_of_block") != n)
		return (struct text){ "blocks and round_of_block do not agree with the arrays" };
	if (!are_whole(point, "round_of_block", 0, rounds - 1))
		return (struct text){ "a round that is not planned" };
	return summary_wrong(point);
}

/* ---- without blocks --------------------------------------------------------------------- */

/* The rounds from which a pair's ratio comes are one or two. */
static struct text turns_wrong(const json_t *turns)
{
	const json_t *ns;
	size_t r;

	for (int k = 0; turns && k < TURN_SERIES; k++) {
		const json_t *times = json_object_get(turns, turn_series[k]);

		if (json_array_size(times) < 1 || json_array_size(times) > 2)
			return (struct text){ "turns is not of one round or two" };
		json_array_foreach(times, r, ns)
		{
			if (!(json_number_value(ns) > 0))
				return (struct text){ "a time of turns is no number above 0" };
		}
	}
	return nothing;
}

/* What is wrong with a measured point of a thinned record. */
static struct text thinned_wrong(const json_t *point)
{
	const json_t *summary = json_object_get(point, "summary");
	double enq_ns = summary_median(summary, "t_enq_ns");
	double total_ns = summary_median(summary, "t_total_ns");
	struct text wrong = counts_wrong(point);

	if (*wrong.s)
		return wrong;
	if (!(enq_ns > 0) || !(total_ns >= enq_ns))
		return (struct text){ "medians that cannot be: 0 < t_enq <= t_total" };
	return turns_wrong(json_object_get(point, "turns"));
}

/* ---- do the records of a session agree with its plan and with each other? --------------- */

/* What is known of one process. */
struct checked_process {
	int ok, other; /* points with status ok; with another */
	bool complete; /* it has its trailer */
};

struct checked_session {
	char id[32], plan_hash[HASH_TEXT];
	int sides, processes;		 /* of each side, as planned */
	int points, rounds;		 /* of the plan; points less those of a record `fewer` */
	struct checked_process *process; /* [side * processes + process_index] */
	json_t *seen;			 /* "replicate key" of each point -> true */
};

static const char *text_field(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "";
}

/*
 * Each returns NULL, or what is wrong with the record in a few words. The records have the fields
 * and kinds that docs/records.md says. *s is zeroed before the plan; release it after a failure
 * too.
 */
static const char *session_check_plan(struct checked_session *s, const json_t *record)
{
	const json_t *plan = json_object_get(record, "plan");
	const json_t *design = json_object_get(plan, "design");
	json_int_t sides = json_integer_value(json_object_get(record, "sides"));
	json_int_t processes = json_integer_value(json_object_get(design, "processes"));

	if (sides != 1 && sides != 2)
		return "sides is neither 1 nor 2";
	snprintf(s->id, sizeof(s->id), "%s", text_field(record, "session_id"));
	snprintf(s->plan_hash, sizeof(s->plan_hash), "%s", text_field(record, "plan_sha256"));
	s->sides = (int)sides;
	s->processes = (int)processes;
	s->rounds = (int)json_integer_value(json_object_get(design, "rounds"));
	s->points = (int)json_array_size(json_object_get(plan, "points"));
	s->process = calloc((size_t)(sides * processes), sizeof(*s->process));
	s->seen = json_object();
	CHECK(s->process && s->seen, "memory of %d processes", s->processes);
	return NULL;
}

/* The number of the process that a record is of; -1: not planned. */
static int replicate_of(const struct checked_session *s, const json_t *record)
{
	const char *side = text_field(record, "side");
	json_int_t process = json_integer_value(json_object_get(record, "process_index"));
	int k = !strcmp(side, "b");

	if ((!k && strcmp(side, "a")) || k >= s->sides || process < 0 || process >= s->processes)
		return -1;
	return k * s->processes + (int)process;
}

/* NULL and *replicate where the record is of a planned process that goes on; else what is wrong. */
static const char *find_process(const struct checked_session *s, const json_t *record,
				int *replicate)
{
	*replicate = replicate_of(s, record);
	if (*replicate < 0)
		return "a process that is not planned";
	return s->process[*replicate].complete ? "a process goes on behind its trailer" : NULL;
}

static bool is_duration(const json_t *v)
{
	return json_is_number(v) && json_number_value(v) >= 0;
}

static const char *startup_wrong(const json_t *startup)
{
	const json_t *process = json_object_get(startup, "process_ns");

	if (!startup || ((json_is_null(process) || is_duration(process)) &&
			 is_duration(json_object_get(startup, "device_ns"))))
		return NULL;
	return "startup is not of two durations";
}

static const char *session_check_header(struct checked_session *s, const json_t *record)
{
	const char *wrong = startup_wrong(json_object_get(record, "startup"));
	int replicate;

	if (wrong)
		return wrong;
	if (strcmp(text_field(record, "session_id"), s->id))
		return "session_id is not the plan's: a line of another session";
	if (strcmp(text_field(record, "plan_sha256"), s->plan_hash))
		return "plan_sha256 is not the plan's: a line of another session";
	return find_process(s, record, &replicate);
}

static const char *session_check_point(struct checked_session *s, const json_t *record)
{
	char name[HASH_TEXT + 16];
	int replicate;
	const char *wrong = find_process(s, record, &replicate);

	if (wrong)
		return wrong;
	snprintf(name, sizeof(name), "%d %s", replicate, text_field(record, "key"));
	if (json_object_get(s->seen, name))
		return "a second record of this point and process";
	json_object_set_new(s->seen, name, json_true());
	if (!strcmp(text_field(record, "status"), "ok"))
		s->process[replicate].ok++;
	else
		s->process[replicate].other++;
	return NULL;
}

static const char *session_check_fewer(struct checked_session *s, const json_t *record)
{
	size_t gone = json_array_size(json_object_get(record, "keys"));

	for (int side = 0; side < s->sides; side++)
		for (int i = 0; i < s->processes; i++)
			if (s->process[side * s->processes + i].complete != !i)
				return "points are left out at another time than after the first "
				       "process";
	if (!gone || gone >= (size_t)s->points)
		return "none or all of the points are left out";
	s->points -= (int)gone;
	return NULL;
}

static const char *session_check_trailer(struct checked_session *s, const json_t *record)
{
	const struct checked_process *p;
	int replicate;
	const char *wrong = find_process(s, record, &replicate);

	if (wrong)
		return wrong;
	p = &s->process[replicate];
	if (json_integer_value(json_object_get(record, "records")) != p->ok ||
	    json_integer_value(json_object_get(record, "failed")) != p->other)
		return "records and failed do not agree with the points before";
	if (p->ok + p->other != s->points)
		return "a complete process without all points of the plan";
	s->process[replicate].complete = true;
	return NULL;
}

static void session_check_release(struct checked_session *s)
{
	free(s->process);
	json_decref(s->seen);
	*s = (struct checked_session){ 0 };
}

/* ---- the file --------------------------------------------------------------------------- */

struct checking {
	struct record_facts *facts;
	const struct record_scan *scan;
	struct checked_session session;
	struct csv_points *csv;
	json_t *keys; /* of the plan: key -> true, of a thinned record its first digits; NULL before
			 it */
	bool is_thinned;
	void (*each)(const json_t *o, const struct record_scan *scan, void *arg); /* NULL: nobody */
	void *arg;
};

static int complain_at(const struct checking *c, const char *what, const char *field)
{
	return complain(EINVAL, "%s:%ld: %s%s%s", c->scan->path, (long)c->scan->line + 1, what,
			*field ? ": " : "", field);
}

/* The name of a point in c->keys. */
static struct text key_name(const struct checking *c, const char *key)
{
	struct text name;

	snprintf(name.s, sizeof(name.s), "%.*s",
		 c->is_thinned ? THIN_KEY_DIGITS : (int)sizeof(name.s) - 1, key ? key : "");
	return name;
}

/* NULL, "": nothing. */
static int complain_if(const struct checking *c, const char *what)
{
	return what && *what ? complain_at(c, what, "") : 0;
}

/* ---- fields ----------------------------------------------------------------------------- */

enum kind { TEXT, WHOLE, NUMBER, ARRAY, OBJECT, TRUTH };

struct field {
	const char *name;
	enum kind kind;
};

static bool is_kind(const json_t *v, enum kind kind)
{
	switch (kind) {
	case TEXT:
		return json_is_string(v);
	case WHOLE:
		return json_is_integer(v);
	case NUMBER:
		return json_is_number(v);
	case ARRAY:
		return json_is_array(v);
	case OBJECT:
		return json_is_object(v);
	default:
		return json_is_boolean(v);
	}
}

static int check_fields(const struct checking *c, const json_t *o, const struct field *f)
{
	for (; f->name; f++)
		if (!is_kind(json_object_get(o, f->name), f->kind))
			return complain_at(c, "a field is missing or of the wrong kind", f->name);
	return 0;
}

static const struct field plan_fields[] = { { "schema", TEXT },	     { "session_id", TEXT },
					    { "tool", TEXT },	     { "tool_version", TEXT },
					    { "plan_sha256", TEXT }, { "plan", OBJECT },
					    { "sides", WHOLE },	     { NULL, TEXT } };
static const struct field header_fields[] = {
	{ "schema", TEXT },	    { "session_id", TEXT },  { "side", TEXT },
	{ "process_index", WHOLE }, { "plan_sha256", TEXT }, { "environment_sha256", TEXT },
	{ "seed", WHOLE },	    { "start_utc", TEXT },   { "calib", OBJECT },
	{ "host", OBJECT },	    { "gpu", OBJECT },	     { "env", OBJECT },
	{ "cuda_flags", OBJECT },   { "warmup", OBJECT },    { NULL, TEXT }
};
static const struct field point_fields[] = { { "side", TEXT },	 { "process_index", WHOLE },
					     { "key", TEXT },	 { "axes", OBJECT },
					     { "status", TEXT }, { NULL, TEXT } };
static const struct field measured_fields[] = { { "rounds", WHOLE },	{ "blocks", WHOLE },
						{ "t_enq_ns", ARRAY },	{ "t_total_ns", ARRAY },
						{ "t_dev_ns", ARRAY },	{ "marks", ARRAY },
						{ "canary_ns", ARRAY }, { "round_of_block", ARRAY },
						{ "summary", OBJECT },	{ NULL, TEXT } };
/* Of a thinned record, where another header or line of the point has the rest. */
static const struct field thin_header_fields[] = {
	{ "schema", TEXT },	 { "session_id", TEXT },	 { "side", TEXT },
	{ "plan_sha256", TEXT }, { "environment_sha256", TEXT }, { "process_index", WHOLE },
	{ NULL, TEXT }
};
static const struct field thin_point_fields[] = { { "side", TEXT },
						  { "process_index", WHOLE },
						  { "key", TEXT },
						  { "status", TEXT },
						  { NULL, TEXT } };
static const struct field thin_measured_fields[] = { { "rounds", WHOLE },
						     { "blocks", WHOLE },
						     { "canary_ns", ARRAY },
						     { "summary", OBJECT },
						     { NULL, TEXT } };
static const struct field trailer_fields[] = {
	{ "side", TEXT },    { "process_index", WHOLE }, { "records", WHOLE },
	{ "failed", WHOLE }, { "lines_sha256", TEXT },	 { "complete", TRUTH },
	{ NULL, TEXT }
};

static const struct field fewer_fields[] = {
	{ "keys", ARRAY }, { "left_ns", WHOLE }, { "times_as_long", NUMBER }, { NULL, TEXT }
};

static const struct field alone_fields[] = { { "rounds", WHOLE },
					     { "t_total_ns", OBJECT },
					     { NULL, TEXT } };
static const struct field interim_fields[] = { { "processes", WHOLE }, { "points", WHOLE },
					       { "wide", WHOLE },      { "wide_keys", ARRAY },
					       { "stop", TRUTH },      { NULL, TEXT } };

/* ---- records ---------------------------------------------------------------------------- */

static int check_hash(const struct checking *c, const json_t *o)
{
	char hash[HASH_TEXT];

	hash_text(&c->scan->hash, hash);
	if (strcmp(hash, json_string_value(json_object_get(o, "lines_sha256"))))
		return complain_at(c,
				   "the lines before are not what lines_sha256 says: the file was "
				   "changed",
				   "");
	return 0;
}

static int take_plan(struct checking *c, const json_t *o)
{
	const json_t *plan = json_object_get(o, "plan"), *point;
	const char *key;
	char hash[HASH_TEXT];
	size_t i;
	int err = check_fields(c, o, plan_fields);

	if (err)
		return err;
	hash_json(plan, hash);
	if (strcmp(hash, json_string_value(json_object_get(o, "plan_sha256"))))
		return complain_at(c, "the plan is not what plan_sha256 says", "");
	err = complain_if(c, plan_wrong(plan).s);
	if (err)
		return err;
	c->keys = json_object();
	c->is_thinned = plan_is_thinned(o);
	json_array_foreach(json_object_get(plan, "points"), i, point)
	{
		key = json_string_value(json_object_get(point, "key"));
		if (!key || json_object_get(c->keys, key_name(c, key).s))
			return complain_at(
				c, "two points of the plan have one key, or one has none", "");
		json_object_set_new(c->keys, key_name(c, key).s, json_true());
	}
	snprintf(c->facts->session_id, sizeof(c->facts->session_id), "%s",
		 json_string_value(json_object_get(o, "session_id")));
	snprintf(c->facts->schema, sizeof(c->facts->schema), "%s",
		 json_string_value(json_object_get(o, "schema")));
	err = complain_if(c, session_check_plan(&c->session, o));
	c->facts->sides = c->session.sides;
	c->facts->processes = c->session.processes;
	return err;
}

static int check_measured(const struct checking *c, const json_t *o)
{
	int err = check_fields(c, o, c->is_thinned ? thin_measured_fields : measured_fields);

	if (!err && c->is_thinned)
		return complain_if(c, thinned_wrong(o).s);
	return err ? err : complain_if(c, measured_wrong(o, c->session.rounds).s);
}

static int take_header(struct checking *c, const json_t *o)
{
	int err = check_fields(c, o, c->is_thinned ? thin_header_fields : header_fields);

	c->facts->headers++;
	return err ? err : complain_if(c, session_check_header(&c->session, o));
}

static int take_point(struct checking *c, const json_t *o)
{
	const char *status;
	int err = check_fields(c, o, c->is_thinned ? thin_point_fields : point_fields);

	if (err)
		return err;
	if (c->csv && c->is_thinned)
		return complain_at(c,
				   "is thinned: it has the medians of points, and no blocks or "
				   "quantiles to write",
				   "");
	if (!json_object_get(c->keys, key_name(c, json_string_value(json_object_get(o, "key"))).s))
		return complain_at(c, "a key that is not in the plan", "");
	err = complain_if(c, session_check_point(&c->session, o));
	if (err)
		return err;
	status = json_string_value(json_object_get(o, "status"));
	c->facts->points++;
	c->facts->ok += !strcmp(status, "ok");
	c->facts->failed += strcmp(status, "ok") != 0;
	if (!strcmp(status, "ok") || !strcmp(status, "check_failed"))
		err = check_measured(c, o);
	else if (!json_is_object(json_object_get(o, "error")))
		err = complain_at(c, "a failed point without its error", "");
	if (!err && c->csv)
		csv_point(c->csv, o);
	return err;
}

/* Checks the interim analysis after a process; null where the sequential rule made none. */
static int check_interim(const struct checking *c, const json_t *interim)
{
	int err;

	if (!interim || json_is_null(interim))
		return 0;
	err = check_fields(c, interim, interim_fields);
	if (!err && json_integer_value(json_object_get(interim, "wide")) !=
			    (json_int_t)json_array_size(json_object_get(interim, "wide_keys")))
		err = complain_at(c, "wide and wide_keys of interim do not agree", "");
	if (!err && json_is_true(json_object_get(interim, "stop")))
		c->facts->enough = (int)json_integer_value(json_object_get(interim, "processes"));
	return err;
}

/* Only the process of a pair that started first has such times. */
static int check_alone(const struct checking *c, const json_t *alone)
{
	const json_t *ns;
	const char *key;
	int err;

	if (!alone)
		return 0;
	err = check_fields(c, alone, alone_fields);
	if (err)
		return err;
	json_object_foreach(json_object_get(alone, "t_total_ns"), key, ns)
	{
		if (!json_object_get(c->keys, key_name(c, key).s))
			return complain_at(c, "alone names a key that is not in the plan", "");
		if (!(json_number_value(ns) > 0))
			return complain_at(c, "a time of alone is no number above 0", "");
	}
	return 0;
}

/* Schema 1 has it under the key look. */
static const json_t *trailer_interim(const json_t *trailer)
{
	const json_t *interim = json_object_get(trailer, "interim");

	return interim ? interim : json_object_get(trailer, "look");
}

static int take_trailer(struct checking *c, const json_t *o)
{
	int err = check_fields(c, o, trailer_fields);

	c->facts->trailers++;
	if (!err)
		err = check_interim(c, trailer_interim(o));
	if (!err)
		err = check_alone(c, json_object_get(o, "alone"));
	if (!err)
		err = check_hash(c, o);
	return err ? err : complain_if(c, session_check_trailer(&c->session, o));
}

/* Points that the processes to come do without, once the first ones are complete. */
static int take_fewer(struct checking *c, const json_t *o)
{
	int err = check_fields(c, o, fewer_fields);
	const json_t *key;
	size_t i;

	json_array_foreach(json_object_get(o, "keys"), i, key)
	{
		if (err)
			break;
		if (!json_is_string(key) ||
		    json_object_del(c->keys, key_name(c, json_string_value(key)).s))
			err = complain_at(c, "fewer names a key that is not in the plan", "");
	}
	return err ? err : complain_if(c, session_check_fewer(&c->session, o));
}

static int take_visit(struct checking *c, const json_t *o)
{
	c->facts->visits++;
	return complain_if(c, visit_wrong(o).s);
}

static int take_line(const json_t *o, const struct record_scan *scan, void *arg)
{
	struct checking *c = arg;

	c->scan = scan;
	if (record_is(o, "plan"))
		return c->keys ? complain_at(c, "a second plan", "") : take_plan(c, o);
	if (record_is(o, "visit"))
		return take_visit(c, o);
	if (!c->keys)
		return complain_at(c, record_is_no_plan(o), "");
	if (record_is(o, "header"))
		return take_header(c, o);
	if (record_is(o, "point"))
		return take_point(c, o);
	if (record_is(o, "trailer"))
		return take_trailer(c, o);
	if (record_is(o, "fewer"))
		return take_fewer(c, o);
	/* failures, and what later versions add */
	return json_is_string(json_object_get(o, "record")) ? 0
							    : complain_at(c, "no field record", "");
}

static int take_and_hand_on(const json_t *o, const struct record_scan *scan, void *arg)
{
	const struct checking *c = arg;
	int err = take_line(o, scan, arg);

	if (!err && c->each)
		c->each(o, scan, c->arg);
	return err;
}

static int check_all(struct checking *c, const char *path)
{
	struct record_facts *out = c->facts;
	struct record_scan scan;
	int err;

	*out = (struct record_facts){ 0 };
	err = record_read(&scan, path, take_and_hand_on, c);
	out->torn = scan.torn;
	if (!err && !scan.line &&
	    !record_is_called(path, ".visits")) /* between two processes they are empty */
		err = scan.torn ? complain(EINVAL,
					   "%s: no record file of rift: not a line of it is "
					   "whole",
					   path)
				: complain(EINVAL, "%s is empty", path);
	out->incomplete = out->sides && !record_is_called(path, ".part") &&
			  out->trailers < out->sides * (out->enough ? out->enough : out->processes);
	session_check_release(&c->session);
	json_decref(c->keys);
	return err;
}

int record_check(struct record_facts *out, const char *path, struct csv_points *csv)
{
	return check_all(&(struct checking){ .facts = out, .csv = csv }, path);
}

int record_check_each(struct record_facts *out, const char *path,
		      void (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		      void *arg)
{
	return check_all(&(struct checking){ .facts = out, .each = each, .arg = arg }, path);
}
