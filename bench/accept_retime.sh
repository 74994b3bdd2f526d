#!/bin/bash
# accept_retime.sh BUILD [OUT] - programs with and without the recorder, in turns: how far a re-timed
# trace is off what the program takes by itself.
#
# A program times its work itself, and names it by a range of NVTX: that is what is compared. No start
# of a process is in it, which differs by more than what is looked for. In each of TURNS turns (default
# 15) a program runs once without the recorder and once with it. A turn has a ratio, re-timed over
# unrecorded, as processors are faster in one minute than in the next. The median ratio is printed, and
# from 6 turns on an interval by order statistics that holds the median in at least 95 % of cases.
#
# The programs are the ten of bench/programs.cu, each doing its work TIMES over (default 10). asks is an
# eleventh, with calls between launches that no trace has. PROGRAMS=none leaves all out. WORKLOADS="NAME
# ..." adds the timed blocks of `rift run NAME`, BLOCKS of them (default 20). PYTHON, a Python that has
# PyTorch, adds bench/mlp.py as MLP says (default: eager and graph), STEPS steps (default 500).
#
# HOST_RUNS=N: the whole program is recorded, and N runs with calls alone say how long the host takes
# (`rift profile --host-runs`); otherwise what is in the range alone is recorded. HOST_RUNS=0: the whole
# program, and no such runs.
#
# With host runs a second ratio is printed: re-timed over what these runs say that they took. They are
# slowed by the recorder of calls alone, which re-timing takes off. So it is a check of the joining, free
# of what processes differ by, and should be less than 0 by what that recorder adds.
#
# OUT keeps the last trace of each and the times of all turns; turns that are there are not run again. It
# prints figures and judges nothing.
set -u
build=$(realpath "${1:?usage: accept_retime.sh BUILD [OUT]}")
out=${2:-results/retime}
rift=$build/rift
mkdir -p "$out"
here=$(dirname "$0")
suffix=${HOST_RUNS:+.host-$HOST_RUNS} # of files, as turns of both kinds are no one sample

programs=${PROGRAMS:-mixed host launches waits gpu streams copies pinned memory graph}
[ "$programs" != none ] || programs=
if [ -n "$programs" ] && [ ! -x "$build/bench/programs" ]; then
	echo "${0##*/}: $build/bench/programs is missing; DEVICE=cuda tools/build.sh bench builds it" >&2
	exit 2
fi

# ms of the work that a run says of itself, from its output: how bench/programs and mlp.py print it.
printed_ms() {
	sed -n 's/^[a-z]*: \([0-9.]*\) ms.*/\1/p' "$1" | head -n 1
}

# The mean of what N runs behind a first one have printed of their work, ms; -: not all did. N OUTPUT
mean_of_last() {
	sed -n 's/^[a-z]*: \([0-9.]*\) ms.*/\1/p' "$2" |
		awk -v n="$1" 'NR > 1 { sum += $1 } END { if (NR == n + 1) printf "%.3f\n", sum / n; else print "-" }'
}

# ms of all timed blocks of a `rift run --json`.
blocks_ms() {
	python3 -c 'import json, sys; print(1e-6 * sum(json.load(open(sys.argv[1]))["blocks"]["t_total_ns"]))' "$1" 2>/dev/null
}

# ms of a range, as recorded and re-timed, and the kind that is told: TRACE RANGE.
range_ms() {
	"$rift" profile "$1" --json 2>/dev/null | python3 -c '
import json, sys
p = json.load(sys.stdin)
r = next((r for r in p["ranges"] if r["name"] == sys.argv[1]), None)
# host runs that tell nothing would be a turn of another kind
told = not int(sys.argv[2]) or p.get("host_runs", {}).get("gaps")
if told and r and r["retimed_ns"]:
    print(1e-6 * r["ns"], 1e-6 * r["retimed_ns"], p["verdict"] or "-")' "$2" "${HOST_RUNS:-0}"
}

# A turn a line: ms without the recorder, recorded, re-timed, the kind; with host runs, what these
# took. Missing turns are added.
turns() { # NAME RECORDED_RANGE RANGE MS_OF COMMAND...
	local name=$1 range=$3 ms_of=$4 trace=$out/$1$suffix.trace file=$out/$1$suffix.turns without with
	local what=(--range "$2")
	[ -z "${HOST_RUNS:-}" ] || what=(--ranges --host-runs "$HOST_RUNS")
	shift 4
	touch "$file"
	while [ "$(wc -l <"$file")" -lt "${TURNS:-15}" ]; do
		"$@" >"$out/log" 2>&1 && without=$($ms_of "$out/log") || without=
		rm -f "$trace"
		"$rift" profile --quiet --runs 0 --recordings 1 "${what[@]}" --output "$trace" -- "$@" >"$out/log" 2>&1
		with=$(range_ms "$trace" "$range")
		[ "${HOST_RUNS:-0}" = 0 ] || [ -z "$with" ] || with="$with $(mean_of_last "$HOST_RUNS" "$out/log")"
		if [ -z "$without" ] || [ -z "$with" ]; then
			echo "not measured: $*: $(tail -n 1 "$out/log")" >&2
			break
		fi
		echo "$without $with" >>"$file"
	done
}

line() { # NAME
	python3 - "$out/$1$suffix.turns" "$1" <<-'END'
		import math, statistics, sys
		rows = [line.split(None, 3) for line in open(sys.argv[1])]
		n = len(rows)
		if not n:
		    print(f"{sys.argv[2]:24} not measured")
		    sys.exit()
		bare, recorded, retimed = ([float(r[k]) for r in rows] for k in range(3))
		ratios = sorted(b / a for a, b in zip(bare, retimed))
		# so many of the lowest and of the highest are left out
		k = 0
		while 2 * sum(math.comb(n, i) for i in range(k + 2)) <= 0.05 * 2 ** n:
		    k += 1
		rest = [r[3].split() for r in rows]
		kinds = {r[0] for r in rest}
		light = [b / float(r[1]) for b, r in zip(retimed, rest) if len(r) > 1 and r[1] != "-"]
		interval = f"({100 * (ratios[k] - 1):+.1f} to {100 * (ratios[n - 1 - k] - 1):+.1f} %)" if n >= 6 else ""
		print(f"{sys.argv[2]:24} {n:3} {statistics.median(bare):9.2f} ({min(bare):.2f} to {max(bare):.2f})"
		      f"  {statistics.median(recorded):9.2f} {statistics.median(retimed):9.2f}"
		      f"  {100 * (statistics.median(ratios) - 1):+6.1f} % {interval:22} {', '.join(sorted(kinds))}"
		      + (f"  n = {len(light)}: {100 * (statistics.median(light) - 1):+.1f} % ({100 * (min(light) - 1):+.1f} to "
		         f"{100 * (max(light) - 1):+.1f})" if light else ""))
	END
}

printf '%-24s %3s %s\n' program n "without, ms (range)   recorded   re-timed, ms   off by (95 %)   kind   off the host runs by (range)"
for name in $programs; do
	turns "$name" work work printed_ms "$build/bench/programs" "$name" "${TIMES:-10}"
	line "$name"
done
for name in ${WORKLOADS:-}; do
	turns "run-$name" timed block blocks_ms "$rift" run "$name" --blocks "${BLOCKS:-20}" --json --quiet
	line "run-$name"
done
if [ -n "${PYTHON:-}" ]; then
	for kind in ${MLP:-eager graph}; do
		turns "mlp-$kind" work work printed_ms "$PYTHON" "$here/mlp.py" "$kind" "${STEPS:-500}"
		line "mlp-$kind"
	done
fi
