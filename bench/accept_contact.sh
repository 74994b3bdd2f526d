#!/bin/bash
# accept_contact.sh RIFT LAYERS [OUT] - rift under layers that lack something, on a GPU: every command
# must end in order (no signal, a documented exit code) and name what is missing.
#
# LAYERS holds what was built of two public projects, for which nothing of this repository is
# changed: nvshare/libnvshare.so and nvshare-scheduler (github.com/grgalex/nvshare, its socket folder
# set to one that may be written), lupine/libcuda.so.1, libnvidia-ml.so.1 and lupine_driver_server
# (github.com/lupinemachines/lupine). A layer that is not there is left out and said. OUT keeps
# what each command printed, one file a command; what is there already is not run again.
set -u
rift=${1:?usage: accept_contact.sh RIFT LAYERS [OUT]}
layers=${2:?usage: accept_contact.sh RIFT LAYERS [OUT]}
out=${3:-results/contact}
mkdir -p "$out"
failed=0
helper=

end_helper() {
	[ -z "$helper" ] || kill "$helper" 2>/dev/null
	[ -z "$helper" ] || wait "$helper" 2>/dev/null
	helper=
}
trap end_helper EXIT

# A command under the layer in $layer, whose environment is in $setting.
try() { # NAME rift's words
	local kept=$out/$layer-$1.txt code
	shift
	if ! [ -s "$kept" ]; then
		# shellcheck disable=SC2086
		env $setting timeout 170 "$rift" "$@" >"$kept" 2>&1 </dev/null
		echo "exit code $?" >>"$kept"
	fi
	code=$(sed -n 's/^exit code //p' "$kept" | tail -n 1)
	case $code in
	0 | 2 | 4) verdict="in order" ;;
	*) verdict="NOT in order" failed=1 ;;
	esac
	printf '%-8s %-36s exit %-4s %s, %s not supported\n' "$layer" "rift ${*:1:4}" "$code" \
		"$verdict" "$(grep -c 'not supported here' "$kept")"
	grep -ho 'not supported here: [A-Za-z0-9]*: cudaError[A-Za-z]*' "$kept" | sort | uniq -c |
		sed 's/^/         /' | head -n 12
}

commands() {
	try doctor doctor --json
	try run-graph run graph length=10
	try run-launch run launch us=5 --depth 1
	try run-launch-graph run launch us=5 --mode graph --depth 16
	try probe probe --processes 1 --json
	rm -f "$out/$layer.jsonl"*
	try sweep sweep launch us=0,10 --depth 1,16 --mode stream,graph --quick --processes 2 \
		--output "$out/$layer.jsonl"
}

layer=none setting=
commands
if [ -x "$layers/nvshare/nvshare-scheduler" ]; then
	layer=nvshare setting="LD_PRELOAD=$layers/nvshare/libnvshare.so"
	"$layers/nvshare/nvshare-scheduler" >"$out/nvshare-scheduler.log" 2>&1 &
	helper=$!
	sleep 1
	commands
	end_helper
else
	echo "nvshare: not run, $layers/nvshare is not there"
fi
if [ -x "$layers/lupine/lupine_driver_server" ]; then
	layer=lupine
	setting="LD_LIBRARY_PATH=$layers/lupine:${LD_LIBRARY_PATH:-} LUPINE_SERVER=127.0.0.1:14833
		LUPINE_DISABLE_LOCAL=1"
	LD_LIBRARY_PATH=${LUPINE_LIBRARIES:-}:${LD_LIBRARY_PATH:-} LUPINE_PORT=14833 \
		"$layers/lupine/lupine_driver_server" >"$out/lupine-server.log" 2>&1 &
	helper=$!
	sleep 2
	commands
	end_helper
else
	echo "lupine: not run, $layers/lupine is not there"
fi
exit "$failed"
