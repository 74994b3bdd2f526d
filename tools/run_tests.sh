#!/bin/sh
# run_tests.sh all|small|large BUILD... - runs the test programs of each build/BUILD, the builds'
# in one queue, and ends with a line of totals for each. A line a program says how many are left.
#
# On a GPU, which they share, half as many at a time as there are processors, at most six: more are
# slowed by each other. On the CPU device, where each process has one of its own, four more than there
# are processors, as many wait for something.
# Fails when a program fails, dies, hangs, or when nothing ran. With REQUIRE_GPU=1 a test skipped for want of a GPU
# counts as failed (tests/skips.c), and so does testing the CPU device.
set -eu
size=${1:?usage: run_tests.sh all|small|large BUILD...}
shift
case $size in
all | small | large) ;;
*)
	echo "rift: SIZE=$size: use all, small or large" >&2
	exit 3
	;;
esac
if [ -n "${REQUIRE_GPU:-}" ] && [ "$*" != cuda ]; then
	echo "rift: REQUIRE_GPU=1, but the tests are built for the CPU device" >&2
	exit 4
fi
case "$*" in
cuda) at_once=$(($(nproc) < 12 ? ($(nproc) + 1) / 2 : 6)) ;;
*) at_once=$(($(nproc) + 4)) ;;
esac

# Those that say so in a line of their own wait more than they compute: one of them follows each
# six others. These are the ones of workloads first, the long ones, so that no core waits at the end.
in_order() {
	early=$(grep -rlxF --include='test_*.c' '/* begins early: it waits long */' tests workloads layers |
		tr '\n' ' ')
	for build; do cat "build/$build/tests.list"; done | tr ' ' '\n' | sort -t / -k 3,3r -s |
		awk -v early="$early" '
		BEGIN {
			n = split(early, source, " ")
			for (i = 1; i <= n; i++)
				is_early[source[i]] = 1
		}
		{
			name = $0 ".c"
			sub(/^build\/[^\/]*\//, "", name)
			if (name in is_early)
				waits[n_waits++] = $0
			else
				other[n_other++] = $0
		}
		END {
			for (i = 0; i < n_other || i < 6 * n_waits; i++) {
				if (i % 6 == 0 && i / 6 < n_waits)
					print waits[i / 6]
				if (i < n_other)
					print other[i]
			}
		}'
}

TESTS_DONE=$(mktemp)
trap 'rm -f "$TESTS_DONE"' EXIT
trap 'exit 1' INT TERM
TESTS_TOTAL=$(for build; do cat "build/$build/tests.list"; done | wc -w)
TESTS_BEGUN=$(date +%s)
export TESTS_DONE TESTS_TOTAL TESTS_BEGUN

report='(ERROR|WARNING): [A-Za-z]*Sanitizer|: runtime error: '

# By xargs, which an interrupt ends.
status=0
in_order "$@" | xargs -P "$at_once" -n 1 tools/run_test.sh "$size" || status=1

# What failed while others ran may have lacked a processor in time: it runs once more, alone, and says
# so. Not with a report of a sanitizer, which is a finding, however rare.
passes_alone() { # BUILD...
	for build; do
		# shellcheck disable=SC2013
		for program in $(cat "build/$build/tests.list"); do
			read -r _ f _ <"$program.counts" || return 1
			[ "$f" != 0 ] || continue
			if grep -qE "$report" "$program.out"; then return 1; fi
			cp "$program.out" "$program.beside.out"
			echo "  failed beside others, once more alone: $program"
			env -u TESTS_DONE tools/run_test.sh "$size" "$program" || return 1
		done
	done
}
[ "$status" = 0 ] || { passes_alone "$@" && status=0; }

for build; do
	: >"build/$build/tests.log"
	passed=0 failed=0 skipped=0
	: >"build/$build/tests.failed"
	# The list is words of our own.
	# shellcheck disable=SC2013
	for program in $(cat "build/$build/tests.list"); do
		cat "$program.out" >>"build/$build/tests.log"
		read -r p f s <"$program.counts"
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		# Said once more at the end, where a log that is cut short still has it.
		if [ "$f" != 0 ]; then
			echo "failed: $program"
			sed -n 's/^\[\(FAIL\|----\|CRASH\)\]/   &/p' "$program.out" | head -n 20
		fi >>"build/$build/tests.failed"
	done
	cat "build/$build/tests.failed"
	if [ "$passed" = 0 ] && [ "$failed" = 0 ]; then
		echo "rift: no test ran"
		status=1
	fi
	echo "device: $build"
	echo "$passed passed, $failed failed, $skipped skipped"
	sed -n 's/^skipped: [^ ]* /   skipped: /p' "build/$build/tests.log" | sort | uniq -c | sort -rn |
		sed 's/^ *\([0-9]*\) *skipped: /   \1 skipped: /'
done
[ "$status" = 0 ] || echo "rift: tests failed" >&2
exit "$status"
