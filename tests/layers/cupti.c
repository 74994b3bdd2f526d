/*
 * cupti.c - a CUPTI that records what tests tell it to, in buffers of whoever has registered, for
 * tests of the layer profiler. A record is its kind and the size of one.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

/* As CUpti_ActivityKind has them. */
enum { MEMCPY = 1, MEMSET = 2, DRIVER = 4, RUNTIME = 5, CONCURRENT_KERNEL = 10, KINDS = 64 };
enum { RECORD_BYTES = 32, LIMIT_REACHED = 12, NOT_COMPATIBLE = 13, MANY = 1000 };

typedef void request_function(uint8_t **buffer, size_t *size, size_t *records_max);
typedef void complete_function(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid);

static request_function *request;
static complete_function *complete;
static int enabled[KINDS];
static uint8_t *buffer;
static size_t size, used, dropped;

/* ---- CUPTI's functions ------------------------------------------------------------------------
 */

SHOWN int cuptiActivityRegisterCallbacks(request_function *r, complete_function *c);
SHOWN int cuptiActivityEnable(int kind);
SHOWN int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, uint8_t **record);
SHOWN int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
SHOWN int cuptiActivityFlushAll(uint32_t flag);

int cuptiActivityRegisterCallbacks(request_function *r, complete_function *c)
{
	request = r;
	complete = c;
	return 0;
}

int cuptiActivityEnable(int kind)
{
	const char *refused = getenv("STUB_CUPTI_REFUSES");

	if (refused && atoi(refused) == kind)
		return NOT_COMPATIBLE;
	enabled[kind] = 1;
	return 0;
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, uint8_t **record)
{
	uint8_t *next = *record ? *record + RECORD_BYTES : from;

	if (next + RECORD_BYTES > from + valid)
		return LIMIT_REACHED;
	*record = next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	(void)context, (void)stream;
	*n = dropped;
	dropped = 0;
	return 0;
}

static void deliver(void)
{
	uint8_t *full = buffer;

	if (!full)
		return;
	buffer = NULL;
	complete(NULL, 0, full, size, used);
}

static void record(int kind)
{
	if (!enabled[kind])
		return;
	if (buffer && used + RECORD_BYTES > size)
		deliver();
	if (!buffer) {
		size_t most;

		request(&buffer, &size, &most);
		used = 0;
	}
	memset(buffer + used, 0, RECORD_BYTES);
	memcpy(buffer + used, &kind, sizeof(kind));
	used += RECORD_BYTES;
}

/* With STUB_CUPTI_BUSY a record of each kind comes meanwhile, as if the program had done so. */
int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	for (int kind = 0; getenv("STUB_CUPTI_BUSY") && kind < KINDS; kind++)
		record(kind);
	deliver();
	return 0;
}

/* ---- what a program does -----------------------------------------------------------------------
 */

SHOWN int stub_launch(void);
SHOWN int stub_copy(void);
SHOWN int stub_set(void);
SHOWN int stub_many(void);
SHOWN int stub_lose(void);

/* By the runtime, which calls the driver. */
static void call(int kind)
{
	record(RUNTIME);
	record(DRIVER);
	record(kind);
}

int stub_launch(void)
{
	call(CONCURRENT_KERNEL);
	return 0;
}

int stub_copy(void)
{
	call(MEMCPY);
	return 0;
}

int stub_set(void)
{
	call(MEMSET);
	return 0;
}

int stub_many(void)
{
	for (int i = 0; i < MANY; i++)
		call(CONCURRENT_KERNEL);
	return 0;
}

int stub_lose(void)
{
	dropped++;
	return 0;
}
