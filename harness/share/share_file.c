/* share_file.c - see share_file.h. */
#include "harness/share/share_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/plural.h"
#include "common/output.h"
#include "common/unpacked.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/record/environment.h"
#include "harness/record/journal.h"

static const char part_end[] = ".part";

bool share_file_is(const char *path)
{
	static const char begins[] = "{\"record\":\"share\"";
	char head[sizeof(begins)] = "";
	struct unpacked in;

	if (!unpacked_open(&in, path, false))
		unpacked_read(&in, head, sizeof(head) - 1);
	unpacked_close(&in);
	return !strncmp(head, begins, strlen(begins));
}

/* ---- sets ------------------------------------------------------------------------------- */

void share_init(struct share *s)
{
	struct share_set *all = share_sets(&s->plan, &s->sets);

	s->set = calloc((size_t)s->sets + 1, sizeof(*s->set));
	CHECK(s->set, "memory of %d sets", s->sets);
	for (int i = 0; i < s->sets; i++) {
		s->set[i].set = all[i];
		s->set[i].window =
			calloc((size_t)share_plan_windows(&s->plan), sizeof(*s->set[i].window));
		CHECK(s->set[i].window, "memory of windows");
	}
	free(all);
	s->file.fd = -1;
}

void share_release(struct share *s)
{
	for (int i = 0; i < s->sets; i++) {
		for (int k = 0; k < share_plan_windows(&s->plan); k++)
			json_decref(s->set[i].window[k]);
		json_decref(s->set[i].checked);
		json_decref(s->set[i].fault);
		free(s->set[i].window);
	}
	for (int i = 0; i < SHARE_MIX_MAX; i++)
		json_decref(s->sizes[i]);
	json_decref(s->platform);
	lock_release(&s->lock);
	record_close(&s->file);
	free(s->set);
	free(s->path);
	share_plan_release(&s->plan);
	*s = (struct share){ .file.fd = -1 };
}

bool share_is_cpu(const struct share *s)
{
	return s->platform && !json_is_true(json_object_get(s->platform, "is_gpu"));
}

const char *share_device(const struct share *s)
{
	return s->platform ? json_get_text(s->platform, "device") : "no device yet";
}

bool share_set_is_whole(const struct share *s, const struct share_measured *m)
{
	if (*m->not_run)
		return true;
	for (int k = 0; k < share_plan_windows(&s->plan); k++)
		if (!m->window[k])
			return false;
	return m->checked && (m->fault || s->plan.fault == FAULT_NONE || m->set.n < 2);
}

/* ---- lines ------------------------------------------------------------------------------ */

json_t *share_line(const char *record, const struct share_set *set)
{
	return json_pack("{s:s, s:s, s:i, s:i}", "record", record, "arm", share_arms[set->arm].name,
			 "n", set->n, "first", set->first);
}

static struct share_measured *set_of(const struct share *s, const json_t *o)
{
	const json_t *n = json_object_get(o, "n"), *first = json_object_get(o, "first");
	const char *arm = json_get_text(o, "arm");

	for (int i = 0; i < s->sets; i++) {
		struct share_measured *m = &s->set[i];

		if (!strcmp(share_arms[m->set.arm].name, arm) && json_is_integer(n) &&
		    json_is_integer(first) && json_integer_value(n) == m->set.n &&
		    json_integer_value(first) == m->set.first)
			return m;
	}
	return NULL;
}

static void keep(json_t **place, const json_t *o)
{
	json_decref(*place);
	*place = json_incref((json_t *)(uintptr_t)o);
}

/* NULL: nothing is wrong with it. */
static const char *client_wrong(const json_t *client)
{
	const json_t *q = json_object_get(client, "step_ns");
	bool timed = json_integer_value(json_object_get(client, "timed")) > 0;
	double before = 0;

	if (!(json_get_number(client, "steps") >= 0))
		return "steps";
	if (!json_is_integer(json_object_get(client, "timed")) ||
	    json_array_size(q) != SHARE_QUANTILES)
		return "step_ns";
	for (int i = 0; i < SHARE_QUANTILES && timed; i++) {
		double ns = json_number_value(json_array_get(q, (size_t)i));

		if (!(ns >= before) || !(ns > 0))
			return "step_ns";
		before = ns;
	}
	return NULL;
}

static const char *take_window(struct share *s, struct share_measured *m, const json_t *o)
{
	const json_t *clients = json_object_get(o, "clients"), *client;
	json_int_t repetition = json_integer_value(json_object_get(o, "repetition"));
	json_int_t window = json_integer_value(json_object_get(o, "window"));
	const char *what = NULL;
	size_t i;

	if (repetition < 0 || repetition >= s->plan.repetitions)
		return "repetition";
	if (window < 0 || window >= s->plan.windows)
		return "window";
	if (!(json_get_number(o, "seconds") > 0))
		return "seconds";
	if (json_array_size(clients) != (size_t)m->set.n)
		return "clients";
	json_array_foreach(clients, i, client)
	{
		if (!what)
			what = client_wrong(client);
	}
	if (!what)
		keep(&m->window[repetition * s->plan.windows + window], o);
	return what;
}

