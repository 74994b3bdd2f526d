/*
 * test_layer_in_force.c - rift under a layer says whether that is in force, and measures nothing
 * where it is not; what the record says of layers.
 */
/* begins early: it waits long */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <jansson.h>
#include <signal.h>

#include "tests/cli.h"
#include "tests/races.h"
#include "tests/under_layer.h"

TestSuite(small_layer_in_force, .init = layers_apart, .timeout = 240);

/* A run that takes little. */
#define RUN "run launch --samples 5 --depth 4 --check-steps 4"

/* The first line of stderr that is rift's, as layers report at their end. */
static bool one_line_says(const char *err, const char *says)
{
	const char *line = strstr(err, "rift: the layer ");
	const char *end = line ? strchr(line, '\n') : NULL;
	char text[1024];

	if (!end || strstr(end, "rift: the layer "))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(end - line), line);
	return strstr(text, says) != NULL;
}

/* Must end with 4, a line, and no figure. */
static void not_in_force(const char *says, const char *layer, const char *between)
{
	const char *out, *err;
	int rc = shell(&out, "'%s' layer --quiet %s -- %s '%s' " RUN " --json 2>/dev/null", rift(),
		       layer, between, rift());

	cr_assert(eq(int, rc, 4), "%s: %s", layer, out);
	cr_assert(eq(str, (char *)out, ""));
	shell(&err, "'%s' layer --quiet %s -- %s '%s' " RUN " 2>&1 >/dev/null", rift(), layer,
	      between, rift());
	cr_assert(one_line_says(err, says), "%s: %s", layer, err);
}

Test(small_layer_in_force, a_wrapper_that_is_not_loaded)
{
	char layer[4400];

	need_device();
	not_in_force("shim is not active: its library is not loaded", "shim", "env -u LD_PRELOAD");
	snprintf(layer, sizeof(layer), "preload lib='%s'", shim_library());
	not_in_force("preload is not active: ", layer, "env -u LD_PRELOAD");
	not_in_force("is not mapped", layer, "env LD_PRELOAD=");
	snprintf(layer, sizeof(layer), "preload lib='%s' set=LD_PRELOAD=", shim_library());
	not_in_force("is not mapped", layer, "");
}

/* A library that is there but not in the way of the calls. */
Test(small_layer_in_force, a_wrapper_that_another_one_covers)
{
	char between[4400];

	need_device();
	if (RACES || strstr(rift(), "-asan"))
		cr_skip("a wrapper of the CPU device's build is nobody's sanitizer's");
	if (shell(NULL, "test -e '%.*s/libcudart.so.13'", (int)(strrchr(rift(), '/') - rift()),
		  rift()))
		cr_skip("needs libcudart.so.13 (CUDA toolkit 13)");
	snprintf(between, sizeof(between),
		 "sh -c 'LD_PRELOAD=\"%.*s/libcudart.so.13:$LD_PRELOAD\"; export LD_PRELOAD; exec "
		 "\"$@\"' sh",
		 (int)(strrchr(rift(), '/') - rift()), rift());
	not_in_force("shim is not active: saw 0 of 1 calls of class graph", "shim", between);
}

Test(small_layer_in_force, helpers_that_are_killed)
{
	need_device();
	not_in_force("cpu is not active: uses 0.00 processors, and would use 0.00 more",
		     "cpu share=20 n=1",
		     "perl -e 'my $me = $$; for my $f (glob(\"/proc/[0-9]*/stat\")) { open(F, $f) "
		     "or next; "
		     "my @s = split(/ /, (<F> =~ s/^.*\\) //r)); my ($p) = $f =~ /(\\d+)/; "
		     "$parent{$p} = $s[1]; $group{$p} = $s[2]; $session{$p} = $s[3]; } "
		     "open(E, \"/proc/$_/environ\") && (join(\"\", <E>) =~ "
		     "/RIFT_TEST_LAYERS=\\Q$ENV{RIFT_TEST_LAYERS}\\E/) "
		     "&& $session{$_} != $_ && $group{$_} == $_ && $session{$_} != $session{$me} "
		     "&& kill(9, $_) "
		     "for keys %parent; select(undef, undef, undef, 0.2); exec @ARGV'");
	cr_assert(layers_gone(0));
}

/* More work than there are processors waits for them, which is as much as was asked for. */
Test(small_layer_in_force, other_work_that_waits_is_in_force)
{
	const char *out;

	need_device();
	cr_assert(zero(int, shell(&out,
				  "'%s' layer --quiet cpu n=$((4 * $(nproc))) -- '%s' " RUN
				  " --json 2>/dev/null | grep -c '\"in_force\": true'",
				  rift(), rift())),
		  "%s", out);
	cr_assert(layers_gone(0));
}

