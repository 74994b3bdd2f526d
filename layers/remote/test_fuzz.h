/*
 * test_fuzz.h - commands that a client never sends, for a session on the CPU device: recorded ones,
 * damaged in many ways, and invented ones.
 */
#ifndef RIFT_REMOTE_TEST_FUZZ_H
#define RIFT_REMOTE_TEST_FUZZ_H

#include <cpudev_serve.h>
#include <cpudev_watch.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layers/remote/daemon/serve.h"

/* ---- one command -------------------------------------------------------------------------- */

/* Its error, and its answer; with a name, which may be "". */
static inline int command_error(struct session *s, struct remote_answer *answer, enum remote_op op,
				const char *name, const uint64_t *words, size_t n)
{
	_Alignas(16) uint8_t bytes[256] = { 0 };
	struct remote_command *c = (struct remote_command *)bytes;
	uint32_t payload = (uint32_t)strlen(name) + (*name != '\0');

	*c = (struct remote_command){
		.bytes = remote_command_bytes((unsigned)n, payload),
		.op = (uint16_t)op,
		.flags = REMOTE_ANSWERED,
		.payload = payload,
	};
	memcpy(c->word, words, n * sizeof(*words));
	memcpy(c->word + n, name, payload);
	cr_assert(session_do(s, c, c->bytes, answer), "op %d", op);
	return answer->error;
}

/* ---- the record --------------------------------------------------------------------------- */

/* ---- damaged commands --------------------------------------------------------------------- */

enum { RECORD_BYTES = 64 << 20 };

/* Shared with the daemon's processes: how many bytes, and those. */
static struct record {
	_Atomic uint64_t bytes;
	uint8_t at[RECORD_BYTES];
} * fuzz_record;

/* A client at a time, as the suite runs one test after the other: each begins with a REMOTE_PAD. */
static void take_down(const struct remote_command *c)
{
	static const struct remote_command begins = { .bytes = sizeof(begins), .op = REMOTE_PAD };
	static int commands, launches;
	uint64_t at = fuzz_record->bytes;

	if (c->op == REMOTE_PAD || at + c->bytes + sizeof(begins) > RECORD_BYTES ||
	    (c->op == REMOTE_LAUNCH && launches++ > 20))
		return;
	if (!commands++) {
		memcpy(fuzz_record->at + at, &begins, sizeof(begins));
		at += sizeof(begins);
	}
	memcpy(fuzz_record->at + at, c, c->bytes);
	fuzz_record->bytes = at + c->bytes;
}

static inline void fuzz_new_record(void)
{
	fuzz_record = mmap(NULL, sizeof(*fuzz_record), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(fuzz_record != MAP_FAILED);
}

/* In the daemon: its commands are written down. */
static inline void fuzz_watch(void)
{
	serve_shown = take_down;
}

/* In place of cuBLAS; NULL: whichever is loaded. */
static const struct blas *fuzz_library;

/* The session is one of several in its process. */
static bool fuzz_shares;

static uint64_t fuzz_state = 1;

/* xorshift64* (Vigna 2016): the same numbers in every run. */
static uint64_t draw(uint64_t n)
{
	fuzz_state ^= fuzz_state >> 12;
	fuzz_state ^= fuzz_state << 25;
	fuzz_state ^= fuzz_state >> 27;
	return (fuzz_state * 0x2545f4914f6cdd1dull >> 11) % n;
}

struct fuzz {
	struct session s;
	const struct remote_backend *backend;
	const char *store; /* of fat binaries, as the session's */
	struct remote_channel *channel;
	struct remote_command *buffer;
	struct fuzz_socket *socket; /* by which they come; NULL: by the ring */
	uint64_t base, tail, at;    /* at: in the record */
	bool damages, freed;	    /* from here on; memory, in this session */
	pthread_t asked;	    /* a client's thread, which is asked for host functions */
	atomic_bool over;
	int done[REMOTE_OPS_COUNT]; /* without an error, as an answer said */
	_Alignas(16) uint8_t bytes[REMOTE_COMMAND_BYTES + 64];
};

/* ---- sockets ------------------------------------------------------------------------------ */

/* The client's end is written by the test, and read by a thread that nobody listens to. */
struct fuzz_socket {
	int client, daemon;
	struct remote_inlet in;
	struct mirrors mirrors;
	struct outlet out;
	pthread_t reader;
	uint64_t nonsense; /* messages that ended a connection */
};

static void *read_nothing(void *fd)
{
	char some[4096];

	while (recv((int)(intptr_t)fd, some, sizeof(some), 0) > 0)
		;
	return NULL;
}

static void connect_socket(struct fuzz_socket *k)
{
	int fd[2];

	cr_assert(zero(int, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)), "sockets");
	k->client = fd[0];
	k->daemon = k->in.fd = k->out.fd = fd[1];
	k->in.at = k->in.n = 0;
	cr_assert(zero(int,
		       pthread_create(&k->reader, NULL, read_nothing, (void *)(intptr_t)k->client)),
		  "a thread");
}

