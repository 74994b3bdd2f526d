# graphs.sh - grids of graphs, NVIDIA's sample beside them, and curves of what warming up changes.
# shellcheck shell=bash disable=SC2154

grid() { # NAME PARAMETERS AND OPTIONS...
	local file=$out/$1.json
	keep "$file" "$rift" probe graph "${@:2}" --processes "$processes" --quiet --output "$file" &&
		echo "$1: $("$rift" show --check "$file")"
}

# Fixed part and slope of the lines through a line's lengths.
slopes() { # NAME
	[ ! -s "$out/$1.json" ] || "$rift" show "$out/$1.json" | awk -v name="${1#layer-}" '
		/^lines:/ { lines = 1; next }
		lines && /^(launch call, idle|first launch call, idle|instantiate|launch end to end) / { printf "%-16s %s\n", name, $0 }'
}

show_orders() {
	[ ! -s "$out/orders.json" ] || "$rift" show "$out/orders.json" | awk '/^configuration/ { shown = /chain.s end/ } shown && NF'
}

draw() { [ ! -s "$out/$1.json" ] || "$rift" plot "$out/$1.json" --quiet; }

# SAMPLE=PROGRAM, cudaGraphsPerfScaling of NVIDIA's samples, on the same graphs in processes of its own: lines "length, width, ..."
# of means over TRIALS (100) trials.
sample() {
	# shellcheck disable=SC2016
	local each='for i in $(seq "$2"); do for shape in "10 1" "100 1" "1025 1" "10 4" "100 4" "1025 4"; do
		"$0" 5 "$1" $shape 0 2>&1 || echo "sample: process $i, $shape: exit code $?" >&2; done; done'
	if [ -z "${SAMPLE:-}" ] && [ ! -s "$out/sample.csv" ]; then
		echo "sample: not measured, SAMPLE=PROGRAM is not given"
	else
		keep_printed "$out/sample.csv" bash -c "$each" "${SAMPLE:-}" "${TRIALS:-100}" "$processes"
	fi
	[ ! -s "$out/roots.json" ] || table sample | tee "$out/table.txt"
}

curves() { # RESTING_S PARAMETERS...
	local file=$out/$cell.json
	keep "$file" "$rift" probe --warmup "${@:2}" --rest "$1" --seconds "${CURVE:-2}" --processes "${PROCESSES:-1}" --quiet --output "$file" || return
	echo "== $cell"
	"$rift" show "$file"
	draw "$cell"
}
