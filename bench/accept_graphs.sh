#!/bin/bash
# accept_graphs.sh RIFT [LAYERS] [OUT] - what launching graphs costs over their length, in calls and on
# the device, with 1 to 16 roots, in orders of creation, and under layers.
#
#   lengths   a line of 1 to 2048 nodes
#   roots     1 to 16 chains of 10, 100 and 1025 nodes
#   orders    8 chains of copy and kernel, whose first kernels are long, in four orders of creation
#   sample    SAMPLE=PROGRAM, cudaGraphsPerfScaling of NVIDIA's samples: the same graphs, in processes
#             of its own; a table beside rift's
#   layers    a line under each layer; LAYERS as for accept_atlas.sh, ROWS="none shim ..." chooses
#
# CELLS="lengths roots ..." chooses. OUT keeps a file each; what is there already is not measured
# again. After LIMIT seconds (260) nothing new is begun: run it again for the rest. It prints figures
# and judges nothing.
set -u
rift=$(realpath "${1:?usage: accept_graphs.sh RIFT [LAYERS] [OUT]}")
layers=$(realpath -m "${2:-.layers/third}")
out=${3:-results/graphs}
sample=${SAMPLE:-}
processes=${PROCESSES:-5}
mkdir -p "$out"
# shellcheck source=bench/layer_rows.sh
. "$(dirname "$0")/layer_rows.sh"
trap end_daemon EXIT

# Is there time left? NAME: for what.
time_left() {
	[ "$SECONDS" -lt "${LIMIT:-260}" ] && return
	echo "$1: not yet measured; run this again"
	return 1
}

grid() { # NAME PARAMETERS AND OPTIONS...
	local file=$out/$1.json
	if ! [ -s "$file" ]; then
		time_left "$1" || return
		"$rift" probe graph "${@:2}" --processes "$processes" --quiet --output "$file" \
			>"$file.txt" 2>&1 </dev/null || echo "$1: exit code $?, see $file.txt"
	fi
	[ -s "$file" ] && echo "$1: $("$rift" show --check "$file")"
}

# Lines "length, width, ..." of means over 100 trials, one of each process.
run_sample() {
	local file=$out/sample.csv shape i
	[ -n "$sample" ] || {
		echo "sample: not measured, SAMPLE=PROGRAM is not given"
		return 1
	}
	if ! [ -s "$file" ]; then
		time_left sample || return
		rm -f "$file.part"
		for i in $(seq "$processes"); do
			for shape in "10 1" "100 1" "1025 1" "10 4" "100 4" "1025 4"; do
				# shellcheck disable=SC2086
				"$sample" 5 "${TRIALS:-100}" $shape 0 >>"$file.part" 2>&1 </dev/null ||
					echo "sample: process $i, $shape: exit code $?"
			done
		done
		mv "$file.part" "$file"
	fi
}

# The columns of NVIDIA's article: rift's medians with intervals, the sample's with their range.
table() {
	python3 - "$out/roots.json" "$out/sample.csv" <<-'END'
		import json, sys
		from statistics import median
		grid = json.load(open(sys.argv[1]))
		columns = [("instantiation", "instantiate"), ("first_launch_api", "first launch call, idle"),
		           ("first_launch_total", "first launch end to end"),
		           ("repeat_launch_api", "launch call, idle"),
		           ("repeat_launch_total", "launch end to end"),
		           ("first_launch_device", "first launch device"),
		           ("repeat_launch_device", "launch device"), ("upload_api_time", "upload call"),
		           ("(first, held)", "first launch call"), ("(uploaded, held)", "first, uploaded, call")]
		sample, header = {}, []
		try:
		    for line in open(sys.argv[2]):
		        cells = [c.strip() for c in line.split(",")]
		        if cells[0] == "length":
		            header = cells
		        elif cells[0].isdigit() and header:
		            of = sample.setdefault((cells[0], cells[1]), {})
		            for name, value in zip(header[3:], cells[3:]):
		                if name and name != "blockingKernelTimeoutDetected":
		                    of.setdefault(name, []).append(float(value))
		except OSError:
		    pass
		rows = {(r.get("config"), r["name"]): r for r in grid["rows"]}
		print("length width what                   rift, us                     sample, us                   rift/sample")
		for i, config in enumerate(grid["configs"]):
		    for theirs, ours in columns:
		        r = rows.get((i, ours), {})
		        v = sample.get((config["length"], config["width"]), {}).get(theirs)
		        if r.get("median") is None or (sample and not v and theirs[0] != "("):
		            continue
		        text = f'{r["median"]:.4g}'
		        if r["lo"] is not None:
		            text += f' ({r["lo"]:.4g} to {r["hi"]:.4g})'
		        beside = f'{median(v):.4g} ({min(v):.4g} to {max(v):.4g})' if v else "-"
		        ratio = f'{r["median"] / median(v):.3f}' if v and median(v) else ""
		        print(f'{config["length"]:>6} {config["width"]:>5} {theirs:22} {text:28} {beside:28} {ratio}')
	END
}

