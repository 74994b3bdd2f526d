/* writer.c - rows of a trace and the tables that they use, as lines of JSON. */
#include "common/recorder/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/recorder/fold.h"

enum { BUFFER_BYTES = 256 << 10, FLUSH_BYTES = BUFFER_BYTES / 2, BUCKETS = 1024 };

/* A text of the table. */
struct text {
	struct text *next;
	uint32_t id;
	char text[];
};

/* Numbers that have a row already. */
struct known {
	bool *is_known;
	size_t room;
};

struct trace_writer {
	dev_t device; /* of the file, and its number there */
	ino_t file;
	int fd, error; /* error: negative, of a write that failed */
	char *buffer;
	size_t used, room;
	int64_t rows, start_ns;
	off_t end; /* of the file, before the row that says so */
	bool is_anonymous;
	struct text *texts[BUCKETS];
	uint32_t n_texts;
	struct known streams, graphs;
};

/* ---- lines ----------------------------------------------------------------------------- */

/* In full; interrupted calls go on. */
static int write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		data += done < 0 ? 0 : done;
		n -= done < 0 ? 0 : (size_t)done;
	}
	return 0;
}

/* A program may close what it has not opened, and open a file of its own under that number. */
static bool is_open(const struct trace_writer *w)
{
	struct stat is;

	return !fstat(w->fd, &is) && is.st_dev == w->device && is.st_ino == w->file;
}

/* Up to the file's last line end that leaves so many bytes of it; 0: there is none. */
static off_t shorter_by(const struct trace_writer *w, size_t bytes)
{
	struct stat is;
	off_t begin = 0;
	ssize_t n;

	if (fstat(w->fd, &is))
		return 0;
	if (is.st_size > (off_t)w->room)
		begin = is.st_size - (off_t)w->room;
	n = pread(w->fd, w->buffer, w->room, begin) - (ssize_t)bytes;
	while (n > 0 && w->buffer[n - 1] != '\n')
		n--;
	return n > 0 ? begin + n : 0;
}

/* A full disk has no room for a row that says so: the last ones give theirs. */
static void write_failed(struct trace_writer *w)
{
	char row[128];
	int n = snprintf(row, sizeof(row), "{\"record\":\"failed\",\"why\":\"%.80s\"}\n",
			 strerror(-w->error));
	off_t end = shorter_by(w, (size_t)n);

	if (end && !ftruncate(w->fd, end))
		write_all(w->fd, row, (size_t)n);
}

int trace_flush(struct trace_writer *w)
{
	if (!w->error && w->used && !is_open(w)) {
		w->error = -EBADF;
	} else if (!w->error && w->used) {
		w->error = write_all(w->fd, w->buffer, w->used);
		if (w->error)
			write_failed(w);
	}
	if (w->error && w->used)
		fprintf(stderr, "rift: the trace ends here: %s\n", strerror(-w->error));
	w->used = 0;
	return w->error;
}

/* Between lines: whole ones alone are written. */
static void begin_line(struct trace_writer *w)
{
	if (w->used > FLUSH_BYTES)
		trace_flush(w);
}

static bool make_room(struct trace_writer *w, size_t bytes)
{
	size_t room = w->room;

	while (room < bytes)
		room *= 2;
	char *larger = room > w->room ? realloc(w->buffer, room) : w->buffer;

	if (!larger) {
		w->error = -ENOMEM;
		fputs("rift: the trace ends here: no memory\n", stderr);
		return false;
	}
	w->buffer = larger;
	w->room = room;
	return true;
}

static void put(struct trace_writer *w, const char *text, size_t n)
{
	if (w->error || (w->used + n > w->room && !make_room(w, w->used + n)))
		return;
	memcpy(w->buffer + w->used, text, n);
	w->used += n;
}

static void put_text(struct trace_writer *w, const char *text)
{
	put(w, text, strlen(text));
}

static void put_number(struct trace_writer *w, int64_t value)
{
	char digits[24], *end = digits + sizeof(digits), *c = end;
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--c = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--c = '-';
	put(w, c, (size_t)(end - c));
}

