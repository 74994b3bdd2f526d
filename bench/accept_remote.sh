#!/bin/bash
# accept_remote.sh RIFT [OUT] - what the layer remote costs: the bare machine, under the layer, and under
# it with strict=yes, where each call waits for its answer. Sides are measured by pairs (sweep --layer).
# Asked for are a launch's call, a launch and a wait, the pace of launches, copies, and programs; on a
# GPU also the vmCUDA paper's five by table 1 and by 12.5 GB. It prints and judges nothing.
#   CELLS    of launch graph copies programs table1 large samples network (default: those that DEVICE can, but
#            network): network is which round trip and bandwidth programs stand (sweep over costs)
#   ARMS     of ahead sleep strict lupine (default: ahead strict; GPU: all, lupine where it is)
#   POLL     us that client and daemon poll (default 20; GPU: 1000); the arm sleep has 0
#   LAYERS   a folder with lupine/, as accept_atlas.sh takes it
#   SAMPLES  a folder of NVIDIA's samples, built with nvcc -cudart shared
#   NETWORK  programs of that cell, between semicolons, each with its options (default: five)
#   PAPER    programs of table1 and large (default: blackscholes binomial matmul stereo radixsort)
#   OPTIONS, NETWORK_OPTIONS, PROGRAMS, BYTES, LIMIT (seconds that one measurement may take at a time)
# OUT keeps the sessions. What is there is not measured again; what was interrupted is gone on with.
set -u
rift=$(realpath "${1:?usage: accept_remote.sh RIFT [OUT]}")
out=$(realpath -m "${2:-results/remote}")
mkdir -p "$out"
gpu=yes
[ "$("$rift" run launch us=0 --blocks 1 --json --quiet 2>/dev/null </dev/null | grep -c '"kind": "cpu"')" = 0 ] || gpu=
options=${OPTIONS:---processes 5 --rounds ${gpu:+1}5}
programs=${PROGRAMS:-blackscholes blackscholes.options=256k binomial binomial.options=64
	matmul matmul.n=256 stereo myocyte radixsort --depth 1,16}
depths=1,16,256
[ -z "$gpu" ] || depths=1,4,16,64,256,1024
cells=${CELLS:-launch graph copies programs${gpu:+ table1 large}${SAMPLES:+ samples}}
networks=${NETWORK:-myocyte; particlefilter; alignment; mlp; mlp launches=many}
lupine=${LAYERS:+$LAYERS/lupine}
arms=${ARMS:-ahead ${gpu:+sleep }strict}
[ -n "${ARMS:-}" ] || ! [ -x "${lupine:-/nonexistent}/lupine_driver_server" ] || arms="$arms lupine"
poll=${POLL:-${gpu:+1000}}
daemon=
port=${LUPINE_PORT:-14833} # one for each GPU that is measured at once

layer_of() { # ARM
	case $1 in
	ahead) echo "remote${poll:+ poll=$poll}" ;;
	sleep) echo 'remote poll=0' ;;
	strict) echo "remote${poll:+ poll=$poll} strict=yes" ;;
	lupine) echo "preload lib=$lupine/libcuda.so.1 set=LUPINE_SERVER=127.0.0.1:$port,LUPINE_DISABLE_LOCAL=1" ;;
	*) echo "ARMS: ahead, sleep, strict, lupine" >&2 && exit 1 ;;
	esac
}

begin() { # ARM
	[ "$1" = lupine ] || return 0
	LUPINE_PORT=$port LD_LIBRARY_PATH=$lupine/lib:${LD_LIBRARY_PATH:-} \
		setsid "$lupine/lupine_driver_server" >"$out/lupine.daemon" 2>&1 &
	daemon=$!
	sleep 2
}

end() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	daemon=
}
trap end EXIT

# Whether a session is complete: it has its name, and what is interrupted ends with .part.
measure() { # NAME LAYER WORDS...
	local name=$out/$1.jsonl layer=$2
	shift 2
	if [ -s "$name.part" ]; then
		timeout -s TERM "${LIMIT:-280}" "$rift" sweep --resume "$name" --quiet \
			>>"$name.txt" 2>&1 </dev/null
	elif ! [ -s "$name" ]; then
		rm -f "$name"*
		# shellcheck disable=SC2086
		timeout -s TERM "${LIMIT:-280}" "$rift" sweep "$@" --layer "$layer" --quiet \
			--output "$name" >"$name.txt" 2>&1 </dev/null
	fi
	[ -s "$name" ] || { echo "$name: not complete yet: $(tail -n 1 "$name.txt")" >&2 && return; }
	"$rift" compare "$name" --json >"$name.json" 2>/dev/null </dev/null || [ -s "$name.json" ]
}

