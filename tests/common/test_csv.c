/*
 * test_csv.c - common/csv.h: good variants are read, everything else is one line that names file
 * and line.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "common/csv.h"

#include <criterion/redirect.h>
#include <sys/stat.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char folder[64], file[80];

/* Each test runs in a process of its own, with a folder of its own and one file in it. */
static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/rift_csv_%d", (int)getpid());
	cr_assert(mkdir(folder, 0700) == 0, "mkdir %s", folder);
	snprintf(file, sizeof(file), "%s/t.csv", folder);
}

static void remove_folder(void)
{
	unlink(file);
	rmdir(folder);
}

TestSuite(small_csv, .timeout = 300, .init = make_folder, .fini = remove_folder);

static void write_csv(const char *text, size_t bytes)
{
	FILE *f = fopen(file, "wb");

	cr_assert(f != NULL, "%s", file);
	cr_assert(fwrite(text, 1, bytes, f) == bytes, "%s", file);
	cr_assert(fclose(f) == 0, "%s", file);
}

static int read_text(const char *text, struct csv *csv)
{
	write_csv(text, strlen(text));
	return csv_read(file, csv);
}

/* Cuts the next line off what was written to stderr; it must hold file, place and words. */
static void line_says(char **text, const char *what, const char *place, const char *words)
{
	char *line = strsep(text, "\n");

	cr_assert(line && *text, "%s: no whole line but <%s>", what, line ? line : "");
	cr_assert(strstr(line, file) && strstr(line, place) && tells(line, words),
		  "%s: <%s> lacks <%s>, <%s> or <%s>", what, line, file, place, words);
}

static char *stderr_text(void)
{
	return (char *)captured_stderr();
}

/* ---- files ----------------------------------------------------------------------------- */

static const struct {
	const char *what, *text, *place, *words;
} bad_files[] = {
	{ "empty", "", ":1:", "empty file" },
	{ "blank first", "\na,b\n1,2\n", ":1:", "blank line" },
	{ "header only", "a,b\n", ":2:", "row" },
	{ "header, no end of line", "a,b", ":2:", "row" },
	{ "only CR", "a,b\r1,2\r", ":2:", "row" },
	{ "truncated", "a,b\n1,2\n3", ":3:", "cut off" },
	{ "too long", "a,b\n1,2,3\n", ":2:", "3 *2" },
	{ "blank between", "a,b\n1,2\n\n3,4\n", ":3:", "blank line" },
	{ "blank last", "a,b\n1,2\n\n", ":3:", "blank line" },
	{ "blank, one column", "a\n1\n\n2\n", ":3:", "blank line" },
	{ "column twice", "a,b,a\n1,2,3\n", ":1:", "1 *3 *a" },
	{ "column without a name", "a,,b\n1,2,3\n", ":1:", "column 2" },
};

Test(small_csv, bad_files_are_refused)
{
	struct csv csv;
	char *text;

	cr_redirect_stderr();
	for (size_t i = 0; i < COUNT(bad_files); i++) {
		int err = read_text(bad_files[i].text, &csv);

		cr_assert(err == -EINVAL, "%s: %d", bad_files[i].what, err);
		cr_assert(!csv.path && !csv.cells && !csv.rows, "%s: not empty", bad_files[i].what);
		csv_free(&csv);
	}
	text = stderr_text();
	for (size_t i = 0; i < COUNT(bad_files); i++)
		line_says(&text, bad_files[i].what, bad_files[i].place, bad_files[i].words);
	cr_assert(!*text, "more: <%s>", text);
}

Test(small_csv, zero_bytes_and_far_too_many_columns_are_refused)
{
	static char wide[2 * CSV_COLUMNS_MAX + 4];
	struct csv csv;
	char *text;

	cr_redirect_stderr();
	write_csv("a,b\n1,\0\n", 9);
	cr_assert(csv_read(file, &csv) == -EINVAL, "zero byte");
	memset(wide, ',', sizeof(wide) - 1);
	cr_assert(read_text(wide, &csv) == -EINVAL, "wide");
	text = stderr_text();
	line_says(&text, "zero byte", ":", "byte of zero");
	line_says(&text, "wide", ":1:", "at most 4096");
}

/* Reads the file without the right to; root has every right and lends it to nobody. */
static int read_forbidden(struct csv *csv)
{
	uid_t user = geteuid();
	int err;

	cr_assert(chmod(file, 0) == 0, "%s", file);
	if (user == 0)
		cr_assert(seteuid(65534) == 0, "seteuid");
	err = csv_read(file, csv);
	if (user == 0)
		cr_assert(seteuid(user) == 0, "seteuid");
	return err;
}

