/*
 * test_radixsort_values.c - known answers: hashes of keys and of sorted pairs, computed by separate
 * programs, of the reference and of the kernels.
 */
/* compiled with -O2: it computes much */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/radixsort/test_pairs.h"

#include "common/fnv.h"
#include "common/philox.h"
#include "tests/on_cpu.h"
#include "workloads/radixsort/reference.h"

TestSuite(small_radixsort_values, .timeout = 300);
TestSuite(large_radixsort_values, .timeout = 300);

/* The pairs of seed 1, slot 0. */
struct known {
	uint32_t n;
	int keys;
	uint64_t in, out, values; /* hashes of the keys, and of both sorted */
	struct radixsort_pair first, last;
	int64_t equal; /* neighbours; -1: not known */
};

static const struct known small[] = {
	{ 1,
	  RADIXSORT_UNIFORM,
	  0x7c5444df8d4cf690,
	  0x7c5444df8d4cf690,
	  0x4d25767f9dce13f5,
	  { 0x6e27a937, 0 },
	  { 0x6e27a937, 0 },
	  0 },
	{ 1000,
	  RADIXSORT_UNIFORM,
	  0xca5c8623deeca0e5,
	  0x56ef72e03c706961,
	  0x5c19fb1b6e053e3d,
	  { 0x00834990, 688 },
	  { 0xffad3c32, 275 },
	  -1 },
	{ 1 << 16,
	  RADIXSORT_UNIFORM,
	  0x2bfa12d4d2ad0a3d,
	  0x46648cfec9035c2d,
	  0x7d5d0819a3655c6d,
	  { 0x0000048b, 33642 },
	  { 0xfffef923, 65139 },
	  -1 },
};

static const struct known large[] = {
	{ 1000003,
	  RADIXSORT_UNIFORM,
	  0x5f8343738aba503c,
	  0xe5434434c5ea2184,
	  0x788a9d18bba11c8f,
	  { 0x0000048b, 33642 },
	  { 0xffffd37f, 808850 },
	  -1 },
	{ 1 << 20,
	  RADIXSORT_UNIFORM,
	  0x3c6f58feda18014e,
	  0x6ce457fe13aaac5a,
	  0xca128b583c8777a9,
	  { 0x0000048b, 33642 },
	  { 0xffffd37f, 808850 },
	  130 },
	{ 1 << 20,
	  RADIXSORT_FEW,
	  0xb8e14399baee2f05,
	  0xfa99d49a32ac1f75,
	  0x3679d773d978cdb9,
	  { 0, 9 },
	  { 0xffffffff, 1048541 },
	  (1 << 20) - 16 },
	{ 1 << 20,
	  RADIXSORT_EQUAL,
	  0x12e19fe0b2222325,
	  0x12e19fe0b2222325,
	  0x7126d9d344bbab25,
	  { 0x5a5a5a5a, 0 },
	  { 0x5a5a5a5a, (1 << 20) - 1 },
	  (1 << 20) - 1 },
	{ 1 << 20,
	  RADIXSORT_TOPBYTE,
	  0x16b7e6430d79baa2,
	  0x3b2c8d0266c8c982,
	  0x6fa461bd486bcc01,
	  { 0, 212 },
	  { 0xff000000, 1048490 },
	  (1 << 20) - 256 },
	{ 1 << 24,
	  RADIXSORT_UNIFORM,
	  0x47a2102805f8454d,
	  0x536795299f416171,
	  0xba2df1ef43946a01,
	  { 0x0000027e, 8804141 },
	  { 0xfffffd55, 5790249 },
	  32728 },
};

static struct radixsort_pair *pairs_new(int64_t n)
{
	struct radixsort_pair *p = malloc((size_t)n * sizeof(*p));

	CHECK(p, "%ld pairs", (long)n);
	return p;
}

static void hashes(const struct radixsort_pair *p, uint32_t n, uint64_t *keys, uint64_t *values)
{
	*keys = *values = FNV_START;
	for (uint32_t i = 0; i < n; i++) {
		*keys = fnv_add(*keys, &p[i].key, sizeof(p[i].key));
		*values = fnv_add(*values, &p[i].value, sizeof(p[i].value));
	}
}

static void pair_is(const char *which, uint32_t n, struct radixsort_pair got,
		    struct radixsort_pair want)
{
	cr_assert(got.key == want.key && got.value == want.value, "n=%u, %s: %08x/%u", n, which,
		  got.key, got.value);
}

