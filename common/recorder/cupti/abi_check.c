/* abi_check.c - abi.h and calls.h against a toolkit's cupti.h: compiled where there is one. */
#include <cupti.h>

#include "common/recorder/cupti/abi.h"

#define EQUAL(ours, cuptis) _Static_assert((int)(ours) == (int)(cuptis), #cuptis)

EQUAL(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
EQUAL(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
EQUAL(CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
EQUAL(CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
EQUAL(CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
EQUAL(CUPTI_MARKER, CUPTI_ACTIVITY_KIND_MARKER);
EQUAL(CUPTI_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
EQUAL(CUPTI_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
EQUAL(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
EQUAL(CUPTI_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2);
EQUAL(CUPTI_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
EQUAL(CUPTI_NO_MORE, CUPTI_ERROR_MAX_LIMIT_REACHED);
EQUAL(CUPTI_OTHER_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
EQUAL(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
EQUAL(CUPTI_THREADS_OF_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
EQUAL(CUPTI_MARKER_START, CUPTI_ACTIVITY_FLAG_MARKER_START);
EQUAL(CUPTI_MARKER_END, CUPTI_ACTIVITY_FLAG_MARKER_END);
EQUAL(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
EQUAL(CUPTI_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
EQUAL(CUPTI_ASYNC, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
EQUAL(CUPTI_COPY_TO_DEVICE, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
EQUAL(CUPTI_COPY_TO_HOST, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
EQUAL(CUPTI_COPY_WITHIN, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
EQUAL(CUPTI_COPY_PEER, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
EQUAL(CUPTI_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
EQUAL(CUPTI_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
EQUAL(CUPTI_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
EQUAL(CUPTI_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
EQUAL(CUPTI_STREAM_DEFAULT, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT);
EQUAL(CUPTI_STREAM_NON_BLOCKING, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
EQUAL(CUPTI_ENTER, CUPTI_API_ENTER);
EQUAL(CUPTI_EXIT, CUPTI_API_EXIT);
EQUAL(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
EQUAL(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
_Static_assert(offsetof(CUpti_CallbackData, callbackSite) == 0, "callbackSite");
EQUAL(CUPTI_STREAM_NULL, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);

/* Toolkits before 13.0 have these names for what later are 10, 4 and 2. */
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 kernel;
typedef CUpti_ActivityMemory4 memory;
#else
typedef CUpti_ActivityKernel9 kernel;
typedef CUpti_ActivityMemory3 memory;
#endif
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivitySynchronization2 synchronization;
typedef CUpti_ActivityCudaEvent2 cuda_event;
typedef CUpti_ActivityMemcpy6 copy;
typedef CUpti_ActivityGraphTrace2 graph;
#else
typedef CUpti_ActivitySynchronization synchronization;
typedef CUpti_ActivityCudaEvent cuda_event;
typedef CUpti_ActivityMemcpy5 copy;
typedef CUpti_ActivityGraphTrace graph;
#endif

#define PLACE(type, field, cuptis, theirs)                                                         \
	_Static_assert(offsetof(struct type, field) == offsetof(cuptis, theirs) &&                 \
			       sizeof(((struct type *)0)->field) >= sizeof(((cuptis *)0)->theirs), \
		       #type "." #field)

PLACE(cupti_api, cbid, CUpti_ActivityAPI, cbid);
PLACE(cupti_api, start, CUpti_ActivityAPI, start);
PLACE(cupti_api, end, CUpti_ActivityAPI, end);
PLACE(cupti_api, thread, CUpti_ActivityAPI, threadId);
PLACE(cupti_api, correlation, CUpti_ActivityAPI, correlationId);
PLACE(cupti_api, result, CUpti_ActivityAPI, returnValue);
PLACE(cupti_kernel, registers, kernel, registersPerThread);
PLACE(cupti_kernel, start, kernel, start);
PLACE(cupti_kernel, end, kernel, end);
PLACE(cupti_kernel, stream, kernel, streamId);
PLACE(cupti_kernel, grid, kernel, gridX);
PLACE(cupti_kernel, block, kernel, blockX);
PLACE(cupti_kernel, static_shared, kernel, staticSharedMemory);
PLACE(cupti_kernel, dynamic_shared, kernel, dynamicSharedMemory);
PLACE(cupti_kernel, correlation, kernel, correlationId);
PLACE(cupti_kernel, name, kernel, name);
PLACE(cupti_copy, direction, copy, copyKind);
PLACE(cupti_copy, from, copy, srcKind);
PLACE(cupti_copy, to, copy, dstKind);
PLACE(cupti_copy, flags, copy, flags);
PLACE(cupti_copy, bytes, copy, bytes);
PLACE(cupti_copy, start, copy, start);
PLACE(cupti_copy, end, copy, end);
PLACE(cupti_copy, stream, copy, streamId);
PLACE(cupti_copy, correlation, copy, correlationId);
PLACE(cupti_set, bytes, CUpti_ActivityMemset4, bytes);
PLACE(cupti_set, start, CUpti_ActivityMemset4, start);
PLACE(cupti_set, end, CUpti_ActivityMemset4, end);
PLACE(cupti_set, stream, CUpti_ActivityMemset4, streamId);
PLACE(cupti_set, correlation, CUpti_ActivityMemset4, correlationId);
PLACE(cupti_set, flags, CUpti_ActivityMemset4, flags);
PLACE(cupti_graph, correlation, graph, correlationId);
PLACE(cupti_graph, start, graph, start);
PLACE(cupti_graph, end, graph, end);
PLACE(cupti_graph, graph, graph, graphId);
PLACE(cupti_graph, stream, graph, streamId);
PLACE(cupti_stream, stream, CUpti_ActivityStream, streamId);
PLACE(cupti_stream, priority, CUpti_ActivityStream, priority);
PLACE(cupti_stream, flag, CUpti_ActivityStream, flag);
PLACE(cupti_sync, correlation, synchronization, correlationId);
PLACE(cupti_sync, stream, synchronization, streamId);
PLACE(cupti_sync, event, synchronization, cudaEventId);
PLACE(cupti_event, correlation, cuda_event, correlationId);
PLACE(cupti_event, stream, cuda_event, streamId);
PLACE(cupti_event, event, cuda_event, eventId);
PLACE(cupti_memory, memory, memory, memoryKind);
PLACE(cupti_memory, correlation, memory, correlationId);
PLACE(cupti_memory, bytes, memory, bytes);
PLACE(cupti_marker, flags, CUpti_ActivityMarker2, flags);
PLACE(cupti_marker, timestamp, CUpti_ActivityMarker2, timestamp);
PLACE(cupti_marker, id, CUpti_ActivityMarker2, id);
PLACE(cupti_marker, object, CUpti_ActivityMarker2, objectKind);
PLACE(cupti_marker, process, CUpti_ActivityMarker2, objectId.pt.processId);
PLACE(cupti_marker, thread, CUpti_ActivityMarker2, objectId.pt.threadId);
PLACE(cupti_marker, name, CUpti_ActivityMarker2, name);

/* Numbers that the toolkit is too old for are left out. */
#define CUPTI_CALL(domain, number, class, name, cuptis)                                            \
	_Static_assert(number > CHECKED_##domain ||                                                \
			       number == CUPTI_##domain##_TRACE_CBID_##cuptis,                     \
		       #cuptis);
#if CUPTI_API_VERSION >= 130000
enum {
	CHECKED_RUNTIME = CUPTI_RUNTIME_TRACE_CBID_SIZE,
	CHECKED_DRIVER = CUPTI_DRIVER_TRACE_CBID_SIZE
};
#include "common/recorder/cupti/calls.h"
#endif
