/*
 * wire.h - what a client and its daemon agree on: the handshake, the memory that both have mapped,
 * and the commands in it. C11, nothing of CUDA's, so that either side may be on another device.
 *
 * One client process has one process of the daemon, or with `shared=yes` a thread of it. The daemon
 * makes the shared memory, as memfds that cannot change their size, and passes them over the Unix
 * socket. The client writes commands to a ring; the daemon reads each into memory of its own before
 * it looks at it. Whatever stands there was written by the client and is believed in nothing.
 */
#ifndef RIFT_REMOTE_WIRE_H
#define RIFT_REMOTE_WIRE_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- the handshake ------------------------------------------------------------------------ */

enum { REMOTE_MAGIC = 0x72667431, REMOTE_VERSION = 7 };

/* The variable that names the folder of the layer; in it, the socket and the file of counts. */
#define REMOTE_VARIABLE "RIFT_LAYER_REMOTE"
#define REMOTE_SOCKET "socket"
#define REMOTE_SHARED "shared"

enum { REMOTE_BUILD_ID = 32, REMOTE_REASON = 160, REMOTE_TOKEN = 64, REMOTE_ADDRESS = 256 };

/* How commands travel: by memory that both have mapped, or by a socket (socket.h). */
enum remote_transport { REMOTE_SHM, REMOTE_UNIX, REMOTE_TCP };

/* Where a program has its kernels: it has itself, as on the CPU device, or brings fat binaries. */
enum remote_kernels { REMOTE_FUNCTIONS = 1, REMOTE_IMAGES };

/* What a client says first, and again, with another base or to another process, where the daemon
 * says REMOTE_TAKEN; a process does so less often than this. */
enum { REMOTE_ROUNDS = 16 };

struct remote_hello {
	uint32_t magic, version;
	uint32_t kernels;		   /* enum remote_kernels */
	uint32_t transport;		   /* enum remote_transport */
	uint8_t build_id[REMOTE_BUILD_ID]; /* of the program's file, zeros behind it */
	uint64_t base; /* of the addresses that the client has kept free: REMOTE_SPACE_BYTES */
	uint64_t used, used_bytes; /* where the client has memory of its own, and will map more: a
				    * GPU's driver, which chooses addresses, is to choose others */
	char token[REMOTE_TOKEN];  /* TCP: what only who may connect knows */
};

enum remote_verdict { REMOTE_WELCOME, REMOTE_TAKEN, REMOTE_REFUSED };

/* With REMOTE_WELCOME come file descriptors: of pinned memory, but over TCP; and of struct
 * remote_channel where that is shared. */
struct remote_welcome {
	uint32_t magic, verdict;
	char reason[REMOTE_REASON]; /* of a refusal, one line without a full stop */
	/* not with REMOTE_REFUSED, which ends before them, as the answers of other versions do */
	uint64_t base;	      /* REMOTE_TAKEN: one that the daemon keeps free meanwhile; 0: none */
	uint64_t block_bytes; /* REMOTE_WELCOME: of each block of the channel */
};

#define REMOTE_REFUSAL_BYTES offsetof(struct remote_welcome, base)

/* ---- addresses ---------------------------------------------------------------------------- */

/*
 * Addresses that mean the same on both sides, from the base on: pinned memory of the host, which
 * both have mapped, then memory of the device, where the client can touch nothing. The bases that a
 * client tries in turn are out of the way of what Linux maps by itself; the first one also of what
 * the sanitizers forbid. A daemon that has several clients names others, of which one lies behind
 * the first, and the rest from the second on.
 */
#define REMOTE_PINNED_BYTES (UINT64_C(64) << 30)
#define REMOTE_DEVICE_BYTES (UINT64_C(192) << 30)
#define REMOTE_SPACE_BYTES (REMOTE_PINNED_BYTES + REMOTE_DEVICE_BYTES)
#define REMOTE_BASES                                                                               \
	{                                                                                          \
		UINT64_C(0x7e8000000000), UINT64_C(0x200000000000), UINT64_C(0x300000000000),      \
			UINT64_C(0x400000000000)                                                   \
	}
