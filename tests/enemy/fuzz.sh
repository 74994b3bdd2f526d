#!/bin/sh
# fuzz.sh BINARY quick|all - damaged files through every command that reads them (fuzz.c): sessions,
# interrupted ones, cards, and the inputs of alignment, particlefilter, stereo, mlp and myocyte.
#
# `quick` takes the build of BINARY, `all` 20,000 cases under the sanitizers for addresses and
# undefined behaviour. The damage is drawn from SEED (default 1): the same cases again.
set -eu
rift=${1:?usage: fuzz.sh BINARY quick|all}
rift=$(realpath "$rift")
case ${2:?usage: fuzz.sh BINARY quick|all} in
quick)
	cases=240 build=$(basename "$(dirname "$rift")")
	case $build in cpu*) ;; *) build=cpu ;; esac
	;;
all) cases=${CASES:-20000} build=cpu-asan ;;
*)
	echo "fuzz.sh: $2: use quick or all" >&2
	exit 3
	;;
esac
cd "$(dirname "$0")/../.."
sanitize=${build#cpu}
fuzz=build/$build/tests/enemy/fuzz
if ! "${MAKE:-make}" -s -f build.mk DEVICE=cpu SANITIZE="${sanitize#-}" "$fuzz" >&2; then
	echo "fuzz: 0 passed, 1 failed: no $fuzz can be built, of the CPU device as $rift is not"
	exit 1
fi
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
jobs=$(nproc)
i=0
while [ "$i" -lt "$jobs" ]; do
	"$fuzz" $((cases * i / jobs)) $((cases * (i + 1) / jobs)) "${SEED:-1}" >"$log/$i" 2>&1 &
	i=$((i + 1))
done
wait
cat "$log"/*
done=$(sed -n 's/.*exit codes 0: \([0-9]*\), 1: \([0-9]*\), 2: \([0-9]*\), others: \([0-9]*\)$/\1 + \2 + \3 + \4/p' "$log"/* |
	tr '\n' '+')
passed=$((${done}0))
echo "fuzz: $passed passed, $((cases - passed)) failed"
[ "$passed" = "$cases" ]
