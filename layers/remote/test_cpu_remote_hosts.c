/*
 * test_cpu_remote_hosts.c - host functions by way of the layer remote, in streams and in graphs:
 * the suite small_remote_hosts holds with and without it, and runs again as a client of this
 * program's daemon, over each transport. What that one was sent is damaged as in
 * test_cpu_remote_calls.c.
 */
/* begins early: it waits long */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "layers/remote/daemon/serve.h"
#include "layers/remote/test_daemon.h"
#include "layers/remote/test_fuzz.h"
#include "layers/remote/test_streams.h"

TestSuite(small_remote_hosts, .fini = await_daemon, .timeout = 100);
TestSuite(large_remote_hosts, .timeout = 100);
TestSuite(small_remote_hosts_stuck, .timeout = 100);
TestSuite(small_remote_hosts_daemon, .init = layers_apart, .timeout = 300);
TestSuite(large_remote_hosts_daemon, .init = layers_apart, .timeout = 300);

/* ---- host functions ------------------------------------------------------------------------ */

static void count(void *n)
{
	++*(uint64_t *)n;
}

/* Memory that both have mapped: what a kernel has written, and what one will read. */
struct seen {
	uint64_t *pinned;
	uint64_t last, steps;
};

static void look(void *seen)
{
	struct seen *s = seen;

	s->steps += s->pinned[0] == s->last + 1;
	s->last = s->pinned[0];
	s->pinned[0] = ++s->last;
}

static void wait_at_gate(void *gate)
{
	while (!atomic_load((atomic_int *)gate))
		sched_yield();
}

/* ---- in streams ---------------------------------------------------------------------------- */

Test(small_remote_hosts, they_come_in_the_order_of_their_stream)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);
	struct seen s = { 0 };
	uint64_t *device;

	OK(cudaHostAlloc((void **)&s.pinned, 8, cudaHostAllocMapped));
	*s.pinned = 0;
	OK(cudaHostGetDevicePointer((void **)&device, s.pinned, 0));
	for (int i = 0; i < 200; i++) {
		add(device, 1, stream);
		OK(cudaLaunchHostFunc(stream, look, &s));
	}
	OK(cudaStreamSynchronize(stream));
	cr_assert(eq(u64, s.steps, 200));
	cr_assert(eq(u64, *s.pinned, 400));
	OK(cudaFreeHost(s.pinned));
}

/* More than a queue holds, and places for them are used again. */
Test(small_remote_hosts, many_may_be_pending)
{
	cudaStream_t a = new_stream(0), b = new_stream(cudaStreamNonBlocking);
	uint64_t n[2] = { 0 };

	for (int i = 0; i < 3000; i++) {
		OK(cudaLaunchHostFunc(a, count, &n[0]));
		if (i % 4 == 0)
			OK(cudaLaunchHostFunc(b, count, &n[1]));
	}
	OK(cudaDeviceSynchronize());
	cr_assert(eq(u64, n[0], 3000));
	cr_assert(eq(u64, n[1], 750));
}

static void *make_calls(void *stream)
{
	uint64_t *word;

	OK(cudaMalloc((void **)&word, sizeof(*word)));
	add(word, 1, new_stream(cudaStreamNonBlocking));
	FAILS(cudaStreamQuery(*(cudaStream_t *)stream), cudaErrorNotReady);
	OK(cudaGetLastError());
	return word;
}

/* It is not asserted that it takes long: what stands still ends this test. */
Test(small_remote_hosts, others_call_while_one_runs)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking), other = new_stream(0);
	atomic_int gate = 0;
	pthread_t thread;
	uint64_t *word = zeroed_word(), n = 0;

	OK(cudaLaunchHostFunc(stream, wait_at_gate, &gate));
	add(word, 3, other);
	OK(cudaStreamSynchronize(other));
	pthread_create(&thread, NULL, make_calls, &stream);
	pthread_join(thread, NULL);
	FAILS(cudaStreamQuery(stream), cudaErrorNotReady);
	atomic_store(&gate, 1);
	OK(cudaStreamSynchronize(stream));
	OK(cudaLaunchHostFunc(stream, count, &n));
	OK(cudaStreamSynchronize(stream));
	cr_assert(eq(u64, n, 1));
}

