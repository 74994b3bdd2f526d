/* worker.c - the process that measures: reads its job, opens the device, one configuration at a
 * time. */
#include "harness/session/rounds.h"
#include "harness/session/worker.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/platform/in_force.h"
#include "harness/measure/measure.h"
#include "harness/record/environment.h"
#include "harness/measure/plan_record.h"
#include "harness/session/child.h"
#include "harness/platform/system.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

/* How long a clock may take to come up or to come back after a set-up, and how near, as a share. */
static const int64_t come_up_ns = 50000000, settle_ns = 200000000;
static const double canary_settled = 0.02;

void worker_send(struct worker *w, json_t *o)
{
	json_dumpf(o, w->out, JSON_COMPACT);
	json_decref(o);
	fputc('\n', w->out);
	fflush(w->out); /* a reader that is gone ends this process by SIGPIPE */
}

int worker_await_turn(struct worker *w, int round, int place)
{
	char line[16];

	if (!w->takes_turns)
		return 0;
	worker_send(w, json_pack("{s:s, s:[i, i, i], s:i}", "record", "turn", "turn", w->turn,
				 round, place, "config", w->turn_config));
	/* its end: nobody is left to measure for */
	return fgets(line, sizeof(line), stdin) && !interrupted() ? 0 : -EINTR;
}

void worker_phase(struct worker *w, const char *name)
{
	worker_send(w, child_phase_json(name));
}

void worker_report_point_failed(struct worker *w, int point, int err)
{
	w->skip[point] = true;
	worker_send(w,
		    json_pack("{s:s, s:i, s:i}", "record", "failed", "point", point, "code", -err));
}

static json_t *refusal_json(const struct refusal *r)
{
	return json_pack("{s:i, s:s, s:s, s:s}", "code", ENOSYS, "name", r->error, "call", r->call,
			 "file_line", r->place);
}

static bool is_alike(const struct plan *p, int a, int b)
{
	return p->point[a].config == p->point[b].config && p->point[a].mode == p->point[b].mode;
}

void worker_refused(struct worker *w, int point, const struct refusal *r)
{
	for (int i = 0; i < w->plan.n_points; i++) {
		if (w->skip[i] || !is_alike(&w->plan, i, point))
			continue;
		w->skip[i] = true;
		worker_send(w, json_pack("{s:s, s:i, s:o}", "record", "refused", "point", i,
					 "error", refusal_json(r)));
	}
}

int worker_lose(struct worker *w, int point, int err, const struct refusal *r)
{
	if (err == -ENOSYS)
		worker_refused(w, point, r);
	else if (err && err != -EINTR)
		worker_report_point_failed(w, point, err);
	return err == -EINTR ? err : 0;
}

/* ---- the job ---------------------------------------------------------------------------- */

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	CHECK(p, "%zu bytes", n * size);
	return p;
}

static void take_lists(struct worker *w, const json_t *job)
{
	int points = w->plan.n_points, rounds = w->plan.design.rounds;
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(job, "skip"), i, v)
	{
		json_int_t point = json_integer_value(v);

		if (point >= 0 && point < points)
			w->skip[point] = true;
	}
	json_array_foreach(json_object_get(job, "done"), i, v)
	{
		json_int_t point = json_integer_value(json_array_get(v, 0));
		json_int_t round = json_integer_value(json_array_get(v, 1));

		if (point >= 0 && point < points && round >= 0 && round < rounds)
			w->done[point * rounds + round] = true;
	}
}

/* A probe is given none: the plan's first. */
static void take_kind(struct worker *w, const char *name)
{
	w->sync = w->plan.design.sync;
	for (int i = 0; name && i < SYNC_COUNT; i++)
		if (!strcmp(name, sync_names[i]))
			w->sync = (enum wait_policy)i;
}

/* One clock only where both run on one kernel: not behind ssh, nor in a virtual machine. */
static double since_started_ns(const json_t *job, int64_t now_ns)
{
	const json_t *started = json_object_get(job, "started");
	const json_t *at = json_object_get(started, "at_ns");
	const char *boot = json_string_value(json_object_get(started, "boot_id"));
	int64_t ns = now_ns - json_integer_value(at);

	return boot && *boot && !strcmp(boot, system_boot_id()) && ns >= 0 ? (double)ns : NAN;
}

