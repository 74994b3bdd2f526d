#!/bin/bash
# accept_share.sh RIFT [OUT] - several clients on one GPU: every arm, for many workloads. CELLS
# chooses, each of them some records:
#   full    binomial, blackscholes, myocyte, mlp at 1, 2, 4 and 6 clients
#   pairs   each two of these four together: with full, who hurts whom
#   beside  empty kernels beside each of them: how long short steps take
#   harm    each fault under every arm, two clients of binomial (HARM)
#   unfair  one of two clients under the layer emulate, 50 us a call: found under MPS, as between
#           processes 50 us pass while it waits for its turn
#   equal   20 times two equal clients: how many are called unfair
#   paper   the vmCUDA paper's five programs at 1, 2, 4 and 6 clients
#   others  all other workloads that have steps, at 1 and 4
#   busy    what a launch costs while the layer cpu loads all processors: alone on its host
#   tables  no measuring: OUT/tables.txt, OUT/busy.csv and OUT/charts of all that is whole
# All together take BUDGET_S seconds at most, 480 if not set: a cell that is predicted to take
# longer than what is left is not begun, and one that does is stopped. OUT keeps the records; a cell
# that is whole is not measured again, and one that was stopped goes on where it was. A record that
# was lost with its machine begins anew.
#
# Several copies may run at once with the same OUT, each with a GPU of its own by
# CUDA_VISIBLE_DEVICES, best by its UUID, which keeps MPS off the others' GPUs. A cell is whose lock
# comes first, so they deal the cells among them. Then CELLS=tables. busy disturbs all others. It
# judges nothing.
set -u
rift=$(realpath "${1:?usage: accept_share.sh RIFT [OUT]}")
out=${2:-results/share}
arms=${ARMS:-processes,mps,remote,remote+mps,remote+shared,remote-shared,streams,serial}
options=${OPTIONS:---window 0.15 --windows 1 --repetitions 7 --starts 1}
four=${WORKLOADS:-binomial blackscholes myocyte mlp}
short=${SHORT:-launch us=0}
harmed=${HARM:-binomial}
tries=${TRIES:-20}
end=$(($(date +%s) + ${BUDGET_S:-480}))
mkdir -p "$out"
missing=

left_s() { echo $((end - $(date +%s))); }

# rift's own prediction, without arms that cannot be had here, in whole seconds.
predicted_s() { # OPTION...
	local plan
	plan=$("$rift" share "$@" --dry-run --json) && python3 -c '
import json, sys
d = json.loads(sys.argv[1])
run = [s for s in d["sets"] if not s["not_run"]]
print(int(d["predicted_s"] * len(run) / len(d["sets"])) + 1)' "$plan"
}

measure() { # NAME OPTION...
	local name=$1 file=$out/$1.jsonl left needs
	shift
	left=$(left_s)
	needs=$(predicted_s "$@") || return
	[ "$left" -ge 5 ] || return
	[ -s "$file.part" ] || [ "$needs" -le "$left" ] || return
	if [ -s "$file.part" ]; then
		set -- --resume "$file.part"
	else
		set -- "$@" --output "$file"
	fi
	timeout -s INT -k 10 "$left" "$rift" share "$@" --quiet >"$out/$name.txt" 2>&1 </dev/null
}

cell() { # NAME OPTION...
	local name=$1
	[ ! -s "$out/$1.jsonl" ] || return 0
	shift
	# what it starts must not hold the lock
	# shellcheck disable=SC2086
	{ flock -n 9 && measure "$name" "$@" $options 9>&-; } 9>"$out/$name.lock"
	[ -s "$out/$name.jsonl" ] || missing+=" $name"
}

# One of the paper's programs as its table has it, "binomial preset=vmcuda-table1".
paper() {
	for w in blackscholes binomial matmul stereo radixsort; do
		cell "paper-$w" "$w" preset=vmcuda-table1 --clients "${PAPER:-1,2,4,6}" --arms "${PAPER_ARMS:-$arms}"
	done
}

