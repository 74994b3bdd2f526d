#!/bin/sh
# kills.sh BINARY quick|all - kills sweeps at random moments, 10 or 200 times, and goes on with
# --resume: the supervisor, its worker, or both; at any moment, while a process calibrates, between
# two processes, and at the final rename. What was written stays, byte for byte; every file stays
# valid; and the last resume completes each session. Every other session has two sides, whose
# processes take turns.
#
# The moments come from a seeded generator (SEED, default 1), so a failure can be tried again.
set -eu
rift=${1:?usage: kills.sh BINARY quick|all}
case ${2:?usage: kills.sh BINARY quick|all} in
quick) kills=10 processes=3 ;;
all) kills=200 processes=12 ;;
*)
	echo "kills.sh: $2: use quick or all" >&2
	exit 3
	;;
esac
dir=$(mktemp -d)
file=$dir/s.jsonl
supervisor=
cleanup() {
	[ -z "$supervisor" ] || kill -KILL "$supervisor" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

passed=0 failed=0 sessions=0 drawn=0
begun=0 sides=1
of_supervisor=0 of_worker=0 of_both=0 at_end=0

# One case has failed; its session is given up.
fail() {
	echo "kills: kill $((passed + failed)), SEED=${SEED:-1}: $*"
	failed=$((failed + 1))
	forget
}

forget() {
	stop
	rm -rf "${dir:?}"/*
	: >"$dir/before"
}

stop() {
	[ -z "$supervisor" ] || kill -KILL "$supervisor" 2>/dev/null || true
	[ -z "$supervisor" ] || wait "$supervisor" 2>/dev/null || true
	supervisor=
}

# Sleeps for the next random number of seconds, from $1 to $2.
doze() {
	drawn=$((drawn + 1))
	sleep "$(awk -v seed="${SEED:-1}" -v i="$drawn" -v lo="$1" -v hi="$2" \
		'BEGIN { srand(seed * 100000 + i); rand(); printf "%.3f", lo + (hi - lo) * rand() }')"
}

lines() {
	grep -c "^{\"record\":\"$1\"" "$file.part" 2>/dev/null || true
}

# Starts the sweep, or goes on with it.
go() {
	# killed before the plan was written: there is nothing to go on with, and nothing is lost
	if [ -e "$file.part" ] && ! [ -s "$file.part" ]; then rm "$file.part"; fi
	if [ -e "$file.part" ]; then
		"$rift" sweep --resume "$file" --quiet >"$dir/out" 2>"$dir/err" &
	else
		sides=$((2 - begun % 2)) begun=$((begun + 1))
		set -- --quick --processes "$processes" --rounds 3
		[ "$sides" = 1 ] || set -- "$@" --against env
		"$rift" sweep myocyte cells=1,2,4 --depth 1,4,16 "$@" --warm-up 0.1 --seed 7 \
			--output "$file" --quiet >"$dir/out" 2>"$dir/err" &
	fi
	supervisor=$!
}

# Not so once its record is there, or it has ended.
is_running() {
	[ -n "$supervisor" ] && readlink "/proc/$supervisor/exe" >/dev/null && ! [ -e "$file" ]
}

await_part() {
	for _ in $(seq 500); do
		if [ -s "$file.part" ] || ! is_running; then break; fi
		sleep 0.01
	done
}

# Sleeps until the moment that this kill is for.
wait_for_moment() {
	case $1 in
	any) doze 0.05 0.8 ;;
	calibration) doze 0 0.25 ;;
	between)
		await_part
		before=$(lines trailer)
		for _ in $(seq 300); do
			if [ "$(lines trailer)" != "$before" ] || ! is_running; then break; fi
			sleep 0.01
		done
		;;
	esac
}

kill_now() {
	case $1 in
	worker)
		# shellcheck disable=SC2086
		kill -KILL $worker 2>/dev/null || true
		of_worker=$((of_worker + 1))
		sleep 0.1 # the supervisor takes notice and goes on
		;;
	both)
		# shellcheck disable=SC2086
		kill -KILL "$supervisor" $worker 2>/dev/null || true
		of_both=$((of_both + 1))
		;;
	supervisor)
		kill -KILL "$supervisor" 2>/dev/null || true
		of_supervisor=$((of_supervisor + 1))
		;;
	esac
}

# Whatever was written whole before stands at the beginning of what is there now.
nothing_is_lost() {
	now=$file
	[ -e "$file" ] || now=$file.part
	[ -e "$now" ] || now=/dev/null
	size=$(wc -c <"$dir/before")
	cmp -s -n "$size" "$dir/before" "$now" || return 1
	head -n "$(wc -l <"$now")" "$now" >"$dir/before.new"
	mv "$dir/before.new" "$dir/before"
}

is_valid() {
	for f in "$file.part" "$file.visits"; do
		[ ! -s "$f" ] || "$rift" show --check "$f" >"$dir/check" 2>&1 || return 1
	done
}

# Each point of each process once, each ok; or its key has ended two workers, which were killed.
points_are_there() {
	awk -v want="$((sides * processes))" '
	match($0, /"key":"[0-9a-f]*"/) && /^{"record":"(point|failure)"/ {
		key = substr($0, RSTART + 7, RLENGTH - 8) (/"side":"b"/ ? " b" : " a")
		match($0, /"process_index":[0-9]*/)
		at = substr($0, RSTART, RLENGTH) " " key
		if (/^{"record":"failure"/) { if (++lost[at] >= 2) deadly[key] = 1; next }
		if (seen[at]++) twice++
		if ($0 !~ /"status":"ok"/ && !(key in deadly)) wrong++
		points++
	}
	/^{"record":"plan"/ { planned = gsub(/"key":"/, "") }
	END { exit twice || wrong || points != want * planned }' "$file"
}

# The session goes on to its end and must then be whole.
finish_session() {
	rc=0
	if ! [ -e "$file" ]; then
		[ -n "$supervisor" ] || go
		wait "$supervisor" || rc=$?
	elif [ -n "$supervisor" ]; then
		wait "$supervisor" || rc=$?
	fi
	supervisor=
	# 2: a point whose worker was killed twice
	if [ "$rc" != 0 ] && [ "$rc" != 2 ]; then
		fail "the last resume ended with $rc: $(cat "$dir/err")"
	elif [ -e "$file.part" ] || [ -e "$file.visits" ] || [ -e "$file.lock" ]; then
		fail "left over: $(ls "$dir")"
	elif ! nothing_is_lost; then
		fail "what was written is not in the record"
	elif ! "$rift" show --check "$file" >"$dir/check" 2>&1 || ! points_are_there; then
		fail "the record is not whole: $(cat "$dir/check")"
	else
		sessions=$((sessions + 1))
	fi
	forget
}

# Something runs at the moment, and where its worker is meant that as well: $worker.
meet_moment() { # MOMENT WHOM
	for _ in $(seq 50); do
		if ! is_running; then
			[ -z "$supervisor" ] || finish_session
			go
		fi
		# without its probe, a sweep does not begin
		[ "$2" != worker ] || await_part
		wait_for_moment "$1"
		worker=$(cat "/proc/$supervisor/task/$supervisor/children" 2>/dev/null || true)
		if is_running && { [ "$2" != worker ] || [ -n "$worker" ]; }; then return 0; fi
	done
	return 1
}

# One kill, and what it leaves.
kill_once() { # MOMENT WHOM
	if ! meet_moment "$1" "$2"; then
		fail "nothing runs that could be killed ($1, $2): $(cat "$dir/err")"
		return
	fi
	kill_now "$2"
	[ "$2" = worker ] || stop
	if ! nothing_is_lost; then
		fail "what was written before is not there any more ($1, $2)"
	elif [ "$2" != worker ] && ! is_valid; then
		fail "a file is not valid: $(cat "$dir/check")"
	else
		passed=$((passed + 1))
	fi
}

# ---- the end of a session -------------------------------------------------------------------

shortest() {
	"$rift" sweep launch us=1 --depth 1 --mode stream --quick --processes 1 --rounds 1 \
		--warm-up 0.01 --seed 7 --output "$file" --quiet >"$dir/out" 2>"$dir/err"
}

# Seconds that a whole one takes.
time_shortest() {
	start=$(date +%s%N)
	shortest || true # end_states has seen that it can
	awk -v ns="$(($(date +%s%N) - start))" 'BEGIN { printf "%.3f", ns / 1e9 }'
}

# Killed just before, in or just after the rename: there is a .part that resume completes, or the
# record.
kill_at_end() { # SECONDS
	forget
	shortest &
	supervisor=$!
	doze "$(awk -v t="$1" 'BEGIN { print (t > 0.06 ? t - 0.05 : 0.01) }')" \
		"$(awk -v t="$1" 'BEGIN { print (t + 0.01) }')"
	# the shell's child is rift
	child=$(cat "/proc/$supervisor/task/$supervisor/children" 2>/dev/null || true)
	# shellcheck disable=SC2086
	kill -KILL ${child:-$supervisor} 2>/dev/null || true
	wait "$supervisor" 2>/dev/null || true
	supervisor=
	at_end=$((at_end + 1))
	case_passes_if_whole
}

case_passes_if_whole() {
	if [ -e "$file.part" ] && ! [ -s "$file.part" ]; then rm -f "$file.part" "$file.visits"; fi
	if [ -e "$file.part" ] && ! "$rift" sweep --resume "$file" --quiet >"$dir/out" 2>"$dir/err"; then
		fail "the resume at the end failed: $(cat "$dir/err")"
	elif [ -e "$file" ] && ! "$rift" show --check "$file" >"$dir/check" 2>&1; then
		fail "the record is not whole: $(cat "$dir/check")"
	elif [ -e "$file.part" ]; then
		fail "a .part is left over"
	else
		passed=$((passed + 1))
	fi
}

# The states that a kill at the very end leaves, made by hand, as a moment is hard to meet.
end_states() {
	for state in before both after; do
		forget
		shortest || fail "a short sweep failed: $(cat "$dir/err")"
		case $state in
		before) mv "$file" "$file.part" ;;
		both) ln "$file" "$file.part" ;; # a file system that renames by link and unlink
		after) mv "$file" "$file.part" && : >"$file.visits" && echo "2147483646 1 x" >"$file.lock" ;;
		esac
		case_passes_if_whole
		[ -e "$file" ] || fail "state $state: no record"
	done
}

forget
end_states
forget
t=$(time_shortest)
forget
for k in $(seq "$kills"); do
	case $((k % 10)) in
	1) kill_once any supervisor ;;
	2) kill_once calibration both ;;
	3) kill_once any worker ;;
	4) kill_once between supervisor ;;
	5) kill_once any both ;;
	6) kill_once calibration supervisor ;;
	7) kill_once any worker ;;
	8) kill_once between both ;;
	9) kill_once calibration worker ;;
	0) # this session is first gone on with to its end
		finish_session
		kill_at_end "$t"
		forget
		;;
	esac
done
finish_session
echo "kills: of supervisors $of_supervisor, workers $of_worker, both $of_both, at the end $at_end; $sessions sessions completed; seed ${SEED:-1}"
echo "kills: $passed passed, $failed failed"
[ "$failed" = 0 ]
