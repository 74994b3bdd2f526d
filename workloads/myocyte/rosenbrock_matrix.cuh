/*
 * rosenbrock_matrix.cuh - solver=rosenbrock: the inverse of 1/(gamma h) - J, in registers of the
 * block, and its product with a vector. Part of kernels.cuh.
 *
 * A step has eight systems of this one matrix. With factors each would be 182 dependent rows; with
 * the inverse it is one product, which all threads share. An inverse that is a little off acts as
 * if J were off by as little.
 *
 * There is no search for pivots. The model is made of reactions: their matrix is dominated by its
 * diagonal in units of its own for each state, and scaling does not change what elimination does.
 * What is left, the gain of an upstroke, needs steps so short that 1/(gamma h) dominates. A pivot
 * of 0 makes numbers that are not finite, and the attempt is rejected with them.
 */
namespace myocyte
{
namespace
{
/* Rows down, down + 24, .. and columns across, across + 16, .. */
struct tile {
	real w[TILE_ROWS][TILE_COLUMNS];
};

struct tile_position {
	int down, across;
	bool idle; /* a thread that has no tile */
};

static __device__ inline struct tile_position thread_tile_position()
{
	int i = (int)threadIdx.x;

	return { i / ACROSS, i % ACROSS, i >= TILE_THREADS };
}

/* 1/(gamma h) - J, and ones on the diagonal behind the states. */
static __device__ inline void load_shifted(const struct tile_position &at,
					   const struct stiff_smem *s, real h, struct tile *t)
{
	real shift = 1 / (real(rodas5p::gamma) * h);

	for (int r = 0; r < TILE_ROWS; r++)
		for (int c = 0; c < TILE_COLUMNS; c++) {
			int i = at.down + DOWN * r, j = at.across + ACROSS * c;
			bool inside = i < STATES && j < STATES;
			real diagonal = i != j ? real(0) : inside ? shift : real(1);

			t->w[r][c] = inside ? diagonal - s->J[i][j] : diagonal;
		}
}

/* Publishes row k, the R-th of the thread tile, and clears it. A 1 stands for the pivot. */
template <int R>
static __device__ inline void publish_row(const struct tile_position &at, int k, struct tile *t,
					  struct cross *shown)
{
	real pivot = 0;

	for (int c = 0; c < TILE_COLUMNS; c++) {
		int j = at.across + ACROSS * c;

		pivot = choose(j == k, t->w[R][c], pivot);
		shown->row[j] = choose(j == k, real(1), t->w[R][c]);
		t->w[R][c] = 0;
	}
	if (at.across == k % ACROSS)
		shown->one_by_pivot = quotient(real(1), pivot);
}

/* Likewise column k, with a -1: so row k of the inverse comes out of the same update as others. */
template <int C>
static __device__ inline void publish_column(const struct tile_position &at, int k, struct tile *t,
					     struct cross *shown)
{
	for (int r = 0; r < TILE_ROWS; r++) {
		int i = at.down + DOWN * r;

		shown->column[i] = choose(i == k, real(-1), t->w[r][C]);
		t->w[r][C] = 0;
	}
}

/* The row first: it takes the pivot. */
static __device__ inline void publish_cross(const struct tile_position &at, int k, struct tile *t,
					    struct cross *shown)
{
	if (at.down == k % DOWN)
		switch (k / DOWN) {
		case 0:
			publish_row<0>(at, k, t, shown);
			break;
		case 1:
			publish_row<1>(at, k, t, shown);
			break;
		case 2:
			publish_row<2>(at, k, t, shown);
			break;
		default:
			publish_row<3>(at, k, t, shown);
		}
	if (at.across == k % ACROSS)
		switch (k / ACROSS) {
		case 0:
			return publish_column<0>(at, k, t, shown);
		case 1:
			return publish_column<1>(at, k, t, shown);
		case 2:
			return publish_column<2>(at, k, t, shown);
		case 3:
			return publish_column<3>(at, k, t, shown);
		case 4:
			return publish_column<4>(at, k, t, shown);
		default:
			return publish_column<5>(at, k, t, shown);
		}
}

/* Nothing to do for a warp whose rows have zeros in the column, as most have at first. */
static __device__ inline void eliminate(const struct tile_position &at, struct tile *t,
					const struct cross &shown)
{
	real row[TILE_COLUMNS], column[TILE_ROWS], one_by_pivot = shown.one_by_pivot;
	bool any = false;

	for (int r = 0; r < TILE_ROWS; r++) {
		column[r] = shown.column[at.down + DOWN * r];
		any = any || !(column[r] == real(0));
	}
	if (!any)
		return;
	for (int c = 0; c < TILE_COLUMNS; c++)
		row[c] = shown.row[at.across + ACROSS * c];
	for (int r = 0; r < TILE_ROWS; r++)
		column[r] = column[r] * one_by_pivot;
	for (int r = 0; r < TILE_ROWS; r++)
		for (int c = 0; c < TILE_COLUMNS; c++)
			t->w[r][c] = t->w[r][c] - column[r] * row[c];
}

/* By Gauss and Jordan, in place, a barrier a group of pivots. */
static __device__ inline void invert(const struct tile_position &at, struct tile *t,
				     struct stiff_smem *s)
{
	ROLLED for (int g = 0; g < GROUPS; g++)
	{
		const struct pivots &pivots = order.group[g];
		struct cross *shown = s->cross[g % 2];

		ROLLED for (int i = 0; i < pivots.n && !at.idle; i++)
			publish_cross(at, pivots.of[i], t, &shown[i]);
		__syncthreads();
		ROLLED for (int i = 0; i < pivots.n && !at.idle; i++) eliminate(at, t, shown[i]);
	}
}

/* u = t s->right, by the threads that have a tile: sums over a row's 16 of them. */
static __device__ inline void multiply_inverse(const struct tile_position &at, const struct tile &t,
					       const struct stiff_smem *s, real *u)
{
	real sum[TILE_ROWS] = {};

	for (int c = 0; c < TILE_COLUMNS; c++)
		for (int r = 0; r < TILE_ROWS; r++)
			sum[r] = sum[r] + t.w[r][c] * s->right[at.across + ACROSS * c];

	/* each gives away half of the rows, then half of those */
	bool last_two = at.across & 8, odd = at.across & 4;
	real even_row = last_two ? sum[2] : sum[0], odd_row = last_two ? sum[3] : sum[1];

	even_row = even_row + __shfl_xor_sync(~0u, last_two ? sum[0] : sum[2], 8);
	odd_row = odd_row + __shfl_xor_sync(~0u, last_two ? sum[1] : sum[3], 8);
	real own = odd ? odd_row : even_row;

	own = own + __shfl_xor_sync(~0u, odd ? even_row : odd_row, 4);
	own = own + __shfl_xor_sync(~0u, own, 2);
	own = own + __shfl_xor_sync(~0u, own, 1);
	if (at.across % 4 == 0)
		u[at.down + DOWN * (2 * last_two + odd)] = own;
}
} // namespace
} // namespace myocyte
