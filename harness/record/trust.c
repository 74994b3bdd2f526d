/* trust.c - may the results of a session be believed? */
#include "harness/record/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/plural.h"
#include "harness/record/journal_impl.h"
#include "harness/stats/bootstrap.h"
#include "harness/stats/stats.h"

/* What the processes of a side say of a point. */
struct said {
	struct sample of; /* their values, ns */
	int noisy;
};

/* -EINVAL: no process has a value. */
static int said_of(struct said *out, const struct journal *j, int side, int point)
{
	int processes = j->plan.design.processes, n = 0, err;
	double *value = journal_zeroed((size_t)processes, sizeof(*value));

	out->noisy = 0;
	for (int i = 0; i < processes; i++) {
		int at = (side * processes + i) * j->plan.n_points + point;

		if (j->status[at] != POINT_OK || !isfinite(j->total_ns[at]))
			continue;
		value[n++] = j->total_ns[at];
		out->noisy += j->noisy[at];
	}
	err = sample_of(&out->of, value, n);
	free(value);
	return err;
}

static bool is_noisy(const struct said *s)
{
	return s->noisy && 2 * s->noisy >= s->of.n &&
	       !(s->of.n >= BOOTSTRAP_N_MIN && s->of.mad <= NOISE_SHARE * s->of.median);
}

static bool is_unknown(const struct said *s)
{
	return (s->of.p90 - s->of.p10) / 2 > s->of.median;
}

struct trust trust_of(const struct journal *j)
{
	struct trust t = { 0 };
	struct said s;

	for (int side = 0; side < j->sides; side++) {
		for (int i = 0; i < j->plan.n_points; i++) {
			if (said_of(&s, j, side, i))
				continue;
			t.results++;
			t.noisy += is_noisy(&s);
			t.unknown += !is_noisy(&s) && is_unknown(&s);
		}
	}
	return t;
}

const char *session_distrust(const struct journal *j, char out[TRUST_TEXT])
{
	struct trust t = trust_of(j);
	int used = 0;

	*out = '\0';
	if (2 * (t.noisy + t.unknown) <= t.results)
		return out;
	if (t.noisy)
		used = snprintf(out, TRUST_TEXT, "%d of %d results are noisy", t.noisy, t.results);
	if (t.unknown)
		snprintf(out + used, (size_t)(TRUST_TEXT - used),
			 "%s%d of %d spread by over 100 %% between processes", used ? ", " : "",
			 t.unknown, t.results);
	return out;
}

enum { DISTRUSTED_NAMED = 3 };

/* A node may have several sessions. */
static bool is_named(const struct distrusted *d, const char *name)
{
	char begin[64];

	snprintf(begin, sizeof(begin), "%.40s (", name);
	return strstr(d->text, begin) != NULL;
}

void distrusted_add(struct distrusted *d, const char *name, const struct journal *j)
{
	char why[TRUST_TEXT];
	size_t used = strlen(d->text);

	if (!*session_distrust(j, why))
		return;
	d->n++;
	if (d->named == DISTRUSTED_NAMED || is_named(d, name))
		return;
	d->named++;
	snprintf(d->text + used, sizeof(d->text) - used, "%s%.40s (%s)", used ? ", " : "", name,
		 why);
}

void distrusted_print(const struct distrusted *d, FILE *out)
{
	if (!d->n)
		return;
	fprintf(out, "%s cannot be trusted: %s", counted(d->n, "session").s, d->text);
	if (d->n > d->named)
		fprintf(out, " and %d more", d->n - d->named);
	fputs(".\n", out);
}