# The paper's programs; total= says how many steps, but for binomial's 64.
paper() { # ARM LAYER PRESET OPTIONS...
	local arm=$1 layer=$2 preset=$3 name
	shift 3
	for name in ${PAPER:-blackscholes binomial matmul stereo radixsort}; do
		local depth=()
		[ "$name" != binomial ] || depth=(--depth 64)
		measure "$arm-${preset#vmcuda-}-$name" "$layer" "$name" "$name.preset=$preset" "${depth[@]}" \
			--mode stream --processes "${PAPER_PROCESSES:-9}" "$@"
	done
}

# A file a program; a program that the layer refuses says so in one line, and the rest goes on.
network() {
	local layer="remote transport=tcp${poll:+ poll=$poll} costs=usual" list=() words name
	IFS=';' read -ra list <<<"$networks"
	for words in "${list[@]}"; do
		read -r words <<<"$words"
		name=$out/network-${words//[ =,]/-}
		[ -s "$name.json" ] && continue
		# shellcheck disable=SC2086
		timeout -s TERM "$((${LIMIT:-280} * 2))" "$rift" sweep $words --layer "$layer" \
			--time-limit "${LIMIT:-280}" ${NETWORK_OPTIONS:---processes 5} --plot "$out/charts-${name##*/}" \
			--json >"$name.part" 2>"$name.txt" </dev/null
		if [ -s "$name.part" ]; then
			mv "$name.part" "$name.json"
		else
			echo "$name: nothing measured: $(tail -n 1 "$name.txt")" >&2
		fi
	done
}
case " $cells " in *' network '*) network ;; esac

for arm in $arms; do
	layer=$(layer_of "$arm") || exit 1
	begin "$arm"
	for cell in $cells; do
		# shellcheck disable=SC2086
		case $cell in
		launch) measure "$arm-launch" "$layer" launch us=0 --depth $depths --mode stream $options ;;
		graph) measure "$arm-graph" "$layer" launch us=0 --depth $depths --mode graph $options ;;
		copies)
			for host in pinned pageable; do
				for dir in h2d d2h; do
					measure "$arm-$dir-$host" "$layer" transfer "host=$host" "dir=$dir" \
						"bytes=${BYTES:-64,64k,16M${gpu:+,256M}}" --depth 1,16 $options
				done
			done
			;;
		programs) measure "$arm-programs" "$layer" $programs --mode stream $options ;;
		table1) paper "$arm" "$layer" vmcuda-table1 --rounds 5 ;;
		# a block is 12.5 GB, some 0.3 s, so a process's start is most of its time
		large) paper "$arm" "$layer" vmcuda-large --rounds 1 --warm-up 1 ;;
		samples | network) ;;
		*) echo "CELLS: launch, graph, copies, programs, table1, large, samples, network" >&2 && exit 1 ;;
		esac
	done
	end
done
python3 - "$out" <<'END'
import glob, json, os, sys

out = sys.argv[1]

def points(name):
    try:
        return json.load(open(name))["points"]
    except (OSError, ValueError, KeyError):
        return []

def number(v, scale=1.0):
    if not v or v.get("value") is None:
        return "-"
    text = f"{v['value'] * scale:.4g}"
    if v.get("lo") is not None:
        text += f" ({v['lo'] * scale:.4g} to {v['hi'] * scale:.4g})"
    return text

print("| session | point | bare, us a step | layer, us a step | layer over bare |")
print("|---|---|---|---|---|")
for name in sorted(glob.glob(f"{out}/*.jsonl.json")):
    for p in points(name):
        axes = " ".join(f"{k}={v}" for k, v in p["axes"].items() if v is not None)
        print(f"| {os.path.basename(name)[:-11]} | {axes} | {number(p.get('a_step_ns'), 1e-3)} "
              f"| {number(p.get('b_step_ns'), 1e-3)} | {number(p.get('ratio'))} |")
