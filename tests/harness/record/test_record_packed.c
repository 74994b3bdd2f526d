/*
 * test_record_packed.c - record files that were compressed with gzip: read as they were before, and
 * never written; a broken one is no short one.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/record/journal_impl.h"
#include "harness/record/recorded.h"
#include "harness/record/validate_record.h"
#include "tests/fake_session.h"
#include "tests/folder.h"

#include <zlib.h>

TEST_FOLDER(folder);
static char plain[64], packed[64];

static void prepare(void)
{
	make_folder();
	snprintf(plain, sizeof(plain), "%s/s.jsonl", folder);
	snprintf(packed, sizeof(packed), "%s/s.jsonl.gz", folder);
}

TestSuite(small_record_packed, .init = prepare, .fini = remove_folder, .timeout = 300);

/* A shell command in the folder, which must succeed. */
static void in_folder(const char *command)
{
	const char *text;

	cr_assert(zero(int, shell(&text, "cd '%s' && %s", folder, command)), "%s: %s", command,
		  text);
}

static const char *name_of(const char *name)
{
	static char path[4][128];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static void pack_text(const char *text)
{
	gzFile f = gzopen(packed, "wb");

	cr_assert(eq(int, gzputs(f, text), (int)strlen(text)), "%s", packed);
	cr_assert(zero(int, gzclose(f)), "%s", packed);
}

static int count_record(const json_t *o, const struct record_scan *scan, void *arg)
{
	(void)o, (void)scan;
	++*(int *)arg;
	return 0;
}

static int read_quietly(const char *path, struct record_scan *scan, int *lines, const char **said)
{
	int err;

	*lines = 0;
	divert_stderr();
	err = record_read(scan, path, count_record, lines);
	*said = diverted_stderr();
	return err;
}

/* ---- lines ------------------------------------------------------------------------------ */

#define FIRST "{\"record\":\"plan\",\"schema\":\"1.0\"}\n"

static void write_plain(const char *text)
{
	FILE *f = fopen(plain, "w");

	cr_assert(le(int, 0, fputs(text, f)), "%s", plain);
	fclose(f);
}

/* Line for line, and byte for byte of what is hashed. */
Test(small_record_packed, lines_are_those_of_the_plain_file)
{
	static const char *const texts[] = { "",
					     FIRST,
					     FIRST "{\"record\":\"x\"}\n",
					     FIRST "{\"record\":\"x\"}",
					     FIRST "{\"record\":\"half",
					     FIRST "garbage\n",
					     "garbage\n",
					     FIRST "garbage\n{\"record\":\"x\"}\n",
					     FIRST "\n\n",
					     "{\"record\":\"plan\",\"schema\":\"3.0\"}\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct record_scan a, b;
		char ha[HASH_TEXT], hb[HASH_TEXT];
		const char *said;
		int err, na, nb;

		write_plain(texts[i]);
		pack_text(texts[i]);
		err = read_quietly(plain, &a, &na, &said);
		cr_assert(eq(int, read_quietly(packed, &b, &nb, &said), err), "%zu", i);
		cr_assert(eq(int, is_one_complaint(said), err != 0), "%zu: %s", i, said);
		cr_assert(eq(int, nb, na), "%zu", i);
		cr_assert(eq(i64, b.line, a.line), "%zu", i);
		cr_assert(eq(i64, b.bytes, a.bytes), "%zu", i);
		cr_assert(eq(int, b.torn, a.torn), "%zu", i);
		hash_text(&a.hash, ha);
		hash_text(&b.hash, hb);
		cr_assert(eq(str, hb, ha), "%zu", i);
		cr_assert(b.packed, "%zu", i);
		cr_assert(not(a.packed), "%zu", i);
	}
}

/* The content says it. */
Test(small_record_packed, names_do_not_count)
{
	struct record_scan scan;
	const char *said;
	int lines;

	write_plain(FIRST);
	pack_text(FIRST);
	in_folder("mv s.jsonl x && mv s.jsonl.gz s.jsonl && mv x s.jsonl.gz");
	cr_assert(zero(int, read_quietly(packed, &scan, &lines, &said)), "%s", said);
	cr_assert(eq(int, lines, 1), "plain");
	cr_assert(not(scan.packed), "plain");
	cr_assert(zero(int, read_quietly(plain, &scan, &lines, &said)), "%s", said);
	cr_assert(eq(int, lines, 1), "packed");
	cr_assert(scan.packed, "packed");
}

Test(small_record_packed, ends_of_names)
{
	cr_assert(record_is_called("a.part", ".part"), "plain");
	cr_assert(record_is_called("a.part.gz", ".part"), "packed");
	cr_assert(not(record_is_called("a.part.gz.x", ".part")), "another");
	cr_assert(not(record_is_called("a.partgz", ".part")), "another");
	cr_assert(not(record_is_called(".part", ".part")), "nothing else");
	cr_assert(not(record_is_called(".gz", ".gz")), "nothing else");
}

/* ---- broken ----------------------------------------------------------------------------- */

/* However little is missing: a torn last line would be forgiven, a broken file is not. */
Test(small_record_packed, cut_off_is_no_torn_line)
{
	static const char *const ends[] = { "", "{\"record\":\"half", "garbage\n" };
	char text[20000];
	struct record_scan scan;
	const char *said;
	int lines, err;

	for (int i = 0; i < 3; i++) {
		FILE *f;
		long n;

		strcpy(text, FIRST);
		for (int k = 0; k < 300; k++)
			sprintf(text + strlen(text), "{\"record\":\"x\",\"i\":%d}\n", k * k * 7919);
		strcat(text, ends[i]);
		pack_text(text);
		f = fopen(packed, "r");
		fseek(f, 0, SEEK_END);
		n = ftell(f);
		fclose(f);
		for (long cut = n - 1; cut > 2; cut -= cut > n - 20 ? 1 : 37) {
			cr_assert(zero(int, truncate(packed, cut)), "%ld", cut);
			err = read_quietly(packed, &scan, &lines, &said);
			cr_assert(eq(int, err, -EBADMSG), "%ld of %ld: %s", cut, n, said);
			cr_assert(not(scan.torn), "%ld of %ld", cut, n);
			cr_assert(is_one_complaint(said), "%ld of %ld: %s", cut, n, said);
			divert_stderr();
			err = record_salvage(&scan, packed, count_record, &lines);
			said = diverted_stderr();
			cr_assert(eq(int, err, -EBADMSG), "salvage %ld: %s", cut, said);
		}
	}
}

/* Each is refused, whatever the bytes unpack to by then. */
Test(small_record_packed, damage_is_refused)
{
	static const char *const damages[] = {
		"printf x >>s.jsonl.gz",			       /* something follows */
		"tail -n 1 s.jsonl >>s.jsonl.gz",		       /* a line that was added */
		"head -c 500 s.jsonl.gz >x; cat x >>s.jsonl.gz; rm x", /* half a member more */
		"printf '\\001\\002' | dd of=s.jsonl.gz bs=1 seek=900 conv=notrunc status=none",
		"printf '\\377' | dd of=s.jsonl.gz bs=1 seek=2 conv=notrunc status=none", /* its
											     kind */
		"n=$(wc -c <s.jsonl.gz); printf '\\001\\002\\003' | dd of=s.jsonl.gz bs=1 "
		"seek=$((n - 7)) conv=notrunc status=none", /* its check sum */
		"head -c 3000 /dev/urandom | gzip >s.jsonl.gz",
		"printf '\\037\\213' >s.jsonl.gz; head -c 500 /dev/urandom >>s.jsonl.gz",
		": >s.jsonl.gz",
		"gzip </dev/null >s.jsonl.gz",
		"gzip <s.jsonl.gz >x; mv x s.jsonl.gz", /* once is enough */
	};
	struct fake_session s = fake_session();

	s.quick = true;
	s.size = "0,10";
	s.depth = "1,64";
	s.processes = 2;
	fake_session_write(&s, plain);
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		struct journal j;
		const char *said;
		int err;

		in_folder("gzip -kf s.jsonl");
		in_folder(damages[i]);
		divert_stderr();
		err = session_read(&j, packed, NULL);
		said = diverted_stderr();
		journal_release(&j);
		cr_assert(lt(int, err, 0), "%s", damages[i]);
		cr_assert(is_one_complaint(said), "%s: %s", damages[i], said);
		cr_assert(ne(ptr, strstr(said, "s.jsonl.gz"), NULL), "%s: %s", damages[i], said);
	}
}

