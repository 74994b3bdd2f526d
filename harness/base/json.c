/* json.c - what jansson leaves to its users. */
#include "harness/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_text(const char *text)
{
	json_t *string = text ? json_string(text) : json_null();
	char *ascii;

	if (string)
		return string;
	/* a file name in another encoding: better readable in part than missing */
	ascii = strdup(text);
	CHECK(ascii, "%zu bytes", strlen(text));
	for (char *c = ascii; *c; c++)
		*c = (unsigned char)*c < 0x80 ? *c : '?';
	string = json_string(ascii);
	free(ascii);
	return string;
}

/* jansson escapes what is below a blank; U+007F to U+009F command terminals too. */
void json_write(json_t *object, FILE *out)
{
	char *text;

	CHECK(object, "out of memory for JSON");
	text = json_dumps(object, JSON_INDENT(2));
	CHECK(text, "memory of JSON");
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == 0x7f)
			fputs("\\u007f", out);
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			fprintf(out, "\\u%04x", *++c);
		else
			fputc(*c, out);
	}
	fputc('\n', out);
	free(text);
	json_decref(object);
}