static const char *take_checked(struct share_measured *m, const json_t *o)
{
	const json_t *passed = json_object_get(o, "passed"), *each;
	size_t i;

	if (json_array_size(passed) != (size_t)m->set.n)
		return "passed";
	json_array_foreach(passed, i, each)
	{
		if (!json_is_boolean(each))
			return "passed";
	}
	keep(&m->checked, o);
	return NULL;
}

static const char *take_not_run(struct share_measured *m, const json_t *o)
{
	const char *why = json_get_text(o, "why");

	if (!*why)
		return "why";
	if (!json_is_boolean(json_object_get(o, "lost")))
		return "lost";
	m->lost = json_is_true(json_object_get(o, "lost"));
	snprintf(m->not_run, sizeof(m->not_run), "%.400s", text_escaped(why).s);
	return NULL;
}

static const char *take_fault(struct share_measured *m, const json_t *o)
{
	if (json_array_size(json_object_get(o, "clients")) != (size_t)m->set.n)
		return "clients";
	keep(&m->fault, o);
	return NULL;
}

static const char *take_size(struct share *s, const json_t *o)
{
	const json_t *v = json_object_get(o, "workload");
	json_int_t at = json_integer_value(v);

	if (!json_is_integer(v) || at < 0 || at >= s->plan.mixes)
		return "workload";
	if (!(json_get_number(o, "step_ns") > 0))
		return "step_ns";
	keep(&s->sizes[at], o);
	return NULL;
}

/* The field that is wrong in this line; NULL: none is. */
static const char *take(struct share *s, const json_t *o)
{
	struct share_measured *m = set_of(s, o);

	if (record_is(o, "end")) {
		s->ended = true;
		return NULL;
	}
	if (record_is(o, "platform")) {
		keep(&s->platform, o);
		return *json_get_text(o, "device") ? NULL : "device";
	}
	if (record_is(o, "size"))
		return take_size(s, o);
	if (!record_is(o, "window") && !record_is(o, "checked") && !record_is(o, "not_run") &&
	    !record_is(o, "fault"))
		return "record";
	if (!m)
		return "arm, n or first";
	return record_is(o, "window")	 ? take_window(s, m, o)
	       : record_is(o, "checked") ? take_checked(m, o)
	       : record_is(o, "not_run") ? take_not_run(m, o)
					 : take_fault(m, o);
}

/* ---- reading ---------------------------------------------------------------------------- */

static int wrong(const struct record_scan *scan, const char *what)
{
	return complain(EINVAL, "%s:%ld: %s", scan->path, (long)scan->line + 1, what);
}

static int take_first(struct share *s, const json_t *o, const struct record_scan *scan)
{
	char where[300];
	int err;

	snprintf(s->id, sizeof(s->id), "%.31s", json_get_text(o, "id"));
	snprintf(where, sizeof(where), "%.200s:%ld", scan->path, (long)scan->line + 1);
	err = share_plan_parse(&s->plan, json_object_get(o, "plan"), where);
	if (!err)
		share_init(s);
	return err;
}

static bool crc_is_right(const json_t *o)
{
	const json_t *crc = json_object_get(o, "crc32");

	return json_is_integer(crc) && json_integer_value(crc) == (json_int_t)record_crc32(o);
}

static int check_end(const json_t *o, const struct record_scan *scan)
{
	char text[HASH_TEXT];

	hash_text(&scan->hash, text);
	return strcmp(json_get_text(o, "lines_sha256"), text)
		       ? wrong(scan, "lines_sha256 does not match the lines before")
		       : 0;
}

static int take_line(const json_t *o, const struct record_scan *scan, void *arg)
{
	struct share *s = arg;
	const char *what;
	char text[160];
	int err = 0;

	if (!scan->line && !record_is(o, "share"))
		return wrong(scan, "not a record of rift share: its first line is of another kind");
	if (!crc_is_right(o))
		return wrong(scan, "crc32 does not match this line: it was damaged");
	if (!scan->line)
		return take_first(s, o, scan);
	if (s->ended)
		return wrong(scan, "there are lines after the end");
	if (record_is(o, "end"))
		err = check_end(o, scan);
	what = err ? NULL : take(s, o);
	if (what) {
		snprintf(text, sizeof(text), "a line '%.40s' whose %.60s is wrong",
			 text_shown(json_get_text(o, "record")).s, what);
		err = wrong(scan, text);
	}
	return err;
}

static int read_scan(struct share *s, const char *path, struct record_scan *scan)
{
	int err;

	*s = (struct share){ .file.fd = -1 };
	err = record_read(scan, path, take_line, s);
	if (!err && !scan->line)
		err = complain(EINVAL, "%s: is empty", path);
	s->path = strdup(path);
	CHECK(s->path, "memory of a name");
	if (record_is_called(path, part_end))
		s->path[strlen(s->path) - strlen(part_end)] = '\0';
	return err;
}

