/*
 * test_sweep_company.c - no configuration is charged for what another one holds, or held: sweeps on
 * a CPU device whose synchronize costs 2.5 ms for each MiB of pinned memory, of which transfer
 * takes 4. And no side for the presence of the other (company.h): a launch costs 0.5 ms beside it.
 */
/* begins early: it waits long */
#include "tests/test.h"
#include "harness/record/journal_impl.h"
#include "harness/session/company.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/on_cpu.h"
#include "workloads/workload.h"

enum { PROCESSES = 3, PROCESSES_OF_A_SIDE = 2 };

/* What 4 MiB cost, of which the device sleeps the most; an empty launch takes less than a hundredth
 * of that. */
static const double charge_ns = 10e6;

TEST_FOLDER(folder);
static char path[64];

static void prepare(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/s.jsonl", folder);
}

TestSuite(large_sweep_company, .init = prepare, .fini = remove_folder, .timeout = 300);

/* With this seed some processes have transfer first, some launch. */
static void sweep(struct journal *j, int processes, const char *options)
{
	const char *text;

	setenv("RIFT_CPU_SYNC_NS_PER_PINNED_MIB", "2500000", 1);
	cr_assert(zero(int,
		       run_rift(ERR, &text,
				"sweep launch transfer launch.us=0 transfer.bytes=4M --depth 1 "
				"--mode stream --processes %d --rounds 2 --warm-up 0.01 --seed 4 "
				"--express --output '%s' %s",
				processes, path, options)),
		  "%s", text);
	cr_assert(zero(int, journal_read(j, path)), "%s", path);
}

/* In every process of every side. */
static void expect_no_charge(const struct journal *j)
{
	for (int i = 0; i < j->replicates * j->plan.n_points; i++) {
		const struct plan_point *at = &j->plan.point[i % j->plan.n_points];
		bool pays = !strcmp(j->plan.config[at->config].workload->name, "transfer");

		if (pays)
			cr_assert(lt(dbl, charge_ns / 2, j->total_ns[i]), "transfer: %g",
				  j->total_ns[i]);
		else
			cr_assert(lt(dbl, j->total_ns[i], charge_ns / 4), "process %d: %g",
				  i / j->plan.n_points, j->total_ns[i]);
	}
}

static int workers(int n)
{
	const char *text;

	shell(&text, "grep -c '\"workers\":%d[,}]' '%s'", n, path);
	return atoi(text);
}

Test(large_sweep_company, what_one_holds_another_does_not_pay)
{
	struct journal j;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	sweep(&j, PROCESSES, "");
	expect_no_charge(&j);
	cr_assert(eq(int, workers(1), PROCESSES), "%d", workers(1));
	/* a synchronize with transfer set up pays for its memory, and it is said which that is */
	cr_assert(lt(dbl, charge_ns, j.held[0].set_up_ns), "%g", j.held[0].set_up_ns);
	cr_assert(lt(dbl, j.held[0].before_ns, charge_ns / 4), "%g", j.held[0].before_ns);
	for (int i = 0; i < j.plan.n_points; i++)
		if (!strcmp(j.plan.point[i].key, j.held[0].key))
			cr_assert(eq(str,
				     (char *)j.plan.config[j.plan.point[i].config].workload->name,
				     "transfer"),
				  "%d", i);
	cr_assert(ne(chr, *j.held[0].key, '\0'), "a point");
	journal_release(&j);
}

/* Every visit has a host canary before and one after it. */
Test(large_sweep_company, the_host_has_a_canary)
{
	const char *text;
	struct journal j;

	sweep(&j, 1, "");
	shell(&text,
	      "grep -c '\"host_canary_ns\":\\[[1-9][0-9]*,[1-9][0-9]*,[1-9][0-9]*,[1-9][0-9]*\\]' "
	      "'%s'",
	      path);
	cr_assert(eq(int, atoi(text), j.plan.n_points), "%s", text);
	cr_assert(lt(dbl, 1000, j.host_ns[0]), "%g", j.host_ns[0]);
	cr_assert(le(dbl, j.host_ns[0], j.host_ns[1]), "%g %g", j.host_ns[0], j.host_ns[1]);
	journal_release(&j);
}

