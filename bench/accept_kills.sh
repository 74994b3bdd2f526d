#!/bin/bash
# accept_kills.sh RIFT [OUT] - how the layer remote ends where a process of it is killed (kill -9) in the
# middle of copies, over each transport: the client, the process that serves it, the daemon, or client
# and server at once. Printed are how long the others live on, how the client ends and what the layer says, the
# GPU's memory in MiB before, during and after, and what is left in the layers' folder. It judges
# nothing.
#   TRANSPORTS  of shm unix tcp;  VICTIMS  of client server daemon both;  TURNS of each (3)
#   AFTER       seconds that copies run before (4)
set -u
rift=$(realpath "${1:?usage: accept_kills.sh RIFT [OUT]}")
out=$(realpath -m "${2:-results/kills}")
XDG_RUNTIME_DIR=$out/folders
export XDG_RUNTIME_DIR
mkdir -p "$XDG_RUNTIME_DIR" && chmod 700 "$XDG_RUNTIME_DIR"

gpu_memory() {
	nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits \
		${CUDA_VISIBLE_DEVICES:+-i "$CUDA_VISIBLE_DEVICES"} 2>/dev/null | head -n 1 | grep . || echo -
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# All processes of this run, by a mark in their environment.
marked() { # MARK
	local file
	for file in /proc/[0-9]*/environ; do
		grep -qsz "^RIFT_KILLS=$1\$" "$file" && echo "$file" | cut -d/ -f3
	done
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
	local mark=$$-$1-$2-$3 said=$out/$1-$2-$3.said before during begin took client listener server all status
	before=$(gpu_memory)
	RIFT_KILLS=$mark "$rift" layer --quiet remote transport="$1" -- "$rift" run transfer dir=h2d \
		host=pageable bytes=64M --blocks 1000000 --quiet >"$said" 2>&1 </dev/null &
	client=$!
	sleep "${AFTER:-4}"
	during=$(gpu_memory)
	mapfile -t all < <(marked "$mark")
	listener=$(listener_of "${all[@]}")
	server=$(tr -d ' ' <"/proc/$listener/task/$listener/children")
	begin=$(now_ms)
	case $2 in
	client) kill -9 "$client" ;;
	server) kill -9 "$server" ;;
	daemon) kill -9 "$listener" ;;
	both) kill -9 "$client" "$server" ;;
	*) echo "VICTIMS: client, server, daemon, both" >&2 && exit 1 ;;
	esac
	while any_lives "${all[@]}" && [ $(($(now_ms) - begin)) -lt 10000 ]; do sleep 0.01; done
	took=$(($(now_ms) - begin))
	any_lives "${all[@]}" && took="some live after $took"
	wait "$client" 2>/dev/null
	status=$?
	echo "| $1 | $2 | $took | $status | $(sed -n 's/^rift: layer remote: //p' "$said" | head -n 1) |" \
		"$before, $during, $(gpu_memory) | $(find "$XDG_RUNTIME_DIR" -mindepth 2 | wc -l) |"
}

echo "| transport | killed | the others are gone after, ms | the client's exit code | what the layer says | GPU, MiB | files left |"
echo "|---|---|---|---|---|---|---|"
for turn in $(seq "${TURNS:-3}"); do
	for transport in ${TRANSPORTS:-shm unix tcp}; do
		for victim in ${VICTIMS:-client server daemon both}; do
			kill_one "$transport" "$victim" "$turn"
		done
	done
done
