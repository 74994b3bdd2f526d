/*
 * test_host_graphs.c - how long graphs take where CUPTI does not slow them, by what the host waited
 * for them in lighter recordings (common/trace/host_gaps.h).
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/trace/host_gaps.h"
#include "harness/profile/profile.h"
#include "tests/made_trace.h"

TestSuite(small_host_graphs, .timeout = 60);

static struct made made;

/*
 * Steps of ten launches of a graph, 1 us each, and a wait. Then a graph and a millisecond of the
 * host's, which waits for nothing.
 */
struct shape {
	int steps;
	long graph_ns;
	bool alone;	/* calls alone: no times of the device, no calibration */
	bool at_once;	/* each second graph runs beside the one before, on another stream */
	bool turned;	/* of each two the later one runs first, on another stream */
	bool beside;	/* another thread waits before and behind all that, and launches nothing */
	int more_waits; /* behind all */
	int queries;	/* waits of another function, within the first step */
	long busy_ns;	/* of a graph; 0: not known */
	bool outlives;	/* the last graph begins late, and ends long after the last wait */
};

enum { GRAPHS = 10, STEPS = 3, RECORDED_NS = 100000 };

static const struct shape recorded = { .steps = STEPS, .graph_ns = RECORDED_NS };

static void put_graph(const struct shape *s, int stream, long call, long t0)
{
	char more[96];

	snprintf(more, sizeof(more), ",\"name\":2,\"stream\":%d,\"graph\":1", stream);
	made_call(&made, "graph_launch", call, call + 1000, more);
	snprintf(more, sizeof(more), ",\"graph\":1,\"busy_ns\":%ld", s->busy_ns);
	if (!s->alone)
		made_op(&made, "graph", stream, t0, t0 + s->graph_ns,
			s->busy_ns ? more : ",\"graph\":1");
}

/* Returns when its wait does. */
static long put_step(const struct shape *s, long at)
{
	long start = at + MADE_L;

	for (int k = 0; k < GRAPHS; k++) {
		bool second = (s->at_once || s->turned) && k % 2;
		long turn = !s->turned ? 0 : second ? -s->graph_ns : s->graph_ns;

		put_graph(s, second ? 3 : 2, at + k * 1000,
			  turn + (second && s->at_once ? start - s->graph_ns : start));
		start += second && s->at_once ? 0 : s->graph_ns;
	}
	made_call(&made, "sync_device", at + GRAPHS * 1000, start + MADE_WAKE, ",\"name\":3");
	return start + MADE_WAKE;
}

static void begin(const struct shape *s)
{
	static const char *const names[] = { "cudaGraphLaunch", "cudaDeviceSynchronize",
					     "cudaStreamSynchronize" };

	made_begin(&made, s->alone ? ",\"device_times\":\"none\"" : "",
		   s->alone ? NULL : MADE_CALIBRATION);
	for (int i = 0; i < 3; i++)
		made_row(&made, "{\"record\":\"string\",\"id\":%d,\"text\":\"%s\"}", i + 2,
			 names[i]);
	if (s->beside)
		made_call(&made, "sync_device", 0, 500, ",\"name\":3,\"thread\":1");
}

static void put_program(const struct shape *s, const char *host_gaps)
{
	static char runs[4096];
	long at = 1000;

	begin(s);
	made_call(&made, "sync_device", 0, at, ",\"name\":3");
	for (int i = 0; i < s->queries; i++, at += 1000)
		made_call(&made, "sync_stream", at, at + 500, ",\"name\":4,\"stream\":2");
	for (int i = 0; i < s->steps; i++)
		at = put_step(s, at);
	if (s->outlives) {
		made_call(&made, "graph_launch", at, at + 1000,
			  ",\"name\":2,\"stream\":4,\"graph\":1");
		if (!s->alone)
			made_op(&made, "graph", 4, at + 600000, at + 10000000, ",\"graph\":1");
	} else {
		put_graph(s, 2, at, at + 1000 + MADE_L);
	}
	at += 1000000;
	for (int i = 0; i <= s->more_waits; i++, at += 1000)
		made_call(&made, "sync_device", at, at + 1000, ",\"name\":3");
	if (s->beside)
		made_call(&made, "sync_device", at, at + 1000, ",\"name\":3,\"thread\":1");
	snprintf(runs, sizeof(runs), ",\"host_gaps\":%s", host_gaps);
	made.runs = *host_gaps ? runs : NULL;
	made_end(&made, at + 1000, 1, at + 1000);
}

