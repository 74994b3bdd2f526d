/* test_doctor.c - what `rift doctor` says of machines that are not this one. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/base/json.h"
#include "harness/base/picture.h"
#include "harness/platform/doctor.h"
#include "tests/findings.h"
#include "tests/place.h"
#include "tests/golden.h"

#include <sched.h>

TestSuite(small_doctor, .timeout = 300, .fini = place_remove);

static struct platform platform;
static struct place place;
static const struct clock_probe good_clock = { .cost_ns = 20, .tick_ns = 18 };

/* Fills all but the device. */
static void visit_place(const char *name)
{
	doctor = (struct doctor){ 0 };
	platform = (struct platform){ 0 };
	place = place_of(name);
	host_read(&platform.host, &place, false);
	virt_read(&platform.virt, &place);
}

static void leave(void)
{
	host_release(&platform.host);
	place_remove();
}

/* ---- host ------------------------------------------------------------------------------- */

Test(small_doctor, a_quiet_server_is_fine)
{
	visit_place("bare-metal");
	doctor_host(&doctor, &platform, &good_clock);
	finds("system", DOCTOR_OK, "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-28-amd64");
	finds("processor", DOCTOR_OK, "Gold 6430; 2 sockets, 4 cores, 8 logical CPUs");
	finds("cgroup limits", DOCTOR_OK, "no limit");
	finds("CPU governor", DOCTOR_OK, "performance");
	finds("memory", DOCTOR_OK, "252 GiB");
	finds("load", DOCTOR_OK, "0.25");
	finds("stolen time", DOCTOR_OK, "0 %");
	finds("clock", DOCTOR_OK, "tsc: *20 ns, *18 ns");
	cr_assert(eq(ptr, (void *)find("mitigations"), NULL), "mitigations");
	leave();
}

Test(small_doctor, a_guest_whose_time_is_stolen)
{
	visit_place("kvm");
	doctor_host(&doctor, &platform, &good_clock);
	finds("stolen time", DOCTOR_WARN, "3 %");
	advises("stolen time", "CPUs");
	finds("CPU governor", DOCTOR_NOTE, "not visible");
	finds("mitigations", DOCTOR_NOTE, "off");
	leave();
}

Test(small_doctor, limits_that_stop_the_group)
{
	visit_place("docker");
	platform.host.cpus = fact_int(4);
	doctor_host(&doctor, &platform, &good_clock);
	finds("cgroup limits", DOCTOR_WARN, "CPU time of 1.5, memory 8.00 GiB");
	advises("cgroup limits", "cpuset");
	leave();
}

Test(small_doctor, a_machine_of_which_nothing_is_known_is_no_crash_and_no_zero)
{
	visit_place("nothing");
	doctor_host(&doctor, &platform, &good_clock);
	doctor_layers(&doctor, &platform);
	finds("processor", DOCTOR_NOTE, "not known");
	finds("memory", DOCTOR_NOTE, "not known");
	finds("cgroup limits", DOCTOR_NOTE, "not known");
	finds("load", DOCTOR_NOTE, "not known");
	finds("stolen time", DOCTOR_NOTE, "not known");
	finds("hypervisor", DOCTOR_OK, "no ");
	for (int i = 0; i < doctor.n; i++)
		cr_assert(lt(sz, 0, strlen(doctor.finding[i].text)), "%s", doctor.finding[i].name);
	leave();
}

Test(small_doctor, sockets_without_cores_are_not_known)
{
	for (int i = 0; i < 4; i++) {
		doctor = (struct doctor){ 0 };
		platform = (struct platform){ .host.cpus = fact_int(8) };
		platform.host.sockets = i & 1 ? fact_int(1) : fact_unknown("no sockets");
		platform.host.cores = i & 2 ? fact_int(4) : fact_unknown("no cores");
		doctor_host(&doctor, &platform, &good_clock);
		if (i == 3)
			finds("processor", DOCTOR_OK, "; 1 socket, 4 cores, 8 logical CPUs");
		else
			finds("processor", DOCTOR_NOTE, "not known");
	}
}

