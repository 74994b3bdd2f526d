/*
 * test_sweep_rule.c - a session under the sequential rule, from its files: when it goes on, and
 * when it is complete.
 */
#include "tests/test.h"
#include "harness/record/journal_impl.h"
#include "harness/record/validate_record.h"
#include "harness/session/stopping.h"
#include "harness/session/supervisor.h"
#include "tests/cli.h"
#include "tests/fake_plan.h"

TestSuite(small_sweep_rule, .timeout = 300);

static char folder[] = "/tmp/rift_rule_XXXXXX", path[64];

static json_t *header(void)
{
	return json_pack("{s:{}, s:{}, s:{}, s:{}, s:{}, s:{}}", "calib", "host", "gpu", "env",
			 "cuda_flags", "warmup");
}

/* A block of the visit takes this long. */
static json_t *visit(int64_t ns)
{
	return json_pack("{s:[i], s:[I], s:[], s:[i], s:[i, i]}", "t_enq_ns", 1, "t_total_ns",
			 (json_int_t)ns, "t_dev_ns", "marks", 0, "canary_ns", 200000, 200000);
}

/* A process that measured all points; `off` as a share of the first one. */
static void write_process(struct journal *j, int replicate, double off)
{
	int rounds = j->plan.design.rounds, err = journal_begin(j, replicate);
	json_t *bye = json_object();

	if (!err)
		err = journal_header(j, replicate, header());
	for (int i = 0; i < POINTS * rounds && !err; i++)
		err = journal_visit(j, replicate, i / rounds, i % rounds,
				    visit(i < rounds ? llround(1e6 * (1 + off)) : 1000000));
	if (interims_due(&j->plan.design, replicate + 1)) {
		json_t *interim;

		interims_take(j, replicate + 1, &interim);
		json_object_set_new(bye, "look", interim);
	}
	if (!err)
		err = journal_trailer(j, replicate, bye);
	cr_assert(zero(int, err), "process %d", replicate);
}

/* Five processes of the first workload that agree but for `off`. */
static void write_session(double off)
{
	const struct workload *const first[] = { workloads[0], NULL };
	struct plan p = four_points(first, false);
	struct journal j;

	cr_assert(ne(ptr, mkdtemp(folder), NULL), "%s", folder);
	snprintf(path, sizeof(path), "%s/s.jsonl", folder);
	cr_assert(zero(int, journal_create(&j, &p, path, NULL, "rift sweep")), "create");
	for (int i = 0; i < 5; i++)
		write_process(&j, i, off * i);
	journal_release(&j);
}

static void remove_session(void)
{
	char name[96];

	snprintf(name, sizeof(name), "rm -rf '%s'", folder);
	cr_assert(zero(int, system(name)), "%s", name);
}

Test(small_sweep_rule, what_was_enough_is_enough_after_a_resume, .fini = remove_session)
{
	struct session s = { .show.quiet = true };
	struct record_facts facts;

	need_device();
	write_session(0.001);
	cr_assert(zero(int, journal_open(&s.journal, path)), "open");
	cr_assert(zero(int, session_run(&s)), "no process is started, or this would take long");
	cr_assert(eq(int, s.interim_processes, 5), "%d", s.interim_processes);
	cr_assert(eq(int, journal_processes(&s.journal), 5), "processes");
	journal_release(&s.journal);
	cr_assert(zero(int, access(path, F_OK)), "complete, so renamed");
	cr_assert(zero(int, record_check(&facts, path, NULL)), "valid");
	cr_assert(eq(int, facts.processes, 30), "at most");
	cr_assert(eq(int, facts.enough, 5), "stopped");
	cr_assert(eq(int, facts.trailers, 5), "trailers");
}

Test(small_sweep_rule, what_is_too_wide_is_not_complete, .fini = remove_session)
{
	struct record_facts facts;
	struct journal j;
	char part[80];

	write_session(0.05);
	snprintf(part, sizeof(part), "%s.part", path);
	cr_assert(zero(int, record_check(&facts, part, NULL)), "valid");
	cr_assert(zero(int, facts.enough), "%d", facts.enough);
	cr_assert(zero(int, journal_read(&j, part)), "read");
	cr_assert(j.plan.design.sequential, "the rule is in the plan");
	cr_assert(epsilon_eq(dbl, j.plan.design.half_width_max, 0.02, 1e-12), "its limit too");
	cr_assert(not(interims_take(&j, 5, NULL).stop), "one point of four varies by 10 %%");
	journal_release(&j);
}
