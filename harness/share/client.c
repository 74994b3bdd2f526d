/*
 * client.c - the process behind one client or several: sets workloads up, and steps them from one
 * time to another.
 *
 *   job      {job: "share", workloads: [[word...]...], way, mode, sync, depth}
 *   told     "prepare", "window FROM_NS TO_NS", the same with "FAULT CLIENT" behind it, or with
 *            "queued" or "waits" (timeline.h), "check"
 *   answers  {record: "ready", ...} when all is set up and warm; then one to each: "prepared",
 *            "window", "checked"
 *
 * Times are of clock_ns(), which all processes of a machine share.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/measure/run.h"
#include "harness/record/environment.h"
#include "harness/session/child.h"
#include "harness/share/fault.h"
#include "harness/share/timeline.h"
#include "harness/share/share.h"
#include "harness/stats/stats.h"

/* Steps that are checked: so many that the last ones depend on many, in about this time. */
enum { CHECK_STEPS_MAX = 64 };
static const double check_ns = 2e8;

const double share_quantile[SHARE_QUANTILES] = { 0,   0.05, 0.1, 0.15, 0.2,  0.25, 0.3, 0.35,
						 0.4, 0.45, 0.5, 0.55, 0.6,  0.65, 0.7, 0.75,
						 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1 };

struct stepped {
	struct share_workload workload;
	struct run run;
	struct run_options values;
	struct params options;
	struct submission submission;

	struct share_count count; /* of a window */
	int64_t begun_ns;	  /* of the block under way */
};

struct client {
	enum share_way way;
	int n;
	struct stepped *held;
	int64_t free_before, free_after, total; /* bytes of the device */
	FILE *out;
};

static void answer(struct client *c, json_t *o)
{
	json_dumpf(o, c->out, JSON_COMPACT);
	json_decref(o);
	fputc('\n', c->out);
	fflush(c->out);
}

/* ---- set up ----------------------------------------------------------------------------- */

static int take_option(struct params *p, const char *name, const char *value)
{
	return value && *value ? params_set(p, name, value) : 0;
}

static int take_options(struct stepped *h, const json_t *job)
{
	char depth[24];
	int err;

	params_init(&h->options, run_option_rows, "rift share", &h->values);
	h->options.prefix = "--";
	snprintf(depth, sizeof(depth), "%lld",
		 (long long)json_integer_value(json_object_get(job, "depth")));
	err = take_option(&h->options, "depth", depth);
	if (!err)
		err = take_option(&h->options, "sync", json_get_text(job, "sync"));
	return err ? err : take_option(&h->options, "mode", json_get_text(job, "mode"));
}

static int set_up_one(struct stepped *h, const json_t *words)
{
	int err = share_workload_from_json(&h->workload, words);

	if (err)
		return err;
	h->run = (struct run){ .workload = h->workload.workload,
			       .params = &h->workload.params,
			       .options = &h->options };
	h->count.times_ns = calloc(SHARE_TIMES_MAX, sizeof(*h->count.times_ns));
	CHECK(h->count.times_ns, "memory of %d times", SHARE_TIMES_MAX);
	err = run_admit(&h->run);
	if (!err)
		err = run_set_up(&h->run);
	if (!err)
		err = submission_init(&h->submission, &h->run.instance, h->run.mode, h->run.depth);
	return err ? err : measure_warmup(&h->submission, &h->run.warmup);
}

static int64_t free_bytes(int64_t *total)
{
	size_t is_free = 0, all = 0;

	if (cudaMemGetInfo(&is_free, &all))
		cudaGetLastError();
	*total = (int64_t)all;
	return (int64_t)is_free;
}

/* All wait in one way: it is the process's, and settled before the device is opened. */
static int open_device(struct client *c, const json_t *job)
{
	bool is_said = *json_get_text(job, "sync");
	int err = 0;

	for (int i = 0; i < c->n && !err; i++)
		err = take_options(&c->held[i], job);
	if (!err)
		err = sync_prepare(is_said ? (enum wait_policy)c->held[0].values.sync
					   : sync_default());
	c->free_before = err ? -1 : free_bytes(&c->total);
	return err;
}

