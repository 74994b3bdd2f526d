/* costs.c - a costs file that was taken before: read, its rows, and shown on one page. */
#include "harness/probe/costs.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/datafile.h"
#include "common/input.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/platform/platform.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"

/* ---- a costs file and its file ----------------------------------------------------------- */

/* ---- files ------------------------------------------------------------------------------ */

/* Why a row cannot be one, or NULL. */
static const char *damage(const json_t *costs, const json_t *row)
{
	const json_t *values = json_object_get(row, "values"), *v;
	size_t i;

	if (!*json_get_text(row, "workload") || !*json_get_text(row, "name"))
		return "a row has no name";
	if (json_array_size(values) != (size_t)costs_processes(costs))
		return "a row has not as many values as there were processes";
	json_array_foreach(values, i, v)
	{
		if (!json_is_null(v) && !json_is_number(v))
			return "a value is no number";
	}
	return NULL;
}

static int check_costs(const char *path, const json_t *costs)
{
	const json_t *rows = json_object_get(costs, "rows"), *row;
	int n = costs_processes(costs), major = atoi(json_get_text(costs, "schema"));
	const char *why = NULL;
	size_t i;

	if (!costs_is_named(json_get_text(costs, "record")))
		return complain(EINVAL,
				"%s: not a file of call costs; rift probe --output FILE makes one",
				path);
	if (major < COSTS_SCHEMA_OLDEST || major > COSTS_SCHEMA_MAJOR)
		return complain(EPROTONOSUPPORT, "%s: call costs of schema %s; this rift reads %s",
				path, text_shown(json_get_text(costs, "schema")).s, COSTS_SCHEMA);
	if (n < 1 || n > COSTS_PROCESSES_MAX || !json_array_size(rows))
		why = "no rows, or no processes";
	json_array_foreach(rows, i, row)
	{
		why = why ? why : damage(costs, row);
	}
	return why ? complain(EINVAL, "%s: damaged call costs: %s", path, why) : 0;
}

/* The file is no JSON as a whole: it may be a session, which is many objects, one a line. */
static int refuse_file(const char *path, int line)
{
	if (!costs_is(path))
		return complain(EINVAL,
				"%s: not a file of call costs; rift probe --output FILE makes one",
				path);
	return complain(EINVAL, "%s:%d: damaged call costs: from here on it is no JSON", path,
			line);
}

static int refuse_unread(const char *path, const struct costs_file *f, int err)
{
	if (err == -EFBIG)
		return complain(EFBIG, "%s: not a file of call costs: more than %d MiB", path,
				COSTS_BYTES_MAX >> 20);
	return complain(-err, "%s: %s", path,
			f->in.err ? unpacked_reason(&f->in) : input_reason(err));
}

int costs_read(const char *path, json_t **costs)
{
	struct costs_file f;
	json_error_t error;
	int err = costs_open(&f, path);

	*costs = err ? NULL : costs_parse(&f, JSON_REJECT_DUPLICATES, &error);
	err = err ? err : costs_unread(&f);
	if (err)
		err = refuse_unread(path, &f, err);
	else
		err = *costs ? check_costs(path, *costs) : refuse_file(path, error.line);
	unpacked_close(&f.in);
	if (err) {
		json_decref(*costs);
		*costs = NULL;
	}
	return err;
}

/* ---- rows ------------------------------------------------------------------------------- */

const json_t *costs_row(const json_t *costs, const char *workload, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(costs, "rows"), i, row)
	{
		if (!strcmp(json_get_text(row, "workload"), workload) &&
		    !strcmp(json_get_text(row, "name"), name))
			return row;
	}
	return NULL;
}

bool costs_has_refusals(const json_t *costs)
{
	static const char refused[] = "not supported here";
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(costs, "rows"), i, row)
	{
		const char *text = json_string_value(json_object_get(row, "text"));

		if (text && !strncmp(text, refused, strlen(refused)))
			return true;
	}
	return false;
}

bool costs_is_cpu(const json_t *costs)
{
	return !strcmp(json_get_text(json_object_get(costs, "device"), "kind"), "cpu");
}

int costs_processes(const json_t *costs)
{
	return (int)json_integer_value(json_object_get(costs, "processes"));
}

