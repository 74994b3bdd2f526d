#!/bin/sh
# limits.sh BINARY quick|all - too little memory, threads, stack or open files, variables that change
# how programs read their words, and Ctrl-C while kernels run. No signal ends rift but the one that
# was sent; what it cannot do it says in one line, or in one for each point.
set -eu
rift=${1:?usage: limits.sh BINARY quick|all}
case ${2:?usage: limits.sh BINARY quick|all} in
quick | all) size=$2 ;;
*)
	echo "limits.sh: $2: use quick or all" >&2
	exit 3
	;;
esac
rift=$(realpath "$rift")
session=$(realpath "$(dirname "$0")/../../data/sessions/h200-block.jsonl")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cd "$dir"
passed=0 failed=0
ONCE='--depth 4 --samples 1 --quiet'

pass() { passed=$((passed + 1)); }
fail() {
	echo "limits: $*"
	failed=$((failed + 1))
}

# PRLIMIT-OPTIONS RIFT-ARGUMENTS, both cut at blanks: ends by itself, with an exit code of rift's, and
# says why where that is no success. Workers may have said it before, each for itself.
limited() {
	rc=0
	rm -f s.jsonl*
	# shellcheck disable=SC2086
	timeout -k 1 60 prlimit $1 "$rift" $2 </dev/null >out 2>err || rc=$?
	case $rc in
	0 | 1 | 2) pass ;;
	3 | 4)
		if [ "$(grep -c '^rift: ' err)" = 1 ] && [ "$(wc -l <err)" = 1 ]; then
			pass
		elif [ -s out ] && [ ! -s err ]; then
			pass # doctor's findings
		else
			fail "$1: rift $2: not one line: $(head -c 400 err)"
		fi
		;;
	*) fail "$1: rift $2: exit code $rc: $(head -c 400 err)" ;;
	esac
	! grep -q 'killed by signal' err || fail "$1: rift $2: $(head -c 400 err)"
}

run="run myocyte $ONCE"
sweep='sweep launch us=0 --depth 1 --mode stream --processes 1 --quick --quiet --output s.jsonl'

# Address space: none of it can be had under the sanitizers, which take terabytes.
if prlimit --as=2000000000 "$rift" --version >/dev/null 2>&1; then
	sizes='20 60 150 250 400'
	[ "$size" = quick ] || sizes='10 15 20 30 40 60 80 100 130 150 200 250 300 350 400 500 700'
	for mib in $sizes; do
		limited --as="${mib}000000" "$run"
		limited --as="${mib}000000" "$sweep"
		limited --as="${mib}000000" "fit $session"
		[ "$size" = quick ] && continue
		limited --as="${mib}000000" "run mlp $ONCE"
		limited --as="${mib}000000" "run alignment $ONCE"
		limited --as="${mib}000000" 'probe --processes 1 --quiet'
		limited --as="${mib}000000" doctor
		limited --as="${mib}000000" "compare $session --self-test"
	done
fi
for files in 3 4 5 6 8 12 20; do
	[ "$size" = all ] || [ $((files % 4)) = 0 ] || continue
	limited --nofile=$files "$run"
	limited --nofile=$files "$sweep"
	limited --nofile=$files "fit $session"
done
# Below 32 KiB the loader may not even come as far as rift.
for kib in 32 64 128 256 512 1024; do
	[ "$size" = all ] || [ $kib = 64 ] || [ $kib = 256 ] || continue
	limited --stack=$((kib << 10)) "$run"
	limited --stack=$((kib << 10)) "fit $session"
	[ "$size" = quick ] || limited --stack=$((kib << 10)) "run alignment $ONCE"
	[ "$size" = quick ] || limited --stack=$((kib << 10)) "$sweep"
done
# The number of threads is not limited for root, who becomes nobody here.
if [ "$(id -u)" = 0 ] && chmod 777 "$dir" && setpriv --reuid=65534 --clear-groups test -x "$rift"; then
	nobody='setpriv --reuid=65534 --clear-groups'
else
	nobody=
fi
for threads in 1 2 3 4 6; do
	[ "$size" = all ] || [ $threads = 3 ] || continue
	limited "--core=0 $nobody prlimit --nproc=$threads" "$run"
	limited "--core=0 $nobody prlimit --nproc=$threads" "$sweep"
done

# Words and options in any order, and help that ends, whatever the environment says.
said() { # CODE VARIABLE RIFT-ARGUMENTS
	rc=0
	# shellcheck disable=SC2086
	timeout -k 1 20 prlimit --fsize=1000000 env "$2" "$rift" $3 </dev/null >out 2>err || rc=$?
	if [ "$rc" = "$1" ] && [ "$(wc -c <out)" -lt 20000 ]; then
		pass
	else
		fail "$2 rift $3: exit code $rc, not $1; $(wc -c <out) bytes; $(head -c 300 err)"
	fi
}
for variable in A=1 POSIXLY_CORRECT=1 ARGP_HELP_FMT=rmargin=20; do
	said 0 $variable "run --depth 1 --samples 1 --quiet launch us=0"
	said 0 $variable "run launch --depth 1 us=0 --samples 1 --quiet"
	said 0 $variable "run launch us=0 --quiet --samples 1 --depth 1"
	said 3 $variable "run launch -- us=0 --depth 1"
	said 0 $variable "show $session"
	for command in run sweep probe compare plot; do
		said 0 $variable "$command --help"
	done
done

# Ctrl-C, in the middle of what takes a quarter of an hour: TERM, as what runs in the background
# ignores INT. It ends by itself; after 20 s it is ended, and fails.
interrupted() { # RIFT-ARGUMENTS
	rc=0
	# shellcheck disable=SC2086
	"$rift" $1 </dev/null >out 2>err &
	job=$!
	tries=0 # until kernels run, on threads of their own
	while [ "$(grep -s "^Threads" /proc/$job/status | tr -dc 0-9)" -lt 3 ] 2>/dev/null && [ $tries -lt 100 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	sleep 0.5
	kill -TERM $job 2>/dev/null || true
	tries=0
	while grep -q '^State:[^Z]*$' /proc/$job/status 2>/dev/null && [ $tries -lt 200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	kill -KILL $job 2>/dev/null || true
	wait $job 2>/dev/null || rc=$?
	if [ "$rc" = 75 ] && [ "$(wc -l <err)" = 1 ] && ! [ -s out ]; then
		pass
	else
		fail "rift $1: interrupted: exit code $rc, $(head -c 300 err)"
	fi
}
interrupted 'run launch us=10000 --depth 100000 --quiet'
if [ "$size" = all ]; then
	interrupted 'run launch us=10000 --depth 100000 --mode graph --quiet'
	interrupted 'run launch us=10000 --depth 100000 --mode fused --quiet'
	interrupted 'run myocyte cells=4096 --depth 1000 --quiet'
fi

echo "limits: $passed passed, $failed failed"
[ "$failed" = 0 ]
