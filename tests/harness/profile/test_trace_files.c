/* test_trace_files.c - harness/profile/trace_files.h: which files belong to a recording. */
/* sanitizers: one thread */
#include "tests/test.h"

#include "harness/profile/trace_files.h"
#include "tests/folder.h"

TEST_FOLDER(folder);

static void enter(void)
{
	make_folder();
	cr_assert(zero(int, chdir(folder)), "%s", folder);
}

TestSuite(small_trace_files, .timeout = 60, .init = enter, .fini = remove_folder);

static void touch(const char *names)
{
	cr_assert(zero(int, shell(NULL, "touch %s", names)), "%s", names);
}

static void are_there(const char *want)
{
	const char *text;

	shell(&text, "ls | tr '\n' ' '");
	cr_expect(eq(str, (char *)text, (char *)want));
}

Test(small_trace_files, names_of_several_recordings)
{
	static const char *const want[] = { "a.trace", "a.trace.again-1", "a.trace.again-2" };
	char name[PATH_MAX];

	for (int i = 0; i < 3; i++) {
		trace_files_name("a.trace", i, name);
		cr_expect(eq(str, name, (char *)want[i]));
	}
}

static void names_are(const char *path, const char *but, const char *want)
{
	char *names = trace_files_names(path, but);

	cr_expect(eq(str, names, (char *)want), "%s without %s", path, but);
	free(names);
}

/* A name's end is no other name, nor is its beginning. */
Test(small_trace_files, those_of_processes_that_it_started)
{
	touch("a.trace a.trace.1 a.trace.12 a.trace.13 a.trace.13x a.trace.x1 aa.trace.7");
	cr_expect(eq(sz, trace_files_children("a.trace"), 3));
	cr_expect(eq(sz, trace_files_children("aa.trace"), 1));
	cr_expect(zero(sz, trace_files_children("b.trace")));
	names_are("a.trace", "", "a.trace.1, a.trace.12, a.trace.13");
	names_are("a.trace", "a.trace.12", "a.trace.1, a.trace.13");
	names_are("a.trace", "a.trace.1, a.trace.13", "a.trace.12");
	names_are("a.trace", "aa.trace.1, a.trace.12", "a.trace.1, a.trace.13");
	names_are("a.trace", "a.trace.1, a.trace.12, a.trace.13", "");
	names_are("aa.trace", "", "aa.trace.7");
	names_are("b.trace", "", "");
}

/* What a shell takes for a pattern is a name like others. */
Test(small_trace_files, names_that_look_like_patterns)
{
	touch("'a*.1' ab.2 '[a].3' a.4 'a?.5' 'a\\b.6'");
	names_are("a*", "", "a*.1");
	names_are("[a]", "", "[a].3");
	names_are("a?", "", "a?.5");
	names_are("a\\b", "", "a\\b.6");
}

static void is_refused(const char *output, int recordings, int err, const char *says)
{
	const char *text;

	divert_stderr();
	cr_expect(eq(int, trace_files_refuse(output, recordings), err), "%s", output);
	text = diverted_stderr();
	cr_expect(is_one_complaint(text) && tells(text, says), "%s: %s", output, text);
}

Test(small_trace_files, what_is_there_is_not_replaced)
{
	char name[PATH_MAX];

	touch("a.trace b.trace.7 c.trace.again-1 d.trace.again-2.5");
	is_refused("a.trace", 1, -EEXIST, "a.trace: exists");
	is_refused("none/a.trace", 1, -ENOENT, "none/: no trace");
	cr_expect(zero(int, trace_files_refuse("b.trace", 1)), "nothing is removed");
	is_refused("b.trace", 2, -EEXIST, "b.trace.PID");
	is_refused("c.trace", 2, -EEXIST, "c.trace.again-1: exists");
	cr_expect(zero(int, trace_files_refuse("d.trace", 2)), "two have no number 2");
	is_refused("d.trace", 3, -EEXIST, "d.trace.again-2.PID");
	memset(name, 'x', PATH_MAX - 64);
	memcpy(name, "./", 2);
	for (int i = 2; i < PATH_MAX - 64; i += 2)
		memcpy(name + i, "./", 2);
	name[PATH_MAX - 64] = '\0';
	memcpy(name + PATH_MAX - 65, "e", 1);
	cr_expect(zero(int, trace_files_refuse(name, 2)), "as long as it may be");
	memcpy(name + PATH_MAX - 65, "ee", 3);
	is_refused(name, 2, -ENAMETOOLONG, "4033 characters*4032");
	cr_expect(zero(int, trace_files_refuse(name, 1)), "one alone has no number");
}

Test(small_trace_files, a_name_is_one_recording_s)
{
	int first, second, other;
	const char *text;

	cr_assert(zero(int, trace_files_hold("a.trace", &first)));
	cr_assert(zero(int, trace_files_hold("b.trace", &other)), "another name");
	divert_stderr();
	cr_expect(eq(int, trace_files_hold("./a.trace", &second), -EEXIST));
	text = diverted_stderr();
	cr_expect(is_one_complaint(text) && tells(text, "a.trace: is being written"), "%s", text);
	cr_expect(eq(int, second, -1));
	trace_files_let_go(&first);
	cr_expect(eq(int, first, -1));
	cr_assert(zero(int, trace_files_hold("a.trace", &second)), "let go");
	trace_files_let_go(&second);
	trace_files_let_go(&other);
}

Test(small_trace_files, all_are_renamed_and_removed)
{
	touch("a a.1 a.22 a.x b c");
	cr_assert(zero(int, trace_files_rename("a", "d")));
	are_there("a.x b c d d.1 d.22 ");
	trace_files_remove("d");
	are_there("a.x b c ");
}
