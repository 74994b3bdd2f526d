/* card_lines.c - the rows that a card's page shows, and which of them decide a comparison. */
#include <stddef.h>

#include "harness/probe/card.h"

/*
 * Twelve decide: as many as 5 processes a side can say something about, corrected for each other
 * (harness/stats/judge.h). They are the costs that programs pay again and again.
 */
const struct card_line card_lines[] = {
	{ "launch", "launch", "launch call", "launch call", true, false },
	{ NULL, "launch", "launch pace", "pace of launches", true, false },
	{ NULL, "launch", "device gap", "gap between kernels", true, false },
	{ NULL, "launch", "launch queue", "queue", false, false },
	{ "launch and wait", "launch", "to stream sync", "cudaStreamSynchronize", true, false },
	{ NULL, "launch", "to device sync", "cudaDeviceSynchronize", false, false },
	{ NULL, "launch", "to event sync", "cudaEventSynchronize", false, false },
	{ NULL, "launch", "to stream query", "cudaStreamQuery in a loop", false, false },
	{ NULL, "launch", "to mapped flag", "a flag in mapped memory", false, false },
	{ "idle stream", "launch", "idle stream sync", "cudaStreamSynchronize", false, false },
	{ NULL, "launch", "event record", "cudaEventRecord", false, false },
	{ "graph, a line", "graph", "launch call", "launch call, 100 nodes", true, false },
	{ NULL, "graph", "launch total, fixed", "launch and wait, fixed", false, false },
	{ NULL, "graph", "launch device, a node", "on the device, a node", true, false },
	{ NULL, "graph", "first launch call", "first launch call, 100 nodes", false, false },
	{ NULL, "graph", "instantiate, fixed", "instantiate, fixed", false, false },
	{ NULL, "graph", "instantiate, a node", "instantiate, a node", true, false },
	{ "memory, 4 MiB", "memory", "cudaMalloc", "cudaMalloc", true, false },
	{ NULL, "memory", "cudaFree", "cudaFree", false, false },
	{ NULL, "memory", "cudaMallocAsync", "cudaMallocAsync, from a pool", false, false },
	{ NULL, "memory", "cudaMallocHost", "cudaMallocHost", false, false },
	{ NULL, "memory", "cudaHostRegister", "cudaHostRegister", false, false },
	{ "copy and wait", "transfer", "h2d pinned 4 B", "to the device, 4 bytes", true, false },
	{ NULL, "transfer", "d2h pinned 4 B", "to the host, 4 bytes", false, false },
	{ NULL, "transfer", "h2d pageable 4 B cudaMemcpy", "to the device, cudaMemcpy", false,
	  false },
	{ NULL, "transfer", "d2h pageable 4 B cudaMemcpy", "to the host, cudaMemcpy", false,
	  false },
	{ NULL, "transfer", "h2d pinned fixed", "to the device, fixed", false, false },
	{ NULL, "transfer", "h2d pinned rate", "to the device, pinned", true, true },
	{ NULL, "transfer", "h2d pageable rate", "to the device, pageable", true, true },
	{ NULL, "transfer", "d2h pinned rate", "to the host, pinned", true, true },
	{ NULL, "transfer", "d2h pageable rate", "to the host, pageable", false, true },
	{ "process", "process", "context creation", "context creation", false, false },
	{ NULL, "launch", "first launch", "first launch of a module", false, false },
	{ NULL, NULL, NULL, NULL, false, false },
};
