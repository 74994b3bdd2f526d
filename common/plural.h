/* plural.h - numbers with their nouns: "1 process", "3 processes", "2 copies". */
#ifndef RIFT_PLURAL_H
#define RIFT_PLURAL_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What makes of the noun its plural; *keep: how many of its letters stay. */
static inline const char *plural_end(const char *noun, int *keep)
{
	size_t n = strlen(noun);
	const char *last = n ? noun + n - 1 : noun;

	*keep = (int)n;
	if (n > 1 && *last == 'y' && !strchr("aeiou", last[-1])) {
		--*keep;
		return "ies";
	}
	return n > 1 && (strchr("sxz", *last) || !strcmp(last - 1, "ch") || !strcmp(last - 1, "sh"))
		       ? "es"
		       : "s";
}

struct counted {
	char s[80];
};

static inline struct counted counted(int64_t n, const char *noun)
{
	struct counted c;
	int keep = (int)strlen(noun);
	const char *end = n == 1 ? "" : plural_end(noun, &keep);

	snprintf(c.s, sizeof(c.s), "%lld %.*s%s", (long long)n, keep, noun, end);
	return c;
}

#endif
