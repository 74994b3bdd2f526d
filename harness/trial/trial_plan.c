/* trial_plan.c - which program, on which sides, how often: as a record has it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/trial/trial.h"

/* ---- written -------------------------------------------------------------------------------- */

static json_t *words_json(const char *const *word)
{
	json_t *all = json_array();

	for (; *word; word++)
		json_array_append_new(all, json_text(*word));
	return all;
}

json_t *trial_plan_json(const struct trial_plan *p)
{
	json_t *sides = json_array(), *files = json_array();

	for (int i = 1; i < p->sides; i++) {
		const struct trial_side *side = &p->side[i];

		json_array_append_new(
			sides, json_pack("{s:o}", side->layer ? "layer" : "against",
					 json_text(side->layer ? side->layer : side->against)));
	}
	for (int i = 0; i < p->files; i++)
		json_array_append_new(files, json_text(p->file[i]));
	return json_pack("{s:o, s:o, s:i, s:f, s:f, s:f, s:b, s:b, s:o}", "program",
			 words_json(p->argv), "sides", sides, "rounds", p->rounds, "margin",
			 p->margin, "within_s", p->within_s, "patience_s", p->patience_s,
			 "same_output", p->same_output, "bare", p->bare, "files", files);
}

/* ---- read ----------------------------------------------------------------------------------- */

static const char *take_program(struct trial_plan *p, const json_t *words)
{
	size_t n = json_array_size(words), i;
	const json_t *word;

	p->argv = calloc(n + 1, sizeof(*p->argv));
	CHECK(p->argv, "memory of %zu words", n);
	json_array_foreach(words, i, word)
	{
		p->argv[i] = json_string_value(word);
		if (!p->argv[i])
			return "program";
	}
	return n ? NULL : "program";
}

static const char *take_sides(struct trial_plan *p, const json_t *sides)
{
	const json_t *side;
	size_t i;

	if (!json_is_array(sides) || json_array_size(sides) >= TRIAL_SIDES_MAX)
		return "sides";
	p->sides = 1;
	json_array_foreach(sides, i, side)
	{
		struct trial_side *s = &p->side[p->sides++];

		s->layer = json_string_value(json_object_get(side, "layer"));
		s->against = json_string_value(json_object_get(side, "against"));
		if (!s->layer == !s->against)
			return "sides";
	}
	return NULL;
}

static const char *take_files(struct trial_plan *p, const json_t *files)
{
	const json_t *file;
	size_t i;

	if (!json_is_array(files) || json_array_size(files) > TRIAL_FILES_MAX)
		return "files";
	json_array_foreach(files, i, file)
	{
		p->file[p->files++] = json_string_value(file);
		if (!json_is_string(file))
			return "files";
	}
	return NULL;
}

static const char *take_numbers(struct trial_plan *p, const json_t *o)
{
	const json_t *rounds = json_object_get(o, "rounds");

	p->margin = json_get_number(o, "margin");
	p->within_s = json_get_number(o, "within_s");
	p->patience_s = json_get_number(o, "patience_s");
	p->same_output = json_is_true(json_object_get(o, "same_output"));
	p->bare = json_is_true(json_object_get(o, "bare"));
	p->rounds = (int)json_integer_value(rounds);
	return !json_is_integer(rounds) || p->rounds < 0 || p->rounds > TRIAL_ROUNDS_MAX ? "rounds"
	       : !(p->margin >= 0 && p->margin <= 1)					 ? "margin"
	       : !(p->within_s >= 0)				 ? "within_s"
	       : !(p->patience_s > 0 && isfinite(p->patience_s)) ? "patience_s"
								 : NULL;
}

int trial_plan_parse(struct trial_plan *p, const json_t *o, const char *where)
{
	const char *what;

	*p = (struct trial_plan){ .kept = json_incref((json_t *)(uintptr_t)o) };
	what = take_program(p, json_object_get(o, "program"));
	if (!what)
		what = take_sides(p, json_object_get(o, "sides"));
	if (!what)
		what = take_files(p, json_object_get(o, "files"));
	if (!what)
		what = take_numbers(p, o);
	return what ? complain(EINVAL, "%s: the plan's %s is wrong", where, what) : 0;
}

void trial_plan_release(struct trial_plan *p)
{
	free(p->argv);
	json_decref(p->kept);
	*p = (struct trial_plan){ .sides = 0 };
}

/* ---- names ---------------------------------------------------------------------------------- */

struct text trial_side_name(const struct trial_plan *p, int side)
{
	const struct trial_side *s = &p->side[side];

	return text_shown(s->layer ? s->layer : s->against ? s->against : "by itself");
}

struct text_line trial_program_name(const struct trial_plan *p)
{
	char all[256] = "";
	size_t used = 0;

	for (int i = 0; p->argv[i] && used < sizeof(all); i++) {
		int n = snprintf(all + used, sizeof(all) - used, "%s%s", i ? " " : "", p->argv[i]);

		used += (size_t)n;
	}
	if (used >= sizeof(all))
		memcpy(all + sizeof(all) - 4, "...", 4);
	return text_escaped(all);
}
