/* test_mlp_idx.c - IDX files, raw and gzip: good, bad, and made up at random. */
#include "tests/plain.h"
#include "tests/folder.h"

#include <zlib.h>

#include "workloads/mlp/test_mlp.h"

TEST_FOLDER(folder);

TestSuite(small_mlp_idx, .init = make_folder, .fini = remove_folder, .timeout = 300);

/* ---- files ----------------------------------------------------------------------------- */

enum { IMAGES = 3, IMAGE_BYTES = 16 + IMAGES * MLP_PIXELS, LABEL_BYTES = 8 + IMAGES };

static void put_number(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void fill_images(uint8_t bytes[IMAGE_BYTES])
{
	const uint32_t head[] = { 0x803, IMAGES, 28, 28 };

	for (int i = 0; i < 4; i++)
		put_number(bytes + 4 * i, head[i]);
	for (int i = 16; i < IMAGE_BYTES; i++)
		bytes[i] = (uint8_t)(i * 7);
}

static void fill_labels(uint8_t bytes[LABEL_BYTES])
{
	const uint8_t label[] = { 0, 9, 5 };

	put_number(bytes, 0x801);
	put_number(bytes + 4, IMAGES);
	memcpy(bytes + 8, label, sizeof(label));
}

static const char *write_file(const char *name, const void *bytes, size_t n, bool packed)
{
	static char path[2][256];
	static int next;
	char *p = path[next++ % 2];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	if (packed) {
		gzFile f = gzopen(p, "wb");

		cr_assert(f && gzwrite(f, bytes, (unsigned)n) == (int)n && gzclose(f) == Z_OK, "%s",
			  p);
	} else {
		FILE *f = fopen(p, "wb");

		cr_assert(f && fwrite(bytes, 1, n, f) == n && !fclose(f), "%s", p);
	}
	return p;
}

Test(small_mlp_idx, files_are_read_raw_and_packed)
{
	uint8_t images[IMAGE_BYTES], labels[LABEL_BYTES];

	fill_images(images);
	fill_labels(labels);
	for (int packed = 0; packed < 2; packed++) {
		struct mlp_images im = { 0 };

		cr_assert(!mlp_idx_images(write_file("i", images, IMAGE_BYTES, packed), &im),
			  "images");
		cr_assert(!mlp_idx_labels(write_file("l", labels, LABEL_BYTES, packed), &im),
			  "labels");
		cr_assert(im.n == IMAGES && !memcmp(im.pixel, images + 16, IMAGES * MLP_PIXELS) &&
				  !memcmp(im.label, labels + 8, IMAGES),
			  "packed=%d", packed);
		mlp_images_free(&im);
	}
}

/* One line, with the file's name and what it should say. */
static void expect_bad(const char *path, bool labels, const char *says)
{
	struct mlp_images im = { 0 };
	const char *text;
	int err;

	im.n = labels ? IMAGES : 0;
	divert_stderr();
	err = labels ? mlp_idx_labels(path, &im) : mlp_idx_images(path, &im);
	text = diverted_stderr();
	cr_assert(err < 0 && is_one_complaint(text), "%s: %d, %s", path, err, text);
	cr_assert(strstr(text, path) && strstr(text, says), "'%s' is not in: %s", says, text);
	mlp_images_free(&im);
}

/* The file with another number at a byte, and cut or longer than it says. */
static void expect_bad_image(int at, uint32_t number, int64_t bytes, bool packed, const char *says)
{
	uint8_t file[IMAGE_BYTES + 1] = { 0 };

	fill_images(file);
	if (at >= 0)
		put_number(file + at, number);
	expect_bad(write_file("bad", file, (size_t)bytes, packed), false, says);
}

Test(small_mlp_idx, broken_images_are_refused_with_the_byte)
{
	expect_bad_image(0, 0x801, IMAGE_BYTES, false, ": byte 0: magic number 0x00000801; IDX");
	expect_bad_image(0, 0x3080000, IMAGE_BYTES, false, ": byte 0: magic number 0x03080000");
	expect_bad_image(4, 0, IMAGE_BYTES, false, ": byte 4: a count of 0");
	expect_bad_image(4, 0xffffffff, IMAGE_BYTES, false, ": byte 4: a count of 4294967295");
	expect_bad_image(8, 32, IMAGE_BYTES, false, ": byte 8: 32 rows; images must be 28 x 28");
	expect_bad_image(12, 27, IMAGE_BYTES, false, ": byte 12: 27 columns; images must be 28");
	expect_bad_image(4, 4, IMAGE_BYTES, false, ": byte 2368: the file ends, and 784 bytes");
	expect_bad_image(4, 2, IMAGE_BYTES, false, ": byte 1584: the file continues");
	expect_bad_image(-1, 0, 0, false, ": byte 0: the file ends, and 4 bytes");
	expect_bad_image(-1, 0, 7, false, ": byte 7: the file ends, and 1 bytes");
	expect_bad_image(-1, 0, IMAGE_BYTES - 1, false, ": byte 2367: the file ends, and 1 bytes");
	expect_bad_image(-1, 0, IMAGE_BYTES + 1, false, ": byte 2368: the file continues");
	expect_bad_image(8, 32, IMAGE_BYTES, true, ": byte 8 (unpacked): 32 rows");
	expect_bad_image(-1, 0, 100, true, ": byte 100 (unpacked): the file ends");
}

Test(small_mlp_idx, broken_labels_are_refused_with_the_byte)
{
	uint8_t file[LABEL_BYTES];

	fill_labels(file);
	file[9] = 10;
	expect_bad(write_file("l", file, LABEL_BYTES, false), true, ": byte 9: label 10;");
	fill_labels(file);
	put_number(file + 4, 2);
	expect_bad(write_file("l", file, LABEL_BYTES, false), true,
		   ": byte 4: 2 labels, but there are 3 images");
	put_number(file, 0x803);
	expect_bad(write_file("l", file, LABEL_BYTES, false), true, ": byte 0: magic number");
	fill_labels(file);
	expect_bad(write_file("l", file, LABEL_BYTES - 1, false), true, ": byte 10: the file ends");
	expect_bad("/nowhere/labels", true, "No such file");
	expect_bad(folder, true, "Is a directory");
}

/* Any piece that is missing from a compressed file, and any bit of its check sum. */
Test(small_mlp_idx, broken_gzip_is_refused)
{
	uint8_t file[IMAGE_BYTES], packed[4096], broken[4096];
	size_t n;
	FILE *f;

	fill_images(file);
	for (int i = 16; i < IMAGE_BYTES; i++)
		file[i] = (uint8_t)(philox4x32((uint32_t)i, 0, 0, 0, 1).word[0] >> 9);
	f = fopen(write_file("whole.gz", file, IMAGE_BYTES, true), "rb");
	n = fread(packed, 1, sizeof(packed), f);
	fclose(f);
	cr_assert(n > 1000 && n < sizeof(packed), "%zu bytes", n);
	for (size_t cut = 10; cut < n; cut += 1 + cut / 10)
		expect_bad(write_file("cut.gz", packed, cut, false), false, "cut.gz");
	for (size_t at = n - 8; at < n; at++) {
		memcpy(broken, packed, n);
		broken[at] ^= 1;
		expect_bad(write_file("sum.gz", broken, n, false), false, "broken gzip");
	}
}

/* Whatever comes: images that hold together, or one line. */
Test(small_mlp_idx, anything)
{
	int good = 0, bad = 0;

	for (uint32_t i = 0; i < 300; i++) {
		uint8_t file[IMAGE_BYTES];
		struct philox r = philox4x32(i, 0, 0, 0, 9);
		struct mlp_images im = { 0 };
		const char *said;
		size_t n = IMAGE_BYTES;
		int err;

		fill_images(file);
		for (uint32_t k = 0; k < r.word[0] % 3; k++)
			file[r.word[1 + k] % 20] = (uint8_t)(r.word[1 + k] >> 16);
		if (r.word[0] >> 8 & 1)
			n = r.word[3] % IMAGE_BYTES;
		divert_stderr();
		err = mlp_idx_images(write_file("any", file, n, r.word[0] >> 9 & 1), &im);
		said = diverted_stderr();
		cr_assert(err ? is_one_complaint(said) : !*said, "file %u: %d, %s", i, err, said);
		cr_assert(err || im.n * MLP_PIXELS + 16 == (int64_t)n, "file %u: %ld images", i,
			  (long)im.n);
		good += !err;
		bad += err < 0;
		mlp_images_free(&im);
	}
	cr_assert(good > 30 && bad > 30, "%d good, %d bad: too few of one kind", good, bad);
}

/* ---- a folder of them ------------------------------------------------------------------ */

static void write_set(const char *images, const char *labels, bool packed)
{
	uint8_t image[IMAGE_BYTES], label[LABEL_BYTES];

	fill_images(image);
	fill_labels(label);
	write_file(images, image, IMAGE_BYTES, packed);
	write_file(labels, label, LABEL_BYTES, packed);
}

Test(small_mlp_idx, a_folder_is_read_and_shared)
{
	const struct mlp_data_wish wish = { MLP_DATA_AUTO, folder, 60000, 1 };
	const struct mlp_data *a, *b;
	uint8_t label[IMAGES];

	need_device();
	write_set("train-images-idx3-ubyte.gz", "train-labels.idx1-ubyte", true);
	write_set("t10k-images.idx3-ubyte.gz", "t10k-labels-idx1-ubyte", false);
	cr_assert(!mlp_data_get(&wish, &a) && !mlp_data_get(&wish, &b), "see stderr");
	cr_assert(a == b && a->train.n == IMAGES && a->test.n == IMAGES, "%ld and %ld images",
		  (long)a->train.n, (long)a->test.n);
	cr_assert(strstr(a->source, "IDX files in /tmp/"), "%s", a->source);
	CUDA(cudaMemcpy(label, a->train_device.label, IMAGES, cudaMemcpyDeviceToHost));
	cr_assert(!memcmp(label, a->train.label, IMAGES), "labels on the device");
	mlp_data_put(a);
	cr_assert(b->train.label[1] == 9, "gone too early");
	mlp_data_put(b);
}

/* They may have changed; and drawn images are not kept beside them. */
Test(small_mlp_idx, files_are_read_each_time)
{
	const struct mlp_data_wish drawn = { MLP_DATA_GENERATED, NULL, 60, 1 };
	const struct mlp_data_wish wish = { MLP_DATA_IDX, folder, 60, 1 };
	const struct mlp_data *d;
	uint8_t label[LABEL_BYTES];

	need_device();
	write_set("train-images-idx3-ubyte", "train-labels-idx1-ubyte", false);
	write_set("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", false);
	cr_assert(!mlp_data_get(&drawn, &d), "see stderr");
	mlp_data_put(d);
	cr_assert(!mlp_data_get(&wish, &d), "see stderr");
	cr_assert(d->train.label[1] == 9, "label %d", d->train.label[1]);
	mlp_data_put(d);
	fill_labels(label);
	label[9] = 4;
	write_file("train-labels-idx1-ubyte", label, LABEL_BYTES, false);
	cr_assert(!mlp_data_get(&wish, &d), "see stderr");
	cr_assert(d->train.label[1] == 4, "label %d", d->train.label[1]);
	mlp_data_put(d);
	cr_assert(!mlp_data_get(&drawn, &d) && d->train.n == 60, "see stderr");
	cr_assert(mlp_data_draws() == 2, "drawn %ld times", (long)mlp_data_draws());
	mlp_data_put(d);
}

Test(small_mlp_idx, what_a_folder_lacks_is_named)
{
	const struct mlp_data_wish wish = { MLP_DATA_IDX, folder, 60000, 1 };
	const struct mlp_data *d;
	const char *text;

	write_set("train-images-idx3-ubyte", "train-labels-idx1-ubyte", false);
	divert_stderr();
	cr_assert(mlp_data_get(&wish, &d) == -ENOENT && !d, "found");
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && strstr(text, "no t10k-images-idx3-ubyte in /tmp/"),
		  "%s", text);
}
