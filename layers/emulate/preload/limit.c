/* limit.c - see limit.h. */
#include "layers/emulate/preload/limit.h"

#include <pthread.h>
#include <stdlib.h>

#include "layers/interpose.h"

/* ---- compute ---------------------------------------------------------------------------------
 */

/* A launch that has not been paid for: its kernel is between two events. */
struct unpaid {
	struct unpaid *next;
	void *first, *second;
	double guess_ns; /* what was taken for it */
};

enum { UNPAID_MAX = 1024 };

/* Under the lock, which is held while a launch waits. */
static struct {
	pthread_mutex_t lock;
	bool begun;
	double level_ns; /* of the device's time; below 0: owed */
	uint64_t at;	 /* ticks: when it was so full */
	double guess_ns; /* what a kernel runs for, by the last ones; 0: none has ended */
	struct unpaid *oldest, **last;
	int unpaid;
} bucket = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool limit_has_compute(void)
{
	return shared->costs.compute_share < 1;
}

static void fill(void)
{
	const struct emulate_costs *c = &shared->costs;
	double most_ns = c->compute_share * c->window_ns;
	uint64_t now = ticks_now();
	double passed_ns = (double)(now - bucket.at) / shared->ticks_per_ns;

	bucket.level_ns += c->compute_share * passed_ns;
	if (!bucket.begun || bucket.level_ns > most_ns)
		bucket.level_ns = most_ns;
	bucket.begun = true;
	bucket.at = now;
}

/* ---- paying: when a kernel has ended ---- */

/* The errors of these calls are not the program's. */
static int ask(long call, const uint64_t words[WORDS])
{
	int had = call_next(CALL_cudaPeekAtLastError, (uint64_t[WORDS]){ 0 });
	int err = call_next(call, words);

	if (err && !had)
		call_next(CALL_cudaGetLastError, (uint64_t[WORDS]){ 0 });
	return err;
}

static bool has_ended(const struct unpaid *u)
{
	enum { NOT_READY = 600 };

	return ask(CALL_cudaEventQuery, (uint64_t[WORDS]){ word_of(u->second) }) != NOT_READY;
}

/* An event that a reset of the device has taken says nothing: then the guess stays. */
static void pay_oldest(void)
{
	struct unpaid *u = bucket.oldest;
	float ms = 0;
	int err = ask(CALL_cudaEventElapsedTime,
		      (uint64_t[WORDS]){ word_of(&ms), word_of(u->first), word_of(u->second) });
	double ns = err ? u->guess_ns : 1e6 * (double)ms;

	bucket.level_ns += u->guess_ns - ns;
	bucket.guess_ns = bucket.guess_ns > 0 ? 0.75 * bucket.guess_ns + 0.25 * ns : ns;
	ask(CALL_cudaEventDestroy, (uint64_t[WORDS]){ word_of(u->first) });
	ask(CALL_cudaEventDestroy, (uint64_t[WORDS]){ word_of(u->second) });
	bucket.oldest = u->next;
	bucket.unpaid--;
	free(u);
}

static void pay_ended(void)
{
	while (bucket.oldest && has_ended(bucket.oldest))
		pay_oldest();
}

/* ---- waiting for the bucket ---- */

#define LOOK_AGAIN_NS 2e6
#define LOOK_SOON_NS 2e4

static void wait_ns(double ns)
{
	wait_until(ticks_now() + (uint64_t)ticks_of(ns));
}

/* A kernel may itself wait for what the program does next, so this ends after a window. */
static void wait_for_oldest(void)
{
	uint64_t begun = ticks_now();
	int64_t most = ticks_of(shared->costs.window_ns);

	while (!has_ended(bucket.oldest) && (int64_t)(ticks_now() - begun) < most)
		wait_ns(LOOK_SOON_NS);
	pay_ended();
}

/* A thread that sleeps too long loses nothing while the bucket is not full. */
static void wait_for_tokens(void)
{
	pay_ended();
	if (bucket.oldest && (!(bucket.guess_ns > 0) || bucket.unpaid == UNPAID_MAX))
		wait_for_oldest();
	for (fill(); bucket.level_ns <= 0; fill()) {
		double left_ns = 1 - bucket.level_ns / shared->costs.compute_share;

		__atomic_fetch_add(&shared->held_back, 1, __ATOMIC_RELAXED);
		wait_ns(left_ns < LOOK_AGAIN_NS ? left_ns : LOOK_AGAIN_NS);
		pay_ended();
	}
}

/* ---- launching ---- */

