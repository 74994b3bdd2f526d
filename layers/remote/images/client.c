/*
 * client.c - a program with fat binaries, for tests of the layer remote: its kernels were compiled
 * by nvcc (remake.sh). Runs what its arguments name, one after the other, and prints what each
 * returned.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As the toolkit declares them, which need not be here. */
struct dim {
	unsigned x, y, z;
};

int cudaMalloc(void **memory, size_t bytes);
int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaDeviceGetDefaultMemPool(void **pool, int device);
int cudaMemPoolSetAttribute(void *pool, int attribute, void *value);
int cudaMemPoolTrimTo(void *pool, size_t bytes);
const char *cudaGetErrorName(int error);
const char *cudaGetErrorString(int error);
int cudaGraphCreate(void **graph, unsigned flags);
int cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *exec, void *stream);
int cudaLaunchKernel(const void *function, struct dim grid, struct dim block, void **arguments,
		     size_t shared_bytes, void *stream);
void **__cudaRegisterFatBinary(const void *wrapper);
void __cudaUnregisterFatBinary(void **image);
void __cudaRegisterFunction(void **image, const void *function, char *device_function,
			    const char *name, int threads, void *tid, void *bid, void *block,
			    void *grid, int *warp);

/* Each launches its kernels, or uses its variables. */
int run_plain(void *to);
int run_variables(void);
int run_template(void *to);
int run_rdc(void *to);
int run_rdc_variable(void);
int run_ptx(void *to);
int run_arguments(void *to);
int run_attribute(void *to);
int run_per_thread(void *to);

static uint8_t function[3]; /* only their addresses count */

static int launch(const void *kernel)
{
	struct dim one = { 1, 1, 1 };

	return cudaLaunchKernel(kernel, one, one, NULL, 0, NULL);
}

/* A wrapper that is none, around a fat binary that is none. */
static int run_bad_wrapper(void)
{
	static const uint32_t nothing[8] = { 0x12345678 };
	static const struct {
		uint32_t magic, version;
		const void *data, *more;
	} wrapper = { 0x466243b1, 1, nothing, NULL };

	__cudaRegisterFunction(__cudaRegisterFatBinary(&wrapper), &function[0], NULL, "k", -1, NULL,
			       NULL, NULL, NULL, NULL);
	return launch(&function[0]);
}

/* Its header is right, its body is not. */
static int run_bad_body(void)
{
	static const struct {
		uint32_t magic;
		uint16_t version, header;
		uint64_t bytes;
		uint8_t body[64];
	} fat = { 0xba55ed50u, 1, 16, 64, { 1 } };
	static const struct {
		uint32_t magic, version;
		const void *data, *more;
	} wrapper = { 0x466243b1, 1, &fat, NULL };

	__cudaRegisterFunction(__cudaRegisterFatBinary(&wrapper), &function[1], NULL, "k", -1, NULL,
			       NULL, NULL, NULL, NULL);
	return launch(&function[1]);
}

static int run_unknown_kernel(void)
{
	return launch(&function[2]);
}

static int run_copies(uint8_t *to)
{
	enum { BYTES = 3 << 20 };
	uint8_t *from = malloc(BYTES), *back = calloc(BYTES, 1);
	int error;

	for (int i = 0; i < BYTES; i++)
		from[i] = (uint8_t)(i * 7 + (i >> 12));
	error = cudaMemcpy(to, from, BYTES, 1);
	error = error ? error : cudaMemcpy(back, to, BYTES, 2);
	error = error ? error : memcmp(from, back, BYTES);
	free(from);
	free(back);
	return error;
}

static int run_pool(void)
{
	enum { THRESHOLD = 4, REUSE = 1 };
	uint64_t all = UINT64_MAX;
	void *pool = NULL;

	return cudaDeviceGetDefaultMemPool(&pool, 0) ||
	       cudaMemPoolSetAttribute(pool, THRESHOLD, &all) || cudaMemPoolTrimTo(pool, 12345) ||
	       !cudaMemPoolTrimTo(&pool, 0) || !cudaMemPoolSetAttribute(pool, REUSE, &all);
}

