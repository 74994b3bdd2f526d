/*
 * recording.c - runs a program with the recorder and without it.
 *
 * The recorder is in the program: in the CPU device, where that is the program's runtime, in a
 * library that the driver loads (common/recorder/cupti), or in one that is preloaded
 * (common/recorder/preload). Variables tell all of them what to do.
 */
#include "harness/profile/recording.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "common/preload.h"
#include "common/timing.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/in_force.h"
#include "harness/platform/program.h"
#include "harness/measure/measure.h"
#include "common/trace/trace.h"
#include "harness/profile/host_runs.h"
#include "harness/profile/profile.h"
#include "harness/profile/program_run.h"
#include "harness/profile/trace_files.h"
#include "harness/record/record.h"
#include "harness/stats/stats.h"

const char *const recorder_choices[] = { "auto", "device", "calls", NULL };

/* ---- one run ------------------------------------------------------------------------------ */

/* Ctrl-C is for the program, which gets it too: what it leaves is a trace all the same. */
static int run_once(const struct recording_request *r, pid_t *pid, int *status, int64_t *wall_ns)
{
	const struct program program = { .argv = r->argv,
					 .output = r->stdout_to_stderr ? STDERR_FILENO : -1,
					 .error = -1 };
	struct program_run run;
	int err = program_run(&program, &run);

	*pid = run.pid;
	*status = run.status;
	*wall_ns = run.wall_ns;
	return err;
}

/* ---- what the recorder is told, in the program's environment ------------------------------ */

static void set_number(const char *variable, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", (long)value);
	if (value)
		setenv(variable, text, 1);
}

/* The driver of a GPU loads it into each program that it names it to, and NVTX at the first range.
 */
static const char injection[] = "CUDA_INJECTION64_PATH";
static const char range_injection[] = "NVTX_INJECTION64_PATH";
static const char calls_library[] = "recorder/calls.so", ends_library[] = "recorder/ends.so";

/* What is set here is taken back; what others have set stays. */
static bool has_injected, has_range_injected, has_preloaded;
static char *preloaded_before[2]; /* values of preload_variables; NULL: there was none */

static int inject(bool ranges)
{
	char library[PATH_MAX];

	if (getenv(injection))
		return complain(EBUSY,
				"a profiler is already loaded: %s is set; --recorder calls works "
				"next to it, for calls only",
				injection);
	has_injected = preload_beside("recorder/cupti.so", library);
	if (!has_injected)
		return 0;
	setenv(injection, library, 1);
	/* Where ranges are another's already they stay his: they are not in the trace then. */
	has_range_injected = ranges && !getenv(range_injection);
	if (has_range_injected)
		setenv(range_injection, library, 1);
	return 0;
}

int recording_find_calls(char library[PATH_MAX])
{
	if (!preload_beside(calls_library, library))
		return complain(ENOENT, "%s: not found; make builds it", library);
	if (!preload_can(library))
		return complain(EINVAL, "%s: LD_PRELOAD cannot take a blank or a colon", library);
	return 0;
}

/* Without it a program that ends by _exit() has lost its last second: no reason to refuse it. */
static void preload_ends(void)
{
	char library[PATH_MAX];

	for (int i = 0; preload_variables[i]; i++) {
		const char *before = getenv(preload_variables[i]);

		preloaded_before[i] = before ? strdup(before) : NULL;
	}
	has_preloaded = true;
	if (preload_beside(ends_library, library) && preload_can(library))
		preload_add(library);
}

/* Before all others that are preloaded: it sees the program's calls, not those of a layer. */
static int preload_calls(void)
{
	char library[PATH_MAX];
	int err = recording_find_calls(library);

	if (err)
		return err;
	preload_ends();
	preload_add(library);
	setenv("RIFT_TRACE_RECORDER", recorder_choices[RECORDER_CALLS], 1);
	return 0;
}

/* Whatever folder the program goes to before its first call. */
static void set_trace(const char *path)
{
	char folder[PATH_MAX] = "", *whole;

	if (*path != '/' && !getcwd(folder, sizeof(folder)))
		*folder = '\0';
	CHECK(asprintf(&whole, "%s%s%s", folder, *folder ? "/" : "", path) > 0, "memory of a path");
	setenv("RIFT_TRACE", whole, 1);
	free(whole);
}

