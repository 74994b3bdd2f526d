/* virt.c - what stands between this process and the machine: the layers and their evidence. */
#include "harness/env/virt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/json.h"

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
static void conclude(struct virt *v, const struct place *p)
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
	conclude(v, p);
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
