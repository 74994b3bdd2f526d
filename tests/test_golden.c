/*
 * test_golden.c - the words of rift: what some command lines print, byte for byte, against
 * tests/golden/outputs/NAME.txt. They are chosen to show every kind of output that is the same on
 * every machine: help, lists, what is said of sessions that are kept or made up, a chart's texts,
 * and refusals, each a line.
 *
 * Here, and in the test_*_golden.c of kept records, is the wording held. All other tests ask for
 * what it tells: exit codes, numbers, names of options, parameters and files. Whoever changes a
 * word runs
 *
 *   make golden        writes the files anew (UPDATE_GOLDEN=1), and git diff shows what rift now
 * says
 *
 * A new refusal is one more command line below. Its wording belongs there; a test of its own says
 * under which conditions it comes.
 */
/* sanitizers: races seen elsewhere */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

TestSuite(small_golden, .init = figures_folder_make, .fini = figures_folder_remove, .timeout = 300);
TestSuite(large_golden, .init = figures_folder_make, .fini = figures_folder_remove, .timeout = 300);

/* Texts of scripts, but for those that say what a mark is. */
#define TEXTS(scripts)                                                                             \
	"grep -hE \"^[a-z_0-9]+ = '[^']* [^']*'\" " scripts                                        \
	" | grep -vE '^(device|(row|ideal|native|bar|size|title|total)[0-9]+) '"

/* A plot of which the data and the scripts are wanted, not the pictures. */
#define UNDRAWN(arguments) "(PATH=; rift plot " arguments "; [ $? = 3 ])"

/* ---- what succeeds ------------------------------------------------------------------------ */

static const struct golden_output said[] = {
	{ "help", COMMANDS("rift help", "rift help run", "rift help sweep", "rift help compare",
			   "rift help fit") },
	/* of three workloads, so that another one changes nothing here */
	{ "list",
	  COMMANDS("rift list | awk '/^[a-z]/ { on = /^(launch|mlp|myocyte):/ } on'",
		   "rift list launch", "rift list myocyte",
		   "rift layer | awk '/^[a-z]/ { on = /^(container|cpu|emulate) / } on' | grep =",
		   "rift layer --json | grep -vE '\"(available|why_not)\"' | sed -n '/\"name\": "
		   "\"cpu\"/,/\"presets\"/p'") },
	{ "show", COMMANDS("rift show " KEPT "launch.jsonl", "rift show " KEPT "costs.json",
			   "rift show both.jsonl") },
	{ "check",
	  COMMANDS(": head -c -9 data/sessions/h200-launch.jsonl >torn", "rift show --check torn",
		   "rift show --check " KEPT "launch.jsonl " KEPT "costs.json") },
	{ "fit", COMMANDS("rift fit " KEPT "launch.jsonl", "rift fit " KEPT "myocyte.jsonl") },
	{ "stack", COMMANDS("rift fit --stack " KEPT "mlp.jsonl --from " KEPT
			    "launch.jsonl --costs " KEPT "costs.json",
			    "rift fit --stack " KEPT "copied.jsonl") },
	{ "predict",
	  COMMANDS("rift predict work.jsonl --on guest.jsonl --measured elsewhere.jsonl",
		   "rift predict --validate " KEPT "myocyte.jsonl --on " KEPT "launch.jsonl") },
	{ "compare", COMMANDS("rift compare both.jsonl --force",
			      "rift compare both.jsonl --force "
			      "--margin 25",
			      "rift compare --self-test " KEPT "launch.jsonl",
			      "rift compare " KEPT "costs.json other-costs.json") },
	{ "compare-many", COMMANDS("rift compare guest.jsonl both=both.jsonl --force",
				   "rift compare both.jsonl:a both.jsonl guest.jsonl --force",
				   "rift compare copies.jsonl:a copies=copies.jsonl") },
	/* titles, findings and labels, which need no gnuplot; test_chart_figures.c draws them */
	{ "plot",
	  COMMANDS(": " UNDRAWN("both.jsonl --output both"),
		   ": " UNDRAWN(KEPT "collection.jsonl.gz --output collection"),
		   ": " UNDRAWN(KEPT "mlp.jsonl --from " KEPT "launch.jsonl --costs " KEPT
				     "costs.json --output mlp"),
		   ": " UNDRAWN(KEPT "copied.jsonl --over copied --output copied"),
		   TEXTS("both/*.gp"), TEXTS("collection/collection.gp collection/alignment-*.gp"),
		   TEXTS("mlp/*.gp"), TEXTS("copied/*.gp")) },
};

/* ---- what is refused, by kind ------------------------------------------------------------- */