static void disconnect_socket(struct fuzz_socket *k)
{
	shutdown(k->client, SHUT_RDWR);
	shutdown(k->daemon, SHUT_RDWR);
	pthread_join(k->reader, NULL);
	close(k->client);
	close(k->daemon);
}

/* Addresses of the device are what they were for each client that is on record. */
static void begin_session(struct fuzz *f)
{
	cpudev_place((void *)(uintptr_t)(f->base + REMOTE_PINNED_BYTES), REMOTE_DEVICE_BYTES);
	f->s = session_new(f->backend, f->base, remote_block_in(f->channel, REMOTE_BLOCK_BYTES, 0),
			   remote_block_out(f->channel, REMOTE_BLOCK_BYTES, 0), 128 << 20);
	f->s.store = f->store;
	f->freed = false;
	f->s.library = fuzz_library;
	if (f->socket) {
		connect_socket(f->socket);
		f->s.outlet = &f->socket->out;
	}
	hosts_connect(f->s.hosts, &f->channel->turn, f->s.outlet);
	if (fuzz_shares)
		cr_assert(order_begin(&f->s));
}

/* Whatever it is, it is done. */
static void *answer_questions(void *fuzz)
{
	struct fuzz *f = fuzz;
	struct remote_turn *t = &f->channel->turn;

	while (!atomic_load(&f->over)) {
		unsigned asked = atomic_load(&t->asked);

		if (atomic_exchange(&t->done, asked) != asked)
			remote_wake(&t->done);
		else
			remote_sleep(&t->asked, asked, 1000000);
	}
	return NULL;
}

/* ---- damage ------------------------------------------------------------------------------- */

/* A word as a client might write it: an address that is its own, or nearly; a number; anything. */
static uint64_t some_word(const struct fuzz *f)
{
	static const uint64_t edges[] = { 0,
					  1,
					  2,
					  3,
					  16,
					  17,
					  4096,
					  1 << 20,
					  UINT32_MAX,
					  INT64_MAX,
					  UINT64_MAX,
					  UINT64_MAX - 7,
					  (uint64_t)1 << 32 };
	const struct regions *r = &f->s.regions;

	switch (draw(5)) {
	case 0:
		return edges[draw(sizeof(edges) / sizeof(*edges))];
	case 1:
		return r->n ? r->at[draw(r->n)].base + draw(3) * 8 : draw(100);
	case 2:
		return f->base + draw(64) * 4096;
	case 3:
		return draw(40);
	default:
		return draw(UINT64_MAX);
	}
}

/* Blocks that a launch may have here: more would be right, and take hours. */
static void keep_small(struct remote_command *c)
{
	static const uint8_t grid_at[REMOTE_OPS_COUNT] = {
		[REMOTE_LAUNCH] = 1, [REMOTE_EXEC_SET_KERNEL] = 4, [REMOTE_ADD_KERNEL] = 3
	};
	uint64_t *grid = &c->word[grid_at[c->op % REMOTE_OPS_COUNT]];

	if (c->op != REMOTE_LAUNCH && c->op != REMOTE_EXEC_SET_KERNEL && c->op != REMOTE_ADD_KERNEL)
		return;
	if (low_of(grid[0]) > 64 || high_of(grid[0]) > 64 || low_of(grid[2]) > 64)
		grid[0] &= pair(3, 3);
	grid[2] &= pair(3, UINT32_MAX);
}

static uint64_t small(uint64_t n)
{
	return n > 64 ? n & 63 : n;
}

