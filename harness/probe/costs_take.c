/* costs_take.c - a costs file is made: fresh processes one after the other, and what each does. */
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/platform.h"
#include "harness/measure/contract.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "harness/base/param.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "harness/record/environment.h"
#include "harness/record/journal_impl.h"
#include "harness/record/record.h"
#include "harness/session/child.h"
#include "harness/session/job.h"
#include "harness/platform/system.h"

/* ---- a costs file is made: fresh processes one after the other, and what they say ------------ */

struct taking {
	json_t *costs; /* so far */
	json_t *rows;  /* of it */
	int process, processes;
};

/* ---- lines ------------------------------------------------------------------------------ */

static json_t *nulls(int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(array, json_null());
	return array;
}

static const json_t *find_row(const struct taking *t, const char *workload, const char *name,
			      const json_t *config)
{
	return config ? grid_row(t->costs, (int)json_integer_value(config), name)
		      : costs_row(t->costs, workload, name);
}

/* The costs file's own row, made where it is new. */
static json_t *make_row(struct taking *t, const char *workload, const json_t *line,
			const json_t *config)
{
	const char *name = json_string_value(json_object_get(line, "name"));
	json_t *row = (json_t *)(uintptr_t)find_row(t, workload, name ? name : "", config);

	if (row || !name)
		return row;
	row = json_pack("{s:s, s:s, s:O, s:o, s:n, s:n}", "workload", workload, "name", name,
			"unit", json_object_get(line, "unit"), "values", nulls(t->processes),
			"samples", "text");
	if (config)
		json_object_set(row, "config", (json_t *)(uintptr_t)config);
	json_array_append_new(t->rows, row);
	return row;
}

static void take_row(struct taking *t, const char *workload, const json_t *line,
		     const json_t *config)
{
	json_t *row = make_row(t, workload, line, config), *value = json_object_get(line, "value");
	json_t *text = json_object_get(line, "text");

	if (!row)
		return;
	if (json_is_number(value)) {
		json_array_set(json_object_get(row, "values"), (size_t)t->process, value);
		json_object_set(row, "unit", json_object_get(line, "unit"));
	}
	if (json_is_string(text))
		json_object_set(row, "text", text);
	if (json_is_integer(json_object_get(line, "n")))
		json_object_set(row, "samples", json_object_get(line, "n"));
}

static void take_failed(struct taking *t, const json_t *o)
{
	json_t *failed = json_object_get(t->costs, "failed");

	json_array_append_new(failed, json_pack("{s:O, s:O, s:i}", "workload",
						json_object_get(o, "workload"), "code",
						json_object_get(o, "code"), "process", t->process));
}

static int take_line(const json_t *o, void *arg)
{
	struct taking *t = arg;
	const char *workload = json_string_value(json_object_get(o, "workload"));
	const json_t *row;
	size_t i;

	if (record_is(o, "header"))
		json_object_update_missing(t->costs, (json_t *)(uintptr_t)o);
	if (record_is(o, "failed"))
		take_failed(t, o);
	if (!record_is(o, "rows") || !workload)
		return 0;
	json_array_foreach(json_object_get(o, "rows"), i, row)
	{
		take_row(t, workload, row, json_object_get(o, "config"));
	}
	return 0;
}

/* Only the last one looks the platform over: that would load the machine for the others. */
static json_t *job_json(const struct costs_request *r, int process)
{
	json_t *job = json_pack("{s:s, s:i, s:o, s:b, s:b}", "job", "card", "sync", (int)r->sync,
				"platform", json_text(r->platform), "host_name", r->host_name,
				"header", process == r->processes - 1);

	if (r->workload) {
		json_object_set_new(job, "workload", json_string(r->workload->name));
		json_object_set(job, "configs", (json_t *)(uintptr_t)r->configs);
	}
	return job;
}

/* ---- what they come to ------------------------------------------------------------------ */

