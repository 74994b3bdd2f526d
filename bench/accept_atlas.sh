#!/bin/bash
# accept_atlas.sh RIFT [LAYERS] [OUT] - what every layer that can be had here costs, a session of pairs
# each, for `rift atlas`. LAYERS holds what was built of public projects (layers/preload/README.md
# says how); nothing of this repository is changed for them. ROWS="none shim mps ..." chooses. What
# cannot be had is said. OUT keeps the sessions; what is there already is not measured again. It
# prints figures and judges nothing.
set -u
rift=$(realpath "${1:?usage: accept_atlas.sh RIFT [LAYERS] [OUT]}")
layers=$(realpath "${2:-.layers/third}")
out=${3:-results/atlas}
# Launches, copies, allocation; real programs by their smallest kernels; the streamed ones, small.
points=${POINTS:-launch launch.us=0,10 transfer transfer.bytes=4,4M transfer.dir=h2d,d2h memory
	memory.bytes=4M myocyte myocyte.cells=1 particlefilter particlefilter.particles=1000 alignment
	alignment.pairs=64 mlp mlp.batch=64 mlp.images=1024 radixsort radixsort.pairs=4k
	radixsort.data=resident,streamed blackscholes blackscholes.options=64k
	blackscholes.data=streamed binomial binomial.steps=256 binomial.data=streamed matmul matmul.n=256
	matmul.data=streamed stereo stereo.width=640 stereo.data=streamed}
options=${OPTIONS:---depth 1,16,64 --mode stream,graph --processes 6 --rounds 3}
mkdir -p "$out"
daemon=

# The words of `rift layer` for a row.
words() {
	local lib=$layers/$1
	case $1 in
	cpu-*) echo "cpu share=${1#cpu-}" ;;
	neighbour-*) echo "neighbour kind=${1#neighbour-}" ;;
	hami-*) echo "preload lib=$lib/libvgpu.so set=CUDA_DEVICE_MEMORY_LIMIT=64g,CUDA_DEVICE_SM_LIMIT=100,CUDA_DEVICE_MEMORY_SHARED_CACHE=/tmp/$1.cache,LIBCUDA_LOG_LEVEL=0" ;;
	nvshare) echo "preload lib=$lib/libnvshare.so" ;;
	lupine) echo "preload lib=$lib/libcuda.so.1 set=LUPINE_SERVER=127.0.0.1:14833,LUPINE_DISABLE_LOCAL=1" ;;
	vgpu-manager) echo "preload lib=$lib/libvgpu-control.so set=MANAGER_VISIBLE_DEVICES=$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=uuid --format=csv,noheader | head -n 1),CUDA_MEM_LIMIT=64g,LOGGER_LEVEL=0" ;;
	xsched) echo "preload lib=$lib/libcuda.so.1 set=XSCHED_CUDA_LIB=$(ldconfig -p | awk '/libcuda\.so\.1 /{print $NF; exit}'),XSCHED_AUTO_XQUEUE=ON,XSCHED_AUTO_XQUEUE_LEVEL=1,XSCHED_POLICY=HPF" ;;
	*) echo "$1" ;;
	esac
}

# What a row needs beside it: two processes at a time would each start a daemon= of their own.
begin() {
	case $1 in
	hami-*) mkdir -p /tmp/vgpulock && rm -f "/tmp/$1.cache" ;;
	vgpu-manager) rm -rf /etc/vgpu-manager ;;
	nvshare)
		setsid "$layers/nvshare/nvshare-scheduler" >"$out/$1.daemon" 2>&1 &
		daemon=$!
		sleep 1
		;;
	lupine)
		LUPINE_PORT=14833 LD_LIBRARY_PATH=$layers/lupine/lib:${LD_LIBRARY_PATH:-} \
			setsid "$layers/lupine/lupine_driver_server" >"$out/$1.daemon" 2>&1 &
		daemon=$!
		sleep 2
		;;
	esac
}

end_daemon() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	[ -z "$daemon" ] || wait "$daemon" 2>/dev/null
	daemon=
}
trap end_daemon EXIT

row() {
	local name=$out/atlas-$1.jsonl begun
	if ! [ -s "$name" ]; then
		rm -f "$name"*
		begin "$1"
		begun=$(date +%s%N)
		# shellcheck disable=SC2086
		timeout "${LIMIT:-120}" "$rift" sweep $points $options --layer "$(words "$1")" --quiet \
			--output "$name" >"$name.txt" 2>&1 </dev/null
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

for name in ${ROWS:-none shim container cpu-50 cpu-100 mps neighbour-spin neighbour-copy neighbour-launch profiler hami-O0 hami-O2 nvshare vgpu-manager xsched lupine}; do
	case $name in
	hami-* | nvshare | vgpu-manager | xsched | lupine)
		[ -d "$layers/$name" ] || {
			echo "$name: not measured, $layers/$name is not there"
			continue
		}
		;;
	esac
	row "$name"
done
