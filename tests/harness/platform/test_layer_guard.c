/* sanitizers: one thread */
/* test_layer_guard.c - the guard of a process: helpers that do not start, folders that are left. */
#include "tests/test.h"
#include "harness/platform/guard.h"

#include <criterion/redirect.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/under_layer.h"

TestSuite(small_layer_guard, .init = layers_apart, .timeout = 240);

static void start_not(const void *opts, int ready)
{
	(void)opts, (void)ready;
}

static void start_well(const void *opts, int ready)
{
	(void)opts;
	if (write(ready, "r", 1) != 1 || close(ready))
		return;
	for (;;)
		pause();
}

static void die_at_once(const void *opts, int ready)
{
	(void)opts, (void)ready;
	raise(SIGKILL);
}

static void report_much(const char *folder, char detail[LAYER_DETAIL])
{
	(void)folder;
	memset(detail, 'x', LAYER_DETAIL - 1);
	detail[LAYER_DETAIL - 1] = '\0';
}

/* In a process of its own, which is the command; its exit status is guard_start()'s. */
static int start_in_child(void (*helper)(const void *, int), void (*second)(const void *, int))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct guard g = guard_none("test", NULL);

		if (guard_folder(&g))
			_exit(50);
		g.helper[g.n++] = helper;
		if (second)
			g.helper[g.n++] = second;
		_exit(guard_start(&g) ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static bool folders_gone(void)
{
	for (int i = 0; i < 300 && layers_folders(); i++)
		usleep(10000);
	return !layers_folders();
}

Test(small_layer_guard, a_helper_that_starts)
{
	cr_assert(zero(int, start_in_child(start_well, start_well)));
	cr_assert(folders_gone());
}

Test(small_layer_guard, a_helper_that_does_not_start)
{
	cr_redirect_stderr();
	cr_assert(eq(int, start_in_child(start_not, NULL), 1));
	cr_assert(strstr(captured_stderr(), "layer test: its helper did not start") != NULL);
	cr_assert(folders_gone());
}

Test(small_layer_guard, a_helper_that_is_killed_before_it_starts)
{
	cr_assert(eq(int, start_in_child(die_at_once, NULL), 1));
	cr_assert(folders_gone());
}

Test(small_layer_guard, one_of_two_that_does_not_start)
{
	cr_assert(eq(int, start_in_child(start_well, start_not), 1));
	cr_assert(folders_gone());
}

/* As much as the contract gives it room for. */
Test(small_layer_guard, a_long_report_is_said_in_full)
{
	char want[LAYER_DETAIL];
	const char *said;
	pid_t pid;

	cr_redirect_stderr();
	pid = fork();
	if (!pid) {
		struct guard g = guard_none("test", NULL);

		g.report = report_much;
		_exit(guard_folder(&g) || guard_start(&g) ? 1 : 0);
	}
	waitpid(pid, NULL, 0);
	cr_assert(folders_gone());
	said = captured_stderr();
	report_much("", want);
	cr_assert(strstr(said, "rift: layer test: x") == said, "%s", said);
	cr_assert(strstr(said, want) != NULL, "%s", said);
}

Test(small_layer_guard, a_folder_is_its_users_alone)
{
	struct guard g = guard_none("test", NULL);
	struct stat s;

	cr_assert(zero(int, guard_folder(&g)));
	cr_assert(zero(int, stat(g.folder, &s)));
	cr_assert(eq(int, s.st_mode & 0777, 0700));
	cr_assert(le(int, 0, g.lock));
}

/* A path that depends on where one is would be another's elsewhere. */
Test(small_layer_guard, a_relative_folder_is_not_taken)
{
	struct guard g = guard_none("test", NULL);

	setenv("XDG_RUNTIME_DIR", ".", 1);
	setenv("TMPDIR", "here", 1);
	cr_assert(zero(int, guard_folder(&g)));
	cr_assert(zero(int, strncmp(g.folder, "/tmp/rift-layers-", 17)), "%s", g.folder);
	rmdir(g.folder);
}

/* As under a root that cannot be written to. */
Test(small_layer_guard, without_a_runtime_folder_it_is_in_tmpdir)
{
	struct guard g = guard_none("test", NULL);
	char want[GUARD_PATH];

	setenv("TMPDIR", getenv("XDG_RUNTIME_DIR"), 1); /* of layers_apart() */
	snprintf(want, sizeof(want), "%s/rift-layers-", getenv("TMPDIR"));
	setenv("XDG_RUNTIME_DIR", "/proc/none", 1);
	cr_assert(zero(int, guard_folder(&g)));
	cr_expect(zero(int, strncmp(g.folder, want, strlen(want))), "%s", g.folder);
}

/* One that a living guard holds stays; one that nobody holds goes, with all in it. */
Test(small_layer_guard, what_nobody_holds_is_swept_up)
{
	struct guard held = guard_none("test", NULL), next = guard_none("test", NULL);
	char path[GUARD_PATH + 16];

	cr_assert(zero(int, guard_folder(&held)));
	shell(NULL, "mkdir -p '%s/left/deep/er' && touch '%s/left/deep/file'", layers_folder(),
	      layers_folder());
	cr_assert(eq(int, layers_folders(), 2));
	cr_assert(zero(int, guard_folder(&next)));
	cr_assert(eq(int, layers_folders(), 2));
	cr_assert(zero(int, access(held.folder, F_OK)));
	cr_assert(zero(int, access(next.folder, F_OK)));
	snprintf(path, sizeof(path), "%s/left", layers_folder());
	cr_assert(ne(int, access(path, F_OK), 0));
}

/* A link in such a folder is removed, and not what it points to. */
Test(small_layer_guard, a_link_is_not_followed)
{
	struct guard g = guard_none("test", NULL);

	shell(NULL,
	      "mkdir -p '%s/left' '%s/../kept' && touch '%s/../kept/file' && "
	      "ln -s '%s/../kept' '%s/left/link' && ln -s '%s/../kept' '%s/link' && chmod 700 '%s'",
	      layers_folder(), layers_folder(), layers_folder(), layers_folder(), layers_folder(),
	      layers_folder(), layers_folder(), layers_folder());
	cr_assert(zero(int, guard_folder(&g)));
	cr_assert(zero(int, shell(NULL, "test -f '%s/../kept/file'", layers_folder())));
	cr_assert(zero(int, shell(NULL, "test ! -e '%s/left'", layers_folder())));
}
