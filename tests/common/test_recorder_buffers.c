/* test_recorder_buffers.c - common/recorder/buffers.h: what goes in comes out, in which order, and
 * what there is no room for. */
/* sanitizers: races seen elsewhere */
#include "tests/test.h"
#include "common/recorder/buffers.h"

#include <pthread.h>

TestSuite(small_recorder_buffers, .timeout = 60);

enum { CHUNK = 1024, CHUNKS = 512, ALL = CHUNK * CHUNKS };

static char order[256];
static uint64_t n_taken, n_wrong;

/* In the order of their numbers. */
static void take(const struct trace_event *e, void *next)
{
	uint64_t *id = next;

	n_taken++;
	n_wrong += e->id != (*id)++;
}

static void note(const struct trace_event *e, void *unused)
{
	size_t used = strlen(order);

	(void)unused;
	snprintf(order + used, sizeof(order) - used, "%c%d ", (char)('a' + (int)e->thread),
		 (int)e->t0);
}

static bool put(struct buffer *b, uint64_t id, int64_t t0)
{
	struct trace_event *e = buffer_slot(b);

	if (!e)
		return false;
	e->id = id;
	e->t0 = t0;
	buffer_publish(b);
	return true;
}

/* As many as there is room for. */
static int fill(struct buffer *b, uint64_t *id)
{
	int n = 0;

	while (put(b, *id, 0)) {
		n++;
		++*id;
	}
	return n;
}

Test(small_recorder_buffers, each_thread_has_one)
{
	static struct buffer *b; /* known to the end: one that is abandoned is not freed */

	cr_expect(zero(ptr, buffer_had()));
	b = buffer_own();
	cr_expect(eq(ptr, buffer_had(), b));
	cr_expect(eq(ptr, buffer_own(), b));
	cr_expect(eq(int, b->thread, -1));
	cr_expect(eq(int, buffer_is_full(b), false));
	buffer_drop(b);
	buffer_drop(b);
	cr_expect(eq(u64, buffers_dropped(), 2));
	buffers_abandon();
	cr_expect(zero(ptr, buffer_had()));
	cr_expect(ne(ptr, buffer_own(), b));
	cr_expect(zero(u64, buffers_dropped()));
}

/* What is read makes room; one event more than there is room for is dropped. */
Test(small_recorder_buffers, as_much_as_there_is_room_for)
{
	struct buffer *b = buffer_own();
	uint64_t put_id = 0, next = 0;

	cr_expect(eq(int, fill(b, &put_id), ALL));
	cr_expect(eq(int, buffer_is_full(b), true));
	cr_expect(eq(u64, buffers_dropped(), 1));
	buffers_drain(false, take, &next);
	cr_expect(eq(int, buffer_is_full(b), false));
	cr_expect(eq(int, fill(b, &put_id), ALL - CHUNK), "the last one read stays");
	buffers_drain(true, take, &next);
	cr_expect(eq(u64, n_taken, put_id));
	cr_expect(zero(u64, n_wrong));
	cr_expect(eq(u64, buffers_dropped(), 2));
	buffers_drain(true, take, &next);
	cr_expect(eq(u64, n_taken, put_id), "nothing is read twice");
}

/* A chunk that was read is used again: the next two are its neighbours' turns. */
Test(small_recorder_buffers, read_again_and_again)
{
	struct buffer *b = buffer_own();
	uint64_t put_id = 0, next = 0;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 700; i++)
			cr_assert(put(b, put_id++, 0));
		buffers_drain(round % 2, take, &next);
	}
	cr_expect(eq(u64, n_taken, put_id));
	cr_expect(zero(u64, n_wrong));
	cr_expect(le(u64, b->n_chunks, 3));
}

/* ---- of several threads -------------------------------------------------------------------- */

struct times {
	uint32_t thread;
	int64_t t[5];
};

static void *put_times(void *times)
{
	const struct times *is = times;
	struct buffer *b = buffer_own();

	for (int i = 0; i < 5; i++) {
		buffer_slot(b)->thread = is->thread;
		put(b, 0, is->t[i]);
	}
	return NULL;
}

/* By their starts; of the same start first the one whose thread began last, and one thread's stay
 * in their order. */
Test(small_recorder_buffers, merged)
{
	struct times of[] = { { 0, { 1, 4, 7, 7, 30 } },
			      { 1, { 2, 3, 7, 9, 10 } },
			      { 2, { 5, 6, 8, 40, 35 } } };

	for (int merge = 0; merge < 2; merge++) {
		for (int i = 0; i < 3; i++) {
			pthread_t thread;

			pthread_create(&thread, NULL, put_times, &of[i]);
			pthread_join(thread, NULL);
		}
		buffers_drain(merge, note, NULL);
	}
	cr_expect(eq(str, order,
		     (char *)"c5 c6 c8 c40 c35 b2 b3 b7 b9 b10 a1 a4 a7 a7 a30 "
			     "a1 b2 b3 a4 c5 c6 a7 a7 b7 c8 b9 b10 a30 c40 c35 "));
}

/* ---- what recording adds ------------------------------------------------------------------- */

/* More than 16 times the least and 2 us is a wait. The first says nothing. */
Test(small_recorder_buffers, what_recording_adds)
{
	static const int64_t ns[] = { 9000, 100, 3600, 3601, 199 };
	struct buffer *b = buffer_own();

	for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++)
		buffer_add_ns(b, ns[i]);
	cr_expect(eq(i64, buffers_added_ns(), 1299), "of 3899 ns in three calls");
	cr_expect(eq(i64, b->n_added, 3));
}
