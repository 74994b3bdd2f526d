/* journal_read.c - the files of a session read back, to go on where it ended. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/sweep/check_blocks.h"
#include "harness/sweep/check_record.h"
#include "harness/sweep/journal_impl.h"

static int damaged(const struct record_scan *scan, const char *what)
{
	return complain(EINVAL, "%s:%ld: %s", scan->path, (long)scan->line + 1, what);
}

/* Says which file it is: a command may read several. */
static int refuse_workload(const json_t *plan, const struct record_scan *scan)
{
	const json_t *config;
	size_t i;

	json_array_foreach(json_object_get(plan, "configs"), i, config)
	{
		const char *name = json_string_value(json_object_get(config, "workload"));
		const struct workload *const *w = workloads;

		while (name && *w && strcmp((*w)->name, name))
			w++;
		if (!name || !*w)
			return complain(EINVAL,
					"%s: is of workload '%s', which this rift does not have; "
					"`rift list` shows them",
					scan->path, text_shown(name ? name : "").s);
	}
	return 0;
}

static int take_plan(struct journal *j, const json_t *o, const struct record_scan *scan)
{
	const char *id = json_string_value(json_object_get(o, "session_id"));
	const char *hash = json_string_value(json_object_get(o, "plan_sha256"));
	const json_t *against = json_object_get(o, "against");
	char where[512];
	int err;

	if (!id || strlen(id) != 16 || !hash || strlen(hash) + 1 != HASH_TEXT)
		return damaged(scan, "the plan has no session_id or plan_sha256");
	if (!json_is_object(json_object_get(o, "plan")))
		return damaged(scan, "the plan is missing");
	hash_json(json_object_get(o, "plan"), j->plan_hash);
	if (strcmp(hash, j->plan_hash))
		return damaged(scan, "the plan is not what its plan_sha256 says: it was changed");
	strcpy(j->session_id, id);
	err = refuse_workload(json_object_get(o, "plan"), scan);
	if (err)
		return err;
	snprintf(where, sizeof(where), "%.400s:1: ", scan->path);
	err = plan_parse(&j->plan, json_object_get(o, "plan"), workloads, where);
	if (err)
		return err;
	j->sides = json_is_string(against) ? 2 : 1;
	if (json_is_string(against)) {
		j->against = strdup(json_string_value(against));
		CHECK(j->against, "memory of a command");
	}
	journal_allocate(j);
	return 0;
}

/* The slot that a line is of; -1: none of this plan. */
static int slot_of(const struct journal *j, const json_t *o)
{
	const char *side = json_string_value(json_object_get(o, "side"));
	json_int_t process = json_integer_value(json_object_get(o, "process_index"));
	int s = side && !strcmp(side, "b");

	if (!side || s >= j->sides || process < 0 || process >= j->plan.design.processes)
		return -1;
	return s * j->plan.design.processes + (int)process;
}

static int point_of(const struct journal *j, const json_t *o)
{
	const char *key = json_string_value(json_object_get(o, "key"));

	for (int i = 0; key && i < j->plan.n_points; i++)
		if (!strcmp(j->plan.point[i].key, key))
			return i;
	return -1;
}

static int check_trailer(const json_t *o, const struct record_scan *scan)
{
	const char *want = json_string_value(json_object_get(o, "lines_sha256"));
	char hash[HASH_TEXT];

	hash_text(&scan->hash, hash);
	if (!want || strcmp(want, hash))
		return damaged(scan, "the lines before this trailer are not what its lines_sha256 "
				     "says: the file was changed");
	return 0;
}

/* The session goes on without these points. */
static void take_fewer(struct journal *j, const json_t *o)
{
	bool *stays = journal_zeroed((size_t)j->plan.n_points, sizeof(*stays));
	const json_t *key;
	size_t i;

	for (int k = 0; k < j->plan.n_points; k++) {
		stays[k] = true;
		json_array_foreach(json_object_get(o, "keys"), i, key) if (json_is_string(key))
			stays[k] &= strcmp(j->plan.point[k].key, json_string_value(key)) != 0;
	}
	journal_keep_points(j, stays);
	free(stays);
}

static int take_part_line(const json_t *o, const struct record_scan *scan, void *arg)
{
	struct journal *j = arg;
	int slot, point;

	if (!scan->line)
		return record_is(o, "plan") ? take_plan(j, o, scan)
					    : damaged(scan, "the first line is no plan");
	if (record_is(o, "fewer"))
		take_fewer(j, o);
	slot = slot_of(j, o);
	if (slot < 0)
		return 0; /* a kind that a later version added */
	if (record_is(o, "header"))
		journal_saw_header(j, slot, (json_t *)(uintptr_t)o);
	point = point_of(j, o);
	if (record_is(o, "point") && point >= 0)
		journal_saw_point(j, slot, point, o);
	if (record_is(o, "failure") && point >= 0)
		j->failures[slot * j->plan.n_points + point]++;
	if (record_is(o, "trailer")) {
		journal_saw_trailer(j, slot, o);
		return check_trailer(o, scan);
	}
	return 0;
}

