/*
 * test_sweep_resume.c - the files of a session that was cut off (harness/record/journal.h): who may
 * write them, what is gone on with, and under which name the record is kept.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/record/journal_impl.h"
#include "harness/record/validate_record.h"
#include "harness/platform/system.h"
#include "tests/folder.h"
#include "workloads/workload.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { POINTS = 4, ROUNDS = 2 };

TEST_FOLDER(folder);
static char path[64], part[80], visits[80], note[80];

static void prepare(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/s.jsonl", folder);
	snprintf(part, sizeof(part), "%s.part", path);
	snprintf(visits, sizeof(visits), "%s.visits", path);
	snprintf(note, sizeof(note), "%s.lock", path);
}

TestSuite(small_sweep_resume, .init = prepare, .fini = remove_folder, .timeout = 300);

static struct plan four_points(int processes)
{
	const struct workload *const first[] = { workloads[0], NULL };
	struct plan_request r = { .workload = first,
				  .size = "1,2",
				  .depth = "1,4",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	r.design.rounds = ROUNDS;
	r.design.processes = processes;
	r.design.sequential = false;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, POINTS), "points");
	return p;
}

static void begin_process(struct journal *j, int process)
{
	json_t *header = json_pack("{s:{}, s:{}, s:{}, s:{}, s:{}, s:{}}", "calib", "host", "gpu",
				   "env", "cuda_flags", "warmup");

	cr_assert(zero(int, journal_begin(j, process)), "begin");
	cr_assert(zero(int, journal_header(j, process, header)), "header");
}

static void begin_processes(struct journal *j, int processes, const char *against)
{
	struct plan p = four_points(processes);

	cr_assert(zero(int, journal_create(j, &p, path, against, "rift sweep")), "create");
	begin_process(j, 0);
}

static void begin_session(struct journal *j, const char *against)
{
	begin_processes(j, 1, against);
}

static void add_visit_of(struct journal *j, int process, int point, int round)
{
	json_t *o = json_pack("{s:i, s:i, s:[i, i], s:[i, i], s:[i], s:[i, i], s:[i, i], s:n}",
			      "point", point, "round", round, "t_enq_ns", 1000, 1100, "t_total_ns",
			      2000, 2100, "t_dev_ns", 900, "marks", 0, 16, "canary_ns", 200000,
			      200000, "steal_ticks");

	cr_assert(zero(int, journal_visit(j, process, point, round, o)), "visit");
}

static void add_visit(struct journal *j, int point, int round)
{
	add_visit_of(j, 0, point, round);
}

/* Cut off after one round of every point and the second one of point 0, which is then whole. */
static void write_half(void)
{
	struct journal j;

	begin_session(&j, NULL);
	for (int i = 0; i < POINTS; i++)
		add_visit(&j, i, 0);
	add_visit(&j, 0, 1);
	journal_release(&j);
}

static int open_quietly(struct journal *j, const char **said)
{
	int err;

	divert_stderr();
	err = journal_open(j, path);
	*said = diverted_stderr();
	return err;
}

/* ---- visits ----------------------------------------------------------------------------- */

/* Measures what is missing, and must then have a whole record. */
static void complete(struct journal *j, const char *which)
{
	struct record_facts facts;

	for (int i = 0; i < POINTS; i++)
		for (int r = 0; r < ROUNDS; r++)
			if (!j->status[i] && !j->visit[0][i * ROUNDS + r])
				add_visit(j, i, r);
	cr_assert(zero(int, journal_trailer(j, 0, json_object())), "%s", which);
	cr_assert(zero(int, journal_finish(j)), "%s", which);
	cr_assert(zero(int, record_check(&facts, path, NULL)), "%s: not valid", which);
	cr_assert(eq(int, facts.ok, POINTS), "%s: %d points", which, facts.ok);
}