/* And numbers of a matrix. */
static void keep_products_small(struct remote_command *c)
{
	struct remote_gemm *g = (struct remote_gemm *)(c->word + 1);
	struct remote_matmul *m = (struct remote_matmul *)(c->word + 2);
	struct remote_layout *layout[] = { &m->product.a, &m->product.b, &m->product.c,
					   &m->product.d };

	if (c->op == REMOTE_BLAS_GEMM) {
		g->m = g->m < 0 ? g->m : (int)small((uint64_t)g->m);
		g->n = g->n < 0 ? g->n : (int)small((uint64_t)g->n);
		g->k = g->k < 0 ? g->k : (int)small((uint64_t)g->k);
	}
	for (size_t i = 0; c->op == REMOTE_BLAS_MATMUL && i < 4; i++) {
		layout[i]->rows = small(layout[i]->rows);
		layout[i]->cols = small(layout[i]->cols);
	}
}

static void damage(struct fuzz *f, struct remote_command *c)
{
	uint64_t words = (c->bytes - sizeof(*c)) / 8;

	if (words && draw(3))
		c->word[draw(words)] = some_word(f);
	switch (draw(24)) {
	case 0:
		c->bytes = (uint32_t)some_word(f);
		break;
	case 1:
		c->op = (uint16_t)draw(REMOTE_OPS_COUNT + 3);
		break;
	case 2:
		c->payload = (uint32_t)some_word(f);
		break;
	case 3:
		c->thread = (uint8_t)draw(256);
		break;
	case 4:
		f->bytes[draw(c->bytes)] ^= (uint8_t)(1 << draw(8));
		break;
	default:
		break;
	}
}

static void end_session(struct fuzz *f)
{
	session_close(&f->s);
	if (f->socket)
		disconnect_socket(f->socket);
	begin_session(f);
}

/* From the record, one after the other, some of them damaged. False: that was the last. */
static bool next_recorded(struct fuzz *f, bool *damaged)
{
	const struct remote_command *c = (const void *)(fuzz_record->at + f->at);

	memcpy(f->bytes, c, c->bytes);
	f->at = f->at + c->bytes < fuzz_record->bytes ? f->at + c->bytes : 0;
	*damaged = *damaged && c->op != REMOTE_PAD && !draw(8);
	if (c->op == REMOTE_PAD)
		end_session(f);
	else if (*damaged)
		damage(f, (struct remote_command *)f->bytes);
	return f->at != 0;
}

static void make_random(struct fuzz *f)
{
	struct remote_command *c = (struct remote_command *)f->bytes;
	static const struct {
		uint8_t words;
		uint32_t payload;
	} shapes[] = {
#define OP(name, words, payload) { words, payload },
		REMOTE_OPS(OP)
#undef OP
	};

	c->op = (uint16_t)(1 + draw(REMOTE_OPS_COUNT - 1));
	c->payload = shapes[c->op].payload ? (uint32_t)draw(64) : 0;
	if (shapes[c->op].payload <= REMOTE_MATMUL_BYTES && draw(8)) /* a product, and all of it */
		c->payload = shapes[c->op].payload;
	c->bytes = remote_command_bytes(shapes[c->op].words, c->payload);
	c->thread = (uint8_t)draw(REMOTE_THREADS);
	c->flags = (uint8_t)draw(2);
	for (uint64_t i = 0; i < (c->bytes - sizeof(*c)) / 8; i++)
		c->word[i] = some_word(f);
}

/* ---- doing them --------------------------------------------------------------------------- */

/* Into the ring, where nothing follows. Returns its end, which is sometimes wrong. */
static uint64_t put_in_ring(struct fuzz *f, const struct remote_command *c, bool exact)
{
	uint64_t bytes = c->bytes <= REMOTE_COMMAND_BYTES ? c->bytes : 128;
	uint64_t left = REMOTE_RING_BYTES - f->tail % REMOTE_RING_BYTES;
	uint8_t *at;

	if (left < bytes + 64)
		f->tail += left;
	at = f->channel->ring + f->tail % REMOTE_RING_BYTES;
	memcpy(at, c, bytes);
	memset(at + bytes, 0, 64);
	return f->tail + bytes +
	       (exact || draw(40) ? 0 : draw(3) * 16 + draw(2) * draw(UINT64_MAX));
}

/* One piece, which no command names: kernels would find nothing where a damaged one has ended it.
 */
enum { MIRRORED = 8192 };

