/*
 * wrapper.c - a preloaded library that logs calls of the CUDA runtime, one line a call:
 *
 *   LD_PRELOAD=build/cpu/tests/wrapper.so RIFT_WRAPPER_LOG=calls.txt build/cpu/rift run myocyte
 *
 *   cudaMalloc 728 = 0
 *   cudaLaunchKernel myocyte_attempts_double grid 1,1,1 block 32,1,1 shared 0 params 192,8 = 0
 *
 * What follows = is the error code. There are no addresses and no handles in it: a program
 * should leave the same log on the CPU device and on a GPU. Written when a call returns. Stands
 * for the layers that rift measures, many of which are such wrappers.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };

static int log_fd = -1;

static void open_log(void)
{
	const char *path = getenv("RIFT_WRAPPER_LOG");

	if (path)
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (path && log_fd < 0)
		perror(path);
}

/* One write a line, so that lines of several threads stay whole. */
__attribute__((format(printf, 1, 2))) static void log_call(const char *format, ...)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char line[LINE_BYTES];
	va_list args;
	int n;

	pthread_once(&once, open_log);
	if (log_fd < 0)
		return;
	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n >= LINE_BYTES)
		n = LINE_BYTES - 1;
	if (write(log_fd, line, (size_t)n) != n)
		perror("RIFT_WRAPPER_LOG");
}

/* The runtime's own function behind this one. */
static void *next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f) {
		fprintf(stderr, "wrapper: %s\n", dlerror());
		abort();
	}
	return f;
}

/* WRAP(function, its parameters, its arguments, format of the line, its values) */
#define WRAP(name, parameters, arguments, ...)                                                     \
	cudaError_t name parameters                                                                \
	{                                                                                          \
		cudaError_t(*real) parameters = (cudaError_t(*) parameters)next(#name);            \
		cudaError_t error = real arguments;                                                \
                                                                                                   \
		log_call(#name __VA_ARGS__, error);                                                \
		return error;                                                                      \
	}

WRAP(cudaMalloc, (void **ptr, size_t bytes), (ptr, bytes), " %zu = %d\n", bytes)
WRAP(cudaFree, (void *ptr), (ptr), " %s= %d\n", ptr ? "" : "NULL ")
WRAP(cudaMallocAsync, (void **ptr, size_t bytes, cudaStream_t stream), (ptr, bytes, stream),
     " %zu = %d\n", bytes)
WRAP(cudaFreeAsync, (void *ptr, cudaStream_t stream), (ptr, stream), " %s= %d\n",
     ptr ? "" : "NULL ")
WRAP(cudaMallocHost, (void **ptr, size_t bytes), (ptr, bytes), " %zu = %d\n", bytes)
WRAP(cudaHostAlloc, (void **ptr, size_t bytes, unsigned flags), (ptr, bytes, flags),
     " %zu flags %u = %d\n", bytes, flags)
WRAP(cudaFreeHost, (void *ptr), (ptr), " %s= %d\n", ptr ? "" : "NULL ")
WRAP(cudaHostRegister, (void *ptr, size_t bytes, unsigned flags), (ptr, bytes, flags),
     " %zu flags %u = %d\n", bytes, flags)
WRAP(cudaHostUnregister, (void *ptr), (ptr), " = %d\n")
WRAP(cudaStreamSynchronize, (cudaStream_t stream), (stream), " = %d\n")
WRAP(cudaEventSynchronize, (cudaEvent_t event), (event), " = %d\n")
WRAP(cudaDeviceSynchronize, (void), (), " = %d\n")
WRAP(cudaGraphInstantiate, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
     (exec, graph, flags), " flags %llu = %d\n", flags)
WRAP(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream), " = %d\n")
WRAP(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode),
     " mode %d = %d\n", (int)mode)
WRAP(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph), " = %d\n")
WRAP(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream), " = %d\n")

/* ---- copies ----------------------------------------------------------------------------- */

WRAP(cudaMemcpy, (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind),
     (dst, src, bytes, kind), " %zu kind %d = %d\n", bytes, (int)kind)
