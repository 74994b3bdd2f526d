/* source.c - sessions as the commands of the model read them. */
#include "harness/fit/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "workloads/workload.h"

static bool is_same_policy(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Most of a command's time is the reading of sessions, and several sources are often one file. */
static const struct journal *read_before(const struct source *s, const char *path, const char *sync)
{
	for (const struct source *b = s->before; b; b = b->before)
		if (b->j && !strcmp(b->j->path, path) && is_same_policy(b->sync, sync))
			return b->j;
	return NULL;
}

static int read_session(struct source *s, const char *path, const char *sync)
{
	s->sync = sync;
	s->j = read_before(s, path, sync);
	if (s->j)
		return 0;
	s->j = &s->own;
	return session_read(&s->own, path, sync);
}

int source_read(struct source *s, const struct session_arg *arg, const char *sync, int *side)
{
	char *path;
	int err = session_word_parse(arg, &path, side);

	if (!err)
		err = read_session(s, path, sync);
	if (!err)
		err = session_side_one(s->j, arg, side);
	free(path);
	return err;
}

int source_grid(struct source *s, const struct session_arg *arg, const char *workload,
		const char *sync)
{
	int side, err = source_read(s, arg, sync, &side);

	return err ? err : grid_make(&s->grid, s->j, side, workload);
}

bool source_has_launch(const struct journal *j)
{
	for (int i = 0; i < j->plan.n_configs; i++)
		if (!strcmp(j->plan.config[i].workload->name, "launch"))
			return true;
	return false;
}

/* A workload whose sizes are durations determines most parameters, so it is taken first. */
static const char *best_workload(const struct journal *j)
{
	return source_has_launch(j) ? "launch" : NULL;
}

int source_platform(struct source *s, const struct session_arg *arg, const char *sync,
		    uint32_t group)
{
	int side, err = source_read(s, arg, sync, &side);

	if (!err)
		err = grid_make(&s->grid, s->j, side, best_workload(s->j));
	return err ? err : fit_make(&s->fit, &s->grid, group);
}

int source_launches(struct source *s, const struct session_arg *arg, const char *sync,
		    const struct journal *j, int side)
{
	int err = source_platform(s, arg, sync, 0);

	if (!err && !s->grid.nominal)
		err = complain(
			EINVAL,
			"%s=%s: a session of %s, whose sizes are not durations; give one of launch",
			arg->option, arg->word, s->grid.workload->name);
	return err ? err
		   : source_same_device(arg->option, arg->word, s->j->header[s->grid.side], j,
					side);
}

bool source_same(const struct grid *a, const struct grid *b)
{
	return session_same(a->j, b->j) && a->side == b->side;
}

void source_release(struct source *s)
{
	fit_release(&s->fit);
	grid_release(&s->grid);
	journal_release(&s->own);
}

int source_each_workload(const struct journal *j, int (*each)(const char *workload, void *arg),
			 void *arg)
{
	const struct plan *p = &j->plan;
	int err = 0;

	for (int i = 0; i < p->n_configs && !err; i++) {
		bool seen = false;

		for (int k = 0; k < i; k++)
			seen |= p->config[k].workload == p->config[i].workload;
		if (!seen)
			err = each(p->config[i].workload->name, arg);
	}
	return err;
}

static const char *device_name(const json_t *record)
{
	const char *name =
		json_string_value(json_object_get(json_object_get(record, "gpu"), "name"));

	return name ? name : "unknown device";
}

int source_same_device(const char *option, const char *path, const json_t *record,
		       const struct journal *j, int side)
{
	const char *other = device_name(record), *own = device_name(j->header[side]);

	if (!strcmp(other, own))
		return 0;
	return complain(EXDEV, "%s=%s: was measured on %s, the session on %s", option, path,
			text_shown(other).s, text_shown(own).s);
}
