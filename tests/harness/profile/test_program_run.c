/*
 * test_program_run.c - a user's program does not outlive rift profile: what happens to it, to what
 * it has started and to its trace, whichever signal rift gets alone. Signals and streams are those
 * that rift was started with. No time is judged.
 */
/* sanitizers: seen elsewhere */
/* begins early: it waits long */
#include "tests/test.h"
#include "common/interrupt.h"
#include "common/timing.h"
#include "harness/profile/input_again.h"
#include "harness/profile/program_run.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/traces.h"

TEST_FOLDER(folder);

static void prepare(void)
{
	make_folder();
	cr_assert(zero(int, chdir(folder)));
}

TestSuite(small_program_run, .timeout = 120, .init = prepare, .fini = remove_folder);

/*
 * rift profile in the background, where a shell ignores SIGINT: env gives it back. The program says
 * that it runs by a file; the signals go to rift alone. rc: what rift ends with, signals as a shell
 * counts them. Then processes of whose numbers there is a file must be gone.
 */
static int ends_with(const char *signals, const char *program)
{
	const char *said;
	int rc =
		shell(&said,
		      "rm -f a.trace* pid*; env --default-signal=INT,HUP,QUIT '%s' profile --quiet "
		      "--runs 0 --output a.trace -- %s >out 2>&1 & rift=$!; "
		      "until [ -s pid ]; do sleep 0.01; done; "
		      "for s in %s; do kill -$s $rift; done; wait $rift; rc=$?; "
		      "n=0; for p in $(cat pid*); do while kill -0 $p 2>/dev/null; do n=$((n+1)); "
		      "[ $n -lt 1000 ] || { echo left: $p; exit 99; }; sleep 0.01; done; done; "
		      "exit $rc",
		      rift(), program, signals);

	cr_expect(ne(int, rc, 99), "%s: %s", signals, said);
	return rc;
}

/* One that heeds nothing, with a child of its own. */
#define DEAF                                                                                       \
	"sh -c 'trap \"\" TERM INT HUP; sleep 1000 & echo $! >pid2; echo $$ >pid.new; "            \
	"mv pid.new pid; wait; wait'"

/* One that ends, and leaves its child to others. */
#define MEEK "sh -c 'sleep 1000 & echo $! >pid2; echo $$ >pid.new; mv pid.new pid; wait'"

