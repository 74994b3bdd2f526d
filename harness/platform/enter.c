/* enter.c - see enter.h. */
#include "harness/platform/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/escape.h"
#include "common/inherited.h"
#include "common/preload.h"
#include "harness/base/command.h"
#include "harness/base/text.h"
#include "harness/platform/guard.h"
#include "harness/platform/in_force.h"
#include "harness/platform/program.h"
#include "harness/platform/relay.h"
#include "harness/base/together.h"

/* ---- which layer, with which parameters --------------------------------------------------- */

const struct layer *layer_find(const char *name)
{
	struct suggestion near = suggest_start(name);

	for (const struct layer *const *l = layers; *l; l++) {
		if (!strcmp((*l)->name, name))
			return *l;
		suggest_offer(&near, (*l)->name);
	}
	complain(EINVAL, "unknown layer '%s'%s", text_shown(name).s,
		 near.best ? suggest_hint(&near).s : "; `rift layer` lists them");
	return NULL;
}

const struct param *layer_params(const struct layer *l)
{
	static const struct param none[] = { PARAM_END };

	return l->params ? l->params : none;
}

int layer_parse(struct layered *l, char *const *words, int n)
{
	int err = 0;

	*l = (struct layered){ .layer = layer_find(words[0]) };
	if (!l->layer)
		return -EINVAL;
	CHECK(l->layer->opts_size || !layer_params(l->layer)->name,
	      "layer %s: its parameters need opts_size", l->layer->name);
	l->opts = calloc(1, l->layer->opts_size ? l->layer->opts_size : 1);
	CHECK(l->opts, "%zu bytes of options", l->layer->opts_size);
	params_init(&l->params, layer_params(l->layer), l->layer->name, l->opts);
	l->params.shown_by = "rift layer";
	for (int i = 1; i < n && !err; i++)
		if (!l->layer->presets || !preset_is(words[i]))
			err = params_assign(&l->params, words[i]);
	if (!err && l->layer->presets)
		err = preset_apply_named(&l->params, l->layer->presets, "rift layer", words + 1,
					 n - 1);
	if (err)
		layer_release(l);
	return err;
}

void layer_release(struct layered *l)
{
	if (!l->opts)
		return;
	params_release(&l->params);
	free(l->opts);
	l->opts = NULL;
}

const char *layer_missing(const struct layer *l)
{
	return l->missing ? l->missing() : NULL;
}

/* ---- what a layer's enter() says (layers/layer.h) ------------------------------------------ */

enum { BEFORE_MAX = 32 };

struct entry {
	const struct layer *layer;
	struct guard guard;
	char *before[BEFORE_MAX];
	int n_before;
};

/* In this very process, which becomes the command; the guard has its own by then. */
void entry_setenv(struct entry *e, const char *name, const char *value)
{
	(void)e;
	CHECK(!setenv(name, value, 1), "the variable %s", name);
}

int entry_preload(struct entry *e, const char *library)
{
	char name[80], own[PATH_MAX], path[PATH_MAX];

	if (!library) {
		snprintf(name, sizeof(name), "layers/%s.so", e->layer->name);
		preload_beside(name, own);
		library = own;
	}
	if (!realpath(library, path))
		return complain(errno, "layer %s: %s: %s", e->layer->name, text_shown(library).s,
				strerror(errno));
	if (!preload_can(path))
		return complain(EINVAL, "layer %s: %s: LD_PRELOAD cannot take a blank or a colon",
				e->layer->name, text_shown(path).s);
	preload_add(path);
	return 0;
}

void entry_before(struct entry *e, const char *word)
{
	CHECK(e->n_before < BEFORE_MAX, "%d words before a command", BEFORE_MAX);
	e->before[e->n_before] = strdup(word);
	CHECK(e->before[e->n_before], "memory of a word");
	e->n_before++;
}

const char *entry_folder(struct entry *e)
{
	if (!*e->guard.folder && guard_folder(&e->guard))
		return NULL;
	return e->guard.folder;
}

void entry_helper(struct entry *e, void (*helper)(const void *opts, int ready))
{
	CHECK(e->guard.n < GUARD_HELPERS_MAX, "%d helpers", GUARD_HELPERS_MAX);
	e->guard.helper[e->guard.n++] = helper;
}

