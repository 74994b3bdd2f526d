/* test_sweep_axis.c - harness/measure/axis.h: values, ranges, and what is refused. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/param.h"
#include "harness/measure/axis.h"

#include <malloc.h>

TestSuite(small_sweep_axis, .timeout = 300);

static const char *const names[] = { "rk4", "rkf78", NULL };
static const struct param whole = { "n", PARAM_INT, 0,	"",   "",   -100,
				    100, NULL,	    "", NULL, NULL, false };
static const struct param size = { "n",	    PARAM_SIZE, 0,  "",	  "",	1,
				   1 << 20, NULL,	"", NULL, NULL, false };
static const struct param real = { "x", PARAM_REAL, 0, "", "", 0, 10, NULL, "", NULL, NULL, false };
static const struct param choice = { "s", PARAM_CHOICE, 0,  "",	  "",	0,
				     0,	  names,	"", NULL, NULL, false };
static const struct param path = { "f", PARAM_PATH, 0, "", "", 0, 0, NULL, "", NULL, NULL, false };
static const struct param list = {
	"l", PARAM_LIST, 0, "", "", 1, 1000, NULL, "", NULL, NULL, false
};

/* The values with blanks between them. */
static const char *joined(const struct axis *a)
{
	static char text[4096];
	struct param alone = *a->row;
	char one[512];

	*text = '\0';
	alone.offset = 0;
	for (int i = 0; i < a->n; i++) {
		param_format(&alone, &a->value[i], one, sizeof(one));
		strcat(text, i ? " " : "");
		strcat(text, one);
	}
	return text;
}

static void gives(const struct param *row, const char *text, const char *want)
{
	struct axis a;

	cr_assert(zero(int, axis_parse(&a, row, "n", text)), "%s", text);
	cr_assert(eq(str, (char *)joined(&a), (char *)want), "%s", text);
	axis_release(&a);
}

Test(small_sweep_axis, values_and_ranges)
{
	gives(&whole, "1,2,-3", "1 2 -3");
	gives(&size, "1024,2k", "1k 2k");
	gives(&size, "1k:8k:x2", "1k 2k 4k 8k");
	gives(&size, "1k:8k", "1k 2k 4k 8k");
	gives(&size, "1:10:x4", "1 4");
	gives(&whole, "10:50:+20", "10 30 50");
	gives(&whole, "-10:10:+10", "-10 0 10");
	gives(&whole, "7,10:30:+10", "7 10 20 30");
	gives(&real, "0.5,1e0", "0.5 1");
	gives(&real, "0.1:0.4:+0.1", "0.1 0.2 0.30000000000000004 0.4");
	gives(&choice, "rk4,rkf78", "rk4 rkf78");
	gives(&path, "a,b:c", "a,b:c");
	gives(&list, "1,2/3,4", "1,2 3,4");
}

static void expect_refusal(const struct param *row, const char *text, const char *why)
{
	struct axis a;
	const char *said;
	int err;

	divert_stderr();
	err = axis_parse(&a, row, "--size", text);
	said = diverted_stderr();
	axis_release(&a);
	cr_assert(eq(int, err, -22), "%s", text);
	cr_assert(is_one_complaint(said), "%s: %s", text, said);
	cr_assert(ne(ptr, strstr(said, why), NULL), "%s: %s", text, said);
}

Test(small_sweep_axis, what_is_refused)
{
	expect_refusal(&whole, "1,,2", "empty");
	expect_refusal(&whole, "", "empty");
	expect_refusal(&whole, "1,101", "=101: ");
	expect_refusal(&whole, "1,2,1", "--size=1,2,1: ");
	expect_refusal(&size, "1k,1024", "--size=1k,1024: ");
	expect_refusal(&size, "1k:8k:y2", "FROM:TO:xFACTOR");
	expect_refusal(&size, "1k:8k:x1", "FROM:TO:xFACTOR");
	expect_refusal(&size, "1k:8k:+0", "FROM:TO:xFACTOR");
	expect_refusal(&size, "1k:8k:xnan", "FROM:TO:xFACTOR");
	expect_refusal(&size, "8k:1k:x2", "must rise");
	expect_refusal(&whole, "0:8:x2", "above 0");
	expect_refusal(&size, "1:1M:+1", " 256 ");
	expect_refusal(&size, "1::x2", "empty");
	expect_refusal(&choice, "rk4,rkf77", "'rkf78'");
}

Test(small_sweep_axis, thinned_evenly_with_both_ends)
{
	static const struct {
		int n;
		const char *want;
	} cases[] = { { 2, "1 64" },
		      { 3, "1 8 64" },
		      { 5, "1 4 8 32 64" },
		      { 7, "1 2 4 8 16 32 64" },
		      { 9, "1 2 4 8 16 32 64" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct axis a;

		cr_assert(zero(int, axis_parse(&a, &size, "n", "1:64:x2")), "parse");
		axis_thin(&a, cases[i].n);
		cr_assert(eq(str, (char *)joined(&a), (char *)cases[i].want), "n=%d", cases[i].n);
		axis_release(&a);
	}
}

/* What is left out is given back. Only the first few times may take memory that is kept for more.
 */
Test(small_sweep_axis, what_is_thinned_out_is_freed)
{
	enum { TIMES = 100 };
	size_t in_use[TIMES];

	for (int i = 0; i < TIMES; i++) {
		struct axis a;

		cr_assert(zero(int, axis_parse(&a, &size, "n", "1:64:x2")), "parse");
		axis_thin(&a, 3);
		axis_thin(&a, 2);
		axis_release(&a);
		in_use[i] = mallinfo2().uordblks;
	}
	cr_assert(eq(sz, in_use[TIMES - 1], in_use[TIMES / 2]), "bytes");
}
