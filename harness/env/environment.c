/* environment.c - variables that change what CUDA, the loader or the CPU device do. */
#include "harness/env/environment.h"

#include <string.h>

#include "harness/base/json.h"

/* From the CUDA programming guide, the manuals of MPS and HAMi, and common/cpu/README.md. */
const struct influence influences[] = {
	{ "CUDA_LAUNCH_BLOCKING", "0", true, "every launch waits for its kernel; unset it" },
	{ "CUDA_INJECTION64_PATH", NULL, true, "loads a profiler; unset it" },
	{ "NVTX_INJECTION64_PATH", NULL, true, "loads a profiler; unset it" },
	{ "CUDA_DEVICE_MEMORY_LIMIT*", NULL, true, "HAMi limits memory and watches every call" },
	{ "CUDA_DEVICE_SM_LIMIT*", NULL, true, "HAMi holds launches back" },
	{ "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "100", true, "MPS gives this process fewer SMs" },
	{ "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "0", true, "a debugging mode; unset it" },
	{ "CUDA_DEVICE_WAITS_ON_EXCEPTION", "0", true, "a debugging mode; unset it" },
	{ "NVIDIA_TF32_OVERRIDE", "0", true, "cuBLAS drops bits of its operands; unset it" },
	{ "CUDA_DISABLE_PERF_BOOST", "0", true, "clocks may stay low under load; unset it" },
	{ "CUDA_FORCE_PTX_JIT", "0", true,
	  "runs kernels compiled at start, not those built; unset it" },
	{ "CUDA_FORCE_JIT", "0", true,
	  "runs kernels compiled at start, not those built; unset it" },
	{ "LD_PRELOAD", "", true,
	  "libraries stand in front of all others; unset it, unless they "
	  "are what is measured" },
	{ "LD_AUDIT", "", true, "a library watches every symbol; unset it" },
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

static bool recorded(const char *variable)
{
	static const char *const beginnings[] = { "CUDA_", "NVIDIA_",	      "NVTX_", "LD_",
						  "RIFT_", "GLIBC_TUNABLES=", NULL };

	for (const char *const *b = beginnings; *b; b++)
		if (!strncmp(variable, *b, strlen(*b)))
			return true;
	return false;
}

/* NVIDIA_API_KEY, for one, is nobody's business: records are published. */
static bool secret(const char *name)
{
	static const char *const words[] = { "KEY",	 "TOKEN",      "SECRET",
					     "PASSWORD", "CREDENTIAL", NULL };

	for (const char *const *w = words; *w; w++)
		if (strstr(name, *w))
			return true;
	return false;
}

json_t *environment_json(const struct place *p)
{
	json_t *o = json_object();

	for (char *const *e = p->env; *e; e++) {
		const char *value = strchr(*e, '=');
		char name[128];

		if (!value || !recorded(*e) || (size_t)(value - *e) >= sizeof(name))
			continue;
		memcpy(name, *e, (size_t)(value - *e));
		name[value - *e] = '\0';
		json_object_set_new(o, name, json_text(secret(name) ? "(hidden)" : value + 1));
	}
	return o;
}
