/*
 * test_nsys.c - common/trace/nsys.h: exports of Nsight Systems. The files are written here, by the
 * names of tables and columns in its manual: one row by row, others from kept traces of rift, which
 * must have the same bottleneck and shares in that form.
 */
/* sanitizers: one thread */
#include "common/trace/nsys.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/profile/profile.h"
#include "tests/divert.h"
#include "tests/golden.h"

static const struct kind_rules rules = KIND_DEFAULTS;
static char path[] = "/tmp/rift-nsys-XXXXXX";

static struct {
	void *library, *db;
	int (*open)(const char *, void **);
	int (*exec)(void *, const char *, void *, void *, char **);
	int (*close)(void *);
} sqlite;

static void find(const char *name, void *function)
{
	void *p = dlsym(sqlite.library, name);

	cr_assert(ne(ptr, p, NULL), "%s", name);
	memcpy(function, &p, sizeof(p));
}

static void begin(void)
{
	int fd = mkstemp(path);

	cr_assert(le(int, 0, fd), "%s", path);
	close(fd);
	sqlite.library = dlopen("libsqlite3.so.0", RTLD_NOW);
	cr_assert(ne(ptr, sqlite.library, NULL), "no libsqlite3-0: tools/setup.sh test");
	find("sqlite3_open", &sqlite.open);
	find("sqlite3_exec", &sqlite.exec);
	find("sqlite3_close", &sqlite.close);
	cr_assert(zero(int, sqlite.open(path, &sqlite.db)), "%s", path);
}

static void end(void)
{
	unlink(path);
}

TestSuite(small_nsys, .timeout = 120, .init = begin, .fini = end);

