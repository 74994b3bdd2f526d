/* side.c - a platform as charts name it. */
#include <stdio.h>
#include <string.h>

#include "harness/chart/chart.h"
#include "harness/chart/words.h"
#include "harness/record/recorded.h"

/* What fits into a line of small print, 900 pixels wide, in characters. */
enum { MADE_CHARACTERS = 132, COMMAND_CHARACTERS = 60 };

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* "VM with passthrough (kvm, docker)": what the user calls it, and what was found. */
static void platform_text(const struct chart_side *s, const json_t *header, char *out, size_t size)
{
	static const char *const layers[] = { "hypervisor", "wsl", "container", "sandbox", "gpu" };
	const json_t *virt = json_object_get(header, "virt");
	const char *declared = text_of(virt, "declared_platform");
	const char *command = text_of(header, "command");
	char found[128] = "";
	size_t used = 0;

	if (!declared && !s->side && *s->journal->plan.declared)
		declared = s->journal->plan.declared;
	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers) && used < sizeof(found); i++)
		if (text_of(virt, layers[i]))
			used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%s",
						 used ? ", " : "", text_of(virt, layers[i]));
	if (!used)
		snprintf(found, sizeof(found), "no virtualization found");
	if (command) {
		char shown[256];

		snprintf(shown, sizeof(shown), "%s", command);
		words_cut(shown, sizeof(shown), COMMAND_CHARACTERS);
		snprintf(out, size, "behind '%s' (%s)", shown, found);
	} else if (declared)
		snprintf(out, size, "%s (%s)", declared, found);
	else
		snprintf(out, size, "%s", found);
}

void chart_side_init(struct chart_side *s, const struct journal *j, int side, const char *letter)
{
	const json_t *header = j->header[side], *gpu = json_object_get(header, "gpu");
	const char *device = text_of(gpu, "name"), *driver = text_of(gpu, "driver_version");
	const char *start = text_of(header, "start_utc");
	char platform[512];

	*s = (struct chart_side){ .journal = j, .side = side, .letter = letter };
	s->is_gpu = !session_is_cpu(j, side);
	snprintf(s->device, sizeof(s->device), "%s", device ? device : "unknown device");
	platform_text(s, header, platform, sizeof(platform));
	snprintf(s->made, sizeof(s->made), "%s%s%s%s%s; %s; n = %d processes, %.10s%s", letter,
		 *letter ? ": " : "", s->device, driver ? ", driver " : "", driver ? driver : "",
		 platform, journal_processes(j), start ? start : "",
		 s->is_gpu ? "" : "; not GPU figures");
	words_cut(s->made, sizeof(s->made), MADE_CHARACTERS);
}
