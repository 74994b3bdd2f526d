#!/bin/sh
# atlas.sh RIFT [WRAPPER] - the page of rift compare for all layers that the CPU device can have:
# a sweep under each, one of copies and memory, a platform that lacks graphs, then one page, on which
# each has its row; and what is not comparable is refused. Says nothing of costs. About 45 s.
# WRAPPER: a library for the layer preload (default: tests/wrapper.so beside RIFT).
#
# KEEP=FOLDER keeps the sessions and the page.
set -eu
rift=$(realpath "${1:?usage: atlas.sh RIFT [WRAPPER]}")
wrapper=$(realpath "${2:-$(dirname "$rift")/tests/wrapper.so}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

fail() {
	echo "rift: atlas.sh: $*" >&2
	exit 1
}

# NAME, then options: a session, of few points.
sweep() {
	name=$1
	shift
	rm -f "$dir/$name".jsonl*
	"$rift" sweep launch us=0 --depth 1,16,64 --mode stream --quick --processes 5 --rounds 8 \
		--warm-up 0.01 --quiet --output "$dir/$name.jsonl" "$@" >"$dir/out" 2>&1
}

# As sweep(), under a layer; one that is not in force, as others use the processors, may be later.
under() {
	name=$1 layer=$2
	for try in 1 2 3 4; do
		sweep "$name" --layer "$layer" && return
		if [ "$try" = 4 ] || ! grep -q 'not active' "$dir/out"; then
			fail "$layer: $(cat "$dir/out")"
		fi
	done
}

# The page has a line like this.
has_row() {
	grep -qE "^  $1 " "$dir/page" || fail "no row '$1' in: $(cat "$dir/page")"
}

sweep base || fail "base: $(cat "$dir/out")"
under none none
under shim shim
under cpu 'cpu share=50 n=1'
under neighbour 'neighbour kind=copy duty=20'
under preload "preload lib=$wrapper"
under remote remote
rows='none shim cpu neighbour preload remote'
if "$rift" layer container -- true 2>"$dir/out"; then
	under container container
	rows="$rows container"
else
	echo "container: not run: $(cat "$dir/out")"
fi
RIFT_CPU_FAIL=cudaGraphInstantiate=cudaErrorNotSupported "$rift" sweep launch us=0 --depth 1,4 \
	--mode stream,graph --quick --processes 5 --rounds 1 --warm-up 0.01 --quiet \
	--platform lacking --output "$dir/lacking.jsonl" >"$dir/out" 2>&1 ||
	[ $? = 2 ] || fail "a platform without graphs: $(cat "$dir/out")"

# Under the layer none: nothing that is found there is a layer's.
"$rift" sweep launch transfer memory launch.us=0 transfer.bytes=4,1M memory.bytes=4M --depth 1,16 \
	--mode stream --quick --processes 5 --rounds 1 --warm-up 0.01 --quiet --layer none \
	--output "$dir/copies.jsonl" >"$dir/out" 2>&1 || fail "copies: $(cat "$dir/out")"

files=$(for row in $rows; do echo "$dir/$row.jsonl"; done)
# shellcheck disable=SC2086
"$rift" compare "$dir/base.jsonl" $files "null=$dir/copies.jsonl" "$dir/lacking.jsonl" >"$dir/page" \
	2>"$dir/err" || fail "$(cat "$dir/err")"
for row in $rows; do
	case $row in
	cpu) has_row 'cpu share=50 n=1 \(real\)' ;;
	neighbour) grep -qE '^  neighbour kind=copy duty=20 \(real\)' "$dir/page" || fail "no row of neighbour" ;;
	preload) grep -qE '^  preload lib=.* \(real\)' "$dir/page" || fail "no row of preload" ;;
	*) has_row "$row \(real\)" ;;
	esac
done
has_row lacking
has_row null # as the command line calls it
grep -q 'cudaGraphInstantiate: cudaErrorNotSupported' "$dir/page" || fail "the call that is lacking"

# What only one session has is a column all the same; a start is known of every process.
costs=$(sed -n '/^copies, memory, cold start/,/^notes/p' "$dir/page")
for column in 'copy to the device, 4 B' 'rate to the device, 1.00 MiB' 'allocation, 4.00 MiB' \
	'cold start'; do
	echo "$costs" | grep -q " $column " || fail "no column '$column' in: $costs"
done
starts=$(echo "$costs" | sed -n '/cold start  *n$/,/^  copy/p')
n=$(echo "$starts" | grep -c ' 5$')
# shellcheck disable=SC2086
[ "$n" = "$(($(echo $rows | wc -w) + 3))" ] || fail "$n starts in: $costs"

# For machines: a session each, with all figures.
# shellcheck disable=SC2086
"$rift" compare "$dir/base.jsonl" $files --json --quiet >"$dir/json"
n=$(grep -c '"own_base": true' "$dir/json")
# shellcheck disable=SC2086
[ "$n" = "$(echo $rows | wc -w)" ] || fail "$n sessions in JSON, of $rows"

# Other depths, another wait policy, a base under a layer: not comparable.
refused() {
	code=0
	"$rift" compare "$@" >"$dir/out" 2>"$dir/err" || code=$?
	[ "$code" = 5 ] || fail "compare $*: ended with $code: $(cat "$dir/err")"
	[ "$(wc -l <"$dir/err")" = 1 ] || fail "compare $*: $(cat "$dir/err")"
}
sweep waits --sync blocking || fail "another wait policy: $(cat "$dir/out")"
refused "$dir/base.jsonl" "waits=$dir/waits.jsonl"
refused "$dir/shim.jsonl:b" "none=$dir/none.jsonl"

cat "$dir/page"
[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp "$dir"/*.jsonl "$dir/page" "$dir/json" "$KEEP"; }
