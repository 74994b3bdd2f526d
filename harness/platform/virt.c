/* virt.c - what stands between this process and the machine: each layer, and the evidence. */
#include "harness/platform/virt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/json.h"
#include "harness/platform/host.h"

/* ---- which hypervisor ------------------------------------------------------------------- */

/*
 * Which hypervisor, by what it says of itself: to CPUID (x86), in the firmware's tables (DMI), in
 * the device tree (ARM), in /sys/hypervisor (Xen). Names are from the manuals of the products.
 */

/* ---- CPUID ------------------------------------------------------------------------------ */

static const struct {
	const char *signature, *says;
} signatures[] = {
	{ "KVMKVMKVM", "kvm" },		 { "Linux KVM Hv", "kvm" },
	{ "VMwareVMware", "vmware" },	 { "Microsoft Hv", "hyper-v" },
	{ "XenVMMXenVMM", "xen" },	 { "TCGTCGTCGTCG", "qemu" },
	{ "VBoxVBoxVBox", "vbox" },	 { "bhyve bhyve ", "bhyve" },
	{ "BHyVE BHyVE ", "bhyve" },	 { "prl hyperv  ", "parallels" },
	{ " lrpepyh  vr", "parallels" }, { "ACRNACRNACRN", "acrn" },
	{ "QNXQVMBSQG", "qnx" },	 { "Apple VZ", "apple" },
	{ "Jailhouse", "jailhouse" },
};
enum { SIGNATURES = sizeof(signatures) / sizeof(*signatures) };

static const char *by_signature(const char *signature)
{
	for (int i = 0; i < SIGNATURES; i++)
		if (!strcmp(signatures[i].signature, signature))
			return signatures[i].says;
	return NULL;
}

static void note_signature(struct virt *v, const char *signature)
{
	const char *says = by_signature(signature);

	virt_note(v, VIRT_HYPERVISOR, says ? says : "unknown", "CPUID 0x40000000", "%s", signature);
}

/*
 * Others take Microsoft's name as well, so that Windows guests know what they can do: it decides
 * only where it stands alone.
 */
static void read_cpuid(struct virt *v, const struct place *p)
{
	const struct cpuid *c = p->cpuid;
	char all[sizeof(v->cpuid.text)] = "";

	if (!c || !c->hypervisor) {
		v->cpuid = fact_unknown(c ? "the processor sees no hypervisor"
					  : "not an x86 processor");
		return;
	}
	for (int i = 0; i < c->n; i++)
		if (strcmp(c->signature[i], "Microsoft Hv"))
			note_signature(v, c->signature[i]);
	for (int i = 0; i < c->n; i++) {
		if (!strcmp(c->signature[i], "Microsoft Hv"))
			note_signature(v, c->signature[i]);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 c->signature[i]);
	}
	v->cpuid = c->n ? fact_text("%s", all) : fact_unknown("the hypervisor hides its name");
	if (!c->n)
		virt_note(v, VIRT_HYPERVISOR, "unknown", "CPUID 1", "bit 31 of ECX");
}

/* ---- DMI -------------------------------------------------------------------------------- */

/*
 * Which field begins with what. A cloud's name does not tell a guest from a whole machine (".metal"
 * on AWS), so its hypervisor counts only where the processor cannot tell.
 */