bool costs_values(const json_t *costs, const json_t *row, double *value)
{
	const json_t *values = json_object_get(row, "values"), *v;
	size_t i;

	json_array_foreach(values, i, v)
	{
		if (!json_is_number(v))
			return false;
		value[i] = json_number_value(v);
	}
	return json_array_size(values) == (size_t)costs_processes(costs);
}

/* Units of the rows: times are us. */
const char *costs_number(double value, const char *unit)
{
	static char text[2][80];
	static int turn;
	char *t = text[turn ^= 1];

	if (!isfinite(value))
		snprintf(t, sizeof(text[0]), "-");
	else if (!strcmp(unit, "us"))
		snprintf(t, sizeof(text[0]), "%s", text_time(1e3 * value).s);
	else if (!strcmp(unit, "bytes"))
		snprintf(t, sizeof(text[0]), "%s", text_bytes(value).s);
	else
		snprintf(t, sizeof(text[0]), "%.4g%s%.40s", value, strcmp(unit, "1") ? " " : "",
			 strcmp(unit, "1") ? text_shown(unit).s : "");
	return t;
}

/* ---- the rows that a costs file's page shows, and which of them decide a comparison ------ */

/*
 * Twelve decide: as many as 5 processes a side can say something about, corrected for each other
 * (harness/stats/decide.h). They are the costs that programs pay again and again.
 */
const struct costs_line costs_lines[] = {
	{ "launch", "launch", "launch call", "launch call", true, false },
	{ NULL, "launch", "launch pace", "pace of launches", true, false },
	{ NULL, "launch", "device gap", "gap between kernels", true, false },
	{ NULL, "launch", "launch queue", "queue", false, false },
	{ "launch and wait", "launch", "to stream sync", "cudaStreamSynchronize", true, false },
	{ NULL, "launch", "to device sync", "cudaDeviceSynchronize", false, false },
	{ NULL, "launch", "to event sync", "cudaEventSynchronize", false, false },
	{ NULL, "launch", "to stream query", "cudaStreamQuery in a loop", false, false },
	{ NULL, "launch", "to mapped flag", "a flag in mapped memory", false, false },
	{ "idle stream", "launch", "idle stream sync", "cudaStreamSynchronize", false, false },
	{ NULL, "launch", "event record", "cudaEventRecord", false, false },
	{ "graph, a line", "graph", "launch call", "launch call, 100 nodes", true, false },
	{ NULL, "graph", "launch total, fixed", "launch and wait, fixed", false, false },
	{ NULL, "graph", "launch device, a node", "on the device, a node", true, false },
	{ NULL, "graph", "first launch call", "first launch call, 100 nodes", false, false },
	{ NULL, "graph", "instantiate, fixed", "instantiate, fixed", false, false },
	{ NULL, "graph", "instantiate, a node", "instantiate, a node", true, false },
	{ "memory, 4 MiB", "memory", "cudaMalloc", "cudaMalloc", true, false },
	{ NULL, "memory", "cudaFree", "cudaFree", false, false },
	{ NULL, "memory", "cudaMallocAsync", "cudaMallocAsync, from a pool", false, false },
	{ NULL, "memory", "cudaMallocHost", "cudaMallocHost", false, false },
	{ NULL, "memory", "cudaHostRegister", "cudaHostRegister", false, false },
	{ "copy and wait", "transfer", "h2d pinned 4 B", "to the device, 4 bytes", true, false },
	{ NULL, "transfer", "d2h pinned 4 B", "to the host, 4 bytes", false, false },
	{ NULL, "transfer", "h2d pageable 4 B cudaMemcpy", "to the device, cudaMemcpy", false,
	  false },
	{ NULL, "transfer", "d2h pageable 4 B cudaMemcpy", "to the host, cudaMemcpy", false,
	  false },
	{ NULL, "transfer", "h2d pinned fixed", "to the device, fixed", false, false },
	{ NULL, "transfer", "h2d pinned rate", "to the device, pinned", true, true },
	{ NULL, "transfer", "h2d pageable rate", "to the device, pageable", true, true },
	{ NULL, "transfer", "d2h pinned rate", "to the host, pinned", true, true },
	{ NULL, "transfer", "d2h pageable rate", "to the host, pageable", false, true },
	{ "process", "process", "start and end", "start, open the device, end", false, false },
	{ NULL, "process", "context creation", "context creation", false, false },
	{ NULL, "launch", "first launch", "first launch of a module", false, false },
	{ NULL, NULL, NULL, NULL, false, false },
};

