/*
 * layer.h - the contract of a layer: what stands between a program and the GPU, as a command that
 * runs another command under it (`rift layer NAME [name=value...] -- COMMAND`).
 *
 * A layer is a folder layers/NAME/ that defines `const struct layer layer_NAME`. The build finds
 * the folder and makes the table; nothing else is edited. What COMMAND preloads is built from
 * layers/NAME/preload/ (.c files, C11) to layers/NAME.so beside rift. A layer includes this header
 * and common/, never the harness, a workload or another layer. layers/README.md shows how to add
 * one.
 *
 * The process that runs `rift layer` becomes COMMAND by exec, so signals and the exit status pass
 * by themselves. Where report() will be asked, it stays as COMMAND's parent until that has said its
 * line: it passes signals on and ends as COMMAND ended. Helpers and private folders are ended by a
 * guard, a process of its own session, within 2 s of COMMAND's end, however it ended.
 */
#ifndef RIFT_LAYER_H
#define RIFT_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/param.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What enter() fills: how COMMAND will be started. The harness's. */
struct entry;

/* Adds a variable to COMMAND's environment. Both texts are copied. */
void entry_setenv(struct entry *e, const char *name, const char *value);

/*
 * Adds a library to the front of COMMAND's LD_PRELOAD, so that it sees calls before those of the
 * layers outside it. NULL: layers/NAME.so, the layer's own. Returns 0, or -EINVAL after one line
 * for a path that LD_PRELOAD cannot carry (with a blank or a colon) or that does not exist.
 */
int entry_preload(struct entry *e, const char *library);

/* Adds a word before COMMAND: "bwrap", "--unshare-pid". Copied. */
void entry_before(struct entry *e, const char *word);

/*
 * The layer's private folder (0700), removed with all in it when COMMAND has ended. NULL after one
 * line where none can be made.
 */
const char *entry_folder(struct entry *e);

/*
 * Adds a process that runs helper(opts, ready) while COMMAND runs, and is killed when that has
 * ended. It writes one byte to `ready` when it does its work; COMMAND waits for that. It inherits
 * stderr only, and no LD_PRELOAD. opts must be those that enter() was given.
 */
void entry_helper(struct entry *e, void (*helper)(const void *opts, int ready));

/*
 * A file descriptor that COMMAND inherits and writes {"child-pid": N} to, as bwrap's --info-fd
 * does: that process is killed, too, when COMMAND has ended. -1 after one line where there is none.
 */
int entry_child_fd(struct entry *e);

/* What in_force() and report() say, one line without a full stop. */
enum { LAYER_DETAIL = 240 };

struct layer {
	const char *name;    /* that of the folder, an identifier of C */
	const char *summary; /* one line, no full stop */
	bool model;	     /* it imitates another layer's costs; false: it is real */
	/* It preloads a wrapper of the CUDA runtime: programs that link it statically pass it by.
	 */
	bool wraps_runtime;
	/* Its helpers disturb all that runs on this machine: sides are measured one after the
	 * other. */
	bool disturbs;

	size_t opts_size;
	const struct param *params;   /* as a workload's; NULL: none */
	const struct preset *presets; /* likewise; none of the params is then called preset */

	/* Why it cannot be had on this machine, one line without a full stop; NULL: it can.
	 * NULL in place of the hook: it always can. */
	const char *(*missing)(void);
	/* Fills e. Returns 0 or a negative errno after one line; NULL: nothing to do. */
	int (*enter)(const void *opts, struct entry *e);
	/*
	 * Asked in each process of rift's that runs under it, with the device open, before anything
	 * is timed and at the end: is it in force? detail: what was seen, or why it is not. A
	 * record keeps the first answer. NULL: nothing can be seen.
	 */
	bool (*in_force)(const void *opts, char detail[LAYER_DETAIL]);
	/*
	 * Asked when COMMAND has ended, before the folder is removed: what there is to say of it.
	 * Leaves detail empty for nothing. Not asked where enter() asked for no folder, helper
	 * or child, nor by --layer. NULL: nothing ever.
	 */
	void (*report)(const char *folder, char detail[LAYER_DETAIL]);
};

/* All layers, in alphabetical order; ends with NULL. Generated from the folders. */
extern const struct layer *const layers[];

#ifdef __cplusplus
}
#endif

#endif
