/*
 * test_myocyte_stiff.c - what solver=rosenbrock is made of: the coefficients by the conditions of
 * their order, the Jacobian by differences of the reference, the inverse by its product.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/myocyte/test_cells.h"

enum { N = MYOCYTE_STATES, S = 8, CLAMPED = 34 }; /* K_i, which never changes */

void stiff_coefficients(double *gamma, double a[S][S], double c[S][S]);
void stiff_linearize(const struct myocyte_cells *cells, double h, double *J, double *inverse);

TestSuite(small_myocyte_stiff, .timeout = 300);

/* ---- coefficients ---------------------------------------------------------------------- */

/* As in y + sum b_i k_i, k_i = h f(y + sum alpha_ij k_j) + h J sum gamma_ij k_j. */
struct method {
	double gamma, a[S][S], c[S][S];
	double alpha[S][S], beta[S][S]; /* beta = alpha + gamma_ij */
	double b[S], b_embedded[S];
	double one[S], A[S], B[S]; /* sums of rows: of alpha, of beta */
};

/* out = m v, or sum v_i m_ij where `left`. */
static void times(double m[S][S], const double *v, bool left, double *out)
{
	for (int i = 0; i < S; i++) {
		out[i] = 0;
		for (int j = 0; j < S; j++)
			out[i] += left ? v[j] * m[j][i] : m[i][j] * v[j];
	}
}

/* gamma_ij is the inverse of 1/gamma - c, which is lower triangular: column by column. */
static void invert_lower(const struct method *m, double out[S][S])
{
	for (int j = 0; j < S; j++)
		for (int i = 0; i < S; i++) {
			double sum = i == j;

			for (int k = j; k < i; k++)
				sum += m->c[i][k] * out[k][j];
			out[i][j] = i < j ? 0 : m->gamma * sum;
		}
}

static struct method method(void)
{
	double gammas[S][S], last[S], embedded[S];
	struct method m;

	stiff_coefficients(&m.gamma, m.a, m.c);
	invert_lower(&m, gammas);
	for (int i = 0; i < S; i++) {
		last[i] = i == S - 1 ? 1 : m.a[S - 1][i];
		embedded[i] = m.a[S - 1][i];
		m.one[i] = 1;
	}
	times(gammas, last, true, m.b);
	times(gammas, embedded, true, m.b_embedded);
	for (int i = 0; i < S; i++) {
		times(gammas, m.a[i], true, m.alpha[i]);
		for (int j = 0; j < S; j++)
			m.beta[i][j] = m.alpha[i][j] + gammas[i][j];
	}
	times(m.alpha, m.one, false, m.A);
	times(m.beta, m.one, false, m.B);
	return m;
}

/* u v w, entry by entry; sum b u v. */
static void product3(const double *u, const double *v, const double *w, double *out)
{
	for (int i = 0; i < S; i++)
		out[i] = u[i] * v[i] * w[i];
}

static double weighted(const double *b, const double *u, const double *v)
{
	double sum = 0;

	for (int i = 0; i < S; i++)
		sum += b[i] * u[i] * v[i];
	return sum;
}

static void condition(const char *tree, double is, double one_over)
{
	cr_assert(fabs(is - 1 / one_over) < 1e-13, "%s: %.17g, not 1/%g", tree, is, one_over);
}

/* Hairer and Wanner, Solving Ordinary Differential Equations II, IV.7: order 4. */
static void has_order_4(struct method *m, const double *b)
{
	double betaB[S], alphaB[S], A2[S], betaA2[S], betabetaB[S];

	times(m->beta, m->B, false, betaB);
	times(m->alpha, m->B, false, alphaB);
	product3(m->A, m->A, m->one, A2);
	times(m->beta, A2, false, betaA2);
	times(m->beta, betaB, false, betabetaB);
	condition("1", weighted(b, m->one, m->one), 1);
	condition("b beta", weighted(b, m->B, m->one), 2);
	condition("b alpha^2", weighted(b, A2, m->one), 3);
	condition("b beta beta", weighted(b, betaB, m->one), 6);
	condition("b alpha^3", weighted(b, A2, m->A), 4);
	condition("b alpha alpha beta", weighted(b, m->A, alphaB), 8);
	condition("b beta alpha^2", weighted(b, betaA2, m->one), 12);
	condition("b beta beta beta", weighted(b, betabetaB, m->one), 24);
}

