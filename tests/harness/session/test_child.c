/*
 * test_child.c - harness/session/child.h: processes that stand in for workers. A prefix that ends
 * with " #" is a command of its own, without the worker behind it.
 */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/session/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

TestSuite(small_child, .timeout = 300);

/* ---- what a child writes ------------------------------------------------------------------ */

static char objects[4096], complaints[4096];
static int objects_n, stop_at; /* each() fails at this one */

static int take(const json_t *o, void *arg)
{
	char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);

	cr_assert(eq(ptr, arg, objects), "its argument");
	strcat(objects, text);
	strcat(objects, "\n");
	free(text);
	return ++objects_n == stop_at ? -7 : 0;
}

static void complain_of(const char *line, void *arg)
{
	cr_assert(eq(ptr, arg, objects), "its argument");
	strcat(complaints, line);
	strcat(complaints, "\n");
}

static void forget(void)
{
	*objects = *complaints = '\0';
	objects_n = stop_at = 0;
}

static int read_it(struct child *c)
{
	return child_read(c, take, complain_of, objects);
}

/* Everything until its end. */
static void run(struct child *c, const char *command, bool takes_turns)
{
	json_t *job = json_pack("{s:i}", "job", 1);
	bool ended;

	forget();
	cr_assert(zero(int, child_start(c, job, command, takes_turns)), "%s", command);
	json_decref(job);
	do {
		ended = child_ended(c);
		cr_assert(zero(int, read_it(c)), "%s", command);
		if (!ended)
			child_wait(&c, 1, 20);
	} while (!ended);
}

Test(small_child, its_job_is_its_stdin)
{
	struct child c;

	run(&c, "sh -c 'cat; echo' #", false);
	cr_assert(eq(str, objects, "{\"job\":1}\n"), "%s", objects);
	cr_assert(eq(str, complaints, ""), "%s", complaints);
	child_release(&c);
	run(&c, "head -n 1 #", true);
	cr_assert(eq(str, objects, "{\"job\":1}\n"), "%s", objects);
	child_release(&c);
}

/* Of its own streams each has room for a MiB, where the kernel allows so much. */
Test(small_child, room_in_its_streams)
{
	struct child c;
	json_t *job = json_pack("{s:i}", "job", 1);
	int fds[2];

	cr_assert(zero(int, pipe(fds)));
	if (fcntl(fds[0], F_SETPIPE_SZ, 1 << 20) < 0)
		cr_skip("the kernel allows no such pipe");
	forget();
	cr_assert(zero(int, child_start(&c, job, "cat #", true)));
	cr_expect(eq(int, fcntl(c.out.fd, F_GETPIPE_SZ), 1 << 20));
	cr_expect(eq(int, fcntl(c.err.fd, F_GETPIPE_SZ), 1 << 20));
	cr_expect(eq(int, fcntl(c.in.fd, F_GETPIPE_SZ), 1 << 20));
	json_decref(job);
	child_release(&c);
}

Test(small_child, lines_of_both_streams)
{
	struct child c;

	run(&c,
	    "sh -c 'echo one >&2; echo \"{}\"; echo; echo prefix; echo \"[1]\"; echo "
	    "\"{\\\"a\\\":2}\"; "
	    "echo two >&2; echo >&2; printf three >&2; printf \"{}\"' #",
	    false);
	cr_assert(eq(str, objects, "{}\n{\"a\":2}\n"), "%s", objects);
	/* an empty line is none of an error; what has no end is no line */
	cr_assert(eq(str, c.last_error, "two"), "%s", c.last_error);
	cr_assert(ne(ptr, strstr(complaints, "one\n"), NULL), "%s", complaints);
	cr_assert(ne(ptr, strstr(complaints, "prefix\n"), NULL), "%s", complaints);
	cr_assert(ne(ptr, strstr(complaints, "[1]\n"), NULL), "%s", complaints);
	cr_assert(eq(ptr, strstr(complaints, "three"), NULL), "%s", complaints);
	child_release(&c);
}

