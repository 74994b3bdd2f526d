/* recorder.c - the recorder of a process: settings, calls as threads make them, the thread that
 * writes, forks, the end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/recorder/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/recorder/buffers.h"
#include "common/recorder/calibration.h"
#include "common/recorder/ends.h"
#include "common/recorder/folder.h"

enum {
	OFF,
	READY, /* the first call opens the file */
	CALIBRATING,
	ON,
	FULL, /* as many rows as there may be: what comes is counted */
};

enum {
	ADVANCE_CALLS = 1024,	   /* that wait, between two looks at what repeats */
	ROUND_MS = 20,		   /* between two looks at the buffers */
	FLUSH_NS = 1000000000,	   /* what waits to be folded goes to the file */
	FLUSH_SOON_NS = 100000000, /* for the first time */
	ANNOUNCED_MS = 2000,	   /* an end waits for what is written, at most */
	CPU_FRESH_NS = 10000,	   /* how old a look at a thread's CPU time may be */
	CPU_GAP_NS = 20000,	   /* shorter gaps computed: a look costs more than they tell */
	THREADS_MAX = 1 << 16,
	MAX_EVENTS = 2000000,
	KEPT_BUCKETS = 1024, /* of names that are kept */
};

struct thread_row {
	int tid;
	char name[16];
	int depth; /* ranges that it is in */
	uint64_t is_range;
};

struct settings {
	char path[PATH_MAX];
	const char *range;
	bool at_profiler; /* range is @profiler */
	bool is_anonymous, fold, cpu_times, has_command;
	int64_t process_start, from, until, delay_ns, duration_ns, max_events;
};

int recorder_state;
__thread struct trace_event *recorder_call;

static __thread bool calibrating; /* this thread makes the calls of the calibration */
static __thread bool hands_on;	  /* this thread writes, and a source hands on what it has */

static struct recorder_source *source;
static struct settings settings;
static uint64_t n_calls;
static int ranges_open, is_stopped;

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* threads, texts */
static struct thread_row *threads;
static size_t n_threads, room_threads, n_threads_written;
static struct kept {
	struct kept *next;
	char text[];
} * kept[KEPT_BUCKETS];

static struct trace_writer *writer;
static struct trace_folder *folder;
static int64_t start_ns, last_flush;
static uint64_t last_id; /* of calls that may be in the trace, once it is full */
static uint64_t dropped;
static pthread_t thread;
static pthread_mutex_t round_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t round_wake;
static bool quits;

/* An end that is announced, by which thread of which process, and what the writing thread did. */
static pid_t owner;
static int announced, answered;
static int announcer; /* its number; -1: it has made no call */
static int64_t announced_ns;

int64_t recorder_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int state(void)
{
	return __atomic_load_n(&recorder_state, __ATOMIC_ACQUIRE);
}

static void set_state(int to)
{
	__atomic_store_n(&recorder_state, to, __ATOMIC_RELEASE);
}

/* ---- tables ---------------------------------------------------------------------------- */

const char *recorder_keep(const char *text)
{
	size_t bytes = text ? strlen(text) + 1 : 0;
	struct kept **at, *k;

	if (!text)
		return NULL;
	pthread_mutex_lock(&table_lock);
	at = &kept[trace_hash(text) % KEPT_BUCKETS];
	for (k = *at; k && strcmp(k->text, text);)
		k = k->next;
	if (!k && (k = malloc(sizeof(*k) + bytes))) {
		memcpy(k->text, text, bytes);
		k->next = *at;
		*at = k;
	}
	pthread_mutex_unlock(&table_lock);
	return k ? k->text : NULL;
}

int recorder_thread(int tid, const char *name)
{
	int number = -1;

	pthread_mutex_lock(&table_lock);
	for (size_t i = 0; i < n_threads && number < 0; i++)
		if (threads[i].tid == tid)
			number = (int)i;
	if (number < 0 && n_threads == room_threads && n_threads < THREADS_MAX) {
		size_t room = room_threads ? 2 * room_threads : 16;
		struct thread_row *larger = realloc(threads, room * sizeof(*larger));

		threads = larger ? larger : threads;
		room_threads = larger ? room : room_threads;
	}
	if (number < 0 && n_threads < room_threads) {
		threads[n_threads] = (struct thread_row){ .tid = tid };
		snprintf(threads[n_threads].name, sizeof(threads->name), "%s", name);
		number = (int)n_threads++;
	}
	pthread_mutex_unlock(&table_lock);
	return number;
}