/* A gigabyte of one line is a file of a megabyte. */
Test(small_record_packed, what_unpacks_without_end_is_refused)
{
	static char piece[1 << 20];
	struct record_scan scan;
	const char *said;
	gzFile f = gzopen(packed, "wb1");
	int lines, err;

	memset(piece, 'x', sizeof(piece));
	for (int i = 0; i < 70; i++)
		cr_assert(eq(int, gzwrite(f, piece, sizeof(piece)), sizeof(piece)), "%d", i);
	gzclose(f);
	err = read_quietly(packed, &scan, &lines, &said);
	cr_assert(eq(int, err, -EFBIG), "%s", said);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, ":1: "), NULL), "%s", said);
}

/* ---- sessions --------------------------------------------------------------------------- */

static struct fake_session of_two_sides(void)
{
	struct fake_session s = fake_session();

	s.quick = true;
	s.size = "0,10";
	s.depth = "1,64";
	s.processes = 3;
	s.sides = 2;
	return s;
}

Test(small_record_packed, a_session_is_the_same)
{
	struct fake_session s = of_two_sides();
	struct record_facts fa, fb;
	struct journal a, b;
	size_t n;

	fake_session_write(&s, plain);
	in_folder("gzip -k s.jsonl");
	cr_assert(zero(int, record_check(&fa, plain, NULL)), "plain");
	cr_assert(zero(int, record_check(&fb, packed, NULL)), "packed");
	cr_assert(eq(int, fb.ok, fa.ok), "points");
	cr_assert(eq(int, fb.trailers, fa.trailers), "processes");
	cr_assert(zero(int, session_read(&a, plain, NULL)), "plain");
	cr_assert(zero(int, session_read(&b, packed, NULL)), "packed");
	cr_assert(session_same(&a, &b), "%s, %s", a.session_id, b.session_id);
	cr_assert(eq(str, b.plan_hash, a.plan_hash), "plan");
	cr_assert(eq(int, b.replicates, a.replicates), "processes");
	n = (size_t)(a.replicates * a.plan.n_points);
	cr_assert(lt(sz, 0, n), "points");
	cr_assert(zero(int, memcmp(b.total_ns, a.total_ns, n * sizeof(*a.total_ns))), "times");
	cr_assert(zero(int, memcmp(b.status, a.status, n)), "status");
	journal_release(&a);
	journal_release(&b);
}

