/* recorder_cost.c - what the recorder costs, from processes with it and without it. */
#include "harness/profile/recorder_cost.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "common/trace/trace.h"
#include "harness/session/child.h"

/* ---- what is measured ------------------------------------------------------------------ */

/* The two probes, each a process: their configurations are numbered from 0. */
static const struct probe {
	const char *workload, *config[2];
} probes[] = {
	{ "launch", { "us=0", "us=5" } },
	{ "graph", { "length=64", "length=1024" } },
};

enum { PROBES = sizeof(probes) / sizeof(*probes), LAUNCH = 0, GRAPH = 1, NODES = 1024 - 64 };

/* Rows of the probes; per_node: the difference of both configurations, of each further node. */
static const struct line {
	const char *name, *label;
	int probe, config;
	const char *row;
	bool per_node;
} lines[] = {
	{ "launch_call", "launch call", LAUNCH, 0, "launch call", false },
	{ "pace_empty", "queued kernels: empty, each", LAUNCH, 0, "launch pace", false },
	{ "pace_5us", "queued kernels: 5 us, each", LAUNCH, 1, "launch pace", false },
	{ "launch_and_wait", "launch and wait", LAUNCH, 0, "to stream sync", false },
	{ "event_record", "event record", LAUNCH, 0, "event record", false },
	{ "graph_64_call", "graph of 64 nodes: call", GRAPH, 0, "launch call", false },
	{ "graph_64_wait", "graph of 64 nodes: and wait", GRAPH, 0, "launch end to end", false },
	{ "graph_1024_call", "graph of 1024 nodes: call", GRAPH, 1, "launch call", false },
	{ "graph_1024_wait", "graph of 1024 nodes: and wait", GRAPH, 1, "launch end to end",
	  false },
	{ "node_call", "a further node: call", GRAPH, 0, "launch call", true },
	{ "node_wait", "a further node: and wait", GRAPH, 0, "launch end to end", true },
};

_Static_assert(sizeof(lines) / sizeof(*lines) == RECORDER_COSTS, "a row each");

/* ---- one process ----------------------------------------------------------------------- */

/* All of these rows are in us. */
static double value_ns(const json_t *costs, int config, const char *name)
{
	const json_t *row = grid_row(costs, config, name);
	const json_t *value = json_array_get(json_object_get(row, "values"), 0);

	return json_is_number(value) ? 1e3 * json_number_value(value) : NAN;
}

static void take_rows(double *of_turn[RECORDER_COSTS], const json_t *costs, int probe)
{
	for (int i = 0; i < RECORDER_COSTS; i++) {
		const struct line *l = &lines[i];

		if (l->probe != probe)
			continue;
		*of_turn[i] = value_ns(costs, l->config, l->row);
		if (l->per_node)
			*of_turn[i] = (value_ns(costs, 1, l->row) - *of_turn[i]) / NODES;
	}
}

static json_t *configs_of(const struct probe *p)
{
	return json_pack("[[s], [s]]", p->config[0], p->config[1]);
}

static int run_probe(int probe, json_t **costs)
{
	json_t *configs = configs_of(&probes[probe]);
	struct costs_request r = { .processes = 1,
				   .sync = sync_default(),
				   .patience_s = PATIENCE_S,
				   .workload = workload_find(probes[probe].workload),
				   .configs = configs };
	int err = costs_take(&r, costs);

	if (!err && json_array_size(json_object_get(*costs, "failed")))
		err = complain(EIO, "--calibrate: the probe of %s failed", probes[probe].workload);
	json_decref(configs);
	return err;
}

/* ---- with the recorder ----------------------------------------------------------------- */