#ifdef __SANITIZE_THREAD__ /* it leaves programs what lies behind the first, and little else */
enum { REMOTE_OFFERS = 4, REMOTE_BEHIND_FIRST = 4 };
#else
enum { REMOTE_OFFERS = 193, REMOTE_BEHIND_FIRST = 1 };
#endif

static inline uint64_t remote_offer(unsigned i)
{
	static const uint64_t bases[] = REMOTE_BASES;

	return i < REMOTE_BEHIND_FIRST ? bases[0] + (i + 1) * REMOTE_SPACE_BYTES
				       : bases[1] + (i - REMOTE_BEHIND_FIRST) * REMOTE_SPACE_BYTES;
}

/* ---- shared memory ------------------------------------------------------------------------ */

enum {
	REMOTE_RING_BYTES = 1 << 20,
	REMOTE_THREADS = 64, /* of a client that make calls at the same time */
	REMOTE_ANSWER_BYTES = 8 << 10,
	REMOTE_BLOCKS = 2,	       /* each way: one is filled while the other is emptied */
	REMOTE_BLOCK_BYTES = 4 << 20,  /* of a copy, where nothing else is asked for */
	REMOTE_BLOCK_SHARED = 1 << 20, /* where memory is shared: it fits in a level-2 cache */
	REMOTE_BLOCK_LEAST = 64 << 10,
	REMOTE_BLOCK_MOST = 128 << 20,
	REMOTE_ARGUMENT_BYTES = 32 << 10, /* of a kernel */
	REMOTE_PAYLOAD_BYTES = 34 << 10,  /* with attributes of the launch */
	REMOTE_INLINE_BYTES = 4 << 10,	  /* copies to the device up to here go in the command */
	REMOTE_NAME_BYTES = 16 << 10,	  /* of a kernel, mangled, and the 0 behind it */
	REMOTE_NEEDS_BYTES = 32 << 10,	  /* nodes, by their places, 8 bytes each */
	REMOTE_TURN_BYTES = 256 << 10,	  /* of memory that a graph copies, at a time */
};

/* The answer to the last call of one thread that waited for one. */
struct remote_answer {
	atomic_uint count;    /* answers so far; a futex */
	atomic_uint sleeping; /* the thread waits for the futex */
	int32_t error;	      /* of this call */
	int32_t late;	      /* the last one of those sent ahead since the answer before */
	uint32_t bytes;
	uint8_t data[REMOTE_ANSWER_BYTES];
};

/* What the daemon asks of the client: the host function of that number, or so many bytes of the
 * memory that the number stands for, from the offset. */
struct remote_asked {
	uint64_t number, offset;
	uint32_t bytes, reserved;
};

/* One question at a time, from a thread of the daemon's device to one of the client's. No thread
 * that makes or does commands is needed for it: they may all wait for the device meanwhile. */
struct remote_turn {
	/* the daemon's */
	_Alignas(64) atomic_uint asked; /* so far; a futex */
	struct remote_asked what;
	/* the client's */
	_Alignas(64) atomic_uint done; /* of those; a futex */
	/* of who has the memory that is copied */
	_Alignas(64) uint8_t data[REMOTE_TURN_BYTES];
};

struct remote_channel {
	/* the client's */
	_Alignas(64) atomic_uint_least64_t head; /* bytes ever written */
	atomic_uint bell;			 /* a futex: rung where the daemon sleeps */
	atomic_uint threads; /* that make calls: of more than one, none holds back others */
	/* the daemon's */
	_Alignas(64) atomic_uint_least64_t tail; /* bytes of commands that are done */
	atomic_uint sleeping;
	_Alignas(64) struct remote_answer answer[REMOTE_THREADS];
	struct remote_turn turn;
	_Alignas(64) uint8_t ring[REMOTE_RING_BYTES];
	/* to the daemon, then from it; how large they are each side knows by itself */
	_Alignas(4096) uint8_t blocks[];
};

