/* host.c - the host: system, memory, clock and load, from /proc and /sys. */
#include "harness/env/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/digest.h"
#include "harness/base/json.h"

/* ---- name and system -------------------------------------------------------------------- */

/*
 * The salt is the machine's id, which is not to be published: nobody can try names against the
 * hash, and it stays the same as long as the system is not installed anew.
 */
static struct fact hashed_name(const struct place *p, const struct fact *name)
{
	struct fact salt = place_line(p, "/etc/machine-id");
	struct digest d = digest_start();

	if (!fact_known(&salt))
		return fact_unknown("hidden, and nothing to hash it with: %.200s", salt.text);
	digest_add(&d, salt.text, strlen(salt.text));
	digest_add(&d, name->text, strlen(name->text));
	return fact_text("sha256:%.16s", digest_end(&d).s);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static struct fact os_name(const struct place *p)
{
	char *text = place_text(p, "/etc/os-release");
	char *from = text ? strstr(text, "PRETTY_NAME=") : NULL;
	struct fact f = fact_unknown("no PRETTY_NAME in /etc/os-release");

	if (from) {
		from += strlen("PRETTY_NAME=");
		from += *from == '"';
		from[strcspn(from, "\"\n")] = '\0';
		f = fact_text("%s", from);
	}
	free(text);
	return f;
}

static void read_system(struct host *h, const struct place *p, bool name_in_plain)
{
	struct utsname uts;

	h->name = place_line(p, "/proc/sys/kernel/hostname");
	if (fact_known(&h->name) && !name_in_plain)
		h->name = hashed_name(p, &h->name);
	h->os = os_name(p);
	h->kernel = place_line(p, "/proc/sys/kernel/osrelease");
	/* of the binary that runs, so it is right in any place */
	h->arch = uname(&uts) ? fact_unknown("uname failed") : fact_text("%s", uts.machine);
}

/* ---- memory, clock, load ---------------------------------------------------------------- */

/* /proc/meminfo counts in KiB. */
static struct fact meminfo_bytes(const struct place *p, const char *key)
{
	struct fact f = place_value(p, "/proc/meminfo", key);

	return fact_known(&f) ? fact_int(1024 * strtoll(f.text, NULL, 10)) : f;
}

static struct fact numa_nodes(const struct place *p)
{
	struct fact f = place_line(p, "/sys/devices/system/node/online");

	return fact_known(&f) ? fact_int(list_count(f.text)) : f;
}

/* The first number of a line, with decimals. */
static struct fact first_real(const struct place *p, const char *path)
{
	struct fact f = place_line(p, "%s", path);
	char *end;
	double value = strtod(f.text, &end);

	if (!fact_known(&f))
		return f;
	return end > f.text ? fact_real(value) : fact_unknown("%s: no number", path);
}

/* "cpu  user nice system idle iowait irq softirq steal ...", in ticks since boot. */
static struct fact steal_share(const struct place *p)
{
	struct fact f = place_line(p, "/proc/stat");
	double tick[8], all = 0;

	if (!fact_known(&f))
		return f;
	if (sscanf(f.text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &tick[0], &tick[1], &tick[2],
		   &tick[3], &tick[4], &tick[5], &tick[6], &tick[7]) != 8)
		return fact_unknown("/proc/stat counts no stolen time");
	for (int i = 0; i < 8; i++)
		all += tick[i];
	return all > 0 ? fact_real(tick[7] / all) : fact_unknown("/proc/stat counts nothing");
}

static void read_memory_and_clock(struct host *h, const struct place *p)
{
	static const char clock[] = "/sys/devices/system/clocksource/clocksource0";

	h->numa = numa_nodes(p);
	h->mem_bytes = meminfo_bytes(p, "MemTotal");
	h->mem_available_bytes = meminfo_bytes(p, "MemAvailable");
	h->clocksource = place_line(p, "%s/current_clocksource", clock);
	h->clocksources = place_line(p, "%s/available_clocksource", clock);
	h->thp = place_choice(p, "/sys/kernel/mm/transparent_hugepage/enabled");
	h->shmem_thp = place_choice(p, "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
	h->uptime_s = first_real(p, "/proc/uptime");
	h->load = first_real(p, "/proc/loadavg");
	h->steal_share = steal_share(p);
}

/* What the kernel does against faults of the processor: it makes system calls slower. */
static void read_mitigations(struct host *h, const struct place *p)
{
	static const char folder[] = "/sys/devices/system/cpu/vulnerabilities";
	char *cmdline = place_text(p, "/proc/cmdline");
	int n;
	struct dirent **names = place_names(p, folder, &n);

	for (int i = 0; i < n; i++) {
		struct fact f = place_line(p, "%s/%s", folder, names[i]->d_name);

		if (!h->mitigations)
			h->mitigations = json_object();
		json_object_set_new(h->mitigations, names[i]->d_name, fact_json(&f));
	}
	place_names_free(names, n);
	/* of the command line nothing else is kept: it may name what is nobody's business */
	h->mitigations_off = cmdline ? fact_bool(strstr(cmdline, "mitigations=off") != NULL)
				     : fact_unknown("cannot read /proc/cmdline");
	free(cmdline);
}

void host_read(struct host *h, const struct place *p, bool name_in_plain)
{
	*h = (struct host){ 0 };
	read_system(h, p, name_in_plain);
	cpus_read(h, p);
	read_memory_and_clock(h, p);
	read_mitigations(h, p);
	cgroup_read(h, p);
}

#define ROW(name)                                                                                  \
	{                                                                                          \
#name, offsetof(struct host, name)                                                 \
	}

json_t *host_json(const struct host *h)
{
	static const struct fact_row rows[] = {
		ROW(name),
		ROW(os),
		ROW(kernel),
		ROW(arch),
		ROW(cpu_model),
		ROW(sockets),
		ROW(cores),
		ROW(cpus),
		ROW(cpus_allowed),
		ROW(smt),
		ROW(isolated_cpus),
		ROW(governor),
		ROW(tsc_invariant),
		ROW(numa),
		ROW(mem_bytes),
		ROW(mem_available_bytes),
		ROW(clocksource),
		ROW(clocksources),
		ROW(thp),
		ROW(shmem_thp),
		ROW(uptime_s),
		ROW(load),
		ROW(steal_share),
		ROW(mitigations_off),
		ROW(cgroup_version),
		ROW(cgroup_cpus),
		ROW(cgroup_mem_bytes),
		ROW(cgroup_cpuset),
		{ 0 },
	};
	json_t *o = facts_json(rows, h);

	facts_add(o, "mitigations", h->mitigations ? json_deep_copy(h->mitigations) : NULL,
		  "no /sys/devices/system/cpu/vulnerabilities");
	return o;
}

void host_release(struct host *h)
{
	json_decref(h->mitigations);
	h->mitigations = NULL;
}
