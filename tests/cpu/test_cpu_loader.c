/*
 * test_cpu_loader.c - which library of its name the loader takes: the CPU device beside the binary
 * before a toolkit's in LD_LIBRARY_PATH, and whatever was preloaded before both.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/wrapped.h"

TEST_FOLDER(folder);

TestSuite(small_cpu_loader, .init = make_folder, .fini = remove_folder, .timeout = 300);

#define MLP "run mlp batch=4 hidden=16 images=64 --depth 1 --samples 1 --check-steps 4 --quiet"

/* A toolkit's libraries of the same names, which have nothing of the CPU device. */
static void make_toolkit(void)
{
	const char *out;
	int rc = shell(&out,
		       "cd %s && echo 'libcudart.so.13 { global: *; };' >map && "
		       "echo 'int cudaMalloc(void) { return 999; }' >of.c && "
		       "for l in cudart cublas cublasLt; do ${CC:-cc} -shared -fPIC of.c -o "
		       "lib$l.so.13 -Wl,-soname,lib$l.so.13,--version-script=map || exit 1; done",
		       folder);

	cr_assert(zero(int, rc), "%s", out);
}

Test(small_cpu_loader, a_toolkit_in_LD_LIBRARY_PATH_is_passed_by)
{
	static const char *const runs[] = { "list", "run launch us=0 --depth 2 --samples 1 --quiet",
					    MLP };
	char self[512];
	const char *out;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	cr_assert(lt(int, 0, (int)n), "/proc/self/exe");
	self[n] = '\0';
	make_toolkit();
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		cr_expect(zero(int, shell(&out, "LD_LIBRARY_PATH=%s '%s' %s 2>&1", folder, rift(),
					  runs[i])),
			  "%s: %s", runs[i], out);
	/* without Criterion's variables, as it is a test of its own */
	cr_expect(zero(int, shell(&out, "env -i PATH=\"$PATH\" LD_LIBRARY_PATH=%s '%s' --list 2>&1",
				  folder, self)),
		  "a test program: %s", out);
}

/* What `make dist` copies is found in the folder alone. */
Test(small_cpu_loader, a_copied_folder_passes_a_toolkit_by_too)
{
	const char *out;

	make_toolkit();
	cr_assert(zero(int,
		       shell(&out,
			     "mkdir %s/copy && cd \"$(dirname \"$(realpath '%s')\")\" && cp rift "
			     "libcudart.so.13 libcublas.so.13 %s/copy/ 2>&1",
			     folder, rift(), folder)),
		  "%s", out);
	cr_expect(zero(int, shell(&out, "cd / && LD_LIBRARY_PATH=%s %s/copy/rift " MLP " 2>&1",
				  folder, folder)),
		  "%s", out);
}

/* A layer enters by preloading, say a file of the runtime's name: its calls come first. */
Test(small_cpu_loader, a_preloaded_library_comes_first)
{
	const char *out;
	int rc = shell(&out,
		       "cd %s && echo 'int cudaMalloc(void **p, unsigned long n) { (void)p; "
		       "(void)n; return 2; }' >of.c && ${CC:-cc} -shared -fPIC of.c -o "
		       "libcudart.so.13 2>&1",
		       folder);

	cr_assert(zero(int, rc), "%s", out);
	rc = shell(&out,
		   "ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\" "
		   "LD_PRELOAD=%s/libcudart.so.13 '%s' run launch us=0 --quiet 2>&1",
		   folder, rift());
	cr_expect(eq(int, rc, 3), "%s", out);
	cr_expect(ne(ptr, strstr(out, "on the device"), NULL), "%s", out);
}

/* The preloaded cudaMalloc lies in another folder than cuBLAS does. */
Test(small_cpu_loader, cublas_is_found_behind_a_wrapper)
{
	struct log log;

	run_wrapped(&log, "'%s' " MLP " 2>&1", rift());
	log_release(&log);
}
