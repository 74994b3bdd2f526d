/* warmup_process.c - one process of a warm-up: set up, then timed from its very first block on. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/base/command.h"
#include "harness/platform/platform.h"
#include "harness/platform/system.h"
#include "harness/measure/contract.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "harness/base/param.h"
#include "harness/record/environment.h"
#include "harness/session/canary.h"
#include "harness/session/child.h"
#include "harness/session/job.h"
#include "harness/session/watch.h"
#include "harness/stats/stats.h"
#include "harness/probe/warmup.h"

/* Single blocks that are kept; later ones in bins of a 32nd of what went before. */
enum { RAW = 2048, BIN_SHARE = 32, BIN_MAX = 1 << 16 };
/* Between two looks at clocks: they take some 0.5 ms, in which the device idles. */
enum { SAMPLE_EVERY_NS = 10000000, PHASE_EVERY_S = 5 };

struct process {
	FILE *out;
	const json_t *job;
	struct instance instance;
	struct submission submission;
	struct params params;
	struct platform platform;
	struct startup startup;
	double prepare_ns;
	struct canary canary; /* not before the first block: it would warm up */
	bool has_canary;
	struct watch *watch;
	int64_t depth;
	enum mode mode;
};

static void phase(struct process *p, const char *name)
{
	json_t *o = child_phase_json(name);

	json_object_set_new(o, "workload", json_string(p->instance.workload->name));
	job_send(p->out, o);
}

/* ---- one curve ---------------------------------------------------------------------------- */

struct taken {
	json_t *begin, *enq, *total;			    /* of blocks */
	json_t *bin_first, *bin_n, *bin_begin, *bin_median; /* of bins */
	json_t *at, *host_canary, *device_canary, *clock;   /* of samples */
	int64_t zero_ns, sampled_ns, blocks;
	double *bin;
	int64_t in_bin, bin_size, bin_begin_ns;
};

static void taken_init(struct taken *t)
{
	*t = (struct taken){ .begin = json_array(),
			     .enq = json_array(),
			     .total = json_array(),
			     .bin_first = json_array(),
			     .bin_n = json_array(),
			     .bin_begin = json_array(),
			     .bin_median = json_array(),
			     .at = json_array(),
			     .host_canary = json_array(),
			     .device_canary = json_array(),
			     .clock = json_array(),
			     .bin = calloc(BIN_MAX, sizeof(double)) };
	CHECK(t->bin, "memory of a bin");
}

static void add(json_t *array, int64_t value)
{
	json_array_append_new(array, json_integer(value));
}

/* One that is not full too, at the end. */
static void close_bin(struct taken *t)
{
	if (!t->in_bin)
		return;
	add(t->bin_first, t->blocks - t->in_bin);
	add(t->bin_n, t->in_bin);
	add(t->bin_begin, t->bin_begin_ns);
	json_array_append_new(t->bin_median, json_number(median_of(t->bin, (int)t->in_bin)));
	t->in_bin = 0;
}

static void keep_block(struct taken *t, int64_t begin_ns, const struct block *b)
{
	if (t->blocks < RAW) {
		add(t->begin, begin_ns);
		add(t->enq, b->enq_ns);
		add(t->total, b->total_ns);
	} else {
		if (!t->in_bin) {
			t->bin_begin_ns = begin_ns;
			t->bin_size =
				t->blocks / BIN_SHARE < BIN_MAX ? t->blocks / BIN_SHARE : BIN_MAX;
		}
		t->bin[t->in_bin++] = (double)b->total_ns;
	}
	t->blocks++;
	if (t->in_bin && t->in_bin == t->bin_size)
		close_bin(t);
}

static void take_sample(struct process *p, struct taken *t)
{
	int64_t canary_ns;
	double mhz;

	if (!p->has_canary)
		canary_init(&p->canary, p->instance.stream, p->platform.is_gpu);
	p->has_canary = true;
	watch_sample(p->watch, clock_ns());
	add(t->at, clock_ns() - t->zero_ns);
	add(t->host_canary, host_canary_run());
	canary_ns = canary_run(&p->canary);
	mhz = canary_mhz(&p->canary, canary_ns);
	add(t->device_canary, canary_ns);
	json_array_append_new(t->clock, isfinite(mhz) ? json_integer(lround(mhz)) : json_null());
	t->sampled_ns = clock_ns();
}

