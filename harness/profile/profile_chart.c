/* profile_chart.c - an analysed trace drawn. */
#include "harness/profile/profile_chart.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/chart/words.h"

/* Rows of a timeline; boxes that are drawn as they are; columns of a picture otherwise. */
enum { THREADS_MAX = 4, STREAMS_MAX = 8, BOXES_MAX = 4000, COLUMNS = 1500 };
/* Calls of a step that is drawn. */
enum { STEP_CALLS_MAX = 200 };
/* Waits from which on there are steps between them. */
enum { WAITS_LEAST = 3 };
/* Points of a curve; colours of ranges, and letters of a name that fills the width. */
enum { BINS = 150, SHADES = 3, LETTERS = 120 };

/* ---- boxes -------------------------------------------------------------------------------- */

struct box {
	double t0, t1;
	int row;
	enum share share; /* its colour */
};

struct boxes {
	struct box *box;
	int64_t n, room;
	double t0, t1; /* what is drawn */
	int rows;
	int *thread_row, *stream_row; /* of each; -1: not drawn */
	int idle_row;
	int range_row; /* the host's, with the device's below it; -1: no ranges */
	int left_out;  /* threads and streams without a row */
};

static void add_box(struct boxes *b, const struct span *s, int row, enum share share)
{
	double t0 = fmax(s->t0, b->t0), t1 = fmin(s->t1, b->t1);

	if (row < 0 || !(t1 > t0))
		return;
	if (b->n == b->room) {
		b->room = b->room ? 2 * b->room : 256;
		b->box = realloc(b->box, (size_t)b->room * sizeof(*b->box));
		CHECK(b->box, "memory of %ld boxes", (long)b->room);
	}
	b->box[b->n++] = (struct box){ t0, t1, row, share };
}

static enum share op_share(const struct trace_op *op)
{
	return op->kind == OP_KERNEL || op->kind == OP_GRAPH ? SHARE_KERNELS
	       : op->kind == OP_COPY			     ? SHARE_COPIES
							     : SHARE_STREAM;
}

/* The first `most` of n that have something to show get rows, from `row` on; how many do not. */
static int give_rows(int *rows, const bool *used, int64_t n, int most, int *row)
{
	int given = 0, without = 0;

	for (int64_t i = 0; i < n; i++) {
		rows[i] = used[i] && given < most ? *row + given++ : -1;
		without += used[i] && rows[i] < 0;
	}
	*row += given;
	return without;
}

static void find_rows(struct boxes *b, const struct trace *t)
{
	bool *thread = calloc((size_t)t->threads + 1, sizeof(*thread));
	bool *stream = calloc((size_t)t->streams + 1, sizeof(*stream));

	b->thread_row = calloc((size_t)t->threads + 1, sizeof(int));
	b->stream_row = calloc((size_t)t->streams + 1, sizeof(int));
	CHECK(thread && stream && b->thread_row && b->stream_row, "memory of rows");
	for (int64_t i = 0; i < t->calls; i++)
		thread[t->call[i].thread] = true;
	for (int64_t i = 0; i < t->ops; i++)
		stream[t->op[i].stream] = true;
	b->left_out = give_rows(b->thread_row, thread, t->threads, THREADS_MAX, &b->rows);
	b->left_out += give_rows(b->stream_row, stream, t->streams, STREAMS_MAX, &b->rows);
	b->idle_row = b->rows++;
	free(thread);
	free(stream);
}

/* Threads above, then streams, then why the device idles, then ranges. */
static void boxes_init(struct boxes *b, const struct profile *p, double t0, double t1)
{
	const struct trace *t = &p->trace;

	*b = (struct boxes){ .t0 = t0, .t1 = t1 };
	find_rows(b, t);
	for (int64_t i = 0; i < t->calls; i++)
		add_box(b, &p->times.call[i], b->thread_row[t->call[i].thread],
			share_of_call(&p->steps, i));
	for (int64_t i = 0; i < t->ops; i++)
		add_box(b, &p->times.op[i], b->stream_row[t->op[i].stream], op_share(&t->op[i]));
	for (int64_t i = 0; i < p->shares.idles; i++) {
		const struct idle *idle = &p->shares.idle[i];

		add_box(b, &(struct span){ idle->t0, idle->t1 }, b->idle_row, idle->share);
	}
	b->range_row = p->ranges.spans ? b->rows : -1;
	b->rows += p->ranges.spans ? 2 : 0;
}

