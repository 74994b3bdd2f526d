/* environment.h - the parts of a header that say where a process ran. */
#ifndef RIFT_SWEEP_ENVIRONMENT_H
#define RIFT_SWEEP_ENVIRONMENT_H

#include <jansson.h>

#include "harness/platform.h"
#include "harness/sweep/hash.h"

/* platform_json(), with the digest of this binary in build. New reference. */
json_t *environment_of(const struct platform *p);

/* The parts of a header that say where it ran, without what changes by itself. New reference. */
json_t *environment_parts(const json_t *header);

/* Of what must not change within a session: without load, uptime and the like. */
void environment_hash(const json_t *header, char out[HASH_TEXT]);

/*
 * The first field that differs between two headers, as "gpu.driver_version: 12.4 -> 13.0"; false
 * where none does.
 */
bool environment_differs(const json_t *before, const json_t *now, char *what, size_t size);

#endif
