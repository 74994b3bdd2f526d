/* in_force.h - the layers that this process runs under, by RIFT_LAYERS, and whether they are in
 * force. */
#ifndef RIFT_PLATFORM_IN_FORCE_H
#define RIFT_PLATFORM_IN_FORCE_H

#include <jansson.h>

#include "harness/platform/enter.h"

/* The variable that a layer adds itself to: a JSON array, the outermost first. */
#define LAYERS_VARIABLE "RIFT_LAYERS"

/* What stands in place of a value that names a secret. */
#define LAYER_HIDDEN "(hidden)"

/* {name, label, version, params}: one entry of the variable. New reference. */
json_t *layer_entry_json(const struct layered *l);

/* The entries of the variable, as they are; empty where there are none. New reference. */
json_t *layers_entered(void);

/*
 * The entries of the variable, each with in_force (true, false, or null where nothing can be seen)
 * and detail. Empty where there are none. Needs an open device. New reference.
 */
json_t *layers_in_force(void);

/* 0; or -ENODEV after one line for the first of layers_in_force() that is not in force. */
int layers_refuse(const json_t *layers);

/* Room for what tables show of layers. */
enum { LAYERS_TEXT = 240 };

/* What each had to say, {name, detail}, of those that said something; NULL: none did. New
 * reference. */
json_t *layers_details(const json_t *all);

/* "cpu share=50 (real) > shim (real)": as tables show them; "" for none. */
void layers_text(const json_t *layers, char *out, size_t size);

/* The same where there is little room: "preload lib=libvgpu.so
 * set=CUDA_DEVICE_MEMORY_LIMIT=64g...". */
void layers_text_short(const json_t *layers, char *out, size_t size);

#endif
