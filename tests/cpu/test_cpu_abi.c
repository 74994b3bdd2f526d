/*
 * test_cpu_abi.c - the CPU device's headers agree with NVIDIA's, value by value, and its library
 * can be wrapped as NVIDIA's can.
 */
/* sanitizers: one thread */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

TestSuite(small_cpu_abi, .timeout = 300);

/* The layouts are those of CUDA 13; older toolkits differ in a few and are not compared. */
Test(small_cpu_abi, values_sizes_offsets_and_prototypes_are_nvidias)
{
	char include[512], folder[] = "/tmp/rift-abi-XXXXXX";
	const char *out;
	int rc = shell(&out, "include=$(dirname \"$(tools/nvcc.sh)\")/../include && "
			     "grep -q 'CUDART_VERSION *13' \"$include\"/cuda_runtime_api.h && "
			     "printf %%s \"$include\"");

	if (rc)
		cr_skip("needs the headers of CUDA 13 (cuda-toolkit-13-0)");
	snprintf(include, sizeof(include), "%s", out);
	cr_assert(ne(ptr, mkdtemp(folder), NULL), "mkdtemp");
	rc = shell(&out, "tests/abi_probe.sh %s %s 2>&1", include, folder);
	cr_expect(zero(int, rc), "%s", out);
	cr_expect(ne(ptr, strstr(out, "prototypes agree"), NULL), "%s", out);
	shell(NULL, "rm -rf %s", folder);
}

/* A preloaded wrapper would count such a call twice. */
Test(small_cpu_abi, no_runtime_call_goes_through_another)
{
	const char *out;
	Dl_info info;

	cr_assert(ne(int, dladdr((void *)cudaMalloc, &info), 0), "no library");
	shell(&out, "readelf -rW %s | grep -o ' cuda[A-Z][A-Za-z0-9]*'; echo", info.dli_fname);
	cr_expect(eq(str, (char *)out, "\n"), "relocated:%s", out);
}
