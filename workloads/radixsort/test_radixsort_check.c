/*
 * test_radixsort_check.c - what the check of the radixsort workload finds, and what it may not see:
 * tile statuses that are not cleared.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/radixsort/test_pairs.h"

#include <dlfcn.h>

TestSuite(small_radixsort_check, .timeout = 300);
TestSuite(large_radixsort_check, .timeout = 300);

static void put(uint32_t *word, uint32_t value)
{
	CUDA(cudaMemcpy(word, &value, sizeof(value), cudaMemcpyHostToDevice));
}

static uint32_t get(const uint32_t *word)
{
	uint32_t value;

	CUDA(cudaMemcpy(&value, word, sizeof(value), cudaMemcpyDeviceToHost));
	return value;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t keep = get(a);

	put(a, get(b));
	put(b, keep);
}

/* So many steps are right; one word is not; it is found, and right again. */
static void finds(struct run *r, int64_t steps, uint32_t *word, uint32_t value, const char *says)
{
	uint32_t keep = get(word);

	put(word, value);
	run_fails(r, steps, says);
	put(word, keep);
}

Test(small_radixsort_check, the_check_finds_what_is_wrong)
{
	enum { LAST = 4999 };
	struct radixsort_opts o = make_opts(LAST + 1);
	struct run *r;

	need_device();
	r = run_begin(o);
	run_steps(r, 2);
	finds(r, 2, device_out(r, 0, 0), 5, "another key than merged, slot 0, pair 0");
	finds(r, 2, device_out(r, 1, 1) + LAST, 4711,
	      "another value than merged, slot 1, pair 4999");
	finds(r, 2, device_out(r, 1, 1) + 77, 0x7f7f7f7f, "no pair, slot 1, pair 77");
	finds(r, 2, device_out(r, 0, 1) + LAST + 1, 0,
	      "written where nothing was to be, slot 1, pair 5000");
	finds(r, 2, device_in(r, 0, 1) + 3, 0, "the input has changed, slot 1, pair 3");
	finds(r, 2, device_in(r, 1, 0) + LAST, 0, "the input has changed, slot 0, pair 4999");
	run_passes(r, 2);
	run_fails(r, 3, "2 steps were counted, not 3");
	run_reset(r);
	run_steps(r, 1);
	put(device_out(r, 1, 1) + 5, 0);
	run_fails(r, 1, "written where nothing was to be, slot 1, pair 5");
	run_end(r);
}

/* Keys are right, and each has a value that was its own; only the order of these is not. */
Test(small_radixsort_check, the_check_finds_equal_keys_in_another_order)
{
	struct radixsort_opts o = make_opts(1000);
	struct run *r;

	need_device();
	o.keys = RADIXSORT_EQUAL;
	o.set.slots = 1;
	r = run_begin(o);
	run_steps(r, 1);
	run_passes(r, 1);
	swap(device_out(r, 1, 0) + 500, device_out(r, 1, 0) + 501);
	run_fails(r, 1, "another value than merged, slot 0, pair 500");
	run_end(r);
}

/* ---- tile statuses ---------------------------------------------------------------------- */

static const struct radixsort_board *board; /* NULL: no matter */
static size_t words;			    /* behind it */
static int launches, left;		    /* of a step; words that its second one finds */

static int words_left(cudaStream_t stream)
{
	uint32_t *word = malloc(words * sizeof(*word));
	int n = 0;

	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaMemcpy(word, board + 1, words * sizeof(*word), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < words; i++)
		n += word[i] != 0;
	free(word);
	return n;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
			     cudaStream_t stream)
{
	cudaError_t (*real)(const void *, dim3, dim3, void **, size_t, cudaStream_t) =
		dlsym(RTLD_NEXT, __func__);

	if (board && ++launches == 2)
		left = words_left(stream);
	return real(kernel, grid, block, args, shared, stream);
}

static int overlapped; /* launches that may overlap the one before */

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
	cudaError_t (*real)(const cudaLaunchConfig_t *, const void *, void **) =
		dlsym(RTLD_NEXT, __func__);

	for (unsigned i = 0; i < config->numAttrs; i++)
		overlapped +=
			config->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization &&
			config->attrs[i].val.programmaticStreamSerializationAllowed;
	return real(config, kernel, args);
}

