/* test_decode_safetensors.c - files of tensors that somebody broke, by chance or on purpose. */
#include "tests/plain.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "common/check.h"
#include "tests/folder.h"
#include "workloads/decode/json_file.h"
#include "workloads/decode/test_checkpoint.h"

TEST_FOLDER(folder);

TestSuite(small_decode_safetensors, .init = make_folder, .fini = remove_folder, .timeout = 120);

static const char file_name[] = "model.safetensors";

static const char *file_path(void)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, file_name);
	return path;
}

/* ---- headers --------------------------------------------------------------------------- */

struct broken {
	const char *from, *to, *says;
};

/* The file with one text of its header in place of another; its length is made right. */
static void expect_broken(const struct broken *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char header[SMALL_TEXT];

		small_header("F32", 0, SMALL_TENSORS, header);
		replace(header, b[i].from, b[i].to);
		put_tensors(folder, file_name, "F32", header, 0, SMALL_TENSORS);
		expect_not_opened(folder, &small_model, b[i].says);
	}
}

#define EXPECT_BROKEN(cases) expect_broken(cases, sizeof(cases) / sizeof((cases)[0]))

Test(small_decode_safetensors, other_tensors_than_the_models_are_refused)
{
	static const struct broken cases[] = {
		{ "k_proj", "kk_proj",
		  "/model.safetensors: no tensor model.layers.0.self_attn.k_proj.weight" },
		{ "[2, 6]", "[6, 2]",
		  "tensor model.layers.0.self_attn.q_proj.weight: shape 6 x 2; must be 2 x 6 by "
		  "config.json" },
		{ "\"F32\", \"shape\": [2, 6]", "\"F16\", \"shape\": [4, 6]",
		  "q_proj.weight: shape 4 x 6; must be 2 x 6" },
		{ "[2, 6]", "[2, 6, 1]", "q_proj.weight: shape 2 x 6 x 1; must be 2 x 6" },
		{ "\"shape\": [6]", "\"shape\": [6, 1]",
		  "tensor model.norm.weight: shape 6 x 1; must be 6 by config.json" },
		{ "[2, 6]", "[12]", "q_proj.weight: shape 12; must be 2 x 6" },
		{ "[2, 6]", "[1, 2, 6]", "q_proj.weight: shape 1 x 2 x 6; must be 2 x 6" },
		{ "[2, 6]", "[1, 2, 1, 6, 1]", "q_proj.weight: shape 1 x 2 x 1 x 6 x ...; must" },
		{ "\"shape\": [6]", "\"shape\": [1, 6]",
		  "tensor model.norm.weight: shape 1 x 6; must be 6 by config.json" },
		{ "\"dtype\": \"F32\"", "\"dtype\": \"I64\"",
		  "tensor model.norm.weight: dtype I64; must be F32, F16 or BF16" },
		{ "\"dtype\": \"F32\"", "\"dtype\": \"F8_E4M3_and_more_of_a_long_name\"",
		  "tensor model.norm.weight: dtype F8_E4M3_and_mor; must be" },
	};

	EXPECT_BROKEN(cases);
}

Test(small_decode_safetensors, bytes_that_are_not_the_shapes_are_refused)
{
	static const struct broken cases[] = {
		{ "\"dtype\": \"F32\"", "\"dtype\": \"F16\"",
		  "tensor model.norm.weight: 24 bytes of data; its shape of F16 has 12" },
		{ "\"shape\": [6]", "\"shape\": [7]",
		  "tensor model.norm.weight: 24 bytes of data; its shape of F32 has 28" },
		{ "\"shape\": [6]", "\"shape\": [4294967296, 4294967296, 6]",
		  "tensor model.norm.weight: a shape beyond 64 bits" },
		{ "\"shape\": [6]", "\"shape\": [4611686018427387904, 2]",
		  "tensor model.norm.weight: a shape beyond 64 bits" },
		{ "\"shape\": [6]", "\"shape\": [0, 4294967296, 4294967296, 4294967296]",
		  "tensor model.norm.weight: 24 bytes of data; its shape of F32 has 0" },
		{ "\"shape\": [6]", "\"shape\": [-6]", "shape is not of whole numbers from 0 on" },
		{ "\"shape\": [6]", "\"shape\": [6.0]", "shape is not of whole numbers from 0 on" },
		{ "\"shape\": [6]", "\"shape\": [\"6\"]", "shape is not of whole numbers" },
		{ "\"shape\": [6]", "\"shape\": 6", "no shape; must be an array of numbers" },
		{ "\"shape\": [6]", "\"shop\": [6]", "no shape; must be an array of numbers" },
		{ "\"shape\": [6]", "\"shape\": [99999999999999999999]", "no JSON: line 1" },
	};

	EXPECT_BROKEN(cases);
}

