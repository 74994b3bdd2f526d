/* slots.c - the step counter as the host sees it, and poison. */
#include "common/slots.h"

#include <string.h>

#include "common/cuda_check.h"

struct slots_counter *slots_counter_new(void)
{
	struct slots_counter *counter;

	CUDA(cudaMalloc((void **)&counter, sizeof(*counter)));
	CUDA(cudaMemset(counter, 0, sizeof(*counter)));
	return counter;
}

void slots_counter_free(struct slots_counter *counter)
{
	if (counter) /* without a device even freeing nothing is an error */
		CUDA(cudaFree(counter));
}

void slots_counter_reset(struct slots_counter *counter, cudaStream_t stream)
{
	CUDA(cudaMemsetAsync(counter, 0, sizeof(*counter), stream));
}

uint32_t slots_counter_read(const struct slots_counter *counter)
{
	struct slots_counter c;
	unsigned long long units = 0;

	CUDA(cudaMemcpy(&c, counter, sizeof(c), cudaMemcpyDeviceToHost));
	for (int i = 0; i < SLOTS_PARTS; i++)
		units += c.part[i].units;
	return (uint32_t)units ? UINT32_MAX : c.part[0].steps[(units >> 32) % 2];
}

size_t slots_poison_ends(const void *bytes, size_t n, int poison)
{
	const unsigned char *p = bytes;

	/* all are the first, if each is the one before it */
	if (n && p[0] == poison && !memcmp(p, p + 1, n - 1))
		return n;
	for (size_t i = 0; i < n; i++)
		if (p[i] != poison)
			return i;
	return n;
}