END

# Which network each program stands: where a step takes 5 % longer than natively, and than under the layer
# alone, without a network.
case " $cells " in *' network '*)
	echo
	python3 - "$out" <<'END'
import glob, json, os, sys

def said(frontier, unit):
    state, value = frontier["state"], frontier["value"]
    if state == "at":
        return f"{value:.3g} {unit}"
    if state == "before":
        return "the layer alone"
    return f"not reached at {value:g} {unit}" if state == "beyond" else "-"

def ratio(v):
    if v["ratio"] is None:
        return "failed"
    return f"{v['ratio']:.3g} ({v['least']:.3g} to {v['most']:.3g}; {v['predicted']:.3g})"

for name in sorted(glob.glob(f"{sys.argv[1]}/network-*.json")):
    o = json.load(open(name))
    print(f"{' '.join(o['words'])}: {o['device']}, {o['layer']}, {o['mode']}, depth {o['depth']:g}, "
          f"n = {o['processes']}; natively {1e-3 * (o['native']['step_ns'] or float('nan')):.4g} us a step; "
          "time over native: median (least to most; model)")
    for cost in o["costs"]:
        unit = cost["unit"]
        cells = [f"{v['value']:g} {unit}: {ratio(v)}" for v in cost["values"]]
        five = next(f for f in cost["frontiers"] if f["ratio"] == 1.05)
        print(f"| {cost['name']} | " + " | ".join(cells) + " |")
        print(f"| {cost['name']}, 5 % longer | " + ", ".join(
            f"{k}: {said(five[k], unit)}" for k in ("measured", "predicted", "alone")) + " |")
    print()
END
	;;
esac

# The model of launches, of each side: c is a launch's cost in a block, p the pace of submission, Z one
# launch and a synchronize.
echo
echo "| session | side | c, us | p, us | Z, us |"
echo "|---|---|---|---|---|"
for session in "$out"/*-launch.jsonl; do
	for side in a b; do
		[ -s "$session" ] || continue
		"$rift" fit "$session" --side $side --json 2>/dev/null </dev/null |
			python3 -c '
import json, sys
try:
    fit = json.load(sys.stdin)["sides"][0]["parameters"]
except (ValueError, KeyError, IndexError):
    fit = {}
def us(name):
    v = fit.get(name) or {}
    if v.get("value") is None:
        return "-"
    return "%.4g (%.4g to %.4g)" % tuple(1e-3 * v[k] for k in ("value", "lo", "hi"))
print("|", sys.argv[1], "|", sys.argv[2], "|", us("c_ns"), "|", us("p_ns"), "|", us("z_ns"), "|")
' "$(basename "$session" .jsonl)" $side
	done
done

# The host's part of a launch, and how often it waited: bare, and under the layer.
say() { # WORDS...
	echo
	echo "rift $*"
	"$rift" "$@" 2>&1 </dev/null | grep -E '^(time per|submit per|check|rift: layer)'
}
run='run launch us=0 --depth 256 --blocks 40 --quiet'
# shellcheck disable=SC2086
case " $cells " in *' launch '*)
	say $run
	for arm in ahead strict; do
		# shellcheck disable=SC2046
		say layer $(layer_of $arm) -- "$rift" $run
	done
	;;
esac

# Programs of others, as they are: does each end as it does without the layer, and what was refused?
case " $cells " in *' samples '*)
	echo
	echo "| sample | transport | bare | layer | refused |"
	echo "|---|---|---|---|---|"
	for sample in "${SAMPLES:?SAMPLES: a folder of built samples}"/*; do
		if ! [ -f "$sample" ] || ! [ -x "$sample" ]; then continue; fi
		name=$(basename "$sample")
		(cd "$SAMPLES" && timeout 100 "$sample" >"$out/sample-$name.bare" 2>&1 </dev/null)
		bare=$?
		for transport in shm unix tcp; do
			said=$out/sample-$name.$transport
			(cd "$SAMPLES" && timeout 100 "$rift" layer remote transport=$transport -- "$sample" \
				>"$said" 2>&1 </dev/null)
			under=$?
			echo "| $name | $transport | exit $bare | exit $under |" \
				"$(sed -n 's/^rift: layer remote: not supported: //p' "$said" | paste -sd, -) |"
		done
	done
	;;
esac
