/* test_stereo_ppm.c - PPM files: what is read, what is refused at which byte, and steps on them. */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/stereo/test_stereo.h"

#include <sys/stat.h>

#include "tests/folder.h"
#include "workloads/stereo/inputs.h"
#include "workloads/stereo/app_ppm.h"

TEST_FOLDER(folder);

static const char *temp_path(const char *name)
{
	static char path[2][64];
	static int turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

TestSuite(small_stereo_ppm, .init = make_folder, .fini = remove_folder, .timeout = 300);

static const char *write_file(const char *name, const char *bytes, size_t n)
{
	const char *path = temp_path(name);
	FILE *f = fopen(path, "wb");

	cr_assert(f && fwrite(bytes, 1, n, f) == n && !fclose(f), "%s", path);
	return path;
}

/* ---- what is read ----------------------------------------------------------------------- */

#define BYTES "\1\2\3\xff\xfe\xfd"

static void reads(const char *bytes, size_t n)
{
	const char *path = write_file("left.ppm", bytes, n);
	struct stereo_size size = { 0, 0 };
	uint32_t pixel[2];

	cr_assert(!stereo_ppm_size(path, 10, &size) && size.w == 2 && size.h == 1, "%.10s", bytes);
	cr_assert(!stereo_ppm_read(path, size, pixel), "%.10s", bytes);
	cr_assert(pixel[0] == 0x030201 && pixel[1] == 0xfdfeff, "%x %x", pixel[0], pixel[1]);
}

Test(small_stereo_ppm, numbers_with_white_space_and_comments)
{
	static const char plain[] = "P6\n2 1\n255\n" BYTES;
	static const char odd[] = "P6 # a comment 9 9\n#\n\t2\r\n # 7\n01 #8\n255 " BYTES;
	static const char touching[] = "P6#1\n2#2\n1#3\n255#4\n" BYTES;
	static const char more[] = "P6\n2 1\n255\n" BYTES "and more";

	reads(plain, sizeof(plain) - 1);
	reads(odd, sizeof(odd) - 1);
	reads(touching, sizeof(touching) - 1);
	reads(more, sizeof(more) - 1);
}

/* ---- what is refused -------------------------------------------------------------------- */

static void refuses(const char *bytes, const char *says)
{
	const char *path = write_file("left.ppm", bytes, strlen(bytes));
	struct stereo_size size;
	uint32_t pixel[100];
	const char *text;
	int err;

	divert_stderr();
	err = stereo_ppm_size(path, 10, &size);
	if (!err)
		err = stereo_ppm_read(path, size, pixel);
	text = diverted_stderr();
	cr_assert(err == -EINVAL && is_one_complaint(text) && strstr(text, says), "%s: %d: %s",
		  bytes, err, text);
	cr_assert(strstr(text, path), "%s", text);
}

Test(small_stereo_ppm, bad_files_are_refused_at_their_byte)
{
	refuses("", "byte 0: the file ends where \"P6\" must be");
	refuses("P", "byte 1: the file ends where \"P6\" must be");
	refuses("P5\n2 1\n255\nabcdef", "byte 0: another kind of file");
	refuses("P6", "byte 2: the file ends where the width must be");
	refuses("P6\n# no end", "the file ends where the width must be");
	refuses("P6\nx", "byte 3: the width must be a number");
	refuses("P6\n-2 1\n", "byte 3: the width must be a number");
	refuses("P6\n0 1\n255\n", "the width is 0: must be 1 to 10");
	refuses("P6\n11 1\n255\n", "the width is 11: must be 1 to 10");
	refuses("P6\n2 99999999999999999999\n", "the height is");
	refuses("P6\n2 1", "byte 6: the file ends where white space must be");
	refuses("P6\n2 1;", "byte 6: white space must follow the height");
	refuses("P6\n2 1\n65535\n", "byte 7: the largest colour is 65535: must be 255");
	refuses("P6\n2 1\n255\nabcde", "byte 16: the file ends where pixels must be");
	refuses("P6\n2 1\n255", "byte 10: the file ends where white space must be");
}

/* Comments have an end, and what is no file is not waited for. */
Test(small_stereo_ppm, a_beginning_without_end_is_refused)
{
	char *text = malloc(1 << 20);
	struct stereo_size size;

	memset(text, ' ', 1 << 20);
	memcpy(text, "P6\n#", 4);
	text[(1 << 20) - 1] = '\0';
	refuses(text, "no pixels after ");
	text[4] = '\n';
	refuses(text, "no pixels after ");
	free(text);
	unlink(temp_path("left.ppm"));
	cr_assert(!mkfifo(temp_path("left.ppm"), 0600), "mkfifo");
	divert_stderr();
	cr_assert(stereo_ppm_size(temp_path("left.ppm"), 10, &size) < 0, "a pipe");
	cr_assert(is_one_complaint(diverted_stderr()), "one line");
}

Test(small_stereo_ppm, missing_files_and_unequal_sizes_are_refused)
{
	const char *left = write_file("left.ppm", "P6\n2 1\n255\nabcdef", 17);
	const char *right = write_file("right.ppm", "P6\n1 2\n255\nabcdef", 17);

	refused(3, "/left: No such file", "run stereo left=%s/left right=%s", folder, right);
	refused(3, "/right: No such file", "run stereo left=%s right=%s/right", left, folder);
	refused(3, "has 2 x 1 pixels, and ", "run stereo left=%s right=%s", left, right);
	refused(3, "width=9 has no effect", "run stereo left=%s right=%s width=9", left, left);
	refused(3, "seed=9 has no effect", "run stereo left=%s right=%s seed=9", left, left);
}

/* ---- steps ------------------------------------------------------------------------------ */

static const char *write_image(const char *name, struct stereo_size size, bool left)
{
	char bytes[4096];
	int n = snprintf(bytes, sizeof(bytes), "P6\n%d %d\n255\n", size.w, size.h);

	for (int32_t y = 0; y < size.h; y++)
		for (int32_t x = 0; x < size.w; x++) {
			uint32_t p =
				left ? stereo_left(x, y, size, 0, 1) : stereo_right(x, y, 0, 1);

			for (int c = 0; c < 24; c += 8)
				bytes[n++] = (char)(p >> c & 255);
		}
	return write_file(name, bytes, (size_t)n);
}

/* The same disparities as those of the images that were written, in every slot. */
Test(small_stereo_ppm, steps_on_files)
{
	const struct stereo_size size = { 40, 30 };
	struct run *made, *files;
	struct stereo_opts o = make_opts(40, 30);
	int32_t want[1200], got[1200];

	need_device();
	made = run_begin(o);
	run_steps(made, 1);
	CUDA(cudaMemcpy(want, out_on_device(made, 0), sizeof(want), cudaMemcpyDeviceToHost));
	run_end(made);
	o.left = write_image("left.ppm", size, true);
	o.right = write_image("right.ppm", size, false);
	files = run_begin(o);
	run_steps(files, 2);
	run_passes(files, 2);
	for (int slot = 0; slot < 2; slot++) {
		CUDA(cudaMemcpy(got, out_on_device(files, slot), sizeof(got),
				cudaMemcpyDeviceToHost));
		cr_assert(!memcmp(got, want, sizeof(want)), "slot %d", slot);
	}
	run_end(files);
}

/* Their size is the files': the sizes of a sweep are none of theirs, unless they are asked for. */
Test(small_stereo_ppm, files_can_be_swept)
{
	const struct stereo_size size = { 24, 16 };
	const char *left = write_image("left.ppm", size, true);
	const char *right = write_image("right.ppm", size, false), *text;

	cr_assert(!run_rift(OUT, &text,
			    "sweep stereo left=%s right=%s --depth 1 --processes 1 --dry-run", left,
			    right),
		  "%s", text);
	refused(3, "width=9 has no effect", "sweep stereo left=%s right=%s width=9 --dry-run", left,
		right);
}
