/* page.c - a page that is written from top to bottom. */
#include "harness/report/page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/escape.h"
#include "harness/base/command.h"
#include "harness/report/style.h"
#include "harness/report/svg.h"

static const char *const tone_classes[] = {
	[TONE_PLAIN] = "",    [TONE_SLOWER] = "slower", [TONE_FASTER] = "faster",
	[TONE_SAME] = "same", [TONE_OPEN] = "open",	[TONE_WRONG] = "wrong",
};

static bool is_html(const struct page *p)
{
	return p->format == PAGE_HTML;
}

/* ---- texts ------------------------------------------------------------------------------ */

static void put(struct page *p, const char *text)
{
	(is_html(p) ? escape_html : escape_markdown)(p->out, text);
}

static void put_list(struct page *p, const char *fmt, va_list args)
{
	char *text;

	CHECK(vasprintf(&text, fmt, args) >= 0, "memory of a text");
	put(p, text);
	free(text);
}

/* ---- what is open ----------------------------------------------------------------------- */

static void end_table(struct page *p)
{
	int more = p->columns ? p->cells / p->columns - PAGE_ROWS_BRIEF : 0;

	if (is_html(p))
		fputs("</tbody></table></div>\n", p->out);
	else if (more > 0)
		fprintf(p->out, "\nand %d more; the whole report has them\n", more);
}

static void end_open(struct page *p)
{
	switch (p->open) {
	case OPEN_NOTHING:
		return;
	case OPEN_LIST:
		fputs(is_html(p) ? "</ul>\n" : "", p->out);
		break;
	case OPEN_TABLE:
		end_table(p);
		break;
	case OPEN_COMMANDS:
		fputs(is_html(p) ? "</code></pre>\n" : "```\n", p->out);
		break;
	}
	p->open = OPEN_NOTHING;
}

/* True: it was not open. In Markdown a blank line parts it from what is above. */
static bool begin_open(struct page *p, enum page_open what)
{
	if (p->open == what && what != OPEN_TABLE)
		return false;
	end_open(p);
	p->open = what;
	if (!is_html(p))
		fputc('\n', p->out);
	return true;
}

/* ---- head and end ----------------------------------------------------------------------- */

void page_begin(struct page *p, FILE *out, enum page_format format, const char *title)
{
	*p = (struct page){ .out = out, .format = format };
	if (!is_html(p))
		return;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n<title>",
	      out);
	put(p, title);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", page_style);
	put(p, title);
	fputs("</h1>\n", out);
}

void page_contents(struct page *p, const char *const *headings, int n)
{
	if (!is_html(p))
		return;
	fputs("<nav aria-label=\"sections\">", p->out);
	for (int i = 0; i < n; i++) {
		fprintf(p->out, "<a href=\"#s%d\">", p->sections + i + 1);
		put(p, headings[i]);
		fputs("</a>", p->out);
	}
	fputs("</nav>\n", p->out);
}

static void end_section(struct page *p)
{
	end_open(p);
	if (p->in_section && is_html(p))
		fputs("</section>\n", p->out);
	p->in_section = false;
}

void page_end(struct page *p)
{
	end_section(p);
	if (is_html(p))
		fprintf(p->out, "<p class=\"small\">Written by rift %s.</p>\n</body>\n</html>\n",
			RIFT_VERSION);
}

/* ---- parts ------------------------------------------------------------------------------ */

/* A paragraph of that class. */
static void put_paragraph(struct page *p, const char *class, const char *fmt, va_list args)
{
	bool strong = !strncmp(class, "finding", 7), small = !strcmp(class, "small");

	end_open(p);
	if (is_html(p))
		fprintf(p->out, *class ? "<p class=\"%s\">" : "<p>", class);
	else
		fputs(strong ? "**" : small ? "\n*" : "\n", p->out);
	put_list(p, fmt, args);
	fputs(is_html(p) ? "</p>\n" : strong ? "**\n" : small ? "*\n" : "\n", p->out);
}

void page_finding(struct page *p, enum page_tone tone, const char *fmt, ...)
{
	char class[32];
	va_list args;

	snprintf(class, sizeof(class), "finding %s", tone_classes[tone]);
	va_start(args, fmt);
	put_paragraph(p, class, fmt, args);
	va_end(args);
}

void page_small(struct page *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_paragraph(p, "small", fmt, args);
	va_end(args);
}

void page_text(struct page *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_paragraph(p, "", fmt, args);
	va_end(args);
}

void page_section(struct page *p, const char *heading)
{
	end_section(p);
	p->in_section = true;
	p->sections++;
	if (is_html(p))
		fprintf(p->out, "<section id=\"s%d\">\n<h2>", p->sections);
	else
		fputs("\n**", p->out);
	put(p, heading);
	fputs(is_html(p) ? "</h2>\n" : "**\n", p->out);
}