/* Damages to line 2, which is point 1 in round 0. */
static const struct damage {
	const char *sed;
	int dropped;
	bool torn;
} damages[] = {
	{ "", 0, false },
	{ "2s/2000/1/", 1, false },			      /* t_total below t_enq */
	{ "2s/2000/-2000/", 1, false },			      /* */
	{ "2s/2000/\"2000\"/", 1, false },		      /* no number */
	{ "2s/2000,//", 1, false },			      /* arrays of two lengths */
	{ "2s/\\[0,16\\]/[0,64]/", 1, false },		      /* no such mark */
	{ "2s/\"marks\":\\[0,16\\]/\"marks\":7/", 1, false }, /* no array */
	{ "2s/\\[0,16\\]/[0,0]/", 1, false },		      /* an event that no block has */
	{ "2s/\\[900\\]/{}/", 1, false },		      /* no array */
	{ "2s/,200000\\]/]/", 1, false },		      /* one canary */
	{ "2s/\\[200000,200000\\]/null/", 1, false },	      /* none */
	{ "2s/\"t_enq_ns\":.*\"marks\":\\[0,16\\]/"
	  "\"t_enq_ns\":[],\"t_total_ns\":[],\"t_dev_ns\":[],\"marks\":[]/",
	  1, false },					   /* no blocks */
	{ "2s/\"point\":1/\"point\":99/", 1, false },	   /* not in the plan */
	{ "2s/\"point\":1/\"point\":-1/", 1, false },	   /* */
	{ "2s/\"round\":0/\"round\":2/", 1, false },	   /* */
	{ "2s/\"round\":0/\"round\":null/", 1, false },	   /* */
	{ "2s/\"side\":\"a\"/\"side\":\"b\"/", 1, false }, /* one side is planned */
	{ "2s/\"process_index\":0/\"process_index\":1/", 1, false },
	{ "2s/steal_ticks\":null/steal_ticks\":\"x\"/", 1, false },
	{ "2s/steal_ticks\":null/check\":[]/", 1, false },
	{ "2s/steal_ticks\":null/step\":[]/", 1, false },
	{ "2s/steal_ticks\":null/launches_per_step\":\"x\"/", 1, false },
	{ "2s/steal_ticks\":null/check\":{}/", 1, false }, /* neither passed nor failed */
	{ "2s/steal_ticks\":null/check\":{\"state\":\"p-ssed\"}/", 1, false },
	{ "2s/\"schema\":\"2/\"schema\":\"3/", 1, false },
	{ "2s/\"schema\":\"2./\"schema\":\"2-/", 1, false },
	{ "2s/\"record\":\"visit\"/\"record\":\"xisit\"/", 1, false },
	{ "2s/.$//", 1, false }, /* no JSON, in the middle */
	{ "2s/.*//", 1, false },
	{ "2s/.*/[1]/", 1, false },
	{ "1,5s/2000/1/", 4, false }, /* of all but the one that is in the .part by now */
	{ "$s/.$//", 0, true },	      /* the end of the file */
};

/*
 * Without the checksum, which alone would find each of these: what a reader goes by must hold in a
 * line that agrees with it, too. The point that is whole, 0, is in the .part, so a damaged visit of
 * it is not needed. */
static void check_damage(const struct damage *d)
{
	struct journal j;
	const char *said;

	write_half();
	shell(NULL, "sed -i 's/,\"crc32\":[0-9]*//' '%s'", visits);
	shell(NULL, "sed -i '%s' '%s'", d->sed, visits);
	cr_assert(zero(int, open_quietly(&j, &said)), "%s: %s", d->sed, said);
	cr_assert(eq(int, j.torn, d->torn), "%s", d->sed);
	cr_assert(le(int, d->dropped, j.visits_dropped), "%s: %d", d->sed, j.visits_dropped);
	cr_assert(eq(int, j.visits_dropped > 0, d->dropped > 0), "%s", d->sed);
	cr_assert(eq(int, j.status[0], POINT_OK), "%s: point 0 is lost", d->sed);
	if (d->dropped) { /* and what is dropped is gone from the file */
		struct record_facts facts;

		cr_assert(zero(int, record_check(&facts, visits, NULL)), "%s", d->sed);
	}
	complete(&j, d->sed);
	journal_release(&j);
	shell(NULL, "rm '%s'", path);
}

Test(small_sweep_resume, damaged_visits_are_measured_again)
{
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++)
		check_damage(&damages[i]);
}

/* Another digit leaves a line that could have been measured: its checksum tells. */
Test(small_sweep_resume, another_digit_in_a_visit_shows)
{
	static const char *const seds[] = { "2s/2000/2001/", "2s/\"round\":0/\"round\":1/",
					    "2s/null/nul0/", "2s/crc32\":/crc32\":1/" };

	for (size_t i = 0; i < sizeof(seds) / sizeof(*seds); i++) {
		struct journal j;
		const char *said;

		write_half();
		shell(NULL, "sed -i '%s' '%s'", seds[i], visits);
		cr_assert(zero(int, open_quietly(&j, &said)), "%s: %s", seds[i], said);
		cr_assert(eq(int, j.visits_dropped, 1), "%s", seds[i]);
		complete(&j, seds[i]);
		journal_release(&j);
		shell(NULL, "rm '%s'", path);
	}
}

