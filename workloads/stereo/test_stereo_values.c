/*
 * test_stereo_values.c - known answers: images, disparities, and how many are as they were drawn.
 * They were computed by separate programs.
 */
/* compiled with -O2: it computes much */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/stereo/test_stereo.h"

#include "common/fnv.h"
#include "workloads/stereo/inputs.h"
#include "workloads/stereo/reference.h"

TestSuite(small_stereo_values, .timeout = 300);
TestSuite(large_stereo_values, .timeout = 300);

struct known {
	int32_t w, h;
	uint64_t left, right; /* hashes of the pixels */
	uint64_t hash;	      /* of the disparities, a byte each */
	int64_t sum;	      /* of them */
	double as_drawn;      /* share, to four places */
};

static const struct known few[] = {
	{ 1, 1, 0x1297e517a299a329, 0xedd6425926cb3d02, 0xaf646d4c8602e2ef, -16, 0 },
	{ 5, 3, 0x716a4f477322d3c0, 0x81db209c95ea2fc0, 0x05a9554ef0621579, -30, 0.3333 },
	{ 64, 48, 0x9e5ade67b3a3db99, 0x654ec6334e00d6c5, 0x65ba17477fadd78d, -12578, 0.8714 },
};

static const struct known many[] = {
	{ 333, 257, 0xc45520e928fa3d53, 0x91e87bf27325ae89, 0x3c5c4f9aceb536b0, -378561, 0.9753 },
	{ 640, 533, 0xecee419a5adce12a, 0xf04fad45a7eeab62, 0x9b83c201008505b1, -1534480, 0.9964 },
	{ 1920, 1080, 0x9870d82ca7e4bd0b, 0xd40725539a4e01eb, 0x437cc4515bc8af7c, -9357197,
	  0.9994 },
	{ 4096, 2048, 0x1eb0e3c355f02f56, 0xf2f41e8fee728900, 0xe2ae75bd80cb7a96, -37870381,
	  0.9998 },
};

/* ---- images ----------------------------------------------------------------------------- */

struct images {
	struct stereo_size size;
	size_t n;
	uint32_t *left, *right;
	int32_t *out;
};

static struct images make_images(int32_t w, int32_t h)
{
	struct images im = { .size = { w, h }, .n = (size_t)w * (size_t)h };

	im.left = malloc(im.n * 4);
	im.right = malloc(im.n * 4);
	im.out = malloc(im.n * 4);
	cr_assert(im.left && im.right && im.out, "memory");
	for (int32_t y = 0; y < h; y++)
		for (int32_t x = 0; x < w; x++) {
			im.left[(int64_t)y * w + x] = stereo_left(x, y, im.size, 0, 1);
			im.right[(int64_t)y * w + x] = stereo_right(x, y, 0, 1);
		}
	return im;
}

static void drop(struct images *im)
{
	free(im->left);
	free(im->right);
	free(im->out);
}

Test(small_stereo_values, images_are_the_known_ones)
{
	for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++) {
		struct images im = make_images(few[i].w, few[i].h);

		cr_assert(fnv_add(FNV_START, im.left, im.n * 4) == few[i].left, "left %d",
			  few[i].w);
		cr_assert(fnv_add(FNV_START, im.right, im.n * 4) == few[i].right, "right %d",
			  few[i].w);
		if (few[i].w == 64)
			cr_assert(im.left[0] == 0x4a2b73 && im.left[1] == 0xba5ee0 &&
					  im.right[0] == 0xf03b1a,
				  "%x %x %x", im.left[0], im.left[1], im.right[0]);
		drop(&im);
	}
}

/* ---- disparities ------------------------------------------------------------------------ */

static void are_known(const struct images *im, const struct known *k, const char *whose)
{
	uint64_t hash = FNV_START;
	int64_t sum = 0, same = 0;

	for (size_t i = 0; i < im->n; i++) {
		int8_t d = (int8_t)im->out[i];

		cr_assert(d == im->out[i], "%s: %d", whose, im->out[i]);
		hash = fnv_add(hash, &d, 1);
		sum += d;
		same += d == stereo_truth((int32_t)(i % (size_t)k->w), (int32_t)(i / (size_t)k->w),
					  im->size);
	}
	cr_assert(hash == k->hash && sum == k->sum, "%s: %d x %d: hash %016lx, sum %ld", whose,
		  k->w, k->h, (unsigned long)hash, (long)sum);
	cr_assert(fabs((double)same / (double)im->n - k->as_drawn) < 6e-5, "%s: %ld as drawn",
		  whose, (long)same);
}

static void by_definition(struct images *im)
{
	const struct stereo_pair pair = { im->size, im->left, im->right, -16, 0 };

	for (size_t i = 0; i < im->n; i++)
		im->out[i] = stereo_defined(&pair, (int32_t)(i % (size_t)im->size.w),
					    (int32_t)(i / (size_t)im->size.w));
}

static int32_t inside(int32_t y, int32_t h)
{
	return y < 0 ? 0 : y < h ? y : h - 1;
}

