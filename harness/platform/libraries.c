/* libraries.c - libraries and variables that stand between rift and CUDA. */
#include "harness/platform/libraries.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/check.h"
#include "common/digest.h"
#include "harness/base/json.h"
#include "harness/base/text.h"

/* ---- libraries -------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool has_prefix(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- interposers ------------------------------------------------------------------------ */

static void note_library(struct libraries *l, const char *path, const char *why)
{
	struct interposer *in = &l->interposer[l->n];

	for (const struct interposer *known = l->interposer; known < in; known++)
		if (!strcmp(known->path, path))
			return;
	if (l->n == INTERPOSERS_MAX)
		return;
	snprintf(in->path, sizeof(in->path), "%s", path);
	snprintf(in->why, sizeof(in->why), "%s", why);
	l->n++;
}

/* By the names that their makers gave them. */
static const char *known_name(const char *name)
{
	static const struct {
		const char *begins, *why;
	} table[] = {
		{ "libvgpu.so", "HAMi: limits and counts CUDA calls" },
		{ "libcuda-control.so", "vcuda: limits and counts CUDA calls" },
		{ "libnvshare.so", "nvshare: takes turns with other processes" },
		{ "libgemhook.so", "Gemini (KubeShare): takes turns with other processes" },
		{ "cricket-client.so", "Cricket: sends CUDA calls to a server" },
		{ "libscuda", "scuda: sends CUDA calls to a server" },
		{ "libToolsInjection", "Nsight Systems: a profiler" },
		{ "libcupti.so", "CUPTI: a profiler" },
		{ "libsanitizer-", "compute-sanitizer" },
		{ "libInterceptorInjectionTarget", "compute-sanitizer or Nsight Compute" },
		{ "libcuda-injection", "Nsight Compute: a profiler" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (has_prefix(name, table[i].begins))
			return table[i].why;
	return NULL;
}

/*
 * A library of this name that NVIDIA's driver did not bring: a layer's own, before or in place of
 * it. The driver's files bear its version, 580.159.04, or are libcuda.so.1.1 (Jetson, WSL2); the
 * others of WSL2 lie in a folder of their own.
 */
static const char *stand_in(const char *path)
{
	static const char *const names[] = { "libcuda.so", "libnvidia-ml.so" };
	const char *name = base_name(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int major = 0, minor;

		if (!has_prefix(name, names[i]))
			continue;
		name += strlen(names[i]);
		if (has_prefix(path, "/usr/lib/wsl/") || !strcmp(name, ".1.1") ||
		    (sscanf(name, ".%d.%d", &major, &minor) == 2 && major >= 100))
			return NULL;
		return "replaces the driver's library of this name";
	}
	return NULL;
}

/* CUDA's own libraries, which export what others must not. */
static bool is_cuda(const char *name)
{
	return has_prefix(name, "libcudart.so") || has_prefix(name, "libcuda.so") ||
	       has_prefix(name, "libnvidia-ml.so");
}

/* Some function of CUDA that this library defines itself, or NULL. */
static const char *exported(const char *path)
{
	static const char *const functions[] = {
		"cudaLaunchKernel", "cudaMalloc",    "cudaStreamSynchronize",
		"cuLaunchKernel",   "cuMemAlloc_v2", "cuInit",
		"nvmlInit_v2"
	};
	void *lib = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	const char *found = NULL;
	Dl_info info;

	for (size_t i = 0; lib && !found && i < sizeof(functions) / sizeof(*functions); i++) {
		void *f = dlsym(lib, functions[i]);

		/* dlsym looks into what the library depends on, too */
		if (f && dladdr(f, &info) && !strcmp(info.dli_fname, path))
			found = functions[i];
	}
	if (lib)
		dlclose(lib);
	return found;
}

struct names {
	int n;
	char **path;
};

static int collect_name(struct dl_phdr_info *info, size_t size, void *data)
{
	struct names *names = data;

	(void)size;
	if (!*info->dlpi_name)
		return 0;
	names->path = realloc(names->path, sizeof(char *) * (size_t)(names->n + 1));
	CHECK(names->path, "%d names", names->n + 1);
	names->path[names->n] = strdup(info->dlpi_name);
	CHECK(names->path[names->n], "%s", info->dlpi_name);
	names->n++;
	return 0;
}

/* The names are collected first: inside dl_iterate_phdr() nothing may be looked up. */
static void note_exporters(struct libraries *l)
{
	struct names names = { 0 };
	char why[96];

	dl_iterate_phdr(collect_name, &names);
	for (int i = 0; i < names.n; i++) {
		const char *path = names.path[i];
		const char *function = is_cuda(base_name(path)) ? NULL : exported(path);

		if (function) {
			snprintf(why, sizeof(why), "exports %s", function);
			note_library(l, path, why);
		}
		free(names.path[i]);
	}
	free(names.path);
}

/* Names in /etc/ld.so.preload are separated by blanks and colons; # begins a comment. */
static void note_preload_file(struct libraries *l, const struct place *p)
{
	char *text = place_text(p, "/etc/ld.so.preload"), *rest = text, *line, *save, *word;

	while (text && (line = strsep(&rest, "\n"))) {
		line[strcspn(line, "#")] = '\0';
		for (word = strtok_r(line, " \t:", &save); word;
		     word = strtok_r(NULL, " \t:", &save)) {
			const char *why = known_name(base_name(word));

			note_library(l, word, why ? why : "in /etc/ld.so.preload");
		}
	}
	free(text);
}

/* ---- loaded ----------------------------------------------------------------------------- */

/* The path of a mapped library, or NULL: "7f..-7f.. r-xp 00001000 08:01 1234   /usr/lib/libc.so.6".
 */
static const char *mapped_file(const char *line)
{
	const char *path = strchr(line, '/');

	return path && strstr(path, ".so") ? path : NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A library has several mappings: each path once. */
static void list_loaded(struct libraries *l, char *text)
{
	char *rest = text, *line;
	const char **path, *why, *last = "";
	size_t n = 0, lines = 1;

	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	path = calloc(lines, sizeof(*path));
	CHECK(path, "%zu lines", lines);
	while ((line = strsep(&rest, "\n"))) {
		path[n] = mapped_file(line);
		n += path[n] != NULL;
	}
	qsort(path, n, sizeof(*path), by_text);
	l->loaded = json_array();
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(path[i], last))
			continue;
		last = path[i];
		json_array_append_new(l->loaded, json_text(last));
		why = known_name(base_name(last));
		if (!why)
			why = stand_in(last);
		if (why)
			note_library(l, last, why);
	}
	free(path);
}

/* The first loaded library whose name begins like this. */
static struct fact loaded_as(const struct libraries *l, const char *name)
{
	const json_t *path;
	size_t i;

	json_array_foreach(l->loaded, i,
			   path) if (has_prefix(base_name(json_string_value(path)),
						name)) return fact_text("%s",
									json_string_value(path));
	return fact_unknown("no %s is loaded", name);
}

static void describe_libcuda(struct libraries *l)
{
	struct digest_hex hex;
	struct stat st;
	const char *path = l->libcuda_path.text;
	int err;

	if (!fact_known(&l->libcuda_path)) {
		l->libcuda_size_bytes = l->libcuda_sha256 = l->libcuda_path;
		return;
	}
	l->libcuda_size_bytes =
		stat(path, &st) ? fact_unknown("%s", strerror(errno)) : fact_int(st.st_size);
	err = digest_of_large_file(path, &hex);
	l->libcuda_sha256 = err ? fact_unknown("%s", strerror(-err)) : fact_text("%s", hex.s);
}

void libraries_read(struct libraries *l, const struct place *p)
{
	char *maps = place_text(p, "/proc/self/maps");

	*l = (struct libraries){ 0 };
	if (maps)
		list_loaded(l, maps);
	free(maps);
	note_preload_file(l, p);
	note_exporters(l);
	l->libcuda_path = loaded_as(l, "libcuda.so");
	l->libcudart_path = loaded_as(l, "libcudart.so");
	describe_libcuda(l);
}

json_t *libraries_json(const struct libraries *l)
{
	json_t *o = json_object(), *interposers = json_array();

	for (int i = 0; i < l->n; i++)
		json_array_append_new(interposers,
				      json_pack("{s:o, s:o}", "path",
						json_text(l->interposer[i].path), "why",
						json_text(l->interposer[i].why)));
	json_object_set_new(o, "interposers", interposers);
	facts_add(o, "loaded", l->loaded ? json_deep_copy(l->loaded) : NULL,
		  "/proc/self/maps cannot be read");
	return o;
}

json_t *libcuda_json(const struct libraries *l)
{
	static const struct fact_row rows[] = {
		{ "path", offsetof(struct libraries, libcuda_path) },
		{ "size_bytes", offsetof(struct libraries, libcuda_size_bytes) },
		{ "sha256", offsetof(struct libraries, libcuda_sha256) },
		{ 0 },
	};

	return facts_json(rows, l);
}

void libraries_release(struct libraries *l)
{
	json_decref(l->loaded);
	l->loaded = NULL;
}

/* ---- variables -------------------------------------------------------------------------- */

/* From the CUDA programming guide, the manuals of MPS and HAMi, and docs/cpu-device.md. */
const struct influence influences[] = {
	{ "CUDA_LAUNCH_BLOCKING", "0", true, "every launch waits for its kernel; unset it" },
	{ "CUDA_INJECTION64_PATH", NULL, true, "loads a profiler; unset it" },
	{ "NVTX_INJECTION64_PATH", NULL, true, "loads a profiler; unset it" },
	{ "CUDA_DEVICE_MEMORY_LIMIT*", NULL, true, "HAMi limits memory and watches every call" },
	{ "CUDA_DEVICE_SM_LIMIT*", NULL, true, "HAMi holds launches back" },
	{ "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "100", true, "MPS gives this process fewer SMs" },
	{ "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "0", true, "a debugging mode; unset it" },
	{ "CUDA_DEVICE_WAITS_ON_EXCEPTION", "0", true, "a debugging mode; unset it" },
	{ "NVIDIA_TF32_OVERRIDE", NULL, true,
	  "cuBLAS drops bits of its operands or, with 0, never does; unset it" },
	{ "CUDA_DISABLE_PERF_BOOST", "0", true, "clocks may stay low under load; unset it" },
	{ "CUDA_FORCE_PTX_JIT", "0", true,
	  "runs kernels compiled at start, not those built; unset it" },
	{ "CUDA_FORCE_JIT", "0", true,
	  "runs kernels compiled at start, not those built; unset it" },
	{ "LD_PRELOAD", "", true,
	  "libraries are loaded before all others; unset it, unless they are what is measured" },
	{ "LD_AUDIT", "", true, "a library watches every symbol; unset it" },
	{ "RIFT_TRACE", "", true, "records every call; unset it" },
	{ "RIFT_CPU_LAUNCH_NS", "0", true, "adds a cost to launches of the CPU device" },
	{ "RIFT_CPU_SYNC_NS", "0", true, "adds a cost to waits of the CPU device" },
	{ "RIFT_CPU_ALLOC_NS", "0", true, "adds a cost to allocations of the CPU device" },
	{ "RIFT_CPU_COPY_NS", "0", true, "adds a cost to copies of the CPU device" },
	{ "RIFT_CPU_ORDER", "up", false, "changes the order of threads on the CPU device" },
	{ "RIFT_CPU_STRICT", "0", false, "makes allocations of the CPU device slower" },
	{ "RIFT_CPU_WORKERS", NULL, false, "sets the workers of the CPU device" },
	{ "RIFT_CPU_SPIN_US", "200", false, "sets how long the CPU device polls" },
	{ "CUDA_SCALE_LAUNCH_QUEUES", "1x", false, "changes how many launches fit into a queue" },
	{ "CUDA_MODULE_LOADING", "LAZY", false, "changes when kernels are loaded" },
	{ "CUDA_MODULE_DATA_LOADING", "LAZY", false, "changes when variables are loaded" },
	{ "CUDA_DEVICE_MAX_CONNECTIONS", NULL, false, "changes how many streams run side by side" },
	{ "CUDA_DEVICE_MAX_COPY_CONNECTIONS", NULL, false, "changes how many copies overlap" },
	{ "CUDA_GRAPHS_USE_NODE_PRIORITY", "0", false, "changes the order of graph nodes" },
	{ "CUDA_VISIBLE_DEVICES", NULL, false, "chooses the GPUs that rift sees" },
	{ "NVIDIA_VISIBLE_DEVICES", "all", false, "the GPUs that this container was given" },
	{ "CUDA_DEVICE_ORDER", NULL, false, "changes which GPU is the first" },
	{ "CUDA_CACHE_DISABLE", "0", false, "kernels compiled at start are not kept" },
	{ "CUDA_MPS_PIPE_DIRECTORY", NULL, false, "this process may be a client of MPS" },
	{ "GLIBC_TUNABLES", "", false, "changes malloc or locks of the C library" },
	{ 0 },
};

const struct influence *influence_of(const char *variable)
{
	size_t n = strcspn(variable, "=");
	const char *value = variable + n + (variable[n] == '=');

	for (const struct influence *i = influences; i->name; i++) {
		size_t len = strcspn(i->name, "*");
		bool same = i->name[len] ? n >= len : n == len;

		if (same && !strncmp(variable, i->name, len))
			return i->unless && !strcmp(value, i->unless) ? NULL : i;
	}
	return NULL;
}

/*
 * What layers of rift tell their own processes is in the record as `layers`. A variable that names
 * a layer's private folder (harness/platform/guard.c) is another in each process, and says no more.
 */
static bool is_recorded(const char *variable)
{
	static const char *const beginnings[] = { "CUDA_", "NVIDIA_",	      "NVTX_", "LD_",
						  "RIFT_", "GLIBC_TUNABLES=", NULL };

	if (!strncmp(variable, "RIFT_LAYER", strlen("RIFT_LAYER")) ||
	    strstr(variable, "/rift-layers-"))
		return false;
	for (const char *const *b = beginnings; *b; b++)
		if (!strncmp(variable, *b, strlen(*b)))
			return true;
	return false;
}

json_t *environment_json(const struct place *p)
{
	json_t *o = json_object();

	for (char *const *e = p->env; *e; e++) {
		const char *value = strchr(*e, '=');
		char name[128];

		if (!value || !is_recorded(*e) || (size_t)(value - *e) >= sizeof(name))
			continue;
		memcpy(name, *e, (size_t)(value - *e));
		name[value - *e] = '\0';
		json_object_set_new(o, name,
				    json_text(text_names_secret(name) ? "(hidden)" : value + 1));
	}
	return o;
}
