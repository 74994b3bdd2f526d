#!/bin/bash
# accept_engine.sh RIFT [OUT] - how a sweep plans and what it resolves, on this device: five workloads
# in a minute, one that is short of time, all workloads' plans, --express and --resolve. OUT keeps the
# sessions and what each command printed; what is there already is not run again. ONLY="five resolve"
# runs some of it. It prints figures and judges nothing.
set -u
rift=${1:?usage: accept_engine.sh RIFT [OUT]}
out=${2:-results/engine}
five="myocyte particlefilter mlp alignment radixsort"
mkdir -p "$out"

# A sweep, how long it was to take, how long it took, and its points.
try() { # NAME rift's words
	local name=$out/$1 begin code
	case " ${ONLY:-$1} " in *" $1 "*) ;; *) return ;; esac
	shift
	if ! [ -s "$name.txt" ]; then
		begin=$(date +%s%N)
		timeout 400 "$rift" sweep "$@" --output "$name.jsonl" >"$name.txt" 2>&1 </dev/null
		code=$?
		echo "exit code $code, $((($(date +%s%N) - begin) / 1000000)) ms" >>"$name.txt"
	fi
	printf '%-18s %s; %s; %s\n' "$(basename "$name")" "$(grep '^predicted.*took' "$name.txt")" \
		"$(grep -o '[0-9]* points ok.*otherwise' "$name.txt")" "$(tail -n 1 "$name.txt")"
}

# shellcheck disable=SC2086
try five $five --quick --mode stream,graph --depth 1,16 --processes 4
# shellcheck disable=SC2086
try five-own $five --quick
try launch-quick launch --quick
try launch-express launch --express
try launch-express-two launch --express --against env
try resolve launch us=0 --depth 1,16,256 --mode stream --quick --resolve c=50ns --against env
case " ${ONLY:-plans} " in *" plans "*) ;; *) exit ;; esac
for w in workloads/*/; do
	w=$(basename "$w")
	begin=$(date +%s%N)
	plan=$("$rift" sweep "$w" --quick --dry-run 2>/dev/null </dev/null | grep '^predicted')
	printf '%-18s %s; planned in %d ms\n' "$w" "$plan" "$((($(date +%s%N) - begin) / 1000000))"
done
