/* setup.c - memory and inputs of the blackscholes workload. */
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/blackscholes/blackscholes.h"

struct blackscholes_arrays blackscholes_device_arrays(const struct blackscholes_state *s)
{
	struct blackscholes_arrays a = { .stride = dataset_stride(&s->set.shape.array[0]) };

	for (int k = 0; k < BLACKSCHOLES_INPUTS; k++)
		a.in[k] = dataset_device(&s->set, k, 0);
	for (int k = 0; k < BLACKSCHOLES_OUTPUTS; k++)
		a.out[k] = dataset_device(&s->set, BLACKSCHOLES_INPUTS + k, 0);
	return a;
}

static struct blackscholes_market make_market(const struct blackscholes_opts *o)
{
	return (struct blackscholes_market){
		.rate = (float)o->rate,
		.volatility = (float)o->volatility,
		.drift = (float)(o->rate + o->volatility * o->volatility / 2),
		.inverse = (float)(1 / o->volatility),
	};
}

int blackscholes_setup(const void *opts, void *state)
{
	const struct blackscholes_opts *o = opts;
	struct blackscholes_state *s = state;
	struct dataset_shape shape = blackscholes_shape(o);
	int err = device_present();
	char what[64];

	if (!err)
		err = programmatic_check((enum programmatic)o->launch);
	if (err)
		return err;
	blackscholes_load_kernels();
	s->market = make_market(o);
	s->resident = blackscholes_resident((enum blackscholes_cnd)o->cnd,
					    (enum blackscholes_math)o->math);
	snprintf(what, sizeof(what), "options=%ld slots=%ld", (long)o->options, (long)o->set.slots);
	err = dataset_make(&s->set, &o->set, &shape, what);
	return err ? err : dataset_fill(&s->set, &blackscholes_work, o, s);
}

void blackscholes_teardown(void *state)
{
	struct blackscholes_state *s = state;

	dataset_release(&s->set);
}
