/*
 * test_runtime.h - what the tests of the CUDA runtime share. They hold on an NVIDIA GPU as well
 * as on the CPU device and run on whichever the build is for.
 */
#ifndef RIFT_TEST_RUNTIME_H
#define RIFT_TEST_RUNTIME_H

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <sched.h>
#include <stdint.h>

#define NEED_DEVICE()                                                                              \
	do {                                                                                       \
		int devices = 0;                                                                   \
		if (cudaGetDeviceCount(&devices) || !devices)                                      \
			cr_skip("no CUDA device");                                                 \
	} while (0)

/* The call returns that error. */
#define EXPECT(want, call)                                                                         \
	do {                                                                                       \
		cudaError_t got_ = (call);                                                         \
		cr_assert(got_ == (want), "line %d: %s: %s, not %s", __LINE__, #call,              \
			  cudaGetErrorName(got_), cudaGetErrorName(want));                         \
	} while (0)
#define OK(call) EXPECT(cudaSuccess, call)

/* The call returns that error and leaves it for cudaGetLastError, once. */
#define REFUSED(want, call)                                                                        \
	do {                                                                                       \
		EXPECT(want, call);                                                                \
		EXPECT(want, cudaPeekAtLastError());                                               \
		EXPECT(want, cudaGetLastError());                                                  \
		EXPECT(cudaSuccess, cudaGetLastError());                                           \
	} while (0)

/* A host function that holds its stream until the gate, an int, is no longer 0. */
static inline void wait_at_gate(void *gate)
{
	while (!__atomic_load_n((int *)gate, __ATOMIC_ACQUIRE))
		sched_yield();
}

static inline void open_gate(int *gate)
{
	__atomic_store_n(gate, 1, __ATOMIC_RELEASE);
}

/* A host function. */
static inline void do_nothing(void *unused)
{
	(void)unused;
}

static inline dim3 blocks(unsigned n)
{
	dim3 grid = { n, 1, 1 };

	return grid;
}

static inline cudaStream_t new_stream(unsigned flags)
{
	cudaStream_t s = NULL;

	OK(cudaStreamCreateWithFlags(&s, flags));
	return s;
}

/* Device memory for n ints, all zero. */
static inline int *device_ints(size_t n)
{
	void *p = NULL;

	OK(cudaMalloc(&p, n * sizeof(int)));
	OK(cudaMemset(p, 0, n * sizeof(int)));
	return (int *)p;
}

static inline int device_int(const int *p)
{
	int value = 0;

	OK(cudaMemcpy(&value, p, sizeof(value), cudaMemcpyDeviceToHost));
	return value;
}

/* Whether a stream is captured. */
static inline enum cudaStreamCaptureStatus status_of(cudaStream_t s)
{
	enum cudaStreamCaptureStatus status = (enum cudaStreamCaptureStatus)9;

	OK(cudaStreamIsCapturing(s, &status));
	return status;
}

#endif