struct helped {
	atomic_int asked, done;
};

static void have_help(void *helped)
{
	struct helped *h = helped;

	atomic_store(&h->asked, 1);
	wait_at_gate(&h->done);
}

static void *help(void *helped)
{
	struct helped *h = helped;
	void *memory;

	wait_at_gate(&h->asked);
	OK(cudaMalloc(&memory, 8));
	atomic_store(&h->done, 1);
	return NULL;
}

/* The other thread's first call comes when the first one waits for the host function. */
Test(small_remote_hosts, one_may_wait_for_a_thread_that_calls)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);
	uint64_t got = 1, *word = zeroed_word();

	for (int copies = 0; copies < 2; copies++) {
		struct helped h = { 0 };
		pthread_t thread;

		pthread_create(&thread, NULL, help, &h);
		OK(cudaLaunchHostFunc(stream, have_help, &h));
		if (copies)
			OK(cudaMemcpyAsync(&got, word, 8, cudaMemcpyDeviceToHost, stream));
		OK(cudaStreamSynchronize(stream));
		pthread_join(thread, NULL);
	}
	cr_assert(eq(u64, got, 0));
	OK(cudaStreamDestroy(stream));
}

static void write_later(void *n)
{
	const struct timespec moment = { .tv_nsec = 20000000 };

	nanosleep(&moment, NULL);
	*(uint64_t *)n += 40;
}

/* The thread that does commands stands in the copy, or in a full queue, until it has run. */
Test(small_remote_hosts, a_call_that_waits_for_one_does_not_keep_it_from_running)
{
	cudaStream_t stream = new_stream(0);
	uint64_t n = 2, got = 0, *word = zeroed_word();

	OK(cudaLaunchHostFunc(stream, write_later, &n));
	OK(cudaMemcpy(word, &n, 8, cudaMemcpyHostToDevice)); /* which waits for the stream */
	OK(cudaMemcpy(&got, word, 8, cudaMemcpyDeviceToHost));
	cr_assert(eq(u64, got, 42));
	OK(cudaLaunchHostFunc(stream, write_later, &n));
	for (int i = 0; i < 3000; i++)
		add(word, 1, stream);
	OK(cudaFree(word));
	cr_assert(eq(u64, n, 82));
}

/* Memory that is registered is read when the copy's turn comes. */
Test(small_remote_hosts, a_copy_reads_what_one_before_it_has_written)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);
	uint64_t own[512] = { 1 }, got = 0, *word = zeroed_word();

	OK(cudaHostRegister(own, sizeof(own), 0));
	OK(cudaLaunchHostFunc(stream, write_later, own));
	OK(cudaMemcpyAsync(word, own, 8, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(&got, word, 8, cudaMemcpyDeviceToHost));
	cr_assert(eq(u64, got, 41));
	OK(cudaHostUnregister(own));
}

/* Likewise while others are captured, and the captures go on. */
Test(small_remote_hosts, a_copy_beside_a_capture_reads_it_too)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking), captured = new_stream(0);
	uint64_t own[512] = { 1 }, got = 0, *word = zeroed_word();
	cudaGraph_t graph;

	OK(cudaHostRegister(own, sizeof(own), 0));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
	OK(cudaLaunchHostFunc(stream, write_later, own));
	OK(cudaMemcpyAsync(word, own, 8, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamEndCapture(captured, &graph));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(&got, word, 8, cudaMemcpyDeviceToHost));
	cr_assert(eq(u64, got, 41));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
	OK(cudaStreamDestroy(captured)); /* which ends it, though no graph comes of it */
	OK(cudaLaunchHostFunc(stream, write_later, own));
	OK(cudaMemcpyAsync(word, own, 8, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(&got, word, 8, cudaMemcpyDeviceToHost));
	cr_assert(eq(u64, got, 81));
	OK(cudaHostUnregister(own));
}

