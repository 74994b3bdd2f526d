/* validate_record.c - is a record file whole and valid. */
#include "harness/record/validate_record.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/measure/plan.h"
#include "harness/measure/plan_record.h"
#include "harness/record/fields.h"
#include "harness/record/point_record.h"
#include "harness/record/record.h"
#include "harness/record/thin.h"
#include "harness/record/validate_point.h"

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
	return s->process[*replicate].complete ? "a process continues after its trailer" : NULL;
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
	bool is_strict, is_thinned, is_todays; /* all its lines so far are of today's schema */
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

static int check_fields(const struct checking *c, const json_t *o, const char *record,
			bool is_measured)
{
	struct field_rules rules = { .is_thinned = c->is_thinned,
				     .is_measured = is_measured,
				     .knows_all = c->is_strict && c->is_todays };

	return complain_if(c, fields_wrong(o, record, rules).s);
}

struct member {
	const char *name;
	enum field_kind kind;
};

/* Of an object within a record. */
static int check_members(const struct checking *c, const json_t *o, const struct member *m)
{
	for (; m->name; m++)
		if (!field_is(json_object_get(o, m->name), m->kind))
			return complain_at(c, "a field is missing or of the wrong kind", m->name);
	return 0;
}

static const struct member alone_members[] = { { "rounds", FIELD_WHOLE },
					       { "t_total_ns", FIELD_OBJECT },
					       { NULL, FIELD_TEXT } };
static const struct member interim_members[] = {
	{ "processes", FIELD_WHOLE }, { "points", FIELD_WHOLE }, { "wide", FIELD_WHOLE },
	{ "wide_keys", FIELD_ARRAY }, { "stop", FIELD_TRUTH },	 { NULL, FIELD_TEXT },
};

/* ---- records ---------------------------------------------------------------------------- */

static int check_hash(const struct checking *c, const json_t *o)
{
	char hash[HASH_TEXT];

	hash_text(&c->scan->hash, hash);
	if (strcmp(hash, json_string_value(json_object_get(o, "lines_sha256"))))
		return complain_at(
			c, "the lines before do not match lines_sha256: the file was changed", "");
	return 0;
}

static bool is_todays(const json_t *o)
{
	const char *schema = json_string_value(json_object_get(o, "schema"));

	return schema && !strcmp(schema, RECORD_SCHEMA);
}

static int take_plan(struct checking *c, const json_t *o)
{
	const json_t *plan = json_object_get(o, "plan"), *point;
	const char *key;
	char hash[HASH_TEXT];
	size_t i;
	int err;

	c->is_thinned = plan_is_thinned(o);
	c->is_todays = is_todays(o);
	err = check_fields(c, o, "plan", false);
	if (err)
		return err;
	hash_json(plan, hash);
	if (strcmp(hash, json_string_value(json_object_get(o, "plan_sha256"))))
		return complain_at(c, "the plan does not match plan_sha256", "");
	err = complain_if(c, plan_wrong(plan).s);
	if (err)
		return err;
	c->keys = json_object();
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
	int err = check_fields(c, o, "point", true);

	return err ? err : complain_if(c, point_wrong(o, c->session.rounds, c->is_thinned).s);
}

static int take_header(struct checking *c, const json_t *o)
{
	int err;

	c->is_todays &= is_todays(o);
	err = check_fields(c, o, "header", false);
	c->facts->headers++;
	return err ? err : complain_if(c, session_check_header(&c->session, o));
}

static int take_point(struct checking *c, const json_t *o)
{
	const char *status;
	int err = check_fields(c, o, "point", false);

	if (err)
		return err;
	if (c->csv && c->is_thinned)
		return complain_at(c,
				   "is thinned: it has the medians of points, and no samples or "
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
	err = check_members(c, interim, interim_members);
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
	err = check_members(c, alone, alone_members);
	if (err)
		return err;
	json_object_foreach(json_object_get(alone, "t_total_ns"), key, ns)
	{
		if (!json_object_get(c->keys, key_name(c, key).s))
			return complain_at(c, "alone names a key that is not in the plan", "");
		if (!(json_number_value(ns) > 0))
			return complain_at(c, "a time of alone must be a number above 0", "");
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
	int err = check_fields(c, o, "trailer", false);

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
	int err = check_fields(c, o, "fewer", false);
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
	if (record_is(o, "failure"))
		return check_fields(c, o, "failure", false);
	/* what later versions add */
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
					   "%s: not a record file of rift: it has no whole line",
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

int record_check_strictly(struct record_facts *out, const char *path, struct csv_points *csv)
{
	return check_all(&(struct checking){ .facts = out, .csv = csv, .is_strict = true }, path);
}

int record_check_each(struct record_facts *out, const char *path,
		      void (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		      void *arg)
{
	return check_all(&(struct checking){ .facts = out, .each = each, .arg = arg }, path);
}
