/* atlas_impl.h - what the files of an atlas share and nobody else needs. */
#ifndef RIFT_COMPARE_ATLAS_IMPL_H
#define RIFT_COMPARE_ATLAS_IMPL_H

#include "harness/compare/atlas.h"
#include "harness/compare/format.h"

/* What the point's configuration has on the axis of its workload; 0: there is none. */
double atlas_point_size(const struct plan *plan, int point);

/* Did some process of either side lack a call for it? */
bool atlas_is_unsupported(const struct atlas_entry *e, const struct pair *p);

/* nothing: what there is without a difference, 0 or 1. */
enum atlas_state atlas_state_of(const struct interval *i, double nothing);

/* Fills in e->cost, once the entry has been compared. */
void atlas_find_costs(struct atlas_entry *e);

/* ---- texts ------------------------------------------------------------------------------ */

/* Two cells in a line, so that an interval stands in 100 characters with its name. */
enum { ATLAS_COLUMNS = 2 };

/* "+5.02 us (4.97 to 5.10 us)"; "not resolved (-52.4 to 15.1 ns)"; signed: +. */
struct figure atlas_time_text(const struct interval *i, bool resolved, bool is_signed);

/* The same in bytes a second. */
struct figure atlas_rate_text(const struct interval *i, bool resolved, bool is_signed);

/* A row of a table, and the n of its cells: "-" where none has a figure. */
void atlas_print_cells(const char *name, const char *const text[ATLAS_COLUMNS], const char *n,
		       FILE *out);
struct text atlas_n_text(const int n[ATLAS_COLUMNS]);

/* "1.02", "8.4", "127"; a sign or words where there is no such figure. */
struct text atlas_program_text(const struct atlas_cell *cell);

/* "1k 6c": kernels, copies, allocations of a step on the base; "" where records do not say. */
struct text atlas_program_kind(const struct atlas *a, const struct workload *w);

/* The table of all rows and workloads, where there are several workloads. */
void atlas_print_programs(const struct atlas *a, FILE *out);

/* The table of costs, where there are any, and notes on the points that an entry has otherwise. */
void atlas_print_costs(const struct atlas *a, FILE *out);
void atlas_note_costs(const struct atlas *a, const struct atlas_entry *e, FILE *out);

/* An array of a session's costs, and of the base's own. New reference. */
json_t *atlas_costs_json(const struct atlas_entry *e);
json_t *atlas_base_costs_json(const struct atlas_entry *e);

/* {value, lo, hi, n}. New reference. */

#endif