static const struct dmi {
	size_t field;
	const char *begins, *hypervisor, *cloud;
} dmi_table[] = {
#define F(name) offsetof(struct virt, name)
	{ F(product_name), "KVM", "kvm", NULL },
	{ F(product_name), "VMware", "vmware", NULL },
	{ F(product_name), "VirtualBox", "vbox", NULL },
	{ F(product_name), "Virtual Machine", "hyper-v", NULL }, /* Microsoft's, see below */
	{ F(product_name), "HVM domU", "xen", NULL },
	{ F(product_name), "OpenStack", "kvm", "openstack" },
	{ F(product_name), "BHYVE", "bhyve", NULL },
	{ F(product_name), "Parallels", "parallels", NULL },
	{ F(product_name), "Apple Virtualization", "apple", NULL },
	{ F(product_name), "Google Compute Engine", "kvm", "gcp" },
	{ F(product_name), "Alibaba Cloud ECS", "kvm", "alibaba" },
	{ F(sys_vendor), "Amazon EC2", "kvm", "aws" }, /* Nitro is made from KVM */
	{ F(sys_vendor), "DigitalOcean", "kvm", "digitalocean" },
	{ F(sys_vendor), "Hetzner", "kvm", "hetzner" },
	{ F(sys_vendor), "Tencent Cloud", "kvm", "tencent" },
	{ F(sys_vendor), "QEMU", "qemu", NULL },
	{ F(sys_vendor), "Xen", "xen", NULL },
	{ F(sys_vendor), "VMware", "vmware", NULL },
	{ F(sys_vendor), "innotek GmbH", "vbox", NULL },
	{ F(sys_vendor), "Cloud Hypervisor", "kvm", NULL },
#undef F
};
enum { DMI_ROWS = sizeof(dmi_table) / sizeof(*dmi_table) };

static bool is_match(const struct virt *v, const struct dmi *row)
{
	const struct fact *f = (const struct fact *)(const void *)((const char *)v + row->field);

	if (strncmp(fact_or(f, ""), row->begins, strlen(row->begins)))
		return false;
	return strcmp(row->begins, "Virtual Machine") ||
	       fact_is(&v->sys_vendor, "Microsoft Corporation");
}

static void note_dmi(struct virt *v, const struct place *p, const struct dmi *row)
{
	if (row->cloud)
		virt_note(v, VIRT_CLOUD, row->cloud, "DMI", "%s %s", fact_or(&v->sys_vendor, ""),
			  fact_or(&v->product_name, ""));
	if (row->cloud && (p->cpuid || strstr(fact_or(&v->product_name, ""), ".metal")))
		return;
	virt_note(v, VIRT_HYPERVISOR, row->hypervisor, "DMI", "%s", row->begins);
}

static void read_dmi(struct virt *v, const struct place *p)
{
	static const char id[] = "/sys/class/dmi/id";
	/* the same on all of Azure's guests, says its documentation */
	static const char azure[] = "7783-7084-3265-9085-8269-3286-77";
	struct fact tag = place_line(p, "%s/chassis_asset_tag", id);

	v->sys_vendor = place_line(p, "%s/sys_vendor", id);
	v->product_name = place_line(p, "%s/product_name", id);
	v->product_version = place_line(p, "%s/product_version", id);
	v->board_vendor = place_line(p, "%s/board_vendor", id);
	v->bios_vendor = place_line(p, "%s/bios_vendor", id);
	for (int i = 0; i < DMI_ROWS; i++)
		if (is_match(v, &dmi_table[i]))
			note_dmi(v, p, &dmi_table[i]);
	if (fact_is(&tag, azure))
		virt_note(v, VIRT_CLOUD, "azure", "DMI chassis_asset_tag", "%s", azure);
	if (fact_is(&tag, "OracleCloud.com"))
		virt_note(v, VIRT_CLOUD, "oracle", "DMI chassis_asset_tag", "%s", tag.text);
}

/* ---- other places ----------------------------------------------------------------------- */

static void read_device_tree(struct virt *v, const struct place *p)
{
	static const char hypervisor[] = "/proc/device-tree/hypervisor/compatible";
	struct fact f = place_line(p, hypervisor), board;

	if (fact_known(&f))
		virt_note(v, VIRT_HYPERVISOR,
			  strstr(f.text, "kvm")	     ? "kvm"
			  : strstr(f.text, "xen")    ? "xen"
			  : strstr(f.text, "vmware") ? "vmware"
						     : "unknown",
			  hypervisor, "%s", f.text);
	board = place_line(p, "/proc/device-tree/compatible");
	if (fact_is(&board, "linux,dummy-virt") || fact_is(&board, "qemu,pseries"))
		virt_note(v, VIRT_HYPERVISOR, "qemu", "/proc/device-tree/compatible", "%s",
			  board.text);
}

