/* layers.c - what stands between rift and the machine, and by what evidence. */
#include <string.h>

#include "harness/doctor/doctor.h"

enum { SHOWN = 3 };

/* "kvm (CPUID 0x40000000: KVMKVMKVM; DMI: QEMU)": the word and what says so. */
static void write_evidence(const struct virt *v, enum virt_layer layer, char *text, size_t size)
{
	const char *between = " (";
	int shown = 0;
	size_t n = (size_t)snprintf(text, size, "%s", v->layer[layer].text);

	for (int i = 0; i < v->n && shown < SHOWN && n < size; i++) {
		const struct evidence *e = &v->evidence[i];

		if (e->layer != layer)
			continue;
		n += (size_t)snprintf(text + n, size - n, "%s%s%s%s", between, e->source,
				      *e->text ? ": " : "", e->text);
		between = "; ";
		shown++;
	}
	if (shown && n < size)
		snprintf(text + n, size - n, ")");
}

static void say_layer(struct doctor *d, const struct virt *v, enum virt_layer layer,
		      const char *name, const char *none)
{
	char text[640];

	if (virt_word(v, layer)) {
		write_evidence(v, layer, text, sizeof(text));
		doctor_say(d, DOCTOR_NOTE, name, NULL, "%s", text);
	} else if (none) {
		doctor_say(d, DOCTOR_OK, name, NULL, "%s", none);
	}
}

void doctor_layers(struct doctor *d, const struct platform *p)
{
	const struct virt *v = &p->virt;

	if (p->declared)
		doctor_say(d, DOCTOR_OK, "platform", NULL, "declared: %s", p->declared);
	say_layer(d, v, VIRT_HYPERVISOR, "hypervisor",
		  fact_is(&v->layer[VIRT_HYPERVISOR], "none") ? "none, says the processor"
							      : "no sign of one");
	say_layer(d, v, VIRT_CLOUD, "cloud", NULL);
	say_layer(d, v, VIRT_WSL, "WSL", "no");
	say_layer(d, v, VIRT_SANDBOX, "sandbox", NULL);
	say_layer(d, v, VIRT_CONTAINER, "container", "no sign of one, which proves nothing");
	say_layer(d, v, VIRT_ORCHESTRATOR, "orchestrator", NULL);
	say_layer(d, v, VIRT_GPU, "GPU sharing",
		  p->is_gpu ? "no sign of a virtual or shared GPU" : NULL);
}
