#!/bin/sh
# device.sh [-v] - prints the device to build for: cpu or cuda. -v says why on stderr.
#
# $DEVICE: auto (default), cpu or cuda. auto takes the GPU where nvcc is new enough and a device
# answers, so that a machine with a toolkit but no GPU gets the CPU device.
set -eu
say() { [ "$verbose" = 0 ] || echo "rift: $*" >&2; }
verbose=0
[ "${1:-}" != -v ] || verbose=1

case ${DEVICE:-auto} in
cpu)
	echo cpu
	exit 0
	;;
auto | cuda) ;;
*)
	echo "rift: DEVICE=$DEVICE: use auto, cpu or cuda" >&2
	exit 3
	;;
esac

if ! nvcc=$(tools/nvcc.sh); then
	why=$nvcc
elif [ "${DEVICE:-auto}" = auto ] && ! gpu=$(tools/gpu.sh); then
	why=$gpu
else
	say "GPU build (${gpu:-DEVICE=cuda}), $nvcc"
	echo cuda
	exit 0
fi

if [ "${DEVICE:-auto}" = cuda ]; then
	echo "rift: DEVICE=cuda: $why" >&2
	exit 4
fi
say "CPU device build, because: $why"
echo cpu