/* Visits count where their point is still to be finished, and a record could be made of them. */
static int take_visit(const json_t *o, const struct record_scan *scan, void *arg)
{
	struct journal *j = arg;
	int slot = slot_of(j, o), rounds = j->plan.design.rounds;
	json_int_t point = json_integer_value(json_object_get(o, "point"));
	json_int_t round = json_integer_value(json_object_get(o, "round"));
	const char *id = json_string_value(json_object_get(o, "session_id"));
	int side = slot < 0 ? 0 : journal_side(j, slot);
	json_t **kept;

	(void)scan;
	if (id && strcmp(id, j->session_id) && record_is(o, "visit"))
		return 0; /* of a session before */
	/* a process writes its header before its visits */
	if (!record_is(o, "visit") || !id || slot < 0 || !j->attempts[slot] || *visit_wrong(o).s ||
	    point >= j->plan.n_points || round >= rounds) {
		j->visits_dropped++;
		return 0;
	}
	if (j->complete[slot])
		return 0;
	if (j->visit_slot[side] != slot)
		journal_forget_visits(j, side);
	j->visit_slot[side] = slot;
	kept = &journal_visits_of(j, slot, (int)point)[round];
	json_decref(*kept);
	*kept = json_incref((json_t *)(uintptr_t)o);
	return 0;
}

/* A crash may have come between the last visit of a point and its record. */
static int write_missing_of(struct journal *j, int slot)
{
	int rounds = j->plan.design.rounds, err = 0;

	for (int i = 0; slot >= 0 && i < j->plan.n_points && !err; i++) {
		int seen = 0;

		for (int r = 0; r < rounds; r++)
			seen += journal_visits_of(j, slot, i)[r] != NULL;
		if (seen == rounds && !j->status[slot * j->plan.n_points + i])
			err = journal_point(j, slot, i);
	}
	return err;
}

static int write_missing_points(struct journal *j)
{
	int err = write_missing_of(j, j->visit_slot[0]);

	return err ? err : write_missing_of(j, j->visit_slot[1]);
}

/* The file again, without what was dropped. */
static int rewrite_visits(struct journal *j)
{
	int err = record_clear(&j->visits);

	for (int i = 0; i < 2 * j->visits_room && !err; i++) {
		json_t *visit = j->visit[i / j->visits_room][i % j->visits_room];

		if (visit)
			err = record_write(&j->visits, json_incref(visit));
	}
	return err;
}

static int open_visits(struct journal *j)
{
	struct record_scan scan;
	char name[JOURNAL_NAME];
	int err;

	journal_name(j, ".visits", name);
	if (access(name, F_OK))
		return record_create(&j->visits, name);
	err = record_salvage(&scan, name, take_visit, j);
	j->torn |= scan.torn;
	j->visits_dropped += (int)scan.dropped;
	if (!err)
		err = record_append(&j->visits, &scan);
	return err || !j->visits_dropped ? err : rewrite_visits(j);
}

/* X.jsonl of X.jsonl, X.jsonl.part, X.jsonl.visits */
static char *session_name(const char *path)
{
	static const char *const suffixes[] = { ".part", ".visits", ".lock", NULL };
	char *name = strdup(path);

	CHECK(name, "memory of a name");
	for (int i = 0; suffixes[i]; i++) {
		size_t n = strlen(name), cut = strlen(suffixes[i]);

		if (n > cut && !strcmp(name + n - cut, suffixes[i]))
			name[n - cut] = '\0';
	}
	return name;
}

static bool is_irregular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int check_resumable(const struct journal *j, const char *path, const char *part)
{
	if (is_irregular(path) || is_irregular(part))
		return complain(EINVAL, "nothing to resume: %s: is no regular file",
				is_irregular(path) ? path : part);
	if (access(part, F_OK) && !access(j->path, F_OK))
		return complain(EEXIST,
				"nothing to resume: there is no %s, which an interrupted sweep "
				"leaves; `rift check %s` looks a record over",
				part, j->path);
	if (access(part, F_OK))
		return complain(errno, "nothing to resume: %s: %s", part, strerror(errno));
	return 0;
}

/* Nothing is added to what `rift check` refuses, and nothing is measured for it. */
static int read_part(struct journal *j, const char *part)
{
	struct record_facts facts;
	struct record_scan scan;
	int err = record_read(&scan, part, take_part_line, j);

	if (!err && !scan.line)
		err = complain(EINVAL, "%s has no plan: remove it and start the sweep again", part);
	if (!err)
		err = record_check(&facts, part, NULL);
	if (!err)
		err = record_go_on(&j->part, &scan);
	j->torn = scan.torn;
	return err;
}

int journal_open(struct journal *j, const char *path)
{
	char part[JOURNAL_NAME];
	int err;

	*j = (struct journal){ .part.fd = -1, .visits.fd = -1, .visit_slot = { -1, -1 } };
	j->path = session_name(path);
	journal_name(j, ".part", part);
	err = check_resumable(j, path, part);
	if (!err)
		err = record_open(&j->part, part);
	if (!err)
		err = lock_take(&j->lock, j->part.fd, j->path);
	if (!err) /* whoever held the lock may have completed it */
		err = journal_check_part(j);
	if (!err)
		err = read_part(j, part);
	if (!err)
		err = open_visits(j);
	return err ? err : write_missing_points(j);
}

int journal_read(struct journal *j, const char *path)
{
	struct record_scan scan;
	int err;

	*j = (struct journal){ .part.fd = -1, .visits.fd = -1, .visit_slot = { -1, -1 } };
	err = record_read(&scan, path, take_part_line, j);
	if (!err && !scan.line)
		err = complain(EINVAL, "%s has no plan", path);
	j->torn = scan.torn;
	return err;
}
