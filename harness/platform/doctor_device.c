/* doctor_device.c - findings about the GPU: who shares it, and whether it works. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "common/probe.h"
#include "common/plural.h"
#include "common/refusal.h"
#include "harness/base/text.h"
#include "harness/platform/doctor.h"
#include "harness/platform/system.h"

/* ---- does the device work --------------------------------------------------------------- */

/*
 * Does the device work: can it be opened, does a kernel run, and what of that which a layer may
 * lack is there: events, graphs, mapped, pinned and managed memory, pools.
 */

enum { ANSWER = 42 };

/* A row of calls, of which the first that fails is the last that is made. */
struct trial {
	const char *call; /* that failed; NULL: none so far */
	cudaError_t err;
	cudaStream_t stream;
	uint32_t *device, host;
};

#define TRY(t, expr) TRY_AS(t, #expr, expr)
#define TRY_AS(t, name, expr)                                                                      \
	do {                                                                                       \
		if (!(t)->call && ((t)->err = (expr)))                                             \
			(t)->call = name;                                                          \
	} while (0)

/* Nothing here waits longer: a layer in which work never ends is to be named, not waited for. */
static const int64_t patience_ns = 2000000000;

/* cudaErrorLaunchTimeout: what was enqueued has not ended in time. */
static cudaError_t wait_for(cudaStream_t stream)
{
	int64_t start = clock_ns();
	cudaError_t err;

	while ((err = cudaStreamQuery(stream)) == cudaErrorNotReady)
		if (clock_ns() - start > patience_ns)
			return cudaErrorLaunchTimeout;
	/* behind a remote layer what was copied comes with this */
	return err ? err : cudaStreamSynchronize(stream);
}

static void copy_answer(struct trial *t)
{
	TRY(t, wait_for(t->stream));
	TRY(t, cudaMemcpy(&t->host, t->device, sizeof(t->host), cudaMemcpyDeviceToHost));
}

static void try_kernel(struct trial *t)
{
	TRY(t, cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking));
	TRY(t, cudaMalloc((void **)&t->device, sizeof(*t->device)));
	TRY(t, probe_launch(t->device, ANSWER, t->stream));
	copy_answer(t);
}

/* ---- what a layer may lack ---------------------------------------------------------------- */

static void try_events(struct trial *t)
{
	cudaEvent_t event[2] = { NULL, NULL };
	float ms;

	TRY(t, cudaEventCreate(&event[0]));
	TRY(t, cudaEventCreate(&event[1]));
	TRY(t, cudaEventRecord(event[0], t->stream));
	TRY(t, probe_launch(t->device, ANSWER, t->stream));
	TRY(t, cudaEventRecord(event[1], t->stream));
	TRY(t, cudaStreamWaitEvent(t->stream, event[1], 0));
	copy_answer(t);
	TRY(t, cudaEventSynchronize(event[1]));
	TRY(t, cudaEventElapsedTime(&ms, event[0], event[1]));
	for (int i = 0; i < 2; i++)
		if (event[i])
			cudaEventDestroy(event[i]);
}

/* Two kernels, one behind the other. */
static void capture(struct trial *t, cudaGraph_t *graph)
{
	TRY(t, cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal));
	TRY(t, probe_launch(t->device, 0, t->stream));
	TRY(t, probe_launch(t->device, ANSWER, t->stream));
	TRY(t, cudaStreamEndCapture(t->stream, graph));
	refusal_settle(t->stream);
}

static void try_graph(struct trial *t)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;

	capture(t, &graph);
	TRY(t, cudaGraphInstantiate(&exec, graph, 0));
	TRY(t, cudaGraphUpload(exec, t->stream));
	TRY(t, cudaGraphLaunch(exec, t->stream));
	copy_answer(t);
	if (exec)
		cudaGraphExecDestroy(exec);
	if (graph)
		cudaGraphDestroy(graph);
}

static cudaError_t count_dependencies(cudaGraphNode_t node, size_t *n)
{
#if CUDART_VERSION >= 13000
	return cudaGraphNodeGetDependencies(node, NULL, NULL, n);
#else
	return cudaGraphNodeGetDependencies(node, NULL, n);
#endif
}

