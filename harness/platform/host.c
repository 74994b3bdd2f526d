/* host.c - the host: system, processors, memory, clock, limits and load. */
#include "harness/platform/host.h"

#include <inttypes.h>
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

/* ---- processors ------------------------------------------------------------------------- */

struct fact cpu_flag(const struct place *p, const char *flag)
{
	char *text = place_text(p, "/proc/cpuinfo"), *line, *save, *word;
	struct fact f = fact_unknown("no flags in /proc/cpuinfo");

	line = text ? strstr(text, "\nflags") : NULL;
	if (line) {
		line[1 + strcspn(line + 1, "\n")] = '\0';
		f = fact_bool(false);
		for (word = strtok_r(line, " \t\n:", &save); word;
		     word = strtok_r(NULL, " ", &save))
			if (!strcmp(word, flag))
				f = fact_bool(true);
	}
	free(text);
	return f;
}

/* Steps over "3" or "0-3" and its comma. False at the end, and before what is neither. */
static bool next_range(const char **list, int *from, int *to)
{
	int n = 0;

	if (sscanf(*list, "%d-%d%n", from, to, &n) != 2) {
		if (sscanf(*list, "%d%n", from, &n) != 1)
			return false;
		*to = *from;
	}
	if (*from < 0 || *to < *from)
		return false;
	*list += n + ((*list)[n] == ',');
	return true;
}

int list_count(const char *list)
{
	int from, to, n = 0;

	while (next_range(&list, &from, &to))
		n += to - from + 1;
	return *list ? -1 : n;
}

/*
 * How many groups of CPUs there are, given the file in which each CPU lists its own group: as many
 * as there are CPUs that come first in theirs.
 */
static struct fact count_groups(const struct place *p, const char *list, const char *file)
{
	struct fact group;
	int from, to, n = 0;

	while (next_range(&list, &from, &to)) {
		for (int i = from; i <= to; i++) {
			group = place_number(p, "/sys/devices/system/cpu/cpu%d/topology/%s", i,
					     file);
			if (!fact_known(&group))
				return group;
			n += group.number == i;
		}
	}
	return fact_int(n);
}

/* Where /sys is missing, cpuinfo still counts. */
static struct fact count_in_cpuinfo(const struct place *p)
{
	char *text = place_text(p, "/proc/cpuinfo"), *at = text;
	int n = 0;

	for (; at && (at = strstr(at, "processor")); at++)
		n += at == text || at[-1] == '\n';
	free(text);
	return n ? fact_int(n)
		 : fact_unknown("no /sys/devices/system/cpu/online, no /proc/cpuinfo");
}

/* The one that all CPUs have, or two of several. */
static struct fact governor(const struct place *p, const char *list)
{
	static const char path[] = "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor";
	struct fact first = fact_unknown("no CPU is listed"), other;
	int from, to;
	bool have = false;

	while (next_range(&list, &from, &to)) {
		for (int i = from; i <= to; i++) {
			other = place_line(p, path, i);
			if (have && strcmp(other.text, first.text))
				return fact_text("mixed: %.60s, %.60s", first.text, other.text);
			first = other;
			have = true;
			if (!fact_known(&first))
				return first;
		}
	}
	return first;
}

/* "Intel(R) Xeon(R) ...", or what ARM and device trees have instead. */
static struct fact cpu_model(const struct place *p)
{
	struct fact f = place_value(p, "/proc/cpuinfo", "model name");
	struct fact part, implementer;

	if (fact_known(&f))
		return f;
	implementer = place_value(p, "/proc/cpuinfo", "CPU implementer");
	part = place_value(p, "/proc/cpuinfo", "CPU part");
	if (fact_known(&part))
		return fact_text("ARM implementer %.20s, part %.20s", implementer.text, part.text);
	return f;
}

void cpus_read(struct host *h, const struct place *p)
{
	struct fact list = place_line(p, "/sys/devices/system/cpu/online");
	int n = fact_known(&list) ? list_count(list.text) : 0;

	h->cpu_model = cpu_model(p);
	h->cpus = n > 0 ? fact_int(n) : count_in_cpuinfo(p);
	h->cores = n > 0 ? count_groups(p, list.text, "thread_siblings_list") : list;
	h->sockets = n > 0 ? count_groups(p, list.text, "core_siblings_list") : list;
	h->smt = place_number(p, "/sys/devices/system/cpu/smt/active");
	if (fact_known(&h->smt))
		h->smt = fact_bool(h->smt.number);
	h->governor = n > 0 ? governor(p, list.text) : list;
	h->isolated_cpus = place_line(p, "/sys/devices/system/cpu/isolated");
	h->cpus_allowed = place_value(p, "/proc/self/status", "Cpus_allowed_list");
	h->tsc_invariant = cpu_flag(p, "nonstop_tsc");
}