__attribute__((format(printf, 1, 2))) static void sql(const char *fmt, ...)
{
	char text[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	cr_assert(zero(int, sqlite.exec(sqlite.db, text, NULL, NULL, NULL)), "%s", text);
}

/* ---- the tables of the manual, without columns that nothing is read of ----------------------- */

#define OP                                                                                         \
	"start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "      \
	"correlationId INTEGER, globalPid INTEGER, "
#define ACTIVITY "CREATE TABLE CUPTI_ACTIVITY_KIND_"

static void make_tables(void)
{
	sql("BEGIN; CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)");
	sql("CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT)");
	sql("CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)");
	sql("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
	    "globalTid INTEGER, textId INTEGER)");
	sql(ACTIVITY "RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
		     "correlationId INTEGER, nameId INTEGER, returnValue INTEGER)");
	sql(ACTIVITY "KERNEL (" OP "demangledName INTEGER, shortName INTEGER, gridX INTEGER, "
		     "gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ "
		     "INTEGER)");
	sql(ACTIVITY "MEMCPY (" OP "bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind "
		     "INTEGER)");
	sql(ACTIVITY "MEMSET (" OP "value INTEGER, bytes INTEGER)");
	sql(ACTIVITY "GRAPH_TRACE (" OP "graphId INTEGER, graphExecId INTEGER)");
	sql(ACTIVITY "SYNCHRONIZATION (" OP "syncType INTEGER, eventId INTEGER)");
}

/* Of process 70. */
static long long thread_number(long tid)
{
	return (1LL << 48) + 70LL * 0x1000000 + tid;
}

static void put_string(long id, const char *text)
{
	char quoted[3000];
	size_t n = 0;

	for (; *text && n < sizeof(quoted) - 3; text++) {
		if (*text == '\'')
			quoted[n++] = '\'';
		quoted[n++] = *text;
	}
	quoted[n] = '\0';
	sql("INSERT INTO StringIds VALUES (%ld, '%s')", id, quoted);
}

static void put_call(long t0, long t1, long tid, long correlation, long name)
{
	sql("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (%ld, %ld, 0, %lld, %ld, %ld, 0)", t0,
	    t1, thread_number(tid), correlation, name);
}

#define INTO(table)                                                                                \
	"INSERT INTO CUPTI_ACTIVITY_KIND_" table " VALUES (%ld, %ld, 0, 1, %ld, %ld, 0, "

static void close_file(void)
{
	sql("COMMIT");
	sqlite.close(sqlite.db);
}

/* ---- row by row ------------------------------------------------------------------------------ */

/* And of other tables one call each, of the table's name: the first around the first launch, the
 * second around the second one. */
static void write_rows_of(const char *const other[], long n)
{
	static const char *const names[] = { "cudaLaunchKernel_v7000",
					     "cudaMemcpy_v3020",
					     "cudaStreamSynchronize_v3020",
					     "saxpy",
					     "step",
					     "cuLaunchKernel" };

	make_tables();
	for (long i = 0; i < 6; i++)
		put_string(i, names[i]);
	sql("INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'other'), (0, 0, 'NVIDIA H200')");
	sql("INSERT INTO PROCESSES VALUES (0, 71, 'bash'), (0, 70, './app')");
	sql("INSERT INTO NVTX_EVENTS VALUES (900, 3000, 59, NULL, %lld, 4), (100, 9000, 60, "
	    "'not pushed', %lld, NULL), (3500, NULL, 59, 'no end', %lld, NULL)",
	    thread_number(5), thread_number(5), thread_number(5));
	put_call(1000, 2000, 5, 11, 0);
	sql(INTO("KERNEL") "0, 3, 8, 2, 3, 128, 4, 5)", 5000L, 9000L, 7L, 11L);
	put_call(2500, 2900, 5, 12, 5);
	sql(INTO("KERNEL") "0, 3, 1, 1, 1, 1, 1, 1)", 9500L, 9600L, 7L, 12L);
	put_call(4000, 20000, 5, 13, 1);
	sql(INTO("MEMCPY") "4096, 2, 2, 1)", 12000L, 19000L, 7L, 13L);
	put_call(21000, 22000, 5, 14, 2);
	sql(INTO("SYNCHRONIZATION") "3, 0)", 21000L, 22000L, 7L, 14L);
	for (long i = 0; i < n; i++) {
		put_string(10 + i, other[i]);
		sql("CREATE TABLE %s (start INTEGER, end INTEGER, globalTid INTEGER, nameId "
		    "INTEGER); INSERT INTO %s VALUES (%ld, %ld, %lld, %ld)",
		    other[i], other[i], i ? 2400L : 950L, i ? 3000L : 2150L, thread_number(5),
		    10 + i);
	}
	close_file();
}

static void write_rows(void)
{
	write_rows_of(NULL, 0);
}

Test(small_nsys, an_export_is_a_trace)
{
	static const int grid[] = { 8, 2, 3 }, block[] = { 128, 4, 5 };
	struct trace t;
	struct ranges r;

	write_rows();
	cr_assert(trace_is(path));
	cr_assert(zero(int, trace_read(&t, path)), "%s", path);
	cr_assert(eq(i64, t.calls, 4));
	cr_assert(eq(i64, t.ops, 3));
	cr_expect(eq(str, t.program, "./app"));
	cr_expect(eq(i64, t.thread[t.call[0].thread].tid, 5));
	cr_expect(eq(i64, t.op[0].t0 - t.call[0].t0, 4000), "ns");
	cr_expect(eq(str, (char *)trace_name(&t, t.op[0].name), "saxpy"));
	for (int i = 0; i < 3; i++) {
		cr_expect(eq(int, t.op[0].grid[i], grid[i]), "%d", i);
		cr_expect(eq(int, t.op[0].block[i], block[i]), "%d", i);
	}
	cr_expect(eq(i64, t.op[0].t1 - t.op[0].t0, 4000));
	cr_expect(eq(i64, t.op[2].t1 - t.op[2].t0, 7000));
	cr_expect(eq(i64, t.call[2].t1 - t.call[2].t0, 16000));
	cr_expect(eq(int, (int)t.call[1].class, CALL_LAUNCH), "the driver's");
	cr_expect(eq(int, t.op[2].direction, COPY_TO_HOST));
	cr_expect(eq(int, t.op[2].memory, MEMORY_PINNED));
	cr_expect(eq(i64, t.op[2].bytes, 4096));
	cr_expect(eq(int, (int)t.call[3].class, CALL_SYNC_STREAM));
	cr_expect(eq(int, t.call[3].stream, t.op[0].stream));
	ranges_make(&r, &t, NULL);
	cr_assert(eq(i64, r.n, 1), "those that are pushed and popped");
	cr_expect(eq(str, (char *)trace_name(&t, r.list[0].name), "step"));
	cr_expect(eq(i64, r.list[0].launches, 2));
	ranges_release(&r);
	trace_release(&t);
}

/* What the system does in a call is the host's time, so its calls are not read. */
Test(small_nsys, calls_of_libraries_are_ranges)
{
	static const char *const tables[] = { "CUDNN_EVENTS", "CUBLAS_EVENTS", "OSRT_API" };
	struct trace t;
	struct ranges r;

	write_rows_of(tables, 3);
	cr_assert(zero(int, trace_read(&t, path)), "%s", path);
	ranges_make(&r, &t, NULL);
	cr_assert(eq(i64, r.n, 3), "and the step");
	for (int64_t i = 0; i < r.n; i++) {
		const char *name = trace_name(&t, r.list[i].name);

		cr_expect(ne(str, (char *)name, "OSRT_API"));
		if (strcmp(name, "step")) {
			cr_expect(eq(i64, r.list[i].launches, 1), "%s", name);
			cr_expect(eq(i64, r.list[i].ns, !strcmp(name, tables[0]) ? 1200 : 600),
				  "%s", name);
		}
	}
	ranges_release(&r);
	trace_release(&t);
}

/* Kinds of copies and of memory, by the numbers that exports have. */
Test(small_nsys, what_is_copied_and_set)
{
	static const struct {
		long bytes, kind, from, to;
		int direction, memory;
	} rows[] = {
		{ 1, 1, 0, 2, COPY_TO_DEVICE, MEMORY_PAGEABLE },
		{ 2, 1, 1, 2, COPY_TO_DEVICE, MEMORY_PINNED },
		{ 3, 2, 2, 0, COPY_TO_HOST, MEMORY_PAGEABLE },
		{ 4, 2, 2, 1, COPY_TO_HOST, MEMORY_PINNED },
		{ 5, 8, 2, 2, COPY_WITHIN, -1 },
	};
	enum { N = sizeof(rows) / sizeof(*rows) };
	struct trace t;

	make_tables();
	put_string(1, "cudaMemcpyAsync_v3020");
	put_string(2, "cudaMemsetAsync_v3020");
	for (long i = 0; i < N; i++) {
		put_call(1000 * i, 1000 * i + 400, 5, i + 1, 1);
		sql(INTO("MEMCPY") "%ld, %ld, %ld, %ld)", 1000 * i + 500, 1000 * i + 600 + i, 7L,
		    i + 1, rows[i].bytes, rows[i].kind, rows[i].from, rows[i].to);
	}
	put_call(1000 * N, 1000 * N + 400, 5, N + 1, 2);
	sql(INTO("MEMSET") "0, 77)", 1000L * N + 500, 1000L * N + 600, 8L, (long)N + 1);
	close_file();
	cr_assert(zero(int, trace_read(&t, path)), "%s", path);
	cr_assert(eq(i64, t.ops, N + 1));
	for (int i = 0; i < N; i++) {
		cr_expect(eq(int, t.op[i].kind, OP_COPY), "%d", i);
		cr_expect(eq(int, t.op[i].direction, rows[i].direction), "%d", i);
		cr_expect(eq(int, t.op[i].memory, rows[i].memory), "%d", i);
		cr_expect(eq(i64, t.op[i].bytes, rows[i].bytes), "%d", i);
		cr_expect(eq(i64, t.op[i].t1 - t.op[i].t0, 100 + i), "%d", i);
		cr_expect(eq(i64, t.op[i].call, i), "%d", i);
	}
	cr_expect(eq(int, t.op[N].kind, OP_MEMSET));
	cr_expect(eq(i64, t.op[N].bytes, 77));
	cr_expect(ne(int, t.op[N].stream, t.op[0].stream));
	trace_release(&t);
}

/* ---- as events ------------------------------------------------------------------------------- */

static int say_event(const json_t *event, void *out)
{
	json_dumpf(event, out, 0);
	fputc('\n', out);
	return 0;
}

static void say_member(const char *name, const json_t *value, void *out)
{
	fprintf(out, "%s: ", name);
	json_dumpf(value, out, 0);
	fputc('\n', out);
}

/* What the reader of events gets, of all tables and of kinds that are not in the manual, too. */
Test(small_nsys, rows_become_events)
{
	static char text[1 << 14];
	FILE *out = fmemopen(text, sizeof(text), "w");
	const struct chrome_reader reader = { .event = say_event,
					      .member = say_member,
					      .arg = out };

	write_rows();
	cr_assert(zero(int, sqlite.open(path, &sqlite.db)), "%s", path);
	sql("BEGIN");
	sql(INTO("GRAPH_TRACE") "4, 5)", 31000L, 38500L, 9L, 15L);
	sql(INTO("MEMSET") "6, 77)", 40000L, 40900L, 10L, 16L);
	sql(INTO("SYNCHRONIZATION") "2, 0)", 41000L, 42000L, 7L, 17L);
	for (long kind = 0; kind < 11; kind++)
		sql(INTO("MEMCPY") "%ld, %ld, %ld, %ld)", 50000 + kind, 60000 + 3 * kind, 7L,
		    20 + kind, 100 + kind, kind, kind - 2, 7 - kind);
	close_file();
	cr_assert(zero(int, nsys_read(path, &reader)), "%s", path);
	fclose(out);
	golden_said(text);
}

/* Only calls must be there. */
Test(small_nsys, tables_that_may_be_missing)
{
	struct trace t;

	write_rows();
	cr_assert(zero(int, sqlite.open(path, &sqlite.db)), "%s", path);
	for (size_t i = 0; i < 5; i++)
		sql("DROP TABLE CUPTI_ACTIVITY_KIND_%s",
		    (const char *[]){ "KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE",
				      "SYNCHRONIZATION" }[i]);
	sql("DROP TABLE NVTX_EVENTS; DROP TABLE TARGET_INFO_GPU; DROP TABLE PROCESSES");
	sqlite.close(sqlite.db);
	cr_assert(zero(int, trace_read(&t, path)), "%s", path);
	cr_expect(eq(i64, t.calls, 4));
	cr_expect(eq(i64, t.ops, 0));
	trace_release(&t);
}

static void is_refused(const char *why)
{
	struct profile p;
	const char *said;

	divert_stderr();
	cr_expect(lt(int, profile_make(&p, path, &rules, false), 0), "%s", why);
	profile_release(&p);
	said = diverted_stderr();
	cr_expect(eq(int, is_one_complaint(said), 1), "%s", said);
	cr_expect(tells(said, why), "%s, not %s", said, why);
}

Test(small_nsys, other_files_of_sqlite_are_refused)
{
	sql("BEGIN; CREATE TABLE bookmarks (id INTEGER)");
	close_file();
	is_refused("is no export of nsys with CUDA calls in it");
}

Test(small_nsys, calls_of_two_processes_are_refused)
{
	make_tables();
	put_call(1000, 2000, 5, 11, 0);
	put_call(3000, 4000, 5 + 0x1000000, 12, 0);
	close_file();
	is_refused("has the calls of several processes");
}

Test(small_nsys, a_column_that_is_missing_is_named)
{
	make_tables();
	sql("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL "
	    "(start INTEGER)");
	close_file();
	is_refused("no such column: ");
}

Test(small_nsys, a_damaged_file_is_refused)
{
	FILE *f;

	write_rows();
	f = fopen(path, "r+");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	fseek(f, 100, SEEK_SET);
	for (int i = 0; i < 100000; i++)
		fputc(0xff, f);
	fclose(f);
	is_refused("malformed");
}

/* ---- kept traces in this form ---------------------------------------------------------------- */

static long kind_of_memory(int32_t memory)
{
	return memory == MEMORY_PAGEABLE ? 0 : memory == MEMORY_MANAGED ? 4 : 1;
}

static void put_op(const struct trace *t, const struct trace_op *op, long correlation)
{
	long stream = (long)t->stream[op->stream].id, t0 = (long)op->t0, t1 = (long)op->t1;
	long host = kind_of_memory(op->memory);
	bool to_device = op->direction == COPY_TO_DEVICE, to_host = op->direction == COPY_TO_HOST;

	/* as nsys has it: the default stream is number 7 */
	stream = t->stream[op->stream].kind == STREAM_LEGACY ? 7 : stream + 100;
	if (op->kind == OP_KERNEL)
		sql(INTO("KERNEL") "0, %d, 1, 1, 1, 1, 1, 1)", t0, t1, stream, correlation,
		    op->name);
	else if (op->kind == OP_GRAPH)
		sql(INTO("GRAPH_TRACE") "0, 0)", t0, t1, stream, correlation);
	else if (op->kind == OP_MEMSET)
		sql(INTO("MEMSET") "0, %ld)", t0, t1, stream, correlation, (long)op->bytes);
	else if (op->kind == OP_COPY)
		sql(INTO("MEMCPY") "%ld, %d, %ld, %ld)", t0, t1, stream, correlation,
		    (long)op->bytes,
		    to_device ? 1
		    : to_host ? 2
			      : 8,
		    to_device ? host : 3L, to_host ? host : 3L);
}

static void write_trace(const struct trace *t)
{
	make_tables();
	for (int64_t i = 0; i < t->strings; i++)
		put_string(i, t->string[i]);
	for (int64_t i = 0; i < t->calls; i++) {
		const struct trace_call *c = &t->call[i];

		put_call((long)c->t0, (long)c->t1, (long)t->thread[c->thread].tid, i + 1, c->name);
		for (int32_t k = 0; k < c->ops; k++)
			put_op(t, &t->op[c->first_op + k], i + 1);
	}
	close_file();
}

/* The same bottleneck, and shares of the time from the first call to the last within 3 points. */
Test(small_nsys, a_program_in_both_forms_has_one_bottleneck)
{
	static const char name[] = "data/traces/h100-copies.trace.gz";
	struct profile own, other;

	cr_assert(zero(int, profile_make(&own, name, &rules, false)), "%s", name);
	write_trace(&own.trace);
	cr_assert(zero(int, profile_make(&other, path, &rules, false)), "%s", name);
	cr_expect(eq(i64, other.trace.calls, own.trace.calls), "calls");
	cr_expect(eq(i64, other.trace.ops, own.trace.ops), "operations");
	cr_assert(own.has_kind && other.has_kind, "%s", name);
	cr_expect(eq(str, (char *)program_kind_names[other.kind],
		     (char *)program_kind_names[own.kind]));
	for (int i = 0; i < SHARE_OUTSIDE; i++) {
		double a = share_inside(&own.shares, (enum share)i);
		double b = share_inside(&other.shares, (enum share)i);

		cr_expect(lt(dbl, fabs(a - b), 0.03), "%s %g, not %g", share_names[i], b, a);
	}
	profile_release(&own);
	profile_release(&other);
}