struct calls {
	cudaStream_t stream;
	int error[3], last;
};

static void call(void *calls)
{
	struct calls *c = calls;
	void *memory;

	c->error[0] = (int)cudaMalloc(&memory, 8);
	c->error[1] = (int)cudaStreamSynchronize(c->stream);
	c->error[2] = (int)cudaLaunchHostFunc(c->stream, call, calls);
	c->last = (int)cudaGetLastError();
}

Test(small_remote_hosts, it_may_not_call_cuda)
{
	struct calls c = { .stream = new_stream(0) };

	OK(cudaLaunchHostFunc(c.stream, call, &c));
	OK(cudaStreamSynchronize(c.stream));
	for (int i = 0; i < 3; i++)
		cr_assert(eq(int, c.error[i], cudaErrorNotPermitted), "call %d", i);
	cr_assert(eq(int, c.last, cudaErrorNotPermitted));
	OK(cudaGetLastError());
	FAILS(cudaLaunchHostFunc(c.stream, NULL, &c), cudaErrorInvalidValue);
	FAILS(cudaLaunchHostFunc((cudaStream_t)0x1234568, call, &c),
	      cudaErrorInvalidResourceHandle);
}

struct told {
	cudaStream_t stream;
	int error, calls;
};

static void be_told(cudaStream_t stream, cudaError_t error, void *at)
{
	struct told *t = at;

	t->stream = stream;
	t->error = (int)error;
	t->calls++;
}

/* The CPU device does not have it. */
Test(small_remote_hosts, a_callback_is_told_its_stream)
{
	typedef cudaError_t add_function(cudaStream_t stream,
					 void (*f)(cudaStream_t s, cudaError_t e, void *data),
					 void *data, unsigned flags);
	cudaStream_t stream = new_stream(0);
	void *found = dlsym(RTLD_DEFAULT, "cudaStreamAddCallback");
	struct told t = { .error = 9 };
	add_function *add_callback;
	cudaGraph_t graph;

	cr_assert(eq(int, found != NULL, getenv(REMOTE_VARIABLE) != NULL));
	if (!found)
		return;
	memcpy(&add_callback, &found, sizeof(found));
	OK(add_callback(stream, be_told, &t, 0));
	OK(cudaStreamSynchronize(stream));
	cr_assert(t.calls == 1 && t.stream == stream && t.error == 0, "%d", t.error);
	FAILS(add_callback(stream, be_told, &t, 1), cudaErrorInvalidValue);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	FAILS(add_callback(stream, be_told, &t, 0), cudaErrorStreamCaptureUnsupported);
	FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

/* nvcc --default-stream per-thread; the CPU device has no names of its own for that. */
Test(small_remote_hosts, programs_with_a_stream_for_each_thread_have_them)
{
	typedef cudaError_t launch_function(cudaStream_t stream, void (*f)(void *data), void *data);
	void *found = dlsym(RTLD_DEFAULT, "cudaLaunchHostFunc_ptsz");
	launch_function *launch;
	uint64_t n = 0;

	cr_assert(eq(int, found != NULL, getenv(REMOTE_VARIABLE) != NULL));
	if (!found)
		return;
	memcpy(&launch, &found, sizeof(found));
	OK(launch(NULL, count, &n));
	OK(cudaStreamSynchronize(cudaStreamPerThread));
	cr_assert(eq(u64, n, 1));
}

/* ---- in graphs ----------------------------------------------------------------------------- */

static cudaGraphExec_t counting_graph(uint64_t *n, int times)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < times; i++)
		OK(cudaLaunchHostFunc(stream, count, n));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(stream));
	return exec;
}