static const struct golden_output refusals[] = {
	/* those that may use the device come first, USE_DEVICE of them */
	/* what the command line has too much of, or too little, or cannot be told from another */
	{ "refused-options",
	  COMMANDS(
		  "rift", "rift rnu", "rift check x", "rift xyzzy", "rift launch", "rift --jsno",
		  "rift --version x", "rift help rum", "rift help run list",
		  "rift help --format=markdown", "rift help run --format=man",
		  "rift help run --format=html", "rift help --format=man --format=man",
		  "rift list --jsn", "rift list xyzzyxyzzy", "rift list launch more", "rift run",
		  "rift run launhc", "rift run xyzzyxyzzy", "rift run launch --moed=x",
		  "rift run launch --xyzzyxyzzy=5", "rift run launch -x", "rift run launch --depth",
		  "rift run launch --json=yes", "rift run launch --depth 1 --depth 1",
		  "rift run launch sync=poll", "rift run launch depth=64", "rift run launch plot=x",
		  "rift run launch --plot x", "rift run launch --plot --depth 1",
		  "rift run launch uss=1", "rift run launch us=1 us=1", "rift run launch us",
		  "rift run launch 1024", "rift run launch ''",
		  "rift run launch \"$(printf 'a\\nb=1')\"", "rift sweep launch launch",
		  "rift sweep launch us=1 launch", "rift sweep launch --quik",
		  "rift sweep launch xyzzy=1,2", "rift sweep launch transfer stereo.width=640",
		  "rift sweep launch transfer launch.uss=1", "rift sweep launch --resume x",
		  "rift sweep myocyte trajectory=x", "rift sweep myocyte --around trajectory=x,y",
		  "rift sweep launch --depth 1 --depth 2", "rift sweep-worker </dev/null",
		  "rift sweep us=0 --resolve c=1us --sync spin,yield",
		  "rift sweep us=0 --mode stream --resolve a=1us", "rift sweep us=0 --margin 2%",
		  "rift sweep --lock-clocks --resume x", "rift show --csv x y", "rift show",
		  "rift show a b", "rift fit", "rift fit a b", "rift fit x --off-gird y",
		  "rift atlas x", "rift help atlas", "rift compare", "rift compare x y z",
		  "rift compare x y z --strict", "rift compare x y --plot z",
		  "rift compare --self-test x y", "rift compare x y --margni=2", "rift fit --stack",
		  "rift fit --stack a b", "rift predict --validate", "rift predict x", "rift plot",
		  "rift plot a b c", "rift plot x --card", "rift doctor x", "rift doctor --jsn",
		  "rift probe x", "rift probe graph length", "rift probe --warmup",
		  "rift probe --warmup x", "rift probe --warmup launch --dept 1",
		  "rift sensitivity launch", "rift sweep launch --layer 'emulate cal=1,2'",
		  "rift sweep launch --layer 'emulate call=1,2 call=3,4'",
		  "rift sweep launch --layer 'emulate call=1,2' --quick",
		  "rift sweep launch --layer 'remote transport=tcp rtt=25' --quick",
		  "rift sweep launch --plot x", "rift sweep launch --layer shim --json",
		  "rift share", "rift share launch --arms process",
		  "rift share launch --arms serial,serial", "rift share --from a --resume b",
		  "rift share launch --from a", "rift share launch --clients 1 --fault kill",
		  "rift share launch --with ''") },
	/* values that an option or a parameter cannot take */
	{ "refused-values",
	  COMMANDS("rift run launch --mode grpah", "rift run launch --sync spn",
		   "rift run launch --depth 0", "rift run launch --depth=-1",
		   "rift run launch --depth 1e3", "rift run launch --samples nan",
		   "rift run launch --plot=", "rift run launch us=1e30", "rift run launch us=nan",
		   "rift run launch us=1x",
		   "rift run launch us=", "rift run transfer dir=d2d host=pageable",
		   "rift run transfer probe=yes bytes=4k", "rift run graph --plot=x --mode graph",
		   "rift run graph width=8", "rift run graph node=memcpy op=params",
		   "rift run graph node=h2d bytes=12", "rift probe graph length=1,",
		   "rift probe graph probe=yes", "rift probe --warmup launch --depth 1,1",
		   "rift probe --warmup graph op=first --depth 100", "rift run matmul overlap=4",
		   "rift run matmul data=streamed block=100000",
		   "rift run matmul data=streamed m=7 n=5 overlap=8",
		   "rift run matmul data=streamed n=128 total=1000",
		   "rift run matmul data=streamed --mode fused",
		   "rift run matmul data=streamed n=8k block=64k --mode graph",
		   "rift run myocyte step=0.01", "rift run myocyte solver=fixed tolerance=1e-7",
		   "rift run myocyte every=2", "rift run myocyte states=a derivatives=b cells=2",
		   "rift run myocyte states=a derivatives=b --depth 2",
		   "rift sweep launch --mode steam", "rift sweep launch --depth 0,1",
		   "rift sweep launch --warm-up 0", "rift sweep launch --processes 0",
		   "rift sweep launch --output ''", "rift sweep launch --against ' '",
		   "rift sweep --resume ''", "rift sweep --lock-clocks=0",
		   "rift sweep us=0 --resolve q=1us", "rift sweep us=0 --resolve k=1us",
		   "rift sweep us=0 --resolve c=1us,c=2us", "rift sweep us=0 --resolve c=1parsec",
		   "rift sweep us=0 --against env --margin 0", "rift show --check --csv '' x",
		   "rift fit x --side c", "rift fit x --workload lunch",
		   "rift compare x y --margin 0.02", "rift compare x y --margin=two",
		   "rift compare x y --margin=-1", "rift compare x y --session-sd=nan",
		   "rift compare x y --workload lunch", "rift plot x --output ''",
		   "rift sweep launch --layer 'emulate call=0,1e7'",
		   "rift sweep launch --layer 'emulate call=1,1'",
		   "rift sweep launch --layer 'emulate call=1,2,3,4,5,6,7,8,9'",
		   "rift share launch --clients 2,1", "rift share launch --clients 1,",
		   "rift share launch --clients 0", "rift share launch --layer-of 5",
		   "rift share launch --repetitions 5 --starts 6", "rift share launch --window 0",
		   "rift doctor --platform ''", "rift doctor --platform \"$(printf 'a\\tb')\"") },
	/* files that are not there, no records, not whole, or in the way */
	{ "refused-files",
	  COMMANDS(
		  ": cp data/sessions/h200-launch.jsonl s.jsonl; mkdir folder; mkfifo pipe; "
		  ">empty; "
		  "printf 'x,y\n1,2\n' >table; printf '{\"x\":1}\n{}\n' >other; ln -s s.jsonl link",
		  ": head -c -9 s.jsonl >torn; head -n 60 s.jsonl >half; head -c 100 s.jsonl "
		  ">line; "
		  "sed '5s/t_total_ns/t_totul_ns/' s.jsonl >renamed; sed 1q s.jsonl >begun; "
		  "sed '1s/\"schema\":\"[12][.][0-9]\"/\"schema\":\"3.0\"/' s.jsonl >newer",
		  "rift fit none", "rift fit folder", "rift fit pipe", "rift fit empty",
		  "rift fit table", "rift fit other", "rift fit torn", "rift fit half",
		  "rift fit line", "rift fit changed", "rift fit renamed", "rift fit newer",
		  "rift fit begun", "rift show none", "rift show begun", "rift show newer",
		  "rift compare s.jsonl none", "rift compare s.jsonl torn",
		  "rift compare s.jsonl half", "rift compare s.jsonl changed",
		  "rift compare s.jsonl newer", "rift plot s.jsonl --output s.jsonl",
		  "rift plot s.jsonl --output s.jsonl/x", "rift plot s.jsonl --output /proc/self/x",
		  "rift show --check none", "rift show --check folder", "rift show --check pipe",
		  "rift show --check --csv s.jsonl s.jsonl",
		  "rift show --check --ratios link s.jsonl",
		  "rift show --check --csv empty s.jsonl", "rift sweep launch --output s.jsonl",
		  "rift sweep --resume none", "rift sweep --resume table",
		  "rift sweep --resume pipe", "rift fit --stack s.jsonl --costs s.jsonl",
		  ": gzip -k s.jsonl; head -c -4 s.jsonl.gz >cut.gz; cat s.jsonl.gz table >more.gz",
		  "rift show --check cut.gz", "rift show --check more.gz",
		  "rift sweep --resume s.jsonl.gz", "rift sweep launch --output new.jsonl.gz",
		  "rift run launch --plot=s.jsonl",
		  ": zcat data/sessions/share-h200/equal-1.jsonl.gz >share; head -n 3 share "
		  ">begun-share",
		  "rift share --resume share", "rift share --resume begun-share") },
	/* records with one line changed */
	{ "refused-records",
	  COMMANDS(": sed '2s/\"session_id\":\"./\"session_id\":\"x/' " KEPT
		   "launch.jsonl >session",
		   ": sed '2s/\"plan_sha256\":\"../\"plan_sha256\":\"zz/' " KEPT
		   "launch.jsonl >plan",
		   ": sed '2s/\"process_index\":0/\"process_index\":9/' " KEPT
		   "launch.jsonl >process",
		   ": sed '3p' " KEPT "launch.jsonl >twice",
		   ": sed '3s/\"t_total_ns\":.[0-9]*,/\"t_total_ns\":[1,/' " KEPT
		   "launch.jsonl >summary",
		   ": sed '3s/\"marks\"/\"merks\"/' " KEPT "launch.jsonl >field",
		   ": sed '4d' " KEPT "launch.jsonl >fewer",
		   ": sed '1s/\"rounds\":[0-9]*/\"rounds\":0/' " KEPT "launch.jsonl >rounds",
		   "rift show --check session", "rift show --check plan",
		   "rift show --check process", "rift show --check twice",
		   "rift show --check summary", "rift show --check field",
		   "rift show --check fewer", "rift show --check rounds") },
	/* sessions that cannot be used so, or not together */
	{ "refused-sessions",
	  COMMANDS("rift compare " KEPT "launch.jsonl " KEPT "myocyte.jsonl",
		   "rift compare " KEPT "launch.jsonl guest.jsonl",
		   "rift compare guest.jsonl off.jsonl", "rift compare both.jsonl",
		   "rift compare guest.jsonl", "rift compare guest.jsonl guest.jsonl",
		   "rift compare guest.jsonl both.jsonl", "rift compare both.jsonl:b",
		   "rift compare both.jsonl:a both.jsonl:a",
		   "rift compare guest.jsonl " KEPT "costs.json",
		   "rift compare work.jsonl elsewhere.jsonl --workload launch",
		   "rift compare both.jsonl row=guest.jsonl",
		   "rift compare both.jsonl:b row=guest.jsonl",
		   "rift compare guest.jsonl row=both.jsonl",
		   "rift compare guest.jsonl row=off.jsonl",
		   "rift compare guest.jsonl row=guest.jsonl",
		   "rift compare guest.jsonl row=off.jsonl --workload myocyte",
		   "rift fit both.jsonl:a --side b", "rift fit guest.jsonl --side b",
		   "rift fit guest.jsonl --over guest.jsonl", "rift fit guest.jsonl --sync poll",
		   "rift fit guest.jsonl --off-grid " KEPT "launch.jsonl",
		   "rift fit guest.jsonl --workload myocyte", "rift fit " KEPT "costs.json",
		   "rift predict work.jsonl --on both.jsonl",
		   "rift predict work.jsonl --on guest.jsonl --from both.jsonl",
		   "rift predict guest.jsonl --on guest.jsonl --measured work.jsonl",
		   "rift predict --validate work.jsonl", "rift predict --validate guest.jsonl",
		   "rift fit --stack work.jsonl --from elsewhere.jsonl",
		   "rift fit --stack work.jsonl --costs " KEPT "costs.json",
		   "rift plot guest.jsonl off.jsonl", "rift plot guest.jsonl both.jsonl",
		   "rift plot guest.jsonl guest.jsonl", "rift plot guest.jsonl work.jsonl",
		   "rift plot guest.jsonl --over copied", "rift plot guest.jsonl --over steams",
		   "rift plot guest.jsonl --over kernel",
		   "rift plot guest.jsonl off.jsonl --costs " KEPT "costs.json",
		   "rift compare --each date guest.jsonl ./guest.jsonl", "rift show guest.jsonl:b",
		   "rift show --check guest.jsonl --csv c.csv --side b") },
};

/* ---- all ---------------------------------------------------------------------------------- */

enum {
	COUNT_SAID = sizeof(said) / sizeof(*said),
	COUNT_REFUSALS = sizeof(refusals) / sizeof(*refusals),
	USE_DEVICE = 2
};

/* Places in the tables: a test's process has them elsewhere. */
static int places[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

ParameterizedTestParameters(large_golden, outputs)
{
	return cr_make_param_array(int, places, COUNT_SAID);
}

ParameterizedTest(int *place, large_golden, outputs)
{
	golden(&said[*place], false);
}

/* What has one thread has no races (tools/sanitize.sh). */
ParameterizedTestParameters(small_golden, refusals)
{
#ifdef __SANITIZE_THREAD__
	return cr_make_param_array(int, places, USE_DEVICE);
#else
	return cr_make_param_array(int, places, COUNT_REFUSALS);
#endif
}

/* The CPU device ends whoever uses it with a setting that is none. */
ParameterizedTest(int *place, small_golden, refusals)
{
	if (*place >= USE_DEVICE)
		setenv("RIFT_CPU_WORKERS", "none, as these have one thread", 1);
	golden(&refusals[*place], true);
}
