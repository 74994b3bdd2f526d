/* cpu.c - the host's processors, from /proc/cpuinfo and /sys/devices/system/cpu. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/platform/host.h"

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
 * How many different (package, core) pairs or packages the online CPUs have: key 0 is the package
 * and 1 the core within it.
 */
struct topology {
	int n;
	long (*seen)[2];
};

static bool add_once(struct topology *t, long package, long core)
{
	for (int i = 0; i < t->n; i++)
		if (t->seen[i][0] == package && t->seen[i][1] == core)
			return false;
	t->seen[t->n][0] = package;
	t->seen[t->n++][1] = core;
	return true;
}

static void count_cores(struct host *h, const struct place *p, const char *list, int cpus)
{
	struct topology t = { .seen = calloc((size_t)cpus + 1, sizeof(*t.seen)) };
	struct topology sockets = { .seen = calloc((size_t)cpus + 1, sizeof(*t.seen)) };
	struct fact package, core = fact_unknown("no CPU is listed");
	int from, to;

	while (next_range(&list, &from, &to)) {
		for (int i = from; i <= to && t.n < cpus; i++) {
			package = place_number(
				p, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", i);
			core = place_number(p, "/sys/devices/system/cpu/cpu%d/topology/core_id", i);
			if (!fact_known(&package) || !fact_known(&core))
				goto done;
			add_once(&t, (long)package.number, (long)core.number);
			add_once(&sockets, (long)package.number, 0);
		}
	}
done:
	h->cores = fact_known(&core) ? fact_int(t.n) : core;
	h->sockets = fact_known(&core) ? fact_int(sockets.n) : core;
	free(t.seen);
	free(sockets.seen);
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

/* The same one for all CPUs, else how many there are of the first. */
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
	if (n > 0)
		count_cores(h, p, list.text, n);
	else
		h->cores = h->sockets = list;
	h->smt = place_number(p, "/sys/devices/system/cpu/smt/active");
	if (fact_known(&h->smt))
		h->smt = fact_bool(h->smt.number);
	h->governor = n > 0 ? governor(p, list.text) : list;
	h->isolated_cpus = place_line(p, "/sys/devices/system/cpu/isolated");
	h->cpus_allowed = place_value(p, "/proc/self/status", "Cpus_allowed_list");
	h->tsc_invariant = cpu_flag(p, "nonstop_tsc");
}
