/*
 * test_sweep_company.c - no configuration is charged for what another one holds, or held: sweeps on
 * a CPU device whose synchronize costs 10 ms for each MiB of pinned memory, of which transfer
 * takes 4.
 */
#include "harness/sweep/journal.h"
#include "tests/capture.h"
#include "tests/cli.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 4 };

/* What 4 MiB cost; an empty launch takes a thousandth of that. */
static const double charge_ns = 40e6;

static char folder[] = "/tmp/rift_company_XXXXXX", path[64];

static void make_folder(void)
{
	cr_assert(ne(ptr, mkdtemp(folder), NULL), "%s", folder);
	snprintf(path, sizeof(path), "%s/s.jsonl", folder);
}

static void remove_folder(void)
{
	shell(NULL, "rm -rf '%s'", folder);
}

TestSuite(large_sweep_company, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* With this seed some processes have transfer first, some launch. */
static void sweep(struct journal *j, const char *options)
{
	const char *text;

	setenv("RIFT_CPU_SYNC_NS_PER_PINNED_MIB", "10000000", 1);
	cr_assert(zero(int,
		       run_rift(ERR, &text,
				"sweep launch transfer launch.us=0 transfer.bytes=4M --depth 1 "
				"--mode stream --processes %d --rounds 2 --warm-up 0.01 --seed 2 "
				"--quick --output '%s' %s",
				PROCESSES, path, options)),
		  "%s", text);
	cr_assert(zero(int, journal_read(j, path)), "%s", path);
}

/* In every process of every side. */
static void expect_no_charge(const struct journal *j)
{
	for (int i = 0; i < j->slots * j->plan.n_points; i++) {
		const struct plan_point *at = &j->plan.point[i % j->plan.n_points];
		bool pays = !strcmp(j->plan.config[at->config].workload->name, "transfer");

		if (pays)
			cr_assert(gt(dbl, j->total_ns[i], charge_ns), "transfer: %g",
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

	sweep(&j, "");
	expect_no_charge(&j);
	cr_assert(eq(int, workers(1), PROCESSES), "%d", workers(1));
	journal_release(&j);
}

/* Where it is charged for to the end of a process, others get processes of their own. */
Test(large_sweep_company, nor_what_one_has_held)
{
	struct journal j;

	setenv("RIFT_CPU_PINNED_LEAK", "1", 1);
	sweep(&j, "");
	expect_no_charge(&j);
	cr_assert(gt(int, workers(2), 0), "some had transfer first");
	cr_assert(eq(int, workers(1) + workers(2), PROCESSES), "%d and %d", workers(1), workers(2));
	journal_release(&j);
}

Test(large_sweep_company, nor_beside_another_side)
{
	struct journal j;

	setenv("RIFT_CPU_PINNED_LEAK", "1", 1);
	sweep(&j, "--against env");
	expect_no_charge(&j);
	journal_release(&j);
}
