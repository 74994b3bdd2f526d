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

/* direction and memory are words of the complaint. */
static int check_steps(const struct transfer_opts *o, struct transfer_state *s,
		       const char *direction, const char *memory)
{
	struct verdict v = { .full = true };
	int err = transfer_check(o, s, s->steps, &v);

	if (!err && !v.passed)
		err = complain(EIO, "%s %s, %ld bytes: %s", direction, memory, (long)o->bytes,
			       v.worst);
	return err;
}

/* Times one of what is measured, in two parts. Returns 0, or a negative errno. */
typedef int time_once(void *arg, int64_t *first_ns, int64_t *second_ns);

/* Medians of both parts, warm, in us; *n samples. */
static int take_samples(const struct measure_plan *p, time_once *once, void *arg, double us[2],
			int64_t *n)
{
	int64_t ns[2][SAMPLES_MAX], begin = timing_now_ns();
	int taken = 0, err = 0;

	for (int i = 0; !is_warm(i, begin) && !err; i++)
		err = once(arg, &ns[0][0], &ns[1][0]);
	begin = timing_now_ns();
	for (taken = 0; taken < SAMPLES_MAX && !err; taken++) {
		if (taken >= SAMPLES_MIN && timing_now_ns() - begin > p->budget_ns)
			break;
		err = once(arg, &ns[0][taken], &ns[1][taken]);
	}
	if (err)
		return err;
	for (int part = 0; part < 2; part++)
		us[part] = 1e-3 * timing_median(ns[part], taken);
	*n = taken;
	return 0;
}

struct steps_job {
	const struct transfer_opts *o;
	struct transfer_state *s;
	int depth;
	cudaStream_t stream;
};

static int time_steps(void *arg, int64_t *call_ns, int64_t *total_ns)
{
	const struct steps_job *job = arg;

	return time_block(job->o, job->s, job->depth, job->stream, call_ns, total_ns);
}

int transfer_measure_steps(const struct transfer_opts *o, struct transfer_state *s, int depth,
			   const struct measure_plan *p, struct measure_time *out)
{
	struct steps_job job = { o, s, depth, p->stream };
	double us[2];
	int64_t n;
	int err;

	transfer_lay_out(s, o->bytes, depth > SLOTS ? depth : SLOTS);
	err = take_samples(p, time_steps, &job, us, &n);
	if (!err)
		err = check_steps(o, s, transfer_dirs[o->dir], transfer_hosts[o->host]);
	if (!err)
		*out = (struct measure_time){ .total_us = us[1] / depth,
					      .call_us = us[0] / depth,
					      .n = n };
	return err;
}

/* ---- copies in turn --------------------------------------------------------------------- */

struct turns_job {
	struct transfer_state *s;
	char *block; /* of the host */
	cudaStream_t stream;
};

static void copy_and_wait(const struct turns_job *job, char *dst, const char *src,
			  enum cudaMemcpyKind kind)
{
	CUDA(cudaMemcpyAsync(dst, src, (size_t)job->s->bytes, kind, job->stream));
	CUDA(cudaStreamSynchronize(job->stream));
}

/* What comes from the next source into the block goes from there to the next slot. */
static int time_turn(void *arg, int64_t *back_ns, int64_t *there_ns)
{
	struct turns_job *job = arg;
	struct transfer_place place = transfer_next(job->s);
	int64_t begin = timing_now_ns(), between;

	copy_and_wait(job, job->block, place.src, cudaMemcpyDeviceToHost);
	between = timing_now_ns();
	copy_and_wait(job, place.dst, job->block, cudaMemcpyHostToDevice);
	*back_ns = between - begin;
	*there_ns = timing_now_ns() - between;
	job->s->copies++;
	job->s->steps++;
	return interrupted() ? -EINTR : 0;
}

int transfer_measure_turns(int64_t bytes, struct transfer_state *s, char *block,
			   const struct measure_plan *p, struct measure_turns *out)
{
	struct transfer_opts o = { .bytes = bytes, .dir = TRANSFER_D2D, .host = TRANSFER_PAGEABLE };
	struct turns_job job = { s, block, p->stream };
	double us[2];
	int err;

	transfer_lay_out(s, bytes, SLOTS);
	err = take_samples(p, time_turn, &job, us, &out->n);
	if (!err)
		err = check_steps(&o, s, "in turn", "pageable");
	if (err)
		return err;
	out->to_host_us = us[0];
	out->to_device_us = us[1];
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