static void sorted_is(const char *who, const struct known *k, const struct radixsort_pair *p)
{
	uint64_t keys, values;
	int64_t equal = 0;

	hashes(p, k->n, &keys, &values);
	cr_assert(keys == k->out && values == k->values, "%s n=%u keys=%d: %016lx %016lx", who,
		  k->n, k->keys, (unsigned long)keys, (unsigned long)values);
	pair_is("first", k->n, p[0], k->first);
	pair_is("last", k->n, p[k->n - 1], k->last);
	for (uint32_t i = 1; i < k->n; i++)
		equal += p[i].key == p[i - 1].key;
	cr_assert(k->equal < 0 || equal == k->equal, "n=%u: %ld equal", k->n, (long)equal);
}

/* ---- the reference ---------------------------------------------------------------------- */

static void reference_knows(const struct known *k)
{
	struct radixsort_pair *p = pairs_new(2 * (int64_t)k->n);
	uint64_t keys, values;

	radixsort_reference_input(p, k->n, k->keys, 0, 1);
	hashes(p, k->n, &keys, &values);
	cr_assert(keys == k->in, "n=%u keys=%d: input %016lx", k->n, k->keys, (unsigned long)keys);
	radixsort_reference_sort(p, p + k->n, k->n);
	sorted_is("reference", k, p);
	free(p);
}

Test(small_radixsort_values, the_reference_sorts_as_is_known)
{
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++)
		reference_knows(&small[i]);
}

Test(large_radixsort_values, the_reference_sorts_millions_as_is_known)
{
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
		if (!ON_CPU || large[i].n <= 1 << 20)
			reference_knows(&large[i]);
}

Test(small_radixsort_values, keys_are_the_known_ones)
{
	static const uint32_t first[] = { 0x6e27a937, 0xbe2662ab, 0xc179109e, 0x4d5019af };
	struct radixsort_pair p[7];

	for (uint32_t i = 0; i < 4; i++)
		cr_assert(radixsort_reference_key(RADIXSORT_UNIFORM, i, 4, 0, 1) == first[i], "%u",
			  i);
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t word = philox4x32(i / 4, 3, 22, 0, 7).word[i % 4];

		cr_assert(radixsort_reference_key(RADIXSORT_UNIFORM, i, 8, 3, 7) == word,
			  "slot 3, seed 7: %u", i);
	}
	radixsort_reference_input(p, 7, RADIXSORT_REVERSE, 0, 1);
	for (uint32_t i = 0; i < 7; i++)
		cr_assert(p[i].key == 6 - i && p[i].value == i, "reverse %u", i);
	radixsort_reference_input(p, 7, RADIXSORT_SORTED, 0, 1);
	for (uint32_t i = 0; i < 7; i++)
		cr_assert(p[i].key == i, "sorted %u", i);
}

/* Worked by hand: 2 and 0 come twice, in the order of their values. */
Test(small_radixsort_values, the_reference_is_stable)
{
	struct radixsort_pair p[10] = { { 2, 0 }, { 0x80000000, 1 }, { 0, 2 }, { 2, 3 }, { 0, 4 } };
	static const uint32_t values[] = { 2, 4, 0, 3, 1 };

	radixsort_reference_sort(p, p + 5, 5);
	for (int i = 0; i < 5; i++)
		cr_assert(p[i].value == values[i], "%d: %u", i, p[i].value);
}

/* ---- the kernels ------------------------------------------------------------------------ */

static void fetch(const struct run *r, const uint32_t *keys, const uint32_t *values,
		  struct radixsort_pair *p)
{
	size_t n = (size_t)r->o.pairs;
	uint32_t *words = malloc(2 * n * sizeof(*words));

	CHECK(words, "memory");
	CUDA(cudaMemcpy(words, keys, n * sizeof(*words), cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(words + n, values, n * sizeof(*words), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < n; i++)
		p[i] = (struct radixsort_pair){ words[i], words[n + i] };
	free(words);
}

/* The device makes the keys, and sorts them. */
static void kernels_know(const struct known *k)
{
	struct radixsort_pair *p = pairs_new(k->n);
	struct radixsort_opts o = make_opts(k->n);
	uint64_t keys, values;
	struct run *r;

	o.keys = k->keys;
	o.set.slots = 1;
	r = run_begin(o);
	fetch(r, device_in(r, 0, 0), device_in(r, 1, 0), p);
	hashes(p, k->n, &keys, &values);
	cr_assert(keys == k->in, "n=%u: input %016lx", k->n, (unsigned long)keys);
	run_steps(r, 1);
	fetch(r, device_out(r, 0, 0), device_out(r, 1, 0), p);
	sorted_is("kernels", k, p);
	run_end(r);
	free(p);
}

Test(small_radixsort_values, the_kernels_sort_as_is_known)
{
	need_device();
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++)
		kernels_know(&small[i]);
}

/* On the CPU device uniform keys only once, of a million pairs that are no whole tiles. */
Test(large_radixsort_values, the_kernels_sort_millions_as_is_known)
{
	need_device();
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
		if (!ON_CPU || (large[i].n <= 1 << 20 && i != 1))
			kernels_know(&large[i]);
}
