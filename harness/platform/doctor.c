/* doctor.c - findings about the machine and its software, and how all are shown. */
#include "harness/platform/doctor.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/picture.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/platform/libraries.h"

/* ---- findings, and how they are shown --------------------------------------------------- */

enum { LABEL_WIDTH = 25 };

static const char *const words[DOCTOR_STATES] = { "ok", "note", "warn", "missing" };

void doctor_report(struct doctor *d, enum doctor_state state, const char *name, const char *advice,
		   const char *fmt, ...)
{
	struct finding *f = &d->finding[d->n];
	va_list args;

	if (d->n == FINDINGS_MAX)
		return;
	d->n++;
	f->state = state;
	f->advice = advice;
	snprintf(f->name, sizeof(f->name), "%s", name);
	va_start(args, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
}

static int count_findings(const struct doctor *d, enum doctor_state state)
{
	int n = 0;

	for (int i = 0; i < d->n; i++)
		n += d->finding[i].state == state;
	return n;
}

static void print_finding(const struct finding *f, FILE *out)
{
	char label[64];

	snprintf(label, sizeof(label), "%-8s%s", words[f->state], f->name);
	row_of(out, LABEL_WIDTH, label, f->text);
	if (f->advice) {
		char advice[640];

		snprintf(advice, sizeof(advice), "-> %s", f->advice);
		row_of(out, LABEL_WIDTH, "", advice);
	}
}

void doctor_print(const struct doctor *d, const struct platform *p, FILE *out)
{
	for (int i = 0; i < d->n; i++)
		print_finding(&d->finding[i], out);
	fprintf(out, "\n%s: %d to note, %d that would spoil a measurement, %d missing.\n",
		d->works ? "Measuring works here" : "Measuring does not work here",
		count_findings(d, DOCTOR_NOTE), count_findings(d, DOCTOR_WARN),
		count_findings(d, DOCTOR_MISSING));
	if (d->works && !p->is_gpu)
		fprintf(out, "%s\n", platform_not_gpu);
}

static json_t *finding_json(const struct finding *f)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "name", f->name, "state", words[f->state], "text",
			 json_text(f->text), "advice", json_text(f->advice));
}

json_t *doctor_json(const struct doctor *d, const struct platform *p)
{
	json_t *findings = json_array();

	for (int i = 0; i < d->n; i++)
		json_array_append_new(findings, finding_json(&d->finding[i]));
	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "version", RIFT_VERSION, "build",
			 platform_build(), "works", d->works, "findings", findings, "platform",
			 platform_json(p));
}

/* ---- processors ------------------------------------------------------------------------- */