static void set_interval(json_t *row, const struct interval *i)
{
	json_object_set_new(row, "median", json_number(i->value));
	json_object_set_new(row, "lo", json_number(i->lo));
	json_object_set_new(row, "hi", json_number(i->hi));
}

static void add_intervals(json_t *costs)
{
	double *draws = calloc(BOOTSTRAP_DRAWS, sizeof(*draws)), value[COSTS_PROCESSES_MAX];
	uint64_t seed = (uint64_t)json_integer_value(json_object_get(costs, "seed"));
	struct resamples r;
	json_t *row;
	size_t i;

	CHECK(draws, "memory of draws");
	CHECK(!resamples_init(&r, costs_processes(costs), seed, 0), "%d processes",
	      costs_processes(costs));
	json_array_foreach(json_object_get(costs, "rows"), i, row)
	{
		struct interval interval = interval_unknown(0);

		if (costs_values(costs, row, value) &&
		    bootstrap_median(&interval, &r, value, draws))
			interval = interval_unknown(0);
		set_interval(row, &interval);
	}
	resamples_release(&r);
	free(draws);
}

/* [["length=10"]] as [{"length": "10"}] */
static json_t *configs_json(const json_t *configs)
{
	json_t *array = json_array(), *o;
	const json_t *config, *word;
	size_t i, k;

	json_array_foreach(configs, i, config)
	{
		o = json_object();
		json_array_foreach(config, k, word)
		{
			const char *text = json_string_value(word);
			char *name = strndup(text, strcspn(text, "="));

			json_object_set_new(o, name, json_string(text + strlen(name) + 1));
			free(name);
		}
		json_array_append_new(array, o);
	}
	return array;
}

static json_t *new_costs(const struct costs_request *r)
{
	json_t *costs;

	unsigned char bytes[8];
	char id[17];
	uint32_t seed;

	CHECK(getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes), "no random numbers");
	for (int i = 0; i < 8; i++)
		snprintf(id + (size_t)(2 * i), 3, "%02x", bytes[i]);
	memcpy(&seed, bytes, sizeof(seed));
	costs = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:i, s:I, s:s, s:[], s:[]}", "record",
			  r->workload ? "probe_grid" : "call_costs", "schema",
			  r->workload ? GRID_SCHEMA : COSTS_SCHEMA, "tool", "rift", "tool_version",
			  RIFT_VERSION, "session_id", id, "start_utc", journal_now_utc(),
			  "processes", r->processes, "seed", (json_int_t)seed, "sync",
			  sync_names[r->sync], "failed", "rows");
	if (r->workload) {
		json_object_set_new(costs, "workload", json_string(r->workload->name));
		json_object_set_new(costs, "configs", configs_json(r->configs));
	}
	return costs;
}

static int take_process(const struct costs_request *r, struct taking *t, const char *prefix)
{
	struct job run = { .process = t->process,
			   .processes = r->processes,
			   .prefix = prefix,
			   .patience_ns = 1e9 * r->patience_s,
			   .each = take_line,
			   .arg = t };
	json_t *job = job_json(r, t->process);
	int err;

	progress_part("probing: process %d of %d%s", t->process + 1, t->processes,
		      prefix ? ", under the layer" : "");
	err = job_run(&run, job);
	json_decref(job);
	t->process++;
	return err;
}

/* By turns the one and the other begins: what drifts evenly is then the same on both sides. */
int costs_take(const struct costs_request *r, json_t *costs[COSTS_SIDES])
{
	const char *const prefix[COSTS_SIDES] = { NULL, r->layer };
	struct taking t[COSTS_SIDES];
	int sides = r->layer ? COSTS_SIDES : 1, err = 0;

	for (int s = 0; s < sides; s++) {
		t[s] = (struct taking){ .costs = costs[s] = new_costs(r),
					.processes = r->processes };
		t[s].rows = json_object_get(t[s].costs, "rows");
	}
	for (int i = 0; i < sides * r->processes && !err; i++) {
		int s = (i + i / sides) % sides;

		err = take_process(r, &t[s], prefix[s]);
	}
	progress_clear();
	for (int s = 0; s < sides && !err; s++)
		add_intervals(costs[s]);
	return err;
}

