#!/bin/bash
# accept_emulate.sh RIFT [OUT] - known costs of the layer emulate, found again by pairs in turns.
#   truth   5 us more a launch, and 20 us more a synchronize, a copy and an allocation: call-5,
#           sync-20, copy-20 and alloc-20
#   null    the preset native against nothing: how many findings there are
#   sets    SETS random pairs of costs, drawn from SEED: how often the interval of b - a holds what
#           was added, and how wide it is
# CELLS="truth null sets" chooses. OUT keeps the sessions; what is there already is not measured
# again. It prints figures and judges nothing.
set -u
rift=$(realpath "${1:?usage: accept_emulate.sh RIFT [OUT]}")
out=${2:-results/emulate}
options=${OPTIONS:---depth 1,16,64 --mode stream --express --processes 9 --rounds 8}
base=${BASE:-40}
mkdir -p "$out"

# In truth and sets both sides are under the layer, and each launch and each synchronize has BASE us
# on both (default 40): calls themselves take longer the longer ago the last one was
# (bench/spacing.cu, docs/validation.md).
pair() { # NAME COSTS_A COSTS_B WORKLOAD...
	local name=$out/$1.jsonl a=$2 b=$3
	shift 3
	if ! [ -s "$name" ]; then
		rm -f "$name"*
		# shellcheck disable=SC2086
		"$rift" layer --quiet emulate $a -- "$rift" sweep "$@" $options --quiet --output "$name" \
			--against "env -u RIFT_LAYERS -u RIFT_LAYER_EMULATE '$rift' layer --quiet emulate $b --" \
			>"$name.txt" 2>&1 </dev/null
	fi
	"$rift" compare "$name" --json >"$name.json" 2>/dev/null </dev/null || [ -s "$name.json" ]
}

# What was added, in us, to a parameter or to a step at a depth; and what was found.
found() { # NAME PARAMETER ADDED_US
	python3 - "$out/$1.jsonl.json" "$1" "$2" "$3" <<-'END'
		import json, math, sys
		path, name, what, added = sys.argv[1:]
		added = 1000 * float(added)

		# The median of what pairs of processes differ by at a depth, ns a step, and its interval
		# by ranks, of 95 % or more. A ratio times the median of one side is something else
		# where its processes are of two kinds.
		def pairs(session, depth):
		    ns = {}
		    for line in open(session):
		        r = json.loads(line)
		        if r["record"] == "point" and r["axes"]["depth"] == depth and "summary" in r:
		            ns[r["side"], r["process_index"]] = r["summary"]["t_total_ns"]["median"] / depth
		    differ = sorted(ns["b", i] - ns["a", i] for s, i in ns if s == "a" and ("b", i) in ns)
		    n = len(differ)
		    if n < 6: return None
		    low = next(k for k in range(n) if sum(math.comb(n, i) for i in range(k + 1)) > 0.025 * 2**n) - 1
		    return (differ[n // 2] + differ[(n - 1) // 2]) / 2, differ[low], differ[n - 1 - low]

		try:
		    d = json.load(open(path))
		except ValueError:
		    print(f"{name:14} nothing to compare"); sys.exit()
		if what in ("c", "p", "Z", "a"):
		    v = next((p["difference"] for p in d["parameters"] if p["name"] == what), None)
		    v = v and v["lo"] is not None and (v["value"], v["lo"], v["hi"])
		else:
		    v = pairs(path.removesuffix(".json"), int(what))
		if not v:
		    print(f"{name:14} {what}: not identified"); sys.exit()
		value, lo, hi = v
		holds = "holds" if lo <= added <= hi else "misses"
		print(f"{name:14} {what}: added {added:.0f} ns, found {value:.0f} ({lo:.0f} to {hi:.0f}), half-width {(hi - lo) / 2:.0f}: {holds}")
	END
}

cells=" ${CELLS:-truth null sets} "
for cell in ${cells/ truth / call-5 sync-20 copy-20 alloc-20 }; do
	case $cell in
	call-5)
		pair call-5 "call=$base" "call=$((base + 5))" launch us=0 && found call-5 p 5 && found call-5 Z 5
		;;
	sync-20)
		pair sync-20 "call=$base sync=$base" "call=$base sync=$((base + 20))" launch us=0 && found sync-20 Z 20
		;;
	copy-20)
		pair copy-20 "call=$base" "call=$base copy=20" transfer bytes=4 && found copy-20 16 20
		;;
	alloc-20)
		pair alloc-20 "call=$base alloc=$base" "call=$base alloc=$((base + 20))" memory bytes=1M && found alloc-20 16 20
		;;
	null)
		options=${NULL_OPTIONS:---depth 1,4,16,64,256 --mode stream,graph --quick --processes 9} \
			pair null call=0 preset=native launch us=0,1,2,3,5,7,10,15,20,30
		python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
v = [p["verdict"] for p in d["points"]]
r = d["workloads"][0]["ratio"]
print("null:", len(v), "points,", sum(x in ("slower", "faster") for x in v), "findings; mean ratio",
      "%.4f (%.4f to %.4f)" % (r["value"], r["lo"], r["hi"]))
' "$out/null.jsonl.json"
		;;
	sets)
		python3 -c '
import random, sys
r, base = random.Random(int(sys.argv[2])), int(sys.argv[3])
for k in range(int(sys.argv[1])):
    call, sync = base + r.uniform(0, 5), base + r.uniform(0, 20)
    more, waits = r.uniform(0.2, 10), r.uniform(0.5, 40)
    print(f"{k:02d} {call:.3f} {sync:.3f} {call + more:.3f} {sync + waits:.3f} {more:.3f} {more + waits:.3f}")
' "${SETS:-20}" "${SEED:-1}" "$base" >"$out/sets"
		while read -r k call sync call_b sync_b more z; do
			pair "set-$k" "call=$call sync=$sync" "call=$call_b sync=$sync_b" launch us=0
			found "set-$k" p "$more"
			found "set-$k" Z "$z"
		done <"$out/sets" | tee "$out/sets.txt"
		for p in p Z; do
			echo "sets, $p: $(grep -c " $p: .*holds" "$out/sets.txt") of $(grep -c " $p: " "$out/sets.txt") hold"
		done
		;;
	*) echo "CELLS: truth, call-5, sync-20, copy-20, alloc-20, null, sets" >&2 && exit 1 ;;
	esac
done
