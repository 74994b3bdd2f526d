/* hash.c - SHA-256 of JSON values and of a growing file. */
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

#include "common/check.h"

void hash_start(struct hash *h)
{
	h->digest = digest_start();
}

void hash_add(struct hash *h, const void *bytes, size_t n)
{
	digest_add(&h->digest, bytes, n);
}

void hash_text(const struct hash *h, char out[HASH_TEXT])
{
	struct digest copy = h->digest; /* an end starts a digest over */

	memcpy(out, digest_end(&copy).s, HASH_TEXT);
}

void hash_json(const json_t *value, char out[HASH_TEXT])
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	CHECK(text, "JSON without a text");
	memcpy(out, digest_of(text, strlen(text)).s, HASH_TEXT);
	free(text);
}