Test(small_csv, what_is_no_file_is_refused)
{
	struct csv csv;
	char *text;

	cr_redirect_stderr();
	cr_assert(csv_read(file, &csv) == -ENOENT, "missing");
	cr_assert(csv_read(folder, &csv) == -EISDIR, "folder");
	cr_assert(csv_read("/proc/self/mem", &csv) == -EIO, "unreadable device");
	cr_assert(csv_read("/dev/zero", &csv) == -ESPIPE, "a device");
	write_csv("a\n1\n", 4);
	cr_assert(!truncate(file, CSV_BYTES_MAX + 1) && csv_read(file, &csv) == -EFBIG,
		  "too large");
	write_csv("a\n1\n", 4);
	cr_assert(read_forbidden(&csv) == -EACCES, "not permitted");
	text = stderr_text();
	cr_assert(strstr(text, "No such file") && strstr(text, "directory"), "%s", text);
	cr_assert(strstr(text, "/proc/self/mem: ") && strstr(text, "/dev/zero: "), "%s", text);
	cr_assert(strstr(text, "Permission denied"), "%s", text);
}

Test(small_csv, variants_read_alike)
{
	static const char *const good[] = {
		"a,b\n1,2\n3,4\n",
		"a,b\n1,2\n3,4",
		"a,b\r\n1,2\r\n3,4\r\n",
		"a,b\r\n1,2\r\n3,4",
		"\xef\xbb\xbf"
		"a,b\n1,2\n3,4\n",
		"b,a\n2,1\n4,3\n",
	};
	struct csv csv;
	double v;

	for (size_t i = 0; i < COUNT(good); i++) {
		int err = read_text(good[i], &csv);

		cr_assert(!err && csv.rows == 2 && csv.columns == 2, "<%s>: %d", good[i], err);
		for (int row = 0; row < 2; row++)
			for (int c = 0; c < 2; c++) {
				const char *name = c ? "b" : "a";

				err = csv_number(&csv, row, csv_column(&csv, name), &v);
				cr_assert(!err && v == 2 * row + c + 1, "<%s>: %s[%d]=%g", good[i],
					  name, row, v);
			}
		csv_free(&csv);
		csv_free(&csv);
	}
}

/* A cut inside the last number leaves another number. */
Test(small_csv, a_last_line_without_an_end_is_told)
{
	struct csv csv;
	char *text;

	cr_redirect_stderr();
	cr_assert(!read_text("a,b\n1,2\r\n", &csv) && !csv_must_end(&csv), "a whole file");
	csv_free(&csv);
	cr_assert(!read_text("a,b\n1,2\n3,4.5", &csv), "read");
	cr_assert(csv_must_end(&csv) == -EINVAL, "cut off");
	csv_free(&csv);
	cr_assert(!read_text("a,b\n1,2\r", &csv) && csv_must_end(&csv) == -EINVAL, "CR alone");
	csv_free(&csv);
	text = stderr_text();
	line_says(&text, "cut off", ":3:", "newline");
	line_says(&text, "CR alone", ":2:", "no end");
	cr_assert(!*text, "more: <%s>", text);
}

Test(small_csv, columns_are_found_or_named)
{
	static const char *const known[] = { "a", "t", NULL }, *const all[] = { "b", "a", NULL };
	struct csv csv;
	char *text;

	cr_redirect_stderr();
	cr_assert(read_text("a,b\nx,\n", &csv) == 0, "read");
	cr_assert(csv_find(&csv, "b") == 1 && csv_find(&csv, "c") == -1, "find");
	cr_assert(!strcmp(csv_text(&csv, 0, 0), "x") && !*csv_text(&csv, 0, 1), "text");
	cr_assert(csv_column(&csv, "c") == -EINVAL, "missing column");
	cr_assert(csv_known_columns(&csv, known) == -EINVAL, "unknown column");
	cr_assert(csv_known_columns(&csv, all) == 0, "known columns");
	text = stderr_text();
	line_says(&text, "missing", ":1:", "c");
	line_says(&text, "unknown", ":1:", "b*a, t");
	cr_assert(!*text, "more: <%s>", text);
	csv_free(&csv);
}

/* ---- numbers --------------------------------------------------------------------------- */

/* One cell, in line 3 of column y7. */
static int number(const char *cell, double *v,
		  int (*parse)(const struct csv *, int64_t, int, double *))
{
	char text[128];
	struct csv csv;
	int err;

	snprintf(text, sizeof(text), "t,y7\n0,1\n0,%s\n", cell);
	cr_assert(read_text(text, &csv) == 0, "<%s>", text);
	err = parse(&csv, 1, 1, v);
	csv_free(&csv);
	return err;
}

