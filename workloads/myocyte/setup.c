/* setup.c - inputs and device memory of the myocyte workload. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/datafile.h"
#include "workloads/myocyte/myocyte.h"

static int check_device(void)
{
	int n = 0;
	cudaError_t err = cudaGetDeviceCount(&n);

	if (!err && n)
		return 0;
	cudaGetLastError(); /* forget it: the next check is not about this */
	return complain(ENODEV, "no CUDA device: %s",
			err ? cudaGetErrorString(err) : "none is visible");
}

/* path, or where the file of that name lies that comes with rift. */
static int find(const char *path, const char *name, char found[DATAFILE_PATH_BYTES])
{
	if (!path)
		return datafile_find(name, found);
	if (strlen(path) >= DATAFILE_PATH_BYTES)
		return complain(ENAMETOOLONG, "%s: name of a file too long", path);
	strcpy(found, path);
	return 0;
}

static int read_inputs(const struct myocyte_opts *o, struct myocyte_state *s)
{
	char path[DATAFILE_PATH_BYTES];
	int err = find(o->initial, "workloads/myocyte/initial_state.csv", path);

	if (!err)
		err = myocyte_read_initial_state(path, s->initial);
	if (!err)
		err = find(o->parameters, "workloads/myocyte/parameters.csv", path);
	if (!err)
		err = myocyte_read_parameters(path, s->parameters);
	if (!err && !(s->parameters[0] >= 1e-3))
		err = complain(EINVAL, "%s: cycle length of %g ms: 0.001 or more is needed", path,
			       s->parameters[0]);
	return err;
}

/* ---- device memory --------------------------------------------------------------------- */

/* Left free: cells that are read back, rows, rounding of the allocations. */
static const size_t spare_bytes = 16 << 20;

static int refuse_cells(int64_t cells, size_t free_bytes)
{
	const double GiB = 1 << 30;
	size_t room = free_bytes > spare_bytes ? free_bytes - spare_bytes : 0;

	return complain(ENOMEM,
			"cells=%ld needs %.1f GiB on the device, which has %.1f GiB free; at most "
			"%zu cells fit",
			(long)cells, (double)cells * MYOCYTE_CELL_BYTES / GiB,
			(double)free_bytes / GiB, room / MYOCYTE_CELL_BYTES);
}

/* The sum fits, by what the device says: it is in pieces, or the host behind it lacks memory. */
static int refuse_piece(int64_t cells, size_t bytes, cudaError_t why, size_t free_bytes)
{
	const double MiB = 1 << 20;

	return complain(
		ENOMEM,
		"cells=%ld: the device refuses %.1f MiB in one piece (%s), although it says "
		"that %.1f MiB are free; fewer cells may fit",
		(long)cells, (double)bytes / MiB, cudaGetErrorString(why),
		(double)free_bytes / MiB);
}

int myocyte_allocate(struct myocyte_cells *c)
{
	size_t n = (size_t)c->stride;
	struct {
		void **at;
		size_t words;
	} arrays[] = {
		{ (void **)&c->y, MYOCYTE_STATES * n },
		{ (void **)&c->t, n },
		{ (void **)&c->h, n },
		{ (void **)&c->count, MYOCYTE_COUNTS * n },
		{ (void **)&c->end, MYOCYTE_STATES * n },
		{ (void **)&c->p, MYOCYTE_PARAMS * n },
		{ (void **)&c->trial, MYOCYTE_STATES * n },
		{ (void **)&c->k, MYOCYTE_STAGES * MYOCYTE_STATES * n },
		{ (void **)&c->start, MYOCYTE_STATES },
	};
	size_t free_bytes, total_bytes;
	cudaError_t why;

	CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
	if ((size_t)c->cells * MYOCYTE_CELL_BYTES + spare_bytes > free_bytes)
		return refuse_cells(c->cells, free_bytes);
	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		size_t bytes = arrays[i].words * sizeof(double);

		why = cudaMalloc(arrays[i].at, bytes);
		if (!why)
			continue;
		cudaGetLastError();
		*arrays[i].at = NULL;
		myocyte_free(c);
		CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
		return refuse_piece(c->cells, bytes, why, free_bytes);
	}
	return 0;
}

