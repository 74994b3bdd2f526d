#!/bin/sh
# run.sh FOLDER quick|all - runs the scripts of this folder, each of which has rift on one side of a guest and on
# the other. FOLDER is that of `make dist DEVICE=cpu`. quick is for CI: what needs no system to be made.
#
# Each ends with 0 and says "NAME: passed" or "NAME: skipped: REASON"; a skipped one counts for nothing.
# A script gets 10 minutes, QEMU's and the image's 20, and 2 if quick.
set -eu
dist=${1:?usage: run.sh FOLDER quick|all}
size=${2:?usage: run.sh FOLDER quick|all}
case $size in
quick) guests='ssh gvisor' ;;
all) guests='ssh gvisor nspawn docker image docker_rootless podman qemu' ;;
*)
	echo "run.sh: $size: use quick or all" >&2
	exit 3
	;;
esac
if ! [ -x "$dist/rift" ]; then
	echo "run.sh: $dist: no rift in it; make dist DEVICE=cpu" >&2
	exit 3
fi
folder=$(dirname "$0")
out=$(mktemp)
trap 'rm -f "$out"' EXIT
begin=$(date +%s)
passed=0 skipped=0 failed=0
for guest in $guests; do
	limit=600
	case $guest in image | qemu) limit=1200 ;; esac
	[ "$size" != quick ] || limit=120
	start=$(date +%s)
	rc=0
	timeout -k 30 "$limit" "$folder/$guest.sh" "$dist" "$size" >"$out" 2>&1 </dev/null || rc=$?
	cat "$out"
	case $rc:$(tail -n 1 "$out") in
	0:*': passed') passed=$((passed + 1)) ;;
	0:*': skipped: '*) skipped=$((skipped + 1)) ;;
	*)
		failed=$((failed + 1))
		echo "$guest: FAILED: exit code $rc after $(($(date +%s) - start)) s"
		;;
	esac
	echo "$guest: $(($(date +%s) - start)) s"
done
echo "guests, $size: $passed passed, $skipped skipped, $failed failed, $(($(date +%s) - begin)) s"
[ "$failed" = 0 ]
