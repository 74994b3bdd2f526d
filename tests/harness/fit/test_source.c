/* test_source.c - harness/fit/source.h: a session that several sources name is read once. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/fit/source.h"

TestSuite(small_source, .timeout = 300);

static const char launches[] = "data/sessions/h200-launch.jsonl";
static const char myocyte[] = "data/sessions/h200-myocyte.jsonl";

static void read_as(struct source *s, const struct source *before, const char *path,
		    const char *sync)
{
	const struct session_arg arg = { "--on", path, SIDE_ANY };

	*s = (struct source){ .before = before };
	cr_assert(zero(int, source_grid(s, &arg, NULL, sync)), "%s", path);
}

Test(small_source, a_file_that_was_read_before_is_not_read_again)
{
	struct source work, on, other, third;

	read_as(&work, NULL, launches, NULL);
	read_as(&on, &work, launches, NULL);
	read_as(&other, &on, myocyte, NULL);
	read_as(&third, &other, launches, NULL); /* beyond one of another file */
	cr_expect(eq(ptr, (void *)work.j, &work.own), "the first reads it");
	cr_expect(eq(ptr, (void *)on.j, &work.own), "the second takes it");
	cr_expect(eq(ptr, (void *)other.j, &other.own), "another file is read");
	cr_expect(eq(ptr, (void *)third.j, &work.own), "the fourth takes the first one's");
	cr_expect(eq(ptr, (void *)on.own.path, NULL), "nothing of its own");
	cr_expect(eq(ptr, (void *)third.grid.j, &work.own), "its grid is of it");
	cr_expect(eq(int, third.grid.n_points, work.grid.n_points), "points");
	source_release(&third);
	source_release(&other);
	source_release(&on);
	source_release(&work);
}

/* Of a session with several policies, what is read depends on which one was asked for. */
Test(small_source, another_wait_policy_is_read_again)
{
	const char spin[] = { 's', 'p', 'i', 'n', '\0' }; /* at another address than "spin" */
	struct source any, by_spin, again;

	read_as(&any, NULL, launches, NULL);
	read_as(&by_spin, &any, launches, "spin");
	read_as(&again, &by_spin, launches, spin);
	cr_expect(eq(ptr, (void *)by_spin.j, &by_spin.own), "NULL is not spin");
	cr_expect(eq(ptr, (void *)again.j, &by_spin.own), "spin is spin");
	source_release(&again);
	source_release(&by_spin);
	source_release(&any);
}

/* Each source names a side of its own, and refuses what it would refuse of a file it reads. */
Test(small_source, sides_are_of_the_source_and_not_of_the_session)
{
	const struct session_arg b = { "--from", "data/sessions/h200-launch.jsonl:b", SIDE_ANY };
	struct source a, of_b = { .before = &a };

	read_as(&a, NULL, launches, NULL);
	cr_expect(eq(int, source_grid(&of_b, &b, NULL, NULL), -EINVAL), "it has one side");
	source_release(&of_b);
	source_release(&a);
}
