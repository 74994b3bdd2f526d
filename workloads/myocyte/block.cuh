/* block.cuh - spread=block: a block for each cell. Part of kernels.cuh. */

static void attempt_in_blocks(const struct myocyte_cells *, int64_t, cudaStream_t)
{
	CHECK(false, "spread=block");
}
