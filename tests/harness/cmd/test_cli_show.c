/*
 * test_cli_show.c - `rift show` of the real binary on sessions made up here: what it says of sides,
 * failures and the device, and its exit code. test_cli_check.c has a kept session.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"

#include "harness/base/command.h"
#include "harness/record/journal.h"

TEST_FOLDER(dir);
static char file[64];

static void prepare(void)
{
	make_dir();
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
}

TestSuite(small_cli_show, .init = prepare, .fini = remove_dir, .timeout = 300);

/* One process a side at four points of launch. */
struct made {
	bool quick;
	const char *against, *declared, *build;
	const char *check;  /* state of the check at point 1; NULL: none */
	const char *status; /* of point 2, which has no result; NULL: it has one */
	int mark;	    /* of every block of the last side */
	bool part;	    /* it lacks its final name */
};

static struct plan session_plan(const struct made *m)
{
	const struct workload *w[] = { workload_find("launch"), NULL };
	struct plan_request r = { .workload = w,
				  .size = "1,2",
				  .depth = "1,4",
				  .mode = "stream",
				  .design = design_of(m->quick) };
	struct plan p;

	r.design.processes = r.design.rounds = 1;
	r.design.sequential = false;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	snprintf(p.declared, sizeof(p.declared), "%s", m->declared ? m->declared : "");
	return p;
}

static json_t *header_of(const struct made *m)
{
	return json_pack("{s:{}, s:{s:s}, s:{s:s}, s:{}, s:{}, s:{}, s:{}, s:{s:f}}", "calib",
			 "build", "build_type", m->build, "gpu", "name", "made-up GPU", "host",
			 "virt", "env", "cuda_flags", "warmup", "canary_ns", 2e5);
}

static json_t *visit_of(const struct made *m, int point, int mark)
{
	json_t *o = json_pack("{s:i, s:i, s:[i], s:[i], s:[], s:[i], s:[i, i]}", "point", point,
			      "round", 0, "t_enq_ns", 1000, "t_total_ns", 2000, "t_dev_ns", "marks",
			      mark, "canary_ns", 200000, 200000);

	if (m->check && point == 1)
		json_object_set_new(o, "check", json_pack("{s:s}", "state", m->check));
	return o;
}

static void write_process(const struct made *m, struct journal *j, int replicate)
{
	int mark = journal_side(j, replicate) == j->sides - 1 ? m->mark : 0;

	cr_assert(zero(int, journal_header(j, replicate, header_of(m))), "header");
	cr_assert(zero(int, journal_begin(j, replicate)), "begin");
	for (int i = 0; i < j->plan.n_points; i++)
		if (m->status && i == 2)
			cr_assert(zero(int, journal_failure(j, replicate, i, m->status,
							    json_object(), true)),
				  "failure");
		else
			cr_assert(
				zero(int, journal_visit(j, replicate, i, 0, visit_of(m, i, mark))),
				"visit");
	cr_assert(zero(int, journal_trailer(j, replicate, json_object())), "trailer");
}

static void write_session(const struct made *m)
{
	struct plan plan = session_plan(m);
	struct journal j;

	cr_assert(zero(int, journal_create(&j, &plan, file, m->against, "rift sweep")), "create");
	for (int i = 0; i < j.replicates; i++)
		write_process(m, &j, journal_replicate(&j, i));
	if (!m->part)
		cr_assert(zero(int, journal_finish(&j)), "finish");
	journal_release(&j);
}

static const char *show_session(const struct made *m, int code)
{
	const char *text;

	write_session(m);
	cr_assert(eq(int, run_rift(OUT, &text, "show '%s'", file), code), "%s", text);
	return text;
}

static void expect_text(const char *text, const char *want)
{
	cr_assert(tells(text, want), "'%s' in: %s", want, text);
}

