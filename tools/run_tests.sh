#!/bin/sh
# run_tests.sh DEVICE all|small - runs the test programs of build/DEVICE one after the other.
#
# One at a time and one job each: tests share one device. Ends with one line of totals; fails
# when a program fails, dies, hangs, or when nothing ran. With REQUIRE_GPU=1 a test skipped for
# want of a GPU counts as failed (tests/skips.c), and so does testing the CPU device.
set -eu
device=${1:?usage: run_tests.sh DEVICE all|small}
filter=
case ${2:-all} in
all) ;;
small | large) filter="--filter $2_*/*" ;;
*)
	echo "rift: SIZE=$2: use all, small or large" >&2
	exit 3
	;;
esac
if [ -n "${REQUIRE_GPU:-}" ] && [ "$device" != cuda ]; then
	echo "rift: REQUIRE_GPU=1, but the tests are built for the CPU device" >&2
	exit 4
fi

build=build/$device
export RIFT_BIN="$PWD/$build/rift"
log=$build/tests.log
: >"$log"
status=0
passed=0 failed=0 skipped=0
# The list is words of our own.
# shellcheck disable=SC2013
for program in $(cat "$build/tests.list"); do
	echo "== $program"
	out=$program.out
	rc=0
	# The filter is one pattern or nothing.
	set -f
	# shellcheck disable=SC2086
	timeout 600 "$program" -j1 $filter >"$out" 2>&1 || rc=$?
	set +f
	cat "$out" >>"$log"
	grep -Ev '^\[====\] Synthesis|^counts:' "$out" || true
	counts=$(sed -n 's/^counts: passed \([0-9]*\) failed \([0-9]*\) skipped \([0-9]*\)$/\1 \2 \3/p' "$out" | tail -n 1)
	if [ -z "$counts" ]; then
		echo "rift: $program ended without a result (exit status $rc)"
		counts="0 1 0"
		rc=1
	fi
	[ "$rc" = 0 ] || status=1
	# shellcheck disable=SC2086
	set -- $counts
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done

if [ "$passed" = 0 ] && [ "$failed" = 0 ]; then
	echo "rift: no test ran"
	status=1
fi
echo "device: $device"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$status" = 0 ] || echo "rift: tests failed" >&2
exit "$status"
