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
#include "layers/mps/clients.h"
#include "layers/mps/daemon.h"

struct mps_opts {
	double threads;
};

static const struct param params[] = {
	PARAM_REAL(mps_opts, threads, "%", "100", 1, 100,
		   "share of the GPU's threads that each client may use"),
	PARAM_END,
};

static const char variable[] = "RIFT_LAYER_MPS"; /* its folder */

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
	mps_namespace(outside);
	entry_setenv(e, "CUDA_MPS_PIPE_DIRECTORY", folder);
	entry_setenv(e, "CUDA_MPS_LOG_DIRECTORY", logs);
	entry_setenv(e, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", percent);
	entry_setenv(e, variable, folder);
	entry_setenv(e, MPS_OUTSIDE_VARIABLE, outside);
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
				"shorter XDG_RUNTIME_DIR or TMPDIR",
				folder);
	err = set_variables(e, folder, o->threads);
	if (!err)
		entry_helper(e, mps_serve);
	return err;
}

/* ---- in force: the daemon lists this process among its clients ------------------------------- */

/* A server starts within seconds, as it makes a context on every GPU. */
enum { PATIENCE_MS = 10000 };

/* A client is one when it has a context. */
static int touch(void)
{
	cudaError_t err = cudaFree(NULL);

	if (err)
		cudaGetLastError();
	return (int)err;
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
	threads = mps_threads_within(mps_patience_ms(PATIENCE_MS));
	if (threads < 0) {
		snprintf(detail, LAYER_DETAIL, "its control daemon does not answer");
		return false;
	}
	if (fabs(threads - o->threads) > 0.5) {
		snprintf(detail, LAYER_DETAIL,
			 "clients have %g %% of the threads; %g %% were requested", threads,
			 o->threads);
		return false;
	}
	return mps_is_client(touch, mps_patience_ms(PATIENCE_MS), detail);
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