Test(small_csv, numbers_are_read)
{
	static const struct {
		const char *cell;
		double want;
	} good[] = {
		{ "1", 1 },
		{ "-2.5", -2.5 },
		{ "+3", 3 },
		{ ".5", 0.5 },
		{ "5.", 5 },
		{ "1e-3", 1e-3 },
		{ "-0", 0 },
		{ "1.5E+003", 1500 },
		{ "1.37e-003", 1.37e-3 },
		{ "1e-400", 0 },
		{ "4.9406564584124654e-324", 0x1p-1074 },
		{ "0.10000000000000000555", 0.1 },
	};
	double v;

	for (size_t i = 0; i < COUNT(good); i++) {
		cr_assert(number(good[i].cell, &v, csv_number) == 0, "%s", good[i].cell);
		cr_assert(v == good[i].want, "%s: %.17g", good[i].cell, v);
	}
	cr_assert(number("nan", &v, csv_number_or_nan) == 0 && isnan(v), "nan: %g", v);
	cr_assert(number("-nan", &v, csv_number_or_nan) == 0 && isnan(v), "-nan: %g", v);
	cr_assert(number("inf", &v, csv_number_or_nan) == 0 && v == INFINITY, "inf: %g", v);
	cr_assert(number("-inf", &v, csv_number_or_nan) == 0 && v == -INFINITY, "-inf: %g", v);
	cr_assert(number("7", &v, csv_number_or_nan) == 0 && v == 7, "7: %g", v);
}

Test(small_csv, other_cells_are_no_numbers)
{
	static const char *const bad[] = { "",	    " 1",  "1 ",   "12x",      "0x10",	"nan",
					   "NAN",   "inf", "-inf", "infinity", "1e999", "-1e999",
					   "1e",    "e5",  "--1",  "1.2.3",    "\"1\"", "1;2",
					   "1_000", "-",   ".",	   "one" };
	char *text, cell[64];
	double v;

	cr_redirect_stderr();
	for (size_t i = 0; i < COUNT(bad); i++)
		cr_assert(number(bad[i], &v, csv_number) == -EINVAL, "<%s>: %g", bad[i], v);
	cr_assert(number("Nan", &v, csv_number_or_nan) == -EINVAL, "Nan: %g", v);
	text = stderr_text();
	for (size_t i = 0; i < COUNT(bad); i++) {
		snprintf(cell, sizeof(cell), "y7=%s", bad[i]);
		line_says(&text, bad[i], ":3:", cell);
	}
}

/* ---- what is said, to the letter --------------------------------------------------------- */

/* Of a line "rift: FILE...", what follows the file's name. */
static void is_said(const char *want)
{
	const char *said = diverted_stderr();

	cr_assert(is_one_complaint(said), "%s", said);
	cr_expect(!strcmp(said + strlen("rift: ") + strlen(file), want), "%s", said);
}

Test(small_csv, columns_of_one_name)
{
	struct csv csv;

	divert_stderr();
	cr_expect(read_text("x,a,b,a\n1,2,3,4\n", &csv) == -EINVAL, "%s", file);
	is_said(":1: columns 2 and 4 are both a: keep one\n");
	divert_stderr();
	cr_expect(read_text("x,,b\n1,2,3\n", &csv) == -EINVAL, "%s", file);
	is_said(":1: column 2 has no name: name it\n");
}

Test(small_csv, a_file_that_is_too_large)
{
	struct csv csv;

	write_csv("a\n1\n", 4);
	cr_assert(!truncate(file, CSV_BYTES_MAX + 1), "%s", file);
	divert_stderr();
	cr_expect(csv_read(file, &csv) == -EFBIG, "%s", file);
	is_said(": more than 256 MiB: give a CSV file, one table\n");
}

/* As many names as fit into 255 bytes, each with room for dots behind it. */
Test(small_csv, names_of_columns_are_cut)
{
	static char name[20][16];
	const char *names[21] = { NULL };
	char want[512];
	struct csv csv;

	for (int i = 0; i < 20; i++) {
		snprintf(name[i], sizeof(name[i]), "a_long_name_%02d", i);
		names[i] = name[i];
	}
	cr_assert(!read_text("other\n1\n", &csv), "%s", file);
	divert_stderr();
	cr_expect(csv_known_columns(&csv, names) == -EINVAL, "%s", file);
	strcpy(want, ":1: unknown column other: use ");
	for (int i = 0; i < 15; i++)
		sprintf(want + strlen(want), "%s%s", i ? ", " : "", name[i]);
	strcat(want, ", ...\n");
	is_said(want);
	names[2] = NULL;
	divert_stderr();
	cr_expect(csv_known_columns(&csv, names) == -EINVAL, "%s", file);
	is_said(":1: unknown column other: use a_long_name_00, a_long_name_01\n");
	names[1] = "other";
	cr_expect(!csv_known_columns(&csv, names), "%s", file);
	csv_free(&csv);
}

/* As many columns as there may be. */
Test(small_csv, the_most_columns)
{
	char text[16 * CSV_COLUMNS_MAX] = "";
	struct csv csv;
	size_t n = 0;

	for (int i = 0; i < CSV_COLUMNS_MAX; i++)
		n += (size_t)sprintf(text + n, "%sc%d", i ? "," : "", i);
	for (int i = 0; i < CSV_COLUMNS_MAX; i++)
		n += (size_t)sprintf(text + n, "%s%d", i ? "," : "\n", i);
	sprintf(text + n, "\n");
	cr_assert(!read_text(text, &csv), "%s", file);
	cr_expect(csv.columns == CSV_COLUMNS_MAX, "%s", file);
	cr_expect(csv_find(&csv, "c7") == 7, "%s", file);
	csv_free(&csv);
}
