/* shim.c - rift's side of the wrapper that passes every runtime call on and counts (preload/). */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/pattern.h"
#include "common/plural.h"
#include "layers/layer.h"
#include "layers/shim/calls.h"

static const struct param params[] = { PARAM_END };

/* ---- classes ------------------------------------------------------------------------------- */

enum class {
#define ROW(class, word, other_word) CLASS_##class,
	SHIM_CLASSES(ROW)
#undef ROW
		CLASSES
};

static const char *const class_names[] = {
#define ROW(class, word, other_word) #class,
	SHIM_CLASSES(ROW)
#undef ROW
};

static const char *const class_words[][2] = {
#define ROW(class, word, other_word) { word, other_word },
	SHIM_CLASSES(ROW)
#undef ROW
};

static int class_of(const char *name)
{
	int c = 0;

	while (!strstr(name, class_words[c][0]) && !strstr(name, class_words[c][1]))
		c++;
	return c;
}

static void count_classes(const volatile uint64_t *counts, uint64_t out[CLASSES])
{
	memset(out, 0, CLASSES * sizeof(*out));
	for (int i = 0; i < RUNTIME_CALLS; i++)
		out[class_of(runtime_call_name(i))] += counts[i];
}

/* ---- entering ------------------------------------------------------------------------------ */

static void path_of(const char *folder, char out[512])
{
	snprintf(out, 512, "%s/calls", folder);
}

static const char *missing(void)
{
#ifdef __x86_64__
	return NULL;
#else
	return "its functions are written for x86-64";
#endif
}

static int enter(const void *opts, struct entry *e)
{
	const char *folder = entry_folder(e);
	char path[512];
	int fd;

	(void)opts;
	if (!folder)
		return -EIO;
	path_of(folder, path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, SHIM_COUNTS * sizeof(uint64_t)))
		return complain(errno, "layer shim: %s: %s", path, strerror(errno));
	close(fd);
	entry_setenv(e, SHIM_VARIABLE, path);
	return entry_preload(e, NULL);
}

/* ---- in force: the calls that it has seen are those that were made --------------------------- */

struct objects {
	cudaStream_t stream;
	cudaEvent_t event;
	cudaGraph_t graph;
	uint64_t *memory;
};

/* How many calls of each class a use of these makes, at least. */
static const uint64_t made[CLASSES] = {
	[CLASS_graph] = 1, [CLASS_launch] = 1, [CLASS_copy] = 1,   [CLASS_memory] = 2,
	[CLASS_wait] = 1,  [CLASS_event] = 3,  [CLASS_stream] = 2,
};

static int use(struct objects *o)
{
	uint64_t word = 0;
	int err = (int)cudaStreamCreate(&o->stream);

	err = err ? err : (int)cudaEventCreate(&o->event);
	err = err ? err : (int)cudaMalloc((void **)&o->memory, sizeof(word));
	if (!err)
		pattern_fill(o->memory, sizeof(word), 0, sizeof(word), o->stream);
	err = err ? err : (int)cudaEventRecord(o->event, o->stream);
	err = err ? err
		  : (int)cudaMemcpyAsync(&word, o->memory, sizeof(word), cudaMemcpyDeviceToHost,
					 o->stream);
	err = err ? err : (int)cudaStreamSynchronize(o->stream);
	/* a layer further out may refuse these: that they were made is enough */
	if (!err && (cudaStreamBeginCapture(o->stream, cudaStreamCaptureModeThreadLocal) ||
		     cudaStreamEndCapture(o->stream, &o->graph)))
		cudaGetLastError();
	return err;
}

/* What was made of them; 0 or a CUDA error. */
static int give_back(struct objects *o)
{
	int err = o->memory ? (int)cudaFree(o->memory) : 0;

	err = o->graph && !err ? (int)cudaGraphDestroy(o->graph) : err;
	err = o->event && !err ? (int)cudaEventDestroy(o->event) : err;
	return o->stream && !err ? (int)cudaStreamDestroy(o->stream) : err;
}

static const volatile uint64_t *find_counts(void)
{
	shim_counts_function *counts;
	void *found = dlsym(RTLD_DEFAULT, SHIM_COUNTS_FUNCTION);

	memcpy(&counts, &found, sizeof(counts));
	return found ? counts() : NULL;
}

static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	const volatile uint64_t *counts = find_counts();
	uint64_t before[CLASSES], after[CLASSES];
	struct objects objects = { 0 };
	int err, end;

	(void)opts;
	if (!counts) {
		snprintf(detail, LAYER_DETAIL, "its library is not loaded");
		return false;
	}
	count_classes(counts, before);
	err = use(&objects);
	end = give_back(&objects);
	err = err ? err : end;
	count_classes(counts, after);
	if (err) {
		snprintf(detail, LAYER_DETAIL, "a call failed under it: %s",
			 cudaGetErrorName((cudaError_t)err));
		return false;
	}
	for (int c = 0; c < CLASSES; c++) {
		uint64_t seen = after[c] - before[c];

		if (seen >= made[c])
			continue;
		snprintf(detail, LAYER_DETAIL, "saw %llu of %llu calls of class %s",
			 (unsigned long long)seen, (unsigned long long)made[c], class_names[c]);
		return false;
	}
	snprintf(detail, LAYER_DETAIL, "saw each call that was made");
	return true;
}

/* ---- when the command has ended ---------------------------------------------------------------
 */

static bool read_counts(const char *folder, uint64_t counts[SHIM_COUNTS])
{
	char path[512];
	int fd;
	ssize_t n;

	path_of(folder, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, counts, SHIM_COUNTS * sizeof(*counts));
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)(SHIM_COUNTS * sizeof(*counts));
}

static void report(const char *folder, char detail[LAYER_DETAIL])
{
	uint64_t counts[SHIM_COUNTS], class[CLASSES], sum = 0;
	size_t used;

	if (!read_counts(folder, counts))
		return;
	count_classes(counts, class);
	for (int c = 0; c < CLASSES; c++)
		sum += class[c];
	used = (size_t)snprintf(detail, LAYER_DETAIL, "saw %s of the CUDA runtime",
				counted((int64_t)sum, "call").s);
	for (int c = 0; c < CLASSES && used < LAYER_DETAIL; c++)
		if (class[c])
			used += (size_t)snprintf(detail + used, LAYER_DETAIL - used, "; %s %llu",
						 class_names[c], (unsigned long long)class[c]);
	if (!sum && counts[SHIM_PAST])
		snprintf(detail + used, LAYER_DETAIL - used, INTERPOSE_PAST,
			 (unsigned long long)counts[SHIM_PAST], counts[SHIM_PAST] == 1 ? "" : "es");
}

const struct layer layer_shim = {
	.name = "shim",
	.summary = "passes every CUDA runtime call on and counts it, as a wrapper does",
	.wraps_runtime = true,
	.params = params,
	.missing = missing,
	.enter = enter,
	.in_force = in_force,
	.report = report,
};
