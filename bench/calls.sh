#!/bin/bash
# calls.sh RIFT CALLS [N] - do the probes of rift find what a program written by hand finds?
# RIFT and CALLS are build/cuda/rift and build/cuda/bench/calls, or those of another device.
#
# N processes of each (10 if not given, 4 at least), in turns; prints the medians in us, how far
# their ratio is from 1, and the same between odd and even runs of CALLS, which is what chance
# alone does.
set -eu
rift=$1 calls=$2 n=${3:-10}
if [ "$n" -lt 4 ]; then
	echo "calls.sh: N=$n: 4 processes or more" >&2
	exit 3
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# "calls0|launch call|2.43": by the names of bench/calls.cu
calls_once() {
	"$calls" | awk -F'  ' -v who="calls$(($1 % 2))" 'NF == 2 { print who "|" $1 "|" $2 }'
}

# Takes row $2 of the table on stdin and calls it $1.
row() {
	awk -v name="$1" -v row="$2" 'index($0, row " ") == 1 {
		rest = substr($0, length(row) + 1); sub(/^ +/, "", rest)
		if (rest ~ /^[0-9.e+-]+ us/) { split(rest, word, " "); print "rift|" name "|" word[1] } }'
}

# us a step of a run: $1 its name, then arguments.
step() {
	name=$1
	shift
	"$rift" run "$@" --json --quiet |
		awk -v name="$name" '/"step_ns"/ { near = 1 } near && /"median"/ {
			gsub(/[^0-9.e+-]/, "", $2); print "rift|" name "|" $2 / 1e3; exit }'
}

rift_once() {
	"$rift" run launch probe=yes --quiet | row "launch call" "launch call"
	for nodes in 10 100 1025; do
		"$rift" run graph probe=yes length=$nodes --quiet >"$dir/graph"
		row "graph call $nodes" "launch call" <"$dir/graph"
		row "instantiate $nodes" instantiate <"$dir/graph"
	done
	"$rift" run transfer probe=quick --quiet >"$dir/transfer"
	for way in h2d d2h; do
		for host in pinned pageable; do
			row "$way $host 4 B" "$way $host 4 B" <"$dir/transfer"
			step "$way $host 64 MiB" transfer bytes=64M dir=$way host=$host --depth 1
		done
		row "$way cudaMemcpy 4 B" "$way pageable 4 B cudaMemcpy" <"$dir/transfer"
	done
	"$rift" run memory probe=yes bytes=1M --quiet >"$dir/memory"
	row "cudaMalloc 1 MiB" cudaMalloc <"$dir/memory"
	row "cudaFree 1 MiB" cudaFree <"$dir/memory"
}

for i in $(seq "$n"); do
	calls_once "$i"
	rift_once
done >"$dir/all"

median() { # of column 3 of the lines of $dir/all that begin so
	grep -E "^$1\|$2\|" "$dir/all" | cut -d'|' -f3 | sort -g |
		awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

echo "us, medians of $n processes each"
printf '%-22s %12s %12s %12s %16s\n' call "by hand" rift "rift/by hand" "even/odd by hand"
grep '^calls1|' "$dir/all" | cut -d'|' -f2 | awk '!seen[$0]++' | while read -r name; do
	a=$(median 'calls[01]' "$name") b=$(median rift "$name")
	odd=$(median calls1 "$name") even=$(median calls0 "$name")
	awk -v m="$name" -v a="$a" -v b="$b" -v o="$odd" -v e="$even" 'BEGIN {
		printf "%-22s %12.4f %12.4f %+10.1f %% %+14.1f %%\n",
			m, a, b, 100 * (b / a - 1), 100 * (e / o - 1) }'
done