static int take_job(struct worker *w, const json_t *job)
{
	const json_t *canary = json_object_get(job, "canary_ns");
	int err = plan_parse(&w->plan, json_object_get(job, "plan"), workloads, "");
	size_t points = (size_t)w->plan.n_points;

	if (err)
		return err;
	w->process = (int)json_integer_value(json_object_get(job, "process"));
	w->side = (int)json_integer_value(json_object_get(job, "side"));
	take_kind(w, json_string_value(json_object_get(job, "sync")));
	w->probe_limit_ns = json_integer_value(json_object_get(job, "probe_limit_ns"));
	w->probe_smallest = json_is_true(json_object_get(job, "probe_smallest"));
	w->check_all = json_is_true(json_object_get(job, "check_all"));
	w->takes_turns = json_is_true(json_object_get(job, "takes_turns"));
	w->alone = (int)json_integer_value(json_object_get(job, "alone"));
	w->canary_ref_ns = json_is_number(canary) ? json_number_value(canary) : NAN;
	w->skip = zeroed(points, sizeof(*w->skip));
	w->done = zeroed(points * (size_t)w->plan.design.rounds, sizeof(*w->done));
	w->instance = zeroed((size_t)w->plan.n_configs, sizeof(*w->instance));
	w->prepared = zeroed(points, sizeof(*w->prepared));
	take_lists(w, job);
	return 0;
}

/* ---- device ----------------------------------------------------------------------------- */