Test(small_remote_hosts, a_graph_calls_them_each_time)
{
	uint64_t n = 0, once = 0;
	cudaGraphExec_t exec = counting_graph(&n, 3);

	cr_assert(eq(u64, n, 0), "it ran in the capture");
	OK(cudaLaunchHostFunc(0, count, &once));
	for (int i = 0; i < 5; i++)
		OK(cudaGraphLaunch(exec, 0));
	OK(cudaGraphExecDestroy(exec)); /* what is under way runs */
	OK(cudaStreamSynchronize(0));
	cr_assert(eq(u64, n, 15));
	cr_assert(eq(u64, once, 1));
}

Test(small_remote_hosts, places_of_graphs_that_are_gone_are_used_again)
{
	uint64_t n = 0;

	for (int i = 0; i < 20; i++) {
		cudaGraphExec_t exec = counting_graph(&n, 50);

		OK(cudaGraphLaunch(exec, 0));
		OK(cudaStreamSynchronize(0));
		OK(cudaGraphExecDestroy(exec));
	}
	cr_assert(eq(u64, n, 1000));
}

/* ---- copies of graphs ---------------------------------------------------------------------- */

/* Memory is read and written when the graph runs, and again at each launch. */
static void copies_both_ways(uint64_t words, bool registered)
{
	uint64_t *from = calloc(words, 8), *to = calloc(words, 8), *device;
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaMalloc((void **)&device, 8 * words));
	if (registered)
		OK(cudaHostRegister(from, 8 * words, 0));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMemcpyAsync(device, from, 8 * words, cudaMemcpyHostToDevice, stream));
	add(device, 5, stream);
	OK(cudaMemcpyAsync(to, device, 8 * words, cudaMemcpyDefault, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	for (uint64_t round = 1; round < 4; round++) {
		for (uint64_t i = 0; i < words; i++)
			from[i] = round * 1000003 + i;
		OK(cudaGraphLaunch(exec, stream));
		OK(cudaStreamSynchronize(stream));
		cr_assert(eq(u64, to[0], from[0] + 5));
		cr_assert(zero(int, memcmp(to + 1, from + 1, 8 * words - 8)), "round %d",
			  (int)round);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaFree(device));
	if (registered)
		OK(cudaHostUnregister(from));
	free(from);
	free(to);
}

Test(small_remote_hosts, a_graph_copies_the_program_s_memory)
{
	static const uint64_t words[] = { 1, 1000, 32768, 32769, 300000 };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		copies_both_ways(words[i], i % 2);
}

/* Over TCP such memory is the program's alone. */
Test(small_remote_hosts, a_graph_copies_large_pinned_memory)
{
	enum { BYTES = 2 << 20 };
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);
	uint8_t *pinned, *device, last = 0;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaMallocHost((void **)&pinned, BYTES));
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	OK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	pinned[BYTES - 1] = 77;
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(&last, device + BYTES - 1, 1, cudaMemcpyDeviceToHost));
	cr_assert(eq(u8, last, 77));
	OK(cudaFreeHost(pinned));
}