Test(small_program_run, no_signal_leaves_the_program_behind)
{
	static const struct {
		const char *signals, *program;
		int rc;
	} all[] = { { "TERM", DEAF, 75 },
		    { "TERM HUP", DEAF, 128 + SIGHUP },
		    { "KILL", DEAF, 128 + SIGKILL },
		    { "QUIT", MEEK, 128 + SIGQUIT },
		    { "INT", MEEK, 75 },
		    { "HUP", MEEK, 75 },
		    { "USR1", MEEK, 75 },
		    { "USR2", MEEK, 75 } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		cr_expect(eq(int, ends_with(all[i].signals, all[i].program), all[i].rc), "%s",
			  all[i].signals);
}

/* It may end in order, and as it likes. */
Test(small_program_run, the_program_gets_the_signal_that_rift_got)
{
	static const char *const all[] = { "TERM", "HUP", "INT" };

	for (size_t i = 0; i < 3; i++) {
		char program[400];
		const char *said;

		snprintf(program, sizeof(program),
			 "sh -c 'trap \"echo got %s >got; exit 0\" %s; echo $$ >pid; "
			 "while :; do sleep 0.01; done'",
			 all[i], all[i]);
		cr_expect(eq(int, ends_with(all[i], program), 75), "%s", all[i]);
		shell(&said, "cat got");
		cr_expect(tells(said, "got"), "%s", said);
		cr_expect(tells(said, all[i]), "%s", said);
	}
}

/* Whoever looks for rift by its command line finds rift, and not its guard. */
Test(small_program_run, the_guard_has_a_name_of_its_own)
{
	const char *said;

	shell(&said,
	      "'%s' profile --quiet --runs 0 --recorder device --output own.trace -- sh -c 'n=0; "
	      "until grep -q guards /proc/$PPID/cmdline || [ $n = 1000 ]; do n=$((n+1)); sleep "
	      "0.01; done; grep -lsxz [o]wn.trace /proc/[0-9]*/cmdline | wc -l; tr \"\\0\" "
	      "\"\\n\" </proc/$PPID/cmdline' 2>/dev/null | head -2 | tr '\\n' ' '",
	      rift());
	cr_expect(eq(str, (char *)said, "1 rift guards a program "));
}

/* Where it goes on, so does rift: a signal that asks for a checkpoint, say. */
Test(small_program_run, a_program_that_takes_sigusr1_goes_on)
{
	const char *said;
	int rc = ends_with("USR1", "sh -c 'trap \"echo got >got\" USR1; echo $$ >pid; "
				   "until [ -s got ]; do sleep 0.01; done; "
				   "echo \"{\\\"record\\\":\\\"none\\\"}\" >a.trace; exit 4'");

	shell(&said, "cat got out");
	cr_expect(tells(said, "got"), "%s", said);
	cr_expect(ne(int, rc, 75), "%d: %s", rc, said);
}

Test(small_program_run, a_program_that_cannot_be_started)
{
	refused(3, "none-such: cannot be started: No such file", "profile -- none-such");
	cr_expect(eq(int, shell(NULL, "ls *.trace 2>/dev/null"), 2), "no file");
}

/* The state that rift cannot work with itself is the program's all the same. */
Test(small_program_run, its_signals_are_those_that_rift_was_started_with)
{
	static const char *const states[] = {
		"", "env --ignore-signal=CHLD,HUP --block-signal=TERM,ALRM",
		"env --ignore-signal=XFSZ,ALRM"
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		static const char show[] = "grep -E \"^Sig(Blk|Ign)\" /proc/self/status";
		char plain[256];
		const char *out;

		shell(&out, "%s %s", states[i], show);
		snprintf(plain, sizeof(plain), "%s", out);
		cr_assert(ne(ptr, strstr(plain, "SigIgn"), NULL), "%s", plain);
		shell(&out,
		      "%s '%s' profile --quiet --runs 0 --recorder device --output a.trace -- %s "
		      "2>&1 | grep ^Sig",
		      states[i], rift(), show);
		cr_expect(eq(str, (char *)out, plain), "%s", states[i]);
	}
}

/* ---- one run ------------------------------------------------------------------------------- */

/* Set: what the kernel says that a program has used. */
static const struct rusage *used;

pid_t wait4(pid_t pid, int *status, int options, struct rusage *r)
{
	pid_t got = (pid_t)syscall(SYS_wait4, pid, status, options, r);

	if (used)
		*r = *used;
	return got;
}

/* What a run of this shell command is told to return, and what is found out of it. */
static struct program_run run_of(const struct program *like, const char *command, int want)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)command, NULL };
	struct program p = *like;
	struct program_run run;
	int err;

	p.argv = argv;
	err = program_run(&p, &run);
	cr_assert(eq(int, err, want), "%s: %d", command, err);
	return run;
}

static const struct program plain = { .output = -1, .error = -1 };

Test(small_program_run, what_is_found_out_of_a_run)
{
	static const struct rusage use = { .ru_utime = { 2, 3 },
					   .ru_stime = { 4, 5 },
					   .ru_maxrss = 7 };
	int64_t before = timing_monotonic_ns();
	struct program_run run;

	used = &use;
	run = run_of(&plain, "echo $$ >pid; exit 7", 0);
	cr_expect(eq(int, run.status, 7 << 8));
	cr_expect(eq(i64, run.user_ns, 2000003000));
	cr_expect(eq(i64, run.system_ns, 4000005000));
	cr_expect(eq(i64, run.peak_bytes, 7168));
	cr_expect(zero(int, run.late + run.left));
	cr_expect(le(i64, before, run.begun_ns));
	cr_expect(lt(i64, 0, run.wall_ns));
	cr_expect(le(i64, run.begun_ns + run.wall_ns, timing_monotonic_ns()));
	cr_expect(zero(int, shell(NULL, "[ $(cat pid) = %d ]", run.pid)));
}