/* ---- control groups --------------------------------------------------------------------- */

/*
 * What the control group of this process and those above it allow. A container sees its own group
 * as the root of the tree, or the path that the host gave it, or nothing at all.
 */

/* Version 1 has no word for "no limit" of memory: a number near 2^63 in whole pages. */
static const int64_t no_limit_bytes = INT64_C(1) << 60;

/*
 * The group of this process for a controller, from lines "4:memory:/path" (version 1) and
 * "0::/path" (version 2: controller ""). Returns "/" where there is no such line.
 */
static void group_path(const struct place *p, const char *controller, char path[256])
{
	char *text = place_text(p, "/proc/self/cgroup"), *rest = text, *line, *names, *word;

	snprintf(path, 256, "/");
	while (text && (line = strsep(&rest, "\n"))) {
		strsep(&line, ":");
		names = line ? strsep(&line, ":") : NULL;
		if (!line)
			continue;
		while ((word = strsep(&names, ",")))
			if (!strcmp(word, controller))
				snprintf(path, 256, "%s", line);
	}
	free(text);
}

static const char none_set[] = "no limit is set";

/* "max", "-1" or "150000 100000": how many CPUs' time; one limit of one group. */
static struct fact quota_cpus(const struct fact *quota, const struct fact *period)
{
	double q, t = 0;
	int n = sscanf(quota->text, "%lf %lf", &q, &t);

	if (n == 1 && fact_known(period))
		t = strtod(period->text, NULL);
	if (n < 1 || q <= 0 || t <= 0)
		return fact_unknown("%s", none_set);
	return fact_real(q / t);
}

static struct fact limit_bytes(const struct fact *limit)
{
	int64_t bytes;

	if (sscanf(limit->text, "%" SCNd64, &bytes) != 1 || bytes >= no_limit_bytes)
		return fact_unknown("%s", none_set);
	return fact_int(bytes);
}

/* The smaller limit; without one, "none is set" says more than a file that is not there. */
static void tighten(struct fact *to, const struct fact *limit)
{
	bool smaller =
		limit->kind == FACT_REAL ? limit->real < to->real : limit->number < to->number;

	if (fact_known(limit) ? !fact_known(to) || smaller
			      : !fact_known(to) && strcmp(to->text, none_set))
		*to = *limit;
}

/* Where a controller's groups are, and the files with its limits. */
struct controller {
	const char *name, *folder, *quota, *period, *bytes, *cpuset;
};

static void read_group(struct host *h, const struct place *p, const struct controller *c,
		       const char *path)
{
	struct fact f, period = fact_unknown("none"), limit;

	if (c->quota) {
		f = place_line(p, "%s%s/%s", c->folder, path, c->quota);
		if (c->period)
			period = place_line(p, "%s%s/%s", c->folder, path, c->period);
		limit = fact_known(&f) ? quota_cpus(&f, &period) : f;
		tighten(&h->cgroup_cpus, &limit);
	}
	if (c->bytes) {
		f = place_line(p, "%s%s/%s", c->folder, path, c->bytes);
		limit = fact_known(&f) ? limit_bytes(&f) : f;
		tighten(&h->cgroup_mem_bytes, &limit);
	}
	if (c->cpuset && !fact_known(&h->cgroup_cpuset))
		h->cgroup_cpuset = place_line(p, "%s%s/%s", c->folder, path, c->cpuset);
}

/* The group of this process and every one above it. */
static void read_controller(struct host *h, const struct place *p, const struct controller *c)
{
	char path[256], *slash;
	size_t n;

	group_path(p, c->name, path);
	n = strlen(path);
	if (n && path[n - 1] == '/')
		path[n - 1] = '\0';
	for (;;) {
		read_group(h, p, c, path);
		slash = strrchr(path, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
}

void cgroup_read(struct host *h, const struct place *p)
{
	static const struct controller v2 = { "",   "/sys/fs/cgroup", "cpu.max",
					      NULL, "memory.max",     "cpuset.cpus.effective" };
	static const struct controller v1[] = {
		{ "cpu", "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", NULL,
		  NULL },
		{ "memory", "/sys/fs/cgroup/memory", NULL, NULL, "memory.limit_in_bytes", NULL },
		{ "cpuset", "/sys/fs/cgroup/cpuset", NULL, NULL, NULL, "cpuset.cpus" },
	};

	if (place_has(p, "/sys/fs/cgroup/cgroup.controllers")) {
		h->cgroup_version = fact_int(2);
		read_controller(h, p, &v2);
		return;
	}
	h->cgroup_version = place_has(p, "/sys/fs/cgroup/memory")
				    ? fact_int(1)
				    : fact_unknown("no control groups in /sys/fs/cgroup");
	for (size_t i = 0; i < sizeof(v1) / sizeof(*v1); i++)
		read_controller(h, p, &v1[i]);
}