/* Where it is charged for to the end of a process, others get processes of their own. */
Test(large_sweep_company, nor_what_one_has_held)
{
	struct journal j;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	setenv("RIFT_CPU_PINNED_LEAK", "1", 1);
	sweep(&j, PROCESSES, "");
	expect_no_charge(&j);
	cr_assert(lt(int, 0, workers(2)), "some had transfer first");
	cr_assert(eq(int, workers(1) + workers(2), PROCESSES), "%d and %d", workers(1), workers(2));
	journal_release(&j);
}

Test(large_sweep_company, nor_beside_another_side)
{
	struct journal j;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	setenv("RIFT_CPU_PINNED_LEAK", "1", 1);
	sweep(&j, PROCESSES_OF_A_SIDE, "--against env");
	expect_no_charge(&j);
	cr_assert(lt(int, 0, workers(2)), "some had transfer first");
	journal_release(&j);
}

/* ---- the other side ----------------------------------------------------------------------- */

static void sweep_pairs(struct journal *j, int processes, const char *options)
{
	const char *text;

	cr_assert(
		zero(int,
		     run_rift(ERR, &text,
			      "sweep launch us=0 --depth 1 --mode stream --processes %d --rounds "
			      "3 --warm-up 0.01 --seed 2 --express --against env --output '%s' %s",
			      processes, path, options)),
		"%s", text);
	cr_assert(zero(int, journal_read(j, path)), "%s", path);
}

Test(large_sweep_company, sides_that_slow_each_other_are_measured_apart)
{
	const char *text;
	struct journal j;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	setenv("TMPDIR", folder, 1);
	/* a block of as many launches as last long enough alone ends soon beside another */
	setenv("RIFT_CPU_LAUNCH_NS", "20000", 1);
	setenv("RIFT_CPU_LAUNCH_NS_BESIDE", "100000", 1);
	sweep_pairs(&j, 5, "");
	cr_assert(not(j.plan.design.pairs), "given up");
	cr_assert(design_gave_pairs_up(&j.plan.design), "and said");
	for (int side = 0; side < 2; side++)
		cr_assert(lt(dbl, 1.25, j.plan.design.company[side]), "side %d: %g", side,
			  j.plan.design.company[side]);
	for (int i = 0; i < j.replicates; i++)
		cr_assert(lt(dbl, j.total_ns[i], 1e5), "process %d: %g", i, j.total_ns[i]);
	journal_release(&j);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", path)), "%s", text);
}

/* What the command line asks for is done without a look at it. */
Test(large_sweep_company, apart_is_never_alone)
{
	const char *text;
	struct journal j;

	sweep_pairs(&j, 3, "--apart");
	cr_assert(not(design_gave_pairs_up(&j.plan.design)), "it was not");
	shell(&text, "grep -c company_over_alone '%s'", path);
	cr_assert(eq(int, atoi(text), 0), "%s", text);
	journal_release(&j);
}

/* One process of each pair, of either side in turn, with every point of its configuration. */
Test(large_sweep_company, one_of_each_pair_is_alone_first)
{
	const char *text;
	struct journal j;

	sweep_pairs(&j, 3, "");
	cr_assert(j.plan.design.pairs, "in turns");
	shell(&text,
	      "sed -n "
	      "'s/"
	      ".*\"trailer\",\"side\":\"\\(.\\)\",\"process_index\":\\(.\\).*_over_alone\":[0-9].*/"
	      "\\1\\2/p' "
	      "'%s' | tr '\\n' ' '",
	      path);
	cr_assert(eq(str, (char *)text, "a0 b1 a2 "), "%s", text);
	cr_assert(eq(int, company_of(&j, 0).n, 2), "a");
	cr_assert(eq(int, company_of(&j, 1).n, 1), "b");
	journal_release(&j);
}
