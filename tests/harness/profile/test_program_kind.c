/* test_program_kind.c - which kind of program its shares make it, on both sides of each limit. */
#include "tests/test.h"

#include "harness/profile/shares.h"

TestSuite(small_program_kind, .timeout = 60);

static const struct kind_rules rules = KIND_DEFAULTS;

/* Of 1000 ns 200 are outside; so many of the 800 inside are of one share or two. */
static struct shares of(enum share one, double ns, enum share two, double ns_of_two)
{
	struct shares s = { .total_ns = 1000, .kernel_median_ns = NAN };

	s.ns[SHARE_OUTSIDE] = 200;
	s.ns[one] += ns;
	s.ns[two] += ns_of_two;
	return s;
}

static void is_kind(const struct shares *s, double gap_ns, enum program_kind want)
{
	enum program_kind got = program_kind_of(s, &rules, gap_ns);

	cr_expect(eq(int, (int)got, (int)want), "%s in place of %s", program_kind_names[got],
		  program_kind_names[want]);
}

/* From its least share on, and mixed below it. */
Test(small_program_kind, least_shares)
{
	static const struct {
		enum share share, other;
		double least_ns;
		enum program_kind kind;
	} rows[] = {
		{ SHARE_KERNELS, SHARE_KERNELS, 680, KIND_GPU },
		{ SHARE_GAPS, SHARE_GAPS, 80, KIND_GAP },
		{ SHARE_API, SHARE_API, 120, KIND_API },
		{ SHARE_SYNC, SHARE_SYNC, 120, KIND_SYNC },
		{ SHARE_COPIES, SHARE_COPY_CALLS, 240, KIND_TRANSFER },
		{ SHARE_MEMORY, SHARE_MEMORY, 160, KIND_MEMORY },
		{ SHARE_HOST, SHARE_INTERRUPTED, 240, KIND_CPU },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct shares s = of(rows[i].share, rows[i].least_ns, SHARE_STREAM, 0);
		struct shares both = of(rows[i].share, rows[i].least_ns - 64, rows[i].other, 64);
		struct shares less = of(rows[i].share, rows[i].least_ns - 1, SHARE_STREAM, 0);

		is_kind(&s, NAN, rows[i].kind);
		is_kind(&both, NAN, rows[i].kind);
		is_kind(&less, NAN, KIND_MIXED);
		cr_expect(ieee_ulp_eq(dbl, program_kind_share(&both, rows[i].kind),
				      rows[i].least_ns / 800, 4));
		cr_expect(ieee_ulp_eq(dbl, program_kind_saves_ns(&both, rows[i].kind),
				      rows[i].least_ns, 4));
		cr_expect(eq(int, program_kind_is_worth(&both, rows[i].kind), 1));
	}
}

Test(small_program_kind, what_keeps_a_program_from_one)
{
	struct shares s = of(SHARE_KERNELS, 700, SHARE_API, 20);

	s.ns[SHARE_SYNC] = 20; /* 5 % in both */
	is_kind(&s, NAN, KIND_GPU);
	s.ns[SHARE_SYNC] = 21;
	is_kind(&s, NAN, KIND_MIXED);
	s = of(SHARE_GAPS, 400, SHARE_KERNELS, 0);
	s.kernel_median_ns = 9999; /* ten gaps of 1000 ns */
	is_kind(&s, 1000, KIND_GAP);
	s.kernel_median_ns = 10000;
	is_kind(&s, 1000, KIND_MIXED);
	is_kind(&s, NAN, KIND_GAP);
}

/* Several apply: the larger share, and of equal ones the first. */
Test(small_program_kind, the_largest_of_several)
{
	struct shares s = of(SHARE_API, 200, SHARE_MEMORY, 300);

	is_kind(&s, NAN, KIND_MEMORY);
	s = of(SHARE_API, 300, SHARE_MEMORY, 200);
	is_kind(&s, NAN, KIND_API);
	s = of(SHARE_API, 300, SHARE_MEMORY, 300);
	is_kind(&s, NAN, KIND_API);
}

Test(small_program_kind, the_two_largest_shares)
{
	static const struct {
		enum share most, second;
	} rows[] = {
		{ SHARE_KERNELS, SHARE_COPIES }, { SHARE_KERNELS, SHARE_HOST },
		{ SHARE_COPIES, SHARE_KERNELS }, { SHARE_COPIES, SHARE_STREAM },
		{ SHARE_HOST, SHARE_OTHER },	 { SHARE_API, SHARE_HOST },
	};
	struct shares s = of(SHARE_KERNELS, 0, SHARE_KERNELS, 0);
	enum share out[2];

	shares_largest(&s, out); /* of equal ones the first two */
	cr_expect(eq(int, (int)out[0], SHARE_KERNELS));
	cr_expect(eq(int, (int)out[1], SHARE_COPIES));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		s = of(rows[i].most, 50, rows[i].second, 40);
		shares_largest(&s, out);
		cr_expect(eq(int, (int)out[0], (int)rows[i].most), "%zu", i);
		cr_expect(eq(int, (int)out[1], (int)rows[i].second), "%zu", i);
		cr_expect(eq(dbl, program_kind_saves_ns(&s, KIND_MIXED), 50));
		cr_expect(eq(int, program_kind_is_worth(&s, KIND_MIXED), 1), "5 %%");
		s.ns[rows[i].most] = 49;
		cr_expect(zero(int, program_kind_is_worth(&s, KIND_MIXED)));
		cr_expect(zero(dbl, program_kind_share(&s, KIND_MIXED)));
	}
}

static void may_be(const struct shares *s, enum program_kind kind, bool yes)
{
	cr_expect(eq(int, program_kind_may_be(s, &rules, kind), yes), "%s",
		  program_kind_names[kind]);
}

/* Of calls alone: a share below the rule rules a kind out, but not that of several threads. */
Test(small_program_kind, what_a_program_may_be)
{
	struct shares s = of(SHARE_API, 60, SHARE_SYNC, 60);

	s.one_thread = true;
	may_be(&s, KIND_MIXED, true);
	may_be(&s, KIND_GPU, false);
	may_be(&s, KIND_GAP, false);
	may_be(&s, KIND_TRANSFER, false);
	may_be(&s, KIND_API, false);
	may_be(&s, KIND_MEMORY, false);
	may_be(&s, KIND_SYNC, true); /* a relaunch may be behind a wait */
	s.launches = s.copies = 1;
	may_be(&s, KIND_GPU, true);
	may_be(&s, KIND_GAP, true);
	may_be(&s, KIND_TRANSFER, true);
	s.ns[SHARE_SYNC] = 59;
	may_be(&s, KIND_SYNC, false);
	s.ns[SHARE_MEMORY] = 160;
	may_be(&s, KIND_MEMORY, true);
	s.one_thread = false;
	may_be(&s, KIND_SYNC, true);
	may_be(&s, KIND_API, true);
}
