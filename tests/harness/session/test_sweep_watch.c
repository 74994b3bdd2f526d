/*
 * test_sweep_watch.c - harness/session/watch.h: samples of stand-ins for NVIDIA's library
 * (tests/driver), and how far a session is.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/measure/measure.h"
#include "harness/session/watch.h"

#include <dlfcn.h>

TestSuite(small_sweep_watch, .timeout = 300);

/* ---- the GPU's own view ------------------------------------------------------------------- */

static char library[2304];

/* In place of the system's: the stand-in goes by the library's name. */
void *dlopen(const char *file, int flags)
{
	void *(*real)(const char *, int), *p = dlsym(RTLD_NEXT, "dlopen");

	memcpy(&real, &p, sizeof(p));
	return real(*library && file && !strcmp(file, "libnvidia-ml.so.1") ? library : file, flags);
}

static struct watch *watch_with(const char *stand_in, const char *pci)
{
	snprintf(library, sizeof(library), "%s/%s.so", beside_tests("driver"), stand_in);
	return watch_open(pci);
}

/* "345 null" of a series. */
static const char *series(const json_t *o, const char *name)
{
	static char text[160];
	const json_t *list = json_object_get(o, name), *v;
	size_t i;

	*text = '\0';
	cr_assert(list && json_is_array(list), "%s", name);
	json_array_foreach((json_t *)(uintptr_t)list, i, v)
	{
		size_t used = strlen(text);

		if (json_is_integer(v))
			snprintf(text + used, sizeof(text) - used, "%s%lld", used ? " " : "",
				 (long long)json_integer_value(v));
		else
			snprintf(text + used, sizeof(text) - used, "%snull", used ? " " : "");
	}
	return text;
}

static void series_is(const json_t *o, const char *name, const char *want)
{
	cr_assert(eq(str, (char *)series(o, name), (char *)want), "%s: %s", name, series(o, name));
}

/* One each 0.1 s, whatever asks for more; the first of a series is at 0. */
Test(small_sweep_watch, what_the_gpu_says_ten_times_a_second)
{
	struct watch *w = watch_with("nvml", "0000:3b:00.0");
	json_t *o;

	watch_sample(w, 5000000000);
	watch_sample(w, 5099999999);
	watch_sample(w, 5100000000);
	watch_sample(w, 5150000000);
	watch_sample(w, 5350000000);
	o = watch_take(w);
	series_is(o, "t_ms", "0 100 350");
	series_is(o, "sm_mhz", "345 345 345");
	series_is(o, "mem_mhz", "1 1 1");
	series_is(o, "power_mw", "412345 412345 412345");
	series_is(o, "temperature_c", "61 61 61");
	series_is(o, "event_reasons", "1 1 1");
	cr_assert(eq(sz, json_object_size(o), 6), "no error");
	json_decref(o);
	/* the next series begins anew */
	watch_sample(w, 5360000000);
	o = watch_take(w);
	series_is(o, "t_ms", "0");
	json_decref(o);
	watch_close(w);
}

Test(small_sweep_watch, what_it_does_not_say_is_null)
{
	struct watch *w;
	json_t *o;

	setenv("FAKE_NVML", "vgpu busy", 1);
	w = watch_with("nvml", "0000:3b:00.0");
	watch_sample(w, 1);
	o = watch_take(w);
	series_is(o, "power_mw", "null");
	series_is(o, "temperature_c", "88");
	series_is(o, "event_reasons", "68");
	json_decref(o);
	watch_close(w);
}

static void error_is(struct watch *w, const char *want)
{
	json_t *o;
	const char *error;

	watch_sample(w, 1000000000);
	o = watch_take(w);
	error = json_string_value(json_object_get(o, "error"));
	cr_assert(error && strstr(error, want), "%s, not %s", error ? error : "nothing", want);
	cr_assert(eq(sz, json_object_size(o), 1), "nothing else");
	json_decref(o);
	watch_close(w);
}

Test(small_sweep_watch, what_fails_is_kept)
{
	error_is(watch_with("nvml", ""), "no GPU");
	error_is(watch_with("nvml", "0000:99:00.0"), "Not Found");
	error_is(watch_with("none", "0000:3b:00.0"), "libnvidia-ml has no nvml");
	/* the first that an older one lacks */
	error_is(watch_with("old_nvml", "0000:3b:00.0"), "libnvidia-ml has no nvmlShutdown");
	error_is(watch_with("not-there", "0000:3b:00.0"), "not-there.so");
	setenv("FAKE_NVML", "mismatch", 1);
	error_is(watch_with("nvml", "0000:3b:00.0"), "Driver/library version mismatch");
	watch_close(NULL);
}

