/* session_data.c - what is known of a session by its lines: read back, paired, or a part of it. */
#include "harness/record/journal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/json_get.h"
#include "common/unpacked.h"
#include "harness/record/journal_impl.h"
#include "harness/measure/plan_record.h"
#include "harness/record/point_record.h"
#include "harness/record/thin.h"
#include "harness/record/validate_point.h"
#include "harness/record/validate_record.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

/* ---- what lines say, whether just written or read back ---------------------------------- */

/* Keeps the header of each wait policy, as a plan may have several. */
static void apply_policy(struct journal *j, int side, json_t *line)
{
	const json_t *flags = json_object_get(line, "cuda_flags");
	const char *name = json_string_value(json_object_get(flags, "sync"));

	for (int kind = 0; name && kind < SYNC_COUNT; kind++)
		if (!strcmp(name, sync_names[kind]) && !j->of_policy[side][kind])
			j->of_policy[side][kind] = json_incref(line);
}

/* From the command to a device that answers; NAN: a part is not known, or an older record. */
static double startup_of(const json_t *header)
{
	const json_t *startup = json_object_get(header, "startup");
	const json_t *process = json_object_get(startup, "process_ns");
	const json_t *device = json_object_get(startup, "device_ns");

	return json_is_number(process) && json_is_number(device)
		       ? json_number_value(process) + json_number_value(device)
		       : NAN;
}

void journal_apply_header(struct journal *j, int replicate, json_t *line)
{
	int side = replicate / j->plan.design.processes;
	const json_t *warmup = json_object_get(line, "warmup");
	const json_t *canary = json_object_get(warmup, "canary_ns");

	if (!j->header[side])
		j->header[side] = json_incref(line);
	apply_policy(j, side, line);
	j->canary_ns[replicate] = json_is_number(canary) ? json_number_value(canary) : NAN;
	/* of several policies, the canaries of all their processes are one series */
	if (!j->plan.design.policies || !j->attempts[replicate])
		j->drift_ns[side][0] = j->canary_ns[replicate];
	if (!j->attempts[replicate])
		j->startup_ns[replicate] = startup_of(line);
	j->attempts[replicate]++;
}

static enum point_status parse_status(const char *text)
{
	if (!text)
		return POINT_FAILED;
	return !strcmp(text, "ok")		? POINT_OK
	       : !strcmp(text, "check_failed")	? POINT_CHECK_FAILED
	       : !strcmp(text, "skipped")	? POINT_SKIPPED
	       : !strcmp(text, "not_supported") ? POINT_NOT_SUPPORTED
						: POINT_FAILED;
}

static void apply_refusal(struct journal *j, int side, int point, json_t *error)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", point);
	if (!j->refused[side])
		j->refused[side] = json_object();
	json_object_set(j->refused[side], number, error);
}

/* Records of before 2026-11-24 have no host canaries. */
static void apply_host(struct journal *j, const json_t *line)
{
	double median = point_host_ns(line);

	if (!isfinite(median))
		return;
	j->host_ns[0] = j->host_ns[0] > 0 ? fmin(j->host_ns[0], median) : median;
	j->host_ns[1] = fmax(j->host_ns[1], median);
}

void journal_apply_point(struct journal *j, int replicate, int point, const json_t *line)
{
	size_t at = (size_t)replicate * (size_t)j->plan.n_points + (size_t)point;
	const json_t *canaries = json_object_get(line, "canary_ns");
	const json_t *launches = json_object_get(line, "launches_per_step");
	size_t n = json_array_size(canaries);
	json_t *summary = point_summary(line);

	j->status[at] =
		(unsigned char)parse_status(json_string_value(json_object_get(line, "status")));
	if (j->status[at] == POINT_NOT_SUPPORTED)
		apply_refusal(j, journal_side(j, replicate), point, json_object_get(line, "error"));
	j->total_ns[at] = summary_median(summary, "t_total_ns");
	j->enq_ns[at] = summary_median(summary, "t_enq_ns");
	j->noisy[at] = json_is_true(json_object_get(summary, "noisy"));
	json_decref(summary);
	journal_take_turns(j, replicate, point, line);
	journal_pair_turns(j, replicate, point);
	apply_host(j, line);
	if (json_is_number(launches))
		j->launches[point] = json_number_value(launches);
	work_count_take(&j->step[point], json_object_get(line, "step"));
	if (n)
		j->drift_ns[journal_side(j, replicate)][1] =
			json_number_value(json_array_get(canaries, n - 1));
}

