/*
 * journal_view.h - some processes of one side of a session, as if they were a session of their own
 * with one side: what is written for a session then also serves for a half of it.
 */
#ifndef RIFT_SWEEP_JOURNAL_VIEW_H
#define RIFT_SWEEP_JOURNAL_VIEW_H

#include "harness/record/journal.h"

/*
 * process[k] of that side becomes process k of side a; n of them, all complete. Plan and header are
 * those of j, which must live as long; nothing can be written to a view.
 */
void journal_view(struct journal *out, const struct journal *j, int side, const int *process,
		  int n);

/* Not journal_release(): a view owns little of what it shows. */
void journal_view_release(struct journal *view);

#endif
