/* test_datafile.c - common/datafile.h: found from the binary, from RIFT_HOME, or a clear line. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/datafile.h"

#include <criterion/redirect.h>

TestSuite(small_datafile, .timeout = 300);

Test(small_datafile, found_above_the_binary_from_any_folder)
{
	char path[DATAFILE_PATH_BYTES];

	unsetenv("RIFT_HOME");
	cr_assert(zero(int, chdir("/")), "chdir");
	cr_assert(zero(int, datafile_find("tests/common/test_datafile.c", path)), "found");
	cr_assert(zero(int, access(path, R_OK)), "%s", path);
}

Test(small_datafile, rift_home_decides)
{
	char path[DATAFILE_PATH_BYTES];

	setenv("RIFT_HOME", "/proc", 1);
	cr_assert(zero(int, datafile_find("self/status", path)), "found");
	cr_assert(eq(str, path, "/proc/self/status"), "path");
}

Test(small_datafile, missing_is_one_line_that_names_file_and_place)
{
	char path[DATAFILE_PATH_BYTES];
	const char *text;

	unsetenv("RIFT_HOME");
	cr_redirect_stderr();
	cr_assert(eq(int, datafile_find("no/such/file.csv", path), -ENOENT), "result");
	text = captured_stderr();
	cr_assert(ne(ptr, strstr(text, "no/such/file.csv"), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, "test_datafile"), NULL), "%s", text);
	cr_assert(eq(sz, strcspn(text, "\n"), strlen(text) - 1), "%s", text);
}
