/*
 * test_dataset.c - how arrays of data sets are cut into chunks, and what copies that makes. How
 * they travel and are looked at is seen in the workloads that have them.
 */
#include "tests/plain.h"
#include "common/dataset.h"

TestSuite(small_dataset, .timeout = 300);

static void edges_are(struct dataset_array a, int chunks, const int64_t *want)
{
	for (int c = 0; c <= chunks; c++)
		cr_assert(dataset_edge(&a, c, chunks) == want[c], "chunk %d of %d: %ld, not %ld", c,
			  chunks, (long)dataset_edge(&a, c, chunks), (long)want[c]);
}

/* 10 rows of 7 words, the last of them short. */
Test(small_dataset, chunks_begin_at_rows)
{
	static const int64_t one[] = { 0, 66 }, three[] = { 0, 21, 42, 66 };
	const struct dataset_array a = { 66, 7, 0 };

	edges_are(a, 1, one);
	edges_are(a, 3, three);
}

/* Rows that the next chunk wants too come with the first; or all of them do. */
Test(small_dataset, halos_come_early)
{
	static const int64_t two[] = { 0, 35, 56, 66, 66 }, all[] = { 0, 66, 66, 66, 66 };

	edges_are((struct dataset_array){ 66, 7, 3 }, 4, two);
	edges_are((struct dataset_array){ 66, 7, 10 }, 4, all);
}

/* A matrix that is cut, one that comes whole, and their product. */
static struct dataset_shape shape_of(void)
{
	return (struct dataset_shape){
		.inputs = 2,
		.outputs = 1,
		.array = { { 8000, 1000, 0 }, { 50000, 50000, 1 }, { 400, 50, 0 } },
		.poison = SLOTS_POISON_REAL,
		.unit = "element",
	};
}

Test(small_dataset, copies_are_counted_as_they_are_cut)
{
	struct dataset_opts o = { .slots = 2, .data = STREAMED_STREAMED, .block = 64 << 10 };
	const struct dataset_shape shape = shape_of();
	struct dataset_copies in = dataset_copies_in(&o, &shape);
	struct dataset_copies out = dataset_copies_out(&o, &shape);

	cr_assert(dataset_bytes(&shape) == 4 * 58400, "bytes of a slot");
	cr_assert(in.calls == 1 + 4 && in.bytes == 4 * 58000, "%g calls in", in.calls);
	cr_assert(out.calls == 1 && out.bytes == 4 * 400, "%g calls out", out.calls);
	o.overlap = 4;
	in = dataset_copies_in(&o, &shape);
	out = dataset_copies_out(&o, &shape);
	cr_assert(in.calls == 4 + 4 && in.bytes == 4 * 58000, "%g calls in", in.calls);
	cr_assert(out.calls == 4 && out.bytes == 4 * 400, "%g calls out", out.calls);
	o.data = STREAMED_RESIDENT;
	cr_assert(!dataset_copies_in(&o, &shape).calls, "resident");
}

static int error_of(struct dataset_opts o, const char *says)
{
	const struct dataset_shape shape = shape_of();
	const char *text;
	int err;

	divert_stderr();
	err = dataset_opts_check(&o, &shape);
	text = diverted_stderr();
	cr_assert(!err ? !*text : is_one_complaint(text) && tells(text, says), "%s", text);
	return err;
}

/* A step takes what a slot has; what is left over is one more. */
Test(small_dataset, steps_of_a_total)
{
	static const struct {
		int64_t more, steps;
	} rows[] = { { 0, 3 }, { 1, 4 }, { -1, 3 } };
	const struct dataset_shape shape = shape_of();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct dataset_opts o = { .total = 3 * dataset_bytes(&shape) + rows[i].more };

		cr_assert(dataset_steps(&o, &shape) == rows[i].steps, "%ld more: %ld",
			  (long)rows[i].more, (long)dataset_steps(&o, &shape));
	}
}

Test(small_dataset, options_are_judged)
{
	struct dataset_opts o = { .slots = 2, .data = STREAMED_STREAMED, .overlap = 8 };

	cr_assert(!error_of(o, ""), "a row each");
	o.overlap = 9;
	cr_assert(error_of(o, "overlap=9: 400 *8 *50") == -EINVAL, "more than rows");
	o.overlap = 0;
	o.block = 1000;
	cr_assert(error_of(o, "block=1000: ") == -EINVAL, "block");
	o.data = STREAMED_RESIDENT;
	cr_assert(!error_of(o, ""), "resident");
}

/* ---- reports ------------------------------------------------------------------------------ */

static int64_t steps;

static int sleep_for(const void *us, void *state, cudaStream_t stream)
{
	(void)state;
	(void)stream;
	steps++;
	usleep(*(const useconds_t *)us);
	return 0;
}

/* Blocks of 10 ms at least, after one step that says how many that are. */
Test(small_dataset, steps_are_timed_in_five_blocks)
{
	static const useconds_t us = 1000;
	int64_t n;
	double ns = dataset_step_ns(sleep_for, &us, NULL, &n);

	cr_assert(n == 5, "%ld", (long)n);
	cr_assert(ns >= 1e6 && ns < 1e8, "%g", ns);
	cr_assert(steps % 5 == 1 && steps > 1 && steps <= 1 + 5 * 10, "%ld", (long)steps);
}

/* Half a second holds the first step and one or two blocks. */
Test(small_dataset, long_steps_are_timed_as_time_allows)
{
	static const useconds_t us = 180000;
	int64_t n;
	double ns = dataset_step_ns(sleep_for, &us, NULL, &n);

	cr_assert(n >= 1 && n <= 2, "%ld", (long)n);
	cr_assert(steps == 1 + n, "%ld", (long)steps);
	cr_assert(ns >= 1.8e8, "%g", ns);
}
