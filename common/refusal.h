/*
 * refusal.h - what a platform lacks: a CUDA call that is refused here and works elsewhere.
 *
 * A layer may have no graphs, no capture, no mapped memory, no memory pools or no events. That is
 * a finding about the layer, not a bug: CUDA() (common/cuda_check.h) then leaves everything below
 * the nearest refusal_catch() at once, by longjmp(), and whoever called that says
 * "not supported here: CALL: ERROR" and goes on with the rest. What the code in between held is
 * lost until the process ends, as after a failed hook; state that it had stored stays for teardown.
 *
 * Refusals are cudaErrorNotSupported, NotPermitted, SymbolNotFound, SystemDriverMismatch,
 * OperatingSystem, InitializationError (what Lupine's driver returns for functions that it lacks),
 * InsufficientDriver, CallRequiresNewerDriver and Unknown of calls that have to do with capture,
 * graphs, mapped, pinned and managed memory, pools and events; and cudaErrorStreamCapture... of all
 * calls but those that no capture allows (synchronizing, taking and giving back memory), which
 * would be a bug of ours. Everything else aborts, and so does a refusal that nobody catches.
 */
#ifndef RIFT_REFUSAL_H
#define RIFT_REFUSAL_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct refusal {
	char call[48];	/* "cudaGraphInstantiate" */
	char error[48]; /* "cudaErrorNotSupported" */
	char place[80]; /* "harness/measure/submit.c:56" */
};

/* Room for refusal_text(). */
enum { REFUSAL_TEXT = 160 };

/*
 * Returns what fn(arg) returns, or -ENOSYS and *out where a call in it was refused on this thread.
 * May be nested; the innermost catches.
 */
int refusal_catch(int (*fn)(void *arg), void *arg, struct refusal *out);

/* Leaves for the next outer refusal_catch() with what an inner one caught; aborts without one. */
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void refusal_pass_on(const struct refusal *r);

/* "not supported here: cudaGraphInstantiate: cudaErrorNotSupported" */
void refusal_text(const struct refusal *r, char out[REFUSAL_TEXT]);

/* Prints that as a complaint, behind "WHERE: ", and returns -ENOSYS. */
int refusal_complain(const struct refusal *r, const char *where);

/* Is this error of this call (as written in the source, "cudaGraphLaunch(a, b)") a refusal? */
bool refusal_is(const char *call, cudaError_t error);

/*
 * For a stream in which a refusal may have left something: ends a capture that is open, and waits
 * for the rest. What cannot be ended stays until the process ends.
 */
void refusal_settle(cudaStream_t stream);

/*
 * The same where the caller would go on in that stream without what was refused: where a capture
 * cannot be ended it cannot, and leaves for the next outer refusal_catch().
 */
void refusal_settle_or_pass_on(cudaStream_t stream, const struct refusal *r);

/* Calls fn(arg), which gives something back; what is refused stays until the process ends. */
void refusal_ignore(void (*fn)(void *arg), void *arg);

/* For CUDA_RESULT(): leaves for the nearest refusal_catch(), or returns the error. */
cudaError_t refusal_or_error(const char *file, int line, const char *call, cudaError_t error);

/* For CUDA(): leaves for the nearest refusal_catch(); returns where it is not to be caught. */
void refusal_raise(const char *file, int line, const char *call, cudaError_t error);

#ifdef __cplusplus
}
#endif
#endif
