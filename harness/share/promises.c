/* promises.c - see promises.h. */
#include "harness/share/promises.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/share/share_file.h"

/* ---- reading ---------------------------------------------------------------------------- */

/* The first line, of a plain file or a packed one; what is wrong with it is said when it is read.
 */
bool promises_are_in(const char *path)
{
	gzFile f = gzopen(path, "re");
	char head[65536] = "";

	if (f && !gzgets(f, head, sizeof(head)))
		*head = '\0';
	if (f)
		gzclose(f);
	return strstr(head, "\"allow\"") != NULL;
}

static int refuse(const struct promises *p, const struct share *s, const char *path)
{
	if (!share_plan_has_promise(&s->plan))
		return complain(EINVAL, "%s: is not of --allow, as %s is; give records of one kind",
				path, p->record[0].file.path);
	if (strcmp(share_device(s), share_device(&p->record[0])) != 0)
		return complain(EINVAL,
				"%s: is of another device, %s, than the first record, which is "
				"of %s",
				path, share_device(s), share_device(&p->record[0]));
	for (int i = 0; i + 1 < p->records; i++)
		if (!strcmp(p->record[i].file.id, s->file.id))
			return complain(EINVAL, "--from: %s and %s are the same record (%s)",
					p->record[i].file.path, path, text_shown(s->file.id).s);
	return 0;
}

static int read_one(struct promises *p, const char *path)
{
	struct share *s = &p->record[p->records];
	int err = share_read(s, path);

	if (err) {
		share_release(s);
		return err;
	}
	promise_init(&p->found[p->records++], s);
	return refuse(p, s, path);
}

int promises_read(struct promises *p, char *const *paths, int n)
{
	int err = 0;

	memset(p, 0, sizeof(*p));
	if (n > PROMISES_MAX)
		return complain(E2BIG, "--from: more than %d records", PROMISES_MAX);
	for (int i = 0; i < n && !err; i++)
		err = read_one(p, paths[i]);
	return err;
}

void promises_release(struct promises *p)
{
	for (int i = 0; i < p->records; i++) {
		promise_release(&p->found[i]);
		share_release(&p->record[i]);
	}
	p->records = 0;
}

int promises_exit_code(const struct promises *p)
{
	bool has[RIFT_FAILED_POINTS + 1] = { false };

	for (int i = 0; i < p->records; i++) {
		int code = promise_exit_code(&p->record[i]);

		has[code <= RIFT_FAILED_POINTS ? code : RIFT_FAILED_POINTS] = true;
	}
	return has[RIFT_CHECK_FAILED]	 ? RIFT_CHECK_FAILED
	       : has[RIFT_FAILED_POINTS] ? RIFT_FAILED_POINTS
					 : RIFT_OK;
}

/* ---- tables ----------------------------------------------------------------------------- */

/* "launch us=1000 under emulate compute=30" */
static struct text_line what(const struct share *s, const struct promise_row *r)
{
	struct text_line t;
	const struct share_workload *w =
		&s->plan.mix[share_client_mix(&s->plan, &r->of->set, r->client)];

	snprintf(t.s, sizeof(t.s), "%.200s under %.300s", share_workload_text(w).s,
		 allow_layers_text(&s->plan.allow).s);
	return t;
}

static void put_row(const struct share *s, const struct promise_row *r, FILE *out)
{
	const struct interval *i = &r->judged.ratio;
	double promised = 100 * s->plan.allow.compute;
	char range[40] = "";

	if (i->known)
		snprintf(range, sizeof(range), "%.1f-%.1f %%", i->lo * promised, i->hi * promised);
	fprintf(out, "%6.4g %%  %7d  %6d  %-11s%6.1f %%  %14s  %-24s%9s  %s\n", promised,
		r->of->set.n, r->client + 1, r->how == TIMELINE_QUEUED ? "queued" : "waited for",
		100 * r->share, range, promise_names[r->verdict], text_time(1e9 * r->pause_s).s,
		what(s, r).s);
}

static void put_shares(const struct promises *p, FILE *out)
{
	fprintf(out, "%8s  %7s  %6s  %-11s%8s  %14s  %-24s%9s  %s\n", "asked", "clients", "client",
		"steps are", "got", "interval", "verdict", "pause", "what");
	for (int i = 0; i < p->records; i++)
		for (int k = 0; k < p->found[i].rows; k++)
			if (p->found[i].row[k].known)
				put_row(&p->record[i], &p->found[i].row[k], out);
}

static bool has_memory(const struct promises *p)
{
	for (int i = 0; i < p->records; i++)
		if (p->record[i].memory)
			return true;
	return false;
}

static void put_memory(const struct promises *p, FILE *out)
{
	fprintf(out, "\n%16s  %16s  %16s  %-22s  %-20s  %s\n", "asked, bytes", "in one piece",
		"the most", "by", "verdict", "under");
	for (int i = 0; i < p->records; i++) {
		const struct share *s = &p->record[i];
		const json_t *alone = json_object_get(s->memory, "alone");
		const struct promise_taken most = promise_most(s->memory);

		if (s->memory)
			fprintf(out, "%16lld  %16.0f  %16.0f  %-22s  %-20s  %s\n",
				(long long)s->plan.allow.memory, json_get_number(alone, "one"),
				most.bytes, most.by, promise_names[p->found[i].memory],
				allow_layers_text(&s->plan.allow).s);
	}
}

void promises_print(const void *promises, FILE *out)
{
	const struct promises *p = promises;

	fprintf(out, "share of the device's time, asked for and got: %s\n\n",
		text_escaped(share_device(&p->record[0])).s);
	put_shares(p, out);
	if (has_memory(p))
		put_memory(p, out);
}

json_t *promises_json(const void *promises)
{
	const struct promises *p = promises;
	json_t *all = json_array();

	for (int i = 0; i < p->records; i++)
		json_array_append_new(all, promise_json(&p->record[i]));
	return json_pack("{s:s, s:s, s:i, s:o}", "version", RIFT_VERSION, "command", "share",
			 "exit_code", promises_exit_code(p), "records", all);
}
