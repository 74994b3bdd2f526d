/*
 * traced.cu - a program whose calls tests know by number, to be recorded (test_cpu_trace.c).
 *
 *   traced WORD...      does what each word says, in that order; see `words` below
 */
#include "common/gpu.h"
#include "common/cuda_check.h"

#include <cuda_profiler_api.h>
#include <cpudev_trace.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static __global__ void count(int *counter)
{
	atomicAdd(counter, 1);
}
KERNEL(count);

static int *counter(void)
{
	static int *memory;

	if (!memory)
		CUDA(cudaMalloc((void **)&memory, sizeof(*memory)));
	return memory;
}

static void launch(cudaStream_t stream)
{
	LAUNCH(count, 2, 32, 0, stream, counter());
}

static void launch_ten(void)
{
	counter();
	for (int i = 0; i < 10; i++)
		launch(0);
	CUDA(cudaDeviceSynchronize());
}

/* 200 times: three launches, a record, a wait for it on another stream, a synchronize. */
static void periods(void)
{
	cudaStream_t a, b;
	cudaEvent_t event;

	CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CUDA(cudaStreamCreate(&b));
	CUDA(cudaEventCreate(&event));
	counter();
	for (int i = 0; i < 200; i++) {
		for (int j = 0; j < 3; j++)
			launch(a);
		CUDA(cudaEventRecord(event, a));
		CUDA(cudaStreamWaitEvent(b, event, 0));
		CUDA(cudaStreamSynchronize(b));
	}
}

/* More than there is of memory, and of numbers in JSON. */
static void too_much(void)
{
	void *none;

	if (cudaMalloc(&none, (size_t)-1) != cudaErrorMemoryAllocation)
		exit(9);
}

static void host_function(void *)
{
	usleep(1000);
}

/* One call of each class and kind of memory. */
static void every(void)
{
	void *device, *pinned;
	char pageable[4096];
	cudaStream_t s;

	memset(pageable, 1, sizeof(pageable));
	CUDA(cudaMalloc(&device, 4096));
	CUDA(cudaMallocHost(&pinned, 4096));
	CUDA(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -1));
	CUDA(cudaMemsetAsync(device, 0, 100, s));
	CUDA(cudaMemcpyAsync(device, pinned, 200, cudaMemcpyHostToDevice, s));
	CUDA(cudaMemcpyAsync(pinned, device, 300, cudaMemcpyDeviceToHost, s));
	CUDA(cudaMemcpy(device, pageable, 400, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy2D(device, 64, (char *)device + 2048, 64, 50, 10, cudaMemcpyDeviceToDevice));
	CUDA(cudaLaunchHostFunc(s, host_function, NULL));
	CUDA(cudaStreamSynchronize(s));
	(void)cudaStreamQuery(s);
	CUDA(cudaFreeHost(pinned));
	CUDA(cudaFree(device));
}

static void graph(void)
{
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t x;

	counter();
	CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	launch(s);
	launch(s);
	CUDA(cudaMemsetAsync(counter(), 0, 4, s));
	CUDA(cudaStreamEndCapture(s, &g));
	CUDA(cudaGraphInstantiate(&x, g, 0));
	for (int i = 0; i < 5; i++)
		CUDA(cudaGraphLaunch(x, s));
	CUDA(cudaStreamSynchronize(s));
}

static void *launch_many(void *)
{
	cudaStream_t s;

	CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (int i = 0; i < 500; i++)
		launch(s);
	CUDA(cudaStreamSynchronize(s));
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];

	counter();
	for (pthread_t &t : thread)
		pthread_create(&t, NULL, launch_many, NULL);
	for (pthread_t &t : thread)
		pthread_join(t, NULL);
}

/* Another range with the launches in it, and some in none. */
static void ranges(void)
{
	cpudev_range_push("outer");
	launch_ten();
	cpudev_range_push("inner \"quoted\"");
	launch_ten();
	cpudev_range_pop();
	cpudev_range_pop();
	launch_ten();
}

static void wait_for_gate(void *gate)
{
	while (!__atomic_load_n((int *)gate, __ATOMIC_ACQUIRE))
		usleep(1000);
}

/* A range that only queues: the device may not begin before it has ended. */
static void queued(void)
{
	static int gate;

	counter();
	CUDA(cudaLaunchHostFunc(0, wait_for_gate, &gate));
	cpudev_range_push("queued");
	for (int i = 0; i < 1000; i++)
		launch(0);
	cpudev_range_pop();
	__atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
	CUDA(cudaDeviceSynchronize());
}

