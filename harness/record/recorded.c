/* recorded.c - a recorded session, as the commands that read one take it. */
#include "harness/record/recorded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/input.h"
#include "common/param.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/record/environment.h"
#include "harness/record/validate_record.h"

static bool is_under_way(const char *path)
{
	return record_is_called(path, ".part");
}

static int refuse_unfinished(const struct record_facts *f, const char *path)
{
	int whole = f->sides * (f->enough ? f->enough : f->processes);

	if (!f->sides)
		return complain(EINVAL, "%s: the visits of an unfinished process, not a session",
				path);
	if (f->torn && !is_under_way(path))
		return complain(EINVAL, "%s: cut off: its last line is torn", path);
	if (f->trailers < whole)
		return complain(EINVAL, "%s: %s, %d of %d processes are complete%s", path,
				is_under_way(path) ? "half-finished" : "half a record", f->trailers,
				whole,
				is_under_way(path) ? "; rift sweep --resume finishes it" : "");
	return 0;
}

/* ---- wait policies ------------------------------------------------------------------- */

static const struct param sync_row = { "sync", PARAM_CHOICE, 0,	 "",   "",   0,
				       0,      sync_names,   "", NULL, NULL, false };

int session_sync_check(const char *sync)
{
	int kind;

	return param_parse(&sync_row, "--sync", sync, &kind);
}

/* "spin, yield": the wait policies of a session. */
static void list_policies(const struct design *d, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s", sync_names[d->sync]);

	for (int i = 1; i < d->policies && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, ", %s", sync_names[d->policy[i]]);
}

static int choose_policy(struct journal *j, const char *path, const char *sync)
{
	char swept[64];
	int kind;

	if (!sync && !j->plan.design.policies)
		return 0;
	list_policies(&j->plan.design, swept, sizeof(swept));
	if (!sync)
		return complain(EINVAL,
				"%s was swept with several wait policies, %s: name one, --sync "
				"%s",
				path, swept, sync_names[j->plan.design.sync]);
	if (param_parse(&sync_row, "--sync", sync, &kind))
		return -EINVAL;
	if (!plan_has_policy(&j->plan, (enum wait_policy)kind))
		return complain(EINVAL, "--sync=%s: %s was swept with %s", sync, path, swept);
	if (j->plan.design.policies)
		journal_keep_policy(j, (enum wait_policy)kind);
	return 0;
}

/* ---- call costs -------------------------------------------------------------------------- */

int costs_open(struct costs_file *f, const char *path)
{
	struct stat st;
	int err;

	memset(f, 0, sizeof(*f));
	err = unpacked_open(&f->in, path, false);
	return !err && !stat(path, &st) && st.st_size > COSTS_BYTES_MAX ? -EFBIG : err;
}

static size_t give_costs(void *to, size_t n, void *arg)
{
	struct costs_file *f = arg;
	size_t got = unpacked_read(&f->in, to, n);

	if (!f->bytes)
		memcpy(f->head, to, got < COSTS_HEAD ? got : COSTS_HEAD);
	f->bytes += (int64_t)got;
	return f->bytes > COSTS_BYTES_MAX ? (size_t)-1 : got;
}

json_t *costs_parse(struct costs_file *f, size_t flags, json_error_t *error)
{
	return json_load_callback(give_costs, f, flags, error);
}

int costs_unread(const struct costs_file *f)
{
	return f->in.err ? f->in.err : f->bytes > COSTS_BYTES_MAX ? -EFBIG : 0;
}

static int judge_object(const json_t *o, const char *path, const struct object_kind *kind)
{
	const char *schema = json_get_text(o, "schema"), *why;

	if (!kind->is_named(json_get_text(o, "record")))
		return complain(EINVAL, "%s: no %s: %s", path, kind->name, kind->maker);
	if (atoi(schema) != kind->major)
		return complain(EPROTONOSUPPORT, "%s: %s of schema %s; this rift reads %s", path,
				kind->name, text_shown(schema).s, kind->schema);
	why = kind->damage(o);
	return why ? complain(EINVAL, "%s: damaged %s: %s", path, kind->name, why) : 0;
}

