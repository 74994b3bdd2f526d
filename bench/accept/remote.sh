# remote.sh - what the layer remote costs: the vmCUDA paper's programs, copies, networks, and programs of NVIDIA's.
# shellcheck shell=bash disable=SC2034,SC2154
gpu=
paper_programs=${PAPER:-blackscholes binomial matmul stereo radixsort} # of the vmCUDA paper

on_gpu() { ! "$rift" run launch us=0 --samples 1 --json --quiet 2>/dev/null </dev/null | grep -q '"kind": "cpu"'; }

has_lupine() { [ ! -x "$third/lupine/lupine_driver_server" ] || echo " lupine"; }

# total= says how many steps, except for binomial's 64. They are for a GPU: the CPU device has them if they are named.
paper() { # ROW table1|large OPTIONS...
	local name depth
	[ -n "$gpu" ] || [ "$chosen" != "  " ] || return 0
	for name in $paper_programs; do
		depth=
		[ "$name" != binomial ] || depth="--depth 64"
		# shellcheck disable=SC2086
		session "$1-$2-$name" "$name" "$name.preset=vmcuda-$2" $depth --mode stream --processes "${PAPER_PROCESSES:-9}" "${@:3}" --layer "$layer"
	done
}

copies() { # ROW
	local host dir
	for host in pinned pageable; do
		for dir in h2d d2h; do
			# shellcheck disable=SC2086
			session "$1-$dir-$host" transfer "host=$host" "dir=$dir" "bytes=${BYTES:-64,64k,16M${gpu:+,256M}}" --depth 1,16 $options --layer "$layer"
		done
	done
}

# A file for each program, several in NETWORK between semicolons; if the layer refuses one, the others are measured still.
networks() {
	local list=() words name limit_s=${LIMIT:-$limit}
	IFS=';' read -ra list <<<"${NETWORK:-myocyte; particlefilter; alignment; mlp; mlp launches=many}"
	for words in "${list[@]}"; do
		read -r words <<<"$words"
		name=$out/network-${words//[ =,]/-}
		# shellcheck disable=SC2086
		LIMIT=$((limit_s * 2)) keep_printed "$name.json" "$rift" sweep $words --layer "remote transport=tcp${poll:+ poll=$poll} costs=usual" \
			--time-limit "$limit_s" ${NETWORK_OPTIONS:---processes 5} --plot "$out/charts-${name##*/}" --json
	done
	echo
	table networks
}

# Does each of NVIDIA's programs end as it does without the layer, and what was refused?
samples() {
	local sample name bare under transport
	[ -n "${SAMPLES:-}" ] || { echo "samples: not measured, SAMPLES=FOLDER is not given" && return; }
	echo "| sample | transport | bare | layer | refused |"
	echo "|---|---|---|---|---|"
	for sample in "$SAMPLES"/*; do
		if ! [ -f "$sample" ] || ! [ -x "$sample" ]; then continue; fi
		name=$(basename "$sample")
		may_run "$name" "$rift" layer remote transport=shm -- "$sample" || continue
		(cd "$SAMPLES" && timeout 100 "$sample" >"$out/sample-$name.bare" 2>&1 </dev/null)
		bare=$?
		for transport in shm unix tcp; do
			(cd "$SAMPLES" && timeout 100 "$rift" layer remote transport=$transport -- "$sample" >"$out/sample-$name.$transport" 2>&1 </dev/null)
			under=$?
			echo "| $name | $transport | exit $bare | exit $under |" \
				"$(sed -n 's/^rift: layer remote: not supported: //p' "$out/sample-$name.$transport" | paste -sd, -) |"
		done
	done
}

# The host's part of a launch, and how often it waited: bare, and under the layer.
say() { # WORDS...
	echo
	echo "rift $*"
	"$rift" "$@" 2>&1 </dev/null | grep -E '^(time per|submit per|check|rift: layer)'
}

end_remote() {
	local run="run launch us=0 --depth 256 --samples 40 --quiet" arm session side
	table points "$out"/*.jsonl.json
	# c is a launch's cost in a block, p the interval of submission, Z one launch and a synchronize.
	echo
	echo "| session | side | c, us | p, us | Z, us |"
	echo "|---|---|---|---|---|"
	for session in "$out"/*-launch.jsonl; do
		[ -s "$session" ] || continue
		for side in a b; do
			"$rift" fit "$session" --side $side --json 2>/dev/null </dev/null | table fit "$(basename "$session" .jsonl)" $side
		done
	done
	is_chosen launch || return
	# shellcheck disable=SC2086
	say $run
	for arm in ahead strict; do
		# shellcheck disable=SC2046,SC2086
		say layer $(layer_of $arm) -- "$rift" $run
	done
}

end_vmcuda() { table points "$out"/*-table1-*.jsonl.json "$out"/*-large-*.jsonl.json; }

network() { may_run "$1" python3 "$here/network.py" "$1" && python3 "$here/network.py" "$@"; }

# The paper's programs from start to end, as its table 2 and figure 4 have them: as many bytes as there, by sets in one wait.
whole() {
	local name depth
	for name in $paper_programs; do
		depth=1
		case $name in
		blackscholes) depth=25 ;;
		binomial) depth=64 ;;
		stereo) depth=26 ;;
		esac
		keep "$out/whole-$name.jsonl" "$rift" time --runs "${RUNS:-8}" --quiet --output "$out/whole-$name.jsonl" \
			--layer "remote transport=shm${poll:+ poll=$poll}" --layer "remote transport=tcp${poll:+ poll=$poll}" -- \
			"$rift" run "$name" "${WORDS:-preset=vmcuda-table1}" --mode stream --depth "$depth" --samples 1 --check-steps 1
	done
}

# Copies by the blocks that they travel in.
blocks() {
	local size
	[ -n "${DRY:-}" ] || echo "block_bytes,direction,step_ns,ratio,lo,hi,n,copies_gb_s,stream_gb_s" >"$out/block.csv"
	for size in ${BLOCKS:-128k 512k 1M 2M 4M 8M 16M 32M 64M 128M}; do
		# shellcheck disable=SC2086
		session "block-$size" transfer transfer.bytes="${BYTES:-64M}" transfer.host=pageable transfer.dir=h2d,d2h --depth 1 --mode stream \
			${OPTIONS:---processes ${RUNS:-5} --rounds 3} --layer "remote transport=tcp${POLL:+ poll=$POLL} block=$size" &&
			python3 "$here/network.py" block "$size"
	done
}

programs() { python3 "$here/programs.py" "$@"; }