Test(small_record_packed, a_side_is_named_behind_gz)
{
	struct fake_session s = of_two_sides();
	struct journal j;
	int side;

	fake_session_write(&s, plain);
	in_folder("gzip s.jsonl");
	for (int k = 0; k < 2; k++) {
		char word[80];
		const struct session_arg arg = { NULL, word, SIDE_ANY };

		snprintf(word, sizeof(word), "%s:%s", packed, journal_side_name(k));
		cr_assert(zero(int, session_read_side(&j, &arg, NULL, &side)), "%s", word);
		cr_assert(eq(int, side, k), "%s", word);
		journal_release(&j);
	}
}

/* Half a session is one: by what the name says. */
Test(small_record_packed, a_part_is_known_by_its_name)
{
	struct fake_session s = of_two_sides();
	struct record_facts facts;

	s.done = 1;
	fake_session_write(&s, plain); /* s.jsonl.part */
	in_folder("gzip -k s.jsonl.part && cp s.jsonl.part.gz half.jsonl.gz");
	cr_assert(zero(int, record_check(&facts, name_of("s.jsonl.part.gz"), NULL)), "part");
	cr_assert(not(facts.incomplete), "under way");
	cr_assert(zero(int, record_check(&facts, name_of("half.jsonl.gz"), NULL)), "half");
	cr_assert(facts.incomplete, "half a record");
}

