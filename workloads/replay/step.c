/*
 * step.c - plays a step: each act behind its gap, which is told by when the last call returned. So
 * what calls cost here is in no gap, and a call that takes longer makes the step longer.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/timing.h"
#include "workloads/replay/replay.h"

/* A thread that sleeps is woken so late on a quiet machine: what is left is spun. */
enum { WOKEN_LATE_NS = 80000 };
/* A clock that is asked once and a turn of the loop: gaps below it are in them. */
enum { LEAST_GAP_NS = 40 };

/* ---- the host's time ---------------------------------------------------------------------- */

void replay_wait_until(int64_t ns, bool sleeps)
{
	int64_t left = ns - timing_now_ns() - WOKEN_LATE_NS;

	if (sleeps && left > 0) {
		struct timespec t = { left / 1000000000, left % 1000000000 };

		nanosleep(&t, NULL); /* a signal ends it early: the rest is spun */
	}
	while (timing_now_ns() < ns && !interrupted())
		;
}

static void wait_gap(const struct replay_state *s, const struct replay_act *a)
{
	if (a->gap_ns >= LEAST_GAP_NS)
		replay_wait_until(s->returned_ns + (int64_t)a->gap_ns, a->sleeps);
}

static void run_function(void *arg)
{
	struct replay_function *f = arg;

	replay_wait_until(timing_now_ns() + (int64_t)f->ns, false);
	__atomic_add_fetch(&f->state->functions, 1, __ATOMIC_RELAXED);
}

/* ---- copies ----------------------------------------------------------------------------- */

uint64_t replay_source_word(int slot, int64_t step)
{
	return (uint64_t)((slot + step) % REPLAY_SOURCES) * (REPLAY_SHIFT / 8);
}

int replay_set_byte(int64_t step)
{
	return (int)(1 + step % REPLAY_SOURCES);
}

static void play_copy(const struct replay_state *s, const struct replay_act *a, cudaStream_t stream)
{
	static const enum cudaMemcpyKind kinds[REPLAY_DIRECTIONS] = { cudaMemcpyHostToDevice,
								      cudaMemcpyDeviceToHost,
								      cudaMemcpyDeviceToDevice };
	const struct replay_area *area = &s->plan.area[a->place];
	const struct replay_memory_of *from =
		&s->source[a->direction == REPLAY_TO_DEVICE ? (int)a->memory
							    : REPLAY_SOURCE_DEVICE];
	char *to = s->area[a->place].base + (size_t)a->slot * replay_stride(area);
	const char *at = from->base + 8 * replay_source_word(a->slot, s->steps);

	/* cudaMemcpy is one call, and of the legacy stream */
	if (a->blocks_host && !stream) {
		CUDA(cudaMemcpy(to, at, (size_t)a->bytes, kinds[a->direction]));
		return;
	}
	CUDA(cudaMemcpyAsync(to, at, (size_t)a->bytes, kinds[a->direction], stream));
	if (a->blocks_host)
		CUDA(cudaStreamSynchronize(stream));
}

/* ---- waits and memory ----------------------------------------------------------------------- */

static cudaError_t ask(const struct replay_state *s, const struct replay_act *a,
		       cudaStream_t stream)
{
	return a->event >= 0 ? cudaEventQuery(s->event[a->event]) : cudaStreamQuery(stream);
}

static void play_query(const struct replay_state *s, const struct replay_act *a,
		       cudaStream_t stream)
{
	cudaError_t err = ask(s, a, stream);

	while (err == cudaErrorNotReady && a->kind == ACT_POLL)
		err = ask(s, a, stream);
	if (err != cudaErrorNotReady)
		CUDA(err);
	cudaGetLastError(); /* "not ready" is no failure of later calls */
}

static int take_block(const struct replay_act *a, void **block, cudaStream_t stream)
{
	size_t bytes = (size_t)a->bytes;
	cudaError_t err = a->taken == TAKEN_ASYNC
				  ? CUDA_RESULT(cudaMallocAsync(block, bytes, stream))
			  : a->taken == TAKEN_PINNED ? CUDA_RESULT(cudaMallocHost(block, bytes))
						     : CUDA_RESULT(cudaMalloc(block, bytes));

	if (!err)
		return 0;
	cudaGetLastError();
	*block = NULL;
	return complain(ENOMEM, "trace: cannot allocate %zu bytes: %s", bytes,
			cudaGetErrorString(err));
}

static void give_block(const struct replay_act *a, void **block, cudaStream_t stream)
{
	if (a->taken == TAKEN_ASYNC)
		CUDA(cudaFreeAsync(*block, stream));
	else if (a->taken == TAKEN_PINNED)
		CUDA(cudaFreeHost(*block));
	else
		CUDA(cudaFree(*block));
	*block = NULL;
}

