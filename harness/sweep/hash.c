/* hash.c - SHA-256 of texts and of a growing file. */
#include "harness/sweep/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

void hash_start(struct hash *h)
{
	sha256_init(&h->ctx);
}

void hash_add(struct hash *h, const void *bytes, size_t n)
{
	sha256_update(&h->ctx, n, bytes);
}

void hash_text(const struct hash *h, char out[HASH_TEXT])
{
	struct sha256_ctx copy = h->ctx; /* a digest ends a context */
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(&copy, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

void hash_json(const json_t *value, char out[HASH_TEXT])
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	struct hash h;

	CHECK(text, "JSON without a text");
	hash_start(&h);
	hash_add(&h, text, strlen(text));
	hash_text(&h, out);
	free(text);
}
