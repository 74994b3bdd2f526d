/* share_file.c - see share_file.h. */
#include "harness/share/share_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/share/promise.h"

bool share_file_is(const char *path)
{
	return line_file_is(path, "share");
}

/* ---- sets ------------------------------------------------------------------------------- */

void share_init(struct share *s)
{
	struct share_set *all = share_sets(&s->plan, &s->sets);

	s->set = calloc((size_t)s->sets + 1, sizeof(*s->set));
	CHECK(s->set, "memory of %d sets", s->sets);
	for (int i = 0; i < s->sets; i++) {
		s->set[i].set = all[i];
		s->set[i].window =
			calloc((size_t)share_plan_windows(&s->plan), sizeof(*s->set[i].window));
		CHECK(s->set[i].window, "memory of windows");
	}
	free(all);
}

void share_release(struct share *s)
{
	for (int i = 0; i < s->sets; i++) {
		for (int k = 0; k < share_plan_windows(&s->plan); k++)
			json_decref(s->set[i].window[k]);
		json_decref(s->set[i].checked);
		json_decref(s->set[i].fault);
		free(s->set[i].window);
	}
	for (int i = 0; i < SHARE_MIX_MAX; i++)
		json_decref(s->sizes[i]);
	json_decref(s->memory);
	json_decref(s->platform);
	line_file_release(&s->file);
	free(s->set);
	share_plan_release(&s->plan);
	*s = (struct share){ .file = LINE_FILE_NONE };
}

bool share_is_cpu(const struct share *s)
{
	return s->platform && !json_is_true(json_object_get(s->platform, "is_gpu"));
}

const char *share_device(const struct share *s)
{
	return s->platform ? json_get_text(s->platform, "device") : "no device yet";
}

bool share_set_is_whole(const struct share *s, const struct share_measured *m)
{
	if (*m->not_run)
		return true;
	for (int k = 0; k < share_plan_windows(&s->plan); k++)
		if (!m->window[k])
			return false;
	return m->checked && (m->fault || s->plan.fault == FAULT_NONE || m->set.n < 2);
}

/* ---- lines ------------------------------------------------------------------------------ */

json_t *share_line(const char *record, const struct share_set *set)
{
	return json_pack("{s:s, s:s, s:i, s:i}", "record", record, "arm", share_arms[set->arm].name,
			 "n", set->n, "first", set->first);
}

static struct share_measured *set_of(const struct share *s, const json_t *o)
{
	const json_t *n = json_object_get(o, "n"), *first = json_object_get(o, "first");
	const char *arm = json_get_text(o, "arm");

	for (int i = 0; i < s->sets; i++) {
		struct share_measured *m = &s->set[i];

		if (!strcmp(share_arms[m->set.arm].name, arm) && json_is_integer(n) &&
		    json_is_integer(first) && json_integer_value(n) == m->set.n &&
		    json_integer_value(first) == m->set.first)
			return m;
	}
	return NULL;
}

static void keep(json_t **place, const json_t *o)
{
	json_decref(*place);
	*place = json_incref((json_t *)(uintptr_t)o);
}

/* NULL: nothing is wrong with it. */
static const char *client_wrong(const json_t *client)
{
	const json_t *q = json_object_get(client, "step_ns");
	bool timed = json_integer_value(json_object_get(client, "timed")) > 0;
	double before = 0;

	if (!(json_get_number(client, "steps") >= 0))
		return "steps";
	if (!json_is_integer(json_object_get(client, "timed")) ||
	    json_array_size(q) != SHARE_QUANTILES)
		return "step_ns";
	for (int i = 0; i < SHARE_QUANTILES && timed; i++) {
		double ns = json_number_value(json_array_get(q, (size_t)i));

		if (!(ns >= before) || !(ns > 0))
			return "step_ns";
		before = ns;
	}
	return NULL;
}

static const char *take_window(struct share *s, struct share_measured *m, const json_t *o)
{
	const json_t *clients = json_object_get(o, "clients"), *client;
	json_int_t repetition = json_integer_value(json_object_get(o, "repetition"));
	json_int_t window = json_integer_value(json_object_get(o, "window"));
	const char *what = NULL;
	size_t i;

	if (repetition < 0 || repetition >= s->plan.repetitions)
		return "repetition";
	if (window < 0 || window >= s->plan.windows)
		return "window";
	if (!(json_get_number(o, "seconds") > 0))
		return "seconds";
	if (json_array_size(clients) != (size_t)m->set.n)
		return "clients";
	json_array_foreach(clients, i, client)
	{
		if (!what)
			what = client_wrong(client);
		if (!what && share_plan_has_promise(&s->plan))
			what = promise_client_wrong(client);
	}
	if (!what)
		keep(&m->window[repetition * s->plan.windows + window], o);
	return what;
}

static const char *take_checked(struct share_measured *m, const json_t *o)
{
	const json_t *passed = json_object_get(o, "passed"), *each;
	size_t i;

	if (json_array_size(passed) != (size_t)m->set.n)
		return "passed";
	json_array_foreach(passed, i, each)
	{
		if (!json_is_boolean(each))
			return "passed";
	}
	keep(&m->checked, o);
	return NULL;
}