/* What tests of graphs and updates ask: nodes, their kinds, what they hang on. */
static void try_nodes(struct trial *t)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	cudaGraphNode_t node[2];
	cudaGraphExecUpdateResultInfo info;
	enum cudaGraphNodeType type;
	size_t n = 2, needs = 0;

	capture(t, &graph);
	TRY(t, cudaGraphGetNodes(graph, node, &n));
	TRY(t, cudaGraphNodeGetType(node[1], &type));
	TRY_AS(t, "cudaGraphNodeGetDependencies", count_dependencies(node[1], &needs));
	TRY(t, cudaGraphInstantiate(&exec, graph, 0));
	TRY(t, cudaGraphExecUpdate(exec, graph, &info));
	t->host = n == 2 && needs == 1 ? ANSWER : 0;
	if (exec)
		cudaGraphExecDestroy(exec);
	if (graph)
		cudaGraphDestroy(graph);
}

static void try_mapped(struct trial *t)
{
	uint32_t *word = NULL, *on_device;

	TRY(t, cudaHostAlloc((void **)&word, sizeof(*word), cudaHostAllocMapped));
	TRY(t, cudaHostGetDevicePointer((void **)&on_device, word, 0));
	if (word)
		*word = 0;
	TRY(t, probe_launch(on_device, ANSWER, t->stream));
	TRY(t, wait_for(t->stream));
	t->host = t->call || !word ? 0 : *word;
	if (word)
		cudaFreeHost(word);
}

static void try_pinned(struct trial *t)
{
	static uint32_t own[1024];
	uint32_t *word = NULL;

	TRY(t, cudaMallocHost((void **)&word, sizeof(*word)));
	TRY(t, cudaHostRegister(own, sizeof(own), cudaHostRegisterDefault));
	TRY(t, cudaHostUnregister(own));
	TRY(t, probe_launch(t->device, ANSWER, t->stream));
	TRY(t, cudaMemcpyAsync(word, t->device, sizeof(*word), cudaMemcpyDeviceToHost, t->stream));
	TRY(t, wait_for(t->stream));
	t->host = t->call || !word ? 0 : *word;
	if (word)
		cudaFreeHost(word);
}

/* On the CPU device memory is there at the call, and none is managed. */
static void try_pools(struct trial *t)
{
	uint32_t *word = NULL;
#ifndef RIFT_CPU_DEVICE
	cudaMemPool_t pool;

	TRY(t, cudaDeviceGetDefaultMemPool(&pool, 0));
	TRY(t, cudaMemPoolTrimTo(pool, 0));
#endif
	TRY(t, cudaMallocAsync((void **)&word, sizeof(*word), t->stream));
	TRY(t, probe_launch(word, ANSWER, t->stream));
	TRY(t, cudaMemcpyAsync(&t->host, word, sizeof(*word), cudaMemcpyDeviceToHost, t->stream));
	TRY(t, cudaFreeAsync(word, t->stream));
	TRY(t, wait_for(t->stream));
}

#ifndef RIFT_CPU_DEVICE
static void try_managed(struct trial *t)
{
	uint32_t *word = NULL;

	TRY(t, cudaMallocManaged((void **)&word, sizeof(*word), cudaMemAttachGlobal));
	TRY(t, probe_launch(word, ANSWER, t->stream));
	TRY(t, wait_for(t->stream));
	t->host = t->call || !word ? 0 : *word;
	if (word)
		cudaFree(word);
}
#endif

static const struct feature {
	const char *name;
	void (*try)(struct trial *t);
	enum cudaDeviceAttr attribute; /* the device says whether it has it; 0: it has */
	const char *fine;
} features[] = {
	{ "events", try_events, 0, "recorded, waited for, timed" },
	{ "graphs", try_graph, 0, "one was captured and launched" },
	{ "graph nodes", try_nodes, 0, "listed, with their dependencies; a graph was updated" },
	{ "mapped memory", try_mapped, cudaDevAttrCanMapHostMemory,
	  "the host saw what a kernel wrote" },
	{ "pinned memory", try_pinned, 0, "allocated, registered, copied to" },
	{ "memory pools", try_pools, cudaDevAttrMemoryPoolsSupported, "taken, used, given back" },
#ifndef RIFT_CPU_DEVICE
	{ "managed memory", try_managed, cudaDevAttrManagedMemory, "written by a kernel, read" },
#endif
};

/* ---- verdicts ------------------------------------------------------------------------------ */

static void end_trial(struct trial *t)
{
	if (t->device)
		cudaFree(t->device);
	if (t->stream)
		cudaStreamDestroy(t->stream);
	cudaGetLastError();
}

static const char *advice_for(cudaError_t err)
{
	return err == cudaErrorNoKernelImageForDevice
		       ? "this rift was built for other GPUs: build it with CUDA_ARCH=native "
			 "here, or with CUDA_ARCH=all"
		       : "see the kernel's log (dmesg | grep -i nvrm) and whether nvidia-smi works";
}

