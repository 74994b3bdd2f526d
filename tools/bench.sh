#!/bin/sh
# bench.sh DEVICE - runs the benchmarks of build/DEVICE one after the other.
set -eu
device=${1:?usage: bench.sh DEVICE}
# The list is words of our own.
# shellcheck disable=SC2046
set -- $(cat "build/$device/bench.list")
if [ $# = 0 ]; then
	echo "rift: there are benchmarks of the CPU device only: make bench DEVICE=cpu"
fi
for program; do
	echo "== $program"
	"$program"
	echo
done