static int set_up(struct client *c, const json_t *job)
{
	const json_t *all = json_object_get(job, "workloads");
	int err;

	c->way = (enum share_way)json_integer_value(json_object_get(job, "way"));
	c->n = (int)json_array_size(all);
	c->held = calloc((size_t)c->n + 1, sizeof(*c->held));
	CHECK(c->held, "memory of %d clients", c->n);
	err = open_device(c, job);
	for (int i = 0; i < c->n && !err; i++)
		err = set_up_one(&c->held[i], json_array_get(all, (size_t)i));
	c->free_after = free_bytes(&c->total);
	return err;
}

static json_t *ready_json(const struct client *c)
{
	const struct run *r = &c->held[0].run;
	json_t *step = json_array();
	char pci[32];

	for (int i = 0; i < c->n; i++)
		json_array_append_new(step, json_real((double)c->held[i].run.warmup.total_ns /
						      (double)c->held[i].run.depth));
	system_pci_address(pci);
	return json_pack("{s:s, s:b, s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:s, s:o}", "record",
			 "ready", "is_gpu", r->platform.is_gpu, "device", r->platform.device,
			 "mode", mode_name(r->mode), "sync", sync_names[r->instance.sync],
			 "step_ns", step, "free_before", (json_int_t)c->free_before, "free_after",
			 (json_int_t)c->free_after, "total", (json_int_t)c->total, "pci", pci,
			 "environment", environment_of(&r->platform));
}

/* ---- a window --------------------------------------------------------------------------- */

void share_count_block(struct share_count *c, int64_t begun_ns, int64_t ended_ns, double depth)
{
	int64_t from = begun_ns > c->from_ns ? begun_ns : c->from_ns;
	int64_t to = ended_ns < c->to_ns ? ended_ns : c->to_ns;
	double took = (double)(ended_ns - begun_ns);

	if (to <= from)
		return;
	c->steps += depth * (double)(to - from) / took;
	if (ended_ns <= c->to_ns && c->n < SHARE_TIMES_MAX)
		c->times_ns[c->n++] = took / depth;
}

static void note_block(struct stepped *h, int64_t begun_ns, int64_t ended_ns)
{
	share_count_block(&h->count, begun_ns, ended_ns, (double)h->run.depth);
}

static int begin_block(struct stepped *h)
{
	h->begun_ns = clock_ns();
	return submission_enqueue(&h->submission);
}

static int run_block(struct stepped *h)
{
	const struct instance *s = &h->run.instance;
	int err = begin_block(h);

	sync_wait(s->sync, s->stream, s->event);
	note_block(h, h->begun_ns, clock_ns());
	return err;
}

/* One after another, one step each. The time of a step is from the end of the client's last one
 * on, as it would be elsewhere: what it waits for the others is in it. */
static int run_serial(struct client *c, int64_t to_ns)
{
	const struct instance *s;
	int err = 0;

	for (int i = 0; i < c->n; i++)
		c->held[i].begun_ns = clock_ns();
	while (clock_ns() < to_ns && !err)
		for (int i = 0; i < c->n && !err; i++) {
			struct stepped *h = &c->held[i];
			int64_t ended;

			s = &h->run.instance;
			err = submission_enqueue(&h->submission);
			sync_wait(s->sync, s->stream, s->event);
			ended = clock_ns();
			note_block(h, h->begun_ns, ended);
			h->begun_ns = ended;
		}
	return err;
}

static int run_alone(struct client *c, int64_t to_ns)
{
	int err = 0;

	while (clock_ns() < to_ns && !err)
		err = run_block(&c->held[0]);
	return err;
}

static bool has_ended(const struct stepped *h)
{
	cudaError_t state = cudaStreamQuery(h->run.instance.stream);

	if (state == cudaErrorNotReady) {
		cudaGetLastError();
		return false;
	}
	CUDA(state);
	return true;
}