static void write_threads(void)
{
	pthread_mutex_lock(&table_lock);
	for (; n_threads_written < n_threads; n_threads_written++)
		trace_write_thread(writer, (uint32_t)n_threads_written,
				   threads[n_threads_written].tid, threads[n_threads_written].name);
	pthread_mutex_unlock(&table_lock);
}

/* ---- what threads tell ------------------------------------------------------------------ */

static void take_event(const struct trace_event *e, void *arg);

/* Merged where order is promised, and no flush() hands calls on in it. */
static void drain_all(buffer_take *take, void *arg)
{
	buffers_drain(source->is_ordered && !source->flush, take, arg);
}

/* NULL: there is no room. */
static struct trace_event *slot(struct buffer *b)
{
	/* a source hands on a second of calls at once, and nobody else would read them meanwhile */
	if (hands_on && buffer_is_full(b)) {
		write_threads(); /* a thread's row comes before its calls */
		drain_all(take_event, NULL);
	}
	return buffer_slot(b);
}

void recorder_take(const struct trace_event *e)
{
	struct buffer *b = state() == OFF ? NULL : buffer_own();
	struct trace_event *to = b ? slot(b) : NULL;

	if (!to)
		return;
	*to = *e;
	buffer_publish(b);
}

void recorder_op(uint64_t submitted, struct trace_event *op)
{
	op->what = TRACE_OP;
	op->thread = submitted & (THREADS_MAX - 1);
	op->id = submitted / THREADS_MAX;
	recorder_take(op);
}

static int number_of_thread(struct buffer *b)
{
	char name[16] = "";

	if (b->thread < 0) {
		pthread_getname_np(pthread_self(), name, sizeof(name));
		b->thread = recorder_thread((int)syscall(SYS_gettid), name);
	}
	return b->thread;
}

/* ---- the thread that writes ------------------------------------------------------------ */

static bool is_full(void)
{
	return trace_rows(writer) + 2 * (int64_t)trace_folder_waiting(folder) >=
	       settings.max_events;
}

static void take_event(const struct trace_event *e, void *arg)
{
	(void)arg;
	if (state() == FULL && e->id > last_id) {
		dropped += e->what == TRACE_CALL;
		return;
	}
	trace_folder_take(folder, e);
	if (e->what == TRACE_OP || state() == FULL)
		return;
	if (e->id > last_id)
		last_id = e->id;
	if (trace_folder_waiting(folder) % ADVANCE_CALLS == 0)
		trace_folder_advance(folder);
	if (is_full())
		set_state(FULL);
}

/* So half is kept of a program that is killed early; but a source counts its rounds in seconds. */
static bool is_time_to_flush(int64_t now)
{
	int64_t since = now - last_flush, soon = FLUSH_SOON_NS + (last_flush - start_ns);

	return since >= FLUSH_NS || (!source->flush && since >= soon);
}

static void write_round(enum recorder_flush what)
{
	int64_t now = recorder_now();
	bool flush = what != FLUSH_WHOLE || is_time_to_flush(now);

	if (source->flush && flush) {
		hands_on = true;
		source->flush(what);
		hands_on = false;
	}
	write_threads();
	drain_all(take_event, NULL);
	write_threads();
	trace_folder_advance(folder);
	if (flush) {
		trace_folder_flush(folder);
		last_flush = now;
	}
	if (trace_flush(writer))
		set_state(OFF);
}

/* What a thread did for the recorder since t0. */
static void write_own(int number, int64_t t0)
{
	write_threads();
	if (number >= 0)
		trace_write_own(writer, (uint32_t)number, t0, recorder_now());
}

static const char *reason(int state)
{
	if (state == FULL)
		return "limit";
	return is_stopped || recorder_now() >= settings.until ? "stop" : "exit";
}

