/* refusal.c - a call that the platform refuses, and the way out of where it was made. */
#include "common/refusal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda_check.h"

/* The innermost refusal_catch() of this thread. */
struct scope {
	jmp_buf back;
	struct refusal *out;
	bool giving_back; /* a capture that could not be ended may forbid any call */
	struct scope *outer;
};

static __thread struct scope *innermost;

static int catch (int (*fn)(void *arg), void *arg, struct refusal *out, bool giving_back)
{
	struct scope scope = { .out = out, .giving_back = giving_back, .outer = innermost };
	int err;

	innermost = &scope;
	if (setjmp(scope.back)) {
		innermost = scope.outer;
		cudaGetLastError(); /* said already: no failure of later calls */
		return -ENOSYS;
	}
	err = fn(arg);
	innermost = scope.outer;
	return err;
}

int refusal_catch(int (*fn)(void *arg), void *arg, struct refusal *out)
{
	return catch (fn, arg, out, false);
}

/* ---- which errors of which calls ---------------------------------------------------------- */

static bool has_any(const char *call, const char *const *words)
{
	for (; *words; words++)
		if (strstr(call, *words))
			return true;
	return false;
}

/* The name alone: arguments may hold any word. */
static void copy_name(const char *call, char name[48])
{
	snprintf(name, 48, "%.*s", (int)strcspn(call, "( "), call);
}

static bool is_optional(const char *name)
{
	static const char *const words[] = { "Capture", "Graph",    "HostAlloc",  "HostGet",
					     "HostReg", "HostUnr",  "MallocHost", "FreeHost",
					     "Managed", "Prefetch", "Advise",	  "Async",
					     "Pool",	"Event",    NULL };
	static const char *const others[] = { "Memcpy", "Memset", NULL };

	return has_any(name, words) && !has_any(name, others);
}

static bool is_capture_error(cudaError_t error)
{
	return error >= cudaErrorStreamCaptureUnsupported &&
	       error <= cudaErrorStreamCaptureWrongThread;
}

/* What no capture allows: an error of such a call is the workload's. */
static bool is_never_captured(const char *name)
{
	static const char *const words[] = { "Synchronize", "cudaMalloc", "cudaFree", NULL };

	return has_any(name, words);
}

bool refusal_is(const char *call, cudaError_t error)
{
	char name[48];

	copy_name(call, name);
	switch (error) {
	case cudaErrorInitializationError:
	case cudaErrorInsufficientDriver:
	case cudaErrorCallRequiresNewerDriver:
	case cudaErrorNotSupported:
	case cudaErrorNotPermitted:
	case cudaErrorSymbolNotFound:
	case cudaErrorSystemDriverMismatch:
	case cudaErrorOperatingSystem:
	case cudaErrorUnknown:
		return is_optional(name);
	default:
		return is_capture_error(error) && !is_never_captured(name);
	}
}

void refusal_raise(const char *file, int line, const char *call, cudaError_t error)
{
	struct scope *s = innermost;

	if (!s || !(refusal_is(call, error) || (s->giving_back && is_capture_error(error))))
		return;
	copy_name(call, s->out->call);
	snprintf(s->out->error, sizeof(s->out->error), "%s", cudaGetErrorName(error));
	snprintf(s->out->place, sizeof(s->out->place), "%.60s:%d", file, line);
	longjmp(s->back, 1);
}

void refusal_pass_on(const struct refusal *r)
{
	struct scope *s = innermost;

	if (!s)
		die_at(r->place, 0, "refusal_pass_on", r->call, "%s", r->error);
	*s->out = *r;
	longjmp(s->back, 1);
}

void cuda_failed(const char *file, int line, const char *func, const char *call, cudaError_t err)
{
	const char *name = cudaGetErrorName(err), *text = cudaGetErrorString(err);

	refusal_raise(file, line, call, err);
	/* die_at() tells a lack of memory from a bug by it */
	errno = err == cudaErrorMemoryAllocation ? ENOMEM : 0;
	die_at(file, line, func, call, "%s: %s", name, text);
}

cudaError_t refusal_or_error(const char *file, int line, const char *call, cudaError_t error)
{
	if (error)
		refusal_raise(file, line, call, error);
	return error;
}

/* ---- afterwards --------------------------------------------------------------------------- */

void refusal_text(const struct refusal *r, char out[REFUSAL_TEXT])
{
	snprintf(out, REFUSAL_TEXT, "not supported here: %s: %s", r->call, r->error);
}

int refusal_complain(const struct refusal *r, const char *where)
{
	char text[REFUSAL_TEXT];

	refusal_text(r, text);
	return complain(ENOSYS, "%s: %s", where, text);
}

static void end_capture(cudaStream_t stream)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	cudaGraph_t graph = NULL;

	if (cudaStreamIsCapturing(stream, &status) || status == cudaStreamCaptureStatusNone) {
		cudaGetLastError();
		return;
	}
	if (!cudaStreamEndCapture(stream, &graph) && graph)
		cudaGraphDestroy(graph);
	cudaGetLastError(); /* an invalidated capture ends with an error */
}

/* Can the stream be used again? One whose capture cannot be ended cannot be waited for. */
static bool settle(cudaStream_t stream)
{
	cudaError_t err;

	if (!stream)
		return true;
	end_capture(stream);
	err = cudaStreamSynchronize(stream);
	cudaGetLastError();
	if (is_capture_error(err))
		return false;
	CUDA(err);
	return true;
}

void refusal_settle(cudaStream_t stream)
{
	settle(stream);
}

void refusal_settle_or_pass_on(cudaStream_t stream, const struct refusal *r)
{
	if (!settle(stream))
		refusal_pass_on(r);
}

struct giving {
	void (*fn)(void *arg);
	void *arg;
};

static int give_back(void *giving)
{
	struct giving *g = giving;

	g->fn(g->arg);
	return 0;
}

void refusal_ignore(void (*fn)(void *arg), void *arg)
{
	struct giving g = { fn, arg };
	struct refusal ignored;

	catch (give_back, &g, &ignored, true);
}
