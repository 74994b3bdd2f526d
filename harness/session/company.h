/*
 * company.h - does it matter to a side that a process of the other one is there too?
 *
 * Pairs assume that it does not: the other process sleeps while one is at work. But it holds memory
 * on the device, a layer's threads may go on, and a scheduler may switch between the two. So of
 * each pair the process that starts first, a, b, a, b, ..., visits the points of its
 * first configuration ALONE_ROUNDS times before the other one starts. They are held against its
 * first rounds in company, some seconds later.
 */
#ifndef RIFT_SESSION_COMPANY_H
#define RIFT_SESSION_COMPANY_H

#include "harness/record/journal.h"

/*
 * What a trailer says of it: {rounds, t_total_ns: {KEY: ns...}, company_over_alone}. alone_ns:
 * [point * ALONE_ROUNDS + round], NAN where not visited. company_over_alone: the median over the
 * points of the ratio of their medians; null: no point has both. New reference.
 */
json_t *company_json(const struct journal *j, int replicate, const double *alone_ns);

struct company {
	int n;	      /* processes of the side that know */
	double ratio; /* median of them; NAN: none */
	bool differs; /* beyond noise: all of 3 or more on the same side of 1, and 4 of their
		       * standard errors from it */
	bool matters; /* three or more, and to each of them every process of the side, in company,
		       * is off by more than a quarter in one direction: pairs do not say what
		       * one side alone would do. (Processes that fall into two kinds by
		       * themselves are not off like that.) */
};

struct company company_of(const struct journal *j, int side);

#endif