/* A function that the CPU device does not have. */
static int run_with_flags(void)
{
	void *graph, *exec = NULL;

	return cudaGraphCreate(&graph, 0) || cudaGraphInstantiateWithFlags(&exec, graph, 0) ||
	       cudaGraphLaunch(exec, NULL);
}

/* As a program does that is linked with the driver's library. */
static int run_driver(void)
{
	void *found = dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2");
	int (*get)(const char *, void **, int, uint64_t, void *);
	void *function = NULL;

	memcpy(&get, &found, sizeof(get));
	return found ? get("cuInit", &function, 13000, 0, NULL) : -1;
}

/* As a program that is linked with cuBLAS, or has loaded it for all to see. */
static int run_cublas(void)
{
	void *found = dlsym(RTLD_DEFAULT, "cublasCreate_v2"), *handle = NULL;
	int (*create)(void **);

	memcpy(&create, &found, sizeof(create));
	return found ? create(&handle) : -1;
}

/* As one that opens the library by its name: a handle, and a function that the layer lacks. */
static int run_cublas_by_name(void)
{
	void *library = dlopen("libcublas.so.13", RTLD_NOW), *handle = NULL;
	void *found = library ? dlsym(library, "cublasCreate_v2") : NULL;
	void *other = library ? dlsym(library, "cublasSgemm_v2") : NULL;
	int (*create)(void **), (*multiply)(void *);

	memcpy(&create, &found, sizeof(create));
	memcpy(&multiply, &other, sizeof(multiply));
	return found && other && !create(&handle) ? multiply(handle) : -1;
}

static int run(const char *name, void *to)
{
#define NAMED(function, ...)                                                                       \
	if (!strcmp(name, #function))                                                              \
		return run_##function(__VA_ARGS__);
	NAMED(plain, to)
	NAMED(variables, )
	NAMED(template, to)
	NAMED(rdc, to)
	NAMED(rdc_variable, )
	NAMED(ptx, to)
	NAMED(arguments, to)
	NAMED(attribute, to)
	NAMED(per_thread, to)
	NAMED(bad_wrapper, )
	NAMED(bad_body, )
	NAMED(unknown_kernel, )
	NAMED(copies, to)
	NAMED(pool, )
	NAMED(with_flags, )
	NAMED(driver, )
	NAMED(cublas, )
	NAMED(cublas_by_name, )
#undef NAMED
	if (!strcmp(name, "reset"))
		return cudaDeviceReset();
	if (!strcmp(name, "error_name"))
		return puts(cudaGetErrorName(2)) < 0;
	if (!strcmp(name, "no_daemon"))
		return printf("%s, %s\n", cudaGetErrorName(3), cudaGetErrorString(3)) < 0;
	return -1;
}

/* Addresses that the program uses: the recorder gives out memory there (test_recorder.h). */
static void take_addresses(void)
{
	void *at = mmap((void *)0x500000000000, 64 << 20, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	printf("taken: %d\n", at == (void *)0x500000000000);
}

/* Memory that stays: where Linux maps what the program asks for. */
static void say_where(void)
{
	printf("where: %p\n",
	       mmap(NULL, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

int main(int argc, char **argv)
{
	void *to = NULL;
	int error;

	if (argc > 1 && !strcmp(argv[1], "taken"))
		take_addresses();
	if (argc > 1 && !strcmp(argv[1], "where"))
		say_where();
	error = cudaMalloc(&to, 4 << 20);
	printf("memory: %d\n", error);
	for (int i = 1; i < argc; i++)
		printf("%s: %d\n", argv[i], run(argv[i], to));
	printf("end: %d\n", cudaDeviceSynchronize());
	return error != 0;
}
