/*
 * spell.h - the name that a user may have meant.
 *
 *   struct spell s = spell_start("cels");
 *   for (each name)
 *           spell_offer(&s, name);
 *   complain(EINVAL, "unknown parameter '%s'%s", s.word, spell_hint(&s).s);
 */
#ifndef RIFT_BASE_SPELL_H
#define RIFT_BASE_SPELL_H

#include "harness/base/text.h"

struct spell {
	const char *word; /* as typed; must outlive the struct */
	const char *best; /* nearest name offered so far, NULL: none is near enough */
	int distance;	  /* of best */
};

/*
 * Edits that turn a into b, letters in upper and lower case being equal: insert, remove or
 * replace one character, swap two neighbours. Names of more than 63 bytes: 99.
 */
int spell_distance(const char *a, const char *b);

struct spell spell_start(const char *word);

/* Takes name as the best if it is nearer than the last; near enough is a third of its length. */
void spell_offer(struct spell *s, const char *name);

/* "; did you mean 'cells'?", or "" when nothing is near. */
struct text spell_hint(const struct spell *s);

#endif
