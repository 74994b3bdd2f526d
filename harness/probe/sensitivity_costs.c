/* sensitivity_costs.c - see sensitivity_costs.h. */
#include "harness/probe/sensitivity_costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/text.h"
#include "harness/platform/enter.h"
#include "layers/layer.h"

/* ---- of calls: the layer emulate ---------------------------------------------------------- */

/* Values that tell most programs apart: what a call costs in one process is under a microsecond,
 * what it costs over a network 20 or more. */
static const char *const usual_calls[] = {
	"call=0,1,5,20,100",  "sync=0,1,5,20,100",    "return=0,1,5,20,100", "copy=0,1,5,20,100",
	"alloc=0,1,5,20,100", "latency=0,1,5,20,100", "copies=100,10,1",     NULL,
};

/* 0 of any cost is the layer that adds nothing. */
static void emulate_words(char out[LAYER_TEXT], const char *given, const struct param *row,
			  double value)
{
	if (value == 0)
		snprintf(out, LAYER_TEXT, "%.200s", given);
	else
		snprintf(out, LAYER_TEXT, "%.180s %.16s=%.40s", given, row->name,
			 text_real(value).s);
}

/* ---- of a network: the layer remote ------------------------------------------------------- */

/* One of both is worse at a time; the other one is the best that is usual. */
#define BEST_GBIT_S 200

struct network {
	int64_t rtt, bandwidth;
};

static const struct param network_rows[] = {
	PARAM_INT(network, rtt, "us", "0", 0, 1000000, "round trip"),
	PARAM_INT(network, bandwidth, "Gbit/s", "0", 0, 1000000, "of each way; 0: no bound"),
	PARAM_END,
};

/* Within a rack, a building, a town; from one core of a processor to what networks are sold for. */
static const char *const usual_networks[] = {
	"rtt=0,5,10,20,50,100,200",
	"bandwidth=200,100,25,10,1",
	NULL,
};

static void remote_words(char out[LAYER_TEXT], const char *given, const struct param *row,
			 double value)
{
	bool is_rtt = row == &network_rows[0];

	snprintf(out, LAYER_TEXT, "%.180s network=%.0f,%.0f", given, is_rtt ? value : 0.0,
		 is_rtt ? (double)BEST_GBIT_S : value);
}

/* ---- sources ------------------------------------------------------------------------------ */

static const char blanks[] = " \t\n", usual_word[] = "costs=usual";

static const struct cost_source sources[] = {
	{ "emulate", PARAM_REAL, NULL, 0, usual_calls, emulate_words, "model" },
	{ "remote", PARAM_INT, network_rows, sizeof(struct network), usual_networks, remote_words,
	  "network imitated" },
};

const struct cost_source *cost_source_find(const char *layer)
{
	size_t n = strcspn(layer, blanks);

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (strlen(sources[i].layer) == n && !strncmp(sources[i].layer, layer, n))
			return &sources[i];
	return NULL;
}

static const struct param *rows_of(const struct cost_source *source)
{
	return source->rows ? source->rows : layer_params(layer_find(source->layer));
}

static size_t opts_size_of(const struct cost_source *source)
{
	return source->rows ? source->opts_size : layer_find(source->layer)->opts_size;
}

/* ---- as they are typed -------------------------------------------------------------------- */

static const struct param *find_row(const struct cost_source *source, const char *name, size_t n)
{
	int at = params_find(rows_of(source), name, n);
	const struct param *row = at < 0 ? NULL : &rows_of(source)[at];

	return row && row->kind == source->kind ? row : NULL;
}

static int refuse_cost(const struct cost_source *source, const char *typed)
{
	struct suggestion near = suggest_start(typed);
	char all[64] = "; `rift layer` lists those of emulate";

	for (const struct param *row = rows_of(source); row->name; row++)
		if (row->kind == source->kind)
			suggest_offer(&near, row->name);
	if (source->rows)
		snprintf(all, sizeof(all), "; %s has rtt and bandwidth", source->layer);
	return complain(EINVAL, "--layer: unknown cost '%s' of %s%s", text_shown(typed).s,
			source->layer, near.best ? suggest_hint(&near).s : all);
}

/* In order from the mildest; one that is there already is refused. */
static int insert(struct sensitivity_cost *c, double value, const char *typed)
{
	double severity = sensitivity_severity(c->row, value);
	int at = c->n;

	if (c->n == SENSITIVITY_VALUES_MAX)
		return complain(EINVAL, "--layer: %s: more than %d values", text_shown(typed).s,
				SENSITIVITY_VALUES_MAX);
	while (at > 0 && sensitivity_severity(c->row, c->value[at - 1]) > severity)
		at--;
	if (at > 0 && c->value[at - 1] == value)
		return complain(EINVAL, "--layer: %s: %s is given twice", text_shown(typed).s,
				text_real(value).s);
	memmove(c->value + at + 1, c->value + at, (size_t)(c->n - at) * sizeof(*c->value));
	c->value[at] = value;
	c->n++;
	return 0;
}

