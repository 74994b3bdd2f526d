/* test_platform_parts.c - facts, variables, libraries, and the object that records hold. */
#include "tests/test.h"
#include "harness/platform/libraries.h"
#include "harness/platform/platform.h"
#include "tests/place.h"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

TestSuite(small_platform_parts, .timeout = 300, .fini = place_remove);

/* ---- facts ------------------------------------------------------------------------------ */

Test(small_platform_parts, facts_are_tidy)
{
	struct fact f = fact_text("%s", " two\twords \n");

	cr_assert(eq(str, f.text, "two words"), "blanks and control characters");
	f = fact_text("%200s%055d ", "", 7);
	cr_assert(eq(sz, strlen(f.text), 55), "%s", f.text);
	f = fact_text("%s", " \n");
	cr_assert(eq(int, f.kind, FACT_UNKNOWN), "empty");
	f = fact_real(NAN);
	cr_assert(eq(int, f.kind, FACT_UNKNOWN), "NaN");
	f = fact_text("%0300d", 0);
	cr_assert(eq(sz, strlen(f.text), sizeof(f.text) - 1), "longer ones are cut");
}

Test(small_platform_parts, facts_of_versions)
{
	static const struct {
		int packed;
		const char *text;
	} rows[] = { { 13000, "13.0" },
		     { 12090, "12.9" },
		     { 12080, "12.8" },
		     { 11020, "11.2" },
		     { 1, "0.0" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fact f = fact_cuda_version(rows[i].packed);

		cr_expect(fact_is(&f, rows[i].text), "%d: %s", rows[i].packed, f.text);
	}
	for (int packed = 0; packed >= -1; packed--)
		cr_expect(eq(int, fact_cuda_version(packed).kind, FACT_UNKNOWN), "%d", packed);
}

/* What is no text is none of these, and its own words are no text either. */
Test(small_platform_parts, facts_that_are_asked_for)
{
	struct fact text = fact_text("x"), gone = fact_unknown("x"), zero = fact_int(1);
	struct fact yes = fact_bool(true), no = fact_bool(false);

	cr_expect(fact_is(&text, "x") && !fact_is(&text, "y") && !fact_is(&gone, "x"));
	cr_expect(fact_true(&yes) && !fact_true(&no) && !fact_true(&zero) && !fact_true(&gone));
	cr_expect(eq(str, (char *)fact_or(&text, "-"), "x"));
	cr_expect(eq(str, (char *)fact_or(&gone, "-"), "-"));
	cr_expect(eq(str, (char *)fact_or(&yes, "-"), "-"));
}

#if defined(__x86_64__)
/* The kernel lists the same bit among the processor's flags. */
Test(small_platform_parts, the_hypervisor_of_this_machine)
{
	const struct cpuid *here = place_here().cpuid;
	bool is_listed = !shell(NULL, "grep -qw hypervisor /proc/cpuinfo");

	cr_assert(ne(ptr, (void *)(uintptr_t)here, NULL));
	cr_assert(eq(int, here->hypervisor, is_listed));
	cr_expect(le(int, here->n, here->hypervisor ? CPUID_SIGNATURES : 0), "%d", here->n);
	for (int i = 0; i < here->n; i++)
		cr_expect(ne(int, *here->signature[i], 0), "signature %d", i);
}

/* Twelve bytes from ebx on, of each block that ends within its own 256 leaves; the first may say 0.
 */
Test(small_platform_parts, names_of_the_hypervisor_of_this_machine)
{
	const struct cpuid *here = place_here().cpuid;
	unsigned leaf[4];
	int n = 0;

	if (!here->hypervisor)
		cr_skip("needs a hypervisor");
	for (unsigned i = 0; i < CPUID_SIGNATURES; i++) {
		__cpuid(0x40000000 | i << 8, leaf[0], leaf[1], leaf[2], leaf[3]);
		if ((i && leaf[0] >> 8 != (0x400000 | i)) || !(leaf[1] & 0xff))
			continue;
		cr_assert(lt(int, n, here->n));
		cr_expect(zero(int, memcmp(here->signature[n++], &leaf[1], 12)), "block %u", i);
	}
	cr_expect(eq(int, here->n, n));
}
#endif

/* In place of the kernel's: so many bytes of x, or a refusal. */
static int log_bytes;

int klogctl(int type, char *text, int size)
{
	cr_assert(eq(int, type, 3), "all of it, which stays");
	if (log_bytes > 0)
		memset(text, 'x', (size_t)(log_bytes < size ? log_bytes : size));
	return log_bytes < size ? log_bytes : size;
}

Test(small_platform_parts, the_kernels_log)
{
	static const int rows[][2] = { { 0, 0 }, { 3, 3 }, { 10000, 8192 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		log_bytes = rows[i][0];
		cr_expect(eq(sz, strlen(place_here().kernel_log), (size_t)rows[i][1]));
	}
	log_bytes = -1;
	cr_expect(eq(ptr, (void *)(uintptr_t)place_here().kernel_log, NULL));
}

Test(small_platform_parts, variables_by_their_whole_names)
{
	static char *env[] = { "AB=1", "ABC=2", "XYB=3", "A=4", "C=", NULL };
	const struct place p = { .env = env };

	cr_expect(eq(str, (char *)place_env(&p, "A"), "4"));
	cr_expect(eq(str, (char *)place_env(&p, "AB"), "1"));
	cr_expect(eq(str, (char *)place_env(&p, "ABC"), "2"));
	cr_expect(eq(str, (char *)place_env(&p, "C"), ""));
	cr_expect(eq(ptr, (void *)(uintptr_t)place_env(&p, "B"), NULL));
}

/* ---- files ------------------------------------------------------------------------------ */

/* A machine of few files, in a folder of its own. */
static char root[32];

static struct place empty_machine(void)
{
	static char *no_variables[] = { NULL };

	strcpy(root, "/tmp/rift_machine_XXXXXX");
	cr_assert(ne(ptr, mkdtemp(root), NULL), "%s", root);
	return (struct place){ .root = root, .env = no_variables };
}

static void remove_machine(void)
{
	shell(NULL, "rm -r %s", root);
}

static void add_file(const char *path, const char *text, size_t n)
{
	char full[PATH_MAX];
	FILE *f;

	shell(NULL, "mkdir -p $(dirname %s%s)", root, path);
	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "w");
	cr_assert(ne(ptr, f, NULL), "%s", full);
	cr_assert(eq(sz, fwrite(text, 1, n, f), n));
	fclose(f);
}

/* All of them, and of larger ones the first MiB. */
Test(small_platform_parts, files_of_each_size)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 20000, 1 << 20, (1 << 20) + 1 };
	struct place p = empty_machine();
	char *all = malloc(sizes[7]), *got;
	size_t n;

	for (size_t i = 0; i < sizes[7]; i++)
		all[i] = (char)('a' + i % 23);
	for (size_t i = 0; i < 8; i++) {
		add_file("/file", all, sizes[i]);
		got = place_bytes(&p, "/file", &n);
		cr_assert(eq(sz, n, i < 7 ? sizes[i] : sizes[6]));
		cr_assert(zero(int, memcmp(got, all, n)), "%zu bytes", sizes[i]);
		cr_assert(eq(chr, got[n], '\0'));
		free(got);
	}
	free(all);
	remove_machine();
}