static inline size_t remote_channel_bytes(uint64_t block_bytes)
{
	return sizeof(struct remote_channel) + 2 * REMOTE_BLOCKS * block_bytes;
}

static inline uint8_t *remote_block_in(struct remote_channel *ch, uint64_t block_bytes,
				       unsigned block)
{
	return ch->blocks + block * block_bytes;
}

static inline uint8_t *remote_block_out(struct remote_channel *ch, uint64_t block_bytes,
					unsigned block)
{
	return ch->blocks + (REMOTE_BLOCKS + block) * block_bytes;
}

/* ---- commands ----------------------------------------------------------------------------- */

/*
 * Each command: its words, its payload in bytes at most. A stream is 0, 1 or 2, which are CUDA's
 * default streams, or REMOTE_OWN + its number; images, events, graphs, executable graphs, handles
 * of cuBLAS and host functions are numbers. The client chooses numbers. Where a kernel or a
 * variable is: the number of an image, or how far into the program (REMOTE_FUNCTIONS), whose
 * variables need no name.
 */
#define REMOTE_OPS(OP)                                                                             \
	OP(PAD, 0, REMOTE_RING_BYTES) /* nothing: the rest of the ring */                          \
	OP(COUNT, 0, 0)		      /* -> commands done before this one */                       \
	OP(ERROR_TEXT, 2, 0)	      /* error, 0 its name or 1 its text -> text */                \
	OP(POOL_KEEP, 1, 0)	      /* bytes that the default pool keeps at a synchronize */     \
	OP(POOL_TRIM, 1, 0)	      /* bytes that it keeps now */                                \
	OP(IMAGE, 4, 0)		      /* number, bytes, hash, hash -> int: it is there, loaded */  \
	OP(IMAGE_PART, 2, 0)	      /* number, bytes | block << 32; in order; the last loads */  \
	OP(KERNEL, 2,                                                                              \
	   REMOTE_NAME_BYTES) /* number, where; name -> parameters, {offset, size}... */           \
	OP(SYMBOL, 1, REMOTE_NAME_BYTES) /* where; name -> address, bytes */                       \
	OP(PROPERTIES, 1, 0)		 /* device -> cudaDeviceProp */                            \
	OP(ATTRIBUTE, 2, 0)		 /* attribute, device -> int */                            \
	OP(DEVICE_COUNT, 0, 0)		 /* -> int */                                              \
	OP(SET_FLAGS, 1, 0)                                                                        \
	OP(GET_FLAGS, 0, 0) /* -> unsigned */                                                      \
	OP(SET_LIMIT, 2, 0)                                                                        \
	OP(GET_LIMIT, 1, 0)  /* -> size_t */                                                       \
	OP(VERSIONS, 0, 0)   /* -> driver, runtime */                                              \
	OP(PRIORITIES, 0, 0) /* -> least, greatest */                                              \
	OP(DEVICE_WAIT, 0, 0)                                                                      \
	OP(MEM_INFO, 0, 0) /* -> free, total */                                                    \
	OP(MALLOC, 1, 0)   /* bytes -> address */                                                  \
	OP(FREE, 1, 0)                                                                             \
	OP(PIN, 2, 0) /* address, bytes */                                                         \
	OP(UNPIN, 1, 0)                                                                            \
	OP(MALLOC_ASYNC, 2, 0) /* bytes, stream -> address */                                      \
	OP(FREE_ASYNC, 2, 0)   /* address, stream */                                               \
	OP(COPY, 8, 0)	       /* struct remote_rows as words, kind, stream, or REMOTE_WAITS */    \
	OP(COPY_IN, 5, 0)      /* dst, pitch, width, height | block << 32, stream */               \
	OP(COPY_INLINE, 2, REMOTE_INLINE_BYTES) /* dst, stream; data */                            \
	OP(COPY_OUT, 5, 0)	/* src, pitch, width, height | block << 32, stream */              \
	OP(SET, 4, 0)		/* dst, value, bytes, stream, or REMOTE_WAITS */                   \
	OP(STREAM_CREATE, 3, 0) /* number, flags, priority */                                      \
	OP(STREAM_DESTROY, 1, 0)                                                                   \
	OP(STREAM_WAIT, 1, 0)                                                                      \
	OP(STREAM_QUERY, 1, 0)                                                                     \
	OP(STREAM_WAIT_EVENT, 3, 0) /* stream, event, flags */                                     \
	OP(EVENT_CREATE, 2, 0)	    /* number, flags */                                            \
	OP(EVENT_DESTROY, 1, 0)                                                                    \
	OP(EVENT_RECORD, 3, 0) /* event, stream, flags */                                          \
	OP(EVENT_WAIT, 1, 0)                                                                       \
	OP(EVENT_QUERY, 1, 0)                                                                      \
	OP(EVENT_ELAPSED, 2, 0)		    /* start, end -> float, ms */                          \
	OP(LAUNCH, 7, REMOTE_PAYLOAD_BYTES) /* struct remote_shape, stream, attributes;            \
					       cudaLaunchAttribute each, arguments */              \
	OP(FUNC_ATTRIBUTES, 1, 0)	    /* kernel -> cudaFuncAttributes */                     \
	OP(FUNC_SET, 3, 0)		    /* kernel, attribute, value */                         \
	OP(OCCUPANCY, 3, 0)		    /* kernel, threads, shared bytes -> int */             \
	OP(CAPTURE_BEGIN, 2, 0)		    /* stream, mode */                                     \
	OP(CAPTURE_END, 2, 0)		    /* stream, graph */                                    \
	OP(CAPTURE_STATUS, 1, 0)	    /* stream -> int */                                    \
	OP(GRAPH_DESTROY, 1, 0)                                                                    \
	OP(GRAPH_NODES, 1, 0) /* graph -> how many */                                              \
	OP(NODE_TYPE, 2, 0)   /* graph, node -> int */                                             \
	OP(NODE_NEEDS, 3, 0)  /* graph, node, first -> how many, nodes from the first */           \
	OP(NODE_KERNEL, 2, 0) /* graph, node -> struct remote_shape; arguments */                  \
	OP(EXEC_CREATE, 3, 0) /* exec, graph, flags */                                             \
	OP(EXEC_UPLOAD, 2, 0) /* exec, stream */                                                   \
	OP(EXEC_LAUNCH, 2, 0) /* exec, stream */                                                   \
	OP(EXEC_SET_KERNEL, 8, REMOTE_PAYLOAD_BYTES) /* exec, graph, node, shape; arguments */     \
	OP(EXEC_UPDATE, 2, 0) /* exec, graph -> result, node or -1, node or -1 */                  \
	OP(EXEC_DESTROY, 1, 0)                                                                     \
	OP(HOST_CALL, 3, 0)    /* number, stream, 1 where it is captured */                        \
	OP(HOST_COPY, 7, 0)    /* number, stream, address, pitch, width, height, 1 to the device:  \
				  captured, and the other memory is what the number stands for */  \
	OP(HOST_GONE, 0, 0)    /* -> how many, numbers that no graph has any more */               \
	OP(GRAPH_CREATE, 1, 0) /* graph */                                                         \
	OP(GRAPH_CLONE, 2, 0)  /* graph, of which */                                               \
	OP(ADD_KERNEL, 7, REMOTE_PAYLOAD_BYTES) /* graph, how many nodes it needs, shape; nodes,   \
						   arguments -> node */                            \
	OP(ADD_COPY, 8, REMOTE_NEEDS_BYTES)	/* graph, struct remote_rows, kind; nodes it needs \
						   -> node */                                      \
	OP(ADD_SET, 7, REMOTE_NEEDS_BYTES)	/* graph, dst, pitch, value, bytes of an element,  \
						   width, height; nodes it needs -> node */        \
	OP(ADD_HOST, 2, REMOTE_NEEDS_BYTES)	/* graph, number; nodes it needs -> node */        \
	OP(ADD_HOST_COPY, 7, REMOTE_NEEDS_BYTES) /* graph, number, and as HOST_COPY from address;  \
						    nodes it needs -> node */                      \
	OP(ADD_EMPTY, 1, REMOTE_NEEDS_BYTES)	 /* graph; nodes it needs -> node */               \
	OP(ADD_NEEDS, 1, REMOTE_NEEDS_BYTES)	 /* graph; pairs: a node, and who needs it */      \
	OP(BLAS_VERSION, 0, 0)			 /* -> size_t: cublasLtGetVersion() */             \
	OP(BLAS_CREATE, 2, 0)			 /* number, 0 of cuBLAS or 1 of cuBLASLt */        \
	OP(BLAS_DESTROY, 1, 0)                                                                     \
	OP(BLAS_STREAM, 2, 0)	 /* handle, stream */                                              \
	OP(BLAS_WORKSPACE, 3, 0) /* handle, address, bytes */                                      \
	OP(BLAS_POINTER_MODE, 2, 0)                                                                \
	OP(BLAS_MATH_MODE, 2, 0)                                                                   \
	OP(BLAS_GEMM, 1, REMOTE_GEMM_BYTES)	    /* handle; struct remote_gemm */               \
	OP(BLAS_HEURISTIC, 3, REMOTE_PRODUCT_BYTES) /* handle, workspace's bytes at most, how      \
		many; struct remote_product -> how many, cublasLtMatmulHeuristicResult_t each */   \
	OP(BLAS_MATMUL, 2, REMOTE_MATMUL_BYTES)	    /* handle, stream; struct remote_matmul */

