/*
 * profiler.c - CUPTI's activity records, switched on and counted, as a profiler has them.
 *
 * The driver asks for it: where CUDA_INJECTION64_PATH names a library, cuInit() loads that and
 * calls its InitializeInjection(). So a shell that starts the program has no CUPTI, and it does not
 * matter how the program came by the runtime. CUPTI is declared here, as no header of a toolkit
 * need be there: after cupti_activity.h of CUDA 13.0, whose ABI has not changed in these since
 * CUDA 6.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layers/interpose.h"
#include "layers/profiler/records.h"

#define SHOWN __attribute__((visibility("default")))

/* ---- CUPTI --------------------------------------------------------------------------------- */

/* CUpti_ActivityKind; a record begins with it. */
enum kind {
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_KERNEL = 3,
	KIND_DRIVER = 4,
	KIND_RUNTIME = 5,
	KIND_CONCURRENT_KERNEL = 10, /* leaves kernels side by side where they are */
};

struct record {
	enum kind kind;
};

/* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: records that are not complete as well. */
enum { FLUSH_FORCED = 1 };

typedef void request_function(uint8_t **buffer, size_t *size, size_t *records_max);
typedef void complete_function(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid);

/* All return CUptiResult; 0 is success. */
static struct {
	int (*cuptiActivityRegisterCallbacks)(request_function *, complete_function *);
	int (*cuptiActivityEnable)(enum kind);
	int (*cuptiActivityGetNextRecord)(uint8_t *buffer, size_t valid, struct record **);
	int (*cuptiActivityGetNumDroppedRecords)(void *context, uint32_t stream, size_t *dropped);
	int (*cuptiActivityFlushAll)(uint32_t flag);
} cupti;

/* ---- counts -------------------------------------------------------------------------------- */

static struct profiler_counts own_counts; /* where there is no file */
static struct profiler_counts *counts = &own_counts;
static _Atomic int64_t seen; /* this process's */

static void map_counts(void)
{
	const char *path = getenv(PROFILER_COUNTS);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *shared = MAP_FAILED;

	if (fd >= 0) {
		shared = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	if (shared != MAP_FAILED)
		counts = shared;
}

static enum record_class class_of(enum kind kind)
{
	switch (kind) {
	case KIND_KERNEL:
	case KIND_CONCURRENT_KERNEL:
		return RECORD_kernel;
	case KIND_MEMCPY:
		return RECORD_copy;
	case KIND_MEMSET:
		return RECORD_set;
	case KIND_RUNTIME:
		return RECORD_runtime;
	case KIND_DRIVER:
		return RECORD_driver;
	default:
		return RECORD_other;
	}
}

/* ---- buffers ------------------------------------------------------------------------------- */

/* As large as those of CUPTI's samples: some 30,000 records of kernels. */
enum { BUFFER_BYTES = 8 << 20, ALIGNMENT = 8 };

static void give_buffer(uint8_t **buffer, size_t *size, size_t *records_max)
{
	*buffer = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*records_max = 0; /* as many as go into it */
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint64_t n[RECORD_CLASSES] = { 0 };
	struct record *record = NULL;
	size_t dropped = 0;

	(void)size;
	while (valid && !cupti.cuptiActivityGetNextRecord(buffer, valid, &record))
		n[class_of(record->kind)]++;
	for (int c = 0; c < RECORD_CLASSES; c++) {
		counts->records[c] += n[c];
		seen += (int64_t)n[c];
	}
	if (!cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped))
		counts->lost += dropped;
	free(buffer);
}

/* ---- switched on --------------------------------------------------------------------------- */

static const char not_asked[] = "the driver has not asked for it (CUDA_INJECTION64_PATH)";
static const char *why_off = not_asked; /* NULL: it is on */

static bool load_cupti(void)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define FUNCTION(name) { #name, offsetof(__typeof__(cupti), name) }
		FUNCTION(cuptiActivityRegisterCallbacks),
		FUNCTION(cuptiActivityEnable),
		FUNCTION(cuptiActivityGetNextRecord),
		FUNCTION(cuptiActivityGetNumDroppedRecords),
		FUNCTION(cuptiActivityFlushAll),
#undef FUNCTION
	};
	const char *path = getenv(PROFILER_CUPTI);
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	bool all = library != NULL;

	for (size_t i = 0; all && i < sizeof(functions) / sizeof(*functions); i++) {
		void *found = dlsym(library, functions[i].name);

		memcpy((char *)&cupti + functions[i].offset, &found, sizeof(found));
		all = found != NULL;
	}
	return all;
}

static bool is_chosen(enum profiler_choice choice)
{
	static const char *const choices[] = PROFILER_CHOICES;
	const char *given = getenv(PROFILER_KINDS);

	return !given || !strcmp(given, choices[RECORD_ALL]) || !strcmp(given, choices[choice]);
}

/* "cuptiActivityEnable(10): CUPTI error 15" */
static const char *failure(const char *call, int argument, int err)
{
	static char text[96];

	snprintf(text, sizeof(text), "%s(%d): CUPTI error %d", call, argument, err);
	return text;
}

/* NULL, or why not. */
static const char *enable(void)
{
	static const struct {
		enum kind kind;
		enum profiler_choice choice;
	} kinds[] = {
		{ KIND_RUNTIME, RECORD_CALLS },
		{ KIND_DRIVER, RECORD_CALLS },
		{ KIND_MEMCPY, RECORD_WORK },
		{ KIND_MEMSET, RECORD_WORK },
		{ KIND_CONCURRENT_KERNEL, RECORD_WORK },
	};
	int err = cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);

	if (err)
		return failure("cuptiActivityRegisterCallbacks", 0, err);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		err = is_chosen(kinds[i].choice) ? cupti.cuptiActivityEnable(kinds[i].kind) : 0;
		if (err)
			return failure("cuptiActivityEnable", (int)kinds[i].kind, err);
	}
	return NULL;
}

static void flush_at_end(void)
{
	cupti.cuptiActivityFlushAll(FLUSH_FORCED);
}

/* The driver's name for it; 1: all is well, else it says that it could not load the library. */
SHOWN int InitializeInjection(void);
SHOWN profiler_flush_function rift_profiler_flush;

int InitializeInjection(void)
{
	if (why_off != not_asked) /* two names of one driver may ask */
		return 1;
	map_counts();
	why_off = load_cupti() ? enable() : "its library cannot be loaded (" PROFILER_CUPTI ")";
	if (why_off)
		return 1; /* programs run all the same; rift asks */
	counts->processes++;
	atexit(flush_at_end);
	return 1;
}

/* Whoever asks has waited for its work: what is not complete then is not its own. */
int64_t rift_profiler_flush(const char **why)
{
	*why = why_off;
	if (why_off)
		return -1;
	cupti.cuptiActivityFlushAll(FLUSH_FORCED);
	return seen;
}