Test(small_decode_safetensors, offsets_that_cannot_be_are_refused)
{
	static const struct broken cases[] = {
		{ "[0, 24]", "[24, 0]",
		  "tensor model.norm.weight: data_offsets 24 to 0; must ascend from 0 on" },
		{ "[0, 24]", "[-24, 0]", "data_offsets -24 to 0; must ascend from 0 on" },
		{ "[480, 600]", "[480, 604]",
		  "tensor model.embed_tokens.weight: data_offsets 480 to 604, but the file has "
		  "only 600 bytes of data; is it cut?" },
		{ "[480, 600]", "[9223372036854775687, 9223372036854775807]",
		  "but the file has only 600 bytes" },
		{ "[24, 48]", "[0, 24]", "begins at byte 0 of the data; must begin at 24, where" },
		{ "[24, 48]", "[23, 47]", "begins at byte 23 of the data; must begin at 24" },
		{ "[6], \"data_offsets\": [0, 24]", "[0], \"data_offsets\": [0, 0]",
		  "begins at byte 24 of the data; must begin at 0, where" },
		{ "[0, 24]", "[0, 24, 24]", "no data_offsets; must be two whole numbers" },
		{ "[0, 24]", "[0]", "no data_offsets; must be two whole numbers" },
		{ "[0, 24]", "[0, 24.0]", "no data_offsets; must be two whole numbers" },
		{ "[0, 24]", "null", "no data_offsets; must be two whole numbers" },
		{ "[0, 24]", "{\"0\": 24}", "no data_offsets; must be two whole numbers" },
	};

	EXPECT_BROKEN(cases);
}

Test(small_decode_safetensors, entries_that_are_none_are_refused)
{
	static const struct broken cases[] = {
		{ "}  ", ", \"a\": 5}", "tensor a: no dtype; must be an object with dtype" },
		{ "}  ", ", \"a\": []}", "tensor a: no dtype; must be an object with dtype" },
		{ "}  ", ", \"a\": {}}", "tensor a: no dtype; must be an object with dtype" },
		{ "\"dtype\": \"F32\"", "\"dtype\": 32", "tensor model.norm.weight: no dtype" },
		{ "model.layers.0.input_layernorm.weight", "model.norm.weight", "duplicate" },
		{ "}  ", ", \"\x1b[2J\": 5}", "no JSON: line 1" },
		{ "}  ", ", \"\\u001b[2J\": 5}", "tensor \\x1b[2J: no dtype" },
		{ "{\"__", "[\"__", "no JSON" },
		{ "}  ", "} {}", "no JSON: line 1" },
	};

	EXPECT_BROKEN(cases);
}

/* Whatever it is, and however often deeper than a tensor's entry. */
Test(small_decode_safetensors, metadata_may_be_anything)
{
	static const char *const anything[] = { "null", "5", "[[[[]]]]", "{\"dtype\": 5}" };

	for (int i = 0; i < 4; i++) {
		char header[SMALL_TEXT];

		small_header("F32", 0, SMALL_TENSORS, header);
		replace(header, "{\"format\": \"pt\"}", anything[i]);
		put_tensors(folder, file_name, "F32", header, 0, SMALL_TENSORS);
		decode_checkpoint_close(opened(folder, &small_model));
	}
}

/* ---- lengths --------------------------------------------------------------------------- */

/* Bytes of the file: a length, then "{}" or what else is given. */
static void expect_length(uint64_t length, const char *rest, const char *says)
{
	unsigned char bytes[64];

	memcpy(bytes, &length, 8);
	memcpy(bytes + 8, rest, strlen(rest));
	put_file(folder, file_name, bytes, 8 + strlen(rest));
	expect_not_opened(folder, &small_model, says);
}

