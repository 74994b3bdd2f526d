/* profiler.c - rift's side of the library that switches CUPTI's activity records on (preload/). */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/pattern.h"
#include "common/plural.h"
#include "layers/layer.h"
#include "layers/profiler/records.h"

struct profiler_opts {
	int kinds;
};

static const char *const choices[] = PROFILER_CHOICES;

static const struct param params[] = {
	PARAM_CHOICE(profiler_opts, kinds, "all", choices,
		     "what is recorded: calls of runtime and driver; kernels, copies and sets"),
	PARAM_END,
};

static const char injection[] = "CUDA_INJECTION64_PATH";

/* ---- where CUPTI is ------------------------------------------------------------------------ */

/* LD_LIBRARY_PATH and the system's cache. */
static bool find_by_loader(const char *name, char out[PATH_MAX])
{
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;
	bool found;

	if (!library)
		return false;
	found = !dlinfo(library, RTLD_DI_LINKMAP, &map) && realpath(map->l_name, out);
	dlclose(library);
	return found;
}

static bool find_in_toolkit(const char *name, char out[PATH_MAX])
{
	static const char *const folders[] = { "extras/CUPTI/lib64", "lib64" };
	const char *home = getenv("CUDA_HOME");
	char path[PATH_MAX];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", home ? home : "/usr/local/cuda",
			 folders[i], name);
		if (realpath(path, out))
			return true;
	}
	return false;
}

/* That of the runtime's version first: a newer one may be too new for the driver. */
static bool find_cupti(char out[PATH_MAX])
{
	char own[32];
	const char *const names[] = { own, "libcupti.so.13", "libcupti.so.12", "libcupti.so" };

	snprintf(own, sizeof(own), "libcupti.so.%d", CUDART_VERSION / 1000);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (find_by_loader(names[i], out) || find_in_toolkit(names[i], out))
			return true;
	return false;
}

/* ---- entering ------------------------------------------------------------------------------ */

static const char *missing(void)
{
#ifdef RIFT_CPU_DEVICE
	return "the CPU device has no CUPTI";
#else
	char path[PATH_MAX];

	if (getenv(injection))
		return "a profiler is already loaded: CUDA_INJECTION64_PATH is set";
	return find_cupti(path) ? NULL
				: "libcupti.so was not found; it comes with the CUDA toolkit: set "
				  "CUDA_HOME or LD_LIBRARY_PATH";
#endif
}

static void path_of(const char *folder, char out[512])
{
	snprintf(out, 512, "%s/records", folder);
}

static int make_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(struct profiler_counts)))
		return complain(errno, "layer profiler: %s: %s", path, strerror(errno));
	close(fd);
	return 0;
}

/* The library's own path is the first of LD_PRELOAD. */
static void inject_first_preload(struct entry *e)
{
	char *preload = strdup(getenv("LD_PRELOAD"));

	CHECK(preload, "memory of a path");
	preload[strcspn(preload, ": ")] = '\0';
	entry_setenv(e, injection, preload);
	free(preload);
}

static int enter(const void *opts, struct entry *e)
{
	const struct profiler_opts *o = opts;
	const char *folder = entry_folder(e);
	char path[512], cupti[PATH_MAX];

	if (!folder)
		return -EIO;
	if (!find_cupti(cupti))
		return complain(ENOENT, "layer profiler: libcupti.so was not found");
	path_of(folder, path);
	if (make_counts(path) || entry_preload(e, NULL))
		return -EIO;
	inject_first_preload(e);
	entry_setenv(e, PROFILER_CUPTI, cupti);
	entry_setenv(e, PROFILER_COUNTS, path);
	entry_setenv(e, PROFILER_KINDS, choices[o->kinds]);
	return 0;
}

/* ---- in force: calls and work make records ----------------------------------------------------
 */

static int use(void)
{
	uint64_t *memory = NULL;
	int err = (int)cudaMalloc((void **)&memory, sizeof(*memory)), end;

	if (err)
		return err;
	err = (int)cudaMemsetAsync(memory, 0, sizeof(*memory), 0);
	if (!err)
		pattern_fill(memory, sizeof(*memory), 0, sizeof(*memory), 0);
	err = err ? err : (int)cudaDeviceSynchronize();
	end = (int)cudaFree(memory);
	return err ? err : end;
}

static profiler_flush_function *find_flush(void)
{
	profiler_flush_function *flush;
	void *found = dlsym(RTLD_DEFAULT, PROFILER_FLUSH_FUNCTION);

	memcpy(&flush, &found, sizeof(flush));
	return flush;
}

static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	profiler_flush_function *flush = find_flush();
	const char *why = "its library is not loaded";
	int64_t before = flush ? flush(&why) : -1, after;
	int err;

	(void)opts;
	if (before < 0) {
		snprintf(detail, LAYER_DETAIL, flush ? "CUPTI is not switched on: %s" : "%s", why);
		return false;
	}
	err = use();
	after = flush(&why);
	if (err)
		snprintf(detail, LAYER_DETAIL, "a call failed under it: %s",
			 cudaGetErrorName((cudaError_t)err));
	else
		snprintf(detail, LAYER_DETAIL, "CUPTI has made %s of a kernel and a set",
			 counted(after - before, "record").s);
	return !err && after > before;
}

/* ---- when the command has ended ---------------------------------------------------------------
 */

static bool read_counts(const char *folder, struct profiler_counts *counts)
{
	char path[512];
	int fd;
	ssize_t n;

	path_of(folder, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, counts, sizeof(*counts));
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(*counts);
}

static void report(const char *folder, char detail[LAYER_DETAIL])
{
	static const char *const names[] = {
#define ROW(class) #class,
		PROFILER_CLASSES(ROW)
#undef ROW
	};
	struct profiler_counts counts;
	unsigned long long sum = 0;
	size_t used;

	if (!read_counts(folder, &counts))
		return;
	for (int c = 0; c < RECORD_CLASSES; c++)
		sum += counts.records[c];
	used = (size_t)snprintf(detail, LAYER_DETAIL, "made %s in %s",
				counted((int64_t)sum, "record").s,
				counted((int64_t)counts.processes, "process").s);
	for (int c = 0; c < RECORD_CLASSES && used < LAYER_DETAIL; c++)
		if (counts.records[c])
			used += (size_t)snprintf(detail + used, LAYER_DETAIL - used, "; %s %llu",
						 names[c], (unsigned long long)counts.records[c]);
	if (counts.lost && used < LAYER_DETAIL)
		snprintf(detail + used, LAYER_DETAIL - used, "; %llu lost",
			 (unsigned long long)counts.lost);
}

const struct layer layer_profiler = {
	.name = "profiler",
	.summary = "records all calls and kernels with NVIDIA's CUPTI, as profilers do",
	.opts_size = sizeof(struct profiler_opts),
	.params = params,
	.missing = missing,
	.enter = enter,
	.in_force = in_force,
	.report = report,
};
