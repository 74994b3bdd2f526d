#!/bin/sh
# bugs.sh [WANTED BUILD NAME] - the seeded bugs of tests/bugs: each must be reported in every one
# of 5 runs by the sanitizer that is responsible, and the correct programs by none. Prints the
# counts; two programs at a time. With arguments: of one, to be reported in WANTED runs.
set -eu
runs=5
# Races between blocks need two of them to run at once.
export RIFT_CPU_WORKERS=2
# main() waits for the device, so nothing comes after its end.
export TSAN_OPTIONS="atexit_sleep_ms=0:${TSAN_OPTIONS:-}"
report='(ERROR|WARNING): (Address|Thread)Sanitizer: |: runtime error: '

reports() { # BUILD NAME: in how many of the runs there was a report and a bad end
	n=0
	out=build/$1/bugs.$2.out
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

if [ "$#" = 3 ]; then
	got=$(reports "$2" "$3")
	verdict=
	if [ "$got" != "$1" ]; then verdict="WRONG, should be $1"; fi
	printf '%-28s %-10s %s of %s  %s\n' "$3" "$2" "$got" "$runs" "$verdict"
	[ -z "$verdict" ]
	exit
fi

printf '%-28s %-10s %s\n' program build reported
status=0
build/cpu-asan/bugs >build/bugs.list
while read -r found_by name; do
	case $found_by in
	nobody) printf '%s\n' "0 cpu-asan $name" "0 cpu-tsan $name" ;;
	asan | tsan) echo "$runs cpu-$found_by $name" ;;
	esac
done <build/bugs.list | xargs -P 2 -L 1 "$0" >build/bugs.log || status=1
cat build/bugs.log
# Once more at the end, where a log that is cut short still has it.
grep WRONG build/bugs.log || true
exit "$status"
