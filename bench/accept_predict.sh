#!/bin/bash
# accept_predict.sh BUILD [OUT] - programs profiled without a layer, priced under layers, and
# run there: what `rift profile` calls them, and how far the prices are off.
#
# A program runs without the layer and under it in turns, RUNS times (default 7): held against each
# other are how many times as long it takes, as priced and as measured. So what a machine does to all
# processes alike is in neither. What a layer adds to the start of a process is not priced. Programs
# that print how long their work took, those of bench/programs.cu and bench/mlp.py, are held against
# each other by it, and what B adds to the process is added to it. Others are held against each other
# as whole processes. What starts differ by is measured with a program that does nothing else, in three
# times as many turns, and taken out.
#
# The programs, named before any was priced: the ten of bench/programs.cu (PROGRAMS=none: none of them);
# with WORKLOADS="NAME ...", `rift run NAME`, BLOCKS blocks of each (default 20); with SAMPLES, a folder of
# NVIDIA's samples built with a shared runtime, BlackScholes, binomialOptions and simpleCudaGraphs;
# with PYTHON, a Python that has PyTorch, bench/mlp.py as MLP says (default: eager and graph).
#
# TIMES is how often a program of ours does its work (default 10), RECORDINGS how many recordings the
# trace is the median one of (default 5). UNDER="WORDS;WORDS" are the
# layers, as rift layer takes them (default: emulated ones whose costs are known exactly, and shim).
# LAYERS="NAME ..." are rows of bench/layer_rows.sh, from the folder THIRD. SWEEP is how long a session
# of launches takes (default --quick).
# OUT keeps traces, sessions and call costs; what is there already is not measured again. It prints
# figures and judges nothing.
set -u
build=$(realpath "${1:?usage: accept_predict.sh BUILD [OUT]}")
out=${2:-results/predict}
rift=$build/rift
if [ ! -x "$build/bench/programs" ]; then
	echo "${0##*/}: $build/bench/programs is missing; DEVICE=cuda tools/build.sh bench builds it" >&2
	exit 2
fi
runs=${RUNS:-7}
recorded=$((runs > 5 ? runs : 5)) # the self-check takes 5
mkdir -p "$out"
IFS=';' read -r -a words_of <<<"${UNDER-shim;emulate call=5;emulate call=20;emulate call=100}"
layers=${THIRD:-.layers/third}
# shellcheck source=bench/layer_rows.sh
. "$(dirname "$0")/layer_rows.sh"
trap end_daemon EXIT
programs=()
names=${PROGRAMS:-mixed host launches waits gpu streams copies pinned memory graph}
[ "$names" != none ] || names=
for name in $names; do
	programs+=("$build/bench/programs $name ${TIMES:-10}")
done
for name in ${WORKLOADS:-}; do
	programs+=("$rift run $name --blocks ${BLOCKS:-20}")
done
for name in BlackScholes binomialOptions simpleCudaGraphs; do
	[ ! -x "${SAMPLES:-}/$name" ] || programs+=("$SAMPLES/$name")
done
if [ -n "${PYTHON:-}" ]; then
	for kind in ${MLP:-eager graph}; do
		programs+=("$PYTHON $(dirname "$0")/mlp.py $kind")
	done
fi

# A member of an object of the indented JSON that rift writes: FILE OBJECT NAME; OBJECT "": its own.
member() {
	awk -v object="$2" -v name="\"$3\":" '
		/^  "/ { at = $1 }
		(object == "" || at == "\"" object "\":") && $1 == name {
			sub(/^[^:]*: /, "")
			sub(/,$/, "")
			gsub(/"/, "")
			print
			exit
		}' "$1"
}

# The work that a program of ours has printed, ms; "-" of others. OUTPUT COMMAND...
printed_ms() {
	case "$*" in
	*bench/programs\ * | *mlp.py\ *) ;;
	*) echo - && return ;;
	esac
	awk '/^[a-z]+: [0-9.]+ ms/ { print $2; found = 1; exit } END { if (!found) print "-" }' "$1"
}

# A command without the layer and under it, in N turns, a line a turn: wall time without and with, ms,
# and what it printed of its work. Nothing where one of them fails.
turns() { # N WORDS COMMAND...
	local n=$1 words=$2 begin middle end bare
	shift 2
	for _ in $(seq "$n"); do
		begin=$(date +%s%N)
		"$@" >"$out/said" 2>/dev/null || break
		middle=$(date +%s%N)
		bare=$(printed_ms "$out/said" "$@")
		end=$(date +%s%N) # what this script does in between is not timed
		# shellcheck disable=SC2086 # words of a layer
		"$rift" layer --quiet $words -- "$@" >"$out/said" 2>/dev/null || break
		echo "$(((middle - begin) / 1000)) $((($(date +%s%N) - end) / 1000)) $bare $(printed_ms "$out/said" "$@")"
	done | awk -v n="$n" '
		{ line[NR] = $1 / 1000 " " $2 / 1000 " " $3 " " $4 }
		END { if (NR == n) for (i = 1; i <= n; i++) print line[i] }'
}

column_median() { # FILE COLUMN
	awk -v k="$2" '{ print $k }' "$1" | sort -g | awk '{ x[NR] = $1 } END { if (NR) print x[int((NR + 1) / 2)] }'
}

stem() { # "build/bench/programs mixed" -> programs-mixed
	local words
	read -r -a words <<<"$1"
	words[0]=$(basename "${words[0]}")
	local IFS=-
	echo "${words[*]}" | tr -c 'A-Za-z0-9.\n-' '-'
}

