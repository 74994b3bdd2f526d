#!/bin/sh
# cells.sh RIFT SESSION - draws cells.png here, the time of a right-hand side over cells, from fused
# launches of a session of `rift sweep myocyte precision=double,float`; cells.csv holds what is drawn.
set -eu
rift=$(realpath "${1:?usage: cells.sh RIFT SESSION}")
session=$(realpath "${2:?usage: cells.sh RIFT SESSION}")
cd "$(dirname "$0")"
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
"$rift" show --check "$session" --csv "$raw/points.csv" >/dev/null
# of each process and point: cells, precision, time of an attempt; a median over the processes
awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	$column["mode"] == "fused" {
		print $column["cells"], $column["precision"], $column["t_total_ns_median"] / $column["depth"] / 1e3
	}' "$raw/points.csv" | sort -k1,1n -k2,2 -k3,3g >"$raw/sorted"
awk '
	function close_group() {
		if (n)
			us[cells, precision] = (time[int((n + 1) / 2)] + time[int(n / 2) + 1]) / 2
	}
	$1 != cells || $2 != precision { close_group(); n = 0; cells = $1; precision = $2 }
	!($1 in seen) { seen[$1]; order[++rows] = $1 }
	{ time[++n] = $3 }
	END {
		close_group()
		print "cells,attempt_us_double,attempt_us_float"
		for (i = 1; i <= rows; i++)
			printf "%d,%.4g,%.4g\n", order[i], us[order[i], "double"], us[order[i], "float"]
	}' "$raw/sorted" >cells.csv
made=$("$rift" show "$session" | sed -n 's/^measured on *//p' | sed 's/T[0-9:]*Z$//')
processes=$("$rift" show "$session" | sed -n 's/^median of \(n = [0-9]* processes\).*/\1/p')
gnuplot -e "made1 = '$made; fused launches; medians of $processes'" cells.gp
rm -f cells.svg