Test(small_cli_show, both_sides_and_what_they_are_called)
{
	const struct made m = { .against = "podman run it", .declared = "my VM", .build = "cuda" };
	const char *text = show_session(&m, 0);

	expect_text(text, "full design, seed ");
	expect_text(text, "\nside a           made-up GPU, 20");
	expect_text(text, "my VM\nside b           made-up GPU, 20");
	expect_text(text, " podman run it\n");
	expect_text(text, "\n8 points ok, 0 *, 0 *\n0 of 8 results ");
	cr_assert(eq(ptr, strstr(text, "not GPU figures"), NULL), "%s", text);
}

Test(small_cli_show, a_quick_one_of_the_cpu_device)
{
	const char *text = show_session(&(struct made){ .quick = true, .build = "cpu" }, 0);

	expect_text(text, "quick design, seed ");
	expect_text(text, "\nmeasured on        made-up GPU, 20");
	expect_text(text, "not GPU figures");
	cr_assert(eq(ptr, strstr(text, "declared as"), NULL), "%s", text);
}

/* All blocks of b had a clock off: before anything else, of what is shown. */
Test(small_cli_show, a_session_that_cannot_be_trusted_says_so_first)
{
	static const char first[] = "cannot be trusted: ";
	struct made m = { .against = "env", .build = "cuda", .mark = MARK_CLOCK };
	const char *text = show_session(&m, 0);

	cr_assert(ne(int, strncmp(text, first, strlen(first)), 0), "half of it is good: %s", text);
	expect_text(text, "\n4 of 8 results ");
	cr_assert(zero(int, run_rift(OUT, &text, "show '%s' --side b", file)), "%s", text);
	cr_assert(zero(int, strncmp(text, first, strlen(first))), "%s", text);
	expect_text(text, " 4 of 4 results are noisy\nsession ");
	expect_text(text, "\n4 of 4 results ");
	cr_assert(zero(int, run_rift(OUT, &text, "show '%s' --side a", file)), "%s", text);
	cr_assert(zero(int, strncmp(text, "session ", 8)), "%s", text);
}

/* It was ended when nothing was left to do but to print and to rename it. */
Test(small_cli_show, a_sweep_says_so_first_too)
{
	const char *text;

	need_device();
	write_session(&(struct made){ .build = "cuda", .mark = MARK_CLOCK, .part = true });
	cr_assert(zero(int, run_rift(OUT, &text, "sweep --quiet --resume '%s'", file)), "%s", text);
	cr_assert(zero(int, strncmp(text, "cannot be trusted: 4 of 4 ", 26)), "%s", text);
	expect_text(text, "\n4 of 4 results ");
}

/* A full queue is a property of these points. */
Test(small_cli_show, full_queues_are_no_noise)
{
	const char *text = show_session(&(struct made){ .build = "cuda", .mark = MARK_QUEUE }, 0);

	cr_assert(zero(int, strncmp(text, "session ", 8)), "%s", text);
	expect_text(text, "\n0 of 4 results ");
}

Test(small_cli_show, a_failed_check_is_exit_code_1)
{
	const struct made m = { .build = "cuda", .check = "failed", .status = "error" };

	expect_text(show_session(&m, 1), "\n2 points ok, 1 *check, 1 *\n");
}

Test(small_cli_show, a_failed_point_is_exit_code_2)
{
	const struct made m = { .build = "cuda", .check = "passed", .status = "skipped" };

	expect_text(show_session(&m, 2), "\n3 points ok, 0 *check, 1 *\n");
}

Test(small_cli_show, a_plan_alone_is_refused)
{
	write_session(&(struct made){ .build = "cuda" });
	shell(NULL, "sed -i 1q '%s'", file);
	refused(3, "s.jsonl: ", "show '%s'", file);
}

/* A first line that calls itself a plan and has none; show reads what check would refuse. */
Test(small_cli_show, a_plan_without_a_plan_is_refused)
{
	shell(NULL,
	      "{ printf "
	      "'{\"record\":\"plan\",\"schema\":\"1.0\",\"session_id\":\"0123456789abcdef\","
	      "\"plan_sha256\":\"'; printf '%%064d' 0; printf '\"}\\n'; } >'%s'; cp '%s' '%s.part'",
	      file, file, file);
	refused(3, ":1: ", "show '%s'", file);
	refused(3, ":1: ", "sweep --resume '%s.part'", file);
}
