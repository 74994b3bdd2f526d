/* reference.c - prices of European calls in double. */
#include "workloads/binomial/reference.h"

#include <math.h>

/* A step of T / steps years. */
struct spread {
	double log_up; /* the price goes up or down by exp(this) */
	double p;      /* the probability of up, without risk */
	double discount;
};

static struct spread make_spread(const struct binomial_case *c, int64_t steps)
{
	double dt = c->T / (double)steps, s = c->volatility * sqrt(dt), u = exp(s), d = 1 / u;

	return (struct spread){ s, (exp(c->rate * dt) - d) / (u - d), exp(-c->rate * dt) };
}

static double payoff(const struct binomial_case *c, double log_up, int64_t ups, int64_t steps)
{
	return fmax(0, c->S * exp(log_up * (double)(2 * ups - steps)) - c->X);
}

/* Above 0, or products of small probabilities become denormal, and take five times as long. */
static const double worthless = 1e-100;

double binomial_tree(const struct binomial_case *c, int64_t steps, double *v)
{
	struct spread s = make_spread(c, steps);
	double up = s.discount * s.p, down = s.discount * (1 - s.p);

	for (int64_t j = 0; j <= steps; j++)
		v[j] = fmax(worthless, payoff(c, s.log_up, j, steps));
	for (int64_t i = steps; i > 0; i--)
		for (int64_t j = 0; j < i; j++)
			v[j] = up * v[j + 1] + down * v[j];
	return v[0];
}

void binomial_logs(int64_t n, double *logs)
{
	for (int64_t j = 0; j <= n; j++)
		logs[j] =
			lgamma((double)n + 1) - lgamma((double)j + 1) - lgamma((double)(n - j) + 1);
}

double binomial_sum(const struct binomial_case *c, int64_t steps, const double *logs)
{
	struct spread s = make_spread(c, steps);
	double up = log(s.p), down = log1p(-s.p), sum = 0;

	for (int64_t j = steps; j >= 0; j--) {
		double worth = payoff(c, s.log_up, j, steps);

		if (worth <= 0)
			break; /* nor are those below */
		sum += exp(logs[j] + (double)j * up + (double)(steps - j) * down) * worth;
	}
	return exp(-c->rate * c->T) * sum;
}

static double normal_cdf(double d)
{
	return erfc(-d / sqrt(2)) / 2;
}

double binomial_limit(const struct binomial_case *c)
{
	double v = c->volatility, deviation = v * sqrt(c->T);
	double d = (log(c->S / c->X) + (c->rate + v * v / 2) * c->T) / deviation;

	return c->S * normal_cdf(d) - c->X * exp(-c->rate * c->T) * normal_cdf(d - deviation);
}
