/* inputs.c - reads initial_state.csv and parameters.csv; see inputs.h. */
#include "workloads/myocyte/inputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "common/csv.h"

enum { FIRST_ROW_LINE = 2 }; /* line 1 is the header */

struct quantity {
	const char *symbol, *unit;
};

static const struct quantity states[MYOCYTE_STATES] = {
	/* clang-format off */
	{ "m", "1" }, { "h", "1" }, { "j", "1" }, { "d", "1" }, { "f", "1" }, { "fCaB_j", "1" },
	{ "fCaB_sl", "1" }, { "x_tos", "1" }, { "y_tos", "1" }, { "x_tof", "1" },
	{ "y_tof", "1" }, { "x_Kr", "1" }, { "x_Ks", "1" }, { "RyR_R", "1" }, { "RyR_O", "1" },
	{ "RyR_I", "1" }, { "NaB_j", "mM" }, { "NaB_sl", "mM" }, { "TnCL", "mM" },
	{ "TnCHc", "mM" }, { "TnCHm", "mM" }, { "CaM_ecc", "mM" }, { "Myoc", "mM" },
	{ "Myom", "mM" }, { "SRB", "mM" }, { "SLLj", "mM" }, { "SLLsl", "mM" }, { "SLHj", "mM" },
	{ "SLHsl", "mM" }, { "Csqnb", "mM" }, { "Ca_SR", "mM" }, { "Na_j", "mM" },
	{ "Na_sl", "mM" }, { "Na_i", "mM" }, { "K_i", "mM" }, { "Ca_j", "mM" },
	{ "Ca_sl", "mM" }, { "Ca_i", "mM" }, { "V", "mV" }, { "r_tos", "1" }, { "spare40", "-" },
	{ "spare41", "-" }, { "Q_CaL", "uM (cytosol)" }, { "Q_pCa", "uM (cytosol)" },
	{ "Q_NCX", "uM (cytosol)" }, { "Q_Cab", "uM (cytosol)" }, { "CaM_dy", "uM" },
	{ "Ca2CaM_dy", "uM" }, { "Ca4CaM_dy", "uM" }, { "CaMB_dy", "uM" },
	{ "Ca2CaMB_dy", "uM" }, { "Ca4CaMB_dy", "uM" }, { "Pb2_dy", "1" }, { "Pb_dy", "1" },
	{ "Pt_dy", "1" }, { "Pt2_dy", "1" }, { "Pa_dy", "1" }, { "Ca4CaN_dy", "uM" },
	{ "CaMCa4CaN_dy", "uM" }, { "Ca2CaMCa4CaN_dy", "uM" }, { "Ca4CaMCa4CaN_dy", "uM" },
	{ "CaM_sl", "uM" }, { "Ca2CaM_sl", "uM" }, { "Ca4CaM_sl", "uM" }, { "CaMB_sl", "uM" },
	{ "Ca2CaMB_sl", "uM" }, { "Ca4CaMB_sl", "uM" }, { "Pb2_sl", "1" }, { "Pb_sl", "1" },
	{ "Pt_sl", "1" }, { "Pt2_sl", "1" }, { "Pa_sl", "1" }, { "Ca4CaN_sl", "uM" },
	{ "CaMCa4CaN_sl", "uM" }, { "Ca2CaMCa4CaN_sl", "uM" }, { "Ca4CaMCa4CaN_sl", "uM" },
	{ "CaM_cy", "uM" }, { "Ca2CaM_cy", "uM" }, { "Ca4CaM_cy", "uM" }, { "CaMB_cy", "uM" },
	{ "Ca2CaMB_cy", "uM" }, { "Ca4CaMB_cy", "uM" }, { "Pb2_cy", "1" }, { "Pb_cy", "1" },
	{ "Pt_cy", "1" }, { "Pt2_cy", "1" }, { "Pa_cy", "1" }, { "Ca4CaN_cy", "uM" },
	{ "CaMCa4CaN_cy", "uM" }, { "Ca2CaMCa4CaN_cy", "uM" }, { "Ca4CaMCa4CaN_cy", "uM" },
	/* clang-format on */
};

