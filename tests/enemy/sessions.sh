#!/bin/sh
# sessions.sh BINARY quick|all - sessions and the files that rift writes: closed streams, full disks,
# places that cannot be written, names that appear meanwhile, second writers, damaged files and long
# commands. Each trouble must end in one line and the right exit code, and nothing may be lost.
#
# Damage is drawn from a seeded generator (SEED, default 1).
set -eu
rift=${1:?usage: sessions.sh BINARY quick|all}
case ${2:?usage: sessions.sh BINARY quick|all} in
quick) damages=4 size=quick ;;
all) damages=150 size=all ;;
*)
	echo "sessions.sh: $2: use quick or all" >&2
	exit 3
	;;
esac
rift=$(realpath "$rift")
kept=$(realpath "$(dirname "$0")/../../data/sessions/h200-launch.jsonl")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
mkdir "$dir/w"
cd "$dir/w"
passed=0 failed=0

# Each case begins in an empty folder.
begin() {
	title=$1
	rm -rf "$dir/w/"* "$dir/w/".[!.]*
}
pass() { passed=$((passed + 1)); }
fail() {
	echo "sessions: $title: $*"
	failed=$((failed + 1))
}
check() { # CONDITION... - as of test
	if test "$@"; then pass; else fail "not so: $*"; fi
}

# "rift: ..." and no second line.
is_one_line() {
	[ "$(wc -l <"$1")" = 1 ] && grep -q '^rift: ' "$1"
}

# A command in $2, run by the shell, must end with $1; with 3 after one line on stderr. By a pipe,
# as a file may be what cannot be written.
expect() {
	rc=0
	said=$( (eval "$2") 2>&1) || rc=$?
	printf '%s\n' "$said" >"$dir/err"
	if [ "$rc" != "$1" ]; then
		fail "$2: exit code $rc, not $1: $(head -c 300 "$dir/err")"
	elif [ "$1" = 3 ] && ! is_one_line "$dir/err"; then
		fail "$2: not one line: $(head -c 300 "$dir/err")"
	else
		pass
	fi
}

sweep="\"\$rift\" sweep launch us=1 --depth 1,4 --mode stream --quick --rounds 2 --warm-up 0.01 --seed 5 --quiet --processes"
whole() { # FILE
	if "$rift" show --check "$1" >"$dir/check" 2>&1; then pass; else fail "$(cat "$dir/check")"; fi
}

# ---- streams and full disks -------------------------------------------------------------------

begin "closed streams"
for closed in '<&-' '<&- >&- 2>&-' '2>&-' '<&- 2>&-' '>&-' '<&- >&-' '>&- 2>&-' '>/dev/full'; do
	[ "$size" = all ] || [ "$closed" = '<&-' ] || [ "$closed" = '<&- >&- 2>&-' ] || continue
	rm -f s.jsonl
	code=0
	case $closed in *'>&-'* | *full*) code=3 ;; esac
	case $closed in '2>&-' | '<&- 2>&-') code=0 ;; esac
	rc=0
	eval "$sweep 1 --output s.jsonl $closed" >"$dir/out" 2>"$dir/err" || rc=$?
	check "$closed $rc" = "$closed $code"
	whole s.jsonl
done

begin "results that cannot be written"
for command in list "show --check $kept" --version help 'list launch' 'run --help' "show $kept" "fit $kept" "fit --stack $kept" \
	"predict $kept --on $kept" 'run launch us=0 --quiet'; do
	[ "$size" = all ] || [ "$command" = list ] || [ "$command" = "show --check $kept" ] || continue
	expect 3 "\"\$rift\" $command >/dev/full"
	expect 3 "ulimit -f 0; \"\$rift\" $command >out"
	# nothing was to be written to that stream: what is wrong is said all the same
	expect 3 "\"\$rift\" ${command%% *} --xyzzy >&-"
done
if [ "$size" = all ]; then
	expect 3 "\"\$rift\" probe --processes 1 --quiet >/dev/full"
	expect 3 "\"\$rift\" plot $kept --output /dev/full/plots --quiet"
	expect 3 "ulimit -f 1; \"\$rift\" plot $kept --output plots --quiet >/dev/null"
fi

