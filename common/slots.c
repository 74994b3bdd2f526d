/* slots.c - the step counter as the host sees it, and poison. */
#include "common/slots.h"

#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"

struct slots_counter *slots_counter_new(void)
{
	struct slots_counter *counter;

	CUDA(cudaMalloc((void **)&counter, sizeof(*counter)));
	CUDA(cudaMemset(counter, 0, sizeof(*counter)));
	return counter;
}

void slots_counter_free(struct slots_counter *counter)
{
	device_free(counter);
}

void slots_counter_reset(struct slots_counter *counter, cudaStream_t stream)
{
	CUDA(cudaMemsetAsync(counter, 0, sizeof(*counter), stream));
}

/* Launches that overlapped; UINT32_MAX: not all of their blocks. */
static uint32_t launches_of_tickets(const struct slots_counter *c)
{
	uint32_t blocks = c->part[0].blocks;
	unsigned long long launches =
		blocks ? c->part[0].tickets / slots_part_blocks(blocks, 0) : 0;

	for (uint32_t i = 0; i < SLOTS_PARTS; i++)
		if (c->part[i].tickets != launches * slots_part_blocks(blocks, i))
			return UINT32_MAX;
	return (uint32_t)launches;
}

uint32_t slots_counter_read(const struct slots_counter *counter)
{
	struct slots_counter c;
	unsigned long long units = 0;
	uint32_t overlapped;

	CUDA(cudaMemcpy(&c, counter, sizeof(c), cudaMemcpyDeviceToHost));
	for (int i = 0; i < SLOTS_PARTS; i++)
		units += c.part[i].units;
	overlapped = launches_of_tickets(&c);
	if ((uint32_t)units || overlapped == UINT32_MAX)
		return UINT32_MAX;
	return c.part[0].steps[(units >> 32) % 2] + overlapped;
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
