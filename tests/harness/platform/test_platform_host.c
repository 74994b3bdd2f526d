/* test_platform_host.c - the host's figures, read from the machines of tests/platforms. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/platform/host.h"
#include "tests/facts.h"
#include "tests/place.h"

#include <sys/stat.h>

TestSuite(small_platform_host, .timeout = 300, .fini = place_remove);

static struct host host;

static void read_host(const char *platform)
{
	struct place p = place_of(platform);

	host_read(&host, &p, false);
}

static void done(void)
{
	host_release(&host);
	place_remove();
}

Test(small_platform_host, a_server)
{
	read_host("bare-metal");
	text_is(&host.os, "Debian GNU/Linux 12 (bookworm)");
	text_is(&host.kernel, "6.1.0-28-amd64");
	text_is(&host.cpu_model, "Intel(R) Xeon(R) Gold 6430");
	number_is(&host.cpus, 8);
	number_is(&host.sockets, 2);
	number_is(&host.cores, 4);
	bool_is(&host.smt, true);
	text_is(&host.cpus_allowed, "0-7");
	text_is(&host.isolated_cpus, "2-3");
	text_is(&host.governor, "performance");
	bool_is(&host.tsc_invariant, true);
	number_is(&host.numa, 2);
	number_is(&host.mem_bytes, INT64_C(263836452) * 1024);
	number_is(&host.mem_available_bytes, INT64_C(258000000) * 1024);
	done();
}

Test(small_platform_host, its_clock_load_and_settings)
{
	read_host("bare-metal");
	text_is(&host.clocksource, "tsc");
	text_is(&host.clocksources, "tsc hpet acpi_pm");
	text_is(&host.thp, "always");
	text_is(&host.shmem_thp, "never");
	real_is(&host.uptime_s, 86400.5);
	real_is(&host.load, 0.25);
	real_is(&host.steal_share, 0);
	bool_is(&host.mitigations_off, false);
	cr_assert(eq(str, (char *)json_string_value(json_object_get(host.mitigations, "meltdown")),
		     "Not affected"),
		  "mitigations");
	number_is(&host.cgroup_version, 2);
	unknown_says(&host.cgroup_cpus, "no limit is set");
	unknown_says(&host.cgroup_mem_bytes, "no limit is set");
	done();
}

Test(small_platform_host, a_guest_whose_time_is_stolen)
{
	read_host("kvm");
	real_is(&host.steal_share, 0.03);
	bool_is(&host.mitigations_off, true);
	text_is(&host.clocksource, "kvm-clock");
	unknown_says(&host.governor, "scaling_governor: No such file");
	unknown_says(&host.smt, "/sys/devices/system/cpu/smt/active");
	number_is(&host.cores, 2);
	done();
}

Test(small_platform_host, limits_of_control_groups_version_2)
{
	read_host("docker");
	real_is(&host.cgroup_cpus, 1.5);
	number_is(&host.cgroup_mem_bytes, INT64_C(8) << 30);
	text_is(&host.cgroup_cpuset, "0-3");
	done();
	/* of a group above, the group itself has none */
	read_host("apptainer-slurm");
	number_is(&host.cgroup_mem_bytes, INT64_C(64) << 30);
	done();
}

Test(small_platform_host, limits_of_control_groups_version_1)
{
	read_host("kubernetes");
	number_is(&host.cgroup_version, 1);
	real_is(&host.cgroup_cpus, 2);
	number_is(&host.cgroup_mem_bytes, INT64_C(4) << 30);
	text_is(&host.cgroup_cpuset, "0-3");
	done();
}

