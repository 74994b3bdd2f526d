/*
 * test_sweep_record.c - harness/record/record.h and journal.h: lines that survive, files that
 * are refused, and who may write.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/record/journal.h"
#include "harness/record/record.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>

static char path[] = "/tmp/rift_record_XXXXXX";

static void make_file(void)
{
	int fd = mkstemp(path);

	cr_assert(le(int, 0, fd), "%s", path);
	close(fd);
}

static void remove_file(void)
{
	unlink(path);
}

TestSuite(small_sweep_record, .init = make_file, .fini = remove_file, .timeout = 300);

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert(ne(ptr, f, NULL), "%s", path);
	fputs(text, f);
	fclose(f);
}

static int count_record(const json_t *o, const struct record_scan *scan, void *arg)
{
	(void)o, (void)scan;
	++*(int *)arg;
	return 0;
}

/* A file without line ends is refused before it takes all memory: this one would take 1 TiB. */
Test(small_sweep_record, lines_have_a_longest)
{
	struct record_scan scan;
	const char *said;
	int lines = 0, err;

	cr_assert(zero(int, truncate(path, (off_t)1 << 40)), "%s", path);
	divert_stderr();
	err = record_read(&scan, path, count_record, &lines);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EFBIG), "%s", said);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, ":1: "), NULL), "%s", said);
}

/* ---- hash ------------------------------------------------------------------------------- */

Test(small_sweep_record, sha256_as_published)
{
	char text[HASH_TEXT];
	struct hash h;

	/* FIPS 180-2, appendix B.1 */
	hash_start(&h);
	hash_add(&h, "a", 1);
	hash_text(&h, text); /* asked in between, it goes on */
	hash_add(&h, "bc", 2);
	hash_text(&h, text);
	cr_assert(eq(str, text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
		  "%s", text);
}

Test(small_sweep_record, the_order_of_members_does_not_count)
{
	json_t *a = json_loads("{\"x\":1,\"y\":[1,2]}", 0, NULL);
	json_t *b = json_loads("{\"y\":[1,2],\"x\":1}", 0, NULL);
	char ha[HASH_TEXT], hb[HASH_TEXT];

	hash_json(a, ha);
	hash_json(b, hb);
	cr_assert(eq(str, ha, hb), "members");
	json_object_set_new(b, "x", json_integer(2));
	hash_json(b, hb);
	cr_assert(ne(int, strcmp(ha, hb), 0), "values do");
	json_decref(a);
	json_decref(b);
}

/* ---- reading ---------------------------------------------------------------------------- */

#define FIRST "{\"record\":\"plan\",\"schema\":\"1.0\"}\n"

static const struct {
	const char *text;
	int lines;
	bool torn;
} whole[] = {
	{ "", 0, false },
	{ FIRST, 1, false },
	{ FIRST "{\"record\":\"x\"}\n", 2, false },
	{ FIRST "{\"record\":\"x\"}", 1, true }, /* no end: perhaps 12 of 123 */
	{ FIRST "{\"record\":\"x", 1, true },
	{ FIRST "{\"record\":\"x\n", 1, true },
	{ FIRST "garbage\n", 1, true },
	{ "{\"rec", 0, true },
	/* what a later minor version may add */
	{ "{\"record\":\"plan\",\"schema\":\"1.7\",\"new\":{}}\n{\"record\":\"newkind\"}\n", 2,
	  false },
};

Test(small_sweep_record, a_torn_last_line_is_dropped)
{
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		struct record_scan scan;
		int lines = 0;

		write_text(whole[i].text);
		cr_assert(zero(int, record_read(&scan, path, count_record, &lines)), "%zu", i);
		cr_assert(eq(int, lines, whole[i].lines), "%zu", i);
		cr_assert(eq(int, scan.torn, whole[i].torn), "%zu", i);
	}
}

static const struct {
	const char *text, *says;
	int err; /* 0: EINVAL */
} broken[] = {
	{ FIRST "garbage\n{\"record\":\"x\"}\n", ":2: ", 0 },
	{ FIRST "[1]\n{\"record\":\"x\"}\n", ":2: ", 0 },
	{ FIRST "{\"a\":1,\"a\":2}\n{\"record\":\"x\"}\n", ":2: ", 0 },
	{ "{\"record\":\"plan\",\"schema\":\"3.0\"}\n", "schema 3.0", EPROTONOSUPPORT },
	{ "{\"record\":\"plan\",\"schema\":\"0.9\"}\n", "schema 0.9", EPROTONOSUPPORT },
	{ "{\"record\":\"plan\",\"schema\":1}\n", "not \"MAJOR.MINOR\"", 0 },
	{ "{\"record\":\"plan\",\"schema\":\"one\"}\n", "not \"MAJOR.MINOR\"", 0 },
	{ "{\"workload\":\"myocyte\"}\n", "the first line has no schema", 0 },
};