/* number: of the thread that waits for it since t0. */
static void write_end(enum recorder_flush what, int number, int64_t t0)
{
	const char *why = reason(state());

	write_round(what);
	why = state() == FULL ? "limit" : why;
	write_own(number, t0);
	trace_write_end(writer, recorder_now(), trace_folder_calls(folder),
			trace_folder_ops(folder), dropped + buffers_dropped(), buffers_added_ns(),
			why);
	trace_flush(writer);
}

static void pause_ns(int64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* The process becomes another program while this thread waits, or there is none and it goes on. */
static void answer(void)
{
	int is = __atomic_load_n(&announced, __ATOMIC_ACQUIRE);

	if (is == RECORDER_GOES_ON)
		return;
	write_end(is == RECORDER_EXITS ? FLUSH_LAST : FLUSH_ALL, announcer, announced_ns);
	__atomic_store_n(&answered, is, __ATOMIC_RELEASE);
	while (__atomic_load_n(&announced, __ATOMIC_ACQUIRE) == is)
		pause_ns(1000000);
	__atomic_store_n(&answered, RECORDER_GOES_ON, __ATOMIC_RELEASE);
	trace_write_no_end(writer);
}

/*
 * Whoever announces an end may be in a signal handler, and have interrupted a thread that holds a
 * lock: nothing is locked or allocated here.
 */
static void announce(enum recorder_end end)
{
	struct buffer *b = buffer_had();
	int is = state();

	if (getpid() != owner || (is != ON && is != FULL))
		return;
	announcer = b ? b->thread : -1;
	announced_ns = recorder_now();
	__atomic_store_n(&announced, end, __ATOMIC_RELEASE);
	for (int i = 0; i < ANNOUNCED_MS; i++) {
		if (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) == (int)end)
			return;
		pause_ns(1000000);
	}
}

static void *serve(void *arg)
{
	struct timespec until;

	(void)arg;
	pthread_setname_np(pthread_self(), "rift-recorder");
	pthread_mutex_lock(&round_lock);
	while (!quits) {
		int64_t t = recorder_now() + ROUND_MS * INT64_C(1000000);

		until = (struct timespec){ t / 1000000000, t % 1000000000 };
		pthread_cond_timedwait(&round_wake, &round_lock, &until);
		pthread_mutex_unlock(&round_lock);
		write_round(FLUSH_WHOLE);
		answer();
		pthread_mutex_lock(&round_lock);
	}
	pthread_mutex_unlock(&round_lock);
	return NULL;
}

/* Signals are the program's. */
static bool start_thread(void)
{
	pthread_condattr_t attr;
	sigset_t all, before;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&round_wake, &attr);
	pthread_condattr_destroy(&attr);
	quits = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = pthread_create(&thread, NULL, serve, NULL);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !err;
}

static int own_number(void)
{
	struct buffer *b = buffer_own();

	return b ? number_of_thread(b) : -1;
}

/* ---- the end --------------------------------------------------------------------------- */

static void finish(void)
{
	int was = state();
	int64_t t0 = recorder_now();

	if (!writer || (was != ON && was != FULL))
		return;
	pthread_mutex_lock(&round_lock);
	quits = true;
	pthread_cond_signal(&round_wake);
	pthread_mutex_unlock(&round_lock);
	pthread_join(thread, NULL);
	write_end(FLUSH_LAST, own_number(), t0);
	set_state(OFF);
	trace_folder_free(folder);
	trace_writer_free(writer);
	writer = NULL;
}

/* ---- the beginning --------------------------------------------------------------------- */

/* What an operation's row costs the thread that runs it. */
static int64_t pace_ns(void)
{
	enum { ROWS = 1000 };
	int64_t start = recorder_now();
	struct trace_event e = { .kind = TRACE_KIND_memset };

	for (int i = 0; i < ROWS; i++)
		recorder_op(0, &e);
	return (recorder_now() - start) / ROWS;
}

/* Not written: what the calibration did. */
static void calibrate(struct trace_calibration *out)
{
	struct calibration *c = calibration_new();

	if (!c)
		return;
	calibrating = true;
	set_state(CALIBRATING);
	source->calibrate();
	drain_all(calibration_take, c);
	calibration_result(c, out);
	out->pace_ns = pace_ns();
	drain_all(calibration_take, c);
	set_state(READY);
	calibrating = false;
	calibration_free(c);
	out->window = source->window;
	buffer_own()->last_t1 = 0;
	n_calls = 0;
}

