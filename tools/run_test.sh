#!/bin/sh
# run_test.sh all|small|large PROGRAM - runs one test program, for run_tests.sh: prints a line, and what
# the program said if it failed, in one piece, as another may run beside it. All of it is in
# PROGRAM.out, and "passed failed skipped" in PROGRAM.counts. $TESTS_DONE, where it is set, names a file with
# a line for each program that has ended, of $TESTS_TOTAL, since $TESTS_BEGUN (seconds of the epoch). Fails when the program fails, dies or hangs, and when it
# has no test, or one that neither size runs.
set -eu
program=${2:?usage: run_test.sh all|small|large PROGRAM}
case $1 in
all) filter='*' ;;
*) filter="$1_*/*" ;;
esac
build=${program#build/}
build=build/${build%%/*}
export RIFT_BIN="$PWD/$build/rift"
# Programs run beside each other on few cores, where a thread of the CPU device that polls for long
# (200 us by default) keeps the one that it waits for from running. A test of the polling sets it.
export RIFT_CPU_SPIN_US="${RIFT_CPU_SPIN_US:-10}"

# Such a program ends with one line when it uses the device after all.
if [ "$build" = build/cpu-asan ] && grep -qxF '/* sanitizers: one thread */' "${program#"$build/"}.c"; then
	export RIFT_CPU_WORKERS='none, as the test says that it has one thread'
fi

# A report of a sanitizer is a file, whichever process it is about and wherever its stderr goes.
report=$PWD/$program.report
case $build in
*-*san)
	rm -f "$report".*
	export ASAN_OPTIONS="${ASAN_OPTIONS:-}:log_path=$report"
	export UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:log_path=$report"
	export TSAN_OPTIONS="${TSAN_OPTIONS:-}:log_path=$report"
	;;
esac

rc=0
# A test that runs other test programs by this script counts none of them.
(
	unset TESTS_DONE
	exec timeout 600 "$program" -j1 --filter "$filter"
) >"$program.out" 2>&1 || rc=$?
# Not of a program that says that it makes faults on purpose.
source=${program#"$build/"}.c
for file in "$report".*; do
	if [ -e "$file" ] && ! grep -sqxF '/* sanitizers: faults on purpose */' "$source"; then
		cat "$file" >>"$program.out"
	fi
done
# There are hundreds of programs: where all is well, few other processes are started.
awk '/^counts: passed [0-9]+ failed [0-9]+ skipped [0-9]+$/ { last = $3 " " $5 " " $7 }
	END { if (last) print last }' "$program.out" >"$program.counts"
said=''
if [ "$rc" != 0 ] || ! [ -s "$program.counts" ]; then
	said=$(grep -Ev '^\[====\] Synthesis|^counts:' "$program.out" || true)
fi
if ! [ -s "$program.counts" ]; then
	echo "0 1 0" >"$program.counts"
	said="$said
rift: $program ended without a result (exit status $rc)"
	rc=1
fi

# A suite under another name would run under neither size, and nobody would miss it. Under sanitizers
# the suites are the same.
case $build in
*-*san) suites=small_ ;;
*) suites=$(timeout 60 "$program" --list 2>/dev/null | sed -n 's/^\([^ ]*\): [0-9]* tests*$/\1/p') ;;
esac
lost=''
for suite in ${suites:-none}; do
	case $suite in small_* | large_*) continue ;; esac
	said="${said:+$said
}rift: $program: suite $suite: the name of a suite begins with small_ or large_"
	lost=yes
done
if [ -n "$lost" ]; then
	read -r p f s <"$program.counts"
	echo "$p $((f + 1)) $s" >"$program.counts"
	rc=1
fi
# "  12 of 346, 4 min left: "
progress() {
	[ -n "${TESTS_DONE:-}" ] || return 0
	echo >>"$TESTS_DONE"
	ended=$(wc -l <"$TESTS_DONE")
	left=$((($(date +%s) - TESTS_BEGUN) * (TESTS_TOTAL - ended) / ended))
	printf '%4d of %d, ' "$ended" "$TESTS_TOTAL"
	if [ "$left" -ge 90 ]; then
		printf '%d min left: ' $(((left + 30) / 60))
	else
		printf '%d s left: ' "$left"
	fi
}
read -r p f s <"$program.counts"
result="$p passed"
[ "$f" = 0 ] || result="$result, $f FAILED"
[ "$s" = 0 ] || result="$result, $s skipped"
printf '%s%s: %s\n%s' "$(progress)" "$program" "$result" "${said:+$said
}"
[ "$rc" = 0 ]
