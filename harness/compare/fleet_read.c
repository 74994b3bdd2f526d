/* fleet_read.c - record files of many nodes: what each process took, over the fleet's median. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/environment_diff.h"
#include "harness/compare/fleet.h"
#include "harness/compare/side.h"
#include "harness/record/recorded.h"
#include "harness/stats/stats.h"

/* A process: ns per step at each point of the first file's plan; NAN: it has none. */
struct row {
	char name[FLEET_NAME];
	int session; /* of all files */
	double *step_ns;
};

struct table {
	struct row *row;
	int rows;
	json_t *points; /* key -> column */
	json_t *header; /* of the first file */
	json_t *seen;	/* session's id and side -> file */
	int columns;
	struct distrusted distrusted;
};

/* ---- one file ---------------------------------------------------------------------------------
 */

static void name_node(const struct compared_side *s, const char *path, char out[FLEET_NAME])
{
	const json_t *header = side_header(s);
	const char *name = json_get_text(json_object_get(header, "virt"), "declared_platform");
	struct text_line shown;
	size_t n;

	if (!*name)
		name = json_get_text(json_object_get(header, "host"), "name");
	shown = text_escaped(*name ? name : path);
	n = strlen(shown.s);
	/* what files differ by is at the end of their names */
	snprintf(out, FLEET_NAME, "%s", shown.s + (n < FLEET_NAME ? 0 : n - FLEET_NAME + 1));
}

/* The plan of the first file is the fleet's. */
static void begin_table(struct table *t, const struct compared_side *s,
			const struct workload *workload)
{
	const struct plan *p = &s->view.plan;

	t->points = json_object();
	t->seen = json_object();
	t->header = json_incref((json_t *)(uintptr_t)side_header(s));
	for (int i = 0; i < p->n_points; i++)
		if (!workload || plan_workload(p, i) == workload)
			json_object_set_new(t->points, p->point[i].key, json_integer(i));
	t->columns = p->n_points;
}

/* The first of its rows; there are s->n. */
static struct row *add_rows(struct table *t, const struct compared_side *s, const char *name,
			    int session)
{
	struct row *first;

	t->row = realloc(t->row, (size_t)(t->rows + s->n) * sizeof(*t->row));
	CHECK(t->row, "memory of %d processes", t->rows + s->n);
	first = &t->row[t->rows];
	for (int i = 0; i < s->n; i++) {
		first[i] = (struct row){ .session = session };
		snprintf(first[i].name, sizeof(first[i].name), "%s", name);
		first[i].step_ns = calloc((size_t)t->columns + 1, sizeof(double));
		CHECK(first[i].step_ns, "memory of %d points", t->columns);
		for (int k = 0; k < t->columns; k++)
			first[i].step_ns[k] = NAN;
	}
	t->rows += s->n;
	return first;
}

static int refuse_twice(struct table *t, const struct compared_side *s, const char *path)
{
	char id[40];
	const char *before;

	snprintf(id, sizeof(id), "%s %d", s->view.session_id, s->side);
	before = json_string_value(json_object_get(t->seen, id));
	if (before)
		return complain(EINVAL, "%s and %s are the same session; give each once", before,
				path);
	json_object_set_new(t->seen, id, json_text(path));
	return 0;
}

static int take_values(struct table *t, const struct compared_side *s, const char *path,
		       int session)
{
	const struct plan *p = &s->view.plan;
	double *value = calloc((size_t)s->n + 1, sizeof(*value));
	char name[FLEET_NAME];
	struct row *row;
	int common = 0;

	CHECK(value, "memory of %d values", s->n);
	name_node(s, path, name);
	distrusted_add(&t->distrusted, name, &s->view);
	row = add_rows(t, s, name, session);
	for (int i = 0; i < p->n_points; i++) {
		const json_t *column = json_object_get(t->points, p->point[i].key);

		if (!column || side_values(s, i, value) != s->n)
			continue;
		common++;
		for (int k = 0; k < s->n; k++)
			row[k].step_ns[json_integer_value(column)] = value[k];
	}
	free(value);
	return common ? 0
		      : complain(EPROTONOSUPPORT,
				 "%s: has no point of the first file with a result of each process",
				 path);
}

