/* trial_file.c - the record of a timed program: its lines, written and read. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/trial/trial.h"

const struct trial_quantity_row trial_quantities[TRIAL_QUANTITIES] = {
	[TRIAL_USER_S] = { "user_s", "user time", false },
	[TRIAL_SYSTEM_S] = { "system_s", "system time", false },
	[TRIAL_PEAK_BYTES] = { "peak_bytes", "peak memory", false },
	[TRIAL_BEFORE_S] = { "before_s", "before CUDA", false },
	[TRIAL_CALLS_S] = { "calls_s", "first to last call", false },
	[TRIAL_AFTER_S] = { "after_s", "after CUDA", true },
	[TRIAL_DEVICE_BYTES] = { "device_bytes", "device memory", false },
	[TRIAL_ENERGY_J] = { "energy_j", "energy", false },
};

/* Processes that end beside each other may leave less than nothing: then it is not known. */
void trial_run_derive(struct trial_run *r)
{
	double after_s = r->wall_s - r->value[TRIAL_BEFORE_S] - r->value[TRIAL_CALLS_S];

	r->value[TRIAL_AFTER_S] = after_s > 0 ? after_s : NAN;
}

void trial_init(struct trial *t)
{
	for (int i = 0; i < t->plan.sides; i++) {
		t->side[i].run = calloc(TRIAL_ROUNDS_MAX, sizeof(*t->side[i].run));
		CHECK(t->side[i].run, "memory of runs");
	}
}

void trial_release(struct trial *t)
{
	for (int i = 0; i < TRIAL_SIDES_MAX; i++)
		free(t->side[i].run);
	json_decref(t->platform);
	line_file_release(&t->file);
	trial_plan_release(&t->plan);
	*t = (struct trial){ .file = LINE_FILE_NONE };
}

/* ---- a run ---------------------------------------------------------------------------------- */

json_t *trial_run_json(int side, int round, const struct trial_run *r)
{
	json_t *ranges = json_array();
	json_t *o = json_pack("{s:s, s:i, s:i, s:f, s:i, s:b, s:b, s:s, s:o}", "record", "run",
			      "side", side, "round", round, "wall_s", r->wall_s, "status",
			      r->status, "late", r->late, "left", r->left, "output", r->output,
			      "said", json_text(r->said));

	for (int q = 0; q < TRIAL_QUANTITIES; q++)
		if (!trial_quantities[q].derived)
			json_object_set_new(o, trial_quantities[q].name, json_number(r->value[q]));
	for (int i = 0; i < r->ranges; i++)
		json_array_append_new(ranges,
				      json_pack("{s:o, s:I, s:f}", "name",
						json_text(r->range[i].name), "count",
						(json_int_t)r->range[i].count, "s", r->range[i].s));
	json_object_set_new(o, "ranges", ranges);
	return o;
}

static void take_text(const json_t *o, const char *name, char *out, size_t size)
{
	snprintf(out, size, "%s", json_get_text(o, name));
}

static const char *take_ranges(struct trial_run *r, const json_t *ranges)
{
	const json_t *range;
	size_t i;

	if (json_array_size(ranges) > SPAN_RANGES_MAX)
		return "ranges";
	json_array_foreach(ranges, i, range)
	{
		struct trial_range *to = &r->range[r->ranges++];

		take_text(range, "name", to->name, sizeof(to->name));
		to->count = json_integer_value(json_object_get(range, "count"));
		to->s = json_get_number(range, "s");
		if (!*to->name || to->count < 0 || !(to->s >= 0))
			return "ranges";
	}
	return NULL;
}

