/*
 * test_cpu_remote_images.c - fat binaries by way of the layer remote: a program whose kernels nvcc
 * compiled beforehand (images/) is the client of a daemon whose runtime records what it is given
 * (test_recorder.h). No toolkit and no GPU are needed.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <criterion/redirect.h>
#include <cuda_runtime_api.h>

#include "layers/remote/test_daemon.h"
#include "layers/remote/test_fuzz.h"
#include "layers/remote/test_recorder.h"

TestSuite(small_remote_images, .init = layers_apart, .timeout = 100);

/* As the sources in images/ declare them; nvcc names templates. */
const struct recorder_kernel recorder_kernels[] = {
	{ "image_plain", { 1, 8 }, { 1, 8 } },
	{ "_Z14image_templateIiLi3EEvPT_S0_", { 8, 4 }, { 8, 4 } },
	{ "_Z14image_templateIdLi5EEvPT_S0_", { 8, 8 }, { 8, 8 } },
	{ "image_rdc", { 8, 4 }, { 8, 4 } },
	{ "image_ptx", { 8, 4 }, { 8, 4 } },
	{ "image_per_thread", { 8 }, { 8 } },
	{ "image_arguments", { 8, 1, 64, 5000 }, { 8, 1, 1, 1 } },
	{ 0 },
};

struct recorder_variable recorder_variables[] = {
	{ "image_counter", 4, NULL },
	{ "image_factors", 64, NULL },
	{ "image_shared", 4, NULL },
	{ 0 },
};

/* ---- a client ----------------------------------------------------------------------------- */

static int client_cuda = 13; /* the version that it was linked with: 12, 13 */

static const char *client_path(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/layers/remote/images/client%d",
		 (int)(strrchr(rift(), '/') - rift()), rift(), client_cuda);
	return path;
}

/* What the program prints, which it does for each word. It looks for libcudart.so.13 and
 * libcublas.so.13 as any does. */
static int run_client_in(const char *folder, const char *words, const char **out)
{
	int n = (int)(strrchr(client_library(), '/') - client_library());

	return shell(out,
		     REMOTE_VARIABLE "='%s' LD_LIBRARY_PATH='%.*s/cudart:%.*s/cublas' '%s' %s "
				     "2>&1",
		     folder, n, client_library(), n, client_library(), client_path(), words);
}

static const char *run_client(const struct own_daemon *d, const char *words)
{
	const char *out;
	int rc = run_client_in(d->folder, words, &out);

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "memory: 0\n") != NULL, "%s", out);
	return out;
}

/* The same in a session of its own. */
static const char *served(bool strict, const char *words)
{
	struct own_daemon d;
	const char *out;

	recorder_begin();
	d = own_daemon_start(strict, NULL);
	out = run_client(&d, words);
	own_daemon_end(&d);
	return out;
}

static void returned(const char *out, const char *line)
{
	cr_assert(strstr(out, line) != NULL, "%s is not in:\n%s", line, out);
}

static void check_shape(const struct recorded_launch *l, const char *kernel, dim3 grid, dim3 block,
			size_t bytes)
{
	cr_assert(eq(str, (char *)l->kernel, (char *)kernel));
	cr_assert(l->grid.x == grid.x && l->grid.y == grid.y && l->grid.z == grid.z, "%s", kernel);
	cr_assert(l->block.x == block.x && l->block.y == block.y && l->block.z == block.z, "%s",
		  kernel);
	cr_assert(eq(sz, l->bytes, bytes), "%s", kernel);
}

/* ---- fat binaries ------------------------------------------------------------------------- */

/* Is what was loaded, to the last byte, one of those in the program's file? By its own search. */
static bool is_in_program(int library)
{
	static const uint8_t magic[] = { 0x50, 0xed, 0x55, 0xba };
	static uint8_t file[1 << 20];
	FILE *f = fopen(client_path(), "re");
	size_t n = f ? fread(file, 1, sizeof(file), f) : 0;
	uint64_t bytes = recorded->library[library].bytes;
	bool found = false;

	if (f)
		fclose(f);
	cr_assert(n > 0 && n < sizeof(file), "%s", client_path());
	for (size_t at = 0; !found && at + bytes <= n; at++) {
		const struct remote_hash *want = &recorded->library[library].hash;
		struct remote_hash is;

		if (memcmp(file + at, magic, sizeof(magic)) != 0)
			continue;
		is = remote_hash_of(file + at, bytes);
		found = is.half[0] == want->half[0] && is.half[1] == want->half[1];
	}
	return found;
}

