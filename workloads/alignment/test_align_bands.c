/*
 * test_align_bands.c - what a band proves and what it does not: distances on either side of it,
 * best paths that leave it, caps.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/on_cpu.h"
#include "tests/races.h"
#include "workloads/alignment/test_batch.h"

TestSuite(small_align_bands, .timeout = 300);
TestSuite(large_align_bands, .timeout = 300);

/* Distances on either side of what each band proves: 31, 32, 63, 64, 127, 128 and their doubles. */
static void acceptance(struct run *r)
{
	char *q = filled(300, 'A'), *t = filled(300, 'A');

	for (size_t d = r->light ? 31 : 29; d <= (r->light ? 65 : 258); d += d == 34	? 27
									     : d == 66	? 59
									     : d == 130 ? 123
											: 1) {
		size_t n = ON_CPU && d < 70 ? 100 : 300;

		if (r->light && d > 33 && d < 63)
			continue;
		memset(t, 'A', 300);
		memset(t + 20, 'C', d);
		if (r->light) {
			add(r, q, 100, t, 100);
			continue;
		}
		add(r, q, n, t, n);
		add(r, q, n - 20, t, n - 7);
		add(r, t, n, q, n - 39);
	}
	free(q);
	free(t);
}

Test(large_align_bands, distances_at_the_edge_of_what_a_band_proves)
{
	all_choices(acceptance);
}

/*
 * The best path of a sequence and its rotation by r leaves the diagonal by r. Where a band ends
 * just before, paths inside it are dearer by one or two: these must not pass for the best.
 */
static void rotations(struct run *r)
{
	static const size_t shifts[] = { 14, 15, 16, 17, 30, 31, 32, 33 };
	uint64_t state = 10;
	char s[150], t[150];

	for (int i = 0; i < (r->light ? 16 : ON_CPU ? 48 : 120); i++) {
		size_t shift = shifts[i % 8], n = 2 * shift + 2 + draw(&state) % 60;

		random_letters(&state, s, n, 2);
		memcpy(t, s + shift, n - shift);
		memcpy(t + n - shift, s, shift);
		add(r, s, n, t, n);
		add(r, t, n, s, n - draw(&state) % 3);
	}
}

/* A few of both. */
static void either(struct run *r)
{
	acceptance(r);
	rotations(r);
}

Test(small_align_bands, distances_at_the_edge_and_rotations)
{
	few_choices(either);
}

Test(large_align_bands, rotations_that_leave_the_band)
{
	all_choices(rotations);
}

/* A cap beyond what a band proves is no reason to believe it. */
static void rotations_capped(bool light)
{
	need_device();
	for (int cap = 30; cap <= (RACES ? 30 : 70); cap += light ? 32 : 8)
		for (int c = 0; c < 4; c += 3) {
			struct alignment_opts o = default_opts();
			struct run *r;

			o.cap = cap;
			r = run_new(o);
			r->light = light;
			rotations(r);
			run_setup(r, &all_kernels[c]);
			run_steps(r, 1);
			cr_assert(run_check(r, 1).passed, "%s, cap %d: %s", kernel_names[c], cap,
				  run_check(r, 1).worst);
			run_end(r);
		}
}

Test(small_align_bands, rotations_under_a_cap)
{
	rotations_capped(true);
}

Test(large_align_bands, rotations_under_a_cap)
{
	rotations_capped(false);
}

/* Two strips and more of each height, 4,096 rows or at most 1,024, the bands narrower and wider
 * than a strip. */
static void long_pairs(struct run *r)
{
	static const enum alignment_profile profiles[] = { ALIGN_BALANCED, ALIGN_BURSTY };
	bool high = all_kernels[r->choice].strip == ALIGN_L32X4;

	for (int i = 0; i < 2; i++) {
		struct alignment_recipe recipe = { 1,
						   !ON_CPU ? 9000
						   : high  ? 5000
							   : 2500,
						   profiles[i], i ? 0.15 : 0.02, 3 };
		struct alignment_batch b;

		memset(&b, 0, sizeof(b));
		cr_assert(!alignment_generate(&recipe, &b), "pairs");
		add(r, (const char *)b.letters + b.pair[0].query, b.pair[0].m,
		    (const char *)b.letters + b.pair[0].target, b.pair[0].n);
		alignment_batch_release(&b);
	}
}

Test(large_align_bands, several_strips_of_each_height)
{
	all_choices(long_pairs);
}
