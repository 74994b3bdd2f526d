/*
 * calls.c - a CUDA runtime whose calls cost more: what each call is charged (what it is: kinds.h).
 *
 * Every function of libcudart is one and the same: it hands its number and its registers to
 * enter(), which charges the call and then makes it, keeps it for later (packet.h), or has the
 * function jump to the next library's with registers and stack as they were. Signatures need be
 * known only of calls that are kept or waited for.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layers/emulate/preload/calls.h"
#include "layers/emulate/preload/channel.h"
#include "layers/emulate/preload/command.h"
#include "layers/emulate/preload/kinds.h"
#include "layers/emulate/preload/limit.h"
#include "layers/emulate/preload/packet.h"
#include "layers/emulate/preload/spin.h"
#include "layers/interpose.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define SHOWN __attribute__((visibility("default")))

static struct emulate_shared own_page = { .ticks_per_ns = 1,
					  .costs.packet_commands = 1,
					  .costs.compute_share = 1 };
HIDDEN struct emulate_shared *shared = &own_page;

/* ---- threads -----------------------------------------------------------------------------------
 */

static __thread struct thread *calling_thread __attribute__((tls_model("initial-exec")));

static struct thread *threads;

static struct thread *new_thread(void)
{
	struct thread *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&threads, &t->next, t, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return t;
}

struct thread *thread_self(void)
{
	if (!calling_thread)
		calling_thread = new_thread();
	return calling_thread;
}

void thread_is(struct thread *t)
{
	calling_thread = t;
}

/* A command's error comes with the next call that returns one, and stays to be asked for. */
static int with_error_before(struct thread *t, int err)
{
	int before = __atomic_load_n(&t->error, __ATOMIC_RELAXED);

	return err ? err : before;
}

/* ---- charging ----------------------------------------------------------------------------------
 */

/* Streams that record instead of doing. What any thread does meanwhile may be recorded. */
static int captures;

bool calls_captured(void)
{
	return __atomic_load_n(&captures, __ATOMIC_RELAXED) > 0;
}

/* One call on its way. */
struct visit {
	struct thread *by;
	long call;
	const struct call_row *row; /* or NULL */
	uint64_t words[WORDS];
	uint64_t start;
};

static void charge(const struct visit *v, double ns)
{
	spend(ns, v->start, &v->by->account);
}

/* After a wait of any length: from now on. */
static void charge_more(const struct visit *v, double ns)
{
	spend(ns, ticks_now(), &v->by->account);
}

static const void *stream_of(const struct visit *v)
{
	uint64_t word = v->row && v->row->stream >= 0 ? v->words[v->row->stream] : 0;

	return (const void *)(uintptr_t)word;
}

static const void *event_of(const struct visit *v)
{
	uint64_t word = v->row && v->row->event >= 0 ? v->words[v->row->event] : 0;

	return (const void *)(uintptr_t)word;
}

/* Only the thread itself can name its own default stream (cudaStreamPerThread is 2). */
static bool is_for_own_stream(const struct visit *v)
{
	const void *stream = stream_of(v);

	return calls_own_stream(stream) || (call_per_thread[v->call] && !stream);
}

static double command_ns(const struct visit *v)
{
	const struct emulate_costs *c = &shared->costs;
	double ns = c->call_ns + (call_kinds[v->call] == KIND_COPY ? c->copy_ns : 0);

	if (c->ns_per_byte > 0 && v->row)
		ns += c->ns_per_byte * (double)command_argument_bytes(v->row->keep, v->words);
	return ns;
}

/* ---- kinds of calls ----------------------------------------------------------------------------
 */

/* What the machine code does next: returns `value`, or jumps to `jump` where that is one. */
struct answer {
	uint64_t value;
	void *jump;
};

static struct answer answer(int value)
{
	return (struct answer){ (uint64_t)(uint32_t)value, NULL };
}

/* The next library's function, with registers and stack as they were. */
static struct answer jump(const struct visit *v)
{
	return (struct answer){ 0, next_function(v->call) };
}

static struct answer make(struct visit *v)
{
	return answer(with_error_before(v->by, call_next(v->call, v->words)));
}

