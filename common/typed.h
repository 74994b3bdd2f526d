/* typed.h - what a user typed or a file says, fit for one line, and the name that was meant. */
#ifndef RIFT_TYPED_H
#define RIFT_TYPED_H

#ifdef __cplusplus
extern "C" {
#endif

/* A short text by value, so that a printf argument can be `text_shown(typed).s`. */
struct text {
	char s[72];
};

/* What a user typed, fit for one line: at most 60 bytes, control characters as \x1b. */
struct text text_shown(const char *typed);

/* The same of longer text that a file or another program says, for terminals (common/escape.h). */
struct text_line {
	char s[512];
};

struct text_line text_escaped(const char *text);

/* ---- the name that a user may have meant ------------------------------------------------ */

/*
 *   struct suggestion s = suggest_start("cels");
 *   for (each name)
 *           suggest_offer(&s, name);
 *   complain(EINVAL, "unknown parameter '%s'%s", s.word, suggest_hint(&s).s);
 */

struct suggestion {
	const char *word; /* as typed; must outlive the struct */
	const char *best; /* nearest name offered so far, NULL: none is near enough */
	int distance;	  /* of best */
};

/*
 * Edits that turn a into b, letters in upper and lower case being equal: insert, remove or
 * replace one character, swap two neighbours. Names of more than 63 bytes: 99.
 */
int edit_distance(const char *a, const char *b);

struct suggestion suggest_start(const char *word);

/* Takes name as the best if it is nearer than the last; near enough is a third of its length. The
 * word itself is no suggestion. */
void suggest_offer(struct suggestion *s, const char *name);

/* "; did you mean 'cells'?", or "" when nothing is near. */
struct text suggest_hint(const struct suggestion *s);

#ifdef __cplusplus
}
#endif
#endif
