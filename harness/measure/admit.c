/* admit.c - what a run may do: mode and depth by the workload's limits, then the device. */
#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "harness/measure/run.h"
#include "harness/params/param_need.h"

enum { DEPTH_RUN = 64 };

static const char *const mode_names[] = { "stream", "graph", "fused", NULL };
static const char *const check_names[] = { "sample", "full", NULL };

/* Names with a '-' keep the macros of workload.h away. */
#define ROW(name, kind, f, unit, def, max, choices, help)                                          \
	{                                                                                          \
		name, kind, offsetof(struct run_options, f), unit, def, 1, max, choices, help,     \
			NULL, NULL, false                                                          \
	}

const struct param run_option_rows[] = {
	ROW("mode", PARAM_CHOICE, mode, "", "", 0, mode_names, "how steps are submitted"),
	ROW("depth", PARAM_SIZE, depth, "steps", "", RUN_DEPTH_MAX, NULL,
	    "steps before a synchronize"),
	ROW("blocks", PARAM_INT, blocks, "blocks", "", 1000000, NULL, "timed blocks"),
	ROW("check", PARAM_CHOICE, check, "", "sample", 0, check_names, "what is compared"),
	ROW("check-steps", PARAM_SIZE, check_steps, "steps", "", RUN_DEPTH_MAX, NULL,
	    "steps checked"),
	ROW("sync", PARAM_CHOICE, sync, "", "", 0, sync_names, "how a block's end is waited for"),
	ROW("plot", PARAM_PATH, plot, "", "", 0, NULL, "folder for the picture"),
	PARAM_END,
};

static const struct run_options *options_of(const struct run *r)
{
	return r->options->opts;
}

/* Was an option on the command line? mode has no value that could mean "not given". */
static bool given(const struct run *r, const char *name, size_t len)
{
	return r->options->given[params_find(r->options->rows, name, len)];
}

const char *mode_refused(const struct workload *w, const struct limits *limits, enum mode mode)
{
	if (limits->mode_refused[mode])
		return limits->mode_refused[mode];
	return mode == MODE_FUSED && !w->fused ? "this workload has no fused form" : NULL;
}

const struct param *workload_axis(const struct workload *w)
{
	for (const struct param *row = w->params; row->name; row++)
		if (row->axis)
			return row;
	return NULL;
}

/* The mode asked for if it is allowed, else the first one that is. */
static int choose_mode(struct run *r)
{
	enum mode want = (enum mode)options_of(r)->mode;
	const char *name = r->workload->name;

	for (int m = MODE_COUNT - 1; m >= 0; m--) {
		r->allowed[m] = !mode_refused(r->workload, &r->limits, (enum mode)m);
		if (r->allowed[m])
			r->mode = (enum mode)m;
	}
	if (!r->allowed[r->mode])
		return complain(EINVAL, "%s allows no mode with these parameters: %s", name,
				mode_refused(r->workload, &r->limits, MODE_STREAM));
	if (!given(r, "mode", 4))
		return 0;
	r->mode = want;
	if (!r->allowed[want])
		return complain(EINVAL, "--mode=%s: %s refuses it: %s", mode_name(want), name,
				mode_refused(r->workload, &r->limits, want));
	return 0;
}

/*
 * Asked for, by the option or by the workload's own, else the workload's choice, else 64; a default
 * never breaks the workload's limit.
 */
static int choose_depth(struct run *r)
{
	const struct limits *l = &r->limits;

	r->depth = options_of(r)->depth ? options_of(r)->depth : l->depth_asked;
	if (!r->depth) {
		r->depth = l->depth_run ? l->depth_run : DEPTH_RUN;
		if (l->depth_max && r->depth > l->depth_max)
			r->depth = l->depth_max;
	}
	if (l->depth_max && r->depth > l->depth_max)
		return complain(EINVAL, "--depth=%ld: %s allows at most %ld: %s", (long)r->depth,
				r->workload->name, (long)l->depth_max,
				l->depth_why ? l->depth_why : "no reason given");
	return 0;
}

static int check_picture(const struct run *r)
{
	const char *name = r->workload->name;

	if (!options_of(r)->plot)
		return 0;
	if (!r->workload->plot)
		return complain(EINVAL, "--plot: %s has no picture; leave --plot out", name);
	if (r->limits.action)
		return complain(EINVAL,
				"--plot: with these parameters %s only does what they ask for; "
				"draw in a run of its own",
				name);
	return 0;
}

/* Options of what is timed and checked: an action is neither. */
static int refuse_options_of_an_action(const struct run *r)
{
	static const char *const timed[] = { "mode", "depth", "blocks", "check", "check-steps" };

	for (size_t i = 0; i < sizeof(timed) / sizeof(*timed); i++)
		if (given(r, timed[i], strlen(timed[i])))
			return complain(
				EINVAL,
				"--%s has no effect: these parameters ask %s for an action, "
				"and nothing is timed",
				timed[i], r->workload->name);
	return 0;
}

/* All that can be refused without a device; then the device. */
int run_admit(struct run *r)
{
	const void *opts = r->params->opts;
	int err = r->workload->limits(opts, &r->limits);

	if (!err)
		err = param_needs_check(r->params, r->workload->needs);
	if (!err)
		err = check_picture(r);
	if (!err && r->limits.action)
		err = refuse_options_of_an_action(r);
	if (!err && !r->limits.action)
		err = choose_mode(r);
	if (!err && !r->limits.action)
		err = choose_depth(r);
	if (err)
		return err;
	if (r->limits.device_refused)
		return complain(ENODEV, "%s does not run on this device: %s", r->workload->name,
				r->limits.device_refused);
	platform_host(&r->platform);
	r->subject.sync =
		given(r, "sync", 4) ? (enum sync_kind)options_of(r)->sync : sync_default();
	err = sync_prepare(r->subject.sync);
	return err ? err : platform_device(&r->platform);
}
