#!/bin/sh
# thin.sh RIFT ORIGINALS THINNED - do rift's commands say the same of thinned sessions as of their
# originals? Both folders have sessions of the same names, compressed or not. For each: `show`,
# `compare --json` and `fit --json`, byte for byte, exit codes too. Ends with 1 and the differences
# where they are not. A second or two for each session.
set -eu
rift=$(realpath "${1:?usage: thin.sh RIFT ORIGINALS THINNED}") originals=$2 thinned=$3
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
trap 'exit 1' INT TERM

# All that is said of the session at the relative path $2, from the folder $1, into $3.
say() (
	cd "$1"
	for what in "show" "compare --json" "fit --json"; do
		echo "== $what"
		code=0
		# shellcheck disable=SC2086 # a command and its option
		"$rift" $what "$2" 2>&1 || code=$?
		echo "exit code $code"
	done
) >"$3"

same=0 other=0
for file in $(cd "$thinned" && find . -name '*.jsonl' -o -name '*.jsonl.gz' | sort); do
	say "$originals" "$file" "$said/original"
	say "$thinned" "$file" "$said/thinned"
	if cmp -s "$said/original" "$said/thinned"; then
		same=$((same + 1))
	else
		other=$((other + 1))
		echo "$file differs:"
		diff "$said/original" "$said/thinned" | head -n 20
	fi
done
echo "$same sessions are told alike, $other are not"
[ "$other" = 0 ]