static void read_xen(struct virt *v, const struct place *p)
{
	struct fact type = place_line(p, "/sys/hypervisor/type");
	struct fact can = place_line(p, "/proc/xen/capabilities");

	if (!fact_known(&type))
		return;
	/* the domain that controls the others has the devices to itself, but is a guest all the
	 * same */
	virt_note(v, VIRT_HYPERVISOR, type.text, "/sys/hypervisor/type", "%s%s", type.text,
		  strstr(fact_or(&can, ""), "control_d") ? ", the controlling domain (dom0)" : "");
}

/* Tables that a monitor signs with a name of its own; for root only. */
static void read_acpi(struct virt *v, const struct place *p)
{
	size_t n;
	char *table = place_bytes(p, "/sys/firmware/acpi/tables/DSDT", &n);

	/* bytes 10 to 15 of the header are the maker */
	if (table && n >= 16 && !memcmp(table + 10, "FIRECK", 6))
		virt_note(v, VIRT_HYPERVISOR, "kvm", "/sys/firmware/acpi/tables/DSDT",
			  "FIRECK: Firecracker");
	free(table);
}

void virt_read_hypervisor(struct virt *v, const struct place *p)
{
	struct fact flag = cpu_flag(p, "hypervisor");

	read_cpuid(v, p);
	read_xen(v, p);
	read_device_tree(v, p);
	read_dmi(v, p);
	read_acpi(v, p);
	if (place_has(p, "/sys/bus/vmbus"))
		virt_note(v, VIRT_HYPERVISOR, "hyper-v", "/sys/bus/vmbus", "%s", "");
	if (fact_true(&flag))
		virt_note(v, VIRT_HYPERVISOR, "unknown", "/proc/cpuinfo", "flag hypervisor");
}

/* ---- which container engine ------------------------------------------------------------- */

/*
 * Which container engine, by the markers that engines leave for this purpose, by the paths of
 * control groups, and by the folders that mounts come from. None of it is certain: an image may
 * bring a marker along, and an engine may leave none.
 */

/* ---- markers ---------------------------------------------------------------------------- */

/* systemd's interface: a manager writes its name there, or sets it for the first process. */
static void read_systemd(struct virt *v, const struct place *p)
{
	static const char path[] = "/run/systemd/container";
	struct fact f = place_line(p, path);
	size_t n;
	char *env = place_bytes(p, "/proc/1/environ", &n);
	const char *mine = place_env(p, "container");

	if (fact_known(&f))
		virt_note(v, fact_is(&f, "wsl") ? VIRT_WSL : VIRT_CONTAINER, f.text, path, "%s",
			  f.text);
	for (char *e = env; e && e < env + n; e += strlen(e) + 1)
		if (!strncmp(e, "container=", 10) && e[10])
			virt_note(v, VIRT_CONTAINER, e + 10, "/proc/1/environ", "%s", e);
	if (mine && *mine)
		virt_note(v, VIRT_CONTAINER, mine, "environment", "container=%s", mine);
	free(env);
}

/* engine="podman-4.9.3" in it, unless it is empty. */
static void read_containerenv(struct virt *v, const struct place *p)
{
	static const char path[] = "/run/.containerenv";
	char *text = place_text(p, path), *engine;

	if (!text)
		return;
	engine = strstr(text, "engine=\"");
	if (engine) {
		engine += strlen("engine=\"");
		engine[strcspn(engine, "\"\n")] = '\0';
	}
	virt_note(v, VIRT_CONTAINER, "podman", path, "%s", engine ? engine : "");
	free(text);
}