static void apply_alone(struct journal *j, int replicate, const json_t *alone)
{
	const json_t *company = json_object_get(alone, "company_over_alone");
	const json_t *all = json_object_get(alone, "t_total_ns");
	int points = j->plan.n_points;

	j->company[replicate] = json_is_number(company) ? json_number_value(company) : NAN;
	for (int i = 0; i < points; i++) {
		const json_t *ns = of_key(all, j->plan.point[i].key);

		j->alone_ns[replicate * points + i] =
			json_is_number(ns) ? json_number_value(ns) : NAN;
	}
}

static void apply_sentinels(struct journal *j, int side, const json_t *all)
{
	struct held *most = &j->held[side];
	const json_t *o;
	size_t i;

	json_array_foreach(all, i, o)
	{
		const char *key = json_string_value(json_object_get(o, "key"));
		double ns = json_number_value(json_object_get(o, "set_up_ns"));

		if (!key || !(ns > most->set_up_ns))
			continue;
		snprintf(most->key, sizeof(most->key), "%s", key);
		most->set_up_ns = ns;
		most->before_ns = json_number_value(json_object_get(o, "before_ns"));
	}
}

static void apply_layers(struct journal *j, int side, json_t *details)
{
	if (!json_is_array(details))
		return;
	json_decref(j->layers[side]);
	j->layers[side] = json_incref(details);
}

int journal_looks(const struct journal *j)
{
	return j->looks ? j->looks : design_looks(&j->plan.design);
}

static void apply_interim(struct journal *j, const json_t *interim)
{
	const json_t *looks = json_object_get(interim, "looks");

	if (json_integer_value(looks) > 0)
		j->looks = (int)json_integer_value(looks);
}

void journal_apply_trailer(struct journal *j, int replicate, const json_t *line)
{
	double drift = json_number_value(json_object_get(line, "canary_drift")); /* null: 0 */
	double *most = &j->drift_most[replicate / j->plan.design.processes];

	if (fabs(drift) > fabs(*most))
		*most = drift;
	apply_alone(j, replicate, json_object_get(line, "alone"));
	apply_interim(j, json_object_get(line, "interim"));
	apply_sentinels(j, journal_side(j, replicate), json_object_get(line, "sentinels"));
	apply_layers(j, journal_side(j, replicate), json_object_get(line, "layers"));
	j->complete[replicate] = true;
}

/* ---- read back, to go on where it ended ------------------------------------------------- */

static int damaged(const struct record_scan *scan, const char *what)
{
	return complain(EINVAL, "%s:%ld: %s", scan->path, (long)scan->line + 1, what);
}

/* Says which file it is: a command may read several. */
static int refuse_workload(const json_t *plan, const struct record_scan *scan)
{
	const json_t *config;
	size_t i;

	json_array_foreach(json_object_get(plan, "configs"), i, config)
	{
		const char *name = json_string_value(json_object_get(config, "workload"));
		const struct workload *const *w = workloads;

		while (name && *w && strcmp((*w)->name, name))
			w++;
		if (!name || !*w)
			return complain(EINVAL,
					"%s: is of workload '%s', which this rift does not have; "
					"`rift list` shows them",
					scan->path, text_shown(name ? name : "").s);
	}
	return 0;
}

