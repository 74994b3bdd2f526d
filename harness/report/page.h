/*
 * page.h - a page that is written from top to bottom, as one HTML file or as Markdown: headings,
 * texts, lists, tables, commands and charts.
 *
 * Every text goes through common/escape.h here, and nowhere else: who writes a page hands over
 * plain text and no markup. The HTML needs no network, no script and no other file; a chart is SVG
 * inside it. Markdown has no charts and nothing that is folded away.
 *
 *   page_begin(&p, out, PAGE_HTML, "title");
 *   page_section(&p, "Programs");
 *   page_table(&p, "time per step", heads, 3);
 *   page_cell(&p, "%s", name) ... three times for each row
 *   page_end(&p);
 *
 * What was begun before ends where the next thing begins.
 */
#ifndef RIFT_REPORT_PAGE_H
#define RIFT_REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

enum page_format { PAGE_HTML, PAGE_MARKDOWN };

/* How a finding or a cell is coloured, beside what its words say. */
enum page_tone { TONE_PLAIN, TONE_SLOWER, TONE_FASTER, TONE_SAME, TONE_OPEN, TONE_WRONG };

enum page_open { OPEN_NOTHING, OPEN_LIST, OPEN_TABLE, OPEN_COMMANDS };

enum { PAGE_ROWS_BRIEF = 24 }; /* of a table in Markdown; a line says how many more there are */

struct page {
	FILE *out;
	enum page_format format;
	enum page_open open;
	bool in_section;
	int sections;	    /* so far: each has an anchor */
	int columns, cells; /* of the table that is open */
	int charts;	    /* so far: their ids begin with it */
};

void page_begin(struct page *p, FILE *out, enum page_format format, const char *title);

/* The sections as links: where the names of all that follow are known. HTML alone. */
void page_contents(struct page *p, const char *const *headings, int n);
void page_end(struct page *p);

#define PAGE_FORMAT __attribute__((format(printf, 2, 3)))
#define PAGE_TONE_FORMAT __attribute__((format(printf, 3, 4)))

/* The sentence above all else. */
void page_finding(struct page *p, enum page_tone tone, const char *fmt, ...) PAGE_TONE_FORMAT;
/* Small print: devices, dates, n. */
void page_small(struct page *p, const char *fmt, ...) PAGE_FORMAT;

void page_section(struct page *p, const char *heading);
void page_text(struct page *p, const char *fmt, ...) PAGE_FORMAT;
void page_item(struct page *p, const char *fmt, ...) PAGE_FORMAT;    /* of a list */
void page_command(struct page *p, const char *fmt, ...) PAGE_FORMAT; /* of a shell */

/* A table of so many columns; a row is so many cells. The first cell of a row is its head. */
void page_table(struct page *p, const char *caption, const char *const *heads, int columns);
void page_cell(struct page *p, const char *fmt, ...) PAGE_FORMAT;
void page_cell_of(struct page *p, enum page_tone tone, const char *fmt, ...) PAGE_TONE_FORMAT;
/* A name, and what it is: small below it, in Markdown behind it. */
void page_cell_named(struct page *p, const char *name, const char *what);

/* Lines as a terminal shows them, folded away below the summary. HTML alone. */
void page_fold(struct page *p, const char *summary, const char *lines);

/*
 * An SVG file of gnuplot's as a figure; says: what it shows, in words. HTML alone. A file that is
 * not there, or has what an inline picture must not have, becomes a line that says so.
 */
void page_chart(struct page *p, const char *svg_path, const char *says);

#endif