# What a chain more adds to the call of a repeated launch: the last width's over the first's, process by
# process. With 5 processes the range is the 95 % interval of the median.
chains() {
	python3 - "$out/roots.json" <<-'END'
		import json, sys
		from statistics import median
		grid = json.load(open(sys.argv[1]))
		call = {}
		for r in grid["rows"]:
		    if r["name"] == "launch call, idle":
		        c = grid["configs"][r["config"]]
		        call.setdefault(int(c["length"]), {})[int(c["width"])] = r["values"]
		for length, of in sorted(call.items()):
		    few, many = min(of), max(of)
		    more = [(b - a) / max(many - few, 1) for a, b in zip(of[few], of[many])]
		    print(f"chains of {length:>4}: {few} to {many}, each adds {median(more):.2f} us "
		          f"({min(more):.2f} to {max(more):.2f})")
	END
}

# Fixed part and slope of the lines through a line's lengths.
slopes() { # NAME FILE
	"$rift" show "$2" | awk -v name="$1" '
		/^lines:/ { lines = 1; next }
		lines && /^(launch call, idle|first launch call, idle|instantiate|launch end to end) / {
			printf "%-16s %s\n", name, $0 }'
}

under_layers() {
	local name
	for name in ${ROWS:-$layer_rows}; do
		is_here "$name" || continue
		if ! [ -s "$out/layer-$name.json" ]; then
			time_left "$name" || continue
			begin "$name"
			processes=${LAYER_PROCESSES:-5} grid "layer-$name" topology=chains width=1 \
				length=1,10,100,500,1025,2048 --layer "$(words "$name")"
			end_daemon
		fi
		[ -s "$out/layer-$name.json" ] && slopes "$name" "$out/layer-$name.json"
	done
}

for cell in ${CELLS:-lengths roots orders sample layers}; do
	case $cell in
	lengths)
		grid lengths topology=chains width=1 length=1,2,5,10,20,50,100,200,500,1025,2048
		[ -s "$out/lengths.json" ] && slopes lengths "$out/lengths.json"
		;;
	roots)
		grid roots topology=chains width=1,2,4,8,16 length=10,100,1025
		[ -s "$out/roots.json" ] && chains
		;;
	orders)
		grid orders topology=chains node=staged width=8 length=2,4 bytes=64k,1M us=20 \
			first_us=200 order=kept,levels,late,shuffled
		[ -s "$out/orders.json" ] && "$rift" show "$out/orders.json" |
			awk '/^configuration/ { shown = /chain.s end/ } shown && NF'
		;;
	sample)
		run_sample
		[ -s "$out/roots.json" ] && table | tee "$out/table.txt"
		;;
	layers) under_layers ;;
	*) echo "CELLS: lengths, roots, orders, sample, layers" >&2 && exit 1 ;;
	esac
done
for name in lengths orders; do
	[ -s "$out/$name.json" ] && "$rift" plot "$out/$name.json" --quiet
done
exit 0