/* A command that does not wait: submitted at once, by its own thread. */
static struct answer command_now(struct visit *v)
{
	const struct emulate_costs *c = &shared->costs;
	double ns = command_ns(v) + (c->where == SUBMIT_CALLER ? c->submit_ns : 0);

	if (packets_in_use()) {
		packet_drain(v->by);
		charge_more(v, ns);
	} else {
		charge(v, ns);
	}
	return v->row ? make(v) : jump(v);
}

/* A call that will fail is made at once, so that the program learns it. */
static bool may_succeed(const struct visit *v)
{
	for (int i = 0; i < v->row->words; i++)
		if (v->row->given >> i & 1 && !v->words[i])
			return false;
	return v->row->flags == CALL_NO_WORD || (uint32_t)v->words[v->row->flags] <= 1;
}

/* What is left until the memory is ready that these words are the first to use. If nothing is left,
 * it costs no more than to find that out. */
static void wait_for_memory(struct thread *by, const uint64_t *words, bool uses_all)
{
	struct command c = { .call = 0 };
	uint64_t ready;
	int64_t left;

	if (!memory_is_untouched())
		return;
	memcpy(c.words, words, sizeof(c.words));
	ready = memory_ready(&c, uses_all);
	left = ready ? (int64_t)(ready - ticks_now()) : 0;
	if (left > 0)
		spend((double)left / shared->ticks_per_ns, ticks_now(), &by->account);
}

static void charge_first_use(const struct visit *v, bool uses_all)
{
	wait_for_memory(v->by, v->words, uses_all);
}

void calls_wait_for_memory(struct thread *by, const uint64_t words[WORDS])
{
	static const uint64_t any[WORDS];

	wait_for_memory(by, words ? words : any, !words);
}

bool calls_own_stream(const void *stream)
{
	return (uintptr_t)stream == 2;
}

/* Where nothing waits that could, all of the program's work is early by the latency: its end is
 * made later by that. */
static double return_ns(void)
{
	const struct emulate_costs *c = &shared->costs;

	return c->return_ns + (packets_in_use() ? 0 : c->latency_ns);
}

/* Between host and device? Its kind says so, or leaves it to the addresses. */
static bool crosses(const struct visit *v)
{
	enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, BY_ADDRESS = 4 };

	if (!v->row || v->row->keep != KEEP_COPY)
		return false;
	return v->words[3] == HOST_TO_DEVICE || v->words[3] == DEVICE_TO_HOST ||
	       (v->words[3] == BY_ADDRESS && command_crosses(v->words));
}

/* A stream that only this thread can name, by the name that all calls know. */
static const void *own_stream_of(const struct visit *v)
{
	const void *stream = stream_of(v);

	return call_per_thread[v->call] && !stream ? (const void *)(uintptr_t)2 : stream;
}

/* A copy that crosses is made by its own thread, when nothing waits. */
static struct answer cross(struct visit *v)
{
	const struct emulate_costs *c = &shared->costs;
	int err;

	packet_drain(v->by);
	charge_first_use(v, false);
	charge_more(v, command_ns(v) + c->crossing_ns +
			       (c->where == SUBMIT_CALLER ? c->submit_ns : 0));
	err = channel_copy(v->call, v->words, own_stream_of(v), true);
	if (c->copying == COPYING_BLOCKING)
		charge_more(v, return_ns());
	return answer(with_error_before(v->by, err));
}

static bool is_launch(const struct visit *v)
{
	return call_kinds[v->call] == KIND_KERNEL || call_kinds[v->call] == KIND_GRAPH;
}

/* The stream that a launch names; a configuration has it inside. */
static const void *stream_of_launch(const struct visit *v)
{
	return v->row->keep == KEEP_CONFIGURATION ? command_stream(v->words) : own_stream_of(v);
}

/* Under a limit of compute a launch does not wait in a packet, but for its turn. */
static struct answer launch_within(struct visit *v)
{
	packet_drain(v->by);
	charge_first_use(v, true);
	charge_more(v, command_ns(v) + shared->costs.submit_ns);
	return answer(
		with_error_before(v->by, limit_launch(v->call, v->words, stream_of_launch(v))));
}

