/*
 * test_trace_members.c - each member of each row of a trace: what is read where it is as it should
 * be, where it is missing and where it is something else, or how that is refused. All of it is in
 * tests/golden/outputs/trace-members.txt.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "common/trace/trace.h"

#include <string.h>
#include <unistd.h>

#include "tests/folder.h"
#include "tests/golden.h"
#include "tests/members.h"

TEST_FOLDER(folder);
TestSuite(small_trace_members, .init = make_folder, .fini = remove_folder, .timeout = 60);

/* A file with every member that there is; ' is ". */
static const char *const rows[] = {
	"{'record':'trace','trace':'1.0','program':['./app','x'],'process_start_ns':-40,"
	"'recorder':'cupti','device':'CPU device','device_times':'recorded','limits':"
	"{'delay_ns':1,'duration_ns':2,'range':'step'},'calibration':null}",
	"{'record':'calibration','launch_call_ns':[1,2,3],'launch_and_wait_ns':[7,8,9],'gap_ns':"
	"[4,5,6],'n':50,'window':1022,'graph_launch_ns':[11,12],'recorder':{'call_ns':21,"
	"'pace_ns':22,'kernel_ns':23,'copy_pace_ns':24,'not_recorded_ns':25}}",
	"{'record':'string','id':3,'text':'saxpy'}",
	"{'record':'string','id':9,'text':'step'}",
	"{'record':'thread','id':0,'tid':101,'name':'main'}",
	"{'record':'thread','id':7,'tid':102,'name':'other'}",
	"{'record':'stream','id':1,'kind':'legacy','priority':-1}",
	"{'record':'stream','id':5,'kind':'non-blocking'}",
	"{'record':'graph','id':2,'nodes':10,'kernels':8}",
	"{'record':'mark','thread':7,'kind':'push','t':90,'name':9}",
	"{'record':'call','id':1,'thread':7,'class':'launch','name':3,'kernel':9,'t0':100,'t1':110,"
	"'stream':5,'event':6,'graph':2,'recording':4,'bytes':77,'memory':'pinned','async':true,"
	"'captured':true,'cpu_ns':13,'not_recorded':2}",
	"{'record':'call','id':2,'thread':0,'class':'copy','t0':120,'t1':130,'stream':5}",
	"{'record':'call','id':4,'thread':0,'class':'graph_launch','t0':140,'t1':150,'stream':5}",
	"{'record':'op','call':2,'kind':'copy','stream':5,'t0':125,'t1':135,'bytes':88,'direction':"
	"'to_host','memory':'pageable','async':true}",
	"{'record':'op','call':4,'kind':'graph','stream':5,'t0':160,'t1':180,'graph':2,'busy_ns':"
	"15,"
	"'name':3,'grid':[2,3,4],'block':[32,5,6],'shared':64,'registers':40}",
	"{'record':'fold','times':3,'t0':200,'t1':800,'body':[{'record':'call','thread':0,'class':"
	"'launch','gap_ns':[[50,2],[60,1]],'took_ns':[[40,1],[30,2]],'cpu_ns':[[10,2]],"
	"'not_recorded':2,'op':{'record':'op','kind':'kernel','stream':1,'took_ns':[[20,3]],'lag_"
	"ns':"
	"[[-5,1],[45,2]],'behind_ns':[[1,1]],'busy_ns':[[19,3]]}},{'record':'call','thread':0,"
	"'class':'sync_event','event':6,'recording':4,'gap_ns':[[70,3]],'took_ns':[[30,3]]}]}",
	"{'record':'mark','thread':7,'kind':'pop','t':850}",
	"{'record':'own','thread':0,'t0':-30,'t1':-10}",
	"{'record':'end','t':900,'calls':9,'ops':5,'dropped':1,'reason':'exit','call_ns':17}",
	"{'record':'runs','profiled_wall_ns':1000,'processes':2,'exit_status':256,"
	"'unprofiled_wall_ns':[950,960],'retimed_wall_ns':[955],'under':'emulate','empty':"
	"{'recorded':[{'wall_ns':31,'own_ns':32,'launch_call_ns':33,'launch_and_wait_ns':34,"
	"'gap_ns':35}],'unprofiled_wall_ns':[36]},'host_gaps':{'runs':2,'by_kernel':true,"
	"'functions':['cudaMalloc','cudaFree'],'pairs':[{'from':0,'to':1,'after':false,'n':5,'ns':"
	"40,"
	"'median_ns':30}],'graph_waits':{'n':2,'ns':60}}}",
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static json_t *row[ROWS];
static char wanted[1 << 14];
static FILE *out;

/* ---- what was read ------------------------------------------------------------------------- */

static void put_call(FILE *f, int i, const struct trace_call *c)
{
	fprintf(f,
		"call %d: id %ld, %ld to %ld, class %d, cpu %ld, recording %ld, bytes %ld, without "
		"rows %ld; ops %d from %d; thread %d, stream %d, event %d, graph %d, name %d, "
		"memory %d, kernel %d, fold %d; async %d, captured %d\n",
		i, (long)c->id, (long)c->t0, (long)c->t1, (int)c->class, (long)c->cpu_ns,
		(long)c->recording, (long)c->bytes, (long)c->not_recorded, c->ops,
		c->ops ? c->first_op : -1, c->thread, c->stream, c->event, c->graph, c->name,
		c->memory, c->kernel, c->fold, c->async, c->captured);
}

static void put_op(FILE *f, int i, const struct trace_op *o)
{
	fprintf(f,
		"op %d: call %ld, %ld to %ld, kind %d, bytes %ld, busy %ld, behind %ld; stream %d, "
		"name %d, graph %d, memory %d, direction %d; %d %d %d x %d %d %d, shared %d, "
		"registers %d, async %d\n",
		i, (long)o->call, (long)o->t0, (long)o->t1, (int)o->kind, (long)o->bytes,
		(long)o->busy_ns, (long)o->behind_ns, o->stream, o->name, o->graph, o->memory,
		o->direction, o->grid[0], o->grid[1], o->grid[2], o->block[0], o->block[1],
		o->block[2], o->shared, o->registers, o->async);
}

static void put_calibration(FILE *f, const struct trace_calibration *c)
{
	for (int q = 0; q < QUANTILES; q++)
		fprintf(f, "quantile %d: %g %g %g\n", q, c->launch_call_ns[q],
			c->launch_and_wait_ns[q], c->gap_ns[q]);
	fprintf(f, "calibration: n %g, window %g, graph %g + %g\n", c->n, c->window,
		c->graph_launch_ns[0], c->graph_launch_ns[1]);
	fprintf(f, "recorder: call %g, pace %g, kernel %g, copies %g, without rows %g\n",
		c->call_ns, c->pace_ns, c->kernel_ns, c->copy_pace_ns, c->not_recorded_ns);
}

static void put_tables(FILE *f, const struct trace *t)
{
	for (int i = 0; i < t->strings; i++)
		fprintf(f, "string %d: %s\n", i, t->string[i]);
	for (int i = 0; i < t->threads; i++)
		fprintf(f, "thread %d: %ld %s\n", i, (long)t->thread[i].tid,
			t->thread[i].name ? t->thread[i].name : "-");
	for (int i = 0; i < t->streams; i++)
		fprintf(f, "stream %d: id %ld, kind %d, priority %d\n", i, (long)t->stream[i].id,
			(int)t->stream[i].kind, t->stream[i].priority);
	for (int i = 0; i < t->graphs; i++)
		fprintf(f, "graph %d: %ld nodes, %ld kernels\n", i, (long)t->graph[i].nodes,
			(long)t->graph[i].kernels);
	for (int i = 0; i < t->marks; i++)
		fprintf(f, "mark %d: thread %d, kind %d, at %ld, name %d\n", i, t->mark[i].thread,
			(int)t->mark[i].kind, (long)t->mark[i].t, t->mark[i].name);
	for (int i = 0; i < t->owns; i++)
		fprintf(f, "own %d: thread %d, %ld to %ld\n", i, t->own[i].thread,
			(long)t->own[i].t0, (long)t->own[i].t1);
	for (int i = 0; i < t->folds; i++)
		fprintf(f, "fold %d: id %ld, n %ld, times %ld, %ld to %ld\n", i,
			(long)t->fold[i].id, (long)t->fold[i].n, (long)t->fold[i].times,
			(long)t->fold[i].t0, (long)t->fold[i].t1);
}

static void put_runs(FILE *f, const struct trace *t)
{
	fprintf(f, "runs: profiled %ld, exit status %ld, processes %ld, under '%s'\n",
		(long)t->profiled_wall_ns, (long)t->exit_status, (long)t->processes, t->under);
	for (int i = 0; i < t->unprofiled; i++)
		fprintf(f, "run %d: %g\n", i, t->unprofiled_wall_ns[i]);
	for (int i = 0; i < t->recordings; i++)
		fprintf(f, "recording %d: %g\n", i, t->retimed_wall_ns[i]);
	for (int i = 0; i < t->empties; i++)
		fprintf(f, "empty %d: %g, own %g, prices %g %g %g\n", i, t->empty[i].wall_ns,
			t->empty[i].own_ns, t->empty[i].launch_call_ns,
			t->empty[i].launch_and_wait_ns, t->empty[i].gap_ns);
	for (int i = 0; i < t->plain_empties; i++)
		fprintf(f, "plain empty %d: %g\n", i, t->plain_empty_ns[i]);
	fprintf(f, "host: %d runs, waits %ld of %g, by kernel %d\n", t->host_runs,
		(long)t->graph_waits, t->graph_waits_ns, t->host_by_kernel);
	for (int i = 0; i < t->host_functions; i++)
		fprintf(f, "function %d: %s\n", i, t->host_function[i]);
	for (int i = 0; i < t->host_pairs; i++)
		fprintf(f, "pair %d: %d to %d, after %d, n %g, %g, median %g\n", i,
			t->host_pair[i].from, t->host_pair[i].to, t->host_pair[i].after,
			t->host_pair[i].n, t->host_pair[i].ns, t->host_pair[i].median_ns);
}

static void put_trace(FILE *f, const struct trace *t)
{
	fprintf(f, "'%s', device times %d, CPU %d, calibrated %d, estimated %d, foreign %d\n",
		t->program, t->device_times, t->is_cpu, t->is_calibrated, t->is_estimated,
		t->is_foreign);
	fprintf(f, "started %ld, ended %ld; %ld dropped, %ld orphans\n", (long)t->process_start_ns,
		(long)t->end_ns, (long)t->dropped, (long)t->orphans);
	fprintf(f, "finished %d, partial %d, torn %d, '%s' '%s'\n", t->finished, t->partial,
		t->torn, t->reason, t->failed);
	fprintf(f, "highest event %ld\n", (long)trace_events(t));
	put_calibration(f, &t->calibration);
	put_tables(f, t);
	for (int i = 0; i < t->calls; i++)
		put_call(f, i, &t->call[i]);
	for (int i = 0; i < t->ops; i++)
		put_op(f, i, &t->op[i]);
	put_runs(f, t);
}

/* ---- one change at a time ------------------------------------------------------------------ */

static int read_rows(FILE *f)
{
	struct trace t;
	int err;

	members_write("a.trace", row, ROWS);
	err = trace_read(&t, "a.trace");
	if (!err)
		put_trace(f, &t);
	trace_release(&t);
	return err;
}

/* The first lines that are not what they are without the change. */
static void put_changed(const char *what)
{
	enum { SHOWN = 3 };
	char *text = members_said(read_rows), *rest = text, *at, line[1024];
	int n = 0;

	fprintf(out, "%s\n", what);
	while ((at = strsep(&rest, "\n")) && *at) {
		snprintf(line, sizeof(line), "\n%s\n", at);
		if (!strstr(wanted, line) && ++n <= SHOWN)
			fprintf(out, "  %s\n", at);
	}
	if (n > SHOWN)
		fprintf(out, "  %d lines\n", n);
	free(text);
}

Test(small_trace_members, each_is_read_or_refused)
{
	char *got, *text, *root = getcwd(NULL, 0);
	size_t size;

	out = open_memstream(&got, &size);
	cr_assert(zero(int, chdir(folder)));
	for (int i = 0; i < ROWS; i++)
		row[i] = member_row(rows[i]);
	text = members_said(read_rows);
	snprintf(wanted, sizeof(wanted), "\n%s", text);
	fprintf(out, "%s", text);
	free(text);
	each_member(row, ROWS, put_changed);
	fclose(out);
	cr_assert(zero(int, chdir(root)));
	golden_text("trace-members", got);
	free(root);
	free(got);
}
