/*
 * inject.c - the library that the driver loads into a program where CUDA_INJECTION64_PATH names it:
 * CUPTI is found and switched on, and its records become the trace that RIFT_TRACE names. NVTX
 * loads it where NVTX_INJECTION64_PATH names it, so that CUPTI hears of ranges too.
 *
 * Where that cannot be, one line says so and the program runs unrecorded.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/recorder/cupti/driver.h"
#include "common/recorder/cupti/feed.h"
#include "common/recorder/recorder.h"

#define SHOWN __attribute__((visibility("default")))

static struct cupti cupti;

/* ---- where CUPTI is -------------------------------------------------------------------- */

static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };

enum { NAMES = sizeof(names) / sizeof(*names) };

/* A copy that the program has loaded is the one that can be switched on. */
static void *load_by_name(int flags)
{
	void *library = NULL;

	for (int i = 0; i < NAMES && !library; i++)
		library = dlopen(names[i], flags);
	return library;
}

static void *load_from(const char *folder, const char *below)
{
	char path[PATH_MAX];
	void *library = NULL;

	for (int i = 0; i < NAMES && !library; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", folder, below, names[i]);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

static void *load_from_toolkit(void)
{
	const char *home = getenv("CUDA_HOME");
	const char *const homes[] = { home ? home : "/usr/local/cuda", "/usr/local/cuda" };
	void *library = NULL;

	for (int i = 0; i < 2 && !library; i++) {
		library = load_from(homes[i], "extras/CUPTI/lib64");
		library = library ? library : load_from(homes[i], "lib64");
	}
	return library;
}

/* Python's wheels have it in nvidia/, beside another library of CUDA that is loaded. */
static int try_wheel(struct dl_phdr_info *info, size_t size, void *out)
{
	const char *part = info->dlpi_name ? strstr(info->dlpi_name, "/nvidia/") : NULL;
	char folder[PATH_MAX];
	void *library;

	(void)size;
	if (!part)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s/nvidia", (int)(part - info->dlpi_name),
		 info->dlpi_name);
	library = load_from(folder, "cu13/lib");
	library = library ? library : load_from(folder, "cuda_cupti/lib");
	memcpy(out, &library, sizeof(library));
	return library != NULL;
}

static void *find_cupti(void)
{
	const char *given = getenv("RIFT_TRACE_CUPTI");
	void *library = NULL;

	if (given && *given)
		return dlopen(given, RTLD_NOW | RTLD_LOCAL);
	library = load_by_name(RTLD_NOW | RTLD_NOLOAD);
	library = library ? library : load_by_name(RTLD_NOW | RTLD_LOCAL);
	library = library ? library : load_from_toolkit();
	if (!library)
		dl_iterate_phdr(try_wheel, &library);
	return library;
}

/* NULL, or a function that it lacks. */
static const char *bind(void *library)
{
	static const struct {
		const char *name;
		size_t offset;
		bool needed;
	} functions[] = {
#define ROW(name, parameters) { #name, offsetof(struct cupti, name), true },
		CUPTI_FUNCTIONS(ROW)
#undef ROW
#define ROW(name, parameters) { #name, offsetof(struct cupti, name), false },
			CUPTI_OPTIONAL_FUNCTIONS(ROW)
#undef ROW
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *found = dlsym(library, functions[i].name);

		if (!found && functions[i].needed)
			return functions[i].name;
		memcpy((char *)&cupti + functions[i].offset, &found, sizeof(found));
	}
	return NULL;
}

/* ---- buffers --------------------------------------------------------------------------- */

enum { BUFFER_BYTES = 4 << 20, ALIGNMENT = 8 };

static void give_buffer(uint8_t **buffer, size_t *size, size_t *records_max)
{
	*buffer = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*records_max = 0; /* as many as go into it */
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti_record *record = NULL;
	size_t dropped = 0;

	(void)size;
	while (valid && !cupti.cuptiActivityGetNextRecord(buffer, valid, &record))
		feed_take(record);
	if (!cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) && dropped)
		recorder_lost(dropped);
	free(buffer);
}

