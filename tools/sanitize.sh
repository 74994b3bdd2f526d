#!/bin/sh
# sanitize.sh - the small tests and the seeded bugs on the CPU device, under the sanitizers: once
# for addresses and undefined behaviour, once for races. Kernels and host code are both checked.
#
# A report ends the process that it is about and fails the run, also where the test itself had
# already passed: neither Criterion nor a test may look at how that process ends. Left out of both are the
# large suites, and under the thread sanitizer test programs that say so in a line of their own:
#
#   sanitizers: one thread      they start none, neither of their own nor by using the device:
#                               parsers, models, statistics, charts, rift's commands on files. That
#                               it is true is seen under the address sanitizer, where
#                               tools/run_test.sh gives them a device that ends any program that
#                               uses it.
#   sanitizers: seen elsewhere  others show the same: these do little but run rift with one option
#                               after the other, give other data to kernels that run under it in the
#                               workload's tests of modes, wait for the device before they read, or
#                               reach only lines that others reach. With BRIEF=yes, as in CI, the
#                               address sanitizer leaves them out, too
#
#   sanitizers: races seen elsewhere  the same, of threads alone: the address sanitizer runs them
#
#   sanitizers: faults on purpose  reports on processes that it starts are what it is about
set -eu
cpu() { "${MAKE:-make}" --no-print-directory -f build.mk DEVICE=cpu "$@"; }

cpu SANITIZE=asan tests
cpu SANITIZE=tsan tests

# Tests that call make have no part in this one's jobs.
unset MAKEFLAGS MFLAGS

# What the user set comes last and wins.
# With BRIEF=yes undefined behaviour is an illegal instruction (build.mk).
export ASAN_OPTIONS="detect_leaks=1:handle_sigill=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
# Programs wait for what they submit, so none needs the second that the runtime sleeps at its end.
export TSAN_OPTIONS="halt_on_error=1:atexit_sleep_ms=0:${TSAN_OPTIONS:-}"

# The thread sanitizer needs memory where it expects it: no address is drawn at random. Where a
# container forbids that, most kernels draw few enough bits.
fixed=
if setarch -R true 2>/dev/null; then fixed='setarch -R'; fi

status=0
$fixed tools/run_tests.sh small cpu-tsan cpu-asan || status=1
for build in cpu-asan cpu-tsan; do
	log=build/$build/tests.log
	if grep -E '(ERROR|WARNING): [A-Za-z]*Sanitizer|: runtime error: ' "$log" >>"build/$build/tests.failed"; then
		echo "rift: reports of a sanitizer, see $log" >>"build/$build/tests.failed"
		status=1
	fi
done
echo "==== seeded bugs"
$fixed tools/bugs.sh || status=1
cat build/cpu-asan/tests.failed build/cpu-tsan/tests.failed >&2
exit "$status"