static const char *take_not_run(struct share_measured *m, const json_t *o)
{
	const char *why = json_get_text(o, "why");

	if (!*why)
		return "why";
	if (!json_is_boolean(json_object_get(o, "lost")))
		return "lost";
	m->lost = json_is_true(json_object_get(o, "lost"));
	snprintf(m->not_run, sizeof(m->not_run), "%.400s", text_escaped(why).s);
	return NULL;
}

static const char *take_fault(struct share_measured *m, const json_t *o)
{
	if (json_array_size(json_object_get(o, "clients")) != (size_t)m->set.n)
		return "clients";
	keep(&m->fault, o);
	return NULL;
}

static const char *take_size(struct share *s, const json_t *o)
{
	const json_t *v = json_object_get(o, "workload");
	json_int_t at = json_integer_value(v);

	if (!json_is_integer(v) || at < 0 || at >= s->plan.mixes)
		return "workload";
	if (!(json_get_number(o, "step_ns") > 0))
		return "step_ns";
	keep(&s->sizes[at], o);
	return NULL;
}

static const char *take_memory(struct share *s, const json_t *o)
{
	const char *what = promise_memory_wrong(o);

	if (!what)
		keep(&s->memory, o);
	return what;
}

static const char *take(void *of, const json_t *o)
{
	struct share *s = of;
	struct share_measured *m = set_of(s, o);

	if (record_is(o, "platform")) {
		keep(&s->platform, o);
		return *json_get_text(o, "device") ? NULL : "device";
	}
	if (record_is(o, "size"))
		return take_size(s, o);
	if (record_is(o, "memory") && s->plan.allow.memory > 0)
		return take_memory(s, o);
	if (!record_is(o, "window") && !record_is(o, "checked") && !record_is(o, "not_run") &&
	    !record_is(o, "fault"))
		return "record";
	if (!m)
		return "arm, n or first";
	return record_is(o, "window")	 ? take_window(s, m, o)
	       : record_is(o, "checked") ? take_checked(m, o)
	       : record_is(o, "not_run") ? take_not_run(m, o)
					 : take_fault(m, o);
}

static int take_plan(void *of, const json_t *plan, const char *where)
{
	struct share *s = of;
	int err = share_plan_parse(&s->plan, plan, where);

	if (!err)
		share_init(s);
	return err;
}

static const struct line_kind kind = { "share", "rift share", take_plan, take };

/* ---- reading ---------------------------------------------------------------------------- */

/* Tables of it would be empty. */
static int refuse_unfinished(const struct share *s, const char *path)
{
	for (int i = 0; i < s->sets; i++)
		if (share_set_is_whole(s, &s->set[i]))
			return 0;
	if (s->memory)
		return 0;
	if (record_is_called(path, ".part"))
		return complain(
			EINVAL,
			"%s: none of its %s is finished; rift share --resume %s continues it", path,
			counted(s->sets, "configuration").s, path);
	return complain(EINVAL,
			"%s: none of its %s is finished; rename it to NAME.part, and rift share "
			"--resume NAME.part continues it",
			path, counted(s->sets, "configuration").s);
}

static int read_share(struct share *s, const char *path, bool *torn)
{
	*s = (struct share){ .sets = 0 };
	return line_file_read(&s->file, &kind, path, s, torn);
}

int share_read(struct share *s, const char *path)
{
	int err = read_share(s, path, NULL);

	return err ? err : refuse_unfinished(s, path);
}

int share_check(const char *path, bool *incomplete)
{
	bool torn, under_way = record_is_called(path, ".part");
	struct share s;
	int whole = 0, not_run = 0, err = read_share(&s, path, &torn);

	for (int i = 0; i < s.sets; i++) {
		not_run += *s.set[i].not_run != '\0';
		whole += !*s.set[i].not_run && share_set_is_whole(&s, &s.set[i]);
	}
	if (!err && s.file.ended &&
	    (whole + not_run < s.sets || (s.plan.allow.memory > 0 && !s.memory)))
		err = complain(EINVAL, "%s: it has ended, but configurations are missing", path);
	if (!err) {
		*incomplete |= !s.file.ended && !under_way;
		printf("%s: %s; rift share %s, %d of %d configurations measured, %d not run%s\n",
		       text_escaped(path).s,
		       s.file.ended ? "valid"
		       : under_way  ? "valid, under way"
				    : "incomplete",
		       text_escaped(s.file.id).s, whole, s.sets, not_run,
		       torn ? "; a torn last line is dropped" : "");
	}
	share_release(&s);
	return err;
}

/* ---- writing ---------------------------------------------------------------------------- */

int share_add(struct share *s, json_t *o)
{
	return line_file_add(&s->file, &kind, s, o);
}

int share_create(struct share *s, const char *path)
{
	share_init(s);
	return line_file_create(&s->file, &kind, path, share_plan_json(&s->plan));
}

int share_resume(struct share *s, const char *path)
{
	*s = (struct share){ .sets = 0 };
	return line_file_resume(&s->file, &kind, path, s);
}

int share_end(struct share *s)
{
	return line_file_end(&s->file);
}

void share_abandon(struct share *s)
{
	if (!s->platform)
		line_file_abandon(&s->file);
}