/* A line longer than what is read at once, and many short ones. */
Test(small_child, lines_of_any_length)
{
	struct child c;

	run(&c,
	    "sh -c 'printf \"{\\\"a\\\":%02000000d\" 1 | tr 0 \" \"; echo \"}\"; "
	    "yes \"{}\" | head -n 1000' #",
	    false);
	cr_assert(eq(int, objects_n, 1001), "%d", objects_n);
	cr_assert(zero(int, strncmp(objects, "{\"a\":1}\n{}\n", 11)), "%.20s", objects);
	cr_assert(eq(str, complaints, ""), "%.100s", complaints);
	child_release(&c);
}

Test(small_child, what_the_reader_refuses_ends_the_reading)
{
	struct child c;
	json_t *job = json_object();

	forget();
	stop_at = 2;
	cr_assert(zero(int, child_start(&c, job, "sh -c 'echo \"{}\"; echo \"{}\"; echo \"{}\"' #",
					false)),
		  "start");
	while (!child_ended(&c))
		usleep(1000);
	cr_assert(eq(int, read_it(&c), -7), "the second");
	cr_assert(eq(int, objects_n, 2), "%d", objects_n);
	cr_assert(zero(int, read_it(&c)), "again");
	cr_assert(eq(int, objects_n, 3), "the third comes then: %d", objects_n);
	json_decref(job);
	child_release(&c);
}

Test(small_child, what_it_says_that_it_does)
{
	struct child c = child_none();
	json_t *o = child_phase_json("opening the device");

	cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "phase")),
		     "opening the device"),
		  "phase");
	json_decref(o);
	run(&c, "sh -c 'echo \"{\\\"record\\\":\\\"phase\\\",\\\"phase\\\":\\\"p 1\\\"}\"' #",
	    false);
	cr_assert(eq(str, c.phase, "p 1"), "%s", c.phase);
	child_release(&c);
	run(&c, "sh -c 'echo \"{\\\"record\\\":\\\"x\\\",\\\"phase\\\":\\\"p 1\\\"}\"' #", false);
	cr_assert(eq(str, c.phase, "starting"), "%s", c.phase);
	child_release(&c);
}

/* ---- what it is told ---------------------------------------------------------------------- */

Test(small_child, it_goes_when_it_is_told_to)
{
	struct child c, *all[] = { &c };
	json_t *job = json_object();

	forget();
	cr_assert(zero(int, child_start(&c, job,
					"sh -c 'read a; read b; echo \"{\\\"b\\\":\\\"$b\\\"}\"' #",
					true)),
		  "start");
	child_wait(all, 1, 20);
	cr_assert(not(child_ended(&c)), "it waits");
	child_go(&c);
	while (!child_ended(&c))
		child_wait(all, 1, 20);
	cr_assert(zero(int, read_it(&c)), "read");
	cr_assert(eq(str, objects, "{\"b\":\"go\"}\n"), "%s", objects);
	child_release(&c);
	json_decref(job);
}

/* Sends these bytes through a pipe, however an earlier call failed. */
static void sends(size_t n)
{
	char bytes[64] = "0123456789", back[64];
	struct child c = child_none(), *all[] = { &c };
	int fds[2];

	cr_assert(zero(int, pipe2(fds, O_NONBLOCK)), "pipe");
	c.in = (struct feed){ .fd = fds[1], .bytes = bytes, .n = n };
	errno = EAGAIN;
	child_wait(all, 1, 0);
	cr_assert(eq(sz, c.in.sent, n), "%zu of %zu", c.in.sent, n);
	cr_assert(eq(i64, read(fds[0], back, sizeof(back)), n ? (ssize_t)n : -1), "%zu", n);
	cr_assert(zero(int, memcmp(bytes, back, n)), "%zu", n);
	close(fds[0]);
	close(fds[1]);
}