static void read_program(const struct shape *s, const char *host_gaps, struct trace *t)
{
	put_program(s, host_gaps);
	cr_assert(zero(int, trace_read(t, made.path)), "%s", made.path);
	made_remove(&made);
}

/* What a run of a shape says of a recording of another; "" for nothing: static memory. */
static const char *joined(const struct shape *full, const struct shape *light)
{
	static char text[4096];
	struct shape alone = *light;
	struct trace f, l;
	struct host_gaps *g;
	json_t *o;
	char *dumped;

	alone.alone = true;
	read_program(full, "", &f);
	read_program(&alone, "", &l);
	g = host_gaps_new(&f);
	host_gaps_count(g, &l);
	host_gaps_add(g, &l);
	o = host_gaps_json(g);
	dumped = o ? json_dumps(o, JSON_COMPACT) : strdup("");
	snprintf(text, sizeof(text), "%s", dumped);
	free(dumped);
	json_decref(o);
	host_gaps_free(g);
	trace_release(&f);
	trace_release(&l);
	return text;
}

/* How many times as long as recorded; *ns: re-timed, the steps alone. */
static double factor_of(const struct shape *full, const char *host_gaps, double *ns)
{
	struct call_prices prices;
	struct timed timed;
	struct steps steps;
	struct trace t;
	double factor;

	read_program(full, host_gaps, &t);
	steps_init(&steps, &t);
	prices = prices_of_trace(&t, QUANTILE_P50, QUANTILE_P50, QUANTILE_P50);
	host_gaps_apply(&steps, &prices);
	factor = steps.graph_factor;
	timed_priced(&timed, &steps, &prices);
	*ns = timed.call[full->steps * (GRAPHS + 1)].t1 - timed.call[0].t1;
	timed_release(&timed);
	steps_release(&steps);
	trace_release(&t);
	return factor;
}

static double factor_by(const struct shape *full, long light_ns, double *ns)
{
	struct shape light = *full;

	light.graph_ns = light_ns;
	return factor_of(full, joined(full, &light), ns);
}

/* CUPTI's nodes stand further apart. What the runs waited says by how much. */
Test(small_host_graphs, they_are_as_long_as_in_the_runs)
{
	const double wanted = STEPS * (GRAPHS * 94000.0 + MADE_L + MADE_WAKE);
	struct shape light = recorded;
	double ns;

	cr_expect(epsilon_eq(dbl, factor_by(&recorded, 94000, &ns), 0.94, 1e-2));
	cr_expect(epsilon_eq(dbl, ns, wanted, 1));
	light.graph_ns = 94000;
	cr_expect(ne(ptr, strstr(joined(&recorded, &light), "\"graph_waits\":{\"n\":3"), NULL),
		  "not the one that waits for nothing");
	cr_expect(eq(dbl, factor_by(&recorded, 120000, &ns), 1), "no longer than recorded");
	cr_expect(eq(dbl, factor_by(&recorded, 40000, &ns), 1), "another program's");
}

/* Two at once are one wait: both are as much shorter. */
Test(small_host_graphs, at_once_they_count_once)
{
	const double wanted = STEPS * (GRAPHS / 2 * 80000.0 + MADE_L + MADE_WAKE);
	struct shape full = recorded;
	double ns;

	full.at_once = true;
	cr_expect(epsilon_eq(dbl, factor_by(&full, 80000, &ns), 0.8, 1e-2));
	cr_expect(epsilon_eq(dbl, ns, wanted, 0.01 * wanted));
}