/* ---- one process of a costs file: opens the device, and has each workload probe it ------- */

/* First of all launch: what it launches first must not have been launched. */
static const char *const probed[] = { "launch", "graph", "memory", "transfer" };

/* ---- the device ------------------------------------------------------------------------- */

static void send_process(FILE *out, const struct platform *p, int64_t ns)
{
	json_t *row = json_pack("{s:s, s:s, s:o, s:n, s:o}", "name", "context creation", "unit",
				p->is_gpu ? "us" : "", "value",
				p->is_gpu ? json_real(1e-3 * (double)ns) : json_null(), "n", "text",
				p->is_gpu ? json_null()
					  : json_string("not applicable: the CPU device has none"));

	job_send(out, json_pack("{s:s, s:s, s:[o]}", "record", "rows", "workload", "process",
				"rows", row));
}

/*
 * A process that opens the device, waits once and ends (recording.h), in which a layer costs what
 * it costs any program that is under it. Before this process opens the device itself: two contexts
 * would share it. NAN: it could not be run.
 */
static double time_empty_process(void)
{
	char rift[] = "/proc/self/exe", word[] = "profile-empty";
	char *const argv[] = { rift, word, NULL };
	int64_t begin = clock_ns();
	int status = -1;
	pid_t pid;

	if (posix_spawn(&pid, rift, NULL, NULL, argv, environ))
		return NAN;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? NAN : (double)(clock_ns() - begin);
}

static void send_empty_process(FILE *out)
{
	double ns = time_empty_process();
	json_t *row = json_pack("{s:s, s:s, s:o, s:n, s:n}", "name", "start and end", "unit", "us",
				"value", json_number(1e-3 * ns), "n", "text");

	job_send(out, json_pack("{s:s, s:s, s:[o]}", "record", "rows", "workload", "process",
				"rows", row));
}

/* cudaFree(0) makes the context where cudaSetDevice() did not, as before CUDA 12. */
static int open_device(FILE *out, enum wait_policy sync, struct platform *p)
{
	char pci[32];
	int64_t begin; /* asking for a wait policy may make the context, too */
	int err;

	job_send(out, child_phase_json("opening the device"));
	clock_probe(); /* waits for a clock that is slow at first */
	send_empty_process(out);
	begin = clock_ns();
	err = sync_prepare(sync);
	err = err ? err : platform_device(p);
	if (err)
		return err;
	CUDA(cudaFree(0));
	send_process(out, p, clock_ns() - begin);
	system_pci_address(pci);
	system_free_processor(p->is_gpu ? pci : NULL, !p->is_gpu);
	return 0;
}

/* ---- probes ----------------------------------------------------------------------------- */

static const struct workload *find_workload(const char *name)
{
	for (const struct workload *const *w = workloads; *w; w++)
		if (!strcmp((*w)->name, name))
			return *w;
	return NULL;
}

enum { NO_CONFIG = -1 };

/* Limits, set-up, report and teardown, as `rift run NAME probe=quick` has them. */
static int run_probe(FILE *out, const struct workload *w, const void *opts, int config)
{
	struct report *report = calloc(1, sizeof(*report));
	void *state = calloc(1, w->state_size + 1);
	struct limits limits;
	int err = workload_limits(w, opts, &limits);

	CHECK(report && state, "memory of %s", w->name);
	if (!err)
		err = workload_set_up(w, opts, state);
	if (!err)
		err = w->report(opts, state, report);
	if (!err) {
		json_t *o = json_pack("{s:s, s:s, s:o}", "record", "rows", "workload", w->name,
				      "rows", run_report_json(report));

		if (config != NO_CONFIG)
			json_object_set_new(o, "config", json_integer(config));
		job_send(out, o);
	}
	w->teardown(state);
	free(state);
	free(report);
	return err;
}

