/* mps.c - NVIDIA's Multi-Process Service: a control daemon of the layer's own, and its server. */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/check.h"
#include "layers/layer.h"
#include "layers/mps/daemon.h"

struct mps_opts {
	double threads;
};

static const struct param params[] = {
	PARAM_REAL(mps_opts, threads, "%", "100", 1, 100,
		   "how much of the GPU's threads each client may have"),
	PARAM_END,
};

static const char variable[] = "RIFT_LAYER_MPS";	    /* its folder */
static const char outside_variable[] = "RIFT_LAYER_MPS_NS"; /* where its daemon counts processes */

static void read_namespace(char out[64])
{
	ssize_t n = readlink("/proc/self/ns/pid", out, 63);

	out[n < 0 ? 0 : n] = '\0';
}

/* ---- entering ------------------------------------------------------------------------------ */

/* Where the base is a client as well, a comparison with it says nothing of MPS. */
static const char *missing(void)
{
#ifdef RIFT_CPU_DEVICE
	return "the CPU device has no MPS";
#else
	static char text[400];
	const char *around;

	if (system("command -v nvidia-cuda-mps-control >/dev/null 2>&1"))
		return "nvidia-cuda-mps-control is not on PATH; it comes with the driver";
	around = mps_around();
	if (!around)
		return NULL;
	snprintf(text, sizeof(text),
		 "this process is already a client of another MPS, that of %s: end it, or set "
		 "CUDA_MPS_PIPE_DIRECTORY to an empty folder",
		 around);
	return text;
#endif
}

static int set_variables(struct entry *e, const char *folder, double threads)
{
	char logs[512], percent[32], outside[64];

	snprintf(logs, sizeof(logs), "%s/logs", folder);
	if (mkdir(logs, 0700))
		return complain(errno, "layer mps: %s: %s", logs, strerror(errno));
	snprintf(percent, sizeof(percent), "%g", threads);
	read_namespace(outside);
	entry_setenv(e, "CUDA_MPS_PIPE_DIRECTORY", folder);
	entry_setenv(e, "CUDA_MPS_LOG_DIRECTORY", logs);
	entry_setenv(e, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", percent);
	entry_setenv(e, variable, folder);
	entry_setenv(e, outside_variable, outside);
	return 0;
}

static int enter(const void *opts, struct entry *e)
{
	const struct mps_opts *o = opts;
	const char *folder = entry_folder(e);
	size_t room = sizeof(((struct sockaddr_un *)0)->sun_path) - sizeof(MPS_LONGEST_NAME);
	int err;

	if (!folder)
		return -EIO;
	if (strlen(folder) > room)
		return complain(ENAMETOOLONG,
				"layer mps: %s is too long for the name of a socket; choose a "
				"shorter XDG_RUNTIME_DIR",
				folder);
	err = set_variables(e, folder, o->threads);
	if (!err)
		entry_helper(e, mps_serve);
	return err;
}

/* ---- in force: the daemon lists this process among its clients ------------------------------- */

struct clients {
	long server; /* the one that has this process; else the last; 0: there is none */
	int n;	     /* of all servers */
	bool is_one; /* this process */
};

/* "NSpid:	812	2": the numbers that this process has, of namespaces that /proc knows. */
static bool is_own(long pid)
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
	bool is_one = false;
	long pid;

	snprintf(command, sizeof(command), "get_client_list %ld", server);
	mps_ask(command, answer);
	while ((pid = next_number(&rest))) {
		c->n++;
		is_one |= is_own(pid);
	}
	if (is_one || !c->is_one)
		c->server = server;
	c->is_one |= is_one;
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
	const char *outside = getenv(outside_variable);
	char here[64];

	read_namespace(here);
	return outside && *outside && strcmp(outside, here) != 0;
}

static bool is_client(char detail[LAYER_DETAIL])
{
	struct clients c = find_clients();

	if (!c.server)
		snprintf(detail, LAYER_DETAIL, "its control daemon has no server");
	else if (c.is_one)
		snprintf(detail, LAYER_DETAIL, "server %ld has this process among %d client%s",
			 c.server, c.n, c.n == 1 ? "" : "s");
	else if (c.n && is_elsewhere())
		snprintf(detail, LAYER_DETAIL,
			 "server %ld has %d client%s, of another PID namespace than its own",
			 c.server, c.n, c.n == 1 ? "" : "s");
	else
		snprintf(detail, LAYER_DETAIL,
			 "this process is none of the %d clients of server %ld", c.n, c.server);
	return c.is_one || (c.n && is_elsewhere());
}

static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	const struct mps_opts *o = opts;
	const char *own = getenv(variable), *pipes = getenv("CUDA_MPS_PIPE_DIRECTORY");
	double threads;

	if (!own || !pipes || strcmp(own, pipes) != 0) {
		snprintf(detail, LAYER_DETAIL, "CUDA_MPS_PIPE_DIRECTORY is not the layer's");
		return false;
	}
	cudaFree(NULL); /* a client is one when it has a context */
	threads = mps_threads();
	if (threads < 0) {
		snprintf(detail, LAYER_DETAIL, "its control daemon does not answer");
		return false;
	}
	if (fabs(threads - o->threads) > 0.5) {
		snprintf(detail, LAYER_DETAIL,
			 "clients have %g %% of the threads, and %g %% were asked for", threads,
			 o->threads);
		return false;
	}
	return is_client(detail);
}

/*
 * No `disturbs`: a server computes for its clients alone, and contexts without work get no time of
 * the GPU. It holds memory of the GPU, and so does the side that waits for its turn.
 */
const struct layer layer_mps = {
	.name = "mps",
	.summary = "NVIDIA's Multi-Process Service, with a daemon of its own",
	.opts_size = sizeof(struct mps_opts),
	.params = params,
	.missing = missing,
	.enter = enter,
	.in_force = in_force,
};
