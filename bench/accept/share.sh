# share.sh - several clients on one GPU.
# shellcheck shell=bash disable=SC2154

# A record of `rift share`. A cell belongs to the copy of this script that takes its lock first; one that was stopped continues.
clients() { # NAME WORDS OF rift share...
	local file=$out/$1.jsonl
	[ ! -s "$file" ] || return 0
	# shellcheck disable=SC2086
	set -- "${@:2}" ${OPTIONS:---window 0.15 --windows 1 --repetitions 7 --starts 1} --output "$file"
	[ ! -s "$file.part" ] || set -- --resume "$file.part"
	# what it starts must not hold the lock
	{ flock -n 9 && keep "$file" "${under[@]}" "$rift" share "$@" --quiet 9>&-; } 9>"$file.lock" || [ -s "$file" ] || [ -n "${DRY:-}" ] ||
		echo "${file##*/}: not whole yet, or another copy of this script measures it"
}

who_hurts_whom() {
	local a b
	# shellcheck disable=SC2086
	set -- $four
	while [ $# -gt 1 ]; do
		a=$1
		shift
		for b; do clients "pair-$a-$b" "$a" --with "$b" --clients 2 --arms "$arms"; done
	done
}

# A client that copies 64 KiB at a time beside one that copies 256 MiB: each in the ways of sharing, then in one process of a
# daemon over TCP, by the blocks that copies travel in.
unequal_copies() {
	local small="transfer bytes=64k host=pageable dir=h2d" large="transfer bytes=${BYTES:-256M} host=pageable dir=h2d" size under
	# shellcheck disable=SC2086
	clients sizes $small --with "$large" --clients 2 --arms "$arms"
	for size in ${BLOCKS:-128k 4M 128M}; do
		under=("$rift" layer --quiet remote transport=tcp shared=yes "block=$size" --)
		# shellcheck disable=SC2086
		clients "sizes-$size" $small --with "$large" --clients 2 --arms processes
	done
}

# All other workloads that have steps.
others() { "$rift" list --json | table others; }

# A launch while the layer cpu loads all processors. That may be too much for --express, which then says so.
busy() { # LOAD
	local how
	for how in ${BUSY:---express --quick}; do
		session "busy-$1" launch us=0,10 --depth 1,16,256 --mode stream,graph "$how" --layer "cpu n=$(nproc) share=$1" && return
	done
}

# ---- what was measured ------------------------------------------------------------------------

share_table() { # TITLE FOLDER OF CHARTS|"" FIRST LINE THAT IS OF INTEREST, AS sed HAS IT RECORD...
	local from=() file
	printf '\n== %s\n' "$1"
	for file in "${@:4}"; do [ ! -s "$file" ] || from+=(--from "$file"); done
	[ ${#from[@]} -gt 0 ] || { echo "not yet run" && return; }
	if [ -n "$2" ] && command -v gnuplot >/dev/null; then
		"$rift" share "${from[@]}" --quiet --plot "$out/charts/$2" >/dev/null 2>&1 </dev/null || echo "no charts: exit code $?"
	fi
	"$rift" share "${from[@]}" --quiet 2>&1 </dev/null | sed -n "$3,\$p"
}

share_tables() {
	local file
	{
		share_table "several clients of one workload" full 1 "$out"/full-*.jsonl
		share_table "who hurts whom" pairs "/two clients/" "$out"/full-*.jsonl "$out"/pair-*.jsonl
		share_table "short steps beside each neighbour" beside "/two clients/" "$out"/beside-*.jsonl
		share_table "harm" "" "/harm hurts/" "$out"/harm-*.jsonl
		share_table "one of two under emulate call=50" "" 1 "$out"/unfair.jsonl
		printf '\n== equal clients\n'
		for file in "$out"/equal-*.jsonl; do
			[ ! -s "$file" ] || "$rift" share --from "$file" --quiet --json 2>/dev/null </dev/null
		done | table fairness
		share_table "the programs of the vmCUDA paper" paper 1 "$out"/paper-*.jsonl
		share_table "other workloads" others 1 "$out"/other-*.jsonl
		printf '\n== a busy host: what it adds, ns\n'
		for file in "$out"/busy-*.jsonl; do
			[ ! -s "$file" ] || "$rift" compare "$file" --json >"$file.json" 2>/dev/null </dev/null
		done
		table busy
	} | tee "$out/tables.txt"
}
