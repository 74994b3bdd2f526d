/*
 * abi.h - what of CUPTI's binary interface the recorder uses, as no header of a toolkit need be
 * there. Records keep their members' places from CUDA 12.4 on; newer ones append. abi_check.c holds
 * all of it against cupti.h where a build finds that.
 */
#ifndef RIFT_RECORDER_CUPTI_ABI_H
#define RIFT_RECORDER_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* CUpti_ActivityKind; a record begins with it. */
enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_DRIVER = 4,
	CUPTI_RUNTIME = 5,
	CUPTI_KERNEL = 10, /* concurrent: those side by side stay so */
	CUPTI_MARKER = 12,
	CUPTI_CUDA_EVENT = 36,
	CUPTI_STREAM = 37,
	CUPTI_SYNCHRONIZATION = 38,
	CUPTI_MEMORY = 49, /* MEMORY2 */
	CUPTI_GRAPH = 51,  /* GRAPH_TRACE */
};

enum {
	CUPTI_NO_MORE = 12,	     /* CUPTI_ERROR_MAX_LIMIT_REACHED */
	CUPTI_OTHER_SUBSCRIBER = 39, /* ..._MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
	CUPTI_FLUSH_FORCED = 1,	     /* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */
	CUPTI_THREADS_OF_SYSTEM = 1, /* CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM */
	CUPTI_OLDEST = 22,	     /* cuptiGetVersion() of CUDA 12.4 */
	CUPTI_MARKER_START = 2,	     /* CUPTI_ACTIVITY_FLAG_MARKER_... */
	CUPTI_MARKER_END = 4,
	CUPTI_OBJECT_THREAD = 2,
	CUPTI_ASYNC = 1,	  /* of a copy's or memset's flags */
	CUPTI_COPY_TO_DEVICE = 1, /* CUPTI_ACTIVITY_MEMCPY_KIND_... */
	CUPTI_COPY_TO_HOST = 2,
	CUPTI_COPY_WITHIN = 8,
	CUPTI_COPY_PEER = 10,
	CUPTI_MEMORY_PAGEABLE = 1, /* CUPTI_ACTIVITY_MEMORY_KIND_... */
	CUPTI_MEMORY_PINNED = 2,
	CUPTI_MEMORY_DEVICE = 3,
	CUPTI_MEMORY_MANAGED = 5,
	CUPTI_STREAM_DEFAULT = 1, /* CUPTI_ACTIVITY_STREAM_CREATE_FLAG_... */
	CUPTI_STREAM_NON_BLOCKING = 2,
	CUPTI_STREAM_NULL = 3,
};

struct cupti_record {
	uint32_t kind;
};

struct cupti_api {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache[2];
	uint16_t registers;
	uint8_t unused[8];
	uint64_t start, end;
	uint8_t unused2[16];
	uint32_t stream;
	int32_t grid[3], block[3], static_shared, dynamic_shared;
	uint8_t unused3[8];
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
};

struct cupti_copy {
	uint32_t kind;
	uint8_t direction, from, to, flags;
	uint64_t bytes, start, end;
	uint8_t unused[8];
	uint32_t stream, correlation;
};

struct cupti_set {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint8_t unused[8];
	uint32_t stream, correlation;
	uint16_t flags, memory;
};

struct cupti_graph {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

struct cupti_stream {
	uint32_t kind, context, stream, priority, flag;
};

struct cupti_sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
};

struct cupti_event {
	uint32_t kind, correlation, context, stream, event;
};

struct cupti_memory {
	uint32_t kind, operation, memory, correlation;
	uint64_t address, bytes;
};

struct cupti_marker {
	uint32_t kind, flags;
	uint64_t timestamp;
	uint32_t id, object, process, thread;
	uint8_t unused[8];
	const char *name;
};

typedef void cupti_request(uint8_t **buffer, size_t *size, size_t *records_max);
typedef void cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid);

/* cbdata begins with the site. */
enum { CUPTI_ENTER, CUPTI_EXIT };

typedef void cupti_callback(void *unused, int domain, uint32_t cbid, const void *cbdata);

/* CUpti_CallbackDomain */
enum { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2 };

/* All return CUptiResult; 0 is success. Those behind the blank line may be missing. */
#define CUPTI_FUNCTIONS(ROW)                                                                       \
	ROW(cuptiGetVersion, (uint32_t * version))                                                 \
	ROW(cuptiSubscribe, (void **subscriber, cupti_callback *callback, void *unused))           \
	ROW(cuptiEnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t cbid))   \
	ROW(cuptiActivityRegisterCallbacks, (cupti_request * request, cupti_complete * complete))  \
	ROW(cuptiActivityRegisterTimestampCallback, (uint64_t(*now)(void)))                        \
	ROW(cuptiActivityEnable, (uint32_t kind))                                                  \
	ROW(cuptiActivityGetNextRecord,                                                            \
	    (uint8_t * buffer, size_t valid, struct cupti_record * *record))                       \
	ROW(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))  \
	ROW(cuptiActivityFlushAll, (uint32_t flag))                                                \
	ROW(cuptiGetResultString, (int result, const char **text))

#define CUPTI_OPTIONAL_FUNCTIONS(ROW)                                                              \
	ROW(cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t enable))                        \
	ROW(cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t enable))                         \
	ROW(cuptiSetThreadIdType, (int type))                                                      \
	ROW(cuptiFinalize, (void))

struct cupti {
#define ROW(name, parameters) int(*name) parameters;
	CUPTI_FUNCTIONS(ROW)
	CUPTI_OPTIONAL_FUNCTIONS(ROW)
#undef ROW
};

#endif