/* Whoever has ended begins anew; until none is under way. */
static int run_streams(struct client *c, int64_t to_ns)
{
	int under_way = c->n, err = 0;
	bool idle[SHARE_CLIENTS_MAX] = { false };

	for (int i = 0; i < c->n && !err; i++)
		err = begin_block(&c->held[i]);
	while (under_way && !err) {
		for (int i = 0; i < c->n && !err; i++) {
			struct stepped *h = &c->held[i];
			int64_t now;

			if (idle[i] || !has_ended(h))
				continue;
			now = clock_ns();
			note_block(h, h->begun_ns, now);
			if (now < to_ns)
				err = begin_block(h);
			else
				idle[i] = true, under_way--;
		}
		if (!c->held[0].run.platform.is_gpu)
			sched_yield(); /* the kernels want this processor */
	}
	return err;
}

/* The only client of its process, from idle on. What it did over time is in *over_time. */
static int run_timeline(struct client *c, enum timeline_how how, json_t **over_time)
{
	struct stepped *h = &c->held[0];
	struct share_count *count = &h->count;
	double step_ns = (double)h->run.warmup.total_ns / (double)h->run.depth;
	struct timeline p;
	int err;

	timeline_init(&p, count->from_ns, count->to_ns, count->times_ns, SHARE_TIMES_MAX);
	err = timeline_run(&p, &h->submission, how, step_ns);
	count->n = p.times;
	for (int i = 0; i < p.bins; i++)
		count->steps += p.steps[i];
	*over_time = timeline_json(&p);
	timeline_release(&p);
	return err;
}

static json_t *window_of_one(struct stepped *h)
{
	json_t *quantiles = json_array();

	sort_doubles(h->count.times_ns, h->count.n);
	for (int i = 0; i < SHARE_QUANTILES; i++)
		json_array_append_new(quantiles,
				      json_number(quantile_of_sorted(h->count.times_ns, h->count.n,
								     share_quantile[i])));
	return json_pack("{s:f, s:I, s:o}", "steps", h->count.steps, "timed",
			 (json_int_t)h->count.n, "step_ns", quantiles);
}

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* A client of several is the only one that does this; the others of its process step on. */
static void commit_fault(struct client *c, const char *name, int client)
{
	cudaStream_t stream = c->held[client % c->n].run.instance.stream;

	if (!strcmp(name, "crash"))
		fault_crash(stream);
	else if (!strcmp(name, "kill"))
		raise(SIGKILL);
	else if (!strcmp(name, "hang"))
		fault_hang(stream);
	else if (!strcmp(name, "memory"))
		fault_take_memory();
}

static int run_window(struct client *c, const char *line)
{
	static int (*const ways[])(struct client * c, int64_t to_ns) = {
		[WAY_PROCESSES] = run_alone,
		[WAY_STREAMS] = run_streams,
		[WAY_SERIAL] = run_serial,
	};
	long long from, to;
	char fault[16] = "";
	int client = 0, how, err;
	double cpu, wall;
	json_t *all = json_array(), *over_time = NULL;

	if (sscanf(line, "window %lld %lld %15s %d", &from, &to, fault, &client) < 2)
		return complain(EINVAL, "a client was told '%s'", text_shown(line).s);
	for (int i = 0; i < c->n; i++) {
		c->held[i].count.from_ns = from;
		c->held[i].count.to_ns = to;
		c->held[i].count.steps = 0;
		c->held[i].count.n = 0;
	}
	how = timeline_find(fault);
	if (*fault)
		commit_fault(c, fault, client);
	cpu = cpu_s();
	wall = (double)clock_ns();
	err = how >= 0 ? run_timeline(c, (enum timeline_how)how, &over_time) : ways[c->way](c, to);
	wall = ((double)clock_ns() - wall) / SECOND_NS;
	cpu = (cpu_s() - cpu) / wall;
	for (int i = 0; i < c->n; i++)
		json_array_append_new(all, window_of_one(&c->held[i]));
	if (over_time)
		json_object_set_new(json_array_get(all, 0), "timeline", over_time);
	answer(c,
	       json_pack("{s:s, s:o, s:f}", "record", "window", "clients", all, "processors", cpu));
	return err;
}

