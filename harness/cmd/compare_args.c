/* compare_args.c - the command line of rift compare. */
#include "harness/cmd/compare_args.h"

#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/record/recorded.h"

enum {
	KEY_HELP = 'h',
	KEY_MARGIN = 256,
	KEY_BETWEEN,
	KEY_STRICT,
	KEY_FORCE,
	KEY_SELF_TEST,
	KEY_WORKLOAD,
	KEY_SYNC,
	KEY_ALL,
	KEY_JSON,
	KEY_SIDE
};

static const struct argp_option options[] = {
	{ "margin", KEY_MARGIN, "PERCENT", 0,
	  "differences up to this do not matter (default: 2, of separate sessions 5, of cards 10)",
	  0 },
	{ "between", KEY_BETWEEN, "PERCENT", 0,
	  "standard deviation of what one system differs by from session to session, which "
	  "intervals are widened by (default: 1, of one session 0, of cards 3)",
	  0 },
	{ "strict", KEY_STRICT, NULL, 0, "single points count for the exit code too", 0 },
	{ "force", KEY_FORCE, NULL, 0, "compare other GPUs and other kinds of --sync too", 0 },
	{ "self-test", KEY_SELF_TEST, NULL, 0,
	  "split the processes of one session in two halves and compare these: nearly nothing may "
	  "differ",
	  0 },
	{ "workload", KEY_WORKLOAD, "NAME", 0, "only the points of this one", 0 },
	{ "side", KEY_SIDE, "a|b", 0,
	  "which of each session, where they have two (rift sweep --against); of one alone: FILE:a "
	  "or FILE:b",
	  0 },
	{ "sync", KEY_SYNC, "KIND", 0,
	  "which, where a session was swept with several kinds of waiting", 0 },
	{ "all", KEY_ALL, NULL, 0, "show every point, not the 20 that differ most", 0 },
	{ "json", KEY_JSON, NULL, 0, "one JSON object with everything", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

/* "2" or "2%" as 0.02. Less than 0.1 is taken for a share that was meant: 0.02 for 2 %. */
static int take_percent(const char *label, const char *text, double *out)
{
	char *end;
	double percent = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end || !(percent == 0 || (percent >= 0.1 && percent <= 100)))
		return complain(EINVAL, "%s=%s: must be a percentage, 0 or 0.1 to 100: 2 is 2 %%",
				label, text_shown(text).s);
	*out = percent / 100;
	return 0;
}

static error_t take_file(struct compare_args *a, const char *file)
{
	int err = take_word(a->file, 2, file, "rift compare takes two sessions");

	a->n += !err;
	return err;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct compare_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_MARGIN:
		return take_percent("--margin", arg, &a->margin);
	case KEY_BETWEEN:
		return take_percent("--between", arg, &a->between);
	case KEY_STRICT:
		a->strict = true;
		return 0;
	case KEY_FORCE:
		a->force = true;
		return 0;
	case KEY_SELF_TEST:
		a->self_test = true;
		return 0;
	case KEY_WORKLOAD:
		a->workload = workload_find(arg);
		return a->workload ? 0 : -EINVAL;
	case KEY_SYNC:
		a->sync = arg;
		return session_sync_check(arg);
	case KEY_SIDE:
		return session_side_parse(arg, &a->side);
	case KEY_ALL:
		a->all = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return take_file(a, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp compare_argp = {
	.options = options,
	.parser = take,
	.args_doc = "A B\nSESSION",
	.doc = "Says whether B is slower than A, and where. A and B are record files of rift "
	       "sweep, or cards of rift probe; one SESSION with two sides (rift sweep --against) "
	       "is "
	       "compared side b over side a; FILE:a and FILE:b are its sides as A or B."
	       "\vThe geometric mean of each workload's points and the parameters of the model "
	       "decide. Exit codes: 0 the same or faster, 1 slower (--self-test: the halves "
	       "differ), 2 open, or some results are missing or failed their check, 3 usage or bad "
	       "input, 5 not comparable.",
};
