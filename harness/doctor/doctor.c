/* doctor.c - findings, and how they are shown. */
#include "harness/doctor/doctor.h"

#include <stdarg.h>
#include <string.h>

#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/row.h"

enum { LABEL_WIDTH = 25 };

static const char *const words[DOCTOR_STATES] = { "ok", "note", "warn", "missing" };

void doctor_say(struct doctor *d, enum doctor_state state, const char *name, const char *advice,
		const char *fmt, ...)
{
	struct finding *f = &d->finding[d->n];
	va_list args;

	if (d->n == FINDINGS_MAX)
		return;
	d->n++;
	f->state = state;
	f->advice = advice;
	snprintf(f->name, sizeof(f->name), "%s", name);
	va_start(args, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
}

static int count(const struct doctor *d, enum doctor_state state)
{
	int n = 0;

	for (int i = 0; i < d->n; i++)
		n += d->finding[i].state == state;
	return n;
}

static void print_finding(const struct finding *f, FILE *out)
{
	char label[64];

	snprintf(label, sizeof(label), "%-8s%s", words[f->state], f->name);
	row_of(out, LABEL_WIDTH, label, f->text);
	if (f->advice) {
		char advice[640];

		snprintf(advice, sizeof(advice), "-> %s", f->advice);
		row_of(out, LABEL_WIDTH, "", advice);
	}
}

void doctor_print(const struct doctor *d, const struct platform *p, FILE *out)
{
	for (int i = 0; i < d->n; i++)
		print_finding(&d->finding[i], out);
	fprintf(out, "\n%s: %d to note, %d that would spoil a measurement, %d missing.\n",
		d->works ? "Measuring works here" : "Measuring does not work here",
		count(d, DOCTOR_NOTE), count(d, DOCTOR_WARN), count(d, DOCTOR_MISSING));
	if (d->works && !p->is_gpu)
		fprintf(out, "%s\n", platform_not_gpu);
}

static json_t *finding_json(const struct finding *f)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "name", f->name, "state", words[f->state], "text",
			 json_text(f->text), "advice", json_text(f->advice));
}

json_t *doctor_json(const struct doctor *d, const struct platform *p)
{
	json_t *findings = json_array();

	for (int i = 0; i < d->n; i++)
		json_array_append_new(findings, finding_json(&d->finding[i]));
	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "version", RIFT_VERSION, "build",
			 platform_build(), "works", d->works, "findings", findings, "platform",
			 platform_json(p));
}
