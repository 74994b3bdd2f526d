/*
 * block_exps.cuh - spread=block: the transcendental functions of a right-hand side, side by side.
 * Part of kernels.cuh.
 *
 * Exponentials of V differ by constants only, so a lane takes each, and a quotient that its
 * formula has; so do logarithms and powers of concentrations. Formulas: model_membrane.cuh and
 * model_calcium.cuh.
 */

namespace myocyte
{
namespace
{
/* ---- of the potential ------------------------------------------------------------------- */

enum shape {
	PLAIN,	 /* e^z alone */
	SQUARE,	 /* e^(k x^2) */
	SIGMOID, /* n/(1 + e^z) */
	OVER,	 /* n x/(e^z - 1) */
	PLAIN_K, /* x counts from E_K too */
	SIGMOID_K,
};

/* z = k x, x = V - x0. */
struct exponential {
	double x0, k, n;
	enum shape shape;
};

static __device__ const struct exponential exponentials[EXPS] = {
	{ 0, FRT, FRT, OVER },
	{ 0, 2 * FRT, FRT, OVER },
	{ 0, -FRT, 0, PLAIN },
	{ 0, nu *FRT, 0, PLAIN },
	{ 0, (nu - 1) * FRT, 0, PLAIN },
	{ 0, -0.1 * FRT, 0, PLAIN },

	{ -47.13, -0.1, -0.32, OVER },
	{ 0, -1 / 11., 0, PLAIN },
	{ -10.66, -1 / 11.1, 1 / 0.13, SIGMOID },
	{ 0, -2.535e-7, 0, PLAIN },
	{ -32, -0.1, 0.3, SIGMOID },
	{ -80, -1 / 6.8, 0, PLAIN },
	{ 0, 0.079, 0, PLAIN },
	{ 0, 0.35, 0, PLAIN },
	{ 0, 0.2444, 0, PLAIN },
	{ 0, -0.04391, 0, PLAIN },
	{ -79.23, 0.311, 1, SIGMOID },
	{ 0, -0.01052, 0, PLAIN },
	{ -40.14, -0.1378, 0.1212, SIGMOID },

	{ -50, -1 / 7.5, 1, SIGMOID },
	{ 1.5, -1 / 16.7, 1, SIGMOID },
	{ -7, -0.123, -0.00138, OVER },
	{ -10, 0.145, 6.1e-4, OVER },
	{ -30, -0.148, -7.19e-5, OVER },
	{ -30, 0.0687, 1.31e-4, OVER },
	{ -33, 1 / 22.4, g_Kr, SIGMOID },
	{ 7.488 * 5.98, -1 / 5.98, G_Kp *(F_j + F_sl), SIGMOID },

	{ -3, -1 / 15., 1, SIGMOID },
	{ -3, 1 / 15., 9, SIGMOID },
	{ -60, 1 / 10., 1, SIGMOID },
	{ -33.5, 1 / 10., 1, SIGMOID },
	{ 0, -1 / 900., 0, SQUARE },

	{ 59.215, 0.2385, 1.02, SIGMOID_K },
	{ -5.476, 0.08032, 0, PLAIN_K },
	{ 594.31, 0.06175, 0, PLAIN_K },
	{ -4.753, -0.5143, 1, SIGMOID_K },

	{ -14.5, -1 / 6., 1, SIGMOID },
	{ -14.5, -1 / 6., -0.07, OVER },
	{ -35.06, 1 / 3.6, 1, SIGMOID },
	{ 50, -1 / 20., 0.6, SIGMOID },
	{ -14.5, -0.0337 * 0.0337, 0, SQUARE },
};

/* A lane's, in the cells' precision; lanes without one compute the last again, for nobody. */
struct thread_exponential {
	real x0, k, n; /* n: over k where over */
	bool square, over, counts;
	int i;
};

/* Two warps share them. */
static __device__ inline struct thread_exponential thread_exponential(int lane, bool second,
								      real E_K)
{
	const int half = (EXPS + 1) / 2;
	int at = second ? half + lane : lane, i = at < EXPS ? at : EXPS - 1;
	const struct exponential &e = exponentials[i];
	bool of_K = e.shape >= PLAIN_K, over = e.shape == OVER;

	return { of_K ? e.x0 + E_K : real(e.x0),
		 e.k,
		 over ? e.n / e.k : e.n,
		 e.shape == SQUARE,
		 over,
		 second ? at < EXPS : lane < half,
		 i };
}

/* z/(e^z - 1) near 0, to z^8: below 0.1 less than 3e-18 is left out. */
static __device__ inline real over_expm1_near_0(real z)
{
	real w = z * z;
	real even = 1. / 12 - w * (1. / 720 - w * (1. / 30240 - w * (1. / 1209600)));

	return 1 - 0.5 * z + w * even;
}

static __device__ inline void exponential(const struct thread_exponential &c, bool limits,
					  struct block_smem *b)
{
	real x = b->v[at::V] - c.x0, z = c.k * (c.square ? x * x : x);
	real e = exp_by_table(z, b->two_to);
	real q = quotient(c.over ? c.n * z : c.n, c.over ? e - 1 : e + 1);

	if (c.over && limits)
		q = fabs(z) < 0.1 ? c.n * over_expm1_near_0(z) : q;
	if (!c.counts)
		return;
	b->e[c.i] = e;
	b->e[Q_OF(c.i)] = q;
}

/* ---- of concentrations ------------------------------------------------------------------ */

/*
 * l = ln(x/unit), x a state (of K: and some Na); p = (x/unit)^a. The unit is one that makes l
 * small, so that e^(a l) is as good as a power.
 */
struct power {
	int state;
	double unit, a;
};

/* I_Ks: 1/(1 + e^((pCa - 7.2)/0.6)) with pCa = 3 - log10 Ca is a power of Ca/10^-4.2 mM. */
static constexpr double Ca_Ks = 6.3095734448019325e-05, a_Ks = -1 / (0.6 * 2.302585092994045684);

static __device__ const struct power powers[POWERS] = {
	{ at::Na_j, Na_o, 0 },
	{ at::Na_sl, Na_o, 0 },
	{ at::Ca_j, Ca_o, 0 },
	{ at::Ca_sl, Ca_o, 0 },
	{ at::K_i, K_o + p_NaK *Na_o, 0 },
	{ at::Ca_j, 0.5e-3, -1.6 },
	{ at::Ca_sl, 0.5e-3, -1.6 },
	{ at::Ca_j, Ca_Ks, a_Ks },
	{ at::Ca_sl, Ca_Ks, a_Ks },
	{ at::Ca_i, Km_f, H_serca },
	{ at::Ca_SR, Km_r, H_serca },
	{ at::Ca_SR, EC50_SR, -2.5 },
};

struct thread_power {
	real per_unit, a, p; /* p: of this stage */
	int i, state;
};

static __device__ inline struct thread_power thread_power(int lane, bool reticulum)
{
	int at = reticulum ? POW_UP + lane : lane, i = at < POWERS ? at : POWERS - 1;
	const struct power &p = powers[i];

	return { 1 / p.unit, p.a, 0, at, p.state };
}

static __device__ inline void power(struct thread_power *c, bool reticulum, struct block_smem *b)
{
	real x = b->v[c->state], l;

	if (c->i == LOG_K)
		x = x + p_NaK * b->v[at::Na_i];
	l = log_by_table(x * c->per_unit, b->logs);
	if (!reticulum && c->i < POWERS_OF_SIDES)
		b->log[c->i] = l;
	c->p = exp_by_table(c->a * l, b->two_to);
}
} // namespace
} // namespace myocyte
