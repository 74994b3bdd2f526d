/* options.c - command lines: parsed by a command's table, with one-line errors; then the command.
 */
#include "harness/cmd/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/platform.h"
#include "harness/platform/enter.h"

/* ---- values ----------------------------------------------------------------------------- */

int option_flag(void *field, const struct command_option *o, char *text)
{
	(void)o;
	(void)text;
	*(bool *)field = true;
	return 0;
}

int option_text(void *field, const struct command_option *o, char *text)
{
	(void)o;
	*(const char **)field = text;
	return 0;
}

int option_once(void *field, const struct command_option *o, char *text)
{
	if (*(const char **)field)
		return complain(EINVAL, "--%s is given twice", o->name);
	return option_text(field, o, text);
}

static int once_named(void *field, const struct command_option *o, char *text, const char *what)
{
	int err = option_once(field, o, text);

	return !err && !*text ? complain(EINVAL, "--%s: needs the name of a %s", o->name, what)
			      : err;
}

int option_file(void *field, const struct command_option *o, char *text)
{
	return once_named(field, o, text, "file");
}

char *without_slashes(char *folder)
{
	for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
		folder[n - 1] = '\0';
	return folder;
}

int option_folder(void *field, const struct command_option *o, char *text)
{
	return once_named(field, o, without_slashes(text), "folder");
}

static void list_add(struct word_list *list, char *word)
{
	list->word = realloc(list->word, (size_t)(list->n + 2) * sizeof(*list->word));
	CHECK(list->word, "memory of %d words", list->n + 2);
	list->word[list->n++] = word;
	list->word[list->n] = NULL;
}

int option_list(void *field, const struct command_option *o, char *text)
{
	(void)o;
	list_add(field, text);
	return 0;
}

int option_side(void *field, const struct command_option *o, char *text)
{
	(void)o;
	return session_side_parse(text, field);
}

int option_sync(void *field, const struct command_option *o, char *text)
{
	option_text(field, o, text);
	return session_sync_check(text);
}

int option_platform(void *field, const struct command_option *o, char *text)
{
	option_text(field, o, text);
	return platform_declared(text);
}

/* Less than 0.1 is taken for a share that was meant: 0.02 for 2 %. */
bool percent_parse(const char *text, double *share)
{
	char *end;
	double percent = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end || !(percent == 0 || (percent >= 0.1 && percent <= 100)))
		return false;
	*share = percent / 100;
	return true;
}

int option_percent(void *field, const struct command_option *o, char *text)
{
	if (percent_parse(text, field))
		return 0;
	return complain(EINVAL, "--%s=%s: must be a percentage, 0 or 0.1 to 100: 2 is 2 %%",
			o->name, text_shown(text).s);
}

int option_workload(void *field, const struct command_option *o, char *text)
{
	const struct workload *w = workload_find(text);

	(void)o;
	*(const struct workload **)field = w;
	return w ? 0 : -EINVAL;
}

int option_row(void *field, const struct command_option *o, char *text)
{
	return params_set(field, o->name, text);
}

/* ---- argp ------------------------------------------------------------------------------- */

enum { KEY_HELP = 'h', KEY_FIRST = 256, OPTIONS_MAX = 64 };

static int count_options(const struct command *c)
{
	int n = 0;

	while (c->options[n].name)
		n++;
	return n;
}

/* A row for each option, and one for the name that it had. */
static struct argp_option *argp_options(const struct command *c)
{
	int n = count_options(c);
	struct argp_option *all = calloc((size_t)(2 * n + 1), sizeof(*all)), *at = all;

	CHECK(all, "memory of %d options", n);
	for (int i = 0; i < n; i++) {
		const struct command_option *o = &c->options[i];

		*at++ = (struct argp_option){
			o->name,  strcmp(o->name, "help") ? KEY_FIRST + i : KEY_HELP,
			o->value, o->may_lack ? OPTION_ARG_OPTIONAL : 0,
			o->help,  0
		};
		if (o->old)
			*at++ = (struct argp_option){ .name = o->old,
						      .flags = OPTION_ALIAS | OPTION_HIDDEN };
	}
	return all;
}

