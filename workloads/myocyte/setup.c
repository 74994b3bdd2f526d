/* setup.c - inputs and configuration of the myocyte workload. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/datafile.h"
#include "common/device.h"
#include "workloads/myocyte/myocyte.h"

/* path, or where the file of that name lies that comes with rift. */
static int find_file(const char *path, const char *name, char found[DATAFILE_PATH_BYTES])
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
	int err = find_file(o->initial, "workloads/myocyte/initial_state.csv", path);

	if (!err)
		err = myocyte_read_initial_state(path, s->initial);
	if (!err)
		err = find_file(o->parameters, "workloads/myocyte/parameters.csv", path);
	if (!err)
		err = myocyte_read_parameters(path, s->parameters);
	if (!err && !(s->parameters[0] >= 1e-3))
		err = complain(EINVAL, "%s: cycle length of %g ms: must be 0.001 or more", path,
			       s->parameters[0]);
	return err;
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

static void configure_cells(const struct myocyte_opts *o, struct myocyte_cells *c)
{
	c->cells = o->cells;
	c->stride = stride_for(o->cells);
	c->running = o->cells;
	c->single = o->precision == MYOCYTE_FLOAT;
	c->by_host = o->control == MYOCYTE_BY_HOST;
	c->overlaps = o->launch == PROGRAMMATIC_YES;
	c->solver = (enum myocyte_solver)o->solver;
	c->spread = myocyte_spread(o);
	c->benchmark = myocyte_equations(o) == MYOCYTE_RODINIA;
	c->guarded = c->solver == MYOCYTE_AS_RODINIA;
	c->span = o->span;
	c->tolerance = myocyte_tolerance(o);
	c->step = o->step;
	c->every = o->every;
}

/* Blocks that are too large for the device are given up where they were not asked for. */
static int fit_device(const struct myocyte_opts *o, struct myocyte_cells *c)
{
	size_t bytes = myocyte_shared_bytes(c);
	int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);

	if (bytes <= (size_t)most)
		return 0;
	if (o->solver == MYOCYTE_ROSENBROCK || o->spread != MYOCYTE_AUTO)
		return complain(
			ENOTSUP, "%s takes %zu bytes of shared memory a block; this device has %d",
			o->solver == MYOCYTE_ROSENBROCK ? "solver=rosenbrock" : "spread=warps",
			bytes, most);
	c->spread = MYOCYTE_CELL_A_BLOCK;
	return 0;
}

static int setup_cells(const struct myocyte_opts *o, struct myocyte_state *s)
{
	int err = o->trajectory ? output_create(&s->output, "trajectory", o->trajectory) : 0;

	if (!err)
		err = myocyte_allocate(&s->cells);
	if (err)
		return err;
	CUDA(cudaMemcpy(s->cells.start, s->initial, sizeof(s->initial), cudaMemcpyHostToDevice));
	myocyte_vary(&s->cells, s->parameters, o->jitter, (uint64_t)o->seed, NULL);
	CUDA(cudaDeviceSynchronize());
	return s->cells.by_host ? myocyte_mirror(&s->cells, &s->host) : 0;
}

int myocyte_setup(const void *opts, void *state)
{
	const struct myocyte_opts *o = opts;
	struct myocyte_state *s = state;
	int err = device_present();

	if (!err)
		err = programmatic_check((enum programmatic)o->launch);
	if (!err)
		err = read_inputs(o, s);
	if (err)
		return err;
	configure_cells(o, &s->cells);
	err = fit_device(o, &s->cells);
	if (err)
		return err;
	myocyte_load_kernels(&s->cells);
	return o->derivatives ? myocyte_setup_derivatives(o, s) : setup_cells(o, s);
}

void myocyte_teardown(void *state)
{
	struct myocyte_state *s = state;

	output_discard(&s->output);
	myocyte_free(&s->cells);
	myocyte_free_mirror(&s->host);
}
