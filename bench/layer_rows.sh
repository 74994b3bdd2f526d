# layer_rows.sh - read by the scripts beside it that measure under many layers: what each of them is to
# `rift layer`, what it needs beside it, and whether it is here. They set $layers, a folder with what
# was built of public projects (layers/preload/README.md says how), and $out.
# shellcheck shell=bash disable=SC2034,SC2154
layer_rows="none shim container cpu-50 cpu-100 mps neighbour-spin neighbour-copy neighbour-launch profiler hami-O0 hami-O2 nvshare vgpu-manager xsched remote lupine"
daemon=
lupine_port=${LUPINE_PORT:-14833} # one for each GPU that is measured at once

# The words of `rift layer` for a row.
words() {
	local lib=$layers/$1
	case $1 in
	cpu-*) echo "cpu share=${1#cpu-}" ;;
	neighbour-*) echo "neighbour kind=${1#neighbour-}" ;;
	hami-*) echo "preload lib=$lib/libvgpu.so set=CUDA_DEVICE_MEMORY_LIMIT=64g,CUDA_DEVICE_SM_LIMIT=100,CUDA_DEVICE_MEMORY_SHARED_CACHE=/tmp/$1.cache,LIBCUDA_LOG_LEVEL=0" ;;
	nvshare) echo "preload lib=$lib/libnvshare.so" ;;
	lupine) echo "preload lib=$lib/libcuda.so.1 set=LUPINE_SERVER=127.0.0.1:$lupine_port,LUPINE_DISABLE_LOCAL=1" ;;
	vgpu-manager) echo "preload lib=$lib/libvgpu-control.so set=MANAGER_VISIBLE_DEVICES=$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=uuid --format=csv,noheader | head -n 1),CUDA_MEM_LIMIT=64g,LOGGER_LEVEL=0" ;;
	xsched) echo "preload lib=$lib/libcuda.so.1 set=XSCHED_CUDA_LIB=$(ldconfig -p | awk '/libcuda\.so\.1 /{print $NF; exit}'),XSCHED_AUTO_XQUEUE=ON,XSCHED_AUTO_XQUEUE_LEVEL=1,XSCHED_POLICY=HPF" ;;
	*) echo "$1" ;;
	esac
}

# What a row needs beside it: two processes at a time would each start a daemon= of their own.
begin() {
	case $1 in
	hami-*) mkdir -p /tmp/vgpulock && rm -f "/tmp/$1.cache" ;;
	vgpu-manager) rm -rf /etc/vgpu-manager ;;
	nvshare)
		setsid "$layers/nvshare/nvshare-scheduler" >"$out/$1.daemon" 2>&1 &
		daemon=$!
		sleep 1
		;;
	lupine)
		LUPINE_PORT=$lupine_port LD_LIBRARY_PATH=$layers/lupine/lib:${LD_LIBRARY_PATH:-} \
			setsid "$layers/lupine/lupine_driver_server" >"$out/$1.daemon" 2>&1 &
		daemon=$!
		sleep 2
		;;
	esac
}

end_daemon() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	[ -z "$daemon" ] || wait "$daemon" 2>/dev/null
	daemon=
}

# False, after a line, where its folder is missing.
is_here() {
	case $1 in
	hami-* | nvshare | vgpu-manager | xsched | lupine)
		[ -d "$layers/$1" ] || {
			echo "$1: not measured, $layers/$1 is not there"
			return 1
		}
		;;
	esac
}