static void boxes_release(struct boxes *b)
{
	free(b->box);
	free(b->thread_row);
	free(b->stream_row);
}

/* ---- many boxes: columns of the picture ---------------------------------------------------- */

/* Adds a box to the time that each share has of each column of its row. */
static void spread(const struct boxes *b, const struct box *box, double *time)
{
	double width = (b->t1 - b->t0) / COLUMNS;
	int first = (int)((box->t0 - b->t0) / width), last = (int)((box->t1 - b->t0) / width);

	for (int i = first; i <= last && i < COLUMNS; i++) {
		double from = fmax(box->t0, b->t0 + i * width);
		double to = fmin(box->t1, b->t0 + (i + 1) * width);

		time[(box->row * COLUMNS + i) * SHARES + (int)box->share] += fmax(to - from, 0);
	}
}

/* What has most of a column; SHARES: nothing has a tenth of it. */
static enum share most_of(const double *time, double width)
{
	enum share best = SHARES;

	for (int i = 0; i < SHARES; i++)
		if (time[i] > 0.1 * width && (best == SHARES || time[i] > time[best]))
			best = (enum share)i;
	return best;
}

static void put_columns(const struct boxes *b, const double *time, int row, double unit, FILE *out)
{
	double width = (b->t1 - b->t0) / COLUMNS;
	int begin = 0;

	for (int i = 0; i < COLUMNS; i++) {
		const double *at = &time[(row * COLUMNS + i) * SHARES];
		enum share share = most_of(at, width);

		if (i + 1 < COLUMNS && most_of(at + SHARES, width) == share)
			continue;
		if (share != SHARES)
			fprintf(out, "%.9g,%.9g,%d,%d\n", (b->t0 + begin * width) / unit,
				(b->t0 + (i + 1) * width) / unit, row, (int)share);
		begin = i + 1;
	}
}

static void put_many(const struct boxes *b, double unit, FILE *out)
{
	double *time = calloc((size_t)(b->rows * COLUMNS * SHARES), sizeof(*time));

	CHECK(time, "memory of a timeline");
	for (int64_t i = 0; i < b->n; i++)
		spread(b, &b->box[i], time);
	for (int row = 0; row < b->rows; row++)
		put_columns(b, time, row, unit, out);
	free(time);
}

static void put_boxes(const struct boxes *b, const struct profile *p, double unit, FILE *out)
{
	(void)p;
	fprintf(out, "t0,t1,row,share\n");
	if (b->n > BOXES_MAX) {
		put_many(b, unit, out);
		return;
	}
	for (int64_t i = 0; i < b->n; i++)
		fprintf(out, "%.9g,%.9g,%d,%d\n", b->box[i].t0 / unit, b->box[i].t1 / unit,
			b->box[i].row, (int)b->box[i].share);
}

/* ---- ranges: the host's, and what the device did of them ------------------------------------- */

/* The main thread, where it has ranges; else the first one that has. */
static int32_t ranges_thread(const struct profile *p)
{
	const struct ranges *r = &p->ranges;

	for (int64_t i = 0; i < r->spans; i++)
		if (r->span[i].thread == p->steps.main)
			return p->steps.main;
	return r->span[0].thread;
}

/* Boxes of a row that are too narrow to be told apart become one, without a name. */
struct merging {
	const struct boxes *b;
	double unit;
	FILE *out;
	struct span box;
	const char *name; /* NULL: of several */
	int row, shade;
	bool has_box;
	int64_t drawn;
};

/* Where there is room for all of it; without what a file of columns minds. */
static void put_range_name(const char *name, double part, FILE *out)
{
	bool fits = (double)strlen(name) <= part * LETTERS;

	fputc('"', out);
	for (int i = 0; fits && name[i]; i++)
		fputc(name[i] == '"' || (unsigned char)name[i] < ' ' ? ' ' : name[i], out);
	fputs("\"\n", out);
}