Test(small_sweep_record, files_that_are_refused)
{
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		struct record_scan scan;
		const char *said;
		int lines = 0, err;

		write_text(broken[i].text);
		divert_stderr();
		err = record_read(&scan, path, count_record, &lines);
		said = diverted_stderr();
		cr_assert(eq(int, err, -(broken[i].err ? broken[i].err : EINVAL)), "%zu", i);
		cr_assert(is_one_complaint(said), "%s", said);
		cr_assert(ne(ptr, strstr(said, broken[i].says), NULL), "%zu: %s", i, said);
	}
}

/* Each line is told by its number, from 1 on. */
Test(small_sweep_record, which_line_is_said)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "{\"record\":\"plan\",\"schema\":\"one\"}\n", ":1: " },
		{ "{\"record\":\"plan\",\"schema\":\"99.0\"}\n", ":1: " },
		{ FIRST "{\"record\":\"x\"}\n{\"schema\":1}\n", ":3: " },
		{ FIRST "{\"record\":\"x\"}\n{\"schema\":\"99.0\"}\n", ":3: " },
		{ FIRST "garbage\n{\"record\":\"x\"}\n", ":2: " },
		{ FIRST "{\"record\":\"x\"}\n{\"record\":1,\"record\":2}\n{}\n", ":3: " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct record_scan scan;
		const char *said;
		int lines = 0, err;

		write_text(rows[i].text);
		divert_stderr();
		err = record_read(&scan, path, count_record, &lines);
		said = diverted_stderr();
		cr_assert(lt(int, err, 0), "%zu", i);
		cr_assert(ne(ptr, strstr(said, rows[i].says), NULL), "%zu: %s", i, said);
	}
}

static int allowed; /* allocations of jansson's that succeed from now on; -1: all */

static void *scarce_malloc(size_t n)
{
	if (allowed > 0)
		allowed--;
	return allowed ? malloc(n) : NULL;
}

/* A line that there is no memory for is neither damaged nor torn: it would be cut off. */
Test(small_sweep_record, no_memory_is_no_torn_line)
{
	int lines = 0;

	write_text(FIRST "{\"record\":\"x\",\"array\":[1,2.5,\"text\",{\"y\":null}]}\n");
	json_set_alloc_funcs(scarce_malloc, free);
	for (int n = 1; lines < 2; n++) {
		struct record_scan scan;
		const char *said;
		int err;

		allowed = n;
		lines = 0;
		divert_stderr();
		err = record_read(&scan, path, count_record, &lines);
		said = diverted_stderr();
		cr_assert(lt(int, n, 1000), "never enough");
		cr_assert(not(scan.torn), "%d allocations", n);
		cr_assert(eq(int, err, lines < 2 ? -ENOMEM : 0), "%d allocations: %d", n, err);
		cr_assert(eq(int, is_one_complaint(said), lines < 2), "%d: %s", n, said);
	}
	json_set_alloc_funcs(malloc, free);
}

/* What can still be read of a file that is worth that. */
Test(small_sweep_record, salvage_steps_over_damage)
{
	struct record_scan scan;
	const char *said;
	int lines = 0;

	write_text("garbage\n" FIRST "{\"record\":\"x\"}\n[1]\n\n"
		   "{\"record\":\"x\",\"schema\":\"3.0\"}\n" FIRST "{\"half");
	divert_stderr();
	cr_assert(zero(int, record_salvage(&scan, path, count_record, &lines)), "salvage");
	said = diverted_stderr();
	cr_assert(eq(int, lines, 2), "%d", lines);
	cr_assert(eq(int, (int)scan.dropped, 5), "%d", (int)scan.dropped);
	cr_assert(scan.torn, "the last one");
	cr_assert(eq(str, (char *)said, ""), "%s", said);
}

/* ---- writing ---------------------------------------------------------------------------- */

Test(small_sweep_record, going_on_behind_a_torn_line)
{
	struct record_file f;
	struct record_scan scan;
	char before[HASH_TEXT], after[HASH_TEXT];
	int lines = 0;

	write_text(FIRST "{\"record\":\"half");
	cr_assert(zero(int, record_read(&scan, path, count_record, &lines)), "read");
	cr_assert(zero(int, record_append(&f, &scan)), "append");
	cr_assert(zero(int, record_write(&f, json_pack("{s:s}", "record", "more"))), "write");
	cr_assert(zero(int, record_sync(&f, true)), "sync");
	hash_text(&f.hash, before);
	record_close(&f);
	lines = 0;
	cr_assert(zero(int, record_read(&scan, path, count_record, &lines)), "read again");
	hash_text(&scan.hash, after);
	cr_assert(eq(int, lines, 2), "the half line is gone");
	cr_assert(not(scan.torn), "whole");
	cr_assert(eq(str, after, before), "the writer's hash is the reader's");
}

