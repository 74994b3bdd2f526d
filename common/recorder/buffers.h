/*
 * buffers.h - what threads tell, on its way to the thread that writes: a buffer for each, which its
 * thread fills without a lock, and which one other reads.
 */
#ifndef RIFT_RECORDER_BUFFERS_H
#define RIFT_RECORDER_BUFFERS_H

#include "common/recorder/event.h"

struct buffer_chunk;

struct buffer {
	struct buffer *next, *merged;	  /* of all; of those that have something to be read */
	struct buffer_chunk *tail, *head; /* the thread's, and the reader's */
	struct buffer_chunk *spare;	  /* the reader gives one back */
	uint64_t written, read, until;	  /* until: what is read in this round */
	uint64_t head_end;		  /* the first event behind the reader's chunk */
	uint64_t n_chunks;
	uint64_t dropped; /* events that there was no room for */

	/* The thread's own. */
	int thread; /* its number once it has made a call; -1 */
	int64_t last_t1;
	int64_t cpu_ns, cpu_at; /* its CPU time, and when that was looked at */
	int64_t added_ns;	/* by recording, beside n_added of its calls */
	int64_t n_added, least_added_ns;
};

/* This thread's; made where it has none. NULL: no memory. */
struct buffer *buffer_own(void);

/* The same, NULL where it has none: for a signal handler. */
struct buffer *buffer_had(void);

/* Where the thread's next event goes; NULL: there is no room. buffer_publish() lets it be read. */
struct trace_event *buffer_slot(struct buffer *b);
void buffer_publish(struct buffer *b);

/* The thread leaves an event out. */
void buffer_drop(struct buffer *b);

/* Will the next event find no room unless others are read before? */
bool buffer_is_full(const struct buffer *b);

typedef void buffer_take(const struct trace_event *e, void *arg);

/*
 * Hands on what there was at one moment: calls then lack no more operations than are queued. merge:
 * by their starts, but for calls that were under way then; otherwise one thread's after another's.
 * By one thread at a time.
 */
void buffers_drain(bool merge, buffer_take *take, void *arg);

uint64_t buffers_dropped(void);

/*
 * Recording took the thread ns beside a call. Its first call, which also opens files, and what is
 * more than 16 times its least plus 2 us, as it waits for a processor or a page, are left out.
 */
void buffer_add_ns(struct buffer *b, int64_t ns);

/* What recording added to a call, on average; 0: not measured. Calls that threads make meanwhile
 * may be in it. */
int64_t buffers_added_ns(void);

/* In a forked child: all are the parent's. */
void buffers_abandon(void);

#endif
