# sweeps.sh - commands under layers, how a sweep plans, what it resolves, and known costs found again.
# shellcheck shell=bash disable=SC2034,SC2154

# A command under the row's layer: does it end in order (no signal, a documented exit code), and what is not supported?
try() { # ROW WORDS OF rift...
	local kept=$out/$1-$cell verdict="in order" code
	shift
	[ -e "$kept" ] || [ -n "${DRY:-}" ] || rm -f "$out/$row.jsonl"*
	# shellcheck disable=SC2086
	keep_printed "$kept" "$rift" layer --quiet $layer -- "$rift" "$@"
	[ -e "$kept.txt" ] || return
	code=$(sed -n 's/^exit code \([0-9]*\),.*/\1/p' "$kept.txt")
	case $code in
	0 | 2 | 4) ;;
	*) verdict="NOT in order" status=1 ;;
	esac
	printf '%-8s %-36s exit %-4s %s, %s not supported\n' "$row" "rift ${*:1:4}" "$code" \
		"$verdict" "$(cat "$kept" "$kept.txt" 2>/dev/null | grep -c 'not supported here')"
	cat "$kept" "$kept.txt" 2>/dev/null | grep -o 'not supported here: [A-Za-z0-9]*: cudaError[A-Za-z]*' |
		sort | uniq -c | sed 's/^/         /' | head -n 12
}

# A sweep, how long it was to take, how long it took, and its points.
plan() { # WORDS OF rift sweep...
	local said=$out/$cell.jsonl.txt
	quiet='' session "$cell" "$@"
	[ -e "$said" ] || return
	printf '%-18s %s; %s; %s\n' "$cell" "$(grep '^predicted.*took' "$said")" \
		"$(grep -o '[0-9]* points ok.*otherwise' "$said")" "$(tail -n 1 "$said")"
}

plans() {
	local w begun said
	for w in workloads/*/; do
		w=$(basename "$w")
		may_run "$w" "$rift" sweep "$w" --quick --dry-run || continue
		begun=$(date +%s%N)
		said=$("$rift" sweep "$w" --quick --dry-run 2>/dev/null </dev/null | grep '^predicted')
		printf '%-18s %s; planned in %d ms\n' "$w" "$said" "$((($(date +%s%N) - begun) / 1000000))"
	done
}

resolution() { # HOW LONG...
	# shellcheck disable=SC2086
	session "resolution-$cell" $what "$@" --warm-up 0.1 --against env && table resolution "$cell" "resolution-$cell"
}

# ---- known costs: emulate, and a spin before each launch ----------------------------------------

# A session whose sides are both under the layer emulate.
pair() { # NAME COSTS_A COSTS_B WORDS OF rift sweep...
	# shellcheck disable=SC2206
	local under=("$rift" layer --quiet emulate $2 --)
	session "$1" "${@:4}" --against "env -u RIFT_LAYERS -u RIFT_LAYER_EMULATE '$rift' layer --quiet emulate $3 --"
}

found() { # NAME PARAMETER ADDED_US...
	[ -n "${DRY:-}" ] || table found "$@"
}

# SETS random pairs of costs (20), drawn from SEED (1): how often does the interval of b - a hold what was added, and how wide is it?
sets() {
	local k call sync call_b sync_b more z p
	table draw_sets "${SETS:-20}" "${SEED:-1}" "$base"
	while read -r k call sync call_b sync_b more z; do
		# shellcheck disable=SC2086
		pair "set-$k" "call=$call sync=$sync" "call=$call_b sync=$sync_b" launch us=0 $options
		found "set-$k" p "$more" Z "$z"
	done <"$out/sets" | tee "$out/sets.txt"
	for p in p Z; do
		echo "sets, $p: $(grep -c " $p: .*holds" "$out/sets.txt") of $(grep -c " $p: " "$out/sets.txt") hold"
	done
}

# SESSIONS sessions (20) each of ADDED ns more before a launch (0 100 300; bench/layers/spin_launch.c), two sides in turns: the
# verdicts, the difference of c, its interval, what was really added, and the time. With WORKLOADS, how often is 5 % called slower
# that was added to one of three workloads, and nothing?
#   ADDED="0 1600" OPTIONS="--depth 1 --mode stream --express --processes 12" SESSIONS=50 WORKLOADS="launch transfer \
#     memory launch.us=30 transfer.bytes=64k memory.bytes=1M" RIFT=build/cpu/rift bench/accept.sh pairs
spins() {
	local spin=$out/spin_launch.so ns i name command
	"${CC:-cc}" -O2 -shared -fPIC "$here/../layers/spin_launch.c" -o "$spin" -ldl || exit 1
	for ns in ${ADDED:-0 100 300}; do
		for i in $(seq "${SESSIONS:-20}"); do
			name=spin-$ns-$i command=env
			[ "$ns" = 0 ] || command="env LD_PRELOAD=$spin SPIN_LAUNCH_NS=$ns SPIN_LAUNCH_LOG=$out/$name.log"
			[ -n "${DRY:-}" ] || [ -s "$out/$name.jsonl" ] || rm -f "$out/$name.log"
			# shellcheck disable=SC2086
			session "$name" ${WORKLOADS:-launch us=0} ${OPTIONS:---depth 1,16,256 --mode stream --quick} --seed "$i" --against "$command"
			echo "$verdict" >"$out/$name.verdict"
		done
		[ -n "${DRY:-}" ] || table spins "$ns" "${SESSIONS:-20}"
	done
}

end_wsl2() {
	# shellcheck disable=SC2086
	python3 "$here/wsl2.py" ${ROWS-$rows}
}

end_holds() { python3 "$here/../holds.py" "$rift" "$out" "$out/charts"; }
