/* grid.c - a probe over values of parameters: what is asked for, and a file that was kept. */
#include "harness/probe/grid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/line.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/base/together.h"
#include "harness/probe/costs.h"
#include "harness/record/recorded.h"
#include "workloads/workload.h"

/* ---- asking for one ------------------------------------------------------------------------ */

static const struct param *probe_row(const struct workload *w)
{
	int i = params_find(w->params, "probe", 5);

	return i < 0 ? NULL : &w->params[i];
}

const char *grid_probe(const struct workload *w)
{
	const struct param *row = probe_row(w);

	for (const char *const *name = row->choices; *name; name++)
		if (!strcmp(*name, "one"))
			return "probe=one";
	return "probe=quick";
}

/* Each configuration so far with one value more, "name=value", which is owned from here on. */
static void extend(json_t *longer, const json_t *configs, json_t *value)
{
	json_t *config;
	size_t i;

	json_array_foreach(configs, i, config)
	{
		json_t *copy = json_copy(config);

		json_array_insert(copy, 0, value); /* words are taken from the last on */
		json_array_append_new(longer, copy);
	}
	json_decref(value);
}

/* Each configuration so far with each value of the word; -EINVAL after one line. */
static int multiply(json_t **configs, const char *word)
{
	json_t *longer = json_array(), *one;
	int name = (int)strcspn(word, "="), err = 0;
	const char *value = word + name;

	if (!*value)
		err = complain(EINVAL, "'%s': parameters are written name=value",
			       text_shown(word).s);
	while (*value && !err) {
		int len = (int)strcspn(value + 1, ",");

		one = json_sprintf("%.*s=%.*s", name, word, len, value + 1);
		if (!one)
			err = complain(EINVAL, "'%s': no text", text_shown(word).s);
		else
			extend(longer, *configs, one);
		if (json_array_size(longer) > GRID_CONFIGS_MAX)
			err = complain(EINVAL, "more than %d configurations: give fewer values",
				       GRID_CONFIGS_MAX);
		value += 1 + len;
	}
	json_decref(*configs);
	*configs = longer;
	return err;
}

/* As `rift run` would refuse it. */
static int check_config(const struct workload *w, const json_t *config)
{
	void *opts = calloc(1, w->opts_size + 1);
	struct limits limits = { 0 };
	struct params params;
	const json_t *word;
	size_t i;
	int err = 0;

	CHECK(opts, "memory of %s", w->name);
	params_init(&params, w->params, w->name, opts);
	json_array_foreach(config, i, word)
	{
		err = err ? err : params_assign(&params, json_string_value(word));
	}
	if (!err && params.given[probe_row(w) - w->params])
		err = complain(EINVAL, "probe=: is set by rift probe itself; leave it out");
	err = err ? err : params_assign(&params, grid_probe(w));
	err = err ? err : param_needs_check(&params, w->needs);
	err = err ? err : workload_limits(w, opts, &limits);
	params_release(&params);
	free(opts);
	return err;
}

int grid_parse(json_t **configs, const struct workload *w, char *const *words, int n)
{
	const json_t *config;
	size_t i;
	int err = 0;

	*configs = json_pack("[[]]");
	if (!probe_row(w))
		err = complain(EINVAL, "%s has no probe; use launch, graph, memory or transfer",
			       w->name);
	for (int k = n - 1; k >= 0 && !err; k--)
		err = multiply(configs, words[k]);
	json_array_foreach(*configs, i, config)
	{
		err = err ? err : check_config(w, config);
	}
	if (err) {
		json_decref(*configs);
		*configs = NULL;
	}
	return err;
}

/* ---- reading one --------------------------------------------------------------------------- */

int grid_configs(const json_t *grid)
{
	return (int)json_array_size(json_object_get(grid, "configs"));
}

static const char *damage_of_row(const json_t *grid, const json_t *row)
{
	const json_t *config = json_object_get(row, "config"), *values, *v;
	size_t i;

	if (config && (!json_is_integer(config) || json_integer_value(config) < 0 ||
		       json_integer_value(config) >= grid_configs(grid)))
		return "a row is of no configuration";
	if (!*json_get_text(row, "name"))
		return "a row has no name";
	values = json_object_get(row, "values");
	if (json_array_size(values) != (size_t)costs_processes(grid))
		return "a row has not as many values as there were processes";
	json_array_foreach(values, i, v)
	{
		if (!json_is_null(v) && !json_is_number(v))
			return "a value is no number";
	}
	return NULL;
}

