/*
 * test_sweep_identity.c - which machine a session is of, what may change within it, and what a
 * worker that hangs is said to have been at. Real processes; no clock is judged.
 */
/* sanitizers: races seen elsewhere */
/* begins early: it waits long */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/platform/system.h"
#include "harness/measure/estimate.h"
#include "harness/record/environment.h"
#include "harness/record/journal.h"
#include "harness/measure/plan_record.h"
#include "harness/session/workers.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/on_cpu.h"
#include "tests/wrapped.h"

#include <sys/stat.h>

TEST_FOLDER(dir);
static char file[64];

static void prepare(void)
{
	make_dir();
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
}

TestSuite(small_sweep_identity, .init = prepare, .fini = remove_dir, .timeout = 240);
TestSuite(large_sweep_identity, .init = prepare, .fini = remove_dir, .timeout = 240);

/* ---- headers ---------------------------------------------------------------------------- */

static const char machine[] =
	"{\"build\":{\"binary_sha256\":\"b\",\"flags\":\"-O2\"},"
	"\"gpu\":{\"uuid\":\"GPU-1\",\"mig_profile\":null,\"driver_version\":\"580\","
	"\"persistence\":true,\"libcuda\":{\"path\":\"/a\",\"sha256\":\"l\"}},"
	"\"host\":{\"name\":\"one\",\"kernel\":\"6.1\",\"cpu_model\":\"x\",\"load\":1,"
	"\"cgroup_mem_bytes\":5},"
	"\"virt\":{\"declared_platform\":\"guest\",\"container\":\"docker\"},"
	"\"env\":{\"A\":\"1\"},\"libraries\":{\"loaded\":[\"/a\"]},"
	"\"cuda_flags\":{\"sync\":\"spin\",\"sync_flag\":\"spin\",\"loading_mode\":\"lazy\"}}";

struct change {
	const char *from, *to, *field;
};

/* The machine with one text in place of another. New reference. */
static json_t *changed(const struct change *c)
{
	const char *at = strstr(machine, c->from);
	char text[1024];
	json_t *o;

	cr_assert(ne(ptr, (char *)at, NULL), "%s", c->from);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - machine), machine, c->to,
		 at + strlen(c->from));
	o = json_loads(text, 0, NULL);
	cr_assert(ne(ptr, o, NULL), "%s", text);
	return o;
}

/* Is it another machine, by both ways of asking? What changed stands in what. */
static bool is_another(const struct change *c, char what[320])
{
	json_t *x = json_loads(machine, 0, NULL), *y = changed(c);
	char hx[HASH_TEXT], hy[HASH_TEXT];
	bool differs = environment_differs(x, y, what, 320);

	environment_hash(x, hx);
	environment_hash(y, hy);
	cr_assert(eq(int, strcmp(hx, hy) != 0, differs), "hash and fields agree: %s", c->to);
	json_decref(x);
	json_decref(y);
	return differs;
}

Test(small_sweep_identity, fields_that_make_another_machine)
{
	static const struct change changes[] = {
		{ "\"b\"", "\"c\"", "build.binary_sha256" },
		{ "GPU-1", "GPU-2", "gpu.uuid" },
		{ "\"mig_profile\":null", "\"mig_profile\":\"1g.18gb\"", "gpu.mig_profile" },
		{ "\"580\"", "\"590\"", "gpu.driver_version" },
		{ "\"sha256\":\"l\"", "\"sha256\":\"m\"", "gpu.libcuda" },
		{ "6.1", "6.2", "host.kernel" },
		{ "\"x\"", "\"y\"", "host.cpu_model" },
		{ "guest", "host", "virt.declared_platform" },
		{ "\"sync\":\"spin\"", "\"sync\":\"poll\"", "cuda_flags.sync" },
		{ "\"sync_flag\":\"spin\"", "\"sync_flag\":\"yield\"", "cuda_flags.sync_flag" },
	};
	char what[320];

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		cr_assert(is_another(&changes[i], what), "%s", changes[i].field);
		cr_assert(eq(ptr, strstr(what, changes[i].field), what), "%s", what);
		cr_assert(ne(ptr, strstr(what, " -> "), NULL), "%s", what);
	}
}