static void put_merged(struct merging *m)
{
	double t0 = fmax(m->box.t0, m->b->t0), t1 = fmin(m->box.t1, m->b->t1);

	if (m->has_box && t1 > t0) {
		fprintf(m->out, "%.9g,%.9g,%d,%d,", t0 / m->unit, t1 / m->unit, m->row, m->shade);
		put_range_name(m->name ? m->name : "", (t1 - t0) / (m->b->t1 - m->b->t0), m->out);
		m->drawn++;
	}
	m->has_box = false;
}

static void merge(struct merging *m, const struct span *s, const char *name, int shade)
{
	double narrow = (m->b->t1 - m->b->t0) / COLUMNS;

	if (m->has_box && s->t0 >= m->box.t0 && s->t1 - m->box.t0 < narrow) {
		m->box.t1 = fmax(m->box.t1, s->t1);
		m->name = NULL;
		return;
	}
	put_merged(m);
	m->box = *s;
	m->name = name;
	m->shade = shade;
	m->has_box = true;
}

/* Outermost ranges of one thread: the host's row, or the device's. */
static void put_range_row(struct merging *m, const struct profile *p, bool device)
{
	int32_t thread = ranges_thread(p);

	m->row = m->b->range_row + device;
	for (int64_t i = 0; i < p->ranges.spans; i++) {
		const struct range_span *s = &p->ranges.span[i];

		if (s->thread == thread && !s->depth && (!device || s->has_device))
			merge(m, device ? &s->device : &s->host, trace_name(&p->trace, s->name),
			      s->name < 0 ? 0 : s->name % SHADES);
	}
	put_merged(m);
}

static void put_ranges(const struct boxes *b, const struct profile *p, double unit, FILE *out)
{
	struct merging m = { .b = b, .unit = unit, .out = out };

	fprintf(out, "t0,t1,row,shade,name\n");
	for (int device = 0; b->range_row >= 0 && device < 2; device++)
		put_range_row(&m, p, device);
	if (!m.drawn) /* gnuplot remarks on a file without a row: one that is not drawn */
		fprintf(out, "%.9g,%.9g,-9,0,\"\"\n", b->t0 / unit, b->t0 / unit);
}

/* ---- how busy host and device are ------------------------------------------------------------ */

/* Of the parts of each bin. */
static void take_off(const struct boxes *b, double *part, double from, double to)
{
	double width = (b->t1 - b->t0) / BINS;

	from = fmax(from, b->t0);
	to = fmin(to, b->t1);
	if (!(from < to))
		return;
	for (int i = (int)((from - b->t0) / width); i < BINS && b->t0 + i * width < to; i++)
		part[i] -=
			(fmin(to, b->t0 + (i + 1) * width) - fmax(from, b->t0 + i * width)) / width;
}

static bool host_waits(enum step_role role)
{
	return role == STEP_SYNC || role == STEP_COPY_WAIT || role == STEP_FREE_WAIT ||
	       role == STEP_POLL || role == STEP_POLL_WAIT;
}

/*
 * The host: of the main thread, all but its waits. The device: all but its idle times; not known of
 * calls alone.
 */
static void put_busy(const struct boxes *b, const struct profile *p, double unit, FILE *out)
{
	double host[BINS], device[BINS], width = (b->t1 - b->t0) / BINS;

	for (int i = 0; i < BINS; i++) {
		host[i] = 1;
		device[i] = p->shares.calls_alone ? NAN : 1;
	}
	for (int64_t i = 0; i < p->trace.calls; i++)
		if (p->trace.call[i].thread == p->steps.main && host_waits(p->steps.step[i].role))
			take_off(b, host, p->times.call[i].t0, p->times.call[i].t1);
	for (int64_t i = 0; i < p->shares.idles; i++)
		take_off(b, device, p->shares.idle[i].t0, p->shares.idle[i].t1);
	fprintf(out, "t,host,device\n");
	for (int i = 0; i < BINS; i++)
		fprintf(out, "%.9g,%.4f,%.4f\n", (b->t0 + (i + 0.5) * width) / unit,
			fmax(host[i], 0), fmax(device[i], 0));
}

/* ---- one step ----------------------------------------------------------------------------- */

static bool is_wait(enum step_role role, bool copies)
{
	return copies ? role == STEP_COPY_WAIT : role == STEP_SYNC || role == STEP_POLL_WAIT;
}

