/*
 * nvml.c - NVIDIA's management library, loaded when asked for. Names, forms and layouts are those
 * of its reference manual; of its types only what is used here.
 */
#include "harness/platform/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NVML_SUCCESS = 0, NVML_INSUFFICIENT_SIZE = 7 };
enum { NVML_CLOCK_SM = 1 };

/* nvmlProcessInfo_v2_t, of the _v2 and _v3 functions. */
struct process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

/* POSIX lets a symbol be called through the pointer that dlsym returns. */
#define CALL(n, name, parameters) ((int(*) parameters)dlsym((n)->library, name))

static const char *error_text(const struct nvml *n, int error)
{
	const char *(*text)(int) = (const char *(*)(int))dlsym(n->library, "nvmlErrorString");

	return text ? text(error) : "error";
}

bool nvml_open(struct nvml *n, const char *library)
{
	int (*init)(void);

	*n = (struct nvml){ .library = dlopen(library, RTLD_NOW | RTLD_LOCAL) };
	if (!n->library) {
		snprintf(n->why, sizeof(n->why), "%.150s", dlerror());
		return false;
	}
	init = CALL(n, "nvmlInit_v2", (void));
	n->error = init ? init() : -1;
	if (!n->error)
		return true;
	snprintf(n->why, sizeof(n->why), "nvmlInit_v2: %.100s (%d)",
		 init ? error_text(n, n->error) : "no such function", n->error);
	dlclose(n->library);
	n->library = NULL;
	return false;
}

void nvml_close(struct nvml *n)
{
	int (*shutdown)(void) = n->library ? CALL(n, "nvmlShutdown", (void)) : NULL;

	if (shutdown)
		shutdown();
	if (n->library)
		dlclose(n->library);
	n->library = n->device = NULL;
}

bool nvml_choose(struct nvml *n, const char *pci_bus_id)
{
	int (*choose)(const char *, void **);
	int err;

	if (!n->library)
		return false;
	choose = CALL(n, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, void **));
	err = choose ? choose(pci_bus_id, &n->device) : -1;
	if (!err)
		return true;
	n->device = NULL;
	snprintf(n->why, sizeof(n->why), "no device %.32s: %.100s", pci_bus_id,
		 choose ? error_text(n, err) : "this NVML is too old");
	return false;
}

/* ---- functions by their form ------------------------------------------------------------ */

static struct fact failed_fact(const struct nvml *n, const char *function, int error)
{
	return fact_unknown("%s: %s", function, error_text(n, error));
}

static struct fact absent_function(const struct nvml *n, const char *function)
{
	if (!n->library || !n->device)
		return fact_unknown("NVML: %s", n->why);
	return fact_unknown("this driver's NVML has no %s", function);
}

/* The function, if there is a device to ask about. */
#define LOOK_UP(n, name, parameters) ((n)->device ? CALL(n, name, parameters) : NULL)

struct fact nvml_system_text(const struct nvml *n, const char *function)
{
	int (*f)(char *, unsigned);
	char text[96];
	int err;

	if (!n->library)
		return fact_unknown("NVML: %s", n->why);
	f = CALL(n, function, (char *, unsigned));
	if (!f)
		return fact_unknown("this driver's NVML has no %s", function);
	err = f(text, sizeof(text));
	return err ? failed_fact(n, function, err) : fact_text("%s", text);
}

struct fact nvml_text(const struct nvml *n, const char *function)
{
	int (*f)(void *, char *, unsigned) = LOOK_UP(n, function, (void *, char *, unsigned));
	char text[96];
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device, text, sizeof(text));
	return err ? failed_fact(n, function, err) : fact_text("%s", text);
}

struct fact nvml_number(const struct nvml *n, const char *function)
{
	int (*f)(void *, unsigned *) = LOOK_UP(n, function, (void *, unsigned *));
	unsigned value;
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device, &value);
	return err ? failed_fact(n, function, err) : fact_int(value);
}

struct fact nvml_first(const struct nvml *n, const char *function)
{
	int (*f)(void *, unsigned *, unsigned *) =
		LOOK_UP(n, function, (void *, unsigned *, unsigned *));
	unsigned first, second;
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device, &first, &second);
	return err ? failed_fact(n, function, err) : fact_int(first);
}

struct fact nvml_clock(const struct nvml *n, const char *function)
{
	int (*f)(void *, int, unsigned *) = LOOK_UP(n, function, (void *, int, unsigned *));
	unsigned mhz;
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device, NVML_CLOCK_SM, &mhz);
	return err ? failed_fact(n, function, err) : fact_int(mhz);
}

