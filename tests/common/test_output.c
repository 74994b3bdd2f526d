/* test_output.c - common/output.h: whole or not at all, through links, with the old mode. */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "common/output.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/datafile.h"
#include "common/interrupt.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char folder[] = "/tmp/rift-output-XXXXXX";

static void enter_folder(void)
{
	cr_assert(mkdtemp(folder) && !chdir(folder), "%s", folder);
	umask(022);
}

static void remove_folder(void)
{
	shell(NULL, "rm -rf %s", folder);
}

TestSuite(small_output, .init = enter_folder, .fini = remove_folder, .timeout = 300);

static void run_shell(const char *command)
{
	const char *text;

	cr_assert(!shell(&text, "%s", command), "%s: %s", command, text);
}

static void write_new(const char *path)
{
	struct output out;

	cr_assert(!output_open(&out, "trajectory", path), "open %s", path);
	fputs("new\n", out.file);
	cr_assert(!output_commit(&out), "commit %s", path);
}

static bool reads(const char *path, const char *want)
{
	char text[64] = "";
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	cr_assert(fread(text, 1, sizeof(text) - 1, f) || feof(f), "%s", path);
	fclose(f);
	return !strcmp(text, want);
}

Test(small_output, appears_when_it_is_whole)
{
	struct output out;

	run_shell("echo old >a.csv");
	cr_assert(!output_open(&out, "trajectory", "a.csv"), "open");
	fputs("new\n", out.file);
	fflush(out.file);
	cr_assert(reads("a.csv", "old\n"), "before");
	cr_assert(reads(out.part, "new\n"), "%s", out.part);
	cr_assert(!output_commit(&out), "commit");
	cr_assert(reads("a.csv", "new\n"), "after");
	cr_assert(!output_open(&out, "trajectory", "a.csv"), "open again");
	output_discard(&out);
	output_discard(&out);
	cr_assert(reads("a.csv", "new\n"), "discarded");
	run_shell("test \"$(ls)\" = a.csv");
}

/* ---- signals at the worst moment ------------------------------------------------------------ */

static bool signals_come;

/* In place of libc's, for all of this program: two signals as soon as the file is there. */
FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *);
	FILE *f;

	*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	f = real(path, mode);
	if (signals_come) {
		raise(SIGTERM);
		raise(SIGHUP);
	}
	return f;
}

Test(small_output, a_part_is_removed_from_its_first_moment_on)
{
	struct output out;
	int status = 0;
	pid_t child = fork();

	cr_assert(child >= 0, "fork");
	if (!child) {
		signal(SIGTERM, SIG_DFL); /* in the background of a script they are ignored */
		signal(SIGHUP, SIG_DFL);
		interrupt_install();
		signals_come = true;
		output_open(&out, "trajectory", "a.csv");
		_exit(0);
	}
	cr_assert(waitpid(child, &status, 0) == child, "waitpid");
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP, "status %d", status);
	run_shell("test -z \"$(ls)\"");
}

/* ---- where it is written --------------------------------------------------------------------- */

/* Links that are there, lead on, lead nowhere yet; relative ones from the link's own folder. */
Test(small_output, links_are_followed)
{
	static const struct {
		const char *link, *target;
	} links[] = {
		{ "absolute.csv", "far/1.csv" },  { "relative.csv", "far/2.csv" },
		{ "twice.csv", "far/3.csv" },	  { "dangling.csv", "far/4.csv" },
		{ "sub/below.csv", "far/5.csv" },
	};
	struct stat st;

	run_shell("mkdir far sub; echo old | tee far/1.csv far/2.csv far/3.csv >far/5.csv; "
		  "ln -s $PWD/far/1.csv absolute.csv; ln -s far/2.csv relative.csv; "
		  "ln -s far/link.csv twice.csv; ln -s 3.csv far/link.csv; "
		  "ln -s far/4.csv dangling.csv; ln -s ../far/5.csv sub/below.csv");
	for (size_t i = 0; i < COUNT(links); i++) {
		write_new(links[i].link);
		cr_assert(!lstat(links[i].link, &st) && S_ISLNK(st.st_mode), "%s is replaced",
			  links[i].link);
		cr_assert(reads(links[i].target, "new\n"), "%s is not written", links[i].target);
	}
	run_shell("test -z \"$(find . -name '*.part')\"");
}

Test(small_output, a_replaced_file_keeps_its_mode)
{
	static const mode_t modes[] = { 0600, 0640, 0666, 0755 };
	struct stat st;

	write_new("a.csv");
	cr_assert(!stat("a.csv", &st) && (st.st_mode & 0777) == 0644, "a new one: %o", st.st_mode);
	for (size_t i = 0; i < COUNT(modes); i++) {
		cr_assert(!chmod("a.csv", modes[i]), "chmod");
		write_new("a.csv");
		cr_assert(!stat("a.csv", &st) && (st.st_mode & 0777) == modes[i], "%o became %o",
			  modes[i], st.st_mode);
	}
}

