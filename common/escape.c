/* escape.c - text that is not rift's own, fit for a terminal, gnuplot, HTML and Markdown. */
#include "common/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character that begins here, 2 to 4; 0: there is none, or of one byte. */
static size_t character(const unsigned char *c, const unsigned char *end)
{
	size_t n = *c >= 0xf0 && *c < 0xf5 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc2 ? 2 : 0;

	if (!n || *c >= 0xf5 || (size_t)(end - c) < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

char *escape_controls(char *out, const char *text, size_t n)
{
	const unsigned char *c = (const unsigned char *)text, *end = c + n;

	while (c < end) {
		size_t bytes = character(c, end);

		if (bytes == 2 && *c == 0xc2 && c[1] < 0xa0) {
			out += sprintf(out, "\\u%04x", c[1]);
			c += bytes;
		} else if (bytes) {
			out = mempcpy(out, c, bytes);
			c += bytes;
		} else if (*c == '\n' || *c == '\t') {
			out += sprintf(out, "\\%c", *c++ == '\n' ? 'n' : 't');
		} else if (*c < 0x20 || *c == 0x7f || (*c >= 0x80 && *c < 0xa0)) {
			out += sprintf(out, "\\x%02x", *c++);
		} else {
			*out++ = (char)*c++;
		}
	}
	return out;
}

void escape_gnuplot(FILE *out, const char *text)
{
	const unsigned char *c = (const unsigned char *)text, *end = c + strlen(text);

	fputc('\'', out);
	for (size_t bytes; c < end; c += bytes) {
		bool upper_control = *c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;

		bytes = *c < 0x80 ? 1 : character(c, end);
		if (*c < 0x20 || *c == 0x7f || !bytes || upper_control)
			fputc('?', out);
		else if (*c == '\'')
			fputs("'.\"\\047\".'", out);
		else
			fwrite(c, 1, bytes, out);
		bytes += !bytes;
	}
	fputc('\'', out);
}

/* A quote ends the quotes, stands behind a backslash, and begins them again. */
void escape_shell(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
}

/* ---- HTML and Markdown ------------------------------------------------------------------ */

/* The character of n bytes, 1 to 4; above what Unicode has where it is spelled too long. */
static uint32_t code_of(const unsigned char *c, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code = n == 1 ? *c : *c & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (c[i] & 0x3f);
	return code < least[n] ? UINT32_MAX : code;
}

struct range {
	uint32_t first, last;
};

/* Not seen, or not where they are: controls, directions, no width, tags, surrogates, no characters.
 */
static bool is_hidden(uint32_t code)
{
	static const struct range hidden[] = {
		{ 0, 0x1f },	    { 0x7f, 0x9f },	  { 0xad, 0xad },
		{ 0x61c, 0x61c },   { 0x180e, 0x180e },	  { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f },	  { 0xd800, 0xdfff },
		{ 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },	  { 0xfff9, 0xfffb },
		{ 0xfffe, 0xffff }, { 0xe0000, 0xe0fff }, { 0x10fffe, UINT32_MAX },
	};
	bool is = false;

	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		is |= code >= hidden[i].first && code <= hidden[i].last;
	return is;
}

/* What stands for a character; NULL: itself. */
typedef const char *spelling(uint32_t code, const unsigned char *next);

static const char *html_spelling(uint32_t code, const unsigned char *next)
{
	(void)next;
	switch (code) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* An empty comment parts a sign from the name that it would make a link of. */
static const char *markdown_spelling(uint32_t code, const unsigned char *next)
{
	static char plain[3] = "\\";
	bool joins = *next > ' ';

	if (code == '@')
		return joins ? "@<!-- -->" : NULL;
	if (code == '#')
		return joins ? "#<!-- -->" : NULL;
	if (code == ':' && next[0] == '/' && next[1] == '/')
		return ":<!-- -->";
	if (code == '&' || code == '<' || code == '>')
		return html_spelling(code, next);
	if (code > 0x7f || !strchr("\\`*_[]|~$", (int)code))
		return NULL;
	plain[1] = (char)code;
	return plain;
}

static const char *no_spelling(uint32_t code, const unsigned char *next)
{
	(void)code, (void)next;
	return NULL;
}

static void escape_as(FILE *out, const char *text, spelling *spell)
{
	const unsigned char *c = (const unsigned char *)text, *end = c + strlen(text);
	/* a backslash of an escape is one of the text's in Markdown */
	const char *slash = spell('\\', end) ? "\\\\" : "\\";

	for (size_t bytes; c < end; c += bytes) {
		size_t n = *c < 0x80 ? 1 : character(c, end);
		uint32_t code = n ? code_of(c, n) : UINT32_MAX;
		const char *other = NULL;

		bytes = n && code != UINT32_MAX ? n : 1;
		if (code == UINT32_MAX)
			fprintf(out, "%sx%02x", slash, *c);
		else if (code == '\n' || code == '\t')
			fprintf(out, "%s%c", slash, code == '\n' ? 'n' : 't');
		else if (is_hidden(code))
			fprintf(out, code < 0x80 ? "%sx%02x" : "%su%04x", slash, code);
		else if ((other = spell(code, c + bytes)))
			fputs(other, out);
		else
			fwrite(c, 1, bytes, out);
	}
}

void escape_html(FILE *out, const char *text)
{
	escape_as(out, text, html_spelling);
}

void escape_markdown(FILE *out, const char *text)
{
	escape_as(out, text, markdown_spelling);
}

void escape_unseen(FILE *out, const char *text)
{
	escape_as(out, text, no_spelling);
}