Test(small_decode_safetensors, lengths_that_cannot_be_are_refused)
{
	expect_length(3, "{}", "model.safetensors: a header of 3 bytes; the file has 10");
	expect_length(UINT64_C(1) << 63, "{}", "a header of 9223372036854775808 bytes; the file");
	expect_length(UINT64_MAX, "{}", "a header of 18446744073709551615 bytes; the file has 10");
	expect_length(0, "", "model.safetensors: no JSON: line 1");
	expect_length(0, "{}", "model.safetensors: no JSON: line 1");
	expect_length(2, "{}", "no tensor model.embed_tokens.weight");
	expect_length(2, "{}x", "the last tensor ends at byte 10, the file at 11");
	put_text(folder, file_name, "");
	expect_not_opened(folder, &small_model, "0 bytes; must begin with 8 bytes of length");
	put_text(folder, file_name, "1234567");
	expect_not_opened(folder, &small_model, "7 bytes; must begin with 8 bytes of length");
	put_text(folder, file_name, "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
	expect_not_opened(folder, &small_model, "a pointer of Git LFS; the file itself is needed");
}

/* A sparse file of 2^40 bytes is one of a few blocks. */
Test(small_decode_safetensors, a_header_of_many_bytes_is_not_read)
{
	uint64_t length = UINT64_C(100) << 20;

	put_file(folder, file_name, &length, 8);
	cr_assert(!truncate(file_path(), (off_t)1 << 40), "%s", file_path());
	expect_not_opened(folder, &small_model,
			  "104857600 bytes of JSON; 1048576 of 1048576 are left");
}

static double megabytes(void)
{
	struct rusage r;

	cr_assert(!getrusage(RUSAGE_SELF, &r), "getrusage()");
	return (double)r.ru_maxrss / 1024;
}

/* A sanitizer's memory is not what is promised, and its time is a multiple. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double most_seconds = 20, most_megabytes = 2000;
#else
static const double most_seconds = 1, most_megabytes = 100;
#endif

/* The most that is parsed, of what takes most memory: empty objects. 0.1 s and 80 MB. */
Test(small_decode_safetensors, the_largest_header_takes_less_than_a_second_and_100_mb)
{
	static unsigned char bytes[8 + JSON_FILE_MAX];
	static const char begin[] = "{\"__metadata__\":[{}";
	uint64_t length = JSON_FILE_MAX;
	size_t at = 8 + sizeof(begin) - 1;
	double before, seconds;
	clock_t t;

	memcpy(bytes, &length, 8);
	memcpy(bytes + 8, begin, sizeof(begin) - 1);
	for (; at + 5 <= sizeof(bytes); at += 3)
		memcpy(bytes + at, ",{}", 3);
	memcpy(bytes + at, "]}      ", sizeof(bytes) - at);
	put_file(folder, file_name, bytes, sizeof(bytes));
	before = megabytes();
	t = clock();
	expect_not_opened(folder, &small_model, "no tensor model.embed_tokens.weight");
	seconds = (double)(clock() - t) / CLOCKS_PER_SEC;
	cr_assert(seconds < most_seconds, "%g s", seconds);
	cr_assert(megabytes() - before < most_megabytes, "%g MB", megabytes() - before);
}

enum { PADDED = JSON_FILE_MAX / 2 + 1 };

/* A shard whose header is filled up to so many bytes. */
static void put_padded(const char *name, int from, int to, size_t length)
{
	static unsigned char bytes[8 + PADDED + SMALL_TEXT];
	unsigned char data[SMALL_TEXT];
	char header[SMALL_TEXT];
	size_t n, head;

	small_header("F32", from, to, header);
	n = small_file("F32", header, from, to, data);
	head = 8 + strlen(header);
	memset(bytes, ' ', sizeof(bytes));
	memcpy(bytes, &length, 8);
	memcpy(bytes + 8, header, strlen(header));
	memcpy(bytes + 8 + length, data + head, n - head);
	put_file(folder, name, bytes, 8 + length + n - head);
}

Test(small_decode_safetensors, index_and_headers_count_together)
{
	put_index(folder, 4);
	put_padded("one", 0, 4, 500000);
	put_padded("two", 4, SMALL_TENSORS, 500000);
	decode_checkpoint_close(opened(folder, &small_model));
	put_padded("two", 4, SMALL_TENSORS, PADDED);
	put_padded("one", 0, 4, PADDED);
	expect_not_opened(folder, &small_model, "one: 524289 bytes of JSON; 52");
}

/* ---- files that are none --------------------------------------------------------------- */

Test(small_decode_safetensors, what_is_no_file_is_refused)
{
	expect_not_opened(folder, &small_model,
			  "neither model.safetensors nor model.safetensors.index.json is there");
	cr_assert(!mkdir(file_path(), 0700), "%s", file_path());
	expect_not_opened(folder, &small_model, "model.safetensors: Is a directory");
	cr_assert(!rmdir(file_path()) && !mkfifo(file_path(), 0600), "%s", file_path());
	expect_not_opened(folder, &small_model, "model.safetensors: is not a regular file");
	cr_assert(!unlink(file_path()) && !symlink(file_name, file_path()), "%s", file_path());
	expect_not_opened(folder, &small_model,
			  "model.safetensors: Too many levels of symbolic links");
	cr_assert(!unlink(file_path()) && !symlink("nowhere", file_path()), "%s", file_path());
	expect_not_opened(folder, &small_model, "model.safetensors: No such file or directory");
	expect_not_opened("/nowhere", &small_model, "/nowhere: neither");
}

/* Who may read everything reads this too. */
Test(small_decode_safetensors, a_file_that_may_not_be_read_is_refused)
{
	struct checkpoint *c;
	int err;

	put_small(folder, "F32");
	cr_assert(!chmod(file_path(), 0), "%s", file_path());
	divert_stderr();
	err = decode_checkpoint_open(folder, &small_model, &c);
	if (!access(file_path(), R_OK)) {
		diverted_stderr();
		cr_assert(!err && c, "%d", err);
		decode_checkpoint_close(c);
		return;
	}
	expect_line(err, "model.safetensors: Permission denied");
}

/* ---- at random ------------------------------------------------------------------------- */

static uint64_t state = 20261201;

static uint32_t draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((state >> 32) * below >> 32);
}

