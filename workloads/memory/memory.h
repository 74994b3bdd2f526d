/*
 * memory.h - the memory workload: taking memory and giving it back, and nothing else.
 *
 * A step takes `bytes` by one function, touches them if asked to, and gives them back. Options and
 * what they mean: README.md.
 */
#ifndef RIFT_MEMORY_H
#define RIFT_MEMORY_H

#include <stdbool.h>

#include "common/pattern.h"
#include "workloads/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum memory_call {
	MEMORY_MALLOC,	 /* cudaMalloc, cudaFree */
	MEMORY_ASYNC,	 /* cudaMallocAsync, cudaFreeAsync; the pool keeps what it has */
	MEMORY_MISS,	 /* the same; the pool is empty before each block */
	MEMORY_PINNED,	 /* cudaMallocHost, cudaFreeHost */
	MEMORY_REGISTER, /* cudaHostRegister, cudaHostUnregister */
	MEMORY_CALLS,
};

enum memory_probe { MEMORY_NO, MEMORY_YES, MEMORY_QUICK };

enum { MEMORY_PAGE = 4096 }; /* one word of each is touched */

struct memory_opts {
	int64_t bytes;
	int call;  /* enum memory_call */
	int touch; /* bool */
	int probe; /* enum memory_probe */
};

struct memory_state {
	void *buffer;			    /* that is registered */
	int64_t steps;			    /* since the reset */
	int64_t strays;			    /* addresses that are none, or not aligned */
	int64_t pages;			    /* of host memory that were touched and read back */
	unsigned long long *stamps;	    /* the same of device memory, counted there */
	char (*names)[REPORT_ROWS_MAX][32]; /* of rows of a report */
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int memory_limits(const void *opts, struct limits *out);
int memory_setup(const void *opts, void *state);
int memory_reset(const void *opts, void *state, cudaStream_t stream);
int memory_step(const void *opts, void *state, cudaStream_t stream);
int memory_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int memory_report(const void *opts, void *state, struct report *out);
int memory_plot(const void *opts, void *state, struct plot *plot);
void memory_teardown(void *state);

/* Does memory of this kind lie on the device? */
bool memory_on_device(enum memory_call call);

/*
 * One call each. *p: the memory, or for MEMORY_REGISTER what the caller has. The first returns
 * what CUDA does.
 */
cudaError_t memory_take(enum memory_call call, void **p, size_t bytes, cudaStream_t stream);
void memory_give(enum memory_call call, void *p, cudaStream_t stream);

/* Host memory whose pages are there, in whole pages; aborts where there is none. */
void *memory_buffer(size_t bytes);

/* 0, or a negative errno after one line: do these bytes fit, and do pools work? */
int memory_check_size(enum memory_call call, int64_t bytes);

/*
 * Takes memory once more, fills all of it with a pattern and compares it where it lies; host memory
 * is also copied to the device and compared there. Returns 0 with the number of wrong words in
 * *wrong, or a negative errno after one line.
 */
int memory_try(enum memory_call call, int64_t bytes, double *wrong);

/* ---- the pool of cudaMallocAsync (pool.c) ------------------------------------------------ */

/* NULL: the device knows this call, and what it is to be timed with; else why not. */
const char *memory_call_refused(enum memory_call call);

/* Keeps everything that is given back, or nothing beyond the next synchronize. */
void memory_pool_keep(bool keep);

/* Gives back what is not in use. */
void memory_pool_trim(void);

/* ---- on the device (touch.cu) ------------------------------------------------------------ */

void memory_load_kernels(void);

/* Enqueues: writes a word to each page, reads it back, and adds how many agree to *stamps. */
void memory_touch(void *p, size_t bytes, unsigned long long *stamps, cudaStream_t stream);

/* Enqueues a kernel that runs for so long and then adds 1 to *count. */
void memory_busy(unsigned long long ns, unsigned long long *count, cudaStream_t stream);

extern const struct workload workload_memory;

#ifdef __cplusplus
}
#endif
#endif
