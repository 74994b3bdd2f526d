/*
 * test_cpu_remote_bits.c - every workload leaves the same bits in the device's memory by way of the
 * layer remote as without it: this program runs each twice, once as its own client.
 *
 * It defines the functions that give out memory: what is there is filled first, and known.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <inttypes.h>

#include "common/cuda_check.h"
#include "layers/remote/test_daemon.h"
#include "tests/conformance.h"

TestSuite(small_remote_bits, .init = layers_apart, .timeout = 300);
TestSuite(large_remote_bits, .init = layers_apart, .timeout = 300);
TestSuite(small_remote_inner, .timeout = 300);

/* ---- memory of the device that is given out ----------------------------------------------- */

enum { BLOCKS_MAX = 4096 };

static struct {
	void *at;
	size_t bytes;
} blocks[BLOCKS_MAX];
static int n_blocks;

static void *next_function(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	CHECK(found, "%s", name);
	return found;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
	cudaError_t (*next)(void **, size_t);
	void *found = next_function("cudaMalloc");
	cudaError_t err;

	memcpy(&next, &found, sizeof(next));
	err = next(memory, bytes);
	if (err || !bytes)
		return err;
	CHECK(n_blocks < BLOCKS_MAX, "%d blocks", n_blocks);
	blocks[n_blocks].at = *memory;
	blocks[n_blocks++].bytes = bytes;
	/* before streams that do not wait for the default one */
	err = cudaMemset(*memory, 0xa5, bytes);
	return err ? err : cudaStreamSynchronize(0);
}

cudaError_t cudaFree(void *memory)
{
	cudaError_t (*next)(void *);
	void *found = next_function("cudaFree");

	memcpy(&next, &found, sizeof(next));
	for (int i = 0; i < n_blocks; i++)
		if (blocks[i].at == memory)
			blocks[i].at = NULL;
	return next(memory);
}

/* FNV-1a, of words of 8 bytes: two contents that differ in one word have different sums. */
static uint64_t sum_on(uint64_t sum, const uint64_t *word, size_t words)
{
	for (size_t i = 0; i < words; i++)
		sum = (sum ^ word[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* That of all that is there, in the order of its allocation. */
static uint64_t sum_of_memory(void)
{
	static uint64_t copy[1 << 17]; /* a piece, which a cache holds */
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < n_blocks; i++)
		for (size_t at = 0, n; blocks[i].at && at < blocks[i].bytes; at += n) {
			n = blocks[i].bytes - at < sizeof(copy) ? blocks[i].bytes - at
								: sizeof(copy);
			copy[(n - 1) / 8] = 0;
			CUDA(cudaMemcpy(copy, (char *)blocks[i].at + at, n,
					cudaMemcpyDeviceToHost));
			sum = sum_on(sum, copy, (n + 7) / 8);
		}
	return sum;
}

/* ---- workloads ---------------------------------------------------------------------------- */

static void run_workload(const struct workload *w, FILE *out)
{
	struct driven *s = driven_begin(w, 2);

	for (int mode = MODE_STREAM; mode <= MODE_FUSED; mode++) {
		if (!driven_allows(s, (enum mode)mode, 2))
			continue;
		driven_run(s, (enum mode)mode, 2);
		cr_assert(driven_passes(s, (enum mode)mode, 2), "%s, mode %d", w->name, mode);
		fprintf(out, "%s mode %d: %016" PRIx64 "\n", w->name, mode, sum_of_memory());
	}
	driven_end(s);
	n_blocks = 0;
}

/* Alone: every check passes. RIFT_REMOTE_BITS: where the bits are told. */
Test(small_remote_inner, every_workload_runs)
{
	const char *path = getenv("RIFT_REMOTE_BITS");
	FILE *out = fopen(path ? path : "/dev/null", "we");

	cr_assert(out != NULL);
	for (const struct workload *const *w = workloads; *w; w++)
		run_workload(*w, out);
	fclose(out);
}

static void leaves_the_same_bits(enum remote_transport transport)
{
	const char *folder = getenv("XDG_RUNTIME_DIR"), *out;
	struct own_daemon d;
	char set[256];
	int rc;

	own_transport = transport;
	d = own_daemon_start(false, NULL);
	snprintf(set, sizeof(set), "RIFT_REMOTE_BITS='%s/remote'", folder);
	rc = run_own_tests(&d, "small_remote_inner/*", set, &out);
	cr_assert(zero(int, rc), "%s", out);
	own_daemon_end(&d);
	snprintf(set, sizeof(set), "RIFT_REMOTE_BITS='%s/bare'", folder);
	cr_assert(zero(int, run_own_tests(NULL, "small_remote_inner/*", set, &out)), "%s", out);
	rc = shell(&out, "cd '%s' && test $(wc -l <bare) -ge 20 && diff bare remote", folder);
	cr_assert(zero(int, rc), "%s", out);
}

Test(small_remote_bits, every_workload_leaves_the_same_bits)
{
	leaves_the_same_bits(REMOTE_SHM);
}

Test(large_remote_bits, every_workload_leaves_the_same_bits_over_a_unix_socket)
{
	leaves_the_same_bits(REMOTE_UNIX);
}

Test(large_remote_bits, every_workload_leaves_the_same_bits_where_one_process_serves)
{
	own_is_shared = true;
	leaves_the_same_bits(REMOTE_SHM);
}

Test(large_remote_bits, every_workload_leaves_the_same_bits_over_tcp)
{
	leaves_the_same_bits(REMOTE_TCP);
}
