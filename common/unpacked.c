/* unpacked.c - a file, plain or gzip, a piece at a time; see unpacked.h. */
#include "common/unpacked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/input.h"
#include "common/interrupt.h"

enum { PIECE = 1 << 16, MAGIC_BYTES = 2, GZIP_ALONE = 16 };

struct unpacker {
	int fd;
	bool begun;    /* the first bytes were looked at */
	bool ended;    /* nothing more comes from fd */
	bool inflates; /* z was set up */
	bool within;   /* a member, whose end has not been seen */
	z_stream z;    /* next_in and avail_in: what was read and not taken, of a plain file too */
	unsigned char in[PIECE], out[2 * PIECE];
	char why[96];
};

int unpacked_open(struct unpacked *u, const char *path, bool pipes)
{
	int fd = input_open(path, pipes);

	*u = (struct unpacked){ 0 };
	if (fd < 0)
		return fd;
	u->by = calloc(1, sizeof(*u->by));
	if (!u->by) {
		close(fd);
		return -ENOMEM;
	}
	u->by->fd = fd;
	u->by->z.next_in = u->by->in;
	return 0;
}

void unpacked_close(struct unpacked *u)
{
	if (u->by) {
		if (u->by->inflates)
			inflateEnd(&u->by->z);
		close(u->by->fd);
	}
	free(u->by);
	*u = (struct unpacked){ 0 };
}

const char *unpacked_reason(const struct unpacked *u)
{
	return u->err == -EBADMSG ? u->by->why : input_reason(u->err);
}

static bool is_broken(struct unpacked *u, const char *why)
{
	u->err = -EBADMSG;
	snprintf(u->by->why, sizeof(u->by->why), "broken gzip: %s", why);
	return false;
}

/* Reads on until n bytes are there or the file ends. False: it cannot be read. */
static bool await_bytes(struct unpacked *u, unsigned n)
{
	struct unpacker *s = u->by;

	if (s->z.avail_in < n) {
		memmove(s->in, s->z.next_in, s->z.avail_in);
		s->z.next_in = s->in;
	}
	while (s->z.avail_in < n && !s->ended) {
		ssize_t got = read(s->fd, s->in + s->z.avail_in, PIECE - s->z.avail_in);

		if (got < 0 && errno == EINTR && !interrupted())
			continue;
		if (got < 0) {
			u->err = -errno;
			return false;
		}
		s->ended = !got;
		s->z.avail_in += (unsigned)got;
	}
	return true;
}

static bool has_magic(const struct unpacker *s)
{
	return s->z.avail_in >= MAGIC_BYTES && s->z.next_in[0] == 0x1f && s->z.next_in[1] == 0x8b;
}

static bool begin(struct unpacked *u)
{
	struct unpacker *s = u->by;

	if (!await_bytes(u, MAGIC_BYTES))
		return false;
	s->begun = true;
	u->gzip = has_magic(s);
	if (!u->gzip)
		return true;
	s->inflates = s->within = inflateInit2(&s->z, MAX_WBITS + GZIP_ALONE) == Z_OK;
	if (!s->inflates)
		u->err = -ENOMEM;
	return s->inflates;
}

/* A plain file's bytes stay where they were read to. */
static bool pass_on(struct unpacked *u)
{
	struct unpacker *s = u->by;

	if (!await_bytes(u, 1))
		return false;
	u->at = s->z.next_in;
	u->end = u->at + s->z.avail_in;
	s->z.next_in += s->z.avail_in;
	s->z.avail_in = 0;
	return u->at < u->end;
}

/* Behind a member. False: there is no other one. */
static bool begin_member(struct unpacked *u)
{
	struct unpacker *s = u->by;

	if (!await_bytes(u, MAGIC_BYTES))
		return false;
	if (has_magic(s)) {
		inflateReset(&s->z);
		s->within = true;
		return true;
	}
	for (; await_bytes(u, 1) && s->z.avail_in; s->z.next_in++, s->z.avail_in--)
		if (*s->z.next_in)
			return is_broken(u, "something else follows it");
	return false;
}

static bool inflate_more(struct unpacked *u)
{
	struct unpacker *s = u->by;
	int code;

	if (!await_bytes(u, 1))
		return false;
	if (!s->z.avail_in)
		return is_broken(u, "it is cut off");
	code = inflate(&s->z, Z_NO_FLUSH);
	s->within = code != Z_STREAM_END;
	if (code == Z_OK || code == Z_STREAM_END)
		return true;
	if (code != Z_MEM_ERROR)
		return is_broken(u, s->z.msg ? s->z.msg : "it cannot be unpacked");
	u->err = -ENOMEM;
	return false;
}

/* A member may be empty, and a piece of one may bring nothing. */
static bool unpack(struct unpacked *u)
{
	struct unpacker *s = u->by;

	s->z.next_out = s->out;
	s->z.avail_out = sizeof(s->out);
	while (s->z.avail_out == sizeof(s->out) && (s->within || begin_member(u)) &&
	       inflate_more(u))
		;
	u->at = s->out;
	u->end = s->z.next_out;
	return u->at < u->end;
}

bool unpacked_fill(struct unpacked *u)
{
	if (u->err || (!u->by->begun && !begin(u)))
		return false;
	return u->gzip ? unpack(u) : pass_on(u);
}

size_t unpacked_read(struct unpacked *u, void *out, size_t n)
{
	size_t did = 0;

	while (did < n && unpacked_peek(u) >= 0) {
		size_t there = (size_t)(u->end - u->at), some = n - did < there ? n - did : there;

		memcpy((char *)out + did, u->at, some);
		u->at += some;
		did += some;
	}
	return did;
}

bool unpacked_is_gzip(const char *path)
{
	struct unpacked u;
	bool is;

	if (unpacked_open(&u, path, false))
		return false;
	unpacked_peek(&u);
	is = u.gzip;
	unpacked_close(&u);
	return is;
}
