/* cpu.c - the host's processors, from /proc/cpuinfo and /sys/devices/system/cpu. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/env/host.h"

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
