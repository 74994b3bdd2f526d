#!/bin/sh
# arch.sh NVCC - prints nvcc's -gencode options for $CUDA_ARCH:
#   native (default)  the GPU present; without one sm_90 and PTX
#   all               sm_75 to the newest that this nvcc knows, and PTX of the newest
#   75,90             these; a letter behind the number is nvcc's own: 90a
set -eu
nvcc=${1:?usage: arch.sh NVCC}
code() { printf ' -gencode arch=compute_%s,code=sm_%s' "$1" "$1"; }
ptx() { printf ' -gencode arch=compute_%s,code=compute_%s' "$1" "$1"; }

case ${CUDA_ARCH:-native} in
native)
	if gpu=$(tools/gpu.sh); then
		code "$(echo "$gpu" | sed 's/^\([0-9]*\)\.\([0-9]*\) .*/\1\2/')"
	else
		code 90
		ptx 90
	fi
	;;
all)
	for a in $("$nvcc" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | sort -n); do
		[ "$a" -lt 75 ] || code "$a"
		newest=$a
	done
	ptx "$newest"
	;;
*)
	if ! echo "$CUDA_ARCH" | grep -qxE '(sm_)?[0-9]{2,3}[af]?([, ](sm_)?[0-9]{2,3}[af]?)*'; then
		echo "rift: CUDA_ARCH=$CUDA_ARCH: use native, all, or numbers, as 80,90" >&2
		exit 3
	fi
	for a in $(echo "$CUDA_ARCH" | tr ',' ' '); do
		code "${a#sm_}"
	done
	;;
esac
