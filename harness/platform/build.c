/* build.c - how this binary was built; build_info.h is made by tools/build_info.sh. */
#include "harness/platform/build.h"

#include <cuda_runtime_api.h>

#include "build_info.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static struct fact toolkit(void)
{
#ifdef RIFT_CPU_DEVICE
	return fact_unknown("built for the CPU device");
#else
	return fact_cuda_version(CUDART_VERSION);
#endif
}

static struct fact text_or(const char *text, const char *why)
{
	return *text ? fact_text("%s", text) : fact_unknown("%s", why);
}

void build_read(struct build *b)
{
	*b = (struct build){
		.git_commit = text_or(BUILD_COMMIT, "not built in a git checkout"),
		.compiler = fact_text(COMPILER),
		.flags = text_or(BUILD_FLAGS, "none"),
		.cuda_toolkit = toolkit(),
		.archs = text_or(BUILD_ARCHS, "built for the CPU device"),
		.build_type = fact_text(BUILD_TYPE),
	};
	b->git_dirty = fact_known(&b->git_commit) ? fact_bool(BUILD_DIRTY) : b->git_commit;
}

#define ROW(name)                                                                                  \
	{                                                                                          \
#name, offsetof(struct build, name)                                                \
	}

json_t *build_json(const struct build *b)
{
	static const struct fact_row rows[] = { ROW(compiler), ROW(flags),	ROW(cuda_toolkit),
						ROW(archs),    ROW(build_type), { 0 } };

	return facts_json(rows, b);
}