Test(small_sweep_identity, fields_that_may_change_are_said_once)
{
	static const struct change changes[] = {
		{ "\"one\"", "\"two\"", "host.name" },
		{ "\"A\":\"1\"", "\"A\":\"2\"", "env.A" },
		{ "\"A\":\"1\"", "\"A\":\"1\",\"B\":\"\"", "env.B" },
		{ "\"A\":\"1\"", "", "env.A" },
		{ "[\"/a\"]", "[\"/b\"]", "libraries.loaded" },
		{ "\"path\":\"/a\"", "\"path\":\"/b\"", "gpu.libcuda" },
		{ "\"cgroup_mem_bytes\":5", "\"cgroup_mem_bytes\":6", "host.cgroup_mem_bytes" },
		{ "docker", "podman", "virt.container" },
		{ "true", "false", "gpu.persistence" },
		{ "lazy", "eager", "cuda_flags.loading_mode" },
	};
	json_t *x = json_loads(machine, 0, NULL);
	char what[320];

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		json_t *y = changed(&changes[i]), *known = json_object();

		cr_assert(not(is_another(&changes[i], what)), "%s", what);
		cr_assert(environment_changes(x, y, known, what, sizeof(what)), "%s",
			  changes[i].field);
		cr_assert(eq(ptr, strstr(what, changes[i].field), what), "%s", what);
		cr_assert(not(environment_changes(x, y, known, what, sizeof(what))), "again: %s",
			  what);
		cr_assert(eq(str, what, ""), "%s", what);
		json_decref(known);
		json_decref(y);
	}
	json_decref(x);
}

/* Evidence names a container by its number, which is another each time. */
Test(small_sweep_identity, load_and_evidence_are_no_change)
{
	static const struct change of[] = {
		{ "\"load\":1", "\"load\":9", "" },
		{ "docker\"", "docker\",\"evidence\":[{\"text\":\"/docker/26a9\"}]", "" },
	};
	json_t *x = json_loads(machine, 0, NULL);
	char what[320];

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		json_t *y = changed(&of[i]), *known = json_object();

		cr_assert(not(is_another(&of[i], what)), "%s", what);
		cr_assert(not(environment_changes(x, y, known, what, sizeof(what))), "%s", what);
		json_decref(known);
		json_decref(y);
	}
	json_decref(x);
}

/* ---- sides ------------------------------------------------------------------------------ */

Test(small_sweep_identity, canaries_of_one_side_are_no_reference_for_the_other)
{
	double canary[] = { 100, 110, 120, 900, NAN, 700 };
	struct journal j = {
		.plan.design.processes = 3, .sides = 2, .replicates = 6, .canary_ns = canary
	};

	cr_assert(eq(dbl, journal_canary_ns(&j, 0), 110), "side a");
	cr_assert(eq(dbl, journal_canary_ns(&j, 1), 800), "side b");
}

/* ---- real sessions ---------------------------------------------------------------------- */

/* A command for --against: a script that ends by starting the worker. */
static const char *script(const char *body)
{
	static char path[96];
	FILE *out;

	snprintf(path, sizeof(path), "%s/side.sh", dir);
	out = fopen(path, "w");
	cr_assert(ne(ptr, out, NULL), "%s", path);
	fprintf(out, "#!/bin/sh\ndir='%s'\n%s\n", dir, body);
	fclose(out);
	cr_assert(zero(int, chmod(path, 0700)), "%s", path);
	return path;
}

/* A short session of two sides; what it wrote to stderr. */
static int sweep(const char **text, int processes, const char *against, const char *more)
{
	need_device();
	return run_rift(ERR, text,
			"sweep %s --size 1 --depth 1,4 --mode stream --express --processes %d "
			"--rounds 1 --warm-up 0.01 --output '%s' --against '%s' %s",
			name(), processes, file, against, more);
}

static int count_text(const char *text, const char *what)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

/* rift with the runtime beside it, which is loaded from there, whatever else the machine has. */
#define RIFT_IN_STEM                                                                               \
	"cp \"$1\" \"$(dirname \"$1\")\"/libcudart.so.* \"$stem/\"\n"                              \
	"export LD_LIBRARY_PATH=\"$stem${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n"

/* As of `docker run --rm`: nothing about it is the same twice but what is measured. */
static const char another_container[] =
	"stem=$(mktemp -d \"$dir/mount-XXXXXX\")\n" RIFT_IN_STEM
	"export CUDA_CACHE_PATH=\"/tmp/$$\" RIFT_HOME=\"$(cd \"$(dirname \"$1\")/../..\" && "
	"pwd)\"\n"
	"shift\n"
	"if unshare --uts true 2>/dev/null; then\n"
	"	exec unshare --uts sh -c 'hostname \"box$$\"; exec \"$@\"' sh \"$stem/rift\" "
	"\"$@\"\n"
	"fi\n"
	"exec \"$stem/rift\" \"$@\"";

