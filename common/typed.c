/* typed.c - prints text that a user typed on one line, and suggests the name that was meant. */
#include "common/typed.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"

/* ---- what was typed ----------------------------------------------------------------------- */

/* As many whole characters, escaped, as fit into size bytes; returns what is left of the text. */
static const char *escape_into(char *out, size_t size, const char *text)
{
	char one[4 * ESCAPE_MOST];

	while (*text) {
		size_t bytes = 1, n;

		while (bytes < 4 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
			bytes++;
		n = (size_t)(escape_controls(one, text, bytes) - one);
		if (n >= size)
			break;
		out = mempcpy(out, one, n);
		size -= n;
		text += bytes;
	}
	*out = '\0';
	return text;
}

struct text text_shown(const char *typed)
{
	enum { SHOWN = 60 };
	struct text t = { "" };

	if (*escape_into(t.s, SHOWN + 1, typed))
		strcat(t.s, "...");
	return t;
}

struct text_line text_escaped(const char *text)
{
	struct text_line t = { "" };

	if (*escape_into(t.s, sizeof(t.s) - 3, text))
		strcat(t.s, "...");
	return t;
}

/* ---- the name that a user may have meant ------------------------------------------------ */

enum { WORD_MAX = 63, TOO_FAR = 99 };

static int lower(char c)
{
	return tolower((unsigned char)c);
}

static int least_of_three(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Optimal string alignment: no substring is edited twice, which is what typing errors are. */
int edit_distance(const char *a, const char *b)
{
	static int d[WORD_MAX + 1][WORD_MAX + 1];
	int n = (int)strnlen(a, WORD_MAX + 1), m = (int)strnlen(b, WORD_MAX + 1);

	if (n > WORD_MAX || m > WORD_MAX)
		return TOO_FAR;
	for (int i = 0; i <= n; i++)
		d[i][0] = i;
	for (int j = 0; j <= m; j++)
		d[0][j] = j;
	for (int i = 1; i <= n; i++) {
		for (int j = 1; j <= m; j++) {
			int differ = lower(a[i - 1]) != lower(b[j - 1]);

			d[i][j] = least_of_three(d[i - 1][j] + 1, d[i][j - 1] + 1,
						 d[i - 1][j - 1] + differ);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) && d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[n][m];
}

struct suggestion suggest_start(const char *word)
{
	return (struct suggestion){ .word = word, .distance = TOO_FAR };
}

void suggest_offer(struct suggestion *s, const char *name)
{
	int far = edit_distance(s->word, name);
	int enough = ((int)strlen(name) + 2) / 3;

	if (far <= enough && far < s->distance && strcmp(s->word, name) != 0) {
		s->distance = far;
		s->best = name;
	}
}

struct text suggest_hint(const struct suggestion *s)
{
	struct text t = { "" };

	if (s->best)
		snprintf(t.s, sizeof(t.s), "; did you mean '%.48s'?", s->best);
	return t;
}