static void by_sums(struct images *im, int32_t dmin, int32_t dmax)
{
	int32_t w = im->size.w, h = im->size.h;
	struct stereo_sums s = stereo_sums_new(w, dmin, dmax);

	for (int32_t y = -STEREO_RADIUS; y < h + STEREO_RADIUS; y++) {
		int64_t in = (int64_t)inside(y, h) * w, out = (int64_t)inside(y - 17, h) * w;

		stereo_sums_row(&s, im->left + in, im->right + in, 1);
		if (y > STEREO_RADIUS)
			stereo_sums_row(&s, im->left + out, im->right + out, -1);
		if (y >= STEREO_RADIUS)
			stereo_sums_best(&s, im->out + (int64_t)(y - STEREO_RADIUS) * w);
	}
	stereo_sums_free(&s);
}

Test(small_stereo_values, both_references_give_the_known_disparities)
{
	for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++) {
		struct images im = make_images(few[i].w, few[i].h);

		by_definition(&im);
		are_known(&im, &few[i], "definition");
		by_sums(&im, -16, 0);
		are_known(&im, &few[i], "sums");
		drop(&im);
	}
}

/* From -16 on, at 64 x 48. */
Test(small_stereo_values, the_histogram_is_the_known_one)
{
	static const int known[17] = {
		0, 0, 0, 0, 220, 0, 0, 0, 261, 0, 0, 0, 895, 878, 818, 0, 0
	};
	struct images im = make_images(64, 48);
	int count[17] = { 0 };

	by_sums(&im, -16, 0);
	for (size_t i = 0; i < im.n; i++)
		count[im.out[i] + 16]++;
	for (int d = 0; d < 17; d++)
		cr_assert(count[d] == known[d], "%d: %d", d - 16, count[d]);
	drop(&im);
}

/* Other ranges, and images smaller than a window. */
Test(small_stereo_values, the_references_agree)
{
	static const int32_t cases[][4] = {
		{ 9, 7, -5, 6 },
		{ 30, 5, 0, 3 },
		{ 3, 30, -40, -30 },
		{ 20, 21, -64, 64 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct images im = make_images(cases[i][0], cases[i][1]);
		const struct stereo_pair pair = { im.size, im.left, im.right, cases[i][2],
						  cases[i][3] };

		by_sums(&im, pair.dmin, pair.dmax);
		for (int32_t y = 0; y < im.size.h; y++)
			for (int32_t x = 0; x < im.size.w; x++)
				cr_assert(im.out[y * im.size.w + x] == stereo_defined(&pair, x, y),
					  "case %zu: (%d,%d)", i, x, y);
		drop(&im);
	}
}

/* The least disparity wins among equal costs. */
Test(small_stereo_values, ties_go_to_the_least)
{
	struct images im = make_images(40, 20);

	for (size_t i = 0; i < im.n; i++) {
		im.left[i] = 0x102030;
		im.right[i] = 0x010203;
	}
	by_sums(&im, -16, 0);
	for (size_t i = 0; i < im.n; i++)
		cr_assert(im.out[i] == -16, "sums: %d", im.out[i]);
	by_definition(&im);
	for (size_t i = 0; i < im.n; i++)
		cr_assert(im.out[i] == -16, "definition: %d", im.out[i]);
	drop(&im);
}

/* ---- steps ------------------------------------------------------------------------------ */

static void steps_know(const struct known *k)
{
	struct images im = { .size = { k->w, k->h }, .n = (size_t)k->w * (size_t)k->h };
	struct stereo_opts o = make_opts(k->w, k->h);
	struct run *r;

	o.set.slots = 1;
	r = run_begin(o);
	run_steps(r, 1);
	im.out = malloc(im.n * 4);
	cr_assert(im.out, "memory");
	CUDA(cudaMemcpy(im.out, on_device(r, 0, 0), im.n * 4, cudaMemcpyDeviceToHost));
	cr_assert(fnv_add(FNV_START, im.out, im.n * 4) == k->left, "left %d", k->w);
	CUDA(cudaMemcpy(im.out, on_device(r, 1, 0), im.n * 4, cudaMemcpyDeviceToHost));
	cr_assert(fnv_add(FNV_START, im.out, im.n * 4) == k->right, "right %d", k->w);
	CUDA(cudaMemcpy(im.out, out_on_device(r, 0), im.n * 4, cudaMemcpyDeviceToHost));
	are_known(&im, k, "steps");
	free(im.out);
	run_end(r);
}

Test(small_stereo_values, steps_give_the_known_disparities)
{
	need_device();
	for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++)
		steps_know(&few[i]);
}

/* Where there is no GPU the largest is left out, and the one before it is known by sums on the host
 * alone. */
Test(large_stereo_values, larger_images_are_known_too)
{
#ifdef RIFT_CPU_DEVICE
	enum { ALL = 3, STEPS = 2 };
#else
	enum { ALL = 4, STEPS = 4 };
#endif

	need_device();
	for (int i = 0; i < ALL; i++) {
		struct images im = make_images(many[i].w, many[i].h);

		by_sums(&im, -16, 0);
		are_known(&im, &many[i], "sums");
		drop(&im);
		if (i < STEPS)
			steps_know(&many[i]);
	}
}