/* ---- how far it is ------------------------------------------------------------------------ */

Test(small_sweep_watch, durations)
{
	static const struct {
		double s;
		const char *text;
	} rows[] = {
		{ 0, "0 s" },
		{ 0.6, "1 s" },
		{ 99.4, "99 s" },
		{ 100, "2 min" },
		{ 5999, "100 min" },
		{ 6000, "1.7 h" },
		{ 360000, "100.0 h" },
		{ NAN, "unknown" },
		{ INFINITY, "unknown" },
		{ 3.6e20, "100000000000000" }, /* as much of it as there is room for */
	};
	char out[16];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(
			eq(str, (char *)show_duration(1e9 * rows[i].s, out), (char *)rows[i].text),
			"%g s: %s", rows[i].s, out);
}

/* As predicted at first; corrected once there is something to see; the second is 10 s or more. */
Test(small_sweep_watch, what_is_left)
{
	struct show s = { .predicted_ns = 100e9, .start_ns = clock_ns() - 10000000000 };
	double left;

	cr_assert(eq(dbl, show_left_ns(&s), 100e9), "nothing is done");
	s.done_ns = 2e9;
	cr_assert(eq(dbl, show_left_ns(&s), 98e9), "2 %% say nothing");
	s.done_ns = 20e9;
	left = show_left_ns(&s);
	cr_assert(le(dbl, 40e9, left), "half as long as predicted: %g", left);
	cr_assert(le(dbl, left, 60e9), "%g", left);
	s.done_ns = 120e9;
	cr_assert(eq(dbl, show_left_ns(&s), 0), "never below 0");
}

/* On a terminal. Left: as much in proportion as has passed, within half a minute of 75. */
Test(small_sweep_watch, a_bar_of_what_is_done)
{
	static const struct {
		double done_ns, predicted_ns;
		const char *want;
	} rows[] = {
		{ 1500e9, 6000e9,
		  "[#####...............] 5/20 points, process 2/4, 75 min left: a point" },
		{ 6000e9, 6000e9,
		  "[####################] 5/20 points, process 2/4, 0 s left: a point" },
		{ 9000e9, 6000e9, "[####################] 5/20" },
		{ 1, 0, "[....................] 5/20 points, process 2/4, 0 s left: a point" },
	};

	setenv("COLUMNS", "96", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct show s;
		const char *said;

		divert_terminal();
		show_start(&s, false);
		s.done_ns = rows[i].done_ns;
		s.predicted_ns = rows[i].predicted_ns;
		s.start_ns -= 1500000000000;
		s.points_done = 5;
		s.points = 20;
		s.process = 2;
		s.processes = 4;
		show_progress(&s, "a point");
		s.shown_ns = clock_ns() + 10000000000; /* it was shown just now */
		show_progress(&s, "another");
		said = diverted_stderr();
		cr_expect(tells(said, rows[i].want), "%s", said);
		cr_expect(not(tells(said, "another")), "%s", said);
		cr_expect(s.terminal);
	}
}

Test(small_sweep_watch, lines_and_complaints)
{
	struct show s;
	char line[16], want[SHOW_SEEN * 8] = "";
	const char *said;

	divert_stderr();
	show_start(&s, true);
	cr_assert(s.quiet && !s.terminal, "quiet, into a file");
	cr_assert(s.begun_ns == s.start_ns && clock_ns() - s.begun_ns < 10000000000, "now");
	show_line(&s, "no %d", 1);
	show_complaint(&s, "one");
	show_complaint(&s, "two");
	show_complaint(&s, "one");
	show_end(&s);
	show_complaint(&s, "one");
	said = diverted_stderr();
	cr_assert(eq(str, (char *)said, "one\ntwo\none\n"), "each once, quiet or not: %s", said);
	show_end(&s);

	divert_stderr();
	show_start(&s, false);
	show_line(&s, "line %d", 1);
	s.terminal = true;
	show_line(&s, "line %d", 2);
	/* no more are remembered than there is room for: none of these is said twice */
	for (int i = 0; i < 2 * (SHOW_SEEN + 2); i++) {
		snprintf(line, sizeof(line), "c%d", i % (SHOW_SEEN + 2));
		show_complaint(&s, line);
		if (i < SHOW_SEEN)
			sprintf(want + strlen(want), "c%d\n", i);
	}
	said = diverted_stderr();
	cr_assert(zero(int, strncmp(said, "line 1\n", 7)), "%s", said);
	cr_assert(eq(str, (char *)said + 7, want), "%s", said);
	show_end(&s);
	cr_assert(eq(ptr, s.seen[0], NULL), "forgotten");
	cr_assert(eq(ptr, s.seen[SHOW_SEEN - 1], NULL), "all");
}