static const char *damage_of(const json_t *grid)
{
	const json_t *rows = json_object_get(grid, "rows"), *o;
	int n = costs_processes(grid), configs = grid_configs(grid);
	const char *why = NULL;
	size_t i;

	if (n < 1 || n > COSTS_PROCESSES_MAX || configs < 1 || configs > GRID_CONFIGS_MAX)
		return "no processes or no configurations, or too many";
	json_array_foreach(json_object_get(grid, "configs"), i, o)
	{
		if (!json_is_object(o))
			return "a configuration is no object";
	}
	if (!json_array_size(rows))
		return "no rows";
	json_array_foreach(rows, i, o)
	{
		why = why ? why : damage_of_row(grid, o);
	}
	return why;
}

int grid_read(const char *path, json_t **grid)
{
	static const struct object_kind kind = {
		"grid of probes", "rift probe WORKLOAD --output FILE makes one",
		GRID_SCHEMA,	  GRID_SCHEMA_MAJOR,
		grid_is_named,	  damage_of,
	};

	return object_read(grid, path, &kind);
}

bool grid_is_one(const json_t *read)
{
	return grid_is_named(json_get_text(read, "record"));
}

int grid_config_like(const json_t *grid, const json_t *other, int config)
{
	const json_t *mine = json_array_get(json_object_get(grid, "configs"), (size_t)config);
	const json_t *theirs;
	size_t i;

	json_array_foreach(json_object_get(other, "configs"), i, theirs)
	{
		if (json_equal(mine, theirs))
			return (int)i;
	}
	return -1;
}

const json_t *grid_row(const json_t *grid, int config, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(grid, "rows"), i, row)
	{
		const json_t *of = json_object_get(row, "config");

		if (of && json_integer_value(of) == config &&
		    !strcmp(json_get_text(row, "name"), name))
			return row;
	}
	return NULL;
}

int grid_common_configs(const json_t *a, const json_t *b)
{
	int n = 0;

	for (int i = 0; i < grid_configs(a); i++)
		n += grid_config_like(a, b, i) >= 0;
	return n;
}

int grid_refuse_pair(const json_t *a, const json_t *b)
{
	const char *of_a = json_get_text(a, "workload"), *of_b = json_get_text(b, "workload");

	if (json_equal(json_object_get(a, "session_id"), json_object_get(b, "session_id")))
		return complain(EINVAL, "both are the same grid (%s)",
				text_shown(json_get_text(a, "session_id")).s);
	if (strcmp(of_a, of_b))
		return complain(EXDEV, "not comparable: A is a grid of %s, B one of %s",
				text_shown(of_a).s, text_shown(of_b).s);
	if (!grid_common_configs(a, b))
		return complain(EXDEV,
				"not comparable: the two grids have no configuration in common");
	return 0;
}