/* ---- a costs file on one page ------------------------------------------------------------ */

enum { SECTION = 15, LABEL = 29, VALUE = 13, INTERVAL = 23 };

static void print_head(const json_t *costs, const json_t *reference, FILE *out)
{
	const json_t *virt = json_object_get(costs, "virt");
	const char *declared = json_get_text(virt, "declared_platform");
	char layers[LAYERS_TEXT];

	row(out, "call costs", "%s%s%s", declared, *declared ? ", " : "",
	    json_get_text(json_object_get(costs, "device"), "name"));
	environment_layers(costs, layers);
	if (*layers)
		row(out, "", "%s", layers);
	row(out, "taken", "%s, %s, sync %s; 95 %% intervals over processes",
	    json_get_text(costs, "start_utc"), counted(costs_processes(costs), "process").s,
	    json_get_text(costs, "sync"));
	if (reference)
		row(out, "reference", "%s, %s: for orientation",
		    json_get_text(json_object_get(reference, "device"), "name"),
		    json_get_text(reference, "start_utc"));
	fputc('\n', out);
}

void costs_print_head(const json_t *costs, FILE *out)
{
	print_head(costs, NULL, out);
}

/* "2.40 us to 2.47 us", "1020 to 1023"; empty where it is not known. */
static void interval_text(const json_t *row, char *out, size_t size)
{
	double lo = json_get_number(row, "lo"), hi = json_get_number(row, "hi");
	const char *unit = json_get_text(row, "unit");

	if (strcmp(unit, "us") && strcmp(unit, "bytes"))
		unit = "1"; /* the value before it says which */
	*out = '\0';
	if (isfinite(lo) && isfinite(hi))
		snprintf(out, size, "%s to %s", costs_number(lo, unit), costs_number(hi, unit));
}

static void print_line(const struct costs_line *line, const json_t *row, const json_t *reference,
		       FILE *out)
{
	double value = json_get_number(row, "median"), other = json_get_number(reference, "median");
	const char *why = json_get_text(row, "text");
	char interval[64];

	fprintf(out, "%-*s %-*s ", SECTION, line->section ? line->section : "", LABEL, line->label);
	if (!isfinite(value)) {
		fprintf(out, "%s\n", *why ? text_escaped(why).s : "not measured");
		return;
	}
	interval_text(row, interval, sizeof(interval));
	fprintf(out, "%*s", VALUE, costs_number(value, json_get_text(row, "unit")));
	if (isfinite(other))
		fprintf(out, "  %-*s %*s\n", INTERVAL, interval, VALUE,
			costs_number(other, json_get_text(reference, "unit")));
	else
		fprintf(out, "%s%s\n", *interval ? "  " : "", interval);
}

void costs_print_failed(const json_t *costs, FILE *out)
{
	const json_t *failed = json_object_get(costs, "failed"), *o;
	size_t i;

	json_array_foreach(failed, i, o)
	{
		fprintf(out, "failed: the probe of %s in process %d; its line is on stderr\n",
			text_escaped(json_get_text(o, "workload")).s,
			(int)json_integer_value(json_object_get(o, "process")) + 1);
	}
}

void costs_print_beside(const json_t *costs, const json_t *reference, FILE *out)
{
	print_head(costs, reference, out);
	if (reference)
		fprintf(out, "%*s\n", SECTION + LABEL + VALUE + INTERVAL + VALUE + 5, "reference");
	for (const struct costs_line *l = costs_lines; l->workload; l++)
		print_line(l, costs_row(costs, l->workload, l->name),
			   reference ? costs_row(reference, l->workload, l->name) : NULL, out);
	costs_print_failed(costs, out);
	if (costs_is_cpu(costs))
		fprintf(out, "%s\n", platform_not_gpu);
}

/* Without a word where there is none. */
static json_t *find_reference(const json_t *costs)
{
	char path[DATAFILE_PATH_BYTES];
	json_t *reference = NULL;

	if (!datafile_there(COSTS_REFERENCE, path) || costs_read(path, &reference))
		return NULL;
	if (!strcmp(json_get_text(reference, "session_id"), json_get_text(costs, "session_id"))) {
		json_decref(reference);
		reference = NULL;
	}
	return reference;
}

void costs_print(const json_t *costs, FILE *out)
{
	json_t *reference = find_reference(costs);

	costs_print_beside(costs, reference, out);
	json_decref(reference);
}