int recording_tell(const struct recording_request *r)
{
	int err = r->recorder == RECORDER_CALLS ? preload_calls() : inject(r->ranges);

	if (err)
		return err;
	if (!has_preloaded)
		preload_ends();
	set_trace(r->output);
	if (r->anonymous)
		setenv("RIFT_TRACE_ANONYMOUS", "1", 1);
	if (r->no_cpu_times)
		setenv("RIFT_TRACE_CPU", "0", 1);
	if (r->range)
		setenv("RIFT_TRACE_RANGE", r->range, 1);
	if (r->cupti)
		setenv("RIFT_TRACE_CUPTI", r->cupti, 1);
	set_number("RIFT_TRACE_DELAY_NS", r->delay_ns);
	set_number("RIFT_TRACE_DURATION_NS", r->duration_ns);
	set_number("RIFT_TRACE_MAX_EVENTS", r->max_events);
	set_number("RIFT_TRACE_STARTED_NS", timing_monotonic_ns());
	return 0;
}

static void forget_libraries(void)
{
	if (has_injected)
		unsetenv(injection);
	if (has_range_injected)
		unsetenv(range_injection);
	for (int i = 0; has_preloaded && preload_variables[i]; i++) {
		if (preloaded_before[i])
			setenv(preload_variables[i], preloaded_before[i], 1);
		else
			unsetenv(preload_variables[i]);
		free(preloaded_before[i]);
	}
	has_injected = has_range_injected = has_preloaded = false;
}

void recording_tell_nothing(void)
{
	static const char *const names[] = {
		"",	     "_ANONYMOUS",   "_CPU",	    "_RANGE",
		"_DELAY_NS", "_DURATION_NS", "_MAX_EVENTS", "_STARTED_NS",
		"_OWNER",    "_CUPTI",	     "_RECORDER"
	};
	char variable[64];

	forget_libraries();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(variable, sizeof(variable), "RIFT_TRACE%s", names[i]);
		unsetenv(variable);
	}
}

/* ---- all runs ----------------------------------------------------------------------------- */

/*
 * May calls alone be recorded in place of more? Not where an NVTX range is what counts, which these
 * have not.
 */
static bool may_lack_times(const struct recording_request *r)
{
	char library[PATH_MAX];

	return r->recorder == RECORDER_AUTO && (!r->range || *r->range == '@') &&
	       preload_beside(calls_library, library);
}

/* Before anything runs. */
static int refuse(const struct recording_request *r)
{
	char library[PATH_MAX];
	int err = preload_refuse("profile", r->argv);

	if (err)
		return err;
	if (r->recorder != RECORDER_CALLS && !may_lack_times(r) && getenv(injection))
		return inject(false);
	err = trace_files_refuse(r->output, r->recordings);
	return err || !r->host_runs ? err : recording_find_calls(library);
}

/* What a preloaded recorder does not see. */
#define UNSEEN "a runtime that is linked in, as by nvcc without --cudart shared, is not seen"

/* None of that name; perhaps processes that the program started have made theirs. */
static int no_trace(const struct recording_request *r, int status)
{
	static const char *const why[] = {
		[RECORDER_AUTO] = "no recorder saw a CUDA call of it; a runtime that is linked in, "
				  "as by nvcc without --cudart shared, is seen only if times of "
				  "the device can be recorded",
		[RECORDER_DEVICE] =
			"no recorder was loaded into it, or it made no call of the runtime",
		[RECORDER_CALLS] = "it made no call of a shared CUDA runtime; " UNSEEN,
	};
	char *names = trace_files_names(r->output, "");
	bool has_children = *names;

	if (has_children)
		complain(ENOENT, "%s: its children wrote traces; profile these: %s",
			 text_shown(r->argv[0]).s, names);
	free(names);
	if (has_children)
		return -ENOENT;
	if (WIFSIGNALED(status))
		return complain(ENOENT, "%s: wrote no trace: it %s", text_shown(r->argv[0]).s,
				profile_ended(status).s);
	if (WEXITSTATUS(status))
		return complain(ENOENT, "%s: wrote no trace: it %s, and %s",
				text_shown(r->argv[0]).s, profile_ended(status).s,
				why[r->recorder]);
	return complain(ENOENT, "%s: wrote no trace: %s", text_shown(r->argv[0]).s,
			why[r->recorder]);
}

