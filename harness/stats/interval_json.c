/* interval_json.c - see interval_json.h. */
#include "harness/stats/interval_json.h"

#include <math.h>

#include "harness/base/json.h"

json_t *interval_json(const struct interval *i)
{
	return json_pack("{s:o, s:o, s:o, s:i}", "value", json_number(i->value), "lo",
			 json_number(i->known ? i->lo : NAN), "hi",
			 json_number(i->known ? i->hi : NAN), "n", i->n);
}
