/* page_check.c - is a page of rift report safe to open and to send on? */
#include "tests/page_check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdbool.h>
#include <string.h>

static const char *const tags[] = {
	"!DOCTYPE", "html",	   "head",    "meta",	  "title",   "style", "body", "h1",
	"h2",	    "nav",	   "a",	      "p",	  "section", "ul",    "li",   "pre",
	"code",	    "div",	   "table",   "caption",  "thead",   "tbody", "tr",   "th",
	"td",	    "details",	   "summary", "figure",	  "svg",     "g",     "defs", "path",
	"polygon",  "polyline",	   "rect",    "circle",	  "text",    "tspan", "use",  "filter",
	"feFlood",  "feComposite", "pattern", "clipPath", NULL,
};

static bool is_known_tag(const char *name, size_t n)
{
	for (const char *const *tag = tags; *tag; tag++)
		if (strlen(*tag) == n && !memcmp(*tag, name, n))
			return true;
	return false;
}

/* Attributes of a tag, from behind its name: no handler, and references stay in the page. */
static void attributes_are_safe(const char *at, const char *end)
{
	while (at < end) {
		const char *name = at + strspn(at, " \n\t/"), *quote, *close;
		size_t n = strcspn(name, "= >\n");
		bool quoted;

		if (name >= end || !n)
			return;
		cr_assert(not(n > 2 && !strncasecmp(name, "on", 2)), "handler: %.60s", name);
		at = name + n;
		if (*at != '=')
			continue;
		quote = at + 1;
		quoted = *quote == '"' || *quote == '\'';
		cr_assert(quoted, "no quotes: %.60s", name);
		close = strchr(quote + 1, *quote);
		cr_assert(ne(ptr, (void *)(uintptr_t)close, NULL), "no end: %.60s", name);
		if (n > 3 && !strncmp(name + n - 4, "href", 4))
			cr_assert(eq(chr, quote[1], '#'), "leads out: %.60s", name);
		cr_assert(n != 3 || strncmp(name, "src", 3), "fetches: %.60s", name);
		at = close + 1;
	}
}

static void tag_is_safe(const char *at)
{
	const char *name = at + 1 + (at[1] == '/'), *end = strchr(at, '>');
	size_t n = strcspn(name, " \n\t/>");

	cr_assert(ne(ptr, (void *)(uintptr_t)end, NULL), "no end: %.60s", at);
	cr_assert(is_known_tag(name, n), "%.60s", at);
	if (*name != '!')
		attributes_are_safe(name + n, end);
}

static void text_is_seen(const char *text)
{
	for (const char *c = text; *c; c++) {
		bool seen = *c == '\n' || *c == '\t' || (unsigned char)*c >= ' ';

		cr_assert(seen, "byte %d: %.60s", (int)(c - text), c);
	}
	cr_assert(zero(ptr, strstr(text, "\342\200\256")), "U+202E");
	cr_assert(zero(ptr, strstr(text, "\342\201\246")), "U+2066");
}

void page_is_safe(const char *html)
{
	text_is_seen(html);
	for (const char *at = html; (at = strchr(at, '<')); at++)
		tag_is_safe(at);
	cr_assert(zero(ptr, strstr(html, "@import")), "fetches a style");
	cr_assert(zero(ptr, strstr(strstr(html, "</style>"), "url(h")), "fetches");
}

void markdown_is_safe(const char *text)
{
	text_is_seen(text);
	for (const char *at = text; (at = strchr(at, '<')); at++) {
		bool comment = !strncmp(at, "<!-- -->", 8);
		bool fence = strstr(text, "```sh") && at > strstr(text, "```sh");

		cr_assert(comment || fence, "%.60s", at);
	}
	cr_assert(zero(ptr, strstr(text, "\n# own")), "a line of its own");
	cr_assert(zero(ptr, strstr(text, "\n```\n#")), "the end of a fence");
}