static void load_is(double load, int cpus, enum doctor_state state)
{
	doctor = (struct doctor){ 0 };
	platform.host.load = fact_real(load);
	platform.host.cpus = fact_int(cpus);
	doctor_host(&doctor, &platform, &good_clock);
	finds("load", state, "minute");
}

Test(small_doctor, load_in_proportion_to_the_processors)
{
	load_is(0.1, 1, DOCTOR_OK);
	load_is(0.9, 1, DOCTOR_WARN);
	load_is(1.2, 2, DOCTOR_WARN);
	load_is(8, 64, DOCTOR_OK);
	load_is(30, 64, DOCTOR_NOTE);
	load_is(64, 64, DOCTOR_WARN);
}

/* ---- either side of each limit ------------------------------------------------------------ */

static void host_is(const char *name, enum doctor_state state)
{
	const struct clock_probe clock = { .cost_ns = 200, .tick_ns = 1000 };

	doctor = (struct doctor){ 0 };
	doctor_host(&doctor, &platform, &clock);
	finds(name, state, "");
	cr_assert(eq(int, find(name)->advice != NULL && *find(name)->advice != 0,
		     state == DOCTOR_WARN || (state == DOCTOR_NOTE && !strcmp(name, "load"))),
		  "%s", name);
}

Test(small_doctor, limits_of_load)
{
	static const struct {
		double load;
		int cpus;
		enum doctor_state state;
	} rows[] = {
		{ 3, 10, DOCTOR_OK },	   { 3.01, 10, DOCTOR_NOTE }, { 8.5, 10, DOCTOR_NOTE },
		{ 8.51, 10, DOCTOR_WARN }, { 0.5, 2, DOCTOR_OK },     { 0.61, 2, DOCTOR_WARN },
		{ 0.3, 1, DOCTOR_OK },	   { 0.31, 1, DOCTOR_WARN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		platform.host.load = fact_real(rows[i].load);
		platform.host.cpus = fact_int(rows[i].cpus);
		host_is("load", rows[i].state);
	}
	platform.host.cpus = fact_unknown("none"); /* taken for one */
	platform.host.load = fact_real(0.31);
	host_is("load", DOCTOR_WARN);
	finds("load", DOCTOR_WARN, "0.31 over the last minute, on 1 CPU");
}

Test(small_doctor, limits_of_time_and_memory)
{
	platform.host.cpus = fact_int(4);
	platform.host.steal_share = fact_real(0.01);
	host_is("stolen time", DOCTOR_OK);
	platform.host.steal_share = fact_real(0.0101);
	host_is("stolen time", DOCTOR_WARN);
	platform.host.steal_share = fact_real(0.6);
	host_is("stolen time", DOCTOR_WARN);
	finds("stolen time", DOCTOR_WARN, "60 % of");
	platform.host.mem_bytes = fact_int(INT64_C(8) << 30);
	host_is("memory", DOCTOR_OK);
	platform.host.mem_available_bytes = fact_int(INT64_C(1) << 30);
	host_is("memory", DOCTOR_OK);
	platform.host.mem_available_bytes = fact_int((INT64_C(1) << 30) - 1);
	host_is("memory", DOCTOR_WARN);
	platform.host.cgroup_cpus = fact_real(4);
	host_is("cgroup limits", DOCTOR_OK);
	finds("cgroup limits", DOCTOR_OK, "CPU time of 4, memory unlimited");
	platform.host.cgroup_cpus = fact_real(3.9);
	host_is("cgroup limits", DOCTOR_WARN);
	platform.host.cpus = fact_unknown("none");
	host_is("cgroup limits", DOCTOR_OK);
	platform.host.cgroup_cpus = fact_unknown("no limit");
	platform.host.cgroup_mem_bytes = fact_int(INT64_C(2) << 30);
	host_is("cgroup limits", DOCTOR_OK);
	finds("cgroup limits", DOCTOR_OK, "CPUs, memory 2.00 GiB");
}

Test(small_doctor, limits_of_clocks)
{
	static const struct {
		double cost_ns;
		int64_t tick_ns;
		enum doctor_state state;
	} rows[] = {
		{ 200, 1000, DOCTOR_OK },
		{ 200.5, 1000, DOCTOR_WARN },
		{ 200, 1001, DOCTOR_WARN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct clock_probe clock = { .cost_ns = rows[i].cost_ns,
						   .tick_ns = rows[i].tick_ns };

		doctor = (struct doctor){ 0 };
		doctor_host(&doctor, &platform, &clock);
		finds("clock", rows[i].state, "");
	}
}

Test(small_doctor, processors_to_pin_to)
{
	platform.host.cpus_allowed = fact_text("3");
	host_is("pinning", DOCTOR_WARN);
	platform.host.cpus_allowed = fact_text("3-4");
	host_is("pinning", DOCTOR_OK);
	finds("pinning", DOCTOR_OK, "on 2 CPUs (3-4)");
	platform.host.cpus_allowed = fact_unknown("hidden");
	host_is("pinning", DOCTOR_NOTE);
	platform.host.cpus_allowed = fact_text("%s", "");
	host_is("pinning", DOCTOR_NOTE);
	platform.host.cpus_allowed = fact_text("x");
	host_is("pinning", DOCTOR_NOTE);
}

/* In place of the kernel, which allows two processors; the n-th call to set them, from 1, fails. */
static int get_refused, set_refused, sets;
static cpu_set_t set_to[2];

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	CPU_ZERO_S(size, set);
	CPU_SET_S(5, size, set);
	CPU_SET_S(6, size, set);
	return get_refused ? -1 : 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)size;
	if (sets < 2)
		set_to[sets] = *set;
	return ++sets == set_refused || pid ? -1 : 0; /* not of another process */
}