int entry_child_fd(struct entry *e)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return complain(errno, "layer %s: %s", e->layer->name, strerror(errno));
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fcntl(fds[1], F_SETFD, 0);
	e->guard.child_read = fds[0];
	return fds[1];
}

/* ---- entering ------------------------------------------------------------------------------ */

/* The layers that the command will run under: those of this process, and this one. */
static void add_to_variable(const struct layered *l)
{
	const char *before = getenv(LAYERS_VARIABLE);
	json_t *all = before ? json_loads(before, 0, NULL) : NULL;
	char *text;

	if (!json_is_array(all)) {
		json_decref(all);
		all = json_array();
	}
	json_array_append_new(all, layer_entry_json(l));
	text = json_dumps(all, JSON_COMPACT);
	CHECK(text && !setenv(LAYERS_VARIABLE, text, 1), "memory of %s", LAYERS_VARIABLE);
	free(text);
	json_decref(all);
}

static char **joined_words(const struct entry *e, char **command)
{
	int n = 0;
	char **all;

	while (command[n])
		n++;
	all = calloc((size_t)(e->n_before + n + 1), sizeof(*all));
	CHECK(all, "memory of %d words", n);
	memcpy(all, e->before, (size_t)e->n_before * sizeof(*all));
	memcpy(all + e->n_before, command, (size_t)n * sizeof(*all));
	return all;
}

static int refuse_escape(const char *layer, char **command)
{
	char who[64];

	snprintf(who, sizeof(who), "layer %s", layer);
	return preload_refuse(who, command);
}

static int prepare(struct entry *e, const struct layered *l, char **command)
{
	const struct layer *layer = l->layer;
	const char *why = layer_missing(layer);

	if (why)
		return complain(ENODEV, "layer %s: not available here: %s", layer->name, why);
	if (layer->wraps_runtime &&
	    (refuse_escape(layer->name, command) || static_runtime_refuse(layer->name, command)))
		return -EINVAL;
	return layer->enter ? layer->enter(l->opts, e) : 0;
}

static bool needs_guard(const struct guard *g)
{
	return g->n || *g->folder || g->child_read >= 0;
}

static int not_run(const struct layer *l, const char *command, int err)
{
	complain(err, "layer %s: %s: %s", l->name, text_shown(command).s, strerror(err));
	return err == ENOENT ? LAYER_NOT_FOUND : LAYER_NOT_RUN;
}

static void give_signals_back(const struct entry *e)
{
	inherited_restore();
	if (e->n_before) /* what stands before a command waits for its child: bwrap hangs else */
		signal(SIGCHLD, SIG_DFL);
}

/* Set where a command of rift's own enters its layers: what it ends with is of its own codes. */
static const char within[] = "RIFT_LAYER_WITHIN";

int layer_enter(const struct layered *l, char **command, bool quiet, const char *first)
{
	struct entry e = { .layer = l->layer, .guard = guard_none(l->layer->name, l->opts) };
	char **words, file[PATH_MAX];
	int err = find_command(command[0], file);

	if (err)
		return not_run(l->layer, command[0], -err);
	err = prepare(&e, l, command);
	e.guard.report = quiet ? NULL : l->layer->report;
	if (!err && needs_guard(&e.guard) && e.guard.report)
		err = relay_begin(l->layer->name, &e.guard.over);
	if (needs_guard(&e.guard)) /* the folder must go, too, where all else failed */
		err = guard_start(&e.guard) || err;
	if (err)
		return getenv(within) ? (int)RIFT_NO_DEVICE : (int)LAYER_NOT_IN_FORCE;
	add_to_variable(l);
	if (first)
		preload_add(first);
	words = joined_words(&e, command);
	give_signals_back(&e);
	execvp(words[0], words);
	return not_run(l->layer, words[0], errno);
}

/* ---- --layer ------------------------------------------------------------------------------- */

enum { WORDS_MAX = 64 };

