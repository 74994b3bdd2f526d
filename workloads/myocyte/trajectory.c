/*
 * trajectory.c - trajectory=OUT.csv: one cell over its span, a row at every output time.
 *
 * A run of its own, of that cell alone, after the timed ones: landing on output times takes
 * steps that a timed run must not pay for.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "workloads/myocyte/myocyte.h"

enum { BATCH = 256 }; /* attempts a launch: well under a second on any device */

struct tracer {
	const struct myocyte_opts *opts;
	struct myocyte_cells cells; /* the traced one is running, with rows */
	cudaStream_t stream;
	struct myocyte_row row[BATCH]; /* an attempt makes at most one */
	struct output *out;
	int64_t written;
	bool complete;
};

static void write_header(struct output *out)
{
	fputs("t", out->file);
	for (int i = 0; i < MYOCYTE_STATES; i++)
		fprintf(out->file, ",y%d", i);
	fputc('\n', out->file);
}

/* Writes up to the end of the span; what follows it in the batch is the next span's. */
static void write_rows(struct tracer *t, int64_t n)
{
	for (int64_t i = 0; i < n && !t->complete; i++) {
		output_numbers(t->out, &t->row[i].t, 1 + MYOCYTE_STATES);
		t->written++;
		t->complete = t->row[i].t >= t->opts->span;
	}
}

static int check_cell(const struct tracer *t)
{
	int64_t id = t->cells.first, lost = 0;
	double at = 0;

	CUDA(cudaMemcpy(&lost, t->cells.count + MYOCYTE_LOST * t->cells.stride + id, sizeof(lost),
			cudaMemcpyDeviceToHost));
	if (!lost || t->complete)
		return 0;
	CUDA(cudaMemcpy(&at, t->cells.t + id, sizeof(at), cudaMemcpyDeviceToHost));
	return complain(EDOM, "trajectory: cell %ld stops being finite before t=%g ms%s", (long)id,
			at, t->cells.fixed ? "; a shorter step= may help" : "");
}

/* Space for rows may be gone, memory being what cells= takes up. */
static int begin(struct tracer *t)
{
	struct myocyte_cells *c = &t->cells;

	if (cudaMalloc((void **)&c->rows, sizeof(t->row)) ||
	    cudaMalloc((void **)&c->n_rows, sizeof(*c->n_rows))) {
		cudaGetLastError();
		return complain(ENOMEM, "trajectory: no %zu bytes left on the device",
				sizeof(t->row));
	}
	CUDA(cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking));
	myocyte_start(c, t->stream);
	return 0;
}

static int run_batch(struct tracer *t)
{
	int64_t n = 0;

	CUDA(cudaMemsetAsync(t->cells.n_rows, 0, sizeof(n), t->stream));
	myocyte_attempt(&t->cells, BATCH, t->stream);
	CUDA(cudaStreamSynchronize(t->stream));
	CUDA(cudaMemcpy(&n, t->cells.n_rows, sizeof(n), cudaMemcpyDeviceToHost));
	CHECK(n >= 0 && n <= BATCH, "%ld rows", (long)n);
	CUDA(cudaMemcpy(t->row, t->cells.rows, (size_t)n * sizeof(*t->row),
			cudaMemcpyDeviceToHost));
	write_rows(t, n);
	return check_cell(t);
}

static void end(struct tracer *t)
{
	CUDA(cudaFree(t->cells.rows));
	CUDA(cudaFree(t->cells.n_rows));
	if (t->stream)
		CUDA(cudaStreamDestroy(t->stream));
}

/*
 * More attempts than a run can need. Adaptive: 54 a ms are usual, at the tightest tolerance
 * some hundred, and the step grows again from 1e-4 ms at the start.
 */
static double attempts_at_most(const struct myocyte_opts *o)
{
	double rows = myocyte_trajectory_rows(o);

	if (o->solver == MYOCYTE_FIXED)
		return 1000 + 1.01 * o->span / o->step + 3 * rows + 3 * o->span;
	return 1e5 + 1e4 * o->span + 100 * rows;
}

static int run(struct tracer *t)
{
	double limit = attempts_at_most(t->opts);
	int err = 0;

	for (double n = 0; !err && !t->complete; n += BATCH) {
		if (n > limit)
			return complain(EDOM,
					"trajectory: span=%g ms is not over after %.0f "
					"attempts; a larger tolerance= may help",
					t->opts->span, n);
		err = interrupted() ? -EINTR : run_batch(t);
		if (ferror(t->out->file))
			break; /* the commit says why */
	}
	return err;
}

int myocyte_write_trajectory(const struct myocyte_opts *o, struct myocyte_state *s, int64_t *rows)
{
	struct tracer *t = calloc(1, sizeof(*t));
	const double zero = 0;
	int err;

	CHECK(t, "%zu bytes", sizeof(*t));
	CHECK(s->output.file, "trajectory: setup opens it for one report");
	t->opts = o;
	t->out = &s->output;
	t->cells = s->cells;
	t->cells.first = o->trace;
	t->cells.running = 1;
	err = begin(t);
	if (!err) {
		write_header(t->out);
		fprintf(t->out->file, "%.17g,", zero);
		output_numbers(t->out, s->initial, MYOCYTE_STATES);
		t->written = 1;
		err = run(t);
	}
	end(t);
	*rows = t->written;
	free(t);
	return err ? err : output_commit(&s->output);
}