static int take_plan(struct journal *j, const json_t *o, const struct record_scan *scan)
{
	const char *id = json_string_value(json_object_get(o, "session_id"));
	const char *hash = json_string_value(json_object_get(o, "plan_sha256"));
	const json_t *against = json_object_get(o, "against");
	char where[512];
	int err;

	if (!id || strlen(id) != 16 || !hash || strlen(hash) + 1 != HASH_TEXT)
		return damaged(scan, "the plan has no session_id or plan_sha256");
	if (!json_is_object(json_object_get(o, "plan")))
		return damaged(scan, "the plan is missing");
	hash_json(json_object_get(o, "plan"), j->plan_hash);
	if (strcmp(hash, j->plan_hash))
		return damaged(scan, "the plan does not match its plan_sha256: it was changed");
	strcpy(j->session_id, id);
	err = refuse_workload(json_object_get(o, "plan"), scan);
	if (err)
		return err;
	snprintf(where, sizeof(where), "%.400s:1: ", scan->path);
	err = plan_parse(&j->plan, json_object_get(o, "plan"), workloads, where);
	if (err)
		return err;
	j->sides = json_is_string(against) ? 2 : 1;
	if (json_is_string(against)) {
		j->against = strdup(json_string_value(against));
		CHECK(j->against, "memory of a command");
	}
	if (*json_get_text(o, "argv")) {
		j->argv = strdup(json_get_text(o, "argv"));
		CHECK(j->argv, "memory of a command");
	}
	journal_allocate(j);
	return 0;
}

/* The replicate that a line is of; -1: none of this plan. */
static int replicate_of(const struct journal *j, const json_t *o)
{
	const char *side = json_string_value(json_object_get(o, "side"));
	json_int_t process = json_integer_value(json_object_get(o, "process_index"));
	int s = side && !strcmp(side, "b");

	if (!side || s >= j->sides || process < 0 || process >= j->plan.design.processes)
		return -1;
	return s * j->plan.design.processes + (int)process;
}

int journal_point_of(const struct journal *j, const char *key)
{
	for (int i = 0; key && i < j->plan.n_points; i++)
		if (is_key(key, j->plan.point[i].key))
			return i;
	return -1;
}

static int check_trailer(const json_t *o, const struct record_scan *scan)
{
	const char *want = json_string_value(json_object_get(o, "lines_sha256"));
	char hash[HASH_TEXT];

	hash_text(&scan->hash, hash);
	if (!want || strcmp(want, hash))
		return damaged(scan, "the lines before this trailer do not match its lines_sha256: "
				     "the file was changed");
	return 0;
}

/* The session goes on without these points. */
static void take_fewer(struct journal *j, const json_t *o)
{
	bool *stays = journal_zeroed((size_t)j->plan.n_points, sizeof(*stays));
	const json_t *key;
	size_t i;

	for (int k = 0; k < j->plan.n_points; k++) {
		stays[k] = true;
		json_array_foreach(json_object_get(o, "keys"), i, key) if (json_is_string(key))
			stays[k] &= strcmp(j->plan.point[k].key, json_string_value(key)) != 0;
	}
	journal_keep_points(j, stays);
	free(stays);
}

int journal_take_line(struct journal *j, const json_t *o, const struct record_scan *scan)
{
	int replicate, point;

	if (!scan->line)
		return record_is(o, "plan") ? take_plan(j, o, scan)
					    : damaged(scan, record_is_no_plan(o));
	if (record_is(o, "fewer"))
		take_fewer(j, o);
	replicate = replicate_of(j, o);
	if (replicate < 0)
		return 0; /* a kind that a later version added */
	if (record_is(o, "header"))
		journal_apply_header(j, replicate, (json_t *)(uintptr_t)o);
	point = journal_point_of(j, json_string_value(json_object_get(o, "key")));
	if (record_is(o, "point") && point >= 0)
		journal_apply_point(j, replicate, point, o);
	if (record_is(o, "failure") && point >= 0)
		j->failures[replicate * j->plan.n_points + point]++;
	if (record_is(o, "trailer")) {
		journal_apply_trailer(j, replicate, o);
		return check_trailer(o, scan);
	}
	return 0;
}