struct probing {
	FILE *out;
	const struct workload *w;
	const void *opts;
	int config;
};

static int call_probe(void *arg)
{
	struct probing *p = arg;

	return run_probe(p->out, p->w, p->opts, p->config);
}

static int probe_or_refuse(FILE *out, const struct workload *w, const void *opts, int config)
{
	struct probing p = { out, w, opts, config };
	struct refusal r;
	int err = refusal_catch(call_probe, &p, &r);

	return err == -ENOSYS ? refusal_complain(&r, w->name) : err;
}

static void send_phase(FILE *out, const char *workload)
{
	char text[64];
	json_t *o;

	snprintf(text, sizeof(text), "probing %s", workload);
	o = child_phase_json(text);
	json_object_set_new(o, "workload", json_string(workload));
	job_send(out, o);
}

/* config: its number, and its words; or NO_CONFIG and NULL. */
static int probe_workload(FILE *out, const struct workload *w, int config, const json_t *words)
{
	struct params params;
	void *opts = calloc(1, w->opts_size + 1);
	const json_t *word;
	size_t i;
	int err;

	CHECK(opts, "memory of %s", w->name);
	send_phase(out, w->name);
	params_init(&params, w->params, w->name, opts);
	err = params_assign(&params, words ? grid_probe(w) : "probe=quick");
	json_array_foreach(words, i, word)
	{
		err = err ? err : params_assign(&params, json_string_value(word));
	}
	if (!err)
		err = probe_or_refuse(out, w, opts, config);
	if (err && err != -EINTR)
		job_send(out, json_pack("{s:s, s:s, s:i}", "record", "failed", "workload", w->name,
					"code", -err));
	params_release(&params);
	free(opts);
	return err == -EINTR || interrupted() ? -EINTR : 0;
}

/* ---- the process ------------------------------------------------------------------------ */

/* After the probes: NVML and digests take their time, and load the machine. */
static void send_header(FILE *out, struct platform *p, enum wait_policy sync)
{
	json_t *o, *environment;

	job_send(out, child_phase_json("looking the platform over"));
	platform_details(p);
	environment = environment_of(p);
	o = json_pack("{s:s, s:o}", "record", "header", "device", platform_device_json(p));
	json_object_update(o, environment);
	json_decref(environment);
	json_object_set_new(json_object_get(o, "cuda_flags"), "sync",
			    json_string(sync_names[sync]));
	job_send(out, child_digests_json());
	job_send(out, o);
}

static int probe_all(FILE *out, const json_t *job)
{
	const char *name = json_string_value(json_object_get(job, "workload"));
	const json_t *configs = json_object_get(job, "configs");
	const struct workload *w;
	int err = 0;

	for (size_t i = 0; !name && i < sizeof(probed) / sizeof(*probed) && !err; i++) {
		w = find_workload(probed[i]);
		if (w)
			err = probe_workload(out, w, NO_CONFIG, NULL);
	}
	w = name ? find_workload(name) : NULL;
	for (size_t i = 0; w && i < json_array_size(configs) && !err; i++)
		err = probe_workload(out, w, (int)i, json_array_get(configs, i));
	return err;
}

int costs_work(FILE *out, const json_t *job)
{
	enum wait_policy sync = (enum wait_policy)json_integer_value(json_object_get(job, "sync"));
	struct platform platform = {
		.declared = json_string_value(json_object_get(job, "platform")),
		.host_name = json_is_true(json_object_get(job, "host_name")),
	};
	int err;

	interrupt_install();
	interrupt_end_within(INTERRUPT_GRACE_S, "");
	platform_host(&platform);
	err = open_device(out, sync, &platform);
	if (!err)
		err = platform_layers(&platform);
	if (!err)
		system_pin();
	if (!err)
		err = probe_all(out, job);
	if (!err && json_is_true(json_object_get(job, "header")))
		send_header(out, &platform, sync);
	if (!err)
		job_send(out, json_pack("{s:s}", "record", "bye"));
	platform_release(&platform);
	return err;
}
