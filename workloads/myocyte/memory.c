/* memory.c - memory of the cells: on the device, and beside it on the host for control=host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/myocyte/myocyte.h"

/* An array of the cells: where its pointer stands, and its bytes, for each cell or once. */
struct array {
	void **at;
	size_t each, once;
};

enum { ARRAYS = 11 };

/* Derivatives that an attempt leaves in device memory: a block has its own on the chip. */
static size_t stages_kept(const struct myocyte_cells *c)
{
	if (c->states_only)
		return 1;
	return c->spread > MYOCYTE_THREAD ? 0 : MYOCYTE_STAGES;
}

/* Those of no bytes are not needed. t and h are one piece, so h is not among them. */
static void list_arrays(struct myocyte_cells *c, struct array list[ARRAYS])
{
	size_t real = myocyte_real_bytes(c), vector = MYOCYTE_STATES * real;
	size_t stages = stages_kept(c);
	const struct array all[ARRAYS] = {
		{ &c->y, vector, 0 },
		{ (void **)&c->t, 2 * sizeof(double), 0 },
		{ (void **)&c->taken, sizeof(double), 0 },
		{ (void **)&c->count, MYOCYTE_COUNTS * sizeof(*c->count), 0 },
		{ &c->end, vector, 0 },
		{ &c->p, MYOCYTE_PARAMS * real, 0 },
		{ &c->trial, stages ? vector : 0, 0 },
		{ &c->k, stages * vector, 0 },
		{ &c->before, c->solver == MYOCYTE_AS_RODINIA ? vector : 0, 0 },
		{ (void **)&c->outcome, c->by_host ? sizeof(*c->outcome) : 0, 0 },
		{ (void **)&c->start, 0, MYOCYTE_STATES * sizeof(double) },
	};

	memcpy(list, all, sizeof(all));
}

size_t myocyte_cell_bytes(const struct myocyte_cells *cells)
{
	struct myocyte_cells c = *cells;
	struct array list[ARRAYS];
	size_t bytes = 0;

	list_arrays(&c, list);
	for (int i = 0; i < ARRAYS; i++)
		bytes += list[i].each;
	return bytes;
}

static size_t array_bytes(const struct array *a, const struct myocyte_cells *c)
{
	return a->each * (size_t)c->stride + a->once;
}

/* ---- on the device --------------------------------------------------------------------- */

/* Left free: cells that are read back, rows, rounding of the allocations. */
static const size_t spare_bytes = 16 << 20;

static int refuse_cells(const struct myocyte_cells *c, size_t free_bytes)
{
	const double GiB = 1 << 30;
	size_t left = free_bytes > spare_bytes ? free_bytes - spare_bytes : 0;
	size_t each = myocyte_cell_bytes(c);

	return complain(ENOMEM,
			"cells=%ld needs %.1f GiB on the device, which has %.1f GiB free; at most "
			"%zu cells fit",
			(long)c->cells, (double)c->cells * (double)each / GiB,
			(double)free_bytes / GiB, left / each);
}

static size_t free_memory(void)
{
	size_t free_bytes, total_bytes;

	CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
	return free_bytes;
}

/* The sum fits, by what the device says: it is in pieces, or the host behind it lacks memory. */
static int refuse_piece(const struct myocyte_cells *c, size_t bytes, cudaError_t why)
{
	const double MiB = 1 << 20;

	return complain(
		ENOMEM,
		"cells=%ld: the device refuses %.1f MiB in one piece (%s), although it says "
		"that %.1f MiB are free; fewer cells may fit",
		(long)c->cells, (double)bytes / MiB, cudaGetErrorString(why),
		(double)free_memory() / MiB);
}

int myocyte_allocate(struct myocyte_cells *c)
{
	struct array list[ARRAYS];
	size_t free_bytes = free_memory();

	if ((size_t)c->cells * myocyte_cell_bytes(c) + spare_bytes > free_bytes)
		return refuse_cells(c, free_bytes);
	list_arrays(c, list);
	for (int i = 0; i < ARRAYS; i++) {
		size_t bytes = array_bytes(&list[i], c);
		cudaError_t why = bytes ? cudaMalloc(list[i].at, bytes) : cudaSuccess;

		if (!why)
			continue;
		cudaGetLastError();
		*list[i].at = NULL;
		myocyte_free(c);
		return refuse_piece(c, bytes, why);
	}
	c->h = c->t ? c->t + c->stride : NULL;
	return 0;
}

void myocyte_free(struct myocyte_cells *c)
{
	struct array list[ARRAYS];

	list_arrays(c, list);
	for (int i = 0; i < ARRAYS; i++) {
		device_free(*list[i].at);
		*list[i].at = NULL;
	}
	c->h = NULL;
}

/* ---- on the host ----------------------------------------------------------------------- */

/* Plain memory, as the programs have it whose pattern control=host is. */
int myocyte_mirror(const struct myocyte_cells *device, struct myocyte_cells *host)
{
	struct array on_device[ARRAYS], on_host[ARRAYS];
	struct myocyte_cells d = *device;
	size_t bytes = 0;

	*host = *device;
	list_arrays(&d, on_device);
	list_arrays(host, on_host);
	for (int i = 0; i < ARRAYS; i++)
		*on_host[i].at = NULL;
	for (int i = 0; i < ARRAYS; i++) {
		bytes = array_bytes(&on_host[i], host);
		if (!bytes)
			continue;
		*on_host[i].at = calloc(1, bytes);
		if (!*on_host[i].at)
			return complain(ENOMEM, "cells=%ld: no %zu bytes of host memory",
					(long)host->cells, bytes);
		CUDA(cudaMemcpy(*on_host[i].at, *on_device[i].at, bytes, cudaMemcpyDeviceToHost));
	}
	host->h = host->t + host->stride;
	host->given = calloc(2 * (size_t)host->stride, sizeof(*host->given));
	CHECK(host->given, "%ld cells", (long)host->cells);
	return 0;
}

void myocyte_free_mirror(struct myocyte_cells *host)
{
	struct array list[ARRAYS];

	list_arrays(host, list);
	for (int i = 0; i < ARRAYS; i++)
		free(*list[i].at);
	free(host->given);
	*host = (struct myocyte_cells){ 0 };
}

/* ---- reading back ---------------------------------------------------------------------- */

int myocyte_read_cells(const struct myocyte_state *s, const int64_t *which, int64_t n,
		       struct myocyte_cell *out)
{
	struct myocyte_cell *cells = NULL;
	int64_t *list = NULL;
	int err;

	if (s->cells.by_host)
		myocyte_host_publish(&s->host, &s->cells);
	err = device_new(&cells, (size_t)n * sizeof(*cells), "%ld cells to read", (long)n);
	err = err ? err
		  : device_new(&list, (size_t)n * sizeof(*list), "%ld cells to read", (long)n);
	if (!err) {
		CUDA(cudaMemcpy(list, which, (size_t)n * sizeof(*list), cudaMemcpyHostToDevice));
		myocyte_gather(&s->cells, list, n, cells, NULL);
		CUDA(cudaMemcpy(out, cells, (size_t)n * sizeof(*out), cudaMemcpyDeviceToHost));
	}
	device_free(cells);
	device_free(list);
	return err;
}
