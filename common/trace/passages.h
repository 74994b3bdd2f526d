/*
 * passages.h - what the host does from one call to a later one, and the mean of what recurs.
 *
 * Two recordings of a program see different calls: the library that is preloaded sees those of the
 * shared runtime, CUPTI those of libraries that bring their own, too. Calls of a kind that both saw
 * equally often are common (host_gaps.h). A passage leads from one common call to the next, of a
 * thread or of threads that hand work to each other. What one recorder alone sees lies within.
 * Passages between calls of the same two kinds are a pair.
 *
 * A kind is a function; of launches the kernel, too, where both recordings know it.
 */
#ifndef RIFT_TRACE_PASSAGES_H
#define RIFT_TRACE_PASSAGES_H

#include "common/trace/steps.h"

/* Kinds of calls in a trace: calls of further ones are not told apart, and never common. */
enum { CALL_KINDS_MAX = 1000 };

enum { NOT_COMMON = -1 };

struct call_kind {
	int64_t code;
	const char *name, *kernel; /* the trace's; kernel NULL: not told apart by it */
	int64_t calls;
	int32_t function; /* its number among the common ones; NOT_COMMON */
};

struct call_kinds {
	struct call_kind *kind;
	int32_t n;
	int32_t *slot;	  /* a hash table: one more than the index of a kind; 0: free */
	int32_t *of_call; /* index, TRACE_NONE */
};

/* Does a trace say of its launches which kernel it was, and by its name? */
bool trace_has_kernels(const struct trace *t);

void call_kinds_init(struct call_kinds *k, const struct trace *t, bool by_kernel);
void call_kinds_release(struct call_kinds *k);
bool is_kind(const struct call_kind *k, const char *name, const char *kernel);

/* All calls of a trace, in order. */
struct walk {
	const struct trace *t;
	struct steps *steps;
	struct call_kinds kinds;
	int64_t *before;   /* of each call: its thread's call before; TRACE_NONE */
	double launch_max; /* that is no launch alone, ns */
};

void walk_init(struct walk *w, struct steps *s, bool by_kernel, double launch_max);
void walk_release(struct walk *w);

/* Calls of that kind are common, with that number. */
void walk_set_common(struct walk *w, int32_t function, const char *name, const char *kernel);

/* The number of a call that is common; NOT_COMMON. */
int32_t function_of(const struct walk *w, int64_t call);
bool is_common(const struct walk *w, int64_t call);
int64_t call_before(const struct walk *w, int64_t call);
double *gap_before(const struct walk *w, int64_t call);

/* From one common call to the next. */
struct passage {
	int64_t from;
	bool after;	/* another thread's call */
	double gap_ns;	/* outside calls */
	double call_ns; /* in calls that are not common, launches not among them */
	int64_t launches;
	double launch_ns;     /* in these, as recorded */
	bool begins_a_launch; /* the call that it leads from is one of them */
	bool waits;	      /* a launch for a place, or it loads */
};

/* The one that leads to a common call. False: it has no beginning, or waits for the device. */
bool passage_to(const struct walk *w, int64_t to, struct passage *out);

struct passage_sample {
	double whole_ns, gap_ns;
};

struct passage_pair {
	int32_t from, to; /* functions */
	bool after;
	int64_t n; /* passages, those that are no sample too */
	struct passage_sample *sample;
	int64_t samples, room;
};

struct passage_pairs {
	int32_t functions;
	int32_t *at; /* one more than its index: 0 for none; by from, to and after */
	struct passage_pair *list;
	int64_t n, room;
};

void passage_pairs_init(struct passage_pairs *p, int32_t functions);
void passage_pairs_release(struct passage_pairs *p);

/* NULL: there is none. */
struct passage_pair *passage_pair_find(const struct passage_pairs *p, int32_t from, int32_t to,
				       bool after);

/* The passage's, which leads to that call; made where there is none. */
struct passage_pair *passage_pair_of(struct passage_pairs *pairs, const struct walk *w,
				     const struct passage *p, int64_t to);

/* All passages of a trace. launch_ns: what a launch takes; NAN: as recorded. */
void passage_pairs_sample(struct passage_pairs *pairs, const struct walk *w, double launch_ns);

/* In order; false: too many of the passages are no sample. */
bool passage_pair_sort(struct passage_pair *p);
double passage_pair_median(const struct passage_pair *p);

/* Samples up to that long, which come first, and the mean of the first n. */
int64_t passage_pair_up_to(const struct passage_pair *p, double most_ns);
double passage_pair_mean(const struct passage_pair *p, int64_t n);

/* The same of their gaps, with each so much shorter, but never less than nothing. */
double passage_pair_mean_gap(const struct passage_pair *p, int64_t n, double less_ns);

#endif