/* sizeof(struct remote_gemm) and the like: products.h */
enum { REMOTE_GEMM_BYTES = 96, REMOTE_PRODUCT_BYTES = 176, REMOTE_MATMUL_BYTES = 304 };

enum remote_op {
#define OP(name, words, payload) REMOTE_##name,
	REMOTE_OPS(OP)
#undef OP
		REMOTE_OPS_COUNT
};

enum { REMOTE_WORDS_MAX = 8 };

/* Flags of a command. */
enum { REMOTE_ANSWERED = 1 };

/* At a multiple of 16 in the ring, never across its end. */
struct remote_command {
	uint32_t bytes; /* of this, the words and the payload; a multiple of 16 */
	uint16_t op;
	uint8_t thread, flags;
	uint32_t payload, reserved; /* its bytes */
	uint64_t word[];
};

/* The longest, but for REMOTE_PAD. */
#define REMOTE_COMMAND_BYTES                                                                       \
	(sizeof(struct remote_command) + 8 * REMOTE_WORDS_MAX + REMOTE_PAYLOAD_BYTES + 16)

static inline uint32_t remote_command_bytes(unsigned words, uint32_t payload)
{
	return ((uint32_t)sizeof(struct remote_command) + 8 * words + payload + 15) / 16 * 16;
}