WRAP(cudaMemcpyAsync,
     (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
     (dst, src, bytes, kind, stream), " %zu kind %d = %d\n", bytes, (int)kind)
WRAP(cudaMemcpy2D,
     (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
      enum cudaMemcpyKind kind),
     (dst, dst_pitch, src, src_pitch, width, height, kind), " %zu x %zu kind %d = %d\n", width,
     height, (int)kind)
WRAP(cudaMemcpy2DAsync,
     (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
      enum cudaMemcpyKind kind, cudaStream_t stream),
     (dst, dst_pitch, src, src_pitch, width, height, kind, stream), " %zu x %zu kind %d = %d\n",
     width, height, (int)kind)
WRAP(cudaMemcpyToSymbol,
     (const void *symbol, const void *src, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
     (symbol, src, bytes, offset, kind), " %zu at %zu kind %d = %d\n", bytes, offset, (int)kind)
WRAP(cudaMemcpyToSymbolAsync,
     (const void *symbol, const void *src, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     (symbol, src, bytes, offset, kind, stream), " %zu at %zu kind %d = %d\n", bytes, offset,
     (int)kind)
WRAP(cudaMemcpyFromSymbol,
     (void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
     (dst, symbol, bytes, offset, kind), " %zu at %zu kind %d = %d\n", bytes, offset, (int)kind)
WRAP(cudaMemcpyFromSymbolAsync,
     (void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     (dst, symbol, bytes, offset, kind, stream), " %zu at %zu kind %d = %d\n", bytes, offset,
     (int)kind)
WRAP(cudaMemset, (void *dst, int value, size_t bytes), (dst, value, bytes), " %zu = %d\n", bytes)
WRAP(cudaMemsetAsync, (void *dst, int value, size_t bytes, cudaStream_t stream),
     (dst, value, bytes, stream), " %zu = %d\n", bytes)

/* ---- launches --------------------------------------------------------------------------- */

/* Sizes in bytes, "272,8"; "-" for no parameters. */
static void describe_parameters(const void *kernel, char text[LINE_BYTES])
{
	cudaError_t (*info)(const void *, size_t, size_t *, size_t *) = (cudaError_t(*)(
		const void *, size_t, size_t *, size_t *))next("cudaFuncGetParamInfo");
	size_t offset, bytes, n = 0;

	text[n++] = '-';
	text[n] = '\0';
	for (size_t i = 0; n < 300 && !info(kernel, i, &offset, &bytes); i++) {
		n = i ? n : 0;
		n += (size_t)snprintf(text + n, LINE_BYTES - n, "%s%zu", i ? "," : "", bytes);
	}
}

/*
 * Asking for one parameter too many leaves an error, which the program must not find. Where
 * there already is one, that one must stay, so nothing is asked.
 */
static void describe_kernel(const void *kernel, const char **name, char sizes[LINE_BYTES])
{
	cudaError_t (*get_name)(const char **, const void *) =
		(cudaError_t(*)(const char **, const void *))next("cudaFuncGetName");

	*name = "?";
	snprintf(sizes, LINE_BYTES, "?");
	if (cudaPeekAtLastError())
		return;
	if (!get_name(name, kernel))
		describe_parameters(kernel, sizes);
	cudaGetLastError();
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
			     size_t shared_bytes, cudaStream_t stream)
{
	cudaError_t (*real)(const void *, dim3, dim3, void **, size_t, cudaStream_t) =
		(cudaError_t(*)(const void *, dim3, dim3, void **, size_t, cudaStream_t))next(
			"cudaLaunchKernel");
	char sizes[LINE_BYTES];
	const char *name;

	describe_kernel(kernel, &name, sizes);
	cudaError_t error = real(kernel, grid, block, args, shared_bytes, stream);

	log_call("cudaLaunchKernel %.100s grid %u,%u,%u block %u,%u,%u shared %zu params %.250s = "
		 "%d\n",
		 name, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, sizes,
		 error);
	return error;
}

/* As cudaLaunchKernel, and the number of attributes. */
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
	cudaError_t (*real)(const cudaLaunchConfig_t *, const void *, void **) = (cudaError_t(*)(
		const cudaLaunchConfig_t *, const void *, void **))next("cudaLaunchKernelExC");
	char sizes[LINE_BYTES];
	const char *name;

	describe_kernel(kernel, &name, sizes);
	cudaError_t error = real(config, kernel, args);

	if (!config)
		log_call("cudaLaunchKernelExC %.100s without configuration = %d\n", name, error);
	else
		log_call(
			"cudaLaunchKernelExC %.100s grid %u,%u,%u block %u,%u,%u shared %zu params "
			"%.250s attributes %u = %d\n",
			name, config->gridDim.x, config->gridDim.y, config->gridDim.z,
			config->blockDim.x, config->blockDim.y, config->blockDim.z,
			config->dynamicSmemBytes, sizes, config->numAttrs, error);
	return error;
}
