/*
 * test_layer_command.c - a command under a layer is started, and ends, as it does without one: exit
 * codes, streams, signals, children.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/cli.h"
#include "tests/under_layer.h"

TestSuite(small_layer_command, .init = layers_apart, .timeout = 240);

/* Every layer, as it is easiest to have; those that this machine can have. */
static const char *const *all_layers(void)
{
	static char preload[4400];
	static const char *all[6];
	int n = 0;

	snprintf(preload, sizeof(preload), "preload lib='%s' set=RIFT_TEST=x daemon='sleep 1000'",
		 shim_library());
	all[n++] = "none";
	all[n++] = "shim";
	all[n++] = "cpu share=5 n=1";
	all[n++] = preload;
	if (has_container())
		all[n++] = "container";
	all[n] = NULL;
	return all;
}

/* ---- exit codes ---------------------------------------------------------------------------- */

Test(small_layer_command, the_status_of_the_command_passes)
{
	for (const char *const *l = all_layers(); *l; l++)
		for (int code = 0; code <= 7; code += 7) {
			int rc = shell(NULL, "'%s' layer %s -- sh -c 'exit %d'", rift(), *l, code);

			cr_assert(eq(int, rc, code), "%s", *l);
		}
	cr_assert(layers_gone(0));
}

/* Bubblewrap makes 128 and the signal of it: this is for the others. */
Test(small_layer_command, death_by_a_signal_is_seen_as_such)
{
	static const int signals[] = { SIGTERM, SIGKILL, SIGINT, SIGABRT };

	for (const char *const *l = all_layers(); *l; l++)
		for (int i = 0; strcmp(*l, "container") != 0 && i < 4; i++) {
			pid_t pid = start_command(-1, "'%s' layer --quiet %s -- sleep 1000", rift(),
						  *l);
			int status;

			if (strcmp(*l, "none") != 0)
				cr_assert(ne(int, find_role(ROLE_KEEPER), 0), "%s", *l);
			kill(pid, signals[i]);
			status = status_of_end(pid);
			cr_assert(eq(int, WIFSIGNALED(status) != 0, 1), "%s: %d", *l, status);
			cr_assert(eq(int, WTERMSIG(status), signals[i]), "%s", *l);
			cr_assert(layers_gone(0), "%s", *l);
		}
}

Test(small_layer_command, what_is_not_there_is_127)
{
	for (const char *const *l = all_layers(); *l; l++) {
		const char *err;

		cr_assert(eq(int, run_rift(ERR, &err, "layer %s -- /nowhere/program", *l), 127));
		cr_assert(strstr(err, "/nowhere/program: No such file") != NULL, "%s", err);
		cr_assert(eq(ptr, strchr(err, '\n') + 1, strchr(err, '\0')), "one line: %s", err);
		cr_assert(
			eq(int, run_rift(ERR, &err, "layer %s -- rift-no-such-command", *l), 127));
	}
	cr_assert(layers_gone(0));
}

Test(small_layer_command, what_cannot_be_executed_is_126)
{
	for (const char *const *l = all_layers(); *l; l++) {
		const char *err;

		cr_assert(eq(int, run_rift(ERR, &err, "layer %s -- /etc/passwd", *l), 126), "%s",
			  err);
		cr_assert(strstr(err, "/etc/passwd: Permission denied") != NULL, "%s", err);
		cr_assert(eq(int, run_rift(ERR, &err, "layer %s -- /tmp", *l), 126), "%s", err);
	}
}

/* As execvp() has it: what comes later in PATH is found behind what cannot be executed. */
Test(small_layer_command, path_is_searched_as_a_shell_does)
{
	char first[160], command[400];
	const char *out;

	snprintf(first, sizeof(first), "%s/../first", layers_folder());
	shell(NULL, "mkdir -p '%s' '%s' && echo text >'%s/uname'", layers_folder(), first, first);
	snprintf(command, sizeof(command), "PATH='%s':$PATH", first);
	cr_assert(zero(int, shell(&out, "%s '%s' layer none -- uname", command, rift())));
	cr_assert(eq(str, (char *)out, "Linux\n"));
	cr_assert(eq(int,
		     shell(NULL, "PATH='%s' '%s' layer none -- uname 2>/dev/null", first, rift()),
		     126));
	cr_assert(zero(int, shell(&out, "env -u PATH '%s' layer none -- uname", rift())), "%s",
		  out);
	cr_assert(eq(int, shell(NULL, "'%s' layer none -- '' 2>/dev/null", rift()), 127));
}