Test(small_child, however_few_bytes_are_sent)
{
	sends(0);
	sends(1);
	sends(2);
	sends(10);
}

/* A reader that does not read, and one that is gone, hold nobody up. */
Test(small_child, what_nobody_reads_is_kept_or_dropped)
{
	struct child c = child_none(), *all[] = { &c };
	size_t n = 1 << 20;
	char *bytes = calloc(1, n);
	ssize_t got, sum = 0;
	int fds[2];

	cr_assert(ne(ptr, bytes, NULL), "memory");
	cr_assert(zero(int, pipe2(fds, O_NONBLOCK)), "pipe");
	c.in = (struct feed){ .fd = fds[1], .bytes = bytes, .n = n };
	child_wait(all, 1, 0);
	cr_assert(0 < c.in.sent && c.in.sent < n, "%zu", c.in.sent);
	while ((got = read(fds[0], bytes, n)) > 0 || c.in.sent < n) {
		sum += got > 0 ? got : 0;
		child_wait(all, 1, 0);
	}
	cr_assert(eq(i64, sum, (ssize_t)n), "all of it");
	c.in.sent = 0;
	close(fds[0]);
	child_wait(all, 1, 0);
	cr_assert(eq(sz, c.in.sent, n), "nobody is there");
	close(fds[1]);
	free(bytes);
}

/* ---- how it ends -------------------------------------------------------------------------- */

static void ends(const char *command, const char *how, int code)
{
	struct child c;
	char text[80];
	json_t *o;

	run(&c, command, false);
	child_describe(&c, text, sizeof(text));
	cr_assert(tells(text, how), "%s: %s", command, text);
	for (int hung = 0; hung < 2; hung++) {
		o = failure_of_worker(&c, hung);
		cr_assert(eq(i64, json_integer_value(json_object_get(o, "code")), code), "%s",
			  command);
		cr_assert(tells(json_string_value(json_object_get(o, "ended")), how), "%s",
			  command);
		cr_assert(eq(int, tells(json_string_value(json_object_get(o, "name")), how), !hung),
			  "%s: %s", command, json_string_value(json_object_get(o, "name")));
		json_decref(o);
	}
	child_release(&c);
}

Test(small_child, ends)
{
	ends("true #", "exit code 0", 0);
	ends("sh -c 'exit 3' #", "exit code 3", 3);
	ends("sh -c 'kill -9 $$' #", "signal 9 (Killed)", 128 + 9);
}

/* What keeps its pipes open is killed with it. */
Test(small_child, what_it_leaves_behind_ends_too)
{
	struct child c;

	run(&c, "sh -c 'sleep 1000 & exit 5' #", false);
	cr_assert(eq(int, WEXITSTATUS(c.status), 5), "%d", c.status);
	child_release(&c);
}

static int signal_of(const char *command, double wait_s)
{
	struct child c;
	json_t *job = json_object();

	forget();
	cr_assert(zero(int, child_start(&c, job, command, false)), "%s", command);
	while (!objects_n) {
		cr_assert(zero(int, read_it(&c)), "%s", command);
		usleep(1000);
	}
	child_stop(&c, wait_s);
	cr_assert(zero(int, c.pid), "%s", command);
	cr_assert(0 != WIFSIGNALED(c.status), "%s: %d", command, c.status);
	json_decref(job);
	child_release(&c);
	cr_assert(c.out.fd == -1 && c.err.fd == -1 && c.in.fd == -1, "closed");
	return WTERMSIG(c.status);
}

Test(small_child, it_is_asked_to_end_then_killed)
{
	cr_assert(eq(int, signal_of("sh -c 'echo \"{}\"; exec sleep 1000' #", 50), SIGTERM),
		  "asked");
	cr_assert(eq(int, signal_of("sh -c 'trap \"\" TERM; echo \"{}\"; exec sleep 1000' #", 0.05),
		     SIGKILL),
		  "deaf");
}