static bool is_listed(const char *const *list, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

int grid_names(const json_t *grid, const char *name[GRID_NAMES_MAX])
{
	const json_t *row;
	size_t i;
	int n = 0;

	json_array_foreach(json_object_get(grid, "rows"), i, row)
	{
		const char *of = json_get_text(row, "name");

		if (n < GRID_NAMES_MAX && json_object_get(row, "config") &&
		    isfinite(json_get_number(row, "median")) && !is_listed(name, n, of))
			name[n++] = of;
	}
	return n;
}

const char *const grid_over_size[] = { "launch call, idle", "first launch call, idle",
				       "instantiate", "launch end to end", NULL };
const char *const grid_by_config[] = { "first chain's end", "last chain's end", "launch end to end",
				       NULL };

/* ---- lines --------------------------------------------------------------------------------- */

/* "" for a workload that this rift does not know. */
static const char *axis_of(const json_t *grid)
{
	const char *name = json_get_text(grid, "workload");

	for (const struct workload *const *w = workloads; *w; w++)
		for (const struct param *p = (*w)->params; !strcmp((*w)->name, name) && p->name;
		     p++)
			if (p->axis)
				return p->name;
	return "";
}

double grid_size(const json_t *grid, int config)
{
	double nodes = json_get_number(grid_row(grid, config, "nodes"), "median");
	const json_t *o = json_array_get(json_object_get(grid, "configs"), (size_t)config);
	const char *text = json_get_text(o, axis_of(grid));

	return isfinite(nodes) ? nodes : *text ? atof(text) : NAN;
}

/* Has the parameter another value in some other configuration? */
static bool varies(const json_t *grid, const char *name)
{
	const json_t *configs = json_object_get(grid, "configs"), *o;
	const char *first = json_get_text(json_array_get(configs, 0), name);
	size_t i;

	json_array_foreach(configs, i, o)
	{
		if (strcmp(json_get_text(o, name), first))
			return true;
	}
	return false;
}

void grid_label(const json_t *grid, int config, const char *left_out, char *out, size_t size)
{
	json_t *o = json_array_get(json_object_get(grid, "configs"), (size_t)config), *value;
	const char *name;
	size_t used = 0;

	*out = '\0';
	json_object_foreach(o, name, value)
	{
		if (!strcmp(name, left_out) || !varies(grid, name) || used >= size)
			continue;
		snprintf(out + used, size - used, "%s%s=%s", used ? " " : "", text_shown(name).s,
			 text_shown(json_string_value(value) ? json_string_value(value) : "").s);
		used = strlen(out);
	}
}

/* Two points fit any line. */
static int keep_large(struct grid_group *group, int n)
{
	int kept = 0;

	for (int k = 0; k < n; k++)
		if (group[k].n >= GRID_LINE_MIN)
			group[kept++] = group[k];
	return kept;
}

int grid_groups(const json_t *grid, struct grid_group *group)
{
	const char *axis = axis_of(grid);
	int n = 0, k;

	if (!*axis || !varies(grid, axis))
		return 0;
	for (int i = 0; i < grid_configs(grid); i++) {
		char text[sizeof(group->label)];

		grid_label(grid, i, axis, text, sizeof(text));
		for (k = 0; k < n && strcmp(group[k].label, text); k++)
			;
		if (k == GRID_GROUPS_MAX)
			continue;
		if (k == n) {
			group[n++].n = 0;
			memcpy(group[k].label, text, sizeof(text));
		}
		group[k].config[group[k].n++] = i;
	}
	return keep_large(group, n);
}

/* Values of a row in all configurations of a group: value[k][process]. False: some are missing. */
static bool values_of_group(const json_t *grid, const struct grid_group *g, const char *name,
			    double (*value)[COSTS_PROCESSES_MAX], double *size)
{
	for (int k = 0; k < g->n; k++) {
		size[k] = grid_size(grid, g->config[k]);
		if (!isfinite(size[k]) ||
		    !costs_values(grid, grid_row(grid, g->config[k], name), value[k]))
			return false;
	}
	return g->n > 0;
}

/* Least squares within each process. */
static void fit_values(double *fixed, double *slope, const struct grid_group *g, int processes,
		       double (*value)[COSTS_PROCESSES_MAX], const double *size)
{
	double y[GRID_CONFIGS_MAX];

	for (int p = 0; p < processes; p++) {
		struct line l;

		for (int k = 0; k < g->n; k++)
			y[k] = value[k][p];
		l = line_fit(size, y, g->n);
		fixed[p] = l.fixed;
		slope[p] = l.slope;
	}
}

bool grid_fit_each(double *fixed, double *slope, const json_t *grid, const struct grid_group *group,
		   const char *name)
{
	double(*value)[COSTS_PROCESSES_MAX] = calloc(GRID_CONFIGS_MAX, sizeof(*value));
	double size[GRID_CONFIGS_MAX];
	bool ok;

	CHECK(value, "memory of %d configurations", GRID_CONFIGS_MAX);
	ok = values_of_group(grid, group, name, value, size);
	if (ok)
		fit_values(fixed, slope, group, costs_processes(grid), value, size);
	free(value);
	return ok;
}

bool grid_fit(struct grid_line *out, const json_t *grid, const struct grid_group *group,
	      const char *name)
{
	double fixed[COSTS_PROCESSES_MAX], slope[COSTS_PROCESSES_MAX];
	double *draws = calloc(BOOTSTRAP_DRAWS, sizeof(*draws));
	uint64_t seed = (uint64_t)json_integer_value(json_object_get(grid, "seed"));
	struct resamples r;
	bool ok = grid_fit_each(fixed, slope, grid, group, name);

	CHECK(draws, "memory of draws");
	if (ok) {
		CHECK(!resamples_init(&r, costs_processes(grid), seed, 0), "%d processes",
		      costs_processes(grid));
		ok = !bootstrap_median(&out->fixed, &r, fixed, draws) &&
		     !bootstrap_median(&out->slope, &r, slope, draws);
		resamples_release(&r);
	}
	free(draws);
	return ok;
}

const char *grid_given(const json_t *grid)
{
	static char text[256];
	json_t *o = json_array_get(json_object_get(grid, "configs"), 0), *value;
	size_t used = (size_t)snprintf(text, sizeof(text), "%s",
				       text_shown(json_get_text(grid, "workload")).s);
	const char *name;

	json_object_foreach(o, name, value)
	{
		if (varies(grid, name) || !json_is_string(value) || used >= sizeof(text))
			continue;
		snprintf(text + used, sizeof(text) - used, " %s=%s", text_shown(name).s,
			 text_shown(json_string_value(value)).s);
		used = strlen(text);
	}
	return text;
}
