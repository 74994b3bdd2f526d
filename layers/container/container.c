/*
 * container.c - bubblewrap's namespaces and a filter of system calls, as container engines have
 * them; the file system, the network and the devices are the machine's.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "layers/layer.h"

struct container_opts {
	int seccomp;
};

static const char *const yes_no[] = { "no", "yes", NULL };

static const struct param params[] = {
	PARAM_CHOICE(container_opts, seccomp, "yes", yes_no,
		     "whether a filter checks every system call"),
	PARAM_END,
};

/* ---- the filter --------------------------------------------------------------------------- */

/* What container engines refuse: calls that change the machine for all who use it. */
static const long denied[] = {
	SYS_acct,	   SYS_add_key,	      SYS_bpf,		SYS_clock_adjtime,
	SYS_clock_settime, SYS_delete_module, SYS_finit_module, SYS_init_module,
	SYS_kexec_load,	   SYS_keyctl,	      SYS_mount,	SYS_open_by_handle_at,
	SYS_pivot_root,	   SYS_quotactl,      SYS_reboot,	SYS_request_key,
	SYS_setns,	   SYS_settimeofday,  SYS_swapoff,	SYS_swapon,
	SYS_umount2,	   SYS_userfaultfd,   SYS_vhangup,	SYS_sethostname,
#ifdef SYS_iopl
	SYS_iopl,	   SYS_ioperm,
#endif
};

enum { DENIED = sizeof(denied) / sizeof(*denied), LINES = 1 + 2 * DENIED + 1 };

/* One comparison after the other, as in the filters that libseccomp makes of such lists. */
static int filter_file(void)
{
	struct sock_filter line[LINES];
	int n = 0, fd;

	line[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (int i = 0; i < DENIED; i++) {
		line[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)denied[i], 0, 1);
		line[n++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	line[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	fd = memfd_create("rift-seccomp", 0); /* bwrap inherits it */
	if (fd < 0 || write(fd, line, sizeof(line)) != (ssize_t)sizeof(line) ||
	    lseek(fd, 0, SEEK_SET))
		return complain(errno, "layer container: a filter: %s", strerror(errno));
	return fd;
}

/* ---- entering ------------------------------------------------------------------------------ */

/* The namespaces that are made new. */
static const char *const namespaces[] = { "pid", "ipc", "uts" };

enum { NAMESPACES = sizeof(namespaces) / sizeof(*namespaces) };

static void read_namespace(const char *name, char out[64])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	n = readlink(path, out, 63);
	out[n < 0 ? 0 : n] = '\0';
}

static const char *variable(const char *name)
{
	static char text[64];

	snprintf(text, sizeof(text), "RIFT_LAYER_CONTAINER_%s", name);
	return text;
}

static const char *missing(void)
{
	int status = system("bwrap --dev-bind / / --unshare-pid --unshare-ipc --unshare-uts "
			    "--proc /proc true >/dev/null 2>&1");

	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return "bwrap is not installed: apt install bubblewrap";
	return status ? "bwrap may not make namespaces here" : NULL;
}

static void before_fd(struct entry *e, const char *option, int fd)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", fd);
	entry_before(e, option);
	entry_before(e, text);
}

static int enter(const void *opts, struct entry *e)
{
	const struct container_opts *o = opts;
	int filter = o->seccomp ? filter_file() : -1, child = entry_child_fd(e);
	char text[64];

	if (child < 0 || (o->seccomp && filter < 0))
		return -EIO;
	for (int i = 0; i < NAMESPACES; i++) {
		read_namespace(namespaces[i], text);
		entry_setenv(e, variable(namespaces[i]), text);
	}
	entry_before(e, "bwrap");
	entry_before(e, "--dev-bind");
	entry_before(e, "/");
	entry_before(e, "/");
	entry_before(e, "--unshare-pid");
	entry_before(e, "--unshare-ipc");
	entry_before(e, "--unshare-uts");
	entry_before(e, "--proc");
	entry_before(e, "/proc");
	before_fd(e, "--info-fd", child);
	if (filter >= 0)
		before_fd(e, "--seccomp", filter);
	entry_before(e, "--");
	return 0;
}

/* ---- in force ------------------------------------------------------------------------------ */

static int seccomp_mode(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int mode = -1;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (status)
		fclose(status);
	return mode;
}

static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	const struct container_opts *o = opts;
	int differ = 0, mode = seccomp_mode();

	for (int i = 0; i < NAMESPACES; i++) {
		const char *outside = getenv(variable(namespaces[i]));
		char here[64];

		read_namespace(namespaces[i], here);
		differ += *here && outside && strcmp(outside, here) != 0;
	}
	snprintf(detail, LAYER_DETAIL, "%d of %d namespaces are its own, Seccomp is %d", differ,
		 NAMESPACES, mode);
	return differ == NAMESPACES && (!o->seccomp || mode == SECCOMP_MODE_FILTER);
}

const struct layer layer_container = {
	.name = "container",
	.summary = "namespaces and a system-call filter, with bubblewrap",
	.opts_size = sizeof(struct container_opts),
	.params = params,
	.missing = missing,
	.enter = enter,
	.in_force = in_force,
};