Test(small_remote_images, a_plain_kernel_is_launched_as_the_program_says)
{
	const char *out = served(false, "plain");
	const struct recorded_launch *l = &recorded->launch[0];

	returned(out, "plain: 0\n");
	returned(out, "end: 0\n");
	cr_assert(eq(int, recorded->libraries, 1));
	cr_assert(eq(int, recorded->launches, 1));
	check_shape(l, "image_plain", (dim3){ 2, 3, 4 }, (dim3){ 5, 6, 7 }, 16);
	cr_assert(eq(sz, l->shared_bytes, 128));
	cr_assert(eq(u8, l->arguments[0], 'x'));
	cr_assert(is_in_program(0), "%llu bytes", (unsigned long long)recorded->library[0].bytes);
}

Test(small_remote_images, templates_have_their_mangled_names)
{
	double half = 0.5;
	int seven = 7;

	returned(served(false, "template"), "template: 0\n");
	cr_assert(eq(int, recorded->libraries, 1));
	cr_assert(eq(int, recorded->launches, 2));
	check_shape(&recorded->launch[0], recorder_kernels[1].name, (dim3){ 1, 1, 1 },
		    (dim3){ 32, 1, 1 }, 12);
	check_shape(&recorded->launch[1], recorder_kernels[2].name, (dim3){ 2, 1, 1 },
		    (dim3){ 64, 1, 1 }, 16);
	cr_assert(zero(int, memcmp(recorded->launch[0].arguments + 8, &seven, 4)));
	cr_assert(zero(int, memcmp(recorded->launch[1].arguments + 8, &half, 8)));
	cr_assert(
		zero(int, memcmp(recorded->launch[0].arguments, recorded->launch[1].arguments, 8)),
		"the same memory");
}

/* Two files, linked on the device: one fat binary, whose wrapper is of version 2. */
Test(small_remote_images, what_is_linked_on_the_device_is_loaded_linked)
{
	const char *out = served(false, "rdc rdc_variable");
	int x = 1234;

	returned(out, "rdc: 0\n");
	returned(out, "rdc_variable: 4\n");
	cr_assert(eq(int, recorded->libraries, 1));
	cr_assert(is_in_program(0));
	check_shape(&recorded->launch[0], "image_rdc", (dim3){ 9, 1, 1 }, (dim3){ 8, 1, 1 }, 12);
	cr_assert(zero(int, memcmp(recorded->launch[0].arguments + 8, &x, 4)));
}

