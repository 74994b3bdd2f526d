/* latch_kernel.cu - the kernel that holds a stream; see latch.h. */
#include "common/gpu.h"
#include "common/latch.h"

/* One thread, until *go is turn, or for so long. *timed_out then becomes turn. */
extern "C" __global__ void latch_hold(const uint32_t *go, uint32_t *timed_out, uint32_t turn,
				      unsigned long long timeout_ns)
{
	unsigned long long start = device_timer_ns();

	while (read_host(go) != turn)
		if (device_timer_ns() - start > timeout_ns) {
			write_host(timed_out, turn);
			return;
		}
}
KERNEL(latch_hold);

const void *latch_kernel(void)
{
	return (const void *)latch_hold;
}