/* Says how the first kernel ended; true when it did well. */
static bool judge_kernel(struct doctor *d, const struct trial *t)
{
	if (t->call)
		doctor_report(d, DOCTOR_MISSING, "kernels", advice_for(t->err), "%.80s: %s",
			      t->call, cudaGetErrorString(t->err));
	else if (t->host != ANSWER)
		doctor_report(d, DOCTOR_MISSING, "kernels", advice_for(cudaSuccess),
			      "wrong result: %u instead of %u", (unsigned)t->host,
			      (unsigned)ANSWER);
	else
		doctor_report(d, DOCTOR_OK, "kernels", NULL,
			      "one ran, wrote what it should, and was copied");
	return !t->call && t->host == ANSWER;
}

static const char unsupported[] =
	"points and rows that need it say `not supported here`; the others are measured";

static void judge_feature(struct doctor *d, const struct trial *t, const struct feature *f)
{
	d->unsupported += t->call || t->host != ANSWER;
	if (t->call)
		doctor_report(d, DOCTOR_MISSING, f->name, unsupported,
			      "not supported here: %.*s: %s", (int)strcspn(t->call, "("), t->call,
			      cudaGetErrorName(t->err));
	else if (t->host != ANSWER)
		doctor_report(d, DOCTOR_MISSING, f->name, unsupported,
			      "not supported here: no call failed, but what a kernel should write "
			      "was not there");
	else
		doctor_report(d, DOCTOR_OK, f->name, NULL, "%s", f->fine);
}

static bool device_has(const struct feature *f)
{
	int has = 1;

	if (f->attribute && cudaDeviceGetAttribute(&has, f->attribute, 0))
		cudaGetLastError();
	return has;
}

static void try_feature(struct doctor *d, struct trial *t, const struct feature *f)
{
	if (!device_has(f)) {
		doctor_report(d, DOCTOR_NOTE, f->name, NULL, "the device says that it has none");
		return;
	}
	t->call = NULL;
	t->host = 0;
	f->try(t);
	cudaGetLastError(); /* said: no failure of what comes next */
	judge_feature(d, t, f);
}

static void try_device(struct doctor *d)
{
	struct trial t = { 0 };

	try_kernel(&t);
	d->works = judge_kernel(d, &t);
	for (size_t i = 0; i < sizeof(features) / sizeof(*features) && d->works; i++)
		try_feature(d, &t, &features[i]);
	end_trial(&t);
}

/* A GPU that this binary does not use. */
static void report_unused_gpu(struct doctor *d, const struct driver *driver)
{
	if (driver_gpu_here(driver))
		doctor_report(d, DOCTOR_NOTE, "GPU",
			      "to measure it, build for it: make DEVICE=cuda (CUDA toolkit 12.4 or "
			      "newer)",
			      "an NVIDIA GPU or its driver is here, but this rift is built for the "
			      "CPU device");
	else
		doctor_report(d, DOCTOR_NOTE, "GPU", NULL, "no NVIDIA GPU is visible");
}

/* Can this library be loaded? That, or the loader's reason; both begin with its name. */
static void write_library(const char *name, char *text, size_t size)
{
	void *lib = dlopen(name, RTLD_LAZY);

	if (lib)
		snprintf(text, size, "%s: found", name);
	else
		snprintf(text, size, "%s", dlerror());
	if (lib)
		dlclose(lib);
}

/* What there is of the driver, for who has to mend it. */
static void report_broken_driver(struct doctor *d, const struct driver *driver)
{
	struct nvml nvml;
	char libcuda[160];

	write_library("libcuda.so.1", libcuda, sizeof(libcuda));
	nvml_open(&nvml, "libnvidia-ml.so.1");
	doctor_report(d, DOCTOR_NOTE, "driver", NULL,
		      "kernel module: %s; NVIDIA GPUs on the PCI bus: %d, driver %s; device files: "
		      "control %s, GPU %s, uvm %s, dxg %s; %s; %s",
		      fact_or(&driver->module_version, "none"), driver->pci_gpus,
		      fact_or(&driver->pci_driver, "none"), driver->control_file ? "yes" : "no",
		      driver->gpu_file ? "yes" : "no", driver->uvm_file ? "yes" : "no",
		      driver->dxg ? "yes" : "no", libcuda, nvml.library ? "NVML works" : nvml.why);
	nvml_close(&nvml);
}

