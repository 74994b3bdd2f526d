/* card_copies.c - what copies cost, as a platform card says it. */
#include "harness/probe/card_copies.h"

#include <math.h>
#include <stdio.h>

#include "harness/probe/card.h"

/* Median of the row "h2d pinned rate" and the like; NaN: none. */
static double median_of_row(const json_t *card, const char *kind, const char *what)
{
	const json_t *median;
	char name[64];

	snprintf(name, sizeof(name), "%s %s", kind, what);
	median = json_object_get(card_row(card, "transfer", name), "median");
	return json_is_number(median) ? json_number_value(median) : NAN;
}

static struct copy_cost cost_of(const json_t *card, const char *kind)
{
	double knee = median_of_row(card, kind, "knee"); /* in bytes; rates in GB/s: bytes a ns */
	struct copy_cost c = {
		.call_ns = 1e3 * median_of_row(card, kind, "4 B in a row"),
		.byte_ns = 1 / median_of_row(card, kind, "rate"),
		.below_byte_ns = 1 / median_of_row(card, kind, "rate below"),
	};

	c.knee = knee > 0 && c.below_byte_ns > 0 ? knee : 0;
	return c;
}

void card_copies(struct copy_costs *out, const json_t *card)
{
	*out = (struct copy_costs){
		.to_device = { cost_of(card, "h2d pinned"), cost_of(card, "h2d pageable") },
		.to_host = { cost_of(card, "d2h pinned"), cost_of(card, "d2h pageable") },
	};
}
