/* app_plot.c - the picture of `rift run transfer --plot`: time and rate over size, and blocks. */
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/transfer/measure.h"

enum { H2D_PINNED, H2D_PAGEABLE, D2H_PINNED = 3 };

struct blocks {
	int n;
	int64_t bytes[MEASURE_BLOCKS + 1];
	struct measure_time time[MEASURE_BLOCKS + 1];
};

struct pictured {
	struct measure_plan plan;
	struct measure_series series[MEASURE_KINDS];
	struct blocks blocks[2]; /* to the device, to the host; pinned */
};

static int measure_kind(struct pictured *p, int kind)
{
	const struct measure_kind *k = &transfer_kinds[kind];
	struct transfer_opts o = transfer_kind_opts(k, transfer_largest(&p->plan));
	struct blocks *b = &p->blocks[kind == D2H_PINNED];
	struct transfer_state s = { .bytes = 0 };
	int err = transfer_prepare(&o, &s, true);

	if (!err)
		err = transfer_measure_kind(k, &s, &p->plan, &p->series[kind]);
	if (!err && (kind == H2D_PINNED || kind == D2H_PINNED))
		err = transfer_measure_blocks(k, &s, &p->plan, b->bytes, b->time, &b->n);
	CUDA(cudaStreamSynchronize(p->plan.stream));
	transfer_teardown(&s);
	return err;
}

static double fitted_time(const struct two_lines *fit, double bytes)
{
	const struct line *l = bytes >= fit->knee ? &fit->high : &fit->low;

	return l->fixed + l->slope * bytes;
}

static int write_sizes(const struct pictured *p, struct plot *plot)
{
	struct output out;
	int err = plot_open(plot, "sizes", "-sizes.csv", &out);

	if (err)
		return err;
	fputs("kind,bytes,copy_us,call_us,GB_per_s,fitted_us,n\n", out.file);
	for (int k = 0; k < MEASURE_KINDS; k++)
		for (int i = 0; i < p->plan.sizes; i++) {
			const struct measure_series *m = &p->series[k];
			double row[] = { k + 1,
					 m->bytes[i],
					 m->us[i],
					 m->time[i].call_us,
					 transfer_rate(m->us[i] / m->bytes[i]),
					 fitted_time(&m->fit, m->bytes[i]),
					 (double)m->time[i].n };

			output_numbers(&out, row, sizeof(row) / sizeof(*row));
		}
	return output_commit(&out);
}

static int write_blocks(const struct pictured *p, struct plot *plot)
{
	struct output out;
	int err = plot_open(plot, "blocks", "-blocks.csv", &out);

	if (err)
		return err;
	fputs("series,block_bytes,copy_us,over_whole,n\n", out.file);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < p->blocks[k].n; i++) {
			const struct blocks *b = &p->blocks[k];
			double row[] = { k + 1, (double)b->bytes[i], b->time[i].total_us,
					 b->time[i].total_us / b->time[b->n - 1].total_us,
					 (double)b->time[i].n };

			output_numbers(&out, row, sizeof(row) / sizeof(*row));
		}
	return output_commit(&out);
}

struct size {
	char s[32];
};

struct words {
	char s[80];
};

static struct size size_words(int64_t bytes)
{
	struct size w;

	if (bytes >= 1 << 20)
		snprintf(w.s, sizeof(w.s), "%ld MiB", (long)(bytes >> 20));
	else
		snprintf(w.s, sizeof(w.s), "%ld KiB", (long)(bytes >> 10));
	return w;
}

/* The smallest block from which on no block costs more than 5 %. */
static struct words blocks_words(const struct blocks *b)
{
	int i = b->n - 1;
	struct words w;

	while (i > 0 && b->time[i - 1].total_us <= 1.05 * b->time[b->n - 1].total_us)
		i--;
	if (i == b->n - 1)
		snprintf(w.s, sizeof(w.s), "more than 5 %% longer at every size");
	else
		snprintf(w.s, sizeof(w.s), "at most 5 %% longer from %s on",
			 size_words(b->bytes[i]).s);
	return w;
}

static void set_texts(const struct pictured *p, struct plot *plot)
{
	const struct measure_series *pinned = &p->series[H2D_PINNED];
	const struct measure_series *pageable = &p->series[H2D_PAGEABLE];

	plot_text(plot, "title",
		  "4 bytes take %.2g µs to the device; large copies go at %.3g GB/s, pageable ones "
		  "at %.3g",
		  pinned->us[0], transfer_rate(pinned->fit.high.slope),
		  transfer_rate(pageable->fit.high.slope));
	plot_text(plot, "finding", "%s in blocks: to the device %s; to the host %s",
		  size_words(transfer_largest(&p->plan)).s, blocks_words(&p->blocks[0]).s,
		  blocks_words(&p->blocks[1]).s);
	plot_text(
		plot, "made1",
		"A copy and a synchronize, medians of 5 to 101 samples of one process, every byte "
		"checked. Lines: fitted; dotted: the call alone");
	plot_text(plot, "made2", "computed on: %.80s", plot->device);
	plot->script = "workloads/transfer/plot.gp";
}

int transfer_plot(const void *opts, void *state, struct plot *plot)
{
	struct pictured *p = calloc(1, sizeof(*p));
	cudaStream_t stream;
	int err = 0;

	(void)opts;
	(void)state;
	CHECK(p, "memory of a picture");
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	p->plan = transfer_measure_plan(false, stream);
	for (int k = 0; k < MEASURE_KINDS && !err; k++)
		err = measure_kind(p, k);
	if (!err)
		err = write_sizes(p, plot);
	if (!err)
		err = write_blocks(p, plot);
	if (!err)
		set_texts(p, plot);
	CUDA(cudaStreamDestroy(stream));
	free(p);
	return err;
}