static int take_part_line(const json_t *o, const struct record_scan *scan, void *arg)
{
	return journal_take_line(arg, o, scan);
}

/* Visits count where their point is still to be finished, and a record could be made of them. */
static int take_visit(const json_t *o, const struct record_scan *scan, void *arg)
{
	struct journal *j = arg;
	int replicate = replicate_of(j, o), rounds = j->plan.design.rounds;
	json_int_t point = json_integer_value(json_object_get(o, "point"));
	json_int_t round = json_integer_value(json_object_get(o, "round"));
	const char *id = json_string_value(json_object_get(o, "session_id"));
	int side = replicate < 0 ? 0 : journal_side(j, replicate);
	json_t **kept;

	(void)scan;
	if (id && strcmp(id, j->session_id) && record_is(o, "visit"))
		return 0; /* of a session before */
	/* a process writes its header before its visits */
	if (!record_is(o, "visit") || !id || replicate < 0 || !j->attempts[replicate] ||
	    *visit_wrong(o).s || point >= j->plan.n_points || round >= rounds) {
		j->visits_dropped++;
		return 0;
	}
	if (j->complete[replicate])
		return 0;
	if (j->visit_replicate[side] != replicate)
		journal_forget_visits(j, side);
	j->visit_replicate[side] = replicate;
	kept = &journal_visits(j, replicate, (int)point)[round];
	json_decref(*kept);
	*kept = json_incref((json_t *)(uintptr_t)o);
	return 0;
}

/* A crash may have come between the last visit of a point and its record. */
static int write_missing(struct journal *j, int replicate)
{
	int rounds = j->plan.design.rounds, err = 0;

	for (int i = 0; replicate >= 0 && i < j->plan.n_points && !err; i++) {
		int seen = 0;

		for (int r = 0; r < rounds; r++)
			seen += journal_visits(j, replicate, i)[r] != NULL;
		if (seen == rounds && !j->status[replicate * j->plan.n_points + i])
			err = journal_point(j, replicate, i);
	}
	return err;
}

static int write_missing_points(struct journal *j)
{
	int err = write_missing(j, j->visit_replicate[0]);

	return err ? err : write_missing(j, j->visit_replicate[1]);
}

/* The file again, without what was dropped. */
static int rewrite_visits(struct journal *j)
{
	int err = record_clear(&j->visits);

	for (int i = 0; i < 2 * j->visits_capacity && !err; i++) {
		json_t *visit = j->visit[i / j->visits_capacity][i % j->visits_capacity];

		if (visit)
			err = record_write(&j->visits, json_incref(visit));
	}
	return err;
}

static int open_visits(struct journal *j)
{
	struct record_scan scan;
	char name[JOURNAL_NAME];
	int err;

	journal_name(j, ".visits", name);
	if (access(name, F_OK))
		return record_create(&j->visits, name);
	err = record_salvage(&scan, name, take_visit, j);
	j->torn |= scan.torn;
	j->visits_dropped += (int)scan.dropped;
	if (!err)
		err = record_append(&j->visits, &scan);
	return err || !j->visits_dropped ? err : rewrite_visits(j);
}

/* X.jsonl of X.jsonl, X.jsonl.part, X.jsonl.visits */
static char *session_name(const char *path)
{
	static const char *const suffixes[] = { ".part", ".visits", ".lock", NULL };
	char *name = strdup(path);

	CHECK(name, "memory of a name");
	for (int i = 0; suffixes[i]; i++) {
		size_t n = strlen(name), cut = strlen(suffixes[i]);

		if (n > cut && !strcmp(name + n - cut, suffixes[i]))
			name[n - cut] = '\0';
	}
	return name;
}

static bool is_irregular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* Before anything is locked or cut. */
static int refuse_packed(const struct journal *j, const char *part)
{
	char visits[JOURNAL_NAME];

	journal_name(j, ".visits", visits);
	if (unpacked_is_gzip(part))
		return record_refuse_packed(part);
	return unpacked_is_gzip(visits) ? record_refuse_packed(visits) : 0;
}