Test(small_program_run, its_streams_are_files)
{
	struct program p = { .output = open("out", O_CREAT | O_WRONLY, 0600),
			     .error = open("err", O_CREAT | O_WRONLY, 0600) };
	const char *said;

	run_of(&p, "echo says; echo complains >&2", 0);
	shell(&said, "cat out; echo; cat err");
	cr_expect(eq(str, (char *)(uintptr_t)said, "says\n\ncomplains\n"));
}

/* From where it was at first, which is not its beginning. */
Test(small_program_run, each_run_reads_a_file_from_the_same_place)
{
	struct program p = { .output = open("out", O_CREAT | O_WRONLY, 0600), .error = -1 };
	const char *said;

	shell(NULL, "echo hello >in");
	cr_assert(zero(int, dup2(open("in", O_RDONLY), STDIN_FILENO)));
	lseek(STDIN_FILENO, 3, SEEK_SET);
	for (int i = 0; i < 3; i++)
		run_of(&p, "cat", 0);
	shell(&said, "cat out");
	cr_expect(eq(str, (char *)(uintptr_t)said, "lo\nlo\nlo\n"));
}

/* Of a command that does not become the program, its own number counts. */
static int becomes(void *of, char *const *argv)
{
	return !strcmp(of, "of") && !strcmp(argv[1], "-c") ? 9 : 1;
}

static void look(void *of)
{
	close(open(of, O_CREAT | O_WRONLY, 0600));
}

Test(small_program_run, functions_of_the_caller)
{
	struct program p = plain;

	p.become = becomes;
	p.of = "of";
	cr_expect(eq(int, run_of(&p, "exit 2", 0).status, 9 << 8));
	p = plain;
	p.meanwhile = look;
	p.of = "seen";
	cr_expect(zero(int, run_of(&p, "until [ -e seen ]; do sleep 0.01; done", 0).status));
}

Test(small_program_run, a_program_that_takes_too_long)
{
	struct program p = plain;
	struct program_run run;

	p.patience_ns = 50000000;
	run = run_of(&p, "while :; do sleep 1; done", 0);
	cr_expect(eq(int, run.status, SIGKILL));
	cr_expect(eq(int, run.late, 1));
	p.patience_ns = INT64_C(60000000000);
	cr_expect(zero(int, run_of(&p, "sleep 0.02", 0).late));
}

/* What it leaves behind goes on; a run that must find nothing of it waits for that. */
Test(small_program_run, what_a_program_leaves_behind)
{
	struct program p = plain;

	run_of(&p, "sleep 100 >/dev/null 2>&1 & echo $! >pid", 0);
	cr_expect(zero(int, shell(NULL, "kill $(cat pid)")));
	p.apart = true;
	cr_expect(zero(int, run_of(&p, "{ sleep 0.05; echo ended >ended; } &", 0).left));
	cr_expect(zero(int, shell(NULL, "[ -s ended ]")));
}

Test(small_program_run, interrupted_runs)
{
	char command[80];
	struct program_run run;

	interrupt_install();
	snprintf(command, sizeof(command), "kill -TERM %d; while :; do sleep 1; done", getpid());
	run = run_of(&plain, command, -EINTR);
	cr_expect(eq(int, run.status, SIGTERM));
	run_of(&plain, "echo ran >ran", -EINTR); /* from then on none is started */
	cr_expect(ne(int, access("ran", F_OK), 0));
}

Test(small_program_run, none_to_start)
{
	char *argv[] = { "./none-such", NULL };
	struct program p = { .argv = argv, .output = -1, .error = -1 };
	struct program_run run;

	divert_stderr();
	cr_expect(eq(int, program_run(&p, &run), -ENOENT));
	cr_expect(tells(diverted_stderr(), "./none-such: cannot be started: No such file"));
}

/* ---- what it reads ------------------------------------------------------------------------- */

/* Two runs without a recorder, one with each, as none saw a call: what each has read of a pipe. */
static const char *read_by_all(const char *input, const char *program)
{
	const char *said;

	shell(&said,
	      "%s | { '%s' profile --quiet --output a.trace -- sh -c '%s' >/dev/null 2>&1; "
	      "cat >rest; }; sort order | uniq -c | tr -s ' \\n' ' '; wc -c <rest",
	      input, rift(), program);
	return said;
}

