/*
 * error.c - errors: the last one of each host thread, their names and meanings, and what cannot be
 * gone on from.
 */
#include "common/cpu/base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread cudaError_t last_error;
__thread bool told_why;

cudaError_t result(cudaError_t error)
{
	if (error)
		last_error = error;
	return error;
}

cudaError_t last_result(void)
{
	return last_error;
}

cudaError_t forget_error(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

/* ---- what cannot be gone on from ------------------------------------------------------- */

void fatal(const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fprintf(stderr, "rift: CPU device: %s\n", message);
	told_why = true;
	abort();
}

void starve(const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fprintf(stderr, "rift: CPU device: %s: see ulimit -a\n", message);
	quick_exit(4); /* from any thread: the others may be in the middle of their work */
}

/* ---- names and meanings ---------------------------------------------------------------- */

/* A switch without default, so that the compiler misses no code of the enumeration. */
#define CASE(code, meaning)                                                                        \
	case code:                                                                                 \
		*text = meaning;                                                                   \
		return #code

static const char *describe(cudaError_t error, const char **text)
{
	switch (error) {
		CASE(cudaSuccess, "no error");
		CASE(cudaErrorInvalidValue, "an argument is out of its range");
		CASE(cudaErrorMemoryAllocation, "not enough memory");
		CASE(cudaErrorInitializationError, "the device could not be initialised");
		CASE(cudaErrorInvalidConfiguration, "grid or block is beyond the device's limits");
		CASE(cudaErrorInvalidPitchValue, "a row is longer than the pitch");
		CASE(cudaErrorInvalidSymbol, "no such device symbol");
		CASE(cudaErrorInvalidMemcpyDirection, "the direction of the copy is no direction");
		CASE(cudaErrorInsufficientDriver, "the driver is older than the runtime");
		CASE(cudaErrorCallRequiresNewerDriver, "a newer driver has this call");
		CASE(cudaErrorInvalidDeviceFunction, "not a kernel");
		CASE(cudaErrorNoDevice, "no CUDA device");
		CASE(cudaErrorInvalidDevice, "no device of that number");
		CASE(cudaErrorInvalidKernelImage, "the kernel's image is invalid");
		CASE(cudaErrorNoKernelImageForDevice, "no kernel image for this device");
		CASE(cudaErrorECCUncorrectable, "uncorrectable memory error");
		CASE(cudaErrorUnsupportedLimit, "the device does not have this limit");
		CASE(cudaErrorOperatingSystem, "the operating system refused a call");
		CASE(cudaErrorInvalidResourceHandle,
		     "no such live object, or a kernel without KERNEL()");
		CASE(cudaErrorIllegalState, "the object is not in a state that allows this");
		CASE(cudaErrorNotReady, "not finished yet");
		CASE(cudaErrorIllegalAddress, "a kernel used an address that is not its own");
		CASE(cudaErrorLaunchOutOfResources, "the launch needs more than the device has");
		CASE(cudaErrorLaunchTimeout, "the kernel ran too long");
		CASE(cudaErrorContextIsDestroyed, "the context is gone");
		CASE(cudaErrorAssert, "an assertion in a kernel failed");
		CASE(cudaErrorHostMemoryAlreadyRegistered, "memory is pinned already");
		CASE(cudaErrorHostMemoryNotRegistered, "memory was not registered");
		CASE(cudaErrorMisalignedAddress, "a kernel used a misaligned address");
		CASE(cudaErrorLaunchFailure, "the kernel failed");
		CASE(cudaErrorSymbolNotFound, "no such symbol in the driver");
		CASE(cudaErrorNotPermitted, "not permitted here");
		CASE(cudaErrorNotSupported, "not supported on this device");
		CASE(cudaErrorSystemDriverMismatch, "driver and its library do not match");
		CASE(cudaErrorStreamCaptureUnsupported, "not permitted while a stream is captured");
		CASE(cudaErrorStreamCaptureInvalidated, "an earlier error invalidated the capture");
		CASE(cudaErrorStreamCaptureMerge, "would merge two captures");
		CASE(cudaErrorStreamCaptureUnmatched, "the capture began on another stream");
		CASE(cudaErrorStreamCaptureUnjoined, "a forked stream was not joined");
		CASE(cudaErrorStreamCaptureIsolation, "depends on work outside the capture");
		CASE(cudaErrorStreamCaptureImplicit, "default stream used during a capture");
		CASE(cudaErrorCapturedEvent, "the event was last recorded in a capture");
		CASE(cudaErrorStreamCaptureWrongThread, "another thread began the capture");
		CASE(cudaErrorGraphExecUpdateFailure, "the graph cannot be updated that way");
		CASE(cudaErrorUnknown, "unknown error");
	}
	*text = "unrecognized error code";
	return *text;
}

const char *error_name(cudaError_t error)
{
	const char *text;

	return describe(error, &text);
}

const char *error_meaning(cudaError_t error)
{
	const char *text;

	describe(error, &text);
	return text;
}

cudaError_t error_named(const char *name, size_t n)
{
	for (int code = 1; code < 1000; code++) {
		const char *is = error_name((cudaError_t)code);

		if (strlen(is) == n && !strncmp(is, name, n))
			return (cudaError_t)code;
	}
	return cudaSuccess;
}
