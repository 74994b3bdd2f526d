/*
 * taker.c - the process that takes memory: how much it gets, in one piece and in many.
 *
 *   job      {job: "share-taker", allowed: BYTES}
 *   told     "all", "largest", "hold"
 *   answers  {record: "ready"}; then one to each: "taken", "taken", "held"
 *
 * It never tries more than twice what is allowed, so a limit that is none costs others no more, and
 * touches none of it. Managed memory, which may be more than the device has, is left alone.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/measure/wait.h"
#include "harness/platform/platform.h"
#include "harness/session/child.h"
#include "harness/share/share.h"

enum { PIECES_MAX = 256, PARTS = 16 };

struct taker {
	FILE *out;
	int64_t most; /* that it tries to take */
	void *piece[PIECES_MAX];
	int pieces;
};

static void answer(const struct taker *t, json_t *o)
{
	json_dumpf(o, t->out, JSON_COMPACT);
	json_decref(o);
	fputc('\n', t->out);
	fflush(t->out);
}

/* ---- one piece -------------------------------------------------------------------------- */

/* Takes so much and gives it back at once. */
typedef cudaError_t attempt(int64_t bytes);

static cudaError_t try_malloc(int64_t bytes)
{
	void *p = NULL;
	cudaError_t err = cudaMalloc(&p, (size_t)bytes);

	if (err)
		cudaGetLastError();
	else
		CUDA(cudaFree(p));
	return err;
}

static cudaError_t try_pool(int64_t bytes)
{
	void *p = NULL;
	cudaError_t err = cudaMallocAsync(&p, (size_t)bytes, 0);

	if (err)
		cudaGetLastError();
	else
		CUDA(cudaFreeAsync(p, 0));
	CUDA(cudaStreamSynchronize(0));
	return err;
}

/* The CPU device has neither arrays nor graphs that take memory. */
#ifndef RIFT_CPU_DEVICE
/* Rows of 32768 elements of 16 bytes, so bytes count by half a MiB. */
enum { ROW_ELEMENTS = 32768, ROW_BYTES = 16 * ROW_ELEMENTS };

static cudaError_t try_array(int64_t bytes)
{
	const struct cudaChannelFormatDesc format = { 32, 32, 32, 32, cudaChannelFormatKindFloat };
	cudaArray_t array = NULL;
	size_t rows = (size_t)(bytes / ROW_BYTES);
	cudaError_t err =
		rows ? cudaMallocArray(&array, &format, ROW_ELEMENTS, rows, 0) : cudaSuccess;

	if (err)
		cudaGetLastError();
	else if (rows)
		CUDA(cudaFreeArray(array));
	return err;
}

/* A node that takes memory and one that gives it back, behind each other. */
static cudaError_t build_graph(cudaGraph_t graph, int64_t bytes)
{
	struct cudaMemAllocNodeParams take = { .bytesize = (size_t)bytes };
	cudaGraphNode_t taken, freed;
	cudaError_t err;

	take.poolProps.allocType = cudaMemAllocationTypePinned;
	take.poolProps.location.type = cudaMemLocationTypeDevice;
	err = cudaGraphAddMemAllocNode(&taken, graph, NULL, 0, &take);
	return err ? err : cudaGraphAddMemFreeNode(&freed, graph, &taken, 1, take.dptr);
}

/* It takes memory when it is launched, which the device keeps until it is trimmed. */
static cudaError_t try_graph(int64_t bytes)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	cudaError_t err = cudaGraphCreate(&graph, 0);

	if (!err)
		err = build_graph(graph, bytes ? bytes : 1);
	if (!err)
		err = cudaGraphInstantiate(&exec, graph, 0);
	if (!err)
		err = cudaGraphLaunch(exec, 0);
	if (!err)
		err = cudaStreamSynchronize(0);
	if (exec)
		CUDA(cudaGraphExecDestroy(exec));
	if (graph)
		CUDA(cudaGraphDestroy(graph));
	/* not every layer has that call */
	if (cudaDeviceGraphMemTrim(0) || err)
		cudaGetLastError();
	return err;
}
#endif

/* The most bytes that are given, and the error at one byte more; by bisection. */
static int64_t find_largest(const struct taker *t, attempt *try_it, cudaError_t *error)
{
	int64_t given = 0, refused = t->most + 1;

	*error = try_it(t->most);
	if (!*error)
		return t->most;
	for (refused = t->most; refused - given > 1;) {
		int64_t bytes = given + (refused - given) / 2;
		cudaError_t err = try_it(bytes);

		if (err) {
			*error = err;
			refused = bytes;
		} else {
			given = bytes;
		}
	}
	return given;
}

/* A layer may answer with a number that CUDA does not have. */
static struct text name_of(cudaError_t error)
{
	struct text t = { "" };