/* Whether the arithmetic of a point is right shows in its summary. */
Test(small_sweep_resume, a_damaged_part_is_refused_and_stays)
{
	static const char *const seds[] = { "3s/2000/2500/", "3s/\"median\":2000/\"median\":1/",
					    "3s/\"status\":\"ok\"/\"status\":7/",
					    "1s/\"rounds\":2/\"rounds\":3/" };

	for (size_t i = 0; i < sizeof(seds) / sizeof(*seds); i++) {
		struct journal j;
		const char *said, *text;

		write_half();
		shell(NULL, "sed -i '%s' '%s'; cp '%s' '%s/before'", seds[i], part, part, folder);
		cr_assert(eq(int, open_quietly(&j, &said), -EINVAL), "%s", seds[i]);
		journal_release(&j);
		cr_assert(is_one_complaint(said), "%s: %s", seds[i], said);
		cr_assert(zero(int, shell(&text, "cmp '%s' '%s/before'", part, folder)), "%s",
			  text);
		cr_assert(zero(int, access(visits, F_OK)), "%s", seds[i]);
		shell(NULL, "rm '%s' '%s'", part, visits);
	}
}

/* They are of the process under way: when it has ended, none is kept. */
Test(small_sweep_resume, visits_of_a_process_end_with_it)
{
	struct journal j;
	struct stat st;

	for (int sides = 1; sides <= 2; sides++) {
		begin_session(&j, sides == 2 ? "env" : NULL);
		for (int i = 0; i < POINTS; i++)
			for (int r = 0; r < ROUNDS; r++)
				add_visit(&j, i, r);
		cr_assert(zero(int, stat(visits, &st)), "%s", visits);
		cr_assert(lt(i64, 0, st.st_size), "under way");
		cr_assert(zero(int, journal_trailer(&j, 0, json_object())), "trailer");
		cr_assert(zero(int, stat(visits, &st)), "%s", visits);
		cr_assert(zero(i64, st.st_size), "%d sides: %ld bytes", sides, (long)st.st_size);
		journal_release(&j);
		shell(NULL, "rm -f '%s' '%s'", part, visits);
	}
}

/* A crash came between the last visit of a point and its record: it is written then. */
Test(small_sweep_resume, a_point_whose_visits_are_all_there_is_whole)
{
	for (int point = 0; point < POINTS; point++) {
		struct journal j;
		const char *said;

		begin_session(&j, NULL);
		for (int i = 0; i < POINTS; i++)
			for (int r = 0; r < ROUNDS; r++)
				if (i == point || !r)
					add_visit(&j, i, r);
		cr_assert(eq(int, j.status[point], POINT_OK), "%d", point);
		journal_release(&j);
		shell(NULL, "sed -i '$d' '%s'", part);
		cr_assert(zero(int, open_quietly(&j, &said)), "%s", said);
		for (int i = 0; i < POINTS; i++)
			cr_assert(eq(int, j.status[i] == POINT_OK, i == point), "%d of %d", i,
				  point);
		complete(&j, "whole");
		journal_release(&j);
		shell(NULL, "rm '%s'", path);
	}
}

/* That the first process has all of its points says nothing of the second one's. */
Test(small_sweep_resume, so_is_a_point_of_a_second_process)
{
	enum { POINT = 2 };
	struct journal j;
	const char *said;

	begin_processes(&j, 2, NULL);
	for (int i = 0; i < POINTS * ROUNDS; i++)
		add_visit(&j, i / ROUNDS, i % ROUNDS);
	cr_assert(zero(int, journal_trailer(&j, 0, json_object())), "trailer");
	begin_process(&j, 1);
	for (int r = 0; r < ROUNDS; r++)
		add_visit_of(&j, 1, POINT, r);
	journal_release(&j);
	shell(NULL, "sed -i '$d' '%s'", part);
	cr_assert(zero(int, open_quietly(&j, &said)), "%s", said);
	for (int i = 0; i < POINTS; i++)
		cr_assert(eq(int, j.status[POINTS + i] == POINT_OK, i == POINT), "%d", i);
	journal_release(&j);
}

