/* measure.c - single calls that take memory and give it back, timed. */
#include "workloads/memory/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/timing.h"

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 501, SAMPLES_QUICK = 101 };

void memory_measure_init(struct measure_plan *p, bool quick)
{
	*p = (struct measure_plan){ .samples = quick ? SAMPLES_QUICK : SAMPLES_MAX,
				    .budget_ns = quick ? 20000000 : 200000000 };
	CUDA(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&p->other, cudaStreamNonBlocking));
	CUDA(cudaMalloc((void **)&p->count, sizeof(*p->count)));
	CUDA(cudaMemset(p->count, 0, sizeof(*p->count)));
	CUDA(cudaDeviceSynchronize());
}

int memory_measure_release(struct measure_plan *p)
{
	unsigned long long ran;

	CUDA(cudaMemcpy(&ran, p->count, sizeof(ran), cudaMemcpyDeviceToHost));
	memory_pool_keep(false);
	CUDA(cudaFree(p->count));
	CUDA(cudaStreamDestroy(p->other));
	CUDA(cudaStreamDestroy(p->stream));
	return ran == p->ran ? 0
			     : complain(EIO,
					"probe: of the kernels that keep the device busy %llu ran, "
					"not %llu",
					ran, p->ran);
}

/* ---- samples ---------------------------------------------------------------------------- */

struct samples {
	int64_t take_ns[SAMPLES_MAX], give_ns[SAMPLES_MAX];
	int n;
};

static struct measure_call summarize_samples(int64_t *ns, int n)
{
	struct measure_call c = { .first = 1e-3 * (double)ns[0], .n = n - 1 };

	c.median = 1e-3 * timing_median(ns + 1, n - 1);
	c.p99 = 1e-3 * timing_quantile(ns + 1, n - 1, 0.99);
	return c;
}

/* The first sample stands apart: it may find the system without what later ones reuse. */
static void summarize_pair(struct samples *s, struct measure_pair *out)
{
	out->take = summarize_samples(s->take_ns, s->n);
	out->give = summarize_samples(s->give_ns, s->n);
}

/* Is another sample wanted? */
static bool goes_on(const struct measure_plan *p, const struct samples *s, int64_t begin)
{
	return s->n < SAMPLES_MIN + 1 ||
	       (s->n < p->samples && timing_now_ns() - begin < p->budget_ns);
}

static void be_busy(struct measure_plan *p, int64_t us)
{
	if (!us)
		return;
	memory_busy((unsigned long long)us * 1000, p->count, p->other);
	p->ran++;
}

/* Waits for everything; a pool that is to be empty is emptied. */
static void settle_call(enum memory_call call)
{
	CUDA(cudaDeviceSynchronize());
	if (call == MEMORY_MISS)
		memory_pool_trim();
}

static cudaError_t sample_call(struct measure_plan *p, enum memory_call call, void *buffer,
			       int64_t bytes, int64_t busy_us, struct samples *s)
{
	void *got = buffer;
	int64_t begin;
	cudaError_t err;

	settle_call(call);
	be_busy(p, busy_us);
	begin = timing_now_ns();
	err = memory_take(call, &got, (size_t)bytes, p->stream);
	s->take_ns[s->n] = timing_now_ns() - begin;
	CUDA(cudaDeviceSynchronize());
	if (err)
		return err;
	be_busy(p, busy_us);
	begin = timing_now_ns();
	memory_give(call, got, p->stream);
	s->give_ns[s->n++] = timing_now_ns() - begin;
	return cudaSuccess;
}

static int try_it(enum memory_call call, int64_t bytes)
{
	double wrong = 0;
	int err = memory_try(call, bytes, &wrong);

	if (!err && wrong > 0)
		err = complain(EIO, "%ld bytes: %.0f words of them do not hold what was written",
			       (long)bytes, wrong);
	return err;
}

static int no_memory(int64_t bytes, cudaError_t err)
{
	cudaGetLastError();
	return complain(ENOMEM, "bytes=%ld: %s", (long)bytes, cudaGetErrorString(err));
}

int memory_measure_pair(struct measure_plan *p, enum memory_call call, int64_t bytes,
			int64_t busy_us, struct measure_pair *out)
{
	void *buffer = call == MEMORY_REGISTER ? memory_buffer((size_t)bytes) : NULL;
	struct samples *s = calloc(1, sizeof(*s));
	int64_t begin = timing_now_ns();
	cudaError_t err = cudaSuccess;
	int failed;

	CHECK(s, "memory of samples");
	memory_pool_keep(call == MEMORY_ASYNC);
	while (!err && goes_on(p, s, begin) && !interrupted())
		err = sample_call(p, call, buffer, bytes, busy_us, s);
	CUDA(cudaDeviceSynchronize());
	free(buffer);
	failed = err ? no_memory(bytes, err) : interrupted() ? -EINTR : try_it(call, bytes);
	if (!failed)
		summarize_pair(s, out);
	free(s);
	return failed;
}

/* ---- touch ------------------------------------------------------------------------------ */

static int64_t write_to(struct measure_plan *p, bool on_device, void *memory, size_t bytes)
{
	int64_t begin = timing_now_ns();

	if (on_device) {
		CUDA(cudaMemsetAsync(memory, 1, bytes, p->stream));
		CUDA(cudaStreamSynchronize(p->stream));
	} else
		memset(memory, 1, bytes);
	return timing_now_ns() - begin;
}

static bool is_written(bool on_device, const char *memory, size_t bytes)
{
	enum cudaMemcpyKind kind = on_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
	char first, last;

	CUDA(cudaMemcpy(&first, memory, 1, kind));
	CUDA(cudaMemcpy(&last, memory + bytes - 1, 1, kind));
	return first == 1 && last == 1;
}

/* Host memory comes from the kernel itself: malloc() hands out freed memory, already touched. */
static char *allocate_fresh(bool on_device, size_t bytes)
{
	char *memory = NULL;

	if (!on_device)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	else if (cudaMalloc((void **)&memory, bytes))
		cudaGetLastError();
	return memory == MAP_FAILED ? NULL : memory;
}

static void touch_twice(struct measure_plan *p, bool on_device, char *memory, size_t bytes,
			struct samples *s)
{
	s->take_ns[s->n] = write_to(p, on_device, memory, bytes);
	s->give_ns[s->n++] = write_to(p, on_device, memory, bytes);
	CHECK(is_written(on_device, memory, bytes), "%zu bytes", bytes);
	if (on_device)
		CUDA(cudaFree(memory));
	else
		munmap(memory, bytes);
}

int memory_measure_touch(struct measure_plan *p, bool on_device, int64_t bytes,
			 struct measure_pair *out)
{
	struct samples *s = calloc(1, sizeof(*s));
	int64_t begin = timing_now_ns();
	int err = 0;

	CHECK(s, "memory of samples");
	while (goes_on(p, s, begin) && !err) {
		char *memory = allocate_fresh(on_device, (size_t)bytes);

		if (memory)
			touch_twice(p, on_device, memory, (size_t)bytes, s);
		err = !memory	      ? no_memory(bytes, cudaErrorMemoryAllocation)
		      : interrupted() ? -EINTR
				      : 0;
	}
	if (!err)
		summarize_pair(s, out);
	free(s);
	return err;
}
