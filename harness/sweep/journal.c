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
#include "harness/sweep/assemble.h"
#include "harness/sweep/calibrate.h"
#include "harness/sweep/environment.h"
#include "harness/sweep/journal_impl.h"

/* ---- small things ----------------------------------------------------------------------- */

const char *journal_side_name(int side)
{
	return side ? "b" : "a";
}

int journal_slot(const struct journal *j, int i)
{
	int pair = i / 2;

	if (j->sides == 1)
		return i;
	/* A B, B A, A B, ...: a drift hits both sides alike */
	return ((i % 2) ^ (pair % 2)) * j->plan.design.processes + pair;
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

static json_t *now_utc(void)
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
	json_object_set_new(o, "start_utc", now_utc());
	json_object_set_new(o, "sides", json_integer(j->sides));
	json_object_set_new(o, "against", json_text(j->against));
	json_object_set_new(o, "plan", plan);
	return o;
}

static int refuse_existing(const struct journal *j)
{
	char part[JOURNAL_NAME];

	if (!access(j->path, F_OK))
		return complain(EEXIST, "%s exists; give another name with --output", j->path);
	journal_name(j, ".part", part);
	if (!access(part, F_OK))
		return complain(EEXIST,
				"%s exists: go on with it by `rift sweep --resume %s`, or "
				"give another name",
				part, j->path);
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
		err = refuse_existing(j);
	if (!err)
		err = create_files(j);
	if (err) {
		json_decref(o);
		return err;
	}
	err = record_write(&j->part, plan_record(j, o, argv_text));
	return err ? err : record_sync(&j->part, true);
}

/* ---- lines ------------------------------------------------------------------------------ */

int journal_begin(struct journal *j, int slot)
{
	if (j->visit_slot == slot)
		return 0;
	journal_forget_visits(j);
	j->visit_slot = slot;
	return record_clear(&j->visits);
}

static json_t *line_of(const struct journal *j, const char *record, int slot)
{
	int processes = j->plan.design.processes;

	return json_pack("{s:s, s:s, s:i}", "record", record, "side",
			 journal_side_name(slot / processes), "process_index", slot % processes);
}

int journal_header(struct journal *j, int slot, json_t *o)
{
	json_t *line = line_of(j, "header", slot);
	int side = slot / j->plan.design.processes;
	char hash[HASH_TEXT];

	environment_hash(o, hash);
	json_object_set_new(line, "schema", json_string(RECORD_SCHEMA));
	json_object_set_new(line, "session_id", json_string(j->session_id));
	json_object_set_new(line, "tool", json_string("rift"));
	json_object_set_new(line, "tool_version", json_string(RIFT_VERSION));
	json_object_set_new(line, "attempt", json_integer(j->attempts[slot]));
	json_object_set_new(line, "plan_sha256", json_string(j->plan_hash));
	json_object_set_new(line, "seed", json_integer((json_int_t)j->plan.design.seed));
	json_object_set_new(line, "start_utc", now_utc());
	json_object_set_new(line, "environment_sha256", json_string(hash));
	json_object_set_new(line, "command", side ? json_text(j->against) : json_null());
	json_object_update_missing(line, o);
	json_decref(o);
	journal_saw_header(j, slot, line);
	return record_write(&j->part, line);
}

static int write_point(struct journal *j, int slot, int point, json_t *fields)
{
	json_t *line = line_of(j, "point", slot), *axes = plan_axes_json(&j->plan, point);

	json_object_set_new(line, "key", json_string(j->plan.point[point].key));
	json_object_set_new(line, "axes", axes);
	json_object_update_missing(line, fields);
	json_decref(fields);
	journal_saw_point(j, slot, point, line);
	return record_write(&j->part, line);
}

int journal_point(struct journal *j, int slot, int point)
{
	int rounds = j->plan.design.rounds;

	return write_point(j, slot, point, assemble_point(&j->visit[point * rounds], rounds));
}

int journal_visit(struct journal *j, int slot, int point, int round, json_t *o)
{
	int rounds = j->plan.design.rounds;
	json_t **kept = &j->visit[point * rounds + round];
	json_t *line = line_of(j, "visit", slot);
	int err;

	json_object_set_new(line, "schema", json_string(RECORD_SCHEMA));
	json_object_set_new(line, "session_id", json_string(j->session_id));
	json_object_set_new(line, "attempt", json_integer(j->attempts[slot] - 1));
	json_object_update_missing(line, o);
	json_decref(o);
	json_decref(*kept);
	*kept = json_incref(line);
	err = record_write(&j->visits, line);
	for (int r = 0; r < rounds && !err; r++)
		if (!j->visit[point * rounds + r])
			return 0;
	return err ? err : journal_point(j, slot, point);
}

int journal_failure(struct journal *j, int slot, int point, const char *status, json_t *error,
		    bool final)
{
	json_t *line;

	if (final)
		return write_point(j, slot, point,
				   json_pack("{s:s, s:o}", "status", status, "error", error));
	line = line_of(j, "failure", slot);
	json_object_set_new(line, "key", json_string(j->plan.point[point].key));
	json_object_set_new(line, "status", json_string(status));
	json_object_set_new(line, "error", error);
	j->failures[slot * j->plan.n_points + point]++;
	return record_write(&j->part, line);
}

bool journal_is_deadly(const struct journal *j, int slot, int point)
{
	int processes = j->plan.design.processes, first = slot / processes * processes;

	for (int s = first; s < first + processes; s++)
		if (j->failures[s * j->plan.n_points + point] >= 2)
			return true;
	return false;
}

int journal_count(const struct journal *j, enum point_status status)
{
	int n = 0;

	for (int i = 0; i < j->slots * j->plan.n_points; i++)
		n += j->status[i] == status;
	return n;
}

static int count_in(const struct journal *j, int slot, bool good)
{
	int n = 0;

	for (int i = 0; i < j->plan.n_points; i++)
		n += (j->status[slot * j->plan.n_points + i] == POINT_OK) == good;
	return n;
}

/* By how much the last canaries of a process are longer than the first; NAN: not known. */
static double drift_of(const struct journal *j)
{
	return j->drift_ns[1] / j->drift_ns[0] - 1;
}

int journal_trailer(struct journal *j, int slot, json_t *bye)
{
	json_t *line = line_of(j, "trailer", slot);
	char hash[HASH_TEXT];
	int err;

	json_object_set_new(line, "records", json_integer(count_in(j, slot, true)));
	json_object_set_new(line, "failed", json_integer(count_in(j, slot, false)));
	json_object_update_missing(line, bye);
	json_decref(bye);
	json_object_set_new(line, "canary_drift", json_number(drift_of(j)));
	hash_text(&j->part.hash, hash);
	json_object_set_new(line, "lines_sha256", json_string(hash));
	json_object_set_new(line, "complete", json_true());
	err = record_write(&j->part, line);
	if (!err)
		err = record_sync(&j->part, true);
	if (err)
		return err;
	j->complete[slot] = true;
	journal_forget_visits(j);
	j->visit_slot = -1;
	return record_clear(&j->visits);
}

double journal_canary_ns(const struct journal *j)
{
	double *v = journal_zeroed((size_t)j->slots, sizeof(*v)), median;
	int n = 0;

	for (int i = 0; i < j->slots; i++)
		if (isfinite(j->canary_ns[i]))
			v[n++] = j->canary_ns[i];
	median = median_of(v, n);
	free(v);
	return median;
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
	json_decref(j->header[0]);
	json_decref(j->header[1]);
	free(j->status);
	free(j->total_ns);
	free(j->enq_ns);
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