int recording_told(const struct recording_request *r, struct recording *out)
{
	int err = recording_tell(r);

	if (!err)
		err = run_once(r, &out->pid, &out->status, &out->profiled_wall_ns);
	recording_tell_nothing();
	return err;
}

static bool wrote_none(const struct recording_request *r)
{
	return access(r->output, F_OK) && !trace_files_children(r->output);
}

static int run_for_calls(const struct recording_request *r, struct recording *out, const char *why)
{
	struct recording_request calls = *r;
	int err;

	calls.recorder = RECORDER_CALLS;
	err = recording_told(&calls, out);
	if (!err && !access(r->output, F_OK))
		complain(ENODATA, "%s: recorded without times of the device: %s",
			 text_shown(r->argv[0]).s, why);
	return err;
}

static int run_recorded(const struct recording_request *r, struct recording *out)
{
	bool may = may_lack_times(r);
	int err;

	if (may && getenv(injection))
		err = run_for_calls(
			r, out,
			"another profiler is already loaded (CUDA_INJECTION64_PATH is set)");
	else
		err = recording_told(r, out);
	if (!err && may && wrote_none(r) && !getenv(injection))
		err = run_for_calls(r, out, "these are not available here");
	return !err && access(r->output, F_OK) ? no_trace(r, out->status) : err;
}

/* Runs without the recorder. */
struct plain {
	int64_t wall_ns[RECORDING_RUNS_MAX];
	int status[RECORDING_RUNS_MAX], n;
};

static int run_plain(const struct recording_request *r, struct plain *p, int until)
{
	pid_t pid;
	int err = 0;

	for (; p->n < until && !err; p->n += !err) {
		progress("%s: run %d of %d without the recorder", r->argv[0], p->n + 1,
			 r->unprofiled);
		err = run_once(r, &pid, &p->status[p->n], &p->wall_ns[p->n]);
	}
	progress_clear();
	return err;
}

/* Those that ended as the recorded one did. */
static void keep_equal(const struct recording_request *r, const struct plain *p,
		       struct recording *out)
{
	for (int i = 0; i < p->n; i++)
		if (p->status[i] == out->status)
			out->unprofiled_wall_ns[out->n++] = p->wall_ns[i];
	if (out->n < p->n)
		complain(EIO,
			 "%s: %d of %d runs without the recorder ended differently from the "
			 "recorded one and are not counted",
			 text_shown(r->argv[0]).s, p->n - out->n, p->n);
}

/* ---- processes that do nothing ------------------------------------------------------------ */

int cmd_empty(int argc, char **argv)
{
	(void)argc, (void)argv;
	CUDA(cudaFree(NULL));
	CUDA(cudaDeviceSynchronize());
	return 0;
}

/* What a trace says of it; false: nothing of use. It is removed. */
static bool take_empty(const char *path, struct recording_empty *e)
{
	struct trace t;
	bool fine = !trace_read(&t, path) && t.is_calibrated;

	if (fine) {
		for (int64_t i = 0; i < t.owns; i++)
			e->own_ns += t.own[i].t1 - t.own[i].t0;
		e->launch_call_ns = t.calibration.launch_call_ns[QUANTILE_P50];
		e->launch_and_wait_ns = t.calibration.launch_and_wait_ns[QUANTILE_P50];
		e->gap_ns = t.calibration.gap_ns[QUANTILE_P50];
	}
	trace_release(&t);
	unlink(path);
	return fine;
}

/* One with the recorder, one without. */
static int run_pair(const struct recording_request *r, struct recording *out)
{
	struct recording_empty *e = &out->empty[out->empties];
	int64_t *plain = &out->plain_empty_ns[out->empties];
	struct recording recorded = { 0 };
	pid_t pid;
	int err = recording_told(r, &recorded), status = 0;

	*e = (struct recording_empty){ .wall_ns = recorded.profiled_wall_ns };
	err = err ? err : run_once(r, &pid, &status, plain);
	if (!access(r->output, F_OK) && take_empty(r->output, e) && !err && !recorded.status &&
	    !status)
		out->empties++;
	return err;
}