/* `"key":`, with a comma before it. */
static void put_key(struct trace_writer *w, const char *key)
{
	put(w, ",\"", 2);
	put_text(w, key);
	put(w, "\":", 2);
}

static void put_member(struct trace_writer *w, const char *key, int64_t value)
{
	put_key(w, key);
	put_number(w, value);
}

/* Bytes of the UTF-8 character that begins there; 0: none does. */
static size_t utf8_bytes(const unsigned char *c)
{
	size_t n = *c < 0x80		     ? 1
		   : *c >= 0xc2 && *c < 0xe0 ? 2
		   : *c >= 0xe0 && *c < 0xf0 ? 3
		   : *c >= 0xf0 && *c < 0xf5 ? 4
					     : 0;

	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
	    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
		return 0;
	return n;
}

/* In quotes. A byte that is no UTF-8, as a program's argument may have, becomes "?". */
static void put_quoted(struct trace_writer *w, const char *text)
{
	char escaped[8];

	put(w, "\"", 1);
	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		size_t n = utf8_bytes(c);

		if (*c == '"' || *c == '\\')
			put(w, "\\", 1);
		if (*c < 0x20 || !n)
			put(w, escaped,
			    (size_t)snprintf(escaped, sizeof(escaped), n ? "\\u%04x" : "?", *c));
		else
			put(w, (const char *)c, n);
		c += n ? n : 1;
	}
	put(w, "\"", 1);
}

static void put_named(struct trace_writer *w, const char *key, const char *text)
{
	put_key(w, key);
	put_quoted(w, text);
}

static void end_line(struct trace_writer *w)
{
	put(w, "}\n", 2);
}

/* ---- birth and death ------------------------------------------------------------------- */

struct trace_writer *trace_writer_new(const char *path)
{
	struct trace_writer *w = calloc(1, sizeof(*w));
	char *buffer = malloc(BUFFER_BYTES);
	struct stat is;
	int fd = w && buffer ? open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666)
			     : -1;

	if (fd < 0) {
		int err = w && buffer ? errno : ENOMEM;

		free(buffer);
		free(w);
		errno = err;
		return NULL;
	}
	w->fd = fd;
	if (!fstat(fd, &is)) {
		w->device = is.st_dev;
		w->file = is.st_ino;
	}
	w->buffer = buffer;
	w->room = BUFFER_BYTES;
	return w;
}

void trace_writer_free(struct trace_writer *w)
{
	trace_flush(w);
	for (int i = 0; i < BUCKETS; i++)
		for (struct text *t = w->texts[i], *next; t; t = next) {
			next = t->next;
			free(t);
		}
	if (is_open(w))
		close(w->fd);
	free(w->streams.is_known);
	free(w->graphs.is_known);
	free(w->buffer);
	free(w);
}

void trace_writer_abandon(struct trace_writer *w)
{
	if (is_open(w))
		close(w->fd);
}

int64_t trace_rows(const struct trace_writer *w)
{
	return w->rows;
}

/* ---- the header ------------------------------------------------------------------------ */

/* The words of the command line, as an array. */
static void put_program(struct trace_writer *w)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f = w->is_anonymous ? NULL : fopen("/proc/self/cmdline", "re");
	bool first = true;

	put_key(w, "program");
	put(w, "[", 1);
	while (f && getdelim(&line, &room, '\0', f) > 0) {
		if (!first)
			put(w, ",", 1);
		put_quoted(w, line);
		first = false;
	}
	put(w, "]", 1);
	free(line);
	if (f)
		fclose(f);
}

