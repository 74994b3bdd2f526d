/* spell.c - the name that a user may have meant. */
#include "harness/base/spell.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 63, TOO_FAR = 99 };

static int lower(char c)
{
	return tolower((unsigned char)c);
}

static int smallest(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Optimal string alignment: no substring is edited twice, which is what typing errors are. */
int spell_distance(const char *a, const char *b)
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

			d[i][j] = smallest(d[i - 1][j] + 1, d[i][j - 1] + 1,
					   d[i - 1][j - 1] + differ);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) && d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[n][m];
}

struct spell spell_start(const char *word)
{
	return (struct spell){ .word = word, .distance = TOO_FAR };
}

void spell_offer(struct spell *s, const char *name)
{
	int far = spell_distance(s->word, name);
	int enough = ((int)strlen(name) + 2) / 3;

	if (far <= enough && far < s->distance) {
		s->distance = far;
		s->best = name;
	}
}

struct text spell_hint(const struct spell *s)
{
	struct text t = { "" };

	if (s->best)
		snprintf(t.s, sizeof(t.s), "; did you mean '%.48s'?", s->best);
	return t;
}