static struct answer command(struct visit *v)
{
	struct command *c = NULL;

	if (v->call == CALL_cudaFreeAsync || v->call == CALL_cudaFreeAsync_ptsz)
		limit_freed((void *)(uintptr_t)v->words[0]);
	if (calls_captured()) {
		packet_drain(v->by);
		return v->row ? make(v) : jump(v);
	}
	if (limit_has_compute() && v->row && is_launch(v))
		return launch_within(v);
	if (emulate_crosses(&shared->costs) && crosses(v))
		return cross(v);
	if (packets_in_use() && v->row && !is_for_own_stream(v) && may_succeed(v))
		c = command_keep(v->row->keep, v->by, v->call, v->words);
	if (!c) {
		charge_first_use(v, true);
		return command_now(v);
	}
	c->stream = stream_of(v);
	c->event = event_of(v);
	c->ready = memory_ready(c, call_kinds[v->call] == KIND_GRAPH);
	charge(v, command_ns(v));
	packet_add(c);
	return answer(with_error_before(v->by, 0));
}

static struct answer wait_for(struct visit *v)
{
	int err;

	packet_drain(v->by);
	err = call_next(v->call, v->words);
	packet_settle();
	charge_more(v, return_ns() + shared->costs.sync_ns);
	return answer(with_error_before(v->by, err));
}

static struct answer blocking_copy(struct visit *v)
{
	const struct emulate_costs *c = &shared->costs;
	bool crossing = (emulate_crosses(c) || c->copy_bytes_per_ns > 0) && crosses(v);
	uint64_t start;
	double took_ns;
	int err;

	packet_drain(v->by);
	charge_first_use(v, false);
	charge_more(v, c->call_ns + c->submit_ns + c->copy_ns + (crossing ? c->crossing_ns : 0) +
			       (packets_in_use() ? c->latency_ns : 0));
	start = ticks_now();
	err = crossing ? channel_copy(v->call, v->words, NULL, false)
		       : call_next(v->call, v->words);
	took_ns = (double)(ticks_now() - start) / shared->ticks_per_ns;
	charge_more(v, return_ns() + c->copy_stretch * took_ns);
	return answer(with_error_before(v->by, err));
}

static struct answer query(struct visit *v)
{
	enum { NOT_READY = 600 };

	if (packets_in_use()) {
		packet_flush(v->by);
		if (packet_has(stream_of(v), event_of(v)))
			return answer(NOT_READY);
	}
	return make(v);
}

static struct answer allocate(struct visit *v)
{
	bool later = shared->costs.paging == PAGING_FIRST_USE && shared->costs.alloc_ns > 0;
	int err;

	if (!later)
		charge(v, shared->costs.alloc_ns);
	if (!v->row || (!later && !limit_has_memory()))
		return jump(v);
	err = limit_has_memory() ? limit_allocate(v->call, v->words) : call_next(v->call, v->words);
	if (!err && later)
		memory_untouched(*(void **)(uintptr_t)v->words[0], v->words[1]);
	return answer(with_error_before(v->by, err));
}

static struct answer allocate_from_pool(struct visit *v)
{
	packet_drain(v->by); /* what is freed before it may be what it is given */
	return answer(with_error_before(v->by, limit_allocate(v->call, v->words)));
}

static struct answer release(struct visit *v)
{
	packet_drain(v->by);
	memory_released((void *)(uintptr_t)v->words[0]);
	limit_freed((void *)(uintptr_t)v->words[0]);
	charge_more(v, shared->costs.free_ns);
	return jump(v);
}

static struct answer capture(struct visit *v)
{
	bool begins = v->row->name[strlen("cudaStream")] == 'B';
	int err;

	packet_drain(v->by);
	err = call_next(v->call, v->words);
	if (begins && !err)
		__atomic_fetch_add(&captures, 1, __ATOMIC_RELAXED);
	else if (!begins && calls_captured())
		__atomic_fetch_sub(&captures, 1, __ATOMIC_RELAXED);
	return answer(with_error_before(v->by, err));
}

