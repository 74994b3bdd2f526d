/*
 * remote.c - calls of the CUDA runtime are executed by a daemon, in another process: rift's side of
 * the layer. The client is preload/; the daemon begins in listen.c.
 */
#include "layers/remote/remote.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/check.h"
#include "common/preload.h"
#include "common/plural.h"
#include "common/shared_file.h"
#include "layers/remote/daemon/backend.h"
#include "layers/remote/transport/tcp.h"
#include "layers/remote/wire/wire.h"

static const char *const no_yes[] = { "no", "yes", NULL };
/* By enum remote_transport; the last one stands for one of them. */
static const char *const transports[] = { "shm", "unix", "tcp", "auto", NULL };
enum { TRANSPORT_AUTO = REMOTE_TCP + 1 };
static const char *const schedules[] = { "first", "static", "load", NULL };

static const struct param params[] = {
	PARAM_CHOICE(remote_opts, strict, "no", no_yes,
		     "whether each call waits for its answer; no: calls without an answer are sent "
		     "ahead"),
	PARAM_REAL(remote_opts, poll, "us", "-1", -1, 1000000,
		   "how long client and daemon poll for each other before they sleep; below 0: "
		   "1000 with four processors or more, else 20"),
	PARAM_SIZE(remote_opts, memory, "bytes", "64G", 1 << 20, 1ll << 40,
		   "device memory, and pinned memory, that a client may take"),
	PARAM_CHOICE(remote_opts, transport, "auto", transports,
		     "how calls travel: through shared memory, or over a socket; auto: tcp with "
		     "listen=, connect= or network=, else shm"),
	PARAM_LIST(remote_opts, network, "RTT,BANDWIDTH in us and Gbit/s, as in 50,10", "0,0", 0,
		   1000000, "network to imitate over a socket; 0,0: none"),
	PARAM_TEXT(remote_opts, listen, "HOST:PORT",
		   "TCP: where the daemon waits for clients; empty: on loopback"),
	PARAM_TEXT(remote_opts, connect, "HOST:PORT",
		   "TCP: daemon elsewhere to use instead of its own"),
	PARAM_PATH(remote_opts, token,
		   "TCP: file of mode 600 with the secret that clients must know; needed "
		   "by listen= and connect="),
	PARAM_CHOICE(remote_opts, shared, "no", no_yes,
		     "whether one daemon process serves all clients, side by side on the device, "
		     "instead of one process each; a kernel's fault then ends all"),
	PARAM_CHOICE(remote_opts, schedule, "first", schedules,
		     "which of the daemon's devices a client gets: the first; each in turn; or the "
		     "one with the fewest clients, then the least memory in use"),
	PARAM_LIST(remote_opts, devices, "1", "-1", -1, 255,
		   "schedule=static and load: devices in their order; with static, one may appear "
		   "twice; -1: all"),
	PARAM_SIZE(remote_opts, block, "bytes", "0", 0, REMOTE_BLOCK_MOST,
		   "most of a pageable copy that travels at a time, 64k or more; 0: 1M in shared "
		   "memory, 4M over a socket"),
	PARAM_END,
};

/* Where a helper writes that it works: it starts rift anew, whose enter() is all that happens. */
static const char ready_variable[] = "RIFT_LAYER_REMOTE_READY";

/* ---- the transport ------------------------------------------------------------------------ */

static bool imitates(const struct remote_opts *o)
{
	return o->network.value[0] || (o->network.n > 1 && o->network.value[1]);
}

/*
 * A daemon of the layer's own is on this machine, and shares memory with its clients. So does one
 * at an address that is found to be here: a process for each client, as two listeners know nothing
 * of each other's clients.
 */
static struct remote_opts with_transport(const struct remote_opts *given)
{
	struct remote_opts o = *given;
	bool elsewhere = o.listen || o.connect;

	if (o.transport != TRANSPORT_AUTO)
		return o;
	o.transport = elsewhere || imitates(&o) ? REMOTE_TCP : REMOTE_SHM;
	o.nearby = elsewhere && !imitates(&o) && !o.shared && o.schedule == REMOTE_FIRST;
	return o;
}

/* ---- entering ----------------------------------------------------------------------------- */

static const char *missing(void)
{
	return remote_backend()
		       ? NULL
		       : "its daemon needs the runtime of CUDA 13, which loads fat binaries";
}

struct remote_shared *remote_shared_map(const char *folder, int flags)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/" REMOTE_SHARED, folder);
	return shared_file_map(path, sizeof(struct remote_shared), flags);
}

/* Where the loader looks first, for the command; the daemon has the real libraries. */
static const char libraries_variable[] = "LD_LIBRARY_PATH";
static char *libraries_before; /* NULL: it was not changed */

