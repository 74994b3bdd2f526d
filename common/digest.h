/*
 * digest.h - SHA-256 (FIPS 180-4): of files, texts, and of what comes piece by piece.
 *
 *   struct digest d = digest_start();
 *   digest_add(&d, line, strlen(line));
 *   puts(digest_end(&d).s);
 */
#ifndef RIFT_DIGEST_H
#define RIFT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DIGEST_BYTES = 32, DIGEST_BLOCK = 64 };

struct digest {
	uint32_t h[DIGEST_BYTES / 4];
	uint64_t bytes;		     /* added so far */
	uint8_t block[DIGEST_BLOCK]; /* bytes % DIGEST_BLOCK of it wait here */
};

struct digest_hex {
	char s[2 * DIGEST_BYTES + 1]; /* 64 lower-case digits */
};

/* Without the processor's own instructions; tests set it. */
extern bool digest_by_hand;

struct digest digest_start(void);
void digest_add(struct digest *d, const void *bytes, size_t n);

/* The digest of all that was added; d starts over. */
struct digest_hex digest_end(struct digest *d);

struct digest_hex digest_of(const void *bytes, size_t n);

/* Returns 0 or a negative errno, and prints nothing. */
int digest_of_file(const char *path, struct digest_hex *out);

/*
 * The same of a large file that others of this program's processes have read already (a library of
 * 100 MB takes 0.3 s): where digest_know() has named it, it is not read. A file is known as long as
 * its device, inode, size and times are the same: key is made of them.
 */
int digest_of_large_file(const char *path, struct digest_hex *out);
void digest_know(const char *key, const char *hex);

/* All that are known here, those just read among them. */
void digest_each_known(void (*f)(const char *key, const char *hex, void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
