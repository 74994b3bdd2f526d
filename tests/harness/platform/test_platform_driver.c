/*
 * test_platform_driver.c - NVIDIA's driver as the kernel shows it on the machines of
 * tests/platforms, and the advice where it does not work.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/platform/gpu.h"
#include "tests/facts.h"
#include "tests/place.h"

TestSuite(small_platform_driver, .timeout = 300, .fini = place_remove);

static struct driver driver_of(const char *platform)
{
	struct place p = place_of(platform);
	struct virt v;
	struct driver d;

	virt_read(&v, &p);
	driver_read(&d, &p, &v);
	place_remove();
	return d;
}

Test(small_platform_driver, drivers_and_gpus_on_the_bus)
{
	struct driver d = driver_of("bare-metal");

	text_is(&d.module_version, "580.82.07");
	text_is(&d.module_kind, "open");
	text_is(&d.pci_first, "0000:3b:00.0");
	text_is(&d.pci_driver, "nvidia");
	cr_assert(eq(int, d.pci_gpus, 1), "%d", d.pci_gpus);
	d = driver_of("kvm");
	text_is(&d.module_version, "535.183.01");
	text_is(&d.module_kind, "proprietary");
	d = driver_of("gpu-nouveau");
	text_is(&d.pci_driver, "nouveau");
	unknown_says(&d.module_version, "/proc/driver/nvidia/version");
	d = driver_of("vmware");
	cr_assert(zero(int, d.pci_gpus), "%d", d.pci_gpus);
	cr_assert(zero(int, driver_gpu_here(&d)), "a GPU in vmware");
}

Test(small_platform_driver, advice_names_the_likeliest_cause)
{
	static const struct {
		const char *platform;
		int error;
		const char *advice;
	} cases[] = {
		{ "gpu-nouveau", 35, "nouveau" },
		{ "gpu-vfio", 35, "vfio-pci" },
		{ "gpu-no-driver", 35, "install NVIDIA's driver" },
		{ "vmware", 35, "make DEVICE=cpu" },
		{ "podman", 35, "--gpus all" },
		{ "wsl2", 35, "driver in Windows" },
		{ "docker", 35, "NVIDIA_DRIVER_CAPABILITIES" },
		{ "bare-metal", 35, "older than this CUDA runtime" },
		{ "bare-metal", 803, "restart" },
		{ "bare-metal", 802, "nvidia-fabricmanager" },
		{ "bare-metal", 46, "nvidia-smi -c DEFAULT" },
		{ "bare-metal", 34, "stub" },
		{ "bare-metal", 999, "nvidia-smi works" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct driver d = driver_of(cases[i].platform);
		const char *advice = driver_advice(&d, cases[i].error);

		cr_assert(ne(ptr, strstr(advice, cases[i].advice), NULL), "%s, error %d: %s",
			  cases[i].platform, cases[i].error, advice);
	}
}

/* The container runtime keeps GPUs back for each of these. */
Test(small_platform_driver, advice_for_a_container_that_was_given_none)
{
	static const char *const none[] = { "void", "none", "" };
	struct driver d = driver_of("docker");

	d.control_file = false;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		d.given = none[i];
		cr_assert(tells(driver_advice(&d, 100), "NVIDIA_VISIBLE_DEVICES *=all"), "'%s'",
			  none[i]);
	}
	d.given = "all";
	cr_assert(tells(driver_advice(&d, 100), "--gpus all"), "%s", driver_advice(&d, 100));
}

Test(small_platform_driver, advice_for_what_is_hidden_or_half_there)
{
	struct driver d = driver_of("bare-metal");

	d.visible = "";
	cr_assert(ne(ptr, strstr(driver_advice(&d, 100), "CUDA_VISIBLE_DEVICES"), NULL), "empty");
	d.visible = "-1";
	cr_assert(ne(ptr, strstr(driver_advice(&d, 100), "CUDA_VISIBLE_DEVICES"), NULL), "-1");
	d.visible = "0";
	d.uvm_file = false;
	cr_assert(ne(ptr, strstr(driver_advice(&d, 999), "nvidia-uvm"), NULL), "uvm");
	d.gpu_file = false;
	cr_assert(ne(ptr, strstr(driver_advice(&d, 100), "dmesg"), NULL), "no GPU file");
	d.allowed = false;
	cr_assert(ne(ptr, strstr(driver_advice(&d, 100), "opened"), NULL), "mode");
}

/* Any sign of one is enough. */
Test(small_platform_driver, signs_of_a_gpu)
{
	for (int i = 0; i < 6; i++) {
		struct driver d = { .pci_gpus = i == 1,
				    .control_file = i == 2,
				    .gpu_file = i == 3,
				    .dxg = i == 4,
				    .module_version =
					    i == 5 ? fact_text("580") : fact_unknown("none") };

		cr_expect(eq(int, driver_gpu_here(&d), i > 0), "sign %d", i);
	}
}

/* Only where it is a container without the driver's file, and says so. */
Test(small_platform_driver, what_keeps_gpus_from_a_container)
{
	static const struct {
		const char *given;
		int container, control, keeps;
	} rows[] = { { "", 1, 0, 1 },	 { "void", 1, 0, 1 }, { "none", 1, 0, 1 },
		     { "all", 1, 0, 0 }, { NULL, 1, 0, 0 },   { "void", 0, 0, 0 },
		     { "void", 1, 1, 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct driver d = { .allowed = true,
				    .module_version = fact_unknown("none"),
				    .given = rows[i].given,
				    .container = rows[i].container,
				    .control_file = rows[i].control };
		const char *advice = driver_advice(&d, 0);

		cr_expect(eq(int, tells(advice, "NVIDIA_VISIBLE_DEVICES keeps"), rows[i].keeps),
			  "row %zu: %s", i, advice);
	}
}