Test(small_remote_images, compressed_ptx_is_passed_on_unread)
{
	returned(served(false, "ptx"), "ptx: 0\n");
	check_shape(&recorded->launch[0], "image_ptx", (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, 12);
	cr_assert(is_in_program(0));
}

static void check_arguments(const struct recorded_launch *l)
{
	cr_assert(eq(u8, l->arguments[8], 1));
	for (int i = 0; i < 64; i++)
		cr_assert(eq(u8, l->arguments[9 + i], (uint8_t)(i * 7 + 1)), "byte %d of 64", i);
	for (int i = 0; i < 5000; i++)
		cr_assert(eq(u8, l->arguments[73 + i], (uint8_t)(i * 7 + 1)), "byte %d of 5000", i);
}

/* As they are, though any eight bytes of them could be an address. */
Test(small_remote_images, arguments_of_any_size_come_whole)
{
	enum { CLUSTER = 4 };

	returned(served(false, "arguments"), "arguments: 0\n");
	cr_assert(eq(int, recorded->launches, 2));
	check_shape(&recorded->launch[0], "image_arguments", (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 },
		    5073);
	check_shape(&recorded->launch[1], "image_arguments", (dim3){ 4, 1, 1 }, (dim3){ 32, 1, 1 },
		    5073);
	check_arguments(&recorded->launch[0]);
	check_arguments(&recorded->launch[1]);
	cr_assert(zero(int, (int)recorded->launch[0].attributes));
	cr_assert(eq(int, (int)recorded->launch[1].attributes, 1));
	cr_assert(eq(int, recorded->launch[1].attribute, CLUSTER));
}

Test(small_remote_images, attributes_that_it_lacks_are_refused_not_dropped)
{
	const char *out = served(false, "attribute");

	returned(out, "attribute: 801\n");
	returned(out, "not supported: cudaLaunchKernelExC with "
		      "cudaLaunchAttributeAccessPolicyWindow\n");
	cr_assert(zero(int, recorded->launches));
}

Test(small_remote_images, variables_are_found_by_their_names)
{
	returned(served(false, "variables"), "variables: 41\n");
	cr_assert(eq(int, recorded->commands[REMOTE_SYMBOL], 2));
	cr_assert(eq(int, recorded->libraries, 1));
}

/* --default-stream per-thread: other names, and another stream where the program says 0. */
Test(small_remote_images, default_streams_of_threads_are_meant)
{
	returned(served(false, "per_thread plain"), "per_thread: 42\n");
	check_shape(&recorded->launch[0], "image_per_thread", (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 },
		    8);
	cr_assert(eq(ptr, recorded->launch[0].stream, (void *)cudaStreamPerThread));
	cr_assert(zero(ptr, recorded->launch[1].stream));
}

/* Pageable memory goes by way of blocks, which this daemon has pinned. */
Test(small_remote_images, copies_come_back)
{
	returned(served(false, "copies"), "copies: 0\n");
}

Test(small_remote_images, the_default_pool_is_the_daemon_s)
{
	returned(served(false, "pool"), "pool: 0\n");
	cr_assert(eq(u64, recorded->pool_keeps, UINT64_MAX));
	cr_assert(eq(u64, recorded->pool_trimmed_to, 12345));
}

Test(small_remote_images, graphs_are_instantiated_by_either_name)
{
	returned(served(false, "with_flags"), "with_flags: 0\n");
	cr_assert(eq(int, recorded->commands[REMOTE_EXEC_CREATE], 1));
	cr_assert(eq(int, recorded->commands[REMOTE_EXEC_LAUNCH], 1));
}

/* A GPU's driver chooses addresses, where the program may have something of its own. */
Test(small_remote_images, memory_lies_where_the_program_has_nothing)
{
	struct own_daemon d;
	const char *out;

	recorder_begin();
	d = own_daemon_start(false, NULL);
	recorded->elsewhere = 3;
	out = run_client(&d, "taken copies");
	returned(out, "taken: 1\n");
	returned(out, "copies: 0\n");
	cr_assert(eq(int, recorded->commands[REMOTE_MALLOC], 4));
	cr_assert(eq(int, recorded->given_back, 3));
	own_daemon_end(&d);
}

/* Is the address anyone's in the daemon's process? */
static bool is_taken_there(unsigned long address)
{
	const char *line = recorded->maps;
	unsigned long low, high;

	while (sscanf(line, "%lx-%lx", &low, &high) == 2) {
		if (address - low < high - low)
			return true;
		line = strchr(line, '\n');
		if (!line++)
			return false;
	}
	return false;
}

/* Linux draws at random where it maps, from more than a TiB: at times that far above these. */
static bool lies_in_space(uint64_t address)
{
	static const uint64_t bases[] = REMOTE_BASES;

	return address - bases[0] < REMOTE_SPACE_BYTES;
}

/* All of it, and what the program will map below. */
Test(small_remote_images, the_driver_is_not_offered_what_the_program_uses)
{
	const char *out = served(false, "where copies"), *where = strstr(out, "where: 0x");
	unsigned long at = where ? strtoul(where + strlen("where: "), NULL, 16) : 0;
	unsigned long below = at - (256ul << 30);

	returned(out, "copies: 0\n");
	cr_assert(ne(u64, at, 0), "%s", out);
	cr_assert(is_taken_there(at), "0x%lx is free in\n%s", at, recorded->maps);
	cr_assert(is_taken_there(at + (63 << 20)), "0x%lx", at);
	cr_assert(is_taken_there(at - (1ul << 30)), "0x%lx", at);
	cr_assert(lies_in_space(below) || !is_taken_there(below), "0x%lx", at);
}

/* Whatever a client says that it uses, it is served, and the daemon keeps what it has itself. */
Test(small_remote_images, what_a_client_says_that_it_uses_does_no_harm)
{
	static const uint64_t bases[] = REMOTE_BASES;
	const uint64_t used[][2] = { { 0, UINT64_MAX },
				     { UINT64_MAX - 4095, 1 << 20 },
				     { 1, 1 },
				     { (uint64_t)1 << 62, (uint64_t)1 << 62 },
				     { bases[1], 4096 },
				     { UINT64_MAX, UINT64_MAX },
				     { UINT64_C(0x7f) << 40, UINT64_C(1) << 40 } };
	struct own_daemon d;

	recorder_begin();
	d = own_daemon_start(false, NULL);
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) {
		const struct remote_hello h = { .magic = REMOTE_MAGIC,
						.version = REMOTE_VERSION,
						.kernels = REMOTE_IMAGES,
						.base = bases[1],
						.used = used[i][0],
						.used_bytes = used[i][1] };
		struct remote_welcome w = { .verdict = REMOTE_TAKEN };
		int fd = own_daemon_reach(&d);

		cr_assert(eq(sz, (size_t)write(fd, &h, sizeof(h)), sizeof(h)));
		cr_assert(eq(sz, (size_t)recv(fd, &w, sizeof(w), MSG_WAITALL), sizeof(w)));
		cr_assert(eq(int, (int)w.verdict, REMOTE_WELCOME), "%zu: %s", i, w.reason);
		close(fd);
	}
	returned(run_client(&d, "copies"), "copies: 0\n");
	own_daemon_end(&d);
}