/* What stands above the options, \v, and what stands below. */
static char *argp_doc(const struct command *c)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out, "memory of the help");
	fprintf(out, "%s", c->doc);
	if (c->remarks || c->exits)
		fprintf(out, "\v%s%s", c->remarks ? c->remarks : "", c->remarks ? " " : "");
	if (c->exits)
		exit_codes_print(c->exits, out);
	CHECK(!fclose(out), "memory of the help");
	return text;
}

enum { HELP_WIDTH = 80 };

void command_help(const struct command *c, FILE *out)
{
	struct argp_option *options = argp_options(c);
	char *doc = argp_doc(c);
	const struct argp argp = { .options = options, .args_doc = c->words, .doc = doc };
	const char *format = getenv("ARGP_HELP_FMT");
	char title[64], margin[32], *kept = format ? strdup(format) : NULL;

	/* not the user's: glibc's argp prints for ever where that leaves its words too narrow a
	 * column */
	snprintf(margin, sizeof(margin), "rmargin=%d", text_columns(STDOUT_FILENO, HELP_WIDTH) - 1);
	setenv("ARGP_HELP_FMT", margin, 1);
	snprintf(title, sizeof(title), "rift %s", c->name);
	argp_help(&argp, out, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, title);
	unsetenv("ARGP_HELP_FMT");
	if (kept)
		setenv("ARGP_HELP_FMT", kept, 1);
	free(kept);
	free(doc);
	free(options);
}

/* ---- well-formed? ----------------------------------------------------------------------- */

static bool is_name(const char *name, const char *typed, size_t len)
{
	return name && strlen(name) == len && !strncmp(name, typed, len);
}

/* By its whole name: what is abbreviated today may be ambiguous tomorrow. */
static const struct command_option *find_option(const struct command *c, const char *name,
						size_t len)
{
	for (const struct command_option *o = c->options; o->name; o++)
		if (is_name(o->name, name, len) || is_name(o->old, name, len))
			return o;
	return NULL;
}

static void print_hint(const struct command *c, char *out, size_t size)
{
	if (c->hint)
		snprintf(out, size, "%s", c->hint);
	else
		snprintf(out, size, "`rift %s --help` shows its options", c->name);
}

/* The nearest option, or where none is near the hint. */
static int refuse_option(const struct command *c, const char *name, size_t len)
{
	char word[64], hint[96];
	struct suggestion near;

	snprintf(word, sizeof(word), "%.*s", (int)(len < 63 ? len : 63), name);
	near = suggest_start(word);
	for (const struct command_option *o = c->options; o->name; o++)
		suggest_offer(&near, o->name);
	if (near.best)
		return complain(EINVAL, "unknown option '--%s' of rift %s; did you mean '--%s'?",
				text_shown(word).s, c->name, near.best);
	print_hint(c, hint, sizeof(hint));
	return complain(EINVAL, "unknown option '--%s' of rift %s; %s", text_shown(word).s, c->name,
			hint);
}

/* Is the option at argv[*i] well formed? Steps over a value of its own. */
static int check_option(const struct command *c, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const struct command_option *o = find_option(c, name, len);

	if (!o)
		return refuse_option(c, name, len);
	if (!o->value && name[len])
		return complain(EINVAL, "option '--%s' takes no value", o->name);
	if (o->value && !o->may_lack && !name[len] && ++*i == argc)
		return complain(EINVAL, "option '--%s' needs a value: --%s %s", o->name, o->name,
				o->value);
	return 0;
}

