/* test_doctor_gpu.c - what `rift doctor` says of GPUs that are not here. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/platform/doctor.h"
#include "tests/findings.h"

TestSuite(small_doctor_gpu, .timeout = 300);

static struct platform platform;

/* One that works, alone on a server. */
static void have_gpu(void)
{
	struct gpu *g = &platform.gpu;

	snprintf(platform.device, sizeof(platform.device), "NVIDIA H200");
	platform.is_gpu = true;
	g->driver_version = g->module_version = fact_text("580.82.07");
	g->module_kind = fact_text("open");
	g->nvml_version = fact_text("13.580.82.07");
	g->link_gen_cur = fact_int(1);
	g->link_gen_max = fact_int(5);
	g->link_width_cur = g->link_width_max = fact_int(16);
	g->sm_clock_mhz = fact_int(345);
	g->sm_clock_max_mhz = fact_int(1980);
	g->clock_limits = fact_text("idle");
	g->persistence = g->ecc = fact_bool(true);
	g->mig = fact_bool(false);
	g->mig_profile = fact_unknown("not a MIG device");
	g->confidential = fact_text("off");
	g->compute_mode = fact_text("default");
	g->other_processes = g->busy_percent = fact_int(0);
	g->loading_mode = fact_text("lazy");
}

Test(small_doctor_gpu, a_gpu_of_ones_own_is_fine)
{
	have_gpu();
	doctor_gpu(&doctor, &platform);
	for (int i = 0; i < doctor.n; i++)
		cr_assert(eq(int, doctor.finding[i].state, DOCTOR_OK), "%s: %s",
			  doctor.finding[i].name, doctor.finding[i].text);
	finds("driver", DOCTOR_OK, "580.82.07, kernel module 580.82.07 (open)");
	finds("PCIe link", DOCTOR_OK, "generation 1 of 5, 16 lanes of 16");
	finds("kernel loading", DOCTOR_OK, "lazy");
	finds("MIG", DOCTOR_OK, "off");
	finds("ECC", DOCTOR_OK, "on");
	finds("confidential computing", DOCTOR_OK, "off");
}

/* It is how the platform is, and no fault. */
Test(small_doctor_gpu, a_gpu_in_confidential_computing)
{
	have_gpu();
	platform.gpu.confidential = fact_text("on");
	doctor_gpu(&doctor, &platform);
	finds("confidential computing", DOCTOR_NOTE, "on: *encrypted*preset=h100-cc");
}

Test(small_doctor_gpu, a_gpu_that_is_held_back)
{
	have_gpu();
	platform.gpu.clock_limits = fact_text("power cap, temperature (hardware)");
	platform.gpu.link_width_cur = fact_int(8);
	platform.gpu.persistence = fact_bool(false);
	platform.gpu.module_version = fact_text("575.57.08");
	doctor_gpu(&doctor, &platform);
	finds("GPU clock", DOCTOR_WARN, "held back by: power cap");
	finds("PCIe link", DOCTOR_WARN, "8 lanes of 16");
	finds("persistence mode", DOCTOR_NOTE, "off");
	advises("persistence mode", "nvidia-smi -pm 1");
	finds("driver", DOCTOR_WARN, "575.57.08");
}

Test(small_doctor_gpu, a_gpu_that_is_shared)
{
	have_gpu();
	platform.gpu.other_processes = fact_int(2);
	platform.gpu.busy_percent = fact_int(87);
	platform.gpu.mig = fact_bool(true);
	platform.gpu.mig_profile = fact_text("1g.5gb");
	platform.gpu.compute_mode = fact_text("exclusive process");
	doctor_gpu(&doctor, &platform);
	finds("GPU processes", DOCTOR_WARN, "2 others");
	finds("GPU load", DOCTOR_WARN, "87 %");
	finds("MIG", DOCTOR_NOTE, "1g.5gb");
	finds("compute mode", DOCTOR_NOTE, "exclusive process");
}

Test(small_doctor_gpu, a_gpu_without_nvml)
{
	have_gpu();
	for (struct fact *f = (struct fact *)&platform.gpu; f < (struct fact *)(&platform.gpu + 1);
	     f++)
		*f = fact_unknown("NVML: no such file");
	doctor_gpu(&doctor, &platform);
	finds("NVML", DOCTOR_MISSING, "no such file");
	advises("NVML", "libnvidia-ml.so.1");
	finds("PCIe link", DOCTOR_NOTE, "not known: NVML: no such file");
	finds("GPU clock", DOCTOR_NOTE, "not known");
	finds("GPU processes", DOCTOR_NOTE, "not known");
	finds("MIG", DOCTOR_NOTE, "not known");
	finds("persistence mode", DOCTOR_NOTE, "not known");
	finds("confidential computing", DOCTOR_NOTE, "not known");
}

/* One by one, of a GPU of one's own. */
static void with(struct fact *of, struct fact value, const char *name, enum doctor_state state,
		 const char *says)
{
	struct fact before = *of;

	*of = value;
	doctor = (struct doctor){ 0 };
	doctor_gpu(&doctor, &platform);
	finds(name, state, says);
	*of = before;
}

Test(small_doctor_gpu, each_fact_by_itself)
{
	struct gpu *g = &platform.gpu;

	have_gpu();
	with(&g->link_gen_cur, fact_unknown("a"), "PCIe link", DOCTOR_NOTE, "not known: a");
	with(&g->link_width_cur, fact_unknown("b"), "PCIe link", DOCTOR_NOTE, "not known: b");
	with(&g->link_width_max, fact_unknown("c"), "PCIe link", DOCTOR_OK, "16 lanes of 0");
	with(&g->mig, fact_bool(true), "MIG", DOCTOR_NOTE, "part of a GPU, of unknown size");
	with(&g->mig_profile, fact_text("1g.5gb"), "MIG", DOCTOR_NOTE, "part of a GPU, 1g.5gb");
	with(&g->ecc, fact_bool(false), "ECC", DOCTOR_OK, "off");
	with(&g->ecc, fact_unknown("d"), "ECC", DOCTOR_NOTE, "not known: d");
	with(&g->busy_percent, fact_int(6), "GPU load", DOCTOR_WARN, "6 % of");
	with(&g->other_processes, fact_int(1), "GPU processes", DOCTOR_WARN, "1 other on");
	with(&g->module_version, fact_unknown("e"), "driver", DOCTOR_OK, "module not visible");
	with(&g->driver_version, fact_unknown("f"), "driver", DOCTOR_NOTE, "not known: f");
	g->busy_percent = fact_int(5);
	with(&g->clock_limits, fact_text("power brake"), "GPU clock", DOCTOR_WARN,
	     "345 MHz of 1980");
	cr_expect(eq(ptr, (void *)(uintptr_t)find("GPU load"), NULL));
}

Test(small_doctor_gpu, none_is_spoken_of_without_a_device)
{
	have_gpu();
	platform.is_gpu = false;
	doctor_gpu(&doctor, &platform);
	cr_expect(eq(int, doctor.n, 1));
	finds("CUDA runtime", DOCTOR_OK, "version unknown");
	doctor = (struct doctor){ 0 };
	*platform.device = '\0';
	doctor_gpu(&doctor, &platform);
	cr_expect(zero(int, doctor.n));
}
