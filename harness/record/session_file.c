/* journal.c - the files of one session: what is written, and when a session is complete. */
#include "harness/record/journal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/output.h"
#include "harness/command.h"
#include "harness/json.h"
#include "harness/record/journal_impl.h"

/* ---- small things ----------------------------------------------------------------------- */

const char *journal_side_name(int side)
{
	return side ? "b" : "a";
}

int journal_side(const struct journal *j, int slot)
{
	return slot / j->plan.design.processes;
}

uint32_t journal_draw_group(const struct journal *j, int side)
{
	return j->plan.design.pairs ? 0 : (uint32_t)side;
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
	j->alone_ns = journal_zeroed(slots * points, sizeof(*j->alone_ns));
	j->company = journal_zeroed(slots, sizeof(*j->company));
	j->failures = journal_zeroed(slots * points, sizeof(*j->failures));
	j->visits_room = j->plan.n_points * j->plan.design.rounds;
	for (int side = 0; side < 2; side++)
		j->visit[side] = journal_zeroed((size_t)j->visits_room, sizeof(json_t *));
	for (size_t i = 0; i < slots; i++)
		j->canary_ns[i] = j->company[i] = NAN;
	for (size_t i = 0; i < slots * points; i++)
		j->total_ns[i] = j->enq_ns[i] = j->alone_ns[i] = NAN;
}

void journal_forget_visits(struct journal *j, int side)
{
	/* not by the plan: a session that starts anew takes it along */
	for (int i = 0; i < j->visits_room; i++) {
		json_decref(j->visit[side][i]);
		j->visit[side][i] = NULL;
	}
}

json_t **journal_visits_of(const struct journal *j, int slot, int point)
{
	return &j->visit[journal_side(j, slot)][point * j->plan.design.rounds];
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

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* By its longest name, so that no shorter one is left alone. */
static int refuse_place(const char *path)
{
	char longest[JOURNAL_NAME], *slash;
	struct stat st;
	int n = snprintf(longest, sizeof(longest), "%s.visits", path);

	if (n >= JOURNAL_NAME || (lstat(longest, &st) && errno == ENAMETOOLONG))
		return complain(ENAMETOOLONG,
				"--output=%s: too long a name, as .visits is added to it", path);
	/* its folder, "." where there is none; by ".", so that a file is no folder */
	slash = strrchr(longest, '/');
	strcpy(slash ? slash + 1 : longest, ".");
	if (access(longest, W_OK | X_OK))
		return complain(errno, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

int journal_refuse(const char *path)
{
	char part[JOURNAL_NAME];

	if (exists(path) && access(path, F_OK))
		return complain(EEXIST,
				"%s is a link that leads nowhere; name the file itself, or "
				"another, with --output",
				path);
	if (exists(path))
		return complain(EEXIST, "%s exists; give another name with --output", path);
	snprintf(part, sizeof(part), "%s.part", path);
	if (exists(part))
		return complain(EEXIST,
				"%s exists: go on with it by `rift sweep --resume %s`, or give "
				"another name",
				part, path);
	return refuse_place(path);
}

static int create_files(struct journal *j)
{
	char name[JOURNAL_NAME];
	int err;

	journal_name(j, ".part", name);
	err = record_create(&j->part, name);
	if (err)
		return err;
	err = lock_take(&j->lock, j->part.fd, j->path);
	if (err) {
		unlink(name); /* nothing is in it */
		return err;
	}
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

	*j = (struct journal){ .plan = *plan, .sides = against ? 2 : 1, .visit_slot = { -1, -1 } };
	*plan = (struct plan){ 0 };
	j->part.fd = j->visits.fd = -1;
	j->path = strdup(path);
	j->against = against ? strdup(against) : NULL;
	CHECK(j->path && (!against || j->against), "memory of a name");
	draw_session_id(j);
	journal_allocate(j);
	o = plan_json(&j->plan);
	hash_json(o, j->plan_hash);
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

int journal_check_part(const struct journal *j)
{
	char part[JOURNAL_NAME];
	struct stat mine, there;

	journal_name(j, ".part", part);
	if (!fstat(j->part.fd, &mine) && !stat(part, &there) && mine.st_dev == there.st_dev &&
	    mine.st_ino == there.st_ino)
		return 0;
	return complain(ESTALE, "%s was renamed, removed or replaced meanwhile", part);
}

/* Not to the name that was asked for: somebody else's file is there. */
static void say_moved(struct journal *j, char *taken)
{
	j->moved = strcmp(taken, j->path);
	if (j->moved)
		complain(EEXIST, "%s has appeared meanwhile and stays; the record is kept as %s",
			 j->path, taken);
	free(j->path);
	j->path = taken;
}

int journal_finish(struct journal *j)
{
	char part[JOURNAL_NAME], visits[JOURNAL_NAME], *taken;
	int err = record_sync(&j->part, true);

	if (!err)
		err = journal_check_part(j);
	if (err)
		return err;
	journal_name(j, ".part", part);
	journal_name(j, ".visits", visits);
	/* before the rename: of a session that is complete nothing is left, whatever comes */
	unlink(visits);
	lock_release(&j->lock);
	err = output_rename_new(part, j->path, &taken);
	if (err)
		return complain(err, "cannot rename %s to %s: %s", part, j->path, strerror(err));
	say_moved(j, taken);
	return 0;
}

void journal_discard(struct journal *j)
{
	static const char *const suffixes[] = { ".part", ".visits" };
	char name[JOURNAL_NAME];

	for (int i = 0; i < 2; i++) {
		journal_name(j, suffixes[i], name);
		unlink(name);
	}
	lock_release(&j->lock);
}

void journal_release(struct journal *j)
{
	journal_forget_visits(j, 0);
	journal_forget_visits(j, 1);
	lock_release(&j->lock); /* before the .part is closed, which frees the lock */
	record_close(&j->part);
	record_close(&j->visits);
	for (int side = 0; side < 2; side++) {
		json_decref(j->header[side]);
		json_decref(j->refused[side]);
		for (int kind = 0; kind < SYNC_COUNT; kind++)
			json_decref(j->of_kind[side][kind]);
	}
	journal_release_turns(j);
	free(j->status);
	free(j->total_ns);
	free(j->enq_ns);
	free(j->launches);
	free(j->step);
	free(j->noisy);
	free(j->complete);
	free(j->attempts);
	free(j->canary_ns);
	free(j->company);
	free(j->alone_ns);
	free(j->failures);
	free(j->visit[0]);
	free(j->visit[1]);
	free(j->against);
	free(j->path);
	plan_release(&j->plan);
	*j = (struct journal){ .part.fd = -1, .visits.fd = -1 };
}