static void write_header(void)
{
	struct trace_calibration found = { .window = 0 };
	struct trace_header h = {
		.recorder = source->name,
		.has_no_times = source->has_no_times,
		.device = source->device,
		.runtime = source->runtime,
		.driver = source->driver,
		.cupti = source->cupti,
		.is_anonymous = settings.is_anonymous,
		.process_start_ns = settings.process_start,
		.delay_ns = settings.delay_ns,
		.duration_ns = settings.duration_ns,
		.max_events = settings.max_events,
		.range = settings.range,
		.calibration = source->calibration,
	};

	if (source->calibrate) {
		calibrate(&found);
		h.calibration = &found;
	}
	h.start_ns = start_ns = recorder_now();
	trace_write_header(writer, &h);
}

/* PATH as it is now, whatever folder the program goes to. A child's has its number behind it. */
static void set_path(const char *path, bool child)
{
	char folder_path[PATH_MAX] = "", number[16] = "";

	if (*path != '/' && getcwd(folder_path, sizeof(folder_path) - 1))
		strcat(folder_path, "/");
	if (child)
		snprintf(number, sizeof(number), ".%d", (int)getpid());
	if (snprintf(settings.path, sizeof(settings.path), "%s%s%s", folder_path, path, number) >=
	    (int)sizeof(settings.path)) {
		fprintf(stderr, "rift: RIFT_TRACE: the name is longer than %d bytes\n", PATH_MAX);
		exit(3);
	}
}

/*
 * The file first: where it cannot be had, nothing is switched on. A command has seen that there was
 * none: one that is there is that of another process of the same program.
 */
static void open_file(void)
{
	writer = trace_writer_new(settings.path);
	if (!writer && errno == EEXIST && settings.has_command) {
		set_path(getenv("RIFT_TRACE"), true);
		writer = trace_writer_new(settings.path);
	}
	folder = writer ? trace_folder_new(writer, settings.fold) : NULL;
	if (folder && source->is_ordered)
		trace_folder_expect_order(folder);
	if (!folder) {
		fprintf(stderr, "rift: cannot write the trace %s: %s%s\n", settings.path,
			strerror(errno),
			errno == EEXIST ? "; give another name, nothing is overwritten" : "");
		set_state(OFF);
		if (source->ends_process)
			exit(3);
	} else if (source->begin && !source->begin(source)) {
		set_state(OFF);
		unlink(settings.path);
		trace_folder_free(folder);
		trace_writer_free(writer);
		folder = NULL;
		writer = NULL;
	}
}

static void start(void)
{
	static bool at_exit;
	int64_t t0 = recorder_now();

	pthread_mutex_lock(&start_lock);
	if (state() == READY) {
		open_file();
		if (folder) {
			write_header();
			last_flush = start_ns;
			if (!at_exit) {
				atexit(finish);
				(void)at_quick_exit(finish);
			}
			at_exit = true;
			owner = getpid();
			write_own(own_number(), t0);
			set_state(start_thread() ? ON : OFF);
		}
	}
	pthread_mutex_unlock(&start_lock);
}

/* Others wait until the one that calibrates is done. */
static bool has_started(void)
{
	int is = state(); /* once: it may change from one of these to the other */

	return calibrating || (is != READY && is != CALIBRATING);
}

bool recorder_start(void)
{
	if (!has_started())
		start();
	return state() == ON;
}

void recorder_lost(uint64_t n)
{
	__atomic_add_fetch(&dropped, n, __ATOMIC_RELAXED);
}

/* ---- calls ----------------------------------------------------------------------------- */

bool recorder_wants(int64_t t)
{
	if (calibrating)
		return true;
	return t >= settings.from && t < settings.until &&
	       (!settings.range || __atomic_load_n(&ranges_open, __ATOMIC_RELAXED) > 0) &&
	       !__atomic_load_n(&is_stopped, __ATOMIC_RELAXED);
}

/*
 * CPU time in the gap before t; -1: not measured. Between the last look and the gap the thread was
 * in calls, for less than CPU_FRESH_NS.
 */
