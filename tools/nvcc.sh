#!/bin/sh
# nvcc.sh - prints the path of an nvcc of CUDA 12.4 or newer; else the reason, and exits 1.
#
# Looks at $NVCC, then on PATH, then in the toolkit's default folder.
set -eu
oldest=12.4

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! [ -x "$(command -v "$nvcc")" ]; then
	echo "no nvcc on PATH or in /usr/local/cuda/bin (CUDA $oldest or newer is needed)"
	exit 1
fi
version=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')
if [ "$(printf '%s\n' "$oldest" "$version" | sort -V | head -n 1)" != "$oldest" ]; then
	echo "$nvcc is CUDA ${version:-of unknown version}; $oldest or newer is needed"
	exit 1
fi
command -v "$nvcc"