/* Returns of the main thread's synchronizes, or of its copies that wait; in order. */
static int64_t take_waits(const struct profile *p, bool copies, double *at)
{
	int64_t n = 0;

	for (int64_t i = 0; i < p->trace.calls; i++)
		if (p->trace.call[i].thread == p->steps.main &&
		    is_wait(p->steps.step[i].role, copies))
			at[n++] = p->times.call[i].t1;
	return n;
}

/* So many calls in the middle, where there are no waits to go by. */
static struct span middle_of(const struct profile *p)
{
	int64_t first = p->trace.calls / 2 - STEP_CALLS_MAX / 8;
	int64_t last = p->trace.calls / 2 + STEP_CALLS_MAX / 8;

	first = first < 0 ? 0 : first;
	last = last >= p->trace.calls ? p->trace.calls - 1 : last;
	return (struct span){ p->times.call[first].t0, p->times.call[last].t1 };
}

/* Lengths of the steps from wait `first` to wait `last`: their median. */
static double median_step(const double *at, int64_t first, int64_t last)
{
	double *length = calloc((size_t)(last - first) + 1, sizeof(*length)), median;

	CHECK(length, "memory of %ld steps", (long)(last - first));
	for (int64_t i = first; i < last; i++)
		length[i - first] = at[i + 1] - at[i];
	median = median_of(length, (int)(last - first));
	free(length);
	return median;
}

/* From one wait to the next: the one nearest to the median length, of those in the middle. */
static struct span step_of(const struct profile *p)
{
	double *at = calloc((size_t)p->trace.calls + 1, sizeof(*at)), median;
	struct span step = middle_of(p);
	int64_t n, first, last, best;

	CHECK(at, "memory of %ld calls", (long)p->trace.calls);
	n = take_waits(p, false, at);
	if (n < WAITS_LEAST)
		n = take_waits(p, true, at);
	if (n >= WAITS_LEAST) {
		best = first = n / 4;
		last = n - 1 - n / 4;
		median = median_step(at, first, last);
		for (int64_t i = first; i < last; i++)
			if (fabs(at[i + 1] - at[i] - median) <
			    fabs(at[best + 1] - at[best] - median))
				best = i;
		step = (struct span){ at[best], at[best + 1] };
	}
	free(at);
	return step;
}

/* ---- texts -------------------------------------------------------------------------------- */

static double unit_of(double ns, const char **name)
{
	*name = ns < 2e6 ? "µs" : ns < 2e9 ? "ms" : "s";
	return ns < 2e6 ? 1e3 : ns < 2e9 ? 1e6 : 1e9;
}

static void label_rows(struct plot *plot, const struct profile *p, const struct boxes *b)
{
	const struct trace *t = &p->trace;

	for (int i = 0; i < t->threads; i++)
		if (b->thread_row[i] >= 0)
			plot_text(plot, words_name("row", b->thread_row[i]).s, "thread %ld",
				  (long)t->thread[i].tid);
	for (int i = 0; i < t->streams; i++)
		if (b->stream_row[i] >= 0)
			plot_text(plot, words_name("row", b->stream_row[i]).s, "stream %ld",
				  (long)t->stream[i].id);
	plot_text(plot, words_name("row", b->idle_row).s, "device idle");
	if (b->range_row >= 0) {
		plot_text(plot, words_name("row", b->range_row).s, "ranges");
		plot_text(plot, words_name("row", b->range_row + 1).s, "on the device");
	}
	plot_count(plot, "rows", b->rows);
}

/* The colours' names and shares: all three charts have them. */
static void label_shares(struct plot *plot, const struct profile *p)
{
	plot_count(plot, "shares", SHARES);
	for (int i = 0; i < SHARES; i++) {
		plot_text(plot, words_name("share", i).s, "%s", share_names[i]);
		plot_text(plot, words_name("text", i).s, "%s",
			  share_text(&p->shares, (enum share)i));
		plot_number(plot, words_name("percent", i).s,
			    100 * share_of(&p->shares, (enum share)i));
	}
}

