#!/bin/sh
# mutants_random.sh SEED N [PATH...] - N mistakes at random places, one at a time: each changes one
# operator or constant in a C file under PATH..., which are git's; without any, harness and common
# but not the CPU device. FILE:LINE is that line only. tests/mutate.awk says what is changed, and
# how. The same SEED draws the same mistakes in the same files.
#
# Each is made in a copy, never in the tree. One that does not compile is drawn anew. The test
# programs that reach its line run until one fails: first those named like the file or that include
# its header, then those of its folder or named like it, the quick ones before the slow ones. They
# take $MUTANT_SECONDS (60) at most in all when nothing is wrong: a program that no longer fits is
# left out, and a quicker one behind it runs. A failure counts when it comes twice; so does a
# program that takes far longer than it should. What they let pass runs under the address sanitizer
# too: the small tests, as in `make sanitize`, of the first five that take a tenth of that at most.
#
# A line for each: FILE:LINE, before -> after, and what came of it:
#   killed by PROGRAM  a test failed, or hung
#   equivalent         no test can tell: the compiler makes the same of it, or it is in
#                      tests/mutants_equivalent, with the reason
#   SURVIVED           the tests that ran pass, or none reaches the line
# build/mutants/survivors then holds the lines before and after of what survived, as that list has
# them. The last line has the totals. Exit status 0, also where some survived; 3 for what is no seed, no
# number or no file.
#
# Which programs reach which lines is found out by gcov and kept in build/mutants/map: ten minutes,
# once. A program whose own source has changed runs again; of a file that has changed, all programs
# count that reach any line. Remove the folder to find out anew. $JOBS mistakes (as many as there
# are cores) are tried at once, at nice 10. Tests run in namespaces of their own, so that a mistake
# kills no other processes: unshare(1) must be allowed to.
set -eu
[ "$(nice)" -ge 10 ] || exec nice -n 10 "$0" "$@"
locale=${LC_ALL:-}
export LC_ALL=C
cd "$(dirname "$0")/.."
# shellcheck source=tests/mutants_shared.sh
. tests/mutants_shared.sh
seconds=${MUTANT_SECONDS:-60} jobs=${JOBS:-$(nproc)}
work=$PWD/build/mutants
map=$work/map

# Kills of a mistaken program, of -1 for one, stay among its own; its end is the end of all of them.
apart() {
	if unshare --pid true 2>/dev/null; then
		set -- --pid "$@"
	else
		set -- --user --map-root-user --pid "$@"
	fi
	unshare --fork --kill-child --mount-proc "$@"
}

# What a program leaves in /tmp and in /dev/shm is gone with it. Each needs a /dev/shm of its own:
# Criterion names its memory there after the number of its process, and in namespaces of their own
# two programs at a time have the same numbers.
fresh='mount -t tmpfs tmpfs /tmp && mount -t tmpfs tmpfs /dev/shm'

