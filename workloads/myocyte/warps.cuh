/* warps.cuh - spread=warps: a block for 32 cells, a warp for a part of the equations. Part of
 * kernels.cuh. */

static void attempt_in_warps(const struct myocyte_cells *, int64_t, cudaStream_t)
{
	CHECK(false, "spread=warps");
}