Test(small_platform_host, the_tightest_limit_counts)
{
	struct place p = place_of("docker");
	FILE *f;
	char path[256];

	snprintf(path, sizeof(path), "%s/sys/fs/cgroup/tight", p.root);
	cr_assert(zero(int, mkdir(path, 0700)), "%s", path);
	snprintf(path, sizeof(path), "%s/sys/fs/cgroup/tight/cpu.max", p.root);
	f = fopen(path, "w");
	fputs("50000 100000\n", f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", p.root);
	f = fopen(path, "w");
	fputs("0::/tight\n", f);
	fclose(f);
	host_read(&host, &p, false);
	real_is(&host.cgroup_cpus, 0.5);
	done();
}

static void read_made(const char *const (*files)[2])
{
	struct place p = place_made(files);

	host_read(&host, &p, false);
}

Test(small_platform_host, a_machine_of_one_processor)
{
	static const char *const files[][2] = {
		{ "/sys/devices/system/cpu/online", "0\n" },
		{ "/sys/devices/system/cpu/cpu0/topology/core_siblings_list", "0\n" },
		{ "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n" },
		{ "/sys/devices/system/cpu/smt/active", "0\n" },
		{ "/proc/stat", "cpu  1 2 3 4 5 6 7 72 100 100\n" },
		{ "/proc/cpuinfo", "processor : 0\nflags : fpu nonstop_tsc\nbugs : x\n" },
		{ 0 }
	};

	read_made(files);
	number_is(&host.cpus, 1);
	number_is(&host.sockets, 1);
	number_is(&host.cores, 1);
	bool_is(&host.smt, false);
	real_is(&host.steal_share, 0.72);
	bool_is(&host.tsc_invariant, true);
	done();
}

/* The first processor's flags count, and of its own group the processors that it may use. */
Test(small_platform_host, groups_and_flags_of_others)
{
	static const char *const files[][2] = {
		{ "/proc/stat", "cpu  0 0 0 0 0 0 0 0\n" },
		{ "/proc/cpuinfo", "processor : 0\nflags : fpu\n\nflags : nonstop_tsc\n" },
		{ "/proc/self/cgroup", "3:cpuset:/a/b\n4:memory,x:/m\n5:cpu:/\n" },
		{ "/sys/fs/cgroup/cpuset/a/b/cpuset.cpus", "0-1\n" },
		{ "/sys/fs/cgroup/cpuset/a/cpuset.cpus", "0-3\n" },
		{ "/sys/fs/cgroup/memory/memory.limit_in_bytes", "1152921504606846976\n" },
		{ "/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "1152921504606846975\n" },
		{ "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n" },
		{ "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" },
		{ 0 }
	};

	read_made(files);
	unknown_says(&host.steal_share, "/proc/stat counts nothing");
	bool_is(&host.tsc_invariant, false);
	number_is(&host.cgroup_version, 1);
	text_is(&host.cgroup_cpuset, "0-1");
	number_is(&host.cgroup_mem_bytes, INT64_C(1152921504606846975));
	real_is(&host.cgroup_cpus, 0.5);
	done();
}

/* 2^60 bytes and more are none; so is a quota of 0, or one of no period. */
Test(small_platform_host, limits_that_are_none)
{
	static const char *const files[][2] = {
		{ "/sys/fs/cgroup/memory/memory.limit_in_bytes", "1152921504606846976\n" },
		{ "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "0\n" },
		{ "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" },
		{ 0 }
	};
	static const char *const no_period[][2] = {
		{ "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n" }, { 0 }
	};

	read_made(files);
	unknown_says(&host.cgroup_mem_bytes, "no limit is set");
	unknown_says(&host.cgroup_cpus, "no limit is set");
	done();
	read_made(no_period);
	unknown_says(&host.cgroup_cpus, "no limit is set");
	unknown_says(&host.cgroup_version, "no control groups");
	done();
}

Test(small_platform_host, processors_without_sys)
{
	read_host("gvisor");
	number_is(&host.cpus, 4);
	unknown_says(&host.cores, "/sys/devices/system/cpu/online");
	unknown_says(&host.sockets, "/sys/devices/system/cpu/online");
	unknown_says(&host.governor, "/sys/devices/system/cpu/online");
	done();
	read_host("arm-virt");
	text_is(&host.cpu_model, "ARM implementer 0x41, part 0xd0c");
	unknown_says(&host.tsc_invariant, "no flags");
	number_is(&host.cpus, 1);
	done();
}

Test(small_platform_host, the_name_is_a_hash_unless_asked_for)
{
	struct place p = place_of("bare-metal");

	/* printf '0123456789abcdef0123456789abcdefnode17' | sha256sum */
	host_read(&host, &p, false);
	text_is(&host.name, "sha256:ef842cb9b6eba6e5");
	host_release(&host);
	host_read(&host, &p, true);
	text_is(&host.name, "node17");
	done();
}

Test(small_platform_host, without_a_salt_the_name_stays_hidden)
{
	struct place p = place_of("bare-metal");
	char path[256];

	snprintf(path, sizeof(path), "%s/etc/machine-id", p.root);
	unlink(path);
	host_read(&host, &p, false);
	unknown_says(&host.name, "/etc/machine-id");
	cr_assert(eq(ptr, strstr(host.name.text, "node17"), NULL), "%s", host.name.text);
	done();
}

Test(small_platform_host, nothing_is_null_with_reasons_and_never_zero)
{
	json_t *o, *why, *value;
	const char *key;

	read_host("nothing");
	o = host_json(&host);
	why = json_object_get(o, "why_null");
	json_object_foreach(o, key, value)
	{
		if (!strcmp(key, "why_null") || !strcmp(key, "arch"))
			continue;
		cr_assert(eq(int, json_is_null(value), 1), "%s is not null", key);
		cr_assert(lt(sz, 0, json_string_length(json_object_get(why, key))), "%s", key);
	}
	cr_assert(lt(sz, 20, json_object_size(why)), "%zu reasons", json_object_size(why));
	json_decref(o);
	done();
}

Test(small_platform_host, lists_of_cpus)
{
	cr_assert(eq(int, list_count("0"), 1), "0");
	cr_assert(eq(int, list_count("0-3"), 4), "0-3");
	cr_assert(eq(int, list_count("0-3,8,10-11"), 7), "0-3,8,10-11");
	cr_assert(eq(int, list_count(""), 0), "empty");
	cr_assert(eq(int, list_count("x"), -1), "x");
	cr_assert(eq(int, list_count("3-1"), -1), "3-1");
	cr_assert(eq(int, list_count("0-3,"), 4), "comma at the end");
}
