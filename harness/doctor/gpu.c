/* gpu.c - the GPU, its driver, and who shares it. */
#include <string.h>

#include "harness/base/text.h"
#include "harness/doctor/doctor.h"

/* A known value with its name, or why it is not known. */
static void say_fact(struct doctor *d, const char *name, const struct fact *f, const char *fmt,
		     const char *text)
{
	char line[160];

	if (!fact_known(f)) {
		doctor_say(d, DOCTOR_NOTE, name, NULL, "not known: %s", f->text);
		return;
	}
	snprintf(line, sizeof(line), "%s%s", fmt, text);
	doctor_say(d, DOCTOR_OK, name, NULL, "%s", line);
}

static bool differ(const struct fact *a, const struct fact *b)
{
	return fact_known(a) && fact_known(b) && strcmp(a->text, b->text);
}

static void say_driver(struct doctor *d, const struct platform *p)
{
	const struct gpu *g = &p->gpu;
	bool mixed = differ(&g->driver_version, &g->module_version);

	if (!fact_known(&g->driver_version)) {
		doctor_say(d, DOCTOR_NOTE, "driver", NULL, "version not known: %s",
			   g->driver_version.text);
		return;
	}
	doctor_say(d, mixed ? DOCTOR_WARN : DOCTOR_OK, "driver",
		   mixed ? "libraries and module differ: restart the machine" : NULL,
		   "%s, kernel module %s (%s), for CUDA %s; %s", g->driver_version.text,
		   fact_or(&g->module_version, "not visible"), fact_or(&g->module_kind, "unknown"),
		   fact_or(&g->cuda_driver_api, "unknown"),
		   fact_or(&p->libraries.libcuda_path, "libcuda not visible"));
}

static void say_runtime(struct doctor *d, const struct platform *p)
{
	doctor_say(d, DOCTOR_OK, "CUDA runtime", NULL, "%s; %s",
		   fact_or(&p->gpu.cuda_runtime, "version unknown"),
		   fact_or(&p->libraries.libcudart_path, "libcudart not visible"));
}

static void say_nvml(struct doctor *d, const struct gpu *g)
{
	if (fact_known(&g->nvml_version))
		doctor_say(d, DOCTOR_OK, "NVML", NULL, "%s", g->nvml_version.text);
	else
		doctor_say(d, DOCTOR_MISSING, "NVML",
			   "it tells link, clocks, power and other processes; it comes with the "
			   "driver (libnvidia-ml.so.1; in a container: NVIDIA_DRIVER_CAPABILITIES "
			   "with utility)",
			   "%s", g->nvml_version.text);
}

/* The generation falls while the GPU is idle; lanes do not. */
static void say_link(struct doctor *d, const struct gpu *g)
{
	bool narrow = fact_known(&g->link_width_cur) && fact_known(&g->link_width_max) &&
		      g->link_width_cur.number < g->link_width_max.number;

	if (!fact_known(&g->link_gen_cur) || !fact_known(&g->link_width_cur)) {
		doctor_say(d, DOCTOR_NOTE, "PCIe link", NULL, "not known: %s",
			   fact_known(&g->link_gen_cur) ? g->link_width_cur.text
							: g->link_gen_cur.text);
		return;
	}
	doctor_say(d, narrow ? DOCTOR_WARN : DOCTOR_OK, "PCIe link",
		   narrow ? "the slot or the hypervisor gives fewer lanes than the GPU has" : NULL,
		   "generation %d of %d, %d lanes of %d, at %s", (int)g->link_gen_cur.number,
		   (int)g->link_gen_max.number, (int)g->link_width_cur.number,
		   (int)g->link_width_max.number, fact_or(&g->pci_bus_id, "an unknown address"));
}

static void say_clocks(struct doctor *d, const struct gpu *g)
{
	static const char *const bad[] = { "power cap", "hardware slowdown", "temperature",
					   "power brake", NULL };
	const char *limits = fact_or(&g->clock_limits, "not known");
	bool slowed = false;

	for (const char *const *b = bad; *b; b++)
		slowed |= strstr(limits, *b) != NULL;
	if (!fact_known(&g->sm_clock_mhz)) {
		doctor_say(d, DOCTOR_NOTE, "GPU clock", NULL, "not known: %s",
			   g->sm_clock_mhz.text);
		return;
	}
	doctor_say(d, slowed ? DOCTOR_WARN : DOCTOR_OK, "GPU clock",
		   slowed ? "the GPU is held back right now: let it cool, or see its power limit "
			    "(nvidia-smi -q -d PERFORMANCE,POWER)"
			  : NULL,
		   "%d MHz of %d; held back by: %s", (int)g->sm_clock_mhz.number,
		   (int)g->sm_clock_max_mhz.number, limits);
}

static void say_persistence(struct doctor *d, const struct gpu *g)
{
	if (!fact_known(&g->persistence))
		doctor_say(d, DOCTOR_NOTE, "persistence mode", NULL, "not known: %s",
			   g->persistence.text);
	else if (fact_true(&g->persistence))
		doctor_say(d, DOCTOR_OK, "persistence mode", NULL, "on");
	else
		doctor_say(d, DOCTOR_NOTE, "persistence mode",
			   "nvidia-smi -pm 1 (as root), or the service nvidia-persistenced",
			   "off: the first program to open the GPU waits for the driver to start, "
			   "up to 2 s");
}

static void say_sharing(struct doctor *d, const struct gpu *g)
{
	bool mig = fact_true(&g->mig) || fact_known(&g->mig_profile);

	if (fact_known(&g->ecc))
		doctor_say(d, DOCTOR_OK, "ECC", NULL, "%s", fact_true(&g->ecc) ? "on" : "off");
	else
		say_fact(d, "ECC", &g->ecc, "", "");
	if (mig)
		doctor_say(d, DOCTOR_NOTE, "MIG", NULL, "on: this is a part of a GPU, %s",
			   fact_or(&g->mig_profile, "of unknown size"));
	else
		say_fact(d, "MIG", &g->mig, "off", "");
	if (fact_known(&g->compute_mode))
		doctor_say(d, fact_is(&g->compute_mode, "default") ? DOCTOR_OK : DOCTOR_NOTE,
			   "compute mode", NULL, "%s", g->compute_mode.text);
}

static void say_others(struct doctor *d, const struct gpu *g)
{
	int n = (int)g->other_processes.number;

	if (!fact_known(&g->other_processes))
		doctor_say(d, DOCTOR_NOTE, "GPU processes", NULL, "not known: %s",
			   g->other_processes.text);
	else if (!n)
		doctor_say(d, DOCTOR_OK, "GPU processes", NULL, "no other");
	else
		doctor_say(d, DOCTOR_WARN, "GPU processes",
			   "end them before measuring (nvidia-smi lists them)",
			   "%d other%s on this GPU", n, n == 1 ? "" : "s");
	if (fact_known(&g->busy_percent) && g->busy_percent.number > 5)
		doctor_say(d, DOCTOR_WARN, "GPU load", "something computes on this GPU: end it",
			   "%d %% of the last moment", (int)g->busy_percent.number);
}

void doctor_gpu(struct doctor *d, const struct platform *p)
{
	const struct gpu *g = &p->gpu;

	if (*p->device)
		say_runtime(d, p);
	if (!p->is_gpu)
		return;
	say_driver(d, p);
	say_nvml(d, g);
	say_link(d, g);
	say_clocks(d, g);
	say_persistence(d, g);
	say_sharing(d, g);
	say_others(d, g);
	say_fact(d, "kernel loading", &g->loading_mode, "", g->loading_mode.text);
}
