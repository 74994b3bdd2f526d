/*
 * test_platform_gpu.c - what is known of a GPU and its driver, with stand-ins for NVIDIA's
 * library (tests/driver) and the machines of tests/platforms.
 */
#include "tests/test.h"
#include "harness/platform/gpu.h"
#include "tests/cli.h"
#include "tests/facts.h"
#include "tests/place.h"

TestSuite(small_platform_gpu, .timeout = 300, .fini = place_remove);

static struct gpu gpu;
static struct nvml nvml;

/* The stand-in. */
static const char *library(const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "driver/%s.so", name);
	return beside_tests(file);
}

static struct cudaDeviceProp properties(const char *name)
{
	struct cudaDeviceProp prop = { .major = 9,
				       .multiProcessorCount = 132,
				       .totalGlobalMem = 1000,
				       .l2CacheSize = 500,
				       .ECCEnabled = 1,
				       .pciBusID = 0x3b };

	snprintf(prop.name, sizeof(prop.name), "%s", name);
	for (int i = 0; i < 16; i++)
		prop.uuid.bytes[i] = (char)(0xf0 + i);
	return prop;
}

static void describe(const char *name, const char *lib, const char *says)
{
	struct cudaDeviceProp prop = properties(name);

	setenv("FAKE_NVML", says, 1);
	if (nvml_open(&nvml, library(lib)))
		nvml_choose(&nvml, "00000000:3b:00.0");
	gpu_describe(&gpu, &prop, &nvml);
	nvml_close(&nvml);
}