/* It started on another machine: the plan goes to a new session, the visits do not. */
Test(small_sweep_resume, a_plan_that_moves_on_leaves_no_visits_behind)
{
	struct journal j, fresh;
	char other[80];
	json_t *kept;

	begin_session(&j, NULL);
	add_visit(&j, 2, 0);
	kept = json_incref(j.visit[0][2 * ROUNDS]);
	snprintf(other, sizeof(other), "%s/other.jsonl", folder);
	cr_assert(zero(int, journal_create(&fresh, &j.plan, other, NULL, "rift sweep")), "create");
	journal_release(&j);
	journal_release(&fresh);
	cr_assert(eq(sz, kept->refcount, 1), "%zu owners", kept->refcount);
	json_decref(kept);
}

/* ---- who writes ------------------------------------------------------------------------- */

static void write_note(const char *fmt, ...)
{
	FILE *f = fopen(note, "w");
	va_list args;

	cr_assert(ne(ptr, f, NULL), "%s", note);
	va_start(args, fmt);
	vfprintf(f, fmt, args);
	va_end(args);
	fclose(f);
}

/* A pid that is nobody's here: what a writer in another PID namespace looks like. */
Test(small_sweep_resume, a_writer_that_cannot_be_seen_keeps_its_session)
{
	struct journal mine, other;
	const char *said;

	begin_session(&mine, NULL);
	add_visit(&mine, 0, 0);
	write_note("2147483646 12 %s\n", system_boot_id());
	cr_assert(eq(int, open_quietly(&other, &said), -EBUSY), "%s", said);
	journal_release(&other);
	cr_assert(is_one_complaint(said), "%s", said);
	unlink(note);
	cr_assert(eq(int, open_quietly(&other, &said), -EBUSY), "%s", said);
	journal_release(&other);
	complete(&mine, "mine");
	journal_release(&mine);
}

/* Killed, and the machine started again: note and files are there, nobody holds the lock. */
Test(small_sweep_resume, goes_on_after_a_reboot)
{
	static const char *const notes[] = { "%d 1 another-boot\n", "%d 99999999999999 \n",
					     "2147483646 12 x\n", "", "garbage\n" };

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		struct journal j;
		const char *said;
		int status;
		pid_t child = fork();

		if (!child) {
			begin_session(&j, NULL);
			add_visit(&j, 1, 0);
			write_note(notes[i], 1);
			kill(getpid(), SIGKILL);
		}
		cr_assert(eq(int, waitpid(child, &status, 0), child), "wait");
		cr_assert(eq(int, WTERMSIG(status), SIGKILL), "%d", status);
		cr_assert(zero(int, open_quietly(&j, &said)), "%zu: %s", i, said);
		cr_assert(eq(str, (char *)said, ""), "%zu: %s", i, said);
		cr_assert(ne(ptr, j.visit[0][1 * ROUNDS], NULL), "%zu: a visit is lost", i);
		complete(&j, "after a reboot");
		journal_release(&j);
		shell(NULL, "rm '%s'", path);
	}
}

/* An older rift takes no lock of the kernel's. */
Test(small_sweep_resume, a_note_of_a_process_that_lives_counts)
{
	struct journal j;
	const char *said;

	write_half();
	write_note("%d %lld %s\n", (int)getpid(), (long long)system_start(getpid()),
		   system_boot_id());
	cr_assert(eq(int, open_quietly(&j, &said), -EBUSY), "%s", said);
	journal_release(&j);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(zero(int, access(note, F_OK)), "the other's note stays");
}

static bool completes; /* whoever holds the lock is done just before it is taken */

/* In place of libc's, for all of this program. */
int fcntl(int fd, int command, ...)
{
	int (*real)(int, int, ...);
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	*(void **)&real = dlsym(RTLD_NEXT, "fcntl");
	if (command == F_OFD_SETLK && completes)
		cr_assert(zero(int, rename(part, path)), "%s", path);
	return real(fd, command, arg);
}

/* It would be written to, and cut, under its final name. */
Test(small_sweep_resume, a_part_that_is_renamed_meanwhile_is_no_longer_one)
{
	struct journal j;
	const char *said, *text;

	write_half();
	shell(NULL, "cp '%s' '%s/before'", part, folder);
	completes = true;
	cr_assert(eq(int, open_quietly(&j, &said), -ESTALE), "%s", said);
	journal_release(&j);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(zero(int, shell(&text, "cmp '%s' '%s/before'", path, folder)), "%s", text);
}