/* Numbers of objects, and how many of each kind a client may have. */
enum {
	REMOTE_OWN = 16,
	REMOTE_STREAMS = 4096,
	REMOTE_EVENTS = 1 << 20,
	REMOTE_GRAPHS = 4096,
	REMOTE_EXECS = 4096,
	REMOTE_IMAGES_MAX = 4096,
	REMOTE_KERNELS = 4096,
	REMOTE_PARAMS = 128,	/* of a kernel */
	REMOTE_ATTRIBUTES = 16, /* of a launch */
	REMOTE_SYMBOLS = 1024,
	REMOTE_REGIONS = 1 << 20, /* pieces of memory */
	REMOTE_BLAS = 64,	  /* handles of cuBLAS and cuBLASLt */
	REMOTE_NODES = 1 << 20,	  /* of a graph that is made node by node */
	REMOTE_HOSTS = 1 << 16,	  /* host functions: pending in streams, or in graphs */
};

/* sizeof(cudaLaunchAttribute) */
enum { REMOTE_ATTRIBUTE_BYTES = 72 };

/* In place of a stream: the call that waits, on CUDA's default stream. */
#define REMOTE_WAITS UINT64_C(3)

/* The first words of a copy. One row is a copy of bytes. */
struct remote_rows {
	uint64_t dst, dst_pitch, src, src_pitch, width, height; /* bytes; rows */
};

