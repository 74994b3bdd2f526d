/* software.c - libraries in between, variables, and the libraries and programs that rift uses. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/gnuplot.h"
#include "harness/doctor/doctor.h"
#include "harness/env/environment.h"

static void say_interposers(struct doctor *d, const struct libraries *l)
{
	for (int i = 0; i < l->n; i++)
		doctor_say(d, DOCTOR_WARN, "interposed",
			   "unless it is what you measure, start rift without it", "%s: %s",
			   l->interposer[i].path, l->interposer[i].why);
	if (!l->n)
		doctor_say(d, DOCTOR_OK, "interposed", NULL,
			   "no library stands between rift and CUDA");
}

static void say_variables(struct doctor *d, const struct place *place)
{
	int n = 0;

	for (char *const *e = place->env; *e; e++) {
		const struct influence *i = influence_of(*e);

		if (!i)
			continue;
		doctor_say(d, i->spoils ? DOCTOR_WARN : DOCTOR_NOTE, "variable", NULL, "%.120s: %s",
			   *e, i->what);
		n++;
	}
	if (!n)
		doctor_say(d, DOCTOR_OK, "variables", NULL,
			   "none is set that changes CUDA or the CPU device");
}

static void say_libraries(struct doctor *d)
{
	doctor_say(d, DOCTOR_OK, "libraries", NULL, "jansson %s, glibc %s", jansson_version_str(),
		   gnu_get_libc_version());
}

static void say_gnuplot(struct doctor *d)
{
	static const char advice[] = "only charts need it: apt-get install gnuplot-nox";
	struct gnuplot_words version;
	int err = gnuplot_ask(&version);

	if (err)
		doctor_say(d, DOCTOR_MISSING, "gnuplot", advice, "%s",
			   err == -ENOENT ? "not on PATH" : strerror(-err));
	else if (!gnuplot_suffices(version.s))
		doctor_say(d, DOCTOR_WARN, "gnuplot", advice, "'%s' is too old for charts",
			   version.s);
	else
		doctor_say(d, DOCTOR_OK, "gnuplot", NULL, "%s, for charts",
			   version.s + strlen("gnuplot "));
}

void doctor_software(struct doctor *d, const struct platform *p, const struct place *place)
{
	say_interposers(d, &p->libraries);
	say_variables(d, place);
	say_libraries(d);
	say_gnuplot(d);
}
