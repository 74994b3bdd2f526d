#!/bin/sh
# build.sh GOAL - builds GOAL (rift, tests, bench, dist) for the device of $DEVICE.
set -eu
if ! mkdir -p build 2>/dev/null || ! [ -w build ]; then
	echo "rift: cannot write to $PWD/build, where everything is built; copy the sources elsewhere" >&2
	exit 3
fi
device=$(tools/device.sh -v)
exec "${MAKE:-make}" --no-print-directory -f build.mk DEVICE="$device" "$1"