Test(small_program_run, each_run_reads_the_same_of_a_pipe)
{
	static const char all[] = "md5sum | cut -c1-6 >>order";

	cr_expect(eq(str, (char *)read_by_all("echo hello", all), " 4 b1946a 0\n"));
	shell(NULL, "rm -f order a.trace");
	cr_expect(eq(str, (char *)read_by_all("{ echo hel; sleep 0.2; echo lo; }", all),
		     " 4 f068e9 0\n"));
	shell(NULL, "rm -f order a.trace");
	cr_expect(eq(str,
		     (char *)read_by_all("{ head -c 300000 /dev/zero; echo; }", "wc -c >>order"),
		     " 4 300001 0\n"));
}

/* The loop of a shell, say: what follows is its. */
Test(small_program_run, what_no_run_reads_is_left)
{
	cr_expect(eq(str, (char *)read_by_all("echo hello", "echo none >>order"), " 4 none 6\n"));
	shell(NULL, "rm -f order a.trace");
	cr_expect(eq(str,
		     (char *)read_by_all("seq 1000", "dd bs=1 count=5 2>/dev/null | wc -c >>order"),
		     " 4 5 3888\n"));
}

static void put(const char *text, int to)
{
	cr_assert(eq(sz, write(to, text, strlen(text)), strlen(text)));
}

static void has(int from, const char *want, struct input_again *in)
{
	char got[64];
	int watch;
	ssize_t n = 0, more;

	for (int i = 0; i < 10 && n < (ssize_t)strlen(want); i++) {
		input_again_feed(in, &watch);
		more = read(from, got + n, sizeof(got) - 1 - (size_t)n);
		n += more > 0 ? more : 0;
	}
	got[n] = '\0';
	cr_assert(eq(str, got, (char *)(uintptr_t)want));
	input_again_feed(in, &watch);
}

/* As of ssh. What is not read stays in it. */
static void read_by_each_run(const char *input)
{
	struct input_again in;
	char rest[8] = "";
	int fds[2], from;

	cr_assert(zero(int, socketpair(AF_UNIX, SOCK_STREAM, 0, fds)));
	cr_assert(eq(int, dup2(fds[0], STDIN_FILENO), STDIN_FILENO));
	input_again_prepare();
	put(input, fds[1]);
	for (int run = 0; run < 2; run++) {
		from = input_again_begin(&in);
		cr_assert(le(int, 0, from));
		has(from, input, &in);
		close(in.to);
		close(from);
	}
	put("more", fds[1]);
	from = input_again_begin(&in);
	has(from, input, &in);
	cr_assert(eq(int, (int)read(STDIN_FILENO, rest, sizeof(rest)), 4), "after %s", input);
	cr_expect(eq(str, rest, "more"));
}

Test(small_program_run, a_socket_is_read_by_each_run)
{
	read_by_each_run("hello");
}

Test(small_program_run, so_is_one_byte)
{
	read_by_each_run("h");
}

Test(small_program_run, other_inputs_are_the_programs_own)
{
	struct input_again in;
	int watch, file = open("/dev/null", O_RDONLY);

	cr_assert(eq(int, dup2(file, STDIN_FILENO), STDIN_FILENO));
	cr_expect(eq(int, input_again_begin(&in), -1));
	cr_expect(eq(int, input_again_feed(&in, &watch), -1));
	cr_expect(eq(int, watch, -1));
}

#ifdef RIFT_CPU_DEVICE

Test(small_program_run, its_trace_is_kept)
{
	char program[4096];
	json_t *rows;

	snprintf(program, sizeof(program),
		 "sh -c 'echo $$ >pid.new; (sleep 0.5; mv pid.new pid) & exec \"%s\" forever'",
		 beside_tests("cpu/traced"));
	cr_assert(eq(int, ends_with("TERM", program), 75));
	rows = traced_rows("a.trace");
	cr_expect(lt(i64, 100, trace_calls_of(rows, "launch")));
	json_decref(rows);
	cr_expect(zero(int, shell(NULL, "grep -q 'rift profile a.trace analyses' out")));
}

#endif
