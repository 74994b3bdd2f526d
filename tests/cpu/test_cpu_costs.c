/*
 * test_cpu_costs.c - costs that the CPU device's settings add to calls. The device reads the time
 * from a clock of this program's own, which moves by a microsecond at each reading: what a call
 * costs is then exact, however busy the machine is. bench/cpu_costs.c has the real clock.
 */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

const void *k_nothing(void);
const void *symbol_variable(void);

TestSuite(small_cpu_costs, .timeout = 300);

enum { TICK_NS = 1000, COST_NS = 1000000, SOME_TICKS_NS = 50 * TICK_NS };

/* ---- the clock -------------------------------------------------------------------------- */

static __thread bool has_own_clock; /* the thread that is charged */
static atomic_int_least64_t own_ns;

/* In front of the C library's, for the device too. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	if (!has_own_clock)
		return (int)syscall(SYS_clock_gettime, id, t);
	int64_t ns = atomic_fetch_add(&own_ns, TICK_NS) + TICK_NS;

	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}

/* Without polling, which reads the clock too. */
static void set_cost(const char *name)
{
	setenv(name, "1000000", 1);
	setenv("RIFT_CPU_SPIN_US", "0", 1);
	has_own_clock = true;
}

#define SPENDS(want_ns, call)                                                                      \
	do {                                                                                       \
		int64_t start_ = own_ns;                                                           \
		call;                                                                              \
		int64_t spent_ = own_ns - start_;                                                  \
		cr_assert((want_ns) <= spent_ && spent_ <= (want_ns) + SOME_TICKS_NS,              \
			  "line %d: %s: %ld ns", __LINE__, #call, (long)spent_);                   \
	} while (0)
#define COSTS(call) SPENDS(COST_NS, OK(call))
#define IS_FREE(call) SPENDS(0, OK(call))
#define REFUSED_IS_FREE(call) SPENDS(0, cr_assert(call, "%s is not refused", #call))

/* ---- what costs ------------------------------------------------------------------------- */

static cudaError_t launch_kernel(unsigned grid, cudaStream_t s)
{
	return cudaLaunchKernel(k_nothing(), blocks(grid), blocks(1), NULL, 0, s);
}

static cudaError_t launch_by_structure(cudaStream_t s)
{
	cudaLaunchConfig_t config = { .gridDim = { 1, 1, 1 }, .blockDim = { 1, 1, 1 } };

	config.stream = s;
	return cudaLaunchKernelExC(&config, k_nothing(), NULL);
}

Test(small_cpu_costs, launches_cost_captured_or_not)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	int *p, value = 0;

	set_cost("RIFT_CPU_LAUNCH_NS");
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	IS_FREE(cudaMalloc((void **)&p, sizeof(*p)));
	IS_FREE(cudaMemcpyAsync(p, &value, sizeof(value), cudaMemcpyHostToDevice, s));
	COSTS(launch_kernel(1, s));
	COSTS(launch_by_structure(s));
	REFUSED_IS_FREE(launch_kernel(0, s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	COSTS(launch_kernel(1, s));
	COSTS(launch_by_structure(s));
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	COSTS(cudaGraphLaunch(exec, s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	COSTS(cudaGraphLaunch(exec, s));
	OK(cudaStreamEndCapture(s, &graph));
	IS_FREE(cudaStreamSynchronize(s));
}

Test(small_cpu_costs, synchronizing_costs)
{
	cudaEvent_t e;

	set_cost("RIFT_CPU_SYNC_NS");
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaEventCreate(&e));
	IS_FREE(launch_kernel(1, s));
	IS_FREE(cudaEventRecord(e, s));
	COSTS(cudaStreamSynchronize(s));
	COSTS(cudaEventSynchronize(e));
	COSTS(cudaDeviceSynchronize());
	IS_FREE(cudaStreamQuery(s));
	IS_FREE(cudaEventQuery(e));
	REFUSED_IS_FREE(cudaEventSynchronize(NULL));
}

/* 3 MiB in two pieces, one of them registered: each MiB costs, then each piece, then neither. */
static void hold_pinned(void **p, void *host, size_t host_bytes)
{
	OK(cudaMallocHost(p, 2 << 20));
	OK(cudaHostRegister(host, host_bytes, 0));
}

Test(small_cpu_costs, synchronizing_costs_by_the_pinned_memory_held)
{
	static char host[1 << 20];
	void *p, *device;

	set_cost("RIFT_CPU_SYNC_NS_PER_PINNED_MIB");
	IS_FREE(cudaDeviceSynchronize());
	OK(cudaMalloc(&device, 4 << 20));
	IS_FREE(cudaDeviceSynchronize());
	hold_pinned(&p, host, sizeof(host));
	SPENDS(3 * COST_NS, OK(cudaDeviceSynchronize()));
	IS_FREE(launch_kernel(1, NULL));
	OK(cudaFreeHost(p));
	COSTS(cudaStreamSynchronize(NULL));
	OK(cudaHostUnregister(host));
	IS_FREE(cudaStreamSynchronize(NULL));
}

Test(small_cpu_costs, synchronizing_costs_by_the_pieces_of_pinned_memory)
{
	static char host[1 << 20];
	void *p;

	set_cost("RIFT_CPU_SYNC_NS_PER_PINNED");
	hold_pinned(&p, host, sizeof(host));
	SPENDS(2 * COST_NS, OK(cudaDeviceSynchronize()));
	OK(cudaFreeHost(p));
	COSTS(cudaDeviceSynchronize());
}

Test(small_cpu_costs, what_was_pinned_goes_on_to_cost)
{
	static char host[1 << 20];
	void *p;

	setenv("RIFT_CPU_PINNED_LEAK", "1", 1);
	set_cost("RIFT_CPU_SYNC_NS_PER_PINNED");
	hold_pinned(&p, host, sizeof(host));
	OK(cudaFreeHost(p));
	OK(cudaHostUnregister(host));
	SPENDS(2 * COST_NS, OK(cudaDeviceSynchronize()));
}

/*
 * The other process, by what common/cpu/base/config.c says that one does: it locks a byte of this
 * file. (It cannot launch itself: the thread sanitizer allows no threads after a fork.) Is the
 * first one's byte locked too?
 */
static void exist_when_told(const char *path, int in, int out)
{
	struct flock mine = { .l_type = F_RDLCK, .l_start = getpid(), .l_len = 1 };
	struct flock any = { .l_type = F_WRLCK };
	int fd;
	char c;

	if (read(in, &c, 1) != 1)
		_exit(1);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_OFD_GETLK, &any) || any.l_type != F_RDLCK ||
	    any.l_start != getppid())
		_exit(2);
	if (fcntl(fd, F_OFD_SETLK, &mine) || write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
		_exit(3);
	_exit(0);
}

/* Not a cost, but a setting that a device is given as well. */
Test(small_cpu_costs, a_device_with_little_memory)
{
	size_t free_bytes, total;
	void *p;

	setenv("RIFT_CPU_MEMORY_MIB", "64", 1);
	OK(cudaMemGetInfo(&free_bytes, &total));
	cr_assert(total == (size_t)64 << 20, "%zu", total);
	cr_assert(free_bytes <= total, "%zu", free_bytes);
	cr_assert(cudaMalloc(&p, (size_t)65 << 20) == cudaErrorMemoryAllocation, "65 MiB");
	OK(cudaMalloc(&p, (size_t)40 << 20));
	OK(cudaMemGetInfo(&free_bytes, &total));
	cr_assert(free_bytes <= (size_t)24 << 20, "%zu are left", free_bytes);
	OK(cudaFree(p));
}

static void shows(const char *devices, const char *visible, int count, int last_bus)
{
	struct cudaDeviceProp p;
	int n = -1;

	setenv("RIFT_CPU_DEVICES", devices, 1);
	setenv("CUDA_VISIBLE_DEVICES", visible, 1);
	cr_assert(cudaGetDeviceCount(&n) == (count ? cudaSuccess : cudaErrorNoDevice), "%d", n);
	cr_assert(n == count, "%s of %s: %d", visible, devices, n);
	cr_assert(cudaSetDevice(n) == cudaErrorInvalidDevice, "%d", n);
	if (!count)
		return;
	OK(cudaSetDevice(n - 1));
	OK(cudaGetDevice(&n));
	cr_assert(n == count - 1, "current");
	OK(cudaGetDeviceProperties(&p, n));
	cr_assert(p.pciBusID == last_bus, "%d", p.pciBusID);
}

Test(small_cpu_costs, several_devices)
{
	shows("3", "0,1,2", 3, 2);
}

Test(small_cpu_costs, devices_that_are_chosen_and_what_is_behind_one_that_is_none)
{
	shows("3", "2,1,7,0", 2, 1);
}

Test(small_cpu_costs, no_device_at_all)
{
	shows("2", "", 0, 0);
}

/* Without a number of devices CUDA's variable is for GPUs. */
Test(small_cpu_costs, the_one_device_is_always_there)
{
	int n;

	unsetenv("RIFT_CPU_DEVICES");
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	OK(cudaGetDeviceCount(&n));
	cr_assert(n == 1, "%d", n);
}

Test(small_cpu_costs, launching_costs_while_another_process_launches)
{
	char folder[] = "/tmp/rift_costs_XXXXXX", file[80], c = 0;
	int in[2], out[2], status;
	pid_t other;

	cr_assert(mkdtemp(folder) && !pipe(in) && !pipe(out), "%s", folder);
	snprintf(file, sizeof(file), "%s/rift-cpu-present-%d", folder, (int)getuid());
	setenv("TMPDIR", folder, 1);
	set_cost("RIFT_CPU_LAUNCH_NS_BESIDE");
	other = fork();
	if (!other)
		exist_when_told(file, in[0], out[1]);
	IS_FREE(launch_kernel(1, NULL));
	cr_assert(write(in[1], &c, 1) == 1 && read(out[0], &c, 1) == 1, "told");
	COSTS(launch_kernel(1, NULL));
	cr_assert(write(in[1], &c, 1) == 1 && waitpid(other, &status, 0) == other, "ended");
	cr_assert(!status, "%x", (unsigned)status);
	IS_FREE(launch_kernel(1, NULL));
	cr_assert(!unlink(file) && !rmdir(folder), "%s", file);
}

/* All of it after a pause, half in the middle of the ramp, nothing behind it; and anew. */
Test(small_cpu_costs, launches_after_a_pause_cost_less_and_less)
{
	const int64_t ms = 1000000, begin = 1000 * ms;

	setenv("RIFT_CPU_RAMP_MS", "10", 1);
	set_cost("RIFT_CPU_RAMP_NS");
	OK(cudaFree(0)); /* reads the settings */
	own_ns = begin;
	SPENDS(COST_NS, OK(launch_kernel(1, NULL)));
	own_ns = begin + 5 * ms;
	SPENDS(COST_NS / 2 - 10 * TICK_NS, OK(launch_kernel(1, NULL)));
	own_ns = begin + 10 * ms;
	IS_FREE(launch_kernel(1, NULL));
	own_ns = begin + 19 * ms;
	IS_FREE(launch_kernel(1, NULL));
	own_ns = begin + 28 * ms;
	IS_FREE(launch_kernel(1, NULL)); /* no pause was long enough */
	own_ns = begin + 40 * ms;
	SPENDS(COST_NS, OK(launch_kernel(1, NULL)));
}

static int gate;
static int64_t spent_before_ns;

static void *open_late(void *unused)
{
	usleep(100000); /* for the other thread to reach its wait; if it does not, nothing is seen
			 */
	spent_before_ns = own_ns;
	open_gate(&gate);
	return unused;
}

Test(small_cpu_costs, the_cost_of_synchronizing_comes_after_the_wait)
{
	pthread_t thread;

	set_cost("RIFT_CPU_SYNC_NS");
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	cr_assert(!pthread_create(&thread, NULL, open_late, NULL), "no thread");
	COSTS(cudaStreamSynchronize(s));
	pthread_join(thread, NULL);
	cr_assert(spent_before_ns < COST_NS, "%ld ns before", (long)spent_before_ns);
}

Test(small_cpu_costs, allocating_and_freeing_cost)
{
	static int host[16];
	void *p;

	set_cost("RIFT_CPU_ALLOC_NS");
	COSTS(cudaMalloc(&p, 64));
	COSTS(cudaFree(p));
	COSTS(cudaMallocHost(&p, 64));
	COSTS(cudaFreeHost(p));
	COSTS(cudaHostAlloc(&p, 64, cudaHostAllocDefault));
	COSTS(cudaFreeHost(p));
	COSTS(cudaMallocAsync(&p, 64, NULL));
	IS_FREE(cudaMemset(p, 0, 64));
	COSTS(cudaFreeAsync(p, NULL));
	COSTS(cudaHostRegister(host, sizeof(host), 0));
	REFUSED_IS_FREE(cudaHostRegister(host, sizeof(host), 0));
	COSTS(cudaHostUnregister(host));
	REFUSED_IS_FREE(cudaFree(host));
	REFUSED_IS_FREE(cudaFreeAsync(host, NULL));
}

Test(small_cpu_costs, copies_cost)
{
	int value = 7;

	set_cost("RIFT_CPU_COPY_NS");
	cudaStream_t s = new_stream(cudaStreamNonBlocking);
	int *p = NULL;

	IS_FREE(cudaMalloc((void **)&p, sizeof(*p)));
	COSTS(cudaMemcpy(p, &value, sizeof(value), cudaMemcpyHostToDevice));
	COSTS(cudaMemcpyAsync(&value, p, sizeof(value), cudaMemcpyDeviceToHost, s));
	IS_FREE(cudaStreamSynchronize(s));
	COSTS(cudaMemset(p, 0, sizeof(*p)));
	COSTS(cudaMemsetAsync(p, 0, sizeof(*p), s));
	IS_FREE(cudaStreamSynchronize(s));
	COSTS(cudaMemcpy2D(p, 4, &value, 4, 4, 1, cudaMemcpyHostToDevice));
	COSTS(cudaMemcpy2DAsync(p, 4, &value, 4, 4, 1, cudaMemcpyHostToDevice, s));
	REFUSED_IS_FREE(cudaMemcpy2D(p, 3, &value, 4, 4, 1, cudaMemcpyHostToDevice));
	IS_FREE(cudaStreamSynchronize(s));
}

Test(small_cpu_costs, copies_of_symbols_cost)
{
	const void *symbol = symbol_variable();
	int value = 7;

	set_cost("RIFT_CPU_COPY_NS");
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	COSTS(cudaMemcpyToSymbol(symbol, &value, 4, 0, cudaMemcpyHostToDevice));
	COSTS(cudaMemcpyToSymbolAsync(symbol, &value, 4, 0, cudaMemcpyHostToDevice, s));
	IS_FREE(cudaStreamSynchronize(s));
	COSTS(cudaMemcpyFromSymbol(&value, symbol, 4, 0, cudaMemcpyDeviceToHost));
	COSTS(cudaMemcpyFromSymbolAsync(&value, symbol, 4, 0, cudaMemcpyDeviceToHost, s));
	REFUSED_IS_FREE(cudaMemcpyToSymbol(symbol, &value, 5, 0, cudaMemcpyHostToDevice));
	IS_FREE(cudaStreamSynchronize(s));
}

/* ---- settings ------------------------------------------------------------------------- */

/* The first call reads the settings; what it complains about is returned. */
static const char *complaint(const char *text)
{
	void *p;

	setenv("RIFT_CPU_SYNC_NS", text, 1);
	divert_stderr();
	OK(cudaMalloc(&p, 64));
	return diverted_stderr();
}

Test(small_cpu_costs, a_number_is_taken)
{
	cr_assert(!*complaint("20000"), "a number");
}

Test(small_cpu_costs, an_empty_setting_is_none)
{
	cr_assert(!*complaint(""), "empty");
}
