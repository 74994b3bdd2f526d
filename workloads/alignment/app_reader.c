/* app_reader.c - pairs of sequences from FASTA and FASTQ files, plain or gzip. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/input.h"
#include "common/interrupt.h"
#include "common/room.h"
#include "common/unpacked.h"
#include "workloads/alignment/pairs.h"

/*
 * A file may be another than was meant, or made to do harm: a gigabyte of zeros is a gzip file of a
 * megabyte. What is longer than letters and names can be is counted, not kept.
 */
enum {
	RECORD_BYTES_MAX = 1 << 26, /* its line ends included; 64 times what can be aligned */
	NAME_BYTES_MAX = 1 << 12,
	KEPT_BYTES = ALIGN_LENGTH_MAX + 1,
	PAIR_BYTES = 64, /* of a pair, besides letters and names */
};

/* A text that grows: n bytes, of which the first KEPT_BYTES are kept. */
struct text {
	char *s;
	size_t n, capacity;
};

struct reader {
	const char *path;
	struct unpacked file;
	long line;	 /* of the one in `row` */
	int64_t bytes;	 /* of the record so far, or of blank lines */
	int64_t *spare;	 /* bytes that pairs may still take */
	struct text row; /* the line that was read last, without its end */
	bool pending;	 /* ... has not been used yet */
	struct text name, sequence;
};

static void append_text(struct text *t, const char *s, size_t n)
{
	size_t space = t->n < KEPT_BYTES ? KEPT_BYTES - t->n : 0, kept = n < space ? n : space;

	if (space && t->n + kept + 1 > t->capacity) {
		t->capacity = 2 * (t->n + kept + 1);
		t->s = realloc(t->s, t->capacity);
		CHECK(t->s, "%zu bytes", t->capacity);
	}
	if (kept)
		memcpy(t->s + t->n, s, kept);
	t->n += n;
	if (space)
		t->s[t->n < KEPT_BYTES ? t->n : KEPT_BYTES] = '\0';
}

static inline void append_letter(struct text *t, char c)
{
	if (t->n >= KEPT_BYTES)
		t->n++;
	else
		append_text(t, &c, 1);
}

static void clear_text(struct text *t)
{
	t->n = 0;
	append_text(t, "", 0);
}

static int open_reader(struct reader *r, const char *path, int64_t *spare)
{
	int err;

	*r = (struct reader){ .path = path, .spare = spare };
	err = unpacked_open(&r->file, path, true);
	if (!err || (err == -EINTR && interrupted()))
		return err;
	return complain(-err, "input=%s: %s", path, input_reason(err));
}

static void close_reader(struct reader *r)
{
	unpacked_close(&r->file);
	free(r->row.s);
	free(r->name.s);
	free(r->sequence.s);
	memset(r, 0, sizeof(*r));
}

static int read_failed(const struct reader *r)
{
	if (interrupted())
		return -EINTR;
	return complain(-r->file.err, "input=%s: %s%s", r->path, unpacked_reason(&r->file),
			r->file.err == -EBADMSG ? ": give FASTA or FASTQ, plain or whole gzip"
						: "");
}

static int not_a_record(const struct reader *r, const char *wanted)
{
	return complain(EINVAL, "%s:%ld: %s", r->path, r->line, wanted);
}

static int too_long(struct reader *r)
{
	r->line++;
	return complain(EINVAL,
			"%s:%ld: a record of more than %d MiB: give FASTA or FASTQ, sequences of "
			"up to %d letters",
			r->path, r->line, RECORD_BYTES_MAX >> 20, ALIGN_LENGTH_MAX);
}

/*
 * The next line, into r->row, by pieces: lines may hold any byte. Returns 1, 0 at the end of the
 * file, or a negative errno.
 */
static int next_line(struct reader *r)
{
	int c = 0, last = 0;

	if (r->pending) {
		r->pending = false;
		return 1;
	}
	if (interrupted())
		return -EINTR;
	clear_text(&r->row);
	while ((c = unpacked_getc(&r->file)) != -1 && c != '\n') {
		append_letter(&r->row, (char)c);
		last = c;
		if (++r->bytes > RECORD_BYTES_MAX)
			return too_long(r);
	}
	if (++r->bytes > RECORD_BYTES_MAX)
		return too_long(r);
	if (c == -1 && r->file.err)
		return read_failed(r);
	if (c == -1 && !r->row.n)
		return 0;
	r->line++;
	if (last == '\r' && --r->row.n < KEPT_BYTES)
		r->row.s[r->row.n] = '\0';
	return 1;
}

/* The name of ">name description" ends at the first blank, tab or control character. */
static int keep_name(struct reader *r)
{
	size_t n = 1;

	while (n < r->row.n && n <= NAME_BYTES_MAX && (unsigned char)r->row.s[n] > ' ')
		n++;
	if (n > NAME_BYTES_MAX)
		return complain(EINVAL, "%s:%ld: a name of more than %d bytes: shorten it", r->path,
				r->line, NAME_BYTES_MAX - 1);
	clear_text(&r->name);
	append_text(&r->name, r->row.s + 1, n - 1);
	return 0;
}

/* Lines up to the next one that begins a record. */
static int read_fasta(struct reader *r)
{
	int got;

	while ((got = next_line(r)) > 0) {
		if (r->row.n && (r->row.s[0] == '>' || r->row.s[0] == '@')) {
			r->pending = true;
			return 1;
		}
		append_text(&r->sequence, r->row.s, r->row.n);
	}
	return got < 0 ? got : 1;
}