static int check_resumable(const struct journal *j, const char *path, const char *part)
{
	if (is_irregular(path) || is_irregular(part))
		return complain(EINVAL, "nothing to resume: %s: is not a regular file",
				is_irregular(path) ? path : part);
	if (access(part, F_OK) && unpacked_is_gzip(path))
		return record_refuse_packed(path);
	if (access(part, F_OK) && !access(j->path, F_OK))
		return complain(EEXIST,
				"nothing to resume: there is no %s, which an interrupted sweep "
				"leaves; `rift show --check %s` checks a record",
				part, j->path);
	if (access(part, F_OK))
		return complain(errno, "nothing to resume: %s: %s", part, strerror(errno));
	return refuse_packed(j, part);
}

/* Nothing is added to what `rift show --check` refuses, and nothing is measured for it. */
static int read_part(struct journal *j, const char *part)
{
	struct record_facts facts;
	struct record_scan scan;
	int err = record_read(&scan, part, take_part_line, j);

	if (!err && !scan.line)
		err = complain(EINVAL, "%s has no plan: remove it and start the sweep again", part);
	if (!err)
		err = record_check(&facts, part, NULL);
	if (!err)
		err = record_go_on(&j->part, &scan);
	j->torn = scan.torn;
	return err;
}

int journal_open(struct journal *j, const char *path)
{
	char part[JOURNAL_NAME];
	int err;

	*j = JOURNAL_NONE;
	j->path = session_name(path);
	journal_name(j, ".part", part);
	err = check_resumable(j, path, part);
	if (!err)
		err = record_open(&j->part, part);
	if (!err)
		err = lock_take(&j->lock, j->part.fd, j->path);
	if (!err) /* whoever held the lock may have completed it */
		err = journal_check_part(j);
	if (!err)
		err = read_part(j, part);
	if (!err)
		err = open_visits(j);
	return err ? err : write_missing_points(j);
}

int journal_read(struct journal *j, const char *path)
{
	struct record_scan scan;
	int err;

	*j = JOURNAL_NONE;
	err = record_read(&scan, path, take_part_line, j);
	if (!err && !scan.line)
		err = complain(EINVAL, "%s has no plan", path);
	j->torn = scan.torn;
	return err;
}

/* ---- one wait policy of a session that was swept with several ----------------------- */

/* Moves the elements of the points that stay together, in each row of n elements. */
static void keep_columns(void *all, size_t size, int rows, const bool *stays, int n)
{
	char *to = all;

	for (int i = 0; i < rows * n; i++) {
		if (!stays[i % n])
			continue;
		memmove(to, (const char *)all + (size_t)i * size, size);
		to += size;
	}
}

/* Those of the points that stay, under their new numbers. New reference, or NULL. */
static json_t *renumbered(const json_t *refused, const bool *stays, int n)
{
	json_t *out = refused ? json_object() : NULL;
	char from[16], to[16];
	int left = 0;

	for (int i = 0; out && i < n; i++) {
		json_t *error;

		if (!stays[i])
			continue;
		snprintf(from, sizeof(from), "%d", i);
		snprintf(to, sizeof(to), "%d", left++);
		error = json_object_get(refused, from);
		if (error)
			json_object_set(out, to, error);
	}
	return out;
}

static bool does_not_stay(const struct plan *p, int point, void *stays)
{
	(void)p;
	return !((const bool *)stays)[point];
}

/* The rows of everything that has a column a point; visits under way are forgotten. */
static void keep_rows(struct journal *j, const bool *stays)
{
	int n = j->plan.n_points;

	journal_forget_visits(j, 0);
	journal_forget_visits(j, 1);
	keep_columns(j->status, sizeof(*j->status), j->replicates, stays, n);
	keep_columns(j->total_ns, sizeof(*j->total_ns), j->replicates, stays, n);
	keep_columns(j->enq_ns, sizeof(*j->enq_ns), j->replicates, stays, n);
	keep_columns(j->alone_ns, sizeof(*j->alone_ns), j->replicates, stays, n);
	keep_columns(j->noisy, sizeof(*j->noisy), j->replicates, stays, n);
	keep_columns(j->failures, sizeof(*j->failures), j->replicates, stays, n);
	keep_columns(j->launches, sizeof(*j->launches), 1, stays, n);
	keep_columns(j->step, sizeof(*j->step), 1, stays, n);
	journal_keep_turns(j, stays);
	for (int side = 0; side < j->sides; side++) {
		json_t *refused = renumbered(j->refused[side], stays, n);

		json_decref(j->refused[side]);
		j->refused[side] = refused;
	}
}

