/*
 * digest.c - SHA-256 by FIPS 180-4.
 *
 * Our own, against our habit: the one function that a library would serve for is not worth a
 * package on every machine that rift is carried to.
 */
#include "common/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

/* clang-format off */
/* Fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

static inline uint32_t rotated(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* The 64 words that a block is stretched to. */
static void schedule(const uint8_t block[DIGEST_BLOCK], uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
	}
}

/* A round, which leaves the letters one place on: what was h is the new a. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                           \
	do {                                                                                       \
		h += (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + (g ^ (e & (f ^ g))) +     \
		     constants[i] + w[i];                                                          \
		d += h;                                                                            \
		h += (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +                           \
		     ((a & b) | (c & (a | b)));                                                    \
	} while (0)

static void add_by_hand(struct digest *digest, const uint8_t block[DIGEST_BLOCK])
{
	uint32_t *v = digest->h, w[64];
	uint32_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];

	schedule(block, w);
	for (int i = 0; i < 64; i += 8) {
		ROUND(a, b, c, d, e, f, g, h, i);
		ROUND(h, a, b, c, d, e, f, g, i + 1);
		ROUND(g, h, a, b, c, d, e, f, i + 2);
		ROUND(f, g, h, a, b, c, d, e, i + 3);
		ROUND(e, f, g, h, a, b, c, d, i + 4);
		ROUND(d, e, f, g, h, a, b, c, i + 5);
		ROUND(c, d, e, f, g, h, a, b, i + 6);
		ROUND(b, c, d, e, f, g, h, a, i + 7);
	}
	v[0] += a, v[1] += b, v[2] += c, v[3] += d;
	v[4] += e, v[5] += f, v[6] += g, v[7] += h;
}

bool digest_by_hand;

#ifdef __x86_64__
/* By the SHA extensions, 4 rounds an i: in `abef` F is the lowest word, in `cdgh` H; w has the last
 * 16 words of the schedule. */
__attribute__((target("sha,sse4.1"))) static void
add_by_processor(struct digest *digest, const uint8_t block[DIGEST_BLOCK])
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	uint32_t *v = digest->h, sum[8];
	__m128i abef = _mm_setr_epi32((int)v[5], (int)v[4], (int)v[1], (int)v[0]);
	__m128i cdgh = _mm_setr_epi32((int)v[7], (int)v[6], (int)v[3], (int)v[2]);
	__m128i w[4];

#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) {
		const __m128i *last = &w[(i + 3) % 4];
		__m128i *now = &w[i % 4], k;

		if (i < 4)
			*now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)block + i),
						big_endian);
		else
			*now = _mm_sha256msg2_epu32(
				_mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % 4]),
					      _mm_alignr_epi8(*last, w[(i + 2) % 4], 4)),
				*last);
		k = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)constants + i));
		cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
		abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_srli_si128(k, 8));
	}
	_mm_storeu_si128((__m128i *)sum, abef);
	_mm_storeu_si128((__m128i *)sum + 1, cdgh);
	v[0] += sum[3], v[1] += sum[2], v[4] += sum[1], v[5] += sum[0];
	v[2] += sum[7], v[3] += sum[6], v[6] += sum[5], v[7] += sum[4];
}

/* Leaf 7 of CPUID, EBX bit 29; such processors have SSE4.1. */
static bool processor_adds(void)
{
	static int adds; /* 0: not asked yet; two threads find the same */
	unsigned a, b = 0, c, d;
	int known = __atomic_load_n(&adds, __ATOMIC_RELAXED);

	if (!known) {
		known = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 29 & 1 ? 1 : -1;
		__atomic_store_n(&adds, known, __ATOMIC_RELAXED);
	}
	return known > 0 && !digest_by_hand;
}
#else
#define add_by_processor add_by_hand
#define processor_adds() false
#endif

static void add_block(struct digest *digest, const uint8_t block[DIGEST_BLOCK])
{
	if (processor_adds())
		add_by_processor(digest, block);
	else
		add_by_hand(digest, block);
}

/* Begins with fractions of the square roots of the first 8 primes. */
struct digest digest_start(void)
{
	return (struct digest){ .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				       0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void digest_add(struct digest *d, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	while (n) {
		size_t held = d->bytes % DIGEST_BLOCK, space = DIGEST_BLOCK - held;
		size_t part = n < space ? n : space;

		memcpy(d->block + held, from, part);
		d->bytes += part;
		from += part;
		n -= part;
		if (part == space)
			add_block(d, d->block);
	}
}

/* A bit that is set, zeros, and the number of bits: up to the end of a block. */
static void pad(struct digest *d)
{
	static const uint8_t padding[DIGEST_BLOCK] = { 0x80 };
	uint64_t bits = 8 * d->bytes;
	size_t held = d->bytes % DIGEST_BLOCK, end = DIGEST_BLOCK - sizeof(bits);
	uint8_t length[sizeof(bits)];

	for (size_t i = 0; i < sizeof(length); i++)
		length[i] = (uint8_t)(bits >> 8 * (sizeof(length) - 1 - i));
	digest_add(d, padding, (held < end ? end : end + DIGEST_BLOCK) - held);
	digest_add(d, length, sizeof(length));
}

struct digest_hex digest_end(struct digest *d)
{
	struct digest_hex hex = { "" };

	pad(d);
	for (int i = 0; i < DIGEST_BYTES / 4; i++)
		snprintf(hex.s + 8 * i, 9, "%08x", d->h[i]);
	*d = digest_start();
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

/* ---- files that were read before -------------------------------------------------------- */

enum { KNOWN_MAX = 16 };

static struct known {
	char key[128];
	struct digest_hex hex;
} known[KNOWN_MAX];
static int n_known;

void digest_know(const char *key, const char *hex)
{
	struct known *k = &known[n_known];

	if (n_known == KNOWN_MAX || strlen(key) >= sizeof(k->key) ||
	    strlen(hex) + 1 != sizeof(k->hex.s))
		return;
	for (int i = 0; i < n_known; i++)
		if (!strcmp(known[i].key, key))
			return;
	strcpy(k->key, key);
	strcpy(k->hex.s, hex);
	n_known++;
}

void digest_each_known(void (*f)(const char *key, const char *hex, void *arg), void *arg)
{
	for (int i = 0; i < n_known; i++)
		f(known[i].key, known[i].hex.s, arg);
}

static int make_key(const char *path, char key[128])
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	snprintf(key, 128, "%llx:%llx:%llx:%lld.%09ld:%lld.%09ld", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
		 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
		 st.st_ctim.tv_nsec);
	return 0;
}

int digest_of_large_file(const char *path, struct digest_hex *out)
{
	char key[128];
	int err = make_key(path, key);

	for (int i = 0; i < n_known && !err; i++)
		if (!strcmp(known[i].key, key)) {
			*out = known[i].hex;
			return 0;
		}
	if (!err)
		err = digest_of_file(path, out);
	if (!err)
		digest_know(key, out->s);
	return err;
}
