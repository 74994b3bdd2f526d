/*
 * copies.c - copies and sets of memory. Between memory that the daemon has, a copy is one command.
 * Other memory of the program's goes by blocks of shared memory: one is filled while the daemon
 * empties the other.
 */
#include <string.h>

#include "layers/remote/preload/client.h"

SHOWN int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind);
SHOWN int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, void *stream);
SHOWN int cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
		       size_t height, int kind);
SHOWN int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
			    size_t width, size_t height, int kind, void *stream);
SHOWN int cudaMemset(void *dst, int value, size_t bytes);
SHOWN int cudaMemsetAsync(void *dst, int value, size_t bytes, void *stream);
SHOWN int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
			     int kind);
SHOWN int cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset,
				  int kind, void *stream);
SHOWN int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
			       int kind);
SHOWN int cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset,
				    int kind, void *stream);
SHOWN int cudaGetSymbolAddress(void **address, const void *symbol);
SHOWN int cudaGetSymbolSize(size_t *bytes, const void *symbol);

/* ---- pieces: rows, or a part of one row, that fit into a block ---------------------------- */

struct piece {
	uint64_t dst, src, width, height;
	bool last;
};

/* From row `row` and byte `at` of it on, which move along. False: that was all. */
static bool next_piece(const struct remote_rows *all, uint64_t *row, uint64_t *at, struct piece *p)
{
	const uint64_t room = client_block_bytes();

	if (*row == all->height)
		return false;
	p->dst = all->dst + *row * all->dst_pitch + *at;
	p->src = all->src + *row * all->src_pitch + *at;
	p->height = 1;
	if (all->width > room) {
		uint64_t left = all->width - *at;

		p->width = left < room ? left : room;
		*at += p->width;
		*row += *at == all->width;
		*at %= all->width;
	} else {
		uint64_t fit = room / all->width, left = all->height - *row;

		p->width = all->width;
		p->height = left < fit ? left : fit;
		*row += p->height;
	}
	p->last = *row == all->height;
	return true;
}

static void pack_rows(uint8_t *out, const uint8_t *from, uint64_t pitch, const struct piece *p)
{
	for (uint64_t i = 0; i < p->height; i++)
		memcpy(out + i * p->width, from + i * pitch, p->width);
}

static void unpack_rows(uint8_t *to, uint64_t pitch, const uint8_t *in, const struct piece *p)
{
	for (uint64_t i = 0; i < p->height; i++)
		memcpy(to + i * pitch, in + i * p->width, p->width);
}

/* ---- to memory that the daemon has -------------------------------------------------------- */

static int send_inline(const struct remote_rows *rows, uint64_t where)
{
	uint8_t *data =
		client_begin(REMOTE_COPY_INLINE, WORDS(rows->dst, where), (uint32_t)rows->width);

	memcpy(data, (const void *)(uintptr_t)rows->src, rows->width);
	return where == REMOTE_WAITS ? client_ask_now(NULL, 0, false) : client_send();
}

static int stage_in(const struct remote_rows *rows, uint64_t where)
{
	uint64_t row = 0, at = 0;
	struct piece p;
	int error = 0;

	if (rows->height == 1 && rows->width <= REMOTE_INLINE_BYTES)
		return send_inline(rows, where);
	for (unsigned i = 0; !error && next_piece(rows, &row, &at, &p); i++) {
		unsigned block = i % REMOTE_BLOCKS;

		uint8_t *room = client_take_block(block);
		const uint8_t *from = (const uint8_t *)(uintptr_t)p.src;

		if (p.height > 1 || !client_sends_from(from))
			pack_rows(room, from, rows->src_pitch, &p);
		client_begin(REMOTE_COPY_IN,
			     WORDS(p.dst, p.height == 1 ? p.width : rows->dst_pitch, p.width,
				   p.height | (uint64_t)block << 32, where),
			     0);
		error = p.last && where == REMOTE_WAITS ? client_ask_now(NULL, 0, true)
							: client_send();
		client_block_is_read(block);
	}
	return error;
}

/* ---- from memory that the daemon has: the data is there when the call returns ------------- */

static int send_out(const struct piece *p, const struct remote_rows *rows, unsigned block,
		    uint64_t where, bool ask)
{
	client_begin(REMOTE_COPY_OUT,
		     WORDS(p->src, p->height == 1 ? p->width : rows->src_pitch, p->width,
			   p->height | (uint64_t)block << 32, where),
		     0);
	return ask ? client_ask_now(NULL, 0, true) : client_send();
}

