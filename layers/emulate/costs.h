/*
 * costs.h - what the library that programs preload (preload/) and rift's side of the layer share:
 * the costs to add, and how precisely they were added. All of it lies in one file that every
 * process under the layer maps.
 */
#ifndef RIFT_LAYER_EMULATE_COSTS_H
#define RIFT_LAYER_EMULATE_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/* The variable that names the file. */
#define EMULATE_VARIABLE "RIFT_LAYER_EMULATE"

/* Who makes the operating system's call that submits a packet. */
enum submitter { SUBMIT_CALLER, SUBMIT_THREAD };

/* When memory's `alloc_ns` is paid. */
enum paging { PAGING_NOW, PAGING_FIRST_USE };

/* Do asynchronous copies between host and device return before they are made? */
enum copying { COPYING_NATIVE, COPYING_BLOCKING };

/* Without padding, so that two can be compared. */
struct emulate_costs {
	/* a command: what the thread that gives it spends */
	double call_ns;
	double ns_per_byte; /* of the arguments of kernels, and of what is copied from pageable
			       memory */
	/* a packet of commands */
	int64_t packet_commands; /* it closes with so many */
	double packet_age_ns;	 /* or when it is so old; 0: never for its age */
	double submit_ns;
	int64_t where; /* enum submitter */
	double latency_ns;
	double bytes_per_ns; /* of a packet's arguments; 0: no limit */
	int64_t serialize;   /* a packet's work begins when that of the one before has ended */
	/* calls that wait: after what they waited for */
	double return_ns, sync_ns;
	/* fixed additions */
	double copy_ns, alloc_ns, free_ns, pin_ns, context_ns;
	int64_t paging; /* enum paging */
	/* copies between host and device */
	double copy_bytes_per_ns; /* 0: no limit */
	int64_t copy_block;	  /* bytes that are on the way at once */
	double copy_stretch;	  /* 0.1: copies that block take a tenth longer */
	double crossing_ns;	  /* each of them, in the calling thread */
	int64_t copying;	  /* enum copying */
	int64_t one_channel;	  /* they are made one after the other, whatever their streams */
	/* what a process may have of the device (preload/limit.h) */
	double compute_share; /* of the time, for its kernels; 1: no limit */
	double window_ns;     /* this share of it can be saved up */
	int64_t memory_bytes; /* 0: no limit */
};

/* Are copies between host and device made by the calling thread, in channel.c? */
static inline bool emulate_crosses(const struct emulate_costs *c)
{
	return c->crossing_ns > 0 || c->copying == COPYING_BLOCKING || c->one_channel;
}

/* Are they sent in blocks by the thread that delivers packets? */
static inline bool emulate_sends_blocks(const struct emulate_costs *c)
{
	return c->copy_bytes_per_ns > 0 && !emulate_crosses(c);
}

/* Do these let commands wait, in packets or on their way? */
static inline bool emulate_waits(const struct emulate_costs *c)
{
	return c->packet_commands > 1 || c->latency_ns > 0 || c->bytes_per_ns > 0 ||
	       emulate_sends_blocks(c) || c->serialize || c->where == SUBMIT_THREAD;
}

/*
 * How much later than asked for something came about, in ns: bins of 1 ns from LATENESS_LOW, then
 * one for all above. 0.1 % of what is late by more than a bin's range is still in `max`.
 */
enum { LATENESS_LOW = -1024, LATENESS_BINS = 8192 };

struct lateness {
	uint64_t n, bins[LATENESS_BINS];
	int64_t sum_ns;	    /* of those within the bins */
	int64_t far_sum_ns; /* of the others: the thread was not running for a while */
	int64_t max_ns;
};

/* What a call is to the layer; preload/calls.c says which are which. */
enum emulate_kind {
	KIND_FREE, /* costs nothing, changes nothing that waits */
	KIND_KERNEL,
	KIND_GRAPH,
	KIND_COPY,
	KIND_COMMAND, /* any other that a stream does */
	KIND_WAIT,
	KIND_BLOCKING_COPY,
	KIND_QUERY,
	KIND_ALLOC,
	KIND_POOL, /* an allocation from a pool, or of managed memory, where memory is limited */
	KIND_RELEASE,
	KIND_INFO, /* how much memory there is, where it is limited */
	KIND_PIN,
	KIND_CAPTURE,
	KIND_ERROR,
	KIND_DEVICE,
	KIND_OTHER, /* made after what waits has been submitted */
	KIND_PROBE, /* the layer's own, to measure what its way in and out takes */
	KINDS
};

struct emulate_shared {
	double ticks_per_ns; /* of the time stamp counter */
	struct emulate_costs costs;
	uint64_t calls[KINDS];
	uint64_t packets;
	uint64_t held_back, refused; /* launches that waited, allocations beyond the limit */
	uint64_t past;		     /* processes with a runtime in which no call was seen */
	int64_t others;		    /* processes where a library submits by itself, so nothing waits
				       (preload/others.h) */
	struct lateness spins;	    /* in threads that call */
	struct lateness deliveries; /* of packets */
};

/* The library's: the file as it has mapped it. */
typedef struct emulate_shared *emulate_shared_function(void);
#define EMULATE_SHARED_FUNCTION "rift_emulate_shared"

#endif