Test(small_layer_command, what_is_misspelt_is_3_and_the_nearest_is_named)
{
	refused(3, "did you mean 'shim'", "layer shmi -- true");
	refused(3, "did you mean 'share'", "layer cpu shar=3 -- true");
	refused(3, "share", "layer cpu share=0 -- true");
	refused(3, "share", "layer cpu share=x -- true");
	refused(3, "n=-1", "layer cpu n=-1 -- true");
	refused(3, "seccomp", "layer container seccomp=ye -- true");
	refused(3, "unknown parameter 'x' of none; `rift layer none` shows them",
		"layer none x=1 -- true");
	refused(3, "no layer before --", "layer -- true");
	refused(3, "no command after --", "layer shim --");
	refused(3, "write --", "layer shim true");
	refused(3, "did you mean 'container'", "layer contaner");
	cr_assert(layers_gone(0));
}

Test(small_layer_command, a_layer_that_cannot_be_had_is_125)
{
	const char *out;

	cr_assert(eq(int,
		     shell(&out, "PATH=/nowhere '%s' layer container -- /bin/true 2>&1", rift()),
		     125));
	cr_assert(strstr(out, "bwrap is not installed") != NULL, "%s", out);
	refused(125, "needs lib=FILE", "layer preload -- true");
	refused(125, "/nowhere/lib.so: No such file", "layer preload lib=/nowhere/lib.so -- true");
	refused(125, "must be NAME=VALUE", "layer preload lib='%s' set=x -- true", shim_library());
	refused(125, "must be NAME=VALUE", "layer preload lib='%s' set==x -- true", shim_library());
	shell(NULL, "mkdir -p '%s/../a b' && cp '%s' '%s/../a b/lib.so'", layers_folder(),
	      shim_library(), layers_folder());
	refused(125, "cannot take a blank or a colon",
		"layer preload lib='%s/../a b/lib.so' -- true", layers_folder());
	cr_assert(layers_gone(0));
}

/* A folder that others can write to is none to trust. */
/* Within rift's own commands it is a device that cannot be had. */
Test(small_layer_command, within_rift_it_is_4)
{
	refused(4, "/nowhere/lib.so: No such file",
		"run launch us=0 --layer 'preload lib=/nowhere/lib.so'");
	refused(4, "needs lib=FILE", "doctor --layer preload");
	refused(4, "needs lib=FILE", "probe --layer none --layer preload");
	refused(3, "did you mean 'shim'?", "run launch us=0 --layer shmi");
}

Test(small_layer_command, a_folder_that_others_may_enter_is_125)
{
	const char *err;

	shell(NULL, "mkdir -p '%s' && chmod 755 '%s'", layers_folder(), layers_folder());
	cr_assert(eq(int, run_rift(ERR, &err, "layer shim -- true"), 125));
	cr_assert(strstr(err, "must be a folder that only you own") != NULL, "%s", err);
	shell(NULL, "rmdir '%s' && ln -s /tmp '%s'", layers_folder(), layers_folder());
	cr_assert(eq(int, run_rift(ERR, &err, "layer cpu -- true"), 125));
	cr_assert(strstr(err, "must be a folder that only you own") != NULL, "%s", err);
}

/* ---- streams -------------------------------------------------------------------------------- */

Test(small_layer_command, input_and_output_pass_untouched)
{
	for (const char *const *l = all_layers(); *l; l++) {
		const char *out;
		int rc = shell(&out,
			       "head -c 1000000 /dev/zero | tr '\\0' x | "
			       "'%s' layer --quiet %s -- sh -c 'wc -c; echo to stderr >&2' 2>&1",
			       rift(), *l);

		cr_assert(zero(int, rc), "%s", *l);
		cr_assert(eq(str, (char *)out, "1000000\nto stderr\n"), "%s", *l);
	}
}

Test(small_layer_command, no_file_is_left_open_to_the_command)
{
	static const char list[] =
		"sh -c 'ls /proc/self/fd | tr \"\\n\" \" \"' 3</dev/null 7</dev/null";
	char plain[4096];
	const char *out;

	shell(&out, "%s", list);
	snprintf(plain, sizeof(plain), "%s", out);
	for (const char *const *l = all_layers(); *l; l++) {
		shell(&out, "'%s' layer --quiet %s -- %s", rift(), *l, list);
		cr_assert(eq(str, (char *)out, plain), "%s", *l);
	}
}

/* Reads to the end; 10 s at most. */
static bool reaches_end(int fd)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	char text[4096];
	ssize_t n;

	do {
		if (poll(&wait, 1, 10000) < 1)
			return false;
		n = read(fd, text, sizeof(text));
	} while (0 < n);
	return !n;
}

