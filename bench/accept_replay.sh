#!/bin/bash
# accept_replay.sh BUILD [OUT] - programs recorded, and replayed on the same platform: how far the
# time of a replay is off the program's own, once of the whole trace and once of a period.
#
# The programs are the ten of bench/programs.cu, each of which prints how long its work took, without
# the start of its process. They and their replays run in turns, RUNS times (default 7), and medians
# are compared; of the whole trace every third turn has a replay, as that takes six times as long as
# the rest. TIMES is how often a program does its work (default 10), RECORDINGS how many
# recordings a trace is the median one of (default 5).
#
#   re-timed  the trace without the recorder, from the first work of the device to the last wait
#   whole     a step is all of the trace, which is held against the program's work
#   period    a step is a period; so long as the row `without the recorder` of `rift run` says
#
# OUT keeps the traces; what is there already is not recorded again. It prints figures and judges
# nothing. Record on a quiet machine: kernels that were interrupted are long in the trace.
set -u
build=$(realpath "${1:?usage: accept_replay.sh BUILD [OUT]}")
out=${2:-results/replay}
rift=$build/rift
runs=${RUNS:-7}
recorded=$((runs > 5 ? runs : 5)) # the self-check takes 5
mkdir -p "$out"

median() {
	sort -g | awk 'NF { x[++n] = $1 } END { print n ? x[int((n + 1) / 2)] : "-" }'
}

# ns of a step, and of one in the program where the trace says it: PART TRACE.
step_ns() {
	"$rift" run replay "trace=$2" "part=$1" --blocks 3 --json 2>"$out/log" | awk '
		/^  "step_ns": / { inside = 1 }
		inside && $1 == "\"median\":" { step = $2 + 0; inside = 0 }
		/"name": "without the recorder"/ { named = 1 }
		named && $1 == "\"value\":" { program = 1e3 * $2; named = 0 }
		END { if (step) print step, program }'
}

program_ms() { # NAME
	"$build/bench/programs" "$1" "${TIMES:-10}" | sed -n 's/^[a-z]*: \([0-9.]*\) ms.*/\1/p'
}

printf '%-10s %-26s %12s %8s %12s %8s %14s %14s %8s\n' program "program, ms (range)" "re-timed, ms" error \
	"whole, ms" error "period, us" "replayed, us" error
for name in ${PROGRAMS:-mixed host launches waits gpu streams copies pinned memory graph}; do
	trace=$out/$name.trace
	[ -s "$trace" ] || "$rift" profile --quiet --runs "$recorded" --recordings "${RECORDINGS:-5}" --output "$trace" -- \
		"$build/bench/programs" "$name" "${TIMES:-10}" >"$out/log" 2>&1
	if ! [ -s "$trace" ]; then
		echo "not recorded: $name: $(tail -n 1 "$out/log")"
		continue
	fi
	rm -f "$out/program" "$out/whole" "$out/period"
	for turn in $(seq "$runs"); do
		program_ms "$name" >>"$out/program"
		[ $((turn % 3)) != 1 ] || step_ns whole "$trace" >>"$out/whole"
		step_ns auto "$trace" >>"$out/period"
	done
	printf '%s %s %s %s %s %s %s\n' "$(median <"$out/program")" "$(sort -g "$out/program" | head -n 1)" \
		"$(sort -g "$out/program" | tail -n 1)" "$(awk '{ print $2 }' "$out/whole" | median)" "$(median <"$out/whole")" \
		"$(awk '{ print $2 }' "$out/period" | median)" "$(median <"$out/period")" |
		awk -v name="$name" '
			function off(a, b) { return a + 0 && b + 0 ? sprintf("%+.1f%%", 100 * (a / b - 1)) : "-" }
			{ printf "%-10s %-26s %12.2f %8s %12.2f %8s %14.2f %14.2f %8s\n", name, $1 " (" $2 " to " $3 ")",
				$4 / 1e6, off($4 / 1e6, $1), $5 / 1e6, off($5 / 1e6, $1), $6 / 1e3, $7 / 1e3, off($7, $6) }'
done
