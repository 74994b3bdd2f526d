/* enter.h - `rift layer NAME [name=value...] -- COMMAND`: a process becomes a command under a
 * layer. */
#ifndef RIFT_PLATFORM_ENTER_H
#define RIFT_PLATFORM_ENTER_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/param.h"

struct layer; /* layers/layer.h */

/* Exit codes of `rift layer` itself, as env(1) has them; else they are COMMAND's. */
enum { LAYER_NOT_IN_FORCE = 125, LAYER_NOT_RUN = 126, LAYER_NOT_FOUND = 127 };

/* The layer of that name, or NULL after one line with the nearest. */
const struct layer *layer_find(const char *name);

/* A layer with its parameters: opts are this struct's, until layer_release(). */
struct layered {
	const struct layer *layer;
	struct params params;
	void *opts;
};

/* From words, NAME first. Returns 0, or -EINVAL after one line. */
int layer_parse(struct layered *l, char *const *words, int n);
void layer_release(struct layered *l);

/* Its parameters; PARAM_END alone where it has none. */
const struct param *layer_params(const struct layer *l);

/* Why it cannot be had here; NULL: it can. */
const char *layer_missing(const struct layer *l);

/*
 * Becomes the command, which ends with NULL, under the layer. Returns an exit code after one line
 * where it cannot. quiet: nothing is reported at the command's end. first: a library that sees the
 * command's calls before the layer does; NULL: none.
 */
int layer_enter(const struct layered *l, char **command, bool quiet, const char *first);

/* From a text of --layer. It points into *copy, which is to be freed behind it. */
int layer_parse_text(struct layered *l, const char *text, char **copy);

/*
 * The words of `--layer`, a text a layer and the outermost first, as the beginning of a shell
 * command that has rift as its first argument: "\"$1\" layer --quiet cpu 'share=50' --". *command
 * is to be freed. 0, or a negative errno after one line: a text that names no layer, a value that
 * is refused, a layer that cannot be had here (-ENODEV).
 */
int layer_command(char *const *texts, int n, char **command);

/* Is this a side's command that layer_command() has made? */
bool layer_is_command(const char *command);

/* Does one of these disturb what runs beside it? The texts are right. */
bool layer_texts_disturb(char *const *texts, int n);

/* Does one of these give a value that records hide, as a password? The texts are right. */
bool layer_texts_name_secret(char *const *texts, int n);

/* Becomes rift with these arguments, under these layers. Returns a negative errno after one line.
 */
int layer_become(char *const *texts, int n, char *const *argv);

#endif
