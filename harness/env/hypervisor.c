/*
 * hypervisor.c - which hypervisor, by what it says of itself: to CPUID (x86), in the firmware's
 * tables (DMI), in the device tree (ARM), in /sys/hypervisor (Xen). Names are from the manuals of
 * the products.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/env/host.h"
#include "harness/env/virt.h"

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

static bool matches(const struct virt *v, const struct dmi *row)
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
		if (matches(v, &dmi_table[i]))
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
	size_t n = 0;
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
