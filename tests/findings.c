/* findings.c - what the tests of `rift doctor` share. */
#include "tests/divert.h"
#include "tests/findings.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

struct doctor doctor;

const struct finding *find(const char *name)
{
	for (int i = 0; i < doctor.n; i++)
		if (!strcmp(doctor.finding[i].name, name))
			return &doctor.finding[i];
	return NULL;
}

/* Several may have this name: the one of this state, or the first. */
static const struct finding *find_of_state(const char *name, enum doctor_state state)
{
	for (int i = 0; i < doctor.n; i++)
		if (!strcmp(doctor.finding[i].name, name) && doctor.finding[i].state == state)
			return &doctor.finding[i];
	return find(name);
}

void finds(const char *name, enum doctor_state state, const char *says)
{
	const struct finding *f = find_of_state(name, state);

	cr_assert(ne(ptr, (void *)f, NULL), "no '%s'", name);
	cr_assert(eq(int, f->state, state), "%s: %s", name, f->text);
	cr_assert(tells(f->text, says), "%s: '%s' in '%s'", name, says, f->text);
	cr_assert(eq(int, state == DOCTOR_OK && f->advice, 0), "%s: advice", name);
}

void advises(const char *name, const char *says)
{
	const struct finding *f = find(name);

	cr_assert(ne(ptr, (void *)f, NULL), "no '%s'", name);
	cr_assert(ne(ptr, (void *)f->advice, NULL), "%s: no advice", name);
	cr_assert(tells(f->advice, says), "%s: %s", name, f->advice);
}