/* Starts it with its output, and its stderr where both, to a pipe that nobody else writes to. */
static pid_t start_to_pipe(const char *layer, const char *command, bool both, int *out)
{
	int fds[2];
	pid_t pid;

	cr_assert(zero(int, pipe2(fds, O_CLOEXEC)));
	pid = start_command(fds[1], "'%s' layer --quiet %s -- %s %s", rift(), layer, command,
			    both ? "2>&1" : "");
	close(fds[1]);
	*out = fds[0];
	return pid;
}

Test(small_layer_command, a_reader_of_stdout_waits_for_the_command_alone)
{
	for (const char *const *l = all_layers(); *l; l++) {
		int out;
		pid_t pid = start_to_pipe(*l, "sh -c 'exec sleep 1000 >/dev/null'", false, &out);

		/* bubblewrap itself, which stays, has stdout open */
		if (strcmp(*l, "container") != 0) {
			cr_assert(reaches_end(out), "%s", *l);
			cr_assert(zero(int, waitpid(pid, NULL, WNOHANG)), "%s", *l);
		}
		kill(-pid, SIGKILL);
		status_of_end(pid);
		cr_assert(layers_gone(0), "%s", *l);
		close(out);
	}
}

/* A guard with something to say has stderr, up to its end, which follows the command's. */
Test(small_layer_command, a_reader_of_stderr_is_not_held_up)
{
	for (const char *const *l = all_layers(); *l; l++) {
		int out;
		pid_t pid = start_to_pipe(*l, "sh -c 'sleep 1000 >/dev/null 2>&1 & exit 5'", true,
					  &out);
		int status = status_of_end(pid);

		cr_assert(eq(int, WEXITSTATUS(status), 5), "%s", *l);
		cr_assert(reaches_end(out), "%s", *l);
		kill(-pid, SIGKILL);
		cr_assert(layers_gone(0), "%s", *l);
		close(out);
	}
}

/* ---- what the command finds ----------------------------------------------------------------- */

Test(small_layer_command, it_has_no_child_that_it_does_not_know)
{
	for (const char *const *l = all_layers(); *l; l++) {
		const char *out;
		int rc =
			shell(&out, "'%s' layer --quiet %s -- perl -e 'exit(wait() == -1 ? 0 : 1)'",
			      rift(), *l);

		cr_assert(zero(int, rc), "%s: %s", *l, out);
	}
}

/* Signals that are ignored or blocked, also where a guard needs them itself. */
Test(small_layer_command, its_signals_are_as_they_were)
{
	static const char show[] = "grep -E \"^Sig(Blk|Ign)\" /proc/self/status";
	static const char ignore[] =
		"perl -e '$SIG{CHLD} = \"IGNORE\"; $SIG{HUP} = \"IGNORE\"; exec @ARGV'";
	char plain[256];
	const char *out;

	for (int i = 0; i < 2; i++) {
		shell(&out, "%s %s", i ? ignore : "", show);
		snprintf(plain, sizeof(plain), "%s", out);
		cr_assert(strstr(plain, "SigIgn") != NULL, "%s", plain);
		for (const char *const *l = all_layers(); *l; l++) {
			int rc = shell(&out, "%s '%s' layer --quiet %s -- %s 2>&1", i ? ignore : "",
				       rift(), *l, show);

			cr_assert(zero(int, rc), "%s: %s", *l, out);
			/* bubblewrap waits for a child, so there SIGCHLD is as usual */
			if (!i || strcmp(*l, "container") != 0)
				cr_assert(eq(str, (char *)out, plain), "%s", *l);
		}
	}
	cr_assert(layers_gone(0));
}

Test(small_layer_command, closed_streams_harm_no_layer)
{
	for (const char *const *l = all_layers(); *l; l++) {
		cr_assert(eq(int,
			     shell(NULL, "'%s' layer --quiet %s -- sh -c 'exit 7' <&- >&- 2>&-",
				   rift(), *l),
			     7),
			  "%s", *l);
		cr_assert(layers_gone(0), "%s", *l);
	}
}

/* Else only what the layer says that it sets. */
Test(small_layer_command, its_environment_is_as_it_was)
{
	static const char show[] =
		"env | grep -vE \"^(_|RIFT_LAYER.*|LD_PRELOAD|ASAN_OPTIONS|RIFT_TEST|PWD|SHLVL)=\" "
		"| sort";
	char plain[1 << 16];
	const char *out;

	shell(&out, "%s", show);
	snprintf(plain, sizeof(plain), "%s", out);
	for (const char *const *l = all_layers(); *l; l++) {
		shell(&out, "'%s' layer --quiet %s -- sh -c '%s'", rift(), *l, show);
		cr_assert(eq(str, (char *)out, plain), "%s", *l);
	}
}
