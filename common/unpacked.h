/*
 * unpacked.h - reads a file that somebody named, plain or gzip, and takes no broken file for one
 * that ends.
 *
 * Its first two bytes say whether it is gzip (RFC 1952), never its name. Members follow one another
 * as in `cat a.gz b.gz`; zeros may fill it up. Anything else behind a member is refused: zlib's own
 * gzread() would drop it without a word.
 */
#ifndef RIFT_UNPACKED_H
#define RIFT_UNPACKED_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct unpacked {
	const unsigned char *at, *end; /* unpacked, and not taken yet */
	bool gzip;		       /* what the file is; known once a byte was asked for */
	/* A negative errno: behind these bytes it can be read no further, -EBADMSG: broken gzip. */
	int err;
	struct unpacker *by; /* NULL: not open */
};

/*
 * A regular file or, where `pipes`, a pipe: input_open() tells which. Nothing is read yet. Returns
 * 0, or without a line a negative errno that input_reason() has words for.
 */
int unpacked_open(struct unpacked *u, const char *path, bool pipes);

/* Some more bytes at u->at. False: it ends here or, where u->err, it cannot be read. */
bool unpacked_fill(struct unpacked *u);

/* The next byte, which stays; -1 as above. */
static inline int unpacked_peek(struct unpacked *u)
{
	return u->at < u->end || unpacked_fill(u) ? *u->at : -1;
}

static inline int unpacked_getc(struct unpacked *u)
{
	return u->at < u->end || unpacked_fill(u) ? *u->at++ : -1;
}

/* Up to n bytes; fewer: as above. */
size_t unpacked_read(struct unpacked *u, void *out, size_t n);

/* Why it can be read no further: u->err in words, which last until it is closed. */
const char *unpacked_reason(const struct unpacked *u);

/* Also one that is not open, also twice. */
void unpacked_close(struct unpacked *u);

/* Does this regular file begin as gzip does? */
bool unpacked_is_gzip(const char *path);

#ifdef __cplusplus
}
#endif
#endif