/* Bytes of the device in use, by whomever. The CPU device's are the host's. */
static json_t *memory_json(const struct client *c)
{
	int64_t total, is_free = free_bytes(&total);

	return c->held[0].run.platform.is_gpu ? json_integer(total - is_free) : json_null();
}

static int prepare(struct client *c)
{
	int err = 0;

	for (int i = 0; i < c->n && !err; i++) {
		const struct instance *s = &c->held[i].run.instance;

		err = s->workload->reset(s->opts, s->state, s->stream);
		CUDA(cudaStreamSynchronize(s->stream));
	}
	answer(c, json_pack("{s:s, s:o}", "record", "prepared", "memory", memory_json(c)));
	return err;
}

/* ---- the check -------------------------------------------------------------------------- */

/* Never just one block: run_check() would take what the last window left for that. */
static int check_one(struct stepped *h)
{
	double block_ns = (double)h->run.warmup.total_ns;
	int blocks = (int)fmin(CHECK_STEPS_MAX, fmax(2, check_ns / block_ns));
	char steps[24];
	int err;

	if (!h->values.check_steps) {
		int64_t n = h->run.depth * blocks;

		snprintf(steps, sizeof(steps), "%lld", (long long)n);
		err = params_set(&h->options, "check-steps", steps);
		if (err)
			return err;
	}
	return run_check(&h->run);
}

static int check_all(struct client *c)
{
	json_t *passed = json_array();
	int err = 0;

	for (int i = 0; i < c->n && !err; i++) {
		err = check_one(&c->held[i]);
		json_array_append_new(passed, json_boolean(!err && c->held[i].run.passed));
	}
	answer(c, json_pack("{s:s, s:o}", "record", "checked", "passed", passed));
	return err;
}

/* ---- the process ------------------------------------------------------------------------ */

static int obey(struct client *c)
{
	char line[128];
	int err = 0;

	while (!err && !interrupted() && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "prepare"))
			err = prepare(c);
		else if (!strcmp(line, "check"))
			err = check_all(c);
		else
			err = run_window(c, line);
	}
	return err;
}

static void release(struct client *c)
{
	for (int i = 0; i < c->n; i++) {
		struct stepped *h = &c->held[i];

		submission_release(&h->submission);
		if (h->run.workload)
			run_release(&h->run);
		params_release(&h->options);
		share_workload_release(&h->workload);
		free(h->count.times_ns);
	}
	free(c->held);
}

int share_client_work(FILE *out, const json_t *job)
{
	struct client c = { .out = out };
	int err;

	interrupt_install();
	interrupt_end_within(INTERRUPT_GRACE_S, "");
	err = set_up(&c, job);
	if (!err) {
		json_t *ready = ready_json(&c);

		answer(&c, child_digests_json());
		answer(&c, ready);
		err = obey(&c);
	}
	release(&c);
	return err;
}

/* ---- a process that only keeps a layer -------------------------------------------------- */

/* What layers set for a command (harness/platform/enter.c): by it clients find the daemon. */
static bool is_of_a_layer(const char *variable)
{
	static const char *const whole[] = { "LD_PRELOAD", "LD_LIBRARY_PATH", "ASAN_OPTIONS" };

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (!strcmp(variable, whole[i]))
			return true;
	return !strncmp(variable, "CUDA_MPS_", strlen("CUDA_MPS_")) ||
	       !strncmp(variable, "RIFT_LAYER", strlen("RIFT_LAYER"));
}

int share_keeper_work(FILE *out, const json_t *job)
{
	struct client c = { .out = out };
	json_t *variables = json_object();
	char line[16];

	(void)job;
	interrupt_install();
	for (char **v = environ; *v; v++) {
		size_t n = strcspn(*v, "=");
		char *name = strndup(*v, n);

		CHECK(name, "memory of a name");
		if ((*v)[n] && is_of_a_layer(name))
			json_object_set_new(variables, name, json_text(*v + n + 1));
		free(name);
	}
	answer(&c, json_pack("{s:s, s:o}", "record", "environment", "variables", variables));
	while (!interrupted() && fgets(line, sizeof(line), stdin))
		;
	return 0;
}
