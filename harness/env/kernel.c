/*
 * kernel.c - kernels that are not Linux on a machine: WSL, whose version 2 is Linux in a guest of
 * Hyper-V and whose version 1 is Windows, and gVisor, a kernel in user space.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/env/virt.h"

/* "5.15.153.1-microsoft-standard-WSL2"; version 1: "4.4.0-19041-Microsoft". */
static void read_wsl(struct virt *v, const struct place *p)
{
	struct fact release = place_line(p, "/proc/sys/kernel/osrelease");
	const char *says = "wsl2", *distro = place_env(p, "WSL_DISTRO_NAME");
	bool microsoft = fact_known(&release) && strcasestr(release.text, "microsoft");

	if (!microsoft)
		return;
	if (!strcasestr(release.text, "WSL2") && !strstr(release.text, "microsoft-standard"))
		says = "wsl1";
	virt_note(v, VIRT_WSL, says, "/proc/sys/kernel/osrelease", "%s", release.text);
	if (distro)
		virt_note(v, VIRT_WSL, says, "environment", "WSL_DISTRO_NAME is set");
	/* calls to the GPU go to Windows' driver through the bus between the guest and its host */
	if (place_has(p, "/dev/dxg"))
		virt_note(v, VIRT_GPU, "gpu-pv", "/dev/dxg", "Windows' driver, by way of VMBUS");
}

/* The banner that gVisor showed for years, and what its newer versions call themselves. */
static bool banner_of_gvisor(const char *version)
{
	return strcasestr(version, "gvisor") ||
	       strstr(version, "4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016");
}

static void read_gvisor(struct virt *v, const struct place *p)
{
	static const char marker[] = "/proc/gvisor/kernel_is_gvisor";
	struct fact version = place_line(p, "/proc/version");

	if (place_has(p, marker))
		virt_note(v, VIRT_SANDBOX, "gvisor", marker, "%s", "");
	if (fact_known(&version) && banner_of_gvisor(version.text))
		virt_note(v, VIRT_SANDBOX, "gvisor", "/proc/version", "%s", version.text);
	if (p->kernel_log && strstr(p->kernel_log, "Starting gVisor"))
		virt_note(v, VIRT_SANDBOX, "gvisor", "kernel log", "Starting gVisor");
	if (virt_word(v, VIRT_SANDBOX) && place_has(p, "/dev/nvidiactl"))
		virt_note(v, VIRT_GPU, "nvproxy", "/dev/nvidiactl",
			  "gVisor passes the driver's calls on");
}

void virt_read_kernel(struct virt *v, const struct place *p)
{
	read_wsl(v, p);
	read_gvisor(v, p);
}