static void label_heading(struct plot *plot, const struct profile *p, const char *what)
{
	char program[256];
	enum share largest[2];

	snprintf(program, sizeof(program), "%s", p->trace.program);
	words_cut(program, sizeof(program), 50);
	plot_text(plot, "title", "%s%s%s", program, *program ? ": " : "", what);
	shares_largest(&p->shares, largest);
	words_finding(plot, "%s; %s %.0f %%, %s %.0f %% of %s",
		      p->has_kind ? program_kind_names[p->kind] : "kind unknown",
		      share_names[largest[0]], 100 * share_of(&p->shares, largest[0]),
		      share_names[largest[1]], 100 * share_of(&p->shares, largest[1]),
		      words_time(p->shares.total_ns).s);
	plot_text(plot, "made1", "%s, self-check: %s", profile_retimed(p), trust_names[p->trust]);
	plot_text(plot, "made2", "%s", plot->device);
}

/* ---- files -------------------------------------------------------------------------------- */

typedef void put_fn(const struct boxes *b, const struct profile *p, double unit, FILE *out);

static int write_data(struct plot *plot, const char *variable, const char *suffix, put_fn *put,
		      const struct boxes *b, const struct profile *p, double unit)
{
	struct output out = { 0 };
	int err = plot_open(plot, variable, suffix, &out);

	if (!err) {
		put(b, p, unit, out.file);
		err = output_commit(&out);
	}
	output_discard(&out);
	return err;
}

static int write_timeline(struct plot *plot, const struct profile *p, const struct span *span,
			  const char *what)
{
	const char *unit_name;
	double unit = unit_of(span->t1 - span->t0, &unit_name);
	struct boxes b;
	int err;

	boxes_init(&b, p, span->t0, span->t1);
	label_heading(plot, p, what);
	label_shares(plot, p);
	label_rows(plot, p, &b);
	plot_text(plot, "unit", "%s", unit_name);
	plot_text(plot, "note", b.left_out ? "%d threads and streams are not shown" : "",
		  b.left_out);
	plot_number(plot, "from", span->t0 / unit);
	plot_number(plot, "to", span->t1 / unit);
	err = write_data(plot, "boxes", "-boxes.csv", put_boxes, &b, p, unit);
	if (!err)
		err = write_data(plot, "busy", "-busy.csv", put_busy, &b, p, unit);
	if (!err)
		err = write_data(plot, "spans", "-ranges.csv", put_ranges, &b, p, unit);
	boxes_release(&b);
	return err;
}

/* "app" of "runs/app.trace.gz"; what a variable of gnuplot or a shell minds becomes '_'. */
static char *picture_name(const struct profile *p, const char *what)
{
	const char *slash = strrchr(p->trace.path, '/');
	char stem[32], *name;

	snprintf(stem, sizeof(stem), "%.31s", slash ? slash + 1 : p->trace.path);
	stem[strcspn(stem, ".")] = '\0';
	for (char *c = stem; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-')
			*c = '_';
	CHECK(asprintf(&name, "%s-%s", *stem ? stem : "trace", what) > 0, "memory of a name");
	return name;
}

static const char *device_of(const struct profile *p)
{
	const char *device = json_get_text(p->trace.header, "device");

	return *device ? device : json_get_text(p->trace.header, "recorder");
}

int profile_chart_write(struct picture *out, const struct profile *p, enum profile_chart chart,
			const char *folder)
{
	static const char *const names[PROFILE_CHARTS] = { "timeline", "step", "shares" };
	struct span whole = { p->times.start, p->times.end }, step = step_of(p);
	int err = 0;

	*out = (struct picture){ .asked = true };
	plot_begin(&out->plot, folder, picture_name(p, names[chart]), device_of(p));
	out->plot.script =
		chart == PROFILE_SHARES ? "plots/profile_shares.gp" : "plots/profile_timeline.gp";
	if (chart == PROFILE_TIMELINE) {
		err = write_timeline(&out->plot, p, &whole, "timeline");
	} else if (chart == PROFILE_STEP) {
		err = write_timeline(&out->plot, p, &step, "one step of the timeline");
	} else {
		label_heading(&out->plot, p, "where its time goes");
		label_shares(&out->plot, p);
	}
	return err ? err : picture_write(out);
}

void profile_chart_release(struct picture *p)
{
	free((char *)(uintptr_t)p->plot.name);
	picture_release(p);
}
