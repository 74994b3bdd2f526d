/*
 * block_stages.cuh - spread=block: the sums of the stages. Part of kernels.cuh.
 *
 * A derivative is added at once to all sums that it is part of: those of the stages to come, of the
 * new state and of its error. So no derivative is kept.
 */
namespace myocyte
{
namespace
{
/* Weights of derivative s: [0] in the next stage, [1] in the one after it, ..; then these two. */
enum { OF_ORDER_7 = STAGES - 1, OF_ERROR };

struct weights {
	double of[STAGES][WEIGHTS];
};

static constexpr struct weights derivative_weights()
{
	constexpr double order_7[STAGES] = { 41. / 840, 0,	 0,	  0,	    0,
					     34. / 105, 9. / 35, 9. / 35, 9. / 280, 9. / 280,
					     41. / 840, 0,	 0 };
	struct weights w = {};

	for (int s = 0; s < STAGES; s++) {
		for (int next = s + 1; next < STAGES; next++)
			w.of[s][next - s - 1] = tableau[next][s];
		w.of[s][OF_ORDER_7] = order_7[s];
		w.of[s][OF_ERROR] = s == 0 || s == 10 ? 41. / 840 : s > 10 ? -41. / 840 : 0;
	}
	return w;
}

static __device__ const struct weights weights = derivative_weights();

/* For the block's threads, which load a row in a few wide words. */
static __device__ inline void lay_out_weights(struct block_smem *b)
{
	for (int i = (int)threadIdx.x; i < STAGES * WEIGHTS; i += BLOCK_THREADS)
		b->weight[i / WEIGHTS][i % WEIGHTS] = weights.of[i / WEIGHTS][i % WEIGHTS];
}

/* Before derivative s is known, to[0] is the sum of stage s + 1, to[1] that of stage s + 2, .. */
struct sums {
	real to[STAGES - 2], order_7, error;
};

/* Adds derivative k, and moves on by a stage. */
static __device__ inline void add_derivative(struct sums *sum, const real *weight, real k)
{
	const int last = STAGES - 3;

	for (int r = 0; r < last; r++)
		sum->to[r] = sum->to[r + 1] + weight[r + 1] * k;
	sum->to[last] = weight[last + 1] * k;
	sum->order_7 = sum->order_7 + weight[OF_ORDER_7] * k;
	sum->error = sum->error + weight[OF_ERROR] * k;
}

static __device__ inline void publish(const struct part &c, struct block_smem *b, real y)
{
	if (c.state >= 0)
		b->v[c.state] = y;
}
} // namespace
} // namespace myocyte