/* A trace's first line, which it has just got. */
static bool header_has(const char *path, const char *member)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	bool has = f && getline(&line, &room, f) > 0 && strstr(line, member);

	free(line);
	if (f)
		fclose(f);
	return has;
}

/* The CPU device's recorder is in its process, and tells what it works itself. */
static int run_empties(const struct recording_request *request, struct recording *out)
{
	char program[PATH_MAX] = "", word[] = "profile-empty", path[PATH_MAX];
	char *argv[] = { program, word, NULL };
	struct recording_request r = { .argv = argv,
				       .output = path,
				       .cupti = request->cupti,
				       .recorder = RECORDER_DEVICE,
				       .max_events = request->max_events,
				       .stdout_to_stderr = true };
	int err = 0;

	if (!header_has(request->output, "\"recorder\":\"cupti\"") ||
	    readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return 0;
	snprintf(path, sizeof(path), "%s.empty", request->output);
	for (int i = 0; i < request->unprofiled && !err; i++) {
		progress("what the recorder adds to a process: %d of %d", i + 1,
			 request->unprofiled);
		err = run_pair(&r, out);
	}
	progress_clear();
	return err;
}

/* ---- the row ------------------------------------------------------------------------------ */

static json_t *empties_json(const struct recording *rec)
{
	json_t *recorded = json_array(), *plain = json_array();

	for (int i = 0; i < rec->empties; i++) {
		const struct recording_empty *e = &rec->empty[i];

		json_array_append_new(recorded,
				      json_pack("{s:I, s:I, s:f, s:f, s:f}", "wall_ns",
						(json_int_t)e->wall_ns, "own_ns",
						(json_int_t)e->own_ns, "launch_call_ns",
						e->launch_call_ns, "launch_and_wait_ns",
						e->launch_and_wait_ns, "gap_ns", e->gap_ns));
		json_array_append_new(plain, json_integer(rec->plain_empty_ns[i]));
	}
	if (rec->empties)
		return json_pack("{s:o, s:o}", "recorded", recorded, "unprofiled_wall_ns", plain);
	json_decref(recorded);
	json_decref(plain);
	return NULL;
}

/* The layers of rift that the program ran under too; NULL: none. */
static json_t *under_json(bool anonymous)
{
	json_t *layers = layers_entered();
	char text[LAYERS_TEXT];
	bool any = json_array_size(layers) > 0;

	layers_text_short(layers, text, sizeof(text));
	json_decref(layers);
	return !any ? NULL : json_text(anonymous ? "a layer" : text);
}

static json_t *runs_row(const struct recording *rec, bool anonymous)
{
	json_t *list = json_array(), *retimed = rec->recordings ? json_array() : NULL;

	for (int i = 0; i < rec->n; i++)
		json_array_append_new(list, json_integer(rec->unprofiled_wall_ns[i]));
	for (int i = 0; i < rec->recordings; i++)
		json_array_append_new(retimed, json_integer((json_int_t)rec->retimed_ns[i]));
	return json_pack(
		"{s:s, s:I, s:o, s:o*, s:i, s:o*, s:o*, s:O*, s:o*}", "record", "runs",
		"profiled_wall_ns", (json_int_t)rec->profiled_wall_ns, "unprofiled_wall_ns", list,
		"retimed_wall_ns", retimed, "exit_status", rec->status, "processes",
		rec->processes > 1 ? json_integer((json_int_t)rec->processes) : NULL, "empty",
		empties_json(rec), "host_gaps", rec->host_gaps, "under", under_json(anonymous));
}

static int find_failed(const json_t *o, const struct record_scan *scan, void *arg)
{
	(void)scan;
	if (record_is(o, "failed"))
		*(struct text *)arg = text_shown(json_get_text(o, "why"));
	return 0;
}

/* What a full disk left looks like no trace that could be used. */
static int refuse_cut(const char *path, const struct record_scan *scan, const char *why)
{
	if (*why)
		return trace_refuse_failed(path, why);
	if (scan->line)
		return 0;
	unlink(path);
	return complain(EIO, "%s: nothing of the trace could be written", path);
}

/* Behind the last whole line: of a program that was killed that is where its trace ends. */
static int append_runs(const char *path, const struct recording *rec, bool anonymous)
{
	struct record_scan scan;
	struct record_file file;
	struct text why = { "" };
	int err = record_read_as(&scan, path, &trace_format, find_failed, &why);

	if (!err)
		err = refuse_cut(path, &scan, why.s);
	if (!err)
		err = record_append(&file, &scan);
	if (err)
		return err;
	err = record_write(&file, runs_row(rec, anonymous));
	record_close(&file);
	return err;
}

/* ---- several recordings ------------------------------------------------------------------- */

/* One recorded run, and the size of its trace before the row `runs`. */
struct take {
	char path[PATH_MAX];
	int64_t profiled_wall_ns;
	int status;
	size_t processes;
	off_t bytes;
};

static int run_take(const struct recording_request *request, struct take *take, int number)
{
	struct recording_request r = *request;
	struct recording one = { 0 };
	char pid[32];
	size_t before;
	int err;

	trace_files_name(request->output, number, take->path);
	before = trace_files_children(take->path);
	r.output = take->path;
	if (request->recordings > 1)
		progress("%s: recording %d of %d", r.argv[0], number + 1, request->recordings);
	err = run_recorded(&r, &one);
	take->profiled_wall_ns = one.profiled_wall_ns;
	take->status = one.status;
	snprintf(pid, sizeof(pid), "\"pid\":%d,", (int)one.pid);
	if (!err && !header_has(take->path, pid))
		take->processes = 1 + trace_files_children(take->path) - before;
	return err;
}

/* By its first line: one of calls alone cannot be re-timed. */
static bool has_device_times(const char *path)
{
	return header_has(path, "\"device_times\":\"recorded\"");
}

/*
 * Recorded runs and others in turns, until there are r->recordings and r->unprofiled of them; *n
 * counts the recordings. None is begun behind that time.
 */
static int run_in_turns(const struct recording_request *r, int64_t until_ns, struct plain *plain,
			struct take *take, int *n)
{
	int err = 0;

	while (*n < r->recordings && clock_ns() < until_ns && !err) {
		err = run_plain(r, plain, r->unprofiled * (*n + 1) / (r->recordings + 1));
		if (!err)
			err = run_take(r, &take[*n], *n);
		*n += !err;
		if (*n != 1 || has_device_times(take->path))
			continue;
		if (r->recordings > 1)
			complain(ENODATA,
				 "%s: recorded once: without times of the device there is no "
				 "median",
				 text_shown(r->argv[0]).s);
		break;
	}
	return err || clock_ns() >= until_ns ? err : run_plain(r, plain, r->unprofiled);
}

/* Do the runs without the recorder differ by more than the self-check allows for? */
static bool differs(const struct plain *p)
{
	double sorted[RECORDING_RUNS_MAX];

	for (int i = 0; i < p->n; i++)
		sorted[i] = (double)p->wall_ns[i];
	sort_doubles(sorted, p->n);
	return p->n >= BOOTSTRAP_N_MIN &&
	       sorted[p->n - 1] - sorted[0] > PROFILE_SELF_MARGIN * sorted[p->n / 2];
}

/* More of both, where one recording says too little. */
static int run_more(const struct recording_request *r, struct plain *plain, struct take *take,
		    int *n)
{
	struct recording_request more = *r;

	more.recordings = RECORDING_MORE;
	if (more.unprofiled < RECORDING_MORE_RUNS)
		more.unprofiled = RECORDING_MORE_RUNS;
	return run_in_turns(&more, clock_ns() + RECORDING_MORE_S * INT64_C(1000000000), plain, take,
			    n);
}

static int run_all(const struct recording_request *r, struct plain *plain, struct take *take,
		   int *n)
{
	bool may_be_more = !r->recordings && trace_files_free(r->output, RECORDING_MORE);
	struct recording_request first = *r;
	int err;

	first.recordings = r->recordings ? r->recordings : 1;
	err = run_in_turns(&first, INT64_MAX, plain, take, n);
	return !err && may_be_more && has_device_times(take->path) && differs(plain)
		       ? run_more(r, plain, take, n)
		       : err;
}

/* How long the program takes without the recorder; NAN: the trace does not say. */
static double retimed(const char *path)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	struct profile p;
	bool known = !profile_make(&p, path, &rules, false) && p.retimed;
	double ns = known ? p.predicted.value : NAN;

	profile_release(&p);
	return ns;
}

