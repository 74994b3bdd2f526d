/* recorded.c - a recorded session, as the commands that read one take it. */
#include "harness/sweep/recorded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/card/card.h"
#include "harness/sweep/check_record.h"
#include "harness/text.h"

static bool is_under_way(const char *path)
{
	static const char end[] = ".part";
	size_t n = strlen(path), k = strlen(end);

	return n > k && !strcmp(path + n - k, end);
}

static int refuse_unfinished(const struct record_facts *f, const char *path)
{
	int whole = f->sides * (f->enough ? f->enough : f->processes);

	if (!f->sides)
		return complain(EINVAL, "%s: the visits of a process under way, no session", path);
	if (f->torn && !is_under_way(path))
		return complain(EINVAL, "%s: cut off: its last line is torn", path);
	if (f->trailers < whole)
		return complain(EINVAL, "%s: %s, %d of %d processes are complete%s", path,
				is_under_way(path) ? "half-finished" : "half a record", f->trailers,
				whole,
				is_under_way(path) ? "; rift sweep --resume finishes it" : "");
	return 0;
}

/* ---- kinds of waiting ------------------------------------------------------------------- */

static const struct param sync_row = { "sync", PARAM_CHOICE, 0,	 "",   "",   0,
				       0,      sync_names,   "", NULL, NULL, false };

int session_sync_check(const char *sync)
{
	int kind;

	return param_parse(&sync_row, "--sync", sync, &kind);
}

/* "spin, yield": the kinds that a session has. */
static void list_kinds(const struct design *d, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s", sync_names[d->sync]);

	for (int i = 1; i < d->kinds && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, ", %s", sync_names[d->kind[i]]);
}

static int choose_kind(struct journal *j, const char *path, const char *sync)
{
	char kinds[64];
	int kind;

	if (!sync && !j->plan.design.kinds)
		return 0;
	list_kinds(&j->plan.design, kinds, sizeof(kinds));
	if (!sync)
		return complain(EINVAL,
				"%s was swept with several kinds of waiting, %s: name one, --sync "
				"%s",
				path, kinds, sync_names[j->plan.design.sync]);
	if (param_parse(&sync_row, "--sync", sync, &kind))
		return -EINVAL;
	if (!plan_has_kind(&j->plan, (enum sync_kind)kind))
		return complain(EINVAL, "--sync=%s: %s was swept with %s", sync, path, kinds);
	if (j->plan.design.kinds)
		journal_keep_kind(j, (enum sync_kind)kind);
	return 0;
}

/* ---- reading ---------------------------------------------------------------------------- */

int session_read(struct journal *j, const char *path, const char *sync)
{
	struct record_facts facts;
	int err;

	*j = (struct journal){ .part.fd = -1, .visits.fd = -1 };
	if (card_is(path))
		return complain(EINVAL,
				"%s: a card of rift probe, no session: rift show and rift "
				"compare take it",
				path);
	err = record_check(&facts, path, NULL);
	if (!err)
		err = refuse_unfinished(&facts, path);
	if (!err)
		err = journal_read(j, path);
	if (!err && !j->path) {
		j->path = strdup(path);
		CHECK(j->path, "memory of a name");
	}
	return err ? err : choose_kind(j, path, sync);
}

static const char *text_of(const json_t *o, const char *part, const char *name)
{
	return json_string_value(json_object_get(json_object_get(o, part), name));
}

void session_platform(const struct journal *j, int side, char *out, size_t size)
{
	const char *device = text_of(j->header[side], "gpu", "name");
	const char *declared = side ? j->against : *j->plan.declared ? j->plan.declared : NULL;
	struct text name = text_shown(device ? device : "unknown device");

	if (declared)
		snprintf(out, size, "%s (%s)", name.s, text_shown(declared).s);
	else
		snprintf(out, size, "%s", name.s);
}

bool session_is_cpu(const struct journal *j, int side)
{
	const char *type = text_of(j->header[side], "build", "build_type");

	return type && !strcmp(type, "cpu");
}

bool session_same(const struct journal *a, const struct journal *b)
{
	return !strcmp(a->session_id, b->session_id);
}
