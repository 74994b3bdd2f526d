/* reference.c - see reference.h. */
#include "workloads/alignment/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "workloads/alignment/device.h"

static int letter_code(const struct alignment_view *v, const uint8_t *s, int64_t i)
{
	int c = s[i];

	return v->fold && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

static bool equal_letters(const struct alignment_view *v, int64_t i, int64_t j)
{
	return letter_code(v, v->query, i) == letter_code(v, v->target, j);
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t first_bad(const struct alignment_view *v, const uint8_t *s, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int c = letter_code(v, s, i);

		if (c != 'A' && c != 'C' && c != 'G' && c != 'T' && c != 'N')
			return i;
	}
	return -1;
}

int64_t alignment_bad_letter(const struct alignment_view *v)
{
	int64_t bad = first_bad(v, v->query, v->m);

	if (bad >= 0)
		return bad;
	bad = first_bad(v, v->target, v->n);
	return bad < 0 ? -1 : v->m + bad;
}

/* ---- distance --------------------------------------------------------------------------- */

/* Larger than any distance, and far from overflow when edits are added. */
enum { FAR = 1 << 28 };

/*
 * Row by row over the diagonals j - i from low to high; what lies outside is FAR. row[x] is the
 * cell on diagonal low + x. The value at the end: right where it is at most the band's cost.
 */
static int64_t banded_distance(const struct alignment_view *v, int64_t low, int64_t high,
			       int32_t *row)
{
	int64_t width = high - low + 1;

	for (int64_t x = 0; x < width; x++)
		row[x] = low + x < 0 ? FAR : (int32_t)smaller(low + x, FAR);
	for (int64_t i = 1; i <= v->m; i++)
		for (int64_t x = larger(0, -low - i); x < width && i + low + x <= v->n; x++) {
			int64_t j = i + low + x;
			int32_t up = x + 1 < width ? row[x + 1] + 1 : FAR;
			int32_t left = x && j ? row[x - 1] + 1 : FAR;
			int32_t diagonal = j ? row[x] + !equal_letters(v, i - 1, j - 1) : FAR;

			row[x] = (int32_t)smaller(smaller(up, left), diagonal);
		}
	return row[v->n - v->m - low];
}

int64_t alignment_distance(const struct alignment_view *v, int64_t most)
{
	int64_t d = v->n - v->m, gap = llabs(d), longest = larger(v->m, v->n), k = gap + 16;

	for (;; k *= 2) {
		int64_t spare, found;
		int32_t *row;

		k = smaller(k, longest);
		if (most >= 0)
			k = smaller(k, larger(most, gap));
		spare = (k - gap) / 2;
		row = malloc((size_t)(gap + 2 * spare + 1) * sizeof(*row));
		CHECK(row, "a band of %ld", (long)k);
		found = banded_distance(v, smaller(0, d) - spare, larger(0, d) + spare, row);
		free(row);
		if (found <= k)
			return most >= 0 && found > most ? -1 : found;
		if (most >= 0 && k >= most)
			return -1;
		CHECK(k < longest, "%ld in a band of %ld", (long)found, (long)k);
	}
}

/* ---- path ------------------------------------------------------------------------------- */

static void fill_table(const struct alignment_view *v, int32_t *cell)
{
	int64_t width = v->n + 1;

	for (int64_t i = 0; i <= v->m; i++)
		for (int64_t j = 0; j <= v->n; j++) {
			int32_t *c = &cell[i * width + j];

			if (!i || !j) {
				*c = (int32_t)(i + j);
				continue;
			}
			*c = c[-width - 1] + !equal_letters(v, i - 1, j - 1);
			*c = (int32_t)smaller(*c, smaller(c[-width], c[-1]) + 1);
		}
}

static int step_back(const struct alignment_view *v, const int32_t *cell, int64_t *i, int64_t *j)
{
	int64_t width = v->n + 1;
	const int32_t *c = &cell[*i * width + *j];

	if (*i && (!*j || *c == c[-width] + 1)) {
		--*i;
		return ALIGN_I;
	}
	if (!*i || *c == c[-1] + 1) {
		--*j;
		return ALIGN_D;
	}
	--*i;
	--*j;
	return equal_letters(v, *i, *j) ? ALIGN_EQUAL : ALIGN_X;
}

int64_t alignment_path(const struct alignment_view *v, uint32_t **runs)
{
	int64_t i = v->m, j = v->n, cells = (i + 1) * (j + 1), n = 0;
	uint32_t *run = malloc((size_t)(i + j + 1) * sizeof(*run));
	int32_t *cell = cells <= ALIGN_TABLE_MAX ? malloc((size_t)cells * sizeof(*cell)) : NULL;

	CHECK(run && (cell || cells > ALIGN_TABLE_MAX), "%ld cells", (long)cells);
	*runs = run;
	if (!cell)
		return -1;
	fill_table(v, cell);
	while (i || j) {
		uint32_t op = (uint32_t)step_back(v, cell, &i, &j);

		if (n && (run[n - 1] & 15) == op)
			run[n - 1] += 16;
		else
			run[n++] = 16 + op;
	}
	for (int64_t a = 0; a < n / 2; a++) {
		uint32_t last = run[n - 1 - a];

		run[n - 1 - a] = run[a];
		run[a] = last;
	}
	free(cell);
	return n;
}

/* ---- replay ----------------------------------------------------------------------------- */

static bool diagonal_fits(const struct alignment_view *v, int64_t i, int64_t j, int64_t n,
			  bool equal)
{
	if (i + n > v->m || j + n > v->n)
		return false;
	for (int64_t a = 0; a < n; a++)
		if (equal_letters(v, i + a, j + a) != equal)
			return false;
	return true;
}

int64_t alignment_replay(const struct alignment_view *v, const uint32_t *runs, int64_t n)
{
	int64_t i = 0, j = 0, cost = 0;

	for (int64_t r = 0; r < n; r++) {
		uint32_t op = runs[r] & 15;
		int64_t length = runs[r] >> 4;

		if (!length || (r && op == (runs[r - 1] & 15)))
			return -1;
		if (op == ALIGN_EQUAL || op == ALIGN_X) {
			if (!diagonal_fits(v, i, j, length, op == ALIGN_EQUAL))
				return -1;
		} else if (op != ALIGN_I && op != ALIGN_D) {
			return -1;
		}
		i += op == ALIGN_D ? 0 : length;
		j += op == ALIGN_I ? 0 : length;
		cost += op == ALIGN_EQUAL ? 0 : length;
		if (i > v->m || j > v->n)
			return -1;
	}
	return i == v->m && j == v->n ? cost : -1;
}

/* ---- text ------------------------------------------------------------------------------- */

static char operation_letter(uint32_t op, bool classic)
{
	static const char extended[] = "MID----=X";
	char c = op < sizeof(extended) - 1 ? extended[op] : '?';

	return classic && (c == '=' || c == 'X') ? 'M' : c;
}

int64_t alignment_cigar_text(const uint32_t *runs, int64_t n, bool classic, char *text,
			     int64_t bytes)
{
	int64_t length = 0, count;

	if (bytes > 0)
		*text = '\0';
	for (int64_t r = 0; r < n; r++) {
		char c = operation_letter(runs[r] & 15, classic), one[24];
		int wrote;

		count = runs[r] >> 4;
		while (r + 1 < n && operation_letter(runs[r + 1] & 15, classic) == c)
			count += runs[++r] >> 4;
		wrote = snprintf(one, sizeof(one), "%ld%c", (long)count, c);
		if (length + wrote < bytes)
			memcpy(text + length, one, (size_t)wrote + 1);
		length += wrote;
	}
	return length;
}
