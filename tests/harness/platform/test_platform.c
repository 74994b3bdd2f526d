/*
 * test_platform.c - what stands between rift and the machine, on the platforms of
 * tests/platforms: every layer is named, with its evidence, and none is invented.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/platform/virt.h"
#include "tests/place.h"

TestSuite(small_platform, .timeout = 300, .fini = place_remove);

static const struct expected {
	const char *name, *hypervisor, *cloud, *wsl, *container, *orchestrator, *sandbox, *gpu;
} platforms[] = {
	/* NULL: nothing is found */
	{ "bare-metal", "none", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "kvm", "kvm", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "kvm-enlightened", "kvm", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "vmware", "vmware", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "hyper-v-azure", "hyper-v", "azure", NULL, NULL, NULL, NULL, NULL },
	{ "wsl2", "hyper-v", NULL, "wsl2", NULL, NULL, NULL, "gpu-pv" },
	{ "wsl1", "none", NULL, "wsl1", NULL, NULL, NULL, NULL },
	{ "docker", "none", NULL, NULL, "docker", NULL, NULL, NULL },
	{ "kubernetes", "kvm", "gcp", NULL, "containerd", "kubernetes", NULL, NULL },
	{ "podman", "none", NULL, NULL, "podman", NULL, NULL, NULL },
	{ "lxc", "none", NULL, NULL, "lxc", NULL, NULL, NULL },
	{ "nspawn", "none", NULL, NULL, "systemd-nspawn", NULL, NULL, NULL },
	{ "gvisor", "kvm", NULL, NULL, NULL, NULL, "gvisor", "nvproxy" },
	{ "gvisor-old", "none", NULL, NULL, NULL, NULL, "gvisor", NULL },
	{ "aws-nitro", "kvm", "aws", NULL, NULL, NULL, NULL, NULL },
	{ "aws-metal", "none", "aws", NULL, NULL, NULL, NULL, NULL },
	{ "aws-graviton", "kvm", "aws", NULL, NULL, NULL, NULL, NULL },
	{ "arm-virt", "qemu", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "arm-xen", "xen", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "arm-board", NULL, NULL, NULL, NULL, NULL, NULL, NULL },
	{ "xen", "xen", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "xen-dom0", "xen", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "apptainer-slurm", "none", NULL, NULL, "apptainer", "slurm", NULL, NULL },
	{ "kata", "kvm", NULL, NULL, "kata", NULL, NULL, NULL },
	{ "mps", "none", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "gpu-nouveau", "none", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "gpu-vfio", "none", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "gpu-no-driver", "none", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "nothing", NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
enum { PLATFORMS = sizeof(platforms) / sizeof(*platforms) };

static void check_layer(const char *platform, const struct virt *v, enum virt_layer layer,
			const char *want)
{
	const struct fact *f = &v->layer[layer];
	int evidence = 0;

	for (int i = 0; i < v->n; i++)
		evidence += v->evidence[i].layer == layer && *v->evidence[i].source;
	cr_assert(eq(int, fact_known(f), want != NULL), "%s, layer %d: %s", platform, layer,
		  f->text);
	cr_assert(lt(sz, 0, strlen(f->text)), "%s, layer %d: no reason", platform, layer);
	if (want)
		cr_assert(eq(str, (char *)f->text, (char *)want), "%s, layer %d", platform, layer);
	cr_assert(eq(int, evidence > 0, want && strcmp(want, "none")), "%s, layer %d: %d pieces",
		  platform, layer, evidence);
}

Test(small_platform, every_layer_is_named_and_none_is_invented)
{
	for (int i = 0; i < PLATFORMS; i++) {
		const struct expected *e = &platforms[i];
		struct place p = place_of(e->name);
		struct virt v;

		virt_read(&v, &p);
		check_layer(e->name, &v, VIRT_HYPERVISOR, e->hypervisor);
		check_layer(e->name, &v, VIRT_CLOUD, e->cloud);
		check_layer(e->name, &v, VIRT_WSL, e->wsl);
		check_layer(e->name, &v, VIRT_CONTAINER, e->container);
		check_layer(e->name, &v, VIRT_ORCHESTRATOR, e->orchestrator);
		check_layer(e->name, &v, VIRT_SANDBOX, e->sandbox);
		check_layer(e->name, &v, VIRT_GPU, e->gpu);
		place_remove();
	}
}

Test(small_platform, no_machine_is_forgotten)
{
	int names = 0;

	for (const char *const *name = place_all(); *name; name++, names++) {
		int found = 0;

		for (int i = 0; i < PLATFORMS; i++)
			found += !strcmp(platforms[i].name, *name);
		cr_assert(eq(int, found, 1), "%s", *name);
	}
	cr_assert(eq(int, names, PLATFORMS), "%d machines", names);
}

/* Is there such a piece of evidence? */
static bool has_note(const struct virt *v, const char *says, const char *source, const char *text)
{
	for (int i = 0; i < v->n; i++)
		if (!strcmp(v->evidence[i].says, says) && !strcmp(v->evidence[i].source, source) &&
		    strstr(v->evidence[i].text, text))
			return true;
	return false;
}

static void check_evidence(const char *platform, const char *says, const char *source,
			   const char *text)
{
	struct place p = place_of(platform);
	struct virt v;

	virt_read(&v, &p);
	cr_assert(has_note(&v, says, source, text), "%s: no %s by %s", platform, says, source);
	place_remove();
}

Test(small_platform, evidence_says_where_it_was_read)
{
	check_evidence("kvm", "kvm", "CPUID 0x40000000", "KVMKVMKVM");
	check_evidence("kvm", "qemu", "DMI", "QEMU");
	check_evidence("kvm", "unknown", "/proc/cpuinfo", "flag hypervisor");
	check_evidence("kvm-enlightened", "hyper-v", "CPUID 0x40000000", "Microsoft Hv");
	check_evidence("hyper-v-azure", "hyper-v", "/sys/bus/vmbus", "");
	check_evidence("wsl2", "gpu-pv", "/dev/dxg", "VMBUS");
	check_evidence("docker", "docker", "/.dockerenv", "");
	check_evidence("docker", "docker", "/proc/self/mountinfo", "/containers/");
	check_evidence("kubernetes", "containerd", "/proc/self/cgroup", "cri-containerd");
	check_evidence("kubernetes", "kubernetes", "/proc/self/mountinfo", "/kubelet/pods/");
	check_evidence("podman", "podman", "/run/.containerenv", "podman-4.9.3");
	check_evidence("lxc", "lxc", "/proc/1/environ", "container=lxc");
	check_evidence("gvisor", "gvisor", "kernel log", "Starting gVisor");
	check_evidence("xen-dom0", "xen", "/sys/hypervisor/type", "dom0");
	check_evidence("arm-xen", "xen", "/proc/device-tree/hypervisor/compatible", "xen-4.17");
}

Test(small_platform, json_has_a_reason_for_every_null)
{
	struct place p = place_of("nothing");
	struct virt v;
	json_t *o, *why;
	const char *key;
	json_t *value;

	virt_read(&v, &p);
	o = virt_json(&v);
	why = json_object_get(o, "why_null");
	json_object_foreach(o, key, value) if (json_is_null(value))
		cr_assert(lt(sz, 0, json_string_length(json_object_get(why, key))), "%s", key);
	cr_assert(lt(sz, 5, json_object_size(why)), "nothing is null");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "evidence")), 0), "evidence");
	json_decref(o);
}