static void read_markers(struct virt *v, const struct place *p)
{
	static const struct {
		const char *path, *says;
		enum virt_layer layer;
	} files[] = {
		{ "/.dockerenv", "docker", VIRT_CONTAINER },
		{ "/.singularity.d", "apptainer", VIRT_CONTAINER },
		{ "/var/run/secrets/kubernetes.io", "kubernetes", VIRT_ORCHESTRATOR },
	};
	static const struct {
		const char *name, *says;
		enum virt_layer layer;
	} variables[] = {
		{ "APPTAINER_CONTAINER", "apptainer", VIRT_CONTAINER },
		{ "SINGULARITY_CONTAINER", "apptainer", VIRT_CONTAINER },
		{ "ENROOT_ROOTFS", "enroot", VIRT_CONTAINER },
		{ "KUBERNETES_SERVICE_HOST", "kubernetes", VIRT_ORCHESTRATOR },
		{ "SLURM_JOB_ID", "slurm", VIRT_ORCHESTRATOR },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (place_has(p, files[i].path))
			virt_note(v, files[i].layer, files[i].says, files[i].path, "%s", "");
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		if (place_env(p, variables[i].name))
			virt_note(v, variables[i].layer, variables[i].says, "environment",
				  "%s is set", variables[i].name);
}

/* ---- paths ------------------------------------------------------------------------------ */

/* What stands in a path of a control group, or in the folder that a mount comes from. */
static const struct trace {
	const char *text, *says;
	enum virt_layer layer;
} group_traces[] = {
	{ "/docker/", "docker", VIRT_CONTAINER },
	{ "/docker-", "docker", VIRT_CONTAINER },
	{ "/libpod-", "podman", VIRT_CONTAINER },
	{ "cri-containerd", "containerd", VIRT_CONTAINER },
	{ "/crio-", "cri-o", VIRT_CONTAINER },
	{ "/lxc/", "lxc", VIRT_CONTAINER },
	{ "/lxc.payload", "lxc", VIRT_CONTAINER },
	{ "/machine.slice/machine-", "systemd-nspawn", VIRT_CONTAINER },
	{ "kubepods", "kubernetes", VIRT_ORCHESTRATOR },
	{ "/slurm", "slurm", VIRT_ORCHESTRATOR },
	{ 0 },
}, mount_traces[] = {
	{ "/docker/containers/", "docker", VIRT_CONTAINER },
	{ "/var/lib/docker/overlay2/", "docker", VIRT_CONTAINER },
	{ "/overlay-containers/", "podman", VIRT_CONTAINER },
	{ "/containers/storage/overlay/", "podman", VIRT_CONTAINER },
	{ "io.containerd.snapshotter", "containerd", VIRT_CONTAINER },
	{ "io.containerd.grpc.v1.cri", "containerd", VIRT_CONTAINER },
	{ "fuse.lxcfs", "lxc", VIRT_CONTAINER },
	{ "/kubelet/pods/", "kubernetes", VIRT_ORCHESTRATOR },
	{ "kataShared", "kata", VIRT_CONTAINER },
	{ 0 },
};

/*
 * The first trace of each layer in a line; kept is the piece around it, since ids in paths are
 * long.
 */
static void note_traces(struct virt *v, const char *path, const char *line,
			const struct trace *traces)
{
	enum { AROUND = 24 };
	unsigned noted = 0;

	for (; traces->text; traces++) {
		const char *at = strstr(line, traces->text);

		if (!at || noted & 1u << traces->layer)
			continue;
		noted |= 1u << traces->layer;
		virt_note(v, traces->layer, traces->says, path, "%s",
			  at - line > AROUND ? at - AROUND : line);
	}
}

static void read_groups(struct virt *v, const struct place *p)
{
	static const char path[] = "/proc/self/cgroup";
	char *text = place_text(p, path), *rest = text, *line;
	int noted = v->n;

	/* version 1 has a line a controller, all alike */
	while (text && v->n == noted && (line = strsep(&rest, "\n")))
		note_traces(v, path, line, group_traces);
	free(text);
}

/*
 * Only what engines mount over their own system: a host that runs containers sees all of theirs
 * in other places.
 */
static bool mounted_by_engine(const char *line)
{
	static const char *const points[] = {
		"/", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/proc/cpuinfo", NULL
	};
	char point[64];

	/* id, parent, device, what is mounted, where */
	if (sscanf(line, "%*s %*s %*s %*s %63s", point) != 1)
		return false;
	for (const char *const *p = points; *p; p++)
		if (!strcmp(*p, point))
			return true;
	return false;
}

static void read_mounts(struct virt *v, const struct place *p)
{
	static const char path[] = "/proc/self/mountinfo";
	char *text = place_text(p, path), *rest = text, *line;

	while (text && (line = strsep(&rest, "\n")))
		if (mounted_by_engine(line))
			note_traces(v, path, line, mount_traces);
	free(text);
}

void virt_read_container(struct virt *v, const struct place *p)
{
	read_systemd(v, p);
	read_containerenv(v, p);
	read_markers(v, p);
	read_groups(v, p);
	read_mounts(v, p);
}

/* ---- kernels that are not Linux on a machine -------------------------------------------- */

/*
 * Kernels that are not Linux on a machine: WSL, whose version 2 is Linux in a guest of Hyper-V and
 * whose version 1 is Windows, and gVisor, a kernel in user space.
 */

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

/* ---- the layers and their evidence ------------------------------------------------------ */

static const char *const names[VIRT_LAYERS] = {
	[VIRT_HYPERVISOR] = "hypervisor",
	[VIRT_CLOUD] = "cloud",
	[VIRT_WSL] = "wsl",
	[VIRT_CONTAINER] = "container",
	[VIRT_ORCHESTRATOR] = "orchestrator",
	[VIRT_SANDBOX] = "sandbox",
	[VIRT_GPU] = "gpu",
};

void virt_note(struct virt *v, enum virt_layer layer, const char *says, const char *source,
	       const char *fmt, ...)
{
	struct evidence *e = &v->evidence[v->n];
	va_list args;

	if (!fact_known(&v->layer[layer]))
		v->layer[layer] = fact_text("%s", says);
	if (v->n == VIRT_EVIDENCE_MAX)
		return;
	v->n++;
	e->layer = layer;
	snprintf(e->says, sizeof(e->says), "%s", says);
	snprintf(e->source, sizeof(e->source), "%s", source);
	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
}

const char *virt_word(const struct virt *v, enum virt_layer layer)
{
	const struct fact *f = &v->layer[layer];

	return fact_known(f) && !fact_is(f, "none") ? f->text : NULL;
}

/* On x86 the processor says that there is no hypervisor; elsewhere nobody does. */
static void conclude_layers(struct virt *v, const struct place *p)
{
	if (!fact_known(&v->layer[VIRT_HYPERVISOR]))
		v->layer[VIRT_HYPERVISOR] =
			p->cpuid ? fact_text("none")
				 : fact_unknown("no sign of one, which proves nothing here");
	for (int i = 0; i < VIRT_LAYERS; i++)
		if (!fact_known(&v->layer[i]))
			v->layer[i] = fact_unknown("no sign of one");
}

void virt_read(struct virt *v, const struct place *p)
{
	*v = (struct virt){ 0 };
	virt_read_kernel(v, p);
	virt_read_hypervisor(v, p);
	virt_read_container(v, p);
	conclude_layers(v, p);
}

static json_t *evidence_json(const struct virt *v)
{
	json_t *array = json_array();

	for (int i = 0; i < v->n; i++) {
		const struct evidence *e = &v->evidence[i];

		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:o, s:o}", "layer", names[e->layer],
						"says", e->says, "source", json_text(e->source),
						"text", json_text(*e->text ? e->text : NULL)));
	}
	return array;
}

#define ROW(name)                                                                                  \
	{                                                                                          \
#name, offsetof(struct virt, name)                                                 \
	}

json_t *virt_json(const struct virt *v)
{
	static const struct fact_row dmi[] = { ROW(sys_vendor),	     ROW(product_name),
					       ROW(product_version), ROW(board_vendor),
					       ROW(bios_vendor),     { 0 } };
	struct fact_row rows[VIRT_LAYERS + 2] = { ROW(cpuid) };
	json_t *o;

	for (int i = 0; i < VIRT_LAYERS; i++)
		rows[i + 1] =
			(struct fact_row){ names[i], offsetof(struct virt, layer) +
							     sizeof(struct fact) * (size_t)i };
	o = facts_json(rows, v);
	json_object_set_new(o, "dmi", facts_json(dmi, v));
	json_object_set_new(o, "evidence", evidence_json(v));
	return o;
}
