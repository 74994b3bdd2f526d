/* test_cli_doctor.c - `rift doctor` of the real binary, and the platform in `rift run --json`. */
/* sanitizers: races seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"

TestSuite(small_cli_doctor, .timeout = 300);

static const json_t *member(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	cr_assert(ne(ptr, (void *)value, NULL), "key '%s' is missing", key);
	return value;
}

/* The first finding of this name, or NULL. */
static const json_t *finding(const json_t *o, const char *name)
{
	const json_t *f;
	size_t i;

	json_array_foreach(member(o, "findings"), i,
			   f) if (!strcmp(get_text(f, "name"), name)) return f;
	return NULL;
}

static const char *state_of(const json_t *o, const char *name)
{
	const json_t *f = finding(o, name);

	return f ? get_text(f, "state") : "no such finding";
}

/* A library that tests load. */
static const char *library(const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.so", name);
	return beside_tests(file);
}

/* The address sanitizer would want to be preloaded first. */
#define PRELOAD "ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\" LD_PRELOAD='%s' "

Test(small_cli_doctor, a_page_with_a_line_for_each_thing)
{
	static const char *const want[] = { "ok      device            ",
					    "\nok      kernels ",
					    "\nok      graphs ",
					    "hypervisor ",
					    "container ",
					    "processor ",
					    "pinning ",
					    "memory ",
					    "load ",
					    "\nok      clock ",
					    "libraries ",
					    "gnuplot ",
					    "\nMeasuring works here: ",
					    NULL };

	need_device();
	says("doctor", want);
}

Test(small_cli_doctor, json_has_states_and_the_platform)
{
	const json_t *o, *f;
	size_t i;

	need_device();
	o = rift_json("doctor --json --platform 'vm a' --host-name");
	cr_assert(eq(int, json_is_true(member(o, "works")), 1), "works");
	cr_assert(lt(sz, 15, json_array_size(member(o, "findings"))), "findings");
	json_array_foreach(member(o, "findings"), i, f)
	{
		cr_assert(ne(ptr, strstr("ok note warn missing", get_text(f, "state")), NULL),
			  "%zu: %s", i, get_text(f, "state"));
		cr_assert(lt(sz, 0, strlen(get_text(f, "text"))), "%zu", i);
	}
	o = member(o, "platform");
	cr_assert(eq(str, (char *)get_text(member(o, "virt"), "declared_platform"), "vm a"),
		  "name");
	cr_assert(eq(ptr, strstr(get_text(member(o, "host"), "name"), "sha256:"), NULL), "hashed");
	member(member(o, "gpu"), "uuid");
	member(o, "env");
}

Test(small_cli_doctor, run_puts_the_same_object_into_its_json)
{
	const json_t *run, *doctor;
	const char *key;
	json_t *value;

	need_device();
	run = member(rift_json("run %s --depth 1 --samples 1 --json --platform here", name()),
		     "platform");
	doctor = member(rift_json("doctor --json"), "platform");
	json_object_foreach((json_t *)doctor, key, value) member(run, key);
	cr_assert(eq(int, json_equal(member(run, "build"), member(doctor, "build")), 1), "build");
	cr_assert(lt(sz, 0, strlen(get_text(member(run, "gpu"), "name"))), "name");
	cr_assert(eq(str, (char *)get_text(member(run, "gpu"), "name"),
		     (char *)get_text(member(doctor, "gpu"), "name")),
		  "name");
	cr_assert(eq(str, (char *)get_text(member(run, "virt"), "declared_platform"), "here"),
		  "declared");
	cr_assert(eq(int,
		     strncmp(get_text(member(run, "host"), "name"), "sha256:", 7) &&
			     !json_is_null(member(member(run, "host"), "name")),
		     0),
		  "the host's name in plain");
}

Test(small_cli_doctor, a_wrapper_in_between_is_found)
{
	const char *text;
	json_t *o;

	need_device();
	cr_assert(zero(int, shell(&text, PRELOAD "'%s' doctor --json 2>/dev/null",
				  library("wrapper"), rift())),
		  "%s", text);
	o = json_loads(text, 0, NULL);
	cr_assert(eq(str, (char *)state_of(o, "interposed"), "warn"), "%s", text);
	cr_assert(ne(ptr,
		     strstr(get_text(finding(o, "interposed"), "text"),
			    "wrapper.so: exports cudaLaunchKernel"),
		     NULL),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "\"LD_PRELOAD="), NULL), "%s", text);
	json_decref(o);
}

Test(small_cli_doctor, a_variable_that_spoils_is_found)
{
	const char *text;

	need_device();
	cr_assert(zero(int, shell(&text, "CUDA_LAUNCH_BLOCKING=1 '%s' doctor", rift())), "%s",
		  text);
	cr_assert(ne(ptr,
		     strstr(text, "\nwarn    variable          CUDA_LAUNCH_BLOCKING=1: every "
				  "launch waits"),
		     NULL),
		  "%s", text);
}

Test(small_cli_doctor, without_gnuplot_it_says_what_to_install)
{
	const char *text;

	need_device();
	cr_assert(zero(int, shell(&text, "PATH=/nowhere '%s' doctor", rift())), "%s", text);
	cr_assert(ne(ptr, strstr(text, "\nmissing gnuplot           not on PATH\n"), NULL), "%s",
		  text);
	cr_assert(ne(ptr, strstr(text, "apt-get install gnuplot-nox"), NULL), "%s", text);
}

/* What CUDA's runtime reports, by its number; 4, and what to do, whatever the reason. */
static void broken_with(int error)
{
	const char *text;
	json_t *o;
	int code = shell(&text, "FAKE_CUDA_ERROR=%d " PRELOAD "'%s' doctor --json 2>/dev/null",
			 error, library("driver/none"), rift());

	cr_assert(eq(int, code, 4), "error %d: %s", error, text);
	o = json_loads(text, 0, NULL);
	cr_assert(eq(int, json_is_false(member(o, "works")), 1), "error %d", error);
	cr_assert(eq(str, (char *)state_of(o, "device"), "missing"), "error %d: %s", error, text);
	cr_assert(lt(sz, 0, strlen(get_text(finding(o, "device"), "advice"))), "error %d", error);
	/* the rest of the page is there all the same */
	cr_assert(eq(str, (char *)state_of(o, "clock"), "ok"), "error %d: %s", error, text);
	cr_assert(eq(str, (char *)state_of(o, "libraries"), "ok"), "error %d", error);
	json_decref(o);
}

Test(small_cli_doctor, a_broken_driver_is_4_with_the_whole_page)
{
	broken_with(35);
	broken_with(0);
	broken_with(803);
	broken_with(999);
}

Test(small_cli_doctor, wrong_usage)
{
	refused(3, "'--json'", "doctor --jsn");
	refused(3, "'x'", "doctor x");
	refused(3, "--platform NAME", "doctor --platform");
	refused(3, "--platform=''", "doctor --platform ''");
	refused(3, "--platform='a\\tb'", "doctor --platform \"$(printf 'a\\tb')\"");
	refused(3, "--platform=''", "run %s --platform ''", name());
}

Test(small_cli_doctor, help)
{
	static const char *const want[] = { "--json", "--platform", "--host-name", "Exit codes",
					    NULL };
	static const char *const all[] = { "rift doctor", NULL };

	says("doctor --help", want);
	says("help doctor", want);
	says("--help", all);
}