Test(small_output, a_replaced_file_keeps_its_owner_where_root_may)
{
	struct stat st;

	if (geteuid())
		cr_skip("needs root");
	write_new("a.csv");
	cr_assert(!chown("a.csv", 65534, 65533), "chown");
	write_new("a.csv");
	cr_assert(!stat("a.csv", &st) && st.st_uid == 65534 && st.st_gid == 65533, "%d:%d",
		  (int)st.st_uid, (int)st.st_gid);
}

static void refused(const char *path, int err, const char *why)
{
	struct output out;
	const char *text;
	int got;

	divert_stderr();
	got = output_open(&out, "trajectory", path);
	output_discard(&out); /* leaves nothing behind where it was not refused */
	text = diverted_stderr();
	cr_assert(got == -err, "%s: %d", path, got);
	cr_assert(is_one_complaint(text) && strstr(text, path) && strstr(text, why), "%s: %s", path,
		  text);
}

Test(small_output, what_cannot_be_replaced_is_refused)
{
	run_shell("mkdir sub; mkfifo pipe; ln -s loop loop; ln -s /dev/null null");
	refused("sub", EISDIR, "sub: ");
	refused("pipe", EINVAL, "pipe: ");
	refused("null", EINVAL, "null: ");
	refused("loop", ELOOP, "symbolic links");
	refused("no/such/a.csv", ENOENT, "no/such/a.csv");
	run_shell("test \"$(ls | wc -l)\" = 4");
}

/* The binary is below a folder of objects which is called workloads/ too. */
Test(small_output, files_of_the_source_tree_are_refused)
{
	char path[DATAFILE_PATH_BYTES];

	unsetenv("RIFT_HOME");
	cr_assert(!datafile_find("workloads/workload.h", path), "source tree");
	refused(path, EINVAL, "rift");
}

/* By name, by a link, by a link to the folder; what is beside these folders is not rift's. */
Test(small_output, files_of_rift_are_refused)
{
	static const char *const own[] = { "home/workloads/w/in.csv",
					   "home/workloads/w/new.csv",
					   "home/workloads/x.csv",
					   "link.csv",
					   "folder/in.csv",
					   "home/../home/workloads/y",
					   "home/data/sessions/s.csv",
					   "dangling.csv" };

	run_shell("mkdir -p home/workloads/w home/workloads2 home/data/sessions; echo old "
		  ">home/workloads/w/in.csv; "
		  "ln -s home/workloads/w/in.csv link.csv; ln -s home/workloads/w folder; "
		  "ln -s home/workloads/none.csv dangling.csv");
	setenv("RIFT_HOME", "home", 1);
	for (size_t i = 0; i < COUNT(own); i++)
		refused(own[i], EINVAL, "rift's");
	write_new("home/out.csv");
	write_new("home/workloads2/out.csv");
	cr_assert(reads("home/workloads/w/in.csv", "old\n"), "changed");
	run_shell("test \"$(find home/workloads -type f)\" = home/workloads/w/in.csv");
}

/* ---- files that replace nothing ---------------------------------------------------------- */

static int
	lacking; /* ways that the file system has not: 1 renameat2's flag, 2 hard links as well */

/* In place of libc's, for all of this program. */
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	int (*real)(int, const char *, int, const char *, unsigned);

	*(void **)&real = dlsym(RTLD_NEXT, "renameat2");
	errno = EINVAL;
	return lacking ? -1 : real(from_dir, from, to_dir, to, flags);
}

int link(const char *from, const char *to)
{
	int (*real)(const char *, const char *);

	*(void **)&real = dlsym(RTLD_NEXT, "link");
	errno = EPERM;
	return lacking > 1 ? -1 : real(from, to);
}

static int create(struct output *out, const char *path, const char *text)
{
	int err = output_create(out, "--output", path);

	if (!err)
		fputs(text, out->file);
	return err;
}

/* With every way of renaming: the name is free, then taken, then the next one is as well. */
Test(small_output, a_file_that_appears_meanwhile_stays)
{
	for (lacking = 0; lacking < 3; lacking++) {
		struct output out;
		const char *text;

		run_shell("rm -f *");
		cr_assert(!create(&out, "a.csv", "first\n") && !output_commit(&out), "%d", lacking);
		cr_assert(reads("a.csv", "first\n"), "%d", lacking);
		cr_assert(create(&out, "a.csv", "") == -EEXIST, "%d: exists", lacking);
		output_discard(&out);
		run_shell("rm a.csv; echo foreign >a-2.csv");
		cr_assert(!create(&out, "a.csv", "mine\n"), "%d", lacking);
		run_shell("echo foreign >a.csv");
		divert_stderr();
		cr_assert(output_commit(&out) == -EEXIST, "%d: took a name", lacking);
		text = diverted_stderr();
		cr_assert(is_one_complaint(text) && strstr(text, "a-3.csv"), "%s", text);
		cr_assert(reads("a.csv", "foreign\n") && reads("a-2.csv", "foreign\n"), "%d",
			  lacking);
		cr_assert(reads("a-3.csv", "mine\n"), "%d: lost", lacking);
		run_shell("test \"$(ls | wc -l)\" = 3");
	}
}

