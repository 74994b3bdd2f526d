/* journal.c - the files of one session: what is written, and when a session is complete. */
#include "harness/sweep/journal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/command.h"
#include "harness/json.h"
#include "harness/sweep/journal_impl.h"

/* ---- small things ----------------------------------------------------------------------- */

const char *journal_side_name(int side)
{
	return side ? "b" : "a";
}

int journal_side(const struct journal *j, int slot)
{
	return slot / j->plan.design.processes;
}

int journal_slot(const struct journal *j, int i)
{
	int pair = i / 2;

	if (j->sides == 1)
		return i;
	/* A B, B A, A B, ...: a drift hits both sides alike */
	return ((i % 2) ^ (pair % 2)) * j->plan.design.processes + pair;
}

enum sync_kind journal_kind(const struct journal *j, int slot, int i)
{
	const struct design *d = &j->plan.design;

	if (!d->kinds)
		return d->sync;
	return d->kind[slot % d->processes % 2 ? d->kinds - 1 - i : i];
}

int journal_processes(const struct journal *j)
{
	int done = 0;

	while (done < j->slots && j->complete[journal_slot(j, done)])
		done++;
	return done < j->sides ? 1 : done / j->sides;
}

void *journal_zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	CHECK(p, "%zu bytes", n * size);
	return p;
}

void journal_name(const struct journal *j, const char *suffix, char out[JOURNAL_NAME])
{
	snprintf(out, JOURNAL_NAME, "%s%s", j->path, suffix);
}

/* The plan is known: room for what will be known of every point. */
void journal_allocate(struct journal *j)
{
	size_t points = (size_t)j->plan.n_points;
	size_t slots = (size_t)j->sides * (size_t)j->plan.design.processes;

	j->slots = (int)slots;
	j->status = journal_zeroed(slots * points, sizeof(*j->status));
	j->total_ns = journal_zeroed(slots * points, sizeof(*j->total_ns));
	j->enq_ns = journal_zeroed(slots * points, sizeof(*j->enq_ns));
	j->launches = journal_zeroed(points, sizeof(*j->launches));
	j->step = journal_zeroed(points, sizeof(*j->step));
	for (size_t i = 0; i < points; i++)
		j->step[i].launches = NAN;
	j->noisy = journal_zeroed(slots * points, sizeof(*j->noisy));
	j->complete = journal_zeroed(slots, sizeof(*j->complete));
	j->attempts = journal_zeroed(slots, sizeof(*j->attempts));
	j->canary_ns = journal_zeroed(slots, sizeof(*j->canary_ns));
	j->failures = journal_zeroed(slots * points, sizeof(*j->failures));
	j->visit = journal_zeroed(points * (size_t)j->plan.design.rounds, sizeof(json_t *));
	j->visit_slot = -1;
	for (size_t i = 0; i < slots; i++)
		j->canary_ns[i] = NAN;
	for (size_t i = 0; i < slots * points; i++)
		j->total_ns[i] = j->enq_ns[i] = NAN;
}

void journal_forget_visits(struct journal *j)
{
	size_t n = (size_t)j->plan.n_points * (size_t)j->plan.design.rounds;

	for (size_t i = 0; j->visit && i < n; i++) {
		json_decref(j->visit[i]);
		j->visit[i] = NULL;
	}
}

json_t *journal_now_utc(void)
{
	char text[32];
	time_t t = time(NULL);
	struct tm tm;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	return json_string(text);
}

/* ---- a new session ---------------------------------------------------------------------- */

static json_t *plan_record(const struct journal *j, json_t *plan, const char *argv_text)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "record", "plan", "schema",
			      RECORD_SCHEMA, "tool", "rift", "tool_version", RIFT_VERSION,
			      "session_id", j->session_id, "plan_sha256", j->plan_hash);

	json_object_set_new(o, "argv", json_text(argv_text));
	json_object_set_new(o, "start_utc", journal_now_utc());
	json_object_set_new(o, "sides", json_integer(j->sides));
	json_object_set_new(o, "against", json_text(j->against));
	json_object_set_new(o, "plan", plan);
	return o;
}

int journal_refuse(const char *path)
{
	char part[JOURNAL_NAME];

	if (!access(path, F_OK))
		return complain(EEXIST, "%s exists; give another name with --output", path);
	snprintf(part, sizeof(part), "%s.part", path);
	if (!access(part, F_OK))
		return complain(EEXIST,
				"%s exists: go on with it by `rift sweep --resume %s`, or give "
				"another name",
				part, path);
	return 0;
}

static int create_files(struct journal *j)
{
	char name[JOURNAL_NAME];
	int err;

	journal_name(j, ".part", name);
	err = record_create(&j->part, name);
	if (err)
		return err;
	journal_name(j, ".visits", name);
	unlink(name); /* of a session whose .part is gone */
	return record_create(&j->visits, name);
}

static void draw_session_id(struct journal *j)
{
	unsigned char bytes[8];

	CHECK(getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes), "no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(j->session_id + 2 * i, 3, "%02x", bytes[i]);
}

int journal_create(struct journal *j, struct plan *plan, const char *path, const char *against,
		   const char *argv_text)
{
	json_t *o;
	int err;

	*j = (struct journal){ .plan = *plan, .sides = against ? 2 : 1, .visit_slot = -1 };
	*plan = (struct plan){ 0 };
	j->part.fd = j->visits.fd = -1;
	j->path = strdup(path);
	j->against = against ? strdup(against) : NULL;
	CHECK(j->path && (!against || j->against), "memory of a name");
	draw_session_id(j);
	journal_allocate(j);
	o = plan_json(&j->plan);
	hash_json(o, j->plan_hash);
	err = lock_take(&j->lock, path);
	if (!err)
		err = journal_refuse(path);
	if (!err)
		err = create_files(j);
	if (err) {
		json_decref(o);
		return err;
	}
	err = record_write(&j->part, plan_record(j, o, argv_text));
	return err ? err : record_sync(&j->part, true);
}

/* ---- end -------------------------------------------------------------------------------- */

int journal_finish(struct journal *j)
{
	char part[JOURNAL_NAME], visits[JOURNAL_NAME];
	int err = record_sync(&j->part, true);

	if (err)
		return err;
	journal_name(j, ".part", part);
	journal_name(j, ".visits", visits);
	if (rename(part, j->path))
		return complain(errno, "cannot rename %s to %s: %s", part, j->path,
				strerror(errno));
	unlink(visits);
	return 0;
}

void journal_release(struct journal *j)
{
	journal_forget_visits(j);
	record_close(&j->part);
	record_close(&j->visits);
	lock_release(&j->lock);
	for (int side = 0; side < 2; side++) {
		json_decref(j->header[side]);
		json_decref(j->refused[side]);
		for (int kind = 0; kind < SYNC_COUNT; kind++)
			json_decref(j->of_kind[side][kind]);
	}
	free(j->status);
	free(j->total_ns);
	free(j->enq_ns);
	free(j->launches);
	free(j->step);
	free(j->noisy);
	free(j->complete);
	free(j->attempts);
	free(j->canary_ns);
	free(j->failures);
	free(j->visit);
	free(j->against);
	free(j->path);
	plan_release(&j->plan);
	*j = (struct journal){ .part.fd = -1, .visits.fd = -1 };
}