/* ---- switched on ----------------------------------------------------------------------- */

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "rift: not recorded: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	return -1;
}

static int failed(const char *call, int err)
{
	const char *text = NULL;
	char what[128];

	if (err == CUPTI_OTHER_SUBSCRIBER)
		return refuse("another profiler is active in this program", NULL);
	if (cupti.cuptiGetResultString(err, &text))
		text = NULL;
	snprintf(what, sizeof(what), "%s: CUPTI error %d", call, err);
	return refuse(what, text);
}

static uint64_t now(void)
{
	return (uint64_t)recorder_now();
}

static int enable_kind(uint32_t kind)
{
	char call[64];
	int err = cupti.cuptiActivityEnable(kind);

	snprintf(call, sizeof(call), "cuptiActivityEnable(%u)", kind);
	return err ? failed(call, err) : 0;
}

typedef int (*switch_call)(uint32_t cbid, uint8_t enable);

/* All calls of a domain: numbers begin at 1, and one behind the last is refused. */
static void disable_calls(switch_call of_domain)
{
	enum { MORE_THAN_ANY = 1 << 14 };

	for (uint32_t i = 1; i < MORE_THAN_ANY && !of_domain(i, 0); i++)
		;
}

/*
 * Both kinds, and then, where this CUPTI can, without the calls that a trace has not: feed.c passes
 * over those. The kinds come first: in a context that was made while a kind was off, calls that are
 * switched on one by one are not recorded (CUPTI 13.0), and a kind that is switched on forgets what
 * was chosen.
 */
static int enable_calls(void)
{
	static const struct {
		bool is_driver;
		uint32_t number;
	} chosen[] = {
#define CUPTI_CALL(domain, number, class, name, cuptis) { CUPTI_##domain == CUPTI_DRIVER, number },
#include "common/recorder/cupti/calls.h"
#undef CUPTI_CALL
	};

	if (enable_kind(CUPTI_RUNTIME) || enable_kind(CUPTI_DRIVER))
		return -1;
	if (!cupti.cuptiActivityEnableRuntimeApi || !cupti.cuptiActivityEnableDriverApi)
		return 0;
	disable_calls(cupti.cuptiActivityEnableRuntimeApi);
	disable_calls(cupti.cuptiActivityEnableDriverApi);
	for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++)
		/* A number that this one is too old for is no call of this program. */
		(void)(chosen[i].is_driver
			       ? cupti.cuptiActivityEnableDriverApi(chosen[i].number, 1)
			       : cupti.cuptiActivityEnableRuntimeApi(chosen[i].number, 1));
	return 0;
}

/* The clock first: it concerns all records from then on. */
static int enable(void)
{
	static const uint32_t kinds[] = { CUPTI_KERNEL,	    CUPTI_MEMCPY, CUPTI_MEMSET,
					  CUPTI_GRAPH,	    CUPTI_STREAM, CUPTI_SYNCHRONIZATION,
					  CUPTI_CUDA_EVENT, CUPTI_MEMORY, CUPTI_MARKER };
	int err = cupti.cuptiActivityRegisterTimestampCallback(now);

	if (err)
		return failed("cuptiActivityRegisterTimestampCallback", err);
	if (cupti.cuptiSetThreadIdType)
		(void)cupti.cuptiSetThreadIdType(CUPTI_THREADS_OF_SYSTEM);
	err = cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
	if (err)
		return failed("cuptiActivityRegisterCallbacks", err);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (enable_kind(kinds[i]))
			return -1;
	return enable_calls();
}

/* ---- the recorder's side --------------------------------------------------------------- */

static bool has_ranges; /* one that comes behind cuptiFinalize() would call what is gone */

static void flush(enum recorder_flush what)
{
	cupti.cuptiActivityFlushAll(what == FLUSH_WHOLE ? 0 : CUPTI_FLUSH_FORCED);
	feed_forward(what != FLUSH_WHOLE);
	if (what == FLUSH_LAST && cupti.cuptiFinalize &&
	    !__atomic_load_n(&has_ranges, __ATOMIC_ACQUIRE))
		(void)cupti.cuptiFinalize();
}