void myocyte_free(struct myocyte_cells *c)
{
	void *arrays[] = { c->y, c->t, c->h, c->count, c->end, c->p, c->trial, c->k, c->start };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		if (arrays[i])
			CUDA(cudaFree(arrays[i]));
	c->y = c->t = c->h = c->end = c->p = c->trial = c->k = c->start = NULL;
	c->count = NULL;
}

/* ---- cells ----------------------------------------------------------------------------- */

/*
 * States of a cell that lie a power of two apart share a few sets of a cache: 16 words more, an
 * aligned line of a GPU, spread them (a step of 1k cells on the CPU device: 27 ms before, 6 ms
 * after). Few cells fit a cache anyway and stay dense.
 */
static int64_t stride_for(int64_t cells)
{
	return cells % 256 ? cells : cells + 16;
}

static void configure(const struct myocyte_opts *o, struct myocyte_cells *c)
{
	c->cells = o->cells;
	c->stride = stride_for(o->cells);
	c->running = o->cells;
	c->fixed = o->solver == MYOCYTE_FIXED;
	c->benchmark = o->equations == MYOCYTE_RODINIA;
	c->span = o->span;
	c->tolerance = o->tolerance;
	c->step = o->step;
	c->every = o->every;
}

static int setup_cells(const struct myocyte_opts *o, struct myocyte_state *s)
{
	int err = o->trajectory ? output_open(&s->output, "trajectory", o->trajectory) : 0;

	if (!err)
		err = myocyte_allocate(&s->cells);
	if (err)
		return err;
	CUDA(cudaMemcpy(s->cells.start, s->initial, sizeof(s->initial), cudaMemcpyHostToDevice));
	myocyte_vary(&s->cells, s->parameters, o->jitter, (uint64_t)o->seed, NULL);
	CUDA(cudaDeviceSynchronize());
	return 0;
}

int myocyte_setup(const void *opts, void *state)
{
	const struct myocyte_opts *o = opts;
	struct myocyte_state *s = state;
	int err = check_device();

	if (!err)
		err = read_inputs(o, s);
	if (err)
		return err;
	myocyte_load_kernels();
	configure(o, &s->cells);
	return o->derivatives ? myocyte_setup_derivatives(o, s) : setup_cells(o, s);
}

void myocyte_teardown(void *state)
{
	struct myocyte_state *s = state;

	output_discard(&s->output);
	myocyte_free(&s->cells);
}

/* ---- reading back ---------------------------------------------------------------------- */

int myocyte_read_cells(const struct myocyte_state *s, const int64_t *which, int64_t n,
		       struct myocyte_cell *out)
{
	struct myocyte_cell *cells = NULL;
	int64_t *list = NULL;
	int err = 0;

	if (cudaMalloc((void **)&cells, (size_t)n * sizeof(*cells)) ||
	    cudaMalloc((void **)&list, (size_t)n * sizeof(*list))) {
		cudaGetLastError();
		err = complain(ENOMEM, "no %zu bytes left on the device to read %ld cells",
			       (size_t)n * (sizeof(*cells) + sizeof(*list)), (long)n);
	} else {
		CUDA(cudaMemcpy(list, which, (size_t)n * sizeof(*list), cudaMemcpyHostToDevice));
		myocyte_gather(&s->cells, list, n, cells, NULL);
		CUDA(cudaMemcpy(out, cells, (size_t)n * sizeof(*out), cudaMemcpyDeviceToHost));
	}
	CUDA(cudaFree(cells));
	CUDA(cudaFree(list));
	return err;
}
