/* host.c - processors, memory, load and clock: what of them would spoil a measurement. */
#include <sched.h>
#include <string.h>

#include "harness/base/text.h"
#include "harness/doctor/doctor.h"

/* ---- processors ------------------------------------------------------------------------- */

static void say_cpu(struct doctor *d, const struct host *h)
{
	doctor_say(d, DOCTOR_OK, "system", NULL, "%s, Linux %s, %s", fact_or(&h->os, "unknown"),
		   fact_or(&h->kernel, "unknown"), fact_or(&h->arch, "unknown"));
	if (fact_known(&h->sockets) && fact_known(&h->cores))
		doctor_say(d, DOCTOR_OK, "processor", NULL,
			   "%s; %d socket%s, %d cores, %d logical CPUs",
			   fact_or(&h->cpu_model, "unknown"), (int)h->sockets.number,
			   h->sockets.number == 1 ? "" : "s", (int)h->cores.number,
			   (int)h->cpus.number);
	else
		doctor_say(d, DOCTOR_NOTE, "processor", NULL, "%s; sockets and cores not known: %s",
			   fact_or(&h->cpu_model, "unknown"), h->sockets.text);
}

/* Can a thread be kept on one CPU? Leaves everything as it was. */
static bool pinning_works(void)
{
	cpu_set_t before, one;
	int cpu = 0;
	bool works;

	if (sched_getaffinity(0, sizeof(before), &before))
		return false;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	works = !sched_setaffinity(0, sizeof(one), &one);
	return !sched_setaffinity(0, sizeof(before), &before) && works;
}

static void say_pinning(struct doctor *d, const struct host *h)
{
	int allowed = fact_known(&h->cpus_allowed) ? list_count(h->cpus_allowed.text) : -1;
	const char *list = fact_or(&h->cpus_allowed, "an unknown list");

	if (!pinning_works())
		doctor_say(d, DOCTOR_WARN, "pinning",
			   "allow sched_setaffinity (seccomp profile), or threads wander",
			   "not allowed; CPUs %s", list);
	else if (allowed == 1)
		doctor_say(d, DOCTOR_WARN, "pinning",
			   "give rift 2 CPUs or more: what serves a launch would take turns with "
			   "what submits it",
			   "1 CPU (%s): nothing will be pinned", list);
	else if (allowed < 0)
		doctor_say(d, DOCTOR_NOTE, "pinning", NULL, "works; CPUs not known: %s",
			   h->cpus_allowed.text);
	else
		doctor_say(d, DOCTOR_OK, "pinning", NULL, "works, on %d CPUs (%s)", allowed, list);
}

/* A group that has used up its share stands still until the next period, often 100 ms. */
static void say_limits(struct doctor *d, const struct host *h)
{
	bool cpus = fact_known(&h->cgroup_cpus), mem = fact_known(&h->cgroup_mem_bytes);
	bool tight = cpus && fact_known(&h->cpus) && h->cgroup_cpus.real < (double)h->cpus.number;

	if (!cpus && !mem) {
		bool none = strstr(h->cgroup_cpus.text, "no limit") != NULL;

		doctor_say(d, none ? DOCTOR_OK : DOCTOR_NOTE, "cgroup limits", NULL, "%s%s",
			   none ? "" : "not known: ", h->cgroup_cpus.text);
		return;
	}
	doctor_say(d, tight ? DOCTOR_WARN : DOCTOR_OK, "cgroup limits",
		   tight ? "the group is stopped when its time is used up: lift the limit, or "
			   "give it CPUs of its own (--cpuset-cpus) instead"
			 : NULL,
		   "CPU time of %s, memory %s",
		   cpus ? text_real(h->cgroup_cpus.real).s : "all CPUs",
		   mem ? text_bytes((double)h->cgroup_mem_bytes.number).s : "unlimited");
}

static void say_governor(struct doctor *d, const struct host *h)
{
	if (!fact_known(&h->governor))
		doctor_say(d, DOCTOR_NOTE, "CPU governor", NULL,
			   "not visible, as is usual in guests and in some containers");
	else if (fact_is(&h->governor, "performance"))
		doctor_say(d, DOCTOR_OK, "CPU governor", NULL, "performance");
	else
		doctor_say(d, DOCTOR_WARN, "CPU governor",
			   "clocks that follow the load make submission slower and uneven: "
			   "cpupower frequency-set -g performance (as root)",
			   "%s", h->governor.text);
}