static void profiler(void)
{
	launch_ten();
	CUDA(cudaProfilerStop());
	launch_ten();
	CUDA(cudaProfilerStart());
	launch_ten();
	CUDA(cudaProfilerStop());
}

/* Others may have the core meanwhile: so much of the thread's own time. */
static void compute(int64_t ns)
{
	struct timespec t;
	int64_t begun = -1, now;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000000LL + t.tv_nsec;
		begun = begun < 0 ? now : begun;
	} while (now - begun < ns);
}

/* A gap in which the thread computes, and one in which it sleeps, each before a synchronize. */
static void gaps(void)
{
	launch_ten();
	compute(20000000);
	CUDA(cudaDeviceSynchronize());
	usleep(100000);
	CUDA(cudaDeviceSynchronize());
}

static void in_child(void (*run)(void))
{
	pid_t child = fork();

	if (child == 0) {
		run();
		exit(0);
	}
	printf("child %d\n", (int)child);
	waitpid(child, NULL, 0);
}

static void fork_first(void)
{
	in_child(launch_ten);
}

/* Itself again, by exec. */
static void exec_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		execl("/proc/self/exe", "traced", "ten", (char *)NULL);
		_exit(9);
	}
	printf("child %d\n", (int)child);
	waitpid(child, NULL, 0);
}

static void long_run(void)
{
	for (int i = 0; i < 60000; i++)
		launch(0);
	CUDA(cudaDeviceSynchronize());
}

/* Until somebody ends it. */
static void forever(void)
{
	for (;;) {
		launch_ten();
		usleep(1000);
	}
}

static void die(void)
{
	fflush(NULL);
	sleep(3); /* longer than rows wait to be folded */
	raise(SIGKILL);
}

/* Ends that no atexit() handler sees. */
static void leave(void)
{
	_exit(5);
}

static void leave_quickly(void)
{
	quick_exit(6);
}

static void become_another(void)
{
	execl("/proc/self/exe", "traced", "ten", "fail", (char *)NULL);
	exit(9);
}

static void try_to_become(void)
{
	char *const none[] = { NULL };

	if (execv("/none/such", none) != -1 || errno != ENOENT)
		exit(9);
}

static void workers(void)
{
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			launch_ten();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static void leave_by(int)
{
	_exit(8);
}

/* Wherever the thread is then: in malloc(), in the runtime, in the recorder. */
static void leave_in_handler(void)
{
	signal(SIGALRM, leave_by);
	for (int i = 0; i < 200; i++) /* past the recorder's own beginning, which may take long */
		launch(0);
	ualarm(150000, 0);
	for (;;) {
		free(malloc(100));
		launch(0);
	}
}

/* A child that shares its parent's memory: nothing of the parent's ends with it. */
static void vforked(void)
{
	pid_t child = vfork();

	if (!child)
		_exit(execl("/none/such", "none", (char *)NULL));
	waitpid(child, NULL, 0);
}

static void go_elsewhere(void)
{
	if (chdir("/"))
		exit(9);
}

/* As daemons do, and then a file of its own, under the first number that is free. */
static void close_all(void)
{
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	for (int i = 0; i < 8; i++)
		if (open(getenv("TRACED_FILE"), O_WRONLY | O_CREAT | O_APPEND, 0600) < 0)
			exit(9);
}

static void print(void)
{
	puts("printed");
	fputs("complained\n", stderr);
}

static void fail(void)
{
	exit(7);
}

static const struct {
	const char *word;
	void (*run)(void);
} words[] = {
	{ "ten", launch_ten },
	{ "periods", periods },
	{ "every", every },
	{ "graph", graph },
	{ "threads", threads },
	{ "ranges", ranges },
	{ "queued", queued },
	{ "profiler", profiler },
	{ "gaps", gaps },
	{ "fork", fork_first },
	{ "exec", exec_child },
	{ "long", long_run },
	{ "forever", forever },
	{ "die", die },
	{ "abort", abort },
	{ "print", print },
	{ "elsewhere", go_elsewhere },
	{ "fail", fail },
	{ "close", close_all },
	{ "much", too_much },
	{ "leave", leave },
	{ "quick", leave_quickly },
	{ "become", become_another },
	{ "try", try_to_become },
	{ "workers", workers },
	{ "handler", leave_in_handler },
	{ "vfork", vforked },
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (const auto &w : words)
			if (!strcmp(argv[i], w.word))
				w.run();
	return 0;
}
