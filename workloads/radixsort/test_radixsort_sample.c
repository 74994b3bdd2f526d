/*
 * test_radixsort_sample.c - of many pairs the check looks at some: how many, and which faults it
 * finds all the same. What it copies back is counted.
 */
#include "tests/plain.h"
#include "tests/counted_back.h"
#include "workloads/radixsort/test_pairs.h"

TestSuite(large_radixsort_sample, .timeout = 300);

enum {
	SOME = 1 << 17,	  /* pairs that are looked at here, not 1 << 20 */
	N = SOME + 12345, /* two slots of these are more than all are compared of */
	MIDDLE = N / 2,
	STRETCH = 20000, /* windows are closer than that */
	PAIR = 16,	 /* bytes of one, and of the input that is looked at with it */
};

static struct verdict sampled(struct run *r, int64_t steps)
{
	return run_check(r, steps, false);
}

static void sample_passes(struct run *r)
{
	struct verdict v = sampled(r, 2);

	cr_assert(v.passed, "error %g: %s", v.error, v.worst);
}

/* n words are XORed with `bits`, the check fails with this text, and they are as before. */
static void finds(struct run *r, uint32_t *word, int n, uint32_t bits, const char *says)
{
	size_t bytes = (size_t)n * sizeof(*word);
	uint32_t *keep = malloc(bytes), *other = malloc(bytes);
	struct verdict v;

	CHECK(keep && other, "memory");
	CUDA(cudaMemcpy(keep, word, bytes, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		other[i] = bits ? keep[i] ^ bits : 0x7f7f7f7f;
	CUDA(cudaMemcpy(word, other, bytes, cudaMemcpyHostToDevice));
	v = sampled(r, 2);
	cr_assert(!v.passed && strstr(v.worst, says), "not '%s': error %g, %s", says, v.error,
		  v.worst);
	CUDA(cudaMemcpy(word, keep, bytes, cudaMemcpyHostToDevice));
	free(keep);
	free(other);
}

/* From here to there, as a copy to a wrong place would leave it; what lay there comes back. */
static void finds_copied(struct run *r, uint32_t *const to[2], uint32_t *const from[2], int n,
			 const char *says)
{
	size_t bytes = (size_t)n * sizeof(uint32_t);
	uint32_t *keep = malloc(2 * bytes);
	struct verdict v;

	CHECK(keep, "memory");
	for (int k = 0; k < 2; k++) {
		CUDA(cudaMemcpy(keep + k * n, to[k], bytes, cudaMemcpyDeviceToHost));
		CUDA(cudaMemcpy(to[k], from[k], bytes, cudaMemcpyDeviceToDevice));
	}
	v = sampled(r, 2);
	cr_assert(!v.passed && strstr(v.worst, says), "not '%s': error %g, %s", says, v.error,
		  v.worst);
	for (int k = 0; k < 2; k++)
		CUDA(cudaMemcpy(to[k], keep + k * n, bytes, cudaMemcpyHostToDevice));
	free(keep);
}

static void some_pairs_are_looked_at(struct run *r)
{
	struct verdict v, again;

	back = 0;
	v = sampled(r, 2);
	cr_assert(v.passed && v.total == 2 * N, "error %g: %s, of %ld", v.error, v.worst,
		  (long)v.total);
	cr_assert(v.compared <= SOME && v.compared > SOME / 2, "%ld pairs", (long)v.compared);
	cr_assert(back <= PAIR * SOME + (1 << 17), "%zu bytes were copied back", back);
	again = run_check(r, 2, true);
	cr_assert(again.passed && again.compared == 2 * N, "full: %ld", (long)again.compared);
}

Test(large_radixsort_sample, all_of_few_pairs_are_looked_at)
{
	struct verdict v;
	struct run *r;

	need_device();
	r = run_begin(make_opts(1 << 15));
	run_steps(r, 2);
	v = sampled(r, 2);
	cr_assert(v.passed && v.compared == v.total, "%ld of few pairs", (long)v.compared);
	run_end(r);
}

static void faults_are_found(struct run *r)
{
	for (int64_t slot = 0; slot < 2; slot++) {
		uint32_t *keys = device_out(r, 0, slot), *values = device_out(r, 1, slot);
		uint32_t *in = device_in(r, 0, slot);

		finds(r, keys, 1, 1, "another key than was given with its value");
		finds(r, keys + N - 1, 1, 1, "another key than was given with its value");
		finds(r, values, 1, 1, "another key than was given with its value");
		finds(r, values + N - 1, 1, 0, "no pair");
		finds(r, values + N - 1, 1, 1u << 30, "a value that was not given");
		finds(r, keys + MIDDLE, STRETCH, 1, "another key than was given with its value");
		finds(r, values + MIDDLE, STRETCH, 0, "no pair");
		finds(r, values, N, 0, "no pair");
		finds(r, in, 1, 1, "the input has changed");
		finds(r, in + N - 1, 1, 1, "the input has changed");
		finds(r, in + MIDDLE, STRETCH, 1, "the input has changed");
	}
	sample_passes(r);
}

/* Right pairs in wrong places. */
static void pairs_elsewhere_are_found(struct run *r)
{
	uint32_t *first[2], *second[2], *third[2], *other[2];

	for (int k = 0; k < 2; k++) {
		first[k] = device_out(r, k, 0);
		second[k] = first[k] + 1;
		third[k] = first[k] + MIDDLE;
		other[k] = device_out(r, k, 1);
	}
	finds_copied(r, second, first, 1, "a value that came before, slot 0, pair 1");
	finds_copied(r, third, first, STRETCH, "before");
	finds_copied(r, other, first, N, "another key than was given with its value, slot 1");
	finds_copied(r, first, other, N, "another key than was given with its value, slot 0");
	sample_passes(r);
}

/* All of one run. */
Test(large_radixsort_sample, some_pairs_of_many)
{
	struct run *r;

	need_device();
	cr_assert(radixsort_looked_at == 1 << 20, "as long as nobody asks for fewer");
	radixsort_looked_at = SOME;
	r = run_begin(make_opts(N));
	run_steps(r, 2);
	some_pairs_are_looked_at(r);
	faults_are_found(r);
	pairs_elsewhere_are_found(r);
	run_end(r);
}

/* One slot of 64 has answers; the others are poison, and more than the audit reads in time. */
Test(large_radixsort_sample, some_words_of_slots_without_answers_are_looked_at)
{
	enum { FEW = 200000, SLOTS = 64, ALL = (SLOTS - 1) * FEW * 8, LOOK = 4 << 24 };
	static const struct {
		int64_t slot;
		int at, n;
	} stray[] = { { 1, 0, 1 }, { 63, FEW - 1, 1 }, { 63, FEW, 1 }, { 32, FEW / 2, 40000 } };
	struct radixsort_opts o = make_opts(FEW);
	struct verdict v;
	struct run *r;

	need_device();
	o.set.slots = SLOTS;
	r = run_begin(o);
	run_steps(r, 1);
	back = 0;
	v = sampled(r, 1);
	cr_assert(v.passed && v.total == FEW, "error %g: %s", v.error, v.worst);
	cr_assert(back <= LOOK + PAIR * FEW + (1 << 20), "%zu bytes were copied back", back);
	back = 0;
	run_passes(r, 1);
	cr_assert(back >= ALL, "full: %zu bytes", back);
	for (size_t i = 0; i < sizeof(stray) / sizeof(*stray); i++) {
		uint32_t *at = device_out(r, 1, stray[i].slot) + stray[i].at;

		CUDA(cudaMemset(at, 0, (size_t)stray[i].n * sizeof(*at)));
		v = sampled(r, 1);
		cr_assert(!v.passed && strstr(v.worst, "written where nothing was to be"), "%zu",
			  i);
		CUDA(cudaMemset(at, SLOTS_POISON_INTEGER, (size_t)stray[i].n * sizeof(*at)));
	}
	run_end(r);
}