static void report_cpu(struct doctor *d, const struct host *h)
{
	doctor_report(d, DOCTOR_OK, "system", NULL, "%s, Linux %s, %s", fact_or(&h->os, "unknown"),
		      fact_or(&h->kernel, "unknown"), fact_or(&h->arch, "unknown"));
	if (fact_known(&h->sockets) && fact_known(&h->cores))
		doctor_report(d, DOCTOR_OK, "processor", NULL, "%s; %s, %s, %s",
			      fact_or(&h->cpu_model, "unknown"),
			      counted(h->sockets.number, "socket").s,
			      counted(h->cores.number, "core").s,
			      counted(h->cpus.number, "logical CPU").s);
	else
		doctor_report(d, DOCTOR_NOTE, "processor", NULL,
			      "%s; sockets and cores not known: %s",
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

static void report_pinning(struct doctor *d, const struct host *h)
{
	int allowed = list_count(fact_or(&h->cpus_allowed, ""));
	const char *list = fact_or(&h->cpus_allowed, "an unknown list");

	if (!pinning_works())
		doctor_report(d, DOCTOR_WARN, "pinning",
			      "allow sched_setaffinity (seccomp profile), or threads wander",
			      "not allowed; CPUs %s", list);
	else if (allowed < 1)
		doctor_report(d, DOCTOR_NOTE, "pinning", NULL, "works; CPUs not known: %s",
			      h->cpus_allowed.text);
	else if (allowed == 1)
		doctor_report(d, DOCTOR_WARN, "pinning",
			      "give rift 2 CPUs or more: on one, serving a launch competes with "
			      "submitting the next",
			      "1 CPU (%s): nothing will be pinned", list);
	else
		doctor_report(d, DOCTOR_OK, "pinning", NULL, "works, on %s (%s)",
			      counted(allowed, "CPU").s, list);
}

/* A group that has used up its share stands still until the next period, often 100 ms. */
static void report_limits(struct doctor *d, const struct host *h)
{
	bool cpus = fact_known(&h->cgroup_cpus), mem = fact_known(&h->cgroup_mem_bytes);
	bool tight = cpus && fact_known(&h->cpus) && h->cgroup_cpus.real < (double)h->cpus.number;

	if (!cpus && !mem) {
		bool none = strstr(h->cgroup_cpus.text, "no limit") != NULL;

		doctor_report(d, none ? DOCTOR_OK : DOCTOR_NOTE, "cgroup limits", NULL, "%s%s",
			      none ? "" : "not known: ", h->cgroup_cpus.text);
		return;
	}
	doctor_report(d, tight ? DOCTOR_WARN : DOCTOR_OK, "cgroup limits",
		      tight ? "the group is stopped when its time is used up: lift the limit, or "
			      "give it CPUs of its own (--cpuset-cpus) instead"
			    : NULL,
		      "CPU time of %s, memory %s",
		      cpus ? text_real(h->cgroup_cpus.real).s : "all CPUs",
		      mem ? text_bytes((double)h->cgroup_mem_bytes.number).s : "unlimited");
}

static void report_governor(struct doctor *d, const struct host *h)
{
	if (!fact_known(&h->governor))
		doctor_report(d, DOCTOR_NOTE, "CPU governor", NULL,
			      "not visible, as is usual in guests and in some containers");
	else if (fact_is(&h->governor, "performance"))
		doctor_report(d, DOCTOR_OK, "CPU governor", NULL, "performance");
	else
		doctor_report(d, DOCTOR_WARN, "CPU governor",
			      "clocks that follow the load make submission slower and uneven: "
			      "cpupower frequency-set -g performance (as root)",
			      "%s", h->governor.text);
}

/* ---- memory and load -------------------------------------------------------------------- */

static const int64_t little_memory_bytes = INT64_C(1) << 30;

static void report_memory(struct doctor *d, const struct host *h)
{
	const struct fact *available = &h->mem_available_bytes;
	bool little = fact_known(available) && available->number < little_memory_bytes;

	if (!fact_known(&h->mem_bytes))
		doctor_report(d, DOCTOR_NOTE, "memory", NULL, "not known: %s", h->mem_bytes.text);
	else
		doctor_report(
			d, little ? DOCTOR_WARN : DOCTOR_OK, "memory",
			little ? "less than 1 GiB is free: large configurations will fail" : NULL,
			"%s, %s available; huge pages: %s, of shared memory: %s",
			text_bytes((double)h->mem_bytes.number).s,
			fact_known(available) ? text_bytes((double)available->number).s : "unknown",
			fact_or(&h->thp, "unknown"), fact_or(&h->shmem_thp, "unknown"));
}

/* One CPU should be left for the thread that submits, and one for what serves it. */
static void report_load(struct doctor *d, const struct host *h)
{
	double cpus = fact_known(&h->cpus) ? (double)h->cpus.number : 1;
	bool busy = h->load.real > 0.3 * cpus, crowded = h->load.real > cpus - 1.5;

	if (!fact_known(&h->load))
		doctor_report(d, DOCTOR_NOTE, "load", NULL, "not known: %s", h->load.text);
	else
		doctor_report(
			d,
			busy && crowded ? DOCTOR_WARN
			: busy		? DOCTOR_NOTE
					: DOCTOR_OK,
			"load",
			busy ? "other work is running, or ran within the last minute: end it or "
			       "wait"
			     : NULL,
			"%.2f over the last minute, on %s", h->load.real,
			counted((int)cpus, "CPU").s);
	if (!fact_known(&h->steal_share))
		doctor_report(d, DOCTOR_NOTE, "stolen time", NULL, "not known: %s",
			      h->steal_share.text);
	else
		doctor_report(
			d, h->steal_share.real > 0.01 ? DOCTOR_WARN : DOCTOR_OK, "stolen time",
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

static void report_clock(struct doctor *d, const struct host *h, const struct clock_probe *c)
{
	const char *source = fact_or(&h->clocksource, "unknown source");
	bool dear = c->cost_ns > dear_ns, coarse = c->tick_ns > 1000;
	bool other = strstr(fact_or(&h->clocksources, ""), "tsc") && strcmp(source, "tsc");

	doctor_report(d, dear || coarse ? DOCTOR_WARN : DOCTOR_OK, "clock",
		      !dear && !coarse ? NULL
		      : other	       ? "a faster source is available: echo tsc "
					 ">/sys/devices/system/clocksource/clocksource0/current_clocksource "
					 "(as root)"
			      : "each reading is a call of the kernel or the hypervisor: use "
				"larger depths, at which it does not matter",
		      "%s: a reading costs %s, smallest step %s%s%s", source,
		      text_time(c->cost_ns).s, text_time((double)c->tick_ns).s,
		      c->early_ns > 0 ? "; at first it cost " : "",
		      c->early_ns > 0 ? text_time(c->early_ns).s : "");
}

void doctor_host(struct doctor *d, const struct platform *p, const struct clock_probe *clock)
{
	const struct host *h = &p->host;

	report_cpu(d, h);
	report_pinning(d, h);
	report_limits(d, h);
	report_governor(d, h);
	report_memory(d, h);
	report_load(d, h);
	report_clock(d, h, clock);
	if (fact_true(&h->mitigations_off))
		doctor_report(d, DOCTOR_NOTE, "mitigations", NULL,
			      "off (mitigations=off): system calls are faster than elsewhere");
}

/* ---- what stands between rift and the machine, and by what evidence --------------------- */

enum { SHOWN = 3 };

/* "kvm (CPUID 0x40000000: KVMKVMKVM; DMI: QEMU)": the word and what says so. */
static void write_evidence(const struct virt *v, enum virt_layer layer, char *text, size_t size)
{
	const char *between = " (";
	int shown = 0;
	size_t n = (size_t)snprintf(text, size, "%s", v->layer[layer].text);

	for (int i = 0; i < v->n && shown < SHOWN && n < size; i++) {
		const struct evidence *e = &v->evidence[i];

		if (e->layer != layer)
			continue;
		n += (size_t)snprintf(text + n, size - n, "%s%s%s%s", between, e->source,
				      *e->text ? ": " : "", e->text);
		between = "; ";
		shown++;
	}
	if (shown && n < size)
		snprintf(text + n, size - n, ")");
}

static void report_layer(struct doctor *d, const struct virt *v, enum virt_layer layer,
			 const char *name, const char *none)
{
	char text[640];

	if (virt_word(v, layer)) {
		write_evidence(v, layer, text, sizeof(text));
		doctor_report(d, DOCTOR_NOTE, name, NULL, "%s", text);
	} else if (none) {
		doctor_report(d, DOCTOR_OK, name, NULL, "%s", none);
	}
}

/* Those that `rift layer` has put between. */
static void report_own_layers(struct doctor *d, const json_t *layers)
{
	const json_t *l;
	size_t i;

	json_array_foreach(layers, i, l)
	{
		const json_t *in_force = json_object_get(l, "in_force");
		bool lost = json_is_false(in_force);

		doctor_report(d, lost ? DOCTOR_WARN : DOCTOR_NOTE, "layer",
			      lost ? "restart it: what is measured now is not what it costs" : NULL,
			      "%s (%s): %s", json_get_text(l, "name"), json_get_text(l, "label"),
			      json_is_null(in_force) ? "cannot see whether it is active"
						     : json_get_text(l, "detail"));
	}
}

void doctor_layers(struct doctor *d, const struct platform *p)
{
	const struct virt *v = &p->virt;

	if (p->declared)
		doctor_report(d, DOCTOR_OK, "platform", NULL, "declared: %s", p->declared);
	report_own_layers(d, p->layers);
	report_layer(d, v, VIRT_HYPERVISOR, "hypervisor",
		     fact_is(&v->layer[VIRT_HYPERVISOR], "none") ? "none, says the processor"
								 : "no sign of one");
	report_layer(d, v, VIRT_CLOUD, "cloud", NULL);
	report_layer(d, v, VIRT_WSL, "WSL", "no");
	report_layer(d, v, VIRT_SANDBOX, "sandbox", NULL);
	report_layer(d, v, VIRT_CONTAINER, "container", "no sign of one, which proves nothing");
	report_layer(d, v, VIRT_ORCHESTRATOR, "orchestrator", NULL);
	report_layer(d, v, VIRT_GPU, "GPU sharing",
		     p->is_gpu ? "no sign of a virtual or shared GPU" : NULL);
}

/* ---- libraries in between, variables, and the libraries and programs that rift uses ----- */

static void report_interposers(struct doctor *d, const struct libraries *l)
{
	for (int i = 0; i < l->n; i++)
		doctor_report(d, DOCTOR_WARN, "interposed",
			      "unless it is what you measure, start rift without it", "%s: %s",
			      l->interposer[i].path, l->interposer[i].why);
	if (!l->n)
		doctor_report(d, DOCTOR_OK, "interposed", NULL,
			      "no library is between rift and CUDA");
}

static void report_variables(struct doctor *d, const struct place *place)
{
	int n = 0;

	for (char *const *e = place->env; *e; e++) {
		const struct influence *i = influence_of(*e);

		if (!i)
			continue;
		doctor_report(d, i->spoils ? DOCTOR_WARN : DOCTOR_NOTE, "variable", NULL,
			      "%.120s: %s", *e, i->what);
		n++;
	}
	if (!n)
		doctor_report(d, DOCTOR_OK, "variables", NULL,
			      "none is set that changes CUDA or the CPU device");
}

static void report_libraries(struct doctor *d)
{
	doctor_report(d, DOCTOR_OK, "libraries", NULL, "jansson %s, glibc %s",
		      jansson_version_str(), gnu_get_libc_version());
}

static void report_gnuplot(struct doctor *d)
{
	static const char advice[] = "only charts need it: apt-get install gnuplot-nox";
	struct gnuplot_words version;
	int err = gnuplot_ask(&version);

	if (err)
		doctor_report(d, DOCTOR_MISSING, "gnuplot", advice, "%s",
			      err == -ENOENT ? "not on PATH" : strerror(-err));
	else if (!gnuplot_suffices(version.s))
		doctor_report(d, DOCTOR_WARN, "gnuplot", advice, "'%s' is too old for charts",
			      version.s);
	else
		doctor_report(d, DOCTOR_OK, "gnuplot", NULL, "%s, for charts",
			      version.s + strlen("gnuplot "));
}

void doctor_software(struct doctor *d, const struct platform *p, const struct place *place)
{
	report_interposers(d, &p->libraries);
	report_variables(d, place);
	report_libraries(d);
	report_gnuplot(d);
}
