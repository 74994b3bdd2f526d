/* digest.c - SHA-256, by nettle. */
#include "common/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

struct digest digest_start(void)
{
	struct digest d;

	sha256_init(&d.state);
	return d;
}

void digest_add(struct digest *d, const void *bytes, size_t n)
{
	sha256_update(&d->state, n, bytes);
}

struct digest_hex digest_end(struct digest *d)
{
	uint8_t sum[SHA256_DIGEST_SIZE];
	struct digest_hex hex = { "" };

	sha256_digest(&d->state, sizeof(sum), sum);
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(hex.s + 2 * i, 3, "%02x", sum[i]);
	return hex;
}

struct digest_hex digest_of(const void *bytes, size_t n)
{
	struct digest d = digest_start();

	digest_add(&d, bytes, n);
	return digest_end(&d);
}

int digest_of_file(const char *path, struct digest_hex *out)
{
	enum { PIECE = 1 << 16 };
	struct digest d = digest_start();
	uint8_t bytes[PIECE];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, bytes, PIECE)) > 0)
		digest_add(&d, bytes, (size_t)n);
	if (n < 0)
		err = -errno;
	close(fd);
	*out = digest_end(&d);
	return err;
}