static int take_trace(struct recorder_costs *out, int turn, const char *path)
{
	struct trace t;
	int err;

	if (access(path, F_OK))
		return complain(ENOENT,
				"--calibrate: the recorder wrote no trace, so there is nothing to "
				"compare; use --recorder device or --recorder calls");
	err = trace_read(&t, path);
	if (!err) {
		snprintf(out->recorder, sizeof(out->recorder), "%s",
			 json_get_text(t.header, "recorder"));
		out->device_times = t.device_times;
		if (t.owns)
			out->wait_ns[turn] = (double)(t.own[0].t1 - t.own[0].t0);
	}
	trace_release(&t);
	return err;
}

static int run_recorded(struct recorder_costs *out, const struct recording_request *request,
			int turn, int probe, json_t **costs)
{
	int err = recording_tell(request);

	if (!err)
		err = run_probe(probe, costs);
	recording_tell_nothing();
	if (!err)
		err = take_trace(out, turn, request->output);
	unlink(request->output);
	return err;
}

/* ---- turns ----------------------------------------------------------------------------- */

static void rows_of_turn(struct recorder_costs *out, int turn, bool recorded,
			 double *of_turn[RECORDER_COSTS])
{
	for (int i = 0; i < RECORDER_COSTS; i++)
		of_turn[i] = recorded ? &out->row[i].with[turn] : &out->row[i].without[turn];
}

static void take_device(struct recorder_costs *out, const json_t *costs)
{
	snprintf(out->device, sizeof(out->device), "%s",
		 json_get_text(json_object_get(costs, "device"), "name"));
	out->is_cpu = costs_is_cpu(costs);
}

static int take_one(struct recorder_costs *out, const struct recording_request *request, int turn,
		    int probe, bool recorded)
{
	double *of_turn[RECORDER_COSTS];
	json_t *costs = NULL;
	int err = recorded ? run_recorded(out, request, turn, probe, &costs)
			   : run_probe(probe, &costs);

	if (!err) {
		rows_of_turn(out, turn, recorded, of_turn);
		take_rows(of_turn, costs, probe);
		take_device(out, costs);
	}
	json_decref(costs);
	return err;
}

/* The recorded process comes first in every other turn: what drifts concerns both kinds. */
static int take_turns(struct recorder_costs *out, const struct recording_request *request)
{
	int err = 0;

	for (int i = 0; i < out->turns * PROBES * 2 && !err; i++) {
		int turn = i / (PROBES * 2), probe = i / 2 % PROBES;

		err = take_one(out, request, turn, probe, (i + turn) % 2);
	}
	return err;
}

