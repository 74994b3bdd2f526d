/*
 * test_myocyte_memory.c - device memory of the myocyte workload: more cells than fit are refused,
 * and all that a run took is given back.
 */
#include "tests/plain.h"

#include <criterion/redirect.h>

#include "tests/ledger.h"
#include "tests/races.h"
#include "tests/on_cpu.h"
#include "workloads/myocyte/test_cells.h"

TestSuite(small_myocyte_memory, .timeout = 300);

/* What the device says is free; 0: what is. To fill it would be to fill it for others, too. */
static size_t is_free;

typedef cudaError_t free_fn(size_t *, size_t *);

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	cudaError_t err = ((free_fn *)ledger_next("cudaMemGetInfo"))(free_bytes, total_bytes);

	if (is_free)
		*free_bytes = is_free;
	return err;
}

Test(small_myocyte_memory, too_many_cells_are_refused_with_numbers)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_state s = { 0 };
	const struct myocyte_cells plain = { 0 };
	const char *text;

	need_device();
	is_free = MYOCYTE_CELLS_MAX / 2 * myocyte_cell_bytes(&plain);
	o.cells = MYOCYTE_CELLS_MAX;
	o.spread = MYOCYTE_THREAD;
	cr_redirect_stderr();
	cr_assert(workload_myocyte.setup(&o, &s) == -ENOMEM, "accepted");
	workload_myocyte.teardown(&s);
	text = captured_stderr();
	cr_assert(strstr(text, "cells=4194304 needs 46.") && strstr(text, "GiB free") &&
			  strstr(text, "cells fit"),
		  "%s", text);
	cr_assert(strchr(text, '\n') == text + strlen(text) - 1, "one line: %s", text);
	cr_assert(!*ledger_open(), "left: %s", ledger_open());
}

/* ---- a device whose blocks have little shared memory ------------------------------------- */

static bool small_blocks;

typedef cudaError_t attribute_fn(int *, enum cudaDeviceAttr, int);

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	attribute_fn *real = (attribute_fn *)ledger_next("cudaDeviceGetAttribute");

	if (!small_blocks || attribute != cudaDevAttrMaxSharedMemoryPerBlockOptin)
		return real(value, attribute, device);
	*value = 1024;
	return cudaSuccess;
}

static void is_refused(struct myocyte_opts o, const char *what)
{
	struct myocyte_state s = { 0 };
	const char *text;

	cr_redirect_stderr();
	cr_assert(workload_myocyte.setup(&o, &s) == -ENOTSUP, "%s is accepted", what);
	workload_myocyte.teardown(&s);
	text = captured_stderr();
	cr_assert(strstr(text, what) && strstr(text, " 1024"), "%s", text);
	cr_assert(strchr(text, '\n') == text + strlen(text) - 1, "one line: %s", text);
}

Test(small_myocyte_memory, warps_need_shared_memory)
{
	struct myocyte_opts o = default_opts();

	need_device();
	small_blocks = true;
	o.spread = MYOCYTE_CELLS_A_BLOCK;
	is_refused(o, "spread=warps ");
}

Test(small_myocyte_memory, rosenbrock_needs_shared_memory)
{
	struct myocyte_opts o = default_opts();

	need_device();
	small_blocks = true;
	o.solver = MYOCYTE_ROSENBROCK;
	is_refused(o, "solver=rosenbrock ");
}

/* On a GPU auto would take warps for so many; the CPU device's threads need no shared memory. */
Test(small_myocyte_memory, auto_gives_way)
{
	struct myocyte_opts o = default_opts();
	struct run *r;

	need_device();
	small_blocks = true;
	o.cells = RACES ? 2 : 400;
	cr_assert(myocyte_spread(&o) == (ON_CPU ? MYOCYTE_THREAD : MYOCYTE_CELLS_A_BLOCK),
		  "what auto would take: %d", (int)myocyte_spread(&o));
	r = run_begin(o);
	cr_assert(r->s.cells.spread != MYOCYTE_CELLS_A_BLOCK, "warps");
	cr_assert(!ON_CPU || r->s.cells.spread == MYOCYTE_THREAD, "%d", (int)r->s.cells.spread);
	run_end(r);
}

/* A run, a step of it captured, and its check. */
static void run_whole(struct myocyte_opts o)
{
	struct run *r = run_begin(o);
	cudaGraph_t graph;

	cr_assert(*ledger_open(), "a run takes nothing");
	CUDA(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeGlobal));
	cr_assert(!workload_myocyte.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamEndCapture(r->stream, &graph));
	CUDA(cudaGraphDestroy(graph));
	run_steps(r, 2);
	run_fused(r, 2);
	run_check(r, 4, true);
	run_end(r);
}

static void write_sized_file(const struct myocyte_opts *o)
{
	struct myocyte_state s = { 0 };
	struct report report = { 0 };

	cr_assert(!workload_myocyte.setup(o, &s), "setup");
	cr_assert(!workload_myocyte.report(o, &s, &report), "report");
	workload_myocyte.teardown(&s);
}

Test(small_myocyte_memory, teardown_takes_everything_back)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_state nothing = { 0 };

	need_device();
	workload_myocyte.teardown(&nothing);
	cr_assert(!*ledger_open(), "nothing: %s", ledger_open());
	o.cells = 3;
	run_whole(o);
	cr_assert(!*ledger_open(), "a run left: %s", ledger_open());
	o.span = 1;
	o.trajectory = file_here("trajectory.csv");
	write_sized_file(&o);
	cr_assert(!*ledger_open(), "a trajectory left: %s", ledger_open());
	o = default_opts();
	o.states = data_file("golden/derivatives.csv");
	o.derivatives = file_here("derivatives.csv");
	write_sized_file(&o);
	cr_assert(!*ledger_open(), "derivatives left: %s", ledger_open());
	remove_files();
}

/* Derivatives of stages stay on the chip: two vectors a cell are left, and its course. */
Test(small_myocyte_memory, a_block_needs_and_moves_less_than_threads)
{
	struct myocyte_state s = { .cells = { .spread = MYOCYTE_THREAD } };
	const enum myocyte_spread spreads[] = { MYOCYTE_CELL_A_BLOCK, MYOCYTE_CELLS_A_BLOCK };
	struct myocyte_opts o = default_opts();
	size_t thread = myocyte_cell_bytes(&s.cells);
	struct cost cost;

	for (int i = 0; i < 2; i++) {
		s.cells.spread = spreads[i];
		cr_assert(thread - myocyte_cell_bytes(&s.cells) ==
				  14 * MYOCYTE_STATES * sizeof(double),
			  "spread %d", i);
		o.cells = 10;
		cr_assert(!workload_myocyte.cost(&o, &s, &cost), "cost");
		cr_assert(cost.bytes_moved == 10 * ((2 * 91 + 16) * 8 + 128), "%g bytes",
			  cost.bytes_moved);
		cr_assert(cost.flops == 10 * (13 * 2761 + 91 * 144), "%g flops", cost.flops);
	}
}