/* "cpu share=50 n=2": its words, parsed. *copy: to be freed; words point into it. */
static int parse_text(const char *text, struct layered *l, char **copy, char *words[WORDS_MAX],
		      int *n)
{
	char *rest, *word;

	*copy = rest = strdup(text);
	CHECK(*copy, "%zu bytes", strlen(text));
	*n = 0;
	while ((word = strsep(&rest, " \t\n")))
		if (*word && *n < WORDS_MAX)
			words[(*n)++] = word;
	if (!*n)
		return complain(EINVAL, "--layer: is empty; give a layer: NAME [name=value...]");
	return layer_parse(l, words, *n);
}

int layer_parse_text(struct layered *l, const char *text, char **copy)
{
	char *words[WORDS_MAX];
	int n;

	return parse_text(text, l, copy, words, &n);
}

static int check_layer(const char *text, const struct layer *l)
{
	const char *why = layer_missing(l);

	return why ? complain(ENODEV, "--layer '%s': not available here: %s", text_shown(text).s,
			      why)
		   : 0;
}

static const char beginning[] = "\"$1\" layer --quiet ";

bool layer_is_command(const char *command)
{
	return !strncmp(command, beginning, strlen(beginning));
}

/* rift is its own first argument there, wherever it lies on the day that a session is resumed. */
static int put_layer(const char *text, FILE *out)
{
	struct layered l = { 0 };
	char *copy, *words[WORDS_MAX];
	int n, err = parse_text(text, &l, &copy, words, &n);

	if (!err)
		err = check_layer(text, l.layer);
	if (!err) {
		fprintf(out, "%s%s ", beginning, l.layer->name);
		for (int i = 1; i < n; i++) {
			escape_shell(out, words[i]);
			fputc(' ', out);
		}
		fputs("-- ", out);
	}
	layer_release(&l);
	free(copy);
	return err;
}

int layer_command(char *const *texts, int n, char **command)
{
	size_t size;
	FILE *out;
	int err = 0;

	*command = NULL;
	out = open_memstream(command, &size);
	CHECK(out, "memory of a command");
	for (int i = 0; i < n && !err; i++)
		err = put_layer(texts[i], out);
	CHECK(!fclose(out), "memory of a command");
	if (!err && size)
		(*command)[size - 1] = '\0'; /* the last blank */
	if (err) {
		free(*command);
		*command = NULL;
	}
	return err;
}

/* Does it hold of one of these? */
static bool any_text(char *const *texts, int n, bool (*holds)(const struct layered *l))
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		struct layered l = { 0 };
		char *copy, *words[WORDS_MAX];
		int count;

		if (!parse_text(texts[i], &l, &copy, words, &count))
			any |= holds(&l);
		layer_release(&l);
		free(copy);
	}
	return any;
}

static bool disturbs(const struct layered *l)
{
	return l->layer->disturbs;
}

bool layer_texts_disturb(char *const *texts, int n)
{
	return any_text(texts, n, disturbs);
}

static bool names_secret(const struct layered *l)
{
	json_t *entry = layer_entry_json(l), *value;
	const char *name;
	bool found = false;

	json_object_foreach(json_object_get(entry, "params"), name, value)
	{
		const char *text = json_string_value(value);

		found |= text && !strcmp(text, LAYER_HIDDEN);
	}
	json_decref(entry);
	return found;
}

bool layer_texts_name_secret(char *const *texts, int n)
{
	return any_text(texts, n, names_secret);
}

int layer_become(char *const *texts, int n, char *const *argv)
{
	char *prefix, *command, **words;
	static char exe[PATH_MAX];
	int count = 0, err = layer_command(texts, n, &prefix);
	ssize_t length = readlink("/proc/self/exe", exe, PATH_MAX - 1);

	if (err)
		return err;
	exe[length < 0 ? 0 : length] = '\0';
	while (argv[count])
		count++;
	words = calloc((size_t)count + 6, sizeof(*words));
	CHECK(words && asprintf(&command, "exec %s \"$@\"", prefix) >= 0, "memory of a command");
	memcpy(words, (char *[]){ "sh", "-c", command, "sh", exe }, 5 * sizeof(*words));
	memcpy(words + 5, argv, (size_t)count * sizeof(*words));
	setenv(within, "yes", 1);
	execv("/bin/sh", words);
	return complain(errno, "/bin/sh: %s", strerror(errno));
}