static struct answer last_error(struct visit *v)
{
	bool clears = v->row->name[strlen("cuda")] == 'G';
	int err = with_error_before(v->by, call_next(v->call, v->words));

	if (clears)
		__atomic_store_n(&v->by->error, 0, __ATOMIC_RELAXED);
	return answer(err);
}

static struct answer set_device(struct visit *v)
{
	int err = call_next(v->call, v->words);

	if (!err)
		v->by->device = (int)v->words[0];
	return answer(err);
}

/* What is not known here is made when nothing waits, as it may depend on anything. */
static struct answer other(struct visit *v)
{
	packet_drain(v->by);
	if (strstr(runtime_call_name(v->call), "cudaFuncSet"))
		command_forget_kernels();
	return jump(v);
}

static struct answer take(struct visit *v)
{
	switch ((enum emulate_kind)call_kinds[v->call]) {
	case KIND_KERNEL:
	case KIND_GRAPH:
	case KIND_COPY:
	case KIND_COMMAND:
		return command(v);
	case KIND_WAIT:
		return wait_for(v);
	case KIND_BLOCKING_COPY:
		return blocking_copy(v);
	case KIND_QUERY:
		return query(v);
	case KIND_ALLOC:
		return allocate(v);
	case KIND_POOL:
		return allocate_from_pool(v);
	case KIND_INFO:
		return answer(with_error_before(v->by, limit_tell_memory(v->call, v->words)));
	case KIND_RELEASE:
		return release(v);
	case KIND_PIN:
		charge(v, shared->costs.pin_ns);
		return jump(v);
	case KIND_CAPTURE:
		return capture(v);
	case KIND_ERROR:
		return last_error(v);
	case KIND_DEVICE:
		return set_device(v);
	case KIND_OTHER:
		return other(v);
	case KIND_PROBE:
		charge(v, PROBE_NS);
		return jump(v);
	case KIND_FREE:
	case KINDS:
		break;
	}
	return jump(v);
}

/* ---- the way in --------------------------------------------------------------------------------
 */

/* The first call of a process makes the context. */
static void charge_context(const struct visit *v)
{
	static bool made;

	if (shared->costs.context_ns > 0 && v->call != CALL_PROBE &&
	    !__atomic_exchange_n(&made, true, __ATOMIC_RELAXED))
		charge_more(v, shared->costs.context_ns);
}

/*
 * registers: rdi, rsi, rdx, rcx, r8, r9, the number of the call, the return address, and the words
 * that the caller put on the stack. Those are read of calls that have them only.
 */
HIDDEN struct answer emulate_enter(long call, const uint64_t *registers);
struct answer emulate_enter(long call, const uint64_t *registers)
{
	struct visit v; /* an initializer would clear it first, which takes as long as all else */
	struct answer a;
	int words;

	v.start = ticks_now();
	v.by = thread_self();
	v.call = call;
	v.row = call_rows[call];
	if (v.by->inside)
		return jump(&v);
	v.by->inside = true;
	v.by->account.own = own_ticks;
	words = v.row ? v.row->words : 0;
	memcpy(v.words, registers, 6 * sizeof(uint64_t));
	v.words[6] = words > 6 ? registers[8] : 0;
	v.words[7] = words > 7 ? registers[9] : 0;
	__atomic_fetch_add(&shared->calls[call_kinds[call]], 1, __ATOMIC_RELAXED);
	charge_context(&v);
	a = take(&v);
	v.by->account.carry += v.by->account.own; /* where nothing was charged */
	v.by->inside = false;
	return a;
}

/* Where calls go next; NULL: not looked up yet. Read by the machine code. */
HIDDEN void *emulate_next[CALLS];
HIDDEN unsigned char *emulate_kinds = call_kinds;

void *next_function(long call)
{
	void *found = __atomic_load_n(&emulate_next[call], __ATOMIC_ACQUIRE);

	if (!found) {
		found = runtime_call_next(call);
		__atomic_store_n(&emulate_next[call], found, __ATOMIC_RELEASE);
	}
	return found;
}

#ifdef __x86_64__

__asm__(INTERPOSE_JUMP("emulate_first", "next_function"));