int recorder_costs_take(struct recorder_costs *out, const struct recording_request *request,
			int turns)
{
	const char *base = getenv("TMPDIR");
	char folder[PATH_MAX], path[PATH_MAX + 16];
	struct recording_request r = *request;
	int err;

	*out = (struct recorder_costs){ .turns = turns };
	for (int i = 0; i < turns; i++)
		out->wait_ns[i] = NAN;
	interrupt_install();
	snprintf(folder, sizeof(folder), "%s/rift-calibrate-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(folder))
		return complain(errno, "--calibrate: %s: %s", folder, strerror(errno));
	snprintf(path, sizeof(path), "%s/a.trace", folder);
	r.output = path;
	recording_tell_nothing();
	err = take_turns(out, &r);
	output_remove_folder(folder);
	return err;
}

/* ---- what they come to ----------------------------------------------------------------- */

/* more: the median of the turns' differences, whose turns are drawn. */
struct found {
	struct interval without, with, more;
};

enum { SEED = 1 };

static struct interval interval_over(const double *value, int n)
{
	double *draws = malloc(BOOTSTRAP_DRAWS * sizeof(*draws));
	struct interval interval = interval_unknown(n);
	struct resamples r = { 0 };

	CHECK(draws, "memory of draws");
	if (resamples_init(&r, n, SEED, 0) || bootstrap_median(&interval, &r, value, draws))
		interval = interval_unknown(0); /* a turn has no value */
	resamples_release(&r);
	free(draws);
	return interval;
}

static struct found find(const struct recorder_costs *c, int line)
{
	const struct recorder_cost *row = &c->row[line];
	double more[RECORDER_COST_TURNS_MAX];

	for (int i = 0; i < c->turns; i++)
		more[i] = row->with[i] - row->without[i];
	return (struct found){ interval_over(row->without, c->turns),
			       interval_over(row->with, c->turns), interval_over(more, c->turns) };
}

/* ---- output ---------------------------------------------------------------------------- */

enum { LABEL = 28 };

/* Per node a hundredth of a ns is nothing; a line of 0 is not -0.00. */
static struct text time_or_none(double ns)
{
	struct text none = { "-" };

	return isnan(ns) ? none : text_time(fabs(ns) < 0.005 ? 0 : ns);
}

/* "56.2 ns   4 %": half of the interval's width, as a share. */
static void print_median(const struct interval *i, FILE *out)
{
	char half[96] = "";

	if (i->known && fabs(i->value) >= 0.005)
		snprintf(half, sizeof(half), "%s %%", text_half_width(interval_half_width(i), 0).s);
	fprintf(out, "  %9s %6s", time_or_none(i->value).s, half);
}

static void print_line(const struct recorder_costs *c, int line, FILE *out)
{
	struct found f = find(c, line);

	fprintf(out, "%-*s", LABEL, lines[line].label);
	print_median(&f.without, out);
	print_median(&f.with, out);
	fprintf(out, "  %10s", time_or_none(f.more.value).s);
	if (f.more.known)
		fprintf(out, "  %s to %s", time_or_none(f.more.lo).s, time_or_none(f.more.hi).s);
	fputc('\n', out);
}

void recorder_costs_print(const struct recorder_costs *c, FILE *out)
{
	struct interval wait = interval_over(c->wait_ns, c->turns);

	row(out, "recorder", "%s: calls%s", c->recorder,
	    c->device_times ? " and times of the device" : " alone");
	row(out, "device", "%s", c->device);
	row(out, "processes",
	    "%d of each probe with the recorder, %d without it, alternately; medians%s", c->turns,
	    c->turns,
	    c->turns < BOOTSTRAP_N_MIN
		    ? ""
		    : ", half the width of their 95 % intervals, the interval of the difference");
	fprintf(out, "\n%-*s  %9s %6s  %9s %6s  %10s\n", LABEL, "", "without", "", "with", "",
		"difference");
	for (int i = 0; i < RECORDER_COSTS; i++)
		print_line(c, i, out);
	fputc('\n', out);
	row(out, "first call", "waits %s for the recorder", time_or_none(wait.value).s);
}

static json_t *values_json(const double *value, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_number(value[i]));
	return list;
}

static json_t *interval_json(const struct interval *i)
{
	return json_pack("{s:o, s:o, s:o}", "median_ns", json_number(i->value), "lo_ns",
			 json_number(i->lo), "hi_ns", json_number(i->hi));
}

static json_t *line_json(const struct recorder_costs *c, int line)
{
	struct found f = find(c, line);
	json_t *without = interval_json(&f.without), *with = interval_json(&f.with);

	json_object_set_new(without, "values_ns", values_json(c->row[line].without, c->turns));
	json_object_set_new(with, "values_ns", values_json(c->row[line].with, c->turns));
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", lines[line].name, "label",
			 lines[line].label, "without", without, "with", with, "difference",
			 interval_json(&f.more));
}

json_t *recorder_costs_json(const struct recorder_costs *c)
{
	json_t *rows = json_array();
	struct interval wait = interval_over(c->wait_ns, c->turns);

	for (int i = 0; i < RECORDER_COSTS; i++)
		json_array_append_new(rows, line_json(c, i));
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:i, s:o, s:o}", "version", RIFT_VERSION,
			 "command", "profile --calibrate", "recorder", c->recorder, "device",
			 c->device, "device_times", c->device_times, "processes", c->turns, "rows",
			 rows, "first_call_waits", interval_json(&wait));
}