static int interrupts; /* of waits for an end that are still to come */

/* In front of the C library's. */
pid_t waitpid(pid_t pid, int *status, int options)
{
	if (options || !interrupts)
		return wait4(pid, status, options, NULL);
	interrupts--;
	errno = EINTR;
	return -1;
}

/* As where a signal comes while the killed process is still there. */
Test(small_child, a_wait_for_its_end_goes_on_after_a_signal)
{
	interrupts = 2;
	cr_expect(eq(int, signal_of("sh -c 'trap \"\" TERM; echo \"{}\"; exec sleep 1000' #", 0.05),
		     SIGKILL),
		  "deaf");
	cr_expect(zero(int, interrupts), "%d are still to come", interrupts);
}

Test(small_child, none_is_running)
{
	struct child c = child_none();

	cr_assert(child_ended(&c), "it has");
	child_signal(&c, SIGKILL); /* of pid 0 it would be this process */
	child_stop(&c, 0);
	child_release(&c);
}

/* ---- why a point has no result ------------------------------------------------------------ */

/* NULL: it is not a place where die_at() was. */
static void last_line(const char *line, const char *name, const char *call, const char *place)
{
	struct child c = child_none();
	const char *said;
	json_t *o;

	strcpy(c.last_error, line);
	c.status = SIGABRT;
	o = failure_of_worker(&c, false);
	said = json_string_value(json_object_get(o, "name"));
	cr_assert(line[0] ? !strcmp(said, name) : tells(said, name), "%s: %s", line, said);
	cr_assert(eq(int, json_is_null(json_object_get(o, "call")), !call), "%s", line);
	if (call) {
		cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "call")),
			     (char *)call),
			  "%s", line);
		cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "file_line")),
			     (char *)place),
			  "%s", line);
	}
	cr_assert(eq(i64, json_integer_value(json_object_get(o, "code")), 128 + SIGABRT), "%s",
		  line);
	json_decref(o);
}

Test(small_child, last_words_are_taken_apart)
{
	last_line("a/b.c:12: fn: cudaMalloc(&p, n) failed: cudaErrorX: bad", "cudaErrorX: bad",
		  "cudaMalloc(&p, n)", "a/b.c:12");
	last_line("a/b.c:12: fn: cudaMalloc(&p, n)", "a/b.c:12: fn: cudaMalloc(&p, n)", NULL, NULL);
	last_line("it failed: twice", "it failed: twice", NULL, NULL);
	last_line("a/b.c:12: failed: bad", "a/b.c:12: failed: bad", NULL, NULL);
	last_line("", "signal 6 (Aborted)", NULL, NULL);
}

Test(small_child, a_hook_that_failed)
{
	json_t *o = failure_of_hook(EIO, "no such cell");

	cr_assert(eq(i64, json_integer_value(json_object_get(o, "code")), EIO), "code");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "name")), "no such cell"),
		  "name");
	json_decref(o);
	o = failure_of_hook(EIO, "");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "name")), strerror(EIO)),
		  "name");
	json_decref(o);
}

/* Codes that begin with the same digit are others. */
Test(small_child, what_an_exit_code_means)
{
	static const struct {
		int code, means;
	} ends[] = { { 0, 0 },	     { 1, 0 },	{ 2, -ENOSYS }, { 3, -EINVAL },
		     { 4, -ENODEV }, { 40, 0 }, { 31, 0 },	{ 127, 0 } };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const struct child c = { .status = ends[i].code << 8 };

		cr_expect(eq(int, child_errno(&c), ends[i].means), "%d", ends[i].code);
	}
}

Test(small_child, a_signal_is_no_exit_code)
{
	const struct child killed = { .status = RIFT_NO_DEVICE }; /* the number of a signal */

	cr_expect(zero(int, child_errno(&killed)), "signal 4");
}
