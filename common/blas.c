/* blas.c - loads cuBLAS, or the CPU device's library of that name. */
#include "common/blas.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Versions count with CUDA's: libcublas.so.13 goes with CUDA 13. */
enum { MAJOR = CUDART_VERSION / 1000 };

static int refuse_library(const char *file, const char *why)
{
#ifdef RIFT_CPU_DEVICE
	return complain(ENOENT, "%s, which the build puts next to rift, cannot be loaded: %s", file,
			why);
#else
	return complain(ENOENT,
			"%s cannot be loaded: %s: install NVIDIA's libcublas for CUDA %d, "
			"or name its folder in LD_LIBRARY_PATH",
			file, why, MAJOR);
#endif
}

/*
 * In the folder that the CUDA runtime was loaded from: the build puts both there. The runtime is
 * asked for by its name, as cudaMalloc may be a preloaded wrapper's, in another folder.
 */
static void *open_beside_the_runtime(const char *file)
{
	char path[4096];
	const char *slash;
	struct link_map *runtime;
	void *handle;

	snprintf(path, sizeof(path), "libcudart.so.%d", MAJOR);
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &runtime))
		return NULL;
	slash = strrchr(runtime->l_name, '/');
	snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash + 1 - runtime->l_name) : 0,
		 runtime->l_name, file);
	dlclose(handle);
	return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

/* By path: the CPU device's library is only beside the runtime, and its name would find a
 * toolkit's. */
static void *open_library(const char *file)
{
#ifdef RIFT_CPU_DEVICE
	return open_beside_the_runtime(file);
#else
	void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);

	return library ? library : open_beside_the_runtime(file);
#endif
}

/*
 * For all to see, then looked up among all: the loader's order, in which a preloaded wrapper
 * comes first. libcublas brings libcublasLt along.
 */
static const char *find_functions(struct blas *b)
{
#define BLAS_TEXT(name) BLAS_TEXT_(name)
#define BLAS_TEXT_(name) #name
#define BLAS_FIND(name)                                                                            \
	{                                                                                          \
		void *p = dlsym(RTLD_DEFAULT, BLAS_TEXT(name));                                    \
		memcpy(&b->name, &p, sizeof(p));                                                   \
		if (!p)                                                                            \
			return "it lacks " BLAS_TEXT(name);                                        \
	}
	BLAS_CALLS(BLAS_FIND)
	return NULL;
}

void blas_cublas_name(unsigned version, char out[BLAS_NAME])
{
	snprintf(out, BLAS_NAME, "cuBLAS %u.%u.%u", version / 10000, version / 100 % 100,
		 version % 100);
}

static void set_name(struct blas *b)
{
	const char *(*name)(void);
	void *p = dlsym(RTLD_DEFAULT, "cpudev_blas_name");

	memcpy(&name, &p, sizeof(p));
	if (p)
		snprintf(b->name, sizeof(b->name), "%s", name());
	else
		blas_cublas_name((unsigned)b->cublasLtGetVersion(), b->name);
}

int blas_load(const struct blas **out)
{
	static struct blas loaded;
	static bool done;
	char file[32];
	const char *why;

	*out = &loaded;
	if (done)
		return 0;
	snprintf(file, sizeof(file), "libcublas.so.%d", MAJOR);
	if (!open_library(file))
		return refuse_library(file, dlerror());
	why = find_functions(&loaded);
	if (why)
		return refuse_library(file, why);
	set_name(&loaded);
	done = true;
	return 0;
}

/* A layer refuses the library, or has it elsewhere and does not find it there. */
static int refuse_handle(const struct blas *b, cublasStatus_t status)
{
	return complain(ENOTSUP, "%s gives no handle: %s", b->name,
			status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported"
							      : b->cublasGetStatusName(status));
}

static bool is_refusal(cublasStatus_t status)
{
	return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_NOT_INITIALIZED;
}

int blas_create(const struct blas *b, cublasHandle_t *handle)
{
	cublasStatus_t status = b->cublasCreate(handle);

	if (is_refusal(status))
		return refuse_handle(b, status);
	BLAS(b, status);
	return 0;
}

int blas_create_lt(const struct blas *b, cublasLtHandle_t *handle)
{
	cublasStatus_t status = b->cublasLtCreate(handle);

	if (is_refusal(status))
		return refuse_handle(b, status);
	BLAS(b, status);
	return 0;
}
