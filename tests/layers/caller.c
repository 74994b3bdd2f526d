/*
 * caller.c - a program that calls functions of the CUDA runtime by their names, for tests of the
 * layer shim. It brings no runtime along: whoever starts it preloads one, or names a plug-in.
 *
 *   caller registers           every function twice, with known registers and stack, compared with
 *                              what the runtime of stubs saw: prints how many, and what differs
 *   caller calls NAME=N...     N calls of each
 *   caller threads T N NAME... T threads, N calls of each
 *   caller fork NAME N         N calls, then a child that makes none
 *   caller kernels             registers two kernels, as nvcc's objects do, and launches one by its
 *                              function, twice, and one by its handle
 *   caller handles             calls of each kind with streams, events and graphs that are made,
 *                              used, and gone
 *   caller turns N             N times, two threads make four launches each, one after the other
 *   caller paging N MS         N allocations, MS milliseconds of other work, and how many us the
 *                              first use of the last allocation takes
 *   caller crossing KIND BYTES a copy of that kind (cudaMemcpyKind), asynchronous: how many us the
 *                              call takes, and which function the runtime has seen last
 *   caller aged                an operation, then no call: how many ms until the runtime has seen
 *                              it
 *   caller products FILE HOW   loads FILE, a cuBLAS, and asks it for two products (gemm, matmul):
 *                              how many were made at once, after a call that waits, and before a
 *                              function that only the library knows (other); inner: of one that
 *                              calls the library's own functions, alone
 *   caller plugin FILE         loads FILE for itself alone and calls its plugin()
 *   caller ask FILE N [far]    loads FILE, a runtime, asks it for cudaGetDeviceCount by its handle
 *                              and calls it N times; far: in a namespace of its own
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "tests/layers/stubs.h"

static const char *const names[] = {
#define RUNTIME_CALL(function, versions) #function,
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL
};

enum { NAMES = sizeof(names) / sizeof(*names) };

static void *find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found) {
		fprintf(stderr, "caller: no %s\n", name);
		exit(9);
	}
	return found;
}

/* ---- registers ------------------------------------------------------------------------------ */

/* Calls f with what is given; out: rax, rdx, xmm0, and rsp as f must find it. */
struct got {
	struct stub_answer answer;
	uint64_t sp;
};

void call_with(void *f, const struct stub_seen *given, struct got *out);

__asm__("	.text\n"
	"	.globl call_with\n"
	"call_with:\n"
	"	pushq %rbx\n	pushq %rbp\n	pushq %r12\n"
	"	movq %rdi, %rbp\n	movq %rsi, %rbx\n	movq %rdx, %r12\n"
	"	pushq 216(%rbx)\n	pushq 208(%rbx)\n	pushq 200(%rbx)\n	pushq "
	"192(%rbx)\n"
	"	leaq -8(%rsp), %rax\n	movq %rax, 32(%r12)\n"
	"	movups 64(%rbx), %xmm0\n	movups 80(%rbx), %xmm1\n"
	"	movups 96(%rbx), %xmm2\n	movups 112(%rbx), %xmm3\n"
	"	movups 128(%rbx), %xmm4\n	movups 144(%rbx), %xmm5\n"
	"	movups 160(%rbx), %xmm6\n	movups 176(%rbx), %xmm7\n"
	"	movq (%rbx), %rdi\n	movq 8(%rbx), %rsi\n	movq 16(%rbx), %rdx\n"
	"	movq 24(%rbx), %rcx\n	movq 32(%rbx), %r8\n	movq 40(%rbx), %r9\n"
	"	movq 48(%rbx), %rax\n	movq 56(%rbx), %r10\n"
	"	call *%rbp\n"
	"	movq %rax, (%r12)\n	movq %rdx, 8(%r12)\n	movups %xmm0, 16(%r12)\n"
	"	addq $32, %rsp\n"
	"	popq %r12\n	popq %rbp\n	popq %rbx\n"
	"	ret\n");

