/* compare_history.c - rift compare --each date FOLDER...: sessions of one plan over time. */
#include <errno.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/text.h"
#include "harness/chart/history_chart.h"
#include "harness/cmd/compare.h"
#include "harness/share/share_file.h"
#include "harness/trial/trial.h"

/* ---- files ------------------------------------------------------------------------------ */

static void add_file(struct each_files *f, char *path)
{
	f->path = realloc(f->path, ((size_t)f->n + 1) * sizeof(*f->path));
	CHECK(f->path && path, "memory of a name");
	f->path[f->n++] = path;
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

static int is_record(const struct dirent *e)
{
	return ends_in(e->d_name, ".jsonl") || ends_in(e->d_name, ".jsonl.gz");
}

/* All sessions of a folder, in the order of their names; records of other kinds are passed over. */
static int add_folder(struct each_files *f, const char *folder)
{
	struct dirent **entry;
	int n = scandir(folder, &entry, is_record, alphasort);

	if (n < 0)
		return complain(errno, "%s: %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path;

		CHECK(asprintf(&path, "%s/%s", folder, entry[i]->d_name) > 0, "memory of a name");
		if (trial_file_is(path) || share_file_is(path))
			free(path);
		else
			add_file(f, path);
		free(entry[i]);
	}
	free(entry);
	return 0;
}

int each_files_find(struct each_files *f, const struct word_list *words)
{
	struct stat st;
	int err = 0;

	for (int i = 0; i < words->n && !err; i++)
		if (!stat(words->word[i], &st) && S_ISDIR(st.st_mode))
			err = add_folder(f, words->word[i]);
		else
			add_file(f, strdup(words->word[i]));
	if (!err && f->n < 2)
		err = complain(EINVAL, "--each needs two sessions or more, or a folder of them");
	return err;
}

void each_files_release(struct each_files *f)
{
	while (f->n)
		free(f->path[--f->n]);
	free(f->path);
}

/* ---- the command ------------------------------------------------------------------------ */

static int read_sessions(struct history *h, const struct each_files *f,
			 const struct compare_args *a)
{
	int side, err = 0;

	for (int i = 0; i < f->n && !err; i++) {
		const struct session_arg arg = { .word = f->path[i], .side = a->given.side };

		progress("%s", f->path[i]);
		err = interrupted()
			      ? -EINTR
			      : session_read_side(&h->of[i].session, &arg, a->given.sync, &side);
		if (!err)
			history_add(h, i, side);
	}
	progress_clear();
	return err ? err : history_make(h);
}

int compare_history_read(struct history *h, const struct compare_args *a)
{
	const struct compare_options o = compare_options_given(a);
	struct each_files f = { NULL, 0 };
	int err = each_files_find(&f, &a->given.words);

	history_init(h, err ? 0 : f.n, &o);
	if (!err)
		err = read_sessions(h, &f, a);
	each_files_release(&f);
	return err;
}

static void print(const void *found, FILE *out)
{
	history_print(found, out);
}

static json_t *json(const void *found)
{
	return history_json(found);
}

static int draw(const struct history *h, const struct compare_args *a)
{
	struct picture picture = { .asked = false };
	int err = a->plot ? picture_folder("--plot", a->plot) : 0;

	if (!err && a->plot)
		err = show_picture(&a->given, a->plot, &picture,
				   history_chart_write(&picture, h, a->plot));
	picture_release(&picture);
	return err;
}

static int refuse_options(const struct compare_args *a)
{
	const char *option = a->strict		 ? "--strict"
			     : a->self_test	 ? "--self-test"
			     : a->given.all	 ? "--all"
			     : a->workload	 ? "--workload"
			     : a->session_sd > 0 ? "--session-sd"
						 : NULL;

	return option ? complain(EINVAL, "%s has no effect with --each date", option) : 0;
}

int compare_history(const struct compare_args *a)
{
	struct history h = { .n = 0 };
	int err = refuse_options(a);

	if (err)
		return err;
	interrupt_install();
	progress_init(a->given.quiet);
	err = compare_history_read(&h, a);
	if (!err) {
		show(&a->given, &h, print, json);
		err = draw(&h, a);
		note_cpu(&a->given, session_is_cpu(&h.of[0].side.view, 0));
	}
	if (!err)
		err = (int)history_exit_code(&h);
	history_release(&h);
	return err;
}
