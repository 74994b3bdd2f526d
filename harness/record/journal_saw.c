/* journal_saw.c - what the lines of a session say, whether just written or read back. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/record/point_record.h"
#include "harness/record/journal_impl.h"
#include "harness/record/step_cost.h"

/* Of a plan of several kinds of waiting. */
static void saw_kind(struct journal *j, int side, json_t *line)
{
	const json_t *flags = json_object_get(line, "cuda_flags");
	const char *name = json_string_value(json_object_get(flags, "sync"));

	for (int kind = 0; name && kind < SYNC_COUNT; kind++)
		if (!strcmp(name, sync_names[kind]) && !j->of_kind[side][kind])
			j->of_kind[side][kind] = json_incref(line);
}

void journal_saw_header(struct journal *j, int slot, json_t *line)
{
	int side = slot / j->plan.design.processes;
	const json_t *warmup = json_object_get(line, "warmup");
	const json_t *canary = json_object_get(warmup, "canary_ns");

	if (!j->header[side])
		j->header[side] = json_incref(line);
	saw_kind(j, side, line);
	j->canary_ns[slot] = json_is_number(canary) ? json_number_value(canary) : NAN;
	/* of several kinds, the canaries of all their processes are one series */
	if (!j->plan.design.kinds || !j->attempts[slot])
		j->drift_ns[side][0] = j->canary_ns[slot];
	j->attempts[slot]++;
}

static enum point_status status_of(const char *text)
{
	if (!text)
		return POINT_FAILED;
	return !strcmp(text, "ok")		? POINT_OK
	       : !strcmp(text, "check_failed")	? POINT_CHECK_FAILED
	       : !strcmp(text, "skipped")	? POINT_SKIPPED
	       : !strcmp(text, "not_supported") ? POINT_NOT_SUPPORTED
						: POINT_FAILED;
}

static void saw_refusal(struct journal *j, int side, int point, json_t *error)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", point);
	if (!j->refused[side])
		j->refused[side] = json_object();
	json_object_set(j->refused[side], number, error);
}

void journal_saw_point(struct journal *j, int slot, int point, const json_t *line)
{
	size_t at = (size_t)slot * (size_t)j->plan.n_points + (size_t)point;
	const json_t *canaries = json_object_get(line, "canary_ns");
	const json_t *launches = json_object_get(line, "launches_per_step");
	size_t n = json_array_size(canaries);

	j->status[at] =
		(unsigned char)status_of(json_string_value(json_object_get(line, "status")));
	if (j->status[at] == POINT_NOT_SUPPORTED)
		saw_refusal(j, journal_side(j, slot), point, json_object_get(line, "error"));
	j->total_ns[at] = assembled_median(line, "t_total_ns");
	j->enq_ns[at] = assembled_median(line, "t_enq_ns");
	journal_take_turns(j, slot, point, line);
	journal_pair_turns(j, slot, point);
	if (json_is_number(launches))
		j->launches[point] = json_number_value(launches);
	step_cost_take(&j->step[point], json_object_get(line, "step"));
	j->noisy[at] = json_is_true(json_object_get(json_object_get(line, "summary"), "noisy"));
	if (n)
		j->drift_ns[journal_side(j, slot)][1] =
			json_number_value(json_array_get(canaries, n - 1));
}

static void saw_alone(struct journal *j, int slot, const json_t *alone)
{
	const json_t *company = json_object_get(alone, "company_over_alone");
	const json_t *all = json_object_get(alone, "t_total_ns");
	int points = j->plan.n_points;

	j->company[slot] = json_is_number(company) ? json_number_value(company) : NAN;
	for (int i = 0; i < points; i++) {
		const json_t *ns = json_object_get(all, j->plan.point[i].key);

		j->alone_ns[slot * points + i] = json_is_number(ns) ? json_number_value(ns) : NAN;
	}
}

void journal_saw_trailer(struct journal *j, int slot, const json_t *line)
{
	double drift = json_number_value(json_object_get(line, "canary_drift")); /* null: 0 */
	double *most = &j->drift_most[slot / j->plan.design.processes];

	if (fabs(drift) > fabs(*most))
		*most = drift;
	saw_alone(j, slot, json_object_get(line, "alone"));
	j->complete[slot] = true;
}
