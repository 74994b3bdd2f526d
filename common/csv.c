/* csv.c - reads small tables; see csv.h. */
#include "common/csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/input.h"
#include "common/textfile.h"

enum { HEADER_LINE = 1, FIRST_ROW_LINE = 2 };

/* ---- file to text ---------------------------------------------------------------------- */

static int read_text(const char *path, char **text, size_t *length)
{
	int err = textfile_read(path, "", CSV_BYTES_MAX, text, length);

	if (err == -EINTR)
		return err;
	if (err == -EFBIG)
		return complain(EFBIG, "%s: more than %d MiB: give a CSV file, one table", path,
				CSV_BYTES_MAX >> 20);
	if (err)
		return complain(-err, "%s: %s: give a CSV file", path, input_reason(err));
	if (memchr(*text, '\0', *length))
		return complain(EINVAL, "%s: has a byte of zero: give a CSV file, as text", path);
	return 0;
}

/* ---- text to cells --------------------------------------------------------------------- */

static int count_char(const char *text, char c)
{
	int n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

/* Ends the line that starts at text; returns the next one, NULL after the last. */
static char *cut_line(char *text)
{
	char *end = strchrnul(text, '\n');
	char *next = *end && end[1] ? end + 1 : NULL;

	*end = '\0';
	if (end > text && end[-1] == '\r')
		end[-1] = '\0';
	return next;
}

/* Cuts a line that has exactly n cells. */
static void cut_cells(char *line, int n, char **cells)
{
	for (int i = 0; i < n; i++)
		cells[i] = strsep(&line, ",");
}

static int cut_header(struct csv *csv, char *line)
{
	cut_cells(line, csv->columns, csv->cells);
	for (int i = 0; i < csv->columns; i++) {
		const char *name = csv->cells[i];
		int first = csv_find(csv, name);

		if (!*name)
			return complain(EINVAL, "%s:%d: column %d has no name: name it", csv->path,
					HEADER_LINE, i + 1);
		if (first < i)
			return complain(EINVAL, "%s:%d: columns %d and %d are both %.40s: keep one",
					csv->path, HEADER_LINE, first + 1, i + 1, name);
	}
	return 0;
}

static int cut_row(struct csv *csv, char *line)
{
	int cells = *line ? count_char(line, ',') + 1 : 0;

	if (cells != csv->columns)
		return complain(EINVAL, "%s:%ld: %s: %d cells, the header has %d: give %d",
				csv->path, (long)csv->rows + FIRST_ROW_LINE,
				!cells		       ? "blank line"
				: cells < csv->columns ? "row is cut off"
						       : "row is too long",
				cells, csv->columns, csv->columns);
	cut_cells(line, cells, csv->cells + (csv->rows + 1) * csv->columns);
	csv->rows++;
	return 0;
}

static int cut_text(struct csv *csv, char *line)
{
	size_t lines = (size_t)count_char(line, '\n') + 1;
	char *next = cut_line(line);
	int err;

	if (!*line)
		return complain(EINVAL, "%s:%d: %s: begin with a line that names the columns",
				csv->path, HEADER_LINE, next ? "blank line" : "empty file");
	csv->columns = count_char(line, ',') + 1;
	if (csv->columns > CSV_COLUMNS_MAX)
		return complain(EINVAL, "%s:%d: %d columns: give at most %d", csv->path,
				HEADER_LINE, csv->columns, CSV_COLUMNS_MAX);
	csv->cells = calloc(lines * (size_t)csv->columns, sizeof(*csv->cells));
	if (!csv->cells)
		return complain(ENOMEM, "%s: no memory for %zu lines of %d cells", csv->path, lines,
				csv->columns);
	err = cut_header(csv, line);
	while (!err && (line = next)) {
		next = cut_line(line);
		err = cut_row(csv, line);
	}
	if (!err && !csv->rows)
		return complain(EINVAL, "%s:%d: nothing after the header: give at least one row",
				csv->path, FIRST_ROW_LINE);
	return err;
}

int csv_read(const char *path, struct csv *csv)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	size_t length = 0, mark;
	int err;

	memset(csv, 0, sizeof(*csv));
	csv->path = strdup(path);
	if (!csv->path)
		return complain(ENOMEM, "%s: no memory for its name", path);
	err = read_text(path, &csv->text, &length);
	if (!err) {
		mark = strncmp(csv->text, byte_order_mark, 3) ? 0 : 3;
		csv->ended = length && csv->text[length - 1] == '\n';
		err = cut_text(csv, csv->text + mark);
	}
	if (err)
		csv_free(csv);
	return err;
}