/*
 * Whether it may be is known after the first piece; the daemon then fills one block while the other
 * is emptied here. The lock is held throughout, as the blocks are all threads'.
 */
static int stage_out(const struct remote_rows *rows, uint64_t where)
{
	struct piece p[REMOTE_BLOCKS];
	uint64_t row = 0, at = 0, until[REMOTE_BLOCKS] = { 0 };
	int error = 0;
	unsigned n = 0;

	while (!error && next_piece(rows, &row, &at, &p[n % REMOTE_BLOCKS])) {
		const struct piece *now = &p[n % REMOTE_BLOCKS],
				   *before = &p[(n + 1) % REMOTE_BLOCKS];

		error = send_out(now, rows, n % REMOTE_BLOCKS, where, !n || now->last);
		until[n % REMOTE_BLOCKS] = client_position();
		if (!error && n) {
			client_await_position(until[(n + 1) % REMOTE_BLOCKS]);
			unpack_rows((uint8_t *)(uintptr_t)before->dst, rows->dst_pitch,
				    client_block_out((n + 1) % REMOTE_BLOCKS), before);
		}
		n++;
	}
	if (!error && n) {
		const struct piece *last = &p[(n - 1) % REMOTE_BLOCKS];

		unpack_rows((uint8_t *)(uintptr_t)last->dst, rows->dst_pitch,
			    client_block_out((n - 1) % REMOTE_BLOCKS), last);
	}
	return error;
}

/* ---- any copy ----------------------------------------------------------------------------- */

/* Does the daemon have the memory at this address? */
static bool is_there(uint64_t address)
{
	const struct region *r = regions_find(&client_regions, address);

	return r && r->kind != REGION_REGISTERED && r->kind != REGION_STAGED;
}

/* Both in the program's own memory: after what was submitted before. */
static int copy_here(const struct remote_rows *rows, uint64_t where)
{
	int error =
		client_ask(REMOTE_STREAM_WAIT, WORDS(where == REMOTE_WAITS ? 0 : where), NULL, 0);

	for (uint64_t i = 0; !error && i < rows->height; i++)
		memmove((uint8_t *)(uintptr_t)rows->dst + i * rows->dst_pitch,
			(const uint8_t *)(uintptr_t)rows->src + i * rows->src_pitch, rows->width);
	return error;
}

static bool holds(uint64_t base, uint64_t pitch, const struct remote_rows *rows)
{
	return regions_hold(&client_regions, base, rows_extent(rows->height, pitch, rows->width)) !=
	       NULL;
}

static int copy_there(const struct remote_rows *rows, int kind, uint64_t where)
{
	bool promising = where != REMOTE_WAITS && holds(rows->dst, rows->dst_pitch, rows) &&
			 holds(rows->src, rows->src_pitch, rows);

	return client_ahead_if(promising, REMOTE_COPY,
			       WORDS(rows->dst, rows->dst_pitch, rows->src, rows->src_pitch,
				     rows->width, rows->height, (uint64_t)kind, where));
}

/* A graph reads and writes the program's memory when it runs. */
static int capture_copy(const struct remote_rows *rows, bool dst_there, bool src_there,
			uint64_t where)
{
	return dst_there || src_there ? hosts_copy(rows, dst_there, where)
				      : client_refuse("captures of copies within the program's "
						      "own memory");
}

/* While captures are under way, not by CUDA's own wait, which would end them. */
static int await_stream(uint64_t where)
{
	where = where == REMOTE_WAITS ? 0 : where;
	return client_captures ? hosts_await(where)
			       : client_ask(REMOTE_STREAM_WAIT, WORDS(where), NULL, 0);
}

/* A host function before it may write the memory: CUDA reads it when the copy's turn comes, but
 * for asynchronous copies from memory that nobody has pinned. */
static int await_hosts(uint64_t src, uint64_t where)
{
	if (!hosts_are_used() || (where != REMOTE_WAITS && !regions_find(&client_regions, src)))
		return 0;
	return await_stream(where);
}

