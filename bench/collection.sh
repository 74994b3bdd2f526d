#!/bin/bash
# collection.sh RIFT [RADIXSORT_CUB] - the six workloads of the collection (docs/results/h200.md) at the
# sizes that they are to be fast at, one after the other, beside the times they were to take on an H200.
#
# Prints a table: what ran, median and n of a step, the time wanted and their ratio, and what the
# check said; then bench/radixsort_cub's. Ends with 1 where a run or its check fails, whatever the
# times are. Less than a minute on an H200.
set -u
rift=${1:?usage: collection.sh RIFT [RADIXSORT_CUB]} cub=${2:-}
said=$(mktemp)
trap 'rm -f "$said"' EXIT
failed=0

# "588" of "time per step  median 588 us, min 586 us, n = 52", in us, and "52"
median_and_n() {
	awk '/^time per step/ {
		scale["ns"] = 1e-3; scale["us"] = 1; scale["ms"] = 1e3; scale["s"] = 1e6
		sub(",", "", $6)
		print $5 * scale[$6], $NF
		exit
	}' "$said"
}

# The time wanted, us, or -; what comes behind `rift run`.
row() {
	local wanted=$1 check=passed us n
	shift
	if ! "$rift" run "$@" >"$said" 2>&1; then
		failed=1 check="**failed**: $(grep -m 1 -E '^check|rift:' "$said" | tr -s ' ')"
	fi
	read -r us n < <(median_and_n)
	awk -v what="$*" -v us="${us:-0}" -v n="${n:-0}" -v wanted="$wanted" -v check="$check" 'BEGIN {
		ratio = wanted == "-" || !n ? "" : sprintf("%.2f", us / wanted)
		us = n ? sprintf(us < 1e4 ? "%.4g" : "%.0f", us) : "-"
		printf "| `%s` | %s | %d | %s | %s | %s |\n", what, us, n, wanted, ratio, check
	}'
}

"$rift" run launch --samples 1 | grep '^device' | tr -s ' '
echo
echo '| rift run | us a step | n | wanted, us | of it | check |'
echo '|---|---|---|---|---|---|'
row 21 blackscholes launch=programmatic --mode graph --depth 32
row - blackscholes --mode graph --depth 32
# 85 % of 4.8 TB/s, 20 bytes an option
row 164.5 blackscholes options=32M --mode graph --depth 32
row 658 blackscholes options=128M --mode graph --depth 32
row 800 binomial options=4096 --mode graph --depth 16
row 13 matmul m=320 n=640 k=320 --mode graph
# 40 TFLOP/s; and at most a quarter more than cuBLAS takes
row 3436 matmul n=4096 --mode graph --depth 16
row - matmul n=4096 impl=cublas --mode graph --depth 16
row 20 stereo width=640 --mode graph
row 350 stereo width=4096 --mode graph
row 45 radixsort pairs=1M launch=programmatic --mode graph --depth 32
row - radixsort pairs=1M --mode graph --depth 32
# 35 G pairs/s
row 479.3 radixsort pairs=16M --mode graph --depth 32
row 1917 radixsort pairs=64M --mode graph --depth 16
# 1 G paths/s, 256 x 256 pixels
row 4194 pathtrace samples=64 --depth 4
row 67109 pathtrace samples=1024 --depth 4
if [ -n "$cub" ]; then
	echo
	"$cub" || failed=1
fi
exit "$failed"