static void put_devices(const struct remote_opts *o, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "devices=");

	for (int i = 0; i < o->devices.n; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%d", i ? "," : "",
					 (int)o->devices.value[i]);
}

/* Who sleeps is woken 23 to 34 us late (docs/validation.md). A client and its daemon that poll
 * leave others two processors of four. The set is too small where a kernel knows more than 1024. */
int64_t remote_poll_ns(const struct remote_opts *o)
{
	enum { PROCESSORS = 4, FEW_NS = 20000, MANY_NS = 1000000 };
	cpu_set_t all;

	if (o->poll >= 0)
		return (int64_t)(o->poll * 1000);
	if (sched_getaffinity(0, sizeof(all), &all))
		return MANY_NS;
	return CPU_COUNT(&all) < PROCESSORS ? FEW_NS : MANY_NS;
}

/* As for the layer neighbour: what layers outside have preloaded is still mapped here. */
static void start_anew(const void *opts, int ready)
{
	const struct remote_opts chosen = with_transport(opts), *o = &chosen;
	char poll[48], memory[48], transport[32], listen[REMOTE_ADDRESS + 16], fd[16];
	char shared[16], schedule[32], devices[PARAM_LIST_MAX * 5 + 16], block[48];
	enum { BEHIND = 10 }; /* words */
	char *words[] = { "rift",   "layer", "remote", poll, memory,	       transport, shared,
			  schedule, devices, block,    "--", "/proc/self/exe", NULL,	  NULL };

	snprintf(poll, sizeof(poll), "poll=%.17g", o->poll);
	snprintf(memory, sizeof(memory), "memory=%lld", (long long)o->memory);
	snprintf(transport, sizeof(transport), "transport=%s",
		 transports[o->nearby ? TRANSPORT_AUTO : o->transport]);
	snprintf(shared, sizeof(shared), "shared=%s", no_yes[o->shared]);
	snprintf(schedule, sizeof(schedule), "schedule=%s", schedules[o->schedule]);
	put_devices(o, devices, sizeof(devices));
	snprintf(block, sizeof(block), "block=%lld", (long long)o->block);
	if (o->listen) {
		snprintf(listen, sizeof(listen), "listen=%s", o->listen);
		memcpy(words + BEHIND, (char *[]){ listen, "--", "/proc/self/exe" },
		       3 * sizeof(*words));
	}
	snprintf(fd, sizeof(fd), "%d", ready);
	setenv(ready_variable, fd, 1);
	if (libraries_before)
		setenv(libraries_variable, libraries_before, 1);
	fcntl(ready, F_SETFD, 0);
	execv("/proc/self/exe", words);
	complain(errno, "layer remote: %s", strerror(errno));
}

static void serve_if_helper(const struct remote_opts *o)
{
	const struct remote_opts chosen = with_transport(o);
	const char *ready = getenv(ready_variable), *folder = getenv(REMOTE_VARIABLE);

	if (!ready || !folder)
		return;
	remote_listen(&chosen, folder, atoi(ready));
	_exit(1);
}

/* Nothing is passed on, so wrappers outside would see no call. */
static int refuse_wrappers_outside(void)
{
	static const char *const wrappers[] = { "shim", "emulate", "profiler", "preload",
						"remote" };
	const char *outside = getenv("RIFT_LAYERS");
	char word[32];

	for (size_t i = 0; outside && i < sizeof(wrappers) / sizeof(*wrappers); i++) {
		snprintf(word, sizeof(word), "\"%s\"", wrappers[i]);
		if (strstr(outside, word))
			return complain(EINVAL,
					"layer remote: passes no calls on, so the layer %s outside "
					"it would see none; make %s the inner one",
					wrappers[i], wrappers[i]);
	}
	return 0;
}

/* So that a program finds a runtime where the toolkit is not. On the CPU device the runtime is what
 * holds the program's kernels, and stays. */
static int preload_cudart(struct entry *e)
{
	static const char *const names[] = { "layers/cudart/libcudart.so.12",
					     "layers/cudart/libcudart.so.13" };
	char path[PATH_MAX];
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(names) / sizeof(*names); i++) {
		preload_beside(names[i], path);
		err = entry_preload(e, path);
	}
	return err;
}

/* cuBLAS is found where a program asks for it, and not preloaded: where it is loaded, the layer
 * emulate takes it that a library submits work past it. */
static int lead_to_cublas(struct entry *e)
{
	const char *before = getenv(libraries_variable);
	char path[PATH_MAX], *value;

	preload_beside("layers/cublas", path);
	libraries_before = strdup(before ? before : "");
	if (!libraries_before ||
	    asprintf(&value, "%s%s%s", path, *libraries_before ? ":" : "", libraries_before) < 0)
		return complain(ENOMEM, "layer remote: memory of a path");
	entry_setenv(e, libraries_variable, value);
	free(value);
	return 0;
}