void csv_free(struct csv *csv)
{
	free(csv->path);
	free(csv->text);
	free(csv->cells);
	memset(csv, 0, sizeof(*csv));
}

int csv_must_end(const struct csv *csv)
{
	if (csv->ended)
		return 0;
	return complain(EINVAL,
			"%s:%ld: the last line has no end, so the file may be cut off: end it with "
			"a newline",
			csv->path, (long)csv->rows + HEADER_LINE);
}

/* ---- columns --------------------------------------------------------------------------- */

int csv_find(const struct csv *csv, const char *name)
{
	for (int i = 0; i < csv->columns; i++)
		if (!strcmp(csv->cells[i], name))
			return i;
	return -1;
}

int csv_column(const struct csv *csv, const char *name)
{
	int column = csv_find(csv, name);

	if (column < 0)
		return complain(EINVAL, "%s:%d: no column %s among %d: add it", csv->path,
				HEADER_LINE, name, csv->columns);
	return column;
}

static int is_among(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return 1;
	return 0;
}

/* The names, comma separated, for a message: as many as fit. */
static void list_names(const char *const *names, char *list, size_t size)
{
	size_t n = 0;

	list[0] = '\0';
	for (; *names; names++) {
		if (n + strlen(*names) + sizeof(", ...") > size) {
			strcpy(list + n, ", ...");
			return;
		}
		n += (size_t)sprintf(list + n, "%s%s", n ? ", " : "", *names);
	}
}

int csv_known_columns(const struct csv *csv, const char *const *names)
{
	char list[256];

	for (int i = 0; i < csv->columns; i++) {
		if (is_among(csv->cells[i], names))
			continue;
		list_names(names, list, sizeof(list));
		return complain(EINVAL, "%s:%d: unknown column %.40s: use %s", csv->path,
				HEADER_LINE, csv->cells[i], list);
	}
	return 0;
}

/* ---- cells ----------------------------------------------------------------------------- */

const char *csv_text(const struct csv *csv, int64_t row, int column)
{
	CHECK(row >= 0 && row < csv->rows && column >= 0 && column < csv->columns,
	      "row %ld of %ld, column %d of %d", (long)row, (long)csv->rows, column, csv->columns);
	return csv->cells[(row + 1) * csv->columns + column];
}

/* strtod takes spaces in front, hexadecimal, nan and inf: the letters keep them out. */
static int parse_number(const char *cell, double *value)
{
	char *end;

	if (cell[strspn(cell, "+-.0123456789eE")])
		return -EINVAL;
	*value = strtod(cell, &end);
	return end == cell || *end ? -EINVAL : 0;
}

static int refuse_cell(const struct csv *csv, int64_t row, int column, const char *what)
{
	return complain(EINVAL, "%s:%ld: %s=%.40s%s: give a decimal number", csv->path,
			(long)row + FIRST_ROW_LINE, csv->cells[column], csv_text(csv, row, column),
			what);
}

int csv_number(const struct csv *csv, int64_t row, int column, double *value)
{
	const char *cell = csv_text(csv, row, column);

	if (!*cell)
		return refuse_cell(csv, row, column, " is empty");
	if (parse_number(cell, value))
		return refuse_cell(csv, row, column, " is not a finite number");
	if (!isfinite(*value))
		return refuse_cell(csv, row, column, " is beyond what a double holds");
	return 0;
}

int csv_number_or_nan(const struct csv *csv, int64_t row, int column, double *value)
{
	const char *cell = csv_text(csv, row, column);
	int minus = *cell == '-';

	if (!strcmp(cell + minus, "nan")) {
		*value = NAN;
		return 0;
	}
	if (!strcmp(cell + minus, "inf")) {
		*value = minus ? -INFINITY : INFINITY;
		return 0;
	}
	return csv_number(csv, row, column, value);
}