static void pinning_is(int get, int set, enum doctor_state state, const char *says)
{
	doctor = (struct doctor){ 0 };
	get_refused = get;
	set_refused = set;
	sets = 0;
	doctor_host(&doctor, &platform, &good_clock);
	finds("pinning", state, says);
}

/* To one processor, and back to all of them. */
Test(small_doctor, pinning_is_tried)
{
	platform.host.cpus_allowed = fact_text("3-4");
	pinning_is(0, 0, DOCTOR_OK, "works");
	cr_assert(eq(int, sets, 2));
	cr_expect(eq(int, CPU_COUNT(&set_to[0]), 1));
	cr_expect(ne(int, CPU_ISSET(5, &set_to[0]), 0));
	cr_expect(eq(int, CPU_COUNT(&set_to[1]), 2));
	cr_expect(ne(int, CPU_ISSET(6, &set_to[1]), 0));
	pinning_is(1, 0, DOCTOR_WARN, "not allowed; CPUs 3-4");
	pinning_is(0, 1, DOCTOR_WARN, "not allowed; CPUs 3-4");
	pinning_is(0, 2, DOCTOR_WARN, "not allowed; CPUs 3-4");
	advises("pinning", "sched_setaffinity");
}

/* Three pieces of a layer, and none of another layer. */
Test(small_doctor, evidence_is_cut_after_three)
{
	struct virt *v = &platform.virt;

	virt_note(v, VIRT_HYPERVISOR, "kvm", "one", "%s", "");
	virt_note(v, VIRT_CLOUD, "gcp", "other", "%s", "");
	virt_note(v, VIRT_HYPERVISOR, "kvm", "two", "%s", "says");
	virt_note(v, VIRT_HYPERVISOR, "kvm", "three", "%s", "");
	virt_note(v, VIRT_HYPERVISOR, "kvm", "four", "%s", "");
	doctor_layers(&doctor, &platform);
	cr_assert(eq(str, (char *)find("hypervisor")->text, "kvm (one; two: says; three)"), "%s",
		  find("hypervisor")->text);
	cr_assert(eq(str, (char *)find("cloud")->text, "gcp (other)"), "%s", find("cloud")->text);
}

Test(small_doctor, evidence_of_one_piece_and_of_none)
{
	virt_note(&platform.virt, VIRT_HYPERVISOR, "kvm", "one", "%s", "");
	platform.virt.layer[VIRT_CLOUD] = fact_text("gcp");
	doctor_layers(&doctor, &platform);
	cr_assert(eq(str, (char *)find("hypervisor")->text, "kvm (one)"));
	cr_assert(eq(str, (char *)find("cloud")->text, "gcp"));
}

