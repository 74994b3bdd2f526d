/* session_file.c - the files of one session: its lock, its lines, and when it is complete. */
#include "harness/record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cost.h"
#include "common/output.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/record/environment.h"
#include "harness/record/journal_impl.h"
#include "harness/measure/plan_record.h"
#include "harness/record/point_record.h"
#include "harness/platform/system.h"
#include "harness/stats/stats.h"

/* ---- one session, one writer ------------------------------------------------------------ */

/* A worker that is just being started may hold the lock of a process that is gone, for moments. */
enum { TRIES = 5, TRY_US = 20000 };

/* Who holds it: pid, when that process started (a pid is used again), and which boot. */
struct holder {
	int pid;
	long long start;
	char boot[64];
};

/* ---- the note --------------------------------------------------------------------------- */

static int create_note(const char *path)
{
	char text[160];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), n;

	if (fd < 0)
		return errno;
	n = snprintf(text, sizeof(text), "%d %lld %s\n", (int)getpid(),
		     (long long)system_start(getpid()), system_boot_id());
	if (write(fd, text, (size_t)n) != n) {
		int err = errno ? errno : EIO;

		close(fd);
		unlink(path);
		return err;
	}
	close(fd);
	return 0;
}

/* False where nothing can be read: it is being written or removed just now. */
static bool read_holder(const char *path, struct holder *h)
{
	FILE *f = fopen(path, "re");
	int n = 0;

	memset(h, 0, sizeof(*h));
	if (f) {
		n = fscanf(f, "%d %lld %63s", &h->pid, &h->start, h->boot);
		fclose(f);
	}
	return n >= 2;
}

/* As far as this PID namespace shows. */
static bool is_alive(const struct holder *h)
{
	if (*h->boot && strcmp(h->boot, system_boot_id()))
		return false;
	return system_start(h->pid) == h->start;
}

/* Replaces the note of who is gone. Returns an errno; EBUSY: *h lives. */
static int take_note(const char *note, struct holder *h)
{
	int err = EEXIST;

	for (int i = 0; i < TRIES && err == EEXIST; i++) {
		err = create_note(note);
		if (err != EEXIST)
			break;
		if (!read_holder(note, h))
			usleep(TRY_US);
		else if (is_alive(h))
			return EBUSY;
		unlink(note);
	}
	return err;
}

/* ---- the lock --------------------------------------------------------------------------- */

static int lock_file(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int err = EAGAIN;

	for (int i = 0; i < TRIES && (err == EAGAIN || err == EACCES); i++) {
		if (i)
			usleep(TRY_US);
		err = fcntl(fd, F_OFD_SETLK, &whole) ? errno : 0;
	}
	return err == EACCES ? EAGAIN : err;
}

static int refuse_locked(const char *path, const char *note)
{
	struct holder h;

	if (!read_holder(note, &h))
		return complain(EBUSY, "%s is being written by another process", path);
	return complain(EBUSY, "%s is being written by process %d (%s)%s", path, h.pid, note,
			is_alive(&h) ? "" : ", of another container, PID namespace or host");
}

int lock_take(struct lock *l, int fd, const char *path)
{
	struct holder h;
	int err = lock_file(fd), noted;

	*l = (struct lock){ 0 };
	CHECK(asprintf(&l->note, "%s.lock", path) >= 0, "memory of a name");
	if (err && err != EAGAIN)
		complain(err,
			 "%s.part: this file system has no locks (%s): %s keeps other writers out, "
			 "but not those of another container or host",
			 path, strerror(err), l->note);
	noted = err == EAGAIN ? EBUSY : take_note(l->note, &h);
	if (noted == EBUSY)
		noted = refuse_locked(path, l->note);
	else if (noted && err) /* there is nothing but the note */
		noted = complain(noted, "cannot write %s: %s", l->note, strerror(noted));
	else
		return 0;
	free(l->note);
	*l = (struct lock){ 0 };
	return noted;
}

void lock_release(struct lock *l)
{
	if (l->note)
		unlink(l->note);
	free(l->note);
	*l = (struct lock){ 0 };
}

/* ---- small things ----------------------------------------------------------------------- */

const char *journal_side_name(int side)
{
	return side ? "b" : "a";
}

int journal_side(const struct journal *j, int replicate)
{
	return replicate / j->plan.design.processes;
}