# A file that is there is kept; one that was cut off is not.
keep() { # FILE COMMAND...
	local file=$1
	shift
	[ ! -s "$file" ] || return 0
	rm -f "$file" "$file.part" "$file.visits"
	"$@" >"$out/log" 2>&1 || echo "not measured: $*: $(tail -n 1 "$out/log")"
}

echo "== kinds"
echo "wall times in ms; off by: re-timed over the median of those without the recorder"
printf '%-28s %-18s %9s %-26s %-26s %7s  %s\n' program kind recorded re-timed without "off by" self-check
for p in "${programs[@]}"; do
	trace=$out/$(stem "$p").trace
	# shellcheck disable=SC2086 # words of a command
	keep "$trace" "$rift" profile --quiet --runs "$recorded" --recordings "${RECORDINGS:-5}" --output "$trace" -- $p
	[ -s "$trace" ] || continue
	"$rift" profile "$trace" --json >"$out/json" 2>/dev/null
	{
		member "$out/json" "" recorded_ns
		for side in predicted without_recorder; do
			for value in value_ns lo_ns hi_ns; do
				member "$out/json" $side $value
			done
		done
	} | awk -v p="$(stem "$p")" -v kind="$(member "$out/json" "" verdict)" -v check="$(member "$out/json" "" self_check)" '
		function interval(i) { return sprintf("%.0f (%.0f to %.0f)", x[i] / 1e6, x[i + 1] / 1e6, x[i + 2] / 1e6) }
		{ x[NR] = $1 }
		END {
			off = NR == 7 && x[5] > 0 ? sprintf("%+.1f%%", 100 * (x[2] / x[5] - 1)) : "-"
			printf "%-28s %-18s %9.0f %-26s %-26s %7s  %s\n", p, kind, x[1] / 1e6, interval(2), interval(5), off, check
		}'
done

echo "== prices"
echo "times on B for one on A: priced with its 95 % interval, measured with the range of its turns"
echo "errors: of that ratio, and of what B adds, where the machine was slower than when it was recorded"
printf '%-28s %-16s %-22s %-22s %7s %7s\n' program layer priced measured ratio added
price() { # NAME WORDS
	local under=$1 given=$2 start p trace measured
	# shellcheck disable=SC2086
	keep "$out/$under.jsonl" "$rift" sweep launch ${SWEEP:---quick} --quiet --layer "$given" --output "$out/$under.jsonl"
	# Processes of both sides in turns: a machine changes from minute to minute.
	[ -s "$out/$under.json" ] || rm -f "$out/$under.native.json"
	keep "$out/$under.json" "$rift" probe --quiet --layer "$given" --native "$out/$under.native.json" \
		--output "$out/$under.json"
	measured=$out/start.$under.ms
	[ -s "$measured" ] || turns $((3 * runs)) "$given" "$build/bench/programs" start >"$measured"
	start=$(awk -v a="$(column_median "$measured" 1)" -v b="$(column_median "$measured" 2)" 'BEGIN { print b - a }')
	echo "$under adds $start ms to the start of a process"
	for p in "${programs[@]}"; do
		trace=$out/$(stem "$p").trace
		measured=$out/$(stem "$p").$under.ms
		# shellcheck disable=SC2086
		[ -s "$measured" ] || turns "$runs" "$given" $p >"$measured"
		"$rift" predict "$trace" --from "$out/$under.jsonl:a" --on "$out/$under.jsonl:b" \
			--from-costs "$out/$under.native.json" --costs "$out/$under.json" --json >"$out/json" 2>"$out/log" || {
			printf '%-28s %-20s no price: %s\n' "$(stem "$p")" "$under" "$(head -n 1 "$out/log")"
			continue
		}
		# Ratios turn by turn, as the two runs of a turn see the same machine.
		awk '$3 + 0 && $4 + 0 { print $3, $4; next } { print $1, $2 - '"$start"' }' "$measured" >"$out/pairs"
		awk '{ print $2 / $1 }' "$out/pairs" | sort -g | awk \
			-v on_a="$(column_median "$out/pairs" 1)" -v on_b="$(column_median "$out/pairs" 2)" -v p="$(stem "$p")" \
			-v layer="$under" -v slow="$(member "$out/json" "" slow_copies)" -v work="$(awk '$3 + 0 && $4 + 0' "$measured" | wc -l)" \
			-v a="$(member "$out/json" a value_ns)" -v b="$(member "$out/json" b value_ns)" \
			-v lo="$(member "$out/json" b lo_ns)" -v hi="$(member "$out/json" b hi_ns)" '
			{ ratio[NR] = $1 }
			# of the work alone: what B adds to the process is added to it
			function priced(ns) { return work ? 1 + (ns - a) / (1e6 * on_a) : ns / a }
			END {
				if (!NR) {
					printf "%-28s %-16s does not run there\n", p, layer
					exit
				}
				n = NR
				taken = (ratio[int((n + 1) / 2)] + ratio[int(n / 2) + 1]) / 2
				meet = priced(lo) <= ratio[n] && ratio[1] <= priced(hi)
				printf "%-28s %-16s %6.3f %5.3f to %-6.3f %6.3f %5.3f to %-6.3f %+6.1f%% %+6.1f%%    %s%s\n", p, layer,
					priced(b), priced(lo), priced(hi), taken, ratio[1], ratio[n], 100 * (priced(b) / taken - 1),
					100 * ((on_a + (b - a) / 1e6) / on_b - 1), meet ? "they meet" : "apart", slow == "true" ? ", copies are doubtful" : ""
			}'
	done
}
for name in "${words_of[@]}"; do
	[ -z "$name" ] || price "$(stem "$name")" "$name"
done
for name in ${LAYERS:-}; do
	is_here "$name" || continue
	begin "$name"
	price "$name" "$(words "$name")"
	end_daemon
done