/* A copy in, two beside each other, and one out: rows, with gaps on both sides. */
static cudaGraph_t graph_of_rows(uint8_t *from, uint8_t *device, uint8_t *to, uint64_t *word)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking), other = new_stream(1);
	cudaEvent_t event;
	cudaGraph_t graph;

	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaMemcpy2DAsync(device, 20, from, 30, 10, 3, cudaMemcpyHostToDevice, stream));
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamWaitEvent(other, event, 0));
	OK(cudaMemcpy2DAsync(to, 40, device, 20, 10, 3, cudaMemcpyDeviceToHost, stream));
	add(word, 1, other);
	OK(cudaEventRecord(event, other));
	OK(cudaStreamWaitEvent(stream, event, 0));
	OK(cudaMemcpyAsync(word, from, 8, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

/* The program sees the nodes that CUDA has, and no more. */
Test(small_remote_hosts, a_copy_is_one_node)
{
	uint8_t from[90], to[120] = { 0 }, *device;
	uint64_t *word = zeroed_word();
	cudaGraphNode_t node[9], needs[9];
	enum cudaGraphNodeType type[4];
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	size_t n = 9;

	for (int i = 0; i < 90; i++)
		from[i] = (uint8_t)(i + 1);
	OK(cudaMalloc((void **)&device, 60));
	graph = graph_of_rows(from, device, to, word);
	OK(cudaGraphGetNodes(graph, node, &n));
	cr_assert(eq(sz, n, 4));
	for (size_t i = 0; i < n; i++)
		OK(cudaGraphNodeGetType(node[i], &type[i]));
	cr_assert(type[0] == cudaGraphNodeTypeMemcpy && type[1] == cudaGraphNodeTypeMemcpy &&
		  type[2] == cudaGraphNodeTypeKernel && type[3] == cudaGraphNodeTypeMemcpy);
	for (size_t i = 0; i < 4; i++) {
		n = 9;
		OK(cudaGraphNodeGetDependencies(node[i], needs, NULL, &n));
		cr_assert(eq(sz, n, i == 0 ? 0 : i < 3 ? 1 : 2), "node %zu", i);
		cr_assert(n == 0 || needs[0] == (i == 3 ? node[1] : node[0]), "node %zu", i);
		cr_assert(n < 2 || needs[1] == node[2], "node %zu", i);
	}
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaStreamSynchronize(0));
	for (int i = 0; i < 120; i++)
		cr_assert(eq(u8, to[i], i % 40 < 10 ? from[i / 40 * 30 + i % 40] : 0), "byte %d",
			  i);
}

/* What its copies took is the program's again: 40 MiB each, of 256. */
Test(small_remote_hosts, buffers_go_with_their_graphs)
{
	enum { BYTES = 40 << 20 };
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);
	uint8_t *from = calloc(1, BYTES), *device;
	cudaGraph_t graph;

	OK(cudaMalloc((void **)&device, BYTES));
	for (int i = 0; i < 20; i++) {
		OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
		OK(cudaMemcpyAsync(device, from, BYTES, cudaMemcpyHostToDevice, stream));
		OK(cudaStreamEndCapture(stream, &graph));
		OK(cudaGraphDestroy(graph));
	}
	OK(cudaFree(device));
	free(from);
}

/* More than a client may have at a time: REMOTE_HOSTS. */
Test(large_remote_hosts, in_graphs_one_after_the_other)
{
	uint64_t n = 0;

	for (int i = 0; i < 66; i++)
		OK(cudaGraphExecDestroy(counting_graph(&n, 1000)));
	OK(cudaStreamSynchronize(0));
}

/* ---- the same by way of a daemon ---------------------------------------------------------- */

enum { TESTS = 16 };

static void passes_with(bool strict)
{
	const char *out = passes_as_client("small_remote_hosts/*", TESTS, strict, NULL);

	cr_assert(strstr(out, "not supported") == NULL, "%s", out);
}

Test(small_remote_hosts_daemon, all_pass_by_way_of_it)
{
	passes_with(false);
	passes_with(true);
}

Test(small_remote_hosts_daemon, all_pass_over_a_unix_socket)
{
	own_transport = REMOTE_UNIX;
	passes_with(false);
}

Test(small_remote_hosts_daemon, all_pass_over_tcp)
{
	own_transport = REMOTE_TCP;
	passes_with(false);
}

Test(large_remote_hosts_daemon, more_pass_than_there_are_places_for)
{
	own_poll = 0; /* tens of thousands of answers */
	passes_as_client("large_remote_hosts/*", 1, false, NULL);
}

static void are_refused(bool by_socket)
{
	fuzz_new_record();
	passes_as_client("small_remote_hosts/*", TESTS, false, fuzz_watch);
	fuzz_session(&harmless, NULL, REMOTE_HOST_CALL, REMOTE_HOST_GONE, fuzz_messages(),
		     by_socket);
}

Test(small_remote_hosts_daemon, all_pass_where_one_process_serves)
{
	own_is_shared = true;
	passes_with(false);
}

