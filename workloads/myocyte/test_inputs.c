/* test_inputs.c - initial_state.csv and parameters.csv: every kind of malformed file is reported.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/myocyte/inputs.h"

#include <criterion/redirect.h>
#include <fcntl.h>

#include "common/datafile.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { TEXT_BYTES = 8192 };

static char file[64]; /* each test is a process: the name is its own */

static void make_file(void)
{
	int fd;

	snprintf(file, sizeof(file), "/tmp/rift_inputs_%d.csv", (int)getpid());
	fd = open(file, O_CREAT | O_EXCL | O_WRONLY, 0600);
	cr_assert(fd >= 0, "open %s", file);
	close(fd);
}

static void remove_file(void)
{
	unlink(file);
}

TestSuite(small_inputs, .timeout = 300, .init = make_file, .fini = remove_file);

/* A copy of a file that rift ships, with the first `from` in it replaced. */
static void put_edited(const char *name, const char *from, const char *to)
{
	char path[DATAFILE_PATH_BYTES], text[TEXT_BYTES] = "", *at;
	FILE *f;

	cr_assert(!datafile_find(name, path), "%s", name);
	f = fopen(path, "rb");
	cr_assert(f && fread(text, 1, sizeof(text) - 1, f) > 0, "%s", path);
	fclose(f);
	at = strstr(text, from);
	cr_assert(at != NULL, "%s has no <%s>", name, from);
	f = fopen(file, "wb");
	cr_assert(f != NULL, "%s", file);
	cr_assert(fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >= 0, "%s",
		  file);
	cr_assert(fclose(f) == 0, "%s", file);
}

static const struct edit {
	const char *what, *from, *to, *place, *words;
} states[] = {
	{ "two swapped", "0,m,1,1.3705539e-003\n1,h,1,9.8714218e-001",
	  "1,h,1,9.8714218e-001\n0,m,1,1.3705539e-003", ":2:", "index=1, *0" },
	{ "symbols swapped", "0,m,1", "0,h,1", ":2:", "symbol=h, *m" },
	{ "wrong unit", "35,Ca_j,mM", "35,Ca_j,uM", ":37:", "unit=uM, *mM" },
	{ "last row missing", "90,Ca4CaMCa4CaN_cy,uM,8.1327361e-007\n", "", ":92:",
	  "Ca4CaMCa4CaN_cy" },
	{ "a row more", "8.1327361e-007\n", "8.1327361e-007\n91,x,1,0\n", ":93:", "give 91" },
	{ "row missing", "38,V,mV,-8.5719165e+001\n", "", ":40:", "index=39, *38" },
	{ "not a number", "-8.5719165e+001", "-85.7 mV", ":40:", "value=-85.7 mV" },
	{ "NaN", "-8.5719165e+001", "nan", ":40:", "value=nan" },
	{ "empty", "-8.5719165e+001", "", ":40:", "is empty" },
	{ "column missing", "symbol,unit", "name,unit", ":1:", "symbol" },
	{ "column more", "unit,value", "unit,value,note", ":2:", "4 cells" },
	{ "cut off", ",8.8615763e+000", "", ":35:", "cut off" },
	{ "cut off in the last number", "8.1327361e-007\n", "8.13", ":92:", "cut off" },
}, parameters[] = {
	{ "order of the CUDA program", "0,T_cycle,ms,1.000000e003\n", "", ":2:", "index=1" },
	{ "no cycle", "1.000000e003", "0", ":2:", "T_cycle=0 ms: *0.001" },
	{ "negative", "9.650000e001", "-1", ":7:", "PP1tot_dy=-1 uM: *0" },
	{ "cut off", "15,PP1tot_cy,uM,5.700000e-001\n", "15,PP1tot_cy,uM,5.7", ":17:", "cut off" },
	{ "infinite", "9.650000e001", "inf", ":7:", "value=inf" },
	{ "overflow", "9.650000e001", "9e999", ":7:", "value=9e999" },
};

/* All edits of one file, then what was said about each, line by line. */
static void all_refused(const char *name, const struct edit *edits, size_t n,
			int (*reader)(const char *, double *))
{
	double values[MYOCYTE_STATES];
	char *text, *line;

	cr_redirect_stderr();
	for (size_t i = 0; i < n; i++) {
		int err;

		put_edited(name, edits[i].from, edits[i].to);
		err = reader(file, values);
		cr_assert(err == -EINVAL, "%s: %d", edits[i].what, err);
	}
	text = (char *)captured_stderr();
	for (size_t i = 0; i < n; i++) {
		line = strsep(&text, "\n");
		cr_assert(text && strstr(line, file) && strstr(line, edits[i].place) &&
				  tells(line, edits[i].words),
			  "%s: <%s> lacks <%s%s> or <%s>", edits[i].what, line, file,
			  edits[i].place, edits[i].words);
	}
	cr_assert(!*text, "more: <%s>", text);
}

Test(small_inputs, spoilt_states_are_refused)
{
	all_refused("workloads/myocyte/initial_state.csv", states, COUNT(states),
		    myocyte_read_initial_state);
}

Test(small_inputs, spoilt_parameters_are_refused)
{
	all_refused("workloads/myocyte/parameters.csv", parameters, COUNT(parameters),
		    myocyte_read_parameters);
}

/* Columns go by name and values are free: CR LF, other numbers and order of columns are fine. */
Test(small_inputs, other_values_are_read)
{
	double y[MYOCYTE_STATES], p[MYOCYTE_PARAMS];

	put_edited("workloads/myocyte/initial_state.csv", "38,V,mV,-8.5719165e+001",
		   "38,V,mV,-80\r");
	cr_assert(myocyte_read_initial_state(file, y) == 0, "V=-80");
	cr_assert(y[MYOCYTE_V] == -80, "V=%g", y[MYOCYTE_V]);
	put_edited("workloads/myocyte/parameters.csv", "T_cycle,ms,1.000000e003", "T_cycle,ms,300");
	cr_assert(myocyte_read_parameters(file, p) == 0, "T_cycle=300");
	cr_assert(p[0] == 300 && p[15] == 0.57, "p[0]=%g p[15]=%g", p[0], p[15]);
}

Test(small_inputs, missing_file_is_told)
{
	double y[MYOCYTE_STATES];
	const char *text;

	cr_redirect_stderr();
	cr_assert(myocyte_read_initial_state("/no/such.csv", y) == -ENOENT, "states");
	cr_assert(myocyte_read_parameters("/no/such.csv", y) == -ENOENT, "parameters");
	text = captured_stderr();
	cr_assert(strstr(text, "rift: /no/such.csv: No such file") != NULL, "%s", text);
}
