/* build.h - how this binary was built, and from what. */
#ifndef RIFT_PLATFORM_BUILD_H
#define RIFT_PLATFORM_BUILD_H

#include "harness/platform/fact.h"

struct build {
	struct fact git_commit, git_dirty; /* dirty: tracked files had been changed */
	struct fact compiler, flags, cuda_toolkit, archs, build_type;
};

void build_read(struct build *b);

/* {compiler, flags, cuda_toolkit, archs, build_type}. New reference. */
json_t *build_json(const struct build *b);

#endif
