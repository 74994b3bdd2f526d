#!/bin/bash
# accept_share.sh RIFT [OUT] - several clients on one GPU: every arm, for many workloads.
#   full    binomial, blackscholes, myocyte, mlp at 1, 2, 4 and 6 clients
#   others  all other workloads that have steps, at 1 and 4
#   harm    each fault under every arm, two clients of binomial
# CELLS="full others harm" chooses. All together take BUDGET_S seconds at most, 480 if not set: a
# cell that is predicted to take longer than what is left is not begun, and one that does is
# stopped. OUT keeps the records; a cell that is whole is not measured again, and one that was
# stopped goes on where it was. A record that was lost with its machine begins anew. In the end
# the tables of all, and which cells are not yet run. It judges nothing.
set -u
rift=$(realpath "${1:?usage: accept_share.sh RIFT [OUT]}")
out=${2:-results/share}
arms=${ARMS:-processes,mps,remote,remote+mps,remote-shared,streams,serial}
options=${OPTIONS:---window 0.15 --windows 1 --repetitions 5 --starts 1}
end=$(($(date +%s) + ${BUDGET_S:-480}))
mkdir -p "$out"
missing=

left_s() { echo $((end - $(date +%s))); }

# rift's own prediction, without arms that cannot be had here, in whole seconds.
predicted_s() { # OPTION...
	local plan
	plan=$("$rift" share "$@" --dry-run --json) && python3 -c '
import json, sys
d = json.loads(sys.argv[1])
run = [s for s in d["sets"] if not s["not_run"]]
print(int(d["predicted_s"] * len(run) / len(d["sets"])) + 1)' "$plan"
}

cell() { # NAME OPTION...
	local name=$1 file=$out/$1.jsonl left needs
	shift
	[ ! -s "$file" ] || return 0
	left=$(left_s)
	# shellcheck disable=SC2086
	needs=$(predicted_s "$@" --arms "$arms" $options) || { missing+=" $name" && return; }
	if [ "$left" -lt 5 ] || { [ ! -s "$file.part" ] && [ "$needs" -gt "$left" ]; }; then
		missing+=" $name"
		return
	fi
	if [ -s "$file.part" ]; then
		set -- --resume "$file.part"
	else
		# shellcheck disable=SC2086
		set -- "$@" --arms "$arms" $options --output "$file"
	fi
	timeout -s INT -k 10 "$left" "$rift" share "$@" --quiet >"$out/$name.txt" 2>&1 </dev/null
	[ -s "$file" ] || missing+=" $name"
}

others() {
	"$rift" list --json | python3 -c '
import json, sys
full = {"binomial", "blackscholes", "myocyte", "mlp"}
print(*(w["name"] for w in json.load(sys.stdin)["workloads"] if w["name"] not in full))'
}

for kind in ${CELLS:-full harm others}; do
	case $kind in
	full) for w in ${WORKLOADS:-binomial blackscholes myocyte mlp}; do cell "$w" "$w" --clients "${FULL:-1,2,4,6}"; done ;;
	others) for w in $(others); do cell "$w" "$w" --clients "${OTHERS:-1,4}"; done ;;
	harm)
		for fault in ${FAULTS:-crash kill hang memory}; do
			cell "harm-$fault" binomial --clients 2 --fault "$fault"
		done
		;;
	*) echo "CELLS: full, others, harm" >&2 && exit 1 ;;
	esac
done
for file in "$out"/*.jsonl; do
	[ ! -s "$file" ] || { echo "== $file" && "$rift" share --from "$file" --quiet; }
done
[ -z "$missing" ] || echo "not yet run:$missing"