void journal_keep_points(struct journal *j, const bool *stays)
{
	keep_rows(j, stays);
	plan_drop(&j->plan, does_not_stay, (void *)(uintptr_t)stays);
}

void journal_keep_policy(struct journal *j, enum wait_policy kind)
{
	int n = j->plan.n_points;
	bool *stays = journal_zeroed((size_t)n, sizeof(*stays));

	for (int i = 0; i < n; i++)
		stays[i] = j->plan.point[i].sync == kind;
	keep_rows(j, stays);
	free(stays);
	plan_keep_policy(&j->plan, kind);
	for (int side = 0; side < j->sides; side++) {
		if (!j->of_policy[side][kind])
			continue;
		json_decref(j->header[side]);
		j->header[side] = json_incref(j->of_policy[side][kind]);
	}
}

/* ---- some processes of one side --------------------------------------------------------- */

/* Rows of `size` bytes a replicate, those of the replicates that are taken. */
static void *take_rows(const void *all, size_t size, const int *replicate, int n)
{
	char *rows = journal_zeroed((size_t)n, size);

	for (int i = 0; i < n; i++)
		memcpy(rows + (size_t)i * size, (const char *)all + (size_t)replicate[i] * size,
		       size);
	return rows;
}

void journal_view(struct journal *out, const struct journal *j, int side, const int *process, int n)
{
	size_t points = (size_t)j->plan.n_points;
	int *replicate = journal_zeroed((size_t)n, sizeof(*replicate));

	for (int i = 0; i < n; i++)
		replicate[i] = side * j->plan.design.processes + process[i];
	*out = JOURNAL_NONE;
	out->plan = j->plan;
	out->sides = 1;
	out->replicates = n;
	out->plan.design.processes = n;
	out->plan.design.sequential = false;
	memcpy(out->session_id, j->session_id, sizeof(out->session_id));
	memcpy(out->plan_hash, j->plan_hash, sizeof(out->plan_hash));
	out->path = j->path;
	out->argv = j->argv;
	out->looks = journal_looks(j);
	out->header[0] = j->header[side];
	out->refused[0] = j->refused[side];
	out->launches = j->launches;
	out->step = j->step;
	out->status = take_rows(j->status, points * sizeof(*j->status), replicate, n);
	out->total_ns = take_rows(j->total_ns, points * sizeof(*j->total_ns), replicate, n);
	out->enq_ns = take_rows(j->enq_ns, points * sizeof(*j->enq_ns), replicate, n);
	out->noisy = take_rows(j->noisy, points * sizeof(*j->noisy), replicate, n);
	out->failures = take_rows(j->failures, points * sizeof(*j->failures), replicate, n);
	out->complete = take_rows(j->complete, sizeof(*j->complete), replicate, n);
	out->attempts = take_rows(j->attempts, sizeof(*j->attempts), replicate, n);
	out->canary_ns = take_rows(j->canary_ns, sizeof(*j->canary_ns), replicate, n);
	out->startup_ns = take_rows(j->startup_ns, sizeof(*j->startup_ns), replicate, n);
	free(replicate);
}

void journal_view_release(struct journal *view)
{
	free(view->status);
	free(view->total_ns);
	free(view->enq_ns);
	free(view->noisy);
	free(view->failures);
	free(view->complete);
	free(view->attempts);
	free(view->canary_ns);
	free(view->startup_ns);
	*view = JOURNAL_NONE;
}
