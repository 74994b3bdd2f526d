/* test_unpacked.c - common/unpacked.h: plain and gzip, whole and broken. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/unpacked.h"
#include "tests/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#include "common/philox.h"

/* More than any buffer of the reader holds, packed too. */
enum { TEXT_BYTES = 400000 };

TEST_FOLDER(folder);
static unsigned char text[TEXT_BYTES], packed[2 * TEXT_BYTES];
static size_t packed_bytes;

static void pack(const void *from, size_t n)
{
	z_stream z = { 0 };

	cr_assert(zero(int, deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, 0)), "zlib");
	z.next_in = (unsigned char *)(uintptr_t)from;
	z.avail_in = (unsigned)n;
	z.next_out = packed + packed_bytes;
	z.avail_out = (unsigned)(sizeof(packed) - packed_bytes);
	cr_assert(eq(int, deflate(&z, Z_FINISH), Z_STREAM_END), "%zu bytes", n);
	packed_bytes = sizeof(packed) - z.avail_out;
	deflateEnd(&z);
}

/* Random letters: they can be packed, but not to nothing. */
static void prepare(void)
{
	make_folder();
	cr_assert(zero(int, chdir(folder)), "%s", folder);
	for (uint32_t i = 0; i < TEXT_BYTES; i += 4) {
		struct philox r = philox4x32(i, 0, 0, 0, 3);

		for (int k = 0; k < 4; k++)
			text[i + (uint32_t)k] = (unsigned char)('a' + r.word[k] % 20);
	}
	pack(text, TEXT_BYTES);
}

TestSuite(small_unpacked, .init = prepare, .fini = remove_folder, .timeout = 300);

static void put(const void *bytes, size_t n)
{
	FILE *f = fopen("file", "wb");

	cr_assert(f && fwrite(bytes, 1, n, f) == n && !fclose(f), "%zu bytes", n);
}

/* What comes out of it, in pieces of so many bytes; 0: one by one. Also whether it is gzip. */
static size_t take(size_t piece, unsigned char *out, size_t room, bool *gzip, int *err)
{
	struct unpacked u;
	size_t n = 0, got = 1;

	cr_assert(zero(int, unpacked_open(&u, "file", true)), "open");
	while (got && n + piece < room) {
		int c = unpacked_peek(&u);

		if (piece) {
			got = unpacked_read(&u, out + n, piece);
			cr_assert(eq(int, got > 0, c >= 0), "%zu: peek", n);
		} else {
			got = c >= 0;
			cr_assert(eq(int, unpacked_getc(&u), c), "%zu: peek", n);
			out[n] = (unsigned char)c;
		}
		if (c >= 0)
			cr_assert(eq(int, c, out[n]), "%zu: peek", n);
		n += got;
	}
	*gzip = u.gzip;
	*err = u.err;
	cr_assert(eq(int, unpacked_getc(&u), -1), "it goes on behind its end");
	if (u.err)
		cr_assert(ne(int, unpacked_reason(&u)[0], 0), "a reason");
	unpacked_close(&u);
	unpacked_close(&u);
	return n;
}

/* The file must give `want`, and nothing else. */
static void gives(const void *want, size_t n, bool is_gzip)
{
	static const size_t piece[] = { 0, 1, 4096, 300000 };
	unsigned char *out = malloc(3 * TEXT_BYTES);

	for (size_t i = 0; i < sizeof(piece) / sizeof(*piece); i++) {
		bool gzip;
		int err;
		size_t got = take(piece[i], out, 3 * TEXT_BYTES, &gzip, &err);

		cr_assert(zero(int, err), "pieces of %zu", piece[i]);
		cr_assert(eq(sz, got, n), "pieces of %zu", piece[i]);
		cr_assert(zero(int, memcmp(out, want, n)), "pieces of %zu", piece[i]);
		cr_assert(eq(int, gzip, is_gzip), "pieces of %zu", piece[i]);
	}
	cr_assert(eq(int, unpacked_is_gzip("file"), is_gzip), "by its content");
	free(out);
}

/* It must be found broken, and give no byte that is not there. */
static void is_broken(const char *what)
{
	unsigned char *out = malloc(3 * TEXT_BYTES);
	bool gzip;
	int err;

	take(4096, out, 3 * TEXT_BYTES, &gzip, &err);
	cr_assert(eq(int, err, -EBADMSG), "%s: %d", what, err);
	cr_assert(gzip, "%s", what);
	free(out);
}

Test(small_unpacked, plain_files_as_they_are)
{
	put("", 0);
	gives("", 0, false);
	put("\x1f", 1);
	gives("\x1f", 1, false);
	put("\x1f\x8c\x8b", 3);
	gives("\x1f\x8c\x8b", 3, false);
	put(text, TEXT_BYTES);
	gives(text, TEXT_BYTES, false);
}

