/* card_compare_text.c - two cards for people and for machines, and the command. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/cmd/compare_args.h"
#include "harness/compare/figures.h"
#include "harness/compare/surroundings.h"
#include "harness/env/platform.h"
#include "harness/probe/card_compare.h"
#include "harness/record/recorded.h"

enum { NAMED = 3 }; /* rows in the finding */

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

/* ---- the finding ------------------------------------------------------------------------ */

/* Is it what the outcome comes from? */
static bool tells(const struct card_comparison *c, const struct card_pair *p)
{
	if (!p->judged.known || !(p->decides || c->options.strict))
		return false;
	switch (c->outcome) {
	case OUTCOME_SLOWER:
		return p->judged.verdict == VERDICT_SLOWER;
	case OUTCOME_FASTER:
		return p->judged.verdict == VERDICT_FASTER;
	case OUTCOME_OPEN:
		return !p->judged.not_slower;
	default:
		return false;
	}
}

/* A ratio to what may be nothing says little. */
static struct figure differs_by(const struct card_pair *p)
{
	struct interval ns = p->difference;

	if (p->ratio.known && p->ratio.lo > 0)
		return figure_ratio(&p->ratio);
	ns.value *= 1e3;
	ns.lo *= 1e3;
	ns.hi *= 1e3;
	return figure_difference(&ns, true);
}

static void finding_of(const struct card_comparison *c, char *out, size_t size)
{
	static const char *const titles[] = {
		"B costs the same as A within %.3g %%",
		"B costs more than A by over %.3g %%",
		"B costs less than A by over %.3g %%, or the same",
		"B costs the same as A within %.3g %%, or less",
		"Open, B may or may not cost more than A by over %.3g %%",
	};
	size_t used = (size_t)snprintf(out, size, titles[c->outcome], 100 * c->options.margin);
	int said = 0, more = 0;

	for (int i = 0; i < c->n; i++) {
		const struct card_pair *p = &c->pair[i];

		if (!tells(c, p) || used >= size)
			continue;
		if (said == NAMED) {
			more++;
			continue;
		}
		used += (size_t)snprintf(out + used, size - used, "%s %s (%s), %s",
					 said++ ? ";" : ":", text_shown(p->label).s,
					 text_shown(p->section).s, differs_by(p).s);
	}
	if (more && used < size)
		snprintf(out + used, size - used, "; and %d more", more);
}

/* ---- a table ---------------------------------------------------------------------------- */

static void print_card(const struct card_comparison *c, int k, FILE *out)
{
	const json_t *card = c->card[k], *virt = json_object_get(card, "virt");
	const char *declared = text_of(virt, "declared_platform");

	row(out, k ? "B" : "A", "%s: %s%s%s, n = %d processes, taken %s", c->path[k], declared,
	    *declared ? ", " : "", text_of(json_object_get(card, "device"), "name"),
	    card_processes(card), text_of(card, "start_utc"));
}

static void print_terms(const struct card_comparison *c, FILE *out)
{
	int a = card_processes(c->card[0]), b = card_processes(c->card[1]);
	int needed = judge_processes_needed(c->tests, false);

	row(out, "terms",
	    "margin %.3g %%, and 20 ns; 95 %% intervals over processes, which hold %.3g %% (sd) "
	    "a card for what differs between cards of one system: assumed, not measured; rows that "
	    "decide: %d (Holm, 5 %% for each direction)",
	    100 * c->options.margin, 100 * c->options.between, c->tests);
	if ((a < b ? a : b) < needed)
		row(out, "",
		    "n = %d is too few: among so many rows a verdict takes %d processes a card "
		    "(rift probe --processes %d)",
		    a < b ? a : b, needed, needed);
}

/* In parentheses where it only informs. */
static void print_pair(const struct card_comparison *c, const struct card_pair *p, FILE *out)
{
	bool counts = p->decides || c->options.strict;
	const char *why = text_of(p->row[0], "text");

	fprintf(out, "  %-15s %-29s ", text_escaped(p->section).s, text_escaped(p->label).s);
	if (!p->known) {
		fprintf(out, "%s\n",
			*why ? text_escaped(why).s : "not measured by every process of both");
		return;
	}
	fprintf(out, "%13s ", card_number(p->value[0], p->unit));
	fprintf(out, "%13s  ", card_number(p->value[1], p->unit));
	if (!isfinite(p->difference.value))
		fprintf(out, "%s\n", p->value[0] == p->value[1] ? "equal" : "differs");
	else
		fprintf(out, "%-34s %s%s%s\n", differs_by(p).s, counts ? "" : "(",
			verdict_names[p->judged.verdict], counts ? "" : ")");
}

