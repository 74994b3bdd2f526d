/* reference.h - prices of European calls in double, in three ways, written anew for checks. */
#ifndef RIFT_BINOMIAL_REFERENCE_H
#define RIFT_BINOMIAL_REFERENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A share of price S, a strike X, T years; rate and volatility a year. */
struct binomial_case {
	double S, X, T, rate, volatility;
};

/*
 * By the tree of Cox, Ross and Rubinstein, discounted in every step; workspace: steps + 1 doubles.
 * 1 to 2 ns a node.
 */
double binomial_tree(const struct binomial_case *c, int64_t steps, double *workspace);

/* ln of the binomial coefficients of n over 0 to n, which is what binomial_sum() takes. */
void binomial_logs(int64_t n, double *logs);

/* What such a tree comes to: all leaves by their probability, by one sum. Some 10 ns a leaf. */
double binomial_sum(const struct binomial_case *c, int64_t steps, const double *logs);

/* What trees of ever more steps come to: the formula of Black and Scholes. */
double binomial_limit(const struct binomial_case *c);

#ifdef __cplusplus
}
#endif
#endif
