/*
 * recorder.h - a process that is recorded: what its threads do goes into buffers, a thread each,
 * and from there into the file that RIFT_TRACE names, by a thread of the recorder.
 *
 *   recorder_call_begin(TRACE_CLASS_launch, "cudaLaunchKernel");
 *   if (recorder_call)
 *           recorder_call->stream = 1;
 *   ...
 *   recorder_call_end();
 *
 * Where nothing is recorded a call costs two loads. Where it is, no lock is taken but by a thread's
 * first call.
 *
 *   RIFT_TRACE=PATH            the file, which must not be there; children write PATH.PID
 *   RIFT_TRACE_DELAY_NS=N      from N ns after the process began
 *   RIFT_TRACE_DURATION_NS=N   for N ns
 *   RIFT_TRACE_MAX_EVENTS=N    rows of calls and operations (default 2000000)
 *   RIFT_TRACE_RANGE=NAME      only inside NVTX ranges of that name; @profiler: only between
 *                              cudaProfilerStart() and cudaProfilerStop()
 *   RIFT_TRACE_ANONYMOUS=1     without names of the program's own
 *   RIFT_TRACE_FOLD=0          every row as it is
 *   RIFT_TRACE_CPU=0           without the processor time of threads
 *   RIFT_TRACE_RECORDER=calls  the one that is preloaded, and no other
 *   RIFT_TRACE_STARTED_NS=N    when the process began (CLOCK_MONOTONIC); else when it loaded this.
 *                              Who sets it has seen that RIFT_TRACE is not there
 */
#ifndef RIFT_RECORDER_H
#define RIFT_RECORDER_H

#include "common/recorder/event.h"
#include "common/recorder/writer.h"

enum recorder_flush {
	FLUSH_WHOLE, /* what is whole so far */
	FLUSH_ALL,   /* all that there is */
	FLUSH_LAST,  /* all, and nothing comes thereafter */
};

/* What a recorder is to the process. */
struct recorder_source {
	const char *name;	    /* "cpu-device", "cupti", "calls" */
	char device[256];	    /* its name; "" until begin() */
	int runtime, driver, cupti; /* versions; 0: none */
	int window;		    /* launches that fit into a queue; 0: not known */
	/*
	 * Called once, by the thread that makes the first call: fills the above. false: nothing is
	 * recorded, and a line has said why. NULL: nothing to do.
	 */
	bool (*begin)(struct recorder_source *source);
	/* Makes the calls that are calibrated; NULL: begin() gives the calibration, or none. */
	void (*calibrate)(void);
	const struct trace_calibration *calibration;
	/* Called by the recorder's thread before it writes, and at the end. NULL: nothing. */
	void (*flush)(enum recorder_flush what);
	bool ends_process; /* where the file cannot be made: with status 3, else unrecorded */
	/* Calls of all threads come in the order of their starts: flush() hands them on so, but for
	 * those that last longer than two flushes. Where there is no flush(), the recorder merges
	 * its threads' buffers, and a call comes late that was under way when it read them. */
	bool is_ordered;
	bool has_no_times; /* of the device: calls alone */
};

/* 0 where nothing is recorded: by far the most. Read by the functions below. */
extern int recorder_state;

/* This thread's call that is under way and recorded; NULL: none. */
extern __thread struct trace_event *recorder_call;

/* Is there one? Nearly always not. */
static inline bool recorder_has_call(void)
{
	return __builtin_expect(recorder_call != NULL, 0);
}

/* What the end row's time is taken from, and all others'. */
int64_t recorder_now(void);

/* Once, when the library is loaded: looks at the variables. source lives as long as the process. */
void recorder_load(struct recorder_source *source);

void recorder_begin_slowly(enum trace_class kind, const char *name);
void recorder_end_slowly(void);

/* name lives as long as the process. Calls of a thread do not overlap. */
static inline void recorder_call_begin(enum trace_class kind, const char *name)
{
	if (__builtin_expect(__atomic_load_n(&recorder_state, __ATOMIC_RELAXED), 0))
		recorder_begin_slowly(kind, name);
}

static inline void recorder_call_end(void)
{
	if (recorder_has_call())
		recorder_end_slowly();
}

/* The call that is under way begins only now: what was told of it so far is no part of it. */
static inline void recorder_call_begins(void)
{
	recorder_call->t0 = recorder_now();
}

/*
 * For a source that calls pass through, once it is done with one that was recorded: it took
 * before_ns until the call began. So what recording adds is known by the program's own calls. The
 * way into the source and out of it is not in it.
 */
void recorder_call_done(int64_t before_ns);

/* The call that is under way gives the device an operation: what names it from then on; 0: none. */
static inline uint64_t recorder_submit(void)
{
	if (!recorder_has_call())
		return 0;
	recorder_call->has_op = true;
	return recorder_call->id << 16 | recorder_call->thread;
}

/* An operation, all but what, thread and id filled; submitted: what recorder_submit() gave. */
void recorder_op(uint64_t submitted, struct trace_event *op);

/* An event that is filled, by the calling thread. */
void recorder_take(const struct trace_event *e);

/* The number of a thread of that name; -1: there are too many. */
int recorder_thread(int tid, const char *name);

/* A mark of this thread. The name is copied; NULL: none. */
void recorder_mark(enum trace_mark kind, const char *name);

/* The same of another thread, at another time, before the call of that id. */
void recorder_mark_at(enum trace_mark kind, const char *name, uint32_t thread, uint64_t id,
		      int64_t t);

/* Is what happens at that time within the limits? Marks up to then must have been told. */
bool recorder_wants(int64_t t);

/* Opens the file before the first call; is it recorded? */
bool recorder_start(void);

/* So many calls or operations are known to be missing. */
void recorder_lost(uint64_t n);

/* A text that lives as long as the process. */
const char *recorder_keep(const char *text);

#endif