int object_read(json_t **out, const char *path, const struct object_kind *kind)
{
	struct costs_file f;
	json_error_t error;
	int err = costs_open(&f, path);

	*out = err ? NULL : costs_parse(&f, JSON_REJECT_DUPLICATES, &error);
	err = err ? err : costs_unread(&f);
	if (err)
		err = complain(-err, "%s: %s", path,
			       f.in.err ? unpacked_reason(&f.in) : input_reason(err));
	else if (!*out)
		err = complain(EINVAL, "%s:%d: damaged %s: from here on it is no JSON", path,
			       error.line, kind->name);
	else
		err = judge_object(*out, path, kind);
	unpacked_close(&f.in);
	if (err) {
		json_decref(*out);
		*out = NULL;
	}
	return err;
}

bool costs_is_named(const char *s)
{
	return s && (!strcmp(s, "call_costs") || !strcmp(s, "card"));
}

bool grid_is_named(const char *s)
{
	return s && !strcmp(s, "probe_grid");
}

bool warmup_is_named(const char *s)
{
	return s && !strcmp(s, "warmup_curves");
}

/* The first object: of a session it is a line. */
static bool first_object_is(const char *path, bool (*is_named)(const char *record))
{
	struct costs_file f;
	json_t *o = costs_open(&f, path) ? NULL : costs_parse(&f, JSON_DISABLE_EOF_CHECK, NULL);
	bool is = is_named(json_string_value(json_object_get(o, "record")));

	json_decref(o);
	unpacked_close(&f.in);
	return is;
}

/* Where a file says at once what it is, that spares the plan of a session, a long line. */
static bool file_is(const char *path, bool (*is_named)(const char *record))
{
	char name[RECORD_NAME];

	return record_first_name(path, name) ? is_named(name) : first_object_is(path, is_named);
}

bool costs_is(const char *path)
{
	return file_is(path, costs_is_named);
}

bool grid_is(const char *path)
{
	return file_is(path, grid_is_named);
}

bool warmup_is(const char *path)
{
	return file_is(path, warmup_is_named);
}

/* ---- reading ---------------------------------------------------------------------------- */

struct reading {
	struct journal *j;
	bool failed;
};

/* Silent: what is wrong with a later line is told first, as if all of them were checked before. */
static void take_quietly(const json_t *o, const struct record_scan *scan, void *arg)
{
	struct reading *r = arg;

	if (r->failed)
		return;
	complain_silence(true);
	r->failed = journal_take_line(r->j, o, scan) != 0;
	complain_silence(false);
}

/* In one pass over the file, most of whose time is taken by the parser. */
static int read_checked(struct journal *j, const char *path)
{
	struct record_facts facts;
	struct reading r = { j, false };
	int err = record_check_each(&facts, path, take_quietly, &r);

	if (!err)
		err = refuse_unfinished(&facts, path);
	if (!err && !r.failed) {
		j->torn = facts.torn;
		return 0;
	}
	journal_release(j);
	*j = JOURNAL_NONE;
	return err ? err : journal_read(j, path); /* which says why not */
}

int session_read(struct journal *j, const char *path, const char *sync)
{
	int err;

	*j = JOURNAL_NONE;
	if (costs_is(path))
		return complain(EINVAL,
				"%s: call costs of rift probe, not a session: rift show and rift "
				"compare take it",
				path);
	if (grid_is(path))
		return complain(
			EINVAL,
			"%s: a grid of rift probe, not a session: rift show, rift compare and "
			"rift plot take it",
			path);
	if (warmup_is(path))
		return complain(EINVAL,
				"%s: curves of rift probe --warmup, not a session: rift show and "
				"rift plot take them",
				path);
	err = read_checked(j, path);
	if (!err && !j->path) {
		j->path = strdup(path);
		CHECK(j->path, "memory of a name");
	}
	return err ? err : choose_policy(j, path, sync);
}

/* ---- sides -------------------------------------------------------------------------------- */

int session_side_parse(const char *text, int *side)
{
	if (strcmp(text, "a") && strcmp(text, "b"))
		return complain(EINVAL, "--side=%s: must be a or b", text_shown(text).s);
	*side = text[0] == 'b';
	return 0;
}

