/* measure.c - copies of all sizes and kinds, timed and checked. */
#include "workloads/transfer/measure.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/timing.h"

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 101, SLOTS = 8 };
enum { WARMUP_MIN = 3, WARMUP_MAX = 50, WARMUP_NS = 500000 };
enum { SIZES_QUICK = 12, BLOCK_LEAST = 64 << 10 };

const struct measure_kind transfer_kinds[MEASURE_KINDS] = {
	{ "h2d pinned", TRANSFER_H2D, TRANSFER_PINNED },
	{ "h2d pageable", TRANSFER_H2D, TRANSFER_PAGEABLE },
	{ "h2d registered", TRANSFER_H2D, TRANSFER_REGISTERED },
	{ "d2h pinned", TRANSFER_D2H, TRANSFER_PINNED },
	{ "d2h pageable", TRANSFER_D2H, TRANSFER_PAGEABLE },
	{ "d2h registered", TRANSFER_D2H, TRANSFER_REGISTERED },
	{ "d2d", TRANSFER_D2D, TRANSFER_PINNED },
};

struct measure_plan transfer_measure_plan(bool quick, cudaStream_t stream)
{
	return (struct measure_plan){ .sizes = quick ? SIZES_QUICK : MEASURE_SIZES,
				      .budget_ns = quick ? 3000000 : 30000000,
				      .stream = stream };
}

static int64_t nth_size(int i)
{
	return 4ll << 2 * i;
}

int64_t transfer_largest(const struct measure_plan *p)
{
	return nth_size(p->sizes - 1);
}

double transfer_rate(double us_per_byte)
{
	return 1e-3 / us_per_byte;
}

struct transfer_opts transfer_kind_opts(const struct measure_kind *kind, int64_t bytes)
{
	return (struct transfer_opts){ .bytes = bytes, .dir = kind->dir, .host = kind->host };
}

/* ---- one size --------------------------------------------------------------------------- */

static int time_block(const struct transfer_opts *o, struct transfer_state *s, int depth,
		      cudaStream_t stream, int64_t *call_ns, int64_t *total_ns)
{
	struct transfer_place place = transfer_next(s);
	int64_t begin = timing_now_ns();
	int err = 0;

	for (int i = 0; i < depth && !err; i++) {
		place = i ? transfer_next(s) : place; /* a single call is timed alone */
		err = transfer_copy(o, s, place, stream);
	}
	*call_ns = timing_now_ns() - begin;
	/* cudaMemcpy may return before its bytes are there: the next one would wait for them */
	CUDA(o->call == TRANSFER_SYNC ? cudaDeviceSynchronize() : cudaStreamSynchronize(stream));
	*total_ns = timing_now_ns() - begin;
	return err ? err : interrupted() ? -EINTR : 0;
}

/* Small copies are so quick that three of them wake nobody. */
static bool is_warm(int done, int64_t since_ns)
{
	return done >= WARMUP_MAX || (done >= WARMUP_MIN && timing_now_ns() - since_ns > WARMUP_NS);
}

static int check_steps(const struct transfer_opts *o, struct transfer_state *s)
{
	struct verdict v = { .full = true };
	int err = transfer_check(o, s, s->steps, &v);

	if (!err && !v.passed)
		err = complain(EIO, "%s %s, %ld bytes: %s", transfer_dirs[o->dir],
			       transfer_hosts[o->host], (long)o->bytes, v.worst);
	return err;
}

int transfer_measure_steps(const struct transfer_opts *o, struct transfer_state *s, int depth,
			   const struct measure_plan *p, struct measure_time *out)
{
	int64_t call_ns[SAMPLES_MAX], total_ns[SAMPLES_MAX], begin;
	int n = 0, err = 0;

	transfer_lay_out(s, o->bytes, depth > SLOTS ? depth : SLOTS);
	begin = timing_now_ns();
	for (int i = 0; !is_warm(i, begin) && !err; i++)
		err = time_block(o, s, depth, p->stream, &call_ns[0], &total_ns[0]);
	begin = timing_now_ns();
	for (n = 0; n < SAMPLES_MAX && !err; n++) {
		if (n >= SAMPLES_MIN && timing_now_ns() - begin > p->budget_ns)
			break;
		err = time_block(o, s, depth, p->stream, &call_ns[n], &total_ns[n]);
	}
	if (!err)
		err = check_steps(o, s);
	if (err)
		return err;
	*out = (struct measure_time){ .total_us = 1e-3 * timing_median(total_ns, n) / depth,
				      .call_us = 1e-3 * timing_median(call_ns, n) / depth,
				      .n = n };
	return 0;
}

/* ---- series ----------------------------------------------------------------------------- */

int transfer_measure_kind(const struct measure_kind *kind, struct transfer_state *s,
			  const struct measure_plan *p, struct measure_series *out)
{
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->kind = kind;
	out->sizes = p->sizes;
	for (int i = 0; i < p->sizes && !err; i++) {
		struct transfer_opts o = transfer_kind_opts(kind, nth_size(i));

		err = transfer_measure_steps(&o, s, 1, p, &out->time[i]);
		out->bytes[i] = (double)o.bytes;
		out->us[i] = out->time[i].total_us;
	}
	if (!err)
		out->fit = two_lines_fit(out->bytes, out->us, out->sizes);
	return err;
}

int transfer_measure_blocks(const struct measure_kind *kind, struct transfer_state *s,
			    const struct measure_plan *p, int64_t *block, struct measure_time *time,
			    int *n)
{
	int64_t largest = transfer_largest(p);
	int err = 0;

	*n = 0;
	for (int64_t b = BLOCK_LEAST; b <= largest && !err; b *= 2) {
		struct transfer_opts o = transfer_kind_opts(kind, largest);

		CHECK(*n <= MEASURE_BLOCKS, "%d blocks", *n);
		o.split = b;
		block[*n] = b;
		err = transfer_measure_steps(&o, s, 1, p, &time[(*n)++]);
	}
	return err;
}
