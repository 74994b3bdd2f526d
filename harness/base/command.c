/* command.c - what the commands of rift share. */
#include "harness/base/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"

enum exit_code exit_code_of(int err)
{
	switch (-err) {
	case 0:
		return RIFT_OK;
	case ENODEV:
		return RIFT_NO_DEVICE;
	case EINTR:
		return RIFT_INTERRUPTED;
	case ENOSYS: /* the platform lacks something: a finding */
		return RIFT_FAILED_POINTS;
	default:
		return RIFT_USAGE;
	}
}

enum exit_code exit_code_of_run(int err, bool passed)
{
	return err ? exit_code_of(err) : passed ? RIFT_OK : RIFT_CHECK_FAILED;
}

int take_word(const char **slot, int capacity, const char *word, const char *takes)
{
	for (int i = 0; i < capacity; i++)
		if (!slot[i]) {
			slot[i] = word;
			return 0;
		}
	return complain(EINVAL, "%s; '%s' is too many", takes, text_shown(word).s);
}

const struct workload *workload_find(const char *name)
{
	struct suggestion near = suggest_start(name);

	for (const struct workload *const *w = workloads; *w; w++) {
		if (!strcmp((*w)->name, name))
			return *w;
		if (!(*w)->hidden)
			suggest_offer(&near, (*w)->name);
	}
	complain(EINVAL, "unknown workload '%s'%s", text_shown(name).s,
		 near.best ? suggest_hint(&near).s : "; `rift list` shows them");
	return NULL;
}

/* By its whole name: what is abbreviated today may be ambiguous tomorrow. */
static const struct argp_option *find_option(const struct argp *argp, const char *name, size_t len)
{
	for (const struct argp_option *o = argp->options; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

/* The nearest option, or where none is near the hint. */
static int refuse_option(const struct argp *argp, const char *hint, const char *command,
			 const char *name, size_t len)
{
	char word[64];
	struct suggestion near;

	snprintf(word, sizeof(word), "%.*s", (int)(len < 63 ? len : 63), name);
	near = suggest_start(word);
	for (const struct argp_option *o = argp->options; o->name; o++)
		suggest_offer(&near, o->name);
	if (near.best)
		return complain(EINVAL, "unknown option '--%s' of rift %s; did you mean '--%s'?",
				text_shown(word).s, command, near.best);
	return complain(EINVAL, "unknown option '--%s' of rift %s; %s", text_shown(word).s, command,
			hint);
}

/* Is the option at argv[*i] well formed? Steps over a value of its own. */
static int check_option(const struct argp *argp, const char *hint, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const struct argp_option *o = find_option(argp, name, len);

	if (!o)
		return refuse_option(argp, hint, argv[0], name, len);
	if (!o->arg && name[len])
		return complain(EINVAL, "option '--%s' takes no value", o->name);
	if (o->arg && !(o->flags & OPTION_ARG_OPTIONAL) && !name[len] && ++*i == argc)
		return complain(EINVAL, "option '--%s' needs a value: --%s %s", o->name, o->name,
				o->arg);
	return 0;
}

int options_parse(const struct argp *argp, const char *hint, int argc, char **argv, void *input)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		int err = 0;

		if (!strncmp(argv[i], "--", 2))
			err = check_option(argp, hint, argc, argv, &i);
		else if (argv[i][0] == '-' && strcmp(argv[i], "-h"))
			err = complain(EINVAL, "unknown option '%s' of rift %s; %s",
				       text_shown(argv[i]).s, argv[0], hint);
		if (err)
			return err;
	}
	/*
	 * argp's own errors are two lines and blame getopt; what could cause them is gone. In
	 * order: options may stand behind words, also where POSIXLY_CORRECT is set, which those who
	 * run
	 * --against commands may need.
	 */
	return argp_parse(argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_IN_ORDER, NULL,
			  input);
}

void options_help(const struct argp *argp, const char *name, FILE *out)
{
	const char *format = getenv("ARGP_HELP_FMT");
	char title[64], *kept = format ? strdup(format) : NULL;

	/* glibc's argp prints for ever where that leaves its words too narrow a column */
	unsetenv("ARGP_HELP_FMT");
	snprintf(title, sizeof(title), "rift %s", name);
	argp_help(argp, out, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, title);
	if (kept)
		setenv("ARGP_HELP_FMT", kept, 1);
	free(kept);
}