/* After the first block, and then where the last look is old enough. */
static int take_blocks(struct process *p, struct taken *t, int64_t for_ns)
{
	struct block b;
	int err = 0;

	watch_sample(p->watch, clock_ns());
	t->zero_ns = clock_ns();
	do {
		int64_t begin_ns = clock_ns() - t->zero_ns;

		err = measure_block(&p->submission, &b);
		if (err)
			return err;
		keep_block(t, begin_ns, &b);
		if (!t->sampled_ns || clock_ns() - t->sampled_ns >= SAMPLE_EVERY_NS)
			take_sample(p, t);
	} while (t->blocks < 3 || clock_ns() - t->zero_ns < for_ns);
	close_bin(t);
	return 0;
}

static json_t *curve_json(struct process *p, struct taken *t, enum beginning beginning)
{
	return json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}, s:{s:o, "
			 "s:o, s:o, "
			 "s:o}, s:o}",
			 "depth", (json_int_t)p->depth, "beginning", beginning_names[beginning],
			 "start_ns", json_number(p->startup.start_ns), "setup_ns",
			 json_number(p->startup.setup_ns), "prepare_ns", json_number(p->prepare_ns),
			 "begin_ns", t->begin, "enq_ns", t->enq, "total_ns", t->total, "bins",
			 "first", t->bin_first, "n", t->bin_n, "begin_ns", t->bin_begin,
			 "median_ns", t->bin_median, "samples", "at_ns", t->at, "host_canary_ns",
			 t->host_canary, "canary_ns", t->device_canary, "sm_clock_mhz", t->clock,
			 "gpu", watch_take(p->watch));
}

/* After the last block: its steps follow a reset. */
static json_t *check_json(struct process *p, int *err)
{
	const struct instance *s = &p->instance;
	struct verdict v = { .seed = 1, .graph_steps = longest_graph(s, p->mode, p->depth) };

	*err = s->workload->check(s->opts, s->state, p->depth, &v);
	return json_pack("{s:b, s:o}", "passed", !*err && verdict_holds(&v), "error",
			 json_number(v.error));
}

static int take_curve(struct process *p, enum beginning beginning)
{
	double seconds = json_number_value(json_object_get(p->job, "seconds"));
	struct taken t;
	json_t *curve;
	int err;

	taken_init(&t);
	phase(p, "timing samples");
	err = take_blocks(p, &t, (int64_t)(1e9 * seconds));
	curve = curve_json(p, &t, beginning);
	free(t.bin);
	if (!err)
		json_object_set_new(curve, "check", check_json(p, &err));
	if (!err)
		job_send(p->out, json_pack("{s:s, s:O}", "record", "curve", "curve", curve));
	json_decref(curve);
	return err;
}

/* Says that it is still there. */
static int rest(struct process *p, double seconds)
{
	int64_t end = clock_ns() + (int64_t)(1e9 * seconds), said = 0;

	while (clock_ns() < end && !interrupted()) {
		if (clock_ns() - said > PHASE_EVERY_S * (int64_t)SECOND_NS) {
			phase(p, "idling");
			said = clock_ns();
		}
		usleep(10000);
	}
	return interrupted() ? -EINTR : 0;
}

/* ---- the process --------------------------------------------------------------------------- */

static int open_device(struct process *p)
{
	enum wait_policy sync =
		(enum wait_policy)json_integer_value(json_object_get(p->job, "sync"));
	char pci[32];
	int err;

	job_send(p->out, child_phase_json("opening the device"));
	err = sync_prepare(sync);
	err = err ? err : platform_device(&p->platform);
	if (err)
		return err;
	CUDA(cudaFree(0));
	system_pci_address(pci);
	system_free_processor(p->platform.is_gpu ? pci : NULL, !p->platform.is_gpu);
	p->instance.sync = sync;
	p->watch = watch_open_every(p->platform.is_gpu ? pci : "", SAMPLE_EVERY_NS);
	return platform_layers(&p->platform);
}

static int take_words(struct process *p)
{
	const json_t *word;
	size_t i;
	int err = 0;

	json_array_foreach(json_object_get(p->job, "params"), i, word)
	{
		err = err ? err : params_assign(&p->params, json_string_value(word));
	}
	return err;
}

