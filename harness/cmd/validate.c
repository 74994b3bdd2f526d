/* validate.c - rift predict --validate SESSION...: do launches alone predict these workloads? */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/cmd/options.h"
#include "harness/fit/source.h"
#include "harness/fit/validate.h"
#include "workloads/workload.h"

enum { WORKS_MAX = 64 };

struct validating {
	const struct arguments *args;
	struct source launches;
	struct source session[VALIDATE_SESSIONS_MAX];
	const struct journal *of; /* whose workloads are taken ... */
	int side;		  /* ... of this side */
	struct grid grid[WORKS_MAX];
	struct work_validation work[WORKS_MAX];
	int n;
};

static int add_workload(const char *name, void *arg)
{
	struct validating *v = arg;
	struct grid *g = &v->grid[v->n];
	int err = 0;

	if (!strcmp(name, v->launches.grid.workload->name))
		return 0;
	if (v->n == WORKS_MAX)
		return complain(EINVAL,
				"rift predict --validate takes at most %d workloads of all "
				"sessions; name fewer",
				(int)WORKS_MAX);
	err = grid_make(g, v->of, v->side, name);
	if (err)
		grid_release(g);
	else
		validate_work(&v->work[v->n++], g, &v->launches.fit);
	return err;
}

static int add_session(struct validating *v, int i)
{
	const struct arguments *a = v->args;
	const struct journal *on = v->launches.j;
	const struct session_arg arg = session_word(a, i);
	struct source *s = &v->session[i];
	int err;

	s->before = i ? s - 1 : &v->launches;
	err = source_read(s, &arg, a->sync, &v->side);
	if (!err)
		err = source_same_device("session", arg.word, s->j->header[v->side], on,
					 v->launches.grid.side);
	v->of = s->j;
	return err ? err : source_each_workload(v->of, add_workload, v);
}

static void print(const void *found, FILE *out)
{
	const struct validating *v = found;

	works_print(v->work, v->n, &v->launches.fit, out);
}

static json_t *json(const void *found)
{
	const struct validating *v = found;

	return works_json(v->work, v->n, &v->launches.fit);
}

/* The launches, which predict, and the workloads. */
static int read_all(struct validating *v)
{
	const struct arguments *a = v->args;
	const struct session_arg on = a->on ? session_option("--on", a->on) : session_word(a, 0);
	int err = source_platform(&v->launches, &on, a->sync, 0);

	if (!err && !v->launches.grid.nominal)
		err = complain(EINVAL,
			       "%s has no launches, which predict the others; name a session of "
			       "the workload launch with --on",
			       on.word);
	for (int i = 0; i < a->words.n && !err; i++)
		err = add_session(v, i);
	if (!err && !v->n)
		err = complain(EINVAL,
			       "there is no workload but %s in these sessions: nothing to "
			       "predict",
			       v->launches.grid.workload->name);
	return err;
}

int predict_validate(const struct arguments *a)
{
	struct validating *v = calloc(1, sizeof(*v));
	int err;

	CHECK(v, "memory of %d sessions", a->words.n);
	v->args = a;
	err = read_all(v);
	if (!err) {
		show(a, v, print, json);
		note_cpu(a, session_is_cpu(v->launches.j, v->launches.grid.side));
	}
	for (int i = 0; i < v->n; i++) {
		work_validation_release(&v->work[i]);
		grid_release(&v->grid[i]);
	}
	for (int i = 0; i < a->words.n; i++)
		source_release(&v->session[i]);
	source_release(&v->launches);
	free(v);
	return err;
}
