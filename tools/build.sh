#!/bin/sh
# build.sh GOAL - builds GOAL (rift, tests, bench, dist) for the device of $DEVICE.
set -eu
if ! mkdir -p build 2>/dev/null || ! [ -w build ]; then
	echo "rift: cannot write to $PWD/build, where everything is built; copy the sources elsewhere" >&2
	exit 3
fi
# Why it is that device has been said where rift was built first.
case $1 in
dist | install | uninstall) device=$(tools/device.sh) ;;
*) device=$(tools/device.sh -v) ;;
esac
# On all processors, unless make was told how many.
case " ${MAKEFLAGS-}" in
*" -j"* | *--jobserver*) jobs= ;;
*) jobs=-j$(nproc) ;;
esac
# shellcheck disable=SC2086
exec "${MAKE:-make}" $jobs --no-print-directory -f build.mk DEVICE="$device" "$1"
