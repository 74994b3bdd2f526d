#!/bin/bash
# accept_pairs.sh RIFT [SESSIONS [OUT]] - are small costs found that are known to be there? SESSIONS
# sessions (20) each of nothing added to a launch, 100 ns and 300 ns (bench/layers/spin_launch.c), two
# sides in turns. For each the verdict, the difference of c, its 95 % interval, what was really added,
# and the time. How often is 5 % called slower that was planted in one of three workloads, and nothing?
#   ADDED="0 1600" OPTIONS="--depth 1 --mode stream --express --processes 12" WORKLOADS="launch transfer \
#     memory launch.us=30 transfer.bytes=64k memory.bytes=1M" bench/accept_pairs.sh build/cpu/rift 50
# Sessions that are in OUT already are not measured again. It prints figures and judges nothing.
set -u
rift=${1:?usage: accept_pairs.sh RIFT [SESSIONS [OUT]]}
sessions=${2:-20}
out=${3:-results/pairs}
added=${ADDED:-0 100 300}
options=${OPTIONS:---depth 1,16,256 --mode stream --quick}
workloads=${WORKLOADS:-launch us=0}
mkdir -p "$out"
spin=$(realpath "$out")/spin_launch.so
"${CC:-cc}" -O2 -shared -fPIC "$(dirname "$0")/layers/spin_launch.c" -o "$spin" -ldl || exit 1

number() { # FILE of compare --json, PATH in the parameter c
	python3 - "$1" "$2" <<-'END'
		import json, sys
		try:
		    rows = json.load(open(sys.argv[1]))["parameters"]
		except ValueError:
		    rows = []
		v = [p["difference"][sys.argv[2]] for p in rows if p["name"] == "c"]
		print(v[0] if v and v[0] is not None else "nan")
	END
}

for ns in $added; do
	for i in $(seq "$sessions"); do
		name=$out/spin-$ns-$i
		log=$(realpath "$out")/spin-$ns-$i.log
		[ -s "$name.jsonl" ] && continue
		rm -f "$log" "$name".jsonl*
		begin=$(date +%s%N)
		command="env LD_PRELOAD=$spin SPIN_LAUNCH_NS=$ns SPIN_LAUNCH_LOG=$log"
		[ "$ns" != 0 ] || command="env"
		# shellcheck disable=SC2086
		"$rift" sweep $workloads $options --seed "$i" --against "$command" --quiet \
			--output "$name.jsonl" >"$name.txt" 2>&1 </dev/null
		echo "$((($(date +%s%N) - begin) / 1000000))" >"$name.ms"
	done
	for i in $(seq "$sessions"); do
		name=$out/spin-$ns-$i
		verdict=0
		"$rift" compare "$name.jsonl" --json >"$name.json" 2>/dev/null </dev/null || verdict=$?
		truth=0
		[ "$ns" = 0 ] || truth=$(awk '{ s += $1 } END { print s / NR }' "$out/spin-$ns-$i.log")
		echo "$ns $truth $(number "$name.json" value) $(number "$name.json" lo) $(number "$name.json" hi) $(cat "$name.ms") $verdict"
	done >"$out/spin-$ns.txt"
	awk -v ns="$ns" '
		{ slower += $7 == 1; inconclusive += $7 == 2 }
		$4 == "nan" || $5 == "nan" { lost++; next } # no session, or no interval
		{ n++; found += $4 > 0 || $5 < 0; holds += $4 <= $2 && $2 <= $5; truth += $2; value += $3
		  width[n] = ($5 - $4) / 2; time += $6 }
		END { asort_by_hand(width, n)
		  printf "%s ns added: B is called slower in %d sessions of %d, %d are inconclusive\n",
			ns, slower, NR, inconclusive
		  if (n)
		  printf "%s ns added (really %.0f): found %.0f, interval excludes 0 in %d and holds the truth in %d of %d; half its width %.0f (median); %.1f s a session; %d of %d sessions gave nothing\n",
			ns, n ? truth / n : 0, n ? value / n : 0, found, holds, n, width[int((n + 1) / 2)], n ? time / n / 1000 : 0, lost, n + lost }
		function asort_by_hand(a, n, i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && a[j - 1] > a[j]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
			return n
		}' "$out/spin-$ns.txt"
done