/* 23 + 3 * (95 + 4) + 111 + 111 + 97 bytes fill the text; what does not fit is cut. */
Test(small_doctor, evidence_that_just_fits)
{
	char x[112];

	memset(x, 'x', sizeof(x) - 1);
	x[sizeof(x) - 1] = '\0';
	for (int last = 96; last < 112; last++) {
		doctor.n = platform.virt.n = 0;
		for (int i = 0; i < 3; i++)
			virt_note(&platform.virt, VIRT_CLOUD, x + 88, x, "%.*s", i < 2 ? 111 : last,
				  x);
		doctor_layers(&doctor, &platform);
		cr_assert(eq(sz, strlen(find("cloud")->text), 639));
		cr_assert(eq(chr, find("cloud")->text[638], last == 96 ? ')' : 'x'));
	}
}

Test(small_doctor, governors_that_follow_the_load)
{
	platform.host.governor = fact_text("powersave");
	doctor_host(&doctor, &platform, &good_clock);
	finds("CPU governor", DOCTOR_WARN, "powersave");
	advises("CPU governor", "cpupower");
}

static void clock_is(double cost_ns, int64_t tick_ns, const char *all, const char *advice)
{
	const struct clock_probe clock = { .cost_ns = cost_ns, .tick_ns = tick_ns };

	doctor = (struct doctor){ 0 };
	platform.host.clocksource = fact_text("hpet");
	platform.host.clocksources = fact_text("%s", all);
	doctor_host(&doctor, &platform, &clock);
	finds("clock", DOCTOR_WARN, "hpet");
	advises("clock", advice);
}

Test(small_doctor, clocks_that_cost_too_much_or_stand_still)
{
	clock_is(900, 900, "hpet acpi_pm", "larger depths");
	clock_is(900, 900, "tsc hpet acpi_pm", "echo tsc");
	clock_is(30, 4000000, "hpet", "larger depths");
}

/* ---- layers ----------------------------------------------------------------------------- */

Test(small_doctor, layers_with_their_evidence)
{
	visit_place("kubernetes");
	platform.declared = "cluster a";
	doctor_layers(&doctor, &platform);
	finds("platform", DOCTOR_OK, "declared: cluster a");
	finds("hypervisor", DOCTOR_NOTE, "kvm (CPUID 0x40000000: KVMKVMKVM");
	finds("cloud", DOCTOR_NOTE, "gcp");
	finds("WSL", DOCTOR_OK, "no");
	finds("container", DOCTOR_NOTE, "containerd (/proc/self/cgroup");
	finds("orchestrator", DOCTOR_NOTE, "kubernetes");
	leave();
	visit_place("wsl2");
	doctor_layers(&doctor, &platform);
	finds("WSL", DOCTOR_NOTE, "wsl2 (/proc/sys/kernel/osrelease");
	finds("GPU sharing", DOCTOR_NOTE, "gpu-pv (/dev/dxg");
	leave();
	visit_place("bare-metal");
	platform.is_gpu = true;
	doctor_layers(&doctor, &platform);
	finds("hypervisor", DOCTOR_OK, "none, says the processor");
	finds("GPU sharing", DOCTOR_OK, "no sign");
	leave();
}

/* ---- software --------------------------------------------------------------------------- */

Test(small_doctor, what_stands_between_and_what_is_set)
{
	visit_place("kubernetes");
	libraries_read(&platform.libraries, &place);
	doctor_software(&doctor, &platform, &place);
	finds("interposed", DOCTOR_WARN, "/usr/local/vgpu/libvgpu.so: HAMi");
	finds("variable", DOCTOR_WARN, "CUDA_DEVICE_MEMORY_LIMIT_0=3000m: HAMi");
	finds("libraries", DOCTOR_OK, "jansson 2.");
	libraries_release(&platform.libraries);
	leave();
	visit_place("bare-metal");
	libraries_read(&platform.libraries, &place);
	doctor_software(&doctor, &platform, &place);
	finds("interposed", DOCTOR_OK, "no ");
	finds("variables", DOCTOR_OK, "none is set");
	libraries_release(&platform.libraries);
	leave();
}

