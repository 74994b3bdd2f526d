/*
 * shares.h - where the wall time of a traced program goes: every ns once, so that shares add up to
 * 100 %, and what kind of program that makes it.
 *
 * While the device works, time is its: kernels first, then copies, then other work of streams. What
 * a call tells the device arrives `latency` after its return. Where the device idles before an
 * operation that had arrived, it is a gap of the device, or a dependency. Until it arrived, it is
 * what the thread that made the call did, so much earlier, ns by ns:
 *
 *   in a synchronize or a query               sync: the host wakes
 *   in a launch                               api; but sync behind a call that waited for the queue
 *                                             to become empty: a relaunch
 *   in a launch far longer than usual, of     interrupted: the thread lost its processor
 *   a kernel whose code was there
 *   in a copy call                            copy calls
 *   in an allocation, or loading code         memory
 *   in another call                           other
 *   in no call                                host
 *
 * Before the first operation and behind the last one it is the same for the main thread; but the
 * time before its first call and behind its last is outside: the process starts and ends, and a
 * program that has not begun to use the device, or no longer does.
 *
 * In a trace of calls alone the device's shares are not known. The others are then all of the main
 * thread's time, whatever the device did meanwhile.
 */
#ifndef RIFT_PROFILE_SHARES_H
#define RIFT_PROFILE_SHARES_H

#include "common/trace/retime.h"

enum share {
	SHARE_KERNELS,
	SHARE_COPIES, /* nothing but copies */
	SHARE_STREAM, /* other work of streams: memset, host functions */
	SHARE_GAPS,
	SHARE_API,
	SHARE_INTERRUPTED,
	SHARE_SYNC,
	SHARE_COPY_CALLS,
	SHARE_MEMORY,
	SHARE_OTHER, /* other calls: devices, contexts, attributes */
	SHARE_HOST,
	SHARE_OUTSIDE, /* the host before its first call and behind its last */
	SHARES
};

extern const char *const share_names[SHARES]; /* "kernels", for machines and tables */
extern const char *const share_texts[SHARES]; /* what it is, a few words */

#define SHARES_OF_HOST SHARE_API /* from it on; those before it are the device's */

/* An idle time of the device and what it is for. */
struct idle {
	double t0, t1;
	enum share share;
};

struct shares {
	double ns[SHARES], total_ns;
	double pageable_ns;	 /* of copies: copies of pageable memory, however many at once */
	double copied_ns;	 /* of all copies */
	double overlapped_ns;	 /* two kernels or more */
	double kernel_median_ns; /* NAN: no kernel */
	double kernels_per_sync; /* INFINITY: no synchronize */
	/* copies: operations of the device; of calls alone, calls */
	int64_t kernels, launches, syncs, copies, allocations;
	bool calls_alone;  /* the trace has no times of the device */
	bool one_thread;   /* made all calls */
	struct idle *idle; /* where asked for; in the order of time */
	int64_t idles;
};

/*
 * latency_ns: from the return of a launch call to the start of its kernel on an idle device.
 * with_idle: also which idle time is for what, in pieces.
 */
void shares_make(struct shares *out, const struct steps *s, const struct timed *times,
		 double latency_ns, bool with_idle);
void shares_release(struct shares *s);

/* Where the time of an idle device goes while that call is under way. */
enum share share_of_call(const struct steps *s, int64_t call);

/* A share of the total, 0 to 1. */
double share_of(const struct shares *s, enum share what);

/* A share of the time between the first call and the last. */
double share_inside(const struct shares *s, enum share what);

/* For calls alone those of the device are not, and the others are something else. */
bool share_is_known(const struct shares *s, enum share what);
const char *share_text(const struct shares *s, enum share what);

/* ---- what kind of program ----------------------------------------------------------------- */

enum program_kind {
	KIND_GPU,
	KIND_GAP,
	KIND_API,
	KIND_SYNC,
	KIND_TRANSFER,
	KIND_MEMORY,
	KIND_CPU,
	KIND_MIXED,
	PROGRAM_KINDS
};

extern const char *const program_kind_names[PROGRAM_KINDS];   /* "GPU-bound" */
extern const char *const program_kind_touched[PROGRAM_KINDS]; /* by virtualization: "clocks, MIG" */
extern const char *const program_kind_advice[PROGRAM_KINDS];

/*
 * What that advice can save at most, of the whole time, ns: all of the shares that it is about.
 * Below KIND_WORTH of the whole, kind and advice are of no use: nearly all is outside.
 */
#define KIND_WORTH 0.05
double program_kind_saves_ns(const struct shares *s, enum program_kind v);
bool program_kind_is_worth(const struct shares *s, enum program_kind v);

/* From which share of the time inside on a program is bound by it: of each kind but mixed. */
struct kind_rules {
	double least[KIND_MIXED];
	double gpu_idle_most; /* GPU-bound: api and sync together */
	double gap_times;     /* gap-bound: the median kernel is shorter than so many gaps */
};

/* 85 % kernels, 10 % gaps, 15 % launch calls, ...: an initializer. */
#define KIND_DEFAULTS                                                                              \
	{                                                                                          \
		.least = { [KIND_GPU] = 0.85,  [KIND_GAP] = 0.10,      [KIND_API] = 0.15,          \
			   [KIND_SYNC] = 0.15, [KIND_TRANSFER] = 0.30, [KIND_MEMORY] = 0.20,       \
			   [KIND_CPU] = 0.30 },                                                    \
		.gpu_idle_most = 0.05, .gap_times = 10,                                            \
	}

/*
 * What each kind is measured by, of the time inside: a program that starts slowly is of the same
 * kind. 0 of a mixed one.
 */
double program_kind_share(const struct shares *s, enum program_kind v);

/* gap_ns: between kernels that are queued; NAN: not known, then gap-bound takes its share alone. */
enum program_kind program_kind_of(const struct shares *s, const struct kind_rules *rules,
				  double gap_ns);

/*
 * May a program be of that kind, of which the calls alone are known? What a host does while its
 * device idles is at most what it does at all: a share below the rule rules the kind out, where one
 * thread makes all calls.
 */
bool program_kind_may_be(const struct shares *s, const struct kind_rules *rules,
			 enum program_kind kind);

/* The two largest shares inside, of which a mixed program is. */
void shares_largest(const struct shares *s, enum share out[2]);

#endif
