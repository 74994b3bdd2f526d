/* test_digest.c - common/digest.h against published digests. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/digest.h"

#include <sys/wait.h>

TestSuite(small_digest, .timeout = 300);

/* FIPS 180-2, appendix B, and the empty message. */
static const char of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static const char of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char of_million_a[] =
	"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

Test(small_digest, published_digests)
{
	cr_assert(eq(str, digest_of("", 0).s, (char *)of_nothing), "nothing");
	cr_assert(eq(str, digest_of("abc", 3).s, (char *)of_abc), "abc");
}

/* Digests of N times a, around block ends: `head -c N /dev/zero | tr '\\0' a | sha256sum`. */
Test(small_digest, every_length_is_padded_right)
{
	const struct {
		size_t n;
		const char *digest;
	} known[] = {
		{ 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
		{ 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
		{ 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34" },
		{ 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
		{ 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0" },
		{ 119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb" },
		{ 120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c" },
	};
	char text[128];

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < 2 * sizeof(known) / sizeof(*known); i++) {
		digest_by_hand = i % 2;
		cr_assert(eq(str, digest_of(text, known[i / 2].n).s, (char *)known[i / 2].digest),
			  "%zu bytes, %zu", known[i / 2].n, i % 2);
	}
}

Test(small_digest, pieces_make_the_whole_and_the_end_starts_over)
{
	struct digest d = digest_start();

	digest_add(&d, "a", 1);
	digest_add(&d, "", 0);
	digest_add(&d, "bc", 2);
	cr_assert(eq(str, digest_end(&d).s, (char *)of_abc), "pieces");
	cr_assert(eq(str, digest_end(&d).s, (char *)of_nothing), "after the end");
}

Test(small_digest, files_longer_than_a_piece)
{
	char path[] = "/tmp/rift-digest-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct digest_hex hex;

	for (int i = 0; i < 1000000; i++)
		fputc('a', f);
	fclose(f);
	for (int i = 0; i < 2; i++) {
		digest_by_hand = i;
		cr_assert(zero(int, digest_of_file(path, &hex)), "%s", path);
		cr_assert(eq(str, hex.s, (char *)of_million_a), "a million a, %d", i);
	}
	unlink(path);
	cr_assert(eq(int, digest_of_file(path, &hex), -ENOENT), "no such file");
	cr_assert(eq(int, digest_of_file("/", &hex), -EISDIR), "a folder");
}

static void take_key(const char *key, const char *hex, void *to)
{
	(void)hex;
	snprintf(to, 128, "%s", key);
}

/* Known by what stat(2) says of it, until that changes. */
Test(small_digest, a_large_file_is_read_once)
{
	char path[] = "/tmp/rift_digest_XXXXXX", key[128] = "", before[65];
	struct digest_hex hex;
	int fd = mkstemp(path);

	cr_assert(fd >= 0 && write(fd, "one", 3) == 3, "%s", path);
	cr_assert(zero(int, digest_of_large_file(path, &hex)), "read");
	cr_assert(eq(str, hex.s, digest_of("one", 3).s), "as it is");
	digest_each_known(take_key, key);
	cr_assert(ne(int, *key, 0), "known");
	strcpy(before, hex.s);
	/* who knows it is believed: nothing is read */
	digest_know("another", before);
	cr_assert(write(fd, "!", 1) == 1, "%s", path);
	cr_assert(zero(int, digest_of_large_file(path, &hex)), "read");
	cr_assert(eq(str, hex.s, digest_of("one!", 4).s), "it has changed");
	close(fd);
	unlink(path);
	cr_assert(eq(int, digest_of_large_file(path, &hex), -ENOENT), "gone");
}

/* A key that names the file comes from its first reader; what is said of it then is not read. */
Test(small_digest, what_others_have_read_is_believed)
{
	char path[] = "/tmp/rift_digest_XXXXXX", key[128] = "";
	struct digest_hex hex, other = digest_of("other", 5);
	int fd = mkstemp(path), to_child[2];
	pid_t pid;

	cr_assert(fd >= 0 && write(fd, "one", 3) == 3 && !pipe(to_child), "%s", path);
	pid = fork(); /* the first reader */
	if (!pid) {
		digest_of_large_file(path, &hex);
		digest_each_known(take_key, key);
		_exit(write(to_child[1], key, sizeof(key)) != sizeof(key));
	}
	cr_assert(read(to_child[0], key, sizeof(key)) == sizeof(key), "key");
	waitpid(pid, NULL, 0);
	digest_know(key, "too short");
	digest_know(key, other.s);
	cr_assert(zero(int, digest_of_large_file(path, &hex)), "known");
	cr_assert(eq(str, hex.s, other.s), "%s", hex.s);
	close(fd);
	unlink(path);
}