Test(small_sweep_identity, a_container_each_time_is_one_session)
{
	const char *text;

	cr_assert(zero(int, sweep(&text, 3, script(another_container), "")), "%s", text);
	cr_assert(eq(int, count_text(text, "env.CUDA_CACHE_PATH"), 1), "said once: %s", text);
	cr_assert(eq(int, count_text(text, "libraries.loaded"), 1), "said once: %s", text);
	shell(&text, "ls '%s' | grep jsonl", dir);
	cr_assert(eq(str, (char *)text, "s.jsonl\n"), "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", file)), "%s", text);
	shell(&text, "grep -o '\"CUDA_CACHE_PATH\":\"[^\"]*\"' '%s' | sort -u | wc -l", file);
	cr_assert(eq(int, atoi(text), 3), "each is recorded: %s", text);
}

/* Another binary in each process: no two of them are one platform. */
static const char another_binary[] =
	"stem=$(mktemp -d \"$dir/mount-XXXXXX\")\n" RIFT_IN_STEM
	"export RIFT_HOME=\"$(cd \"$(dirname \"$1\")/../..\" && pwd)\"\n"
	"shift\n"
	"echo \"$stem\" >>\"$stem/rift\"\n"
	"exec \"$stem/rift\" \"$@\"";

Test(small_sweep_identity, a_session_starts_anew_once)
{
	const char *text;

	cr_assert(eq(int, sweep(&text, 3, script(another_binary), ""), 5), "%s", text);
	cr_assert(eq(int, count_text(text, "build.binary_sha256"), 2), "%s", text);
	shell(&text, "ls '%s' | grep part", dir);
	cr_assert(eq(str, (char *)text, "s-2.jsonl.part\ns.jsonl.part\n"), "%s", text);
}

/* Plan; header, a point and what there is of the next line. */
static void cut(void)
{
	shell(NULL, "head -n 3 '%s' >'%s.part' && rm '%s'", file, file, file);
}

Test(small_sweep_identity, another_binary_is_another_session)
{
	const char *text;

	need_device();
	cr_assert(zero(int, run_rift(ERR, &text,
				     "sweep %s --size 1 --depth 1,4 --mode stream --quick "
				     "--processes 1 --rounds 1 --warm-up 0.01 --output '%s'",
				     name(), file)),
		  "%s", text);
	cut();
	cr_assert(zero(int, shell(&text, "%s '%s' sweep --resume '%s' 2>&1", script(another_binary),
				  rift(), file)),
		  "%s", text);
	cr_assert(eq(int, count_text(text, "build.binary_sha256"), 1), "%s", text);
	shell(&text, "ls '%s' | grep -E 'jsonl$|part$'", dir);
	cr_assert(eq(str, (char *)text, "s-2.jsonl\ns.jsonl.part\n"), "%s", text);
}

Test(small_sweep_identity, a_changed_variable_is_a_remark)
{
	const char *text;

	need_device();
	cr_assert(zero(int, run_rift(ERR, &text,
				     "sweep %s --size 1 --depth 1,4 --mode stream --quick "
				     "--processes 1 --rounds 1 --warm-up 0.01 --output '%s'",
				     name(), file)),
		  "%s", text);
	cut();
	cr_assert(zero(int, shell(&text, "CUDA_CACHE_DISABLE=1 '%s' sweep --resume '%s' 2>&1",
				  rift(), file)),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "env.CUDA_CACHE_DISABLE: missing -> \"1\""), NULL), "%s",
		  text);
	shell(&text, "ls '%s' | grep jsonl", dir);
	cr_assert(eq(str, (char *)text, "s.jsonl\n"), "%s", text);
}

/* ---- workers that hang ------------------------------------------------------------------ */

/* A worker that comes as far as a phase, when it is to measure or to probe. */
static const char *hangs(const char *job)
{
	static char body[512];

	snprintf(body, sizeof(body),
		 "read -r job\n"
		 "case $job in\n"
		 "*'\"job\":\"%s\"'*)\n"
		 "	echo '{\"record\":\"phase\",\"phase\":\"creating a stream\"}'\n"
		 "	exec sleep 60 ;;\n"
		 "esac\n"
		 "echo \"$job\" | \"$@\"",
		 job);
	return script(body);
}