static void link_is(const struct place *p, const char *target, const char *want)
{
	char full[64];
	struct fact f;

	snprintf(full, sizeof(full), "%s/link", root);
	unlink(full);
	cr_assert(zero(int, symlink(target, full)), "%s", target);
	f = place_link(p, "/%s", "link");
	cr_expect(fact_is(&f, want), "%s", f.text);
}

Test(small_platform_parts, links_by_the_last_of_their_names)
{
	struct place p = empty_machine();
	char longest[PATH_MAX];
	struct fact f;

	link_is(&p, "../../bus/pci/drivers/nvidia", "nvidia");
	link_is(&p, "nvidia", "nvidia");
	memset(longest, '/', sizeof(longest));
	strcpy(longest + sizeof(longest) - 7, "nvidia");
	link_is(&p, longest, "nvidia");
	f = place_link(&p, "/none");
	cr_expect(eq(str, f.text, "/none: No such file or directory"));
	cr_expect(not(fact_known(&f)));
	remove_machine();
}

Test(small_platform_parts, names_in_a_folder)
{
	struct place p = empty_machine();
	struct dirent **names;
	int n = 7;

	add_file("/d/b", "", 0);
	add_file("/d/a", "", 0);
	names = place_names(&p, "/d", &n);
	cr_assert(eq(int, n, 2));
	cr_expect(eq(str, names[0]->d_name, "a"));
	cr_expect(eq(str, names[1]->d_name, "b"));
	place_names_free(names, n);
	names = place_names(&p, "/none", &n);
	cr_expect(zero(int, n));
	place_names_free(names, n);
	remove_machine();
}

