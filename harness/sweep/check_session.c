/* check_session.c - do the records of a session agree with its plan and with each other? */
#include "harness/sweep/check_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

static const char *text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "";
}

const char *session_check_plan(struct checked_session *s, const json_t *record)
{
	const json_t *plan = json_object_get(record, "plan");
	const json_t *design = json_object_get(plan, "design");
	json_int_t sides = json_integer_value(json_object_get(record, "sides"));
	json_int_t processes = json_integer_value(json_object_get(design, "processes"));

	if (sides != 1 && sides != 2)
		return "sides is neither 1 nor 2";
	snprintf(s->id, sizeof(s->id), "%s", text(record, "session_id"));
	snprintf(s->plan_hash, sizeof(s->plan_hash), "%s", text(record, "plan_sha256"));
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
static int slot_of(const struct checked_session *s, const json_t *record)
{
	const char *side = text(record, "side");
	json_int_t process = json_integer_value(json_object_get(record, "process_index"));
	int k = !strcmp(side, "b");

	if ((!k && strcmp(side, "a")) || k >= s->sides || process < 0 || process >= s->processes)
		return -1;
	return k * s->processes + (int)process;
}

/* Of a planned process that goes on: NULL, and *slot. */
static const char *find_process(const struct checked_session *s, const json_t *record, int *slot)
{
	*slot = slot_of(s, record);
	if (*slot < 0)
		return "a process that is not planned";
	return s->process[*slot].complete ? "a process goes on behind its trailer" : NULL;
}

const char *session_check_header(struct checked_session *s, const json_t *record)
{
	int slot;

	if (strcmp(text(record, "session_id"), s->id))
		return "session_id is not the plan's: a line of another session";
	if (strcmp(text(record, "plan_sha256"), s->plan_hash))
		return "plan_sha256 is not the plan's: a line of another session";
	return find_process(s, record, &slot);
}

const char *session_check_point(struct checked_session *s, const json_t *record)
{
	char name[HASH_TEXT + 16];
	int slot;
	const char *wrong = find_process(s, record, &slot);

	if (wrong)
		return wrong;
	snprintf(name, sizeof(name), "%d %s", slot, text(record, "key"));
	if (json_object_get(s->seen, name))
		return "a second record of this point and process";
	json_object_set_new(s->seen, name, json_true());
	if (!strcmp(text(record, "status"), "ok"))
		s->process[slot].ok++;
	else
		s->process[slot].other++;
	return NULL;
}

const char *session_check_fewer(struct checked_session *s, const json_t *record)
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

const char *session_check_trailer(struct checked_session *s, const json_t *record)
{
	const struct checked_process *p;
	int slot;
	const char *wrong = find_process(s, record, &slot);

	if (wrong)
		return wrong;
	p = &s->process[slot];
	if (json_integer_value(json_object_get(record, "records")) != p->ok ||
	    json_integer_value(json_object_get(record, "failed")) != p->other)
		return "records and failed do not agree with the points before";
	if (p->ok + p->other != s->points)
		return "a complete process without all points of the plan";
	s->process[slot].complete = true;
	return NULL;
}

void session_check_release(struct checked_session *s)
{
	free(s->process);
	json_decref(s->seen);
	*s = (struct checked_session){ 0 };
}
