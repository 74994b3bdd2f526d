/* measure.h - copies of all sizes and kinds, timed and checked: for probe=yes and the picture. */
#ifndef RIFT_TRANSFER_MEASURE_H
#define RIFT_TRANSFER_MEASURE_H

#include "common/line.h"
#include "workloads/transfer/transfer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	MEASURE_KINDS = 7,
	MEASURE_SIZES = 14,  /* 4 B to 256 MiB by 4 */
	MEASURE_BLOCKS = 12, /* a large copy in blocks of 64 KiB to 128 MiB, by 2 */
	MEASURE_ROW = 64,    /* copies in a row */
};

/* A direction and a kind of memory of the host. */
struct measure_kind {
	const char *name; /* "h2d pinned" */
	enum transfer_dir dir;
	enum transfer_host host;
};

extern const struct measure_kind transfer_kinds[MEASURE_KINDS];

/* How long a copy took: medians of n. */
struct measure_time {
	double total_us; /* from the call to the return of a synchronize */
	double call_us;	 /* of that, the call; or the calls, each */
	int64_t n;
};

/* A copy to the host and one back to the device, each waited for: medians of n turns. */
struct measure_turns {
	double to_host_us, to_device_us;
	int64_t n;
};

struct measure_series {
	const struct measure_kind *kind;
	int sizes;
	double bytes[MEASURE_SIZES], us[MEASURE_SIZES]; /* us: total_us of time */
	struct measure_time time[MEASURE_SIZES];
	struct two_lines fit; /* us over bytes */
};

struct measure_plan {
	int sizes;	   /* of MEASURE_SIZES */
	int64_t budget_ns; /* of the samples of one size; at least 5 are taken */
	cudaStream_t stream;
};

struct measure_plan transfer_measure_plan(bool quick, cudaStream_t stream);

/* Bytes of the largest copy. */
int64_t transfer_largest(const struct measure_plan *p);

/*
 * Blocks of `depth` steps with these options, then their check. Lays *s out for o->bytes. Returns
 * 0, -EINTR, or -EIO after one line where a check fails.
 */
int transfer_measure_steps(const struct transfer_opts *o, struct transfer_state *s, int depth,
			   const struct measure_plan *p, struct measure_time *out);

/*
 * Copies of pageable memory in turn, through one block of the host that both directions share, then
 * their check: what came to the block last must be what goes on from it. *s is of
 * transfer_prepare() within the device, with all sizes; block has `bytes`. Returns as above; *out
 * counts only after 0.
 */
int transfer_measure_turns(int64_t bytes, struct transfer_state *s, char *block,
			   const struct measure_plan *p, struct measure_turns *out);

/* Options of copies of a kind. */
struct transfer_opts transfer_kind_opts(const struct measure_kind *kind, int64_t bytes);

/* All sizes of a kind. *s is of transfer_prepare() for the largest, with all sizes. */
int transfer_measure_kind(const struct measure_kind *kind, struct transfer_state *s,
			  const struct measure_plan *p, struct measure_series *out);

/*
 * The largest copy, whole and in blocks: time[i].total_us of blocks of block[i] bytes, the last of
 * which is the whole. Returns how many in *n.
 */
int transfer_measure_blocks(const struct measure_kind *kind, struct transfer_state *s,
			    const struct measure_plan *p, int64_t *block, struct measure_time *time,
			    int *n);

/* us for a byte to GB/s. */
double transfer_rate(double us_per_byte);

#ifdef __cplusplus
}
#endif
#endif
