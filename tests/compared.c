/* compared.c - what tests of comparisons share. */
#include "tests/compared.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

struct fake_session two_sides(void)
{
	struct fake_session s = fake_session();

	s.size = "0,1,2,5,10,50";
	s.depth = "1,4,16,64,256";
	s.quick = true;
	s.sides = 2;
	s.processes = 5; /* of more, draws are less alike, and a fit of all takes a second */
	s.noise = 0.005;
	return s;
}

struct compare_options usual_terms(void)
{
	return (struct compare_options){ .margin = 0.02 };
}

struct compared *compared_sides(const struct fake_session *s, const struct compare_options *o,
				void (*change)(struct journal *))
{
	struct compared *c = calloc(1, sizeof(*c));

	cr_assert(c != NULL, "memory");
	fake_session_journal(s, &c->session[0]);
	c->session[1].part.fd = c->session[1].visits.fd = -1;
	if (change)
		change(&c->session[0]);
	for (int k = 0; k < 2; k++)
		side_init(&c->side[k], &c->session[0], "both.jsonl", k, HALF_BOTH);
	c->err = compare(&c->c, &c->side[0], &c->side[1], o);
	return c;
}

struct compared *compared_sessions(const struct fake_session *a, const struct fake_session *b,
				   const struct compare_options *o)
{
	const struct fake_session *s[] = { a, b };
	static const char *const names[] = { "a.jsonl", "b.jsonl" };
	struct compared *c = calloc(1, sizeof(*c));

	cr_assert(c != NULL, "memory");
	for (int k = 0; k < 2; k++) {
		fake_session_journal(s[k], &c->session[k]);
		side_init(&c->side[k], &c->session[k], names[k], 0, HALF_BOTH);
	}
	c->err = compare(&c->c, &c->side[0], &c->side[1], o);
	return c;
}

void compared_free(struct compared *c)
{
	compare_release(&c->c);
	for (int k = 0; k < 2; k++) {
		side_release(&c->side[k]);
		journal_release(&c->session[k]);
	}
	free(c);
}

const struct compared_parameter *parameter_of(const struct compared *c, const char *name)
{
	for (int i = 0; i < c->c.parameters.n; i++)
		if (!strcmp(c->c.parameters.row[i].row->name, name))
			return &c->c.parameters.row[i];
	cr_fatal("no parameter %s", name);
	return NULL;
}

/* What all processes of side b say of a point. */
static void set_status_of_b(struct journal *j, int point, enum point_status status)
{
	const int processes = j->plan.design.processes, n = j->plan.n_points;

	for (int i = 0; i < processes; i++)
		j->status[(processes + i) * n + point] = status;
}

void spoil_graphs(struct journal *j)
{
	char number[16];

	j->refused[1] = json_object();
	for (int i = 0; i < j->plan.n_points; i++) {
		if (j->plan.point[i].mode != MODE_GRAPH)
			continue;
		snprintf(number, sizeof(number), "%d", i);
		json_object_set_new(j->refused[1], number,
				    json_pack("{s:s, s:s}", "call", "cudaGraphInstantiate", "name",
					      "cudaErrorNotSupported"));
		set_status_of_b(j, i, POINT_NOT_SUPPORTED);
	}
}

void spoil_alone(struct journal *j)
{
	for (int i = 0; i < j->plan.n_points; i++)
		if (j->plan.point[i].depth == 1)
			set_status_of_b(j, i, POINT_CHECK_FAILED);
}