/* ---- writing ---------------------------------------------------------------------------- */

static void is_refused_and_stays(int err, const char *said)
{
	const char *text;

	cr_assert(eq(int, err, -EINVAL), "%s", said);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, "gunzip"), NULL), "%s", said);
	in_folder("for f in before/*; do cmp $f $(basename $f) || exit 1; done");
	shell(&text, "cd '%s'; ls | grep -v before; ls before", folder);
	cr_assert(eq(int, strlen(text) % 2, 0), "%s", text);
	cr_assert(zero(int, strncmp(text, text + strlen(text) / 2, strlen(text) / 2)),
		  "a file has come or gone: %s", text);
}

/* Whoever adds a line would cut it where the plain file has its end. */
Test(small_record_packed, nothing_is_appended)
{
	struct record_scan scan;
	struct record_file f;
	const char *said;
	int lines, err;

	pack_text(FIRST "{\"record\":\"x\"}\n{\"record\":\"half");
	in_folder("mkdir before && cp s.jsonl.gz before");
	cr_assert(zero(int, read_quietly(packed, &scan, &lines, &said)), "%s", said);
	divert_stderr();
	err = record_append(&f, &scan);
	said = diverted_stderr();
	record_close(&f);
	is_refused_and_stays(err, said);
}

static void resume_is_refused(const char *name)
{
	struct journal j;
	const char *said;
	int err;

	in_folder("rm -rf before && mkdir before && cp s.jsonl* before");
	divert_stderr();
	err = journal_open(&j, name_of(name));
	said = diverted_stderr();
	journal_release(&j);
	is_refused_and_stays(err, said);
}

/* Whichever of its files is compressed, and whatever that is called. */
Test(small_record_packed, no_session_goes_on_in_it)
{
	struct fake_session s = of_two_sides();

	s.done = 1;
	fake_session_write(&s, plain); /* s.jsonl.part */
	in_folder("mv s.jsonl.part before-whole");
	in_folder("gzip -c before-whole >s.jsonl.part");
	resume_is_refused("s.jsonl");
	resume_is_refused("s.jsonl.part");
	in_folder("mv s.jsonl.part s.jsonl.part.gz");
	resume_is_refused("s.jsonl.part.gz");
	in_folder("rm s.jsonl* && gzip -c before-whole | head -c 300 >s.jsonl.part");
	resume_is_refused("s.jsonl");
	in_folder("rm s.jsonl* && gzip -c before-whole >s.jsonl.gz");
	resume_is_refused("s.jsonl.gz");
	in_folder(
		"rm s.jsonl* && cp before-whole s.jsonl.part && echo '{}' | gzip >s.jsonl.visits");
	resume_is_refused("s.jsonl");
	resume_is_refused("s.jsonl.visits");
	in_folder("printf half >>s.jsonl.part"); /* which would be cut off */
	resume_is_refused("s.jsonl");
}

/* What rift writes is plain, so its name must not say something else. */
Test(small_record_packed, no_new_record_is_called_gz)
{
	const char *said;
	int err;

	divert_stderr();
	err = journal_refuse(packed);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EINVAL), "%s", said);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, "--output"), NULL), "%s", said);
	cr_assert(zero(int, journal_refuse(plain)), "%s", plain);
}
