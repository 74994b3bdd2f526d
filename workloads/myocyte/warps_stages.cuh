/*
 * warps_stages.cuh - spread=warps: the sums of the stages, eleven states a thread. Part of
 * kernels.cuh.
 *
 * At most five numbers a state are kept of the derivatives behind a stage. Up to the seventh they
 * are derivatives; from then on they are the sums of the stages to come and of the new state. Row
 * 12 of the tableau is row 10 - row 11 - k_0 + k_11.
 */
namespace myocyte
{
namespace
{
namespace in_warps
{
/* A number for each state of the thread: in registers, or in its column of shared memory. */
template <bool IN_SMEM> struct numbers {
	real number[OWN];

	__device__ real &operator[](int i)
	{
		return number[i];
	}
};

template <> struct numbers<true> {
	real *at;

	__device__ real &operator[](int i) const
	{
		return at[i * CELLS];
	}
};

/*
 * y: the state before the attempt. Up to derivative 6 k3, k4, k5 and k6 are those (k4 being k2
 * before); then k4, k3 and k5 are the sums of rows 9, 10 and 11, k6 that of order 7. With
 * derivative 10 k3 becomes row 12's, and k5 the error's.
 */
struct kept {
	struct numbers<true> y;
	struct numbers<(KEPT > 1)> k0, k6;
	struct numbers<false> k3, k4, k5;
};

static __device__ inline void point_at_smem(struct numbers<true> *n, struct warps_smem *b,
					    const struct thread_state &c, int which)
{
	n->at = &b->kept[which][c.part * OWN][c.lane];
}

static __device__ inline void point_at_smem(struct numbers<false> *, struct warps_smem *,
					    const struct thread_state &, int)
{
}

static __device__ inline struct kept make_kept(struct warps_smem *b, const struct thread_state &c)
{
	struct kept q;

	point_at_smem(&q.y, b, c, 0);
	point_at_smem(&q.k0, b, c, 1);
	point_at_smem(&q.k6, b, c, 2);
	return q;
}

/* Weights in the new state, and in its error. */
static constexpr double W_0 = 41. / 840, W_5 = 34. / 105, W_6 = 9. / 35, W_8 = 9. / 280;

template <int S, int R> static __device__ inline real weighted(real k)
{
	constexpr double weight = tableau[S][R];

	return weight * k;
}

/* The sum of row S + 1, for one state, once derivative S is there: k. */
template <int S> static __device__ inline real early(struct kept *q, int i, real k)
{
	if constexpr (S == 0)
		q->k0[i] = k;
	if constexpr (S == 2 || S == 4)
		q->k4[i] = k;
	if constexpr (S == 3)
		q->k3[i] = k;
	if constexpr (S == 5)
		q->k5[i] = k;
	if constexpr (S == 6)
		q->k6[i] = k;
	real sum = weighted<S + 1, S>(k);

	if constexpr (S >= 1)
		sum = sum + weighted<S + 1, 0>(q->k0[i]);
	if constexpr (S == 3)
		sum = sum + weighted<4, 2>(q->k4[i]);
	if constexpr (S == 4 || S == 5)
		sum = sum + weighted<S + 1, 3>(q->k3[i]);
	if constexpr (S == 5 || S == 6)
		sum = sum + weighted<S + 1, 4>(q->k4[i]);
	if constexpr (S == 6)
		sum = sum + weighted<7, 5>(q->k5[i]);
	return sum;
}

/* Row S of the tableau with derivatives 0 and 3 to 7. */
template <int S> static __device__ inline real row_of_all(real k0, const real k[8])
{
	return (weighted<S, 0>(k0) + weighted<S, 3>(k[3]) + weighted<S, 4>(k[4])) +
	       (weighted<S, 5>(k[5]) + weighted<S, 6>(k[6]) + weighted<S, 7>(k[7]));
}

/* Derivative 7: what is kept turns from derivatives into sums. */
static __device__ inline real switch_to_sums(struct kept *q, int i, real k)
{
	real k0 = q->k0[i], k3 = q->k3[i], k4 = q->k4[i], k5 = q->k5[i], k6 = q->k6[i];
	const real all[8] = { 0, 0, 0, k3, k4, k5, k6, k };

	q->k4[i] = row_of_all<9>(k0, all);
	q->k3[i] = row_of_all<10>(k0, all);
	q->k5[i] = (weighted<11, 0>(k0) + weighted<11, 5>(k5)) +
		   (weighted<11, 6>(k6) + weighted<11, 7>(k));
	q->k6[i] = W_0 * k0 + W_5 * k5 + (W_6 * k6 + W_6 * k);
	return row_of_all<8>(k0, all);
}

template <int S> static __device__ inline real late(struct kept *q, int i, real k)
{
	real sum;

	if constexpr (S == 8) {
		sum = q->k4[i] + weighted<9, 8>(k);
		q->k3[i] = q->k3[i] + weighted<10, 8>(k);
		q->k5[i] = q->k5[i] + weighted<11, 8>(k);
		q->k6[i] = q->k6[i] + W_8 * k;
	} else if constexpr (S == 9) {
		sum = q->k3[i] = q->k3[i] + weighted<10, 9>(k);
		q->k5[i] = q->k5[i] + weighted<11, 9>(k);
		q->k6[i] = q->k6[i] + W_8 * k;
	} else if constexpr (S == 10) {
		sum = q->k5[i];
		q->k3[i] = q->k3[i] - sum - q->k0[i];
		q->k5[i] = q->k0[i] + k;
		q->k6[i] = q->k6[i] + W_0 * k;
	} else {
		sum = q->k3[i] + k;
		q->k5[i] = q->k5[i] - k;
	}
	return sum;
}

/* Derivative S is in c->f; sets c->x to the states of the next stage. */
template <int S>
static __device__ inline void advance(struct kept *q, real h, struct thread_state *c)
{
	for (int i = 0; i < OWN; i++) {
		real sum;

		if constexpr (S < 7)
			sum = early<S>(q, i, c->f[i]);
		else if constexpr (S == 7)
			sum = switch_to_sums(q, i, c->f[i]);
		else
			sum = late<S>(q, i, c->f[i]);
		if constexpr (S < STAGES - 1)
			c->x[i] = q->y[i] + h * sum;
	}
}

static __device__ inline void advance(int s, struct kept *q, real h, struct thread_state *c)
{
	switch (s) {
	case 0:
		return advance<0>(q, h, c);
	case 1:
		return advance<1>(q, h, c);
	case 2:
		return advance<2>(q, h, c);
	case 3:
		return advance<3>(q, h, c);
	case 4:
		return advance<4>(q, h, c);
	case 5:
		return advance<5>(q, h, c);
	case 6:
		return advance<6>(q, h, c);
	case 7:
		return advance<7>(q, h, c);
	case 8:
		return advance<8>(q, h, c);
	case 9:
		return advance<9>(q, h, c);
	case 10:
		return advance<10>(q, h, c);
	case 11:
		return advance<11>(q, h, c);
	default:
		return advance<12>(q, h, c);
	}
}
} // namespace in_warps
} // namespace
} // namespace myocyte