/* Long options only, written out, and -h for help: what argp itself would complain of. */
static int check_options(const struct command *c, int argc, char **argv)
{
	char hint[96];
	int err = 0;

	print_hint(c, hint, sizeof(hint));
	for (int i = 1; i < argc && strcmp(argv[i], "--") && !err; i++)
		if (!strncmp(argv[i], "--", 2))
			err = check_option(c, argc, argv, &i);
		else if (argv[i][0] == '-' && strcmp(argv[i], "-h"))
			err = complain(EINVAL, "unknown option '%s' of rift %s; %s",
				       text_shown(argv[i]).s, c->name, hint);
	return err;
}

/* ---- parsing ---------------------------------------------------------------------------- */

struct parsing {
	const struct command *command;
	struct arguments *arguments;
	int n; /* options */
};

static int take_word(const struct command *c, struct arguments *a, char *word)
{
	if (c->takes && a->words.n == c->most)
		return complain(EINVAL, "unexpected argument '%s': rift %s takes %s",
				text_shown(word).s, c->name, c->takes);
	if (c->check_word && c->check_word(a, word))
		return -EINVAL;
	list_add(&a->words, word);
	return 0;
}

/* argp calls this for each option and word, and for events of its own, which are refused. */
static error_t take(int key, char *text, struct argp_state *state)
{
	const struct parsing *p = state->input;
	const struct command_option *o = p->command->options;

	if (key == ARGP_KEY_ARG)
		return take_word(p->command, p->arguments, text);
	if (key == KEY_HELP)
		o = find_option(p->command, "help", 4);
	else if (key >= KEY_FIRST && key < KEY_FIRST + p->n)
		o += key - KEY_FIRST;
	else
		return ARGP_ERR_UNKNOWN;
	p->arguments->given |= UINT64_C(1) << (o - p->command->options);
	return o->take((char *)p->arguments + o->at, o, text);
}

/*
 * argp's own errors are two lines and blame getopt; what could cause them is gone. In order:
 * options may stand behind words, also where POSIXLY_CORRECT is set, which those who run --against
 * commands may need.
 */
static int parse(const struct command *c, struct arguments *a)
{
	struct parsing p = { c, a, count_options(c) };
	struct argp_option *options;
	int err = check_options(c, a->argc, a->argv);

	CHECK(p.n <= OPTIONS_MAX, "%d options of rift %s", p.n, c->name);
	if (err)
		return err;
	options = argp_options(c);
	err = argp_parse(&(struct argp){ .options = options, .parser = take }, a->argc, a->argv,
			 ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_IN_ORDER, NULL, &p);
	free(options);
	return err;
}

/* ---- options that go together, or not --------------------------------------------------- */

static bool is_given(const struct command *c, const struct arguments *a, const char *name)
{
	const struct command_option *o = find_option(c, name, strlen(name));

	return o && a->given >> (o - c->options) & 1;
}

static int check_together(const struct command *c, const struct arguments *a)
{
	for (const struct command_option *o = c->options; o->name; o++) {
		if (!is_given(c, a, o->name))
			continue;
		if (o->with && !is_given(c, a, o->with))
			return complain(EINVAL,
					"--%s needs --%s; `rift %s --help` shows what each does",
					o->name, o->with, c->name);
		if (o->without && is_given(c, a, o->without))
			return complain(EINVAL, "--%s cannot be combined with --%s", o->name,
					o->without);
	}
	return 0;
}

/* ---- the command ------------------------------------------------------------------------ */

static struct arguments *arguments_make(const struct command *c, const char *owner, int argc,
					char **argv)
{
	struct arguments *a = calloc(1, c->size ? c->size : sizeof(*a));

	CHECK(a, "%zu bytes of arguments", c->size);
	if (c->defaults)
		memcpy(a, c->defaults, c->size);
	a->argc = argc;
	a->argv = argv;
	for (int i = 1; c->has_rest && i < a->argc; i++)
		if (!strcmp(argv[i], "--")) {
			a->argc = i;
			a->rest = argv + i + 1;
		}
	a->side = SIDE_ANY;
	if (c->rows)
		params_init(&a->rows, c->rows, owner, (char *)a + c->values);
	a->rows.prefix = "--";
	return a;
}