Test(small_unpacked, gzip_whatever_it_is_called)
{
	put(packed, packed_bytes);
	gives(text, TEXT_BYTES, true);
	packed_bytes = 0;
	pack("", 0);
	put(packed, packed_bytes);
	gives("", 0, true);
}

Test(small_unpacked, members_follow_one_another)
{
	unsigned char *twice = malloc(2 * TEXT_BYTES);

	pack("", 0);
	pack(text, TEXT_BYTES);
	memset(packed + packed_bytes, 0, 1000); /* as tapes fill up their last block */
	put(packed, packed_bytes + 1000);
	memcpy(twice, text, TEXT_BYTES);
	memcpy(twice + TEXT_BYTES, text, TEXT_BYTES);
	gives(twice, 2 * TEXT_BYTES, true);
	free(twice);
}

/* Those of 21 bytes begin at every place of a reader's buffer, also where it ends. */
Test(small_unpacked, members_are_cut_by_no_buffer)
{
	unsigned char *all = malloc(30000);

	memset(all, 'a', 30000);
	packed_bytes = 0;
	for (int i = 0; i < 30000; i++)
		pack("a", 1);
	put(packed, packed_bytes);
	gives(all, 30000, true);
	free(all);
}

/* Any piece that is missing at its end. */
Test(small_unpacked, cut_off_is_broken)
{
	char what[32];

	for (size_t cut = packed_bytes - 1; cut >= 2;
	     cut -= 1 + (cut < packed_bytes - 20) * cut / 9) {
		snprintf(what, sizeof(what), "%zu bytes", cut);
		put(packed, cut);
		is_broken(what);
	}
}

Test(small_unpacked, changed_is_broken)
{
	size_t at[] = { 2, 3, 200, packed_bytes / 2, packed_bytes - 8, packed_bytes - 1 };
	char what[32];

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		snprintf(what, sizeof(what), "byte %zu", at[i]);
		packed[at[i]] ^= 0xe0;
		put(packed, packed_bytes);
		is_broken(what);
		packed[at[i]] ^= 0xe0;
	}
}

/* A session that went on in plain text behind the member would be shorter without a word. */
Test(small_unpacked, what_follows_is_not_dropped)
{
	static const struct {
		const char *bytes;
		size_t n;
	} rows[] = {
		{ "x", 1 },    { "{\"record\":1}\n", 13 }, { "\0\0\0x", 4 },
		{ "\x1f", 1 }, { "\x1f\x8b", 2 },	   { "\x1f\x8b\x08\0\0\0\0\0\0\3", 10 }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memcpy(packed + packed_bytes, rows[i].bytes, rows[i].n);
		put(packed, packed_bytes + rows[i].n);
		is_broken(rows[i].bytes);
	}
}

/* What comes before the break is told apart from a file that ends there. */
Test(small_unpacked, bytes_before_the_break_are_given)
{
	unsigned char *out = malloc(3 * TEXT_BYTES);
	bool gzip;
	size_t n;
	int err;

	put(packed, packed_bytes - 8); /* the check sum alone is missing */
	n = take(4096, out, 3 * TEXT_BYTES, &gzip, &err);
	cr_assert(eq(sz, n, TEXT_BYTES), "%zu", n);
	cr_assert(eq(int, err, -EBADMSG), "%d", err);
	free(out);
}

/* A byte at a time, so that the first two come apart. */
Test(small_unpacked, pipes_bring_pieces)
{
	unsigned char *out = malloc(3 * TEXT_BYTES);
	bool gzip;
	pid_t child;
	size_t n;
	int err;

	unlink("file");
	cr_assert(zero(int, mkfifo("file", 0600)), "mkfifo");
	cr_assert(not(unpacked_is_gzip("file")), "a pipe is not looked into");
	child = fork();
	if (!child) {
		int fd = open("file", O_WRONLY);

		for (int i = 0; i < 3; i++) {
			if (write(fd, packed + i, 1) != 1)
				_exit(1);
			usleep(20000);
		}
		_exit(write(fd, packed + 3, packed_bytes - 3) != (ssize_t)packed_bytes - 3);
	}
	n = take(4096, out, 3 * TEXT_BYTES, &gzip, &err);
	cr_assert(zero(int, err), "%d", err);
	cr_assert(gzip && n == TEXT_BYTES && !memcmp(out, text, n), "%zu bytes", n);
	waitpid(child, NULL, 0);
	free(out);
}

Test(small_unpacked, what_is_no_file_is_refused)
{
	struct unpacked u;

	cr_assert(eq(int, unpacked_open(&u, "none", true), -ENOENT), "none");
	cr_assert(eq(int, unpacked_open(&u, ".", true), -EISDIR), "folder");
	unpacked_close(&u);
	cr_assert(not(unpacked_is_gzip("none")), "none");
	cr_assert(not(unpacked_is_gzip(".")), "folder");
}