# What a mistaken program takes without end is refused: 24 GB of addresses, files of 2 GB. The shell
# is there for the first process, which the system treats unlike others.
# The processor's seconds of a process are bounded, and the clock's, which pass faster where others
# compute too, by ten times as many.
alone() { # SECONDS COMMAND...
	limit=$1 addresses=24000000000
	# The address sanitizer takes terabytes of addresses for itself. Room around what is allocated
	# is wider than a struct, so that one that lies before the first is told.
	case $2 in *-asan/*) addresses=unlimited ;; esac
	shift
	LC_ALL=$locale ASAN_OPTIONS=hard_rss_limit_mb=8000:redzone=1024 \
		apart sh -c "$fresh"' && "$@"; exit $?' sh \
		timeout -s KILL "$((10 * limit))" \
		prlimit --cpu="$limit" --as="$addresses" --fsize=2000000000 "$@" \
		>"${said:-said}" 2>&1 9>&-
}

# ---- which programs reach which lines -------------------------------------------------------

# Processes that end by _exit() or abort() leave what they counted too.
dump_header() {
	cat <<-'END'
		#ifndef __cplusplus
		#include <stdlib.h>
		#include <unistd.h>
		void __gcov_dump(void);
		#define _exit(code) (__gcov_dump(), _exit(code))
		#define abort() (__gcov_dump(), abort())
		#endif
	END
}

# Objects of harness and common count, and libraries for programs that are recorded; all is linked
# with what counts; the others stay as they are,
# so all gets one date, which no file is older than, before make looks.
# What is in single quotes is for make to expand.
# shellcheck disable=SC2016
instrument='INSTRUMENT=$(if $(filter %.o,$@),$(if $(filter harness/% common/%,$<),--coverage -O0 -w -include ../dump.h),--coverage)'

build_counting() { # PROGRAMS...
	copy_tree "$work/counting"
	cd "$work/counting"
	dump_header >../dump.h
	if ! [ -e ../counts ]; then
		make_cpu build/cpu/flags build/cpu/test_flags "$instrument" || wrong "does not build: $(tail -5 log)"
		touch ../counts
		find build/cpu -type f -exec touch -r ../counts {} +
		# in a tree that was never built there are none
		find build/cpu -path 'build/cpu/harness/*.o' -delete
		find build/cpu -path 'build/cpu/common/*.o' -delete
		# what programs load, the recorder above all, is linked anew
		rm -f build/cpu/*.so* build/cpu/recorder/*.so
	fi
	for program; do
		set -- "$@" "build/cpu/$program"
		shift
	done
	make_cpu -j"$jobs" rift "$@" "$instrument" COUNTED="--coverage -O0" || wrong "does not build: $(tail -5 log)"
}

# A line a file: its name, its sum, the lines that were reached, those that were not.
lines_reached() { # FOLDER OF COUNTS, in which folders are named as where the objects are
	find "$1" -name '*.gcda' | while IFS= read -r f; do
		built=${f#"$1"}
		ln -s "${built%.gcda}.gcno" "${f%.gcda}.gcno"
		echo "$f"
	done | xargs gcov -t 2>/dev/null | awk '
		function put() {
			if (file ~ /^(harness|common)\/.*\.c$/ && yes != ",")
				print file, yes, no
		}
		{ split($0, f, ":"); n = f[2] + 0 }
		n == 0 && f[3] == "Source" { put(); file = f[4]; yes = no = "," }
		n && f[1] ~ /[0-9]/ { yes = yes n "," }
		n && f[1] ~ /#|=/ { no = no n "," }
		END { put() }' | while read -r of yes no; do
		echo "$of $(sum_of "$of") $yes $no"
	done
}

# Sets ms: of this shell and of its children that have ended. (In $(...) it would be another shell's.)
processor_ms() {
	times >"$counts.times"
	ms=$(awk '{ for (i = 1; i <= 2; i++) { split($i, t, "m"); sum += 60000 * t[1] + 1000 * t[2] } }
		END { printf "%d\n", sum }' "$counts.times")
}

sum_of() { cat "$@" 2>/dev/null | cksum | tr ' ' -; }

# The program as of now, the processor's time that it takes, and the lines that it reaches.
count_program() { # PROGRAM
	mkdir "$counts"
	for _ in 1 2; do
		processor_ms
		start=$ms rc=0
		GCOV_PREFIX=$counts RIFT_BIN=$PWD/build/cpu/rift alone 900 "build/cpu/$1" -j1 || rc=$?
		[ "$rc" != 0 ] || break
	done
	processor_ms
	took=$((ms - start))
	to=$map/$(echo "$1" | tr / @)
	{
		echo "$1 $(sum_of "$1.c" "$1.cu") $took $rc"
		lines_reached "$counts"
	} >"$to.new"
	mv "$to.new" "$to"
	rm -rf "$counts"
}

# Those of the build come last: what they make in the tree does not count.
test_sources() { echo workloads/*/test_*.c tests/*/*/test_*.c tests/*/test_*.c tests/test_*.c; }

# Each program is named by its path below the build's folder.
update_map() {
	mkdir -p "$map"
	rm -rf "$map"/*.new "$work"/counts.*
	stale=
	for source in $(test_sources); do
		p=${source%.c}
		read -r _ sum _ _ 2>/dev/null <"$map/$(echo "$p" | tr / @)" || sum=
		[ "$sum" = "$(sum_of "$p.c" "$p.cu")" ] || stale="$stale $p"
	done
	[ -n "$stale" ] || return 0
	# shellcheck disable=SC2086
	set -- $stale
	echo "finding out what $# test programs reach" >&2
	(build_counting "$@")
	for job in $(seq "$jobs"); do
		count_programs "$job" "$@" &
	done
	wait
}

# Every so many-th of them.
count_programs() { # JOB PROGRAMS...
	cd "$work/counting"
	counts=$work/counts.$1 said=said.$1 turn=$1
	shift
	for p; do
		turn=$((turn - 1))
		[ "$turn" = 0 ] || continue
		turn=$jobs
		count_program "$p"
	done
}

# Programs that reach a line, in the order in which they run, each with its milliseconds: first those
# named like the file or that include its header, then those in a folder named like one of its own
# and those that share a word with it or with its folder. A line that is no
# code of its own counts as the code before it; one outside functions as any of its file; of a file
# without code count all programs of such names, and so does one with such a name of which nothing
# could be counted.
programs_for() { # FILE LINE WHERE
	stem=${1##*/} folder=${1%/*}
	stem=${stem#cmd_}
	# shellcheck disable=SC2046
	including=$(grep -lF "\"${1%.c}.h\"" $(test_sources) | tr '\n' ' ')
	awk -v including=" $including" -v file="$1" -v line="$2" -v where="$3" -v sum="$(sum_of "$1")" -v stem="${stem%.c}" -v folder="${folder##*/}" '
		FNR == 1 { program = $1; ms[program] = $3; next }
		{ counted[program] = 1 }
		$1 == file { here[program] = 1; some = 1 }
		$1 == file && $2 == sum { yes[program] = $3; all = all $3 $4 }
		function rank(p) {
			if (index(including, " " p ".c "))
				return 0
			parts = split(p, part, "/")
			p = part[parts]
			return index(p, stem) ? 0 : index(p, folder) || index(p, word) ||
			       index("/" file, "/" part[parts - 1] "/") ? 1 : 2
		}
		END {
			word = stem
			sub(/_.*/, "", word)
			while (all && where == "code" && line > 1 && !index(all, "," line ","))
				line--
			for (p in ms)
				if ((some ? p in here || (!(p in counted) && !rank(p)) : rank(p) < 2) &&
				    (where == "data" || !(p in yes) || index(yes[p], "," line ",")))
					print rank(p), ms[p], p
		}' "$map"/* | sort -k1n -k2n | awk -v most="$((seconds * 1000))" '
		sum + $2 <= most || NR == 1 { sum += $2; print $3, $2 }'
}

