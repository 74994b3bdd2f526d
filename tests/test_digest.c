/* test_digest.c - common/digest.h against published digests. */
#include "common/digest.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(small_digest, .timeout = 30);

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
	cr_assert(zero(int, digest_of_file(path, &hex)), "%s", path);
	cr_assert(eq(str, hex.s, (char *)of_million_a), "a million a");
	unlink(path);
	cr_assert(eq(int, digest_of_file(path, &hex), -ENOENT), "no such file");
	cr_assert(eq(int, digest_of_file("/", &hex), -EISDIR), "a folder");
}
