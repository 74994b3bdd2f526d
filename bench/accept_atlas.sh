#!/bin/bash
# accept_atlas.sh RIFT [LAYERS] [OUT] - what every layer that can be had here costs, a session of pairs
# each, for `rift compare`. LAYERS holds what was built of public projects (layers/preload/README.md
# says how); nothing of this repository is changed for them. ROWS="none shim mps ..." chooses. What
# cannot be had is said. OUT keeps the sessions; what is there already is not measured again, and one
# that was cut off, by LIMIT in seconds or otherwise, goes on. It prints figures and judges nothing.
#
# WHAT=holds asks instead what a launch and its wait take while the process holds memory, streams and
# events, each alone and all at once: sessions holds-ROW. holds.py beside it makes a table and a
# chart of them. POINTS="launch launch.us=0 launch.hold_modules=0,256" has modules of code.
set -u
rift=$(realpath "${1:?usage: accept_atlas.sh RIFT [LAYERS] [OUT]}")
layers=$(realpath "${2:-.layers/third}")
out=${3:-results/atlas}
what=${WHAT:-atlas}
if [ "$what" = holds ]; then
	POINTS=${POINTS:-launch launch.us=0 launch.hold_pinned=0,256M launch.hold_device=0,1G
		launch.hold_streams=0,64 launch.hold_events=0,1000}
	OPTIONS=${OPTIONS:---depth 1 --mode stream --processes 6 --rounds 3}
fi
# Launches, copies alone and in turn with kernels, allocation; real programs by their smallest kernels;
# the streamed ones, small.
points=${POINTS:-launch launch.us=0,10 transfer transfer.bytes=4,4M transfer.dir=h2d,d2h
	graph graph.node=streamed graph.us=20 graph.op=launch,eager graph.length=3,12,48
	graph.bytes=4k,64k,1M graph.copies=1,10 memory memory.bytes=4M
	myocyte myocyte.cells=1 particlefilter particlefilter.particles=1000 alignment
	alignment.pairs=64 mlp mlp.batch=64 mlp.images=1024 radixsort radixsort.pairs=4k
	radixsort.data=resident,streamed blackscholes blackscholes.options=64k
	blackscholes.data=streamed binomial binomial.steps=256 binomial.data=streamed matmul matmul.n=256
	matmul.data=streamed stereo stereo.width=640 stereo.data=streamed}
options=${OPTIONS:---depth 1,16,64 --mode stream,graph --processes 6 --rounds 3}
mkdir -p "$out"

# shellcheck source=bench/layer_rows.sh
. "$(dirname "$0")/layer_rows.sh"
trap end_daemon EXIT

# Another machine does not go on with a session: it begins the plan anew, as NAME-2, which is the row's
# from then on.
go_on() {
	local name=$1 anew=${1%.jsonl}-2.jsonl end rc
	timeout "${LIMIT:-120}" "$rift" sweep --resume "$name" --quiet >"$name.txt" 2>&1 </dev/null
	rc=$?
	if [ -e "$anew" ] || [ -e "$anew.part" ]; then
		rm -f "$name.part" "$name.visits"
		for end in "" .part .visits; do
			[ ! -e "$anew$end" ] || mv "$anew$end" "$name$end"
		done
	fi
	return $rc
}

begin_anew() { # NAME ROW
	rm -f "$1"*
	# shellcheck disable=SC2086
	timeout "${LIMIT:-120}" "$rift" sweep $points $options --layer "$(words "$2")" --quiet \
		--output "$1" >"$1.txt" 2>&1 </dev/null
}

row() {
	local name=$out/$what-$1.jsonl begun
	if ! [ -s "$name" ]; then
		begin "$1"
		begun=$(date +%s%N)
		if [ -s "$name.part" ]; then go_on "$name"; else begin_anew "$name" "$1"; fi
		echo "exit code $?, $((($(date +%s%N) - begun) / 1000000)) ms" >>"$name.txt"
		end_daemon
	fi
	"$rift" compare "$name" --json >"$name.json" 2>/dev/null </dev/null
	python3 - "$1" "$name.json" "$name.txt" <<-'END'
		import json, sys
		name, path, log = sys.argv[1:]
		log = open(log).read().strip().split("\n")
		try:
		    d = json.load(open(path))
		except ValueError:
		    said = [l for l in log if l.startswith("rift:")]
		    print(f"{name:15} no session: {(said or log)[-1][:150]}; {log[-1]}"); sys.exit()
		def held(p):
		    return [k[5:] for k in p["axes"] if k[:5] == "hold_" and p["axes"][k]]
		def wait(p):
		    if p["b_step_ns"]["value"] is None: return f'{"+".join(held(p)) or "nothing"} refused'
		    us, r = p["b_step_ns"]["value"] / 1e3, p["ratio"]
		    how = "" if r["lo"] is None else f' ({r["lo"]:.2f} to {r["hi"]:.2f})'
		    return f'{"+".join(held(p)) or "nothing"} {us:.1f} us x{r["value"]:.2f}{how}'
		holds = [p for p in d["points"] if len(held(p)) < 2 or len(held(p)) == 4]
		if any(map(held, holds)):
		    print(f'{name:15} {"; ".join(map(wait, holds))}; {log[-1]}'); sys.exit()
		def text(p):
		    v = p["difference"]
		    if v is None or v["lo"] is None: return f'{p["name"]} ?'
		    return f'{p["name"]} {v["value"]:+.0f} ({v["lo"]:.0f} to {v["hi"]:.0f})'
		row = [text(p) for p in d["parameters"] if p["workload"] == "launch" and p["unit"] == "ns"]
		for w in d["workloads"]:
		    if w["ratio"]["value"]: row.append(f'{w["workload"]} x{w["ratio"]["value"]:.2f}')
		print(f'{name:15} b-a, ns: {"; ".join(row)}; {log[-1]}')
	END
}

for name in ${ROWS:-$layer_rows}; do
	if is_here "$name"; then row "$name"; fi
done
if [ "$what" = holds ]; then
	python3 "$(dirname "$0")/holds.py" "$rift" "$out" "$out/charts"
fi