static void *new_event(void)
{
	void *event = NULL;

	return ask(CALL_cudaEventCreate, (uint64_t[WORDS]){ word_of(&event) }) ? NULL : event;
}

static void record(const void *event, const void *stream)
{
	ask(CALL_cudaEventRecord, (uint64_t[WORDS]){ word_of(event), word_of(stream) });
}

static void add_unpaid(struct unpaid *u)
{
	struct unpaid **last = bucket.oldest ? bucket.last : &bucket.oldest;

	*last = u;
	bucket.last = &u->next;
	bucket.unpaid++;
	bucket.level_ns -= u->guess_ns;
}

static void free_unpaid(struct unpaid *u)
{
	ask(CALL_cudaEventDestroy, (uint64_t[WORDS]){ word_of(u->first) });
	ask(CALL_cudaEventDestroy, (uint64_t[WORDS]){ word_of(u->second) });
	free(u);
}

/* Events belong to the device that the thread has, which may be another one next time. */
static int launch(long call, const uint64_t words[WORDS], const void *stream)
{
	struct unpaid *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		abort();
	*u = (struct unpaid){ NULL, new_event(), new_event(), bucket.guess_ns };
	record(u->first, stream);
	err = call_next(call, words);
	record(u->second, stream);
	if (err || !u->second)
		free_unpaid(u);
	else
		add_unpaid(u);
	return err;
}

int limit_launch(long call, const uint64_t words[WORDS], const void *stream)
{
	int err;

	pthread_mutex_lock(&bucket.lock);
	wait_for_tokens();
	err = launch(call, words, stream);
	pthread_mutex_unlock(&bucket.lock);
	return err;
}

/* ---- memory ----------------------------------------------------------------------------------
 */

enum { CHAINS = 4096 /* 2^12 */ };

struct piece {
	struct piece *next;
	uint64_t memory;
	int64_t bytes;
};

static struct {
	pthread_mutex_t lock;
	struct piece *chain[CHAINS];
	int64_t bytes; /* of all */
} taken = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool limit_has_memory(void)
{
	return shared->costs.memory_bytes > 0;
}

static struct piece **chain_of(uint64_t memory)
{
	return &taken.chain[memory * 0x9e3779b97f4a7c15u >> 52];
}

static void add_piece(uint64_t memory, int64_t bytes)
{
	struct piece *p = malloc(sizeof(*p)), **chain = chain_of(memory);

	if (!p)
		abort();
	*p = (struct piece){ *chain, memory, bytes };
	*chain = p;
	taken.bytes += bytes;
}

/* The runtime itself refuses more than any device has, so its last error is the right one. */
static int refuse(void)
{
	void *nothing = NULL;

	__atomic_fetch_add(&shared->refused, 1, __ATOMIC_RELAXED);
	return call_next(CALL_cudaMalloc,
			 (uint64_t[WORDS]){ word_of(&nothing), (uint64_t)INT64_MAX / 2 });
}

/* The lock is held meanwhile, so that two threads do not share what is left. */
int limit_allocate(long call, const uint64_t words[WORDS])
{
	uint64_t left;
	int err;

	pthread_mutex_lock(&taken.lock);
	left = (uint64_t)(shared->costs.memory_bytes - taken.bytes);
	err = words[1] > left ? refuse() : call_next(call, words);
	if (!err && words[1])
		add_piece(*(uint64_t *)(uintptr_t)words[0], (int64_t)words[1]);
	pthread_mutex_unlock(&taken.lock);
	return err;
}

/* Before it is: another thread may be given the same address right after. */
void limit_freed(const void *memory)
{
	pthread_mutex_lock(&taken.lock);
	for (struct piece **p = chain_of(word_of(memory)); *p; p = &(*p)->next) {
		struct piece *gone = *p;

		if (gone->memory != word_of(memory))
			continue;
		taken.bytes -= gone->bytes;
		*p = gone->next;
		free(gone);
		break;
	}
	pthread_mutex_unlock(&taken.lock);
}

static void lower(uint64_t word, int64_t most)
{
	size_t *bytes = (size_t *)(uintptr_t)word;

	if (bytes && *bytes > (size_t)most)
		*bytes = (size_t)most;
}

int limit_tell_memory(long call, const uint64_t words[WORDS])
{
	int err = call_next(call, words);

	if (err)
		return err;
	pthread_mutex_lock(&taken.lock);
	lower(words[0], shared->costs.memory_bytes - taken.bytes);
	lower(words[1], shared->costs.memory_bytes);
	pthread_mutex_unlock(&taken.lock);
	return 0;
}