/* ---- memory and load -------------------------------------------------------------------- */

static const int64_t little_memory_bytes = INT64_C(1) << 30;

static void say_memory(struct doctor *d, const struct host *h)
{
	const struct fact *available = &h->mem_available_bytes;
	bool little = fact_known(available) && available->number < little_memory_bytes;

	if (!fact_known(&h->mem_bytes))
		doctor_say(d, DOCTOR_NOTE, "memory", NULL, "not known: %s", h->mem_bytes.text);
	else
		doctor_say(
			d, little ? DOCTOR_WARN : DOCTOR_OK, "memory",
			little ? "less than 1 GiB is free: large configurations will fail" : NULL,
			"%s, %s available; huge pages: %s, of shared memory: %s",
			text_bytes((double)h->mem_bytes.number).s,
			fact_known(available) ? text_bytes((double)available->number).s : "unknown",
			fact_or(&h->thp, "unknown"), fact_or(&h->shmem_thp, "unknown"));
}

/* One CPU should be left for the thread that submits, and one for what serves it. */
static void say_load(struct doctor *d, const struct host *h)
{
	double cpus = fact_known(&h->cpus) ? (double)h->cpus.number : 1;
	bool busy = h->load.real > 0.3 * cpus, crowded = h->load.real > cpus - 1.5;

	if (!fact_known(&h->load))
		doctor_say(d, DOCTOR_NOTE, "load", NULL, "not known: %s", h->load.text);
	else
		doctor_say(d,
			   busy && crowded ? DOCTOR_WARN
			   : busy	   ? DOCTOR_NOTE
					   : DOCTOR_OK,
			   "load",
			   busy ? "other work is running, or ran within the last minute: end it or "
				  "wait"
				: NULL,
			   "%.2f over the last minute, on %d CPUs", h->load.real, (int)cpus);
	if (!fact_known(&h->steal_share))
		doctor_say(d, DOCTOR_NOTE, "stolen time", NULL, "not known: %s",
			   h->steal_share.text);
	else
		doctor_say(d, h->steal_share.real > 0.01 ? DOCTOR_WARN : DOCTOR_OK, "stolen time",
			   h->steal_share.real > 0.01
				   ? "the hypervisor gives these CPUs to others: ask for CPUs of "
				     "your own"
				   : NULL,
			   "%.2g %% of CPU time since the start of the system",
			   100 * h->steal_share.real);
}

/* ---- clock ------------------------------------------------------------------------------ */

/* A reading through the page that the kernel shares takes 15 to 60 ns; a system call more. */
static const double dear_ns = 200;

static void say_clock(struct doctor *d, const struct host *h, const struct clock_probe *c)
{
	const char *source = fact_or(&h->clocksource, "unknown source");
	bool dear = c->cost_ns > dear_ns, coarse = c->tick_ns > 1000;
	bool other = strstr(fact_or(&h->clocksources, ""), "tsc") && strcmp(source, "tsc");

	doctor_say(d, dear || coarse ? DOCTOR_WARN : DOCTOR_OK, "clock",
		   !dear && !coarse ? NULL
		   : other	    ? "a faster source is there: echo tsc >/sys/devices/system/"
				      "clocksource/clocksource0/current_clocksource (as root)"
			   : "each reading is a call of the kernel or the hypervisor: take "
			     "larger depths, in which it is lost",
		   "%s: a reading costs %s, smallest step %s", source, text_time(c->cost_ns).s,
		   text_time((double)c->tick_ns).s);
}

void doctor_host(struct doctor *d, const struct platform *p, const struct clock_probe *clock)
{
	const struct host *h = &p->host;

	say_cpu(d, h);
	say_pinning(d, h);
	say_limits(d, h);
	say_governor(d, h);
	say_memory(d, h);
	say_load(d, h);
	say_clock(d, h, clock);
	if (fact_true(&h->mitigations_off))
		doctor_say(d, DOCTOR_NOTE, "mitigations", NULL,
			   "off (mitigations=off): system calls are faster than elsewhere");
}
