/*
 * test_sweep_host.c - harness/platform/system.h: lists of processors, the one that is pinned to,
 * and what the kernel counts, held against the kernel's files as the shell reads them.
 */
#include "tests/test.h"
#include "harness/platform/system.h"
#include "tests/folder.h"

#include <sys/wait.h>

TestSuite(small_sweep_host, .timeout = 300);

/* ---- lists of processors ------------------------------------------------------------------ */

/* Their numbers, each with a blank behind it. */
static const char *listed(const char *text)
{
	static char out[1024];
	cpu_set_t set;
	int used = 0;

	memset(&set, 0xff, sizeof(set));
	system_read_cpus(text, &set);
	*out = '\0';
	for (int i = 0; i < CPU_SETSIZE && used < 1000; i++)
		if (CPU_ISSET(i, &set))
			used += snprintf(out + used, sizeof(out) - (size_t)used, "%d ", i);
	return out;
}

Test(small_sweep_host, processors_as_the_kernel_lists_them)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "0", "0 " },
		{ "0-3,8,10-11", "0 1 2 3 8 10 11 " },
		{ "8-10,18-20", "8 9 10 18 19 20 " },
		{ "9,19,29", "9 19 29 " },
		{ "010", "10 " },
		{ "100-101", "100 101 " },
		{ "7-7", "7 " },
		{ "1022-2000", "1022 1023 " }, /* no more fit */
		{ "5-3", "" },
		{ "2,", "2 " },
		{ "", "" },
		{ "all", "" },
		{ "1,x,3", "1 " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(eq(str, (char *)listed(rows[i].text), (char *)rows[i].want), "'%s': %s",
			  rows[i].text, listed(rows[i].text));
}

/* ---- pinning -------------------------------------------------------------------------------- */

TEST_FOLDER(folder);

TestSuite(small_sweep_pinned, .init = make_folder, .fini = remove_folder, .timeout = 300);

static int nth(const cpu_set_t *set, int n)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set) && !n--)
			return i;
	return -1;
}

/* A made-up device beside the real ones, whose nearest processors are these. */
static int pinned_near(const char *cpus)
{
	char address[128];
	int at;

	shell(NULL, "echo '%s' >'%s/local_cpulist'", cpus, folder);
	snprintf(address, sizeof(address), "../../../..%s", folder);
	system_free_processor(address, false);
	at = system_pin();
	system_unpin();
	return at;
}

Test(small_sweep_host, none_is_pinned_to_before_one_is_chosen)
{
	cpu_set_t before, after;

	cr_assert(zero(int, sched_getaffinity(0, sizeof(before), &before)), "before");
	cr_assert(eq(int, system_pin(), -1), "none");
	system_unpin();
	cr_assert(zero(int, sched_getaffinity(0, sizeof(after), &after)), "after");
	cr_assert(0 != CPU_EQUAL(&before, &after), "all that were allowed still are");
}

/* The thread that measures and one for the rest; with the CPU device one more, which computes. */
Test(small_sweep_pinned, none_where_there_are_too_few)
{
	cpu_set_t allowed, few;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		cr_skip("one processor");
	CPU_ZERO(&few);
	CPU_SET(nth(&allowed, 0), &few);
	sched_setaffinity(0, sizeof(few), &few);
	system_free_processor("", false);
	cr_assert(eq(int, system_pin(), -1), "of one");
	CPU_SET(nth(&allowed, 1), &few);
	sched_setaffinity(0, sizeof(few), &few);
	system_free_processor("", true);
	cr_assert(eq(int, system_pin(), -1), "of two, with the CPU device");
	system_free_processor(NULL, false);
	cr_assert(eq(int, system_pin(), nth(&allowed, 1)), "of two");
}

Test(small_sweep_pinned, near_the_device_the_last_one)
{
	cpu_set_t allowed, now;
	char list[64];
	int n;

	if (access("/sys/bus/pci/devices", F_OK) ||
	    sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		cr_skip("one processor, or no PCI devices");
	n = CPU_COUNT(&allowed);
	snprintf(list, sizeof(list), "%d", nth(&allowed, 0));
	cr_assert(eq(int, pinned_near(list), nth(&allowed, 0)), "the first alone is near");
	sched_setaffinity(0, sizeof(allowed), &allowed);
	snprintf(list, sizeof(list), "%d-%d", nth(&allowed, 0), nth(&allowed, 1));
	cr_assert(eq(int, pinned_near(list), nth(&allowed, 1)), "the second of two");
	sched_getaffinity(0, sizeof(now), &now);
	cr_assert(eq(int, CPU_COUNT(&now), n - 1), "then all others");
	cr_assert(zero(int, CPU_ISSET(nth(&allowed, 1), &now)), "but that one");
	sched_setaffinity(0, sizeof(allowed), &allowed);
	cr_assert(eq(int, pinned_near("1023"), nth(&allowed, n - 1)), "none is allowed: any");
	sched_setaffinity(0, sizeof(allowed), &allowed);
	system_free_processor("", false);
	cr_assert(eq(int, system_pin(), nth(&allowed, n - 1)), "anywhere");
}

/* ---- what the kernel counts ----------------------------------------------------------------- */

static long long said_by(const char *command)
{
	const char *text;

	cr_assert(zero(int, shell(&text, "%s", command)), "%s", command);
	return atoll(text);
}

Test(small_sweep_host, stolen_ticks_are_the_kernels)
{
	const char *eighth = "awk '$1 == \"cpu\" { print $9 }' /proc/stat";
	long long before, after;
	int64_t told;

	if (access("/proc/stat", R_OK) ||
	    said_by("awk '$1 == \"cpu\" { print NF }' /proc/stat") < 9)
		cr_skip("the kernel does not say");
	before = said_by(eighth);
	told = system_steal_ticks();
	after = said_by(eighth);
	cr_assert(before <= told && told <= after, "%ld of %lld to %lld", (long)told, before,
		  after);
}

Test(small_sweep_host, when_a_process_started)
{
	char command[128];

	snprintf(command, sizeof(command), "sed 's/.*) //' /proc/%d/stat | cut -d' ' -f20",
		 (int)getpid());
	cr_assert(eq(i64, system_start(getpid()), said_by(command)), "this one");
	cr_assert(eq(i64, system_start(0x7ffffffe), -1), "none");
}

Test(small_sweep_host, this_boot)
{
	const char *text;

	if (access("/proc/sys/kernel/random/boot_id", R_OK))
		cr_skip("the kernel does not say");
	shell(&text, "tr -d '\\n' </proc/sys/kernel/random/boot_id");
	cr_assert(eq(str, (char *)system_boot_id(), (char *)text), "%s", system_boot_id());
	cr_assert(eq(str, (char *)system_boot_id(), (char *)text), "and again");
}
