/*
 * test_parts.h - tests of shared=yes: parts that are processes of their own, and meet by files; one
 * of them is the daemon. For one file of a test program, whose suite small_remote_part has them.
 */
#ifndef RIFT_REMOTE_TEST_PARTS_H
#define RIFT_REMOTE_TEST_PARTS_H

#include <dirent.h>
#include <time.h>

#include "layers/remote/wire/image.h"
#include "layers/remote/test_daemon.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "tests/under_layer.h"

/* ---- parts -------------------------------------------------------------------------------- */

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", getenv(REMOTE_VARIABLE), name);
	return path;
}

static void say(const char *name)
{
	FILE *f = fopen(path_of(name), "w");

	cr_assert(f && !fclose(f), "%s", name);
}

static inline bool said(const char *name)
{
	return !access(path_of(name), F_OK);
}

static void await(const char *name)
{
	cr_assert(has_appeared(path_of(name)), "%s", name);
}

/* Each is run by its name, and then only. */
static bool plays(const char *name)
{
	const char *part = getenv("RIFT_TEST_PART");

	return part && !strcmp(part, name);
}

/* The file's: called first in the process that serves. */
void before_serving(void);

/* What it says goes to a file. */
static void serve_part(void)
{
	struct remote_opts opts = {
		.poll = own_poll,
		.memory = 256 << 20,
		.shared = 1,
		.devices = { 1, { -1 } },
	};
	int said_to, ready;
	FILE *f;

	before_serving();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	opts.transport = atoi(getenv("RIFT_TEST_TRANSPORT"));
	opts.schedule = getenv("RIFT_CPU_DEVICES") ? REMOTE_STATIC : REMOTE_FIRST;
	f = fopen(path_of("pid"), "w");
	fprintf(f, "%d", (int)getpid());
	fclose(f);
	said_to = open(path_of("said"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	dup2(said_to, STDERR_FILENO);
	close(said_to);
	ready = open(path_of("ready"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	remote_listen(&opts, getenv(REMOTE_VARIABLE), ready);
	_exit(1);
}

#ifdef __SANITIZE_THREAD__
/* As Criterion's, which is not linked then: the thread sanitizer does not see processes that were
 * forked beside threads, and Criterion has one before the first test. */
int main(int argc, char **argv)
{
	struct criterion_test_set *tests;
	int failed = 0;

	if (plays("serves"))
		serve_part();
	tests = criterion_initialize();
	if (criterion_handle_args(argc, argv, true))
		failed = !criterion_run_all_tests(tests);
	criterion_finalize(tests);
	return failed;
}
#else
/* Before the first test. A main of its own would be found by no worker of Ubuntu's Criterion. */
ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
	(void)tests;
	if (plays("serves"))
		serve_part();
}
#endif

/* ---- who plays the parts ------------------------------------------------------------------ */

static struct own_daemon the_daemon; /* the listener */
static pid_t its_group;
static int threads_alone; /* entries of their folder, where no client is there */

static int entries(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* The first one; 0: it has none. *n: how many it has. */
static pid_t child_of(pid_t pid, int *n)
{
	char path[64];
	int child = 0, more;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "r");
	*n = f && fscanf(f, "%d", &child) == 1;
	while (*n && fscanf(f, "%d", &more) == 1)
		++*n;
	if (f)
		fclose(f);
	return child;
}

/* The first that the listener has started and that is still there. */
static inline pid_t server_now(void)
{
	int n;

	return child_of(the_daemon.pid, &n);
}

/* What a process has. */
struct state {
	int threads, files, maps;
};

static struct state state_of(pid_t pid)
{
	struct state s = { 0 };
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	s.threads = entries(path);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	s.files = entries(path);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		s.maps += strstr(line, "rift-remote") != NULL || line[0] == '7' || line[0] == '2';
	if (f)
		fclose(f);
	return s;
}

static inline struct state state_now(void)
{
	return state_of(server_now());
}

/* The client's library is not instrumented, so that its order is not seen. */
#define SEES_LESS "TSAN_OPTIONS=ignore_noninstrumented_modules=1"

/* A process group of its own, with `set` in its environment. */
static pid_t start_with(const char *name, const char *set)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	return start_command(-1,
			     "env -u BXFI_MAP " REMOTE_VARIABLE "='%s' RIFT_TEST_PART=%s %s '%s' "
			     "-j1 --filter 'small_remote_part/%s' >'%s/%s.log' 2>&1",
			     the_daemon.folder, name, set, self, name, the_daemon.folder, name);
}

/* Beside others. */
static pid_t start(const char *name)
{
	char set[PATH_MAX + 128];

	snprintf(set, sizeof(set),
		 "LD_PRELOAD='%s' ASAN_OPTIONS=verify_asan_link_order=0 " SEES_LESS,
		 client_library());
	return start_with(name, set);
}

/* After one that has said nothing. The thread sanitizer has threads of its own. */
static int threads_at_rest(void)
{
	enum { SAME = 100 };
	int before = 0, same = 0;

	close(own_daemon_reach(&the_daemon));
	while (!server_now() || same < SAME) {
		int now = state_now().threads;

		same = now == before ? same + 1 : 0;
		before = now;
		usleep(1000);
	}
	return before;
}

static void start_daemon(enum remote_transport transport)
{
	char text[16] = "";
	struct stat ready;
	FILE *f;

	own_transport = transport;
	snprintf(the_daemon.folder, sizeof(the_daemon.folder), "%s/own", getenv("XDG_RUNTIME_DIR"));
	shell(NULL, "rm -rf '%s'", the_daemon.folder);
	mkdir(the_daemon.folder, 0700);
	own_shared(the_daemon.folder, false);
	setenv(REMOTE_VARIABLE, the_daemon.folder, 1); /* for path_of() */
	snprintf(text, sizeof(text), "%d", (int)transport);
	setenv("RIFT_TEST_TRANSPORT", text, 1);
	its_group = start_with("serves", "");
	while (stat(path_of("ready"), &ready) || !ready.st_size)
		usleep(1000);
	f = fopen(path_of("pid"), "r");
	cr_assert(f && fscanf(f, "%d", &the_daemon.pid) == 1 && !fclose(f));
	threads_alone = threads_at_rest();
}

static const char *what_was_said(const char *file)
{
	const char *text;

	shell(&text, "cat '%s'", path_of(file));
	return text;
}

/* A sanitizer's report is none that its end would tell of. */
static void end_daemon(void)
{
	const char *text = what_was_said("said");

	cr_assert(zero(ptr, strstr(text, "Sanitizer")), "%s", text);
	kill(-its_group, SIGKILL);
	status_of_end(its_group);
}

static void part_of(const char *name, char out[128])
{
	snprintf(out, 128, "RIFT_TEST_PART=%s " SEES_LESS, name);
}

static inline void play(const char *name)
{
	char pattern[96], set[128];
	const char *out;

	part_of(name, set);
	snprintf(pattern, sizeof(pattern), "small_remote_part/%s", name);
	cr_assert(zero(int, run_own_tests(&the_daemon, pattern, set, &out)), "%s", out);
}

static void ends_well(pid_t pid, const char *name)
{
	char log[64];
	int status = status_of_end(pid);

	snprintf(log, sizeof(log), "%s.log", name);
	cr_assert(zero(int, status), "%s", what_was_said(log));
}

static inline void kill_part(pid_t pid)
{
	kill(-pid, SIGKILL);
	status_of_end(pid);
}

/* Stacks of threads stay with the library, some of them; so maps may be a few more. Sanitizers have
 * their own: 63 more were seen once with that for addresses. */
#ifdef __SANITIZE_THREAD__
enum { STACKS = 10000 };
#elif defined(__SANITIZE_ADDRESS__)
enum { STACKS = 150 };
#else
enum { STACKS = 60 };
#endif

/* No client is there, and only the threads that were there before the first one. */
static inline bool is_back(struct state before)
{
	enum { TRIES = 4000 };
	struct state now = { 0 };

	for (int i = 0; i < TRIES; i++) {
		now = state_now();
		if (now.threads == threads_alone && now.files <= before.files &&
		    now.maps <= before.maps + STACKS)
			return true;
		usleep(1000);
	}
	fprintf(stderr, "threads %d, files %d %d, maps %d %d\n", now.threads, before.files,
		now.files, before.maps, now.maps);
	return false;
}

/* After one client, which has made what stays. */
static inline struct state state_of_rest(void)
{
	play("works");
	cr_assert(is_back((struct state){ 0, INT_MAX, INT_MAX / 2 }), "the first client");
	return state_now();
}

/* ---- who comes by itself ------------------------------------------------------------------ */

/* Says hello, and again where it is told of other addresses: those that it has in the end. */
static inline uint64_t join(int fd)
{
	static const uint64_t bases[] = REMOTE_BASES;
	const struct image program = image_of_program();
	struct remote_hello h = { .magic = REMOTE_MAGIC,
				  .version = REMOTE_VERSION,
				  .kernels = REMOTE_FUNCTIONS,
				  .transport = REMOTE_UNIX,
				  .base = bases[0] };
	struct remote_welcome w = { .verdict = REMOTE_TAKEN, .base = h.base };

	memcpy(h.build_id, program.build_id, sizeof(h.build_id));
	for (int i = 0; i < REMOTE_ROUNDS && w.verdict == REMOTE_TAKEN; i++) {
		h.base = w.base;
		cr_assert(eq(sz, (size_t)write(fd, &h, sizeof(h)), sizeof(h)));
		cr_assert(eq(sz, (size_t)recv(fd, &w, sizeof(w), MSG_WAITALL), sizeof(w)));
	}
	cr_assert(eq(int, (int)w.verdict, REMOTE_WELCOME), "%s", w.reason);
	return h.base;
}

#endif
