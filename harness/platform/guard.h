/*
 * guard.h - what outlives nobody: a process that waits for a command's end, then ends the helpers
 * of its layer and removes the layer's private folder. Its parent, the keeper, does so in its place
 * should it be killed; where both are, the next layer removes the folder.
 *
 * A parent's death signal would not do: it comes when the *thread* that forked ends, and is lost by
 * a further fork.
 */
#ifndef RIFT_PLATFORM_GUARD_H
#define RIFT_PLATFORM_GUARD_H

#include <stdbool.h>

#include "layers/layer.h"

enum { GUARD_HELPERS_MAX = 16, GUARD_PATH = 256 };

struct guard {
	const char *name; /* the layer's, for messages */
	const void *opts; /* passed to helpers */
	void (*helper[GUARD_HELPERS_MAX])(const void *opts, int ready);
	int n;
	/* Asked when the command has ended; NULL: nothing to report. */
	void (*report)(const char *folder, char detail[LAYER_DETAIL]);
	char folder[GUARD_PATH]; /* "": none */
	int lock;		 /* of the folder, held as long as the guard lives; -1: none */
	int child_read;		 /* where the command says which child it has; -1: nowhere */
	int over;		 /* open until all is reported and removed; -1: none */
};

/* No helper, no folder. */
struct guard guard_none(const char *name, const void *opts);

/*
 * Makes the private folder, in $XDG_RUNTIME_DIR or else /tmp, and first removes those whose guards
 * are gone. Returns 0 or a negative errno after one line.
 */
int guard_folder(struct guard *g);

/*
 * Starts the guard of this process, and its helpers, and waits until these work. Returns 0 or a
 * negative errno after one line. From then on the folder is the guard's.
 */
int guard_start(struct guard *g);

#endif