/* The first words of a launch. */
struct remote_shape {
	uint64_t kernel;
	uint64_t grid_xy, block_xy; /* x, and y << 32 */
	uint64_t z;		    /* of the grid, and of the block << 32 */
	uint64_t shared_bytes;
};

enum { REMOTE_SHAPE_WORDS = sizeof(struct remote_shape) / 8 };

/* A parameter of a kernel, bytes. */
struct remote_param {
	uint32_t offset, size;
};

/* ---- images: fat binaries of nvcc, known by size and hash -------------------------------------
 */

#define REMOTE_IMAGE_BYTES (UINT64_C(1) << 30) /* at most */

/* 128 bits, not for security: who loads and who asks is the same user. */
struct remote_hash {
	uint64_t half[2];
};

static inline uint64_t remote_mix(uint64_t hash, uint64_t word, uint64_t odd)
{
	hash = (hash ^ word) * odd;
	return hash ^ hash >> 29;
}

static inline struct remote_hash remote_hash_of(const uint8_t *at, uint64_t bytes)
{
	struct remote_hash h = { { bytes, ~bytes } };

	for (uint64_t i = 0; i < bytes; i += 8) {
		uint64_t word = 0;

		memcpy(&word, at + i, bytes - i < 8 ? bytes - i : 8);
		h.half[0] = remote_mix(h.half[0], word, 0x9e3779b97f4a7c15u);
		h.half[1] = remote_mix(h.half[1], word, 0xd6e8feb86659fd93u);
	}
	return h;
}

/* ---- what is asked for, and what is counted: the file REMOTE_SHARED ---------------------------
 */

enum { REMOTE_BINS_AN_OCTAVE = 8, REMOTE_BINS = 32 * REMOTE_BINS_AN_OCTAVE };

/* All clients under the layer count here. */
struct remote_shared {
	int64_t poll_ns;	      /* how long who waits polls before it sleeps */
	int32_t strict;		      /* each call waits for its answer */
	int32_t transport;	      /* enum remote_transport */
	int32_t nearby;		      /* TCP: where the daemon is on this machine, shared memory */
	int64_t rtt_ns, gbit_s;	      /* of a network to be imitated; 0: none, without a bound */
	char address[REMOTE_ADDRESS]; /* TCP: HOST:PORT of the daemon */
	char token[REMOTE_ADDRESS];   /* TCP: the file that holds it */
	atomic_int refused;
	atomic_int_least64_t ahead, answered;
	atomic_int_least64_t answer_bins[REMOTE_BINS]; /* ns, by remote_bin() */
};

/* Eight bins an octave: a bin is 9 % wide. */
static inline int remote_bin(int64_t ns)
{
	uint64_t n = ns > 8 ? (uint64_t)ns : 8;
	int octave = 63 - __builtin_clzll(n);
	int bin = (octave - 3) * REMOTE_BINS_AN_OCTAVE + (int)(n >> (octave - 3) & 7);

	return bin < REMOTE_BINS ? bin : REMOTE_BINS - 1;
}

/* Where the bin begins. */
static inline double remote_bin_ns(int bin)
{
	int octave = bin / REMOTE_BINS_AN_OCTAVE;

	return (double)((UINT64_C(8) + (unsigned)(bin % REMOTE_BINS_AN_OCTAVE)) << octave);
}

/* The client's: commands that this process has sent, and its file. */
typedef int64_t remote_sent_function(void);
#define REMOTE_SENT_FUNCTION "rift_remote_sent"
/* The same of its daemon, which is asked; negative: a CUDA error. */
#define REMOTE_DONE_FUNCTION "rift_remote_done"
/* By which transport they go: enum remote_transport. */
#define REMOTE_WAY_FUNCTION "rift_remote_way"

/* ---- waiting for each other --------------------------------------------------------------- */

static inline int64_t remote_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sleeps while *word is value, but not beyond the time. */
static inline void remote_sleep(atomic_uint *word, unsigned value, int64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

static inline void remote_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static inline void remote_pause(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

#endif
