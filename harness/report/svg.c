/* svg.c - a picture of gnuplot's, fit to stand inside an HTML page. */
#include "harness/report/svg.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/check.h"
#include "common/escape.h"

/* ---- what may be there ------------------------------------------------------------------ */

static const char *const elements[] = {
	"svg",	    "g",	   "defs",    "path",	  "polygon",
	"polyline", "rect",	   "line",    "circle",	  "ellipse",
	"text",	    "tspan",	   "use",     "clipPath", "filter",
	"feFlood",  "feComposite", "pattern", "a",	  "linearGradient",
	"stop",	    NULL,
};

static const char *const attributes[] = {
	"id",	       "class",	     "x",	    "y",	 "x1",	   "x2",
	"y1",	       "y2",	     "cx",	    "cy",	 "r",	   "rx",
	"ry",	       "d",	     "points",	    "width",	 "height", "transform",
	"viewBox",     "xmlns",	     "xmlns:xlink", "fill",	 "color",  "stroke",
	"opacity",     "in",	     "in2",	    "operator",	 "result", "patternUnits",
	"filterUnits", "xlink:href", "xml:space",   "clip-path", "filter", "offset",
	"style",       NULL,
};

/* Groups of them: what begins like this says how something looks. */
static const char *const looks[] = { "font-",  "text-",	    "fill-", "stroke-", "flood-",
				     "shape-", "dominant-", "stop-", "clip-",	NULL };

static bool is_listed(const char *const *list, const char *name, size_t n)
{
	for (; *list; list++)
		if (strlen(*list) == n && !memcmp(*list, name, n))
			return true;
	return false;
}

static bool is_look(const char *name, size_t n)
{
	for (const char *const *look = looks; *look; look++)
		if (n > strlen(*look) && !memcmp(name, *look, strlen(*look)))
			return true;
	return false;
}

/* Within the file, or none at all. */
static bool is_local(const char *value, size_t n)
{
	for (size_t i = 0; i + 4 < n; i++) {
		const char *in = value + i + 4;

		if (strncasecmp(value + i, "url(", 4) != 0)
			continue;
		in += *in == '\'' || *in == '"';
		if (in >= value + n || *in != '#')
			return false;
	}
	return true;
}

/* ---- tags ------------------------------------------------------------------------------- */

struct reader {
	FILE *out;
	const char *at;
	int number;
	int hidden; /* titles and descriptions that are open: what is in them is left out */
	bool refused, begun;
	const char *words; /* of the picture as a whole */
};

static const char *skip_blanks(const char *c)
{
	return c + strspn(c, " \t\r\n");
}

static size_t name_length(const char *c)
{
	size_t n = 0;

	while (isalnum((unsigned char)c[n]) || (c[n] && strchr(":-_", c[n])))
		n++;
	return n;
}

/* An id, or what refers to one, gets the chart's number. */
static void put_value(struct reader *r, const char *name, size_t n, const char *value, size_t size)
{
	const char *url = memmem(value, size, "#", 1);
	bool is_id = n == 2 && !memcmp(name, "id", 2);
	bool refers = is_listed((const char *const[]){ "xlink:href", "filter", "clip-path", "fill",
						       "stroke", NULL },
				name, n);
	bool colour = refers && url == value && n != strlen("xlink:href");

	if (is_id)
		fprintf(r->out, "c%d-", r->number);
	else if (refers && url && !colour) {
		fwrite(value, 1, (size_t)(url - value) + 1, r->out);
		fprintf(r->out, "c%d-", r->number);
		size -= (size_t)(url - value) + 1;
		value = url + 1;
	}
	fwrite(value, 1, size, r->out);
}

static bool is_ascii(const char *value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)value[i] > '~' || (value[i] < ' ' && !strchr("\n\t", value[i])))
			return false;
	return true;
}

static bool may_stand(const char *name, size_t n, const char *value, size_t size)
{
	bool href = n == strlen("xlink:href") && !memcmp(name, "xlink:href", n);

	if (!is_listed(attributes, name, n) && !is_look(name, n))
		return false;
	if (memchr(value, '<', size) || !is_ascii(value, size))
		return false;
	return href ? size && *value == '#' : is_local(value, size);
}

