/* gpu_nvml.c - what NVML says of the device. */
#include <stdio.h>
#include <string.h>

#include "harness/env/gpu.h"

/* A number that means one of these words. */
static struct fact word_of(struct fact number, const char *const *words, int n)
{
	if (!fact_known(&number))
		return number;
	if (number.number < 0 || number.number >= n)
		return fact_unknown("value %d is new to rift", (int)number.number);
	return fact_text("%s", words[number.number]);
}

static struct fact on_or_off(struct fact number)
{
	return fact_known(&number) ? fact_bool(number.number) : number;
}

/* Bits of nvmlClocksEventReasons, in their order; one without a name is of no interest. */
static struct fact clock_limits(const struct nvml *nvml)
{
	static const char *const reasons[] = { "idle",
					       "application clocks",
					       "power cap",
					       "hardware slowdown",
					       "sync boost",
					       "temperature (software)",
					       "temperature (hardware)",
					       "power brake",
					       "display" };
	struct fact bits = nvml_bits(nvml, "nvmlDeviceGetCurrentClocksEventReasons");
	char text[200] = "";

	if (!fact_known(&bits))
		bits = nvml_bits(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons");
	if (!fact_known(&bits))
		return bits;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (bits.number >> i & 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? ", " : "", reasons[i]);
	return fact_text("%s", *text ? text : "none");
}

void gpu_ask_nvml(struct gpu *g, const struct nvml *n)
{
	static const char *const virtualization[] = { "none", "passthrough", "vgpu", "host vgpu",
						      "host vsga" };
	struct fact mw = nvml_number(n, "nvmlDeviceGetEnforcedPowerLimit");

	g->link_gen_cur = nvml_number(n, "nvmlDeviceGetCurrPcieLinkGeneration");
	g->link_gen_max = nvml_number(n, "nvmlDeviceGetMaxPcieLinkGeneration");
	g->link_width_cur = nvml_number(n, "nvmlDeviceGetCurrPcieLinkWidth");
	g->link_width_max = nvml_number(n, "nvmlDeviceGetMaxPcieLinkWidth");
	g->mig = on_or_off(nvml_first(n, "nvmlDeviceGetMigMode"));
	g->persistence = on_or_off(nvml_number(n, "nvmlDeviceGetPersistenceMode"));
	g->power_limit_w = fact_known(&mw) ? fact_real((double)mw.number / 1000) : mw;
	g->sm_clock_mhz = nvml_clock(n, "nvmlDeviceGetClockInfo");
	g->sm_clock_max_mhz = nvml_clock(n, "nvmlDeviceGetMaxClockInfo");
	g->clock_limits = clock_limits(n);
	g->vbios = nvml_text(n, "nvmlDeviceGetVbiosVersion");
	g->driver_version = nvml_system_text(n, "nvmlSystemGetDriverVersion");
	g->nvml_version = nvml_system_text(n, "nvmlSystemGetNVMLVersion");
	g->other_processes = nvml_other_processes(n, true);
	g->busy_percent = nvml_busy_percent(n);
	g->virtualization =
		word_of(nvml_number(n, "nvmlDeviceGetVirtualizationMode"), virtualization, 5);
}
