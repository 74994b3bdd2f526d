/*
 * launch.c - the launch workload: its parameters, its steps and its entry in the table.
 *
 * A step is one kernel launch in each of streams= streams:
 *
 *   streams=1   launch a kernel that does nothing, spins for us= microseconds, or computes as long
 *   streams=N   record an event, let N - 1 more streams wait for it, launch in each, join them
 *
 * The process may hold memory, streams, events and modules meanwhile (hold_*=, hold.c).
 *
 * The kernels (kernels.cu) count their runs, which check.c compares. probe*.c time single calls
 * (probe=yes): waits, the first launch, mapped memory, clocks, and the depth of the launch queue.
 */
#include "workloads/launch/launch.h"

#include <errno.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/launch/probe.h"
#include "workloads/workload.h"

#define LAUNCH_HOLD_BYTES_MAX 1099511627776.0 /* 1 TiB: more is a slip of the finger */

static const char *const fills[] = { "spin", "work", NULL };
static const char *const sizes[] = { "8", "256", "4096", NULL };
static const char *const widths[] = { "block", "wave", "full", NULL };
static const char *const entries[] = { "launch", "launchex", NULL };
static const char *const probes[] = { "no", "yes", "quick", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(launch_opts, us, "us", "0", 0, LAUNCH_US_MAX,
		   "0,1,2,5,10,20,50,100,200,500,1000",
		   "nominal duration of a kernel; 0 is the empty kernel"),
	PARAM_CHOICE_ASIDE(launch_opts, kernel, "spin", fills, "spin,work",
		     "what fills a kernel: waiting for the clock, or a chain of multiply-adds"),
	PARAM_CHOICE_ASIDE(launch_opts, args, "8", sizes, "8,256,4096", "bytes of arguments of a kernel"),
	PARAM_CHOICE_ASIDE(launch_opts, width, "block", widths, "block,wave,full",
		     "grid: one block, one per multiprocessor, or all that fit"),
	PARAM_INT_ASIDE(launch_opts, streams, "streams", "1", 1, LAUNCH_STREAMS_MAX, "1,2,4,8",
		  "streams that a step forks into, with a launch in each"),
	PARAM_CHOICE_ASIDE(launch_opts, entry, "launch", entries, "launch,launchex",
		     "cudaLaunchKernel or cudaLaunchKernelExC"),
	PARAM_INT(launch_opts, mhz, "MHz", "0", 0, 10000,
		  "clock with which us is counted; 0: the device's own"),
	PARAM_CHOICE(launch_opts, probe, "no", probes,
		     "measure single calls instead: waits, first launch, gap, queue"),
	PARAM_SIZE(launch_opts, hold_pinned, "bytes", "0", 0, LAUNCH_HOLD_BYTES_MAX,
		   "pinned host memory that the process holds meanwhile"),
	PARAM_SIZE(launch_opts, hold_mapped, "bytes", "0", 0, LAUNCH_HOLD_BYTES_MAX,
		   "mapped host memory that the process holds meanwhile"),
	PARAM_SIZE(launch_opts, hold_device, "bytes", "0", 0, LAUNCH_HOLD_BYTES_MAX,
		   "device memory that the process holds meanwhile"),
	PARAM_INT(launch_opts, hold_pieces, "pieces", "1", 1, 65536,
		  "number of allocations for the held memory of each kind"),
	PARAM_INT(launch_opts, hold_streams, "streams", "0", 0, 1024, "idle streams that the "
								      "process holds"),
	PARAM_INT(launch_opts, hold_events, "events", "0", 0, 1 << 20, "events that the process "
								       "holds"),
	PARAM_INT(launch_opts, hold_modules, "modules", "0", 0, 65536,
		  "modules of code that the process has loaded; not on the CPU device"),
	PARAM_END
};
/* clang-format on */

static const char *const added[] = { "hold_pinned",  "hold_mapped", "hold_device",  "hold_pieces",
				     "hold_streams", "hold_events", "hold_modules", NULL };

enum launch_body launch_effective_body(const struct launch_opts *o)
{
	if (!o->us)
		return LAUNCH_EMPTY;
	return o->kernel == LAUNCH_FILL_WORK ? LAUNCH_WORK : LAUNCH_SPIN;
}

/* ---- limits ----------------------------------------------------------------------------- */