void doctor_device(struct doctor *d, struct platform *p, const struct place *place)
{
	const char *why = platform_open(p);
	struct driver driver;

	driver_read(&driver, place, &p->virt);
	if (why) {
		d->works = false;
		doctor_report(d, DOCTOR_MISSING, "device", driver_advice(&driver, p->cuda_error),
			      "%s", why);
		report_broken_driver(d, &driver);
		return;
	}
	if (p->is_gpu)
		doctor_report(d, DOCTOR_OK, "device", NULL, "%s, compute %d.%d, %d SMs, %s",
			      p->device, p->cc_major, p->cc_minor, p->sms,
			      text_bytes((double)p->memory_bytes).s);
	else
		doctor_report(d, DOCTOR_OK, "device", NULL, "%s", p->device);
	try_device(d);
	if (!p->is_gpu)
		report_unused_gpu(d, &driver);
}

/* ---- the GPU, its driver, and who shares it --------------------------------------------- */

/* A known value with its name, or why it is not known. */
static void report_fact(struct doctor *d, const char *name, const struct fact *f, const char *fmt,
			const char *text)
{
	char line[160];

	if (!fact_known(f)) {
		doctor_report(d, DOCTOR_NOTE, name, NULL, "not known: %s", f->text);
		return;
	}
	snprintf(line, sizeof(line), "%s%s", fmt, text);
	doctor_report(d, DOCTOR_OK, name, NULL, "%s", line);
}

static bool facts_differ(const struct fact *a, const struct fact *b)
{
	return fact_known(a) && fact_known(b) && strcmp(a->text, b->text);
}

static void report_driver(struct doctor *d, const struct platform *p)
{
	const struct gpu *g = &p->gpu;
	bool mixed = facts_differ(&g->driver_version, &g->module_version);

	if (!fact_known(&g->driver_version)) {
		doctor_report(d, DOCTOR_NOTE, "driver", NULL, "version not known: %s",
			      g->driver_version.text);
		return;
	}
	doctor_report(d, mixed ? DOCTOR_WARN : DOCTOR_OK, "driver",
		      mixed ? "libraries and module differ: restart the machine" : NULL,
		      "%s, kernel module %s (%s), for CUDA %s; %s", g->driver_version.text,
		      fact_or(&g->module_version, "not visible"),
		      fact_or(&g->module_kind, "unknown"), fact_or(&g->cuda_driver_api, "unknown"),
		      fact_or(&p->libraries.libcuda_path, "libcuda not visible"));
}

static void report_runtime(struct doctor *d, const struct platform *p)
{
	doctor_report(d, DOCTOR_OK, "CUDA runtime", NULL, "%s; %s",
		      fact_or(&p->gpu.cuda_runtime, "version unknown"),
		      fact_or(&p->libraries.libcudart_path, "libcudart not visible"));
}

static void report_nvml(struct doctor *d, const struct gpu *g)
{
	if (fact_known(&g->nvml_version))
		doctor_report(d, DOCTOR_OK, "NVML", NULL, "%s", g->nvml_version.text);
	else
		doctor_report(d, DOCTOR_MISSING, "NVML",
			      "it reports link, clocks, power and other processes; it comes with "
			      "the driver (libnvidia-ml.so.1; in a container: "
			      "NVIDIA_DRIVER_CAPABILITIES with utility)",
			      "%s", g->nvml_version.text);
}

/* The generation falls while the GPU is idle; lanes do not. */
static void report_link(struct doctor *d, const struct gpu *g)
{
	bool narrow = fact_known(&g->link_width_cur) && fact_known(&g->link_width_max) &&
		      g->link_width_cur.number < g->link_width_max.number;

	if (!fact_known(&g->link_gen_cur) || !fact_known(&g->link_width_cur)) {
		doctor_report(d, DOCTOR_NOTE, "PCIe link", NULL, "not known: %s",
			      fact_known(&g->link_gen_cur) ? g->link_width_cur.text
							   : g->link_gen_cur.text);
		return;
	}
	doctor_report(d, narrow ? DOCTOR_WARN : DOCTOR_OK, "PCIe link",
		      narrow ? "the slot or the hypervisor gives fewer lanes than the GPU has"
			     : NULL,
		      "generation %d of %d, %d lanes of %d, at %s", (int)g->link_gen_cur.number,
		      (int)g->link_gen_max.number, (int)g->link_width_cur.number,
		      (int)g->link_width_max.number, fact_or(&g->pci_bus_id, "an unknown address"));
}

