/* device.c - functions about the device, versions and errors. What cannot change is asked for once.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/interpose.h"
#include "layers/remote/preload/client.h"

SHOWN int cudaGetLastError(void);
SHOWN int cudaPeekAtLastError(void);
SHOWN const char *cudaGetErrorName(int error);
SHOWN const char *cudaGetErrorString(int error);
SHOWN int cudaGetDeviceCount(int *count);
SHOWN int cudaGetDevice(int *device);
SHOWN int cudaSetDevice(int device);
SHOWN int cudaSetDeviceFlags(unsigned flags);
SHOWN int cudaGetDeviceFlags(unsigned *flags);
SHOWN int cudaGetDeviceProperties(void *properties, int device);
SHOWN int cudaGetDeviceProperties_v2(void *properties, int device);
SHOWN int cudaDeviceGetAttribute(int *value, int attribute, int device);
SHOWN int cudaDeviceSynchronize(void);
SHOWN int cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
SHOWN int cudaDeviceSetLimit(int limit, size_t value);
SHOWN int cudaDeviceGetLimit(size_t *value, int limit);
SHOWN int cudaDriverGetVersion(int *version);
SHOWN int cudaRuntimeGetVersion(int *version);
SHOWN int cudaProfilerStart(void);
SHOWN int cudaProfilerStop(void);

/* ---- errors ------------------------------------------------------------------------------------
 */

int cudaGetLastError(void)
{
	return client_last_error(true);
}

int cudaPeekAtLastError(void)
{
	return client_last_error(false);
}

/* Texts need no device: those of the runtime behind this library. NULL: there is none, or one that
 * finds this library again (layers/remote/cudart). */
static const char *text_behind(enum runtime_call call, int error)
{
	const char *(*next)(int);
	void *found = runtime_call_next(call);
	int (*missing)(void) = runtime_call_missing;

	if (!memcmp(&found, &missing, sizeof(found)))
		return NULL;
	memcpy(&next, &found, sizeof(next));
	return next == cudaGetErrorName || next == cudaGetErrorString ? NULL : next(error);
}

/* Texts that the daemon was asked for, each once; they stay. */
static const char *text_there(int error, uint64_t which)
{
	enum { TEXTS = 256 };
	static struct {
		int error;
		uint64_t which;
		char *text;
	} known[TEXTS];
	static int n;
	char answer[REMOTE_ANSWER_BYTES] = "";
	int i = 0;

	if (client_enter())
		return NULL;
	while (i < n && (known[i].error != error || known[i].which != which))
		i++;
	if (i == n && n < TEXTS &&
	    !client_ask(REMOTE_ERROR_TEXT, WORDS((uint64_t)error, which), answer,
			sizeof(answer) - 1)) {
		known[n].error = error;
		known[n].which = which;
		known[n++].text = strdup(answer);
	}
	client_leave(0);
	return i < n ? known[i].text : NULL;
}