int launch_limits(const void *opts, struct limits *out)
{
	const struct launch_opts *o = opts;
	int err = launch_hold_limits(o);

	if (err)
		return err;
	if (o->probe && o->streams > 1)
		return complain(EINVAL, "streams=%ld: probe=yes needs streams=1", (long)o->streams);
	if (o->probe && o->us > PROBE_US_MAX)
		return complain(EINVAL, "us=%ld: probe=yes needs kernels of at most %d us",
				(long)o->us, PROBE_US_MAX);
	if (o->streams > 1)
		out->mode_refused[MODE_FUSED] =
			"a fused launch is one launch in one stream; a step "
			"of streams=2 or more has several";
	out->action = o->probe != LAUNCH_PROBE_NO;
	out->depth_run = 256; /* a quarter of the usual launch queue: no call waits for the queue */
	return 0;
}

/* ---- steps ------------------------------------------------------------------------------ */

/* The counters to zero, the shortest spin to the largest number. */
int launch_reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct launch_opts *o = opts;
	const struct launch_state *s = state;
	size_t slots = (size_t)o->streams * s->config.blocks;

	launch_configure(&s->config, s->place - 1, stream);
	CUDA(cudaMemsetAsync(s->config.slot, 0, slots * sizeof(*s->config.slot), stream));
	CUDA(cudaMemsetAsync(s->config.shortest, 0xff, slots * sizeof(*s->config.shortest),
			     stream));
	return 0;
}

/* The call copies the arguments, so the block can serve the next one at once. */
static void launch_in(const struct launch_opts *o, struct launch_state *s, int64_t i,
		      uint64_t units, cudaStream_t stream)
{
	const dim3 grid = { s->config.blocks, 1, 1 }, block = { LAUNCH_THREADS, 1, 1 };
	void *args[] = { s->args[i] };

	s->args[i][0] = (uint32_t)s->args[i][0] | units << 32;
	if (o->entry == LAUNCH_ENTRY_LAUNCH) {
		CUDA(cudaLaunchKernel(s->kernel, grid, block, args, 0, stream));
	} else {
		cudaLaunchConfig_t config = { .gridDim = grid, .blockDim = block };

		config.stream = stream;
		CUDA(cudaLaunchKernelExC(&config, s->kernel, args));
	}
}

/* The other streams start where this one stands, and this one goes on when they are done. */
static void fork_and_join(const struct launch_opts *o, struct launch_state *s, cudaStream_t stream)
{
	CUDA(cudaEventRecord(s->forked, stream));
	for (int64_t i = 1; i < o->streams; i++) {
		CUDA(cudaStreamWaitEvent(s->stream[i], s->forked, 0));
		launch_in(o, s, i, 1, s->stream[i]);
		CUDA(cudaEventRecord(s->joined[i], s->stream[i]));
	}
	launch_in(o, s, 0, 1, stream);
	for (int64_t i = 1; i < o->streams; i++)
		CUDA(cudaStreamWaitEvent(stream, s->joined[i], 0));
}

int launch_step(const void *opts, void *state, cudaStream_t stream)
{
	const struct launch_opts *o = opts;

	if (o->streams > 1)
		fork_and_join(o, state, stream);
	else
		launch_in(o, state, 0, 1, stream);
	return 0;
}

int launch_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	int err = device_steps_fit(n);

	if (err)
		return err;
	launch_in(opts, state, 0, (uint64_t)n, stream);
	return 0;
}

/* ---- cost ------------------------------------------------------------------------------- */

/*
 * A multiply-add is 2 operations. A block adds to 2 counters of 8 bytes, 3 in a work kernel, 4 in
 * a spin kernel; each addition reads and writes.
 */
static int cost(const void *opts, const void *state, struct cost *out)
{
	static const double counters[LAUNCH_BODIES] = { 2, 4, 3 };
	const struct launch_opts *o = opts;
	const struct launch_state *s = state;
	enum launch_body body = launch_effective_body(o);
	double blocks = (double)(o->streams * s->config.blocks);

	*out = (struct cost){
		.launches = (double)o->streams,
		.flops = body == LAUNCH_WORK ? 2.0 * s->config.chain * LAUNCH_THREADS * blocks : 0,
		.bytes_moved = 16 * counters[body] * blocks,
		.formula = "streams x blocks x (32 threads x chain x 2 flops); streams x blocks x "
			   "2 (empty), 4 (spin) or 3 (work) counters x 16 B",
	};
	return 0;
}

const struct workload workload_launch = {
	.name = "launch",
	.summary = "kernels of a chosen duration and nothing else: what submitting them costs",
	.source = "this project's own; compare HeCBench kernelLaunch",
	.step_unit = "a launch in each stream",
	.params = params,
	.added = added,
	.opts_size = sizeof(struct launch_opts),
	.state_size = sizeof(struct launch_state),
	.limits = launch_limits,
	.setup = launch_setup,
	.reset = launch_reset,
	.step = launch_step,
	.fused = launch_fused,
	.check = launch_check,
	.report = launch_report,
	.cost = cost,
	.teardown = launch_teardown,
};
