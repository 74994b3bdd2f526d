#!/bin/bash
# accept_remote.sh RIFT [OUT] - what the layer remote costs: each figure of the bare machine, under the
# layer, and under it with strict=yes, where each call waits for its answer. Sides are measured by
# pairs (sweep --layer). Asked for are a launch's call, a launch and a wait, the pace of launches,
# copies, and programs. It prints and judges nothing. OPTIONS, PROGRAMS and CELLS="launch graph copies
# programs" choose. OUT keeps the sessions; what is there already is not measured again.
set -u
rift=$(realpath "${1:?usage: accept_remote.sh RIFT [OUT]}")
out=${2:-results/remote}
options=${OPTIONS:---processes 5 --rounds 5}
programs=${PROGRAMS:-blackscholes blackscholes.options=256k binomial binomial.options=64
	matmul matmul.n=256 stereo myocyte radixsort --depth 1,16}
mkdir -p "$out"

measure() { # NAME LAYER WORDS...
	local name=$out/$1.jsonl layer=$2
	shift 2
	if ! [ -s "$name" ]; then
		rm -f "$name"*
		# shellcheck disable=SC2086
		timeout 280 "$rift" sweep "$@" $options --layer "$layer" --quiet --output "$name" \
			>"$name.txt" 2>&1 </dev/null
	fi
	"$rift" compare "$name" --json >"$name.json" 2>/dev/null </dev/null || [ -s "$name.json" ]
}

for arm in ahead strict; do
	layer=remote
	[ $arm = strict ] && layer='remote strict=yes'
	for cell in ${CELLS:-launch graph copies programs}; do
		# shellcheck disable=SC2086
		case $cell in
		launch) measure "$arm-launch" "$layer" launch us=0 --depth 1,16,256 --mode stream ;;
		graph) measure "$arm-graph" "$layer" launch us=0 --depth 1,16,256 --mode graph ;;
		copies)
			for host in pinned pageable; do
				for dir in h2d d2h; do
					measure "$arm-$dir-$host" "$layer" transfer "host=$host" "dir=$dir" \
						"bytes=${BYTES:-64,64k,16M}" --depth 1,16
				done
			done
			;;
		programs) measure "$arm-programs" "$layer" $programs --mode stream ;;
		*) echo "CELLS: launch, graph, copies, programs" >&2 && exit 1 ;;
		esac
	done
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

# The host's part of a launch, and how often it waited: bare, and under the layer.
say() { # WORDS...
	echo
	echo "rift $*"
	"$rift" "$@" 2>&1 </dev/null | grep -E '^(time per|submit per|check|rift: layer)'
}
run='run launch us=0 --depth 256 --blocks 40 --quiet'
# shellcheck disable=SC2086
{
	say $run
	say layer remote -- "$rift" $run
	say layer remote strict=yes -- "$rift" $run
}