/* Errors that calls return where there is no daemon to be asked for a text. NULL: it is none. */
static const char *text_without(int error, uint64_t which)
{
	static const struct {
		int error;
		const char *text[2]; /* name, and what it means here */
	} own[] = {
		{ CUDA_OK, { "cudaSuccess", "no error" } },
		{ CUDA_NOT_INITIALIZED,
		  { "cudaErrorInitializationError", "the layer remote has reached no daemon" } },
		{ CUDA_CONTEXT_GONE,
		  { "cudaErrorContextIsDestroyed", "the daemon of the layer remote has ended" } },
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (own[i].error == error)
			return own[i].text[which];
	return NULL;
}

static const char *text_of(enum runtime_call call, int error, uint64_t which)
{
	const char *text = text_behind(call, error);

	text = text ? text : text_there(error, which);
	text = text ? text : text_without(error, which);
	return text ? text : "unrecognized error code";
}

const char *cudaGetErrorName(int error)
{
	return text_of(CALL_cudaGetErrorName, error, 0);
}

const char *cudaGetErrorString(int error)
{
	return text_of(CALL_cudaGetErrorString, error, 1);
}

/* ---- asked for at each call -------------------------------------------------------------------
 */

/* The answer goes to out. */
static int ask(enum remote_op op, const uint64_t *words, size_t n, void *out, size_t bytes)
{
	int error;

	if (bytes && !out)
		return client_result(CUDA_INVALID_VALUE);
	error = client_enter();
	return error ? error : client_leave(client_ask(op, words, n, out, bytes));
}

int cudaDeviceSynchronize(void)
{
	return ask(REMOTE_DEVICE_WAIT, NULL, 0, NULL, 0);
}

int cudaGetDeviceFlags(unsigned *flags)
{
	return ask(REMOTE_GET_FLAGS, NULL, 0, flags, sizeof(*flags));
}

int cudaDeviceSetLimit(int limit, size_t value)
{
	return ask(REMOTE_SET_LIMIT, WORDS((uint64_t)limit, value), NULL, 0);
}

int cudaDeviceGetLimit(size_t *value, int limit)
{
	return ask(REMOTE_GET_LIMIT, WORDS((uint64_t)limit), value, sizeof(*value));
}

/* A program that asks for polling or sleeping means waits for the device: here, for answers. */
int cudaSetDeviceFlags(unsigned flags)
{
	enum { SPIN = 1, BLOCKING = 4, SCHEDULE = 7 };
	int error = ask(REMOTE_SET_FLAGS, WORDS(flags), NULL, 0);

	if (error || client_enter())
		return error;
	client_poll((flags & SCHEDULE) == SPIN	     ? INT64_MAX
		    : (flags & SCHEDULE) == BLOCKING ? 0
						     : -1);
	return client_leave(0);
}

/* ---- asked for once ---------------------------------------------------------------------------
 */

/* Answers of a question that has one for ever. */
struct once {
	bool known;
	size_t bytes;
	uint8_t *at;
};

static int ask_once(struct once *o, enum remote_op op, const uint64_t *words, size_t n, void *out)
{
	int error = client_enter();

	if (error)
		return error;
	if (!o->known) {
		error = client_ask(op, words, n, o->at, o->bytes);
		o->known = !error;
	}
	if (!error)
		memcpy(out, o->at, o->bytes);
	return client_leave(error);
}

int cudaGetDeviceCount(int *count)
{
	static uint8_t answer[sizeof(int)];
	static struct once once = { false, sizeof(answer), answer };

	return count ? ask_once(&once, REMOTE_DEVICE_COUNT, NULL, 0, count)
		     : client_result(CUDA_INVALID_VALUE);
}

/* The daemon's is the only one. */
int cudaGetDevice(int *device)
{
	if (!device)
		return client_result(CUDA_INVALID_VALUE);
	*device = 0;
	return 0;
}

int cudaSetDevice(int device)
{
	return client_result(device ? CUDA_INVALID_DEVICE : 0);
}

/* sizeof(struct cudaDeviceProp) */
enum { PROPERTIES_12_BYTES = 1032, PROPERTIES_13_BYTES = 1008 };

int cudaGetDeviceProperties(void *properties, int device)
{
	static uint8_t answer[PROPERTIES_13_BYTES];
	static struct once once = { false, sizeof(answer), answer };

	if (!properties || device)
		return client_result(properties ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	return ask_once(&once, REMOTE_PROPERTIES, WORDS(0), properties);
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	enum { ATTRIBUTES = 160 }; /* CUDA 13.0 has fewer */
	static struct {
		struct once once;
		uint8_t answer[sizeof(int)];
	} all[ATTRIBUTES];

	if (!value)
		return client_result(CUDA_INVALID_VALUE);
	if (device || attribute < 0 || attribute >= ATTRIBUTES)
		return client_result(device ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	all[attribute].once.at = all[attribute].answer;
	all[attribute].once.bytes = sizeof(all[attribute].answer);
	return ask_once(&all[attribute].once, REMOTE_ATTRIBUTE, WORDS((uint64_t)attribute, 0),
			value);
}

/*
 * The name that CUDA 12 gives its programs' cudaGetDeviceProperties(): its struct is CUDA 13's with
 * eight fields more, seven of which attributes say (headers of CUDA 12.4 and 13.0).
 */
int cudaGetDeviceProperties_v2(void *properties, int device)
{
	static const struct {
		uint16_t at_12, at_13, bytes;
	} run[] = {
		{ 0, 0, 384 },	   /* name ... texturePitchAlignment */
		{ 388, 384, 4 },   /* multiProcessorCount */
		{ 396, 388, 8 },   /* integrated, canMapHostMemory */
		{ 408, 396, 8 },   /* maxTexture1D, maxTexture1DMipmap */
		{ 420, 404, 188 }, /* maxTexture2D ... unifiedAddressing */
		{ 612, 592, 28 },  /* memoryBusWidth ... localL1CacheSupported */
		{ 640, 624, 28 },  /* sharedMemPerMultiprocessor ... hostNativeAtomicSupported */
		{ 672, 652, 20 },  /* pageableMemoryAccess ... cooperativeLaunch */
		{ 696, 672, 84 },  /* sharedMemPerBlockOptin ... unifiedFunctionPointers */
	};
	static const struct {
		uint16_t at_12, attribute;
	} more[] = {
		{ 348, 13 }, /* clockRate */
		{ 384, 15 }, /* deviceOverlap */
		{ 392, 17 }, /* kernelExecTimeoutEnabled */
		{ 404, 20 }, /* computeMode */
		{ 416, 69 }, /* maxTexture1DLinear */
		{ 608, 36 }, /* memoryClockRate */
		{ 668, 87 }, /* singleToDoublePrecisionPerfRatio */
	};
	uint8_t now[PROPERTIES_13_BYTES], *out = properties;
	int error = properties ? cudaGetDeviceProperties(now, device)
			       : client_result(CUDA_INVALID_VALUE);

	if (error)
		return error;
	memset(out, 0, PROPERTIES_12_BYTES);
	for (size_t i = 0; i < sizeof(run) / sizeof(*run); i++)
		memcpy(out + run[i].at_12, now + run[i].at_13, run[i].bytes);
	for (size_t i = 0; i < sizeof(more) / sizeof(*more) && !error; i++) {
		int value = 0;

		error = cudaDeviceGetAttribute(&value, more[i].attribute, device);
		if (error == CUDA_INVALID_VALUE) { /* this device does not say: 0 */
			client_last_error(true);
			error = 0;
		}
		memcpy(out + more[i].at_12, &value, sizeof(value));
	}
	return error;
}

/* Two numbers, either of which the caller may do without. */
static int ask_two(struct once *o, enum remote_op op, int *first, int *second)
{
	int both[2], error = ask_once(o, op, NULL, 0, both);

	if (!error && first)
		*first = both[0];
	if (!error && second)
		*second = both[1];
	return error;
}

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	static uint8_t answer[2 * sizeof(int)];
	static struct once once = { false, sizeof(answer), answer };

	return ask_two(&once, REMOTE_PRIORITIES, least, greatest);
}

static int ask_versions(int *driver, int *runtime)
{
	static uint8_t answer[2 * sizeof(int)];
	static struct once once = { false, sizeof(answer), answer };

	if (!driver && !runtime)
		return client_result(CUDA_INVALID_VALUE);
	return ask_two(&once, REMOTE_VERSIONS, driver, runtime);
}

int cudaDriverGetVersion(int *version)
{
	return ask_versions(version, NULL);
}

int cudaRuntimeGetVersion(int *version)
{
	return ask_versions(NULL, version);
}

/* ---- ranges for a profiler: there is none that sees this program's calls ----------------------
 */

int cudaProfilerStart(void)
{
	return 0;
}

int cudaProfilerStop(void)
{
	return 0;
}