	if (error && cudaGetErrorName(error) == cudaGetErrorName((cudaError_t)-1))
		snprintf(t.s, sizeof(t.s), "error %d, which CUDA does not know", (int)error);
	else if (error)
		snprintf(t.s, sizeof(t.s), "%s", cudaGetErrorName(error));
	return t;
}

/* unit: what an attempt rounds bytes down to. */
static void add_largest(const struct taker *t, json_t *o, const char *name, attempt *try_it,
			int64_t unit)
{
	cudaError_t error;
	int64_t bytes = find_largest(t, try_it, &error) / unit * unit;
	char error_name[32];

	snprintf(error_name, sizeof(error_name), "%s_error", name);
	json_object_set_new(o, name, json_integer(bytes));
	json_object_set_new(o, error_name, json_text(name_of(error).s));
}

/* ---- many pieces ------------------------------------------------------------------------ */

/* Sixteenths of what is allowed until one is refused, then halves of it down to a byte. Of a size
 * there are two at most then: more would be one of the size before. */
static int64_t take_all(struct taker *t, cudaError_t *error)
{
	int64_t bytes = t->most / 2 / PARTS, taken = 0;

	*error = cudaSuccess;
	for (bytes = bytes ? bytes : 1; bytes; bytes /= 2) {
		int of_this_size = taken ? 2 : 2 * PARTS;

		while (of_this_size-- && taken + bytes <= t->most && t->pieces < PIECES_MAX) {
			cudaError_t err = cudaMalloc(&t->piece[t->pieces], (size_t)bytes);

			if (err) {
				*error = err;
				break;
			}
			t->pieces++;
			taken += bytes;
		}
	}
	cudaGetLastError();
	return taken;
}

static void give_back(struct taker *t)
{
	while (t->pieces)
		CUDA(cudaFree(t->piece[--t->pieces]));
}

/* ---- pinned memory ---------------------------------------------------------------------- */

/* With this much of it, is less device memory left? At most 64 MiB, as it is the host's. */
static const char *find_pinned(const struct taker *t, int64_t largest)
{
	int64_t most = (int64_t)64 << 20, bytes = t->most / 8 < most ? t->most / 8 : most;
	void *p = NULL;
	cudaError_t err = cudaMallocHost(&p, (size_t)(bytes ? bytes : 1)), left;

	if (err) {
		cudaGetLastError();
		return "refused";
	}
	left = try_malloc(largest);
	CUDA(cudaFreeHost(p));
	return left ? "counted" : "not counted";
}

/* ---- what it is told -------------------------------------------------------------------- */

static void tell_all(struct taker *t)
{
	json_t *o = json_pack("{s:s}", "record", "taken");
	size_t is_free = 0, total = 0;
	cudaError_t error;

	if (cudaMemGetInfo(&is_free, &total))
		cudaGetLastError();
	json_object_set_new(o, "free", json_integer((json_int_t)is_free));
	json_object_set_new(o, "total", json_integer((json_int_t)total));
	add_largest(t, o, "one", try_malloc, 1);
	json_object_set_new(o, "many", json_integer(take_all(t, &error)));
	json_object_set_new(o, "many_error", json_text(name_of(error).s));
	give_back(t);
	add_largest(t, o, "pool", try_pool, 1);
#ifndef RIFT_CPU_DEVICE
	add_largest(t, o, "array", try_array, ROW_BYTES);
	add_largest(t, o, "graph", try_graph, 1);
#endif
	json_object_set_new(
		o, "pinned",
		json_string(find_pinned(t, json_integer_value(json_object_get(o, "one")))));
	answer(t, o);
}

static void tell_largest(const struct taker *t)
{
	json_t *o = json_pack("{s:s}", "record", "taken");

	add_largest(t, o, "one", try_malloc, 1);
	answer(t, o);
}

static void hold(struct taker *t)
{
	cudaError_t error;
	int64_t taken = take_all(t, &error);

	answer(t, json_pack("{s:s, s:I}", "record", "held", "bytes", (json_int_t)taken));
}

static int obey(struct taker *t)
{
	char line[32];

	while (!interrupted() && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "all"))
			tell_all(t);
		else if (!strcmp(line, "largest"))
			tell_largest(t);
		else if (!strcmp(line, "hold"))
			hold(t);
		else
			return complain(EINVAL, "a client was told '%s'", text_shown(line).s);
	}
	return 0;
}

int share_taker_work(FILE *out, const json_t *job)
{
	int64_t allowed = json_integer_value(json_object_get(job, "allowed"));
	struct taker t = { .out = out, .most = 2 * allowed };
	struct platform platform = { 0 };
	int err;

	interrupt_install();
	interrupt_end_within(INTERRUPT_GRACE_S, "");
	err = sync_prepare(sync_default());
	if (!err)
		err = platform_device(&platform);
	if (!err)
		err = platform_layers(&platform);
	if (!err) {
		answer(&t, json_pack("{s:s}", "record", "ready"));
		err = obey(&t);
	}
	platform_release(&platform);
	return err;
}