uint32_t journal_draw_group(const struct journal *j, int side)
{
	return j->plan.design.pairs ? 0 : (uint32_t)side;
}

int journal_replicate(const struct journal *j, int i)
{
	int pair = i / 2;

	if (j->sides == 1)
		return i;
	/* A B, B A, A B, ...: a drift hits both sides alike */
	return ((i % 2) ^ (pair % 2)) * j->plan.design.processes + pair;
}

enum wait_policy journal_policy(const struct journal *j, int replicate, int i)
{
	const struct design *d = &j->plan.design;

	if (!d->policies)
		return d->sync;
	return d->policy[replicate % d->processes % 2 ? d->policies - 1 - i : i];
}

int journal_processes(const struct journal *j)
{
	int done = 0;

	while (done < j->replicates && j->complete[journal_replicate(j, done)])
		done++;
	return done < j->sides ? 1 : done / j->sides;
}

void *journal_zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	CHECK(p, "%zu bytes", n * size);
	return p;
}

void journal_name(const struct journal *j, const char *suffix, char out[JOURNAL_NAME])
{
	snprintf(out, JOURNAL_NAME, "%s%s", j->path, suffix);
}

/* The plan is known: memory for what will be known of every point. */
void journal_allocate(struct journal *j)
{
	size_t points = (size_t)j->plan.n_points;
	size_t replicates = (size_t)j->sides * (size_t)j->plan.design.processes;

	j->replicates = (int)replicates;
	j->status = journal_zeroed(replicates * points, sizeof(*j->status));
	j->total_ns = journal_zeroed(replicates * points, sizeof(*j->total_ns));
	j->enq_ns = journal_zeroed(replicates * points, sizeof(*j->enq_ns));
	j->launches = journal_zeroed(points, sizeof(*j->launches));
	j->step = journal_zeroed(points, sizeof(*j->step));
	for (size_t i = 0; i < points; i++)
		j->step[i].launches = NAN;
	j->noisy = journal_zeroed(replicates * points, sizeof(*j->noisy));
	j->complete = journal_zeroed(replicates, sizeof(*j->complete));
	j->attempts = journal_zeroed(replicates, sizeof(*j->attempts));
	j->canary_ns = journal_zeroed(replicates, sizeof(*j->canary_ns));
	j->startup_ns = journal_zeroed(replicates, sizeof(*j->startup_ns));
	j->alone_ns = journal_zeroed(replicates * points, sizeof(*j->alone_ns));
	j->company = journal_zeroed(replicates, sizeof(*j->company));
	j->failures = journal_zeroed(replicates * points, sizeof(*j->failures));
	j->visits_capacity = j->plan.n_points * j->plan.design.rounds;
	for (int side = 0; side < 2; side++)
		j->visit[side] = journal_zeroed((size_t)j->visits_capacity, sizeof(json_t *));
	for (size_t i = 0; i < replicates; i++)
		j->canary_ns[i] = j->company[i] = j->startup_ns[i] = NAN;
	for (size_t i = 0; i < replicates * points; i++)
		j->total_ns[i] = j->enq_ns[i] = j->alone_ns[i] = NAN;
}

void journal_forget_visits(struct journal *j, int side)
{
	/* not by the plan: a session that starts anew takes it along */
	for (int i = 0; i < j->visits_capacity; i++) {
		json_decref(j->visit[side][i]);
		j->visit[side][i] = NULL;
	}
}

json_t **journal_visits(const struct journal *j, int replicate, int point)
{
	return &j->visit[journal_side(j, replicate)][point * j->plan.design.rounds];
}

json_t *journal_now_utc(void)
{
	char text[32];
	time_t t = time(NULL);
	struct tm tm;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	return json_string(text);
}

/* ---- a new session ---------------------------------------------------------------------- */

static json_t *plan_record(const struct journal *j, json_t *plan, const char *argv_text)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "record", "plan", "schema",
			      RECORD_SCHEMA, "tool", "rift", "tool_version", RIFT_VERSION,
			      "session_id", j->session_id, "plan_sha256", j->plan_hash);

	json_object_set_new(o, "argv", json_text(argv_text));
	json_object_set_new(o, "start_utc", journal_now_utc());
	json_object_set_new(o, "sides", json_integer(j->sides));
	json_object_set_new(o, "against", json_text(j->against));
	json_object_set_new(o, "plan", plan);
	return o;
}

