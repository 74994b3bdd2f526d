/* compare_many.c - rift compare BASE A B C...: many layers or platforms against one, on a page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/compare/atlas.h"
#include "harness/chart/atlas_chart.h"
#include "harness/base/picture.h"
#include "harness/base/text.h"
#include "harness/cmd/compare.h"

/* ---- sessions --------------------------------------------------------------------------- */

static int read_base(struct atlas *a, const struct arguments *given)
{
	const struct session_arg arg = session_word(given, 0);
	int side, err = session_read_any(&a->base.session, &arg, given->sync, &side);

	if (!err && side == SIDE_ANY)
		return complain(EINVAL, "%s has two sides; name the base's side: %s:a or %s:b",
				a->base.session.path, a->base.session.path, a->base.session.path);
	return err ? err : atlas_set_base(a, side);
}

/*
 * Of NAME=SESSION the row's name; 0: it has none. A word that is a file as it stands is one, and so
 * is one with a slash before the sign.
 */
static size_t name_length(const char *word)
{
	const char *sign = strchr(word, '='), *slash = strchr(word, '/');

	return !sign || (slash && slash < sign) || !access(word, F_OK) ? 0 : (size_t)(sign - word);
}

/* The session; its name, where it has one, is malloc()ed. */
static const char *split_name(const char *word, char **name)
{
	size_t n = name_length(word);

	*name = NULL;
	if (!n)
		return word;
	*name = strndup(word, n);
	CHECK(*name, "memory of a name");
	return word + n + 1;
}

static int read_entry(struct atlas *a, const struct arguments *given, int number)
{
	struct atlas_entry *e = &a->entry[number];
	struct session_arg arg = session_word(given, number + 1);
	int side, err;

	arg.word = split_name(arg.word, &e->given_name);
	err = session_read_any(&e->session, &arg, given->sync, &side);
	return err ? err : atlas_add(a, number, side);
}

static int read_all(struct atlas *a, const struct arguments *given)
{
	int err = read_base(a, given);

	for (int i = 0; i < a->n && !err; i++) {
		progress("%s", given->words.word[i + 1]);
		err = interrupted() ? -EINTR : read_entry(a, given, i);
	}
	progress_clear();
	return err;
}

/* ---- output ----------------------------------------------------------------------------- */

static void print(const void *found, FILE *out)
{
	atlas_print(found, out);
}

static json_t *json(const void *found)
{
	return atlas_json(found);
}

static int draw(const struct atlas *a, const struct compare_args *args)
{
	struct atlas_charts charts;
	int err = args->plot ? picture_folder("--plot", args->plot) : 0;

	if (err || !args->plot)
		return err;
	err = atlas_charts_write(&charts, a, args->plot);
	if (!err)
		err = gnuplot_check(args->plot, "*.gp");
	if (!err)
		err = atlas_charts_draw(&charts);
	if (!args->given.json)
		atlas_charts_print(&charts, stdout);
	if (!args->given.quiet)
		atlas_charts_remark(&charts, stderr);
	atlas_charts_release(&charts);
	return err;
}

/* What the page has no place for. */
static int refuse_options(const struct compare_args *a)
{
	if (!a->strict && !a->given.all)
		return 0;
	return complain(EINVAL, "%s has no effect on a page of many sessions",
			a->strict ? "--strict" : "--all");
}

bool compare_is_of_many(const struct compare_args *a)
{
	const struct word_list *files = &a->given.words;
	bool is = files->n > 2;

	for (int i = 1; i < files->n && !is; i++)
		is = name_length(files->word[i]) > 0;
	return is;
}

int compare_many_read(struct atlas *atlas, const struct compare_args *a)
{
	const struct compare_options o = compare_options_given(a);

	atlas_init(atlas, a->given.words.n - 1, &o);
	return read_all(atlas, &a->given);
}

int compare_many(const struct compare_args *args)
{
	struct atlas a;
	int err = refuse_options(args);

	if (err)
		return err;
	interrupt_install();
	progress_init(args->given.quiet);
	err = compare_many_read(&a, args);
	if (!err) {
		show(&args->given, &a, print, json);
		err = draw(&a, args);
		note_cpu(&args->given, session_is_cpu(&a.base.session, a.base.side[PAIR_B].side));
	}
	if (!err)
		err = (int)atlas_exit_code(&a);
	atlas_release(&a);
	return err;
}
