/* plot_folder.c - where the files of `rift plot` go. */
#include "harness/chart/plot_folder.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/datafile.h"
#include "harness/record/recorded.h"

/* X of X.jsonl and X.jsonl.part, X-b of side b. */
static char *bare(const char *path, int side)
{
	static const char *const suffixes[] = { ".part", ".jsonl" };
	char *name = strdup(path), *whole;

	CHECK(name, "memory of a name");
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t n = strlen(name), cut = strlen(suffixes[i]);

		if (n > cut && !strcmp(name + n - cut, suffixes[i]))
			name[n - cut] = '\0';
	}
	CHECK(asprintf(&whole, "%s%s%s", name, side == SIDE_ANY ? "" : "-",
		       side == SIDE_ANY ? "" : journal_side_name(side)) > 0,
	      "memory of a name");
	free(name);
	return whole;
}

/* Beside the first session, or where rift keeps its own ones here, named after both; freed by the
 * caller. */
static char *default_folder(const char *const *session, const int *side, int n)
{
	bool own = datafile_owns(session[0]);
	char *first = bare(session[0], side[0]);
	char *second = n > 1 ? bare(session[1], side[1]) : NULL, *out;

	CHECK(asprintf(&out, "%s%s%s%s.plots", own ? "results/" : "", own ? basename(first) : first,
		       second ? "-" : "", second ? basename(second) : "") > 0,
	      "memory of a name");
	free(first);
	free(second);
	return out;
}

char *plot_folder(const char *const *session, const int *side, int n, const char *output)
{
	char *folder = output ? strdup(output) : default_folder(session, side, n);
	size_t length = strlen(folder);

	while (length > 1 && folder[length - 1] == '/')
		folder[--length] = '\0';
	return folder;
}
