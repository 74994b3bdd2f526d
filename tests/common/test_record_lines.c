/*
 * test_record_lines.c - common/record_lines.h: what another system does to a text file is named,
 * and is not called damage.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/record_lines.h"
#include "tests/findings.h"

TestSuite(small_record_lines, .timeout = 60);

static const struct record_format format = { "schema", 2, 2, "record file" };

static int count(const json_t *o, const struct record_scan *scan, void *lines)
{
	(void)o, (void)scan;
	++*(int *)lines;
	return 0;
}

/* What is said of a file of these bytes; *lines: how many were read. */
static const char *read_bytes(const char *bytes, size_t n, int *err, int *lines)
{
	char path[] = "/tmp/rift_record_lines_XXXXXX";
	int fd = mkstemp(path);
	struct record_scan scan;
	const char *said;

	cr_assert(eq(long, write(fd, bytes, n), (long)n), "%s", path);
	close(fd);
	*lines = 0;
	divert_stderr();
	*err = record_read_as(&scan, path, &format, count, lines);
	said = diverted_stderr();
	remove(path);
	return said;
}

#define HEAD "{\"record\":\"plan\",\"schema\":\"2.1\"}"
#define ROW "{\"record\":\"visit\"}"

Test(small_record_lines, what_windows_does_is_named)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *says;
		int lines;
	} rows[] = {
#define BYTES(text) text, sizeof(text) - 1
		{ BYTES("\xef\xbb\xbf" HEAD "\n" ROW "\n"), "begins with a byte-order mark", 0 },
		{ BYTES("\xef\xbb\xbf" HEAD "\r\n"), "begins with a byte-order mark", 0 },
		{ BYTES("\xff\xfe{\0\"\0"), "is UTF-16", 0 },
		{ BYTES("\xfe\xff\0{\0\""), "is UTF-16", 0 },
		{ BYTES(HEAD "\r\n" ROW "\r\n"), ":1: this line ends in CRLF", 0 },
		{ BYTES(HEAD "\n" ROW "\r\n" ROW "\n"), ":2: this line ends in CRLF", 1 },
		{ BYTES(HEAD "\nx\n" ROW "\n"),
		  ":2: this line is not a JSON object: the file is damaged", 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int err, lines;
		const char *said = read_bytes(rows[i].bytes, rows[i].n, &err, &lines);

		cr_expect(eq(int, err, -EINVAL), "%zu", i);
		cr_expect(ne(ptr, strstr(said, rows[i].says), NULL), "%zu: %s", i, said);
		cr_expect(eq(ptr, strstr(said, "damaged"),
			     strstr(rows[i].says, "damaged") ? strstr(said, "damaged") : NULL),
			  "%zu: %s", i, said);
		cr_expect(eq(int, lines, rows[i].lines), "%zu", i);
		cr_expect(eq(int, is_one_complaint(said), 1), "%zu: %s", i, said);
	}
}

Test(small_record_lines, others_are_read)
{
	int err, lines;

	read_bytes(HEAD "\n" ROW "\n", sizeof(HEAD "\n" ROW "\n") - 1, &err, &lines);
	cr_expect(zero(int, err), "whole");
	cr_expect(eq(int, lines, 2), "whole");
}