static uint64_t next_word(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static void fill(void *words, size_t bytes)
{
	uint64_t *w = words;

	for (size_t i = 0; i < bytes / sizeof(*w); i++)
		w[i] = next_word();
}

static bool passes_on(int call, int turn)
{
	struct stub_seen *(*seen)(void), given;
	struct stub_answer *(*answer)(void);
	struct got got;
	void *f = find(names[call]);

	*(void **)&seen = find("stubs_seen");
	*(void **)&answer = find("stubs_answer");
	fill(&given, sizeof(given));
	fill(answer(), sizeof(struct stub_answer));
	given.call = (uint64_t)call;
	memset(seen(), 0, sizeof(*seen()));
	call_with(f, &given, &got);
	given.sp = got.sp;
	if (!memcmp(seen(), &given, sizeof(given)) &&
	    !memcmp(answer(), &got.answer, sizeof(got.answer)))
		return true;
	printf("%s differs in call %d\n", names[call], turn + 1);
	return false;
}

static int registers(void)
{
	int same = 0;
	Dl_info first;

	for (int i = 0; i < NAMES; i++)
		for (int turn = 0; turn < 2; turn++)
			same += passes_on(i, turn);
	if (!dladdr(find("cudaMalloc"), &first))
		return 9;
	printf("%d functions, %d calls as they were made, through %s\n", NAMES, same,
	       strrchr(first.dli_fname, '/') + 1);
	return same != 2 * NAMES;
}

/* ---- counts --------------------------------------------------------------------------------- */

static void call(const char *name, long n)
{
	int (*f)(void);

	*(void **)&f = find(name);
	for (long i = 0; i < n; i++)
		f();
}

struct work {
	char **names;
	long n;
	pthread_barrier_t *start;
};

static void *call_all(void *arg)
{
	struct work *w = arg;

	pthread_barrier_wait(w->start);
	for (char **name = w->names; *name; name++)
		call(*name, w->n);
	return NULL;
}

static int threads(int n, long calls, char **what)
{
	enum { MOST = 64 };
	pthread_t thread[MOST];
	pthread_barrier_t start;
	struct work w = { what, calls, &start };

	if (n > MOST)
		return 9;
	pthread_barrier_init(&start, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, call_all, &w))
			return 9;
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

static const char first, second; /* stand in for host functions */

static void register_kernel(const char *function, const char *name)
{
	void (*f)(void *, const void *, char *, const char *, int, void *, void *, void *, void *,
		  int *);

	*(void **)&f = find("__cudaRegisterFunction");
	f(NULL, function, NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static int kernels(void)
{
	const void *handle = &handle; /* a runtime of stubs writes none */
	int (*get)(const void **, const void *), (*launch)(const void *);
	char name[] = "_Z6secondv";

	register_kernel(&first, "_Z5firstv");
	register_kernel(&second, name);
	*(void **)&get = find("__cudaGetKernel");
	if (get(&handle, &second))
		return 9;
	*(void **)&launch = find("cudaLaunchKernel");
	launch(&first);
	launch(&first);
	*(void **)&launch = find("__cudaLaunchKernel");
	launch(handle);
	memset(name, '?', sizeof(name) - 1); /* the image is gone before anything is written */
	return launch(&launch);
}

/* Stubs write no handle: what is there already is one. Eight words at most. */
#define CALL(name, ...) call_words(name, (const uint64_t[8]){ __VA_ARGS__ })

static void call_words(const char *name, const uint64_t *w)
{
	int (*f)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

	*(void **)&f = find(name);
	f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}

static uint64_t at(const uint64_t *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

/* On that stream: a launch, a copy and so on, of each kind that a capture takes, and an event. */
static void work(uint64_t stream, uint64_t event, uint64_t exec)
{
	CALL("cudaLaunchKernel", at(&event), 1, 2, 3, 4, 5, 6, stream);
	CALL("cudaMemcpyAsync", 1, 2, 300, 4, stream);
	CALL("cudaMemsetAsync", 1, 2, 400, stream);
	CALL("cudaGraphLaunch", exec, stream);
	CALL("cudaLaunchHostFunc", stream, 2, 3);
	CALL("cudaEventRecord", event, stream);
	CALL("cudaMallocAsync", 1, 500, stream);
}

static void default_streams(uint64_t event)
{
	uint64_t config[5] = { 1, 2, 3, 4, 0x5000 };

	CALL("cudaLaunchKernelExC", at(config), 2, 3);
	CALL("cudaLaunchKernelExC", 0, 2, 3);
	CALL("cudaLaunchKernelExC_ptsz", 0, 2, 3);
	for (uint64_t i = 0; i < 3; i++) {
		CALL("cudaStreamSynchronize", i);
		CALL("cudaStreamSynchronize_ptsz", i);
	}
	CALL("cudaMemcpy", 1, 2, 600, 4);
	CALL("cudaMemcpy_ptds", 1, 2, 700, 4);
	CALL("cudaMemset", 1, 2, 800);
	CALL("cudaEventSynchronize", event);
	CALL("cudaEventQuery", 0x9000); /* nobody has made it */
	CALL("cudaMallocHost", 1, 900);
	CALL("cudaMallocManaged", 1, 1000, 1);
	CALL("cudaFree", 1);
	CALL("cudaDeviceSynchronize", 0);
}

static int handles(void)
{
	const uint64_t s[] = { 0x5000, 0x5010, 0x5020, 0x5030 }, e[] = { 0x6000, 0x5000 },
		       g = 0x5000;

	CALL("cudaStreamCreate", at(&s[0]));
	CALL("cudaStreamCreateWithFlags", at(&s[1]), 1);
	CALL("cudaStreamCreateWithFlags", at(&s[2]), 2);
	CALL("cudaStreamCreateWithPriority", at(&s[3]), 3, (uint64_t)-5);
	CALL("cudaEventCreate", at(&e[0]));
	CALL("cudaEventCreateWithFlags", at(&e[1]), 0);
	CALL("cudaGraphInstantiate", at(&g), 2, 3);
	for (int i = 0; i < 4; i++)
		work(s[i], e[i / 2], g);
	CALL("cudaStreamWaitEvent", s[3], e[1], 0);
	default_streams(e[0]);
	CALL("cudaStreamEndCapture", s[0], at(&g)); /* of none */
	CALL("cudaStreamBeginCapture", s[0], 1);
	CALL("cudaStreamBeginCaptureToGraph", s[1], 2, 3, 4, 5, 6);
	CALL("cudaStreamEndCapture", s[1], at(&g));
	work(s[0], e[0], g);
	CALL("cudaStreamEndCapture", s[0], at(&g));
	CALL("cudaStreamDestroy", s[0]);
	CALL("cudaEventDestroy", e[1]);
	CALL("cudaGraphExecDestroy", g);
	CALL("cudaStreamDestroy", 0x7000);
	work(s[0], e[1], g); /* others in their places */
	return 0;
}

struct turns {
	pthread_barrier_t next;
	char *n;
};

static void take_turns(struct turns *t, int thread)
{
	for (int i = 0; i < 2 * atoi(t->n); i++) {
		if (i % 2 == thread)
			call("cudaLaunchKernel", 4);
		pthread_barrier_wait(&t->next);
	}
}

static void *second_thread(void *turns)
{
	take_turns(turns, 1);
	return NULL;
}

static int turns(char *n)
{
	struct turns t = { .n = n };
	pthread_t thread;

	pthread_barrier_init(&t.next, NULL, 2);
	if (pthread_create(&thread, NULL, second_thread, &t))
		return 9;
	take_turns(&t, 0);
	return pthread_join(thread, NULL);
}

/* ---- cuBLAS -----------------------------------------------------------------------------------
 */

/* By the handle, as ctypes does: also the library's own functions. */
static void *find_in(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "caller: no %s\n", name);
		exit(9);
	}
	return found;
}

static void *blas;

static int gemm(const float *alpha)
{
	static const float none;
	int (*create)(void **), (*set_stream)(void *, void *);
	static int (*f)(void *, int, int, int, int, int, const float *, const void *, int, int,
			const void *, int, int, const float *, void *, int, int, int, int);
	static void *handle;
	char at[3];

	if (!handle) {
		*(void **)&create = find_in(blas, "cublasCreate_v2");
		*(void **)&set_stream = find_in(blas, "cublasSetStream_v2");
		if (create(&handle) || set_stream(handle, NULL))
			return 9;
		*(void **)&f = find_in(blas, "cublasGemmEx");
	}
	return f(handle, 1, 2, 3, 4, 5, alpha, at, 0, 6, at + 1, 0, 7, &none, at + 2, 0, 8, 68, -1);
}

static int matmul(const float *alpha)
{
	static const float none;
	int (*create)(void **, int, int);
	static int (*f)(void *, void *, const float *, const void *, const void *, const void *,
			const void *, const float *, const void *, const void *, void *,
			const void *, const void *, void *, size_t, void *);
	static void *desc;
	char at[4], algo[64] = "algo";

	if (!desc) {
		*(void **)&create = find_in(blas, "cublasLtMatmulDescCreate");
		*(void **)&f = find_in(blas, "cublasLtMatmul");
		if (create(&desc, 68, 0))
			return 9;
	}
	return f(NULL, desc, alpha, at, NULL, at + 1, NULL, &none, at + 2, NULL, at + 3, NULL, algo,
		 NULL, 9, NULL);
}

static int made(float alpha[2])
{
	static void (*seen)(int *, int *, float *, const void **);
	const void *stream;
	int products, others;

	if (!seen)
		*(void **)&seen = find_in(blas, "blas_seen");
	seen(&products, &others, alpha, &stream);
	return products;
}

static int inner_product(void)
{
	int (*f)(void), made_then;
	float got[2];

	*(void **)&f = find_in(blas, "cublasDgemm_v2");
	if (f())
		return 9;
	made_then = made(got);
	printf("inner %d\n", made_then);
	return 0;
}

static int products(const char *file, const char *how)
{
	int (*product)(const float *) = *how == 'm' ? matmul : gemm, (*other)(void);
	float alpha = 1, got[2];
	int at_once, before_other = -1, in_the_end, err;

	/* looking a function up is a load, and nothing waits where something is loaded */
	blas = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
	if (!blas)
		return 9;
	if (!strcmp(how, "inner"))
		return inner_product();
	*(void **)&other = find_in(blas, "cublasSgemm_v2");
	made(got);
	err = product(&alpha);
	alpha = 2; /* what was given was 1 */
	err = err ? err : product(&alpha);
	alpha = 3;
	at_once = made(got);
	if (strchr(how, 'o'))
		before_other = other();
	call("cudaDeviceSynchronize", 1);
	in_the_end = made(got);
	printf("at once %d, before another %d, after a wait %d, factors %g and %g\n", at_once,
	       before_other, in_the_end, (double)got[0], (double)got[1]);
	return err;
}

/* ---- a plug-in --------------------------------------------------------------------------------
 */

static int plugin(const char *file)
{
	void *loaded = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	int (*run)(void), err;

	if (!loaded) {
		fprintf(stderr, "caller: %s\n", dlerror());
		return 9;
	}
	*(void **)&run = dlsym(loaded, "plugin");
	err = run();
	printf("the plug-in returns %d\n", err);
	return err;
}

/* As Python's ctypes does. */
static int ask(const char *file, long n, bool far)
{
	void *loaded = far ? dlmopen(LM_ID_NEWLM, file, RTLD_NOW) : dlopen(file, RTLD_NOW);
	int (*count)(int *), devices, err = 0;

	if (!loaded) {
		fprintf(stderr, "caller: %s\n", dlerror());
		return 9;
	}
	*(void **)&count = dlsym(loaded, "cudaGetDeviceCount");
	for (long i = 0; i < n; i++)
		err = err ? err : count(&devices);
	/* nothing else is changed: a name that it lacks, a function of libc, and the next of it */
	if (dlsym(loaded, "cudaNoSuchFunction") || dlsym(RTLD_DEFAULT, "free") != (void *)free ||
	    !dlsym(RTLD_NEXT, "free"))
		return 8;
	return err;
}

/* The calls, then a child that makes none and ends. */
static int fork_after(const char *name, long n)
{
	pid_t child;
	int status;

	call(name, n);
	child = fork();
	if (!child)
		exit(0);
	return child < 0 || waitpid(child, &status, 0) != child || status;
}

/* ---- time ----------------------------------------------------------------------------------- */

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int set_async(void *memory)
{
	int (*f)(void *, int, size_t, void *);

	*(void **)&f = find("cudaMemsetAsync");
	return f(memory, 0, 16, NULL);
}

/* The runtime of stubs gives no memory: an address stays as it was. */
static int paging(int allocations, double ms)
{
	void *memory = NULL;
	int (*allocate)(void **, size_t);
	double start = now_us();

	*(void **)&allocate = find("cudaMalloc");
	for (int i = 1; i <= allocations; i++) {
		memory = (void *)(0x10000000ul * (unsigned long)i);
		allocate(&memory, 4096);
	}
	printf("allocated after %.0f us; ", now_us() - start);
	while (now_us() - start < 1000 * ms)
		;
	printf("worked %.0f us; ", now_us() - start);
	start = now_us();
	set_async(memory);
	printf("first use %.0f us; ", now_us() - start);
	start = now_us();
	set_async(memory);
	printf("second use %.0f us\n", now_us() - start);
	return 0;
}

static int crossing(int kind, size_t bytes)
{
	int (*f)(void *, const void *, size_t, int, void *);
	struct stub_seen *(*seen)(void);
	char *to = malloc(bytes), *from = malloc(bytes);
	double start;

	if (!to || !from)
		return 9;
	*(void **)&f = find("cudaMemcpyAsync");
	*(void **)&seen = find("stubs_seen");
	start = now_us();
	if (f(to, from, bytes, kind, NULL))
		return 8;
	printf("took %.0f us, last %s\n", now_us() - start, names[seen()->call]);
	free(to);
	free(from);
	return 0;
}

static int aged(void)
{
	struct stub_seen *(*seen)(void);
	double start = now_us();
	uint64_t set = 0, before;

	while (strcmp(names[set], "cudaMemsetAsync") != 0)
		set++;
	*(void **)&seen = find("stubs_seen");
	memset(seen(), 0, sizeof(*seen()));
	set_async((void *)0x1000);
	before = __atomic_load_n(&seen()->call, __ATOMIC_RELAXED);
	/* the layer may have made calls of its own after it */
	while (before != set && __atomic_load_n(&seen()->call, __ATOMIC_RELAXED) == before &&
	       now_us() - start < 2e6)
		usleep(100);
	printf("seen after %.0f ms\n", (now_us() - start) / 1000);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "registers"))
		return registers();
	if (!strcmp(what, "threads") && argc > 4)
		return threads(atoi(argv[2]), atol(argv[3]), argv + 4);
	if (!strcmp(what, "handles"))
		return handles();
	if (!strcmp(what, "kernels"))
		return kernels();
	if (!strcmp(what, "fork") && argc > 3)
		return fork_after(argv[2], atol(argv[3]));
	if (!strcmp(what, "turns") && argc > 2)
		return turns(argv[2]);
	if (!strcmp(what, "paging") && argc > 3)
		return paging(atoi(argv[2]), atof(argv[3]));
	if (!strcmp(what, "crossing") && argc > 3)
		return crossing(atoi(argv[2]), (size_t)atol(argv[3]));
	if (!strcmp(what, "aged"))
		return aged();
	if (!strcmp(what, "products") && argc > 3)
		return products(argv[2], argv[3]);
	if (!strcmp(what, "plugin") && argc > 2)
		return plugin(argv[2]);
	if (!strcmp(what, "ask") && argc > 3)
		return ask(argv[2], atol(argv[3]), argc > 4);
	if (strcmp(what, "calls") != 0)
		return 9;
	for (char **word = argv + 2; *word; word++) {
		char *equals = strchr(*word, '=');

		*equals = '\0';
		call(*word, atol(equals + 1));
	}
	return 0;
}
