/* test_decode_races.c - every kernel of a step once or twice: what the thread sanitizer looks at.
 */
#include "tests/plain.h"
#include "workloads/decode/test_decode.h"

TestSuite(small_decode_races, .timeout = 300, .init = need_device);

static void passes_a_step(int launches, int precision)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, precision);
	struct run *r;

	o.batch = 2;
	o.layers = 1;
	o.prompt = "1";
	o.launches = launches;
	r = run_begin(o);
	run_steps(r, 1);
	cr_assert(run_check(r, 1, true).passed, "launches %d", launches);
	run_end(r);
}

Test(small_decode_races, few_launches)
{
	passes_a_step(DECODE_FEW, DECODE_BF16);
}

Test(small_decode_races, many_launches)
{
	passes_a_step(DECODE_MANY, DECODE_FP32);
}