# ---- one mistake ------------------------------------------------------------------------------

# The line with LENGTH bytes from COLUMN on replaced.
changed_line() { # FILE LINE COLUMN LENGTH TO
	TO=$5 awk -v line="$2" -v column="$3" -v len="$4" '
		NR == line { print substr($0, 1, column - 1) ENVIRON["TO"] substr($0, column + len) }' "$1"
}

# As much of it as fits into a table.
excerpt() { # LINE COLUMN LENGTH
	printf '%s\n' "$1" | awk -v column="$2" -v len="$3" '{
		from = column > 20 ? column - 20 : 1
		to = column + len + 20
		s = substr($0, from, to - from)
		gsub(/^[ \t]+|[ \t]+$/, "", s)
		print (from > 1 && s ~ /^[a-z_A-Z0-9]/ ? "~" : "") s (to <= length($0) ? "~" : "")
	}'
}

# tests/mutants_equivalent: a paragraph each, file, line before, line after, reason.
is_listed() { # FILE BEFORE AFTER
	FILE=$1 BEFORE=$2 AFTER=$3 awk '
		function bare(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
		BEGIN { RS = ""; FS = "\n"; after = bare(ENVIRON["AFTER"]); before = bare(ENVIRON["BEFORE"]) }
		$1 == ENVIRON["FILE"] && bare(substr($2, 2)) == before && bare(substr($3, 2)) == after { found = 1 }
		END { exit !found }' tests/mutants_equivalent
}

say_what_is_out_of_date() {
	awk 'BEGIN { RS = ""; FS = "\n" } !/^#/ { print $1; print substr($2, 2) }' tests/mutants_equivalent |
		while read -r of && read -r line; do
			grep -qF -e "$line" "$of" 2>/dev/null ||
				echo "tests/mutants_equivalent: $of has no line: $line" >&2
		done
}

compile() { # FILE: leaves its object without where in the file things are, for comparisons
	make_cpu "build/cpu/$1.o" && objcopy --strip-debug "build/cpu/$1.o" object
}

build_program() { # BUILD PROGRAM
	case $1 in
	cpu) make_cpu rift "build/cpu/$2" ;;
	*) make_cpu SANITIZE="${1#cpu-}" rift "build/$1/$2" ;;
	esac
}

