/* compare.c - rift compare A B: is B slower than A, and where. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/cmd/compare_args.h"
#include "harness/compare/between.h"
#include "harness/compare/compare.h"
#include "harness/env/platform.h"
#include "harness/probe/card_compare.h"
#include "harness/record/recorded.h"

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

/* The sessions that are named, and which side of each: SIDE_ANY: both. */
struct read {
	struct journal session[2];
	int side[2];
};

static int refuse_same(const struct read *in, const struct compare_args *args)
{
	if (!session_same(&in->session[0], &in->session[1]) || in->side[0] != in->side[1])
		return 0;
	return complain(EINVAL,
			"%s and %s are one session (%s); --self-test compares halves of one",
			args->file[0], args->file[1], in->session[0].session_id);
}

/* One side of each of two sessions, or both sides of one. */
static int make_two(struct result *r, const struct compare_args *a, const struct read *in)
{
	int err = refuse_same(in, a);

	if (err)
		return err;
	for (int k = 0; k < 2; k++)
		party_init(&r->party[k], &in->session[k], in->session[k].path, in->side[k],
			   HALF_BOTH);
	result_make(r, a, !session_same(&in->session[0], &in->session[1]));
	return r->err;
}

static int make_sides(struct result *r, const struct compare_args *a, const struct read *in)
{
	const struct journal *session = &in->session[0];

	if (in->side[0] != SIDE_ANY)
		return complain(EINVAL,
				"%s%s: give a second session, or sweep --against; --self-test "
				"compares its halves",
				session->path,
				session->sides > 1 ? ": one of its two sides is named"
						   : " has one side");
	for (int k = 0; k < 2; k++)
		party_init(&r->party[k], session, session->path, k, HALF_BOTH);
	result_make(r, a, false);
	return r->err;
}

/* Two halves of each side that is asked for. */
static int make_halves(struct result *r, const struct compare_args *a, const struct read *in,
		       int *n)
{
	const struct journal *session = &in->session[0];
	int err = 0;

	if (journal_processes(session) < 2)
		return complain(EINVAL, "%s has one process a side: that has no halves",
				session->path);
	for (int side = 0; side < session->sides && !err; side++) {
		struct result *of = &r[*n];

		if (in->side[0] != SIDE_ANY && in->side[0] != side)
			continue;
		party_init(&of->party[0], session, session->path, side, HALF_FIRST);
		party_init(&of->party[1], session, session->path, side, HALF_SECOND);
		result_make(of, a, false);
		err = of->err;
		++*n;
	}
	return err;
}

/* Of two files each has to be one side. */
static int read_files(struct read *in, const struct compare_args *a)
{
	int err = 0;

	for (int i = 0; i < a->n && !err; i++) {
		const struct session_arg arg = { NULL, a->file[i], a->side };

		err = (a->n > 1 ? session_read_side : session_read_any)(&in->session[i], &arg,
									a->sync, &in->side[i]);
	}
	return err;
}

static int compare_files(const struct compare_args *a, enum exit_code *code)
{
	struct result r[2] = { 0 };
	struct read in = { .session = { { .part.fd = -1, .visits.fd = -1 },
					{ .part.fd = -1, .visits.fd = -1 } } };
	int err = read_files(&in, a), n = a->self_test ? 0 : 1;

	if (!err)
		err = a->self_test ? make_halves(r, a, &in, &n)
		      : a->n == 2  ? make_two(r, a, &in)
				   : make_sides(r, a, &in);
	if (!err) {
		print_results(r, n, a);
		*code = code_of(r, n, a->self_test);
	}
	result_release(&r[0]);
	result_release(&r[1]);
	journal_release(&in.session[0]);
	journal_release(&in.session[1]);
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
	struct compare_args a = { .margin = NAN, .between = NAN, .side = SIDE_ANY };
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
