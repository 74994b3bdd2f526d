/*
 * replay.c - the replay workload: its parameters, its limits and its entry in the table.
 *
 * A step is a period of a recorded program, or all of it. Kernels become kernels that spin for as
 * long, copies have the same bytes and kinds of memory, streams, events and graphs are as they
 * were, and the host computes or sleeps for as long in between. What calls cost is the platform's.
 */
#include "workloads/replay/replay.h"

#include <string.h>
#include <sys/stat.h>

#include "common/cuda_check.h"
#include "workloads/workload.h"

static const char *const parts[] = { "auto", "period", "whole", NULL };
static const char *const waits[] = { "kept", "left", NULL };
static const char *const allocations[] = { "held", "made", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_PATH(replay_opts, trace,
		   "trace of `rift profile` to play; without it, a small pattern"),
	PARAM_AXIS(replay_opts, kernels, "%", "100", 1, 10000, "25,50,100,200,400",
		   "kernel duration, relative to the trace"),
	PARAM_CHOICE(replay_opts, part, "auto", parts,
		   "a step is a period of the trace, or the whole; auto: a period that is half of it"),
	PARAM_CHOICE(replay_opts, waits, "kept", waits,
		   "the program's waits for the device: kept, or left out except at the end of a "
		   "block"),
	PARAM_CHOICE(replay_opts, allocations, "held", allocations,
		   "held: memory stays allocated, and calls take as long as recorded; made: "
		   "calls are made"),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "part", "trace" },
	{ "waits", "trace" },
	{ "allocations", "trace" },
	{ NULL, NULL },
};

/* ---- limits ----------------------------------------------------------------------------- */

/* What a plan allows, of the file that was asked about last: a sweep asks for every point. */
struct asked {
	char path[4096];
	struct stat file;
	int part, waits, allocations;
	const char *only_stream, *only_one;
	int64_t depth;
};

static bool is_asked(const struct asked *a, const struct replay_opts *o, const struct stat *file)
{
	return a->depth && !strcmp(a->path, o->trace ? o->trace : "") && a->part == o->part &&
	       a->waits == o->waits && a->allocations == o->allocations &&
	       a->file.st_dev == file->st_dev && a->file.st_ino == file->st_ino &&
	       a->file.st_size == file->st_size && a->file.st_mtim.tv_sec == file->st_mtim.tv_sec &&
	       a->file.st_mtim.tv_nsec == file->st_mtim.tv_nsec;
}

static int ask(struct asked *a, const struct replay_opts *o)
{
	struct replay_plan plan;
	struct stat file;
	int err;

	memset(&file, 0, sizeof(file));
	if (o->trace && stat(o->trace, &file))
		memset(&file, 0, sizeof(file)); /* the reader says what stands in the way */
	if (is_asked(a, o, &file))
		return 0;
	memset(a, 0, sizeof(*a));
	err = replay_plan_make(&plan, o);
	if (!err && strlen(o->trace ? o->trace : "") < sizeof(a->path)) {
		strcpy(a->path, o->trace ? o->trace : "");
		a->file = file;
	}
	a->part = o->part;
	a->waits = o->waits;
	a->allocations = o->allocations;
	a->only_stream = plan.only_stream;
	a->only_one = plan.only_one;
	a->depth = plan.depth;
	replay_plan_release(&plan);
	return err;
}

static int limits(const void *opts, struct limits *out)
{
	static struct asked asked;
	int err = ask(&asked, opts);

	if (err)
		return err;
	out->mode_refused[MODE_GRAPH] = asked.only_stream;
	out->mode_refused[MODE_FUSED] = "a step is many kernels and copies";
	out->depth_max = asked.only_one ? 1 : 0;
	out->depth_why = asked.only_one;
	out->depth_run = asked.depth;
	return 0;
}

/* ---- cost ------------------------------------------------------------------------------- */

static void add_copy(struct cost *out, const struct replay_act *a)
{
	struct copies *to = a->direction == REPLAY_TO_DEVICE ? &out->to_device
			    : a->direction == REPLAY_TO_HOST ? &out->to_host
							     : &out->within;

	to->calls++;
	to->bytes += (double)a->bytes;
	out->bytes_moved += (a->direction == REPLAY_WITHIN ? 2 : 1) * (double)a->bytes;
	out->bytes_transferred += a->direction == REPLAY_WITHIN ? 0 : (double)a->bytes;
	out->pageable |= a->direction != REPLAY_WITHIN && a->memory == REPLAY_PAGEABLE;
}

static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct replay_plan *p = &((const struct replay_state *)state)->plan;

	(void)opts;
	*out = (struct cost){
		.launches = (double)(p->number[ACT_KERNEL] + p->number[ACT_GRAPH]),
		.allocations = (double)(p->number[ACT_ALLOC] + p->number[ACT_FREE]),
		.formula = "launches of kernels and graphs; what copies carry",
	};
	for (int64_t i = 0; i < p->acts; i++)
		if (p->act[i].kind == ACT_COPY)
			add_copy(out, &p->act[i]);
	return 0;
}

/* Which bytes a copy brings is settled when it is enqueued: of graphs when they are captured. */
static void scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct replay_state *s = state;

	(void)opts;
	for (int i = 0; i < s->plan.areas && out->n < SCRATCH_MAX; i++)
		if (s->area[i].on_device)
			out->part[out->n++] =
				(struct scratch_part){ s->area[i].base, s->area[i].bytes };
}

const struct workload workload_replay = {
	.name = "replay",
	.summary = "a synthetic program of the same shape as a recorded one",
	.source = "a trace of `rift profile`",
	.step_unit = "a period of the program, or all of it",
	.params = params,
	.needs = needs,
	.opts_size = sizeof(struct replay_opts),
	.state_size = sizeof(struct replay_state),
	.limits = limits,
	.setup = replay_setup,
	.reset = replay_reset,
	.step = replay_step,
	.check = replay_check,
	.report = replay_report,
	.cost = cost,
	.scratch = scratch,
	.teardown = replay_teardown,
};