static void arguments_free(const struct command *c, struct arguments *a)
{
	for (const struct command_option *o = c->options; o->name; o++)
		if (o->take == option_list)
			free(((struct word_list *)(void *)((char *)a + o->at))->word);
	if (c->rows)
		params_release(&a->rows);
	free(a->words.word);
	free(a);
}

int arguments_run_under_layers(const struct arguments *a)
{
	char **argv = calloc((size_t)a->argc + 1, sizeof(*argv));
	int n = 0, err;

	CHECK(argv, "memory of %d words", a->argc);
	for (int i = 0; i < a->argc; i++)
		if (!strcmp(a->argv[i], "--layer"))
			i++;
		else if (strncmp(a->argv[i], "--layer=", strlen("--layer=")) != 0)
			argv[n++] = a->argv[i];
	err = layer_become(a->layers.word, a->layers.n, argv);
	free(argv);
	return err;
}

static int obey(const struct command *c, struct arguments *a)
{
	if (a->help && c->help)
		return c->help(a);
	if (a->help) {
		command_help(c, stdout);
		return RIFT_OK;
	}
	if (c->missing && !a->words.n)
		return complain(EINVAL, "rift %s: %s", c->name, c->missing);
	if (check_together(c, a))
		return -EINVAL;
	if (a->layers.n && !c->layers_are_a_side)
		return arguments_run_under_layers(a);
	return c->run(a);
}

int command_main(const struct command *c, int argc, char **argv)
{
	struct arguments *a;
	char owner[64];
	int err;

	if (c->start)
		return c->start(argc, argv);
	snprintf(owner, sizeof(owner), "rift %s", c->name);
	a = arguments_make(c, owner, argc, argv);
	err = parse(c, a);
	if (!err)
		err = obey(c, a);
	arguments_free(c, a);
	return err < 0 ? (int)exit_code_of(err) : err;
}

/* ---- what commands do alike --------------------------------------------------------------- */

struct session_arg session_word(const struct arguments *a, int i)
{
	return (struct session_arg){ NULL, a->words.word[i], a->side };
}

struct session_arg session_option(const char *option, const char *word)
{
	return (struct session_arg){ option, word, SIDE_ANY };
}

void show(const struct arguments *a, const void *found, void (*print)(const void *found, FILE *out),
	  json_t *(*json)(const void *found))
{
	if (a->json)
		json_write(json(found), stdout);
	else
		print(found, stdout);
}

json_t *command_json(const char *command, const char *name, json_t *several)
{
	return json_pack("{s:s, s:s, s:o}", "version", RIFT_VERSION, "command", command, name,
			 several);
}

void note_cpu(const struct arguments *a, bool cpu)
{
	if (cpu && !(a->json && a->quiet))
		fprintf(a->json ? stderr : stdout, "%s\n", platform_not_gpu);
}

int show_picture(const struct arguments *a, const char *folder, struct picture *p, int err)
{
	if (!err)
		err = picture_draw(p);
	if (p->written && !a->json)
		printf("%s/%s%s\n", folder, p->plot.name, p->drawn ? ".png, .svg" : ".gp");
	if (p->drawn && *p->said.s && !a->quiet)
		fprintf(stderr, "rift: gnuplot remarks: %s\n", p->said.s);
	return err;
}

int choose_output(const struct arguments *a, const char *what, char *out, size_t size)
{
	time_t t = time(NULL);
	struct tm tm;
	char stamp[32];

	if (a->output) {
		snprintf(out, size, "%s", a->output);
		return 0;
	}
	if (mkdir("results", 0777) && errno != EEXIST)
		return complain(errno, "cannot make the folder results here: %s; use --output FILE",
				strerror(errno));
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", gmtime_r(&t, &tm));
	snprintf(out, size, "results/%s-%s.jsonl", stamp, what);
	return 0;
}
