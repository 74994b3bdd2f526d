# limits.sh - do limits of compute and memory hold? Each record asks for PERCENT of the compute and for MEMORY bytes, which the
# layer is told to keep clients to; two clients are two containers where a layer counts by containers.
# shellcheck shell=bash disable=SC2154

limit_layer() { # ROW PERCENT
	local lib=$third/$1 memory=${MEMORY:-8G}
	case $1 in
	emulate) echo "emulate compute=$2 memory=$memory" ;;
	mps) echo "mps threads=$2" ;;
	hami-*) echo "preload lib=$lib/libvgpu.so set=CUDA_DEVICE_SM_LIMIT=$2,CUDA_DEVICE_MEMORY_LIMIT=${memory,,},CUDA_DEVICE_MEMORY_SHARED_CACHE=/tmp/$1-$2-{client}.cache,LIBCUDA_LOG_LEVEL=0" ;;
	vgpu-manager) echo "$(layer_of vgpu-manager | sed 's/CUDA_MEM_LIMIT=[^,]*//; s/,,/,/'),CUDA_CORE_LIMIT=$2,CUDA_MEM_LIMIT=${memory,,}" ;;
	nvshare) layer_of nvshare ;;
	*) return 1 ;;
	esac
}

# Is memory promised, too? MPS counts none, and nvshare has all of it.
limit_asked() { # ROW PERCENT
	case $1 in
	mps | nvshare) echo "compute=$2%" ;;
	*) echo "compute=$2%,memory=${MEMORY:-8G}" ;;
	esac
}

# A record for each share. HAMi-core freezes a limit in its cache file, so that goes first.
limits() { # ROW WORKLOAD [WORDS OF rift share...]
	local kind=$1 workload=$2 percent layer
	shift 2
	is_here "$kind" || return 0
	for percent in ${PERCENTS:-25 50 75}; do
		begin "$kind"
		[ -n "${DRY:-}" ] || rm -f "/tmp/$kind-$percent-"*.cache
		layer=$(limit_layer "$kind" "$percent") || return
		# shellcheck disable=SC2086
		clients "$cell-$percent" $workload --allow "$(limit_asked "$kind" "$percent")" --layer "$layer" "$@"
		end_daemon
	done
}

remote_memory() {
	clients "$cell" launch us=0 --allow "memory=${MEMORY:-8G}" --layer "remote memory=${MEMORY:-8G}"
}

# All records, then each one in full. rift's exit code is the verdict.
limits_table() {
	local from=() file plot=()
	for file in "$out"/[a-z]*.jsonl; do [ ! -s "$file" ] || from+=(--from "$file"); done
	[ ${#from[@]} -gt 0 ] || { echo "not yet run" && return; }
	! command -v gnuplot >/dev/null || plot=(--plot "$out/charts")
	{
		"$rift" share "${from[@]}" "${plot[@]}" --quiet </dev/null
		for file in "$out"/[a-z]*.jsonl; do
			printf '\n== %s\n' "${file##*/}"
			"$rift" share --from "$file" --quiet </dev/null
		done
	} 2>&1 | tee "$out/tables.txt"
}