int copy_judge(const struct remote_rows *rows, int kind, bool *dst_there, bool *src_there)
{
	bool to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE;
	bool from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;

	*dst_there = is_there(rows->dst);
	*src_there = is_there(rows->src);
	if (kind < HOST_TO_HOST || kind > ANY_WAY)
		return CUDA_INVALID_DIRECTION;
	if ((to_device && !*dst_there) || (from_device && !*src_there) || !rows->dst || !rows->src)
		return CUDA_INVALID_VALUE;
	/* nothing of the program's is touched for a copy that would be refused */
	if (*dst_there != *src_there && ((*dst_there && !holds(rows->dst, rows->dst_pitch, rows)) ||
					 (*src_there && !holds(rows->src, rows->src_pitch, rows))))
		return CUDA_INVALID_VALUE;
	return 0;
}

static int copy(const struct remote_rows *rows, int kind, uint64_t where)
{
	bool dst_there, src_there, captured = false;
	int error = copy_judge(rows, kind, &dst_there, &src_there);

	if (!rows->width || !rows->height)
		return 0;
	if (error)
		return error;
	if (dst_there && src_there)
		return copy_there(rows, kind, where);
	error = where == REMOTE_WAITS ? 0 : client_is_captured(where, &captured);
	if (error || captured)
		return error ? error : capture_copy(rows, dst_there, src_there, where);
	if (dst_there) {
		error = await_hosts(rows->src, where);
		return error ? error : stage_in(rows, where);
	}
	if (!src_there)
		return copy_here(rows, where);
	/* a host function before it may wait for another thread, which needs the lock */
	error = hosts_are_used() ? await_stream(where) : 0;
	return error ? error : stage_out(rows, where);
}

int copy_bytes(void *dst, const void *src, size_t bytes, int kind, uint64_t where)
{
	const struct remote_rows rows = {
		(uint64_t)(uintptr_t)dst, bytes, (uint64_t)(uintptr_t)src, bytes, bytes, 1,
	};

	return copy(&rows, kind, where);
}

int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind)
{
	int error = client_enter();

	return error ? error : client_leave(copy_bytes(dst, src, bytes, kind, REMOTE_WAITS));
}

int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, void *stream)
{
	int error = client_enter();
	uint64_t where;

	if (error)
		return error;
	return client_leave(handle_stream(stream, &where) ? copy_bytes(dst, src, bytes, kind, where)
							  : CUDA_INVALID_HANDLE);
}

static int copy_2d(const struct remote_rows *rows, int kind, uint64_t where)
{
	return rows->width > rows->dst_pitch || rows->width > rows->src_pitch
		       ? CUDA_INVALID_PITCH
		       : copy(rows, kind, where);
}

int cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
		 size_t height, int kind)
{
	const struct remote_rows rows = { (uint64_t)(uintptr_t)dst,
					  dst_pitch,
					  (uint64_t)(uintptr_t)src,
					  src_pitch,
					  width,
					  height };
	int error = client_enter();

	return error ? error : client_leave(copy_2d(&rows, kind, REMOTE_WAITS));
}

int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
		      size_t height, int kind, void *stream)
{
	const struct remote_rows rows = { (uint64_t)(uintptr_t)dst,
					  dst_pitch,
					  (uint64_t)(uintptr_t)src,
					  src_pitch,
					  width,
					  height };
	int error = client_enter();
	uint64_t where;

	if (error)
		return error;
	return client_leave(handle_stream(stream, &where) ? copy_2d(&rows, kind, where)
							  : CUDA_INVALID_HANDLE);
}

/* ---- sets --------------------------------------------------------------------------------- */

static int set(void *dst, int value, size_t bytes, uint64_t where)
{
	const struct region *piece = regions_hold(&client_regions, (uint64_t)(uintptr_t)dst, bytes);

	return client_ahead_if(
		piece && piece->kind == REGION_DEVICE, REMOTE_SET,
		WORDS((uint64_t)(uintptr_t)dst, (uint64_t)(unsigned)value, bytes, where));
}

/* CUDA does not wait for it either, where the memory is the device's. */
int cudaMemset(void *dst, int value, size_t bytes)
{
	int error = client_enter();

	return error ? error : client_leave(set(dst, value, bytes, 0));
}

int cudaMemsetAsync(void *dst, int value, size_t bytes, void *stream)
{
	int error = client_enter();
	uint64_t where;

	if (error)
		return error;
	return client_leave(handle_stream(stream, &where) ? set(dst, value, bytes, where)
							  : CUDA_INVALID_HANDLE);
}

/* ---- variables of the device: addresses that the daemon is asked for once ----------------- */

struct variable {
	const void *symbol;
	uint64_t address, bytes;
};

static struct variable variables[REMOTE_SYMBOLS];
static size_t n_variables;