static int64_t gap_cpu_ns(const struct buffer *b, int64_t t)
{
	if (!settings.cpu_times || !b->last_t1 || t - b->last_t1 < CPU_GAP_NS)
		return -1;
	int64_t cpu = thread_cpu_ns() - b->cpu_ns - (b->last_t1 - b->cpu_at);

	return cpu < 0 ? 0 : cpu > t - b->last_t1 ? t - b->last_t1 : cpu;
}

void recorder_begin_slowly(enum trace_class kind, const char *name)
{
	if (!has_started())
		start();
	struct buffer *b = state() == OFF ? NULL : buffer_own();

	if (!b)
		return;
	if (state() == FULL) {
		buffer_drop(b);
		return;
	}
	int64_t t0 = recorder_now();
	struct trace_event *e = recorder_wants(t0) && number_of_thread(b) >= 0 ? slot(b) : NULL;

	if (!e)
		return;
	memset(e, 0, sizeof(*e));
	e->what = TRACE_CALL;
	e->kind = (int)kind;
	e->name = name;
	e->thread = (uint32_t)b->thread;
	e->id = __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED);
	e->cpu_ns = gap_cpu_ns(b, t0);
	e->busy_ns = -1;
	e->t0 = t0;
	recorder_call = e;
}

void recorder_end_slowly(void)
{
	struct buffer *b = buffer_own();
	struct trace_event *e = recorder_call;

	recorder_call = NULL;
	e->kind = e->is_captured ? TRACE_CLASS_other : e->kind;
	e->t1 = b->last_t1 = recorder_now();
	if (settings.cpu_times && e->t1 - b->cpu_at > CPU_FRESH_NS) {
		b->cpu_ns = thread_cpu_ns();
		b->cpu_at = e->t1;
	}
	buffer_publish(b);
}

void recorder_call_done(int64_t before_ns)
{
	struct buffer *b = buffer_own();

	if (b && b->last_t1) /* else a fork within the call */
		buffer_add_ns(b, before_ns + recorder_now() - b->last_t1);
}

/* ---- marks ----------------------------------------------------------------------------- */

enum { DEPTH_MAX = 64 };

/*
 * A range is open as long as a thread is in it, at whatever depth: bit d of is_range says whether
 * the one at depth d is the wanted one.
 */
static void count_range(struct thread_row *t, enum trace_mark kind, const char *name)
{
	bool same =
		name && settings.range && !settings.at_profiler && !strcmp(name, settings.range);

	if (kind == TRACE_MARK_push) {
		if (t->depth < DEPTH_MAX && same) {
			t->is_range |= UINT64_C(1) << t->depth;
			__atomic_add_fetch(&ranges_open, 1, __ATOMIC_RELAXED);
		}
		t->depth++;
	} else if (kind == TRACE_MARK_pop && t->depth > 0) {
		t->depth--;
		if (t->depth < DEPTH_MAX && t->is_range >> t->depth & 1) {
			t->is_range &= ~(UINT64_C(1) << t->depth);
			__atomic_sub_fetch(&ranges_open, 1, __ATOMIC_RELAXED);
		}
	}
}

static void count_profiler(enum trace_mark kind)
{
	if (kind != TRACE_MARK_start && kind != TRACE_MARK_stop)
		return;
	if (settings.at_profiler)
		__atomic_store_n(&ranges_open, kind == TRACE_MARK_start, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&is_stopped, kind == TRACE_MARK_stop, __ATOMIC_RELAXED);
}

void recorder_mark_at(enum trace_mark kind, const char *name, uint32_t thread, uint64_t id,
		      int64_t t)
{
	struct trace_event e = {
		.what = TRACE_MARK, .kind = (int)kind, .id = id, .thread = thread, .t0 = t
	};
	bool wanted = recorder_wants(t);

	pthread_mutex_lock(&table_lock);
	count_range(&threads[thread], kind, name);
	pthread_mutex_unlock(&table_lock);
	count_profiler(kind);
	e.name = recorder_keep(name);
	if (wanted || recorder_wants(t))
		recorder_take(&e);
}

void recorder_mark(enum trace_mark kind, const char *name)
{
	if (state() == OFF)
		return;
	if (!has_started())
		start();
	struct buffer *b = state() == OFF ? NULL : buffer_own();

	if (b && number_of_thread(b) >= 0)
		recorder_mark_at(kind, name, (uint32_t)b->thread,
				 __atomic_load_n(&n_calls, __ATOMIC_RELAXED), recorder_now());
}

