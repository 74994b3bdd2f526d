/* cmd_compare.c - rift compare A B: is B slower than A, and where. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/command.h"
#include "harness/compare/between.h"
#include "harness/compare/compare.h"
#include "harness/json.h"
#include "harness/platform.h"

enum {
	KEY_HELP = 'h',
	KEY_MARGIN = 256,
	KEY_BETWEEN,
	KEY_STRICT,
	KEY_FORCE,
	KEY_SELF_TEST,
	KEY_WORKLOAD,
	KEY_ALL,
	KEY_JSON
};

static const struct argp_option options[] = {
	{ "margin", KEY_MARGIN, "PERCENT", 0,
	  "differences up to this do not matter (default: 2, of separate sessions 5)", 0 },
	{ "between", KEY_BETWEEN, "PERCENT", 0,
	  "standard deviation of what one system differs by from session to session, which "
	  "intervals are widened by (default: 1, of one session 0)",
	  0 },
	{ "strict", KEY_STRICT, NULL, 0, "single points count for the exit code too", 0 },
	{ "force", KEY_FORCE, NULL, 0, "compare other GPUs and other kinds of --sync too", 0 },
	{ "self-test", KEY_SELF_TEST, NULL, 0,
	  "split the processes of one session in two halves and compare these: nearly nothing may "
	  "differ",
	  0 },
	{ "workload", KEY_WORKLOAD, "NAME", 0, "only the points of this one", 0 },
	{ "all", KEY_ALL, NULL, 0, "show every point, not the 20 that differ most", 0 },
	{ "json", KEY_JSON, NULL, 0, "one JSON object with everything", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct compare_args {
	const char *file[2];
	int n;
	double margin, between; /* NAN: not given */
	const struct workload *workload;
	bool strict, force, self_test, all, json, help;
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
	if (a->n == 2)
		return complain(EINVAL, "rift compare takes two sessions; '%s' is too many",
				text_shown(file).s);
	a->file[a->n++] = file;
	return 0;
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

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "A B\nSESSION",
	.doc = "Says whether B is slower than A, and where. A and B are record files of rift "
	       "sweep; one SESSION with two sides (rift sweep --against) is compared side b over "
	       "side a."
	       "\vThe geometric mean of each workload's points and the parameters of the model "
	       "decide. Exit codes: 0 the same or faster, 1 slower (--self-test: the halves "
	       "differ), 2 open, or some results are missing or failed their check, 3 usage or bad "
	       "input, 5 not comparable.",
};

/* ---- one comparison --------------------------------------------------------------------- */

struct result {
	struct party party[2];
	struct comparison comparison;
	int err;
};

static struct compare_options options_of(const struct compare_args *a, bool separate)
{
	return (struct compare_options){
		.margin = isfinite(a->margin) ? a->margin
			  : separate	      ? BETWEEN_MARGIN_DEFAULT
					      : MARGIN_DEFAULT,
		.between = isfinite(a->between) ? a->between
			   : separate		? BETWEEN_DEFAULT
						: 0,
		.strict = a->strict,
		.force = a->force,
		.workload = a->workload,
	};
}

static void result_make(struct result *r, const struct compare_args *a, bool separate)
{
	struct compare_options o = options_of(a, separate);

	r->err = compare(&r->comparison, &r->party[0], &r->party[1], &o);
}

static void result_release(struct result *r)
{
	compare_release(&r->comparison);
	party_release(&r->party[0]);
	party_release(&r->party[1]);
}

/* ---- output ----------------------------------------------------------------------------- */

static bool is_gpu(const struct party *p)
{
	const json_t *gpu = json_object_get(party_header(p), "gpu");
	const char *name = json_string_value(json_object_get(gpu, "name"));

	return !name || strncmp(name, "CPU device", strlen("CPU device"));
}

/* Of a self-test of two sides, two results, in an array. */
static void print_results(const struct result *r, int n, const struct compare_args *a)
{
	json_t *all = json_array();
	bool gpu = is_gpu(&r->party[0]) && is_gpu(&r->party[1]);

	for (int i = 0; i < n; i++) {
		if (a->json) {
			json_array_append_new(all, compare_json(&r[i].comparison));
			continue;
		}
		if (i)
			fputc('\n', stdout);
		compare_print(&r[i].comparison, a->all, stdout);
	}
	if (a->json)
		json_write(n == 1 ? json_incref(json_array_get(all, 0)) : json_incref(all), stdout);
	if (!gpu)
		fprintf(a->json ? stderr : stdout, "%s\n", platform_not_gpu);
	json_decref(all);
}

