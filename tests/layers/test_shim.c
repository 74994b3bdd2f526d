/*
 * test_shim.c - the layer shim: the names that it has, that each call passes as it was made, that
 * each is counted once.
 */
#include "tests/test.h"

#include <cuda_runtime_api.h>

#include "layers/shim/calls.h"
#include "tests/on_cpu.h"
#include "tests/cli.h"
#include "tests/races.h"
#include "tests/under_layer.h"

TestSuite(small_shim, .init = layers_apart, .timeout = 200);

static int call_stubs(const char **out, const char *prefix, const char *what)
{
	return call_stubs_under("shim", out, prefix, what);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Every line of `list` is a name of these versions, and every such name is a line. */
static void compare_names(char *list, int version)
{
	static const struct {
		const char *name;
		int versions;
	} names[] = {
#define RUNTIME_CALL(function, versions) { #function, versions },
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL
	};
	bool seen[RUNTIME_CALLS] = { false };
	char *rest = list, *word;

	while ((word = strsep(&rest, "\n"))) {
		int i = 0;

		if (!*word)
			continue;
		while (i < RUNTIME_CALLS && strcmp(names[i].name, word) != 0)
			i++;
		cr_assert(lt(int, i, RUNTIME_CALLS), "%s is not in runtime_calls.h", word);
		cr_assert(ne(int, version ? names[i].versions &version : 1, 0), "%s", word);
		seen[i] = true;
	}
	for (int i = 0; version && i < RUNTIME_CALLS; i++)
		cr_assert(eq(int, seen[i], (names[i].versions & version) != 0), "%s",
			  names[i].name);
}

/* The functions that a library exports, a line each; none: there is no such library. */
static char *exported(const char *library, const char *filter)
{
	const char *out;

	shell(&out,
	      "nm -D --defined-only %s 2>/dev/null | sed -n 's/^[0-9a-f]* [TWi] //p' | sed "
	      "'s/@.*//' | %s",
	      library, filter);
	return (char *)out;
}

static void compare_toolkit(const char *version, int bit)
{
	const char *home = getenv("CUDA_HOME");
	char library[4096], *list;

	snprintf(library, sizeof(library), "%s/lib64/libcudart.so.%s",
		 home ? home : "/usr/local/cuda", version);
	list = exported(library, "cat");
	if (!*list)
		cr_skip("needs libcudart.so.12 and .13 of a toolkit in CUDA_HOME (CUDA toolkit)");
	compare_names(list, bit);
}

Test(small_shim, names_are_those_of_cuda_12)
{
	compare_toolkit("12", CUDA_12);
}

Test(small_shim, names_are_those_of_cuda_13)
{
	compare_toolkit("13", CUDA_13);
}

/* A call that it lacks would pass it by, uncounted. */
Test(small_shim, it_has_all_names_of_the_runtime_in_use)
{
	char runtime[4200], *list;

	snprintf(runtime, sizeof(runtime), "$(dirname '%s')/libcudart.so.1[0-9]", rift());
	list = exported(runtime, "grep -E '^_*cuda'");
	cr_assert(ne(int, *list, '\0'));
	compare_names(list, 0);
}

Test(small_shim, it_exports_these_names_and_two_more)
{
	char *list = exported(shim_library(), "grep -vxE 'rift_shim_counts|dlsym'");

	cr_assert(ne(int, *list, '\0'));
	compare_names(list, CUDA_12 | CUDA_13);
}

/* ---- calls pass ----------------------------------------------------------------------------- */

Test(small_shim, registers_stack_and_answers_pass)
{
	char want[200], calls[40];
	const char *out;
	int rc = call_stubs(&out, "", "\"$C\" registers");

	cr_assert(zero(int, rc), "%s", out);
	snprintf(want, sizeof(want), "%d functions, %d calls as they were made, through shim.so",
		 RUNTIME_CALLS, 2 * RUNTIME_CALLS);
	cr_assert(strstr(out, want) != NULL, "%s", out);
	snprintf(calls, sizeof(calls), "saw %d calls", 2 * RUNTIME_CALLS);
	cr_assert(strstr(out, calls) != NULL, "%s", out);
}

/* The test itself would see a difference. */
Test(small_shim, without_it_the_calls_pass_as_well_and_are_not_counted)
{
	const char *out;
	int rc = shell(
		&out,
		"S='%s'; LD_PRELOAD=$S ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\" "
		"\"${S%%/*}/caller\" registers 2>&1",
		beside_tests("layers/stubs.so"));

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "through stubs.so") != NULL, "%s", out);
}

