/* gnuplot.c - running gnuplot. */
#include "harness/base/gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"

/* What plots/style.gp and the scripts were written for; 5.2 is of 2017. */
enum { MAJOR = 5, MINOR = 2 };

enum { OUTPUT_BYTES = 4096 };

/* The end of what a child writes, at most OUTPUT_BYTES - 1 of it. */
static void read_end_of(int fd, char text[OUTPUT_BYTES])
{
	const size_t half = OUTPUT_BYTES / 2;
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, text + used, OUTPUT_BYTES - 1 - used)) > 0 ||
	       (n < 0 && errno == EINTR)) {
		used += n > 0 ? (size_t)n : 0;
		if (used < OUTPUT_BYTES - 1)
			continue;
		used -= half;
		memmove(text, text + half, used);
	}
	text[used] = '\0';
}

/* stdin is empty, both outputs go to the pipe. Returns 0 or an errno. */
static int spawn(pid_t *pid, const char *folder, char *const argv[], const int pipe_fd[2])
{
	posix_spawn_file_actions_t files;
	int err = posix_spawn_file_actions_init(&files);

	if (err)
		return err;
	err = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, pipe_fd[1], STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, pipe_fd[1], STDERR_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addchdir_np(&files, folder);
	if (!err)
		err = posix_spawnp(pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

/* Runs and waits. Returns 0 with the status as of waitpid(), or an errno. */
static int run(const char *folder, char *const argv[], char text[OUTPUT_BYTES], int *status)
{
	int fd[2], err;
	pid_t pid;

	*text = '\0';
	if (pipe2(fd, O_CLOEXEC))
		return errno;
	err = spawn(&pid, folder, argv, fd);
	close(fd[1]);
	if (!err)
		read_end_of(fd[0], text);
	close(fd[0]);
	while (!err && waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			err = errno;
	return err;
}

/* gnuplot's errors end with the line that says what is wrong, and where. */
static struct gnuplot_words last_line(const char *text)
{
	struct gnuplot_words words;
	const char *end = text + strlen(text), *begin;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (begin = end; begin > text && begin[-1] != '\n'; begin--)
		;
	snprintf(words.s, sizeof(words.s), "%.*s", (int)(end - begin), begin);
	for (char *c = words.s; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return words;
}

/* ---- by hand ---------------------------------------------------------------------------- */

char *gnuplot_by_hand(const char *folder, const char *script)
{
	char *out, *end;

	/* a quote ends the quotes, stands behind a backslash, and begins them again */
	out = malloc(4 * strlen(folder) + strlen(script) + sizeof("cd -- '' && gnuplot "));
	CHECK(out, "memory of a name");
	end = stpcpy(out, *folder == '-' ? "cd -- '" : "cd '");
	for (const char *c = folder; *c; c++)
		end = *c == '\'' ? stpcpy(end, "'\\''") : (*end = *c, end + 1);
	end = stpcpy(end, "' && gnuplot ");
	stpcpy(end, script);
	return out;
}

/* ---- which gnuplot ---------------------------------------------------------------------- */

static int refuse(const char *why, const char *folder, const char *script)
{
	char *again = gnuplot_by_hand(folder, script);
	int err = complain(ENOENT,
			   "not drawn: %s; install one, on Debian or Ubuntu with: apt-get install "
			   "gnuplot-nox; then: %s",
			   why, again);

	free(again);
	return err;
}

bool gnuplot_suffices(const char *version)
{
	int major, minor;

	return sscanf(version, "gnuplot %d.%d", &major, &minor) == 2 &&
	       (major > MAJOR || (major == MAJOR && minor >= MINOR));
}

int gnuplot_ask(struct gnuplot_words *version)
{
	char *const argv[] = { "gnuplot", "--version", NULL };
	char text[OUTPUT_BYTES];
	int status, err = run("/", argv, text, &status);

	*version = last_line(text);
	return -err;
}

int gnuplot_check(const char *folder, const char *script)
{
	struct gnuplot_words version;
	char why[384];
	int err = gnuplot_ask(&version);

	if (err == -ENOENT)
		return refuse("no gnuplot on PATH", folder, script);
	if (err)
		return complain(-err, "not drawn: cannot start gnuplot: %s", strerror(-err));
	if (gnuplot_suffices(version.s))
		return 0;
	snprintf(why, sizeof(why), "gnuplot %d.%d or newer is needed, the one on PATH says '%s'",
		 MAJOR, MINOR, version.s);
	return refuse(why, folder, script);
}

/* ---- a script --------------------------------------------------------------------------- */

static int complain_of(int status, const char *again, const char *words)
{
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM))
		return complain(EINTR, "not drawn: gnuplot was interrupted; again: %s", again);
	if (WIFSIGNALED(status))
		return complain(EIO, "not drawn: signal %d ended gnuplot (again: %s)",
				WTERMSIG(status), again);
	return complain(EIO, "not drawn: gnuplot failed with %s (again: %s)",
			*words ? words : "no word", again);
}

static int judge(int status, const char *folder, const char *script, const char *words)
{
	char *again;
	int err;

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	again = gnuplot_by_hand(folder, script);
	err = complain_of(status, again, words);
	free(again);
	return err;
}

int gnuplot_run(const char *folder, const char *script, const char *part,
		struct gnuplot_words *said)
{
	char text[OUTPUT_BYTES], assignment[128], name[256];
	char *const argv[] = { "gnuplot", "--default-settings", "-e", assignment, name, NULL };
	int status, err = gnuplot_check(folder, script);

	*said = (struct gnuplot_words){ "" };
	if (err)
		return err;
	snprintf(assignment, sizeof(assignment), "part = '%s'", part);
	snprintf(name, sizeof(name), "%s", script);
	err = run(folder, argv, text, &status);
	if (err)
		return complain(err, "not drawn: cannot run gnuplot in %s: %s", folder,
				strerror(err));
	*said = last_line(text);
	return judge(status, folder, script, said->s);
}
