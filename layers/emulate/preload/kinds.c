/* kinds.c - see kinds.h. */
#include "layers/emulate/preload/kinds.h"

#include <string.h>

#include "layers/emulate/preload/limit.h"

enum { NONE = CALL_NO_WORD };

/* Calls that are kept or waited for. The variants that end in _ptsz and _ptds are meant, too. */
static const struct call_row rows[] = {
	{ "cudaLaunchKernel", KIND_KERNEL, 8, 7, NONE, KEEP_KERNEL, 0, NONE },
	{ "__cudaLaunchKernel", KIND_KERNEL, 8, 7, NONE, KEEP_KERNEL, 0, NONE },
	{ "cudaLaunchKernelExC", KIND_KERNEL, 3, NONE, NONE, KEEP_CONFIGURATION, 0, NONE },
	{ "cudaGraphLaunch", KIND_GRAPH, 2, 1, NONE, KEEP_WORDS, 1, NONE },
	{ "cudaMemcpyAsync", KIND_COPY, 5, 4, NONE, KEEP_COPY, 0, NONE },
	{ "cudaMemcpyToSymbolAsync", KIND_COPY, 6, 5, NONE, KEEP_TO_SYMBOL, 0, NONE },
	{ "cudaMemsetAsync", KIND_COMMAND, 4, 3, NONE, KEEP_WORDS, 1, NONE },
	{ "cudaMemset2DAsync", KIND_COMMAND, 6, 5, NONE, KEEP_WORDS, 1, NONE },
	{ "cudaEventRecord", KIND_COMMAND, 2, 1, 0, KEEP_WORDS, 1, NONE },
	{ "cudaEventRecordWithFlags", KIND_COMMAND, 3, 1, 0, KEEP_WORDS, 1, 2 },
	{ "cudaStreamWaitEvent", KIND_COMMAND, 3, 0, NONE, KEEP_WORDS, 2, 2 },
	{ "cudaLaunchHostFunc", KIND_COMMAND, 3, 0, NONE, KEEP_WORDS, 2, NONE },
	{ "cudaFreeAsync", KIND_COMMAND, 2, 1, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaStreamSynchronize", KIND_WAIT, 1, 0, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaEventSynchronize", KIND_WAIT, 1, NONE, 0, KEEP_WORDS, 0, NONE },
	{ "cudaDeviceSynchronize", KIND_WAIT, 0, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaThreadSynchronize", KIND_WAIT, 0, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaMemcpy", KIND_BLOCKING_COPY, 4, NONE, NONE, KEEP_COPY, 0, NONE },
	{ "cudaMemcpy2D", KIND_BLOCKING_COPY, 7, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaMemcpyToSymbol", KIND_BLOCKING_COPY, 5, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaMemcpyFromSymbol", KIND_BLOCKING_COPY, 5, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaStreamQuery", KIND_QUERY, 1, 0, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaEventQuery", KIND_QUERY, 1, NONE, 0, KEEP_WORDS, 0, NONE },
	{ "cudaMalloc", KIND_ALLOC, 2, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaStreamEndCapture", KIND_CAPTURE, 2, 0, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaStreamBeginCapture", KIND_CAPTURE, 2, 0, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaStreamBeginCaptureToGraph", KIND_CAPTURE, 6, 0, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaGetLastError", KIND_ERROR, 0, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaPeekAtLastError", KIND_ERROR, 0, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaSetDevice", KIND_DEVICE, 1, NONE, NONE, KEEP_WORDS, 0, NONE },
};

/* The same where memory is limited; else they cost nothing, and are looked for below. */
static const struct call_row memory_rows[] = {
	{ "cudaMallocAsync", KIND_POOL, 3, 2, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaMallocFromPoolAsync", KIND_POOL, 4, 3, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaMallocManaged", KIND_POOL, 3, NONE, NONE, KEEP_WORDS, 0, NONE },
	{ "cudaMemGetInfo", KIND_INFO, 2, NONE, NONE, KEEP_WORDS, 0, NONE },
};

/* Other calls by words of their names, the first that is found; no word: all others. The kind is
 * charged and the next library's function jumped to. */
static const struct {
	const char *word;
	enum emulate_kind kind;
} words[] = {
	/* made while a program starts and ends, or asked of the host alone */
	{ "__cuda", KIND_FREE },
	{ "cudaGetDevice", KIND_FREE },
	{ "cudaGetError", KIND_FREE },
	{ "cudaGetSymbol", KIND_FREE },
	{ "cudaGetDriverEntryPoint", KIND_FREE },
	{ "cudaGetExportTable", KIND_FREE },
	{ "cudaDeviceGet", KIND_FREE },
	{ "GetVersion", KIND_FREE },
	{ "cudaFuncGet", KIND_FREE },
	{ "cudaOccupancy", KIND_FREE },
	{ "cudaPointerGet", KIND_FREE },
	{ "cudaStreamGet", KIND_FREE },
	{ "cudaStreamIs", KIND_FREE },
	{ "cudaStreamCreate", KIND_FREE },
	{ "cudaEventCreate", KIND_FREE },
	{ "cudaHostGet", KIND_FREE },
	{ "cudaMemGetInfo", KIND_FREE },
	{ "cudaGraphAdd", KIND_FREE },
	{ "cudaGraphCreate", KIND_FREE },
	/* pools take nothing from the operating system */
	{ "cudaMallocAsync", KIND_FREE },
	{ "cudaMallocFromPoolAsync", KIND_FREE },
	{ "cudaMallocHost", KIND_PIN },
	{ "cudaHostAlloc", KIND_PIN },
	{ "cudaHostRegister", KIND_PIN },
	{ "cudaHostUnregister", KIND_PIN },
	{ "cudaMalloc", KIND_ALLOC },
	{ "cudaFree", KIND_RELEASE },
	{ "cudaMemcpy", KIND_COPY },
	{ "cudaMemset", KIND_COMMAND },
	{ "cudaLaunch", KIND_KERNEL },
	{ "cudaStreamAddCallback", KIND_COMMAND },
	{ "", KIND_OTHER },
};

unsigned char call_kinds[CALLS] = { [CALL_PROBE] = KIND_PROBE };
const struct call_row *call_rows[CALLS];
bool call_per_thread[CALLS];

static bool is_variant(const char *name, const char *base, size_t n)
{
	return !strncmp(name, base, n) &&
	       (!strcmp(name + n, "_ptsz") || !strcmp(name + n, "_ptds"));
}

static const struct call_row *find_row_of(const struct call_row *all, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, all[i].name) ||
		    is_variant(name, all[i].name, strlen(all[i].name)))
			return &all[i];
	return NULL;
}

static const struct call_row *find_row(const char *name)
{
	const struct call_row *found = find_row_of(rows, sizeof(rows) / sizeof(*rows), name);

	return found || !limit_has_memory()
		       ? found
		       : find_row_of(memory_rows, sizeof(memory_rows) / sizeof(*memory_rows), name);
}

static enum emulate_kind kind_by_words(const char *name)
{
	int i = 0;

	while (!strstr(name, words[i].word))
		i++;
	return words[i].kind;
}

void classify_calls(void)
{
	for (long call = 0; call < RUNTIME_CALLS; call++) {
		const char *name = runtime_call_name(call);

		call_rows[call] = find_row(name);
		call_kinds[call] = (unsigned char)(call_rows[call] ? call_rows[call]->kind
								   : kind_by_words(name));
		call_per_thread[call] = strstr(name, "_pts") || strstr(name, "_ptd");
	}
}
