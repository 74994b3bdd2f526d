/*
 * app_trajectory.c - one cell over its span, row by row; trajectory=OUT.csv writes the rows.
 *
 * A run of its own, of that cell alone, after the timed ones: landing on output times takes
 * steps that a timed run must not pay for.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/interrupt.h"
#include "workloads/myocyte/myocyte.h"

enum { BATCH = 256 }; /* attempts a launch: well under a second on any device */

struct tracer {
	const struct myocyte_trace *job;
	struct myocyte_cells cells; /* the job's, with rows */
	cudaStream_t stream;
	struct myocyte_row row[BATCH]; /* an attempt makes at most one */
	double attempts, most;	       /* made; more than a run can need */
	bool complete;
};

/* Takes up to the end of the span; what follows it in the batch is the next span's. */
static void take_rows(struct tracer *t, int64_t n)
{
	for (int64_t i = 0; i < n && !t->complete; i++)
		t->complete =
			!t->job->take(t->job->arg, &t->row[i]) || t->row[i].t >= t->cells.span;
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
	return complain(EDOM, "%s stops being finite before t=%g ms%s", t->job->name, at,
			t->cells.solver == MYOCYTE_FIXED ? "; a shorter step= may help" : "");
}

/*
 * More attempts than a run can need. Adaptive: 54 a ms are usual, at the tightest tolerance
 * some hundred, and the step grows again from 1e-4 ms at the start.
 */
static double attempts_at_most(const struct myocyte_cells *c)
{
	double rows = 2 + c->span / c->every;

	if (c->solver == MYOCYTE_AS_RODINIA)
		return MYOCYTE_TRIES_MAX * (c->span + 1);
	if (c->solver == MYOCYTE_FIXED)
		return 1000 + 1.01 * c->span / c->step + 3 * rows + 3 * c->span;
	return 1e5 + 1e4 * c->span + 100 * rows;
}

/* Space for rows may be gone, memory being what cells= takes up. */
static int begin_trace(struct tracer *t, const struct myocyte_trace *job)
{
	struct myocyte_row start = { .t = 0 };
	struct myocyte_cells *c = &t->cells;

	t->job = job;
	*c = job->cells;
	c->running = 1;
	c->outcome = NULL; /* the device decides, whoever did in the timed run */
	c->rows = NULL;
	c->n_rows = NULL;
	t->most = attempts_at_most(c);
	if (device_new(&c->rows, sizeof(t->row), "%s", job->name) ||
	    device_new(&c->n_rows, sizeof(*c->n_rows), "%s", job->name))
		return -ENOMEM;
	CUDA(cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking));
	myocyte_start(c, t->stream);
	memcpy(start.y, job->initial, sizeof(start.y));
	t->complete = !job->take(job->arg, &start);
	return 0;
}

static void launch_batch(struct tracer *t)
{
	CUDA(cudaMemsetAsync(t->cells.n_rows, 0, sizeof(*t->cells.n_rows), t->stream));
	myocyte_attempt(&t->cells, BATCH, t->stream);
	t->attempts += BATCH;
}

static int finish_batch(struct tracer *t)
{
	int64_t n = 0;
	int err;

	CUDA(cudaStreamSynchronize(t->stream));
	CUDA(cudaMemcpy(&n, t->cells.n_rows, sizeof(n), cudaMemcpyDeviceToHost));
	CHECK(n >= 0 && n <= BATCH, "%ld rows", (long)n);
	CUDA(cudaMemcpy(t->row, t->cells.rows, (size_t)n * sizeof(*t->row),
			cudaMemcpyDeviceToHost));
	take_rows(t, n);
	err = check_cell(t);
	if (!err && !t->complete && t->attempts > t->most)
		err = complain(EDOM,
			       "%s: span=%g ms is not over after %.0f attempts; a larger "
			       "tolerance= may help",
			       t->job->name, t->cells.span, t->attempts);
	return err;
}

/* A batch of every trace that is not complete; how many those were, or an errno. */
static int run_batches(struct tracer *t, int n)
{
	int running = 0, err = 0;

	if (interrupted())
		return -EINTR;
	for (int i = 0; i < n; i++)
		if (!t[i].complete)
			launch_batch(&t[i]);
	for (int i = 0; i < n && !err; i++)
		if (!t[i].complete) {
			err = finish_batch(&t[i]);
			running++;
		}
	return err ? err : running;
}

static void end_trace(struct tracer *t)
{
	if (t->stream) {
		CUDA(cudaStreamSynchronize(t->stream));
		CUDA(cudaStreamDestroy(t->stream));
	}
	device_free(t->cells.rows);
	device_free(t->cells.n_rows);
}

int myocyte_run_traces(const struct myocyte_trace *traces, int n)
{
	struct tracer *t = calloc((size_t)n, sizeof(*t));
	int left = 0;

	CHECK(t, "%d traces", n);
	for (int i = 0; i < n && !left; i++)
		left = begin_trace(&t[i], &traces[i]);
	for (left = left ? left : n; left > 0;)
		left = run_batches(t, n);
	for (int i = 0; i < n; i++)
		end_trace(&t[i]);
	free(t);
	return left;
}

/* ---- trajectory= ------------------------------------------------------------------------ */

struct table {
	struct output *out;
	bool rodinia;
	int64_t rows;
};

/* The benchmark's rows: at "time" k the state is k - 1 + h, after so many attempts. */
static void write_header(struct output *out, bool rodinia)
{
	fputs(rodinia ? "k,x,h,attempts" : "t", out->file);
	for (int i = 0; i < MYOCYTE_STATES; i++)
		fprintf(out->file, ",y%d", i);
	fputc('\n', out->file);
}

/* After a failed write no more are tried: the commit says why. */
static bool write_row(void *arg, const struct myocyte_row *row)
{
	double x = row->attempts > 0 ? row->t - 1 + row->h : 0;
	struct table *table = arg;
	FILE *file = table->out->file;

	if (table->rodinia)
		fprintf(file, "%.17g,%.17g,%.17g,%.17g,", row->t, x, row->h, row->attempts);
	else
		fprintf(file, "%.17g,", row->t);
	output_numbers(table->out, row->y, MYOCYTE_STATES);
	table->rows++;
	return !ferror(table->out->file);
}

int myocyte_write_trajectory(const struct myocyte_opts *o, struct myocyte_state *s, int64_t *rows)
{
	struct table table = { .out = &s->output, .rodinia = o->solver == MYOCYTE_AS_RODINIA };
	struct myocyte_trace trace = {
		.cells = s->cells,
		.initial = s->initial,
		.take = write_row,
		.arg = &table,
	};
	int err;

	CHECK(s->output.file, "trajectory: setup opens it for one report");
	snprintf(trace.name, sizeof(trace.name), "trajectory: cell %ld", (long)o->trace);
	trace.cells.first = o->trace;
	write_header(table.out, table.rodinia);
	err = myocyte_run_traces(&trace, 1);
	*rows = table.rows;
	return err ? err : output_commit(&s->output);
}