/* Whose time is the median of those that are known; the first where none is. */
static int median_take(const double *ns, int n)
{
	double sorted[RECORDING_RUNS_MAX];
	int known = 0, which = 0;

	for (int i = 0; i < n; i++)
		if (isfinite(ns[i]))
			sorted[known++] = ns[i];
	sort_doubles(sorted, known);
	while (known && which < n && ns[which] != sorted[(known - 1) / 2])
		which++;
	return which;
}

/* Those that ended as the first one did are re-timed, and one is kept under the trace's name. */
static int keep_median(const struct recording_request *r, struct recording *out, struct take *take,
		       int n)
{
	double ns[RECORDING_RUNS_MAX];
	int kept, err = 0;

	for (int i = 0; i < n; i++) {
		ns[i] = take[i].status == take->status ? retimed(take[i].path) : NAN;
		if (isfinite(ns[i]))
			out->retimed_ns[out->recordings++] = ns[i];
	}
	if (out->recordings < n)
		complain(EIO,
			 "%s: %d of %d recordings ended differently from the first or cannot be "
			 "re-timed, and are not counted",
			 text_shown(r->argv[0]).s, n - out->recordings, n);
	kept = median_take(ns, n);
	for (int i = 0; i < n; i++)
		if (i != kept)
			trace_files_remove(take[i].path);
	if (kept)
		err = trace_files_rename(take[kept].path, r->output);
	if (err)
		return err;
	out->profiled_wall_ns = take[kept].profiled_wall_ns;
	out->processes = take[kept].processes;
	if (truncate(r->output, take[kept].bytes))
		return complain(errno, "%s: %s", text_shown(r->output).s, strerror(errno));
	return append_runs(r->output, out, r->anonymous);
}

