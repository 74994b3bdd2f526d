/* faults.c - results that a side lacks, or that are wrong, at the points that are compared. */
#include "harness/compare/faults.h"

#include <stdio.h>
#include <string.h>

#include "harness/base/json.h"
#include "workloads/workload.h"

/* Is it one of a list's names, and not just a part of one? */
static bool has_name(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ',' || !at[length]))
			return true;
	return false;
}

/* Adds a name to a list, once; where there is no room, three dots. */
static void add_name(char list[FAULTS_TEXT], const char *name)
{
	size_t used = strlen(list), length = strlen(name);

	if (!*name || has_name(list, name) || (used >= 4 && !strcmp(list + used - 4, " ...")))
		return;
	snprintf(list + used, FAULTS_TEXT - used, "%s%s", used ? ", " : "",
		 used + length + 8 < FAULTS_TEXT ? name : "...");
}

/* What the platform lacks: the call, or what it was called in. */
static struct text lacks_text(const json_t *why)
{
	static const char capture[] = "cudaErrorStreamCaptureUnsupported";

	return strcmp(json_get_text(why, "name"), capture) == 0
		       ? text_shown("stream capture")
		       : text_shown(json_get_text(why, "call"));
}

static void add_result(struct faults *f, const struct compared_side *p, int process, int point,
		       const char *workload)
{
	const json_t *why;

	f->results++;
	switch (p->view.status[process * p->view.plan.n_points + point]) {
	case POINT_OK:
		break;
	case POINT_CHECK_FAILED:
		f->wrong++;
		add_name(f->wrong_of, workload);
		break;
	case POINT_NOT_SUPPORTED:
		why = journal_refusal(&p->view, process, point);
		f->lacking++;
		add_name(f->lacks, lacks_text(why).s);
		break;
	default:
		f->missing++;
		add_name(f->missing_of, workload);
	}
}

struct faults faults_of(const struct compared_side *p, const struct pairs *pairs, int k)
{
	struct faults f = { 0 };

	for (int i = 0; i < pairs->n; i++)
		for (int process = 0; process < p->n; process++)
			add_result(&f, p, process, pairs->pair[i].at[k],
				   pairs->workload[pairs->pair[i].workload]->name);
	return f;
}