Test(small_doctor, versions_of_gnuplot)
{
	cr_assert(eq(int, gnuplot_suffices("gnuplot 5.4 patchlevel 4"), 1), "5.4");
	cr_assert(eq(int, gnuplot_suffices("gnuplot 5.2 patchlevel 8"), 1), "5.2");
	cr_assert(eq(int, gnuplot_suffices("gnuplot 6.0 patchlevel 0"), 1), "6.0");
	cr_assert(eq(int, gnuplot_suffices("gnuplot 5.10 patchlevel 0"), 1), "5.10");
	cr_assert(zero(int, gnuplot_suffices("gnuplot 5.0 patchlevel 5")), "5.0");
	cr_assert(zero(int, gnuplot_suffices("gnuplot 4.6 patchlevel 6")), "4.6");
	cr_assert(zero(int, gnuplot_suffices("")), "nothing");
}

/* One on PATH of this mode that says this when asked for its version; NULL: none. */
static void gnuplot_is(const char *says, int mode)
{
	char folder[] = "/tmp/rift_gnuplot_XXXXXX", path[PATH_MAX], path_before[PATH_MAX];

	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	if (says)
		shell(NULL, "printf '#!/bin/sh\\necho \"%s\"\\n' >%s/gnuplot; chmod %o %s/gnuplot",
		      says, folder, mode, folder);
	snprintf(path_before, sizeof(path_before), "%s", getenv("PATH"));
	snprintf(path, sizeof(path), "%s", folder);
	setenv("PATH", path, 1);
	doctor = (struct doctor){ 0 };
	doctor_software(&doctor, &platform, &place);
	setenv("PATH", path_before, 1);
	shell(NULL, "rm -r %s", folder);
}

Test(small_doctor, gnuplot_on_the_path)
{
	visit_place("bare-metal");
	gnuplot_is("gnuplot 5.4 patchlevel 4", 0755);
	finds("gnuplot", DOCTOR_OK, "5.4 patchlevel 4, for charts");
	cr_assert(eq(ptr, (void *)(uintptr_t)find("gnuplot")->advice, NULL));
	gnuplot_is("gnuplot 5.0 patchlevel 5", 0755);
	finds("gnuplot", DOCTOR_WARN, "'gnuplot 5.0 patchlevel 5' is too old for charts");
	advises("gnuplot", "gnuplot-nox");
	gnuplot_is("", 0644);
	finds("gnuplot", DOCTOR_MISSING, "Permission denied");
	gnuplot_is(NULL, 0);
	finds("gnuplot", DOCTOR_MISSING, "not on PATH");
	advises("gnuplot", "gnuplot-nox");
	leave();
}

/* ---- the page --------------------------------------------------------------------------- */

static void page_has(const char *part)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	doctor_print(&doctor, &platform, f);
	fclose(f);
	golden_said(text);
	cr_assert(eq(int, tells(text, part) != 0, 1), "'%s' in\n%s", part, text);
	free(text);
}

Test(small_doctor, a_page_has_states_advice_and_a_sum)
{
	doctor_report(&doctor, DOCTOR_OK, "first", NULL, "fine");
	doctor_report(&doctor, DOCTOR_WARN, "second", "do this", "bad %d", 7);
	doctor_report(&doctor, DOCTOR_MISSING, "third", NULL, "gone");
	page_has("\nwarn    second            bad 7\n");
	page_has("                          -> do this\n");
	page_has("\nMeasuring *: 0 *, 1 *, 1 *");
	doctor_report(&doctor, DOCTOR_MISSING, "fourth", NULL, "gone");
	doctor.n--; /* what lies behind the last one is none */
	page_has("\nMeasuring *: 0 *, 1 *, 1 *");
	doctor.works = true;
	page_has("Measuring works here:");
	page_has("\nCPU device: *not GPU ");
	doctor.finding[0].state = DOCTOR_NOTE;
	page_has("\nMeasuring *: 1 *, 1 *, 1 *");
}

