/*
 * test_decode_modes.c - the same tokens, logits and cache in every mode and at every depth; few
 * launches and many agree; shapes that take other ways through the kernels.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/decode/test_decode.h"

TestSuite(small_decode_modes, .timeout = 300, .init = need_device);

/* What a run leaves: tokens and logits of its steps, keys and values. */
struct left {
	size_t notes, cached;
	uint32_t *token;
	float *logit;
	char *key, *value;
};

static void *fetch(const void *from, size_t bytes)
{
	void *to = malloc(bytes);

	CHECK(to, "%zu bytes", bytes);
	CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
	return to;
}

static struct left take(const struct run *r, int64_t steps)
{
	const struct decode_device *d = &r->s.device;
	size_t rows = (size_t)r->s.shape.model.layers * d->batch * d->kv_heads * d->positions;
	struct left l = { (size_t)steps * d->batch * sizeof(uint32_t),
			  rows * d->head_stride * (size_t)decode_bytes(&r->s),
			  NULL,
			  NULL,
			  NULL,
			  NULL };

	l.token = fetch(d->history_token, l.notes);
	l.logit = fetch(d->history_logit, l.notes);
	l.key = fetch(r->s.key, l.cached);
	l.value = fetch(r->s.value, l.cached);
	return l;
}

static void drop(struct left *l)
{
	free(l->token);
	free(l->logit);
	free(l->key);
	free(l->value);
}

static void expect_same(const struct left *a, const struct left *b, const char *what)
{
	cr_assert(!memcmp(a->token, b->token, a->notes), "%s: tokens", what);
	cr_assert(!memcmp(a->logit, b->logit, a->notes), "%s: logits", what);
	cr_assert(!memcmp(a->key, b->key, a->cached), "%s: keys", what);
	cr_assert(!memcmp(a->value, b->value, a->cached), "%s: values", what);
}

/* n steps, one by one and in graphs of 1, n / 2 and n. */
static void modes_agree(struct decode_opts o, int n)
{
	const int depth[] = { 1, n / 2, n };
	struct run *r = run_begin(o);
	struct left stream, graph;

	run_steps(r, n);
	run_passes(r, n);
	stream = take(r, n);
	for (int i = 0; i < 3; i++) {
		run_reset(r);
		run_graphs(r, depth[i], n / depth[i]);
		graph = take(r, n);
		expect_same(&stream, &graph, "a graph");
		r->graph_steps = depth[i];
		run_passes(r, n);
		drop(&graph);
	}
	drop(&stream);
	run_end(r);
}

Test(small_decode_modes, stream_and_graph_give_the_same_bits)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, DECODE_FP32);

	modes_agree(o, 6);
	o.batch = 3;
	o.output = DECODE_TO_HOST;
	modes_agree(o, RACES ? 2 : 10);
	o.launches = DECODE_MANY;
	modes_agree(o, RACES ? 2 : 6);
}

Test(small_decode_modes, launches_that_overlap_give_the_same_bits)
{
	struct decode_opts o = golden_opts(GOLDEN_UNTIED, DECODE_BF16);
	struct left plain, overlapped;
	struct run *r;

	if (programmatic_check(PROGRAMMATIC_YES))
		cr_skip("launches overlap from compute capability 9.0 on");
	r = run_begin(o);
	run_steps(r, 6);
	plain = take(r, 6);
	run_end(r);
	o.launch = PROGRAMMATIC_YES;
	modes_agree(o, 6);
	r = run_begin(o);
	run_steps(r, 6);
	overlapped = take(r, 6);
	expect_same(&plain, &overlapped, "programmatic");
	drop(&plain);
	drop(&overlapped);
	run_end(r);
}

/* Sums have another order, so logits differ in their last bits; tokens do not. */
Test(small_decode_modes, few_launches_and_many_choose_the_same_tokens)
{
	struct decode_opts o = golden_opts(GOLDEN_UNTIED, DECODE_FP32);
	struct left few, many;
	struct run *r;

	o.positions = 20;
	r = run_begin(o);
	run_steps(r, 12);
	few = take(r, 12);
	run_end(r);
	o.launches = DECODE_MANY;
	r = run_begin(o);
	run_steps(r, 12);
	run_passes(r, 12);
	many = take(r, 12);
	cr_assert(!memcmp(few.token, many.token, few.notes));
	drop(&few);
	drop(&many);
	run_end(r);
}

/* As many sequences as a block multiplies at a time, a few less and a few more. */
Test(small_decode_modes, any_batch)
{
	static const int64_t batch[] = { 2, 3, 4, 5, 8, 13 };

	for (size_t i = 0; i < sizeof(batch) / sizeof(*batch); i += 1 + 2 * RACES) {
		struct decode_opts o = golden_opts(GOLDEN_TIED, (int)i % 2);
		struct run *r;

		o.batch = batch[i];
		r = run_begin(o);
		run_steps(r, 3);
		cr_assert(run_check(r, 3, true).passed, "batch=%ld", (long)batch[i]);
		run_end(r);
	}
}

/* A prompt of one token has no step before the first one; a context of none begins at 0. */
Test(small_decode_modes, beginnings)
{
	struct decode_opts o = golden_opts(GOLDEN_UNTIED, DECODE_BF16);
	struct run *r;

	for (int i = 0; i < 3; i++) {
		o.prompt = i ? NULL : "7";
		o.context = i == 2 ? 5 : 0;
		r = run_begin(o);
		run_steps(r, 10);
		run_passes(r, 10);
		run_end(r);
	}
}

static void many_workers(void)
{
	setenv("RIFT_CPU_WORKERS", "16", 1);
	need_device();
}

TestSuite(small_decode_splits, .timeout = 300, .init = many_workers);

/* A long cache is split among blocks. The CPU device has workers as a GPU has multiprocessors. */
Test(small_decode_splits, attention_in_splits)
{
	struct decode_opts o = { .batch = 1, .layers = 1, .context = 1500, .seed = 3 };
	struct run *r;

	if (RACES)
		cr_skip("takes minutes under the thread sanitizer");
	o.precision = DECODE_FP32;
	r = run_begin(o);
	cr_assert(r->s.device.splits > 1, "%u splits", r->s.device.splits);
	run_steps(r, 2);
	run_passes(r, 2);
	run_end(r);
}