static int set_up(struct process *p)
{
	struct instance *s = &p->instance;
	int64_t begin;
	int err;

	CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
	s->event = sync_event(s->sync);
	phase(p, "setting up");
	p->startup.start_ns = startup_since_start_ns();
	begin = clock_ns();
	err = workload_set_up(s->workload, s->opts, s->state);
	p->startup.setup_ns = (double)(clock_ns() - begin);
	if (!err)
		err = s->workload->cost(s->opts, s->state, &s->cost);
	s->launches = s->cost.launches >= 1 ? (int64_t)ceil(s->cost.launches) : 1;
	begin = clock_ns();
	if (!err)
		err = submission_init(&p->submission, s, p->mode, p->depth);
	p->prepare_ns = (double)(clock_ns() - begin);
	return err;
}

/* Last: NVML and digests take their time, and load the machine. */
static void send_header(struct process *p)
{
	json_t *o, *environment;

	phase(p, "looking the platform over");
	platform_details(&p->platform);
	environment = environment_of(&p->platform);
	o = json_pack("{s:s, s:o}", "record", "header", "device",
		      platform_device_json(&p->platform));
	json_object_update(o, environment);
	json_decref(environment);
	job_send(p->out, child_digests_json());
	job_send(p->out, o);
}

static int take_curves(void *arg)
{
	struct process *p = arg;
	bool following = json_is_true(json_object_get(p->job, "following"));
	int err = set_up(p);

	if (!err)
		err = take_curve(p, following ? BEGIN_FOLLOWING : BEGIN_RESTED);
	if (!err && !following)
		err = rest(p, json_number_value(json_object_get(p->job, "rest_s")));
	if (!err && !following)
		err = take_curve(p, BEGIN_RESUMED);
	return err;
}

static void tear_down(void *arg)
{
	struct process *p = arg;

	submission_release(&p->submission);
	if (p->has_canary)
		canary_release(&p->canary);
	p->instance.workload->teardown(p->instance.state);
	if (p->instance.event)
		CUDA(cudaEventDestroy(p->instance.event));
	if (p->instance.stream)
		CUDA(cudaStreamDestroy(p->instance.stream));
}

static int measure(struct process *p)
{
	struct refusal refusal;
	int err = open_device(p);

	if (!err) {
		system_pin();
		err = refusal_catch(take_curves, p, &refusal);
	}
	if (err == -ENOSYS) {
		refusal_complain(&refusal, p->instance.workload->name);
		job_send(p->out, json_pack("{s:s}", "record", "refused"));
	}
	refusal_settle(p->instance.stream);
	refusal_ignore(tear_down, p);
	if (err == -ENOSYS) { /* said already, and no failure of the process */
		job_send(p->out, json_pack("{s:s}", "record", "bye"));
		return 0;
	}
	if (!err && json_is_true(json_object_get(p->job, "header")))
		send_header(p);
	if (!err)
		job_send(p->out, json_pack("{s:s}", "record", "bye"));
	return err;
}

int warmup_work(FILE *out, const json_t *job)
{
	const struct workload *w =
		workload_find(json_string_value(json_object_get(job, "workload")));
	struct process p = { .out = out,
			     .job = job,
			     .depth = json_integer_value(json_object_get(job, "depth")),
			     .mode = (enum mode)json_integer_value(json_object_get(job, "mode")) };
	void *opts;
	int err;

	if (!w)
		return -EINVAL;
	interrupt_install();
	interrupt_end_within(INTERRUPT_GRACE_S, "");
	p.platform.declared = json_string_value(json_object_get(job, "platform"));
	p.platform.host_name = json_is_true(json_object_get(job, "host_name"));
	opts = calloc(1, w->opts_size + 1);
	p.instance.state = calloc(1, w->state_size + 1);
	CHECK(opts && p.instance.state, "memory of %s", w->name);
	params_init(&p.params, w->params, w->name, opts);
	p.instance.workload = w;
	p.instance.opts = opts;
	platform_host(&p.platform);
	err = take_words(&p);
	if (!err)
		err = measure(&p);
	if (p.watch)
		watch_close(p.watch);
	platform_release(&p.platform);
	params_release(&p.params);
	free(p.instance.state);
	free(opts);
	return err;
}
