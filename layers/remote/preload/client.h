/*
 * client.h - the client within a program: its connection, the commands that it sends, and what it
 * knows by itself. Functions of CUDA are in the files that are named after what they are about.
 *
 * One lock guards all of it. A function of CUDA enters, sends or asks, and leaves:
 *
 *	int error = client_enter();
 *
 *	if (error)
 *		return error;
 *	...
 *	return client_leave(client_ahead(REMOTE_EVENT_DESTROY, WORDS(number)));
 */
#ifndef RIFT_REMOTE_CLIENT_H
#define RIFT_REMOTE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layers/remote/transport/mirror.h"
#include "layers/remote/preload/cuda.h"
#include "layers/remote/wire/regions.h"
#include "layers/remote/wire/wire.h"

#define SHOWN __attribute__((visibility("default")))

/* ---- calls (client.c) --------------------------------------------------------------------- */

/* Takes the lock, with a daemon at hand. Otherwise returns a CUDA error, without the lock. */
int client_enter(void);

/* Gives the lock back; an error becomes the thread's last one, and is returned. A status of
 * cuBLAS's, of a call sent ahead, becomes the error of CUDA's that says the most of it. */
int client_leave(int error);

/* The lock alone, for what needs no daemon. */
void client_lock(void);
void client_unlock(void);

/* The calling thread runs host functions, which may not call CUDA: client_enter() says so then. */
void client_runs_hosts(void);

/* For calls that the client answers without the lock: likewise. */
int client_result(int error);

/* Says once on stderr that the function is refused. */
void client_say_refused(const char *function);
/* The same of CUDA's driver, where the program has loaded it: its calls to it go past the layer. */
void libraries_say_driver(void);

/* And is an error of CUDA, which becomes the thread's last one: cudaErrorNotSupported. */
int client_refuse(const char *function);

/* The calling thread's; forget: there is none from now on. */
int client_last_error(bool forget);

/* Addresses that are the daemon's as well: pinned memory begins here. */
uint64_t client_base(void);

/* How long a thread polls for an answer before it sleeps; negative: as the layer was told. */
void client_poll(int64_t ns);

/* ---- commands; with the lock -------------------------------------------------------------- */