Test(small_remote_images, programs_of_cuda_12_find_their_runtime_too)
{
	client_cuda = 12;
	returned(served(false, "plain"), "plain: 0\n");
	cr_assert(eq(int, recorded->launches, 1));
}

/* As the layer has it on a GPU: the runtime's names are preloaded, of both versions. */
Test(small_remote_images, preloaded_names_are_found_too)
{
	struct own_daemon d;
	const char *out;
	int n = (int)(strrchr(client_library(), '/') - client_library()), rc;

	recorder_begin();
	d = own_daemon_start(false, NULL);
	rc = shell(&out,
		   REMOTE_VARIABLE "='%s' LD_PRELOAD='%s:%.*s/cudart/libcudart.so.13:"
				   "%.*s/cudart/libcudart.so.12' '%s' plain 2>&1",
		   d.folder, client_library(), n, client_library(), n, client_library(),
		   client_path());
	cr_assert(zero(int, rc), "%s", out);
	returned(out, "plain: 0\n");
	cr_assert(eq(int, recorded->launches, 1));
	own_daemon_end(&d);
}

/* Fat binaries then follow the commands that bring them. */
static void served_over(enum remote_transport transport)
{
	const char *out;

	own_transport = transport;
	out = served(false, "plain rdc ptx copies variables arguments");
	returned(out, "plain: 0\n");
	returned(out, "rdc: 0\n");
	returned(out, "ptx: 0\n");
	returned(out, "copies: 0\n");
	returned(out, "variables: 41\n");
	returned(out, "arguments: 0\n");
	cr_assert(eq(int, recorded->commands[REMOTE_IMAGE_PART], recorded->libraries));
	cr_assert(eq(int, recorded->launches, 5));
	for (int i = 0; i < recorded->libraries; i++)
		cr_assert(is_in_program(i), "library %d", i);
	check_arguments(&recorded->launch[4]);
}

Test(small_remote_images, they_come_over_a_unix_socket)
{
	served_over(REMOTE_UNIX);
}

Test(small_remote_images, they_come_over_tcp)
{
	served_over(REMOTE_TCP);
}

/* ---- what is sent, and when --------------------------------------------------------------- */

Test(small_remote_images, nothing_is_sent_before_its_first_use)
{
	served(false, "copies");
	cr_assert(zero(int, recorded->commands[REMOTE_IMAGE] + recorded->commands[REMOTE_KERNEL]));
}

Test(small_remote_images, a_kernel_is_asked_for_once)
{
	returned(served(true, "plain plain plain variables"), "variables: 41\n");
	cr_assert(eq(int, recorded->launches, 3));
	cr_assert(eq(int, recorded->commands[REMOTE_KERNEL], 1));
	cr_assert(eq(int, recorded->commands[REMOTE_IMAGE], 1));
}

