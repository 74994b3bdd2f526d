#!/bin/sh
# kill_sweep.sh RIFT [KILLS] - kills supervisors and workers of a sweep at random moments, and goes
# on with --resume: no finished point may be lost, every file must stay readable, and the last
# resume must complete the session. About a minute for the default of 50 kills.
#
# The moments come from a seeded generator (SEED, default 1), so a failure can be tried again.
set -eu
rift=${1:?usage: kill_sweep.sh RIFT [KILLS]}
kills=${2:-50}
dir=$(mktemp -d)
file=$dir/sweep.jsonl
supervisor=
cleanup() {
	[ -z "$supervisor" ] || kill -KILL "$supervisor" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail() {
	echo "kill_sweep: $*" >&2
	exit 1
}

# The finished points, a line each: side, process, key.
finished() {
	cat "$file" "$file.part" 2>/dev/null |
		sed -n 's/^{"record":"point","side":"\(.\)","process_index":\([0-9]*\),"key":"\([0-9a-f]*\)".*"status":"ok".*}$/\1 \2 \3/p' |
		sort
}

# Number I of the random numbers below N.
random() {
	awk -v seed="${SEED:-1}" -v i="$1" -v n="$2" 'BEGIN { srand(seed * 1000 + i); rand(); print int(n * rand()) }'
}

go() {
	if [ -e "$file.part" ]; then
		"$rift" sweep --resume "$file" --quiet >"$dir/out" 2>"$dir/err" &
	else
		"$rift" sweep myocyte cells=1,2,4 --depth 1,4,16 --quick --processes 40 --seed 7 \
			--output "$file" --quiet >"$dir/out" 2>"$dir/err" &
	fi
	supervisor=$!
}

readable() {
	for f in "$file" "$file.part" "$file.visits"; do
		[ ! -s "$f" ] || "$rift" check "$f" >"$dir/check" 2>&1 || fail "after kill $1: $(cat "$dir/check")"
	done
}

: >"$dir/before"
done=0
while [ "$done" -lt "$kills" ] && [ ! -e "$file" ]; do
	go
	# 0.05 to 1.25 s: every phase of a process is hit
	sleep "$(awk -v r="$(random "$done" 1000)" 'BEGIN { print 0.05 + r * 0.0012 }')"
	worker=$(cat "/proc/$supervisor/task/$supervisor/children" 2>/dev/null || true)
	if [ $((done % 3)) = 0 ] && [ -n "$worker" ]; then
		# shellcheck disable=SC2086
		kill -KILL $worker 2>/dev/null || true
		sleep 0.3 # the supervisor takes notice and goes on
	fi
	kill -KILL "$supervisor" 2>/dev/null || true
	wait "$supervisor" 2>/dev/null || true
	done=$((done + 1))
	finished >"$dir/after"
	lost=$(comm -23 "$dir/before" "$dir/after" | wc -l)
	[ "$lost" = 0 ] || fail "kill $done: $lost finished points lost"
	readable "$done"
	mv "$dir/after" "$dir/before"
done
kept=$(wc -l <"$dir/before")

rc=0
if [ ! -e "$file" ]; then
	go
	wait "$supervisor" || rc=$?
fi
supervisor=
[ "$rc" = 0 ] || fail "the last resume ended with $rc: $(cat "$dir/err")"
if [ ! -e "$file" ] || [ -e "$file.part" ] || [ -e "$file.visits" ]; then
	fail "files are left over: $(ls "$dir")"
fi
"$rift" check "$file" >"$dir/check" 2>&1 || fail "$(cat "$dir/check")"
finished >"$dir/after"
lost=$(comm -23 "$dir/before" "$dir/after" | wc -l)
[ "$lost" = 0 ] || fail "at the end $lost finished points are lost"
all=$(wc -l <"$dir/after")
# the plan has what a quick sweep has time for, 40 processes measure it
want=$((40 * $(head -n 1 "$file" | grep -o '"key":"' | wc -l)))
if [ "$all" != "$want" ] || [ "$(uniq "$dir/after" | wc -l)" != "$want" ]; then
	fail "$all points, not $want different ones"
fi
echo "$done kills: $kept points were finished by then, none was lost; $(cat "$dir/check")"