#define WORDS(...)                                                                                 \
	(const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

/*
 * Begins a command: room for its payload in the ring. It is sent by client_send(), or by
 * client_ask_now().
 */
uint8_t *client_begin(enum remote_op op, const uint64_t *words, size_t n, uint32_t payload);

/* Sends it ahead; or waits for its answer, where the layer is strict. Returns a CUDA error. */
int client_send(void);

/*
 * Sends it and waits for its answer, of which up to `room` bytes go to out. The error is its own,
 * or else the last one of this thread's commands before it. Others may call meanwhile, unless keep.
 */
int client_ask_now(void *out, size_t room, bool keep);

/* The same for a command without payload. */
int client_ahead(enum remote_op op, const uint64_t *words, size_t n);
int client_ask(enum remote_op op, const uint64_t *words, size_t n, void *out, size_t room);

/* Sends it ahead where nothing speaks against its success; else the program learns at once. */
int client_ahead_if(bool promising, enum remote_op op, const uint64_t *words, size_t n);

/* Where the last command ends in the stream of bytes; and a wait until that is done. */
uint64_t client_position(void);
void client_await_position(uint64_t position);

/* A block of the shared memory that the daemon no longer reads; it does until the last command is
 * done. */
uint8_t *client_take_block(unsigned block);
/* Over a socket, what the next command has in its block may stay where it lies until that is sent.
 * False: it must be in the block. */
bool client_sends_from(const void *data);
void client_block_is_read(unsigned block);
const uint8_t *client_block_out(unsigned block);
uint64_t client_block_bytes(void);

/* ---- the connection (connect.c) ----------------------------------------------------------- */

struct connection {
	int socket, transport;
	uint64_t base;
	struct remote_channel *channel;
	uint64_t block_bytes;
	const struct remote_shared *told;
	const void *from;	 /* over a socket: what the next block holds; NULL: it itself */
	struct mirrors *mirrors; /* TCP: pinned memory that each side has */
	atomic_bool ended;	 /* over a socket: all that the daemon has said is here */
};

/* Finds the daemon of the folder. False after one line. */
bool connection_open(struct connection *c, const char *folder, const struct remote_shared *told);

/* This process's, which is connected. */
struct connection *client_connection(void);

/* Has the daemon ended? */
bool connection_is_lost(const struct connection *c);

/* The file of the layer, or a page of the process's own where there is none. */
struct remote_shared *connection_shared(const char *folder);

/* Pinned memory over TCP, which each side has; NULL: it is shared. With the client's lock. */
struct mirrors *client_mirrors(void);

/* Where the daemon is at the other end of a socket (socket.c): reads what it says, and sends it a
 * command and the block that belongs to it. False: that cannot be. */
bool socket_begin(struct connection *c);
/* What the daemon has asked for is done (hosts.c), with so many bytes of a copy. */
void socket_done(struct connection *c, uint32_t bytes);
bool socket_send(struct connection *c, const struct remote_command *command);

/* ---- handles (handles.c); with the lock --------------------------------------------------- */

enum handle_kind {
	HANDLE_STREAM,
	HANDLE_EVENT,
	HANDLE_GRAPH,
	HANDLE_EXEC,
	HANDLE_BLAS,
	HANDLE_KINDS
};

/* A new one; its number goes to the daemon. NULL: there are too many. */
void *handle_open(enum handle_kind kind, uint64_t *number);

/* False: it is none, or no longer. */
bool handle_number(enum handle_kind kind, const void *handle, uint64_t *number);
bool handle_close(enum handle_kind kind, const void *handle, uint64_t *number);

/* A word of the client's own that belongs to a live handle. */
uint64_t *handle_note(enum handle_kind kind, uint64_t number);

/* The word of a stream in a command. */
bool handle_stream(const void *stream, uint64_t *word);

/* Nodes of a live graph, by their places; NULL graph: none. */
void *handle_node(uint64_t graph, uint64_t node);
bool handle_node_numbers(const void *node, uint64_t *graph, uint64_t *place);

/* ---- memory (memory.c); with the lock ----------------------------------------------------- */

/* What the client has been given, and what it has registered. */
extern struct regions client_regions;

/* Keeps the addresses free here that are the device's. False: the program uses them. */
bool memory_claim(uint64_t base, uint64_t bytes);

/* ---- kernels (kernels.c); with the lock --------------------------------------------------- */

struct kernel {
	const void *function; /* NULL: it is no longer there */
	const char *name;
	uint32_t number, params, bytes;
	uint32_t shared_max; /* dynamic, a block, that a launch may ask for */
	bool has_attributes;
	uint8_t attributes[256]; /* cudaFuncAttributes */
	struct {
		int threads, blocks;
		size_t shared_bytes;
	} occupancy; /* the last that was asked for; threads 0: none */
	struct remote_param param[];
};

/* The kernel, made known to the daemon at its first use. NULL and *error: it is none. */
struct kernel *kernel_of(const void *function, int *error);

/* By the number; NULL: there is none. */
const struct kernel *kernel_numbered(uint64_t number);

/* Do not the device's limits speak against it? */
bool kernel_may_run(const struct kernel *k, struct cuda_dim grid, struct cuda_dim block,
		    uint64_t shared_bytes);

struct remote_shape kernel_shape(const struct kernel *k, struct cuda_dim grid,
				 struct cuda_dim block, uint64_t shared_bytes);

/* The arguments, as they lie in a command. */
void kernel_pack(const struct kernel *k, void **arguments, uint8_t *out);

/* How far into the program; false: it is not of the program, or not on the CPU device. */
bool kernel_offset(const void *address, uint64_t *offset);

/* The program has unloaded it. */
void kernel_forget(const void *function);

/* Are kernels functions of the program, as on the CPU device? */
bool kernels_are_functions(void);

/* ---- fat binaries (images.c); with the lock ----------------------------------------------- */

/*
 * The name of a kernel or a variable that nvcc's code has registered, and the image that it is in,
 * which the daemon then has. NULL: none is, and *error is 0; or the daemon cannot have it.
 */
const char *image_kernel(const void *function, uint64_t *where, int *error);
const char *image_variable(const void *symbol, uint64_t *where, int *error);

/* ---- copies (copies.c); with the lock ----------------------------------------------------- */

/* On a stream's word, or REMOTE_WAITS. */
int copy_bytes(void *dst, const void *src, size_t bytes, int kind, uint64_t where);

/* Whether the daemon has each side's memory. A CUDA error, where no such copy can be. */
int copy_judge(const struct remote_rows *rows, int kind, bool *dst_there, bool *src_there);

/* Captures that the program has begun and not ended. */
extern int client_captures;

/* Is the stream captured? Asks only where there are captures. */
int client_is_captured(uint64_t where, bool *captured);

/* ---- host functions (hosts.c); with the lock ---------------------------------------------- */

/* Has the program had any? Its own memory may then be written before a copy's turn comes. */
bool hosts_are_used(void);

/* Waits for what the stream has so far, though others may be captured, where host functions are
 * used. A CUDA error. */
int hosts_await(uint64_t where);

/* A captured copy between memory of the daemon's and of the program's, which is read and written
 * when the graph runs. */
int hosts_copy(const struct remote_rows *rows, bool to_device, uint64_t where);

/* A number for a graph's function, or for the rows of the program's that a graph copies.
 * UINT64_MAX: there are too many. Forgotten where it comes to no use. */
uint64_t hosts_enter_call(void (*function)(void *data), void *data);
uint64_t hosts_enter_copy(const struct remote_rows *rows, bool to_device);
void hosts_forget(uint64_t number);

/* ---- the program's CUDA ------------------------------------------------------------------- */

/* CUDA 12's has no edges among its parameters, and another name for the one that has. */
bool client_is_of_cuda_12(void);

/* The program has unloaded the variable. */
void variable_forget(const void *symbol);

#endif