Test(small_remote_images, what_the_daemon_has_is_not_sent_again)
{
	struct own_daemon d;

	recorder_begin();
	d = own_daemon_start(false, NULL);
	returned(run_client(&d, "plain rdc"), "rdc: 0\n");
	cr_assert(eq(int, recorded->commands[REMOTE_IMAGE_PART], 2));
	returned(run_client(&d, "plain rdc ptx"), "ptx: 0\n");
	cr_assert(eq(int, recorded->commands[REMOTE_IMAGE], 5));
	cr_assert(eq(int, recorded->commands[REMOTE_IMAGE_PART], 3));
	cr_assert(eq(int, recorded->libraries, 5));
	for (int i = 0; i < 5; i++)
		cr_assert(is_in_program(i), "library %d", i);
	own_daemon_end(&d);
}

/* What lies in the store and is not what its name says is not believed. */
Test(small_remote_images, a_damaged_store_is_passed_by)
{
	struct own_daemon d;

	recorder_begin();
	d = own_daemon_start(false, NULL);
	run_client(&d, "plain");
	cr_assert(zero(int, shell(NULL,
				  "for f in '%s'/image-*; do printf x | dd of=\"$f\" bs=1 "
				  "seek=100 conv=notrunc 2>/dev/null; done",
				  d.folder)));
	returned(run_client(&d, "plain"), "plain: 0\n");
	cr_assert(eq(int, recorded->commands[REMOTE_IMAGE_PART], 2));
	cr_assert(eq(int, recorded->launches, 2));
	own_daemon_end(&d);
}

/* ---- what is refused ---------------------------------------------------------------------- */

Test(small_remote_images, what_is_no_fat_binary_is_refused)
{
	const char *out = served(false, "bad_wrapper bad_body unknown_kernel plain");

	returned(out, "bad_wrapper: 801\n");
	returned(out, "not supported: fat binaries of this format\n");
	returned(out, "bad_body: 200\n");
	returned(out, "unknown_kernel: 98\n");
	returned(out, "plain: ");
	cr_assert(eq(int, recorded->launches, 1), "what is right goes on");
}

Test(small_remote_images, functions_that_it_lacks_say_their_names_once)
{
	const char *out = served(false, "reset reset"), *first;

	returned(out, "reset: 801\nreset: 801\n");
	first = strstr(out, "cudaDeviceReset\n");
	cr_assert(first && !strstr(first + 1, "cudaDeviceReset"), "%s", out);
}

/* Memory is as it was. cuBLAS is the CPU device's, whichever the runtime is. */
Test(small_remote_images, who_opens_the_driver_is_refused_and_who_begins_cublas_is_not)
{
	const char *out = served(false, "driver cublas cublas_by_name plain");

	returned(out, "driver: 801\n");
	returned(out, "rift: layer remote: not supported: the driver, by functions of its own\n");
	returned(out, "cublas: 0\n");
	returned(out, "cublas_by_name: 15\n");
	returned(out, "rift: layer remote: not supported: cublasSgemm_v2\n");
	returned(out, "plain: 0\n");
	returned(out, "end: 0\n");
}

/* There is no other runtime in the program. */
Test(small_remote_images, names_of_errors_are_the_daemon_s)
{
	returned(served(false, "error_name"), "cudaErrorMemoryAllocation\n");
}

/* Nor is there a daemon to be asked. */
Test(small_remote_images, who_reaches_no_daemon_is_told_so)
{
	const char *out;

	cr_assert(ne(int, run_client_in("/nonexistent", "no_daemon", &out), 0));
	returned(out, "rift: layer remote: no daemon: ");
	returned(out, "memory: 3\n");
	returned(out, "cudaErrorInitializationError, the layer remote has reached no daemon\n");
}

/* ---- commands that no client sends -------------------------------------------------------- */

struct bare {
	struct session s;
	struct remote_answer answer;
	uint8_t blocks[2 * REMOTE_BLOCKS][REMOTE_BLOCK_BYTES];
};

static struct bare *bare_session(void)
{
	struct bare *b = calloc(1, sizeof(*b));

	recorder_begin();
	b->s = session_new(backend_cuda(), UINT64_C(0x7e8000000000), b->blocks[0],
			   b->blocks[REMOTE_BLOCKS], 1 << 20);
	return b;
}