__asm__("	.text\n"
	"	.hidden emulate_charged\n"
	"	.globl emulate_charged\n"
	"	.type emulate_charged, @function\n"
	"emulate_charged:\n" INTERPOSE_SAVE "	movq 192(%rsp), %rdi\n"
	"	leaq 144(%rsp), %rsi\n"
	"	call emulate_enter\n"
	"	testq %rdx, %rdx\n"
	"	jne 1f\n"
	"	addq $200, %rsp\n"
	"	ret\n"
	"1:\n"
	"	movq %rdx, %r11\n" INTERPOSE_RESTORE "	jmp *%r11\n"
	"	.size emulate_charged, . - emulate_charged\n");

#define RUNTIME_CALL(function, versions)                                                           \
	SHOWN __attribute__((naked)) void function(void);                                          \
	void function(void)                                                                        \
	{                                                                                          \
		__asm__ volatile("movq emulate_kinds(%%rip), %%r11\n\t"                            \
				 "cmpb $0, %c1(%%r11)\n\t"                                         \
				 "je 1f\n\t"                                                       \
				 "pushq %1\n\t"                                                    \
				 "jmp emulate_charged\n"                                           \
				 "1:\n\t"                                                          \
				 "movq emulate_next+%c0(%%rip), %%r11\n\t"                         \
				 "testq %%r11, %%r11\n\t"                                          \
				 "je 2f\n\t"                                                       \
				 "jmp *%%r11\n"                                                    \
				 "2:\n\t"                                                          \
				 "pushq %1\n\t"                                                    \
				 "jmp emulate_first"                                               \
				 :                                                                 \
				 : "i"(8 * CALL_##function), "i"(CALL_##function));                \
	}
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL

#endif

/*
 * A library that is loaded now may submit by itself from its first call on (others.h). The loader
 * looks at where it was called from, so this jumps, too.
 */
/* Not by dlsym(), which asks for a library itself. */
static void *dlopen_next(void)
{
	void *found = dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.34");

	return found ? found : dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.2.5");
}

HIDDEN void *emulate_before_dlopen(long unused);
void *emulate_before_dlopen(long unused)
{
	struct thread *t = thread_self();

	(void)unused;
	if (!t->inside && packets_in_use())
		packet_drain(t);
	return dlopen_next();
}

#ifdef __x86_64__
__asm__(INTERPOSE_JUMP("emulate_dlopen", "emulate_before_dlopen"));

SHOWN __attribute__((naked)) void *dlopen(__attribute__((unused)) const char *file,
					  __attribute__((unused)) int mode)
{
	__asm__ volatile("pushq $0\n\tjmp emulate_dlopen");
}
#endif

INTERPOSE_DLSYM

/* ---- starting ----------------------------------------------------------------------------------
 */

SHOWN struct emulate_shared *rift_emulate_shared(void)
{
	return shared;
}

static int nothing(void)
{
	return 0;
}

#ifdef __x86_64__
__attribute__((naked)) static void probe(void)
{
	__asm__ volatile("pushq %0\n\tjmp emulate_charged" : : "i"(CALL_PROBE));
}
#endif

static pid_t started_in;

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv(EMULATE_VARIABLE);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct emulate_shared *file = MAP_FAILED;

	if (fd >= 0) {
		file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	if (file == MAP_FAILED)
		return;
	shared = file;
	started_in = getpid();
	emulate_next[CALL_PROBE] = (void *)(uintptr_t)nothing;
	calibrate_own_ticks(probe, PROBE_NS);
	classify_calls();
}

/* What was called looked for the next. */
static bool has_called(void)
{
	for (int i = 0; i < RUNTIME_CALLS; i++)
		if (__atomic_load_n(&emulate_next[i], __ATOMIC_RELAXED))
			return true;
	return false;
}

/* A child that was forked has its parent's threads, whose last spins are the parent's to note. */
__attribute__((destructor)) static void end(void)
{
	if (getpid() != started_in)
		return;
	if (!has_called() && interpose_has_runtime())
		__atomic_fetch_add(&shared->past, 1, __ATOMIC_RELAXED);
	for (struct thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t; t = t->next)
		note_last(&t->account);
}