Test(small_remote_hosts_daemon, damaged_commands_are_refused)
{
	are_refused(false);
}

Test(small_remote_hosts_daemon, damaged_messages_of_a_socket_are_refused)
{
	are_refused(true);
}

/* ---- ends --------------------------------------------------------------------------------- */

static bool has_come;

/* For ever, where it is told to leave word of itself. */
static void stay(void *unused)
{
	const char *path = getenv("RIFT_REMOTE_STUCK");
	char part[256];
	FILE *f;

	(void)unused;
	if (!path) {
		has_come = true;
		return;
	}
	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "w");
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	rename(part, path); /* whoever finds it finds it whole */
	for (;;)
		pause();
}

/* Is run by the next tests, as a client; where nobody told it to stay, the function ends. */
Test(small_remote_hosts_stuck, a_host_function_stays)
{
	const char *path = getenv("RIFT_REMOTE_STUCK");

	OK(cudaLaunchHostFunc(new_stream(cudaStreamNonBlocking), stay, NULL));
	if (!path) {
		OK(cudaDeviceSynchronize());
		cr_assert(has_come, "it does not run");
		return;
	}
	cr_assert(has_appeared(path), "it does not run");
	if (getenv("RIFT_REMOTE_WAITS"))
		cudaDeviceSynchronize();
}

/* No time is asserted but the minute after which a hang is one. */
static bool has_no_server(const struct own_daemon *d)
{
	return !shell(NULL,
		      "for i in $(seq 6000); do test -z \"$(cat /proc/%d/task/%d/children)\" && "
		      "exit 0; sleep 0.01; done; exit 1",
		      d->pid, d->pid);
}

static void ends_with_one_pending(enum remote_transport transport)
{
	struct own_daemon d;
	char set[256];
	const char *out;
	int rc;

	own_transport = transport;
	d = own_daemon_start(false, NULL);
	snprintf(set, sizeof(set), "RIFT_REMOTE_STUCK=%s/stuck-%d", getenv("XDG_RUNTIME_DIR"),
		 (int)transport);
	rc = run_own_tests(&d, "small_remote_hosts_stuck/*", set, &out);
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(has_no_server(&d), "a server is left");
	own_daemon_end(&d);
}

Test(small_remote_hosts_daemon, a_program_ends_though_one_is_pending)
{
	ends_with_one_pending(REMOTE_SHM);
	ends_with_one_pending(REMOTE_UNIX);
	ends_with_one_pending(REMOTE_TCP);
}

static void *kill_the_client(void *path)
{
	const struct timespec moment = { .tv_nsec = 100000000 };
	FILE *f = has_appeared(path) ? fopen(path, "r") : NULL;
	int pid = 0;

	nanosleep(&moment, NULL); /* the client waits by now, mostly */
	if (f && fscanf(f, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	if (f)
		fclose(f);
	return NULL;
}

static void killed_with_one_pending(enum remote_transport transport)
{
	struct own_daemon d;
	char set[512], path[200];
	pthread_t killer;
	const char *out;
	int rc;

	own_transport = transport;
	d = own_daemon_start(false, NULL);
	snprintf(path, sizeof(path), "%s/killed-%d", getenv("XDG_RUNTIME_DIR"), (int)transport);
	snprintf(set, sizeof(set), "RIFT_REMOTE_WAITS=1 RIFT_REMOTE_STUCK=%s", path);
	pthread_create(&killer, NULL, kill_the_client, path);
	rc = run_own_tests(&d, "small_remote_hosts_stuck/*", set, &out);
	pthread_join(killer, NULL);
	cr_assert(ne(int, rc, 0), "it was not killed");
	cr_assert(has_no_server(&d), "a server is left");
	own_daemon_end(&d);
}

Test(small_remote_hosts_daemon, a_client_killed_with_one_pending_leaves_nothing)
{
	killed_with_one_pending(REMOTE_SHM);
	killed_with_one_pending(REMOTE_UNIX);
	killed_with_one_pending(REMOTE_TCP);
}
