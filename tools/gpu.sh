#!/bin/sh
# gpu.sh - prints compute capability and name of the first GPU ("9.0 NVIDIA H200"); where none
# works, prints the reason and exits 1.
#
# Asks libcuda itself, through a small program that needs no toolkit: nvidia-smi is missing in
# many containers, and device files look different under WSL.
set -eu
probe=build/gpu_probe
cc=${CC:-cc} # may bring options along: gcc -pipe
command -v "${cc%% *}" >/dev/null || cc=gcc
command -v "${cc%% *}" >/dev/null || {
	echo "no C compiler to look for a GPU with"
	exit 1
}
if [ -z "$(find "$probe" -newer tools/gpu_probe.c 2>/dev/null)" ]; then
	# The options are words of their own.
	# shellcheck disable=SC2086
	if ! { mkdir -p build && $cc -O1 -o "$probe.$$" tools/gpu_probe.c -ldl && mv "$probe.$$" "$probe"; }; then
		echo "$cc cannot build $probe, which looks for a GPU"
		exit 1
	fi
fi
exec "$probe"
