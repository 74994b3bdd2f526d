/*
 * test_decode_tensor.c - products on tensor cores: batches from 16 on in bf16, of shapes that fill
 * no block, in a stream and in graphs. On the CPU device the same source multiplies number by
 * number.
 */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/decode/test_decode.h"

TestSuite(small_decode_tensor, .timeout = 300, .init = need_device);

static struct decode_opts tensor_opts(const char *folder, int64_t batch)
{
	struct decode_opts o = golden_opts(folder, DECODE_BF16);

	o.batch = batch;
	return o;
}

/* Whole blocks of sequences, a few less, one more, and two blocks. */
Test(small_decode_tensor, any_batch)
{
	static const int64_t batch[] = { 16, 17, 64, 65 };

	for (size_t i = 0; i < sizeof(batch) / sizeof(*batch); i += 1 + 3 * RACES) {
		struct run *r =
			run_begin(tensor_opts(i % 2 ? GOLDEN_TIED : GOLDEN_UNTIED, batch[i]));

		cr_assert(r->s.device.tensor, "batch=%ld", (long)batch[i]);
		run_steps(r, 3);
		cr_assert(run_check(r, 3, true).passed, "batch=%ld", (long)batch[i]);
		run_end(r);
	}
}

/* Fewer sequences, or numbers of four bytes, go the other way. */
Test(small_decode_tensor, only_where_it_is_faster)
{
	struct decode_opts few = tensor_opts(GOLDEN_TIED, DECODE_TENSOR_LEAST - 1);
	struct decode_opts wide = golden_opts(GOLDEN_TIED, DECODE_FP32);
	struct run *r;

	if (RACES)
		cr_skip("starts none of these kernels");
	r = run_begin(few);
	cr_assert(!r->s.device.tensor);
	run_end(r);
	wide.batch = DECODE_TENSOR_LEAST;
	r = run_begin(wide);
	cr_assert(!r->s.device.tensor);
	run_end(r);
}

enum { STEPS = 4, BATCH = 18 };

struct notes {
	uint32_t token[STEPS * BATCH];
	float logit[STEPS * BATCH];
};

static struct notes take(const struct run *r)
{
	struct notes n;

	CUDA(cudaMemcpy(n.token, r->s.device.history_token, sizeof(n.token),
			cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(n.logit, r->s.device.history_logit, sizeof(n.logit),
			cudaMemcpyDeviceToHost));
	return n;
}

static struct notes run_mode(int launch, bool graph)
{
	struct decode_opts o = tensor_opts(GOLDEN_UNTIED, BATCH);
	struct notes n;
	struct run *r;

	o.launch = launch;
	r = run_begin(o);
	if (graph)
		run_graph(r, STEPS);
	else
		run_steps(r, STEPS);
	n = take(r);
	run_end(r);
	return n;
}

Test(small_decode_tensor, every_mode_gives_the_same_bits)
{
	const int last = programmatic_check(PROGRAMMATIC_YES) ? PROGRAMMATIC_NO : PROGRAMMATIC_YES;
	struct notes stream = run_mode(PROGRAMMATIC_NO, false), other;

	for (int launch = RACES ? last : PROGRAMMATIC_NO; launch <= last; launch++) {
		other = run_mode(launch, true);
		cr_assert(!memcmp(&stream, &other, sizeof(other)), "launch %d", launch);
	}
}

static void many_workers(void)
{
	setenv("RIFT_CPU_WORKERS", "16", 1);
	need_device();
}

/* Few sequences beside many multiprocessors: blocks attend, not warps. */
Test(small_decode_tensor, attention_by_blocks, .init = many_workers)
{
	struct run *r = run_begin(tensor_opts(GOLDEN_UNTIED, DECODE_TENSOR_LEAST));

	run_steps(r, 3);
	cr_assert(run_check(r, 3, true).passed);
	run_end(r);
}

/* The sums over a long row are put together from parts of it; here they are a few steps long. */
Test(small_decode_tensor, rows_of_many_steps)
{
	struct decode_opts o = { .batch = 16, .layers = 1, .context = 20, .seed = 3 };
	struct run *r;

	if (RACES)
		cr_skip("takes minutes under the thread sanitizer");
	o.precision = DECODE_BF16;
	r = run_begin(o);
	run_steps(r, 2);
	run_passes(r, 2);
	run_end(r);
}