/* Each counts, whichever was called first. */
Test(small_host_graphs, streams_may_run_in_another_order)
{
	struct shape full = recorded;
	const char *o;

	full.turned = true;
	o = joined(&full, &full);
	cr_expect(ne(ptr, strstr(o, "\"graph_waits\":{\"n\":3"), NULL), "%s", o);
}

/* Four tenths of the last stretch: the host did not wait for it. */
Test(small_host_graphs, what_runs_on_behind_a_wait_is_not_in_it)
{
	struct shape full = recorded, light = recorded;
	const char *o;

	full.outlives = light.outlives = true;
	o = joined(&full, &light);
	cr_expect(ne(ptr, strstr(o, "\"graph_waits\":{\"n\":3"), NULL), "%s", o);
}

/* Too few launches for any pair: the waits alone are known. */
Test(small_host_graphs, few_of_them_are_enough)
{
	struct shape full = recorded, light;
	const char *o;
	double ns;

	full.steps = 1;
	light = full;
	light.graph_ns = 90000;
	o = joined(&full, &light);
	cr_expect(ne(ptr, strstr(o, "\"pairs\":[]"), NULL), "%s", o);
	cr_expect(epsilon_eq(dbl, factor_of(&full, o, &ns), 0.9, 1e-2));
}

static void says_nothing_of_graphs(const struct shape *full, const struct shape *light)
{
	const char *o = joined(full, light);

	cr_expect(eq(ptr, strstr(o, "graph_waits"), NULL), "%s", o);
}

/* Which thread's wait comes first differs from run to run. */
Test(small_host_graphs, where_threads_wait_nothing_is_known)
{
	struct shape full = recorded, light = recorded;

	full.beside = light.beside = true;
	says_nothing_of_graphs(&full, &light);
}

/* Within the 2 calls that counts may differ by. */
Test(small_host_graphs, runs_that_wait_otherwise_say_nothing)
{
	struct shape more = recorded;

	more.more_waits = 1;
	says_nothing_of_graphs(&recorded, &more);
	says_nothing_of_graphs(&more, &recorded);
}

/* Waits that one recorder alone sees are within stretches. */
Test(small_host_graphs, only_common_waits_part_them)
{
	struct shape full = recorded, light = recorded;
	double ns;

	full.queries = 5;
	light.graph_ns = 94000;
	cr_expect(epsilon_eq(dbl, factor_of(&full, joined(&full, &light), &ns), 0.94, 2e-2));
}

/* The runs waited four times for graphs, this trace three times. */
Test(small_host_graphs, another_number_of_waits)
{
	static const char four[] = "{\"runs\":1,\"functions\":[\"cudaDeviceSynchronize\"],"
				   "\"pairs\":[],\"graph_waits\":{\"n\":4,\"ns\":2800000}}";
	double ns;

	cr_expect(eq(dbl, factor_of(&recorded, four, &ns), 1));
}

/* Kernels take what they take: what is taken off is the gaps between them. */
Test(small_host_graphs, their_kernels_stay)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	const double all = STEPS * GRAPHS * 60000.0 + 60000;
	struct shape full = recorded, light;
	struct profile p;

	full.busy_ns = 60000;
	light = full;
	light.graph_ns = 80000;
	put_program(&full, joined(&full, &light));
	cr_assert(zero(int, profile_make(&p, made.path, &rules, false)));
	made_remove(&made);
	cr_expect(epsilon_eq(dbl, p.steps.graph_factor, 0.8, 1e-2));
	cr_expect(epsilon_eq(dbl, p.shares.ns[SHARE_KERNELS], all, 0.01 * all));
	profile_release(&p);
}