static void report_clocks(struct doctor *d, const struct gpu *g)
{
	static const char *const bad[] = { "power cap", "hardware slowdown", "temperature",
					   "power brake", NULL };
	const char *limits = fact_or(&g->clock_limits, "not known");
	bool slowed = false;

	for (const char *const *b = bad; *b; b++)
		slowed |= strstr(limits, *b) != NULL;
	if (!fact_known(&g->sm_clock_mhz)) {
		doctor_report(d, DOCTOR_NOTE, "GPU clock", NULL, "not known: %s",
			      g->sm_clock_mhz.text);
		return;
	}
	doctor_report(d, slowed ? DOCTOR_WARN : DOCTOR_OK, "GPU clock",
		      slowed ? "the GPU is throttled now: let it cool, or check its power limit "
			       "(nvidia-smi -q -d PERFORMANCE,POWER)"
			     : NULL,
		      "%d MHz of %d; held back by: %s", (int)g->sm_clock_mhz.number,
		      (int)g->sm_clock_max_mhz.number, limits);
}

static void report_persistence(struct doctor *d, const struct gpu *g)
{
	if (!fact_known(&g->persistence))
		doctor_report(d, DOCTOR_NOTE, "persistence mode", NULL, "not known: %s",
			      g->persistence.text);
	else if (fact_true(&g->persistence))
		doctor_report(d, DOCTOR_OK, "persistence mode", NULL, "on");
	else
		doctor_report(
			d, DOCTOR_NOTE, "persistence mode",
			"nvidia-smi -pm 1 (as root), or the service nvidia-persistenced",
			"off: the first program to open the GPU waits for the driver to start, "
			"up to 2 s");
}

static void report_sharing(struct doctor *d, const struct gpu *g)
{
	bool mig = fact_true(&g->mig) || fact_known(&g->mig_profile);

	if (fact_known(&g->ecc))
		doctor_report(d, DOCTOR_OK, "ECC", NULL, "%s", fact_true(&g->ecc) ? "on" : "off");
	else
		report_fact(d, "ECC", &g->ecc, "", "");
	if (mig)
		doctor_report(d, DOCTOR_NOTE, "MIG", NULL, "on: this is a part of a GPU, %s",
			      fact_or(&g->mig_profile, "of unknown size"));
	else
		report_fact(d, "MIG", &g->mig, "off", "");
	if (fact_known(&g->compute_mode))
		doctor_report(d, fact_is(&g->compute_mode, "default") ? DOCTOR_OK : DOCTOR_NOTE,
			      "compute mode", NULL, "%s", g->compute_mode.text);
}

/* A property of the platform, and no fault of it. */
static void report_confidential(struct doctor *d, const struct gpu *g)
{
	if (!fact_known(&g->confidential) || fact_is(&g->confidential, "off"))
		report_fact(d, "confidential computing", &g->confidential, "", "off");
	else
		doctor_report(d, DOCTOR_NOTE, "confidential computing", NULL,
			      "%s: copies between host and device are encrypted, and take longer; "
			      "rift layer emulate preset=h100-cc is a model of it",
			      g->confidential.text);
}

static void report_others(struct doctor *d, const struct gpu *g)
{
	int n = (int)g->other_processes.number;

	if (!fact_known(&g->other_processes))
		doctor_report(d, DOCTOR_NOTE, "GPU processes", NULL, "not known: %s",
			      g->other_processes.text);
	else if (!n)
		doctor_report(d, DOCTOR_OK, "GPU processes", NULL, "no other");
	else
		doctor_report(d, DOCTOR_WARN, "GPU processes",
			      "end them before measuring (nvidia-smi lists them)", "%s on this GPU",
			      counted(n, "other").s);
	if (fact_known(&g->busy_percent) && g->busy_percent.number > 5)
		doctor_report(d, DOCTOR_WARN, "GPU load", "something computes on this GPU: end it",
			      "%d %% of the last moment", (int)g->busy_percent.number);
}

void doctor_gpu(struct doctor *d, const struct platform *p)
{
	const struct gpu *g = &p->gpu;

	if (*p->device)
		report_runtime(d, p);
	if (!p->is_gpu)
		return;
	report_driver(d, p);
	report_nvml(d, g);
	report_link(d, g);
	report_clocks(d, g);
	report_persistence(d, g);
	report_sharing(d, g);
	report_confidential(d, g);
	report_others(d, g);
	report_fact(d, "kernel loading", &g->loading_mode, "", g->loading_mode.text);
}