static const struct quantity parameters[MYOCYTE_PARAMS] = {
	/* clang-format off */
	{ "T_cycle", "ms" }, { "CaMtot_dy", "uM" }, { "Btot_dy", "uM" },
	{ "CaMKIItot_dy", "uM" }, { "CaNtot_dy", "uM" }, { "PP1tot_dy", "uM" },
	{ "CaMtot_sl", "uM" }, { "Btot_sl", "uM" }, { "CaMKIItot_sl", "uM" },
	{ "CaNtot_sl", "uM" }, { "PP1tot_sl", "uM" }, { "CaMtot_cy", "uM" }, { "Btot_cy", "uM" },
	{ "CaMKIItot_cy", "uM" }, { "CaNtot_cy", "uM" }, { "PP1tot_cy", "uM" },
	/* clang-format on */
};

/* The cell must hold exactly this: the numbers mean something in this order and unit only. */
static int must_be(const struct csv *csv, int row, const char *column, const char *want)
{
	const char *found = csv_text(csv, row, csv_find(csv, column));

	if (!strcmp(found, want))
		return 0;
	return complain(EINVAL, "%s:%d: %s=%.40s, must be %s", csv->path, row + FIRST_ROW_LINE,
			column, found, want);
}

static int read_row(const struct csv *csv, int row, const struct quantity *q, double *value)
{
	char index[16];
	int err;

	snprintf(index, sizeof(index), "%d", row);
	err = must_be(csv, row, "index", index);
	if (!err)
		err = must_be(csv, row, "symbol", q->symbol);
	if (!err)
		err = must_be(csv, row, "unit", q->unit);
	return err ? err : csv_number(csv, row, csv_find(csv, "value"), value);
}

static int check_columns(const struct csv *csv)
{
	static const char *const columns[] = { "index", "symbol", "unit", "value", NULL };

	for (int i = 0; columns[i]; i++)
		if (csv_column(csv, columns[i]) < 0)
			return -EINVAL;
	return csv_known_columns(csv, columns);
}

static int read_rows(const struct csv *csv, int n, const struct quantity *q, double *value)
{
	int err = check_columns(csv);

	for (int row = 0; !err && row < n; row++) {
		if (row == csv->rows)
			return complain(EINVAL, "%s:%d: ends before %s: give all %d rows",
					csv->path, row + FIRST_ROW_LINE, q[row].symbol, n);
		err = read_row(csv, row, &q[row], &value[row]);
	}
	if (!err && csv->rows > n)
		return complain(EINVAL, "%s:%d: %ld rows: give %d, the last is %s", csv->path,
				n + FIRST_ROW_LINE, (long)csv->rows, n, q[n - 1].symbol);
	return err;
}

static int read_quantities(const char *path, int n, const struct quantity *q, double *value)
{
	struct csv csv;
	int err = csv_read(path, &csv);

	if (err)
		return err;
	err = csv_must_end(&csv);
	if (!err)
		err = read_rows(&csv, n, q, value);
	csv_free(&csv);
	return err;
}

int myocyte_read_initial_state(const char *path, double y[MYOCYTE_STATES])
{
	return read_quantities(path, MYOCYTE_STATES, states, y);
}

int myocyte_read_parameters(const char *path, double p[MYOCYTE_PARAMS])
{
	int err = read_quantities(path, MYOCYTE_PARAMS, parameters, p);

	for (int i = 0; !err && i < MYOCYTE_PARAMS; i++)
		if (p[i] < (i == 0 ? 1e-3 : 0)) /* a cycle of zero has no stimulus edges */
			return complain(EINVAL, "%s:%d: %s=%g %s: give %s", path,
					i + FIRST_ROW_LINE, parameters[i].symbol, p[i],
					parameters[i].unit, i ? "0 or more" : "0.001 or more");
	return err;
}
