/* stack_sources.c - what time stacks have besides the session itself: --from and --costs. */
#include "harness/probe/stack_sources.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/probe/costs.h"

/* ---- what copies cost, as a costs file has it --------------------------------------- */

/* Median of the row "h2d pinned rate" and the like; NaN: none. */
static double median_of_row(const json_t *costs, const char *kind, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %s", kind, what);
	return json_get_number(costs_row(costs, "transfer", name), "median");
}

static struct copy_cost cost_of(const json_t *costs, const char *kind)
{
	double knee = median_of_row(costs, kind, "knee"); /* in bytes; rates in GB/s: bytes a ns */
	struct copy_cost c = {
		.call_ns = 1e3 * median_of_row(costs, kind, "4 B in a row"),
		.byte_ns = 1 / median_of_row(costs, kind, "rate"),
		.below_byte_ns = 1 / median_of_row(costs, kind, "rate below"),
	};

	c.knee = knee > 0 && c.below_byte_ns > 0 ? knee : 0;
	return c;
}

void costs_copies(struct copy_costs *out, const json_t *costs)
{
	*out = (struct copy_costs){
		.to_device = { cost_of(costs, "h2d pinned"), cost_of(costs, "h2d pageable") },
		.to_host = { cost_of(costs, "d2h pinned"), cost_of(costs, "d2h pageable") },
	};
}

enum { LARGE_COPY = 4 << 20 };

/* The call of a copy of pageable memory returns when its bytes have been taken. */
static struct copy_pace pace_of(const json_t *costs, const char *kind, bool pageable)
{
	double call_ns = 1e3 * median_of_row(costs, kind, "4 B call");
	double row_ns = 1e3 * median_of_row(costs, kind, "4 B in a row");
	double byte_ns = 1 / median_of_row(costs, kind, "rate");

	return (struct copy_pace){ .call_ns = call_ns,
				   .submit_ns = fmax(call_ns, row_ns),
				   .bytes = LARGE_COPY,
				   .large_ns = LARGE_COPY * byte_ns,
				   .host_ns_per_byte = pageable ? byte_ns : 0 };
}

void costs_copy_paces(struct copy_paces *out, const json_t *costs)
{
	*out = (struct copy_paces){
		.to_device = { pace_of(costs, "h2d pinned", false),
			       pace_of(costs, "h2d pageable", true) },
		.to_host = { pace_of(costs, "d2h pinned", false),
			     pace_of(costs, "d2h pageable", true) },
	};
}

/* ---- what time stacks have besides the session itself ----------------------------------- */

static int read_costs(struct stack_sources *out, const char *path, const struct journal *j,
		      int side)
{
	json_t *costs;
	int err = costs_read(path, &costs);

	if (err)
		return err;
	err = source_same_device("--costs", path, costs, j, side);
	costs_copies(&out->copies, costs);
	json_decref(costs);
	out->costs = &out->copies;
	return err;
}

int stack_sources_read(struct stack_sources *out, const char *from, const char *costs,
		       const char *sync, const struct journal *j, int side)
{
	const struct session_arg arg = { "--from", from, SIDE_ANY };
	int err = 0;

	if ((from || costs) && side == SIDE_ANY)
		return complain(EINVAL,
				"%s is of one platform, but two are given; use sessions of one "
				"side, one at a time, or name a side with --side a or --side b",
				from ? "--from" : "--costs");
	if (from) {
		err = source_launches(&out->launches, &arg, sync, j, side);
		out->from = &out->launches.fit;
	}
	return err || !costs ? err : read_costs(out, costs, j, side);
}

void stack_sources_release(struct stack_sources *s)
{
	source_release(&s->launches);
	*s = (struct stack_sources){ 0 };
}