static int take_file(struct table *t, char *path, const struct fleet_request *r, int session)
{
	const struct session_arg arg = { .word = path, .side = r->side };
	struct compared_side s = { .n = 0 };
	struct journal j = JOURNAL_NONE;
	int side, err = session_read_side(&j, &arg, r->sync, &side);

	if (!err) {
		side_init(&s, &j, path, side, HALF_BOTH);
		if (!t->points)
			begin_table(t, &s, r->workload);
		err = r->force ? 0 : environment_diff_refuse_devices(t->header, side_header(&s));
	}
	if (!err)
		err = refuse_twice(t, &s, path);
	if (!err)
		err = take_values(t, &s, path, session);
	side_release(&s);
	journal_release(&j);
	return err;
}

/* ---- all --------------------------------------------------------------------------------------
 */

/* The medians of the columns, NAN of one that nobody has. */
static double *medians_of(const struct table *t)
{
	double *median = calloc((size_t)t->columns + 1, sizeof(*median));
	double *value = calloc((size_t)t->rows + 1, sizeof(*value));

	CHECK(median && value, "memory of %d processes", t->rows);
	for (int k = 0; k < t->columns; k++) {
		int n = 0;

		for (int i = 0; i < t->rows; i++)
			if (isfinite(t->row[i].step_ns[k]))
				value[n++] = t->row[i].step_ns[k];
		median[k] = median_of(value, n);
	}
	free(value);
	return median;
}

static double mean_log(const struct row *row, const double *median, int columns)
{
	double sum = 0;
	int n = 0;

	for (int k = 0; k < columns; k++)
		if (row->step_ns[k] > 0) {
			sum += log(row->step_ns[k] / median[k]);
			n++;
		}
	return n ? sum / n : NAN;
}

/* Rows of a file follow each other, so a node's sessions are counted as they come. */
static void fill_fleet(struct fleet *f, const struct table *t)
{
	double *median = medians_of(t);

	for (int i = 0; i < t->rows; i++) {
		struct fleet_node *n = fleet_node(f, t->row[i].name);
		double value = mean_log(&t->row[i], median, t->columns);

		if (!i || t->row[i].session != t->row[i - 1].session)
			n->sessions++;
		if (isfinite(value))
			fleet_add(n, n->sessions - 1, value);
	}
	for (int k = 0; k < t->columns; k++)
		f->points += isfinite(median[k]);
	free(median);
}

static void release_table(struct table *t)
{
	for (int i = 0; i < t->rows; i++)
		free(t->row[i].step_ns);
	free(t->row);
	json_decref(t->points);
	json_decref(t->header);
	json_decref(t->seen);
}

int fleet_read(struct fleet *f, char *const *path, int n, const struct fleet_request *request)
{
	struct table t = { .rows = 0 };
	int err = 0;

	*f = (struct fleet){ .files = n };
	for (int i = 0; i < n && !err; i++) {
		progress("%d of %d: %s", i + 1, n, text_shown(path[i]).s);
		err = interrupted() ? -EINTR : take_file(&t, path[i], request, i);
	}
	progress_clear();
	if (!err) {
		const json_t *gpu = json_object_get(t.header, "gpu");

		fill_fleet(f, &t);
		f->distrusted = t.distrusted;
		snprintf(f->device, sizeof(f->device), "%.127s",
			 text_escaped(json_get_text(gpu, "name")).s);
		f->is_cpu = !strcmp(json_get_text(json_object_get(t.header, "build"), "build_type"),
				    "cpu");
	}
	release_table(&t);
	return err;
}