static void put_start(struct trace_writer *w, const struct trace_header *h)
{
	struct timespec now, real;
	struct tm utc;
	char text[32];

	clock_gettime(CLOCK_MONOTONIC, &now);
	clock_gettime(CLOCK_REALTIME, &real);
	real.tv_sec -= (int64_t)now.tv_sec - h->start_ns / 1000000000;
	gmtime_r(&real.tv_sec, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	put_named(w, "start_utc", text);
	put_member(w, "start_ns", h->start_ns);
	if (h->process_start_ns)
		put_member(w, "process_start_ns", h->process_start_ns - h->start_ns);
}

static void put_known(struct trace_writer *w, int64_t value)
{
	if (value)
		put_number(w, value);
	else
		put(w, "null", 4);
}

static void put_limits(struct trace_writer *w, const struct trace_header *h)
{
	put_text(w, ",\"limits\":{\"delay_ns\":");
	put_number(w, h->delay_ns);
	put_key(w, "duration_ns");
	put_known(w, h->duration_ns);
	put_member(w, "max_events", h->max_events);
	put_key(w, "range");
	if (h->range && !w->is_anonymous)
		put_quoted(w, h->range);
	else
		put(w, "null", 4);
	put(w, "}", 1);
}

static void put_spread(struct trace_writer *w, const char *key, const struct trace_spread *s)
{
	put_key(w, key);
	if (!s->n) {
		put(w, "null", 4);
		return;
	}
	put(w, "[", 1);
	put_number(w, s->p05);
	put(w, ",", 1);
	put_number(w, s->p50);
	put(w, ",", 1);
	put_number(w, s->p95);
	put(w, "]", 1);
}

static void put_if(struct trace_writer *w, const char *key, uint64_t value)
{
	if (value)
		put_member(w, key, (int64_t)value);
}

static void put_calibration(struct trace_writer *w, const struct trace_calibration *c)
{
	put_key(w, "calibration");
	if (!c) {
		put(w, "null", 4);
		return;
	}
	put_text(w, "{\"n\":");
	put_number(w, c->launch_call.n);
	put_spread(w, "launch_call_ns", &c->launch_call);
	put_spread(w, "launch_and_wait_ns", &c->launch_and_wait);
	put_spread(w, "gap_ns", &c->gap);
	put_key(w, "window");
	put_known(w, c->window);
	if (c->has_graphs) {
		put_text(w, ",\"graph_launch_ns\":[");
		put_number(w, c->graph_launch_ns);
		put(w, ",", 1);
		put_number(w, c->graph_node_ns);
		put(w, "]", 1);
	}
	put_text(w, ",\"recorder\":{\"call_ns\":");
	put_number(w, c->call_ns);
	put_member(w, "pace_ns", c->pace_ns);
	put_member(w, "kernel_ns", c->kernel_ns);
	put_if(w, "copy_pace_ns", (uint64_t)c->copy_pace_ns);
	put_if(w, "not_recorded_ns", (uint64_t)c->not_recorded_ns);
	put(w, "}}", 2);
}

void trace_write_header(struct trace_writer *w, const struct trace_header *h)
{
	w->start_ns = h->start_ns;
	w->is_anonymous = h->is_anonymous;
	put_text(w, "{\"record\":\"trace\",\"trace\":\"1.0\",\"tool\":\"rift\"");
	put_program(w);
	put_member(w, "pid", getpid());
	put_start(w, h);
	put_named(w, "recorder", h->recorder);
	put_named(w, "device", h->device);
	put_named(w, "device_times", h->has_no_times ? "none" : "recorded");
	put_key(w, "anonymous");
	put_text(w, h->is_anonymous ? "true" : "false");
	put_text(w, ",\"cuda\":{\"runtime\":");
	put_known(w, h->runtime);
	put_key(w, "driver");
	put_known(w, h->driver);
	put_key(w, "cupti");
	put_known(w, h->cupti);
	put(w, "}", 1);
	put_limits(w, h);
	put_calibration(w, h->calibration);
	end_line(w);
	trace_flush(w);
}

/* ---- tables ---------------------------------------------------------------------------- */

unsigned trace_hash(const char *text)
{
	unsigned hash = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

static void write_string(struct trace_writer *w, uint32_t id, const char *text, const char *kind)
{
	char number[32];

	snprintf(number, sizeof(number), "%s %u", kind ? kind : "", (unsigned)id);
	begin_line(w);
	put_text(w, "{\"record\":\"string\"");
	put_member(w, "id", id);
	put_named(w, "text", w->is_anonymous && kind ? number : text);
	end_line(w);
}

/* The number of a text, with its row where it is new. kind: what it names, if not CUDA's own. */
static uint32_t string_id(struct trace_writer *w, const char *text, const char *kind)
{
	struct text **bucket = &w->texts[trace_hash(text) % BUCKETS], *t = *bucket;
	size_t bytes = strlen(text) + 1;

	while (t && strcmp(t->text, text))
		t = t->next;
	if (t)
		return t->id;
	t = malloc(sizeof(*t) + bytes);
	if (!t)
		return 0;
	t->id = ++w->n_texts;
	memcpy(t->text, text, bytes);
	t->next = *bucket;
	*bucket = t;
	write_string(w, t->id, text, kind);
	return t->id;
}

/* Is the number new? It is not, from then on. */
static bool is_new(struct known *k, uint32_t number)
{
	if (number >= k->room) {
		size_t room = 2 * (size_t)number + 16;
		bool *larger = realloc(k->is_known, room * sizeof(*larger));

		if (!larger)
			return false;
		memset(larger + k->room, 0, (room - k->room) * sizeof(*larger));
		k->is_known = larger;
		k->room = room;
	}
	bool was = k->is_known[number];

	k->is_known[number] = true;
	return !was;
}

static void know_stream(struct trace_writer *w, const struct trace_event *e)
{
	static const char *const kinds[TRACE_STREAM_KINDS] = { "legacy", "per-thread", "blocking",
							       "non-blocking" };

	if (!e->stream || !is_new(&w->streams, e->stream))
		return;
	begin_line(w);
	put_text(w, "{\"record\":\"stream\"");
	put_member(w, "id", e->stream);
	put_named(w, "kind", kinds[e->stream_kind]);
	put_member(w, "priority", e->priority);
	end_line(w);
}

static void know_graph(struct trace_writer *w, const struct trace_event *e)
{
	if (!e->graph || !is_new(&w->graphs, e->graph))
		return;
	begin_line(w);
	put_text(w, "{\"record\":\"graph\"");
	put_member(w, "id", e->graph);
	put_key(w, "nodes");
	put_known(w, e->nodes);
	put_key(w, "kernels");
	e->nodes ? put_number(w, e->kernels) : put_known(w, 0);
	end_line(w);
}

void trace_write_thread(struct trace_writer *w, uint32_t thread, int tid, const char *name)
{
	begin_line(w);
	put_text(w, "{\"record\":\"thread\"");
	put_member(w, "id", thread);
	put_member(w, "tid", tid);
	if (!w->is_anonymous)
		put_named(w, "name", name);
	end_line(w);
}

static const char *name_kind(const struct trace_event *e)
{
	return e->what == TRACE_CALL ? NULL : e->what == TRACE_OP ? "kernel" : "range";
}

/* The rows of tables that a row of e uses; returns the number of its name, 0 for none. */
static uint32_t know(struct trace_writer *w, const struct trace_event *e)
{
	know_stream(w, e);
	know_graph(w, e);
	if (e->kernel)
		string_id(w, e->kernel, "kernel");
	return e->name ? string_id(w, e->name, name_kind(e)) : 0;
}

/* ---- rows ------------------------------------------------------------------------------ */

static const char *const classes[TRACE_CLASSES] = {
#define ROW(name) #name,
	TRACE_CLASS_LIST(ROW)
#undef ROW
};
static const char *const op_kinds[TRACE_KINDS] = {
#define ROW(name) #name,
	TRACE_KIND_LIST(ROW)
#undef ROW
};
static const char *const mark_kinds[TRACE_MARKS] = { "push", "pop", "start", "stop" };
static const char *const memories[TRACE_MEMORIES] = { NULL,	"device",  "pinned",
						      "mapped", "managed", "pageable" };
static const char *const directions[TRACE_DIRECTIONS] = { NULL, "to_device", "to_host", "within",
							  "peer" };

static void put_times(struct trace_writer *w, const struct trace_event *e)
{
	put_member(w, "t0", e->t0 - w->start_ns);
	put_member(w, "t1", e->t1 - w->start_ns);
}

static void put_memory(struct trace_writer *w, const struct trace_event *e)
{
	if (memories[e->memory])
		put_named(w, "memory", memories[e->memory]);
}

static void put_async(struct trace_writer *w, const struct trace_event *e)
{
	put_key(w, "async");
	put_text(w, e->is_async ? "true" : "false");
}

#define BYTES_MOST (UINT64_C(1) << 53) /* what readers of JSON can hold */

/* What a call is, its times and recording left out. */
static void put_call(struct trace_writer *w, const struct trace_event *e, uint32_t name)
{
	put_member(w, "thread", e->thread);
	put_named(w, "class", classes[e->kind]);
	put_if(w, "name", name);
	if (e->kernel)
		put_if(w, "kernel", string_id(w, e->kernel, "kernel"));
	put_if(w, "stream", e->stream);
	put_if(w, "event", e->event);
	put_if(w, "graph", e->graph);
	if (e->bytes <= BYTES_MOST) /* a call that asks for more fails */
		put_if(w, "bytes", e->bytes);
	put_memory(w, e);
	if (e->kind == TRACE_CLASS_copy || e->is_async)
		put_async(w, e);
	if (e->is_captured)
		put_text(w, ",\"captured\":true");
}

static void put_triple(struct trace_writer *w, const char *key, const uint32_t value[3])
{
	put_key(w, key);
	for (int i = 0; i < 3; i++) {
		put(w, i ? "," : "[", 1);
		put_number(w, value[i]);
	}
	put(w, "]", 1);
}

static void put_op(struct trace_writer *w, const struct trace_event *e, uint32_t name)
{
	put_named(w, "kind", op_kinds[e->kind]);
	put_if(w, "stream", e->stream);
	put_if(w, "name", name);
	if (e->kind == TRACE_KIND_kernel) {
		put_triple(w, "grid", e->grid);
		put_triple(w, "block", e->block);
		put_member(w, "shared", e->shared);
		put_if(w, "registers", e->registers);
	}
	if (e->kind == TRACE_KIND_copy || e->kind == TRACE_KIND_memset)
		put_member(w, "bytes", (int64_t)e->bytes);
	if (directions[e->direction])
		put_named(w, "direction", directions[e->direction]);
	put_memory(w, e);
	if (e->kind == TRACE_KIND_copy)
		put_async(w, e);
	put_if(w, "graph", e->graph);
}

static void write_call(struct trace_writer *w, const struct trace_event *e, uint32_t name)
{
	put_text(w, "{\"record\":\"call\"");
	put_member(w, "id", (int64_t)e->id);
	put_times(w, e);
	put_call(w, e, name);
	if (e->event)
		put_member(w, "recording", (int64_t)e->recording);
	if (e->cpu_ns >= 0)
		put_member(w, "cpu_ns", e->cpu_ns);
	put_if(w, "not_recorded", e->not_recorded);
}

static void write_op(struct trace_writer *w, const struct trace_event *e, uint32_t name)
{
	put_text(w, "{\"record\":\"op\"");
	put_member(w, "call", (int64_t)e->id);
	put_times(w, e);
	put_op(w, e, name);
	if (e->busy_ns >= 0)
		put_member(w, "busy_ns", e->busy_ns);
}

static void write_mark(struct trace_writer *w, const struct trace_event *e, uint32_t name)
{
	put_text(w, "{\"record\":\"mark\"");
	put_member(w, "thread", e->thread);
	put_named(w, "kind", mark_kinds[e->kind]);
	put_member(w, "t", e->t0 - w->start_ns);
	put_if(w, "name", name);
}

void trace_write(struct trace_writer *w, const struct trace_event *e)
{
	uint32_t name = know(w, e);

	begin_line(w);
	if (e->what == TRACE_CALL)
		write_call(w, e, name);
	else if (e->what == TRACE_OP)
		write_op(w, e, name);
	else
		write_mark(w, e, name);
	end_line(w);
	w->rows++;
}

/* ---- folds ----------------------------------------------------------------------------- */

/* Bins as [mean, count], so that a sum is right to half a nanosecond a value. */
static void put_distribution(struct trace_writer *w, const char *key,
			     const struct trace_distribution *d)
{
	put_key(w, key);
	put(w, "[", 1);
	for (size_t i = 0; i < d->n; i++) {
		int64_t count = (int64_t)d->bin[i].count;

		put(w, ",[", 2 * (i > 0));
		put(w, "[", i == 0);
		put_number(w, (d->bin[i].sum + count / 2) / count);
		put(w, ",", 1);
		put_number(w, count);
		put(w, "]", 1);
	}
	put(w, "]", 1);
}

static void put_step(struct trace_writer *w, const struct trace_step *s)
{
	const struct trace_event *call = &s->call, *op = &s->op;

	put_text(w, "{\"record\":\"call\"");
	put_call(w, call, call->name ? string_id(w, call->name, NULL) : 0);
	if (call->event) {
		put_member(w, "recording", (int64_t)call->recording);
		put_member(w, "recording_step", (int64_t)s->recording_step);
	}
	put_distribution(w, "gap_ns", &s->gap);
	put_distribution(w, "took_ns", &s->took);
	put_if(w, "not_recorded", s->not_recorded);
	if (s->cpu.n)
		put_distribution(w, "cpu_ns", &s->cpu);
	if (call->has_op) {
		put_text(w, ",\"op\":{\"record\":\"op\"");
		put_op(w, op, op->name ? string_id(w, op->name, name_kind(op)) : 0);
		put_distribution(w, "took_ns", &s->op_took);
		put_distribution(w, "lag_ns", &s->op_lag);
		if (s->op_behind.n)
			put_distribution(w, "behind_ns", &s->op_behind);
		if (s->op_busy.n)
			put_distribution(w, "busy_ns", &s->op_busy);
		put(w, "}", 1);
	}
	put(w, "}", 1);
}

void trace_write_fold(struct trace_writer *w, const struct trace_fold *fold)
{
	for (size_t i = 0; i < fold->n; i++) {
		know(w, &fold->step[i].call);
		if (fold->step[i].call.has_op)
			know(w, &fold->step[i].op);
	}
	begin_line(w);
	put_text(w, "{\"record\":\"fold\"");
	put_member(w, "times", (int64_t)fold->times);
	put_member(w, "t0", fold->t0 - w->start_ns);
	put_member(w, "t1", fold->t1 - w->start_ns);
	put_text(w, ",\"body\":[");
	for (size_t i = 0; i < fold->n; i++) {
		put(w, ",", i > 0);
		put_step(w, &fold->step[i]);
	}
	put(w, "]", 1);
	end_line(w);
	w->rows += (int64_t)fold->n;
}

void trace_write_own(struct trace_writer *w, uint32_t thread, int64_t t0, int64_t t1)
{
	begin_line(w);
	put_text(w, "{\"record\":\"own\"");
	put_member(w, "thread", thread);
	put_member(w, "t0", t0 - w->start_ns);
	put_member(w, "t1", t1 - w->start_ns);
	end_line(w);
}

void trace_write_end(struct trace_writer *w, int64_t t, uint64_t calls, uint64_t ops,
		     uint64_t dropped, int64_t call_ns, const char *reason)
{
	trace_flush(w);
	w->end = is_open(w) ? lseek(w->fd, 0, SEEK_END) : -1;
	put_text(w, "{\"record\":\"end\"");
	put_member(w, "t", t - w->start_ns);
	put_member(w, "calls", (int64_t)calls);
	put_member(w, "ops", (int64_t)ops);
	put_member(w, "dropped", (int64_t)dropped);
	put_if(w, "call_ns", (uint64_t)call_ns);
	put_named(w, "reason", reason);
	end_line(w);
}

void trace_write_no_end(struct trace_writer *w)
{
	if (!w->error && w->end >= 0 && is_open(w) && ftruncate(w->fd, w->end))
		w->error = -errno;
}