Test(small_sweep_record, a_new_file_overwrites_nothing)
{
	struct record_file f;
	const char *said;
	int err;

	write_text(FIRST);
	divert_stderr();
	err = record_create(&f, path);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EEXIST), "exists");
	cr_assert(is_one_complaint(said), "%s", said);
	record_close(&f);
}

/* Twelve digits: more than any clock has. */
Test(small_sweep_record, numbers_have_twelve_digits)
{
	struct record_file file;
	char line[64] = "";
	FILE *f;

	unlink(path);
	cr_assert(zero(int, record_create(&file, path)), "create");
	cr_assert(zero(int, record_write(&file, json_pack("[f, i]", 1.0 / 3, 7))), "write");
	record_close(&file);
	f = fopen(path, "r");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	cr_assert(ne(ptr, fgets(line, sizeof(line), f), NULL), "a line");
	fclose(f);
	cr_assert(eq(str, line, "[0.333333333333,7]\n"), "%s", line);
}

/* ---- lock ------------------------------------------------------------------------------- */

static bool lacks_locks; /* a file system without */

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
	if (command != F_OFD_SETLK || !lacks_locks)
		return real(fd, command, arg);
	errno = ENOLCK;
	return -1;
}

static int take_quietly(struct lock *l, int fd, const char **said)
{
	int err;

	divert_stderr();
	err = lock_take(l, fd, path);
	*said = diverted_stderr();
	return err;
}

static int open_part(void)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	cr_assert(le(int, 0, fd), "%s", path);
	return fd;
}

/* Says what it must do without, and that alone. */
static bool says_lack(const char *said)
{
	return lacks_locks ? is_one_complaint(said) && strstr(said, "no locks") : !*said;
}

/* With the kernel's lock, and where there is none by the note alone. */
Test(small_sweep_record, one_writer_at_a_time)
{
	for (int i = 0; i < 2; i++) {
		int a = open_part(), b = open_part();
		struct lock mine, other;
		const char *said;

		lacks_locks = i;
		cr_assert(zero(int, take_quietly(&mine, a, &said)), "%d: %s", i, said);
		cr_assert(says_lack(said), "%d: %s", i, said);
		cr_assert(eq(int, take_quietly(&other, b, &said), -EBUSY), "%d: held", i);
		lock_release(&other); /* of one that was not taken: nothing */
		cr_assert(eq(int, take_quietly(&other, b, &said), -EBUSY), "%d: still held", i);
		cr_assert(ne(ptr, strstr(said, "process"), NULL), "%s", said);
		lock_release(&mine);
		close(a);
		cr_assert(zero(int, take_quietly(&other, b, &said)), "%d: %s", i, said);
		lock_release(&other);
		close(b);
	}
}

/* A pid says nothing in another PID namespace, where it is nobody's or somebody else's. */
Test(small_sweep_record, the_lock_holds_whatever_the_note_says)
{
	static const char *const notes[] = { "2147483646 12 x\n", "1 1 x\n", "", "garbage\n" };
	int a = open_part(), b = open_part();
	struct lock mine, other;
	const char *said;
	char name[64];

	snprintf(name, sizeof(name), "%s.lock", path);
	cr_assert(zero(int, take_quietly(&mine, a, &said)), "%s", said);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		FILE *f = fopen(name, "w");

		fputs(notes[i], f);
		fclose(f);
		cr_assert(eq(int, take_quietly(&other, b, &said), -EBUSY), "%zu", i);
		cr_assert(is_one_complaint(said), "%zu: %s", i, said);
	}
	unlink(name);
	cr_assert(eq(int, take_quietly(&other, b, &said), -EBUSY), "no note");
	lock_release(&mine);
	close(a);
	close(b);
}

Test(small_sweep_record, notes_of_who_is_gone_are_replaced)
{
	static const char *const stale[] = {
		"2147483646 12 x\n",	  /* no such process */
		"1 99999999999999 x\n",	  /* another boot */
		"1 99999999999999999 \n", /* the pid is used again */
	};
	char name[64];

	snprintf(name, sizeof(name), "%s.lock", path);
	for (size_t i = 0; i < 2 * sizeof(stale) / sizeof(*stale); i++) {
		FILE *f = fopen(name, "w");
		int fd = open_part();
		struct lock l;
		const char *said;

		lacks_locks = i % 2;
		fputs(stale[i / 2], f);
		fclose(f);
		cr_assert(zero(int, take_quietly(&l, fd, &said)), "%zu: %s", i, said);
		cr_assert(says_lack(said), "%zu: %s", i, said);
		lock_release(&l);
		close(fd);
		cr_assert(ne(int, access(name, F_OK), 0), "%zu: removed", i);
	}
}
