/*
 * test_align_table.c - the table of made-up pairs that the workload's specification gives: hash of
 * the letters, sum of the distances, the largest.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/on_cpu.h"
#include "workloads/alignment/test_batch.h"

struct row {
	int64_t pairs, length;
	double error;
	uint64_t fnv, cells, sum, largest;
	/* The first few pairs, as the CPU device aligns no more where that takes long. Their sums
	 * are from runs whose sums of all pairs were those above, and are edlib's. */
	int64_t few;
	uint64_t few_sum, few_largest;
};

/* Seed 1, profile balanced. */
static const struct row rows[] = {
	{ 10000, 100, 0.05, UINT64_C(0x7982db262ee81fb5), 99979900, 49033, 14, 600, 3017, 13 },
	{ 10000, 150, 0.001, UINT64_C(0xae069e21982eabf4), 224995200, 1510, 3, 600, 93, 2 },
	{ 10000, 150, 0.01, UINT64_C(0xb7d36852871bc79e), 224982300, 14904, 8, 600, 925, 8 },
	{ 10000, 150, 0.05, UINT64_C(0x6ec0ff98311b7866), 224969550, 73430, 19, 600, 4521, 16 },
	{ 10000, 250, 0.05, UINT64_C(0xfc53f7ba65b60556), 624968250, 122496, 25, 600, 7466, 24 },
	{ 1024, 512, 0.05, UINT64_C(0xcbd2ba197fccd31d), 268393472, 25783, 39, 60, 1521, 37 },
	{ 1024, 1024, 0.05, UINT64_C(0x9744cfe6cc061e06), 1073667072, 51445, 69, 60, 3046, 65 },
	{ 1024, 1024, 0.10, UINT64_C(0xf7147d73f810c04c), 1073703936, 100308, 127, 60, 5875, 118 },
	{ 1, 1000, 0.05, UINT64_C(0xeb91e88689d8c745), 994000, 41, 41, 1, 0, 0 },
	{ 1, 10000, 0.05, UINT64_C(0x705e6689a626f907), 100150000, 468, 468, 1, 0, 0 },
	{ 256, 10000, 0.005, UINT64_C(0x550e2ac403a98cdf), 25599740000, 12611, 69, 16, 855, 69 },
	{ 1, 100000, 0.05, UINT64_C(0x0b8484a74bf96130), 9993500000, 4857, 4857, 1, 0, 0 },
	{ 1024, 4096, 0.05, UINT64_C(0xff914f0701f9216d), 17180979200, 204948, 240, 24, 4845, 238 },
	{ 256, 10000, 0.10, UINT64_C(0x8c6acfa8b7222a0a), 25594210000, 244365, 1029, 6, 5831,
	  1023 },
	{ 256, 16384, 0.05, UINT64_C(0x094c72ff51517ce1), 68723834880, 204353, 866, 3, 2317, 804 },
	{ 32, 65536, 0.05, UINT64_C(0x5e5c7773e088ae53), 137440591872, 102160, 3321, 2, 6388,
	  3225 },
};

enum { ROWS = sizeof(rows) / sizeof(*rows), SMALL_ROWS = 10 };

TestSuite(small_align_table, .timeout = 300);
TestSuite(large_align_table, .timeout = 600);

static struct alignment_opts make_opts(const struct row *row)
{
	struct alignment_opts o = default_opts();

	o.pairs = row->pairs;
	o.length = row->length;
	o.error = row->error;
	return o;
}

static void expect_letters(const struct row *row, const struct alignment_batch *b)
{
	uint64_t cells = 0, fnv = alignment_batch_fnv(b);

	for (int64_t i = 0; i < b->n; i++)
		cells += (uint64_t)b->pair[i].m * b->pair[i].n;
	cr_assert(fnv == row->fnv, "%ld x %ld: letters %016lx", (long)row->pairs, (long)row->length,
		  (unsigned long)fnv);
	cr_assert(cells == row->cells, "%ld x %ld: %ld cells", (long)row->pairs, (long)row->length,
		  (long)cells);
}

/* The CPU device does the least work on long rows with low strips and a first band as wide as the
 * errors; the other strips have long pairs in test_align_bands.c. */
static struct alignment_choice row_choice(const struct row *row, const struct run *r)
{
	struct alignment_choice c = alignment_choose(&r->o, &r->s.batch);

	if (row->pairs > 1 && row->length > 1024)
		c.strip = ALIGN_L4;
	return c;
}

static void generate(const struct row *row, int64_t pairs, const struct run *r,
		     struct alignment_batch *out)
{
	struct alignment_recipe recipe = { pairs, row->length, ALIGN_BALANCED, row->error,
					   (uint64_t)r->o.seed };

	cr_assert(!alignment_generate(&recipe, out), "pairs");
}

/* All letters; the answers of so many pairs. */
static void expect_answers(const struct row *row, int output, int64_t pairs)
{
	struct run *r = run_new(make_opts(row));
	bool all = pairs == row->pairs;
	struct alignment_choice c;
	uint64_t sum = 0, largest = 0;

	r->o.output = output;
	r->o.band = row->error;
	generate(row, row->pairs, r, &r->s.batch);
	expect_letters(row, &r->s.batch);
	c = row_choice(row, r);
	if (!all) {
		run_clear(r);
		generate(row, pairs, r, &r->s.batch);
	}
	cr_assert(!alignment_setup_batch(&r->o, &r->s, c), "setup");
	if (output == ALIGN_CIGAR)
		run_steps(r, 1);
	else /* setup has run the batch */
		alignment_outcome_init(&r->o, &r->s, &r->out);
	for (int64_t i = 0; i < pairs; i++) {
		uint64_t d = r->out.result[i].distance;
		struct alignment_view v = view(r, i);

		sum += d;
		largest = d > largest ? d : largest;
		if (output == ALIGN_CIGAR)
			cr_assert(alignment_replay(&v, r->out.runs[i], r->out.result[i].runs) ==
					  (int64_t)d,
				  "%ld x %ld: pair %ld", (long)row->pairs, (long)row->length,
				  (long)i);
	}
	cr_assert(sum == (all ? row->sum : row->few_sum) &&
			  largest == (all ? row->largest : row->few_largest),
		  "%ld of %ld x %ld: sum %ld, largest %ld", (long)pairs, (long)row->pairs,
		  (long)row->length, (long)sum, (long)largest);
	run_end(r);
}

static void expect_row(const struct row *row, int output)
{
	expect_answers(row, output, row->pairs);
}

static void expect_few(const struct row *row, int output)
{
	expect_answers(row, output, ON_CPU ? row->few : row->pairs);
}

/* A row for each kind of kernel. */
Test(small_align_table, distances)
{
	need_device();
	expect_row(&rows[0], ALIGN_DISTANCE);
	expect_row(&rows[5], ALIGN_DISTANCE);
	expect_row(&rows[8], ALIGN_DISTANCE);
}

Test(small_align_table, cigars)
{
	need_device();
	expect_row(&rows[8], ALIGN_CIGAR);
}

Test(large_align_table, distances)
{
	need_device();
	for (int i = 0; i < ROWS; i++)
		if (rows[i].pairs > 1)
			expect_few(&rows[i], ALIGN_DISTANCE);
		else
			expect_row(&rows[i], ALIGN_DISTANCE);
}

Test(large_align_table, cigars)
{
	need_device();
	for (int i = 0; i < SMALL_ROWS; i++)
		expect_few(&rows[i], ALIGN_CIGAR);
}
