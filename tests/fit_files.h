/* fit_files.h - a folder for sessions that commands are to fit, and what they say of them. */
#ifndef RIFT_TESTS_FIT_FILES_H
#define RIFT_TESTS_FIT_FILES_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "tests/fake_session.h"
#include "tests/folder.h"

static char dir[] = "/tmp/rift fit_XXXXXX", file[64], other[64];

static inline void make_dir(void)
{
	test_folder_make(dir);
	snprintf(file, sizeof(file), "%s/a session.jsonl", dir);
	snprintf(other, sizeof(other), "%s/other.jsonl", dir);
}

static inline void remove_dir(void)
{
	test_folder_remove(dir);
}

static inline struct fake_session quick_session(void)
{
	struct fake_session s = fake_session();

	s.quick = true;
	s.processes = 5;
	s.noise = 0.01;
	return s;
}

/* The same of few points: those that any parameter takes, but W. */
static inline struct fake_session small_session(void)
{
	struct fake_session s = quick_session();

	s.blocks = 5;
	s.noise = 0.002;
	s.size = "0,2,10,50";
	s.depth = "1,16,256,4096";
	return s;
}

static inline void says_all(const char *text, const char *const *want)
{
	for (; *want; want++)
		cr_assert(tells(text, *want), "'%s' in\n%s", *want, text);
}

#endif
