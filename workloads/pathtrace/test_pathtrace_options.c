/*
 * test_pathtrace_options.c - `rift run pathtrace` with options that make no sense, by class; and
 * the pictures that it writes, byte by byte.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"

#include <zlib.h>

#include "tests/folder.h"
#include "tests/need_gnuplot.h"
#include "workloads/pathtrace/test_pathtrace.h"

TEST_FOLDER(folder);

TestSuite(small_pathtrace_options, .init = make_folder, .fini = remove_folder, .timeout = 300);

#define BRIEF "run pathtrace --depth 1 --samples 1 --check-steps 1 --quiet "
#define SMALL BRIEF "width=5 height=3 samples=2 "

Test(small_pathtrace_options, sizes_are_checked)
{
	words_refused(BRIEF, "samples=0 samples=32769 samples=many width=0 width=-1 height=4097 "
			     "bounces=65 bounces=1.5 rr=-1 nee=2 scene=cave seed=-1 limit_ms=-1");
	refused(3, "2^31 samples", "run pathtrace samples=32k --depth 65537");
}

/* 16 samples of 4 pixels take well under a tenth of that, 32k two thousand times as long. */
Test(small_pathtrace_options, a_sweep_leaves_out_launches_that_it_foresees_to_be_too_long)
{
	static const char sweep[] = "sweep pathtrace width=2 height=2 limit_ms=10 --depth 1 "
				    "--mode stream --quick --quiet --dry-run --size";
	struct pathtrace_opts o = make_opts(PT_BOX, 2, 2);
	struct limits limits = { 0 };
	const char *text;

	cr_assert(!workload_pathtrace.limits(&o, &limits), "limits");
	cr_assert(limits.launch_max_ms == 1000 && limits.launch_max_watched_ms == 500, "default");
	need_device();
	refused(3, "a launch of each would take more than 10 ms", "%s 32k", sweep);
	/* a launch that is timed while the processor was another's may look too long */
	for (int i = 0; i < 10; i++) {
		cr_assert(!run_rift(OUT, &text, "%s 1,16,32k", sweep), "two are left");
		if (strstr(text, " rounds of 2 points"))
			break;
	}
	cr_assert(strstr(text, " rounds of 2 points"), "%s", text);
}

Test(small_pathtrace_options, pictures_that_cannot_be_written_are_refused_at_once)
{
	need_device();
	refused(3, ".ppm, .png or .pfm", BRIEF "image=%s/a.jpg", folder);
	refused(3, ".ppm, .png or .pfm", BRIEF "image=png");
	refused(3, "no/such/folder", BRIEF "samples=32k image=%s/no/such/folder.png", folder);
	shell(NULL, "mkdir %s/f.png", folder);
	refused(3, "is a folder", BRIEF "samples=32k image=%s/f.png", folder);
}

