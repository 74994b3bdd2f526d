/* stack_sources.h - what time stacks have besides the session itself: --from and --costs. */
#ifndef RIFT_PROBE_STACK_SOURCES_H
#define RIFT_PROBE_STACK_SOURCES_H

#include <jansson.h>

#include "harness/fit/copies.h"
#include "harness/fit/source.h"
#include "harness/fit/stack.h"

/* ---- what copies cost, as a costs file has it --------------------------------------- */

/*
 * A call is one of 64 in a row before a synchronize; a byte is by the rates, of large copies and of
 * those below the knee (workloads/transfer/README.md). What the costs file lacks is NaN.
 */
void costs_copies(struct copy_costs *out, const json_t *costs);

/*
 * The same to compare platforms by (harness/fit/copies.h). A large copy is 4 MiB at the rate. Rows
 * of pageable memory have none in a row: there the call is the pace.
 */
void costs_copy_paces(struct copy_paces *out, const json_t *costs);

/* ---- what time stacks have besides the session itself: --from and --costs ---------------- */

struct stack_sources {
	struct source launches;
	struct copy_costs copies;
	/* for struct stack_request; NULL: not given */
	const struct fit *from;
	const struct copy_costs *costs;
};

/*
 * from: FILE, FILE:a or FILE:b (session_arg in recorded.h); costs file: a path; or NULL. They are
 * of one platform: refused where it is not one side, SIDE_ANY, that they are to be held against,
 * and where they are of another device than that side of j (-EXDEV). Returns 0, or a negative errno
 * after one line. *out is zeroed before and must stay where it is; it may be released after a
 * failure.
 */
int stack_sources_read(struct stack_sources *out, const char *from, const char *costs,
		       const char *sync, const struct journal *j, int side);
void stack_sources_release(struct stack_sources *s);

#endif
