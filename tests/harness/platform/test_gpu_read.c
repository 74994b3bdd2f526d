/*
 * test_gpu_read.c - a GPU that is read as a whole: the runtime's properties are this program's, the
 * driver's library and the machine's files are made here.
 */
#include "tests/test.h"
#include "harness/platform/gpu.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include "tests/facts.h"
#include "tests/folder.h"

TEST_FOLDER(folder);

TestSuite(small_gpu_read, .init = make_folder, .fini = remove_folder, .timeout = 300);

/* In place of the library's. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	*prop = (struct cudaDeviceProp){ .major = 9, .pciBusID = 0x3b, .name = "NVIDIA H200" };
	return device ? cudaErrorInvalidDevice : cudaSuccess;
}

static void add_file(const char *path, const char *text)
{
	shell(NULL, "mkdir -p \"$(dirname '%s%s')\"; printf '%%b' '%s' >'%s%s'", folder, path, text,
	      folder, path);
}

static struct gpu gpu_here(void)
{
	static char *no_variables[] = { NULL };
	const struct place p = { .root = folder, .env = no_variables };
	struct virt v = { 0 };
	struct gpu g;

	gpu_read(&g, &p, &v);
	return g;
}

Test(small_gpu_read, what_the_kernel_says_of_it)
{
	struct gpu g = gpu_here();

	text_is(&g.pci_bus_id, "0000:3b:00.0");
	cr_expect(not(fact_known(&g.numa_node)));
	cr_expect(not(fact_known(&g.driver_version)));
	add_file("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\\n");
	add_file("/proc/driver/nvidia/version",
		 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12\\n");
	g = gpu_here();
	number_is(&g.numa_node, 1);
	text_is(&g.module_version, "535.183.01");
	text_is(&g.driver_version, "535.183.01"); /* as NVML does not say it */
	add_file("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "0\\n");
	g = gpu_here();
	number_is(&g.numa_node, 0);
	add_file("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "-1\\n");
	g = gpu_here();
	unknown_says(&g.numa_node, "the firmware does not say");
}

/* A library of this name, which is the driver's where a program has loaded it. */
static void *load_driver(const char *source)
{
	char path[128];
	void *lib;

	add_file("/driver.c", source);
	shell(NULL,
	      "${CC:-cc} -shared -fPIC -Wl,-soname,libcuda.so.1 -o %s/libcuda.so.1 %s/driver.c",
	      folder, folder);
	snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert(ne(ptr, lib, NULL), "%s", dlerror());
	unlink(path);
	return lib;
}

static struct fact loading(const char *mode, const char *err)
{
	setenv("MODE", mode, 1);
	setenv("ERR", err, 1);
	return gpu_here().loading_mode;
}

Test(small_gpu_read, when_its_kernels_are_loaded)
{
	struct fact f = loading("", "");
	void *lib;

	unknown_says(&f, "libcuda.so.1 is not loaded");
	lib = load_driver("int other;");
	f = loading("", "");
	unknown_says(&f, "before CUDA 11.7");
	dlclose(lib);
	lib = load_driver("#include <stdlib.h>\nint cuModuleGetLoadingMode(int *m) "
			  "{ *m += atoi(getenv(\"MODE\")); return atoi(getenv(\"ERR\")); }");
	f = loading("1", "0");
	text_is(&f, "eager");
	f = loading("2", "0");
	text_is(&f, "lazy");
	f = loading("3", "0");
	unknown_says(&f, "error 0, mode 3");
	f = loading("2", "7");
	unknown_says(&f, "error 7, mode 2");
	dlclose(lib);
}

/* ---- its driver ------------------------------------------------------------------------------ */

static struct driver driver_here(void)
{
	static char *no_variables[] = { NULL };
	const struct place p = { .root = folder, .env = no_variables };
	const struct virt v = { 0 };
	struct driver d;

	driver_read(&d, &p, &v);
	return d;
}

/* NVIDIA's sound and others' graphics are none of its GPUs. */
Test(small_gpu_read, gpus_on_the_bus)
{
	static const char *const devices[][3] = { { "0000:01:00.0", "0x1002", "0x030000" },
						  { "0000:02:00.1", "0x10de", "0x040300" },
						  { "0000:03:00.0", "0x10de", "0x030200" },
						  { "0000:04:00.0", "0x10de", "0x030000" } };
	struct driver d = driver_here();

	cr_expect(zero(int, d.pci_gpus));
	unknown_says(&d.pci_first, "no NVIDIA GPU");
	for (int i = 0; i < 4; i++) {
		char path[96];

		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", devices[i][0]);
		add_file(path, devices[i][1]);
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", devices[i][0]);
		add_file(path, devices[i][2]);
	}
	d = driver_here();
	cr_expect(eq(int, d.pci_gpus, 2));
	text_is(&d.pci_first, "0000:03:00.0");
}

Test(small_gpu_read, files_of_a_gpu)
{
	static const char *const others[] = { "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidib0",
					      "/dev/nvme0" };
	struct driver d = driver_here();

	cr_expect(zero(int, d.control_file + d.uvm_file + d.gpu_file + driver_gpu_here(&d)));
	for (int i = 0; i < 4; i++)
		add_file(others[i], "");
	d = driver_here();
	cr_expect(eq(int, d.control_file + d.uvm_file + d.allowed, 3));
	cr_expect(zero(int, d.gpu_file));
	add_file("/dev/nvidia0", "");
	add_file("/dev/nvidia1", "");
	d = driver_here();
	cr_expect(eq(int, d.gpu_file, 1));
}