/* Opens it, and where that is done reads all of it; counts both. */
static void try_file(int count[2])
{
	struct checkpoint *c;
	int err = decode_checkpoint_open(folder, &small_model, &c);

	cr_assert(err <= 0 && !err == (c != NULL), "%d", err);
	count[!err]++;
	for (uint32_t i = 0; c && i < decode_tensors(&small_model); i++) {
		struct decode_tensor t = decode_tensor_at(&small_model, i);
		float rows[8 * 8];

		cr_assert(!decode_checkpoint_rows(c, &t, 0, t.rows, 4, rows), "tensor %u", i);
	}
	decode_checkpoint_close(c);
}

static int put_at(int fd, const void *bytes, size_t n)
{
	return pwrite(fd, bytes, n, 0) == (ssize_t)n ? 0 : -1;
}

Test(small_decode_safetensors, a_file_that_ends_early_is_refused_wherever_it_ends)
{
	char header[SMALL_TEXT];
	unsigned char bytes[SMALL_TEXT];
	int fd, count[2] = { 0, 0 };
	size_t n;

	small_header("BF16", 0, SMALL_TENSORS, header);
	n = small_file("BF16", header, 0, SMALL_TENSORS, bytes);
	put_file(folder, file_name, bytes, n);
	fd = open(file_path(), O_RDWR);
	cr_assert(0 <= fd, "%s", file_path());
	complain_silence(true);
	for (size_t i = n; i-- > 0;) {
		cr_assert(!ftruncate(fd, (off_t)i), "%zu", i);
		try_file(count);
		cr_assert(count[1] == 0, "%zu bytes of %zu are read", i, n);
	}
	complain_silence(false);
	cr_assert(count[0] == (int)n && !close(fd), "%d of %zu", count[0], n);
}

/* One to three bytes of the header, or of its length, are others. */
Test(small_decode_safetensors, headers_changed_at_random_are_read_or_refused)
{
	enum { FILES = 4000 };

	char header[SMALL_TEXT];
	unsigned char bytes[SMALL_TEXT];
	int fd, count[2] = { 0, 0 };
	size_t n;

	small_header("F16", 0, SMALL_TENSORS, header);
	n = small_file("F16", header, 0, SMALL_TENSORS, bytes);
	put_file(folder, file_name, bytes, n);
	fd = open(file_path(), O_RDWR);
	cr_assert(0 <= fd, "%s", file_path());
	complain_silence(true);
	for (int i = 0; i < FILES; i++) {
		static const char likely[] = "0123456789[]{}\",:-.e \\\0\xff";
		unsigned char other[SMALL_TEXT];

		memcpy(other, bytes, n);
		for (uint32_t k = 1 + draw(3); k; k--)
			other[draw(2) ? draw((uint32_t)strlen(header) + 8) : draw(400)] =
				draw(2) ? (unsigned char)likely[draw(sizeof(likely) - 1)]
					: (unsigned char)draw(256);
		cr_assert(!put_at(fd, other, n), "%s", file_path());
		try_file(count);
	}
	complain_silence(false);
	cr_assert(count[0] + count[1] == FILES && 100 < count[0] && 10 < count[1] && !close(fd),
		  "%d refused, %d read", count[0], count[1]);
}
