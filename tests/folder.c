/* folder.c - a folder of a test's own in /tmp. No shell removes it: hundreds of tests have one. */
#include "tests/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"

enum { OPEN_AT_ONCE = 16 };

void test_folder_make(char *path)
{
	CHECK(mkdtemp(path), "%s", path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	remove(path);
	return 0;
}

void test_folder_remove(const char *path)
{
	nftw(path, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
