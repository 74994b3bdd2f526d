/* json.c - what jansson leaves to its users. */
#include "harness/json.h"

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

void json_write(json_t *object, FILE *out)
{
	CHECK(object, "out of memory for JSON");
	json_dumpf(object, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(object);
}
