/*
 * test_escape.c - common/escape.h: texts that gnuplot reads as they are, and those for terminals,
 * shells and pages by value. Those that rift prints are in tests/harness/cmd/test_cli_escape.c.
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
		{ "\037 \302\200\302\240", "'? ?\302\240'" },
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

/* ---- terminals, HTML and Markdown ---------------------------------------------------------- */

TestSuite(small_escape, .timeout = 60);

static char *written(void (*escape)(FILE *, const char *), const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	escape(f, text);
	fclose(f);
	return out;
}

static void is_written(void (*escape)(FILE *, const char *), const char *text, const char *want)
{
	char *got = written(escape, text);

	cr_expect(eq(str, got, (char *)(uintptr_t)want));
	free(got);
}

Test(small_escape, controls)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "a b~", "a b~" },
		{ "\n\t", "\\n\\t" },
		{ "\001\037 \177", "\\x01\\x1f \\x7f" },
		{ "\302\200\302\237\302\240\303\277", "\\u0080\\u009f\302\240\303\277" },
		{ "\177\200\237\240\377", "\\x7f\\x80\\x9f\240\377" },
		{ "\342\202\254\360\237\230\200\364\217\277\277",
		  "\342\202\254\360\237\230\200\364\217\277\277" },
		/* cut off, and what begins no character */
		{ "\342\202", "\342\\x82" },
		{ "\365\200\200\200", "\365\\x80\\x80\\x80" },
		{ "\301\200", "\301\\x80" },
		{ "\342\202a", "\342\\x82a" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char got[128];

		*escape_controls(got, rows[i].text, strlen(rows[i].text)) = '\0';
		cr_expect(eq(str, got, (char *)(uintptr_t)rows[i].want), "row %zu", i);
	}
}

Test(small_escape, pages)
{
	static const struct {
		const char *text, *html, *markdown, *unseen;
	} rows[] = {
		{ "<a b=\"c\">&'", "&lt;a b=&quot;c&quot;&gt;&amp;&#39;", "&lt;a b=\"c\"&gt;&amp;'",
		  "<a b=\"c\">&'" },
		{ "@me @ #1 #", "@me @ #1 #", "@<!-- -->me @ #<!-- -->1 #", "@me @ #1 #" },
		{ "a://b :/c :d/ a:", "a://b :/c :d/ a:", "a:<!-- -->//b :/c :d/ a:",
		  "a://b :/c :d/ a:" },
		{ "\\`*_[]|~$!", "\\`*_[]|~$!", "\\\\\\`\\*\\_\\[\\]\\|\\~\\$!", "\\`*_[]|~$!" },
		{ "\n\t\033\177", "\\n\\t\\x1b\\x7f", "\\\\n\\\\t\\\\x1b\\\\x7f",
		  "\\n\\t\\x1b\\x7f" },
		/* too long a spelling of '/', of U+07FF and of U+FFFF; no UTF-8 */
		{ "\300\257", "\\xc0\\xaf", "\\\\xc0\\\\xaf", "\\xc0\\xaf" },
		{ "\340\237\277", "\\xe0\\x9f\\xbf", "\\\\xe0\\\\x9f\\\\xbf", "\\xe0\\x9f\\xbf" },
		{ "\360\217\277\277", "\\xf0\\x8f\\xbf\\xbf", "\\\\xf0\\\\x8f\\\\xbf\\\\xbf",
		  "\\xf0\\x8f\\xbf\\xbf" },
		{ "\340\240\200\200", "\340\240\200\\x80", "\340\240\200\\\\x80",
		  "\340\240\200\\x80" },
		{ "\303\244\377", "\303\244\\xff", "\303\244\\\\xff", "\303\244\\xff" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		is_written(escape_html, rows[i].text, rows[i].html);
		is_written(escape_markdown, rows[i].text, rows[i].markdown);
		is_written(escape_unseen, rows[i].text, rows[i].unseen);
	}
}

Test(small_escape, words_of_a_shell)
{
	is_written(escape_shell, "", "''");
	is_written(escape_shell, "a 'b' $c\n", "'a '\\''b'\\'' $c\n'");
}

static void spell(uint32_t code, char out[5])
{
	int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	memset(out, 0, 5);
	for (int i = n - 1; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(n == 1 ? code : (0xf00u >> n & 0xffu) | code);
}

static void is_shown(uint32_t code, bool shown)
{
	char text[5], want[16];

	spell(code, text);
	snprintf(want, sizeof(want), code < 0x80 ? "\\x%02x" : "\\u%04x", code);
	is_written(escape_unseen, text, shown ? text : want);
}

/* Unicode's characters of Cc, Cf, Zl, Zp, variation selectors, surrogates and no characters: the
 * first and the last of each row is hidden, and what is beside it is not. */
Test(small_escape, characters_that_are_not_seen)
{
	static const uint32_t rows[][2] = {
		{ 0x7f, 0x9f },	      { 0xad, 0xad },	  { 0x61c, 0x61c },   { 0x180e, 0x180e },
		{ 0x200b, 0x200f },   { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xd800, 0xdfff },
		{ 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xfffe, 0xffff },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		is_shown(rows[i][0] - 1, true);
		is_shown(rows[i][0], false);
		is_shown(rows[i][1], false);
		is_shown(rows[i][1] + 1, true);
	}
	is_shown(0x1f, false);
	is_shown(0x20, true);
	is_shown(0x10fffd, true);
	is_shown(0x10fffe, false);
	is_shown(0x10ffff, false);
}