/* The nine more of order 5. */
static void has_order_5(struct method *m)
{
	double A2[S], A3[S], AalphaB[S], alphaB[S], alphaA2[S], betaB[S], v[S], w[S];
	const double *b = m->b;

	product3(m->A, m->A, m->one, A2);
	product3(m->A, m->A, m->A, A3);
	times(m->alpha, m->B, false, alphaB);
	times(m->alpha, A2, false, alphaA2);
	times(m->beta, m->B, false, betaB);
	product3(m->A, alphaB, m->one, AalphaB);
	condition("b alpha^4", weighted(b, A2, A2), 5);
	condition("b alpha^2 alpha beta", weighted(b, A2, alphaB), 10);
	condition("b (alpha beta)^2", weighted(b, alphaB, alphaB), 20);
	condition("b alpha alpha alpha^2", weighted(b, m->A, alphaA2), 15);
	times(m->alpha, betaB, false, v);
	condition("b alpha alpha beta beta", weighted(b, m->A, v), 30);
	times(m->beta, A3, false, v);
	condition("b beta alpha^3", weighted(b, v, m->one), 20);
	times(m->beta, AalphaB, false, v);
	condition("b beta alpha alpha beta", weighted(b, v, m->one), 40);
	times(m->beta, A2, false, v);
	times(m->beta, v, false, w);
	condition("b beta beta alpha^2", weighted(b, w, m->one), 60);
	times(m->beta, betaB, false, v);
	times(m->beta, v, false, w);
	condition("b beta beta beta beta", weighted(b, w, m->one), 120);
}

Test(small_myocyte_stiff, coefficients_are_of_order_5_and_4)
{
	struct method m = method();

	has_order_4(&m, m.b);
	has_order_4(&m, m.b_embedded);
	has_order_5(&m);
	cr_assert(fabs(m.A[S - 1] - 1) < 1e-12, "the last stage is at the end of the step");
}

/* y' = -y^2 from 1, whose answer at t = 1 is 1/2: how far n steps are off. */
static double off_after(int n, const struct method *m)
{
	double y = 1, h = 1. / n, u[S];

	for (int step = 0; step < n; step++) {
		double W = 1 / (m->gamma * h) + 2 * y, at = y;

		for (int i = 0; i < S; i++) {
			double past = 0;

			at = y;
			for (int j = 0; j < i; j++) {
				at += m->a[i][j] * u[j];
				past += m->c[i][j] * u[j] / h;
			}
			u[i] = (past - at * at) / W;
		}
		y = at + u[S - 1];
	}
	return fabs(y - 0.5);
}

Test(small_myocyte_stiff, half_the_step_makes_a_32nd_of_the_error)
{
	struct method m = method();
	double order = log2(off_after(8, &m) / off_after(16, &m));

	cr_assert(order > 4.7 && order < 5.5, "order %g", order);
}

/* ---- matrices -------------------------------------------------------------------------- */

struct matrices {
	double y[N], start[N], J[N][N], inverse[N][N];
};

static double state_size(const struct matrices *m, int i)
{
	return fabs(m->y[i]) + 1e-3 * fabs(m->start[i]) + 1e-9;
}

static struct matrices *matrices_at(double t_ms, double h, enum myocyte_equations equations)
{
	struct matrices *m = calloc(1, sizeof(*m));
	struct myocyte_opts o = default_opts();
	struct run *r;