struct fact nvml_bits(const struct nvml *n, const char *function)
{
	int (*f)(void *, unsigned long long *) =
		LOOK_UP(n, function, (void *, unsigned long long *));
	unsigned long long bits;
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device, &bits);
	return err ? failed_fact(n, function, err) : fact_int((int64_t)bits);
}

struct fact nvml_busy_percent(const struct nvml *n)
{
	static const char function[] = "nvmlDeviceGetUtilizationRates";
	struct utilization {
		unsigned gpu, memory;
	} u;
	int (*f)(void *, struct utilization *) =
		LOOK_UP(n, function, (void *, struct utilization *));
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device, &u);
	return err ? failed_fact(n, function, err) : fact_int(u.gpu);
}

struct fact nvml_memory_used(const struct nvml *n)
{
	static const char function[] = "nvmlDeviceGetMemoryInfo";
	struct memory {
		unsigned long long total, left, used;
	} m;
	int (*f)(void *, struct memory *) = LOOK_UP(n, function, (void *, struct memory *));
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device, &m);
	return err ? failed_fact(n, function, err) : fact_int((int64_t)m.used);
}

/* nvmlConfComputeSystemState_t */
struct confidential {
	unsigned environment, feature, development;
};

struct fact nvml_confidential(const struct nvml *n)
{
	static const char function[] = "nvmlSystemGetConfComputeState";
	int (*f)(struct confidential *) = LOOK_UP(n, function, (struct confidential *));
	struct confidential c = { 0 };
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(&c);
	if (err)
		return failed_fact(n, function, err);
	return fact_text("%s%s", c.feature ? "on" : "off",
			 c.feature && c.development ? ", development tools allowed" : "");
}

/* ---- locked clocks ---------------------------------------------------------------------- */

struct fact nvml_lock_clock(const struct nvml *n, unsigned mhz)
{
	static const char function[] = "nvmlDeviceSetGpuLockedClocks";
	const unsigned base = 0xffffff01; /* NVML_CLOCK_LIMIT_ID_TDP */
	int (*f)(void *, unsigned, unsigned) = LOOK_UP(n, function, (void *, unsigned, unsigned));
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device, mhz ? mhz : base, mhz ? mhz : base);
	return err ? failed_fact(n, function, err) : fact_bool(true);
}

struct fact nvml_free_clock(const struct nvml *n)
{
	static const char function[] = "nvmlDeviceResetGpuLockedClocks";
	int (*f)(void *) = LOOK_UP(n, function, (void *));
	int err;

	if (!f)
		return absent_function(n, function);
	err = f(n->device);
	return err ? failed_fact(n, function, err) : fact_bool(true);
}

/* ---- processes -------------------------------------------------------------------------- */

/* Adds the processes that one function lists. The reason where it does not, else known. */
static struct fact count_processes(const struct nvml *n, const char *function, int *others,
				   bool *found_self)
{
	enum { LIST = 256 };
	int (*f)(void *, unsigned *, struct process *) =
		LOOK_UP(n, function, (void *, unsigned *, struct process *));
	struct process list[LIST];
	unsigned count = LIST;
	int err;

	if (!f)
		return absent_function(n, function);
	memset(list, 0, sizeof(list));
	err = f(n->device, &count, list);
	if (err == NVML_INSUFFICIENT_SIZE)
		return fact_unknown("more than %d processes", LIST);
	if (err)
		return failed_fact(n, function, err);
	for (unsigned i = 0; i < count && i < LIST; i++) {
		*found_self |= list[i].pid == (unsigned)getpid();
		*others += list[i].pid != (unsigned)getpid();
	}
	return fact_int(count);
}

/* The older of the two names where the driver does not know the newer. */
static struct fact count_kind(const struct nvml *n, const char *newer, const char *older,
			      int *others, bool *found_self)
{
	struct fact f = count_processes(n, newer, others, found_self);

	if (n->device && !dlsym(n->library, newer))
		f = count_processes(n, older, others, found_self);
	return f;
}

struct fact nvml_other_processes(const struct nvml *n, bool has_context)
{
	int others = 0;
	bool found_self = false;
	struct fact compute =
		count_kind(n, "nvmlDeviceGetComputeRunningProcesses_v3",
			   "nvmlDeviceGetComputeRunningProcesses_v2", &others, &found_self);

	if (!fact_known(&compute))
		return compute;
	/* not on every device; what there is counts */
	count_kind(n, "nvmlDeviceGetGraphicsRunningProcesses_v3",
		   "nvmlDeviceGetGraphicsRunningProcesses_v2", &others, &found_self);
	if (has_context && !found_self)
		return fact_unknown("%d listed, but not this one: processes are hidden here",
				    others);
	return fact_int(others);
}
