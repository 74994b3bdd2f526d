/* clocks.c - the GPU's clock, locked by a guard that outlives whoever asked for it. */
#include "harness/session/clocks.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/command.h"
#include "harness/platform/nvml.h"
#include "harness/session/host.h"

/* ---- the guard -------------------------------------------------------------------------- */

static int lock(struct nvml *n, const char *pci_bus_id, int mhz)
{
	struct fact locked;

	if (!nvml_open(n, "libnvidia-ml.so.1") || !nvml_choose(n, pci_bus_id))
		return complain(ENODEV, "--lock-clocks: %s", n->why);
	locked = nvml_lock_clock(n, (unsigned)mhz);
	if (fact_known(&locked))
		return 0;
	return complain(EPERM,
			"--lock-clocks: %s; it takes root, and in a guest or container often the "
			"host: lock the clock there (nvidia-smi -lgc), or leave the option out",
			locked.text);
}

static void wait_for_end_of_stdin(void)
{
	char byte;
	ssize_t n;

	do
		n = read(STDIN_FILENO, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
}

int cmd_clocks(int argc, char **argv)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct nvml n = { 0 };
	struct fact set_free;
	int err;

	if (argc != 3)
		return exit_code_of(complain(EINVAL, "rift sweep-clocks is started by rift sweep"));
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	err = lock(&n, argv[1], atoi(argv[2]));
	if (!err) {
		printf("locked\n");
		fflush(stdout);
		wait_for_end_of_stdin();
		set_free = nvml_free_clock(&n);
		if (!fact_known(&set_free))
			err = complain(EIO,
				       "--lock-clocks: the clock is still locked: %s; nvidia-smi "
				       "-rgc sets it free",
				       set_free.text);
	}
	nvml_close(&n);
	return exit_code_of(err);
}

/* ---- who asks for it -------------------------------------------------------------------- */

/* Without opening the device. */
static bool find_gpu(char pci_bus_id[32])
{
	int count = 0, major = 0;

	*pci_bus_id = '\0';
	if (!cudaGetDeviceCount(&count) && count)
		cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
	if (major)
		system_pci_address(pci_bus_id);
	cudaGetLastError(); /* that there is none is said below */
	return *pci_bus_id;
}

/* In the child: a session of its own, so that no terminal ends it. */
static void become_guard(int in, int out, const char *pci_bus_id, int mhz)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", mhz);
	setsid();
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execl("/proc/self/exe", "rift", "sweep-clocks", pci_bus_id, text, (char *)NULL);
	fprintf(stderr, "rift: --lock-clocks: cannot start a guard: %s\n", strerror(errno));
	_exit(127);
}

/* Has it said that it has locked the clock? */
static bool has_locked(int said)
{
	char byte;
	ssize_t n;

	do
		n = read(said, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

int clocks_lock(struct clocks *c, int mhz)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	char pci_bus_id[32];
	bool locked;

	*c = (struct clocks){ 0 };
	if (!find_gpu(pci_bus_id))
		return complain(EINVAL,
				"--lock-clocks: there is no GPU whose clock could be locked");
	/* the ends that stay here are closed in every worker: it is held by this process alone */
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return complain(errno, "--lock-clocks: cannot start a guard: %s", strerror(errno));
	c->hold = in[1];
	c->guard = fork();
	if (!c->guard)
		become_guard(in[0], out[1], pci_bus_id, mhz);
	close(in[0]);
	close(out[1]);
	locked = c->guard > 0 && has_locked(out[0]);
	close(out[0]);
	if (locked)
		return 0;
	clocks_free(c);
	return -EPERM; /* it has said why */
}

void clocks_free(struct clocks *c)
{
	if (!c->guard)
		return;
	close(c->hold);
	while (c->guard > 0 && waitpid(c->guard, NULL, 0) < 0 && errno == EINTR)
		;
	*c = (struct clocks){ 0 };
}
