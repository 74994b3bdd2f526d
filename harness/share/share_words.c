/* share_words.c - see share_words.h. */
#include "harness/share/share_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/json.h"

struct text share_number(double value)
{
	struct text t = { "-" };

	if (isfinite(value))
		snprintf(t.s, sizeof(t.s),
			 value < 9.995	 ? "%.2f"
			 : value < 99.95 ? "%.1f"
					 : "%.0f",
			 value);
	return t;
}

struct text share_range(const struct interval *i)
{
	struct text t = { "" };

	if (i->known)
		snprintf(t.s, sizeof(t.s), "%.20s-%.20s", share_number(i->lo).s,
			 share_number(i->hi).s);
	return t;
}

/* ---- harm ------------------------------------------------------------------------------- */

/* Over 1.1 of the time before, in the window in which the first client did it, or after. */
static const double hurt_over = 1.1;

double share_times_as_long(const json_t *client, const char *window)
{
	double before = json_get_number(client, "before"), now = json_get_number(client, window);

	return now > 0 ? before / now : INFINITY;
}

const char *share_harm(const json_t *client)
{
	const char *lost = json_get_text(client, "lost");

	if (*lost)
		return "lost";
	if (!json_is_true(json_object_get(client, "passed")))
		return "wrong results";
	return share_times_as_long(client, "during") > hurt_over ? "slower meanwhile" : "unharmed";
}