/* By the hook: what can be asked for on the command line is 640 MiB at most. */
Test(small_pathtrace_options, too_large_a_picture_is_refused_with_the_numbers)
{
	run_setup_fails(make_opts(PT_BOX, 1 << 20, 1), "width=1048576 height=1048576");
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* A file of the folder; its bytes, the caller's to free. */
static uint8_t *read_bytes(const char *name, size_t *n)
{
	uint8_t *bytes = malloc(1 << 16);
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	cr_assert(f && bytes, "%s", path);
	*n = fread(bytes, 1, 1 << 16, f);
	fclose(f);
	return bytes;
}

static void write_picture(const char *name)
{
	const char *text;

	cr_assert(!run_rift(ERR, &text, SMALL "image=%s/%s", folder, name), "%s", text);
	cr_assert(!shell(NULL, "test -z \"$(ls %s | grep part)\"", folder), "a part is left");
}

/* The same picture by the hooks, as the mean of every pixel. */
static float *expected(void)
{
	struct pathtrace_opts o = make_opts(PT_BOX, 5, 2);
	struct pt_pixel *pixel;
	struct run *r;
	float *mean;

	o.height = 3;
	r = run_begin(o);
	run_steps(r, 1);
	pixel = run_pixels(r);
	mean = pathtrace_means(pixel, 15);
	free(pixel);
	run_end(r);
	return mean;
}

static void has_colours(const uint8_t *rgb, const float *mean, int line_extra)
{
	for (int y = 0; y < 3; y++)
		for (int i = 0; i < 15; i++)
			cr_assert(rgb[y * (15 + line_extra) + line_extra + i] ==
					  pathtrace_srgb(mean[15 * y + i]),
				  "line %d, byte %d", y, i);
}

Test(small_pathtrace_options, a_ppm_holds_the_picture)
{
	float *mean;
	uint8_t *file;
	size_t n;

	need_device();
	mean = expected();
	write_picture("a.ppm");
	file = read_bytes("a.ppm", &n);
	cr_assert(n == 11 + 45 && !memcmp(file, "P6\n5 3\n255\n", 11), "%zu bytes", n);
	has_colours(file + 11, mean, 0);
	free(file);
	free(mean);
}

/* Lines from the bottom to the top. */
Test(small_pathtrace_options, a_pfm_holds_every_bit)
{
	const char head[] = "PF\n5 3\n-1.0\n";
	float *mean;
	uint8_t *file;
	size_t n;

	need_device();
	mean = expected();
	write_picture("a.PFM");
	file = read_bytes("a.PFM", &n);
	cr_assert(n == sizeof(head) - 1 + 180 && !memcmp(file, head, sizeof(head) - 1), "%zu bytes",
		  n);
	for (int y = 0; y < 3; y++)
		cr_assert(!memcmp(file + sizeof(head) - 1 + 60 * y, mean + 15 * (2 - y), 60),
			  "line %d", y);
	free(file);
	free(mean);
}

static uint32_t number(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Length, name, data, sum over name and data. */
static const uint8_t *chunk(const uint8_t *at, const char *name, uint32_t *length)
{
	*length = number(at);
	cr_assert(!memcmp(at + 4, name, 4), "%.4s, not %s", (const char *)at + 4, name);
	cr_assert(number(at + 8 + *length) == crc32(0, at + 4, *length + 4), "sum of %s", name);
	return at + 8;
}

Test(small_pathtrace_options, a_png_holds_the_picture)
{
	static const uint8_t header[13] = { 0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0 };
	uint8_t lines[3 * 16];
	uLongf bytes = sizeof(lines);
	const uint8_t *at;
	uint8_t *file;
	float *mean;
	uint32_t length;
	size_t n;

	need_device();
	mean = expected();
	write_picture("a.png");
	file = read_bytes("a.png", &n);
	cr_assert(!memcmp(file, "\x89PNG\r\n\x1a\n", 8), "signature");
	at = chunk(file + 8, "IHDR", &length);
	cr_assert(length == 13 && !memcmp(at, header, 13), "header");
	at = chunk(at + length + 4, "IDAT", &length);
	cr_assert(uncompress(lines, &bytes, at, length) == Z_OK && bytes == 48, "%lu", bytes);
	has_colours(lines, mean, 1);
	at = chunk(at + length + 4, "IEND", &length);
	cr_assert(at + 4 == file + n, "something behind the end");
	free(file);
	free(mean);
}

Test(small_pathtrace_options, colours_are_srgb)
{
	cr_assert(pathtrace_srgb(-1) == 0 && pathtrace_srgb(0) == 0, "black");
	cr_assert(pathtrace_srgb(1) == 255 && pathtrace_srgb(100) == 255, "white");
	cr_assert(pathtrace_srgb(0.5f) == 188, "half: %d", pathtrace_srgb(0.5f));
	cr_assert(pathtrace_srgb(0.002f) == 7, "the straight part: %d", pathtrace_srgb(0.002f));
	cr_assert(pathtrace_srgb(0.18f) == 118, "grey: %d", pathtrace_srgb(0.18f));
}

Test(small_pathtrace_options, what_was_run_is_told)
{
	const char *text;

	need_device();
	cr_assert(!run_rift(OUT, &text, SMALL " --verbose"), "run");
	cr_assert(strstr(text, "\nsamples of a pixel 2 paths\n"), "%s", text);
	cr_assert(strstr(text, "\nrays lost         0 rays\n"), "%s", text);
	cr_assert(strstr(text, "\nbits of the picture "), "%s", text);
	cr_assert(strstr(text, " per path, "), "%s", text);
}

Test(small_pathtrace_options, a_picture_is_drawn)
{
	const char *text;

	need_device();
	NEED_GNUPLOT();
	cr_assert(!run_rift(ERR, &text, SMALL "--plot=%s", folder), "%s", text);
	cr_assert(!shell(&text, "test -s %s/pathtrace.png && wc -l <%s/pathtrace-image.csv", folder,
			 folder),
		  "no picture");
	cr_assert(!strcmp(text, "16\n"), "%s lines", text);
}
