/* reference.c - the formula of Black and Scholes in double. */
#include "workloads/blackscholes/reference.h"

#include <math.h>

static double normal_poly(double d)
{
	static const double a[] = { 0.31938153, -0.356563782, 1.781477937, -1.821255978,
				    1.330274429 };
	double q = 1 / (1 + 0.2316419 * fabs(d)), power = 1, sum = 0;

	for (int i = 0; i < 5; i++) {
		power *= q;
		sum += a[i] * power;
	}
	sum *= 0.39894228040143267794 * exp(-d * d / 2);
	return d > 0 ? 1 - sum : sum;
}

static double normal_exact(double d)
{
	return erfc(-d / sqrt(2)) / 2;
}

struct blackscholes_prices blackscholes_reference(double S, double X, double T, double rate,
						  double volatility, bool exact)
{
	double (*normal)(double) = exact ? normal_exact : normal_poly;
	double d1 =
		(log(S / X) + (rate + volatility * volatility / 2) * T) / (volatility * sqrt(T));
	double d2 = d1 - volatility * sqrt(T);
	double now = X * exp(-rate * T);

	return (struct blackscholes_prices){
		.call = S * normal(d1) - now * normal(d2),
		.put = now * (1 - normal(d2)) - S * (1 - normal(d1)),
	};
}

double blackscholes_parity(double S, double X, double T, double rate)
{
	return S - X * exp(-rate * T);
}
