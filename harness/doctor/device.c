/* device.c - does the device work: can it be opened, do kernels, copies and graphs run? */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdint.h>

#include "common/probe.h"
#include "harness/doctor/doctor.h"
#include "harness/text.h"

enum { ANSWER = 42 };

/* A row of calls, of which the first that fails is the last that is made. */
struct trial {
	const char *call; /* that failed; NULL: none so far */
	cudaError_t err;
	cudaStream_t stream;
	uint32_t *device, host;
};

#define TRY(t, expr)                                                                               \
	do {                                                                                       \
		if (!(t)->call && ((t)->err = (expr)))                                             \
			(t)->call = #expr;                                                         \
	} while (0)

static void try_kernel(struct trial *t)
{
	cudaEvent_t event = NULL;

	TRY(t, cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking));
	TRY(t, cudaMalloc((void **)&t->device, sizeof(*t->device)));
	TRY(t, probe_launch(t->device, ANSWER, t->stream));
	TRY(t, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	TRY(t, cudaEventRecord(event, t->stream));
	TRY(t, cudaEventSynchronize(event));
	TRY(t, cudaMemcpy(&t->host, t->device, sizeof(t->host), cudaMemcpyDeviceToHost));
	if (event)
		cudaEventDestroy(event);
}

static void try_graph(struct trial *t)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;

	t->host = 0;
	TRY(t, cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal));
	TRY(t, probe_launch(t->device, ANSWER + 1, t->stream));
	TRY(t, cudaStreamEndCapture(t->stream, &graph));
	TRY(t, cudaGraphInstantiate(&exec, graph, 0));
	TRY(t, cudaGraphUpload(exec, t->stream));
	TRY(t, cudaGraphLaunch(exec, t->stream));
	TRY(t, cudaStreamSynchronize(t->stream));
	TRY(t, cudaMemcpy(&t->host, t->device, sizeof(t->host), cudaMemcpyDeviceToHost));
	if (exec)
		cudaGraphExecDestroy(exec);
	if (graph)
		cudaGraphDestroy(graph);
}

static void finish(struct trial *t)
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

/* Says how a trial ended; true when it did well. */
static bool judge(struct doctor *d, const struct trial *t, const char *name, uint32_t want,
		  const char *fine)
{
	if (t->call)
		doctor_say(d, DOCTOR_MISSING, name, advice_for(t->err), "%.80s: %s", t->call,
			   cudaGetErrorString(t->err));
	else if (t->host != want)
		doctor_say(d, DOCTOR_MISSING, name, advice_for(cudaSuccess),
			   "wrong result: %u instead of %u", (unsigned)t->host, (unsigned)want);
	else
		doctor_say(d, DOCTOR_OK, name, NULL, "%s", fine);
	return !t->call && t->host == want;
}

static void try_device(struct doctor *d)
{
	struct trial t = { 0 };

	try_kernel(&t);
	d->works = judge(d, &t, "kernels", ANSWER, "one ran, wrote what it should, and was copied");
	if (d->works) {
		try_graph(&t);
		d->works = judge(d, &t, "graphs", ANSWER + 1, "one was captured and launched");
	}
	finish(&t);
}

/* A GPU that this binary does not use. */
static void say_unused_gpu(struct doctor *d, const struct driver *driver)
{
	if (driver_gpu_here(driver))
		doctor_say(d, DOCTOR_NOTE, "GPU",
			   "to measure it, build for it: make DEVICE=cuda (CUDA toolkit 12.4 or "
			   "newer)",
			   "an NVIDIA GPU or its driver is here, but this rift is built for the "
			   "CPU device");
	else
		doctor_say(d, DOCTOR_NOTE, "GPU", NULL, "no NVIDIA GPU is to be seen");
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
static void say_broken_driver(struct doctor *d, const struct driver *driver)
{
	struct nvml nvml;
	char libcuda[160];

	write_library("libcuda.so.1", libcuda, sizeof(libcuda));
	nvml_open(&nvml, "libnvidia-ml.so.1");
	doctor_say(d, DOCTOR_NOTE, "driver", NULL,
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
		doctor_say(d, DOCTOR_MISSING, "device", driver_advice(&driver, p->cuda_error), "%s",
			   why);
		say_broken_driver(d, &driver);
		return;
	}
	if (p->is_gpu)
		doctor_say(d, DOCTOR_OK, "device", NULL, "%s, compute %d.%d, %d SMs, %s", p->device,
			   p->cc_major, p->cc_minor, p->sms, text_bytes((double)p->memory_bytes).s);
	else
		doctor_say(d, DOCTOR_OK, "device", NULL, "%s", p->device);
	try_device(d);
	if (!p->is_gpu)
		say_unused_gpu(d, &driver);
}