static enum exit_code code_of(const struct result *r, int n, bool self_test)
{
	enum exit_code worst = RIFT_OK;

	for (int i = 0; i < n; i++) {
		enum exit_code code = compare_exit_code(&r[i].comparison);

		if (self_test && r[i].comparison.outcome == OUTCOME_FASTER)
			code = RIFT_CHECK_FAILED;
		if (code == RIFT_CHECK_FAILED || worst == RIFT_OK)
			worst = code;
	}
	return worst;
}

/* ---- what is compared with what ----------------------------------------------------------- */

static int refuse_same(const struct journal *a, const struct journal *b,
		       const struct compare_args *args)
{
	if (!session_same(a, b))
		return 0;
	return complain(EINVAL,
			"%s and %s are one session (%s); --self-test compares halves of one",
			args->file[0], args->file[1], a->session_id);
}

static int refuse_sides(const struct journal *j, const char *path)
{
	if (j->sides == 1)
		return 0;
	return complain(EINVAL, "%s has two sides: rift compare with it alone compares them", path);
}

/* Two sessions, one side each. */
static int make_separate(struct result *r, const struct compare_args *a, struct journal *session)
{
	int err = refuse_same(&session[0], &session[1], a);

	for (int k = 0; k < 2 && !err; k++)
		err = refuse_sides(&session[k], a->file[k]);
	if (err)
		return err;
	for (int k = 0; k < 2; k++)
		party_init(&r->party[k], &session[k], a->file[k], 0, HALF_BOTH);
	result_make(r, a, true);
	return r->err;
}

static int make_sides(struct result *r, const struct compare_args *a, struct journal *session)
{
	if (session->sides != 2)
		return complain(EINVAL,
				"%s has one side: give a second session, or sweep --against; "
				"--self-test compares its halves",
				a->file[0]);
	for (int k = 0; k < 2; k++)
		party_init(&r->party[k], session, a->file[0], k, HALF_BOTH);
	result_make(r, a, false);
	return r->err;
}

/* Two halves of each side. */
static int make_halves(struct result *r, const struct compare_args *a, struct journal *session)
{
	int err = 0;

	if (journal_processes(session) < 2)
		return complain(EINVAL, "%s has one process a side: that has no halves",
				a->file[0]);
	for (int side = 0; side < session->sides && !err; side++) {
		party_init(&r[side].party[0], session, a->file[0], side, HALF_FIRST);
		party_init(&r[side].party[1], session, a->file[0], side, HALF_SECOND);
		result_make(&r[side], a, false);
		err = r[side].err;
	}
	return err;
}

static int compare_files(const struct compare_args *a, enum exit_code *code)
{
	struct result r[2] = { 0 };
	struct journal session[2] = { { .part.fd = -1, .visits.fd = -1 },
				      { .part.fd = -1, .visits.fd = -1 } };
	int err = 0, n = a->self_test ? 0 : 1;

	for (int i = 0; i < a->n && !err; i++)
		err = session_load(&session[i], a->file[i]);
	if (!err)
		err = a->self_test ? make_halves(r, a, session)
		      : a->n == 2  ? make_separate(r, a, session)
				   : make_sides(r, a, session);
	n = a->self_test ? session[0].sides : 1;
	if (!err) {
		print_results(r, n, a);
		*code = code_of(r, n, a->self_test);
	}
	result_release(&r[0]);
	result_release(&r[1]);
	journal_release(&session[0]);
	journal_release(&session[1]);
	return err;
}

static int refuse_arguments(const struct compare_args *a)
{
	if (!a->n)
		return complain(EINVAL, "rift compare: no session; write rift compare A B");
	if (a->self_test && a->n == 2)
		return complain(EINVAL, "--self-test takes one session");
	return 0;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_args a = { .margin = NAN, .between = NAN };
	enum exit_code code = RIFT_OK;
	int err = options_parse(&argp, "`rift compare --help` shows its options", argc, argv, &a);

	if (!err && a.help) {
		options_help(&argp, "compare", stdout);
		return RIFT_OK;
	}
	if (!err)
		err = refuse_arguments(&a);
	if (!err)
		err = compare_files(&a, &code);
	if (err == -EPROTONOSUPPORT)
		return RIFT_NOT_COMPARABLE;
	return err ? exit_code_of(err) : code;
}
