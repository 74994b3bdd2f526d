/*
 * csv.h - reads small tables: comma separated, one header line that names the columns.
 *
 * A file is lines of the same number of cells. Lines end in LF or CRLF, the last one may lack
 * its end. Cells are taken as they stand: no quotes, no comments, no blank lines, no spaces
 * around. Columns are found by name, in any order; names are unique and not empty. A
 * byte-order mark in front is dropped.
 *
 *	struct csv csv;
 *	double t;
 *	int err, column;
 *
 *	err = csv_read(path, &csv);
 *	if (err)
 *		return err;
 *	column = csv_column(&csv, "t");
 *	for (int64_t row = 0; column >= 0 && row < csv.rows; row++)
 *		err = err ? err : csv_number(&csv, row, column, &t);
 *	csv_free(&csv);
 *
 * Whatever is refused is told in one line that names file, line, column and what would be
 * right. Line 1 is the header: row r stands in line r + 2.
 */
#ifndef RIFT_CSV_H
#define RIFT_CSV_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	CSV_COLUMNS_MAX = 4096,
	CSV_BYTES_MAX = 1 << 28, /* 256 MiB: more is no table but a mistake */
};

struct csv {
	char *path;   /* as given to csv_read, for messages */
	int64_t rows; /* of data, at least 1 */
	int columns;  /* at least 1 */
	bool ended;   /* the last line has an end; see csv_must_end() */
	char *text;   /* the file, cut into cells */
	char **cells; /* columns of the header, then rows x columns */
};

/*
 * Reads the file and checks its shape. Returns 0, and then csv_free() is due; or, with *csv
 * empty, -ENOENT, -EACCES, -EISDIR, -EIO or another errno of open and read, -EFBIG above
 * CSV_BYTES_MAX, -ENOMEM, -EINVAL for an empty file, a header without rows, a row with too few
 * or too many cells, a column without a name or named twice, and a byte of zero; and -EINTR,
 * without a line, after Ctrl-C (common/interrupt.h): a pipe may be waited for.
 */
int csv_read(const char *path, struct csv *csv);

/* Frees what csv_read allocated; also after a failed one, also twice. */
void csv_free(struct csv *csv);

/*
 * 0 when the last line ends with a newline, or -EINVAL: without it the file may be cut off inside
 * its last number, which then reads as another one. For inputs that results depend on.
 */
int csv_must_end(const struct csv *csv);

/* Index of a column, or -1 without a word: for columns that may be missing. */
int csv_find(const struct csv *csv, const char *name);

/* Index of a column that must be there, or -EINVAL. */
int csv_column(const struct csv *csv, const char *name);

/* 0 when every column is one of the names (a list that ends with NULL), or -EINVAL. */
int csv_known_columns(const struct csv *csv, const char *const *names);

/* The cell as it stands in the file. row in [0, rows), column in [0, columns). */
const char *csv_text(const struct csv *csv, int64_t row, int column);

/*
 * The cell as a decimal number (-12, 3.5, .5, 1e-3, 1.5E+003). Returns 0, or -EINVAL for
 * anything else, among it an empty cell, 12x, 0x10, nan, inf, and 1e999, which overflows.
 * Underflow is no error: the nearest number, which may be 0.
 */
int csv_number(const struct csv *csv, int64_t row, int column, double *value);

/* The same, but takes nan, inf and -inf as well. */
int csv_number_or_nan(const struct csv *csv, int64_t row, int column, double *value);

#ifdef __cplusplus
}
#endif
#endif
