/*
 * test_decode_check.c - what the check of the decode workload has to find: launches that are lost
 * or done twice, at each place of a step, in this lap and in an earlier one; numbers that are
 * changed; and that it still looks at both ends where there are too many steps for all.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/races.h"

#include <dlfcn.h>

#include "workloads/decode/check.h"
#include "workloads/decode/test_decode.h"

TestSuite(small_decode_check, .timeout = 300, .init = need_device);
TestSuite(large_decode_check, .timeout = 300, .init = need_device);

enum { STEPS = 8, PER_LAYER = 5 }; /* two laps: the first has 5 steps, the others have 4 */

/* The launch that is spoiled, counted from the last reset of `seen`. */
static struct {
	int seen, at, times;
} launch = { 0, -1, 1 };

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
			     cudaStream_t stream)
{
	cudaError_t (*real)(const void *, dim3, dim3, void **, size_t, cudaStream_t) =
		dlsym(RTLD_NEXT, __func__);
	int times = launch.seen++ == launch.at ? launch.times : 1;
	cudaError_t err = cudaSuccess;

	for (int i = 0; i < times && !err; i++)
		err = real(kernel, grid, block, args, shared, stream);
	return err;
}

/* STEPS steps of which one launch is done so many times. */
static struct verdict spoil(struct run *r, int step, int at, int times, int per_step)
{
	launch.at = -1;
	run_reset(r);
	launch.seen = 0;
	launch.at = step * per_step + at;
	launch.times = times;
	run_steps(r, STEPS);
	launch.at = -1;
	cr_assert(launch.seen == STEPS * per_step, "%d launches", launch.seen);
	return run_check(r, STEPS, false);
}

static void loses_each(struct decode_opts o, int step)
{
	struct run *r = run_begin(o);
	int per_step = (int)decode_launches(&o, &r->s.shape.model);

	for (int at = 0; at < per_step; at += 1 + 3 * RACES)
		cr_assert(!spoil(r, step, at, 0, per_step).passed, "launch %d of step %d", at,
			  step);
	cr_assert(spoil(r, STEPS, 0, 0, per_step).passed, "none is lost");
	run_end(r);
}

Test(small_decode_check, a_lost_launch_is_found_wherever_it_is)
{
	loses_each(golden_opts(GOLDEN_TIED, DECODE_FP32), 1);
	loses_each(golden_opts(GOLDEN_UNTIED, DECODE_BF16), STEPS - 1);
}

Test(large_decode_check, so_it_is_in_the_sequences_of_a_batch)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, DECODE_BF16);

	o.batch = 4;
	loses_each(o, 2);
}

/* Twice changes what is added to, and the choice; all others leave what they leave once. */
static bool adds_up(int at, int per_step)
{
	return at == per_step - 1 ||
	       (at < per_step - 2 && (at % PER_LAYER == 2 || at % PER_LAYER == 4));
}

Test(large_decode_check, a_doubled_launch_is_found_or_changes_nothing)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, DECODE_FP32);
	struct run *r = run_begin(o);
	int per_step = (int)decode_launches(&o, &r->s.shape.model);

	for (int step = 1; step < STEPS; step += STEPS - 2)
		for (int at = 0; at < per_step; at += 1 + 3 * RACES)
			cr_assert(spoil(r, step, at, 2, per_step).passed == !adds_up(at, per_step),
				  "launch %d of step %d", at, step);
	run_end(r);
}

/* ---- numbers that are changed ---------------------------------------------------------------- */

static void change(void *at, float v)
{
	CUDA(cudaMemcpy(at, &v, sizeof(v), cudaMemcpyHostToDevice));
	run_settle();
}

/* The float at that address becomes another one, and then what it was. */
static void notices_at(struct run *r, int64_t steps, const void *at, float other, const char *what)
{
	float was;

	CUDA(cudaMemcpy(&was, at, sizeof(was), cudaMemcpyDeviceToHost));
	change((void *)at, other);
	run_fails(r, steps, what);
	change((void *)at, was);
	run_passes(r, steps);
}

static void notices(struct run *r, const void *at, float other, const char *what)
{
	notices_at(r, STEPS, at, other, what);
}

/* A number of the cache's last layer. */
static char *cached(const struct run *r, void *cache, uint32_t position)
{
	const struct decode_device *d = &r->s.device;
	size_t last = r->s.shape.model.layers - 1;
	size_t row = last * d->batch * d->kv_heads * d->positions + position;

	return (char *)cache + row * d->head_stride * sizeof(float);
}

Test(small_decode_check, a_changed_number_is_found)
{
	struct run *r = run_begin(golden_opts(GOLDEN_TIED, DECODE_FP32));
	const struct decode_device *d = &r->s.device;
	const float token_3 = 4.2e-45f; /* its bits are the integer 3 */

	run_steps(r, STEPS);
	run_passes(r, STEPS);
	notices(r, d->history_token + 2, token_3, "a token");
	notices(r, d->history_logit + 2, 1.25f, "a step's logit");
	notices(r, d->history_logit + 2, NAN, "a logit that is no number");
	notices(r, d->logits + 7, 0.5f, "a logit of the last step");
	notices(r, d->logits + 7, NAN, "one that is no number");
	notices(r, cached(r, r->s.key, 1), 0.3f, "a key of the prompt");
	notices(r, cached(r, r->s.value, 6), 0.3f, "a value");
	notices(r, cached(r, r->s.value, 6), NAN, "a value that is no number");
	notices(r, d->norm_out, 0.9f, "a weight");
	run_fails(r, STEPS - 1, "a step too many");
	run_fails(r, STEPS + 1, "a step too few");
	run_end(r);
}

