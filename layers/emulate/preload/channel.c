/* channel.c - see channel.h. */
#include "layers/emulate/preload/channel.h"

#include <pthread.h>

#include "layers/emulate/preload/command.h"
#include "layers/emulate/preload/spin.h"
#include "layers/interpose.h"

/* A device's context has one channel; the last copy on it left this event on its stream. */
enum { DEVICES_MAX = 64, DISABLE_TIMING = 2 };

static struct {
	pthread_mutex_t lock;
	void *last[DEVICES_MAX];
} channel = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Under the lock. False: there is no such device, or no event. */
static bool make_event(int device)
{
	return device >= 0 && device < DEVICES_MAX &&
	       (channel.last[device] ||
		!call_next(CALL_cudaEventCreateWithFlags,
			   (uint64_t[WORDS]){ word_of(&channel.last[device]), DISABLE_TIMING }));
}

/* Asynchronous copies of different streams follow each other on the device. Under the lock. */
static void follow(const void *stream, int device)
{
	if (make_event(device)) /* one that was never recorded is waited for by nobody */
		call_next(CALL_cudaStreamWaitEvent,
			  (uint64_t[WORDS]){ word_of(stream), word_of(channel.last[device]), 0 });
}

static void leave(const void *stream, int device)
{
	if (make_event(device))
		call_next(CALL_cudaEventRecord,
			  (uint64_t[WORDS]){ word_of(channel.last[device]), word_of(stream) });
}

static int make(long call, const uint64_t words[WORDS])
{
	return shared->costs.copy_bytes_per_ns > 0 ? copy_in_blocks(call, words)
						   : call_next(call, words);
}

static bool is_to_host(const uint64_t words[WORDS])
{
	enum { DEVICE_TO_HOST = 2, BY_ADDRESS = 4 };

	return words[3] == DEVICE_TO_HOST || (words[3] == BY_ADDRESS && command_to_host(words));
}

/*
 * One that blocks is as of pageable memory in CUDA: what goes to the device has been read, at the
 * rate, and may wait for the stream's earlier work there; what comes from it is here.
 */
static int make_asynchronous(long call, const uint64_t words[WORDS], const void *stream)
{
	const struct emulate_costs *c = &shared->costs;
	int device = thread_self()->device, err;

	if (c->one_channel)
		follow(stream, device);
	err = make(call, words);
	if (!err && c->one_channel)
		leave(stream, device);
	if (!err && c->copying == COPYING_BLOCKING && is_to_host(words))
		err = call_next(CALL_cudaStreamSynchronize, (uint64_t[WORDS]){ word_of(stream) });
	return err;
}

/* Whoever blocks on the one channel keeps others from it. */
int channel_copy(long call, const uint64_t words[WORDS], const void *stream, bool asynchronous)
{
	bool one = shared->costs.one_channel;
	int err;

	if (one)
		pthread_mutex_lock(&channel.lock);
	err = asynchronous ? make_asynchronous(call, words, stream) : make(call, words);
	if (one)
		pthread_mutex_unlock(&channel.lock);
	return err;
}
