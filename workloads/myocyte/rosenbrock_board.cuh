/*
 * rosenbrock_board.cuh - solver=rosenbrock: what the threads of a cell's block share beside the
 * board of the right-hand side. Part of kernels.cuh.
 */
#include "workloads/myocyte/rodas5p.cuh"
#include "workloads/myocyte/rosenbrock_pivots.cuh"

namespace myocyte
{
namespace
{
/* A matrix in registers: a piece of 4 x 6 for each of 24 x 16 threads, with a few more rows and
 * columns than there are states. */
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

/* Of a rate of a calmodulin module: factors that it has a derivative by. */
enum { FACTORS = 8, NO_STATE = 255 };

/* Row and column of a pivot. */
struct cross {
	real row[ORDER], column[ORDER], one_by_pivot;
};

struct stiff_board {
	struct board board;
	real J[STATES][STATES];		/* df_i/dy_j, 1/ms */
	real u[rodas5p::STAGES][ORDER]; /* of the stages so far */
	real right[ORDER];		/* right side of a stage; 0 behind the states */
	struct cross cross[2][GROUP];	/* of an elimination, by turns */
	real disturbance[STATES];
	real term[MYOCYTE_STIFF - rodas5p::STAGES + 1][TERMS]; /* of the board, by evaluation */
	real by_factor[MODULES][RATES][FACTORS];	       /* derivatives of rates */
	uint8_t factor[MODULES][RATES][FACTORS];	       /* by these states */
};

/* A board begins with that of the right-hand side. */
static __device__ inline struct stiff_board *stiff_board_of(struct board *b)
{
	return (struct stiff_board *)b;
}
} // namespace
} // namespace myocyte
