/* program_kind.c - what kind of program its shares make it. */
#include <math.h>

#include "harness/profile/shares.h"

const char *const program_kind_names[PROGRAM_KINDS] = {
	"GPU-bound",	  "gap-bound",	      "API-bound", "sync-bound",
	"transfer-bound", "allocation-bound", "CPU-bound", "mixed",
};
const char *const program_kind_touched[PROGRAM_KINDS] = {
	"clocks, MIG",
	"gaps between kernels and between nodes of graphs",
	"launch calls, launch interval, queue length",
	"one launch and wait, kind of synchronize",
	"latency and bandwidth of copies",
	"memory calls",
	"virtual CPUs and their pinning",
	"what the two largest shares say",
};
const char *const program_kind_advice[PROGRAM_KINDS] = {
	"better or fused kernels, lower precision",
	"fuse kernels, put them into graphs",
	"batch work into larger kernels, put launches into graphs",
	"synchronize less often, keep results on the device",
	"pinned memory, overlap with kernels, fewer and larger copies",
	"allocate once, use memory pools",
	"overlap the host's work with the device's, move it there, or give it processors",
	"begin with the larger share",
};

double program_kind_share(const struct shares *s, enum program_kind v)
{
	switch (v) {
	case KIND_GPU:
		return share_inside(s, SHARE_KERNELS);
	case KIND_GAP:
		return share_inside(s, SHARE_GAPS);
	case KIND_API:
		return share_inside(s, SHARE_API);
	case KIND_SYNC:
		return share_inside(s, SHARE_SYNC);
	case KIND_TRANSFER:
		return share_inside(s, SHARE_COPIES) + share_inside(s, SHARE_COPY_CALLS);
	case KIND_MEMORY:
		return share_inside(s, SHARE_MEMORY);
	case KIND_CPU:
		return share_inside(s, SHARE_HOST) + share_inside(s, SHARE_INTERRUPTED);
	default:
		return 0;
	}
}

double program_kind_saves_ns(const struct shares *s, enum program_kind v)
{
	enum share largest[2];

	if (v != KIND_MIXED)
		return program_kind_share(s, v) * (s->total_ns - s->ns[SHARE_OUTSIDE]);
	shares_largest(s, largest);
	return s->ns[largest[0]];
}

bool program_kind_is_worth(const struct shares *s, enum program_kind v)
{
	return program_kind_saves_ns(s, v) >= KIND_WORTH * s->total_ns;
}

static bool applies(const struct shares *s, const struct kind_rules *rules, enum program_kind v,
		    double gap_ns)
{
	if (program_kind_share(s, v) < rules->least[v])
		return false;
	if (v == KIND_GPU)
		return share_inside(s, SHARE_API) + share_inside(s, SHARE_SYNC) <=
		       rules->gpu_idle_most;
	if (v == KIND_GAP && !isnan(gap_ns))
		return s->kernel_median_ns < rules->gap_times * gap_ns;
	return true;
}

/* The one with the largest share, where several apply. */
enum program_kind program_kind_of(const struct shares *s, const struct kind_rules *rules,
				  double gap_ns)
{
	enum program_kind best = KIND_MIXED;

	for (int v = 0; v < KIND_MIXED; v++)
		if (applies(s, rules, (enum program_kind)v, gap_ns) &&
		    (best == KIND_MIXED ||
		     program_kind_share(s, (enum program_kind)v) > program_kind_share(s, best)))
			best = (enum program_kind)v;
	return best;
}

void shares_largest(const struct shares *s, enum share out[2])
{
	out[0] = SHARE_KERNELS;
	for (int i = 1; i < SHARE_OUTSIDE; i++)
		if (s->ns[i] > s->ns[out[0]])
			out[0] = (enum share)i;
	out[1] = out[0] == SHARE_KERNELS ? SHARE_COPIES : SHARE_KERNELS;
	for (int i = 0; i < SHARE_OUTSIDE; i++)
		if ((enum share)i != out[0] && s->ns[i] > s->ns[out[1]])
			out[1] = (enum share)i;
}

/* Copies and kernels may have run for any time, once there was a call for them. */
bool program_kind_may_be(const struct shares *s, const struct kind_rules *rules,
			 enum program_kind kind)
{
	double most = program_kind_share(s, kind);

	switch (kind) {
	case KIND_MIXED:
	case PROGRAM_KINDS:
		return true;
	case KIND_GPU:
	case KIND_GAP:
		return s->launches > 0;
	case KIND_TRANSFER:
		return s->copies > 0;
	case KIND_SYNC:
		most += share_inside(s, SHARE_API); /* a relaunch behind a wait counts as one */
		break;
	default:
		break;
	}
	return most >= rules->least[kind] || !s->one_thread;
}
