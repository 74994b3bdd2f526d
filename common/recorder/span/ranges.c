/*
 * ranges.c - NVTX ranges of the program, by name; see span.h.
 *
 * NVTX (version 3) is compiled into the program. At the program's first range it loads the library
 * that NVTX_INJECTION64_PATH names, and calls InitializeInjectionNvtx2() with a function that gives
 * tables of the program's own pointers: what is put there is called in place of NVTX's functions.
 * Numbers of tables and places in them are those of NVTX's nvtxTypes.h, a stable interface.
 */
#include "common/recorder/span/ranges.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__

#define SHOWN __attribute__((visibility("default")))

/* ---- NVTX's interface ------------------------------------------------------------------------ */

enum { CALLBACKS = 1, CORE = 1, CORE2 = 5 };
enum { PUSH_EX = 8, PUSH = 9, PUSH_WIDE = 10, POP = 11 };
enum { DOMAIN_PUSH_EX = 4, DOMAIN_POP = 5, DOMAIN_REGISTER = 10, DOMAIN_CREATE = 12 };
enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };

typedef void function(void);

struct callbacks {
	size_t size;
	int (*table_of)(int module, function ***table, unsigned *n);
};

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const char *message; /* or what DomainRegisterString returned: the text itself, here */
};

/* ---- what is under way on a thread -------------------------------------------------------------
 */

enum { DEPTH_MAX = 64 };

struct under_way {
	const void *domain;
	int range; /* -1: not counted */
	uint64_t begun;
};

static __thread struct under_way stack[DEPTH_MAX];
static __thread int depth;

static int find(const struct program_span *s, const char *name)
{
	uint32_t n = __atomic_load_n(&s->ranges, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (!strncmp(s->range[i].name, name, SPAN_NAME - 1))
			return (int)i;
	return -1;
}

/* Threads and processes may add at the same time. */
static int add(struct program_span *s, const char *name)
{
	int at, tries = 0;

	while (__atomic_exchange_n(&s->taken, 1, __ATOMIC_ACQUIRE))
		if (++tries > 1000000) /* whoever adds one was killed */
			return -1;
	at = find(s, name);
	if (at < 0 && s->ranges < SPAN_RANGES_MAX) {
		at = (int)s->ranges;
		strncpy(s->range[at].name, name, SPAN_NAME - 1);
		__atomic_store_n(&s->ranges, s->ranges + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
	return at;
}

static int begin(const void *domain, const char *name)
{
	bool named = name && *name;
	int range = named ? find(span_at, name) : -1;

	if (named && range < 0 && span_at->ranges < SPAN_RANGES_MAX)
		range = add(span_at, name);
	if (depth < DEPTH_MAX)
		stack[depth] = (struct under_way){ domain, range, span_ticks() };
	return depth++;
}

/* The innermost of that domain: ranges of others may have begun since. */
static int end(const void *domain)
{
	uint64_t now = span_ticks();
	int at = (depth < DEPTH_MAX ? depth : DEPTH_MAX) - 1;

	if (depth > DEPTH_MAX)
		return --depth;
	while (at >= 0 && stack[at].domain != domain)
		at--;
	if (at < 0)
		return -1;
	if (stack[at].range >= 0) {
		struct span_range *r = &span_at->range[stack[at].range];

		__atomic_fetch_add(&r->count, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&r->ticks, now - stack[at].begun, __ATOMIC_RELAXED);
	}
	memmove(&stack[at], &stack[at + 1], (size_t)(depth - at - 1) * sizeof(*stack));
	return --depth;
}

/* ---- in place of NVTX's functions --------------------------------------------------------------
 */

static const char *message_of(const struct attributes *a)
{
	bool has = a && (a->message_type == MESSAGE_ASCII || a->message_type == MESSAGE_REGISTERED);

	return has ? a->message : NULL;
}

static int push(const char *name)
{
	return begin(NULL, name);
}

static int push_ex(const struct attributes *a)
{
	return begin(NULL, message_of(a));
}

static int push_wide(const void *name)
{
	(void)name;
	return begin(NULL, NULL);
}

static int pop(void)
{
	return end(NULL);
}

static int domain_push_ex(const void *domain, const struct attributes *a)
{
	return begin(domain, message_of(a));
}

static int domain_pop(const void *domain)
{
	return end(domain);
}

/* What stands for the text is the text. */
static const char *domain_register(const void *domain, const char *text)
{
	(void)domain;
	return text ? strdup(text) : NULL;
}

/* Told from all others by its address. */
static const char *domain_create(const char *name)
{
	return strdup(name ? name : "");
}

/* ---- handed over ------------------------------------------------------------------------------
 */

struct place {
	unsigned at;
	function *is;
};

static void put(const struct callbacks *c, int module, const struct place *place, size_t places)
{
	function **table = NULL;
	unsigned n = 0;

	if (!c->table_of(module, (function ***)&table, &n) || !table)
		return;
	for (size_t i = 0; i < places; i++)
		if (place[i].at < n && table[place[i].at])
			*(function **)table[place[i].at] = place[i].is;
}

SHOWN int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));

/* 1: it is there. */
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
	const struct place core[] = { { PUSH_EX, (function *)push_ex },
				      { PUSH, (function *)push },
				      { PUSH_WIDE, (function *)push_wide },
				      { POP, (function *)pop } };
	const struct place core2[] = { { DOMAIN_PUSH_EX, (function *)domain_push_ex },
				       { DOMAIN_POP, (function *)domain_pop },
				       { DOMAIN_REGISTER, (function *)domain_register },
				       { DOMAIN_CREATE, (function *)domain_create } };
	const struct callbacks *c = export_table ? export_table(CALLBACKS) : NULL;

	if (!c || c->size < sizeof(*c) || !c->table_of)
		return 0;
	put(c, CORE, core, sizeof(core) / sizeof(*core));
	put(c, CORE2, core2, sizeof(core2) / sizeof(*core2));
	return 1;
}

#endif
