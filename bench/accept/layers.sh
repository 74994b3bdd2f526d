# layers.sh - the rows that a cell may be measured under: what each is to `rift layer`, what must run beside it, and
# whether it is here. $third holds what was built of public projects (layers/preload/README.md).
# shellcheck shell=bash disable=SC2034,SC2154
all_layers="none shim container cpu-50 cpu-100 mps neighbour-spin neighbour-copy neighbour-launch profiler hami-O0 hami-O2 nvshare vgpu-manager xsched remote lupine"
presets="native wddm-packet windows-hags wsl2-2020 wsl2-2021 wsl2-hags wsl2-hags-async hami vmcuda-tcp"
daemon=
lupine_port=${LUPINE_PORT:-14833} # one for each GPU that is measured at once

layer_of() { # ROW
	local lib=$third/$1
	case $1 in
	cpu-*) echo "cpu share=${1#cpu-}" ;;
	neighbour-*) echo "neighbour kind=${1#neighbour-}" ;;
	native | wddm-packet | windows-* | wsl2-* | h100-cc | hami | vmcuda-tcp) echo "emulate preset=$1" ;;
	# the layer remote as it comes, asleep while it waits, and waiting for the answer to each call
	ahead) echo "remote${poll:+ poll=$poll}" ;;
	sleep) echo 'remote poll=0' ;;
	strict) echo "remote${poll:+ poll=$poll} strict=yes" ;;
	remote-tcp-*) echo "remote transport=tcp network=${1#remote-tcp-},200" ;; # us, Gbit/s
	hami-*) echo "preload lib=$lib/libvgpu.so set=CUDA_DEVICE_MEMORY_LIMIT=64g,CUDA_DEVICE_SM_LIMIT=100,CUDA_DEVICE_MEMORY_SHARED_CACHE=/tmp/$1.cache,LIBCUDA_LOG_LEVEL=0" ;;
	nvshare) echo "preload lib=$lib/libnvshare.so" ;;
	lupine) echo "preload lib=$lib/libcuda.so.1 set=LUPINE_SERVER=127.0.0.1:$lupine_port,LUPINE_DISABLE_LOCAL=1" ;;
	vgpu-manager) echo "preload lib=$lib/libvgpu-control.so set=MANAGER_VISIBLE_DEVICES=$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=uuid --format=csv,noheader | head -n 1),CUDA_MEM_LIMIT=64g,LOGGER_LEVEL=0" ;;
	xsched) echo "preload lib=$lib/libcuda.so.1 set=XSCHED_CUDA_LIB=$(ldconfig -p | awk '/libcuda\.so\.1 /{print $NF; exit}'),XSCHED_AUTO_XQUEUE=ON,XSCHED_AUTO_XQUEUE_LEVEL=1,XSCHED_POLICY=HPF" ;;
	*) echo "$1" ;;
	esac
}

# Daemons are started here: with daemon= each of the two processes of a pair would start one of its own.
begin() { # ROW
	case $1 in
	hami-*) mkdir -p /tmp/vgpulock && rm -f "/tmp/$1.cache" ;;
	vgpu-manager) rm -rf /etc/vgpu-manager ;;
	nvshare)
		setsid "$third/nvshare/nvshare-scheduler" >"$out/$1.daemon" 2>&1 &
		daemon=$!
		sleep 1
		[ -z "${QUANTUM:-}" ] || "$third/nvshare/nvsharectl" -T "$QUANTUM" >>"$out/$1.daemon" 2>&1
		;;
	lupine)
		LUPINE_PORT=$lupine_port LD_LIBRARY_PATH=$third/lupine/lib:${LD_LIBRARY_PATH:-} \
			setsid "$third/lupine/lupine_driver_server" >"$out/$1.daemon" 2>&1 &
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

# False, after a line, where the row's folder is missing.
is_here() { # ROW
	case $1 in
	hami-* | nvshare | vgpu-manager | xsched | lupine)
		[ -d "$third/$1" ] || {
			echo "$1: not measured, $third/$1 is not there"
			return 1
		}
		;;
	esac
}
