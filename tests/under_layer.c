/* under_layer.c - what tests of `rift layer` share. */
#include "tests/under_layer.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/folder.h"

static const char variable[] = "RIFT_TEST_LAYERS";

/* LONG_MS: a bound of hangs; a sweep on a busy GPU was seen to need more than 20 s. */
enum { LONG_MS = 60000, TICK_MS = 5 };

static char folder[64], base[128];

static void remove_folder(void)
{
	test_folder_remove(folder);
}

void layers_apart(void)
{
	strcpy(folder, TEST_FOLDER_PATH);
	test_folder_make(folder);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	setenv(variable, folder, 1);
	unsetenv("RIFT_LAYERS");
	snprintf(base, sizeof(base), "%s/rift-layers-%u", folder, (unsigned)getuid());
	atexit(remove_folder);
}

const char *layers_folder(void)
{
	return base;
}

pid_t start_command(int out, const char *fmt, ...)
{
	char command[4096];
	va_list args;
	pid_t pid;

	strcpy(command, "exec ");
	va_start(args, fmt);
	vsnprintf(command + 5, sizeof(command) - 5, fmt, args);
	va_end(args);
	pid = fork();
	cr_assert(pid >= 0, "fork");
	if (!pid) {
		setpgid(0, 0);
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(99);
	}
	setpgid(pid, pid);
	return pid;
}

static bool tick(int *left_ms)
{
	struct timespec t = { .tv_nsec = TICK_MS * 1000000L };

	nanosleep(&t, NULL);
	return 0 < (*left_ms -= TICK_MS);
}

int status_of_end(pid_t pid)
{
	int status = -1, left_ms = LONG_MS;

	while (!waitpid(pid, &status, WNOHANG))
		if (!tick(&left_ms)) {
			kill(-pid, SIGKILL);
			cr_fatal("the command did not end");
		}
	return status;
}

/* ---- who runs ------------------------------------------------------------------------------- */

struct process {
	pid_t pid, parent, session;
	bool is_rift;
};

enum { PROCESSES = 512 };

static size_t read_all(pid_t pid, const char *file, char *out, size_t size)
{
	char path[64];
	size_t n = 0;
	ssize_t more;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n < size - 1 && (more = read(fd, out + n, size - 1 - n)) > 0)
		n += (size_t)more;
	if (fd >= 0)
		close(fd);
	out[n] = '\0';
	return n;
}

/* One that has ended has no environment. */
static bool is_marked(pid_t pid)
{
	static char text[1 << 17];
	size_t n = read_all(pid, "environ", text, sizeof(text)), length = strlen(variable);

	for (const char *at = text; at < text + n; at += strlen(at) + 1)
		if (!strncmp(at, variable, length) && !strcmp(at + length + 1, folder))
			return true;
	return false;
}

/* The mark first: most processes have none, and it is the least to ask for. */
static bool read_process(pid_t pid, struct process *p)
{
	char text[1024], path[64], exe[4096], state;
	const char *end;
	int parent, group, session;
	ssize_t n;

	if (!is_marked(pid))
		return false;
	read_all(pid, "stat", text, sizeof(text));
	end = strrchr(text, ')');
	if (!end || sscanf(end, ") %c %d %d %d", &state, &parent, &group, &session) != 4 ||
	    strchr("ZX", state))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	*p = (struct process){ pid, parent, session,
			       strlen(exe) > 4 && !strcmp(exe + strlen(exe) - 5, "/rift") };
	return true;
}

static int list_processes(struct process p[PROCESSES])
{
	DIR *all = opendir("/proc");
	struct dirent *d;
	int n = 0;

	while (all && n < PROCESSES && (d = readdir(all)))
		if (atoi(d->d_name) > 0 && read_process(atoi(d->d_name), &p[n]))
			n++;
	closedir(all);
	return n;
}

int layers_running(void)
{
	static struct process p[PROCESSES];

	return list_processes(p);
}

static pid_t look_for(enum role role)
{
	static struct process p[PROCESSES];
	int n = list_processes(p);
	pid_t parent = 0;

	for (int r = ROLE_KEEPER; r <= (int)role; r++) {
		pid_t found = 0;

		for (int i = 0; i < n && !found; i++)
			if (r == ROLE_KEEPER ? p[i].is_rift && p[i].pid == p[i].session
					     : p[i].parent == parent)
				found = p[i].pid;
		if (!found)
			return 0;
		parent = found;
	}
	return parent;
}

pid_t find_role(enum role role)
{
	int left_ms = LONG_MS;
	pid_t found;

	do
		found = look_for(role);
	while (!found && tick(&left_ms));
	return found;
}

int layers_folders(void)
{
	DIR *all = opendir(base);
	struct dirent *d;
	int n = 0;

	while (all && (d = readdir(all)))
		n += *d->d_name != '.';
	if (all)
		closedir(all);
	return n;
}

/* Some process, of those that ran when all were last looked at: that takes 1 ms, and one little. */
static bool one_is_left(void)
{
	static struct process p[PROCESSES], now;
	static int n;

	while (n && !read_process(p[n - 1].pid, &now))
		n--;
	if (!n)
		n = list_processes(p);
	return n;
}

bool layers_gone(int folders)
{
	int left_ms = LONG_MS;

	while (layers_folders() > folders || one_is_left())
		if (!tick(&left_ms))
			return false;
	return true;
}

static bool is_held(const char *name)
{
	char path[512];
	int fd;
	bool held;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return held;
}

static int folders_held(void)
{
	DIR *all = opendir(base);
	struct dirent *d;
	int n = 0;

	while (all && (d = readdir(all)))
		n += *d->d_name != '.' && is_held(d->d_name);
	if (all)
		closedir(all);
	return n;
}

bool layers_let_go(void)
{
	int left_ms = LONG_MS;

	while (folders_held())
		if (!tick(&left_ms))
			return false;
	return true;
}

bool has_appeared(const char *path)
{
	int left_ms = LONG_MS;

	while (access(path, F_OK))
		if (!tick(&left_ms))
			return false;
	return true;
}

/* ---- what there is --------------------------------------------------------------------------- */

const char *shim_library(void)
{
	static char path[4200];
	const char *slash = strrchr(rift(), '/');

	snprintf(path, sizeof(path), "%.*s/layers/shim.so", slash ? (int)(slash - rift()) : 1,
		 slash ? rift() : ".");
	return path;
}

bool has_container(void)
{
	return !shell(NULL, "'%s' layer container -- true >/dev/null 2>&1", rift());
}

int call_stubs_under(const char *layer, const char **out, const char *prefix, const char *what)
{
	char stubs[4096], caller[4096];

	snprintf(stubs, sizeof(stubs), "%s", beside_tests("layers/stubs.so"));
	snprintf(caller, sizeof(caller), "%s", beside_tests("layers/caller"));
	return shell(out,
		     "'%s' layer %s -- %s timeout 100 sh -c "
		     "'LD_PRELOAD=\"$LD_PRELOAD:%s\"; export LD_PRELOAD; C=\"%s\"; %s' 2>&1",
		     rift(), layer, prefix, stubs, caller, what);
}