static double number_at(const struct param *row, const char *opts)
{
	int64_t whole;
	double real;

	memcpy(&whole, opts + row->offset, sizeof(whole));
	memcpy(&real, opts + row->offset, sizeof(real));
	return row->kind == PARAM_INT ? (double)whole : real;
}

/* By the row itself, which knows the range. */
static int parse_value(struct sensitivity_cost *c, const struct cost_source *source,
		       const char *value, const char *typed)
{
	char *opts = calloc(1, opts_size_of(source)), label[64];
	double parsed;
	int err;

	CHECK(opts, "%zu bytes of options", opts_size_of(source));
	snprintf(label, sizeof(label), "--layer: %s", c->row->name);
	err = param_parse(c->row, label, value, opts);
	parsed = number_at(c->row, opts);
	free(opts);
	return err ? err : insert(c, parsed, typed);
}

static int parse_cost(struct sensitivity_cost *c, const struct cost_source *source,
		      const char *typed)
{
	size_t n = strcspn(typed, "=");
	char *copy = strdup(typed), *rest, *value;
	int err = 0;

	CHECK(copy, "memory of a cost");
	rest = copy + n + 1;
	copy[n] = '\0';
	c->row = find_row(source, copy, n);
	if (!c->row)
		err = refuse_cost(source, copy);
	while (!err && (value = strsep(&rest, ",")))
		err = parse_value(c, source, value, typed);
	free(copy);
	return err;
}

/* ---- the words of a layer ----------------------------------------------------------------- */

/*
 * A cost with several values, or one that the layer itself knows nothing of. So is a name that
 * nobody knows with several values: it is refused as a cost, with the nearest.
 */
static bool is_cost(const struct cost_source *source, const char *word)
{
	size_t n = strcspn(word, "=");
	bool several = strchr(word + n, ',') != NULL;

	if (word[n] && find_row(source, word, n))
		return several || source->rows;
	return several && params_find(layer_params(layer_find(source->layer)), word, n) < 0;
}

bool sensitivity_is_asked(const char *layer)
{
	const struct cost_source *source = cost_source_find(layer);
	char *text = strdup(layer), *rest = text, *word;
	bool is = false;

	CHECK(text, "memory of a layer");
	while (source && !is && (word = strsep(&rest, blanks)))
		is = !strcmp(word, usual_word) || is_cost(source, word);
	free(text);
	return is;
}

static int add_cost(struct sensitivity *s, const char *typed)
{
	struct sensitivity_cost *c;
	int err;

	s->cost = realloc(s->cost, (size_t)(s->n + 1) * sizeof(*s->cost));
	CHECK(s->cost, "memory of %d costs", s->n + 1);
	c = &s->cost[s->n];
	*c = (struct sensitivity_cost){ .n = 0 };
	err = parse_cost(c, s->source, typed);
	for (int i = 0; i < s->n && !err; i++)
		if (s->cost[i].row == c->row)
			err = complain(EINVAL, "--layer: %s: %s is given twice",
				       text_shown(typed).s, c->row->name);
	s->n++;
	return err;
}

static int add_usual(struct sensitivity *s)
{
	int err = 0;

	for (int i = 0; s->source->usual[i] && !err; i++)
		err = add_cost(s, s->source->usual[i]);
	return err;
}

/* What is the layer's own stays before each cost. */
static int keep_word(struct sensitivity *s, const char *word)
{
	size_t n = strlen(s->layer);

	if (n + strlen(word) >= LAYER_GIVEN)
		return complain(EINVAL, "--layer: more than %d characters besides costs",
				LAYER_GIVEN);
	snprintf(s->layer + n, sizeof(s->layer) - n, "%s%s", n ? " " : "", word);
	return 0;
}

/* One value that always holds, and several of the same cost. */
static int refuse_both(const struct sensitivity *s)
{
	for (int i = 0; i < s->n; i++) {
		struct text word;

		snprintf(word.s, sizeof(word.s), " %.40s=", s->cost[i].row->name);
		if (strstr(s->layer, word.s))
			return complain(EINVAL, "--layer: %s is given twice", s->cost[i].row->name);
	}
	return 0;
}

int sensitivity_costs(struct sensitivity *s)
{
	char *text = strdup(s->request->layer), *rest = text, *word;
	int err = 0;

	CHECK(text, "memory of a layer");
	while (!err && (word = strsep(&rest, blanks)))
		if (!strcmp(word, usual_word))
			err = add_usual(s);
		else if (is_cost(s->source, word))
			err = add_cost(s, word);
		else if (*word)
			err = keep_word(s, word);
	free(text);
	return err ? err : refuse_both(s);
}
