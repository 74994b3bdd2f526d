/* check_record.c - is a record file whole and valid; its summaries as CSV. */
#include "harness/sweep/check_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/sweep/check_blocks.h"
#include "harness/sweep/check_session.h"
#include "harness/sweep/csv_points.h"
#include "harness/sweep/plan.h"

struct checking {
	struct record_facts *facts;
	const struct record_scan *scan;
	struct checked_session session;
	struct csv_points *csv;
	json_t *keys; /* of the plan: key -> true; NULL before it */
};

static int wrong(const struct checking *c, const char *what, const char *field)
{
	return complain(EINVAL, "%s:%ld: %s%s%s", c->scan->path, (long)c->scan->line + 1, what,
			*field ? ": " : "", field);
}

/* NULL, "": nothing. */
static int said(const struct checking *c, const char *what)
{
	return what && *what ? wrong(c, what, "") : 0;
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
			return wrong(c, "a field is missing or of the wrong kind", f->name);
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
static const struct field trailer_fields[] = {
	{ "side", TEXT },    { "process_index", WHOLE }, { "records", WHOLE },
	{ "failed", WHOLE }, { "lines_sha256", TEXT },	 { "complete", TRUTH },
	{ NULL, TEXT }
};

static const struct field fewer_fields[] = { { "keys", ARRAY },
					     { "left_ns", WHOLE },
					     { "times_as_long", NUMBER },
					     { NULL, TEXT } };

static const struct field alone_fields[] = { { "rounds", WHOLE },
					     { "t_total_ns", OBJECT },
					     { NULL, TEXT } };
static const struct field look_fields[] = { { "processes", WHOLE }, { "points", WHOLE },
					    { "wide", WHOLE },	    { "wide_keys", ARRAY },
					    { "stop", TRUTH },	    { NULL, TEXT } };

/* ---- records ---------------------------------------------------------------------------- */

static int check_hash(const struct checking *c, const json_t *o)
{
	char hash[HASH_TEXT];

	hash_text(&c->scan->hash, hash);
	if (strcmp(hash, json_string_value(json_object_get(o, "lines_sha256"))))
		return wrong(c,
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
		return wrong(c, "the plan is not what plan_sha256 says", "");
	err = said(c, plan_wrong(plan).s);
	if (err)
		return err;
	c->keys = json_object();
	json_array_foreach(json_object_get(plan, "points"), i, point)
	{
		key = json_string_value(json_object_get(point, "key"));
		if (!key || json_object_get(c->keys, key))
			return wrong(c, "two points of the plan have one key, or one has none", "");
		json_object_set_new(c->keys, key, json_true());
	}
	snprintf(c->facts->session_id, sizeof(c->facts->session_id), "%s",
		 json_string_value(json_object_get(o, "session_id")));
	snprintf(c->facts->schema, sizeof(c->facts->schema), "%s",
		 json_string_value(json_object_get(o, "schema")));
	err = said(c, session_check_plan(&c->session, o));
	c->facts->sides = c->session.sides;
	c->facts->processes = c->session.processes;
	return err;
}

static int check_measured(const struct checking *c, const json_t *o)
{
	int err = check_fields(c, o, measured_fields);

	return err ? err : said(c, measured_wrong(o, c->session.rounds).s);
}

static int take_header(struct checking *c, const json_t *o)
{
	int err = check_fields(c, o, header_fields);

	c->facts->headers++;
	return err ? err : said(c, session_check_header(&c->session, o));
}

static int take_point(struct checking *c, const json_t *o)
{
	const char *status;
	int err = check_fields(c, o, point_fields);

	if (err)
		return err;
	if (!json_object_get(c->keys, json_string_value(json_object_get(o, "key"))))
		return wrong(c, "a key that is not in the plan", "");
	err = said(c, session_check_point(&c->session, o));
	if (err)
		return err;
	status = json_string_value(json_object_get(o, "status"));
	c->facts->points++;
	c->facts->ok += !strcmp(status, "ok");
	c->facts->failed += strcmp(status, "ok") != 0;
	if (!strcmp(status, "ok") || !strcmp(status, "check_failed"))
		err = check_measured(c, o);
	else if (!json_is_object(json_object_get(o, "error")))
		err = wrong(c, "a failed point without its error", "");
	if (!err && c->csv)
		csv_point(c->csv, o);
	return err;
}

/* Of the process after which the sequential rule looked; else null. */
static int check_look(const struct checking *c, const json_t *look)
{
	int err;

	if (!look || json_is_null(look))
		return 0;
	err = check_fields(c, look, look_fields);
	if (!err && json_integer_value(json_object_get(look, "wide")) !=
			    (json_int_t)json_array_size(json_object_get(look, "wide_keys")))
		err = wrong(c, "wide and wide_keys of look do not agree", "");
	if (!err && json_is_true(json_object_get(look, "stop")))
		c->facts->enough = (int)json_integer_value(json_object_get(look, "processes"));
	return err;
}

/* Of the process of a pair that started first. */
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
		if (!json_object_get(c->keys, key))
			return wrong(c, "alone names a key that is not in the plan", "");
		if (!(json_number_value(ns) > 0))
			return wrong(c, "a time of alone is no number above 0", "");
	}
	return 0;
}

