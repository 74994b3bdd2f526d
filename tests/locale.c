/*
 * locale.c - linked into every test program: one locale for it and all that it starts, whatever the
 * user's is. `ls` sorts by it, and gnuplot remarks where it is without UTF-8.
 */
#include <stdlib.h>

__attribute__((constructor)) static void take_one_locale(void)
{
	setenv("LC_ALL", "C.UTF-8", 1);
}