pairs() {
	local a b
	# shellcheck disable=SC2086
	set -- $four
	while [ $# -gt 1 ]; do
		a=$1
		shift
		for b; do cell "pair-$a-$b" "$a" --with "$b" --clients 2 --arms "$arms"; done
	done
}

beside() {
	# shellcheck disable=SC2086
	cell beside-itself $short --clients 2 --arms "$arms"
	# shellcheck disable=SC2086
	for w in $four; do cell "beside-$w" $short --with "$w" --clients 2 --arms "$arms"; done
}

unfair() {
	# shellcheck disable=SC2086
	cell unfair $short --clients 2 --layer-of '2=emulate call=50' --arms processes,mps
}

equal() {
	local i
	for i in $(seq "$tries"); do
		# shellcheck disable=SC2086
		cell "equal-$i" $short --clients 2 --seed "$i" --arms processes
	done
}

others() {
	"$rift" list --json | python3 -c '
import json, sys
full = {"binomial", "blackscholes", "myocyte", "mlp"}
print(*(w["name"] for w in json.load(sys.stdin)["workloads"] if w["name"] not in full))'
}

# A load of the whole host may be too much for --express, which then says so.
busy() {
	local n load how file
	n=$(nproc)
	for load in ${LOADS:-25 50 75 100}; do
		file=$out/busy-$load.jsonl
		for how in ${BUSY:---express --quick}; do
			if [ -s "$file" ] || [ "$(left_s)" -lt 45 ]; then continue; fi
			timeout -s INT -k 10 "$(left_s)" "$rift" sweep launch us=0,10 --depth 1,16,256 --mode stream,graph "$how" \
				--layer "cpu n=$n share=$load" --output "$file" >"$out/busy-$load.txt" 2>&1 </dev/null
		done
		[ -s "$file" ] || missing+=" busy-$load"
	done
}

# ---- what was measured ------------------------------------------------------------------------

whole() { # RECORD...: as options, of those that are there
	from=()
	for file; do [ ! -s "$file" ] || from+=(--from "$file"); done
	[ ${#from[@]} -gt 0 ]
}

# FROM: the first line that is of interest, as sed has it.
table() { # TITLE CHARTS FROM RECORD...
	local title=$1 charts=$2 first=$3
	shift 3
	echo
	echo "== $title"
	whole "$@" || { echo "not yet run" && return; }
	if [ -n "$charts" ] && command -v gnuplot >/dev/null; then
		"$rift" share "${from[@]}" --quiet --plot "$out/charts/$charts" >/dev/null 2>&1 </dev/null ||
			echo "no charts: exit code $?"
	fi
	"$rift" share "${from[@]}" --quiet 2>&1 </dev/null | sed -n "$first,\$p"
}

# How often clients are called unfair.
count_unfair() { # FILE...
	for file; do
		[ ! -s "$file" ] || "$rift" share --from "$file" --quiet --json 2>/dev/null </dev/null
	done | python3 -c '
import collections, json, sys
text, at, n = sys.stdin.read().strip(), 0, collections.Counter()
while at < len(text):
    d, at = json.JSONDecoder().raw_decode(text, at)
    while at < len(text) and text[at].isspace(): at += 1
    for s in d["sets"]:
        if s["n"] > 1 and not s["not_run"]: n[s["arm"], s["fairness"]] += 1
for (arm, fairness), k in sorted(n.items()): print(f"{arm:14} {fairness:14} {k}")
if not n: print("not yet run")'
}

# c, p, Z and a without the load and what it adds, in ns: a line each, and busy.csv. p is there as
# c may not be identified under a full load.
busy_table() {
	local file
	echo "load_percent,parameter,base,difference,lo,hi,n" >"$out/busy.csv"
	for file in $(printf "%s\n" "$out"/busy-*.jsonl | sort -V); do
		[ -s "$file" ] || continue
		"$rift" compare "$file" --json 2>/dev/null </dev/null | python3 -c '
import json, re, sys
load = re.search(r"busy-(\d+)", sys.argv[1]).group(1)
try: d = json.load(sys.stdin)
except ValueError: print(f"{load:>4} %  nothing to compare"); sys.exit()
number = lambda v: "" if v is None else f"{v:.6g}"
for p in d["parameters"]:
    if p["name"] not in ("c", "p", "Z", "a") or p["unit"] != "ns" or p["workload"] != "launch": continue
    v = p["difference"] or {"value": None, "lo": None, "hi": None, "n": 0}
    base = (p.get("a") or {}).get("value")
    with open(sys.argv[2], "a") as out:
        print(load, p["name"], *map(number, (base, v["value"], v["lo"], v["hi"])), v.get("n", ""), sep=",", file=out)
    seen = "not known" if v["value"] is None else f"{v['"'"'value'"'"']:+.0f} ({v['"'"'lo'"'"']:.0f} to {v['"'"'hi'"'"']:.0f})"
    print(f"{load:>4} %  {p['"'"'name'"'"']:3} {seen}")' "$file" "$out/busy.csv"
	done
	[ "$(wc -l <"$out/busy.csv")" -gt 1 ] || { echo "not yet run" && return; }
	command -v gnuplot >/dev/null || return 0
	mkdir -p "$out/charts"
	gnuplot <<-END
		set datafile separator ','
		set terminal pngcairo size 900,560
		set output '$out/charts/busy.png'
		set title 'what a host whose processors are loaded adds to a launch'
		set xlabel 'load of all processors (%)'
		set ylabel 'time added (ns), 95 %'
		set key left top
		set xrange [0:110]
		beside(p) = p eq 'c' ? -1.5 : p eq 'p' ? -0.5 : p eq 'Z' ? 0.5 : 1.5
		plot for [p in 'c p Z a'] '$out/busy.csv' every ::1 \
			using (strcol(2) eq p ? column(1) + beside(p) : NaN):4:5:6 with yerrorbars title p
	END
}

tables() {
	table "several clients of one workload" full 1 "$out"/full-*.jsonl
	table "who hurts whom" pairs "/two clients/" "$out"/full-*.jsonl "$out"/pair-*.jsonl
	table "short steps beside each neighbour" beside "/two clients/" "$out"/beside-*.jsonl
	table "harm" "" "/harm hurts/" "$out"/harm-*.jsonl
	table "one of two under emulate call=50" "" 1 "$out"/unfair.jsonl
	echo
	echo "== equal clients"
	count_unfair "$out"/equal-*.jsonl
	table "the programs of the vmCUDA paper" paper 1 "$out"/paper-*.jsonl
	table "other workloads" others 1 "$out"/other-*.jsonl
	echo
	echo "== a busy host: what it adds, ns"
	busy_table
}

for kind in ${CELLS:-full pairs beside harm unfair equal paper others tables}; do
	case $kind in
	full) for w in $four; do cell "full-$w" "$w" --clients "${FULL:-1,2,4,6}" --arms "$arms"; done ;;
	pairs) pairs ;;
	beside) beside ;;
	harm)
		for fault in ${FAULTS:-crash kill hang memory}; do
			cell "harm-$fault" "$harmed" --clients 2 --fault "$fault" --arms "$arms"
		done
		;;
	unfair) unfair ;;
	equal) equal ;;
	paper) paper ;;
	others) for w in $(others); do cell "other-$w" "$w" --clients "${OTHERS:-1,4}" --arms "$arms"; done ;;
	busy) busy ;;
	tables) tables | tee "$out/tables.txt" ;;
	*) echo "CELLS: full, pairs, beside, harm, unfair, equal, paper, others, busy, tables" >&2 && exit 1 ;;
	esac
done
[ -z "$missing" ] || echo "not yet run, or by another copy:$missing"
