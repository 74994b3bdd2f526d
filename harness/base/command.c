/* command.c - what the commands of rift and its workers share. */
#include "harness/base/command.h"

#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "workloads/workload.h"

const struct exit_text exit_texts[] = {
	{ RIFT_OK, "ok" },
	{ RIFT_CHECK_FAILED, "a check failed, or slower" },
	{ RIFT_FAILED_POINTS, "failed points, or inconclusive" },
	{ RIFT_USAGE, "usage or bad input" },
	{ RIFT_NO_DEVICE, "no such device" },
	{ RIFT_NOT_COMPARABLE, "not comparable" },
	{ RIFT_INTERRUPTED, "interrupted" },
	{ 0 },
};

enum exit_code exit_code_of(int err)
{
	switch (-err) {
	case 0:
		return RIFT_OK;
	case ENODEV:
		return RIFT_NO_DEVICE;
	case EXDEV: /* of another device or workload */
		return RIFT_NOT_COMPARABLE;
	case EINTR:
		return RIFT_INTERRUPTED;
	case ENOSYS: /* the platform lacks something: a finding */
		return RIFT_FAILED_POINTS;
	default:
		return RIFT_USAGE;
	}
}

enum exit_code exit_code_of_run(int err, bool passed)
{
	return err ? exit_code_of(err) : passed ? RIFT_OK : RIFT_CHECK_FAILED;
}

static const char *usual_text(enum exit_code code)
{
	const struct exit_text *e = exit_texts;

	while (e->code != code)
		e++;
	return e->text;
}

void exit_codes_print(const struct exit_text *exits, FILE *out)
{
	for (const struct exit_text *e = exits; e->text; e++)
		fprintf(out, "%s%d %s", e == exits ? "Exit codes: " : ", ", (int)e->code,
			*e->text ? e->text : usual_text(e->code));
	fprintf(out, ".");
}

const struct workload *workload_find(const char *name)
{
	struct suggestion near = suggest_start(name);

	for (const struct workload *const *w = workloads; *w; w++) {
		if (!strcmp((*w)->name, name))
			return *w;
		if (!(*w)->hidden)
			suggest_offer(&near, (*w)->name);
	}
	complain(EINVAL, "unknown workload '%s'%s", text_shown(name).s,
		 near.best ? suggest_hint(&near).s : "; `rift list` shows them");
	return NULL;
}
