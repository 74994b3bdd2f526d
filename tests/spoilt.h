/*
 * spoilt.h - a record with texts of an attacker's in every field that may hold any text, and with
 * the hashes of its lines, so that readers take it.
 */
#ifndef RIFT_TESTS_SPOILT_H
#define RIFT_TESTS_SPOILT_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/json.h"
#include "harness/record/record.h"

/* Sets the member where it is there. */
static inline void spoil_member(json_t *o, const char *name, const char *evil)
{
	if (json_is_string(json_object_get(o, name)))
		json_object_set_new(o, name, json_string(evil));
}

static inline void spoil_header(json_t *o, const char *evil)
{
	json_t *gpu = json_object_get(o, "gpu"), *virt = json_object_get(o, "virt");
	char name[256];

	snprintf(name, sizeof(name), "GPU %s", evil);
	json_object_set_new(gpu, "name", json_string(name));
	json_object_set_new(gpu, "driver_version", json_string(evil));
	json_object_set_new(virt, "hypervisor", json_string(evil));
	json_object_set_new(virt, "declared_platform", json_string(evil));
	snprintf(name, sizeof(name), "CUDA_%s", evil);
	json_object_set_new(json_object_get(o, "env"), name, json_string(evil));
	json_object_set_new(o, "libraries",
			    json_pack("{s:[s], s:[]}", "loaded", evil, "interposers"));
	json_object_set_new(o, "start_utc", json_string(evil));
	json_object_set_new(o, "command", json_string(evil));
}

static inline void spoil_share(json_t *o, const char *evil)
{
	json_t *client;
	char device[256];
	size_t i;

	snprintf(device, sizeof(device), "GPU %s", evil);
	spoil_member(o, "device", device);
	spoil_member(o, "why", evil);
	spoil_member(o, "newcomer", evil);
	json_array_foreach(json_object_get(o, "clients"), i, client)
	{
		spoil_member(client, "lost", evil);
	}
}

/* The program and its sides, of a record of rift time. */
static inline void spoil_trial(json_t *o, const char *evil)
{
	json_t *plan = json_object_get(o, "plan"), *side;
	size_t i;

	for (i = 0; i < json_array_size(json_object_get(plan, "program")); i++)
		json_array_set_new(json_object_get(plan, "program"), i, json_string(evil));
	json_array_foreach(json_object_get(plan, "sides"), i, side)
	{
		spoil_member(side, "layer", evil);
		spoil_member(side, "against", evil);
	}
	spoil_member(o, "said", evil);
}

/* The program, and what kernels and ranges are called, of a trace. */
static inline void spoil_trace(json_t *o, const char *evil)
{
	json_t *program = json_object_get(o, "program");

	for (size_t i = 0; i < json_array_size(program); i++)
		json_array_set_new(program, i, json_string(evil));
	if (!strcmp(json_get_text(o, "record"), "string"))
		spoil_member(o, "text", evil);
}

/* session_id has a length of its own. */
static inline void spoil(json_t *o, const char *evil, const char *id)
{
	spoil_share(o, evil);
	if (json_object_get(o, "session_id"))
		json_object_set_new(o, "session_id", json_string(id));
	spoil_member(o, "argv", evil);
	spoil_member(o, "against", evil);
	if (json_object_get(o, "gpu"))
		spoil_header(o, evil);
	if (!strcmp(json_get_text(o, "record"), "time"))
		spoil_trial(o, evil);
	spoil_trace(o, evil);
}

/* The same record with each line changed, and with the hashes of its lines. */
static inline void changed_record(const char *from, const char *to,
				  void (*change)(json_t *o, const void *with), const void *with)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char hash_of_lines[HASH_TEXT], *line = NULL;
	struct hash all;
	size_t size = 0;

	hash_start(&all);
	while (getline(&line, &size, in) > 0) {
		json_t *o = json_loads(line, 0, NULL);
		char *text;

		change(o, with);
		hash_text(&all, hash_of_lines);
		if (json_object_get(o, "lines_sha256"))
			json_object_set_new(o, "lines_sha256", json_string(hash_of_lines));
		if (json_object_get(o, "crc32"))
			json_object_set_new(o, "crc32", json_integer(record_crc32(o)));
		text = json_dumps(o, JSON_COMPACT);
		fprintf(out, "%s\n", text);
		hash_add(&all, text, strlen(text));
		hash_add(&all, "\n", 1);
		free(text);
		json_decref(o);
	}
	free(line);
	fclose(in);
	fclose(out);
}

struct spoilt_with {
	const char *evil, *id;
};

static inline void spoil_line(json_t *o, const void *with)
{
	const struct spoilt_with *w = with;

	spoil(o, w->evil, w->id);
}

static inline void spoilt_record(const char *from, const char *to, const char *evil, const char *id)
{
	changed_record(from, to, spoil_line, &(struct spoilt_with){ evil, id });
}

#endif
