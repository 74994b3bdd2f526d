/*
 * packed.c - letters in two bits, packed on the host at setup (transfer=packed).
 *
 * 32 letters are two words: bit b of word k is bit k of the code of letter b (A 0, C 1, T 2, G 3).
 * What follows the last letter is 0. A sequence begins with a word of its own, so that a lane
 * loads what it packs and no more. Bytes are taken in the order of the machine, as on a GPU: the
 * lowest first.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "common/typed.h"
#include "workloads/alignment/alignment.h"

enum { GROUP = 32 };

/* Of so many letters, rounded up to whole groups. */
static size_t grouped(uint32_t letters)
{
	return letters == ALIGN_TOO_LONG ? 0 : ((size_t)letters + GROUP - 1) / GROUP * GROUP;
}

size_t alignment_packed_letters(const struct alignment_pair *pair, uint32_t n)
{
	size_t letters = 0;

	for (uint32_t i = 0; i < n; i++)
		letters += grouped(pair[i].m) + grouped(pair[i].n);
	return letters;
}

/*
 * Codes of eight letters, two bits to a byte; false where one is not A, C, G or T. Bits 2 and 1 of
 * these are the code; the other bits are those of A, except T's bits 4 and 0.
 */
static bool eight_codes(uint64_t letters, bool fold, uint64_t *codes)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t c = fold ? letters & 0xdf * ones : letters, t;

	*codes = c >> 1 & 3 * ones;
	t = *codes >> 1 & ~*codes & ones;
	return c == (('A' * ones | *codes << 1) ^ t * 0x11);
}

/* The lowest bits of eight bytes side by side: no two products of the factor's bits meet. */
static uint32_t lowest_bits(uint64_t bytes)
{
	return (uint32_t)((bytes & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

/* Up to eight letters into byte `at` / 8 % 4 of both words; false where 2 bits do not tell them. */
static bool pack_eight(uint64_t letters, uint32_t at, bool fold, uint32_t word[2])
{
	uint64_t codes;

	if (!eight_codes(letters, fold, &codes))
		return false;
	word[0] |= lowest_bits(codes) << at % GROUP;
	word[1] |= lowest_bits(codes >> 1) << at % GROUP;
	return true;
}

/* The first of eight that 2 bits do not tell. */
static uint32_t first_flaw(const uint8_t *letters, bool fold)
{
	uint32_t at = 0;
	uint64_t codes;

	while (at < 8 && eight_codes(letters[at] * UINT64_C(0x0101010101010101), fold, &codes))
		at++;
	return at;
}

/* Returns the first letter that 2 bits do not tell, or n. */
static uint32_t pack_sequence(const uint8_t *letters, uint32_t n, bool fold, uint32_t *word)
{
	memset(word, 0, grouped(n) / 4);
	for (uint32_t at = 0; at < n; at += 8) {
		uint8_t last[8] = "AAAAAAAA";
		uint64_t eight;

		if (n - at < 8)
			memcpy(last, letters + at, n - at);
		memcpy(&eight, n - at < 8 ? last : letters + at, 8);
		if (!pack_eight(eight, at, fold, word + at / GROUP * 2))
			return at + first_flaw(n - at < 8 ? last : letters + at, fold);
	}
	return n;
}

/* `name` is NULL where sequences have none. */
static int refuse_letter(const struct alignment_opts *o, int64_t pair, const char *which,
			 const char *name, uint32_t at, uint8_t letter)
{
	char shown[8];

	snprintf(shown, sizeof(shown), letter > ' ' && letter < 127 ? "'%c'" : "0x%02x", letter);
	return complain(EINVAL,
			"transfer=packed: %s:%u of pair %ld%s%s%s is %s, but 2 bits hold A, C, G "
			"and T%s alone; use transfer=bytes",
			which, at, (long)pair, name ? " (" : "", name ? text_shown(name).s : "",
			name ? ")" : "", shown,
			o->letters == ALIGN_FOLD ? " in upper or lower case" : "");
}

static int pack_one(const struct alignment_opts *o, const struct alignment_batch *b, int64_t pair,
		    bool target, uint32_t *word)
{
	const struct alignment_pair *p = &b->pair[pair];
	const uint8_t *letters = b->letters + (target ? p->target : p->query);
	uint32_t n = target ? p->n : p->m;
	uint32_t at = pack_sequence(letters, n, o->letters == ALIGN_FOLD, word);

	return at == n ? 0
		       : refuse_letter(o, pair, target ? "target" : "query",
				       b->name ? b->name[2 * pair + target] : NULL, at,
				       letters[at]);
}

int alignment_pack_letters(const struct alignment_opts *o, const struct alignment_batch *b,
			   int64_t first, struct alignment_pair *pair, uint32_t n, uint8_t *packed)
{
	size_t at = 0;
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++) {
		size_t target = at + grouped(pair[i].m);

		pair[i].query = (uint32_t)at;
		pair[i].target = (uint32_t)target;
		at = target + grouped(pair[i].n);
		if (pair[i].m == ALIGN_TOO_LONG)
			continue;
		err = pack_one(o, b, first + i, false, (uint32_t *)(packed + pair[i].query / 4));
		err = err ? err
			  : pack_one(o, b, first + i, true,
				     (uint32_t *)(packed + pair[i].target / 4));
	}
	return err;
}