Test(small_sweep_identity, a_worker_that_hangs_says_where)
{
	static const char *const jobs[] = { "probe", "measure" };
	const char *text;

	for (int i = 0; i < 2; i++) {
		cr_assert(eq(int, sweep(&text, 1, hangs(jobs[i]), "--patience 2"), 4), "%s: %s",
			  jobs[i], text);
		cr_assert(eq(int, count_text(text, "creating a stream"), 1), "%s: %s", jobs[i],
			  text);
		cr_assert(ne(ptr, strstr(text, "side b"), NULL), "%s: %s", jobs[i], text);
		cr_assert(ne(ptr, strstr(text, "--patience"), NULL), "%s: %s", jobs[i], text);
		cr_assert(ne(ptr, strstr(text, " 2 s"), NULL), "%s: %s", jobs[i], text);
	}
	/* what side a has measured waits for a side b that answers */
	cr_assert(zero(int, shell(&text,
				  "cat >'%s/side.sh' <<'E'\n#!/bin/sh\nexec \"$@\"\nE\n"
				  "'%s' sweep --resume '%s' --patience 60 2>&1",
				  dir, rift(), file)),
		  "%s", text);
}

/* A point at depth 4, and what two sides take for it: 10 and 1000 ms a block. */
static struct plan plan_of_sides(void)
{
	static const double times[2] = { 1, 100 };
	const struct workload *const of[] = { workload_find("launch"), NULL };
	char *args[] = { "us=0" };
	struct plan_request r = { .workload = of,
				  .assignment = args,
				  .n_assignments = 1,
				  .depth = "4",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	r.design.processes = 1;
	r.design.rounds = 1;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, 1), "points");
	for (int side = 0; side < 2; side++)
		p.config[0].timing[side] =
			(struct side_timing){ .setup_ns = times[side] * 4e7,
					      .step_ns = times[side] * 2.5e6,
					      .check_ends_ns = times[side] * 2e7 };
	predict_blocks(&p);
	return p;
}

/* How long a worker of the side may take after it has said this. */
static double allowed_after(struct session *s, int side, const char *line)
{
	struct lane *l = &s->lane[0], *ended;
	json_t *job = json_object();
	char body[256];

	snprintf(body, sizeof(body), "cat <<'E'\n%s\nE", line);
	*l = (struct lane){ .session = s, .replicate = side, .deadline_ns = INT64_MAX };
	s->lanes = 1;
	cr_assert(zero(int, child_start(&l->child, job, script(body), false)), "%s", line);
	l->running = true;
	cr_assert(zero(int, session_attend(s, &ended)), "%s", line);
	cr_assert(eq(ptr, ended, l), "%s", line);
	child_release(&l->child);
	json_decref(job);
	return (double)l->allowed;
}

/* 50 times as long as its own side is predicted to take, or what is shorter than that allows. */
Test(small_sweep_identity, a_deadline_is_of_the_workers_side)
{
	static const struct {
		const char *line;
		double ns[2];
	} rows[] = {
		/* 3 blocks, 0.6 ms of canaries and a check of 20 or 2000 ms */
		{ "{\"record\":\"begin\",\"point\":0,\"round\":0}", { 10e9, 250.03e9 } },
		{ "{\"record\":\"begin\",\"point\":0,\"round\":-1}", { 30e9, 250.03e9 } },
		{ "{\"record\":\"setup\",\"config\":0}", { 30e9, 200e9 } },
		/* 10 blocks; a quick warm-up takes 1 s at most */
		{ "{\"record\":\"phase\",\"phase\":\"warming up\"}", { 31e9, 500e9 } },
		{ "{\"record\":\"phase\",\"phase\":\"calibrating\"}", { 30e9, 30e9 } },
	};
	struct session s = { .patience_ns = 30e9 };
	struct plan p;

	need_device();
	p = plan_of_sides();
	cr_assert(zero(int, journal_create(&s.journal, &p, file, "env", "rift sweep")), "create");
	s.watch = watch_open("");
	show_start(&s.show, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int side = 0; side < 2; side++)
			cr_assert(epsilon_eq(dbl, allowed_after(&s, side, rows[i].line),
					     rows[i].ns[side], 1),
				  "side %d: %s", side, rows[i].line);
	watch_close(s.watch);
	journal_release(&s.journal);
	plan_release(&p);
}

/* Into a file of the folder: the job of a worker that measures the plan. boot: whose clock says
 * that it was started a second ago; NULL: nothing does. */
static const char *job_of_boot(const char *boot)
{
	static char path[96];
	struct plan p = plan_of_sides();
	json_t *job =
		json_pack("{s:s, s:o, s:i, s:i, s:s, s:[], s:[]}", "job", "measure", "plan",
			  plan_json(&p), "process", 0, "side", 1, "sync", "yield", "done", "skip");

	snprintf(path, sizeof(path), "%s/job", dir);
	cr_assert(ne(ptr, job, NULL), "job");
	if (boot)
		json_object_set_new(job, "started",
				    json_pack("{s:s, s:I}", "boot_id", boot, "at_ns",
					      (json_int_t)(clock_ns() - 1000000000)));
	cr_assert(zero(int, json_dump_file(job, path, 0)), "%s", path);
	json_decref(job);
	plan_release(&p);
	return path;
}

