#!/bin/sh
# build.sh GOAL - builds GOAL (rift, tests, bench, dist) for the device of $DEVICE.
set -eu
device=$(tools/device.sh -v)
exec "${MAKE:-make}" --no-print-directory -f build.mk DEVICE="$device" "$1"