static uint64_t mirrored_at(const struct fuzz *f)
{
	return f->base + REMOTE_PINNED_BYTES / 2;
}

/* A frame that is mostly right, of which some bytes are not. */
static struct remote_frame make_frame(const struct fuzz *f, const struct remote_command *c,
				      bool exact)
{
	struct remote_frame frame = { .message = MESSAGE_COMMAND, .threads = 1 };
	uint8_t *bytes = (uint8_t *)&frame;

	if (c->op == REMOTE_COPY_IN || c->op == REMOTE_IMAGE_PART)
		frame.bytes = 64;
	if (!exact && !draw(20)) {
		frame.message = MESSAGE_MEMORY;
		frame.bytes = 4 * (uint32_t)draw(40);
		frame.position = draw(4) ? mirrored_at(f) + 4 * draw(2050) : some_word(f);
	}
	if (!exact && !draw(40)) {
		frame.message = MESSAGE_ASKED;
		frame.bytes = draw(8) ? (uint32_t)draw(3) * 40 : REMOTE_TURN_BYTES + 4;
	}
	if (!exact && !draw(40))
		bytes[draw(sizeof(frame))] ^= (uint8_t)(1 << draw(8));
	return frame;
}

/* What follows a frame that promises more than a socket holds is not sent: the end comes. False:
 * it has. */
static bool put_in_socket(struct fuzz *f, const struct remote_command *c, bool exact)
{
	enum { ROOM = 60 << 10 };
	static const uint8_t block[ROOM];
	struct remote_frame frame = make_frame(f, c, exact);
	size_t bytes = c->bytes < sizeof(*c)		  ? sizeof(*c)
		       : c->bytes <= REMOTE_COMMAND_BYTES ? c->bytes
							  : 128;
	size_t body = frame.bytes < ROOM ? frame.bytes : ROOM;
	struct iovec part[3] = { { &frame, sizeof(frame) },
				 { (void *)c, bytes },
				 { (void *)block, body } };
	bool memory = frame.message == MESSAGE_MEMORY || frame.message == MESSAGE_ASKED;
	bool cut = bytes != c->bytes || body != frame.bytes || (!exact && !draw(200));

	cr_assert(remote_write(f->socket->client, part, memory ? 1 : 2));
	if (body)
		cr_assert(remote_write(f->socket->client, part + 2, 1));
	if (cut) /* who is promised more waits for it */
		shutdown(f->socket->client, SHUT_WR);
	return !cut;
}

/* By a socket: as the daemon's two threads do it, one after the other. */
static bool come_by_socket(struct fuzz *f, const struct remote_command *c, bool exact)
{
	enum received r;
	bool goes_on;

	if (c->op == REMOTE_PAD && exact) /* where a client on record begins */
		return true;
	goes_on = put_in_socket(f, c, exact);
	r = receive_message(&f->socket->in, f->channel, &f->socket->mirrors);
	f->socket->nonsense += r == RECEIVED_NONSENSE;
	return r == RECEIVED &&
	       serve_commands(&f->s, f->channel, &f->tail, atomic_load(&f->channel->head),
			      f->buffer) &&
	       goes_on;
}

static bool come(struct fuzz *f, const struct remote_command *c, bool exact)
{
	if (f->socket)
		return come_by_socket(f, c, exact);
	return serve_commands(&f->s, f->channel, &f->tail, put_in_ring(f, c, exact), f->buffer);
}

/* A graph may copy memory that was given back since, which ends the process, as a kernel's fault
 * does: none is launched then. So may a copy of one stream that is still to come when another gives
 * the memory back: in a shared process, whose streams are not blocking, giving back waits then. */
static void keep_off_freed_memory(struct fuzz *f, struct remote_command *c)
{
	f->freed = f->freed || c->op == REMOTE_FREE || c->op == REMOTE_FREE_ASYNC;
	if (f->damages && fuzz_shares && c->op == REMOTE_FREE_ASYNC)
		c->op = REMOTE_FREE;
	if (f->damages && f->freed && c->op == REMOTE_EXEC_LAUNCH)
		c->op = REMOTE_EXEC_UPLOAD;
}

