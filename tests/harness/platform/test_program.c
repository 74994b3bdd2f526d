/* sanitizers: one thread */
/*
 * test_program.c - programs that a preloaded wrapper of the CUDA runtime sees no call of are
 * refused before anything runs; whatever else a file is, it is passed on.
 */
#include "tests/test.h"
#include "harness/platform/program.h"

#include <elf.h>
#include <sys/stat.h>

#include "tests/cli.h"
#include "tests/under_layer.h"

static char folder[64];

static void remove_folder(void)
{
	shell(NULL, "rm -rf '%s'", folder);
}

static void make_folder(void)
{
	layers_apart();
	strcpy(folder, "/tmp/rift_static_XXXXXX");
	cr_assert(mkdtemp(folder) != NULL, "%s", folder);
	atexit(remove_folder);
}

TestSuite(small_static_runtime, .init = make_folder, .timeout = 120);

/* The program says by a file that it ran. */
static const char device_code[] = "__attribute__((section(\".nv_fatbin\"), used)) static const "
				  "char code[] = \"device code\";";

static const char *path_of(const char *name)
{
	static char path[4][128];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static const char *compile(const char *name, const char *before, const char *options)
{
	const char *out, *path = path_of(name);
	int rc = shell(&out,
		       "printf '%%s\\n' '%s' '#include <stdio.h>' "
		       "'int main(void) { return !fopen(\"%s.ran\", \"w\"); }' >%s.c && "
		       "${CC:-cc} -o %s %s.c %s 2>&1",
		       before, path, path, path, path, options);

	cr_assert(zero(int, rc), "%s", out);
	return path;
}

static const char *runtime(void)
{
	static char path[4200];

	snprintf(path, sizeof(path),
		 "-Wl,--no-as-needed $(ls '%.*s'/libcudart.so.1[0-9]) -Wl,-rpath,'%.*s'",
		 (int)(strrchr(rift(), '/') - rift()), rift(), (int)(strrchr(rift(), '/') - rift()),
		 rift());
	return path;
}

static bool has_run(const char *path)
{
	char ran[160];

	snprintf(ran, sizeof(ran), "%s.ran", path);
	return !access(ran, F_OK);
}

/* ---- what is refused ------------------------------------------------------------------------ */

Test(small_static_runtime, device_code_without_the_shared_runtime_is_refused)
{
	const char *path = compile("static", device_code, "");

	cr_assert(eq(int, (int)runtime_link_of(path), RUNTIME_STATIC));
	refused(125, "has its own CUDA runtime linked in", "layer shim -- %s", path);
	refused(125, "use one of container, cpu, mps, neighbour", "layer shim -- %s", path);
	cr_assert(not(has_run(path)));
}

Test(small_static_runtime, a_wholly_static_program_is_refused)
{
	const char *path = compile("whole", "", "-static");

	cr_assert(eq(int, (int)runtime_link_of(path), RUNTIME_NO_LOADER));
	refused(125, "is linked statically", "layer shim -- %s", path);
	cr_assert(not(has_run(path)));
}

/* What is set by variables is gone, or heeded by no loader: wherever that is said. */
Test(small_static_runtime, what_loses_the_layer_is_refused)
{
	static const char *const cleared[] = { "env -i", "env -", "env -u A --ignore-environment",
					       "env B=1 env -0i C=2" };
	const char *path = compile("plain", "", ""), *out;

	for (size_t i = 0; i < sizeof(cleared) / sizeof(*cleared); i++) {
		refused(125, "env -i removes the variables", "layer shim -- %s %s", cleared[i],
			path);
		refused(125, "env -i removes the variables",
			"layer shim -- '%s' layer none -- %s %s", rift(), cleared[i], path);
		refused(3, "env -i removes the variables", "profile --runs 0 -- %s %s", cleared[i],
			path);
	}
	cr_assert(not(has_run(path)));
	/* nothing stands behind it */
	cr_expect(eq(int, shell(&out, "'%s' layer --quiet shim -- '%s' 2>&1", rift(), rift()), 3),
		  "%s", out);
	cr_assert(zero(int, shell(&out, "'%s' layer none -- env -i %s 2>&1", rift(), path)), "%s",
		  out);
	cr_assert(
		zero(int, shell(&out, "'%s' layer --quiet shim -- env -i LD_PRELOAD=\"$A\" %s 2>&1",
				rift(), path)),
		"%s", out);
	cr_assert(zero(int,
		       shell(&out, "'%s' layer --quiet shim -- env -u iX %s 2>&1", rift(), path)),
		  "%s", out);
}

Test(small_static_runtime, another_s_rights_are_refused)
{
	const char *path = compile("plain", "", "");

	cr_assert(zero(int, shell(NULL, "chmod u+s %s", path)));
	cr_assert(zero(int, shell(NULL, "'%s' layer --quiet shim -- %s", rift(), path)),
		  "one's own are no other's");
	if (getuid() || shell(NULL, "chown 65534 %s && chmod u+s %s", path, path))
		cr_skip("needs root, to make a program another's");
	shell(NULL, "rm -f %s.ran", path);
	refused(125, "setuid", "layer shim -- %s", path);
	refused(125, "setuid", "layer shim -- env A=1 %s", path);
	refused(3, "setuid", "profile --runs 0 --recorder calls -- %s", path);
	cr_assert(not(has_run(path)));
}

/* Behind other layers, too, and wherever PATH finds it. */
Test(small_static_runtime, it_is_found_as_the_command_is)
{
	const char *path = compile("static", device_code, ""), *out;

	refused(125, "has its own CUDA runtime linked in",
		"layer shim -- '%s' layer cpu share=5 n=1 -- '%s' layer none -- %s", rift(), rift(),
		path);
	cr_assert(eq(int,
		     shell(&out, "PATH=/nowhere:%s:$PATH '%s' layer shim -- static 2>&1", folder,
			   rift()),
		     125),
		  "%s", out);
	cr_assert(not(has_run(path)));
}

Test(small_static_runtime, layers_that_look_at_no_call_take_it)
{
	const char *path = compile("static", device_code, "");

	cr_assert(zero(int, shell(NULL, "'%s' layer none -- %s", rift(), path)));
	cr_assert(has_run(path));
}

/* ---- what passes ---------------------------------------------------------------------------- */

Test(small_static_runtime, the_shared_runtime_passes)
{
	const char *path = compile("shared", device_code, runtime()), *out;

	cr_assert(eq(int, (int)runtime_link_of(path), RUNTIME_SHARED));
	if (!strstr(rift(), "-asan") && !strstr(rift(), "-tsan")) {
		cr_assert(zero(int, shell(&out, "'%s' layer shim -- %s 2>&1", rift(), path)), "%s",
			  out);
		cr_assert(has_run(path));
	}
	cr_assert(eq(int, (int)runtime_link_of(rift()), RUNTIME_SHARED));
}

Test(small_static_runtime, what_has_no_device_code_passes)
{
	const char *path = compile("plain", "", "");

	cr_assert(eq(int, (int)runtime_link_of(path), RUNTIME_UNKNOWN));
	cr_assert(zero(int, shell(NULL, "'%s' layer --quiet shim -- %s", rift(), path)));
	cr_assert(has_run(path));
	cr_assert(eq(int, (int)runtime_link_of("sh"), RUNTIME_UNKNOWN));
}

Test(small_static_runtime, scripts_pass)
{
	const char *path = path_of("script");

	shell(NULL, "printf '#!/bin/sh\\nexit 7\\n' >%s && chmod 755 %s", path, path);
	cr_assert(eq(int, (int)runtime_link_of(path), RUNTIME_UNKNOWN));
	cr_assert(eq(int, shell(NULL, "'%s' layer --quiet shim -- %s", rift(), path), 7));
}

Test(small_static_runtime, what_is_no_program_is_unknown)
{
	shell(NULL, "touch %s", path_of("empty"));
	cr_assert(eq(int, (int)runtime_link_of("/nowhere/program"), RUNTIME_UNKNOWN));
	cr_assert(eq(int, (int)runtime_link_of("rift-no-such-command"), RUNTIME_UNKNOWN));
	cr_assert(eq(int, (int)runtime_link_of(""), RUNTIME_UNKNOWN));
	cr_assert(eq(int, (int)runtime_link_of("/tmp"), RUNTIME_UNKNOWN));
	cr_assert(eq(int, (int)runtime_link_of("/dev/zero"), RUNTIME_UNKNOWN));
	cr_assert(eq(int, (int)runtime_link_of(path_of("empty")), RUNTIME_UNKNOWN));
}

/* ---- damaged files -------------------------------------------------------------------------- */

static uint32_t next_random(void)
{
	static uint32_t x = 2463534242;

	x ^= x << 13;
	x ^= x >> 17;
	return x ^= x << 5;
}

/* The bytes of a program, for others to damage. */
static unsigned char *bytes_of(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes = malloc(1 << 20);

	cr_assert(f && bytes);
	*n = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

static void look_at(const unsigned char *bytes, size_t n)
{
	const char *path = path_of("damaged");
	FILE *f = fopen(path, "wb");

	cr_assert(f && fwrite(bytes, 1, n, f) == n);
	fclose(f);
	chmod(path, 0755);
	cr_assert(le(int, (int)runtime_link_of(path), RUNTIME_NO_LOADER));
}

/* Where a byte says most: the header, the program headers, the section headers, the dynamic
 * section. */
static size_t place(const unsigned char *bytes, size_t n, int i)
{
	Elf64_Ehdr head;
	uint32_t r = next_random();

	memcpy(&head, bytes, sizeof(head));
	if (i % 4 == 0)
		return r % sizeof(head);
	if (i % 4 == 1)
		return (size_t)(head.e_shoff + r % (head.e_shnum * sizeof(Elf64_Shdr))) % n;
	if (i % 4 == 2)
		return (size_t)(head.e_phoff + r % (head.e_phnum * sizeof(Elf64_Phdr))) % n;
	return r % n;
}

static void damage(const char *path)
{
	size_t n, left;
	unsigned char *bytes = bytes_of(path, &n), *copy = malloc(n);

	cr_assert(copy != NULL);
	for (int i = 0; i < 300; i++) {
		left = i % 5 ? n : next_random() % n;
		memcpy(copy, bytes, n);
		for (int k = 0; k < 1 + i % 3; k++)
			copy[place(bytes, n, i)] ^= (unsigned char)(1 + next_random() % 255);
		look_at(copy, left);
	}
	for (left = 0; left < 200; left++)
		look_at(bytes, left);
	free(copy);
	free(bytes);
}

Test(small_static_runtime, no_damaged_file_is_read_beyond_its_end)
{
	damage(compile("static", device_code, ""));
	damage(compile("shared", device_code, runtime()));
}

/* Each offset of the headers at the ends of what 64 bits hold. */
Test(small_static_runtime, offsets_without_measure)
{
	static const uint64_t offsets[] = { UINT64_MAX, UINT64_MAX - 63, INT64_MAX, 1, 7, 63 };
	size_t n;
	unsigned char *bytes = bytes_of(compile("static", device_code, ""), &n);
	Elf64_Ehdr good, head;

	memcpy(&good, bytes, sizeof(good));
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		head = good;
		head.e_shoff = offsets[i];
		memcpy(bytes, &head, sizeof(head));
		look_at(bytes, n);
		head.e_phoff = offsets[i];
		memcpy(bytes, &head, sizeof(head));
		look_at(bytes, n);
		head = good;
		head.e_shstrndx = head.e_shnum = head.e_phnum = UINT16_MAX;
		memcpy(bytes, &head, sizeof(head));
		look_at(bytes, n);
	}
	free(bytes);
}

/* ---- nvcc's own ------------------------------------------------------------------------------ */

Test(small_static_runtime, programs_of_nvcc)
{
	const char *out, *program = path_of("program");
	char nvcc[512];

	shell(&out, "tools/nvcc.sh 2>/dev/null | head -n 1 | tr -d '\\n'");
	snprintf(nvcc, sizeof(nvcc), "%s", out);
	if (!*nvcc || shell(NULL, "'%s' --version >/dev/null 2>&1", nvcc))
		cr_skip("needs nvcc (CUDA toolkit)");
	shell(NULL, "echo '__global__ void k() {} int main() { k<<<1, 1>>>(); }' >%s.cu", program);
	for (int shared = 0; shared < 2; shared++) {
		cr_assert(zero(int, shell(&out, "'%s' -arch=sm_90 -cudart %s -o %s %s.cu 2>&1",
					  nvcc, shared ? "shared" : "static", program, program)),
			  "%s", out);
		cr_assert(eq(int, (int)runtime_link_of(program),
			     shared ? RUNTIME_SHARED : RUNTIME_STATIC));
	}
}