static int take_trailer(struct checking *c, const json_t *o)
{
	int err = check_fields(c, o, trailer_fields);

	c->facts->trailers++;
	if (!err)
		err = check_look(c, json_object_get(o, "look"));
	if (!err)
		err = check_alone(c, json_object_get(o, "alone"));
	if (!err)
		err = check_hash(c, o);
	return err ? err : said(c, session_check_trailer(&c->session, o));
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
		if (!json_is_string(key) || json_object_del(c->keys, json_string_value(key)))
			err = wrong(c, "fewer names a key that is not in the plan", "");
	}
	return err ? err : said(c, session_check_fewer(&c->session, o));
}

static int take_visit(struct checking *c, const json_t *o)
{
	c->facts->visits++;
	return said(c, visit_wrong(o).s);
}

static int take_line(const json_t *o, const struct record_scan *scan, void *arg)
{
	struct checking *c = arg;

	c->scan = scan;
	if (record_is(o, "plan"))
		return c->keys ? wrong(c, "a second plan", "") : take_plan(c, o);
	if (record_is(o, "visit"))
		return take_visit(c, o);
	if (!c->keys)
		return wrong(c, "the first line is no plan", "");
	if (record_is(o, "header"))
		return take_header(c, o);
	if (record_is(o, "point"))
		return take_point(c, o);
	if (record_is(o, "trailer"))
		return take_trailer(c, o);
	if (record_is(o, "fewer"))
		return take_fewer(c, o);
	/* failures, and what later versions add */
	return json_is_string(json_object_get(o, "record")) ? 0 : wrong(c, "no field record", "");
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n > k && !strcmp(path + n - k, end);
}

int record_check(struct record_facts *out, const char *path, struct csv_points *csv)
{
	struct checking c = { .facts = out, .csv = csv };
	struct record_scan scan;
	int err;

	*out = (struct record_facts){ 0 };
	err = record_read(&scan, path, take_line, &c);
	out->torn = scan.torn;
	if (!err && !scan.line &&
	    !ends_with(path, ".visits")) /* between two processes they are empty */
		err = scan.torn ? complain(EINVAL,
					   "%s: no record file of rift: not a line of it is "
					   "whole",
					   path)
				: complain(EINVAL, "%s is empty", path);
	out->incomplete = out->sides && !ends_with(path, ".part") &&
			  out->trailers < out->sides * (out->enough ? out->enough : out->processes);
	session_check_release(&c.session);
	json_decref(c.keys);
	return err;
}