/* A daemon elsewhere has the device. */
static int refuse_without_device(const struct remote_opts *o)
{
	const struct remote_backend *b = remote_backend();
	const char *why = b->missing && !o->connect ? b->missing() : NULL;

	return why ? complain(ENODEV, "layer remote: not available here: %s", why) : 0;
}

/* COMMAND may have another working directory. */
static bool realpath_fits(const char *path, char out[REMOTE_ADDRESS])
{
	char all[PATH_MAX];

	if (!realpath(path, all) || strlen(all) >= REMOTE_ADDRESS)
		return false;
	memcpy(out, all, strlen(all) + 1);
	return true;
}

static int check_token(const char *path)
{
	char token[REMOTE_TOKEN];
	const char *why = tcp_token(path, token);

	memset(token, 0, sizeof(token));
	return why ? complain(EINVAL, "layer remote: token=%s: %s", path, why) : 0;
}

static int check_network(const struct remote_opts *o)
{
	if (o->network.n != 2)
		return complain(EINVAL, "layer remote: network= must be two numbers: RTT,BANDWIDTH "
					"in us and Gbit/s, as in 50,10");
	if (imitates(o) && (o->transport == REMOTE_SHM || o->listen || o->connect))
		return complain(EINVAL, "layer remote: network= needs transport=unix or tcp on one "
					"machine, whose clock both ends share");
	return 0;
}

static bool names_devices(const struct remote_opts *o)
{
	return o->devices.n > 1 || o->devices.value[0] >= 0;
}

/* -1 stands for all of them, and alone. */
static int check_schedule(const struct remote_opts *o)
{
	for (int i = 0; i < o->devices.n; i++)
		if (o->devices.n > 1 && o->devices.value[i] < 0)
			return complain(
				EINVAL,
				"layer remote: devices=: -1 means all devices and must be alone");
	if (names_devices(o) && o->schedule == REMOTE_FIRST)
		return complain(EINVAL,
				"layer remote: devices= needs schedule=static or schedule=load");
	if (o->connect && (o->schedule != REMOTE_FIRST || o->shared))
		return complain(EINVAL,
				"layer remote: %s= configures the daemon, but connect= names one "
				"elsewhere; set it there",
				o->shared ? "shared" : "schedule");
	return 0;
}

static int check_block(const struct remote_opts *o)
{
	if (o->block && o->block < REMOTE_BLOCK_LEAST)
		return complain(EINVAL, "layer remote: block= must be 64k to 128M, or 0");
	if (o->block && o->connect)
		return complain(EINVAL, "layer remote: block= configures the daemon, but connect= "
					"names one elsewhere; set it there");
	return 0;
}

static int check_words(const struct remote_opts *o)
{
	bool elsewhere = o->listen || o->connect;

	if (check_network(o) || check_schedule(o) || check_block(o))
		return -EINVAL;
	if (o->listen && o->connect)
		return complain(EINVAL, "layer remote: listen= and connect= are the two ends of a "
					"connection; give one of them");
	if ((elsewhere || o->token) && o->transport != REMOTE_TCP)
		return complain(EINVAL,
				"layer remote: listen=, connect= and token= need transport=tcp");
	if (elsewhere && !o->token)
		return complain(EINVAL,
				"layer remote: %s= needs token=FILE, with the same content on both "
				"machines: (umask 077; head -c 24 /dev/urandom | base64 >FILE)",
				o->listen ? "listen" : "connect");
	if (elsewhere && !tcp_is_address(o->listen ? o->listen : o->connect))
		return complain(
			EINVAL,
			"layer remote: listen= and connect= must be HOST:PORT, the port 0 to "
			"65535, at most %d bytes",
			REMOTE_ADDRESS - 1);
	return o->token ? check_token(o->token) : 0;
}

/* TCP: the token is a user's, or the layer's own. */
static bool tell_token(const struct remote_opts *o, const char *folder, struct remote_shared *s)
{
	if (o->transport != REMOTE_TCP)
		return true;
	if (o->token)
		return realpath_fits(o->token, s->token);
	snprintf(s->token, sizeof(s->token), "%s/token", folder);
	return remote_own_token(s->token);
}

