/* facts.c - what must be known, and why not. */
#include "tests/facts.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

void text_is(const struct fact *f, const char *want)
{
	cr_assert(eq(int, f->kind, FACT_TEXT), "%s: %s", want, f->text);
	cr_assert(eq(str, (char *)f->text, (char *)want), "%s", want);
}

void number_is(const struct fact *f, int64_t want)
{
	cr_assert(eq(int, f->kind, FACT_INT), "%ld: %s", (long)want, f->text);
	cr_assert(eq(i64, f->number, want), "%ld", (long)want);
}

void real_is(const struct fact *f, double want)
{
	cr_assert(eq(int, f->kind, FACT_REAL), "%g: %s", want, f->text);
	cr_assert(epsilon_eq(dbl, f->real, want, 1e-9), "%g", want);
}

void bool_is(const struct fact *f, bool want)
{
	cr_assert(eq(int, f->kind, FACT_BOOL), "%s", f->text);
	cr_assert(eq(int, (int)f->number, want), "%d", want);
}

void unknown_says(const struct fact *f, const char *reason)
{
	cr_assert(eq(int, f->kind, FACT_UNKNOWN), "%s", f->text);
	cr_assert(ne(ptr, strstr(f->text, reason), NULL), "'%s' instead of '%s'", f->text, reason);
}