/* The side that a word ends with; SIDE_ANY: none. */
static int side_suffix(const char *word)
{
	size_t n = strlen(word);

	if (n < 3 || word[n - 2] != ':' || (word[n - 1] != 'a' && word[n - 1] != 'b'))
		return SIDE_ANY;
	return word[n - 1] == 'b';
}

int session_word_parse(const struct session_arg *arg, char **path, int *side)
{
	int end = side_suffix(arg->word);
	bool is_file;

	*path = strdup(arg->word);
	CHECK(*path, "memory of a name");
	*side = arg->side;
	if (end == SIDE_ANY)
		return 0;
	is_file = !access(arg->word, F_OK);
	(*path)[strlen(*path) - 2] = '\0';
	if (is_file && !access(*path, F_OK))
		return complain(EINVAL,
				"%s: is both a file and side %s of %s; write %s:a for the file, or "
				"rename it",
				arg->word, journal_side_name(end), *path, arg->word);
	if (is_file) {
		strcpy(*path, arg->word);
		return 0;
	}
	if (arg->side != SIDE_ANY && arg->side != end)
		return complain(EINVAL, "--side=%s: %s names the other side",
				journal_side_name(arg->side), arg->word);
	*side = end;
	return 0;
}

static int refuse_b(const struct session_arg *arg, const char *path)
{
	if (arg->side > 0)
		return complain(
			EINVAL,
			"--side=b: %s has one side: rift sweep --against makes two; of several "
			"files, FILE:b names a side of one",
			path);
	return complain(EINVAL, "%s%s%s: %s has one side: rift sweep --against makes two",
			arg->option ? arg->option : "", arg->option ? "=" : "", arg->word, path);
}

int session_side_check(const struct journal *j, const struct session_arg *arg, int *side)
{
	if (j->sides == 1 && *side > 0)
		return refuse_b(arg, j->path);
	if (j->sides == 1)
		*side = 0;
	return 0;
}

int session_read_any(struct journal *j, const struct session_arg *arg, const char *sync, int *side)
{
	char *path;
	int err = session_word_parse(arg, &path, side);

	*j = JOURNAL_NONE;
	if (!err)
		err = session_read(j, path, sync);
	if (!err)
		err = session_side_check(j, arg, side);
	free(path);
	return err;
}

int session_read_side(struct journal *j, const struct session_arg *arg, const char *sync, int *side)
{
	int err = session_read_any(j, arg, sync, side);

	return err ? err : session_side_one(j, arg, side);
}

int session_side_one(const struct journal *j, const struct session_arg *arg, int *side)
{
	int err = session_side_check(j, arg, side);

	if (err || *side != SIDE_ANY)
		return err;
	if (arg->option)
		return complain(EINVAL, "%s=%s: has two sides: name one, %s %s:a or %s %s:b",
				arg->option, j->path, arg->option, j->path, arg->option, j->path);
	return complain(EINVAL, "%s has two sides: name one, --side a or --side b, or %s:a or %s:b",
			j->path, j->path, j->path);
}

static const char *get_text(const json_t *o, const char *part, const char *name)
{
	return json_string_value(json_object_get(json_object_get(o, part), name));
}

void session_platform(const struct journal *j, int side, char *out, size_t size)
{
	const char *device = get_text(j->header[side], "gpu", "name");
	const char *declared = side ? j->against : *j->plan.declared ? j->plan.declared : NULL;
	struct text name = text_shown(device ? device : "unknown device");
	char layers[LAYERS_TEXT];

	environment_layers(j->header[side], layers);
	if (*layers)
		snprintf(out, size, "%s (%s)", name.s, layers);
	else if (declared)
		snprintf(out, size, "%s (%s)", name.s, text_shown(declared).s);
	else
		snprintf(out, size, "%s", name.s);
}

bool session_is_cpu(const struct journal *j, int side)
{
	const char *type = get_text(j->header[side], "build", "build_type");

	return type && !strcmp(type, "cpu");
}

const char *session_device(const struct journal *j, int side)
{
	if (session_is_cpu(j, side))
		return CPU_DEVICE;
	return json_get_text(json_object_get(j->header[side], "gpu"), "name");
}

bool session_same(const struct journal *a, const struct journal *b)
{
	return !strcmp(a->session_id, b->session_id);
}
