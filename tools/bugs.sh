#!/bin/sh
# bugs.sh - the seeded bugs of tests/bugs: each must be reported in every one of 5 runs by the
# sanitizer that is responsible, and the correct programs by none. Prints the counts.
set -eu
runs=5
# Races between blocks need two of them to run at once.
export RIFT_CPU_WORKERS=2
# main() waits for the device, so nothing comes after its end.
export TSAN_OPTIONS="atexit_sleep_ms=0:${TSAN_OPTIONS:-}"
report='(ERROR|WARNING): (Address|Thread)Sanitizer: |: runtime error: '
out=build/bugs.out
status=0

reports() { # BUILD NAME: in how many of the runs there was a report and a bad end
	n=0
	for _ in $(seq $runs); do
		rc=0
		timeout 60 "build/$1/bugs" "$2" >"$out" 2>&1 || rc=$?
		if grep -qE "$report" "$out" && [ "$rc" != 0 ]; then
			n=$((n + 1))
		elif [ "$rc" != 0 ]; then
			sed 's/^/    /' "$out" >&2
			echo "rift: $1/bugs $2 ended with $rc and no report" >&2
			n=-100
		fi
	done
	echo "$n"
}

row() { # WANTED BUILD NAME
	got=$(reports "$2" "$3")
	verdict=
	if [ "$got" != "$1" ]; then
		verdict="WRONG, should be $1"
		status=1
	fi
	printf '%-28s %-10s %s of %s  %s\n' "$3" "$2" "$got" "$runs" "$verdict"
}

printf '%-28s %-10s %s\n' program build reported
build/cpu-asan/bugs >build/bugs.list
while read -r found_by name; do
	case $found_by in
	nobody)
		row 0 cpu-asan "$name"
		row 0 cpu-tsan "$name"
		;;
	asan | tsan) row $runs "cpu-$found_by" "$name" ;;
	esac
done <build/bugs.list
exit "$status"
