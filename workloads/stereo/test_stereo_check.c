/*
 * test_stereo_check.c - what the check finds: pixels, bytes and copies that are not as they must
 * be, in small images and large ones; images that no generator makes; and ways that they travel.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/stereo/reference.h"
#include "workloads/stereo/test_stereo.h"

TestSuite(small_stereo_check, .timeout = 300);
TestSuite(large_stereo_check, .timeout = 300);

static void spoil(int32_t *p, int32_t value)
{
	CUDA(cudaMemcpy(p, &value, sizeof(value), cudaMemcpyHostToDevice));
}

static void again(struct run *r)
{
	run_reset(r);
	run_steps(r, 1);
	run_passes(r, 1);
}

Test(small_stereo_check, pixels_and_bytes)
{
	enum { W = 21, H = 9, LAST = W * H - 1 }; /* one step comes to the first of two slots */
	struct run *r;
	int32_t *out;

	need_device();
	r = run_begin(make_opts(W, H));
	out = out_on_device(r, 0);
	again(r);
	spoil(out + LAST, 3);
	run_fails(r, 1, "pixel (20,8), slot 0: 3 instead of -");
	again(r);
	spoil(out + 30, 0x7f7f7f7f);
	run_fails(r, 1, "no disparity, slot 0, pixel 30");
	again(r);
	spoil(out + LAST + 1, 0);
	run_fails(r, 1, "written where nothing was to be, slot 0, pixel 189");
	again(r);
	spoil(out_on_device(r, 1) + 5, 0);
	run_fails(r, 1, "written where nothing was to be, slot 1, pixel 5");
	run_reset(r);
	run_fails(r, 1, "0 steps were counted, not 1");
	run_end(r);
}

/* A pixel that is off by one in an image that is compared by sums. */
Test(small_stereo_check, one_pixel_of_many)
{
	struct run *r;
	int32_t value;

	need_device();
	r = run_begin(make_opts(120, 70));
	run_steps(r, 1);
	run_passes(r, 1);
	CUDA(cudaMemcpy(&value, out_on_device(r, 0) + 8399, 4, cudaMemcpyDeviceToHost));
	spoil(out_on_device(r, 0) + 8399, value + 1);
	run_fails(r, 1, "pixel (119,69), slot 0");
	run_end(r);
}

Test(small_stereo_check, every_byte_that_was_copied)
{
	enum { W = 19, H = 21, PIXELS = W * H };
	char *first, *second;
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(W, H, 0, 0));
	first = (char *)out_on_host(r, 0);
	second = (char *)out_on_host(r, 1);
	run_steps(r, 2);
	run_passes(r, 2);
	first[0] ^= 1;
	run_fails(r, 2, "came back different from what was computed, slot 0, pixel 0");
	first[0] ^= 1;
	second[4 * PIXELS - 1] ^= 1;
	run_fails(r, 2, "different from what was computed, slot 1, pixel 398");
	second[4 * PIXELS - 1] ^= 1;
	second[4 * PIXELS] = 0;
	run_fails(r, 2, "written where nothing was to be, slot 1, pixel 399");
	second[4 * PIXELS] = SLOTS_POISON_INTEGER;
	run_passes(r, 2);
	run_end(r);
}

/* Other images that travelled as they should: the check makes its own. */
Test(small_stereo_check, wrong_inputs)
{
	struct run *r;

	need_device();
	for (int k = 0; k < 2; k++) {
		r = run_begin(streamed_opts(30, 12, 0, 0));
		for (int i = 0; i < 300; i++)
			on_host(r, k, 0)[i] = 0xffffff;
		run_steps(r, 1);
		run_fails(r, 1, "came back different from what was computed, slot 0");
		run_end(r);
	}
}

/* The same as data=resident, however they travel. */
Test(small_stereo_check, disparities_are_those_of_resident_images)
{
	enum { ROWS = 21 };
	struct run *resident, *streamed;
	int32_t *want, *got;
	size_t bytes;

	need_device();
	resident = run_begin(make_opts(30, ROWS));
	run_steps(resident, 2);
	want = run_outputs(resident, &bytes);
	for (int overlap = 0; overlap <= 4; overlap += 4) {
		streamed = run_begin(streamed_opts(30, ROWS, 0, overlap));
		run_steps(streamed, 2);
		got = run_outputs(streamed, &bytes);
		cr_assert(!memcmp(want, got, bytes), "overlap=%d", overlap);
		free(got);
		run_end(streamed);
	}
	free(want);
	run_end(resident);
}

