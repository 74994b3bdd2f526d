/*
 * transfer.h - the transfer workload: copies between host and device, and nothing else.
 *
 * A step is one copy of `bytes`, in as many calls as `split` makes of it. Options and what they
 * mean: README.md.
 */
#ifndef RIFT_TRANSFER_H
#define RIFT_TRANSFER_H

#include <stdbool.h>

#include "common/pattern.h"
#include "workloads/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum transfer_dir { TRANSFER_H2D, TRANSFER_D2H, TRANSFER_D2D, TRANSFER_DIRS };
enum transfer_host { TRANSFER_PINNED, TRANSFER_PAGEABLE, TRANSFER_REGISTERED, TRANSFER_HOSTS };
enum transfer_call { TRANSFER_ASYNC, TRANSFER_SYNC, TRANSFER_KERNEL };
enum transfer_probe { TRANSFER_NO, TRANSFER_YES, TRANSFER_QUICK };

struct transfer_opts {
	int64_t bytes;
	int dir;  /* enum transfer_dir */
	int host; /* enum transfer_host */
	int call; /* enum transfer_call */
	int64_t split;
	int64_t stride; /* of TRANSFER_KERNEL, in words */
	int probe;	/* enum transfer_probe */
};

enum {
	TRANSFER_SLOTS_MAX = 64,    /* destinations in turn */
	TRANSFER_SOURCES = 61,	    /* sources in turn: a prime, so that a slot never gets the same
				     * bytes twice in a row */
	TRANSFER_SHIFT = 4096,	    /* bytes from one source to the next */
	TRANSFER_DEPTH_MAX = 64,    /* copies before a synchronize */
	TRANSFER_CALLS_MAX = 16384, /* calls that split may make of a step */
};

/* Memory at one end of the copies. */
struct transfer_end {
	char *base;
	size_t bytes;
	bool on_device;
	enum transfer_host host; /* counts on the host */
};

struct transfer_state {
	struct transfer_end src, dst;
	int64_t bytes;			    /* of a copy */
	size_t stride;			    /* from slot to slot, guard included */
	int slots;			    /* no multiple of TRANSFER_SOURCES */
	int64_t copies;			    /* since the slots were laid out */
	int64_t steps;			    /* since the reset */
	struct pattern_wrong *wrong;	    /* device memory, of checks */
	char (*names)[REPORT_ROWS_MAX][32]; /* of rows of a report */
};

/* Ends of a copy: a source with other bytes than the copy before, and the next slot. */
struct transfer_place {
	const char *src;
	char *dst;
};

struct transfer_place transfer_next(const struct transfer_state *s);

/* A step: the next copy, whole or in blocks. */
int transfer_copy(const struct transfer_opts *o, struct transfer_state *s,
		  struct transfer_place place, cudaStream_t stream);

/* ---- hooks, and what they share --------------------------------------------------------- */

int transfer_limits(const void *opts, struct limits *out);
int transfer_setup(const void *opts, void *state);
int transfer_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int transfer_report(const void *opts, void *state, struct report *out);
int transfer_plot(const void *opts, void *state, struct plot *plot);
void transfer_teardown(void *state);

/*
 * The part of setup that makes both ends; with all_sizes copies of fewer bytes may be laid out
 * later. Returns 0, or a negative errno after one line.
 */
int transfer_prepare(const struct transfer_opts *o, struct transfer_state *s, bool all_sizes);

/*
 * Copies of so many bytes from here on: at most so many slots of that size, all of their bytes
 * overwritten with what no copy brings. Nothing may be in flight. bytes is at most what setup was
 * for.
 */
void transfer_lay_out(struct transfer_state *s, int64_t bytes, int most);

/* Word of the pattern at which the source of copy number i begins. */
uint64_t transfer_source_word(int64_t i);

/* ---- on the device (kernels.cu) ---------------------------------------------------------- */

enum { TRANSFER_WORD = 4, TRANSFER_STRIDE_MAX = 1 << 20 };

void transfer_load_kernels(void);

/*
 * Enqueues a copy within the device by a kernel, in words of TRANSFER_WORD bytes: neighbouring
 * threads take words that are `stride` apart. Both ends are at multiples of a word.
 */
void transfer_kernel_copy(void *dst, const void *src, size_t bytes, int64_t stride,
			  cudaStream_t stream);

/* "pinned", ... */
extern const char *const transfer_hosts[];
extern const char *const transfer_dirs[];

extern const struct workload workload_transfer;

#ifdef __cplusplus
}
#endif
#endif
