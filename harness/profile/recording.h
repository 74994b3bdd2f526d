/*
 * recording.h - runs a program with the recorder, which writes its trace, and without it, for the
 * times that the trace is held against.
 */
#ifndef RIFT_PROFILE_RECORDING_H
#define RIFT_PROFILE_RECORDING_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { RECORDING_RUNS_MAX = 100 };

/*
 * Where it is not told how many to record, and the runs without the recorder are more than
 * PROFILE_SELF_MARGIN of their median apart: so many of each, begun within RECORDING_MORE_S
 * seconds. One recorded process says too little of such a program.
 */
enum { RECORDING_MORE = 5, RECORDING_MORE_RUNS = 10, RECORDING_MORE_S = 60 };

enum recorder_choice {
	RECORDER_AUTO,	 /* times of the device, and where these cannot be had calls alone */
	RECORDER_DEVICE, /* CUPTI's on a GPU, or the CPU device's own */
	RECORDER_CALLS,	 /* a library that is preloaded */
};

extern const char *const recorder_choices[]; /* their words, then NULL */

struct recording_request {
	char *const *argv;	       /* of the program, then NULL */
	const char *output;	       /* the trace, which must not exist */
	bool anonymous;		       /* no names of kernels, functions, threads */
	int64_t delay_ns, duration_ns; /* of what is recorded; duration 0: to the end */
	int64_t max_events;
	const char *range;     /* only inside NVTX ranges of that name; NULL: everywhere */
	bool ranges;	       /* NVTX is told of the recorder of a GPU */
	int unprofiled;	       /* runs without the recorder, at most RECORDING_RUNS_MAX */
	int recordings;	       /* runs with it, at most RECORDING_RUNS_MAX; 0: one, or as below */
	int host_runs;	       /* with calls alone, beside a recording of more (host_runs.h) */
	bool no_cpu_times;     /* of threads: asking for them slows calls */
	bool stdout_to_stderr; /* what the program prints */
	const char *cupti;     /* the library of CUPTI on a GPU; NULL: it is looked for */
	enum recorder_choice recorder;
};

/* A process that does nothing but begin and end. */
struct recording_empty {
	int64_t wall_ns, own_ns;			   /* own: what the recorder worked in it */
	double launch_call_ns, launch_and_wait_ns, gap_ns; /* medians of its calibration */
};

struct recording {
	int status; /* of the program's recorded run, as waitpid() has it */
	pid_t pid;
	size_t processes; /* that have traces, where the kept one is not that of pid; else 0 */
	int64_t profiled_wall_ns;
	int recordings;			       /* that were re-timed, where there are several */
	double retimed_ns[RECORDING_RUNS_MAX]; /* how long each takes without the recorder */
	int n;
	int64_t unprofiled_wall_ns[RECORDING_RUNS_MAX];
	int empties; /* on a GPU as many as runs, each beside one without the recorder */
	struct recording_empty empty[RECORDING_RUNS_MAX];
	int64_t plain_empty_ns[RECORDING_RUNS_MAX];
	json_t *host_gaps; /* of the runs with calls alone; NULL after recording_run(): the trace
			      has it */
};

/*
 * Half of the runs without the recorder, the recorded run, the other half: what warms up or slows
 * down in between concerns both kinds. Several recorded runs take turns with them: processes of one
 * program differ, and what is kept is the trace of the one whose re-timed time is the median (the
 * lower of two). Traces of calls alone are not re-timed: then there is one. Wall times are whole
 * processes, from their start to their end. Where CUPTI recorded, processes that do nothing follow,
 * with it and without, in turns: what it adds to the beginning and the end of one, and what calls
 * cost in other processes than the recorded one. The trace gets a row `runs`. Returns 0, or a
 * negative errno after one line: the program cannot be started, it wrote no trace, the file exists,
 * another profiler is asked for; -EINTR without a line after Ctrl-C. A run without the recorder
 * that ends otherwise than the recorded one is left out, and a line says so. So it does where calls
 * alone could be recorded.
 */
int recording_run(const struct recording_request *request, struct recording *out);

/* The library that records calls alone: 0, or a negative errno after one line, where it cannot be
 * preloaded. */
int recording_find_calls(char library[PATH_MAX]);

/* One run with the recorder that is asked for (AUTO is DEVICE here): out->status and
 * out->profiled_wall_ns. */
int recording_told(const struct recording_request *request, struct recording *out);

/* `rift profile-empty`, such a process: a context, one wait. Returns an exit code. */
int cmd_empty(int argc, char **argv);

/*
 * The variables of this process, which its children inherit: what the recorder in them is to do;
 * or that there is none, whatever this process was told itself. AUTO is DEVICE here. Returns 0, or
 * a negative errno after one line: another profiler is asked for, a library that is not there.
 */
int recording_tell(const struct recording_request *request);
void recording_tell_nothing(void);

#endif