/* What no library has is refused, and not a jump to nowhere. */
Test(small_shim, a_function_that_the_runtime_lacks_is_not_supported)
{
	const char *out;
	int rc = shell(&out, "'%s' layer shim -- '%s' calls cudaMalloc=3 cudaLaunchKernel=2 2>&1",
		       rift(), beside_tests("layers/caller"));

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "saw 5 calls of the CUDA runtime; launch 2; memory 3\n") != NULL,
		  "%s", out);
}

/* ---- counts --------------------------------------------------------------------------------- */

Test(small_shim, counts_by_class_are_exact)
{
	const char *out;
	int rc = call_stubs(
		&out, "",
		"\"$C\" calls cudaGraphLaunch=11 cudaStreamBeginCapture=2 "
		"cudaGraphAddMemcpyNode=1 cudaLaunchKernel=7 cudaLaunchKernelExC=1 "
		"cudaLaunchHostFunc=1 cudaMemcpyAsync=5 cudaMemsetAsync=2 cudaMalloc=3 "
		"cudaFree=3 cudaMallocAsync=1 cudaStreamSynchronize=13 cudaStreamQuery=1 "
		"cudaEventSynchronize=1 cudaEventRecord=4 cudaStreamWaitEvent=2 "
		"cudaStreamCreate=6 cudaGetDevice=9");

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(eq(
		str, (char *)out,
		"rift: layer shim: saw 73 calls of the CUDA runtime; graph 14; launch 9; copy 7; "
		"memory 7; wait 15; event 6; stream 6; other 9\n"));
}

Test(small_shim, one_call_is_one_call)
{
	const char *out;

	cr_assert(zero(int, call_stubs(&out, "", "\"$C\" calls cudaGetDevice=1")), "%s", out);
	cr_assert(eq(str, (char *)out,
		     "rift: layer shim: saw 1 call of the CUDA runtime; other 1\n"));
	cr_assert(zero(int, call_stubs(&out, "", "true")), "%s", out);
	cr_assert(eq(str, (char *)out, "rift: layer shim: saw 0 calls of the CUDA runtime\n"));
}

Test(small_shim, no_call_of_many_threads_is_lost)
{
	const char *out;
	int rc = call_stubs(&out, "", "\"$C\" threads 4 3000000 cudaLaunchKernel");

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "saw 12000000 calls of the CUDA runtime; launch 12000000\n") != NULL,
		  "%s", out);
}

/* All threads come to a function at once that nobody has looked up. */
Test(small_shim, first_calls_of_many_threads)
{
	const char *out;
	int rc = call_stubs(&out, "",
			    "for i in 1 2 3 4 5 6 7 8 9 10; do \"$C\" threads 32 1 "
			    "cudaLaunchKernel cudaMalloc cudaFree || exit 1; done");

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "saw 960 calls of the CUDA runtime; launch 320; memory 640\n") !=
			  NULL,
		  "%s", out);
}

Test(small_shim, calls_of_all_processes_are_counted)
{
	const char *out;
	int rc = call_stubs(&out, "",
			    "\"$C\" calls cudaMalloc=1000 & \"$C\" calls cudaMalloc=1000 & "
			    "\"$C\" threads 4 1000 cudaFree & wait; \"$C\" calls cudaMalloc=10");

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "saw 6010 calls of the CUDA runtime; memory 6010\n") != NULL, "%s",
		  out);
}

/* The file of counts may be gone, or nobody's: the calls pass all the same. */
Test(small_shim, without_a_file_of_counts_calls_pass)
{
	const char *out;

	cr_assert(zero(int, call_stubs(&out, "env -u RIFT_LAYER_SHIM", "\"$C\" registers")), "%s",
		  out);
	cr_assert(zero(int, call_stubs(&out, "env RIFT_LAYER_SHIM=/nowhere", "\"$C\" registers")),
		  "%s", out);
	cr_assert(strstr(out, "saw 0 calls") != NULL, "%s", out);
}

Test(small_shim, quiet_says_nothing)
{
	const char *out;

	cr_assert(zero(int, run_rift(ERR, &out, "layer --quiet shim -- true")));
	cr_assert(eq(str, (char *)out, ""));
}