/* Each gets the row `runs`, which re-timing takes processes that do nothing from. */
static int finish(const struct recording_request *r, struct recording *out, struct take *take,
		  int n)
{
	int err = 0;

	for (int i = 0; i < n && !err; i++) {
		struct stat trace;

		out->profiled_wall_ns = take[i].profiled_wall_ns;
		out->processes = take[i].processes;
		err = stat(take[i].path, &trace) ? -errno : 0;
		take[i].bytes = err ? 0 : trace.st_size;
		err = err ? err : append_runs(take[i].path, out, r->anonymous);
	}
	return err || n == 1 ? err : keep_median(r, out, take, n);
}

int recording_run(const struct recording_request *request, struct recording *out)
{
	struct take *take = calloc(RECORDING_RUNS_MAX, sizeof(*take));
	struct plain plain = { .n = 0 };
	int err, held = -1, n = 0;

	CHECK(take, "memory of recordings");
	interrupt_install();
	*out = (struct recording){ 0 };
	CHECK(request->unprofiled <= RECORDING_RUNS_MAX &&
		      request->recordings <= RECORDING_RUNS_MAX,
	      "%d and %d runs", request->unprofiled, request->recordings);
	err = trace_files_hold(request->output, &held);
	err = err ? err : refuse(request);
	recording_tell_nothing();
	if (!err)
		err = run_all(request, &plain, take, &n);
	out->status = take->status;
	if (!err)
		err = host_runs_take(request, out);
	if (!err)
		err = run_empties(request, out);
	if (!err) {
		keep_equal(request, &plain, out);
		err = finish(request, out, take, n);
	}
	for (int i = 1; err && i < RECORDING_RUNS_MAX && *take[i].path; i++)
		trace_files_remove(take[i].path);
	trace_files_let_go(&held);
	json_decref(out->host_gaps);
	out->host_gaps = NULL;
	free(take);
	return err;
}
