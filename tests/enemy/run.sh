#!/bin/sh
# run.sh BINARY quick|all - runs every other script of this folder: what an enemy would try on rift.
#
# Each is executable, takes the same two words, prints one line for each case that fails and a
# closing line "NAME: N passed, N failed", and exits 1 on failures. `quick` is for CI: all of them
# together get 180 s (they took 55 on two slow processors), and one that is still running then has failed. `all` has no such bound.
set -eu
binary=${1:?usage: run.sh BINARY quick|all}
size=${2:?usage: run.sh BINARY quick|all}
case $size in
quick | all) ;;
*)
	echo "run.sh: $size: use quick or all" >&2
	exit 3
	;;
esac
if ! [ -x "$binary" ]; then
	echo "run.sh: $binary: is no program" >&2
	exit 3
fi
folder=$(dirname "$0")
begin=$(date +%s)
status=0
for script in "$folder"/*.sh; do
	[ "$script" != "$folder/run.sh" ] || continue
	left=$((180 - $(date +%s) + begin))
	[ "$size" = quick ] || left=86400
	[ "$left" -gt 0 ] || left=1
	rc=0
	timeout -k 5 "$left" "$script" "$binary" "$size" || rc=$?
	[ "$rc" = 0 ] || status=1
	[ "$rc" != 124 ] || echo "$(basename "$script" .sh): not done after $left s: the 180 s of all scripts are over"
done
echo "enemy, $size: $(($(date +%s) - begin)) s, $([ "$status" = 0 ] && echo passed || echo FAILED)"
exit "$status"
