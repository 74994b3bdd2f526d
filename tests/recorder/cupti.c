/*
 * cupti.c - a CUPTI that delivers the records that a test has prepared, for tests of the recorder's
 * library. All records take as much room.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/recorder/cupti/abi.h"

#define SHOWN __attribute__((visibility("default")))

enum { RECORD_BYTES = 256, KINDS = 64, REFUSED = 15 };

static cupti_request *request;
static cupti_complete *complete;
static int enabled[KINDS], has_clock;
static uint8_t *buffer;
static size_t room, used, dropped;

SHOWN int cuptiGetVersion(uint32_t *version);
SHOWN int cuptiActivityRegisterCallbacks(cupti_request *r, cupti_complete *c);
SHOWN int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void));
SHOWN int cuptiActivityEnable(uint32_t kind);
SHOWN int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
SHOWN int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
SHOWN int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, struct cupti_record **record);
SHOWN int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
SHOWN int cuptiActivityFlushAll(uint32_t flag);
SHOWN int cuptiGetResultString(int result, const char **text);
SHOWN int cuptiFinalize(void);
SHOWN void stub_add(const void *record, size_t bytes);
SHOWN void stub_deliver(void);
SHOWN void stub_lose(size_t n);
SHOWN int stub_calls(void);

static int n_calls;

static int setting(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

int cuptiGetVersion(uint32_t *version)
{
	*version = setting("STUB_CUPTI_VERSION") ? (uint32_t)setting("STUB_CUPTI_VERSION") : 130001;
	return 0;
}

int cuptiActivityRegisterCallbacks(cupti_request *r, cupti_complete *c)
{
	request = r;
	complete = c;
	return 0;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void))
{
	has_clock = now != NULL;
	return 0;
}

/* The clock must have been set before. */
int cuptiActivityEnable(uint32_t kind)
{
	if (setting("STUB_CUPTI_REFUSES") == (int)kind)
		return setting("STUB_CUPTI_WHY") ? setting("STUB_CUPTI_WHY") : REFUSED;
	enabled[kind % KINDS] = has_clock;
	return 0;
}

int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	(void)cbid;
	n_calls += enable;
	return 0;
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	return cuptiActivityEnableRuntimeApi(cbid, enable);
}

int stub_calls(void)
{
	return n_calls;
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, struct cupti_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + RECORD_BYTES : from;

	if (next + RECORD_BYTES > from + valid)
		return CUPTI_NO_MORE;
	*record = (struct cupti_record *)next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	(void)context, (void)stream;
	*n = dropped;
	dropped = 0;
	return 0;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == REFUSED ? "NOT_COMPATIBLE" : "OTHER";
	return 0;
}

int cuptiFinalize(void)
{
	return 0;
}

void stub_deliver(void)
{
	uint8_t *full = buffer;

	buffer = NULL;
	if (full)
		complete(NULL, 0, full, room, used);
}

/* What is in hand comes only then, as CUPTI's does. */
int cuptiActivityFlushAll(uint32_t flag)
{
	if (flag & CUPTI_FLUSH_FORCED)
		stub_deliver();
	return 0;
}

void stub_lose(size_t n)
{
	dropped = n;
}

void stub_add(const void *record, size_t bytes)
{
	size_t records_max;
	uint32_t kind;

	memcpy(&kind, record, sizeof(kind));
	if (kind != CUPTI_RUNTIME && kind != CUPTI_DRIVER && !enabled[kind % KINDS])
		return;
	if (buffer && used + RECORD_BYTES > room)
		stub_deliver();
	if (!buffer) {
		request(&buffer, &room, &records_max);
		used = 0;
	}
	memset(buffer + used, 0, RECORD_BYTES);
	memcpy(buffer + used, record, bytes);
	used += RECORD_BYTES;
}