Test(small_doctor, findings_as_json)
{
	json_t *o, *want;

	doctor.works = true;
	doctor_report(&doctor, DOCTOR_NOTE, "first", NULL, "fine");
	doctor_report(&doctor, DOCTOR_WARN, "second", "do this", "bad");
	o = doctor_json(&doctor, &platform);
	want = json_pack("[{s:s, s:s, s:s, s:n}, {s:s, s:s, s:s, s:s}]", "name", "first", "state",
			 "note", "text", "fine", "advice", "name", "second", "state", "warn",
			 "text", "bad", "advice", "do this");
	cr_expect(eq(int, json_equal(json_object_get(o, "findings"), want), 1), "%s",
		  json_string_value(json_object_get(o, "version")));
	cr_expect(eq(int, json_is_true(json_object_get(o, "works")), 1));
	json_decref(want);
	json_decref(o);
}

Test(small_doctor, too_many_findings_are_left_out)
{
	for (int i = 0; i < FINDINGS_MAX + 5; i++)
		doctor_report(&doctor, DOCTOR_OK, "x", NULL, "%d", i);
	cr_assert(eq(int, doctor.n, FINDINGS_MAX), "%d", doctor.n);
}

/* ---- the clock -------------------------------------------------------------------------- */

/* Stands still for 3 readings, then goes 1000 on: a reading counts as 250 ns on average. */
static int64_t slow_clock(void)
{
	static int64_t readings;

	return readings++ / 4 * 1000;
}

static int64_t stopped_clock(void)
{
	return 5;
}

/* 100 a reading, but once in a while the thread is interrupted. */
static int64_t even_clock(void)
{
	static int64_t readings;

	readings++;
	return 100 * readings + 1000000 * (readings / 3000);
}

Test(small_doctor, clocks_are_measured)
{
	struct clock_probe c = clock_probe_of(slow_clock);

	cr_assert(eq(i64, c.tick_ns, 1000), "%ld", (long)c.tick_ns);
	cr_assert(epsilon_eq(dbl, c.cost_ns, 250, 1), "%g", c.cost_ns);
	c = clock_probe();
	cr_assert(lt(dbl, 0, c.cost_ns), "%g", c.cost_ns);
	cr_assert(lt(i64, 0, c.tick_ns), "%ld", (long)c.tick_ns);
	c = clock_probe_of(stopped_clock);
	cr_assert(eq(i64, c.tick_ns, INT64_MAX), "%ld", (long)c.tick_ns);
	c = clock_probe_of(even_clock);
	cr_assert(epsilon_eq(dbl, c.cost_ns, 100, 1e-9), "%g", c.cost_ns);
	cr_assert(eq(i64, c.tick_ns, 100), "%ld", (long)c.tick_ns);
}

/* As under gVisor: 20 us a reading at first, then 30 ns. */
static int64_t late_clock(void)
{
	static int64_t readings, now;

	now += readings++ < 15000 ? 20000 : 30;
	return now;
}

Test(small_doctor, a_clock_that_is_dear_at_first_is_waited_for)
{
	struct clock_probe c = clock_probe_of(late_clock);

	cr_assert(epsilon_eq(dbl, c.cost_ns, 30, 1e-9), "%g", c.cost_ns);
	cr_assert(eq(i64, c.tick_ns, 30), "%ld", (long)c.tick_ns);
	cr_assert(epsilon_eq(dbl, c.early_ns, 20000, 1e-9), "%g", c.early_ns);
	visit_place("gvisor");
	doctor_host(&doctor, &platform, &c);
	finds("clock", DOCTOR_OK, "costs 30 ns, *; at first it cost 20.0 us");
	doctor = (struct doctor){ 0 };
	c.early_ns = 1;
	doctor_host(&doctor, &platform, &c);
	finds("clock", DOCTOR_OK, "; at first it cost 1 ns");
	doctor = (struct doctor){ 0 };
	c.early_ns = 0;
	doctor_host(&doctor, &platform, &c);
	cr_assert(eq(str, (char *)find("clock")->text,
		     "unknown source: a reading costs 30 ns, smallest step 30 ns"),
		  "%s", find("clock")->text);
	leave();
	c = clock_probe_of(even_clock);
	cr_assert(epsilon_eq(dbl, c.early_ns, 0, 1e-9), "%g", c.early_ns);
}
