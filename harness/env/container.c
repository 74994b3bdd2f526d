/*
 * container.c - which container engine, by the markers that engines leave for this purpose, by
 * the paths of control groups, and by the folders that mounts come from. None of it is certain:
 * an image may bring a marker along, and an engine may leave none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/env/virt.h"

/* ---- markers ---------------------------------------------------------------------------- */

/* systemd's interface: a manager writes its name there, or sets it for the first process. */
static void read_systemd(struct virt *v, const struct place *p)
{
	static const char path[] = "/run/systemd/container";
	struct fact f = place_line(p, path);
	size_t n = 0;
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