/* One attribute; false at the end of the tag. */
static bool take_attribute(struct reader *r)
{
	const char *name = skip_blanks(r->at), *value, *end;
	size_t n = name_length(name);
	char quote;

	r->at = name;
	if (!n)
		return false;
	value = skip_blanks(name + n);
	value = *value == '=' ? skip_blanks(value + 1) : "";
	quote = *value;
	end = quote == '"' || quote == '\'' ? strchr(value + 1, quote) : NULL;
	if (!end || !may_stand(name, n, value + 1, (size_t)(end - value - 1))) {
		r->refused = true;
		return false;
	}
	fprintf(r->out, " %.*s=%c", (int)n, name, quote);
	put_value(r, name, n, value + 1, (size_t)(end - value - 1));
	fputc(quote, r->out);
	r->at = end + 1;
	return true;
}

/* The picture as a whole is one image, with a name. */
static void put_words(struct reader *r)
{
	fputs(" role=\"img\" aria-label=\"", r->out);
	escape_html(r->out, r->words);
	fputc('"', r->out);
	r->begun = true;
}

static void take_tag(struct reader *r)
{
	bool closes = r->at[1] == '/';
	const char *name = r->at + 1 + closes;
	size_t n = name_length(name);

	r->at = name + n;
	if (is_listed((const char *const[]){ "title", "desc", NULL }, name, n)) {
		r->at += strcspn(r->at, ">");
		r->hidden += closes ? -1 : 1;
		r->refused |= r->hidden < 0 || r->hidden > 1 || *r->at != '>';
		r->at += *r->at == '>';
		return;
	}
	if (r->hidden || !is_listed(elements, name, n)) {
		r->refused = true;
		return;
	}
	fprintf(r->out, "<%s%.*s", closes ? "/" : "", (int)n, name);
	if (!r->begun)
		put_words(r);
	while (take_attribute(r))
		;
	if (*r->at == '/')
		fputc(*r->at++, r->out);
	r->refused |= *r->at != '>';
	if (*r->at == '>')
		fputc(*r->at++, r->out);
}

/* Characters between tags are of records, in part: what would not be seen is shown. Lines stay. */
static void put_characters(FILE *out, const char *text, size_t n)
{
	char *copy = strndup(text, n), *rest = copy, *line;

	CHECK(copy, "memory of a text");
	while ((line = strsep(&rest, "\n"))) {
		const char *shown = line + strspn(line, "\t");

		fwrite(line, 1, (size_t)(shown - line), out);
		escape_unseen(out, shown);
		if (rest)
			fputc('\n', out);
	}
	free(copy);
}

static void take_all(struct reader *r)
{
	while (*r->at && !r->refused) {
		size_t n = strcspn(r->at, "<");

		if (!r->hidden)
			put_characters(r->out, r->at, n);
		r->at += n;
		if (*r->at)
			take_tag(r);
	}
	r->refused |= r->hidden != 0;
}

/* ---- a file ----------------------------------------------------------------------------- */

int svg_inline_text(FILE *out, const char *svg, int number, const char *words)
{
	struct reader r = { .at = strstr(svg, "<svg"), .number = number, .words = words };
	char *text = NULL;
	size_t size = 0;

	if (!r.at)
		return -EINVAL;
	r.out = open_memstream(&text, &size);
	CHECK(r.out, "memory of a picture");
	take_all(&r);
	CHECK(!fclose(r.out), "memory of a picture");
	if (!r.refused)
		fwrite(text, 1, size, out);
	free(text);
	return r.refused ? -EINVAL : 0;
}

int svg_inline(FILE *out, const char *path, int number, const char *words)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t n;
	int err;

	if (!in)
		return -errno;
	n = getdelim(&text, &size, '\0', in);
	fclose(in);
	err = n < 0 ? -EIO : svg_inline_text(out, text, number, words);
	free(text);
	return err;
}