static bool is_file(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* By its longest name, so that no shorter one is left alone. */
static int refuse_place(const char *path)
{
	char longest[JOURNAL_NAME], *slash;
	struct stat st;
	int n = snprintf(longest, sizeof(longest), "%s.visits", path);

	if (n >= JOURNAL_NAME || (lstat(longest, &st) && errno == ENAMETOOLONG))
		return complain(ENAMETOOLONG,
				"--output=%s: the name is too long, as .visits is added to it",
				path);
	/* its folder, "." where there is none; by ".", so that a file is no folder */
	slash = strrchr(longest, '/');
	strcpy(slash ? slash + 1 : longest, ".");
	if (access(longest, W_OK | X_OK))
		return complain(errno, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

int journal_refuse(const char *path)
{
	char part[JOURNAL_NAME];
	int err = output_refuse("--output", path);

	if (err)
		return err;
	if (is_file(path))
		return complain(EEXIST, "%s exists; give another name with --output", path);
	snprintf(part, sizeof(part), "%s.part", path);
	if (is_file(part))
		return complain(EEXIST,
				"%s exists; continue it with `rift sweep --resume %s`, or give "
				"another name",
				part, path);
	return refuse_place(path);
}

static int create_files(struct journal *j)
{
	char name[JOURNAL_NAME];
	int err;

	journal_name(j, ".part", name);
	err = record_create(&j->part, name);
	if (err)
		return err;
	err = lock_take(&j->lock, j->part.fd, j->path);
	if (err) {
		unlink(name); /* nothing is in it */
		return err;
	}
	journal_name(j, ".visits", name);
	unlink(name); /* of a session whose .part is gone */
	return record_create(&j->visits, name);
}

static void draw_session_id(struct journal *j)
{
	unsigned char bytes[8];

	CHECK(getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes), "no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(j->session_id + 2 * i, 3, "%02x", bytes[i]);
}

int journal_create(struct journal *j, struct plan *plan, const char *path, const char *against,
		   const char *argv_text)
{
	json_t *o;
	int err;

	*j = JOURNAL_NONE;
	j->plan = *plan;
	j->sides = against ? 2 : 1;
	*plan = (struct plan){ 0 };
	j->path = strdup(path);
	j->against = against ? strdup(against) : NULL;
	CHECK(j->path && (!against || j->against), "memory of a name");
	draw_session_id(j);
	journal_allocate(j);
	o = plan_json(&j->plan);
	hash_json(o, j->plan_hash);
	err = journal_refuse(path);
	if (!err)
		err = create_files(j);
	if (err) {
		json_decref(o);
		return err;
	}
	err = record_write(&j->part, plan_record(j, o, argv_text));
	return err ? err : record_sync(&j->part, true);
}

/* ---- end -------------------------------------------------------------------------------- */

int journal_check_part(const struct journal *j)
{
	char part[JOURNAL_NAME];
	struct stat mine, there;

	journal_name(j, ".part", part);
	if (!fstat(j->part.fd, &mine) && !stat(part, &there) && mine.st_dev == there.st_dev &&
	    mine.st_ino == there.st_ino)
		return 0;
	return complain(ESTALE, "%s was renamed, removed or replaced meanwhile", part);
}

/* Not to the name that was asked for: somebody else's file is there. */
static void report_moved(struct journal *j, char *taken)
{
	j->moved = strcmp(taken, j->path);
	if (j->moved)
		complain(EEXIST,
			 "%s was created meanwhile and is not replaced; the record is kept as %s",
			 j->path, taken);
	free(j->path);
	j->path = taken;
}

int journal_finish(struct journal *j)
{
	char part[JOURNAL_NAME], visits[JOURNAL_NAME], *taken;
	int err = record_sync(&j->part, true);

	if (!err)
		err = journal_check_part(j);
	if (err)
		return err;
	journal_name(j, ".part", part);
	journal_name(j, ".visits", visits);
	/* before the rename: of a session that is complete nothing is left, whatever comes */
	unlink(visits);
	lock_release(&j->lock);
	err = output_rename_new(part, j->path, &taken);
	if (err)
		return complain(err, "cannot rename %s to %s: %s", part, j->path, strerror(err));
	report_moved(j, taken);
	return 0;
}

void journal_discard(struct journal *j)
{
	static const char *const suffixes[] = { ".part", ".visits" };
	char name[JOURNAL_NAME];

	for (int i = 0; i < 2; i++) {
		journal_name(j, suffixes[i], name);
		unlink(name);
	}
	lock_release(&j->lock);
}

void journal_release(struct journal *j)
{
	journal_forget_visits(j, 0);
	journal_forget_visits(j, 1);
	lock_release(&j->lock); /* before the .part is closed, which frees the lock */
	record_close(&j->part);
	record_close(&j->visits);
	for (int side = 0; side < 2; side++) {
		json_decref(j->header[side]);
		json_decref(j->layers[side]);
		json_decref(j->refused[side]);
		for (int policy = 0; policy < SYNC_COUNT; policy++)
			json_decref(j->of_policy[side][policy]);
	}
	journal_release_turns(j);
	free(j->status);
	free(j->total_ns);
	free(j->enq_ns);
	free(j->launches);
	free(j->step);
	free(j->noisy);
	free(j->complete);
	free(j->attempts);
	free(j->canary_ns);
	free(j->startup_ns);
	free(j->company);
	free(j->alone_ns);
	free(j->failures);
	free(j->visit[0]);
	free(j->visit[1]);
	free(j->against);
	free(j->argv);
	free(j->path);
	plan_release(&j->plan);
	*j = JOURNAL_NONE;
}

/* ---- lines ------------------------------------------------------------------------------ */

int journal_begin(struct journal *j, int replicate)
{
	int side = journal_side(j, replicate);

	if (j->visit_replicate[side] == replicate)
		return 0;
	journal_forget_visits(j, side);
	j->visit_replicate[side] = replicate;
	/* what the other side has under way stays; a reader knows whose a visit is */
	return j->visit_replicate[!side] < 0 ? record_clear(&j->visits) : 0;
}

static json_t *make_line(const struct journal *j, const char *record, int replicate)
{
	int processes = j->plan.design.processes;

	return json_pack("{s:s, s:s, s:i}", "record", record, "side",
			 journal_side_name(replicate / processes), "process_index",
			 replicate % processes);
}

int journal_header(struct journal *j, int replicate, json_t *o)
{
	json_t *line = make_line(j, "header", replicate);
	int side = replicate / j->plan.design.processes;
	char hash[HASH_TEXT];

	environment_hash(o, hash);
	json_object_set_new(line, "schema", json_string(RECORD_SCHEMA));
	json_object_set_new(line, "session_id", json_string(j->session_id));
	json_object_set_new(line, "tool", json_string("rift"));
	json_object_set_new(line, "tool_version", json_string(RIFT_VERSION));
	json_object_set_new(line, "attempt", json_integer(j->attempts[replicate]));
	json_object_set_new(line, "plan_sha256", json_string(j->plan_hash));
	json_object_set_new(line, "seed", json_integer((json_int_t)j->plan.design.seed));
	json_object_set_new(line, "start_utc", journal_now_utc());
	json_object_set_new(line, "environment_sha256", json_string(hash));
	json_object_set_new(line, "command", side ? json_text(j->against) : json_null());
	json_object_update_missing(line, o);
	json_decref(o);
	journal_apply_header(j, replicate, line);
	return record_write(&j->part, line);
}

static int write_point(struct journal *j, int replicate, int point, json_t *fields)
{
	json_t *line = make_line(j, "point", replicate), *axes = plan_axes_json(&j->plan, point);

	json_object_set_new(line, "key", json_string(j->plan.point[point].key));
	json_object_set_new(line, "axes", axes);
	json_object_update_missing(line, fields);
	json_decref(fields);
	journal_apply_point(j, replicate, point, line);
	return record_write(&j->part, line);
}

int journal_point(struct journal *j, int replicate, int point)
{
	int rounds = j->plan.design.rounds;

	return write_point(j, replicate, point,
			   assemble_point(journal_visits(j, replicate, point), rounds));
}

int journal_visit(struct journal *j, int replicate, int point, int round, json_t *o)
{
	int rounds = j->plan.design.rounds;
	json_t **kept = &journal_visits(j, replicate, point)[round];
	json_t *line = make_line(j, "visit", replicate);
	int err;

	json_object_set_new(line, "schema", json_string(RECORD_SCHEMA));
	json_object_set_new(line, "session_id", json_string(j->session_id));
	json_object_set_new(line, "attempt", json_integer(j->attempts[replicate] - 1));
	json_object_update_missing(line, o);
	json_object_set_new(line, "crc32", json_integer(record_crc32(line)));
	json_decref(o);
	json_decref(*kept);
	*kept = json_incref(line);
	err = record_write(&j->visits, line);
	for (int r = 0; r < rounds && !err; r++)
		if (!journal_visits(j, replicate, point)[r])
			return 0;
	return err ? err : journal_point(j, replicate, point);
}

int journal_failure(struct journal *j, int replicate, int point, const char *status, json_t *error,
		    bool final)
{
	json_t *line;

	if (final)
		return write_point(j, replicate, point,
				   json_pack("{s:s, s:o}", "status", status, "error", error));
	line = make_line(j, "failure", replicate);
	json_object_set_new(line, "key", json_string(j->plan.point[point].key));
	json_object_set_new(line, "status", json_string(status));
	json_object_set_new(line, "error", error);
	j->failures[replicate * j->plan.n_points + point]++;
	return record_write(&j->part, line);
}

int journal_drop(struct journal *j, const bool *stays, json_t *why)
{
	json_t *line = json_pack("{s:s}", "record", "fewer"), *keys = json_array();
	int err;

	for (int i = 0; i < j->plan.n_points; i++)
		if (!stays[i])
			json_array_append_new(keys, json_string(j->plan.point[i].key));
	json_object_set_new(line, "keys", keys);
	json_object_update_missing(line, why);
	json_decref(why);
	err = record_write(&j->part, line);
	if (!err)
		err = record_sync(&j->part, true);
	if (!err)
		journal_keep_points(j, stays);
	return err;
}

bool journal_is_deadly(const struct journal *j, int replicate, int point)
{
	int processes = j->plan.design.processes, first = replicate / processes * processes;

	for (int s = first; s < first + processes; s++)
		if (j->failures[s * j->plan.n_points + point] >= 2)
			return true;
	return false;
}

const json_t *journal_refusal(const struct journal *j, int replicate, int point)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", point);
	return json_object_get(j->refused[journal_side(j, replicate)], number);
}

int journal_count_failed(const struct journal *j)
{
	return journal_count(j, POINT_FAILED) + journal_count(j, POINT_SKIPPED) +
	       journal_count(j, POINT_NOT_SUPPORTED);
}

int journal_count(const struct journal *j, enum point_status status)
{
	int n = 0;

	for (int i = 0; i < j->replicates * j->plan.n_points; i++)
		n += j->status[i] == status;
	return n;
}

static int count_in(const struct journal *j, int replicate, bool good)
{
	int n = 0;

	for (int i = 0; i < j->plan.n_points; i++)
		n += (j->status[replicate * j->plan.n_points + i] == POINT_OK) == good;
	return n;
}

/* By how much the last canaries of a process are longer than the first; NAN: not known. */
static double canary_drift(const struct journal *j, int side)
{
	return j->drift_ns[side][1] / j->drift_ns[side][0] - 1;
}

int journal_trailer(struct journal *j, int replicate, json_t *bye)
{
	json_t *line = make_line(j, "trailer", replicate);
	int side = journal_side(j, replicate), err;
	char hash[HASH_TEXT];

	json_object_set_new(line, "records", json_integer(count_in(j, replicate, true)));
	json_object_set_new(line, "failed", json_integer(count_in(j, replicate, false)));
	json_object_update_missing(line, bye);
	json_decref(bye);
	json_object_set_new(line, "canary_drift", json_number(canary_drift(j, side)));
	hash_text(&j->part.hash, hash);
	json_object_set_new(line, "lines_sha256", json_string(hash));
	json_object_set_new(line, "complete", json_true());
	json_incref(line);
	err = record_write(&j->part, line);
	if (!err)
		err = record_sync(&j->part, true);
	if (!err)
		journal_apply_trailer(j, replicate, line);
	json_decref(line);
	if (err)
		return err;
	journal_forget_visits(j, side);
	j->visit_replicate[side] = -1;
	return j->visit_replicate[!side] < 0 ? record_clear(&j->visits) : 0;
}

double journal_canary_ns(const struct journal *j, int side)
{
	double *v = journal_zeroed((size_t)j->replicates, sizeof(*v)), median;
	int n = 0;

	for (int i = 0; i < j->replicates; i++)
		if (journal_side(j, i) == side && isfinite(j->canary_ns[i]))
			v[n++] = j->canary_ns[i];
	median = median_of(v, n);
	free(v);
	return median;
}