/* A helper that is lost while a process measures spoils what that measured. */
Test(small_layer_in_force, a_process_asks_again_at_its_end)
{
	const char *folder = getenv("XDG_RUNTIME_DIR"); /* of layers_apart() */
	pid_t sweep;

	need_device();
	sweep = start_command(
		-1,
		"'%s' sweep launch us=0 --depth 1:512:x2 --mode stream --processes 1 --rounds "
		"24 --warm-up 0.01 --quiet --layer 'cpu share=20 n=1' --output "
		"'%s/s.jsonl' >/dev/null 2>'%s/said'",
		rift(), folder, folder);
	cr_assert(zero(int, shell(NULL,
				  "for i in $(seq 600); do grep -qs '\"record\":\"header\".*"
				  "\"side\":\"b\"' '%s/s.jsonl.part' && exit; sleep 0.05; done; "
				  "exit 1",
				  folder)),
		  "no process of side b began");
	kill(find_role(ROLE_HELPER), SIGKILL);
	cr_assert(ne(int, status_of_end(sweep), 0), "it ended well");
	cr_assert(zero(int, shell(NULL, "grep -q 'cpu is not active' '%s/said'", folder)),
		  "it is not said");
}

Test(small_layer_in_force, a_container_that_was_left)
{
	need_device();
	not_in_force("container is not active: 0 of 3 namespaces are its own", "none",
		     "env RIFT_LAYERS='[{\"name\":\"container\",\"set\":[]}]' "
		     "RIFT_LAYER_CONTAINER_pid=$(readlink /proc/self/ns/pid) "
		     "RIFT_LAYER_CONTAINER_ipc=$(readlink /proc/self/ns/ipc) "
		     "RIFT_LAYER_CONTAINER_uts=$(readlink /proc/self/ns/uts)");
}

/* A variable is no proof: whoever sets it by hand is asked as well. */
Test(small_layer_in_force, a_variable_alone_is_no_layer)
{
	static const char *const names[] = { "shim", "cpu",	  "preload",  "container",
					     "mps",  "neighbour", "profiler", "remote" };
	const char *err;

	need_device();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int rc = shell(&err,
			       "RIFT_LAYERS='[{\"name\":\"%s\",\"set\":[]}]' '%s' " RUN
			       " 2>&1 >/dev/null",
			       names[i], rift());

		cr_assert(eq(int, rc, 4), "%s: %s", names[i], err);
		cr_assert(one_line_says(err, "is not active"), "%s", err);
	}
}

/* What is no list of layers, or names those that nobody knows, ends nothing. */
Test(small_layer_in_force, a_variable_that_is_none)
{
	static const char *const values[] = { "",
					      "x",
					      "{}",
					      "[1]",
					      "[]",
					      "[{\"name\":1}]",
					      "[[[[",
					      "[{\"name\":\"unheard\"}]",
					      "[{}]",
					      "[{\"name\":\"none\",\"set\":5}]",
					      "[{\"name\":\"none\",\"set\":[5, null]}]" };
	const char *out;

	need_device();
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int rc = shell(&out, "RIFT_LAYERS='%s' '%s' " RUN " 2>&1", values[i], rift());

		cr_assert(zero(int, rc), "%s: %s", values[i], out);
		rc = shell(&out,
			   "RIFT_LAYERS='%s' '%s' layer none -- '%s' " RUN
			   " --json 2>&1 >/dev/null",
			   values[i], rift(), rift());
		cr_assert(zero(int, rc), "%s: %s", values[i], out);
	}
}

Test(small_layer_in_force, a_sweep_whose_layer_is_not_in_force_writes_no_figure)
{
	char record[160];
	const char *out;
	int rc;

	need_device();
	snprintf(record, sizeof(record), "%s/../record.jsonl", layers_folder());
	rc = shell(&out,
		   "mkdir -p '%s' && chmod 700 '%s' && '%s' layer --quiet shim -- env -u "
		   "LD_PRELOAD '%s' sweep "
		   "launch --express --output '%s' 2>&1",
		   layers_folder(), layers_folder(), rift(), rift(), record);
	cr_assert(eq(int, rc, 4), "%d: %s", rc, out);
	cr_assert(strstr(out, "the layer shim is not active: its library is not loaded") != NULL,
		  "%s", out);
	cr_assert(ne(int,
		     shell(NULL,
			   "grep -q '\"measurement\"\\|\"blocks\"\\|\"values\"' '%s' 2>/dev/null",
			   record),
		     0));
	rc = shell(&out,
		   "'%s' sweep launch --express --layer 'preload lib=%s set=LD_PRELOAD=' --output "
		   "'%s.2' 2>&1",
		   rift(), shim_library(), record);
	cr_assert(eq(int, rc, 4), "%d: %s", rc, out);
	cr_assert(strstr(out, "the layer preload is not active") != NULL, "%s", out);
}

/* ---- in force, one in the other -------------------------------------------------------------- */