static const char *job_file(void)
{
	return job_of_boot(NULL);
}

/* What the header says of the start; NAN: null. */
static double process_ns_of(const char *boot)
{
	const char *text;

	shell(&text,
	      "'%s' sweep-worker <'%s' 2>/dev/null | grep -oE '\"process_ns\":[^,]*' | cut -d : -f "
	      "2",
	      rift(), job_of_boot(boot));
	cr_assert(ne(chr, *text, '\0'), "no header says it");
	return strncmp(text, "null", 4) ? strtod(text, NULL) : NAN;
}

Test(small_sweep_identity, a_start_is_timed_by_a_clock_of_both)
{
	double ns;

	need_device();
	ns = process_ns_of(system_boot_id());
	cr_assert(le(dbl, 1e9, ns), "started a second ago: %g ns", ns);
	cr_assert(isnan(process_ns_of("another")), "another machine's clock");
	cr_assert(isnan(process_ns_of(NULL)), "an older rift's job");
}

Test(small_sweep_identity, a_worker_says_what_it_does_before_it_does_it)
{
	const char *text;

	need_device();
	cr_assert(zero(int, shell(&text,
				  "'%s' sweep-worker <'%s' 2>/dev/null | grep -oE "
				  "'\"phase\":\"[^\"]*|\"record\":\"(setup|header)' | "
				  "cut -d '\"' -f 4",
				  rift(), job_file())),
		  "%s", text);
	cr_assert(eq(str, (char *)text,
		     "opening the device\ncreating a stream\npreparing the canary\n"
		     "looking the platform over\nsetup\ncalibrating\nwarming up\nheader\n"),
		  "%s", text);
}

/* Lines of the log from one to another. */
static int lines_between(const struct log *log, const char *from, const char *to, const char *what)
{
	int n = 0, i = 0;

	while (i < log->n && !strstr(log->line[i], from))
		i++;
	for (; i < log->n && !strstr(log->line[i], to); i++)
		n += !strncmp(log->line[i], what, strlen(what));
	cr_assert(lt(int, i, log->n), "no %s and %s", from, to);
	return n;
}

/*
 * Waits while a worker calibrates. What it says and the wrapper's lines go into one file: both are
 * appended line by line.
 */
static int waits_of_calibration(const char *environment)
{
	struct log log;
	int n;

	run_wrapped(&log,
		    "eval 'export ASAN_OPTIONS LD_PRELOAD RIFT_WRAPPER_LOG; "
		    "%s \"%s\" sweep-worker <\"%s\" >>$RIFT_WRAPPER_LOG 2>/dev/null'",
		    environment, rift(), job_file());
	n = lines_between(&log, "\"calibrating\"", "\"warming up\"", "cudaStreamSynchronize");
	log_release(&log);
	return n;
}

/* Each part of it ends after 0.1 s, with three samples at least. */
Test(small_sweep_identity, calibration_is_bounded_where_waits_take_long)
{
	int all, few;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	all = waits_of_calibration("");
	few = waits_of_calibration("RIFT_CPU_SYNC_NS=60000000");
	cr_assert(lt(int, few, 40), "%d waits of 60 ms", few);
	cr_assert(lt(int, few, all), "more where there is time: %d and %d", few, all);
}

/* Calibration and warm-up of a slow side take longer than a point's deadline. */
Test(large_sweep_identity, a_slow_side_is_measured)
{
	const char *text;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	cr_assert(zero(int, sweep(&text, 1, "env RIFT_CPU_SYNC_NS=60000000", "")), "%s", text);
	cr_assert(eq(ptr, strstr(text, "hung"), NULL), "%s", text);
}

Test(small_sweep_identity, each_side_is_predicted_by_its_own_probe)
{
	const char *text, *b;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can add a cost");
	cr_assert(zero(int, run_rift(OUT, &text,
				     "sweep %s --size 1 --depth 1 --mode stream --quick --dry-run "
				     "--against 'env RIFT_CPU_SYNC_NS=5000000'",
				     name())),
		  "%s", text);
	b = strstr(text, ", b ");
	cr_assert(ne(ptr, (char *)b, NULL), "%s", text);
	cr_assert(le(dbl, 5, strtod(b + strlen(", b "), NULL)), "%s", text);
	cr_assert(ne(ptr, strstr(b, " ms "), NULL), "5 ms and more: %s", text);
}