/* Rows that no step has come to must stay as the reset left them. */
Test(small_decode_check, what_is_written_besides_is_found)
{
	struct run *r = run_begin(golden_opts(GOLDEN_TIED, DECODE_FP32));

	run_steps(r, 2);
	run_passes(r, 2);
	change(cached(r, r->s.key, 7), 0);
	run_fails(r, 2, "a row that no step has written");
	run_end(r);
}

/* ---- tokens on the host ------------------------------------------------------------------------
 */

Test(small_decode_check, a_lost_copy_to_the_host_is_found)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, DECODE_FP32);
	struct run *r;

	o.batch = 2;
	o.output = DECODE_TO_HOST;
	r = run_begin(o);
	run_steps(r, STEPS);
	run_passes(r, STEPS);
	r->s.host[2 * 3 + 1] ^= 1;
	run_fails(r, STEPS, "another token on the host");
	run_end(r);
}

/* ---- more steps than are computed again ---------------------------------------------- */

/* As if the device kept notes of the last 20 steps only. */
Test(small_decode_check, steps_that_are_no_longer_noted)
{
	struct run *r = run_begin(golden_opts(GOLDEN_TIED, DECODE_FP32));
	struct verdict v;

	r->s.device.history = r->s.shape.history = 20;
	run_reset(r);
	run_steps(r, 50);
	v = run_check(r, 50, false);
	cr_assert(v.passed && v.compared > 0 && v.compared < 50, "%ld compared: %s",
		  (long)v.compared, v.worst);
	change((void *)(r->s.device.history_logit + 49 % 20), 0.5f);
	run_fails(r, 50, "the last step");
	run_end(r);
}

/* Too many steps for all: rows of the prompt and of the first and last stretch are compared still.
 */
Test(small_decode_check, three_stretches_of_many_steps)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, DECODE_FP32);
	struct verdict v;
	struct run *r;

	o.positions = 60;
	r = run_begin(o);
	decode_audit_flops_each = 1; /* the least stretch: 16 steps */
	run_steps(r, 54);
	v = run_check(r, 54, false);
	cr_assert(v.passed && v.compared >= 32 && v.compared < 54, "%ld compared: %s",
		  (long)v.compared, v.worst);
	notices_at(r, 54, cached(r, r->s.key, 1), 0.3f, "a key of the prompt");
	notices_at(r, 54, cached(r, r->s.key, 10), 0.3f, "a key of the first steps");
	notices_at(r, 54, cached(r, r->s.value, 55), 0.3f, "a value of the last steps");
	run_end(r);
}

/* More steps than are noted, in one long lap. */
Test(large_decode_check, a_lap_that_began_before_the_notes)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, DECODE_FP32);
	struct run *r;

	o.positions = 24;
	o.batch = 8;
	r = run_begin(o);
	r->s.device.history = r->s.shape.history = 6;
	run_reset(r);
	run_steps(r, 9);
	run_passes(r, 9);
	run_end(r);
}

/* All sequences' caches have something wrong in turn; those that are looked at find it. */
Test(small_decode_check, the_first_sequence_and_the_last_are_looked_at)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, DECODE_FP32);
	struct run *r;

	o.batch = 20;
	r = run_begin(o);
	run_steps(r, 1);
	run_passes(r, 1);
	for (int b = 0; b < 20; b += 19) {
		size_t row = ((size_t)b * r->s.device.kv_heads * 8 + 3) * r->s.device.head_stride;

		change((float *)r->s.layer[1].key + row, 0.3f);
		run_fails(r, 1, "a key");
		run_reset(r);
		run_steps(r, 1);
		run_passes(r, 1);
	}
	run_end(r);
}

/* ---- generated weights ------------------------------------------------------------------------
 */

/* Attention over many positions must show, whatever launches are lost. */
static void loses_attention(int launches)
{
	struct decode_opts o = { .batch = 1, .layers = 2, .context = 1000, .seed = 1 };
	int per_step;
	struct run *r;

	o.precision = DECODE_BF16;
	o.launches = launches;
	r = run_begin(o);
	per_step = (int)decode_launches(&o, &r->s.shape.model);
	run_steps(r, 2);
	run_passes(r, 2);
	if (launches == DECODE_FEW) {
		launch.at = -1;
		run_reset(r);
		launch.seen = 0;
		launch.at = per_step + PER_LAYER + 1;
		launch.times = 0;
		run_steps(r, 2);
		launch.at = -1;
		run_fails(r, 2, "attention of the last layer is lost");
	}
	CUDA(cudaMemset((void *)r->s.layer[0].o, 0, 1024));
	run_settle();
	run_fails(r, 2, "weights of attention");
	run_end(r);
}

Test(large_decode_check, attention_over_a_long_context_shows)
{
	if (RACES)
		cr_skip("takes minutes under the thread sanitizer");
	loses_attention(DECODE_FEW);
	loses_attention(DECODE_MANY);
}