begin "a file that may not grow"
for blocks in 16 1 8; do
	[ "$size" = all ] || [ "$blocks" = 16 ] || continue
	rm -f ./*
	expect 3 "ulimit -f $blocks; $sweep 3 --output s.jsonl >/dev/null"
	[ ! -s s.jsonl.part ] || expect 0 "\"\$rift\" show --check s.jsonl.part >/dev/null"
	[ ! -s s.jsonl.part ] || expect 0 "\"\$rift\" sweep --resume s.jsonl --quiet >/dev/null"
	[ ! -e s.jsonl ] || whole s.jsonl
done
expect 3 "ulimit -f 1; \"\$rift\" show --check $kept --csv p.csv >/dev/null"
check ! -e p.csv

# ---- places -------------------------------------------------------------------------------------

# Nothing is measured first: the device would end the command with another line.
begin "places that cannot be written"
export RIFT_CPU_WORKERS=none
ln -s nowhere dangling
ln -s loop loop
mkdir folder
echo old >old.jsonl
echo old >part.jsonl.part
for place in none/s.jsonl old.jsonl/s.jsonl dangling loop folder old.jsonl part.jsonl /dev/full /dev/null /dev/null/s.jsonl "''"; do
	expect 3 "\"\$rift\" sweep launch --quick --output $place"
	if grep -q RIFT_CPU_WORKERS "$dir/err"; then fail "$place: measured first"; fi
done
for place in none/c.json old.jsonl/c.json loop folder old.jsonl /dev/full /dev/null/c.json; do
	expect 3 "\"\$rift\" probe --output $place"
	if grep -q RIFT_CPU_WORKERS "$dir/err"; then fail "$place: probed first"; fi
done
# 255 bytes are a name at most, and .visits and .PID.part are added
for n in 250 249 254 255 256 5000; do
	[ "$size" = all ] || [ "$n" = 250 ] || continue
	long=$(printf "%0${n}d" 0)
	expect 3 "\"\$rift\" sweep launch --quick --output $long"
	expect 3 "\"\$rift\" probe --output $long"
done
unset RIFT_CPU_WORKERS
check "$(find . ! -name . | sort | tr '\n' ' ')" = "./dangling ./folder ./loop ./old.jsonl ./part.jsonl.part "
check "$(cat old.jsonl part.jsonl.part)" = "old
old"

begin "unusual names"
for name in 'with space.jsonl' '--dashes' 'näme.jsonl' "$(printf 'new\nline.jsonl')" "$(printf 'esc\033[31m.jsonl')" \
	"$(printf '%0248d' 0)" 'no-ending' '%s%n.jsonl'; do
	[ "$size" = all ] || [ "$name" = --dashes ] || continue
	expect 0 "$sweep 1 --output \"./\$name\" >/dev/null"
	whole "./$name"
	rm -f "./$name"
done
check -z "$(ls)"

# ---- names that appear meanwhile ----------------------------------------------------------------

# Waits until $1 is there, 10 s at most.
await() {
	for _ in $(seq 1000); do
		# shellcheck disable=SC2144
		[ ! -e "$1" ] || return 0
		sleep 0.01
	done
	fail "$1 does not appear"
}

begin "what appears under the name stays"
for what in 'echo foreign >s.jsonl' 'mkdir s.jsonl' 'ln -s nowhere s.jsonl'; do
	[ "$size" = all ] || [ "$what" = 'echo foreign >s.jsonl' ] || continue
	rm -rf ./*
	eval "$sweep 2 --output s.jsonl >/dev/null" 2>"$dir/err" &
	await s.jsonl.part
	sleep 0.05
	eval "$what"
	rc=0
	wait $! || rc=$?
	check "$what $rc" = "$what 3"
	if ! is_one_line "$dir/err"; then fail "$(cat "$dir/err")"; fi
	check "$what $(echo *)" = "$what s-2.jsonl s.jsonl"
	check ! -f s.jsonl -o "$(cat s.jsonl 2>/dev/null)" = foreign
	whole s-2.jsonl
done

begin "what appears under the name of a CSV stays"
mkfifo slow
# the check waits for its standard output, and the file appears meanwhile
"$rift" show --check "$kept" --csv p.csv >slow 2>"$dir/err" &
(
	sleep 0.2
	echo foreign >p.csv
	cat slow >/dev/null
)
wait $! || true
check "$(head -n 1 p.csv | cut -c 1-7)" = foreign -o ! -e p-2.csv

# ---- second writers -----------------------------------------------------------------------------

# A sweep of many processes that is under way: $! is its pid.
start_long() {
	rm -rf ./*
	eval "exec $sweep 60 --output s.jsonl >/dev/null" 2>"$dir/first" &
	await s.jsonl.lock
	for _ in $(seq 500); do
		if grep -qs '"record":"trailer"' s.jsonl.part; then return; fi
		sleep 0.02
	done
	fail "no process of a sweep was completed in 10 s"
}

begin "a second writer"
start_long
first=$!
expect 3 "\"\$rift\" sweep --resume s.jsonl"
expect 3 "$sweep 1 --output s.jsonl"
for note in '2147483646 1 x' '1 1 x' '' garbage; do
	echo "$note" >s.jsonl.lock
	expect 3 "\"\$rift\" sweep --resume s.jsonl"
done
rm s.jsonl.lock
expect 3 "\"\$rift\" sweep --resume s.jsonl.part"
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	expect 3 "unshare --pid --fork --mount-proc \"\$rift\" sweep --resume s.jsonl"
elif unshare --user --map-root-user --pid --fork --mount-proc true 2>/dev/null; then
	expect 3 "unshare --user --map-root-user --pid --fork --mount-proc \"\$rift\" sweep --resume s.jsonl"
fi
kill -STOP "$first" # a writer that stands still is one
expect 3 "\"\$rift\" sweep --resume s.jsonl"
kill -CONT "$first"
check -d "/proc/$first"
kill -KILL "$first"
wait "$first" 2>/dev/null || true
whole s.jsonl.part

# Several resume at once: one goes on, and is killed, too.
begin "several resume at once"
start_long
kill -KILL $!
wait $! 2>/dev/null || true
pids=
for i in 1 2 3 4; do
	("$rift" sweep --resume s.jsonl --quiet >/dev/null 2>"err$i" || echo "$?" >"code$i") &
	pids="$pids $!"
done
for _ in $(seq 300); do
	[ "$(cat code* 2>/dev/null | wc -l)" -lt 3 ] || break
	sleep 0.01
done
sleep 0.1
check "$(cat code* 2>/dev/null | tr '\n' ' ')" = "3 3 3 "
for pid in $pids; do
	child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null || true)
	# shellcheck disable=SC2086
	[ -z "$child" ] || kill -KILL $child
done
wait
whole s.jsonl.part

# ---- damage -------------------------------------------------------------------------------------

# The next random number below $1, in $drawn.
draws=0 drawn=0
draw() {
	draws=$((draws + 1))
	drawn=$(awk -v seed="${SEED:-1}" -v i="$draws" -v n="$1" \
		'BEGIN { srand(seed * 100000 + i); rand(); print int(n * rand()) }')
}

# Puts another byte at a random place of $1, or cuts it there.
damage() {
	bytes=$(wc -c <"$1")
	[ "$bytes" -gt 0 ] || return 0
	draw "$bytes"
	at=$drawn
	draw 8
	case $drawn in
	0) truncate -s "$at" "$1" ;;
	*)
		set -- "$1" "$(printf '"9,]}x-\n' | cut -c "$drawn")"
		printf '%s' "${2:-0}" | dd of="$1" bs=1 seek="$at" conv=notrunc 2>/dev/null
		;;
	esac
}

# A session that was killed in the middle of a process, with visits of it.
begin "damaged files"
sweep_long="\"\$rift\" sweep launch us=1,20 --depth 1,4,16 --mode stream --quick --rounds 40 --warm-up 0.01 --seed 5 --quiet --processes 1"
eval "exec $sweep_long --output s.jsonl >/dev/null" 2>"$dir/err" &
for _ in $(seq 500); do
	[ ! -e s.jsonl.visits ] || [ "$(wc -l <s.jsonl.visits)" -lt 60 ] || break
	sleep 0.01
done
kill -KILL $!
wait $! 2>/dev/null || true
mkdir before
cp s.jsonl.part s.jsonl.visits before/
check "$(wc -l <before/s.jsonl.visits)" -ge 60
again=0 refused=0
for i in $(seq "$damages"); do
	rm -rf s.jsonl* s-2.jsonl*
	cp before/* .
	which=visits
	[ $((i % 4)) != 0 ] || which=part
	damage "s.jsonl.$which"
	cp s.jsonl.part damaged
	rm -f "$dir/check"
	rc=0
	"$rift" sweep --resume s.jsonl --quiet >/dev/null 2>"$dir/err" || rc=$?
	# where the header says another machine now, the plan starts anew beside it
	record=s.jsonl
	[ -e s.jsonl ] || [ ! -e s-2.jsonl ] || ! cmp -s damaged s.jsonl.part || record=s-2.jsonl
	if [ "$rc" = 0 ] && "$rift" show --check "$record" >"$dir/check" 2>&1; then
		again=$((again + 1))
		pass
	elif [ "$rc" = 3 ] && [ "$which" = part ] && is_one_line "$dir/err" && cmp -s damaged s.jsonl.part; then
		refused=$((refused + 1))
		pass
	else
		fail "$i, $which: exit code $rc: $(cat "$dir/err" "$dir/check" 2>/dev/null | head -c 400)"
	fi
done
echo "sessions: of $damages damaged sessions $again were completed, $refused refused; seed ${SEED:-1}"

begin "a line that there is no memory for"
cp "$kept" s.jsonl
truncate -s 400M s.jsonl
# built with a sanitizer it does not even start
if sh -c "ulimit -v 300000; '$rift' --version" >/dev/null 2>&1; then
	expect 3 "ulimit -v 300000; \"\$rift\" show --check s.jsonl >/dev/null"
fi

# ---- commands -----------------------------------------------------------------------------------

begin "long commands"
for n in 300 4000; do
	[ "$size" = all ] || [ "$n" = 300 ] || continue
	rm -f ./*
	# shellcheck disable=SC2034 # by expect
	command="env $(awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) printf "RIFT_PAD_%d=1 ", i }')CUDA_X=whole"
	expect 0 "$sweep 1 --output s.jsonl --against \"\$command\" >/dev/null"
	check "$(grep -c '"CUDA_X":"whole"' s.jsonl)" = 1
	head -n 1 s.jsonl >s.jsonl.part
	rm s.jsonl
	rc=0
	"$rift" sweep --resume s.jsonl --quiet >/dev/null 2>"$dir/err" || rc=$?
	check "$rc" = 0
	check "$(grep -c CUDA_X=whole "$dir/err")" = 1
done

echo "sessions: $passed passed, $failed failed"
[ "$failed" = 0 ]
