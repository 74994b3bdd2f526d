/* test_align_reader.c - FASTA and FASTQ, plain and gzip: good, bad, and made up at random. */
/* begins early: it waits long */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "tests/folder.h"

#include <sys/stat.h>
#include <zlib.h>

#include "workloads/alignment/test_batch.h"

TEST_FOLDER(folder);

TestSuite(small_align_reader, .init = make_folder, .fini = remove_folder, .timeout = 300);
TestSuite(large_align_reader, .init = make_folder, .fini = remove_folder, .timeout = 300);

static const char *temp_path(const char *name)
{
	static char path[4][256];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static const char *write_file(const char *name, const char *bytes, size_t n)
{
	const char *path = temp_path(name);
	FILE *f = fopen(path, "wb");

	cr_assert(f && fwrite(bytes, 1, n, f) == n && !fclose(f), "%s", path);
	return path;
}

static const char *write_gzip(const char *name, const char *bytes, size_t n)
{
	const char *path = temp_path(name);
	gzFile f = gzopen(path, "wb");

	cr_assert(f && gzwrite(f, bytes, (unsigned)n) == (int)n && gzclose(f) == Z_OK, "%s", path);
	return path;
}

static void expect_pair(const struct alignment_batch *b, int64_t i, const char *query,
			const char *target, const char *query_name, const char *target_name)
{
	const struct alignment_pair *p = &b->pair[i];

	cr_assert(p->m == strlen(query) && !memcmp(b->letters + p->query, query, p->m), "query %ld",
		  (long)i);
	cr_assert(p->n == strlen(target) && !memcmp(b->letters + p->target, target, p->n),
		  "target %ld", (long)i);
	cr_assert(!strcmp(b->name[2 * i], query_name), "%s", b->name[2 * i]);
	cr_assert(!strcmp(b->name[2 * i + 1], target_name), "%s", b->name[2 * i + 1]);
}

static struct alignment_batch read_good(const char *input)
{
	struct alignment_batch b;

	memset(&b, 0, sizeof(b));
	cr_assert(!alignment_read(input, &b), "%s", input);
	return b;
}

/* ---- good -------------------------------------------------------------------------------- */

static const char fasta[] = ">a first\r\nACGT\r\nacgt\r\n\r\n>b\tsecond\nAC\n>c\n\n>d\nN";
static const char fastq[] = "@a x\nACGT\n+\n@@@@\n@b\nAC\nGT\n+b\n>+\n@@\n\n@c\n\n+\n\n@d\nA\n+\nI";

Test(small_align_reader, fasta_in_turns)
{
	struct alignment_batch b = read_good(write_file("a.fa", fasta, strlen(fasta)));

	cr_assert(b.n == 2, "%ld pairs", (long)b.n);
	expect_pair(&b, 0, "ACGTacgt", "AC", "a", "b");
	expect_pair(&b, 1, "", "N", "c", "d");
	alignment_batch_release(&b);
}

Test(small_align_reader, fastq_in_turns)
{
	struct alignment_batch b = read_good(write_file("a.fq", fastq, strlen(fastq)));

	cr_assert(b.n == 2, "%ld pairs", (long)b.n);
	expect_pair(&b, 0, "ACGT", "ACGT", "a", "b");
	expect_pair(&b, 1, "", "A", "c", "d");
	alignment_batch_release(&b);
}

Test(small_align_reader, two_files_of_different_kinds_and_packing)
{
	char input[600];
	struct alignment_batch b;

	write_gzip("q.fa.gz", fasta, strlen(fasta));
	write_file("t.fq", fastq, strlen(fastq));
	snprintf(input, sizeof(input), "%s,%s", temp_path("q.fa.gz"), temp_path("t.fq"));
	b = read_good(input);
	cr_assert(b.n == 4, "%ld pairs", (long)b.n);
	expect_pair(&b, 0, "ACGTacgt", "ACGT", "a", "a");
	expect_pair(&b, 1, "AC", "ACGT", "b", "b");
	expect_pair(&b, 2, "", "", "c", "c");
	expect_pair(&b, 3, "N", "A", "d", "d");
	alignment_batch_release(&b);
}

/* ---- bad --------------------------------------------------------------------------------- */

static void expect_bad(const char *input, const char *says)
{
	struct alignment_batch b;
	const char *text;
	int err;

	memset(&b, 0, sizeof(b));
	divert_stderr();
	err = alignment_read(input, &b);
	text = diverted_stderr();
	cr_assert(err < 0 && is_one_complaint(text), "%s: %d, %s", input, err, text);
	cr_assert(strstr(text, says), "'%s' is not in: %s", says, text);
	alignment_batch_release(&b);
}

Test(small_align_reader, files_that_are_wrong)
{
	static const char *const bad[][2] = {
		{ "", "no records" },
		{ "\n\n", "no records" },
		{ "ACGT\n", ":1: a record must begin with > (FASTA) or @ (FASTQ)" },
		{ "\xef\xbb\xbf>a\nA\n", ":1: a byte-order mark (BOM); remove it" },
		{ ">a\nA\n", ":2: the last query has no target" },
		{ ">a\nA\n>b\nA\n>c\nA", ":6: the last query has no target" },
		{ "@a\nACGT\n", ":2: the file ends within a record: no line with +" },
		{ "@a\nACGT\n+\nII\n", ":4: the file ends within a record's quality" },
		{ "@a\nACGT\n+\nIIIII\n", ":4: more letters of quality than of sequence" },
		{ "@a\nA\n+\nI\nACGT\n", ":5: a record must begin with" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		expect_bad(write_file("bad", bad[i][0], strlen(bad[i][0])), bad[i][1]);
	expect_bad(temp_path("none"), "No such file or directory");
	expect_bad(folder, "Is a directory");
}

Test(small_align_reader, two_files_of_different_lengths)
{
	char input[600];

	write_file("q", ">a\nA\n>b\nA\n", 10);
	write_file("t", ">a\nA\n", 5);
	snprintf(input, sizeof(input), "%s,%s", temp_path("q"), temp_path("t"));
	expect_bad(input, "/t:2: the file ends, but ");
	snprintf(input, sizeof(input), "%s,%s", temp_path("t"), temp_path("q"));
	expect_bad(input, "/t:2: the file ends, but ");
}

/* Any piece that is missing from a compressed file, and any byte of it that is wrong. */
Test(small_align_reader, gzip_that_is_broken)
{
	char bytes[512], text[400] = ">a\n", broken[512];
	uint64_t state = 4;
	size_t n;
	FILE *f;

	random_letters(&state, text + 3, 300, 4);
	strcpy(text + 303, "\n>b\nACGT\n");
	f = fopen(write_gzip("whole.gz", text, strlen(text)), "rb");
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	cr_assert(n > 50 && n < sizeof(bytes), "%zu bytes", n);
	for (size_t cut = 20; cut < n; cut++)
		expect_bad(write_file("cut.gz", bytes, cut), "cut.gz");
	memcpy(broken, bytes, n);
	broken[n - 6] ^= 1; /* in the check sum */
	expect_bad(write_file("sum.gz", broken, n), "sum.gz");
}

/* A gzip file of some KiB, a MiB packed once and repeated, that unpacks to more than any record
 * has: /dev/zero does not end either. */
static void unpacks_too_far(const char *begin, char filling, const char *says)
{
	static char piece[1 << 20], packed[1 << 14];
	const char *path = write_gzip("bomb.gz", begin, strlen(begin));
	size_t n;
	FILE *f;

	memset(piece, filling, sizeof(piece));
	f = fopen(write_gzip("piece.gz", piece, sizeof(piece)), "rb");
	n = fread(packed, 1, sizeof(packed), f);
	cr_assert(n < sizeof(packed) && !fclose(f), "%zu bytes", n);
	f = fopen(path, "ab");
	for (int i = 0; i < 70; i++)
		cr_assert(fwrite(packed, 1, n, f) == n, "%s", path);
	cr_assert(!fclose(f), "%s", path);
	expect_bad(path, says);
}

Test(small_align_reader, what_unpacks_without_end_is_refused_at_its_line)
{
	unpacks_too_far("", '\0', "/bomb.gz:1: a record of more than 64 MiB");
	unpacks_too_far(">a\n", 'A', "/bomb.gz:2: a record of more than 64 MiB");
	unpacks_too_far("@a\nACGT\n+\n", 'A', "/bomb.gz:4: a record of more than 64 MiB");
	unpacks_too_far(">a\nA\n>b\nA\n>c", '\n', ": a record of more than 64 MiB");
	unpacks_too_far(">", 'a', "/bomb.gz:1: ");
}

Test(small_align_reader, names_have_a_longest)
{
	char text[5000];

	memset(text, 'a', sizeof(text));
	text[0] = '>';
	expect_bad(write_file("name", text, sizeof(text)),
		   "/name:1: a name of more than 4095 bytes");
}

/* Letters beyond those that can be aligned are counted, whatever ends their line. */
Test(small_align_reader, what_is_too_long_to_align_is_told)
{
	size_t n = ALIGN_LENGTH_MAX + 100;
	char *text = malloc(n + 32);

	for (int crlf = 0; crlf < 2; crlf++) {
		struct alignment_batch b;
		size_t end = 3 + n;

		memset(text, 'A', n + 32);
		memcpy(text, ">a\n", 3);
		memcpy(text + end, crlf ? "\r\n>b\nAC\n" : "\n>b\nAC\n", crlf ? 9 : 8);
		b = read_good(write_file("long", text, end + (crlf ? 9 : 8)));
		cr_assert(b.n == 1 && b.pair[0].m == ALIGN_TOO_LONG, "%ld pairs", (long)b.n);
		alignment_batch_release(&b);
	}
	free(text);
}

Test(small_align_reader, what_is_no_file_is_not_read)
{
	expect_bad("/dev/zero", "/dev/zero: is not a regular file");
	cr_assert(!mkfifo(temp_path("pipe"), 0600), "mkfifo");
	expect_bad(temp_path("pipe"), "/pipe: no records"); /* nobody writes to it */
}

/* ---- made up ----------------------------------------------------------------------------- */

/* Bytes that a reader of this format looks at, and others. */
static size_t make_up(uint64_t *state, char *text, size_t most)
{
	static const char likely[] = ">@+\n\r\tACGTNacgt ;I";
	size_t n = draw(state) % most;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = draw(state);

		text[i] = v % 16 ? likely[(v >> 8) % (sizeof(likely) - 1)] : (char)(v >> 16);
	}
	if (n && draw(state) % 4)
		text[0] = ">@"[draw(state) % 2];
	return n;
}

/* Whatever comes: a batch that holds together, or one line. Files of up to 200 bytes. */
static void anything(int files)
{
	uint64_t state = 2026;
	char text[200];
	int good = 0, bad = 0;

	for (int i = 0; i < files; i++) {
		size_t n = make_up(&state, text, sizeof(text));
		const char *path = write_file("any", text, n), *said;
		struct alignment_batch b;
		int err;

		memset(&b, 0, sizeof(b));
		divert_stderr();
		err = alignment_read(path, &b);
		said = diverted_stderr();
		cr_assert(err ? is_one_complaint(said) : !*said, "file %d: %d, %s", i, err, said);
		for (int64_t p = 0; !err && p < b.n; p++)
			cr_assert(b.pair[p].m + b.pair[p].n < sizeof(text) &&
					  b.pair[p].target + b.pair[p].n <= b.bytes,
				  "file %d: pair %ld", i, (long)p);
		good += !err;
		bad += err < 0;
		alignment_batch_release(&b);
	}
	cr_assert(good > files / 30 && bad > files / 30, "%d good, %d bad: too few of one kind",
		  good, bad);
}

Test(small_align_reader, anything)
{
	anything(300);
}

Test(large_align_reader, anything)
{
	anything(1500);
}

/* The same records whatever the width of their lines. */
Test(small_align_reader, kept_through_any_line_ends)
{
	static const char *const ends[] = { "\n", "\r\n" };
	char text[4096];

	for (int e = 0; e < 2; e++)
		for (int wrap = 1; wrap < 40; wrap++) {
			size_t at = 0;
			struct alignment_batch b;

			for (int r = 0; r < 4; r++) {
				at += (size_t)sprintf(text + at, ">r%d%s", r, ends[e]);
				for (int i = 0; i < 37; i++)
					at += (size_t)sprintf(text + at, "%c%s",
							      "ACGT"[(i + r) % 4],
							      i % wrap == wrap - 1 ? ends[e] : "");
				at += (size_t)sprintf(text + at, "%s", ends[e]);
			}
			b = read_good(write_file("wrap", text, at));
			cr_assert(b.n == 2, "%ld pairs", (long)b.n);
			for (int64_t p = 0; p < 2; p++)
				for (int i = 0; i < 37; i++) {
					const uint8_t *q = b.letters + b.pair[p].query;
					const uint8_t *t = b.letters + b.pair[p].target;

					cr_assert(q[i] == "ACGT"[(i + 2 * p) % 4], "wrap %d", wrap);
					cr_assert(t[i] == "ACGT"[(i + 2 * p + 1) % 4], "wrap %d",
						  wrap);
				}
			cr_assert(b.pair[1].m == 37 && b.pair[1].n == 37, "wrap %d", wrap);
			alignment_batch_release(&b);
		}
}