void page_item(struct page *p, const char *fmt, ...)
{
	va_list args;

	if (begin_open(p, OPEN_LIST) && is_html(p))
		fputs("<ul>\n", p->out);
	fputs(is_html(p) ? "<li>" : "* ", p->out);
	va_start(args, fmt);
	put_list(p, fmt, args);
	va_end(args);
	fputs(is_html(p) ? "</li>\n" : "\n", p->out);
}

/* In a fence of Markdown only the fence itself has a meaning: no line begins with one. */
void page_command(struct page *p, const char *fmt, ...)
{
	va_list args;
	char *text;

	if (begin_open(p, OPEN_COMMANDS))
		fputs(is_html(p) ? "<pre><code>" : "```sh\n", p->out);
	va_start(args, fmt);
	CHECK(vasprintf(&text, fmt, args) >= 0, "memory of a command");
	va_end(args);
	if (!is_html(p) && !strncmp(text + strspn(text, " "), "```", 3))
		fputc('\\', p->out);
	(is_html(p) ? escape_html : escape_unseen)(p->out, text);
	free(text);
	fputc('\n', p->out);
}

/* ---- tables ----------------------------------------------------------------------------- */

void page_table(struct page *p, const char *caption, const char *const *heads, int columns)
{
	begin_open(p, OPEN_TABLE);
	p->columns = columns;
	p->cells = 0;
	if (is_html(p)) {
		fputs("<div class=\"wide\"><table><caption>", p->out);
		put(p, caption);
		fputs("</caption><thead><tr>", p->out);
	}
	for (int i = 0; i < columns; i++) {
		fputs(is_html(p) ? "<th scope=\"col\">" : "| ", p->out);
		put(p, heads[i]);
		fputs(is_html(p) ? "</th>" : " ", p->out);
	}
	if (is_html(p)) {
		fputs("</tr></thead><tbody>\n", p->out);
		return;
	}
	fputs("|\n", p->out);
	for (int i = 0; i < columns; i++)
		fputs("|---", p->out);
	fputs("|\n", p->out);
}

/* False: Markdown leaves it out. */
static bool begin_cell(struct page *p, enum page_tone tone)
{
	int column = p->cells % p->columns;

	if (!is_html(p)) {
		if (p->cells / p->columns >= PAGE_ROWS_BRIEF)
			return false;
		fputs("| ", p->out);
		return true;
	}
	fputs(column ? "" : "<tr>", p->out);
	fputs(column ? "<td" : "<th scope=\"row\"", p->out);
	if (tone != TONE_PLAIN)
		fprintf(p->out, " class=\"%s\"", tone_classes[tone]);
	fputc('>', p->out);
	return true;
}

static void end_cell(struct page *p)
{
	int column = p->cells % p->columns;
	bool ends = column == p->columns - 1;

	if (is_html(p)) {
		fputs(column ? "</td>" : "</th>", p->out);
		fputs(ends ? "</tr>\n" : "", p->out);
	} else if (p->cells / p->columns < PAGE_ROWS_BRIEF) {
		fputs(ends ? " |\n" : " ", p->out);
	}
	p->cells++;
}

static void put_cell(struct page *p, enum page_tone tone, const char *fmt, va_list args)
{
	if (begin_cell(p, tone))
		put_list(p, fmt, args);
	end_cell(p);
}

void page_cell(struct page *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_cell(p, TONE_PLAIN, fmt, args);
	va_end(args);
}

void page_cell_of(struct page *p, enum page_tone tone, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_cell(p, tone, fmt, args);
	va_end(args);
}

void page_cell_named(struct page *p, const char *name, const char *what)
{
	if (begin_cell(p, TONE_PLAIN)) {
		put(p, name);
		if (*what) {
			fputs(is_html(p) ? "<div class=\"small\">" : ": ", p->out);
			put(p, what);
			fputs(is_html(p) ? "</div>" : "", p->out);
		}
	}
	end_cell(p);
}

/* ---- HTML alone ------------------------------------------------------------------------- */

void page_fold(struct page *p, const char *summary, const char *lines)
{
	char *copy = strdup(lines), *rest = copy, *line;

	CHECK(copy, "memory of lines");
	end_open(p);
	if (is_html(p)) {
		fputs("<details><summary>", p->out);
		put(p, summary);
		fputs("</summary><pre>", p->out);
		while ((line = strsep(&rest, "\n"))) {
			put(p, line);
			fputc('\n', p->out);
		}
		fputs("</pre></details>\n", p->out);
	}
	free(copy);
}

void page_chart(struct page *p, const char *svg_path, const char *says)
{
	end_open(p);
	if (!is_html(p))
		return;
	fputs("<figure>", p->out);
	if (svg_inline(p->out, svg_path, ++p->charts, says))
		fputs("A chart is missing here: it was not drawn.", p->out);
	fputs("</figure>\n", p->out);
}