# Does the program, built, fail in tests of these suites? Sets `how`: a failure counts when it comes
# twice.
fails() { # BUILD PROGRAM MS SUITES
	most=$((10 + $3 / 250)) rc=0
	how="killed by ${2##*/}"
	[ "$left_out" != '*' ] || return 1
	run_program "$@" || rc=$?
	if [ "$rc" = 137 ]; then
		how="$how, which hangs"
	elif [ "$rc" != 0 ]; then
		rc=0
		run_program "$@" || rc=$?
	fi
	[ "$rc" != 0 ]
}

run_program() {
	run_tests "$1" "$2" --fail-fast --filter "$4/${left_out:+!(}${left_out:-*}${left_out:+)}" || return
	! reports
}

run_tests() { # BUILD PROGRAM OPTIONS...
	of=$1 program=build/$1/$2
	shift 2
	RIFT_BIN=$PWD/build/$of/rift alone "$most" "$program" -j1 "$@"
}

# Criterion does not look at how a test's process ends: a sanitizer's report fails too.
reports() { grep -qE 'ERROR: [A-Za-z]*Sanitizer|: runtime error: ' said; }

# Tests that fail without a mistake; fails where something is wrong that is no single test's.
list_failures() { # BUILD PROGRAM MS SUITES
	rc=0
	run_tests "$1" "$2" --filter "$4/*" || rc=$?
	! reports || return
	failed=$(sed -n 's/^\[FAIL\] .*::\([a-z_0-9]*\): .*/\1/p' said)
	[ "$rc" = 0 ] || { [ "$rc" = 1 ] && [ -n "$failed" ]; } || return
	[ -z "$failed" ] || echo "$failed"
}

ask_unchanged() { # BUILD PROGRAM MS SUITES
	cp "$file" changed
	cp original "$file"
	{ build_program "$1" "$2" && list_failures "$@" && list_failures "$@"; } >failing ||
		echo '*' >failing
	cp changed "$file"
	build_program "$1" "$2" || true
	sort -u failing | paste -sd '|' >"$asked"
}

# Tests that fail without a mistake find none and are left out, or all of the program's (*). Which
# ones these are is asked once, when the program first fails with a mistake.
finds() { # BUILD PROGRAM MS SUITES
	asked=asked@$1@$(echo "$2" | tr / @)
	left_out=
	[ ! -e "$asked" ] || left_out=$(cat "$asked")
	fails "$@" || return 1
	[ ! -e "$asked" ] || return 0
	ask_unchanged "$@"
	left_out=$(cat "$asked")
	[ -z "$left_out" ] || fails "$@"
}

# Sets what came of it, with `file` changed already.
try_programs() { # LIST OF PROGRAMS
	outcome=SURVIVED
	[ -s "$1" ] || outcome='SURVIVED: no test reaches it'
	while read -r p ms; do
		if ! build_program cpu "$p"; then
			outcome='killed by the linker'
			return
		elif finds cpu "$p" "$ms" '*'; then
			outcome=$how
			return
		fi
	done <"$1"
	awk -v most="$((seconds * 100))" '$2 <= most' "$1" | head -n 5 >first
	while read -r p ms; do
		build_program cpu-asan "$p" || return 0
		if finds cpu-asan "$p" "$((10 * ms))" 'small_*'; then
			outcome="$how under the address sanitizer"
			return
		fi
	done <first
}

# Returns 1 where it does not compile, and another is to be drawn.
try_mutant() { # FILE LINE COLUMN LENGTH WHERE TO
	file=$1
	before=$(sed -n "$2p" "$1")
	after=$(changed_line "$1" "$2" "$3" "$4" "$6")
	compile "$1" || wrong "$1 does not compile as it is: $(tail -5 log)"
	mv object object.before
	cp "$1" original
	AFTER=$after awk -v line="$2" 'NR == line { $0 = ENVIRON["AFTER"] } { print }' original >"$1"
	outcome=
	if ! compile "$1"; then
		outcome='does not compile'
	elif cmp -s object object.before; then
		outcome='equivalent: the same object code'
	elif is_listed "$1" "$before" "$after"; then
		outcome='equivalent: listed'
	else
		programs_for "$1" "$2" "$5" >programs
		try_programs programs
	fi
	cp original "$1"
	case $outcome in
	'does not compile') return 1 ;;
	SURVIVED*) printf '%s\n-%s\n+%s\n\n' "$1" "$before" "$after" >>"$work/survivors" ;;
	esac
	printf '%s:%s  %s  ->  %s  %s\n' "$1" "$2" "$(excerpt "$before" "$3" "$4")" \
		"$(excerpt "$after" "$3" "${#6}")" "$outcome"
}

