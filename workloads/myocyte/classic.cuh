/*
 * classic.cuh - control=host: the pattern of the CUDA programs of 2009. For every piece of work
 * the host copies states in, launches, copies results out, and decides what comes next; every
 * call waits. Part of kernels.cuh.
 *
 * Pageable memory, synchronous copies and the legacy stream, as those programs have them. Two
 * copies each way: states and times in, results and outcomes out.
 */

/* Copies of one vector of all cells, [91][stride]. */
static size_t vector_bytes(const struct myocyte_cells *a)
{
	return STATES * (size_t)a->stride * sizeof(real);
}

static void copy_in(void *device, const void *host, size_t bytes)
{
	CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

static void copy_out(void *host, const void *device, size_t bytes)
{
	CUDA(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

static size_t outcomes_bytes(const struct myocyte_cells *a)
{
	return (size_t)a->stride * sizeof(*a->outcome);
}

static void classic_reset(const struct myocyte_cells *host)
{
	for (int64_t id = 0; id < host->cells; id++)
		reset_cell(*host, id);
}

/* The host's h is the step that it means to take; what it tries goes to the device instead. */
static void classic_attempt(const struct myocyte_cells *host, const struct myocyte_cells *device)
{
	size_t given_bytes = 2 * (size_t)host->stride * sizeof(double);

	for (int64_t id = 0; id < host->cells; id++) {
		struct plan plan = next_plan(*host, id);

		host->given[id] = plan.step.t;
		host->given[host->stride + id] = plan.step.h;
	}
	copy_in(device->y, host->y, vector_bytes(host));
	copy_in(device->t, host->given, given_bytes);
	launch_attempt(device, 1, NULL);
	copy_out(host->trial, device->trial, vector_bytes(host));
	copy_out(host->outcome, device->outcome, outcomes_bytes(host));
	for (int64_t id = 0; id < host->cells; id++)
		settle_step(*host, cell_at(*host, id), id, plan_step(*host, id), host->outcome[id]);
}

/* One right-hand side of every cell, on the device; the stage sums are made here. */
static void classic_stage(const struct myocyte_cells *host, const struct myocyte_cells *device,
			  int s)
{
	for (int64_t id = 0; id < host->cells; id++) {
		struct step step = (s ? plan_step(*host, id) : next_plan(*host, id)).step;

		if (s)
			prepare_stage(cell_at(*host, id), s, step.h);
		host->given[id] = stage_time(step, s);
	}
	copy_in(device->y, s ? host->trial : host->y, vector_bytes(host));
	copy_in(device->t, host->given, (size_t)host->stride * sizeof(double));
	launch_derivatives(device, NULL);
	copy_out((real *)host->k + s * (int64_t)STATES * host->stride, device->k,
		 vector_bytes(host));
	copy_out(host->outcome, device->outcome, outcomes_bytes(host));
}

static void classic_stages(const struct myocyte_cells *host, const struct myocyte_cells *device)
{
	for (int s = 0; s < stage_count(*host); s++)
		classic_stage(host, device, s);
	for (int64_t id = 0; id < host->cells; id++) {
		struct plan plan = plan_step(*host, id);
		struct cell c = cell_at(*host, id);

		settle_step(*host, c, id, plan, combine_stages(*host, c, plan.step));
	}
}
