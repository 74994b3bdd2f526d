/*
 * environment.h - variables that change what CUDA, the loader or the CPU device do.
 */
#ifndef RIFT_ENV_ENVIRONMENT_H
#define RIFT_ENV_ENVIRONMENT_H

#include "harness/env/place.h"

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