static const char *take_run(struct trial *t, const json_t *o)
{
	json_int_t side = json_integer_value(json_object_get(o, "side"));
	json_int_t round = json_integer_value(json_object_get(o, "round"));
	const json_t *status = json_object_get(o, "status");
	struct trial_run *r;

	if (!json_is_integer(json_object_get(o, "side")) || side < 0 || side >= t->plan.sides)
		return "side";
	if (!json_is_integer(json_object_get(o, "round")) || round < -1 ||
	    round >= TRIAL_ROUNDS_MAX)
		return "round";
	if (!(json_get_number(o, "wall_s") > 0) || !isfinite(json_get_number(o, "wall_s")))
		return "wall_s";
	if (!json_is_integer(status))
		return "status";
	r = round < 0 ? &t->side[side].untimed : &t->side[side].run[round];
	*r = (struct trial_run){ .there = true,
				 .wall_s = json_get_number(o, "wall_s"),
				 .status = (int)json_integer_value(status),
				 .late = json_is_true(json_object_get(o, "late")),
				 .left = json_is_true(json_object_get(o, "left")) };
	take_text(o, "output", r->output, sizeof(r->output));
	/* a file may say anything */
	snprintf(r->said, sizeof(r->said), "%.159s", text_escaped(json_get_text(o, "said")).s);
	for (int q = 0; q < TRIAL_QUANTITIES; q++)
		r->value[q] = json_get_number(o, trial_quantities[q].name);
	trial_run_derive(r);
	return take_ranges(r, json_object_get(o, "ranges"));
}

/* Rounds after which it may end, ascending. */
static const char *take_looks(struct trial *t, const json_t *o)
{
	const json_t *looks = json_object_get(o, "rounds"), *look;
	size_t i;

	t->looks = 0;
	if (!json_array_size(looks) || json_array_size(looks) > TRIAL_LOOKS_MAX)
		return "rounds";
	json_array_foreach(looks, i, look)
	{
		json_int_t n = json_integer_value(look);

		if (n < 1 || n > TRIAL_ROUNDS_MAX || (i && n <= t->look[i - 1]))
			return "rounds";
		t->look[t->looks++] = (int)n;
	}
	return NULL;
}

static const char *take(void *of, const json_t *o)
{
	struct trial *t = of;

	if (record_is(o, "platform")) {
		json_decref(t->platform);
		t->platform = json_incref((json_t *)(uintptr_t)o);
		return NULL;
	}
	if (record_is(o, "looks"))
		return take_looks(t, o);
	if (record_is(o, "outputs_differ")) {
		t->outputs_differ = true;
		return NULL;
	}
	return record_is(o, "run") ? take_run(t, o) : "record";
}

/* ---- the file ------------------------------------------------------------------------------- */

static int take_plan(void *of, const json_t *plan, const char *where)
{
	struct trial *t = of;
	int err = trial_plan_parse(&t->plan, plan, where);

	if (!err)
		trial_init(t);
	return err;
}

static const struct line_kind kind = { "time", "rift time", take_plan, take };

bool trial_file_is(const char *path)
{
	return line_file_is(path, kind.name);
}

int trial_create(struct trial *t, const char *path)
{
	trial_init(t);
	return line_file_create(&t->file, &kind, path, trial_plan_json(&t->plan));
}

int trial_add(struct trial *t, json_t *line)
{
	return line_file_add(&t->file, &kind, t, line);
}

static int read_any(struct trial *t, const char *path, bool *torn)
{
	*t = (struct trial){ .looks = 0 };
	return line_file_read(&t->file, &kind, path, t, torn);
}

/* Rounds that side 0 has a run of. */
static int rounds_of(const struct trial *t)
{
	int n = 0;

	for (int i = 0; t->side[0].run && i < TRIAL_ROUNDS_MAX; i++)
		n += t->side[0].run[i].there;
	return n;
}

int trial_read(struct trial *t, const char *path)
{
	int err = read_any(t, path, NULL);

	if (!err && !rounds_of(t))
		err = complain(EINVAL,
			       "%s: no run is timed yet; rift time --resume %s continues it", path,
			       path);
	return err;
}

int trial_resume(struct trial *t, const char *path)
{
	*t = (struct trial){ .looks = 0 };
	return line_file_resume(&t->file, &kind, path, t);
}

int trial_check(const char *path, bool *incomplete)
{
	bool torn, under_way = record_is_called(path, ".part");
	struct trial t;
	int err = read_any(&t, path, &torn);

	if (!err) {
		*incomplete |= !t.file.ended && !under_way;
		printf("%s: %s; rift time %s, %s, %s%s\n", text_escaped(path).s,
		       t.file.ended ? "valid"
		       : under_way  ? "valid, under way"
				    : "incomplete",
		       text_escaped(t.file.id).s, counted(t.plan.sides, "side").s,
		       counted(rounds_of(&t), "round").s,
		       torn ? "; a torn last line is dropped" : "");
	}
	trial_release(&t);
	return err;
}
