#!/bin/bash
# accept_resolution.sh RIFT [OUT] - the smallest cost that rift sees here, in sessions of three lengths
# of the machine against itself: half of the 95 % intervals of b - a. LENGTHS="15 60 600" chooses.
# OUT keeps the sessions; what is there already is not measured again, and a session that was cut off
# goes on. It prints figures and judges nothing.
set -u
rift=${1:?usage: accept_resolution.sh RIFT [OUT]}
out=${2:-results/resolution}
mkdir -p "$out"

for length in ${LENGTHS:-15 60}; do
	# pairs and rounds that take about so long on a GPU
	case $length in
	15) size="--express --processes 9 --rounds 6" ;;
	60) size="--quick --processes 9 --rounds 24" ;;
	600) size="--processes ${PROCESSES:-30} --rounds 60" ;;
	*) echo "LENGTHS: 15, 60 or 600" >&2 && exit 1 ;;
	esac
	name=$out/resolution-$length
	if ! [ -s "$name.jsonl" ]; then
		begin=$(date +%s%N)
		if [ -s "$name.jsonl.part" ]; then
			"$rift" sweep --quiet --resume="$name.jsonl" >"$name.txt" 2>&1 </dev/null
		else
			# shellcheck disable=SC2086
			"$rift" sweep launch transfer memory launch.us=0,10,20 transfer.bytes=4,4M memory.bytes=1M \
				--depth 1,16,64 --mode stream,graph $size --warm-up 0.1 --against env \
				--quiet --output "$name.jsonl" >"$name.txt" 2>&1 </dev/null
		fi
		echo "exit code $?, $((($(date +%s%N) - begin) / 1000000)) ms" >>"$name.txt"
	fi
	if ! [ -s "$name.jsonl" ]; then
		echo "$length s: no session: $(tail -n 2 "$name.txt" | tr '\n' ' ')"
		continue
	fi
	"$rift" compare "$name.jsonl" --json >"$name.json" 2>/dev/null </dev/null
	python3 - "$length" "$name.json" "$(tail -n 1 "$name.txt")" <<-'END'
		import json, sys
		length, path, end = sys.argv[1:]
		d = json.load(open(path))
		row = []
		for p in d["parameters"]:
		    v = p["difference"]
		    if p["workload"] == "launch" and p["unit"] == "ns" and v and v["lo"] is not None:
		        row.append(f'{p["name"]} {(v["hi"] - v["lo"]) / 2:.0f} ns')
		for q in d["points"]:
		    x, r = q["axes"], q["ratio"]
		    if x["workload"] == "launch" or r["lo"] is None: continue
		    half, ns = (r["hi"] - r["lo"]) / 2, q["a_step_ns"]["value"]
		    row.append(f'{x["workload"]} {x.get("bytes", "")} {x["mode"]} depth {x["depth"]}: {ns / 1000:.2f} us, {100 * half:.2f} %, {half * ns:.0f} ns')
		print(f"{length} s: " + "; ".join(row) + "; " + end)
	END
done