Test(small_platform_parts, a_path_that_is_too_long_is_not_cut, .signal = SIGABRT)
{
	char x[PATH_MAX] = "";
	struct place p = { .root = x };

	memset(x, 'x', sizeof(x) - 3);
	cr_assert(not(place_has(&p, "/x")));
	x[sizeof(x) - 3] = 'x';
	place_has(&p, "/x");
}

Test(small_platform_parts, facts_become_json_with_reasons)
{
	struct {
		struct fact text, number, real, yes, gone, silent;
	} s = { fact_text("x"),
		fact_int(7),
		fact_real(0.5),
		fact_bool(true),
		fact_unknown("%s", "why"),
		{ 0 } };
	static const struct fact_row rows[] = {
		{ "text", 0 },
		{ "number", sizeof(struct fact) },
		{ "real", 2 * sizeof(struct fact) },
		{ "yes", 3 * sizeof(struct fact) },
		{ "gone", 4 * sizeof(struct fact) },
		{ "silent", 5 * sizeof(struct fact) },
		{ 0 },
	};
	json_t *o = facts_json(rows, &s);
	json_t *want = json_pack("{s:s, s:i, s:f, s:b, s:n, s:n, s:{s:s, s:s}}", "text", "x",
				 "number", 7, "real", 0.5, "yes", 1, "gone", "silent", "why_null",
				 "gone", "why", "silent", "not asked");

	cr_assert(eq(int, json_equal(o, want), 1), "%s", json_dumps(o, 0));
	json_decref(o);
	json_decref(want);
}

Test(small_platform_parts, facts_without_a_null_have_no_reasons)
{
	struct fact f = fact_int(1);
	static const struct fact_row rows[] = { { "f", 0 }, { 0 } };
	json_t *o = facts_json(rows, &f);

	cr_assert(eq(ptr, json_object_get(o, "why_null"), NULL), "why_null");
	json_decref(o);
}

/* ---- variables -------------------------------------------------------------------------- */

Test(small_platform_parts, variables_are_kept_and_secrets_are_not)
{
	struct place p = place_of("kubernetes");
	json_t *o = environment_json(&p);

	cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "CUDA_DEVICE_SM_LIMIT")),
		     "30"),
		  "a limit");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(o, "NVIDIA_API_KEY")),
		     "(hidden)"),
		  "a secret");
	cr_assert(eq(ptr, json_object_get(o, "HOME"), NULL), "HOME");
	cr_assert(eq(sz, json_object_size(o), 4), "%s", json_dumps(o, 0));
	json_decref(o);
}

