/* step_cost.c - what a workload counts of a step, in records. */
#include "harness/record/step_cost.h"

static json_t *copies_json(const struct copies *c)
{
	return json_pack("{s:f, s:f}", "calls", c->calls, "bytes", c->bytes);
}

json_t *step_cost_json(const struct cost *c)
{
	return json_pack("{s:f, s:o, s:o, s:o, s:b, s:f}", "launches", c->launches, "to_device",
			 copies_json(&c->to_device), "to_host", copies_json(&c->to_host), "within",
			 copies_json(&c->within), "pageable", c->pageable, "allocations",
			 c->allocations);
}

void step_cost_take(struct cost *out, const json_t *step)
{
	struct cost c = { 0 };
	int pageable;

	if (step &&
	    !json_unpack((json_t *)(uintptr_t)step,
			 "{s:F, s:{s:F, s:F}, s:{s:F, s:F}, s:{s:F, s:F}, s:b, s:F}", "launches",
			 &c.launches, "to_device", "calls", &c.to_device.calls, "bytes",
			 &c.to_device.bytes, "to_host", "calls", &c.to_host.calls, "bytes",
			 &c.to_host.bytes, "within", "calls", &c.within.calls, "bytes",
			 &c.within.bytes, "pageable", &pageable, "allocations", &c.allocations)) {
		c.pageable = pageable;
		*out = c;
	}
}
