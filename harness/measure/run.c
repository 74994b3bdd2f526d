/* run.c - one configuration of one workload: admitted, set up, timed, checked. */
#include "harness/measure/contract.h"
#include "harness/measure/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/text.h"
#include "harness/measure/nvtx.h"
#include "harness/base/together.h"
#include "harness/stats/stats.h"

/* ---- since when this process runs ------------------------------------------------------- */

/*
 * proc(5): field 22, in ticks since boot. Field 2 is the program's name in parentheses, which may
 * hold both spaces and parentheses, so fields are counted from the last of these.
 */
static double started_ticks(void)
{
	char line[1024], *at;
	unsigned long long ticks;
	FILE *f = fopen("/proc/self/stat", "r");
	size_t n = f ? fread(line, 1, sizeof(line) - 1, f) : 0;

	if (f)
		fclose(f);
	line[n] = 0;
	at = strrchr(line, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", &ticks) == 1 ? (double)ticks : NAN;
}

double startup_since_start_ns(void)
{
	double started_ns = started_ticks() * 1e9 / (double)sysconf(_SC_CLK_TCK), since_ns;
	struct timespec now;

	/* the clock that ticks since boot are of: it goes on while the machine sleeps */
	if (clock_gettime(CLOCK_BOOTTIME, &now))
		return NAN;
	since_ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec - started_ns;
	return since_ns >= 0 ? since_ns : NAN;
}

double startup_total_ns(const struct startup *c)
{
	return c->start_ns + c->setup_ns + c->block_ns;
}

/* ---- what a run may do: mode and depth by the workload's limits, then the device -------- */

enum { DEPTH_RUN = 64 };

static const char *const mode_names[] = { "stream", "graph", "fused", NULL };
static const char *const check_names[] = { "sample", "full", NULL };

/* Names with a '-' keep the macros of workload.h away. */
#define ROW(name, kind, f, unit, def, max, choices, help)                                          \
	{                                                                                          \
		name, kind, offsetof(struct run_options, f), unit, def, 1, max, choices, help,     \
			NULL, NULL, false                                                          \
	}

const struct param run_option_rows[] = {
	ROW("mode", PARAM_CHOICE, mode, "", "", 0, mode_names, "how steps are submitted"),
	ROW("depth", PARAM_SIZE, depth, "steps", "", RUN_DEPTH_MAX, NULL,
	    "steps before a synchronize"),
	ROW("samples", PARAM_INT, blocks, "samples", "", 1000000, NULL, "timed samples"),
	ROW("check", PARAM_CHOICE, check, "", "sample", 0, check_names, "what is compared"),
	ROW("check-steps", PARAM_SIZE, check_steps, "steps", "", RUN_DEPTH_MAX, NULL,
	    "steps checked"),
	ROW("sync", PARAM_CHOICE, sync, "", "", 0, sync_names, "how a sample's end is waited for"),
	ROW("plot", PARAM_PATH, plot, "", "", 0, NULL, "folder for the picture"),
	PARAM_END,
};

static const struct run_options *options_of(const struct run *r)
{
	return r->options->opts;
}

/* Was an option on the command line? mode has no value that could mean "not given". */
static bool is_given(const struct run *r, const char *name, size_t len)
{
	return r->options->given[params_find(r->options->rows, name, len)];
}

const char *mode_refused(const struct workload *w, const struct limits *limits, enum mode mode)
{
	if (limits->mode_refused[mode])
		return limits->mode_refused[mode];
	return mode == MODE_FUSED && !w->fused ? "this workload has no fused form" : NULL;
}

const struct param *workload_axis(const struct workload *w)
{
	for (const struct param *row = w->params; row->name; row++)
		if (row->axis)
			return row;
	return NULL;
}

/* The mode asked for if it is allowed, else the first one that is. */
static int choose_mode(struct run *r)
{
	enum mode want = (enum mode)options_of(r)->mode;
	const char *name = r->workload->name;

	for (int m = MODE_COUNT - 1; m >= 0; m--) {
		r->allowed[m] = !mode_refused(r->workload, &r->limits, (enum mode)m);
		if (r->allowed[m])
			r->mode = (enum mode)m;
	}
	if (!r->allowed[r->mode])
		return complain(EINVAL, "%s allows no mode with these parameters: %s", name,
				mode_refused(r->workload, &r->limits, MODE_STREAM));
	if (!is_given(r, "mode", 4))
		return 0;
	r->mode = want;
	if (!r->allowed[want])
		return complain(EINVAL, "--mode=%s: %s refuses it: %s", mode_name(want), name,
				mode_refused(r->workload, &r->limits, want));
	return 0;
}

/*
 * Asked for, by the option or by the workload's own, else the workload's choice, else 64; a default
 * never breaks the workload's limit.
 */
static int choose_depth(struct run *r)
{
	const struct limits *l = &r->limits;

	r->depth = options_of(r)->depth ? options_of(r)->depth : l->depth_asked;
	if (!r->depth) {
		r->depth = l->depth_run ? l->depth_run : DEPTH_RUN;
		if (l->depth_max && r->depth > l->depth_max)
			r->depth = l->depth_max;
	}
	if (l->depth_max && r->depth > l->depth_max)
		return complain(EINVAL, "--depth=%ld: %s allows at most %ld: %s", (long)r->depth,
				r->workload->name, (long)l->depth_max,
				l->depth_why ? l->depth_why : "no reason given");
	return 0;
}

static int check_picture(const struct run *r)
{
	const char *name = r->workload->name;

	if (!options_of(r)->plot)
		return 0;
	if (!r->workload->plot)
		return complain(EINVAL, "--plot: %s has no picture; leave --plot out", name);
	if (r->limits.action)
		return complain(EINVAL,
				"--plot: these parameters ask %s for an action, with nothing to "
				"draw; draw in a separate run",
				name);
	return 0;
}

/* Options of what is timed and checked: an action is neither. */
static int refuse_options_of_an_action(const struct run *r)
{
	static const char *const timed[] = { "mode", "depth", "samples", "check", "check-steps" };

	for (size_t i = 0; i < sizeof(timed) / sizeof(*timed); i++)
		if (is_given(r, timed[i], strlen(timed[i])))
			return complain(
				EINVAL,
				"--%s has no effect: these parameters ask %s for an action, "
				"and nothing is timed",
				timed[i], r->workload->name);
	return 0;
}

/* All that can be refused without a device; then the device. */
int run_admit(struct run *r)
{
	const void *opts = r->params->opts;
	int err = workload_limits(r->workload, opts, &r->limits);

	if (!err)
		err = param_needs_check(r->params, r->workload->needs);
	if (!err)
		err = check_picture(r);
	if (!err && r->limits.action)
		err = refuse_options_of_an_action(r);
	if (!err && !r->limits.action)
		err = choose_mode(r);
	if (!err && !r->limits.action)
		err = choose_depth(r);
	if (err)
		return err;
	if (r->limits.device_refused)
		return complain(ENODEV, "%s does not run on this device: %s", r->workload->name,
				r->limits.device_refused);
	platform_host(&r->platform);
	r->instance.sync =
		is_given(r, "sync", 4) ? (enum wait_policy)options_of(r)->sync : sync_default();
	err = sync_prepare(r->instance.sync);
	if (!err)
		err = platform_device(&r->platform);
	return err ? err : platform_layers(&r->platform);
}

/* ---- the run ---------------------------------------------------------------------------- */

/* Memory, stream, the workload's own set-up, and the counts that depend on it. */
int run_set_up(struct run *r)
{
	const struct workload *w = r->workload;
	struct instance *s = &r->instance;
	int64_t begin;
	int err;

	s->workload = w;
	s->opts = r->params->opts;
	s->state = calloc(1, w->state_size ? w->state_size : 1);
	CHECK(s->state, "%zu bytes of state", w->state_size);
	CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
	s->event = sync_event(s->sync);
	progress("%s: setting up", w->name);
	r->startup.start_ns = startup_since_start_ns();
	begin = clock_ns();
	NVTX_BEGIN("setup");
	err = workload_set_up(w, s->opts, s->state);
	NVTX_END();
	r->startup.setup_ns = (double)(clock_ns() - begin);
	if (!err)
		err = w->cost(s->opts, s->state, &r->cost);
	/* a step that only copies still fills a graph */
	s->launches = r->cost.launches >= 1 ? (int64_t)ceil(r->cost.launches) : 1;
	return err ? err : interrupted() ? -EINTR : 0;
}

/* A depth asked for is kept, whatever it takes. */
static int cut_default_depth(struct run *r)
{
	int64_t step_ns, fits;
	int err;

	if (options_of(r)->depth || r->limits.depth_asked)
		return 0;
	err = measure_one_step(&r->instance, r->mode, &step_ns);
	if (err)
		return err;
	fits = depth_that_fits(r->depth, step_ns);
	r->depth_cut_from = fits < r->depth ? r->depth : 0;
	r->depth = fits;
	return 0;
}

/* Warm-up, the kernels' own time, and the blocks, in the mode and at the depth asked for. */
static int time_blocks(struct run *r, struct submission *sub)
{
	double step_ns;
	int64_t n = options_of(r)->blocks;
	int err;

	progress("%s: warming up", r->workload->name);
	err = cut_default_depth(r);
	if (!err)
		err = submission_init(sub, &r->instance, r->mode, r->depth);
	r->graph_steps = sub->graph_steps;
	r->rest_steps = sub->rest_steps;
	if (!err)
		err = measure_warmup(sub, &r->warmup);
	if (err)
		return err;
	r->startup.block_ns = (double)r->warmup.first_ns;
	step_ns = (double)r->warmup.total_ns / (double)r->depth;
	err = kernel_time_measure(&r->kernel, &r->instance, r->allowed, step_ns, r->depth,
				  r->limits.depth_max);
	if (err)
		return err;
	NVTX_BEGIN("timed");
	err = measure_blocks(sub, n ? n : blocks_that_fit(r->warmup.per_block_ns), &r->blocks);
	NVTX_END();
	return err;
}

/* Medians, not sums: one block that an interrupt hit says nothing about the overhead. */
static void find_overhead(struct run *r)
{
	const struct param *axis = workload_axis(r->workload);
	struct timing t = {
		.mode = r->mode,
		.depth = r->depth,
		.depth_max = r->limits.depth_max,
		.total_ns = stats_of(r->blocks.total_ns, r->blocks.n, 1).median,
		.enq_ns = stats_of(r->blocks.enq_ns, r->blocks.n, 1).median,
		.allowed = r->allowed,
		.axis = axis ? axis->name : NULL,
	};

	non_kernel_share(&r->overhead, &r->kernel, &t);
}

/* The submission goes first: a long check need not hold graphs in device memory. */
static int measure_and_check(struct run *r)
{
	struct submission sub = { 0 };
	int err = time_blocks(r, &sub);

	submission_release(&sub);
	if (!err)
		find_overhead(r);
	return err ? err : run_check(r);
}

static int report(struct run *r)
{
	int err;

	if (!r->workload->report)
		return 0;
	progress("%s: reporting", r->workload->name);
	err = r->workload->report(r->instance.opts, r->instance.state, &r->report);
	/* a wrong result may well be one that cannot be reported: it failed its check first */
	return r->passed || err == -EINTR ? err : 0;
}

/* Before anything takes time. */
static int prepare_picture(struct run *r)
{
	struct picture *p = &r->picture;
	const char *folder = options_of(r)->plot;

	if (!folder)
		return 0;
	p->asked = true;
	plot_begin(&p->plot, folder, r->workload->name, r->platform.device);
	return picture_folder("--plot", folder);
}

/* Data files first: they are worth something without gnuplot. */
static int draw_pictures(struct run *r)
{
	struct picture *p = &r->picture;
	int err;

	if (!p->asked)
		return 0;
	if (!r->passed)
		return complain(EDOM, "not drawn: a picture of a result that failed its check "
				      "would mislead");
	progress("%s: drawing", r->workload->name);
	err = r->workload->plot(r->instance.opts, r->instance.state, &p->plot);
	if (err)
		p->plot.files = 0;
	else if (interrupted())
		err = complain(EINTR, "not drawn: interrupted");
	return err ? err : picture_draw(p);
}

static int execute(void *arg)
{
	struct run *r = arg;
	int err = run_set_up(r);

	if (!err && r->limits.action)
		r->passed = true;
	else if (!err)
		err = measure_and_check(r);
	if (!err) /* still in force? and what they have to say now */
		err = platform_layers(&r->platform);
	if (!err)
		err = report(r);
	if (!err)
		r->picture_error = draw_pictures(r);
	return err;
}

int run_execute(struct run *r)
{
	struct refusal refusal;
	int err = run_admit(r);

	if (!err)
		err = prepare_picture(r);
	if (!err)
		err = refusal_catch(execute, r, &refusal);
	progress_clear();
	if (err == -ENOSYS)
		refusal_complain(&refusal, r->workload->name);
	if (err == -EINTR)
		complain(EINTR, "interrupted after %ld timed samples; nothing is reported",
			 (long)r->blocks.n);
	return err;
}

static void tear_down(void *arg)
{
	struct run *r = arg;
	struct instance *s = &r->instance;

	if (s->state)
		r->workload->teardown(s->state);
	if (s->stream)
		CUDA(cudaStreamDestroy(s->stream));
	if (s->event)
		CUDA(cudaEventDestroy(s->event));
}

void run_release(struct run *r)
{
	struct instance *s = &r->instance;

	/* a failed hook may have left work in the stream that uses what is freed here */
	refusal_settle(s->stream);
	refusal_ignore(tear_down, r);
	free(s->state);
	blocks_release(&r->blocks);
	picture_release(&r->picture);
	platform_release(&r->platform);
	*s = (struct instance){ 0 };
}

/* ---- how many steps of a run are checked, and their check ------------------------------- */

enum { SEED = 1, STEPS_LEAST = 1024, STEPS_MOST = 4096 };

int64_t check_steps_for(int64_t asked, int64_t depth, double step_ns)
{
	int64_t block = depth < STEPS_MOST ? depth : STEPS_MOST, steps;

	if (asked)
		return asked;
	steps = depth_that_fits(block > STEPS_LEAST ? block : STEPS_LEAST, (int64_t)step_ns);
	return steps > block ? steps : block;
}

/* `times` batches, then the rest, which may hold none. */
static int launch_batches(const struct submission batch[2], int64_t times)
{
	int err = 0;

	for (int64_t i = 0; i <= times && !err; i++) {
		const struct submission *sub = &batch[i == times];

		if (!sub->instance)
			break;
		err = submission_enqueue(sub);
		CUDA(cudaStreamSynchronize(sub->instance->stream));
		if (!err && interrupted())
			err = -EINTR;
	}
	return err;
}

/*
 * The last block's result where it has just these steps. Else a fresh run, in the same mode and
 * in batches as large as the timed ones: small ones too get somewhere worth checking.
 */
static int run_steps(struct run *r, int64_t batch)
{
	const struct instance *s = &r->instance;
	struct submission sub[2] = { 0 };
	int64_t rest = r->check_steps % batch;
	int err;

	if (r->check_steps == r->depth)
		return 0;
	err = submission_init(&sub[0], s, r->mode, batch);
	if (!err && rest)
		err = submission_init(&sub[1], s, r->mode, rest);
	if (!err)
		err = s->workload->reset(s->opts, s->state, s->stream);
	if (!err)
		err = launch_batches(sub, r->check_steps / batch);
	submission_release(&sub[0]);
	submission_release(&sub[1]);
	return err;
}

int run_check(struct run *r)
{
	const struct run_options *o = r->options->opts;
	struct verdict *v = &r->verdict;
	int64_t batch;
	int err;

	progress("%s: checking", r->workload->name);
	r->check_steps =
		check_steps_for(o->check_steps, r->depth,
				stats_of(r->blocks.total_ns, r->blocks.n, (double)r->depth).median);
	batch = r->depth < r->check_steps ? r->depth : r->check_steps;
	err = run_steps(r, batch);
	if (err)
		return err;
	v->full = o->check == 1;
	v->seed = SEED;
	v->graph_steps = longest_graph(&r->instance, r->mode, batch);
	NVTX_BEGIN("check");
	err = r->workload->check(r->instance.opts, r->instance.state, r->check_steps, v);
	NVTX_END();
	r->passed = !err && verdict_holds(v);
	return err ? err : interrupted() ? -EINTR : 0;
}
