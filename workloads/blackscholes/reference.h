/* reference.h - the formula of Black and Scholes in double, written anew for checks. */
#ifndef RIFT_BLACKSCHOLES_REFERENCE_H
#define RIFT_BLACKSCHOLES_REFERENCE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blackscholes_prices {
	double call, put;
};

/*
 * A European option on a share of price S, strike X, in T years, at this rate and volatility a
 * year. exact: with the normal distribution itself, else with the polynomial of Abramowitz and
 * Stegun, 26.2.17.
 */
struct blackscholes_prices blackscholes_reference(double S, double X, double T, double rate,
						  double volatility, bool exact);

/* What call - put must be: what is to be had now, less the strike as it is worth now. */
double blackscholes_parity(double S, double X, double T, double rate);

#ifdef __cplusplus
}
#endif
#endif
