/* made_trace.c - traces that tests write row by row. */
#include "tests/made_trace.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"

void made_row(struct made *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(m->out, fmt, args);
	va_end(args);
	fputc('\n', m->out);
}

void made_begin(struct made *m, const char *more, const char *calibration)
{
	static const char *const kinds[] = { "legacy", "blocking", "blocking", "non-blocking" };
	int fd;

	*m = (struct made){ .path = "/tmp/rift-trace-XXXXXX" };
	fd = mkstemp(m->path);
	CHECK(fd >= 0, "%s", m->path);
	m->out = fdopen(fd, "w");
	CHECK(m->out, "%s", m->path);
	made_row(m,
		 "{\"record\":\"trace\",\"trace\":\"1.0\",\"program\":[\"./app\",\"x\"],\"pid\":7,"
		 "\"recorder\":\"cpu-device\",\"calibration\":%s%s%s}",
		 calibration ? calibration : "null",
		 strstr(more, "\"device_times\"") ? "" : ",\"device_times\":\"recorded\"", more);
	for (int i = 0; i < 2; i++)
		made_row(m, "{\"record\":\"thread\",\"id\":%d,\"tid\":%d}", i, 100 + i);
	for (int i = 0; i < 4; i++)
		made_row(m, "{\"record\":\"stream\",\"id\":%d,\"kind\":\"%s\"}", i + 1, kinds[i]);
	made_row(m, "{\"record\":\"graph\",\"id\":1,\"nodes\":10,\"kernels\":10}");
	made_row(m, "{\"record\":\"string\",\"id\":1,\"text\":\"saxpy\"}");
}

long made_call(struct made *m, const char *class, long t0, long t1, const char *more)
{
	made_row(m, "{\"record\":\"call\",\"id\":%ld,%s\"class\":\"%s\",\"t0\":%ld,\"t1\":%ld%s}",
		 ++m->calls, strstr(more, "\"thread\"") ? "" : "\"thread\":0,", class, t0, t1,
		 more);
	return m->calls;
}

void made_op(struct made *m, const char *kind, int stream, long t0, long t1, const char *more)
{
	made_row(m,
		 "{\"record\":\"op\",\"call\":%ld,\"kind\":\"%s\",\"stream\":%d,\"t0\":%ld,"
		 "\"t1\":%ld%s}",
		 m->calls, kind, stream, t0, t1, more);
	m->ops++;
}

void made_kernel(struct made *m, int stream, long call_t0, long t0, long t1)
{
	made_call(m, "launch", call_t0, call_t0 + MADE_C, "");
	made_op(m, "kernel", stream, t0, t1, ",\"name\":1,\"grid\":[2,1,1],\"block\":[32,1,1]");
}

void made_end(struct made *m, long t, int n, long wall_ns)
{
	made_row(m,
		 "{\"record\":\"end\",\"t\":%ld,\"calls\":%ld,\"ops\":%ld,\"dropped\":0,"
		 "\"reason\":\"exit\"%s}",
		 t, m->calls, m->ops, m->end ? m->end : "");
	if (n) {
		fprintf(m->out,
			"{\"record\":\"runs\",\"profiled_wall_ns\":%ld,"
			"\"unprofiled_wall_ns\":[",
			t);
		for (int i = 0; i < n; i++)
			fprintf(m->out, "%s%ld", i ? "," : "",
				m->wall_ns ? (long)m->wall_ns[i] : wall_ns);
		made_row(m, "],\"exit_status\":0%s}", m->runs ? m->runs : "");
	}
	CHECK(!fclose(m->out), "%s", m->path);
}

void made_remove(struct made *m)
{
	unlink(m->path);
}