void card_compare_print(const struct card_comparison *c, bool all, FILE *out)
{
	char finding[1024];

	finding_of(c, finding, sizeof(finding));
	fprintf(out, "%s\n", finding);
	print_card(c, 0, out);
	print_card(c, 1, out);
	print_terms(c, out);
	surroundings_print(c->surroundings, c->warnings, out);
	fprintf(out, "\n  %-15s %-29s %13s %13s  %s\n", "", "", "A", "B", "time B / A (95 %)");
	for (int i = 0; i < c->n; i++)
		/* of the page, or what differs */
		if (all || c->pair[i].label != c->pair[i].name || c->pair[i].decides ||
		    c->pair[i].judged.verdict == VERDICT_SLOWER ||
		    c->pair[i].judged.verdict == VERDICT_FASTER)
			print_pair(c, &c->pair[i], out);
	fprintf(out, "  what is in parentheses informs, the others decide; --strict: all do%s\n",
		all ? "" : "; --all shows every row");
	if (c->left_out[0] || c->left_out[1])
		fprintf(out, "  left out: %d rows that only A has, %d that only B has\n",
			c->left_out[0], c->left_out[1]);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static json_t *interval_json(const struct interval *i)
{
	return json_pack("{s:o, s:o, s:o, s:i}", "value", json_number(i->value), "lo",
			 json_number(i->lo), "hi", json_number(i->hi), "n", i->n);
}

static json_t *pair_json(const struct card_pair *p)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:s, s:s}", "workload",
			 p->workload, "name", p->name, "unit", p->unit, "decides", p->decides, "a",
			 json_number(p->value[0]), "b", json_number(p->value[1]), "time_ratio",
			 interval_json(&p->ratio), "time_difference_us",
			 interval_json(&p->difference), "verdict", verdict_names[p->judged.verdict],
			 "verdict_alone", verdict_names[p->judged.alone]);
}

json_t *card_compare_json(const struct card_comparison *c)
{
	json_t *rows = json_array();
	char finding[1024];

	finding_of(c, finding, sizeof(finding));
	for (int i = 0; i < c->n; i++)
		json_array_append_new(rows, pair_json(&c->pair[i]));
	return json_pack("{s:s, s:s, s:i, s:f, s:f, s:i, s:s, s:s, s:O, s:O, s:o}", "verdict",
			 outcome_names[c->outcome], "finding", finding, "exit_code",
			 (int)card_compare_exit_code(c), "margin", c->options.margin, "between_sd",
			 c->options.between, "tests", c->tests, "a", c->path[0], "b", c->path[1],
			 "environment", c->surroundings, "warnings", c->warnings, "rows", rows);
}

/* ---- the command ------------------------------------------------------------------------ */

static int refuse_options(const struct compare_args *a)
{
	if (a->n != 2 || !card_is(a->file[0]) || !card_is(a->file[1]))
		return complain(EINVAL, "a card is compared with another card: rift compare A B");
	if (a->self_test || a->workload || a->side != SIDE_ANY)
		return complain(EINVAL, "%s has no effect on cards",
				a->self_test  ? "--self-test"
				: a->workload ? "--workload"
					      : "--side");
	return 0;
}

static void print(const struct card_comparison *c, const struct compare_args *a)
{
	if (a->json)
		json_write(card_compare_json(c), stdout);
	else
		card_compare_print(c, a->all, stdout);
	if (card_is_cpu(c->card[0]) || card_is_cpu(c->card[1]))
		fprintf(a->json ? stderr : stdout, "%s\n", platform_not_gpu);
}

int card_compare_files(const struct compare_args *a, enum exit_code *code)
{
	struct compare_options o = {
		.margin = isfinite(a->margin) ? a->margin : CARD_MARGIN_DEFAULT,
		.between = isfinite(a->between) ? a->between : CARD_BETWEEN_DEFAULT,
		.strict = a->strict,
		.force = a->force,
	};
	struct card_comparison c = { .n = 0 };
	json_t *card[2] = { NULL, NULL };
	int err = refuse_options(a);

	for (int k = 0; k < 2 && !err; k++)
		err = card_read(a->file[k], &card[k]);
	if (!err)
		err = card_compare(&c, card[0], card[1], &o);
	if (!err) {
		c.path[0] = a->file[0];
		c.path[1] = a->file[1];
		print(&c, a);
		*code = card_compare_exit_code(&c);
	}
	card_compare_release(&c);
	json_decref(card[0]);
	json_decref(card[1]);
	return err;
}
