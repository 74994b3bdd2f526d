/*
 * environment.c - linked into every test program: what it and all that it starts find, whatever the
 * user's is. `ls` sorts by the locale, gnuplot remarks where that is without UTF-8, and lines are
 * cut to the terminal.
 */
#include <stdlib.h>

__attribute__((constructor)) static void take_one_environment(void)
{
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("COLUMNS", "200", 1);
}