/* ---- acts ------------------------------------------------------------------------------- */

static void play_kernel(const struct replay_state *s, const struct replay_act *a,
			cudaStream_t stream)
{
	unsigned long long ticks = replay_ticks(&s->tuning, a->ns - s->plan.kernel_floor_ns);

	replay_launch(s->count + a->place, ticks, a->blocks, a->threads, stream);
}

static int play(struct replay_state *s, const struct replay_act *a, cudaStream_t stream)
{
	switch (a->kind) {
	case ACT_KERNEL:
		play_kernel(s, a, stream);
		break;
	case ACT_GRAPH:
		CUDA(cudaGraphLaunch(s->graph[a->graph], stream));
		break;
	case ACT_COPY:
		play_copy(s, a, stream);
		break;
	case ACT_MEMSET:
		CUDA(cudaMemsetAsync(s->area[a->place].base, replay_set_byte(s->steps),
				     (size_t)a->bytes, stream));
		break;
	case ACT_HOSTFUNC:
		CUDA(cudaLaunchHostFunc(stream, run_function, &s->function[a->place]));
		break;
	case ACT_RECORD:
		CUDA(cudaEventRecord(s->event[a->event], stream));
		break;
	case ACT_WAIT_EVENT:
		CUDA(cudaStreamWaitEvent(stream, s->event[a->event], 0));
		break;
	case ACT_SYNC_STREAM:
		CUDA(cudaStreamSynchronize(stream));
		break;
	case ACT_SYNC_EVENT:
		CUDA(cudaEventSynchronize(s->event[a->event]));
		break;
	case ACT_SYNC_DEVICE:
		CUDA(cudaDeviceSynchronize());
		break;
	case ACT_QUERY:
	case ACT_POLL:
		play_query(s, a, stream);
		break;
	case ACT_ALLOC:
		return take_block(a, &s->block[a->place], stream);
	case ACT_FREE:
		give_block(a, &s->block[a->place], stream);
		break;
	default:
		break;
	}
	return 0;
}

cudaStream_t replay_stream_of(const struct replay_state *s, int stream, cudaStream_t own)
{
	return stream < 0 || stream == s->plan.main ? own : s->stream[stream];
}

/* ---- steps ------------------------------------------------------------------------------ */

/* All streams of the plan behind one of them, or of the harness. */
static void fork_streams(const struct replay_state *s, cudaStream_t own)
{
	CUDA(cudaEventRecord(s->forked, own));
	for (int i = 0; i < s->plan.streams; i++)
		if (i != s->plan.main && s->plan.stream[i].ops)
			CUDA(cudaStreamWaitEvent(s->stream[i], s->forked, 0));
}

static void join_streams(const struct replay_state *s, cudaStream_t own)
{
	for (int i = 0; i < s->plan.streams; i++) {
		if (!s->plan.stream[i].open)
			continue;
		CUDA(cudaEventRecord(s->joined[i], s->stream[i]));
		CUDA(cudaStreamWaitEvent(own, s->joined[i], 0));
	}
}

static bool is_captured(cudaStream_t stream)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

	CUDA(cudaStreamIsCapturing(stream, &status));
	return status != cudaStreamCaptureStatusNone;
}

/*
 * Streams of a step begin where the harness' stream is: in a capture each time, else by a reset.
 * A step may be minutes of a program: Ctrl-C ends it between two acts.
 */
int replay_step(const void *opts, void *state, cudaStream_t own)
{
	struct replay_state *s = state;
	bool forks = s->plan.streams > 1 && !s->plan.only_stream && is_captured(own);
	int err = 0;

	(void)opts;
	s->returned_ns = timing_now_ns();
	if (forks)
		fork_streams(s, own);
	for (int64_t i = 0; i < s->plan.acts && !err; i++) {
		const struct replay_act *a = &s->plan.act[i];

		wait_gap(s, a);
		if (interrupted() && !forks) /* a capture must join all of its streams */
			return -EINTR;
		err = play(s, a, replay_stream_of(s, a->stream, own));
		s->returned_ns = timing_now_ns();
	}
	join_streams(s, own);
	s->steps++;
	return err;
}

int replay_reset(const void *opts, void *state, cudaStream_t own)
{
	struct replay_state *s = state;

	(void)opts;
	s->steps = 0;
	s->functions = 0;
	CUDA(cudaMemsetAsync(s->count, 0, (size_t)s->plan.counters * sizeof(*s->count), own));
	for (int i = 0; i < s->plan.areas; i++) {
		const struct replay_memory_of *m = &s->area[i];

		if (m->on_device)
			CUDA(cudaMemsetAsync(m->base, PATTERN_GUARD_BYTE, m->bytes, own));
		else
			memset(m->base, PATTERN_GUARD_BYTE, m->bytes);
	}
	fork_streams(s, own);
	return 0;
}
