/* golden.c - what some command lines print, against what they printed. */
#include "tests/plain.h"
#include "tests/cli.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/new/assert.h>

/*
 * Functions of the shell, for numbers with six digits, as other libraries of mathematics round the
 * last ones. rounded: of what it reads, such as JSON. chart_data: of the data files and scripts in
 * a folder; of a long file the first rows, and of each column the sum and the sum of each value
 * times its row.
 */
static const char functions[] =
	"rounded() { awk '{ for (s = \"\"; match($0, /[0-9]+[.][0-9][0-9][0-9][0-9][0-9][0-9]+"
	"(e[-+]?[0-9]+)?/); $0 = substr($0, RSTART + RLENGTH)) s = s substr($0, 1, RSTART - 1) "
	"sprintf(\"%.6g\", substr($0, RSTART, RLENGTH)); print s $0 }'; }; "
	"chart_data() { for f in \"$1\"/*.csv \"$1\"/*.gp; do echo \"== ${f##*/}\"; "
	"case $f in *.csv) awk -F, '"
	"{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9]+[.]?[0-9]*(e[-+]?[0-9]+)?$/) "
	"{ s[i] += $i; w[i] += $i * NR; if (i > n) n = i } } NR <= 24 { print } "
	"END { for (i = 1; NR > 24 && i <= n; i++) printf \"sum %d %.6g %.6g\\n\", i, s[i], w[i] "
	"}' \"$f\" ;; *) sed -n '/^[a-z][a-z_0-9]* = /p; /^reset/q' \"$f\" ;; esac | rounded; "
	"done; };";

/* Sessions that are made up are of today, and have an identifier each. */
static void mask(char *text)
{
	static const char id[] = "0123456789abcdef", date[] = "0123456789-T:Z";

	for (char *at = text; *at;) {
		size_t hex = strspn(at, id), time = strspn(at, date);

		if (hex == 16)
			memset(at, 'x', hex);
		else if (time >= 10 && at[4] == '-' && at[7] == '-')
			for (size_t i = 0; i < time; i++)
				at[i] = strchr("-T:Z", at[i]) ? at[i] : '0';
		at += hex ? hex : 1;
	}
}

/* What all commands of it say, as a terminal has it; and how they end, unless well. */
static const char *said_by(const struct output *o, bool refused)
{
	static char all[1 << 18];
	FILE *out = fmemopen(all, sizeof(all), "w");
	char command[2048];
	const char *text;

	for (const char *const *c = o->commands; *c; c++) {
		bool hidden = **c == ':';
		int rc;

		snprintf(command, sizeof(command), "%s { %s; } 2>&1", functions, *c + 2 * hidden);
		rc = figures_folder_run(&text, command);
		cr_assert(eq(int, hidden ? 0 : refused, rc > 2), "%s: %d: %s", *c, rc, text);
		cr_assert(le(int, refused && !hidden, is_one_complaint(text)), "%s: %s", *c, text);
		if (!hidden)
			fprintf(out, "$ %s\n%s", *c, text);
		if (rc)
			fprintf(out, "[%d]\n", rc);
	}
	cr_assert(lt(i64, ftell(out), (int64_t)sizeof(all) - 1), "room for %s", o->name);
	fclose(out);
	mask(all);
	return all;
}

/* Until the first line that differs. */
static void expect_lines(const char *path, const char *got, const char *want)
{
	int line = 1;

	for (; *got && *got == *want; got++, want++)
		line += *got == '\n';
	cr_assert(eq(chr, *got, *want),
		  "%s:%d: now '%.*s' where '%.*s' was; if it is meant, make golden", path, line,
		  (int)strcspn(got, "\n"), got, (int)strcspn(want, "\n"), want);
}

void golden(const struct output *o, bool refused)
{
	static char want[1 << 18];
	const char *got = said_by(o, refused);
	bool update = getenv("UPDATE_GOLDEN");
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "tests/golden/outputs/%s.txt", o->name);
	f = fopen(path, update ? "w" : "r");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	if (update)
		fputs(got, f);
	else
		want[fread(want, 1, sizeof(want) - 1, f)] = '\0';
	cr_assert(zero(int, fclose(f)), "%s", path);
	if (!update)
		expect_lines(path, got, want);
}
