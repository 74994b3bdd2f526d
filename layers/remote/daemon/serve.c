/* serve.c - see serve.h. */
#include "layers/remote/daemon/serve.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

/* ---- one command -------------------------------------------------------------------------- */

/* Out of the ring, where the client could still change it. Its length is held against what is
 * there. 0: it is none. */
static uint64_t take(const struct remote_channel *ch, uint64_t tail, uint64_t head,
		     struct remote_command *c)
{
	uint64_t at = tail % REMOTE_RING_BYTES, left = REMOTE_RING_BYTES - at, there = head - tail;
	uint64_t bytes;

	there = there < left ? there : left;
	if (head - tail > REMOTE_RING_BYTES || there % 16 || there < sizeof(*c))
		return 0;
	memcpy(c, ch->ring + at, sizeof(*c));
	bytes = c->bytes;
	if (bytes % 16 || bytes < sizeof(*c) || bytes > there)
		return 0;
	if (c->op == REMOTE_PAD)
		return bytes;
	if (bytes > REMOTE_COMMAND_BYTES)
		return 0;
	memcpy(c->word, ch->ring + at + sizeof(*c), bytes - sizeof(*c));
	return bytes;
}

void (*serve_shown)(const struct remote_command *c);

static void publish_answer(struct remote_answer *a)
{
	atomic_fetch_add(&a->count, 1);
	if (atomic_load(&a->sleeping))
		remote_wake(&a->count);
}

bool serve_commands(struct session *s, struct remote_channel *ch, uint64_t *tail, uint64_t head,
		    struct remote_command *buffer)
{
	while (*tail != head && !atomic_load(&s->over)) {
		uint64_t bytes = take(ch, *tail, head, buffer);
		struct remote_answer *answer = &ch->answer[buffer->thread % REMOTE_THREADS];
		bool parked, answered;

		if (!bytes)
			return false;
		if (serve_shown)
			serve_shown(buffer);
		/* what a host function waits for may be a thread's first call */
		parked = (atomic_load(&ch->threads) > 1 || hosts_are_there(s)) &&
			 waits_park(s, buffer, bytes);
		if (buffer->op != REMOTE_PAD && !parked && !session_do(s, buffer, bytes, answer))
			return false;
		if (s->told) {
			hosts_settle(s); /* graphs that are gone have given theirs back */
			atomic_store_explicit(s->told, s->memory_bytes, memory_order_relaxed);
		}
		*tail += bytes;
		atomic_store_explicit(&ch->tail, *tail, memory_order_release);
		answered = buffer->op != REMOTE_PAD && !parked && buffer->flags & REMOTE_ANSWERED;
		if (s->outlet && buffer->op != REMOTE_PAD)
			outlet_done(s->outlet, ch, buffer, *tail, answered ? answer : NULL);
		else if (answered)
			publish_answer(answer);
	}
	return true;
}

/* ---- waiting for the next ----------------------------------------------------------------- */

/* While threads wait for the device, which rings no bell, it naps. */
enum { LOOKS_A_YIELD = 64, SLEEP_NS = 1000000000, NAP_NS = 50000 };

/*
 * A client that has put a command there and not yet seen that this sleeps does not ring: its store
 * was on the way. It has come after a nap, thousands of times as long as that takes.
 */
static void sleep_until_rung(const struct session *s, struct remote_channel *ch, uint64_t tail,
			     int64_t ns)
{
	unsigned bell = atomic_load(&ch->bell);
	int64_t now = remote_now_ns(), nap_end = now + NAP_NS;

	atomic_store(&ch->sleeping, 1);
	while (atomic_load(&ch->head) == tail && atomic_load(&ch->bell) == bell &&
	       !atomic_load(&s->over)) {
		bool naps = now < nap_end; /* a signal ends a nap early */

		remote_sleep(&ch->bell, bell, naps ? nap_end - now : ns);
		if (!naps || ns <= NAP_NS)
			break;
		now = remote_now_ns();
	}
	atomic_store(&ch->sleeping, 0);
}

static void answer_waits(struct session *s, struct remote_channel *ch, uint64_t tail)
{
	unsigned thread;
	int error;

	while (waits_take(s, &thread, &error)) {
		session_answer(s, thread, error, 0, &ch->answer[thread]);
		if (s->outlet)
			outlet_answer(s->outlet, thread, tail, &ch->answer[thread]);
		else
			publish_answer(&ch->answer[thread]);
	}
}

/* Where the client is gone, that is where it stands. */
static uint64_t await_head(struct session *s, struct remote_channel *ch, uint64_t tail,
			   int64_t poll_ns)
{
	int64_t end = 0;

	while (!atomic_load(&s->over)) {
		for (int i = 0; i < LOOKS_A_YIELD; i++) {
			uint64_t head = atomic_load_explicit(&ch->head, memory_order_acquire);

			if (head != tail)
				return head;
			remote_pause();
		}
		answer_waits(s, ch, tail);
		if (!end)
			end = remote_now_ns() + poll_ns;
		if (remote_now_ns() < end)
			sched_yield();
		else
			sleep_until_rung(s, ch, tail, s->n_parked ? NAP_NS : SLEEP_NS);
	}
	return tail;
}

bool serve_channel(struct session *s, struct remote_channel *ch, int64_t poll_ns)
{
	struct remote_command *buffer = aligned_alloc(64, (REMOTE_COMMAND_BYTES + 63) / 64 * 64);
	uint64_t tail = 0;
	bool ok = true;

	CHECK(buffer, "memory of a command");
	while (ok && !atomic_load(&s->over))
		ok = serve_commands(s, ch, &tail, await_head(s, ch, tail, poll_ns), buffer);
	free(buffer);
	return ok;
}

void serve_end(struct session *s, struct remote_channel *ch)
{
	atomic_store(&s->over, true);
	hosts_close(s->hosts);
	atomic_fetch_add(&ch->bell, 1);
	remote_wake(&ch->bell);
}
