/* failure.c - why a point has no result. */
#include "harness/session/failure.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "harness/json.h"

json_t *failure_of_hook(int code, const char *text)
{
	return json_pack("{s:i, s:o, s:o, s:o}", "code", code, "name",
			 json_text(*text ? text : strerror(code)), "call", json_null(), "file_line",
			 json_null());
}

/* "FILE:LINE: FUNC: EXPR failed: MESSAGE" of common/check.h; false where it is something else. */
static bool take_apart(const char *line, json_t *o)
{
	const char *failed = strstr(line, " failed: ");
	int file = 0, func = 0;
	char place[160], call[240];

	if (sscanf(line, "%*[^: ]:%*[0-9]%n: %*[^: ]: %n", &file, &func) < 0 || !file || !func ||
	    !failed || failed < line + func)
		return false;
	snprintf(place, sizeof(place), "%.*s", file, line);
	snprintf(call, sizeof(call), "%.*s", (int)(failed - line) - func, line + func);
	json_object_set_new(o, "name", json_text(failed + strlen(" failed: ")));
	json_object_set_new(o, "call", json_text(call));
	json_object_set_new(o, "file_line", json_text(place));
	return true;
}

json_t *failure_of_worker(const struct child *c, bool hung)
{
	json_t *o = json_object();
	char how[80];

	child_describe(c, how, sizeof(how));
	json_object_set_new(o, "code",
			    json_integer(WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status)
								: WEXITSTATUS(c->status)));
	if (hung) {
		json_object_set_new(o, "name", json_string("no answer before its deadline"));
	} else if (!take_apart(c->last_error, o)) {
		json_object_set_new(o, "name", json_text(*c->last_error ? c->last_error : how));
		json_object_set_new(o, "call", json_null());
		json_object_set_new(o, "file_line", json_null());
	}
	json_object_set_new(o, "ended", json_string(how));
	return o;
}