Test(small_radixsort_check, all_launches_of_a_sort_may_overlap_where_that_is_asked_for)
{
	need_device();
	if (programmatic_check(PROGRAMMATIC_YES))
		cr_skip("launches overlap from compute capability 9.0 on");
	for (int launch = PROGRAMMATIC_NO; launch <= PROGRAMMATIC_YES; launch++) {
		struct radixsort_opts o = make_opts(5000);
		struct run *r;

		o.launch = launch;
		r = run_begin(o);
		overlapped = 0;
		run_steps(r, 1);
		cr_assert(overlapped == (launch ? 5 : 0), "%d of 5 launches", overlapped);
		run_passes(r, 1);
		run_end(r);
	}
}

/*
 * Statuses that another slot's tiles left would lead a step astray: only in a tile that looks
 * back before the tile in question has published its own. No sort shows that each time.
 */
Test(small_radixsort_check, each_step_clears_all_tile_statuses)
{
	struct run *r;

	need_device();
	r = run_begin(make_opts(30000));
	for (int size = 0; size < RADIXSORT_SIZES; size += RACES ? 2 : 1) {
		use_tiles(r, (enum radixsort_size)size);
		words = (size_t)radixsort_board_bytes(30000, r->s.size);
		words = (words - sizeof(*board)) / sizeof(uint32_t);
		CUDA(cudaMemset(r->s.board + 1, 0x7f, words * sizeof(uint32_t)));
		CUDA(cudaDeviceSynchronize()); /* the run's stream does not wait for it */
		board = r->s.board;
		launches = left = 0;
		run_steps(r, 1);
		cr_assert(launches == 5 && !left, "%d launches, %d of %zu words", launches, left,
			  words);
		cr_assert(words_left(0) == (int)words, "a pass has not made its counts known");
		board = NULL;
	}
	run_passes(r, RACES ? 3 : 5);
	run_end(r);
}

/* ---- devices whose blocks have little shared memory -------------------------------------- */

static int most_bytes; /* that they say they have; 0: what they have */

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	cudaError_t (*real)(int *, enum cudaDeviceAttr, int) = dlsym(RTLD_NEXT, __func__);

	if (!most_bytes || attribute != cudaDevAttrMaxSharedMemoryPerBlockOptin)
		return real(value, attribute, device);
	*value = most_bytes;
	return cudaSuccess;
}

/* As of compute capability 7.5. */
Test(large_radixsort_check, tiles_are_smaller_where_blocks_have_little_shared_memory)
{
	struct radixsort_opts o = make_opts(600000);
	struct run *r;

	need_device();
	cr_assert(radixsort_size_for(o.pairs) == RADIXSORT_MIDDLE, "elsewhere");
	most_bytes = 64 << 10;
	o.set.slots = 1;
	r = run_begin(o);
	cr_assert(r->s.size == RADIXSORT_NARROW, "tiles %d", r->s.size);
	run_steps(r, 1);
	run_passes(r, 1);
	run_end(r);
}

/* ---- above 2^22 ------------------------------------------------------------------------- */

/* Only the first byte of keys differs: three of four passes are of one digit, and fast. */
Test(large_radixsort_check, the_rules_for_many_find_what_is_wrong)
{
	enum { N = (1 << 22) + 3, AT = 1234567 };
	struct radixsort_opts o = make_opts(N);
	uint32_t *keys, *values;
	struct run *r;

	need_device();
	o.keys = RADIXSORT_TOPBYTE;
	o.set.slots = 1;
	r = run_begin(o);
	keys = device_out(r, 0, 0);
	values = device_out(r, 1, 0);
	run_steps(r, 1);
	run_passes(r, 1);
	finds(r, 1, values + AT, 0x7f7f7f7f, "no pair, slot 0, pair 1234567");
	finds(r, 1, values + AT, N, "a value that was not given, slot 0, pair 1234567");
	finds(r, 1, values + AT, get(values + AT - 1), "a value that came before");
	finds(r, 1, keys + AT, get(keys + AT) ^ 1, "another key than was given with its value");
	swap(keys + AT, keys + N - 1);
	swap(values + AT, values + N - 1);
	run_fails(r, 1, "a key below the one before it, slot 0, pair 1234568");
	run_end(r);
}

Test(large_radixsort_check, the_rules_for_many_find_equal_keys_in_another_order)
{
	struct radixsort_opts o = make_opts((1 << 22) + 3);
	struct run *r;

	need_device();
	o.keys = RADIXSORT_EQUAL;
	o.set.slots = 1;
	r = run_begin(o);
	run_steps(r, 1);
	run_passes(r, 1);
	swap(device_out(r, 1, 0) + 70, device_out(r, 1, 0) + 71);
	run_fails(r, 1, "equal keys, not as they came, slot 0, pair 71");
	run_end(r);
}
