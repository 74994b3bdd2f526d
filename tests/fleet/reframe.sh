#!/bin/bash
# reframe.sh RIFT - share/reframe/rift_checks.py under ReFrame's local scheduler: a check passes, its
# times are in a perflog, a reference that is missed fails. Needs python3-venv and PyPI, for
# reframe-hpc; without them it says skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
rift=$(readlink -f "${1:?usage: reframe.sh RIFT}")
checks=$PWD/share/reframe/rift_checks.py
work=$(mktemp -d /tmp/rift-reframe.XXXXXX)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "FAILED: $*"
	exit 1
}

python3 -m venv "$work/venv" >/dev/null 2>&1 || { echo "skipped: needs python3 with venv (python3-venv)" && exit 0; }
"$work/venv/bin/pip" install --quiet --disable-pip-version-check reframe-hpc==4.10.4 >"$work/pip.log" 2>&1 ||
	{ echo "skipped: reframe-hpc is not available: $(tail -n 1 "$work/pip.log")" && exit 0; }

# check NAME OPTIONS...: one check; what ReFrame prints is in NAME.out.
check() {
	local name=$1
	shift
	(cd "$work" && venv/bin/reframe --prefix="$work" --checkpath="$checks" -S rift="$rift" "$@" \
		--perflogdir="$work/perflogs" --performance-report --run) >"$work/$name.out" 2>&1
}

check run --name=RiftRun -S arguments='cells=4' || { cat "$work/run.out" && fail "myocyte does not pass"; }
grep -q 'step_time' "$work/run.out" || fail "its time is not reported"
grep -rq 'step_time' "$work/perflogs" || fail "its time is in no perflog"
check launch --name=RiftLaunch || { cat "$work/launch.out" && fail "the launch sweep does not pass"; }
grep -Eq 'launch_and_wait.* us .*[0-9]\.[0-9]' "$work/launch.out" || { cat "$work/launch.out" && fail "what a launch costs is not reported"; }
if check missed --name=RiftRun -S arguments='cells=4' -S reference_us=0.001; then
	fail "a reference of 1 ns is met"
fi
grep -q 'step_time' "$work/missed.out" || fail "the reference that was missed is not named"
if check wrong --name=RiftRun -S workload=nosuch; then fail "an unknown workload passes"; fi
echo "passed in $SECONDS s"