	CHECK(m, "memory");
	o.solver = MYOCYTE_ROSENBROCK;
	o.equations = equations;
	golden_start(m->start);
	golden_state("golden/reference_published_equations.csv", t_ms, m->y);
	r = run_begin(o);
	CUDA(cudaMemcpy(r->s.cells.y, m->y, sizeof(m->y), cudaMemcpyHostToDevice));
	stiff_linearize(&r->s.cells, h, m->J[0], m->inverse[0]);
	run_end(r);
	return m;
}

/* Column j by central differences; the stimulus is part of f, not of its derivative. */
static void reference_column(const struct myocyte_model *model, const struct matrices *m, int j,
			     double column[N])
{
	double y[N], above[N], below[N], d = 1e-6 * state_size(m, j);

	memcpy(y, m->y, sizeof(y));
	y[j] = m->y[j] + d;
	myocyte_ref_rhs(model, 0, y, above);
	y[j] = m->y[j] - d;
	myocyte_ref_rhs(model, 0, y, below);
	for (int i = 0; i < N; i++)
		column[i] = (above[i] - below[i]) / (2 * d);
}

/* Entries count by what their state's size makes of them, beside the row's largest. */
static void jacobian_is_right(double t_ms, enum myocyte_equations equations)
{
	struct matrices *m = matrices_at(t_ms, 1, equations);
	struct myocyte_model model = golden_model(equations);
	double want[N][N], column[N];

	for (int j = 0; j < N; j++) {
		reference_column(&model, m, j, column);
		for (int i = 0; i < N; i++)
			want[i][j] = column[i];
	}
	for (int i = 0; i < N; i++) {
		double largest = 1e-12;

		for (int j = 0; j < N; j++)
			largest = fmax(largest, fabs(want[i][j]) * state_size(m, j));
		for (int j = 0; j < N; j++)
			cr_assert(j == CLAMPED ||
					  fabs(m->J[i][j] - want[i][j]) * state_size(m, j) <=
						  1e-5 * largest,
				  "t=%g ms: df%d/dy%d is %g, not %g", t_ms, i, j, m->J[i][j],
				  want[i][j]);
	}
	free(m);
}

Test(small_myocyte_stiff, jacobian_is_that_of_the_reference)
{
	need_device();
	jacobian_is_right(10, MYOCYTE_PUBLISHED);
	jacobian_is_right(10, MYOCYTE_RODINIA);
	jacobian_is_right(200, MYOCYTE_PUBLISHED);
}

/* Entry (i, j) of 1/(gamma h) - J. */
static double entry(const struct matrices *m, double shift, int i, int j)
{
	return (i == j ? shift : 0) - m->J[i][j];
}

/* A right side of the system for state i: so large that the state moves by its size. */
static double state_force(const struct matrices *m, double shift, int i)
{
	return fabs(entry(m, shift, i, i)) * state_size(m, i);
}

/* The residual of a force on state j, beside that of state i. */
static void inverse_is_right(double t_ms, double h, double gamma)
{
	struct matrices *m = matrices_at(t_ms, h, MYOCYTE_PUBLISHED);
	double shift = 1 / (gamma * h);

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0,
			       forces = state_force(m, shift, i) / state_force(m, shift, j);

			for (int k = 0; k < N; k++)
				sum += entry(m, shift, i, k) * m->inverse[k][j];
			cr_assert(fabs(sum - (i == j)) <= 1e-11 * fmax(forces, 1),
				  "t=%g ms, h=%g ms: product has %g at %d, %d", t_ms, h, sum, i, j);
		}
	free(m);
}

Test(small_myocyte_stiff, inverse_times_matrix_is_one)
{
	double gamma, a[S][S], c[S][S];

	need_device();
	stiff_coefficients(&gamma, a, c);
	inverse_is_right(2, 1e-3, gamma);
	inverse_is_right(10, 1, gamma);
	inverse_is_right(500, 100, gamma);
}