static const json_t *layers_of(const char *before)
{
	static json_t *kept;
	const char *out;
	int rc = shell(&out, "%s '%s' " RUN " --json 2>/dev/null", before, rift());

	cr_assert(zero(int, rc), "%s: %s", before, out);
	json_decref(kept);
	kept = json_loads(out, 0, NULL);
	cr_assert(ne(ptr, kept, NULL), "%s", out);
	return json_object_get(json_object_get(kept, "platform"), "layers");
}

static bool is_in_force(const json_t *layer)
{
	return json_is_true(json_object_get(layer, "in_force"));
}

Test(small_layer_in_force, layers_nest_in_any_order)
{
	static const char *const layers[] = { "shim", "cpu share=20 n=1", "container" };
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 },
					 { 1, 0, 2 }, { 0, 2, 1 }, { 2, 0, 1 } };

	need_device();
	if (!has_container())
		cr_skip("needs namespaces (bubblewrap)");
	for (int i = 0; i < (RACES ? 2 : 6); i++) {
		char before[8192];
		const json_t *all;
		int n = 0;

		for (int k = 0; k < 3; k++)
			n += snprintf(before + n, sizeof(before) - (size_t)n,
				      "'%s' layer --quiet %s -- ", rift(), layers[orders[i][k]]);
		all = layers_of(before);
		cr_assert(eq(sz, json_array_size(all), 3));
		for (int k = 0; k < 3; k++) {
			const json_t *l = json_array_get(all, (size_t)k);
			const char *name = json_string_value(json_object_get(l, "name"));

			cr_assert(zero(int, strncmp(layers[orders[i][k]], name, strlen(name))),
				  "%s", before);
			cr_assert(eq(int, is_in_force(l), 1), "%s%s: %s", before, name,
				  json_string_value(json_object_get(l, "detail")));
		}
		cr_assert(layers_gone(0), "%s: %d processes, %d folders", before, layers_running(),
			  layers_folders());
	}
}

Test(small_layer_in_force, without_layers_there_are_none)
{
	need_device();
	cr_assert(zero(sz, json_array_size(layers_of(""))));
	cr_assert(eq(sz, json_array_size(layers_of("env RIFT_LAYERS=[]")), 0));
}

/* ---- what the record says -------------------------------------------------------------------- */

/* The command has the variable; nobody else hears of it. */
Test(small_layer_in_force, secrets_stay_the_commands)
{
	char layer[4600];
	const char *out;

	snprintf(layer, sizeof(layer), "preload lib='%s' set=API_KEY=hush,OTHER=1", shim_library());
	cr_assert(zero(
		int, shell(&out, "'%s' layer %s -- sh -c 'echo $API_KEY $OTHER'", rift(), layer)));
	cr_assert(eq(str, (char *)out, "hush 1\n"));
	shell(&out, "'%s' layer %s -- sh -c 'echo \"$RIFT_LAYERS\"'", rift(), layer);
	cr_assert(strstr(out, "preload") && !strstr(out, "hush"), "%s", out);
	need_device();
	cr_assert(zero(int, shell(&out, "'%s' layer %s -- '%s' " RUN " --json 2>&1", rift(), layer,
				  rift())),
		  "%s", out);
	cr_assert(strstr(out, "(hidden)") && !strstr(out, "hush"), "%s", out);
	snprintf(layer, sizeof(layer), "preload lib=%s set=API_KEY=hush", shim_library());
	cr_assert(zero(int, shell(&out, "'%s' " RUN " --layer '%s' --json 2>&1", rift(), layer)),
		  "%s", out);
	cr_assert(strstr(out, "(hidden)") && !strstr(out, "hush"), "%s", out);
}

/* A sweep's record holds its command line, so that it can be resumed. */
Test(small_layer_in_force, a_sweep_takes_no_secret)
{
	const char *err;
	int rc = run_rift(ERR, &err,
			  "sweep launch --dry-run --layer 'preload lib=%s set=API_KEY=hush'",
			  shim_library());

	cr_assert(eq(int, rc, 3), "%s", err);
	cr_assert(strstr(err, "name a secret") && !strstr(err, "hush"), "%s", err);
	need_device();
	rc = run_rift(ERR, &err, "sweep launch --dry-run --layer 'preload lib=%s set=OTHER=1'",
		      shim_library());
	cr_assert(zero(int, rc), "%s", err);
}

/* A file whose name has such a word is looked for by that name. */
Test(small_layer_in_force, the_name_of_a_file_is_no_secret)
{
	char before[4600];
	const json_t *l;

	need_device();
	shell(NULL,
	      "mkdir -p '%s' && chmod 700 '%s' && mkdir -p '%s/../MY_KEYS' && cp '%s' "
	      "'%s/../MY_KEYS/lib.so'",
	      layers_folder(), layers_folder(), layers_folder(), shim_library(), layers_folder());
	snprintf(before, sizeof(before), "'%s' layer preload lib='%s/../MY_KEYS/lib.so' --", rift(),
		 layers_folder());
	l = json_array_get(layers_of(before), 0);
	cr_assert(eq(int, is_in_force(l), 1));
}
