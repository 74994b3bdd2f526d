#!/bin/bash
# accept_warmup.sh RIFT [OUT] - what warming up changes: blocks of 1, 10 and 100 steps from a process's
# first on, rested, resumed and following another process, with clocks beside them.
#
#   short, long       kernels of 5 us and of 1 ms that compute alone
#   reused, fresh     the same kernel on 20 MB that a step uses again, and on 32 such sets in turn
#   streamed          and on data that every step copies from the host
#   eager             short, with CUDA_MODULE_LOADING=EAGER: what loading lazily puts off
#   rested            reused, after 30 s of idling; the others after REST seconds (5)
#
# CELLS="short long ..." chooses. OUT keeps a file each; what is there already is not measured again.
# What would not end within LIMIT seconds (280) is left for the next time, but for the first one: run it
# again for the rest. It prints figures and judges nothing: that a chart is not drawn, as where there
# is no gnuplot, is one line.
set -u
rift=$(realpath "${1:?usage: accept_warmup.sh RIFT [OUT]}")
out=${2:-results/warmup}
mkdir -p "$out"

begun=
# By three depths: two times of idling, three curves, two processes that start.
takes_s() { # RESTING
	awk -v rest="$1" -v curve="${CURVE:-2}" -v n="${PROCESSES:-1}" \
		'BEGIN { printf "%d", n * 3 * (2 * rest + 3 * curve + 4) }'
}

curves() { # NAME RESTING PARAMETERS...
	local file=$out/$1.json
	if ! [ -s "$file" ]; then
		if [ -n "$begun" ] && [ $((SECONDS + $(takes_s "$2"))) -gt "${LIMIT:-280}" ]; then
			echo "$1: not yet measured; run this again"
			return
		fi
		begun=yes
		"$rift" probe --warmup "${@:3}" --rest "$2" --seconds "${CURVE:-2}" --processes "${PROCESSES:-1}" \
			--quiet --output "$file" >"$file.txt" 2>&1 </dev/null ||
			echo "$1: exit code $?, see $file.txt"
	fi
	[ -s "$file" ] || return
	echo "== $1"
	"$rift" show "$file"
	"$rift" plot "$file" --quiet
}

rest=${REST:-5}
for cell in ${CELLS:-short long reused fresh streamed eager rested}; do
	case $cell in
	short) curves short "$rest" launch us=5 ;;
	long) curves long "$rest" launch us=1000 ;;
	reused) curves reused "$rest" blackscholes options="${OPTIONS:-1M}" slots=1 ;;
	fresh) curves fresh "$rest" blackscholes options="${OPTIONS:-1M}" slots=32 ;;
	streamed) curves streamed "$rest" blackscholes options="${OPTIONS:-1M}" data=streamed ;;
	eager) CUDA_MODULE_LOADING=EAGER curves eager "$rest" launch us=5 ;;
	rested) curves rested "${LONG_REST:-30}" blackscholes options="${OPTIONS:-1M}" slots=1 ;;
	*) echo "CELLS: short, long, reused, fresh, streamed, eager, rested" >&2 && exit 1 ;;
	esac
done
exit 0
