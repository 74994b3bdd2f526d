/* cmd_compare.c - rift compare A B: is B slower than A, and where. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/check.h"
#include "harness/card/card_compare.h"
#include "harness/command.h"
#include "harness/compare/between.h"
#include "harness/compare/compare.h"
#include "harness/compare/compare_args.h"
#include "harness/json.h"
#include "harness/sweep/recorded.h"
#include "harness/platform.h"

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

/* Of a self-test of two sides, two results, in an array. */
static void print_results(const struct result *r, int n, const struct compare_args *a)
{
	json_t *all = json_array();
	bool cpu = session_is_cpu(&r->party[0].view, 0) || session_is_cpu(&r->party[1].view, 0);

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
	if (cpu)
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
		err = session_read(&session[i], a->file[i], a->sync);
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

/* One card is enough: what else is named must be one too. */
static bool is_about_cards(const struct compare_args *a)
{
	bool is = false;

	for (int i = 0; i < a->n; i++)
		is |= card_is(a->file[i]);
	return is;
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
	int err = options_parse(&compare_argp, "`rift compare --help` shows its options", argc,
				argv, &a);

	if (!err && a.help) {
		options_help(&compare_argp, "compare", stdout);
		return RIFT_OK;
	}
	if (!err)
		err = refuse_arguments(&a);
	if (!err)
		err = is_about_cards(&a) ? card_compare_files(&a, &code) : compare_files(&a, &code);
	if (err == -EPROTONOSUPPORT)
		return RIFT_NOT_COMPARABLE;
	return err ? exit_code_of(err) : code;
}
