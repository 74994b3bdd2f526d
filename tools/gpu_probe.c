/*
 * gpu_probe.c - is there a GPU that CUDA can use, and which? Prints "9.0 NVIDIA H200" and exits
 * 0, or prints the reason and exits 1. Loads libcuda at run time, so it needs no toolkit.
 */
#include <dlfcn.h>
#include <stdio.h>

/* Numbers of the driver API, from cuda.h. */
enum { CC_MAJOR = 75, CC_MINOR = 76 };

typedef int (*init_fn)(unsigned flags);
typedef int (*count_fn)(int *count);
typedef int (*device_fn)(int *device, int ordinal);
typedef int (*attribute_fn)(int *value, int attribute, int device);
typedef int (*name_fn)(char *name, int bytes, int device);

/* An object pointer turned into a function pointer, as POSIX allows for dlsym. */
#define SYMBOL(lib, type, name) ((type)dlsym(lib, name))

static int describe(void *lib)
{
	attribute_fn attribute = SYMBOL(lib, attribute_fn, "cuDeviceGetAttribute");
	device_fn get = SYMBOL(lib, device_fn, "cuDeviceGet");
	name_fn get_name = SYMBOL(lib, name_fn, "cuDeviceGetName");
	int device, major, minor;
	char name[256];

	if (!attribute || !get || !get_name || get(&device, 0) ||
	    attribute(&major, CC_MAJOR, device) || attribute(&minor, CC_MINOR, device) ||
	    get_name(name, sizeof(name), device)) {
		puts("libcuda.so.1 does not describe its first device");
		return 1;
	}
	printf("%d.%d %s\n", major, minor, name);
	return 0;
}

int main(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	init_fn init = lib ? SYMBOL(lib, init_fn, "cuInit") : NULL;
	count_fn count = lib ? SYMBOL(lib, count_fn, "cuDeviceGetCount") : NULL;
	int err, n = 0;

	if (!init || !count) {
		puts("no NVIDIA driver (libcuda.so.1 is not here)");
		return 1;
	}
	err = init(0);
	if (err || count(&n) || !n) {
		printf("no usable NVIDIA GPU (cuInit: error %d, %d devices)\n", err, n);
		return 1;
	}
	return describe(lib);
}