/* Tables of it would be empty. */
static int refuse_unfinished(const struct share *s, const char *path)
{
	for (int i = 0; i < s->sets; i++)
		if (share_set_is_whole(s, &s->set[i]))
			return 0;
	if (record_is_called(path, part_end))
		return complain(
			EINVAL,
			"%s: none of its %s is finished; rift share --resume %s continues it", path,
			counted(s->sets, "configuration").s, path);
	return complain(EINVAL,
			"%s: none of its %s is finished; rename it to NAME.part, and rift share "
			"--resume NAME.part continues it",
			path, counted(s->sets, "configuration").s);
}

int share_read(struct share *s, const char *path)
{
	struct record_scan scan;
	int err = read_scan(s, path, &scan);

	return err ? err : refuse_unfinished(s, path);
}

int share_check(const char *path, bool *incomplete)
{
	struct record_scan scan;
	struct share s;
	int whole = 0, not_run = 0, err = read_scan(&s, path, &scan);

	for (int i = 0; i < s.sets; i++) {
		not_run += *s.set[i].not_run != '\0';
		whole += !*s.set[i].not_run && share_set_is_whole(&s, &s.set[i]);
	}
	if (!err && s.ended && whole + not_run < s.sets)
		err = complain(EINVAL, "%s: it has ended, but configurations are missing", path);
	if (!err) {
		*incomplete |= !s.ended && !record_is_called(path, part_end);
		printf("%s: %s; rift share %s, %d of %d configurations measured, %d not run%s\n",
		       text_escaped(path).s,
		       s.ended				  ? "valid"
		       : record_is_called(path, part_end) ? "valid, under way"
							  : "incomplete",
		       text_escaped(s.id).s, whole, s.sets, not_run,
		       scan.torn ? "; a torn last line is dropped" : "");
	}
	share_release(&s);
	return err;
}

/* ---- writing ---------------------------------------------------------------------------- */

static int write_line(struct share *s, json_t *o)
{
	int err;

	json_object_set_new(o, "crc32", json_integer((json_int_t)record_crc32(o)));
	if (s->file.fd < 0) {
		json_decref(o);
		return 0;
	}
	err = record_write(&s->file, o);
	return err ? err : record_sync(&s->file, false);
}

int share_add(struct share *s, json_t *o)
{
	const char *what = take(s, o);

	CHECK(!what, "a line of our own: %s", what);
	return write_line(s, o);
}

static void draw_id(struct share *s)
{
	unsigned char bytes[8];

	CHECK(getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes), "no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(s->id + 2 * i, 3, "%02x", bytes[i]);
}

static json_t *first_line(const struct share *s)
{
	char created[32];
	time_t now = time(NULL);
	struct tm tm;

	strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "record", "share", "schema",
			 RECORD_SCHEMA, "id", s->id, "version", RIFT_VERSION, "created", created,
			 "plan", share_plan_json(&s->plan));
}

int share_create(struct share *s, const char *path)
{
	char *part;
	int err = output_refuse("--output", path);

	share_init(s);
	draw_id(s);
	s->path = strdup(path);
	CHECK(s->path && asprintf(&part, "%s%s", path, part_end) > 0, "memory of a name");
	if (!err)
		err = access(path, F_OK)
			      ? record_create(&s->file, part)
			      : complain(EEXIST, "%s: exists; give another --output", path);
	free(part);
	if (!err)
		err = lock_take(&s->lock, s->file.fd, s->path);
	return err ? err : write_line(s, first_line(s));
}

int share_resume(struct share *s, const char *path)
{
	struct record_scan scan;
	int err = read_scan(s, path, &scan);

	if (!err && s->ended)
		return complain(EINVAL, "%s: is complete; nothing is left to measure", path);
	if (!err && !record_is_called(path, part_end))
		return complain(EINVAL, "%s: is not an unfinished record, whose name ends in .part",
				path);
	if (!err)
		err = record_open(&s->file, path);
	if (!err)
		err = lock_take(&s->lock, s->file.fd, s->path);
	return err ? err : record_go_on(&s->file, &scan);
}

int share_end(struct share *s)
{
	char text[HASH_TEXT], *part, *taken = NULL;
	int err;

	if (s->file.fd < 0)
		return 0;
	hash_text(&s->file.hash, text);
	err = share_add(s, json_pack("{s:s, s:s}", "record", "end", "lines_sha256", text));
	if (!err)
		err = record_sync(&s->file, true);
	if (err)
		return err;
	CHECK(asprintf(&part, "%s%s", s->path, part_end) > 0, "memory of a name");
	err = output_rename_new(part, s->path, &taken);
	if (err)
		err = complain(err, "cannot rename %s: %s", part, strerror(err));
	else {
		free(s->path);
		s->path = taken;
	}
	free(part);
	lock_release(&s->lock);
	record_close(&s->file);
	return err;
}

void share_abandon(struct share *s)
{
	if (s->file.fd >= 0 && !s->platform)
		unlink(s->file.path);
}
