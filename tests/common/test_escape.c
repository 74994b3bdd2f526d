/*
 * test_escape.c - common/escape.h: texts that gnuplot reads as they are. Those for terminals are in
 * tests/harness/cmd/test_cli_escape.c.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/escape.h"

#include "common/philox.h"
#include "tests/need_gnuplot.h"

TestSuite(small_escape_gnuplot, .timeout = 60);

static char *quoted(const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	escape_gnuplot(f, text);
	fclose(f);
	return out;
}

Test(small_escape_gnuplot, every_quote_is_a_string_of_its_own)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "''" },
		{ "plain, 5 \302\265s", "'plain, 5 \302\265s'" },
		{ "'", "''.\"\\047\".''" },
		{ "a''b", "'a'.\"\\047\".''.\"\\047\".'b'" },
		{ "\\n `id` @a \"", "'\\n `id` @a \"'" },
		{ "a\033b\n\177", "'a?b?"
				  "?'" },
		/* U+009B, a byte that is no UTF-8, a character that is cut off */
		{ "a\302\233b", "'a?b'" },
		{ "a\377b", "'a?b'" },
		{ "a\342\200", "'a?"
			       "?'" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *got = quoted(rows[i].text);

		cr_expect(eq(str, got, (char *)rows[i].want), "%zu: %s", i, got);
		free(got);
	}
}

/* Letters that mean something to gnuplot, to a shell or to a format; quotes come most. */
static void draw(unsigned seed, char text[48])
{
	static const char letters[] = "''''\"\"\\\\``@@a%{}_^$#;!~&<> ,.";
	int n = (int)(philox4x32(seed, 0, 0, 0, 7).word[0] % 40);

	for (int i = 0; i < n; i++)
		text[i] = letters[philox4x32(seed, 1 + (unsigned)i, 0, 0, 7).word[0] %
				  (sizeof(letters) - 1)];
	text[n] = '\0';
}

/* Where `a` is a string, @a outside of quotes is what that holds. */
Test(small_escape_gnuplot, gnuplot_reads_every_text_as_it_is)
{
	enum { TEXTS = 2000 };
	char script[] = "/tmp/rift_escape_gnuplot_XXXXXX", text[48], line[56];
	FILE *f;
	const char *said;

	NEED_GNUPLOT();
	f = fdopen(mkstemp(script), "w");
	fputs("a = 'wrong'\nset print '-'\n", f);
	for (unsigned i = 0; i < TEXTS; i++) {
		draw(i, text);
		fputs("t = ", f);
		escape_gnuplot(f, text);
		fputs("\nprint '>'.t.'<'\n", f);
	}
	fclose(f);
	cr_assert(zero(int, shell(&said, "gnuplot --default-settings %s 2>&1", script)), "%s",
		  said);
	for (unsigned i = 0; i < TEXTS; i++) {
		draw(i, text);
		snprintf(line, sizeof(line), ">%s<\n", text);
		cr_assert(zero(int, strncmp(said, line, strlen(line))), "%u: %s, not %.60s", i,
			  line, said);
		said += strlen(line);
	}
	remove(script);
}
