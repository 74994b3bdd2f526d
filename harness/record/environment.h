/* environment.h - the parts of a header that say where a process ran. */
#ifndef RIFT_RECORD_ENVIRONMENT_H
#define RIFT_RECORD_ENVIRONMENT_H

#include <jansson.h>

#include "harness/platform/platform.h"
#include "harness/platform/in_force.h"
#include "harness/record/record.h"

/* platform_json(), with the digest of this binary in build. New reference. */
json_t *environment_of(const struct platform *p);

/* The parts of a header that say where it ran, without what changes by itself. New reference. */
json_t *environment_parts(const json_t *header);

/* "under cpu share=50 (real)": rift's layers that it ran under; "" for none. */
void environment_layers(const json_t *header, char out[LAYERS_TEXT]);

/*
 * A digest of the identity of the machine: binary, GPU (uuid, MIG profile), driver, libcuda's
 * digest, kernel, processor model, declared platform, wait policy, layers. It must not change on a
 * side within a session. All else is recorded for each process and may change.
 */
void environment_hash(const json_t *header, char out[HASH_TEXT]);

/*
 * The first field of the identity that differs between two headers, as
 * "gpu.driver_version: "12.4" -> "13.0""; false, and an empty text, where none does.
 */
bool environment_differs(const json_t *before, const json_t *now, char *what, size_t size);

/* The same of one field, "name" of "part". */
bool environment_field_differs(const json_t *before, const json_t *now, const char *part,
			       const char *name, char *what, size_t size);

/* A field that says why something is null or by what it was found out: no change in itself. */
bool environment_explains(const char *name);

/*
 * The fields of no identity that differ between two headers, as environment_differs() has them,
 * joined by "; ", cut at size; false where there is none. known: an object of the names that were
 * said before, which are left out; new ones are added.
 */
bool environment_changes(const json_t *before, const json_t *now, json_t *known, char *what,
			 size_t size);

#endif