# ---- all ----------------------------------------------------------------------------------------

is_number() { case $1 in '' | *[!0-9]*) return 1 ;; esac }

# The C files of a path as it was given, FILE:LINE without its line.
files_of() { # PATH
	path=$1 without='^common/cpu/'
	is_number "${path##*:}" && path=${path%:*}
	case $path in common/cpu*) without='^$' ;; esac
	git ls-files -- "$path" | grep '\.c$' | grep -v "$without"
}

# Into `drawn`, all there are, in the order of their turn.
draw() { # PATH...
	for path; do
		! is_number "${path##*:}" || echo "${path%:*} ${path##*:}"
	done >"$work/lines"
	for path; do files_of "$path"; done | sort -u | xargs awk -v seed="$seed" -f tests/mutate.awk |
		awk -v lines="$work/lines" '
			BEGIN { while ((getline row <lines) > 0) { split(row, f, " "); some[f[1]]; wanted[row] } }
			!($1 in some) || ($1 " " $2) in wanted' >"$work/drawn"
	[ -s "$work/drawn" ] || wrong "nothing to change there"
}

# The first is copied, as built, where the others are new.
prepare() { # COPY
	[ "$1" = 1 ] || [ -e "$work/$1" ] || cp -a "$work/1" "$work/$1"
	copy_tree "$work/$1"
	cd "$work/$1"
	rm -f asked@*
	make_cpu -j"$jobs" rift || wrong "does not build: $(tail -5 log)"
	make_cpu -j"$jobs" SANITIZE=asan rift || wrong "does not build: $(tail -5 log)"
}

# Every n-th of what is drawn until one compiles: which one that is does not depend on $JOBS.
take_turns() { # COPY
	cd "$work/$1"
	turn=$1
	while [ "$turn" -le "$n" ]; do
		at=$turn
		while row=$(sed -n "${at}p" "$work/drawn") && [ -n "$row" ]; do
			# The last field may hold spaces, or nothing.
			# shellcheck disable=SC2086
			if try_mutant ${row%"$tab"*} "${row##*"$tab"}"; then break; fi
			at=$((at + n))
		done
		turn=$((turn + jobs))
	done
}

count() { grep -c -e "$1" "$work/table" || true; }

tab=$(printf '\t')
if [ $# -lt 2 ] || ! is_number "$1" || ! is_number "$2" || [ "$2" = 0 ]; then
	wrong "usage: mutants_random.sh SEED N [PATH...], whole numbers, N 1 or more"
fi
seed=$1 n=$2
shift 2
[ $# -gt 0 ] || set -- harness common
for path; do files_of "$path" >/dev/null || wrong "$path: no C file there"; done
case $work in /tmp/*) wrong "copies cannot be tried below /tmp, which each test has of its own" ;; esac
mkdir -p "$work"
apart sh -c "$fresh" 2>/dev/null || wrong "tests are to run where a mistake cannot kill others' processes, with /tmp and /dev/shm of their own: unshare(1) and mount(8) are not permitted to make such a place here"
exec 9>"$work/lock"
flock -n 9 || wrong "another run of it is under way in this tree"
draw "$@"
update_map
: >"$work/survivors"
for job in $(seq "$jobs"); do (prepare "$job"); done
pids=
trap 'kill $pids 2>/dev/null; exit 1' INT TERM
mkfifo "$work/rows.$$"
tee "$work/table" <"$work/rows.$$" &
rows=$!
exec 8>"$work/rows.$$"
rm "$work/rows.$$"
for job in $(seq "$jobs"); do
	take_turns "$job" >&8 8>&- &
	pids="$pids $!"
done
exec 8>&-
say_what_is_out_of_date
for pid in $pids; do wait "$pid" || wrong "a copy cannot be tried, see above"; done
wait "$rows"
echo "$(count '  killed by ') killed, $(count '  equivalent: ') equivalent, $(count '  SURVIVED') survived"