#define ASK(op, name, ...)                                                                         \
	command_error(&b->s, &b->answer, op, name, (const uint64_t[]){ __VA_ARGS__ },              \
		      sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

Test(small_remote_images, images_that_lie_are_not_loaded)
{
	struct bare *b = bare_session();
	uint8_t *fat = b->blocks[0];
	uint64_t bytes = 16 + 200, behind = 200;
	struct remote_hash h;

	memcpy(fat + 6, &(uint16_t){ 16 }, 2);
	memcpy(fat + 8, &behind, 8);
	h = remote_hash_of(fat, bytes);
	cr_assert(ne(int, ASK(REMOTE_IMAGE, "", 0, 0, 1, 2), 0), "of no length");
	cr_assert(ne(int, ASK(REMOTE_IMAGE, "", 0, UINT64_MAX, 1, 2), 0), "of any length");
	cr_assert(ne(int, ASK(REMOTE_IMAGE, "", 0, 2 << 20, 1, 2), 0), "of more than it may take");
	cr_assert(ne(int, ASK(REMOTE_IMAGE_PART, "", 0, bytes), 0), "before it was named");
	cr_assert(zero(int, ASK(REMOTE_IMAGE, "", 0, bytes, h.half[0], h.half[1])));
	cr_assert(ne(int, ASK(REMOTE_IMAGE, "", 0, bytes, h.half[0], h.half[1]), 0), "twice");
	cr_assert(ne(int, ASK(REMOTE_IMAGE_PART, "", 0, bytes + 1), 0), "longer than it said");
	cr_assert(ne(int, ASK(REMOTE_IMAGE_PART, "", 0, pair(8, REMOTE_BLOCKS)), 0), "no block");
	cr_assert(ne(int, ASK(REMOTE_KERNEL, "image_plain", 0, 0), 0), "before it is there");
	cr_assert(zero(int, ASK(REMOTE_IMAGE_PART, "", 0, bytes)));
	cr_assert(ne(int, ASK(REMOTE_IMAGE_PART, "", 0, bytes), 0), "after its end");
	cr_assert(zero(int, ASK(REMOTE_KERNEL, "image_plain", 0, 0)));
	cr_assert(ne(int, ASK(REMOTE_KERNEL, "image_plain", 1, 1), 0), "of no image");
	cr_assert(zero(int, ASK(REMOTE_IMAGE, "", 1, bytes, h.half[0], 7)));
	cr_assert(ne(int, ASK(REMOTE_IMAGE_PART, "", 1, bytes), 0), "of another hash");
	behind = UINT64_MAX - 4; /* where the runtime would read on */
	memcpy(fat + 8, &behind, 8);
	h = remote_hash_of(fat, bytes);
	cr_assert(zero(int, ASK(REMOTE_IMAGE, "", 2, bytes, h.half[0], h.half[1])));
	cr_assert(ne(int, ASK(REMOTE_IMAGE_PART, "", 2, bytes), 0), "longer than what came");
	cr_assert(eq(int, recorded->libraries, 1));
	cr_assert(zero(u64, b->s.memory_bytes));
	session_close(&b->s);
	cr_assert(eq(int, recorded->unloaded, 1));
	free(b);
}

/* A session that has image_plain as its kernel 5, and a graph 0 of two launches of it. */
static struct bare *bare_graph(void)
{
	struct bare *b = bare_session();
	uint8_t *fat = b->blocks[0];
	const struct remote_launched {
		struct remote_shape shape;
		uint64_t stream, attributes;
	} launch = { { 5, pair(2, 3), pair(5, 6), pair(4, 7), 128 }, REMOTE_OWN, 0 };
	uint64_t word[7];
	struct remote_hash h;

	memcpy(fat + 6, &(uint16_t){ 16 }, 2);
	memcpy(fat + 8, &(uint64_t){ 200 }, 8);
	h = remote_hash_of(fat, 216);
	memcpy(word, &launch, sizeof(word));
	cr_assert(zero(int, ASK(REMOTE_IMAGE, "", 0, 216, h.half[0], h.half[1])));
	cr_assert(zero(int, ASK(REMOTE_IMAGE_PART, "", 0, 216)));
	cr_assert(zero(int, ASK(REMOTE_KERNEL, "image_plain", 5, 0)));
	cr_assert(zero(int, ASK(REMOTE_STREAM_CREATE, "", 0, 0, 0)));
	cr_assert(zero(int, ASK(REMOTE_CAPTURE_BEGIN, "", REMOTE_OWN, 0)));
	for (int i = 0; i < 2; i++)
		cr_assert(zero(int, command_error(&b->s, &b->answer, REMOTE_LAUNCH,
						  "fifteen letters", word, 7)));
	cr_assert(zero(int, ASK(REMOTE_CAPTURE_END, "", REMOTE_OWN, 0)));
	return b;
}

/* A GPU's runtime does not know them (driver.h). */
Test(small_remote_images, kernels_of_graphs_are_known_by_the_driver)
{
	struct bare *b = bare_graph();
	const struct remote_shape want = { 5, pair(2, 3), pair(5, 6), pair(4, 7), 128 };
	const struct recorded_launch *l = &recorded->launch[2];
	uint64_t set[8] = { 0, 0, 1, 5, pair(9, 1), pair(8, 1), pair(1, 1), 64 };
	uint64_t add[7] = { 0, 0, 5, pair(3, 1), pair(4, 1), pair(1, 1), 0 };

	for (uint64_t node = 0; node < 2; node++) {
		cr_assert(zero(int, ASK(REMOTE_NODE_KERNEL, "", 0, node)), "node %d", (int)node);
		cr_assert(eq(u32, b->answer.bytes, sizeof(want) + 16));
		cr_assert(zero(int, memcmp(b->answer.data, &want, sizeof(want))));
		cr_assert(zero(int, memcmp(b->answer.data + sizeof(want) + 8, "letters", 8)));
	}
	cr_assert(zero(int, ASK(REMOTE_EXEC_CREATE, "", 0, 0, 0)));
	cr_assert(zero(int, command_error(&b->s, &b->answer, REMOTE_EXEC_SET_KERNEL,
					  "FIFTEEN LETTERS", set, 8)));
	check_shape(l, "image_plain", (dim3){ 9, 1, 1 }, (dim3){ 8, 1, 1 }, 16);
	cr_assert(eq(sz, l->shared_bytes, 64));
	cr_assert(zero(int, memcmp(l->arguments + 8, "LETTERS", 8)));
	cr_assert(zero(int, command_error(&b->s, &b->answer, REMOTE_ADD_KERNEL, "sixteen LETTERS",
					  add, 7)));
	cr_assert(zero(int, memcmp(b->answer.data, &(uint64_t){ 2 }, 8)), "its place");
	check_shape(l + 1, "image_plain", (dim3){ 3, 1, 1 }, (dim3){ 4, 1, 1 }, 16);
	cr_assert(zero(int, memcmp((l + 1)->arguments + 8, "LETTERS", 8)));
	session_close(&b->s);
	free(b);
}

Test(small_remote_images, without_the_driver_s_functions_the_runtime_says_no)
{
	struct bare *b = bare_graph();

	recorded->no_driver = true;
	cr_redirect_stderr();
	cr_assert(eq(int, ASK(REMOTE_NODE_KERNEL, "", 0, 0), cudaErrorInvalidDeviceFunction));
	cr_assert(zero(int, ASK(REMOTE_EXEC_CREATE, "", 0, 0, 0)));
	cr_assert(eq(str, (char *)captured_stderr(),
		     "rift: layer remote: the driver does not provide cuGraphKernelNodeGetParams, "
		     "without which kernels of graphs stay unknown\n"));
	session_close(&b->s);
	free(b);
}

/* Fat binaries come from the store here, as blocks are not on record. RIFT_REMOTE_FUZZ: how many.
 */
Test(small_remote_images, damaged_commands_are_refused)
{
	enum { MESSAGES = 3000 };
	const char *n = getenv("RIFT_REMOTE_FUZZ");
	struct own_daemon d;

	recorder_begin();
	fuzz_new_record();
	d = own_daemon_start(false, fuzz_watch);
	for (int i = 0; i < 2; i++)
		run_client(&d, "plain variables template rdc rdc_variable ptx arguments copies "
			       "per_thread bad_body");
	own_daemon_end(&d);
	fuzz_session(backend_cuda(), d.folder, REMOTE_KERNEL, REMOTE_SYMBOL, n ? atoi(n) : MESSAGES,
		     false);
}