void variable_forget(const void *symbol)
{
	for (size_t i = 0; i < n_variables; i++)
		if (variables[i].symbol == symbol)
			variables[i].symbol = NULL;
}

static int enter_variable(struct variable *v)
{
	struct region piece = { v->address, v->bytes, REGION_SYMBOL };

	if (!memory_claim(piece.base, piece.bytes))
		return client_refuse("variables of the device at addresses that the program uses");
	if (n_variables == REMOTE_SYMBOLS)
		return client_refuse("more than 1024 variables of the device");
	/* one that was unloaded and is loaded again may be where it was */
	if (!regions_hold(&client_regions, piece.base, piece.bytes) &&
	    !regions_add(&client_regions, piece))
		return CUDA_NO_MEMORY;
	variables[n_variables++] = *v;
	return 0;
}

static int find_variable(const void *symbol, struct variable *out)
{
	uint64_t where, answer[2];
	const char *name;
	size_t bytes;
	int error;

	for (size_t i = 0; symbol && i < n_variables; i++)
		if (variables[i].symbol == symbol) {
			*out = variables[i];
			return 0;
		}
	name = image_variable(symbol, &where, &error);
	if (!name && (error || !kernel_offset(symbol, &where)))
		return error ? error : CUDA_INVALID_SYMBOL;
	name = name ? name : "";
	bytes = strlen(name) + 1;
	if (bytes > REMOTE_NAME_BYTES)
		return client_refuse("names of more than 16 KiB");
	memcpy(client_begin(REMOTE_SYMBOL, WORDS(where), (uint32_t)bytes), name, bytes);
	error = client_ask_now(answer, sizeof(answer), true);
	if (error)
		return error;
	*out = (struct variable){ symbol, answer[0], answer[1] };
	return enter_variable(out);
}

/* The address of a part of the variable, where the direction is one. */
static int part_of(const void *symbol, size_t bytes, size_t offset, int kind, int with_host,
		   void **address)
{
	struct variable v;
	int error = find_variable(symbol, &v);

	if (error)
		return error;
	if (kind != with_host && kind != DEVICE_TO_DEVICE && kind != ANY_WAY)
		return CUDA_INVALID_DIRECTION;
	if (offset > v.bytes || bytes > v.bytes - offset)
		return CUDA_INVALID_VALUE;
	*address = (void *)(uintptr_t)(v.address + offset);
	return 0;
}

static int to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
		     uint64_t where)
{
	void *dst;
	int error = part_of(symbol, bytes, offset, kind, HOST_TO_DEVICE, &dst);

	return error ? error : copy_bytes(dst, src, bytes, kind, where);
}

static int from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
		       uint64_t where)
{
	void *src;
	int error = part_of(symbol, bytes, offset, kind, DEVICE_TO_HOST, &src);

	return error ? error : copy_bytes(dst, src, bytes, kind, where);
}

int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind)
{
	int error = client_enter();

	return error ? error
		     : client_leave(to_symbol(symbol, src, bytes, offset, kind, REMOTE_WAITS));
}

int cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset,
			    int kind, void *stream)
{
	int error = client_enter();
	uint64_t where;

	if (error)
		return error;
	return client_leave(handle_stream(stream, &where)
				    ? to_symbol(symbol, src, bytes, offset, kind, where)
				    : CUDA_INVALID_HANDLE);
}

int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind)
{
	int error = client_enter();

	return error ? error
		     : client_leave(from_symbol(dst, symbol, bytes, offset, kind, REMOTE_WAITS));
}

int cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
			      void *stream)
{
	int error = client_enter();
	uint64_t where;

	if (error)
		return error;
	return client_leave(handle_stream(stream, &where)
				    ? from_symbol(dst, symbol, bytes, offset, kind, where)
				    : CUDA_INVALID_HANDLE);
}

/* wanted: there is a place for what is asked. */
static int ask_variable(bool wanted, const void *symbol, struct variable *v)
{
	int error = wanted ? client_enter() : client_result(CUDA_INVALID_VALUE);

	return error ? error : client_leave(find_variable(symbol, v));
}

int cudaGetSymbolAddress(void **address, const void *symbol)
{
	struct variable v = { 0 };
	int error = ask_variable(address, symbol, &v);

	if (!error)
		*address = (void *)(uintptr_t)v.address;
	return error;
}

int cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	struct variable v = { 0 };
	int error = ask_variable(bytes, symbol, &v);

	if (!error)
		*bytes = v.bytes;
	return error;
}
