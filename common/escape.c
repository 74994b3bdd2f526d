/* escape.c - text that is not rift's own, fit for a terminal and for gnuplot. */
#include "common/escape.h"

#include <stdbool.h>
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
