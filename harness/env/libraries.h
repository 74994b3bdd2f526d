/*
 * libraries.h - which libraries this process has loaded, and which of them stand between rift and
 * CUDA: preloaded wrappers, remoting clients, profilers.
 */
#ifndef RIFT_ENV_LIBRARIES_H
#define RIFT_ENV_LIBRARIES_H

#include "harness/env/place.h"

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

#endif