/* The flag comes before the context, the limit before the device's threads, the pin after them. */
static int open_device(struct worker *w, struct platform *p)
{
	char pci[32];
	int64_t start;
	int err;

	worker_phase(w, "opening the device");
	start = clock_ns();
	err = sync_prepare(w->sync);
	if (!err)
		err = platform_device(p);
	if (err)
		return err;
	w->device_ns = (double)(clock_ns() - start);
	system_pci_address(pci);
	system_free_processor(p->is_gpu ? pci : NULL, !p->is_gpu);
	worker_phase(w, "creating a stream");
	start = clock_ns();
	CUDA(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	CUDA(cudaStreamSynchronize(w->stream));
	w->device_ns += (double)(clock_ns() - start);
	if (getenv(LAYERS_VARIABLE))
		worker_phase(w, "asking layers whether they are active");
	err = platform_layers(p);
	if (err)
		return err;
	worker_phase(w, "preparing the canary");
	canary_init(&w->canary, w->stream, p->is_gpu);
	return 0;
}

/* ---- the work --------------------------------------------------------------------------- */

static void send_header(struct worker *w, const struct platform *p, int64_t start_ns)
{
	json_t *o = json_pack("{s:s, s:o}", "record", "header", "calib",
			      calibration_json(&w->calibration));
	json_t *environment = environment_of(p);

	json_object_update(o, environment);
	json_decref(environment);
	json_object_set_new(json_object_get(o, "cuda_flags"), "sync",
			    json_string(sync_names[w->sync]));
	json_object_set_new(o, "pinned_cpu", w->pinned < 0 ? json_null() : json_integer(w->pinned));
	json_object_set_new(o, "warmup",
			    json_pack("{s:f, s:s, s:f, s:f}", "seconds", w->warm.seconds,
				      "ended_by", w->warm.ended_by, "canary_ns", w->warm.canary_ns,
				      "canary_spread", w->warm.spread));
	json_object_set_new(o, "start_monotonic_ns", json_integer(start_ns));
	json_object_set_new(o, "startup",
			    json_pack("{s:o, s:f}", "process_ns", json_number(w->process_ns),
				      "device_ns", w->device_ns));
	worker_send(w, child_digests_json());
	json_object_set_new(o, "ready_s", json_real((double)(clock_ns() - start_ns) / SECOND_NS));
	worker_send(w, o);
}

/*
 * What a launch and a synchronize take with nothing set up. A layer may charge them for memory that
 * was held before (measured: a GPU over TCP, 10 ms in place of 50 us).
 */
static double time_sentinel(const struct worker *w)
{
	enum { TIMES = 101, LONGEST_NS = 50000000 };
	int64_t begin = clock_ns(), now = begin;
	double ns[TIMES];
	int n = 0;

	while (n < TIMES && now - begin < LONGEST_NS) {
		int64_t start = now;

		canary_nothing(&w->canary);
		CUDA(cudaStreamSynchronize(w->stream));
		now = clock_ns();
		ns[n++] = (double)(now - start);
	}
	return median_of(ns, n);
}

/*
 * The sentinel with nothing set up, before the first configuration. The later ones find the device
 * and the processor warm, so this one waits until canaries say so, and all are pinned: taken cold,
 * before/after was above 1 in every session of data/sessions/atlas-*, and the limit below was that
 * much wider than it says.
 */
static int take_reference(struct worker *w)
{
	struct design brief = w->plan.design;
	struct warm ignored;
	int err;

	brief.warmup_max_ns = brief.warmup_max_ns < settle_ns ? brief.warmup_max_ns : settle_ns;
	brief.warmup_min_ns = come_up_ns;
	system_pin();
	err = warm_up(&ignored, &w->canary, NULL, &brief);
	if (!err)
		w->sentinel_ns = time_sentinel(w);
	system_unpin();
	return err;
}

/*
 * The sentinel with nothing set up, again: within 5 % and 1 us of before, in one of three tries, as
 * others may have been at work. The CPU device's threads may be awake or asleep: that is worth more
 * than a microsecond. *ns: the shortest.
 */
static bool has_come_back(const struct worker *w, double *ns)
{
	double most_ns = 1.05 * w->sentinel_ns + (w->canary.is_gpu ? 1000 : 50000);

	*ns = INFINITY;
	system_pin();
	for (int i = 0; i < 3 && *ns > most_ns; i++)
		*ns = fmin(*ns, time_sentinel(w));
	system_unpin();
	return *ns <= most_ns;
}

/* What it took before, with this configuration set up, and after: for the trailer. */
static void note_sentinel(struct worker *w, int config, double set_up_ns, double after_ns)
{
	const char *key = "";

	for (int i = w->plan.n_points - 1; i >= 0; i--)
		if (w->plan.point[i].config == config)
			key = w->plan.point[i].key;
	if (!w->sentinels)
		w->sentinels = json_array();
	json_array_append_new(w->sentinels,
			      json_pack("{s:s, s:f, s:o, s:f}", "key", key, "before_ns",
					w->sentinel_ns, "set_up_ns", json_number(set_up_ns),
					"after_ns", after_ns));
}

/*
 * A set-up may leave the device idle for long enough that its clock falls: the longest block until
 * a canary takes what it should, for a little while.
 */
static int settle_clock(struct worker *w)
{
	int64_t end = clock_ns() + settle_ns;
	struct prepared *longest = worker_longest(w);
	int err = 0;

	while (longest && !err && clock_ns() < end &&
	       fabs((double)canary_run(&w->canary) / w->warm.canary_ns - 1) > canary_settled)
		err = visit_first(longest);
	return err;
}

/* Before the first visit, with the first configuration set up, to warm up with. */
static int begin_work(struct worker *w, const struct platform *p, int64_t start_ns)
{
	int err;

	worker_phase(w, "calibrating");
	calibrate(&w->calibration, &w->canary);
	worker_phase(w, phase_warm_up);
	err = warm_up(&w->warm, &w->canary, worker_longest(w), &w->plan.design);
	if (!err)
		send_header(w, p, start_ns);
	return err;
}

static bool is_prepared(const struct worker *w, int config)
{
	return w->instance[config].state && worker_longest(w);
}

/* Set up, measured and given back; *begun: the header was said. */
static int measure_config(struct worker *w, int config, const struct platform *p, int64_t start_ns,
			  bool *begun)
{
	int err = worker_await_turn(w, TURN_SET_UP, 0);
	double set_up_ns = NAN, after_ns;

	if (!err && !w->sentinel_ns)
		err = take_reference(w);
	if (!err)
		err = worker_prepare(w, config);
	w->pinned = system_pin();
	if (!err && is_prepared(w, config)) {
		err = *begun ? settle_clock(w) : begin_work(w, p, start_ns);
		*begun = true;
		if (!err)
			set_up_ns = time_sentinel(w);
		if (!err)
			err = worker_rounds_alone(w, config);
		if (!err)
			err = worker_rounds(w, config);
		if (!err)
			err = worker_await_turn(w, TURN_PUT_AWAY, 0);
	}
	system_unpin();
	worker_put_away(w, config);
	if (err)
		return err;
	w->left = !has_come_back(w, &after_ns);
	note_sentinel(w, config, set_up_ns, after_ns);
	return 0;
}

/* One configuration at a time, so that none is charged for what others hold. */
static int measure_process(struct worker *w, const struct platform *p, int64_t start_ns)
{
	int *order = zeroed((size_t)w->plan.n_configs, sizeof(*order)), err = 0;
	bool begun = false;

	worker_order(w, order);
	for (int i = 0; i < w->plan.n_configs && !err && !w->left; i++) {
		w->turn = i;
		w->turn_config = order[i];
		if (worker_leave_out(w, order[i]))
			err = measure_config(w, order[i], p, start_ns, &begun);
	}
	free(order);
	if (err || begun)
		return err;
	w->pinned = system_pin();
	return begin_work(w, p, start_ns);
}

/* How long configurations take, then what else a process does before its first visit. */
static int probe_points(struct worker *w, struct platform *p)
{
	int64_t start;
	int err = worker_probe(w);

	if (err)
		return err;
	worker_phase(w, "looking the platform over");
	platform_details(p);
	worker_send(
		w, child_digests_json()); /* what takes long of that, no other process does again */
	worker_phase(w, "calibrating");
	start = clock_ns();
	calibrate(&w->calibration, &w->canary);
	worker_send(w, json_pack("{s:s, s:f}", "record", "calibrated", "calibrate_ns",
				 (double)(clock_ns() - start)));
	if (!w->canary.is_gpu) /* whose processors' clock is anybody's: it may take all its time */
		return 0;
	worker_phase(w, phase_warm_up);
	err = warm_up(&w->warm, &w->canary, NULL, &w->plan.design);
	worker_send(w, json_pack("{s:s, s:f}", "record", "warmed", "warmup_ns",
				 w->warm.seconds * SECOND_NS));
	return err;
}

static void release(struct worker *w)
{
	for (int i = 0; w->prepared && i < w->plan.n_points; i++)
		submission_release(&w->prepared[i].submission);
	for (int i = 0; w->instance && i < w->plan.n_configs; i++)
		worker_tear_down(w, i);
	if (w->stream) {
		canary_release(&w->canary);
		CUDA(cudaStreamDestroy(w->stream));
	}
	free(w->prepared);
	free(w->instance);
	free(w->skip);
	free(w->done);
	json_decref(w->sentinels);
	plan_release(&w->plan);
}

static void send_bye(struct worker *w, const struct platform *p, int64_t start_ns)
{
	struct rusage r = { 0 };
	json_t *layers = json_array_size(p->layers) ? p->layers : NULL;

	getrusage(RUSAGE_SELF, &r);
	worker_send(w, json_pack("{s:s, s:f, s:f, s:f, s:f, s:b, s:O*, s:o*}", "record", "bye",
				 "wall_s", (double)(clock_ns() - start_ns) / SECOND_NS, "cpu_s",
				 (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
					 1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec),
				 "blocks_s", (double)w->blocks_ns / SECOND_NS, "checks_s",
				 (double)w->checks_ns / SECOND_NS, "left", w->left, "sentinels",
				 w->sentinels, "layers", layers_details(layers)));
}

struct working {
	struct worker *w;
	const json_t *job;
	int (*other)(FILE *out, const json_t *job);
};

static int work(struct worker *w, const json_t *job);

static int call_work(void *arg)
{
	struct working *a = arg;

	return work(a->w, a->job);
}

static int call_other(void *arg)
{
	struct working *a = arg;

	return a->other(a->w->out, a->job);
}

/* What no point can be measured without. */
static int work_or_report(struct working *a)
{
	struct refusal r;
	int err = refusal_catch(a->other ? call_other : call_work, a, &r);

	return err == -ENOSYS ? refusal_complain(&r, "a worker") : err;
}

static int work(struct worker *w, const json_t *job)
{
	const char *kind = json_string_value(json_object_get(job, "job"));
	struct platform platform = { 0 };
	int64_t start_ns = clock_ns();
	int err = take_job(w, job);

	if (w->side == 0 && *w->plan.declared)
		platform.declared = w->plan.declared;
	if (err)
		return err;
	interrupt_install();
	interrupt_end_within(INTERRUPT_GRACE_S, ""); /* a visit that is lost is measured again */
	platform_host(&platform);
	err = open_device(w, &platform);
	if (!err && kind && !strcmp(kind, "probe"))
		err = probe_points(w, &platform);
	else if (!err) {
		worker_phase(w, "looking the platform over");
		platform_details(&platform);
		err = measure_process(w, &platform, start_ns);
	}
	if (!err) /* still */
		err = platform_layers(&platform);
	if (!err)
		send_bye(w, &platform, start_ns);
	platform_release(&platform);
	return err;
}

/* session_handshake() sends "hello"; a job that is none of the others has a plan. */
static bool is_job(const json_t *job, const char *kind)
{
	const char *is = json_string_value(json_object_get(job, "job"));

	return is && !strcmp(is, kind);
}

static void end_line(FILE *in)
{
	int c;

	do
		c = getc(in);
	while (c != '\n' && c != EOF);
}

int worker_main(const struct worker_job *others)
{
	struct worker w = { .pinned = -1 };
	struct working a = { .w = &w };
	int64_t begun_ns = clock_ns();
	json_error_t error;
	json_t *job;
	int err = 0;

	a.job = job = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, &error);
	if (!job)
		return exit_code_of(complain(EINVAL, "rift sweep-worker is started by rift sweep: "
						     "its job comes from stdin"));
	end_line(stdin); /* the job's own: what it is told later are lines behind it */
	w.process_ns = since_started_ns(job, begun_ns);
	child_know_digests(job);
	/* what a workload prints must not get between the lines */
	w.out = fdopen(dup(STDOUT_FILENO), "w");
	CHECK(w.out, "no stdout");
	CHECK(dup2(STDERR_FILENO, STDOUT_FILENO) >= 0, "no stderr");
	for (; others->name && !a.other; others++)
		a.other = is_job(job, others->name) ? others->work : NULL;
	if (is_job(job, "hello"))
		worker_send(&w, json_pack("{s:s}", "record", "hello"));
	else
		err = work_or_report(&a);
	release(&w);
	fclose(w.out);
	json_decref(job);
	return exit_code_of(err);
}
