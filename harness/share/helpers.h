/* helpers.h - the processor time of processes that serve clients: daemons of layers, MPS's server.
 */
#ifndef RIFT_SHARE_HELPERS_H
#define RIFT_SHARE_HELPERS_H

#include <sys/types.h>

enum { HELPERS_MAX = 512 };

struct helper {
	pid_t pid;
	double from_s, to_s; /* of its processor time */
};

struct helpers {
	struct helper of[HELPERS_MAX];
	int n;
};

/* All that this process starts from here on are its own, whatever becomes of their parents. */
void helpers_mark(void);

/* All processes that are its own or below it, but for these. */
void helpers_find(struct helpers *h, const pid_t *except, int n);

/* A stretch of time begins; it has lasted until now. */
void helpers_begin(struct helpers *h);
void helpers_end(struct helpers *h);

/* Processor time that they used in it, s. */
double helpers_used_s(const struct helpers *h);

#endif