/* It is done or refused. Memory stays bounded, and each answer has an end. */
static void do_message(struct fuzz *f, bool exact)
{
	struct remote_command *c = (struct remote_command *)f->bytes;
	const struct remote_answer *answer;
	unsigned thread;
	int error;

	c->flags = REMOTE_ANSWERED;
	keep_off_freed_memory(f, c);
	answer = &f->channel->answer[c->thread % REMOTE_THREADS];
	if (come(f, c, exact)) {
		f->done[c->op] += !answer->error || answer->error == cudaErrorNotReady;
	} else {
		end_session(f);
		f->tail = 0;
		atomic_store(&f->channel->head, 0);
		atomic_store(&f->channel->tail, 0);
	}
	while (waits_take(&f->s, &thread, &error))
		cr_assert(lt(u32, thread, REMOTE_THREADS));
	cr_assert(le(u64, f->s.memory_bytes, f->s.memory_max));
	cr_assert(le(u64, answer->bytes, REMOTE_ANSWER_BYTES));
}

/* As it was recorded. */
static void replay(struct fuzz *f)
{
	bool more, damaged = false;

	do {
		more = next_recorded(f, &damaged);
		do_message(f, true);
	} while (more);
}

/* n that no client would send: two of three were sent by one, and are damaged. Between them come
 * those that are right, so that there is something to hit. */
static void damage_and_invent(struct fuzz *f, int n)
{
	f->damages = true;
	for (int i = 0; i < n; i++) {
		bool damaged = i % 3 != 0;

		if (!damaged)
			make_random(f);
		while (damaged) {
			next_recorded(f, &damaged);
			if (damaged)
				break;
			do_message(f, true);
			damaged = true;
		}
		keep_small((struct remote_command *)f->bytes);
		keep_products_small((struct remote_command *)f->bytes);
		do_message(f, false);
	}
}

static struct fuzz_socket *new_socket(void)
{
	struct fuzz_socket *k = calloc(1, sizeof(*k));

	cr_assert(k != NULL);
	k->mirrors = (struct mirrors){ .lock = PTHREAD_MUTEX_INITIALIZER };
	k->out = outlet_new(-1, REMOTE_BLOCK_BYTES, &k->mirrors);
	k->in.block_bytes = REMOTE_BLOCK_BYTES;
	return k;
}

static void end_socket(struct fuzz_socket *k)
{
	disconnect_socket(k);
	mirrors_remove(&k->mirrors, k->mirrors.at->base);
	cr_assert(lt(u64, 0, k->nonsense), "no connection was ended for what came");
	cr_assert(zero(sz, k->mirrors.n));
	free(k->mirrors.at);
	free(k->out.pass);
	free(k);
}

/* What is recorded must have done these commands before it is damaged. */
static inline void fuzz_session(const struct remote_backend *backend, const char *store,
				enum remote_op first, enum remote_op last, int n, bool by_socket)
{
	struct fuzz *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
	struct cpudev_held held;
	void *place;

	memset(f, 0, sizeof(*f));
	f->backend = backend;
	f->store = store;
	f->socket = by_socket ? new_socket() : NULL;
	f->base = UINT64_C(0x7e8000000000);
	f->channel = aligned_alloc(4096, remote_channel_bytes(REMOTE_BLOCK_BYTES));
	memset(f->channel, 0, remote_channel_bytes(REMOTE_BLOCK_BYTES));
	f->buffer = aligned_alloc(64, (REMOTE_COMMAND_BYTES + 63) / 64 * 64);
	place = mmap((void *)(uintptr_t)f->base, REMOTE_SPACE_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	cr_assert(eq(u64, word_of(place), f->base));
	if (f->socket)
		cr_assert(mirrors_add(&f->socket->mirrors, mirrored_at(f), MIRRORED));
	begin_session(f);
	cr_assert(zero(int, pthread_create(&f->asked, NULL, answer_questions, f)), "a thread");
	replay(f);
	for (unsigned op = first; op <= last; op++)
		cr_assert(lt(int, 0, f->done[op]), "command %u was never done", op);
	f->channel->threads = 2; /* waits, too, are then left to stand */
	damage_and_invent(f, n);
	session_close(&f->s);
	atomic_store(&f->over, true);
	pthread_join(f->asked, NULL);
	if (f->socket)
		end_socket(f->socket);
	held = cpudev_held();
	cr_assert(zero(sz, held.device + held.pinned + held.registered + held.streams +
				   held.events + held.graphs + held.execs));
	free(f->buffer);
	free(f->channel);
	free(f);
}

#endif