Test(small_platform_gpu, a_whole_gpu)
{
	describe("NVIDIA H200", "nvml", "");
	text_is(&gpu.name, "NVIDIA H200");
	text_is(&gpu.uuid, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
	text_is(&gpu.pci_bus_id, "0000:3b:00.0");
	text_is(&gpu.cc, "9.0");
	number_is(&gpu.sms, 132);
	number_is(&gpu.link_gen_cur, 1);
	number_is(&gpu.link_gen_max, 5);
	number_is(&gpu.link_width_cur, 16);
	number_is(&gpu.link_width_max, 16);
	number_is(&gpu.sm_clock_mhz, 345);
	number_is(&gpu.sm_clock_max_mhz, 1980);
	number_is(&gpu.other_processes, 0);
	cr_assert(epsilon_eq(dbl, gpu.power_limit_w.real, 700.5, 1e-9), "power");
	cr_assert(eq(int, fact_true(&gpu.persistence), 1), "persistence");
	cr_assert(eq(int, fact_known(&gpu.mig) && !fact_true(&gpu.mig), 1), "mig");
	text_is(&gpu.vbios, "96.00.A5.00.01");
	text_is(&gpu.driver_version, "580.82.07");
	text_is(&gpu.clock_limits, "idle");
	text_is(&gpu.virtualization, "passthrough");
	text_is(&gpu.confidential, "off");
	unknown_says(&gpu.mig_profile, "not a MIG device");
}

Test(small_platform_gpu, one_in_confidential_computing)
{
	describe("NVIDIA H100 80GB HBM3", "nvml", "confidential");
	text_is(&gpu.confidential, "on");
	describe("NVIDIA H100 80GB HBM3", "nvml", "confidential devtools");
	text_is(&gpu.confidential, "on, development tools allowed");
	describe("NVIDIA A100-40C", "nvml", "vgpu");
	unknown_says(&gpu.confidential, "nvmlSystemGetConfComputeState: Not Supported");
}

Test(small_platform_gpu, one_that_others_use)
{
	describe("NVIDIA H200", "nvml", "busy");
	number_is(&gpu.other_processes, 2);
	number_is(&gpu.busy_percent, 87);
	text_is(&gpu.clock_limits, "power cap, temperature (hardware)");
}

Test(small_platform_gpu, processes_that_are_hidden_are_not_none)
{
	describe("NVIDIA H200", "nvml", "hidden");
	unknown_says(&gpu.other_processes, "0 listed");
	describe("NVIDIA H200", "nvml", "hidden busy");
	unknown_says(&gpu.other_processes, "2 listed");
}

Test(small_platform_gpu, more_processes_than_there_is_room_for)
{
	describe("NVIDIA H200", "nvml", "crowd");
	unknown_says(&gpu.other_processes, "more than 256 processes");
}

Test(small_platform_gpu, a_part_of_one_by_mig)
{
	describe("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "nvml", "mig");
	text_is(&gpu.mig_profile, "1g.5gb");
	text_is(&gpu.uuid, "MIG-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
	cr_assert(eq(int, fact_true(&gpu.mig), 1), "mig");
	unknown_says(&gpu.other_processes, "Insufficient Permissions");
	unknown_says(&gpu.busy_percent, "nvmlDeviceGetUtilizationRates: Not Supported");
}

Test(small_platform_gpu, a_vgpu)
{
	struct place p = place_of("kvm");
	struct virt v;

	virt_read(&v, &p);
	describe("NVIDIA A100-40C", "nvml", "vgpu");
	text_is(&gpu.virtualization, "vgpu");
	unknown_says(&gpu.link_width_cur, "Not Supported");
	unknown_says(&gpu.power_limit_w, "Not Supported");
	unknown_says(&gpu.mig, "Not Supported");
	gpu_note_sharing(&gpu, &p, &v);
	cr_assert(eq(int, virt_word(&v, VIRT_GPU) && !strcmp(virt_word(&v, VIRT_GPU), "vgpu"), 1),
		  "%s", v.layer[VIRT_GPU].text);
}

/* The word that name and NVML's silence give. */
static const char *sharing(const char *platform, const char *name)
{
	static struct virt v;
	struct place p = place_of(platform);

	virt_read(&v, &p);
	describe(name, "missing", "");
	gpu_note_sharing(&gpu, &p, &v);
	place_remove();
	return virt_word(&v, VIRT_GPU) ? virt_word(&v, VIRT_GPU) : "none";
}

Test(small_platform_gpu, sharing_shows_without_nvml)
{
	static const char *const cases[][3] = {
		{ "kvm", "GRID T4-16Q", "vgpu" },
		{ "kvm", "NVIDIA A100-40C", "vgpu" },
		{ "kvm", "NVIDIA A100-SXM4-40GB", "none" },
		{ "kvm", "NVIDIA GeForce RTX 4090", "none" },
		{ "kvm", "Tesla P100-PCIE-16GB", "none" },
		{ "kvm", "NVIDIA L40S", "none" },
		{ "kvm", "NVIDIA X-16", "none" },
		{ "kvm", "NVIDIA X-16Beta", "none" },
		{ "bare-metal", "NVIDIA H100 80GB HBM3 MIG 2g.20gb", "mig" },
		{ "mps", "NVIDIA H200", "mps" },
		{ "wsl2", "NVIDIA GeForce RTX 4090", "gpu-pv" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_assert(eq(str, (char *)sharing(cases[i][0], cases[i][1]), (char *)cases[i][2]),
			  "%s on %s", cases[i][1], cases[i][0]);
}

/* The folder is another in each process of a session under the layer mps. */
Test(small_platform_gpu, an_mps_of_its_own_is_named_by_the_variable)
{
	static char *env[] = { "CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps", NULL };
	struct place p = place_of("mps");
	struct virt v = { 0 };

	p.env = env;
	gpu_note_sharing(&(struct gpu){ 0 }, &p, &v);
	place_remove();
	cr_assert(eq(int, v.n, 1));
	cr_assert(eq(str, v.evidence[0].says, "mps"));
	cr_assert(eq(str, v.evidence[0].source, "CUDA_MPS_PIPE_DIRECTORY"));
}

Test(small_platform_gpu, an_older_driver_lacks_functions)
{
	describe("Tesla V100", "old_nvml", "");
	text_is(&gpu.driver_version, "470.256.02");
	text_is(&gpu.clock_limits, "none");
	number_is(&gpu.other_processes, 2);
	unknown_says(&gpu.mig, "this driver's NVML has no nvmlDeviceGetMigMode");
	unknown_says(&gpu.confidential, "this driver's NVML has no nvmlSystemGetConfComputeState");
	unknown_says(&gpu.vbios, "has no nvmlDeviceGetVbiosVersion");
	unknown_says(&gpu.nvml_version, "has no nvmlSystemGetNVMLVersion");
}

Test(small_platform_gpu, without_nvml_the_reason_is_the_loaders)
{
	describe("NVIDIA H200", "missing", "");
	text_is(&gpu.name, "NVIDIA H200");
	unknown_says(&gpu.link_gen_cur, "missing.so: ");
	unknown_says(&gpu.driver_version, "cannot open shared object file");
}

Test(small_platform_gpu, a_library_of_another_driver)
{
	describe("NVIDIA H200", "nvml", "mismatch");
	cr_assert(eq(int, nvml.error, 18), "%d", nvml.error);
	unknown_says(&gpu.persistence, "Driver/library version mismatch (18)");
}

Test(small_platform_gpu, nvml_that_does_not_know_the_device)
{
	setenv("FAKE_NVML", "", 1);
	cr_assert(eq(int, nvml_open(&nvml, library("nvml")), 1), "%s", nvml.why);
	cr_assert(zero(int, nvml_choose(&nvml, "00000000:3c:00.0")), "chosen");
	struct fact f = nvml_number(&nvml, "nvmlDeviceGetPersistenceMode");

	unknown_says(&f, "no device 00000000:3c:00.0: Not Found");
	nvml_close(&nvml);
}

Test(small_platform_gpu, a_missing_gpu_keeps_what_the_kernel_says)
{
	struct place p = place_of("bare-metal");
	struct virt v;
	json_t *o, *why, *value;
	const char *key;

	virt_read(&v, &p);
	gpu_missing(&gpu, &p, &v, "no device is open");
	text_is(&gpu.driver_version, "580.82.07");
	unknown_says(&gpu.uuid, "no device is open");
	o = gpu_json(&gpu);
	why = json_object_get(o, "why_null");
	json_object_foreach(o, key, value) if (json_is_null(value))
		cr_assert(lt(sz, 0, json_string_length(json_object_get(why, key))), "%s", key);
	json_decref(o);
}

Test(small_platform_gpu, memory_that_is_taken)
{
	struct fact f;

	setenv("FAKE_NVML", "", 1);
	nvml_open(&nvml, library("nvml"));
	nvml_choose(&nvml, "0000:3b:00.0");
	f = nvml_memory_used(&nvml);
	number_is(&f, 2LL << 30);
	setenv("FAKE_NVML", "denied", 1);
	f = nvml_memory_used(&nvml);
	unknown_says(&f, "nvmlDeviceGetMemoryInfo: Insufficient Permissions");
	nvml_close(&nvml);
	f = nvml_memory_used(&nvml);
	cr_assert(not(fact_known(&f)), "not open");
}

/* What is done to them is in test_sweep_clocks.c. */
Test(small_platform_gpu, why_a_clock_is_not_locked)
{
	struct fact f;

	setenv("FAKE_NVML", "denied", 1);
	nvml_open(&nvml, library("nvml"));
	nvml_choose(&nvml, "0000:3b:00.0");
	f = nvml_lock_clock(&nvml, 1410);
	unknown_says(&f, "nvmlDeviceSetGpuLockedClocks: Insufficient Permissions");
	nvml_close(&nvml);
	f = nvml_lock_clock(&nvml, 1410);
	cr_assert(not(fact_known(&f)), "not open");
	nvml_open(&nvml, library("old_nvml"));
	nvml_choose(&nvml, "0000:3b:00.0");
	f = nvml_lock_clock(&nvml, 1410);
	unknown_says(&f, "this driver's NVML has no nvmlDeviceSetGpuLockedClocks");
	f = nvml_free_clock(&nvml);
	unknown_says(&f, "this driver's NVML has no nvmlDeviceResetGpuLockedClocks");
	nvml_close(&nvml);
}

Test(small_platform_gpu, versions_of_cuda)
{
	static const struct {
		int packed;
		const char *text;
	} rows[] = { { 13000, "13.0" },	 { 12040, "12.4" }, { 11080, "11.8" },
		     { 12100, "12.10" }, { 9020, "9.2" },   { 1000, "1.0" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fact f = fact_cuda_version(rows[i].packed);

		text_is(&f, rows[i].text);
	}
	for (int none = 0; none > -2; none--) {
		struct fact f = fact_cuda_version(none);

		unknown_says(&f, "none is installed");
	}
}

/* The device that is here, as one process sees it. */
Test(small_platform_gpu, what_the_runtime_says)
{
	struct place p = place_of("bare-metal");
	int runtime = 0, count = 0;
	struct virt v;
	char want[32];

	need_device();
	virt_read(&v, &p);
	gpu_read(&gpu, &p, &v);
	cudaRuntimeGetVersion(&runtime);
	cudaGetDeviceCount(&count);
	snprintf(want, sizeof(want), "%d.%d", runtime / 1000,
		 (runtime - runtime / 1000 * 1000) / 10);
	text_is(&gpu.cuda_runtime, want);
	number_is(&gpu.visible_devices, count);
#ifdef RIFT_CPU_DEVICE
	text_is(&gpu.compute_mode, "default");
	text_is(&gpu.sync_flag, "auto");
	unknown_says(&gpu.loading_mode, "the CPU device has none");
	unknown_says(&gpu.uuid, "the CPU device has none");
#else
	cr_assert(fact_known(&gpu.compute_mode) && fact_known(&gpu.sync_flag), "known");
#endif
}
