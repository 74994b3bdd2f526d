/* app_plot.c - the picture of `rift run memory --plot`: what each call costs, over sizes. */
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/memory/measure.h"

enum { SIZES = 8, PAIRS = 5, TOUCH = PAIRS, SERIES = PAIRS + 2, AT_1M = 3 };

static const int64_t sizes[SIZES] = { 1,       4 << 10,	 64 << 10,  1 << 20,
				      2 << 20, 16 << 20, 256 << 20, 1 << 30 };

struct pictured {
	struct measure_plan plan;
	int n; /* sizes that fit the device */
	struct measure_pair pair[SERIES][SIZES];
};

static bool fits_device(int64_t bytes)
{
	size_t free_bytes, total;

	CUDA(cudaMemGetInfo(&free_bytes, &total));
	return bytes <= 64 << 10 || (int64_t)free_bytes / 10 * 8 > bytes;
}

static int measure_size(struct pictured *p, int i)
{
	int err = 0;

	for (int call = 0; call < PAIRS && !err; call++)
		if (!memory_call_refused((enum memory_call)call))
			err = memory_measure_pair(&p->plan, (enum memory_call)call, sizes[i], 0,
						  &p->pair[call][i]);
	for (int host = 0; host < 2 && !err; host++)
		err = memory_measure_touch(&p->plan, !host, sizes[i], &p->pair[TOUCH + host][i]);
	return err;
}

/* Series 1 to 5 in the order of enum memory_call, 6 and 7: memory of device, host touched. */
static int write_sizes(const struct pictured *p, struct plot *plot)
{
	struct output out;
	int err = plot_open(plot, "sizes", "-sizes.csv", &out);

	if (err)
		return err;
	fputs("series,bytes,take_us,take_p99_us,give_us,give_p99_us,n\n", out.file);
	for (int k = 0; k < SERIES; k++)
		for (int i = 0; i < p->n; i++) {
			const struct measure_pair *m = &p->pair[k][i];
			double row[] = {
				k + 1,		(double)sizes[i], m->take.median,   m->take.p99,
				m->give.median, m->give.p99,	  (double)m->take.n
			};

			if (m->take.n)
				output_numbers(&out, row, sizeof(row) / sizeof(*row));
		}
	return output_commit(&out);
}

static void set_texts(const struct pictured *p, struct plot *plot)
{
	const struct measure_pair *malloc = &p->pair[MEMORY_MALLOC][AT_1M];
	const struct measure_pair *async = &p->pair[MEMORY_ASYNC][AT_1M];

	plot_text(plot, "title", "1 MiB: cudaMalloc and cudaFree take %.3g µs, from a pool %.3g µs",
		  malloc->take.median + malloc->give.median,
		  async->take.median + async->give.median);
	plot_text(
		plot, "finding",
		"Pinning 1 MiB of the host takes %.3g µs (cudaMallocHost), registering it %.3g µs; "
		"its first touch %.3g µs, the next %.3g µs",
		p->pair[MEMORY_PINNED][AT_1M].take.median,
		p->pair[MEMORY_REGISTER][AT_1M].take.median, p->pair[TOUCH + 1][AT_1M].take.median,
		p->pair[TOUCH + 1][AT_1M].give.median);
	plot_text(plot, "made1",
		  "Single calls on an idle device, medians of 5 to 500 of one process. Hollow: "
		  "giving "
		  "back, or the next touch; dotted: 99th percentile");
	plot_text(plot, "made2", "computed on: %.80s", plot->device);
	plot_count(plot, "misses", p->pair[MEMORY_MISS][0].take.n > 0);
	plot->script = "workloads/memory/plot.gp";
}

int memory_plot(const void *opts, void *state, struct plot *plot)
{
	struct pictured *p = calloc(1, sizeof(*p));
	int err = 0, end;

	(void)opts;
	(void)state;
	CHECK(p, "memory of a picture");
	memory_measure_init(&p->plan, true);
	while (p->n < SIZES && fits_device(sizes[p->n]) && !err)
		err = measure_size(p, p->n++);
	end = memory_measure_release(&p->plan);
	err = err ? err : end;
	if (!err)
		err = write_sizes(p, plot);
	if (!err)
		set_texts(p, plot);
	free(p);
	return err;
}
