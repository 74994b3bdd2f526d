/* clients.c - see clients.h. */
#include "layers/mps/clients.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/plural.h"
#include "common/process.h"
#include "layers/mps/daemon.h"

enum { TICK_MS = 50 };

void mps_namespace(char out[64])
{
	ssize_t n = readlink("/proc/self/ns/pid", out, 63);

	out[n < 0 ? 0 : n] = '\0';
}

/* ---- who has the context --------------------------------------------------------------------- */

/* "NSpid:	812	2": the numbers that this process has, of namespaces that /proc knows. */
static bool is_self(long pid)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[512], *at = NULL;
	bool found = false;
	long number;
	int length;

	while (status && !at && fgets(line, sizeof(line), status))
		if (!strncmp(line, "NSpid:", strlen("NSpid:")))
			at = line + strlen("NSpid:");
	for (; at && !found && sscanf(at, "%ld%n", &number, &length) == 1; at += length)
		found = number == pid;
	if (status)
		fclose(status);
	return found;
}

/*
 * Under the layer remote inside this one, a process of its daemon has the context. Only that
 * layer's own processes were started with the name of its private folder.
 */
static bool has_our_calls(long pid)
{
	static const char name[] = "RIFT_LAYER_REMOTE";
	const char *folder = getenv(name);

	return folder && process_has_variable((pid_t)pid, name, folder);
}

/* ---- the daemon's lists ---------------------------------------------------------------------- */

struct clients {
	long server; /* the one that has this process; else the last; 0: there is none */
	int n;	     /* of all servers */
	bool is_self, is_remote;
};

/* The next number of an answer, a line each; 0: there is none. */
static long next_number(char **rest)
{
	char *line;

	while ((line = strsep(rest, "\n"))) {
		char *end;
		long number = strtol(line, &end, 10);

		if (end > line && number > 0)
			return number;
	}
	return 0;
}

static void count_clients(long server, struct clients *c)
{
	char command[64], answer[MPS_ANSWER], *rest = answer;
	bool had = c->is_self || c->is_remote;
	long pid;

	snprintf(command, sizeof(command), "get_client_list %ld", server);
	mps_ask(command, answer);
	while ((pid = next_number(&rest))) {
		c->n++;
		c->is_self |= is_self(pid);
		c->is_remote |= has_our_calls(pid);
	}
	if (!had)
		c->server = server;
}

static struct clients find_clients(void)
{
	struct clients c = { 0 };
	char answer[MPS_ANSWER], *rest = answer;
	long server;

	mps_ask("get_server_list", answer);
	while ((server = next_number(&rest)))
		count_clients(server, &c);
	return c;
}

/* Within a container that is inside the layer, numbers say nothing; all clients are the command's.
 */
static bool is_elsewhere(void)
{
	const char *outside = getenv(MPS_OUTSIDE_VARIABLE);
	char here[64];

	mps_namespace(here);
	return outside && *outside && strcmp(outside, here) != 0;
}

static bool judge(const struct clients *c, char detail[LAYER_DETAIL])
{
	struct counted n = counted(c->n, "client");

	if (c->is_self)
		snprintf(detail, LAYER_DETAIL, "server %ld has this process among %s", c->server,
			 n.s);
	else if (c->is_remote)
		snprintf(detail, LAYER_DETAIL,
			 "server %ld has the layer remote's process for this one among %s",
			 c->server, n.s);
	else if (c->n && is_elsewhere())
		snprintf(detail, LAYER_DETAIL,
			 "server %ld has %s, of another PID namespace than its own", c->server,
			 n.s);
	else if (c->server)
		snprintf(detail, LAYER_DETAIL, "this process is none of the %s of server %ld", n.s,
			 c->server);
	else
		snprintf(detail, LAYER_DETAIL, "its control daemon has no server");
	return c->is_self || c->is_remote || (c->n && is_elsewhere());
}

/* The last that a log of the daemon's says of itself, behind why there is no client. */
static void add_last_logged(char detail[LAYER_DETAIL])
{
	const char *folder = getenv("CUDA_MPS_LOG_DIRECTORY");
	char path[512], line[200], last[200] = "";
	size_t used = strlen(detail);
	FILE *log;

	snprintf(path, sizeof(path), "%s/control.log", folder ? folder : "");
	log = fopen(path, "re");
	while (log && fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			strcpy(last, line);
	}
	if (log)
		fclose(log);
	if (*last)
		snprintf(detail + used, LAYER_DETAIL - used, "; its log ends with: %s", last);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* True after a moment; false: the time is up. */
static bool has_waited(long end_ms)
{
	const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };

	if (now_ms() >= end_ms)
		return false;
	nanosleep(&tick, NULL);
	return true;
}

double mps_threads_within(int patience_ms)
{
	long end_ms = now_ms() + patience_ms;
	double threads;

	do
		threads = mps_threads();
	while (threads < 0 && has_waited(end_ms));
	return threads;
}

/* 0, or the last error. */
static int make_context(int (*touch)(void), long end_ms)
{
	int err;

	do
		err = touch();
	while (err && has_waited(end_ms));
	return err;
}

bool mps_is_client(int (*touch)(void), int patience_ms, char detail[LAYER_DETAIL])
{
	long end_ms = now_ms() + patience_ms;
	int err = make_context(touch, end_ms);
	struct clients c;

	if (err) {
		snprintf(detail, LAYER_DETAIL, "no context could be made for %d s: %s",
			 patience_ms / 1000, cudaGetErrorName((cudaError_t)err));
		add_last_logged(detail);
		return false;
	}
	do {
		c = find_clients();
		if (judge(&c, detail))
			return true;
	} while (has_waited(end_ms));
	add_last_logged(detail);
	return false;
}
