/*
 * test_sweep_check.c - harness/record/validate_record.h: made-up records, each right in its fields
 * and hashes, whose lines do not agree with each other.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/record/recorded.h"
#include "tests/made_record.h"

TestSuite(small_sweep_check, .init = make_dir, .fini = remove_dir, .timeout = 300);

Test(small_sweep_check, processes_that_are_missing_are_said)
{
	begin_session("s.jsonl", 2, 2);
	header_of("0123456789abcdef", plan_hash, 0);
	process("a", 0, 0);
	process("b", 0, 0);
	process("b", 1, 0);
	cr_assert(incomplete(), "a 1 is missing");
	begin_session("s.jsonl.part", 2, 2);
	process("a", 0, 0);
	cr_assert(not(incomplete()), "a .part is under way");
	begin_session("s.jsonl", 2, 2);
	process("a", 0, 0);
	process("b", 0, 0);
	process("b", 1, 0);
	process("a", 1, 0);
	cr_assert(not(incomplete()), "all are there");
	begin_session("s.jsonl", 1, 30);
	process("a", 0, 0);
	process("a", 1, 2);
	cr_assert(not(incomplete()), "the rule found two enough");
}

Test(small_sweep_check, a_line_of_another_session)
{
	begin_session("s.jsonl", 1, 1);
	header_of("0123456789abcdee", plan_hash, 0);
	wrong_in(":2: session_id ");
	begin_session("s.jsonl", 1, 1);
	header_of("0123456789abcdef", "12", 0);
	wrong_in(":2: plan_sha256 ");
}

Test(small_sweep_check, processes_that_are_not_planned)
{
	begin_session("s.jsonl", 1, 2);
	header_of("0123456789abcdef", plan_hash, 2);
	wrong_in(":2: ");
	begin_session("s.jsonl", 1, 2);
	point("a", -1, K0, "ok");
	wrong_in(":2: ");
	begin_session("s.jsonl", 1, 2);
	process("b", 0, 0);
	wrong_in(":2: ");
	begin_session("s.jsonl", 1, 2);
	trailer("a", 2, 0, 0, 0);
	wrong_in(":2: ");
	begin_session("s.jsonl", 3, 2);
	wrong_in("sides ");
	begin_session("s.jsonl", 1, 0);
	wrong_in("design.processes");
}

Test(small_sweep_check, points_that_are_there_twice)
{
	begin_session("s.jsonl", 2, 2);
	point("a", 0, K0, "ok");
	point("b", 0, K0, "ok");
	point("a", 1, K0, "ok");
	point("a", 0, K0, "error");
	wrong_in(":5: ");
	begin_session("s.jsonl", 1, 2);
	process("a", 0, 0);
	process("a", 0, 0);
	wrong_in(":5: ");
}

Test(small_sweep_check, trailers_that_count_otherwise)
{
	begin_session("s.jsonl", 1, 1);
	point("a", 0, K0, "ok");
	point("a", 0, K1, "error");
	trailer("a", 0, 2, 1, 0);
	wrong_in(":4: records *failed ");
	begin_session("s.jsonl", 1, 1);
	point("a", 0, K0, "ok");
	point("a", 0, K1, "error");
	trailer("a", 0, 1, 0, 0);
	wrong_in(":4: records *failed ");
	begin_session("s.jsonl", 1, 1);
	point("a", 0, K0, "ok");
	trailer("a", 0, 1, 0, 0);
	wrong_in(":3: ");
}

/* The finished file is read as commands read one, and refused for this. */
static void refused_for(const char *what)
{
	struct journal j;
	const char *said;
	int err;

	record_close(&file);
	divert_stderr();
	err = session_read(&j, path, NULL);
	said = diverted_stderr();
	journal_release(&j);
	cr_assert(eq(int, err, -EINVAL), "%s", what);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(tells(said, what), "%s: %s", what, said);
}

/* No session can be made of such a plan: its configuration names no workload. */
Test(small_sweep_check, what_is_damaged_is_told_before_what_cannot_be_read)
{
	begin_session("s.jsonl", 1, 1);
	process("a", 0, 0);
	refused_for("is of workload ");
	begin_session("s.jsonl", 1, 1);
	process("a", 0, 0);
	process("a", 0, 0);
	refused_for(":5: ");
	begin_session("s.jsonl", 1, 2);
	process("a", 0, 0);
	refused_for("half a record, 1 of 2 processes are complete");
}