/* ---- programs ------------------------------------------------------------------------------- */

/* Its runtime is in no list that the loader would search next. */
Test(small_shim, a_plug_in_that_brings_its_runtime_works_and_is_counted)
{
	char plugin[4096];
	const char *out;
	int rc;

	need_device();
	snprintf(plugin, sizeof(plugin), "%s", beside_tests("layers/plugin.so"));
	rc = shell(&out, "'%s' layer shim -- '%s' plugin '%s' 2>&1", rift(),
		   beside_tests("layers/caller"), plugin);
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "the plug-in returns 0\n") != NULL, "%s", out);
	cr_assert(strstr(out, "saw 9 calls of the CUDA runtime; copy 2; memory 2; wait 1; stream "
			      "2; other 2\n") != NULL,
		  "%s", out);
}

/* A build of some layers and workloads may lack it (build.mk). */
static void need(const char *words)
{
	if (shell(NULL, "'%s' %s >/dev/null 2>&1", rift(), words))
		cr_skip("this build lacks a layer or workload: rift %s", words);
}

/* Layers are asked in their order; the runtime that a program has loaded goes past none. */
Test(small_shim, a_runtime_that_is_asked_for_its_functions_is_counted)
{
	const char *out;

	need_device();
	need("layer emulate -- true");
	for (int inside = 0; inside < 2; inside++) {
		char middle[4200] = "";
		int rc;

		if (inside)
			snprintf(middle, sizeof(middle), "'%s' layer --quiet emulate call=1 --",
				 rift());
		rc = shell(&out,
			   "'%s' layer shim -- %s '%s' ask \"$(ls \"$(dirname '%s')\"/"
			   "libcudart.so.1? | tail -n 1)\" 7 2>&1",
			   rift(), middle, beside_tests("layers/caller"), rift());
		cr_assert(zero(int, rc), "%s", out);
		/* rift of nvcc registers its kernels, as it becomes the inner layer */
		if (ON_CPU || !inside)
			cr_assert(ne(ptr, strstr(out, "saw 7 calls of the CUDA runtime; other 7\n"),
				     NULL),
				  "%s", out);
	}
}

/* One that nothing can stand before works as well. */
Test(small_shim, a_runtime_in_a_namespace_of_its_own_works)
{
	const char *out;
	int rc;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	cr_skip("a sanitizer's runtime cannot be there twice, in two namespaces");
#endif
	need_device();
	rc = shell(&out,
		   "'%s' layer shim -- '%s' ask \"$(ls \"$(dirname '%s')\"/libcudart.so.1? | tail "
		   "-n 1)\" 7 far 2>&1",
		   rift(), beside_tests("layers/caller"), rift());
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(ne(ptr, strstr(out, "saw 0 calls of the CUDA runtime"), NULL), "%s", out);
}

/* 0 calls have a reason, where there was a runtime to be called. */
Test(small_shim, a_runtime_without_a_call_is_told)
{
	static const char told[] = "; the runtime was loaded in 1 process that made no call it saw";
	const char *out;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: rift of nvcc registers its kernels");
	need("layer emulate -- true");
	cr_assert(zero(int, shell(&out, "'%s' layer shim -- '%s' --version 2>&1", rift(), rift())));
	cr_expect(ne(ptr, strstr(out, told), NULL), "%s", out);
	cr_assert(zero(int, shell(&out, "'%s' layer emulate call=1 -- '%s' --version 2>&1", rift(),
				  rift())));
	cr_expect(ne(ptr, strstr(out, told), NULL), "%s", out);
	cr_assert(zero(int, shell(&out, "'%s' layer shim -- true 2>&1", rift())));
	cr_expect(eq(ptr, strstr(out, told), NULL), "%s", out);
}

Test(small_shim, cublas_works_and_its_launches_are_counted)
{
	const char *out, *launches;
	int rc;

	need_device();
	need("list mlp");
	rc = shell(&out,
		   "'%s' layer shim -- '%s' run mlp batch=32 hidden=16 images=600 --samples 1 "
		   "--depth 2 --check-steps 2 2>&1",
		   rift(), rift());
	cr_assert(zero(int, rc), "%s", out);
	launches = strstr(out, "; launch ");
	cr_assert(launches != NULL, "%s", out);
	cr_assert(lt(int, 0, atoi(launches + strlen("; launch "))), "%s", out);
}
