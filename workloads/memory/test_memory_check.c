/*
 * test_memory_check.c - the check passes where memory was taken and given back. It fails where a
 * layer below gives none, gives the same pages twice, or forgets what is written.
 */
#include "tests/plain.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "tests/races.h"
#include "workloads/memory/memory.h"
#include "workloads/memory/test_lost.h"

TestSuite(small_memory_check, .timeout = 300);

/* ---- a layer below that misbehaves ------------------------------------------------------ */

enum fault { NONE, NO_ADDRESS, ONE_PAGE, REFUSED };

static enum fault fault;

/* Whole pages that are all one and the same. */
static void *one_page(size_t bytes)
{
	size_t pages = (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE;
	int fd = memfd_create("page", 0);
	char *p = mmap(NULL, pages * MEMORY_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(fd >= 0 && p != MAP_FAILED && !ftruncate(fd, MEMORY_PAGE), "a page");
	for (size_t i = 0; i < pages; i++)
		CHECK(mmap(p + i * MEMORY_PAGE, MEMORY_PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED,
		      "page %zu", i);
	close(fd);
	return p;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
	cudaError_t (*real)(void **, size_t) =
		(cudaError_t(*)(void **, size_t))dlsym(RTLD_NEXT, "cudaMallocHost");

	if (fault == REFUSED)
		return cudaErrorMemoryAllocation;
	if (fault == NONE)
		return real(p, bytes);
	*p = fault == ONE_PAGE ? one_page(bytes) : NULL;
	return cudaSuccess;
}

cudaError_t cudaFreeHost(void *p)
{
	cudaError_t (*real)(void *) = (cudaError_t(*)(void *))dlsym(RTLD_NEXT, "cudaFreeHost");

	return fault == NONE ? real(p) : cudaSuccess;
}

/* ---- steps ------------------------------------------------------------------------------ */

struct run {
	struct memory_opts o;
	struct memory_state s;
	cudaStream_t stream;
};

static struct run *run_begin(enum memory_call call, int64_t bytes, int touch)
{
	struct run *r = calloc(1, sizeof(*r));

	need_device();
	CHECK(r, "memory");
	r->o = (struct memory_opts){ .bytes = bytes, .call = call, .touch = touch };
	CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	cr_assert(!workload_memory.setup(&r->o, &r->s), "setup");
	return r;
}

static void run_end(struct run *r)
{
	fault = NONE;
	workload_memory.teardown(&r->s);
	CUDA(cudaStreamDestroy(r->stream));
	free(r);
}

/* A reset, so many steps, and the check for another number of them. */
static struct verdict run_steps(struct run *r, int64_t n, int64_t checked)
{
	struct verdict v = { 0 };

	cr_assert(!workload_memory.reset(&r->o, &r->s, r->stream), "reset");
	for (int64_t i = 0; i < n; i++)
		cr_assert(!workload_memory.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamSynchronize(r->stream));
	cr_assert(!workload_memory.check(&r->o, &r->s, checked, &v), "check");
	cr_assert(v.passed == (v.error <= v.tolerance) && v.passed == !*v.worst, "%g, %s", v.error,
		  v.worst);
	cr_assert(v.measure && v.compared == v.total && v.total > 0, "all is compared");
	return v;
}

Test(small_memory_check, passes_for_each_call_at_any_size)
{
	const int64_t bytes[] = { 1, 4095, 4097, 64 << 10, 3 << 20 };
	const size_t sizes = sizeof(bytes) / sizeof(*bytes) - RACES;

	need_device();
	for (int call = 0; call < MEMORY_CALLS; call++)
		for (size_t i = 0; i < sizes; i++)
			for (int touch = 0; touch < 2; touch++) {
				struct run *r;

				if (memory_call_refused((enum memory_call)call))
					continue;
				r = run_begin((enum memory_call)call, bytes[i], touch);
				for (int again = 0; again < 2; again++)
					cr_assert(run_steps(r, 3, 3).passed, "call %d, %ld bytes",
						  call, (long)bytes[i]);
				run_end(r);
			}
}

Test(small_memory_check, fails_on_a_missing_step)
{
	struct run *r = run_begin(MEMORY_MALLOC, 4096, 1);

	cr_assert(!strcmp(run_steps(r, 3, 4).worst, "3 times, not 4"), "one missing");
	cr_assert(!run_steps(r, 3, 2).passed, "one too many");
	run_end(r);
}

Test(small_memory_check, fails_where_pages_were_not_touched)
{
	struct run *r = run_begin(MEMORY_ASYNC, 5 * MEMORY_PAGE, 1);
	struct verdict v;

	run_steps(r, 2, 2);
	r->o.touch = 0;
	v = run_steps(r, 2, 2);
	cr_assert(v.passed, "%s", v.worst);
	r->o.touch = 1;
	CUDA(cudaMemset(r->s.stamps, 0, sizeof(*r->s.stamps)));
	r->s.steps = 2;
	memset(&v, 0, sizeof(v));
	cr_assert(!workload_memory.check(&r->o, &r->s, 2, &v), "check");
	cr_assert(!v.passed && strstr(v.worst, "10 pages "), "%s", v.worst);
	run_end(r);
}

Test(small_memory_check, fails_where_there_is_no_address)
{
	struct run *r = run_begin(MEMORY_PINNED, 64, 0);
	struct verdict v = { 0 };

	cr_assert(!workload_memory.reset(&r->o, &r->s, r->stream), "reset");
	fault = NO_ADDRESS;
	cr_assert(!workload_memory.step(&r->o, &r->s, r->stream), "step");
	fault = NONE;
	CUDA(cudaStreamSynchronize(r->stream));
	cr_assert(!workload_memory.check(&r->o, &r->s, 1, &v), "check");
	cr_assert(!v.passed && strstr(v.worst, "1 addresses"), "%s", v.worst);
	run_end(r);
}

/* Addresses of their own, and one page behind them: only all bytes together show it. */
Test(small_memory_check, fails_on_memory_that_is_there_once)
{
	struct run *r = run_begin(MEMORY_PINNED, 3 * MEMORY_PAGE, 0);
	struct verdict v;

	fault = ONE_PAGE;
	v = run_steps(r, 1, 1);
	/* two pages lost, as the host sees it, and again as the device gets it */
	cr_assert(v.error == 2 * 2 * MEMORY_PAGE / 8 && strstr(v.worst, "2048 words"), "%g, %s",
		  v.error, v.worst);
	run_end(r);
}

/* Every word is wrong of memory that was not written, or that nothing looked at. */
Test(small_memory_check, fails_where_device_memory_is_not_written_or_not_read)
{
	for (int launch = 0; launch < 2; launch++) {
		struct run *r = run_begin(MEMORY_MALLOC, 5 * MEMORY_PAGE, 0);
		struct verdict v;

		lost = launch; /* the check's: one fills, one compares */
		v = run_steps(r, 1, 1);
		cr_assert(v.error == 5 * MEMORY_PAGE / 8, "launch %d: %g, %s", launch, v.error,
			  v.worst);
		run_end(r);
	}
}

Test(small_memory_check, a_call_that_fails_ends_the_step_with_one_line)
{
	struct run *r = run_begin(MEMORY_PINNED, 4096, 0);
	const char *text;
	int err;

	divert_stderr();
	fault = REFUSED;
	err = workload_memory.step(&r->o, &r->s, r->stream);
	text = diverted_stderr();
	cr_assert(err == -ENOMEM && is_one_complaint(text) && strstr(text, "call=pinned"), "%s",
		  text);
	run_end(r);
}
