/* libraries.h - libraries and variables that stand between rift and CUDA. */
#ifndef RIFT_PLATFORM_LIBRARIES_H
#define RIFT_PLATFORM_LIBRARIES_H

#include "harness/platform/fact.h"

/* ---- libraries -------------------------------------------------------------------------- */

/*
 * Which libraries this process has loaded, and which of them stand between rift and CUDA: preloaded
 * wrappers, remoting clients, profilers.
 */

enum { INTERPOSERS_MAX = 16 };

struct interposer {
	char path[256];
	char why[96]; /* what it is, or what gives it away */
};

struct libraries {
	json_t *loaded; /* paths, in alphabetical order; NULL: not to be read */
	int n;
	struct interposer interposer[INTERPOSERS_MAX];
	struct fact libcuda_path, libcuda_size_bytes, libcuda_sha256, libcudart_path;
};

/*
 * From /proc/self/maps and /etc/ld.so.preload of the place. What exports CUDA's own functions is
 * looked for in this process, wherever the place is.
 */
void libraries_read(struct libraries *l, const struct place *p);

/* {"loaded": [...], "interposers": [{"path", "why"}]}, and {"path", "size_bytes", "sha256"}. */
json_t *libraries_json(const struct libraries *l);
json_t *libcuda_json(const struct libraries *l);

void libraries_release(struct libraries *l);

/* ---- variables -------------------------------------------------------------------------- */

/* How a variable that is set bears on a measurement. */
struct influence {
	const char *name;   /* or the beginning of several names, where it ends with '*' */
	const char *unless; /* a value that changes nothing; NULL: any value does */
	bool spoils;	    /* measures something else; otherwise worth a note */
	const char *what;   /* it does */
};

/* Known ones; ends with { 0 }. */
extern const struct influence influences[];

/* What this "NAME=value" does, or NULL: nothing that is known. */
const struct influence *influence_of(const char *variable);

/*
 * {"NAME": "value"} of every variable of CUDA, NVIDIA and the CPU device, and of the loader's. The
 * value of one that is named like a secret is "(hidden)".
 */
json_t *environment_json(const struct place *p);

#endif