/* Lines of quality, as many letters as the sequence has. */
static int read_quality(struct reader *r)
{
	size_t n = 0;
	int got;

	do {
		got = next_line(r);
		if (got < 0)
			return got;
		if (!got)
			return not_a_record(r, "the file ends within a record's quality");
		n += r->row.n;
	} while (n < r->sequence.n);
	if (n > r->sequence.n)
		return not_a_record(r, "more letters of quality than of sequence");
	return 1;
}

/* Lines up to one that begins with +, then the quality. */
static int read_fastq(struct reader *r)
{
	int got;

	while ((got = next_line(r)) > 0) {
		if (r->row.n && r->row.s[0] == '+')
			return read_quality(r);
		append_text(&r->sequence, r->row.s, r->row.n);
	}
	return got < 0 ? got : not_a_record(r, "the file ends within a record: no line with +");
}

/* Into r->name and r->sequence. Returns 1, 0 at the end of the file, or a negative errno. */
static int next_record(struct reader *r)
{
	int got;

	r->bytes = 0;
	do
		got = next_line(r);
	while (got > 0 && !r->row.n);
	if (got <= 0)
		return got;
	if (r->line == 1 && !strncmp(r->row.s, "\xef\xbb\xbf", 3))
		return not_a_record(r, "a byte-order mark (BOM); remove it with: sed -i "
				       "'1s/^\\xef\\xbb\\xbf//' FILE");
	if (r->row.s[0] != '>' && r->row.s[0] != '@')
		return not_a_record(r, "a record must begin with > (FASTA) or @ (FASTQ)");
	got = keep_name(r);
	if (got)
		return got;
	clear_text(&r->sequence);
	return r->row.s[0] == '>' ? read_fasta(r) : read_fastq(r);
}

/* ---- pairs ------------------------------------------------------------------------------ */

static int add_pair(struct alignment_batch *b, const struct text *query_name,
		    const struct text *query, const struct reader *target)
{
	size_t m = query->n, n = target->sequence.n;
	int err;

	*target->spare -= (int64_t)((m < KEPT_BYTES ? m : 0) + (n < KEPT_BYTES ? n : 0) +
				    query_name->n + target->name.n + PAIR_BYTES);
	if (*target->spare < 0)
		return complain(ENOMEM,
				"%s:%ld: what was read so far takes most of the memory that the "
				"host can spare: give fewer pairs",
				target->path, target->line);
	if (b->n == ALIGN_INPUT_PAIRS_MAX)
		return complain(EINVAL, "%s:%ld: more than %d pairs: give fewer", target->path,
				target->line, ALIGN_INPUT_PAIRS_MAX);
	err = alignment_batch_add(b, (const uint8_t *)query->s, m,
				  (const uint8_t *)target->sequence.s, n, query_name->s,
				  target->name.s);
	if (err == -E2BIG)
		return complain(EINVAL, "%s:%ld: more than 4 GiB of letters: give fewer pairs",
				target->path, target->line);
	return err;
}

/* One of the two has a record more. */
static int refuse_unpaired(const struct reader *queries, const struct reader *targets,
			   int has_query)
{
	const struct reader *ends = has_query ? targets : queries;
	const struct reader *goes_on = has_query ? queries : targets;

	if (queries == targets)
		return complain(EINVAL,
				"%s:%ld: the last query has no target: give records in pairs",
				ends->path, ends->line);
	return complain(EINVAL,
			"%s:%ld: the file ends, but %s has another record: give as many of both",
			ends->path, ends->line, goes_on->path);
}

static void move_text(struct text *to, struct text *from)
{
	*to = *from;
	*from = (struct text){ 0 };
}

/* A query, then its target; both from one reader or from two. Returns 1, 0 at the end, or an errno.
 */
static int read_pair(struct reader *queries, struct reader *targets, struct alignment_batch *b)
{
	struct text name = { 0 }, query = { 0 };
	int got = next_record(queries), other;

	if (got < 0 || (!got && queries == targets))
		return got;
	if (got)
		move_text(&name, &queries->name);
	if (got)
		move_text(&query, &queries->sequence);
	other = next_record(targets);
	if (other >= 0 && got != other)
		other = refuse_unpaired(queries, targets, got);
	else if (other > 0)
		other = add_pair(b, &name, &query, targets);
	free(name.s);
	free(query.s);
	return other < 0 ? other : got;
}

static int read_files(const char *first, const char *second, struct alignment_batch *b)
{
	/* pairs grow by doubling, and are copied once more to be aligned */
	int64_t free_bytes = room_host_spare(), spare = free_bytes < 0 ? INT64_MAX : free_bytes / 3;
	struct reader queries, targets;
	int err = open_reader(&queries, first, &spare), got = 1;

	memset(&targets, 0, sizeof(targets));
	if (!err && second)
		err = open_reader(&targets, second, &spare);
	while (!err && got > 0) {
		got = read_pair(&queries, second ? &targets : &queries, b);
		err = got < 0 ? got : 0;
	}
	if (!err && !b->n)
		err = complain(EINVAL, "input=%s: no records", first);
	close_reader(&queries);
	close_reader(&targets);
	return err;
}

int alignment_read(const char *input, struct alignment_batch *b)
{
	const char *comma = strchr(input, ',');
	char *first;
	int err;

	if (!comma)
		return read_files(input, NULL, b);
	first = strndup(input, (size_t)(comma - input));
	CHECK(first, "a path");
	err = read_files(first, comma + 1, b);
	free(first);
	return err;
}