/* They differ from process to process, and a session would remark on that. */
Test(small_platform_parts, private_folders_of_layers_are_not_kept)
{
	static char *env[] = { "CUDA_MPS_PIPE_DIRECTORY=/tmp/rift-layers-0/Ab12Cd",
			       "CUDA_MPS_LOG_DIRECTORY=/tmp/rift-layers-0/Ab12Cd/logs",
			       "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50", "RIFT_LAYER_MPS=/tmp/x",
			       NULL };
	struct place p = { .env = env };
	json_t *o = environment_json(&p);

	cr_assert(eq(sz, json_object_size(o), 1), "%s", json_dumps(o, 0));
	cr_assert(json_object_get(o, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE") != NULL);
	json_decref(o);
}

Test(small_platform_parts, variables_that_change_something)
{
	static const struct {
		const char *variable;
		int bears; /* 0: nothing, 1: to note, 2: spoils */
	} cases[] = {
		{ "CUDA_LAUNCH_BLOCKING=1", 2 },
		{ "CUDA_LAUNCH_BLOCKING=0", 0 },
		{ "CUDA_DEVICE_MEMORY_LIMIT_0=1g", 2 },
		{ "CUDA_DEVICE_MEMORY_LIMIT=1g", 2 },
		{ "CUDA_SCALE_LAUNCH_QUEUES=4x", 1 },
		{ "CUDA_MODULE_LOADING=EAGER", 1 },
		{ "CUDA_MODULE_LOADING=LAZY", 0 },
		{ "LD_PRELOAD=/x.so", 2 },
		{ "LD_PRELOAD=", 0 },
		{ "RIFT_CPU_LAUNCH_NS=5000", 2 },
		{ "CUDA_HOME=/usr/local/cuda", 0 },
		{ "CUDA_LAUNCH_BLOCKINGX=1", 0 },
		{ "CUDA_VISIBLE_DEVICES=", 1 },
		{ "PATH=/bin", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct influence *in = influence_of(cases[i].variable);

		cr_assert(eq(int,
			     !in	  ? 0
			     : in->spoils ? 2
					  : 1,
			     cases[i].bears),
			  "%s", cases[i].variable);
	}
}

/* What each does that has no value but one; and that this one is harmless, where there is one. */
Test(small_platform_parts, every_variable_that_is_known)
{
	static const struct {
		const char *name, *harmless; /* NULL: none is */
		bool spoils;
	} rows[] = {
		{ "CUDA_LAUNCH_BLOCKING", "0", true },
		{ "CUDA_INJECTION64_PATH", NULL, true },
		{ "NVTX_INJECTION64_PATH", NULL, true },
		{ "CUDA_DEVICE_MEMORY_LIMIT_7", NULL, true },
		{ "CUDA_DEVICE_SM_LIMIT", NULL, true },
		{ "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "100", true },
		{ "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "0", true },
		{ "CUDA_DEVICE_WAITS_ON_EXCEPTION", "0", true },
		{ "NVIDIA_TF32_OVERRIDE", NULL, true },
		{ "CUDA_DISABLE_PERF_BOOST", "0", true },
		{ "CUDA_FORCE_PTX_JIT", "0", true },
		{ "CUDA_FORCE_JIT", "0", true },
		{ "LD_PRELOAD", "", true },
		{ "LD_AUDIT", "", true },
		{ "RIFT_TRACE", "", true },
		{ "RIFT_CPU_LAUNCH_NS", "0", true },
		{ "RIFT_CPU_SYNC_NS", "0", true },
		{ "RIFT_CPU_ALLOC_NS", "0", true },
		{ "RIFT_CPU_COPY_NS", "0", true },
		{ "RIFT_CPU_ORDER", "up", false },
		{ "RIFT_CPU_STRICT", "0", false },
		{ "RIFT_CPU_WORKERS", NULL, false },
		{ "RIFT_CPU_SPIN_US", "200", false },
		{ "CUDA_SCALE_LAUNCH_QUEUES", "1x", false },
		{ "CUDA_MODULE_LOADING", "LAZY", false },
		{ "CUDA_MODULE_DATA_LOADING", "LAZY", false },
		{ "CUDA_DEVICE_MAX_CONNECTIONS", NULL, false },
		{ "CUDA_DEVICE_MAX_COPY_CONNECTIONS", NULL, false },
		{ "CUDA_GRAPHS_USE_NODE_PRIORITY", "0", false },
		{ "CUDA_VISIBLE_DEVICES", NULL, false },
		{ "NVIDIA_VISIBLE_DEVICES", "all", false },
		{ "CUDA_DEVICE_ORDER", NULL, false },
		{ "CUDA_CACHE_DISABLE", "0", false },
		{ "CUDA_MPS_PIPE_DIRECTORY", NULL, false },
		{ "GLIBC_TUNABLES", "", false },
	};
	int known = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct influence *in;
		char text[80];

		snprintf(text, sizeof(text), "%s=other", rows[i].name);
		in = influence_of(text);
		cr_assert(ne(ptr, (void *)(uintptr_t)in, NULL), "%s", text);
		cr_assert(eq(int, in->spoils, rows[i].spoils), "%s", text);
		snprintf(text, sizeof(text), "%s=%s", rows[i].name,
			 rows[i].harmless ? rows[i].harmless : "0");
		cr_assert(eq(ptr, (void *)(uintptr_t)influence_of(text),
			     rows[i].harmless ? NULL : (void *)(uintptr_t)in),
			  "%s", text);
	}
	while (influences[known].name)
		known++;
	cr_assert(eq(int, known, (int)(sizeof(rows) / sizeof(*rows))), "%d", known);
}

/* ---- libraries -------------------------------------------------------------------------- */

/* A machine that has mapped one library, and whether a layer is seen in it. */
static int interposers(const char *library)
{
	struct place p = empty_machine();
	struct libraries l;
	char line[256];
	int n;

	n = snprintf(line, sizeof(line), "7f10-7f20 r-xp 00001000 08:01 1234   %s\n", library);
	add_file("/proc/self/maps", line, (size_t)n);
	libraries_read(&l, &p);
	n = l.n;
	libraries_release(&l);
	remove_machine();
	return n;
}

/* Each library once, in order, and what is no library not at all. */
Test(small_platform_parts, libraries_of_a_map_and_of_the_preload_file)
{
	static const char maps[] = "7f10-7f20 r-xp 00001000 08:01 1234   /opt/libcuda.so.1\n"
				   "7f20-7f30 rw-p 00000000 00:00 0      [heap]\n"
				   "7f30-7f40 r-xp 00001000 08:01 1235   /lib/libc.so.6\n"
				   "7f40-7f50 r-xp 00001000 08:01 1236   /bin/cat\n"
				   "7f50-7f60 rw-p 00002000 08:01 1235   /lib/libc.so.6\n";
	static const char preload[] = "/a/one.so:/a/two.so\t/a/one.so # /a/three.so\n"
				      "/a/libscuda_1.so\n";
	struct place p = empty_machine();
	struct libraries l;
	json_t *got, *want;

	add_file("/proc/self/maps", maps, strlen(maps));
	add_file("/etc/ld.so.preload", preload, strlen(preload));
	libraries_read(&l, &p);
	got = libraries_json(&l);
	want = json_pack("{s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}, {s:s, s:s}], s:[s, s]}",
			 "interposers", "path", "/opt/libcuda.so.1", "why",
			 "replaces the driver's library of this name", "path", "/a/one.so", "why",
			 "in /etc/ld.so.preload", "path", "/a/two.so", "why",
			 "in /etc/ld.so.preload", "path", "/a/libscuda_1.so", "why",
			 "scuda: sends CUDA calls to a server", "loaded", "/lib/libc.so.6",
			 "/opt/libcuda.so.1");
	cr_assert(eq(int, json_equal(got, want), 1));
	json_decref(got);
	json_decref(want);
	libraries_release(&l);
	remove_machine();
}

/* By what it defines itself, but for the libraries of CUDA. */
Test(small_platform_parts, a_library_that_defines_functions_of_cuda)
{
	static const char *const names[] = { "libcuda.so.1", "libnvidia-ml.so.1", "libcudart.so.1",
					     "libother.so", "libuser.so" };
	struct place p = empty_machine();
	char path[5][64];
	void *lib[5];
	struct libraries l;

	add_file("/c.c", "int cuInit, nvmlInit_v2;", 24);
	shell(NULL, "${CC:-cc} -shared -o %s/a.so %s/c.c", root, root);
	for (int i = 0; i < 5; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%s", root, names[i]);
		if (i < 4)
			shell(NULL, "cp %s/a.so %s", root, path[i]);
		else /* one that uses the fourth */
			shell(NULL, "${CC:-cc} -shared -Wl,--no-as-needed -o %s %s", path[4],
			      path[3]);
		lib[i] = dlopen(path[i], RTLD_NOW | RTLD_LOCAL);
		cr_assert(ne(ptr, lib[i], NULL), "%s", dlerror());
	}
	libraries_read(&l, &p);
	cr_assert(eq(int, l.n, 1), "%s: %s", l.interposer[0].path, l.interposer[0].why);
	cr_expect(eq(str, l.interposer[0].path, path[3]));
	cr_expect(eq(str, l.interposer[0].why, "exports cuInit"));
	for (int i = 0; i < 5; i++)
		dlclose(lib[i]);
	libraries_release(&l);
	remove_machine();
}

Test(small_platform_parts, drivers_libraries_and_those_in_their_place)
{
	static const struct {
		const char *library;
		int layers;
	} cases[] = {
		{ "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04", 0 },
		{ "/usr/local/cuda/compat/libcuda.so.550.54.15", 0 },
		{ "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1.1", 0 },
		{ "/usr/lib/wsl/lib/libcuda.so.1", 0 },
		{ "/usr/lib/wsl/lib/libnvidia-ml.so.1", 0 },
		{ "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.535.54", 0 },
		{ "/opt/layer/libcuda.so.1", 1 },
		{ "/opt/layer/libcuda.so", 1 },
		{ "/opt/layer/libnvidia-ml.so.1", 1 },
		{ "/opt/layer/libcuda.so.1.0.0", 1 },
		{ "/opt/layer/libcuda.so.100.1", 0 },
		{ "/opt/layer/libcuda.so.99.9", 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_assert(eq(int, interposers(cases[i].library), cases[i].layers), "%s",
			  cases[i].library);
}

Test(small_platform_parts, interposers_by_the_preload_file)
{
	struct place p = place_of("kubernetes");
	struct libraries l;

	libraries_read(&l, &p);
	cr_assert(eq(int, l.n, 1), "%d", l.n);
	cr_assert(eq(str, l.interposer[0].path, "/usr/local/vgpu/libvgpu.so"), "path");
	cr_assert(ne(ptr, strstr(l.interposer[0].why, "HAMi"), NULL), "%s", l.interposer[0].why);
	cr_assert(eq(ptr, l.loaded, NULL), "maps of nothing");
	libraries_release(&l);
}

Test(small_platform_parts, libcuda_is_found_by_its_name)
{
	struct place p = place_of("wsl2");
	struct libraries l;

	libraries_read(&l, &p);
	cr_assert(eq(str, l.libcuda_path.text,
		     "/usr/lib/wsl/drivers/nv_dispi.inf_amd64_0afec3f2050014a0/libcuda.so.1.1"),
		  "path");
	cr_assert(eq(sz, json_array_size(l.loaded), 2), "loaded");
	/* this machine has no such file */
	cr_assert(eq(int, fact_known(&l.libcuda_sha256), 0), "%s", l.libcuda_sha256.text);
	cr_assert(eq(str, l.libcuda_sha256.text, "No such file or directory"));
	libraries_release(&l);
}

Test(small_platform_parts, this_process_and_its_runtime)
{
	struct place here = place_here();
	struct libraries l;

	libraries_read(&l, &here);
	cr_assert(zero(int, l.n), "%s: %s", l.interposer[0].path, l.interposer[0].why);
	cr_assert(lt(sz, 2, json_array_size(l.loaded)), "loaded");
	cr_assert(ne(ptr, strstr(l.libcudart_path.text, "libcudart.so"), NULL), "%s",
		  l.libcudart_path.text);
	libraries_release(&l);
}

/* ---- the object ------------------------------------------------------------------------- */

Test(small_platform_parts, names_of_platforms)
{
	char longest[66];

	memset(longest, 'x', 64);
	longest[64] = '\0';
	cr_assert(eq(ptr, (void *)platform_name_refused("vm, passthrough"), NULL), "plain");
	cr_assert(eq(ptr, (void *)platform_name_refused(longest), NULL), "64 bytes");
	strcat(longest, "x");
	cr_assert(ne(ptr, (void *)platform_name_refused(longest), NULL), "65 bytes");
	cr_assert(ne(ptr, (void *)platform_name_refused(""), NULL), "empty");
	cr_assert(ne(ptr, (void *)platform_name_refused("a\nb"), NULL), "newline");
}

/* Every null anywhere has a reason beside it. */
static void check_nulls(const json_t *o, const char *path)
{
	const json_t *why = json_object_get(o, "why_null");
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)o, key, value)
	{
		if (json_is_null(value))
			cr_assert(lt(sz, 0, json_string_length(json_object_get(why, key))),
				  "%s.%s is null for no reason", path, key);
		if (json_is_object(value))
			check_nulls(value, key);
	}
}

Test(small_platform_parts, an_object_of_this_machine)
{
	static const char *const keys[] = { "git_commit", "git_dirty", "build", "boot_id",
					    "host",	  "virt",      "gpu",	"cuda_flags",
					    "libraries",  "env",       NULL };
	struct platform p = { .declared = "test" };
	json_t *o;

	platform_host(&p);
	platform_open(&p);
	platform_details(&p);
	o = platform_json(&p);
	for (const char *const *key = keys; *key; key++)
		cr_assert(ne(ptr, json_object_get(o, *key), NULL), "%s", *key);
	check_nulls(o, "platform");
	cr_assert(eq(str,
		     (char *)json_string_value(
			     json_object_get(json_object_get(o, "virt"), "declared_platform")),
		     "test"),
		  "declared");
	json_decref(o);
	platform_release(&p);
}

Test(small_platform_parts, what_lasts_is_equal_when_taken_again)
{
	json_t *a = json_pack("{s:{s:f, s:s, s:{s:s}}, s:{s:n, s:i, s:{s:s}}, s:s}", "host", "load",
			      0.5, "kernel", "6.1", "why_null", "uptime_s", "x", "gpu",
			      "other_processes", "sms", 132, "why_null", "other_processes",
			      "hidden", "boot_id", "b");
	json_t *b = json_pack("{s:{s:f, s:s}, s:{s:i, s:i}, s:s}", "host", "load", 7.5, "kernel",
			      "6.1", "gpu", "other_processes", 3, "sms", 132, "boot_id", "b");
	json_t *lasting_a = platform_lasting(a), *lasting_b = platform_lasting(b);

	cr_assert(zero(int, json_equal(a, b)), "the whole");
	cr_assert(eq(int, json_equal(lasting_a, lasting_b), 1), "%s\n%s", json_dumps(lasting_a, 0),
		  json_dumps(lasting_b, 0));
	json_object_set_new(json_object_get(lasting_b, "host"), "kernel", json_string("6.2"));
	cr_assert(zero(int, json_equal(lasting_a, lasting_b)), "another kernel");
	json_decref(a);
	json_decref(b);
	json_decref(lasting_a);
	json_decref(lasting_b);
}