/* ---- settings -------------------------------------------------------------------------- */

static int64_t number(const char *name, int64_t fallback)
{
	const char *text = getenv(name);
	char *end;

	if (!text || !*text)
		return fallback;
	errno = 0;
	long long value = strtoll(text, &end, 10);

	if (!*end && !errno && value >= 0)
		return value;
	fprintf(stderr, "rift: %s=%s: must be a whole number, 0 or more\n", name, text);
	exit(3);
}

static void load_settings(void)
{
	settings.process_start = number("RIFT_TRACE_STARTED_NS", recorder_now());
	settings.has_command = getenv("RIFT_TRACE_STARTED_NS") != NULL;
	settings.delay_ns = number("RIFT_TRACE_DELAY_NS", 0);
	settings.duration_ns = number("RIFT_TRACE_DURATION_NS", 0);
	settings.max_events = number("RIFT_TRACE_MAX_EVENTS", MAX_EVENTS);
	settings.range = getenv("RIFT_TRACE_RANGE");
	if (settings.range)
		settings.range = *settings.range ? recorder_keep(settings.range) : NULL;
	settings.at_profiler = settings.range && !strcmp(settings.range, "@profiler");
	settings.is_anonymous = number("RIFT_TRACE_ANONYMOUS", 0) != 0;
	settings.fold = number("RIFT_TRACE_FOLD", 1) != 0;
	settings.cpu_times = number("RIFT_TRACE_CPU", 1) != 0;
	if (__builtin_add_overflow(settings.process_start, settings.delay_ns, &settings.from))
		settings.from = INT64_MAX;
	settings.until = INT64_MAX;
	if (settings.duration_ns &&
	    __builtin_add_overflow(settings.from, settings.duration_ns, &settings.until))
		settings.until = INT64_MAX;
}

/* ---- forks ----------------------------------------------------------------------------- */

static void before_fork(void)
{
	pthread_mutex_lock(&start_lock);
	pthread_mutex_lock(&table_lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&table_lock);
	pthread_mutex_unlock(&start_lock);
}

/* The parent's buffers and file are left to it: other threads may have been at them. */
static void in_child(void)
{
	pthread_mutex_init(&table_lock, NULL);
	pthread_mutex_init(&start_lock, NULL);
	pthread_mutex_init(&round_lock, NULL);
	if (state() == OFF)
		return;
	if (writer)
		trace_writer_abandon(writer);
	writer = NULL;
	folder = NULL;
	buffers_abandon();
	recorder_call = NULL;
	announced = answered = RECORDER_GOES_ON;
	n_threads = n_threads_written = 0;
	n_calls = last_id = dropped = 0;
	set_path(getenv("RIFT_TRACE") ? getenv("RIFT_TRACE") : "rift.trace", true);
	set_state(READY);
}

/* There may be two in a process: the CPU device has its own. */
static bool is_another_wanted(const struct recorder_source *s)
{
	const char *wanted = getenv("RIFT_TRACE_RECORDER");

	return wanted && *wanted && strcmp(wanted, s->name) != 0;
}

/* A process that another one started after it had loaded this, is its child, forked or not. */
static bool is_child(void)
{
	static const char owner[] = "RIFT_TRACE_OWNER";
	const char *is = getenv(owner);
	char self[16];

	snprintf(self, sizeof(self), "%d", (int)getpid());
	if (is && *is)
		return strcmp(is, self) != 0;
	setenv(owner, self, 1);
	return false;
}

static void listen_for_ends(void)
{
	void *found = dlsym(RTLD_DEFAULT, RECORDER_ENDS_FUNCTION);
	recorder_ends_function *ends;

	memcpy(&ends, &found, sizeof(found));
	if (ends)
		ends(announce);
}

void recorder_load(struct recorder_source *s)
{
	const char *path = getenv("RIFT_TRACE");

	if (!path || !*path || state() != OFF || is_another_wanted(s))
		return;
	source = s;
	load_settings();
	set_path(path, is_child());
	pthread_atfork(before_fork, in_parent, in_child);
	listen_for_ends();
	set_state(READY);
}
