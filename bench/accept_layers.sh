#!/bin/bash
# accept_layers.sh RIFT LAYERS [OUT] - what real layers cost, each in a session of pairs of half a
# minute, and what nothing at all costs when it is measured so. LAYERS holds what was built of public
# projects, for which nothing of this repository is changed: hami/libvgpu.so and hami-O2/libvgpu.so
# (github.com/Project-HAMi/HAMi-core), nvshare/ and lupine/ as in accept_contact.sh. MPS is part of
# the driver. A layer that is not there is left out and said. OUT keeps the sessions; what is there
# already is not measured again. It prints figures and judges nothing.
set -u
rift=${1:?usage: accept_layers.sh RIFT LAYERS [OUT]}
layers=${2:?usage: accept_layers.sh RIFT LAYERS [OUT]}
out=${3:-results/layers}
options=${OPTIONS:-launch us=0,10 --depth 1,16,256 --mode stream,graph --express}
mkdir -p "$out"
helper=

end_helper() {
	[ -z "$helper" ] || kill "$helper" 2>/dev/null
	[ -z "$helper" ] || wait "$helper" 2>/dev/null
	helper=
}
trap end_helper EXIT

measure() { # NAME COMMAND
	local begin
	if ! [ -s "$out/$1.jsonl" ]; then
		rm -f "$out/$1".jsonl*
		begin=$(date +%s%N)
		# shellcheck disable=SC2086
		timeout 200 "$rift" sweep $options --against "$2" --output "$out/$1.jsonl" \
			>"$out/$1.txt" 2>&1 </dev/null
		echo "exit code $?, $((($(date +%s%N) - begin) / 1000000)) ms" >>"$out/$1.txt"
	fi
	"$rift" compare "$out/$1.jsonl" --json >"$out/$1.json" 2>/dev/null </dev/null
	python3 - "$1" "$out/$1.json" "$(tail -n 1 "$out/$1.txt")" <<-'END'
		import json, sys
		name, path, end = sys.argv[1:]
		try:
		    d = json.load(open(path))
		except ValueError:
		    print(f"{name:12} nothing to compare; {end}"); sys.exit()
		def text(p):
		    v = p["difference"]
		    if v is None or v["value"] is None: return "?"
		    return f'{p["name"]} {v["value"]:+.0f} ({v["lo"]:.0f} to {v["hi"]:.0f})'
		row = [text(p) for p in d["parameters"] if p["unit"] == "ns" and p["name"] in ("c", "p", "g", "Z", "a", "gn")]
		w = d["workloads"][0]["ratio"]
		print(f'{name:12} n={w["n"]} b-a, ns: {"; ".join(row)}; b/a {w["value"]:.3f} ({w["lo"]:.3f} to {w["hi"]:.3f}); {end}')
	END
}

measure none env
for hami in hami hami-O2; do
	if [ -e "$layers/$hami/libvgpu.so" ]; then
		mkdir -p /tmp/vgpulock
		rm -f "/tmp/$hami.cache"
		measure "$hami" "env LD_PRELOAD=$layers/$hami/libvgpu.so CUDA_DEVICE_MEMORY_LIMIT=64g CUDA_DEVICE_SM_LIMIT=100 CUDA_DEVICE_MEMORY_SHARED_CACHE=/tmp/$hami.cache LIBCUDA_LOG_LEVEL=1"
	else
		echo "$hami: not measured, $layers/$hami is not there"
	fi
done
if command -v nvidia-cuda-mps-control >/dev/null; then
	mps=$(mktemp -d)
	CUDA_MPS_PIPE_DIRECTORY=$mps CUDA_MPS_LOG_DIRECTORY=$mps nvidia-cuda-mps-control -d >/dev/null 2>&1
	measure mps "env CUDA_MPS_PIPE_DIRECTORY=$mps CUDA_MPS_LOG_DIRECTORY=$mps"
	echo quit | CUDA_MPS_PIPE_DIRECTORY=$mps nvidia-cuda-mps-control >/dev/null 2>&1
else
	echo "mps: not measured, nvidia-cuda-mps-control is not there"
fi
if [ -x "$layers/nvshare/nvshare-scheduler" ]; then
	"$layers/nvshare/nvshare-scheduler" >"$out/nvshare-scheduler.log" 2>&1 &
	helper=$!
	sleep 1
	measure nvshare "env LD_PRELOAD=$layers/nvshare/libnvshare.so"
	end_helper
else
	echo "nvshare: not measured, $layers/nvshare is not there"
fi
if [ -x "$layers/lupine/lupine_driver_server" ]; then
	LUPINE_PORT=14833 "$layers/lupine/lupine_driver_server" >"$out/lupine-server.log" 2>&1 &
	helper=$!
	sleep 2
	measure lupine "env LD_LIBRARY_PATH=$layers/lupine:${LD_LIBRARY_PATH:-} LUPINE_SERVER=127.0.0.1:14833 LUPINE_DISABLE_LOCAL=1"
	end_helper
else
	echo "lupine: not measured, $layers/lupine is not there"
fi
