/*
 * thin.c FROM TO - writes a complete session without its blocks (harness/record/thin.h). Kept
 * sessions, in data/, are thinned where no test, README or guide needs their blocks;
 * bench/thin.sh does it for many, and shows that rift says the same of them.
 */
#include <stdio.h>

#include "harness/base/command.h"
#include "harness/record/thin.h"

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: thin FROM TO, two files\n");
		return RIFT_USAGE;
	}
	return record_thin(argv[1], argv[2]) ? RIFT_USAGE : RIFT_OK;
}
