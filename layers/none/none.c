/* none.c - runs the command: a session of two equal sides through the path of a layer. */
#include "layers/layer.h"

static const struct param params[] = { PARAM_END };

const struct layer layer_none = {
	.name = "none",
	.summary = "runs the command and adds nothing: both sides of a comparison are the same",
	.params = params,
};