/* The rename was by link() and unlink(), and the process was killed between the two. */
Test(small_output, one_file_under_both_names_is_renamed)
{
	for (lacking = 0; lacking < 2; lacking++) {
		char *taken;

		run_shell("rm -f *; echo mine >a.part; ln a.part a");
		cr_assert(!output_rename_new("a.part", "a", &taken), "%d", lacking);
		cr_assert(!strcmp(taken, "a"), "%d: %s", lacking, taken);
		free(taken);
		run_shell("test \"$(ls)\" = a && test \"$(cat a)\" = mine");
	}
}

Test(small_output, other_names_keep_their_ending)
{
	static const char *const names[][2] = { { "dir.x/plain", "dir.x/plain-2" },
						{ ".hidden", ".hidden-2" },
						{ "two.dots.csv", "two.dots-2.csv" } };

	for (size_t i = 0; i < COUNT(names); i++) {
		char *taken;

		run_shell("rm -rf * .hidden*; mkdir dir.x; echo mine >part");
		write_new(names[i][0]);
		cr_assert(!output_rename_new("part", names[i][0], &taken), "%s", names[i][0]);
		cr_assert(!strcmp(taken, names[i][1]), "%s", taken);
		free(taken);
	}
}

/* What is written is plain. */
Test(small_output, no_file_is_called_gz)
{
	static const char *const names[] = { "a.gz", "a.csv.gz", "none/a.csv.gz", ".gz" };
	struct output out;

	run_shell("echo mine >a.gz");
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *said;

		divert_stderr();
		cr_assert(output_open(&out, "trajectory", names[i]) == -EINVAL, "%s", names[i]);
		said = diverted_stderr();
		cr_assert(is_one_complaint(said) && strstr(said, "trajectory="), "%s", said);
		output_discard(&out);
	}
	run_shell("test \"$(ls -A)\" = a.gz && test \"$(cat a.gz)\" = mine");
	write_new("a.gzip");
	write_new("gz");
}

/* A dangling link is followed, and what comes to be behind it meanwhile stays. */
Test(small_output, a_new_file_behind_a_link)
{
	struct output out;

	run_shell("mkdir far; ln -s far/a.csv link.csv");
	cr_assert(!create(&out, "link.csv", "new\n") && !output_commit(&out), "link");
	cr_assert(reads("far/a.csv", "new\n"), "far");
	cr_assert(create(&out, "link.csv", "") == -EEXIST, "exists");
	output_discard(&out);
	run_shell("rm far/a.csv");
	cr_assert(!create(&out, "link.csv", "new\n"), "link again");
	run_shell("echo foreign >far/a.csv");
	divert_stderr();
	cr_assert(output_commit(&out) == -EEXIST, "appeared");
	diverted_stderr();
	cr_assert(reads("far/a.csv", "foreign\n") && reads("far/a-2.csv", "new\n"), "far");
}

/* ---- names that no output can have ------------------------------------------------------- */

Test(small_output, no_output_is_stdout)
{
	struct output out;

	divert_stderr();
	cr_assert(output_open(&out, "--plot", "-") == -EINVAL, "a picture's file");
	output_discard(&out);
	cr_assert(create(&out, "-", "") == -EINVAL, "a new file");
	output_discard(&out);
	cr_assert(output_refuse("--output", "-") == -EINVAL, "a record");
	cr_assert(output_refuse("--output", "./-") == 0, "a file of that name");
	cr_assert(strstr(diverted_stderr(), "--output=-: rift writes to a file"), "which option");
	run_shell("test -z \"$(ls -A)\"");
}

/* For files that are renamed in the end: a rename would replace the link, or fail. */
Test(small_output, a_link_that_leads_nowhere_is_refused_at_once)
{
	run_shell("ln -s /nonexistent/x far; ln -s none near; echo old >there; ln -s there link");
	divert_stderr();
	cr_assert(output_refuse("--output", "far") == -EEXIST, "far");
	cr_assert(output_refuse("--output", "near") == -EEXIST, "near");
	cr_assert(output_refuse("--output", "link") == 0, "whether a file is there is asked later");
	cr_assert(output_refuse("--output", "a.gz") == -EINVAL, "compressed");
	cr_assert(strstr(diverted_stderr(), "near is a broken link"), "says so");
}

Test(small_output, a_new_file_says_of_what_kind_the_old_one_is)
{
	struct output out;

	run_shell("mkdir folder; echo old >file");
	divert_stderr();
	cr_assert(create(&out, "folder", "") == -EISDIR, "a folder");
	cr_assert(create(&out, "/dev/null", "") == -EINVAL, "a device");
	cr_assert(create(&out, "file", "") == -EEXIST, "a file");
	diverted_stderr();
	cr_assert(reads("file", "old\n"), "it stays");
}
