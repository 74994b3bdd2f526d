# kills.sh - how the layer remote ends where kill -9 ends one of its processes while copies run: the client, the process that
# serves it, the daemon, or client and server at once. A line says how long the others live on, how the client ends, what the
# layer says, the GPU's memory in MiB before, during and after, and what is left in the layers' folder.
#   TURNS  of each (3)        AFTER  seconds that copies run before (4)
# shellcheck shell=bash disable=SC2154

gpu_memory() {
	nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits \
		${CUDA_VISIBLE_DEVICES:+-i "$CUDA_VISIBLE_DEVICES"} 2>/dev/null | head -n 1 | grep . || echo -
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# All processes of one client, by a mark in their environment.
marked() { # MARK
	grep -lsz "^RIFT_KILLS=$1\$" /proc/[0-9]*/environ | cut -d/ -f3
}

# The listener's words begin so; who serves a client is its child.
listener_of() { # PIDS...
	local pid
	for pid; do
		tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q '^rift layer remote poll=' && echo "$pid"
	done | head -n 1
}

any_lives() { # PIDS...
	local pid
	for pid; do
		[ ! -d "/proc/$pid" ] || grep -qs '^State:.*Z' "/proc/$pid/status" || return 0
	done
	return 1
}

kill_one() { # TRANSPORT VICTIM TURN
	local mark=$$-$1-$2-$3 said=$out/$1-$2-$3.said before during begun took client listener server code all
	set -- "$1" "$2" "$rift" layer --quiet remote transport="$1" -- "$rift" run transfer dir=h2d host=pageable bytes=64M --samples 1000000 --quiet
	may_run "$1, $2" "${@:3}" || return
	before=$(gpu_memory)
	RIFT_KILLS=$mark "${@:3}" >"$said" 2>&1 </dev/null &
	client=$!
	sleep "${AFTER:-4}"
	during=$(gpu_memory)
	mapfile -t all < <(marked "$mark")
	listener=$(listener_of "${all[@]}")
	server=$(tr -d ' ' <"/proc/$listener/task/$listener/children")
	begun=$(now_ms)
	case $2 in
	client) kill -9 "$client" ;;
	server) kill -9 "$server" ;;
	daemon) kill -9 "$listener" ;;
	both) kill -9 "$client" "$server" ;;
	esac
	while any_lives "${all[@]}" && [ $(($(now_ms) - begun)) -lt 10000 ]; do sleep 0.01; done
	took=$(($(now_ms) - begun))
	any_lives "${all[@]}" && took="some live after $took"
	wait "$client" 2>/dev/null
	code=$?
	echo "| $1 | $2 | $took | $code | $(sed -n 's/^rift: layer remote: //p' "$said" | head -n 1) |" \
		"$before, $during, $(gpu_memory) | $(find "$XDG_RUNTIME_DIR" -mindepth 2 | wc -l) |"
}

kills() {
	local turn transport victim
	export XDG_RUNTIME_DIR=$out/folders
	mkdir -p "$XDG_RUNTIME_DIR" && chmod 700 "$XDG_RUNTIME_DIR"
	echo "| transport | killed | the others are gone after, ms | the client's exit code | what the layer says | GPU, MiB | files left |"
	echo "|---|---|---|---|---|---|---|"
	for turn in $(seq "${TURNS:-3}"); do
		for transport in ${TRANSPORTS:-shm unix tcp}; do
			for victim in client server daemon both; do kill_one "$transport" "$victim" "$turn"; done
		done
	done
}
