/*
 * graphs.h - what tests of streams, captures and graphs share. The kernels are in graphs.cuh,
 * which the program's .cu file includes.
 */
#ifndef RIFT_TESTS_GRAPHS_H
#define RIFT_TESTS_GRAPHS_H

#include "tests/cpu/test_runtime.h"

const void *k_affine(void);
const void *k_append(void);

/* *p = *p * factor + term, so that the order of launches shows. */
static inline void affine(int *p, int factor, int term, cudaStream_t stream)
{
	OK(cudaLaunchKernel(k_affine(), blocks(1), blocks(1), (void *[]){ &p, &factor, &term }, 0,
			    stream));
}

/* *out = 10 * *out + *in */
static inline void append(int *out, const int *in, cudaStream_t stream)
{
	OK(cudaLaunchKernel(k_append(), blocks(1), blocks(1), (void *[]){ &out, &in }, 0, stream));
}

static inline void launch_count(int *p, cudaStream_t stream)
{
	affine(p, 1, 1, stream);
}

/* ---- captures --------------------------------------------------------------------------- */

/* What is on `from` so far happens before what comes on `to`. */
static inline void order_by(cudaEvent_t event, cudaStream_t from, cudaStream_t to)
{
	OK(cudaEventRecord(event, from));
	OK(cudaStreamWaitEvent(to, event, 0));
}

static inline void order(cudaStream_t from, cudaStream_t to)
{
	cudaEvent_t event;

	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	order_by(event, from, to);
	OK(cudaEventDestroy(event)); /* its record stays */
}

/* A new stream that is captured from now on. */
static inline cudaStream_t begin_capture(void)
{
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	return s;
}

static inline cudaGraph_t end_capture(cudaStream_t s)
{
	cudaGraph_t graph;

	OK(cudaStreamEndCapture(s, &graph));
	return graph;
}

static inline cudaGraph_t one_affine(int *p, int factor, int term)
{
	cudaStream_t s = begin_capture();

	affine(p, factor, term, s);
	return end_capture(s);
}

/* A set, then a kernel (5 is added) beside a host function, then a copy. */
static inline cudaGraph_t diamond(int *p, int *host)
{
	cudaStream_t a = begin_capture(), b = new_stream(cudaStreamNonBlocking);

	OK(cudaMemsetAsync(p, 0, sizeof(*p), a));
	order(a, b);
	affine(p, 1, 5, a);
	OK(cudaLaunchHostFunc(b, do_nothing, NULL));
	order(b, a);
	OK(cudaMemcpyAsync(host, p, sizeof(*p), cudaMemcpyDeviceToHost, a));
	return end_capture(a);
}

/* ---- two streams ------------------------------------------------------------------------ */

struct pair {
	cudaStream_t a, b;
	cudaEvent_t e, f;
	int *d; /* one, zero */
};

static inline struct pair new_pair(void)
{
	struct pair p;

	p.a = new_stream(cudaStreamNonBlocking);
	p.b = new_stream(cudaStreamNonBlocking);
	OK(cudaEventCreate(&p.e));
	OK(cudaEventCreate(&p.f));
	p.d = device_ints(1);
	return p;
}

/* A capture that begins on a, counts, and goes on in b as well. */
static inline struct pair forked(void)
{
	struct pair p = new_pair();

	OK(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeRelaxed));
	launch_count(p.d, p.a);
	order_by(p.e, p.a, p.b);
	return p;
}

#endif
