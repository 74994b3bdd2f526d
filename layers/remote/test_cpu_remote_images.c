/*
 * test_cpu_remote_images.c - fat binaries by way of the layer remote: a program whose kernels nvcc
 * compiled beforehand (images/) is the client of a daemon whose runtime records what it is given
 * (test_recorder.h). No toolkit and no GPU are needed.
 */
/* sanitizers: seen elsewhere */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "layers/remote/test_daemon.h"
#include "layers/remote/test_recorder.h"

TestSuite(small_remote_images, .init = layers_apart, .timeout = 100);

/* As the sources in images/ declare them; nvcc names templates. */
const struct recorder_kernel recorder_kernels[] = {
	{ "image_plain", { 1, 8 }, { 1, 8 } },
	{ 0 },
};

struct recorder_variable recorder_variables[] = {
	{ "image_counter", 4, NULL },
	{ "image_factors", 64, NULL },
	{ "image_shared", 4, NULL },
	{ 0 },
};

/* ---- a client ----------------------------------------------------------------------------- */

/* What the program prints, which it does for each word. */
static const char *run_client(const struct own_daemon *d, const char *words)
{
	const char *out;
	int rc = shell(
		&out,
		REMOTE_VARIABLE "='%s' LD_PRELOAD='%s' '%.*s/layers/remote/images/client' %s 2>&1",
		d->folder, client_library(), (int)(strrchr(rift(), '/') - rift()), rift(), words);

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "end: 0\n") != NULL, "%s", out);
	return out;
}

/* The same in a session of its own. */
static const char *served(const char *words)
{
	struct own_daemon d;
	const char *out;

	recorder_begin();
	d = own_daemon_start(false, NULL);
	out = run_client(&d, words);
	own_daemon_end(&d);
	return out;
}

Test(small_remote_images, a_plain_kernel_is_launched_as_the_program_says)
{
	const char *out = served("plain");
	const struct recorded_launch *l = &recorded->launch[0];

	cr_assert(strstr(out, "plain: 0\n") != NULL, "%s", out);
	cr_assert(eq(int, recorded->libraries, 1));
	cr_assert(eq(int, recorded->launches, 1));
	cr_assert(eq(str, (char *)l->kernel, "image_plain"));
	cr_assert(l->grid.x == 2 && l->grid.y == 3 && l->grid.z == 4);
	cr_assert(l->block.x == 5 && l->block.y == 6 && l->block.z == 7);
	cr_assert(eq(sz, l->shared_bytes, 128));
	cr_assert(eq(sz, l->bytes, 16));
	cr_assert(eq(u8, l->arguments[0], 'x'));
}