static bool begin(struct recorder_source *s);

static struct recorder_source source = {
	.name = "cupti", .begin = begin, .flush = flush, .is_ordered = true
};

static int open_cupti(void)
{
	void *library = find_cupti();
	const char *lacks = library ? bind(library) : NULL;
	uint32_t version = 0;

	if (!library)
		return refuse("libcupti.so was not found; it comes with the CUDA toolkit: give "
			      "--cupti PATH, or set CUDA_HOME or LD_LIBRARY_PATH",
			      getenv("RIFT_TRACE_CUPTI") ? dlerror() : NULL);
	if (lacks)
		return refuse("this CUPTI is too old: it lacks", lacks);
	if (cupti.cuptiGetVersion(&version) || version < CUPTI_OLDEST)
		return refuse("this CUPTI is too old: it must be of CUDA 12.4 or newer", NULL);
	source.cupti = (int)version;
	return 0;
}

/* ---- the first call -------------------------------------------------------------------- */

/* What costs are without CUPTI's records comes first: then these are switched on. */
static bool begin(struct recorder_source *s)
{
	static struct trace_calibration calibration;

	s->driver = driver_version();
	driver_name_device(s->device, sizeof(s->device));
	if (driver_calibrate(&calibration))
		s->calibration = &calibration;
	if (enable())
		return false;
	if (s->calibration)
		driver_calibrate_recorder(&calibration, cupti.cuptiActivityFlushAll);
	return true;
}

static void *subscriber;

static void listen(uint32_t enable)
{
#define CUPTI_CALL(domain, number, class, name, cuptis)                                            \
	(void)cupti.cuptiEnableCallback(enable, subscriber, CUPTI_DOMAIN_##domain, number);
#include "common/recorder/cupti/calls.h"
#undef CUPTI_CALL
}

/* The first call that has left a context behind, or a launch by the driver's functions. */
static void on_call(void *unused, int domain, uint32_t cbid, const void *cbdata)
{
	static int begun;
	int site;

	(void)unused, (void)cbid;
	memcpy(&site, cbdata, sizeof(site));
	if (site != (domain == CUPTI_DOMAIN_RUNTIME ? CUPTI_EXIT : CUPTI_ENTER) ||
	    !driver_has_context() || __atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
		return;
	listen(0);
	(void)recorder_start();
}

/* The driver's name for it; 1: all is well, else it says that it could not load the library. */
SHOWN int InitializeInjection(void);

int InitializeInjection(void)
{
	static bool asked;
	const char *path = getenv("RIFT_TRACE");
	int err;

	if (asked || !path || !*path)
		return 1;
	asked = true;
	if (open_cupti())
		return 1;
	err = cupti.cuptiSubscribe(&subscriber, on_call, NULL);
	if (err) {
		failed("cuptiSubscribe", err);
		return 1;
	}
	recorder_load(&source);
	listen(1);
	return 1;
}

/* ---- ranges ---------------------------------------------------------------------------- */

/* NVTX's name for it, and CUPTI's: 1: ranges are heard of. */
SHOWN int InitializeInjectionNvtx2(void *table);

/* CUPTI 13.0.0 crashes in a program with NVTX: github.com/NVIDIA/NVTX/issues/125. */
static bool takes_ranges(void *library)
{
	int (*get_version)(uint32_t *);
	uint32_t version = 0;

	*(void **)&get_version = dlsym(library, "cuptiGetVersion");
	return get_version && !get_version(&version) && version != 130000;
}

/*
 * The first range of a program, or of a library in it, hands over the table of its functions. It
 * goes to CUPTI's own function of this name: without a driver cuptiNvtxInitialize2() leaves
 * functions that crash (CUPTI 13.0).
 */
int InitializeInjectionNvtx2(void *table)
{
	const char *path = getenv("RIFT_TRACE");
	void *library = path && *path ? find_cupti() : NULL;
	int (*initialize)(void *) = NULL;

	if (library && takes_ranges(library))
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	if (!initialize || !initialize(table))
		return 0;
	__atomic_store_n(&has_ranges, true, __ATOMIC_RELEASE);
	return 1;
}