/* ---- machines of few files ------------------------------------------------------------------ */

/* The word of this layer, and what its evidence holds. */
static void is_said(const char *const (*files)[2], enum virt_layer layer, const char *word,
		    const char *text)
{
	struct place p = place_made(files);
	struct virt v;

	virt_read(&v, &p);
	if (word) {
		cr_assert(ne(ptr, (void *)(uintptr_t)virt_word(&v, layer), NULL), "%s", word);
		cr_expect(
			eq(str, (char *)(uintptr_t)virt_word(&v, layer), (char *)(uintptr_t)word));
		cr_expect(eq(str, v.evidence[0].text, (char *)(uintptr_t)text));
		cr_expect(eq(int, v.n, 1), "%d", v.n);
	} else {
		cr_expect(zero(int, v.n), "%s", v.evidence[0].source);
	}
	place_remove();
}

#define DSDT "/sys/firmware/acpi/tables/DSDT"

/* Bytes 10 to 15 of the table. */
Test(small_platform, a_monitor_by_its_table)
{
	is_said((const char *const[][2]){ { DSDT, "0123456789FIRECK" }, { 0 } }, VIRT_HYPERVISOR,
		"kvm", "FIRECK: Firecracker");
	is_said((const char *const[][2]){ { DSDT, "0123456789FIREC" }, { 0 } }, VIRT_HYPERVISOR,
		NULL, "");
	is_said((const char *const[][2]){ { DSDT, "0123456789AFIRECK" }, { 0 } }, VIRT_HYPERVISOR,
		NULL, "");
}