/* Another sweep's, begun after this one's files were removed. */
Test(small_sweep_resume, the_part_of_another_is_not_renamed)
{
	struct journal j;
	const char *said, *text;
	int err;

	begin_session(&j, NULL);
	shell(NULL, "rm '%s'; echo foreign >'%s'", part, part);
	divert_stderr();
	err = journal_finish(&j);
	said = diverted_stderr();
	journal_release(&j);
	cr_assert(eq(int, err, -ESTALE), "%d", err);
	cr_assert(is_one_complaint(said), "%s", said);
	shell(&text, "cat '%s'", part);
	cr_assert(eq(str, (char *)text, "foreign\n"), "%s", text);
}

/* ---- names ------------------------------------------------------------------------------ */

Test(small_sweep_resume, what_appeared_under_the_name_stays)
{
	struct record_facts facts;
	struct journal j;
	const char *said, *text;
	char second[80];

	begin_session(&j, NULL);
	for (int i = 0; i < POINTS * ROUNDS; i++)
		add_visit(&j, i / ROUNDS, i % ROUNDS);
	cr_assert(zero(int, journal_trailer(&j, 0, json_object())), "trailer");
	shell(NULL, "echo foreign >'%s'", path);
	divert_stderr();
	cr_assert(zero(int, journal_finish(&j)), "finish");
	said = diverted_stderr();
	snprintf(second, sizeof(second), "%s/s-2.jsonl", folder);
	cr_assert(j.moved, "moved");
	cr_assert(eq(str, j.path, second), "%s", j.path);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, second), NULL), "%s", said);
	cr_assert(zero(int, record_check(&facts, second, NULL)), "the record");
	journal_release(&j);
	shell(&text, "cat '%s'; ls '%s'", path, folder);
	cr_assert(eq(str, (char *)text, "foreign\ns-2.jsonl\ns.jsonl\n"), "%s", text);
}

static void expect_refusal(const char *name, int want)
{
	char full[512];
	const char *said;
	int err;

	snprintf(full, sizeof(full), "%s/%s", folder, name);
	divert_stderr();
	err = journal_refuse(full);
	said = diverted_stderr();
	cr_assert(eq(int, err, want), "%s: %d", full, err);
	cr_assert(eq(int, want != 0, is_one_complaint(said)), "%s", said);
}

Test(small_sweep_resume, places_that_are_refused_beforehand)
{
	char name[256];
	const char *text;

	/* 255 bytes are a name at most, .visits is added */
	memset(name, 'x', sizeof(name));
	name[248] = '\0';
	expect_refusal(name, 0);
	name[248] = 'x';
	name[249] = '\0';
	expect_refusal(name, -ENAMETOOLONG);
	shell(NULL,
	      "cd '%s' && ln -s nowhere dangling && ln -s nowhere part.jsonl.part && "
	      "ln -s loop loop && touch file",
	      folder);
	expect_refusal("dangling", -EEXIST);
	expect_refusal("loop", -EEXIST);
	expect_refusal("part.jsonl", -EEXIST);
	expect_refusal("file", -EEXIST);
	expect_refusal("file/s.jsonl", -ENOTDIR);
	expect_refusal("none/s.jsonl", -ENOENT);
	expect_refusal("new.jsonl", 0);
	shell(&text, "ls '%s' | wc -l", folder);
	cr_assert(eq(str, (char *)text, "4\n"), "nothing is made: %s", text);
	cr_assert(zero(int, journal_refuse("in-this-folder.jsonl")), "without a folder");
}

/* Nothing holds root back, so the question is asked by somebody else. */
Test(small_sweep_resume, a_folder_that_may_not_be_written_is_refused_beforehand)
{
	int status;
	pid_t pid;

	cr_assert(zero(int, chmod(folder, 0555)), "chmod");
	pid = fork();
	if (!pid) {
		divert_stderr();
		_exit(!getuid() && setuid(65534) ? 1 : -journal_refuse(path));
	}
	cr_assert(waitpid(pid, &status, 0) == pid, "wait");
	cr_assert(zero(int, chmod(folder, 0755)), "chmod");
	cr_assert(eq(int, WIFEXITED(status) ? WEXITSTATUS(status) : -1, EACCES), "%x",
		  (unsigned)status);
}
