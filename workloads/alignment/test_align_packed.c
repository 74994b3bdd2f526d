/* test_align_packed.c - transfer=packed: the same answers from letters of two bits, and what two
 * bits do not hold. */
/* sanitizers: races seen elsewhere */
#include "tests/plain.h"
#include "tests/folder.h"
#include "tests/rows.h"
#include "common/check.h"
#include "workloads/alignment/test_batch.h"

#include <errno.h>

TEST_FOLDER(folder);

TestSuite(small_align_packed, .init = make_folder, .fini = remove_folder, .timeout = 300);

static struct alignment_opts packed_opts(void)
{
	struct alignment_opts o = default_opts();

	o.transfer = ALIGN_PACKED;
	return o;
}

/* Ends on either side of 8 and 32 letters, none at all, one too long, and lower case. */
static void add_lengths(struct run *r)
{
	static const uint8_t lengths[] = { 0, 1, 7, 8, 9, 31, 32, 33, 64, 65 };
	static char lower[] = "acgtacgtgattaca", nothing[ALIGN_LENGTH_MAX + 1];
	char q[80], t[80];
	uint64_t state = 12;

	for (size_t i = 0; i < sizeof(lengths); i++) {
		random_letters(&state, q, sizeof(q), 4);
		memcpy(t, q, sizeof(t));
		random_letters(&state, t + 20, 6, 4);
		add(r, q, lengths[i], t + 3, lengths[(i + 3) % sizeof(lengths)]);
	}
	add(r, lower, sizeof(lower) - 1, "ACGTCGTGATACA", 13);
	if (r->light)
		add(r, nothing, sizeof(nothing), "ACGT", 4);
}

static void expect_right(struct run *r, int steps, const char *what)
{
	cr_assert(run_check(r, steps).passed, "%s: %s", what, run_check(r, steps).worst);
	for (int64_t i = 0; i < 10; i++)
		expect_edlib(r, i, what);
}

Test(small_align_packed, every_kernel)
{
	struct run *r;

	need_device();
	r = run_new(packed_opts());
	r->light = true;
	for (int c = 0; c < CHOICES; c++)
		if (is_of_few(c)) {
			add_lengths(r);
			run_setup(r, &all_kernels[c]);
			run_steps(r, 1);
			expect_right(r, 1, kernel_names[c]);
			cr_assert(r->out.result[11].status == ALIGN_LONG_SEQUENCE, "too long");
			run_clear(r);
		}
	run_end(r);
}

/* In one launch from mapped memory; copied, in streams and a graph. */
Test(small_align_packed, every_way)
{
	need_device();
	for (int way = 0; way < 3; way++) {
		struct alignment_opts o = packed_opts();
		struct run *r;

		o.host = way == 0 ? ALIGN_MAPPED : ALIGN_PINNED;
		o.streams = way == 2 ? 3 : 1;
		r = run_new(o);
		add_lengths(r);
		run_setup(r, NULL);
		cr_assert(r->s.slot[0].one, "way %d", way);
		run_graph(r, 1, 2);
		expect_right(r, 2, "ways");
		run_end(r);
	}
}

/* 2 bits a letter, each sequence in whole groups of 32. */
Test(small_align_packed, a_quarter_of_the_bytes)
{
	struct report report = { .n = 0 };
	struct run *r;

	need_device();
	r = run_new(packed_opts());
	for (int i = 0; i < 3; i++)
		add_text(r, "ACGTACGTACGTACGTACGTACGTACGTACGTA", "ACGT");
	run_setup(r, NULL);
	cr_assert(r->s.slot[0].blob_bytes == 3 * (16 + 4 + 16 + 8), "%zu bytes",
		  r->s.slot[0].blob_bytes);
	run_steps(r, 1);
	cr_assert(!alignment_report(&r->o, &r->s, &report), "report");
	has_row(&report, "packing at setup, by one host thread", NULL);
	run_end(r);
}

/* ---- what two bits do not hold ----------------------------------------------------------- */

/* As alignment_pack_letters() has it: 0, or the error. */
static int pack_with(const struct alignment_opts *o, char letter, size_t at)
{
	struct alignment_batch b;
	struct alignment_pair pair;
	uint8_t packed[32];
	char q[40];
	int err;

	memset(&b, 0, sizeof(b));
	memset(q, 'G', sizeof(q));
	q[at] = letter;
	cr_assert(!alignment_batch_add(&b, (const uint8_t *)"ACGT", 4, (const uint8_t *)q,
				       sizeof(q), NULL, NULL),
		  "add");
	pair = b.pair[0];
	complain_silence(true);
	err = alignment_pack_letters(o, &b, 0, &pair, 1, packed);
	complain_silence(false);
	alignment_batch_release(&b);
	return err;
}

Test(small_align_packed, each_byte_in_each_place)
{
	struct alignment_opts o = packed_opts();

	for (o.letters = ALIGN_FOLD; o.letters <= ALIGN_EXACT; o.letters++)
		for (int byte = 0; byte < 256; byte++) {
			bool upper = byte && strchr("ACGT", byte),
			     lower = byte && strchr("acgt", byte);
			bool fine = upper || (lower && o.letters == ALIGN_FOLD);

			for (size_t at = (size_t)byte % 4; at < 40; at += 5)
				cr_assert(pack_with(&o, (char)byte, at) == (fine ? 0 : -EINVAL),
					  "letters %d: byte %d at %zu", o.letters, byte, at);
		}
}

Test(small_align_packed, refused_in_one_line)
{
	need_device();
	shell(NULL, "printf '>q1\\nACGT\\n>t1\\nACGT\\n>q2\\nAC\\n>t2\\nACGTACGTAN\\n' >%s/n.fa",
	      folder);
	refused(3, "transfer=packed: target:9 of pair 1 (t2) is 'N', but 2 bits hold",
		"run alignment input=%s/n.fa transfer=packed", folder);
	refused(3, "only with resident=no", "run alignment transfer=packed resident=yes");
}