/* The piece of a line from 24 bytes before the word on, of each layer the first. */
Test(small_platform, pieces_of_long_lines)
{
	static const char groups[] = "/proc/self/cgroup";

	is_said((const char *const[][2]){ { groups, "0::/90123456789012345678/lxc/a\n" }, { 0 } },
		VIRT_CONTAINER, "lxc", "0::/90123456789012345678/lxc/a");
	is_said((const char *const[][2]){ { groups, "x0::/90123456789012345678/lxc/a\n" }, { 0 } },
		VIRT_CONTAINER, "lxc", "0::/90123456789012345678/lxc/a");
	is_said((const char *const[][2]){ { groups, "0::/docker/a/lxc/b\n1:x:/docker/b\n" },
					  { 0 } },
		VIRT_CONTAINER, "docker", "0::/docker/a/lxc/b");
	is_said((const char *const[][2]){ { "/proc/self/mountinfo", "1 2 0:1 /fuse.lxcfs /home\n" },
					  { 0 } },
		VIRT_CONTAINER, NULL, "");
}

/* Without CPUID a cloud's guest is one, but its whole machines are not. */
Test(small_platform, a_whole_machine_of_a_cloud)
{
	is_said((const char *const[][2]){ { "/sys/class/dmi/id/sys_vendor", "Amazon EC2\n" },
					  { "/sys/class/dmi/id/product_name", "m5.metal\n" },
					  { 0 } },
		VIRT_CLOUD, "aws", "Amazon EC2 m5.metal");
	is_said((const char *const[][2]){ { "/proc/self/mountinfo", "/docker/containers/\n" },
					  { 0 } },
		VIRT_CONTAINER, NULL, "");
}

Test(small_platform, variables_of_the_first_process)
{
	is_said((const char *const[][2]){ { "/proc/1/environ", "container=" }, { 0 } },
		VIRT_CONTAINER, NULL, "");
	is_said((const char *const[][2]){ { "/proc/1/environ", "containers=x" }, { 0 } },
		VIRT_CONTAINER, NULL, "");
}

Test(small_platform, markers_of_containers)
{
	is_said((const char *const[][2]){ { "/.dockerenv", "" }, { 0 } }, VIRT_CONTAINER, "docker",
		"");
	is_said((const char *const[][2]){ { "/.singularity.d", "" }, { 0 } }, VIRT_CONTAINER,
		"apptainer", "");
	is_said((const char *const[][2]){ { "/var/run/secrets/kubernetes.io", "" }, { 0 } },
		VIRT_ORCHESTRATOR, "kubernetes", "");
}
