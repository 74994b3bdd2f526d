/* journal_write.c - the lines of a session's files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/command.h"
#include "harness/json.h"
#include "harness/sorted.h"
#include "harness/sweep/assemble.h"
#include "harness/sweep/environment.h"
#include "harness/sweep/journal_impl.h"

int journal_begin(struct journal *j, int slot)
{
	int side = journal_side(j, slot);

	if (j->visit_slot[side] == slot)
		return 0;
	journal_forget_visits(j, side);
	j->visit_slot[side] = slot;
	/* what the other side has under way stays; a reader knows whose a visit is */
	return j->visit_slot[!side] < 0 ? record_clear(&j->visits) : 0;
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
	json_object_set_new(line, "start_utc", journal_now_utc());
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

	return write_point(j, slot, point,
			   assemble_point(journal_visits_of(j, slot, point), rounds));
}

int journal_visit(struct journal *j, int slot, int point, int round, json_t *o)
{
	int rounds = j->plan.design.rounds;
	json_t **kept = &journal_visits_of(j, slot, point)[round];
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
		if (!journal_visits_of(j, slot, point)[r])
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

int journal_drop(struct journal *j, const bool *stays, json_t *why)
{
	json_t *line = json_pack("{s:s}", "record", "fewer"), *keys = json_array();
	int err;

	for (int i = 0; i < j->plan.n_points; i++)
		if (!stays[i])
			json_array_append_new(keys, json_string(j->plan.point[i].key));
	json_object_set_new(line, "keys", keys);
	json_object_update_missing(line, why);
	json_decref(why);
	err = record_write(&j->part, line);
	if (!err)
		err = record_sync(&j->part, true);
	if (!err)
		journal_keep_points(j, stays);
	return err;
}

bool journal_is_deadly(const struct journal *j, int slot, int point)
{
	int processes = j->plan.design.processes, first = slot / processes * processes;

	for (int s = first; s < first + processes; s++)
		if (j->failures[s * j->plan.n_points + point] >= 2)
			return true;
	return false;
}

const json_t *journal_refusal(const struct journal *j, int slot, int point)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", point);
	return json_object_get(j->refused[journal_side(j, slot)], number);
}

int journal_count_failed(const struct journal *j)
{
	return journal_count(j, POINT_FAILED) + journal_count(j, POINT_SKIPPED) +
	       journal_count(j, POINT_NOT_SUPPORTED);
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
static double drift_of(const struct journal *j, int side)
{
	return j->drift_ns[side][1] / j->drift_ns[side][0] - 1;
}

int journal_trailer(struct journal *j, int slot, json_t *bye)
{
	json_t *line = line_of(j, "trailer", slot);
	int side = journal_side(j, slot), err;
	char hash[HASH_TEXT];

	json_object_set_new(line, "records", json_integer(count_in(j, slot, true)));
	json_object_set_new(line, "failed", json_integer(count_in(j, slot, false)));
	json_object_update_missing(line, bye);
	json_decref(bye);
	json_object_set_new(line, "canary_drift", json_number(drift_of(j, side)));
	hash_text(&j->part.hash, hash);
	json_object_set_new(line, "lines_sha256", json_string(hash));
	json_object_set_new(line, "complete", json_true());
	json_incref(line);
	err = record_write(&j->part, line);
	if (!err)
		err = record_sync(&j->part, true);
	if (!err)
		journal_saw_trailer(j, slot, line);
	json_decref(line);
	if (err)
		return err;
	journal_forget_visits(j, side);
	j->visit_slot[side] = -1;
	return j->visit_slot[!side] < 0 ? record_clear(&j->visits) : 0;
}

double journal_canary_ns(const struct journal *j, int side)
{
	double *v = journal_zeroed((size_t)j->slots, sizeof(*v)), median;
	int n = 0;

	for (int i = 0; i < j->slots; i++)
		if (journal_side(j, i) == side && isfinite(j->canary_ns[i]))
			v[n++] = j->canary_ns[i];
	median = median_of(v, n);
	free(v);
	return median;
}
