#!/bin/bash
# yardstick.sh RIFT LOOP [N] - does `rift sweep launch` find what a loop written by hand finds?
# RIFT and LOOP are build/cuda/rift and build/cuda/bench/loop, or those of another device.
#
# N processes of each (40 if not given, 4 at least), in turns, because a host's speed comes and
# goes; prints the medians, how far their ratio is from 1, and the same between odd and even loops,
# which is what chance alone does: medians of n processes that scatter by s agree to about
# 1.8 s / sqrt(n). What the harness adds where chance has no part, bench/bias.c shows.
set -eu
rift=$1 loop=$2 n=${3:-40}
if [ "$n" -lt 4 ]; then
	echo "yardstick.sh: N=$n: 4 processes or more" >&2
	exit 3
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# "loop stream 1 8.270": us a kernel, from the table of bench/loop.cu
loop_once() {
	"$loop" | awk -v who="loop$(($1 % 2))" \
		'($1 == "stream" || $1 == "graph") && NF == 6 { print who, $1, $2, $3 }'
}

sweep_once() {
	"$rift" sweep launch --quick --size 0 --depth 1,64,256,1024 --mode stream,graph \
		--processes 1 --output "$dir/$1.jsonl" >"$dir/said" 2>&1 || cat "$dir/said" >&2
	"$rift" show --check --csv "$dir/$1.csv" "$dir/$1.jsonl" >/dev/null
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print "sweep", $at["mode"], $at["depth"],
			$at["t_total_ns_median"] / $at["depth"] / 1e3 }' "$dir/$1.csv"
}

for i in $(seq "$n"); do
	loop_once "$i"
	sweep_once "$i"
done >"$dir/all"

median() { # of column 4 of the lines of $dir/all that match
	grep -E "$1" "$dir/all" | sort -g -k4 |
		awk '{ v[NR] = $4 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

echo "us a kernel, medians of $n processes each"
echo "mode    depth   loop      sweep     sweep/loop  even/odd loops"
for mode in stream graph; do
	for depth in 1 64 256 1024; do
		key="$mode $depth "
		a=$(median "^loop. $key") b=$(median "^sweep $key")
		odd=$(median "^loop1 $key") even=$(median "^loop0 $key")
		awk -v m="$mode" -v d="$depth" -v a="$a" -v b="$b" -v o="$odd" -v e="$even" 'BEGIN {
			printf "%-7s %5d   %-8.4f  %-8.4f  %+.1f %%      %+.1f %%\n",
				m, d, a, b, 100 * (b / a - 1), 100 * (e / o - 1) }'
	done
done
