/*
 * rosenbrock_smem.cuh - solver=rosenbrock: shared memory beside that of the right-hand side. Part
 * of kernels.cuh.
 */
#include "workloads/myocyte/rodas5p.cuh"
#include "workloads/myocyte/rosenbrock_pivots.cuh"

namespace myocyte
{
namespace
{
/* A matrix in registers: a thread tile of 4 x 6 for each of 24 x 16 threads, with a few more rows
 * and columns than there are states. */
enum {
	TILE_ROWS = 4,
	TILE_COLUMNS = 6,
	DOWN = 24,
	ACROSS = 16,
	TILE_THREADS = DOWN * ACROSS,
	ORDER = TILE_ROWS * DOWN,
};
static_assert(int(ORDER) == TILE_COLUMNS * ACROSS && int(ORDER) >= int(STATES) &&
	      int(TILE_THREADS) <= int(BLOCK_THREADS));

/* Factors by which a rate of a calmodulin module has a derivative. */
enum { FACTORS = 8, NO_STATE = 255 };

/* Row and column of a pivot. */
struct cross {
	real row[ORDER], column[ORDER], one_by_pivot;
};

struct stiff_smem {
	struct block_smem block_smem;
	real J[STATES][STATES];		/* df_i/dy_j, 1/ms */
	real u[rodas5p::STAGES][ORDER]; /* of the stages so far */
	real right[ORDER];		/* right side of a stage; 0 behind the states */
	struct cross cross[2][GROUP];	/* of an elimination, by turns */
	real disturbance[STATES];
	real term[MYOCYTE_STIFF - rodas5p::STAGES + 1][TERMS]; /* block_smem.term, by evaluation */
	real by_factor[MODULES][RATES][FACTORS];	       /* derivatives of rates */
	uint8_t factor[MODULES][RATES][FACTORS];	       /* by these states */
};

/* The shared memory begins with that of the right-hand side. */
static __device__ inline struct stiff_smem *stiff_smem_at(struct block_smem *b)
{
	return (struct stiff_smem *)b;
}
} // namespace
} // namespace myocyte
