/* hash.h - SHA-256 of JSON values and of a growing file, as 64 hexadecimal digits. */
#ifndef RIFT_HASH_H
#define RIFT_HASH_H

#include <jansson.h>
#include <stddef.h>

#include "common/digest.h"

enum { HASH_TEXT = 2 * DIGEST_BYTES + 1 };

/* A digest that can be asked for at any time and then grows on. */
struct hash {
	struct digest digest;
};

void hash_start(struct hash *h);
void hash_add(struct hash *h, const void *bytes, size_t n);
void hash_text(const struct hash *h, char out[HASH_TEXT]);

/* Hashes a JSON value in its one canonical text: sorted keys, no blanks. */
void hash_json(const json_t *value, char out[HASH_TEXT]);

#endif