/* What clients and daemon read in the folder. */
static int tell(const struct remote_opts *o, const char *folder)
{
	struct remote_shared *s = remote_shared_map(folder, O_CREAT);
	bool told;

	if (!s)
		return complain(errno, "layer remote: %s: %s", folder, strerror(errno));
	s->poll_ns = remote_poll_ns(o);
	s->strict = o->strict;
	s->transport = o->transport;
	s->nearby = o->nearby;
	s->rtt_ns = 1000 * o->network.value[0];
	s->gbit_s = o->network.value[1];
	snprintf(s->address, sizeof(s->address), "%s", o->connect ? o->connect : "");
	told = tell_token(o, folder, s);
	munmap(s, sizeof(*s));
	return told ? 0 : complain(errno, "layer remote: no token: %s", strerror(errno));
}

static int enter(const void *opts, struct entry *e)
{
	const struct remote_opts chosen = with_transport(opts), *o = &chosen;
	const char *folder;

	serve_if_helper(opts);
	if (refuse_wrappers_outside() || refuse_without_device(o) || check_words(o))
		return -EINVAL;
	folder = entry_folder(e);
	if (!folder || tell(o, folder))
		return -EIO;
	/* the helper's, too, which is a child of this process */
	setenv(REMOTE_VARIABLE, folder, 1);
	entry_setenv(e, REMOTE_VARIABLE, folder);
	if (!o->connect)
		entry_helper(e, start_anew);
	if (remote_backend()->kernels == REMOTE_IMAGES && (preload_cudart(e) || lead_to_cublas(e)))
		return -EIO;
	return entry_preload(e, NULL);
}

/* ---- in force: the daemon has done the commands that were sent --------------------------------
 */

static int use(void)
{
	uint64_t *memory = NULL, word = 0;
	int err = (int)cudaMalloc((void **)&memory, sizeof(word));

	if (err)
		return err;
	err = (int)cudaMemset(memory, 0x5a, sizeof(word));
	err = err ? err : (int)cudaMemcpy(&word, memory, sizeof(word), cudaMemcpyDeviceToHost);
	err = err ? err : (int)cudaFree(memory);
	return err || word == UINT64_C(0x5a5a5a5a5a5a5a5a) ? err : (int)cudaErrorUnknown;
}

static int64_t ask(const char *function)
{
	remote_sent_function *found;
	void *symbol = dlsym(RTLD_DEFAULT, function);

	memcpy(&found, &symbol, sizeof(found));
	return symbol ? found() : 0;
}

static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	const struct remote_opts *o = opts;
	long long before, sent, done;
	int err;

	if (!dlsym(RTLD_DEFAULT, REMOTE_SENT_FUNCTION)) {
		snprintf(detail, LAYER_DETAIL, "its library is not loaded");
		return false;
	}
	before = ask(REMOTE_SENT_FUNCTION);
	err = use();
	sent = ask(REMOTE_SENT_FUNCTION);
	done = ask(REMOTE_DONE_FUNCTION);
	if (err) {
		snprintf(detail, LAYER_DETAIL, "a call failed under it: %s",
			 cudaGetErrorName((cudaError_t)err));
		return false;
	}
	snprintf(detail, LAYER_DETAIL,
		 "the daemon has done %lld of %lld commands that were sent%s%s", done, sent,
		 o->transport == TRANSPORT_AUTO ? " over " : "",
		 o->transport == TRANSPORT_AUTO ? transports[ask(REMOTE_WAY_FUNCTION)] : "");
	return sent >= before + 4 && done == sent;
}

/* ---- when the command has ended ---------------------------------------------------------------
 */

/* The middle of the bin that holds the median. */
static double median_us(const struct remote_shared *s)
{
	int64_t n = 0, below = 0;
	int bin = 0;

	for (int i = 0; i < REMOTE_BINS; i++)
		n += s->answer_bins[i];
	while (bin < REMOTE_BINS - 1 && (below += s->answer_bins[bin]) <= (n - 1) / 2)
		bin++;
	return 1e-3 * remote_bin_ns(bin);
}

static void report(const char *folder, char detail[LAYER_DETAIL])
{
	struct remote_shared *s = remote_shared_map(folder, 0);
	size_t used;

	if (!s)
		return;
	used = (size_t)snprintf(detail, LAYER_DETAIL, "%s sent ahead, %lld answered",
				counted(s->ahead, "command").s, (long long)s->answered);
	if (s->answered)
		used += (size_t)snprintf(detail + used, LAYER_DETAIL - used,
					 ", half of them within %.3g us", median_us(s));
	if (s->refused)
		snprintf(detail + used, LAYER_DETAIL - used, "; %s refused",
			 counted((int64_t)s->refused, "call").s);
	munmap(s, sizeof(*s));
}

const struct layer layer_remote = {
	.name = "remote",
	.summary =
		"has a daemon, on this machine unless told otherwise, execute CUDA runtime calls",
	.wraps_runtime = true,
	.opts_size = sizeof(struct remote_opts),
	.params = params,
	.missing = missing,
	.enter = enter,
	.in_force = in_force,
	.report = report,
};