/*
 * All but row 8 is black, and that is the last row that the first chunk, row 0, depends on: it has
 * to come with that chunk. Nodes of a graph run one after the other on the CPU device.
 */
Test(small_stereo_check, rows_below_come_with_a_chunk)
{
	enum { W = 24, H = 16, AT = 8 * W };
	struct stereo_pair pair = { { W, H }, NULL, NULL, -16, 0 };
	uint32_t left[W * H] = { 0 }, right[W * H] = { 0 };
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(W, H, 0, H));
	for (int x = 0; x < W; x++) {
		right[AT + x] = (uint32_t)(x * x * 12345) & 0xffffff;
		left[AT + x] = x < 5 ? 0 : right[AT + x - 5];
	}
	memcpy(on_host(r, 0, 0), left, sizeof(left));
	memcpy(on_host(r, 1, 0), right, sizeof(right));
	run_graph(r, 1);
	pair.left = left;
	pair.right = right;
	for (int i = 0; i < W * H; i++)
		cr_assert(out_on_host(r, 0)[i] == stereo_defined(&pair, i % W, i / W), "pixel %d",
			  i);
	run_end(r);
}

/* Pixels of one colour: all costs are equal, the least disparity wins. */
Test(small_stereo_check, ties_go_to_the_least)
{
	enum { W = 150, H = 5, PIXELS = W * H };
	static uint32_t grey[PIXELS];
	int32_t out[PIXELS];
	struct run *r;

	need_device();
	r = run_begin(make_opts(W, H));
	for (int colour = 0; colour < 2; colour++) {
		memset(grey, colour ? 0x33 : 0, sizeof(grey));
		CUDA(cudaMemcpy(on_device(r, colour, 0), grey, sizeof(grey),
				cudaMemcpyHostToDevice));
	}
	run_steps(r, 1);
	CUDA(cudaMemcpy(out, out_on_device(r, 0), sizeof(out), cudaMemcpyDeviceToHost));
	for (int i = 0; i < PIXELS; i++)
		cr_assert(out[i] == -16, "pixel %d: %d", i, out[i]);
	run_end(r);
}

/* White against black: the largest costs that there are, with all four bytes. */
Test(small_stereo_check, the_largest_costs_fit)
{
	enum { W = 40, H = 20, PIXELS = W * H };
	static uint32_t white[PIXELS], black[PIXELS];
	int32_t out[PIXELS];
	struct run *r;

	need_device();
	r = run_begin(make_opts(W, H));
	memset(white, 0xff, sizeof(white));
	for (int i = 0; i < PIXELS; i++) {
		white[i] &= 0xffffff;
		if (i % W == 20)
			black[i] = 0xffffff; /* the less it costs the more windows hold it */
	}
	CUDA(cudaMemcpy(on_device(r, 0, 0), white, sizeof(white), cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(on_device(r, 1, 0), black, sizeof(black), cudaMemcpyHostToDevice));
	run_steps(r, 1);
	CUDA(cudaMemcpy(out, out_on_device(r, 0), sizeof(out), cudaMemcpyDeviceToHost));
	for (int x = 0; x < W; x++) {
		int first =
			12 - x > -16 ? 12 - x : -16; /* the window's right end is at x + d + 8 */
		bool held = first <= 0 && x - 8 + first <= 20;

		cr_assert(out[10 * W + x] == (held ? first : -16), "x=%d: %d", x, out[10 * W + x]);
	}
	run_end(r);
}

/* Where there are more pixels, tiles are compared; all is looked at for poison. */
Test(large_stereo_check, a_sample_of_many_is_compared)
{
	enum { W = 1100, H = 910 };
	struct stereo_opts o = make_opts(W, H);
	struct verdict v;
	struct run *r;

	need_device();
	o.set.slots = 1;
	r = run_begin(o);
	run_steps(r, 1);
	v = run_check(r, 1, false);
	cr_assert(v.passed && v.compared < W * H / 16 && v.total == W * H, "%g: %s, %ld", v.error,
		  v.worst, (long)v.compared);
	spoil(out_on_device(r, 0) + W * H - 1, 1);
	v = run_check(r, 1, false);
	cr_assert(!v.passed && strstr(v.worst, "pixel (1099,909), slot 0: 1"), "%s", v.worst);
	spoil(out_on_device(r, 0) + 123456, 0x7f7f7f7f);
	v = run_check(r, 1, false);
	cr_assert(!v.passed && strstr(v.worst, "no disparity, slot 0, pixel 123456"), "%s",
		  v.worst);
	run_end(r);
}
