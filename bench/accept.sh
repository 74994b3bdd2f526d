#!/bin/bash
# accept.sh EXPERIMENT [CELL...] - measures again what docs/ and data/ show. accept/table lists the experiments and their
# cells; those in parentheses are measured only if they are named. It prints figures and judges nothing.
#
# OUT keeps the files: what is there already is not measured again, and a session that was cut off continues.
#   RIFT    the program (default: ./rift)
#   OUT     the folder of the files (default: results/EXPERIMENT)
#   ROWS    the layers, where a cell is measured under several of them (accept/layers.sh)
#   THIRD   the folder of what was built of public projects (default: .layers/third; layers/preload/README.md says how)
#   LIMIT   seconds that one command may take        BUDGET   seconds after which no command begins
#   DRY=1   prints the command lines that files are still missing from, and runs none of them
# The table and the files beside it name the other variables where they use them.
# shellcheck disable=SC2016,SC2034,SC2317 # the table and the files beside it call these functions and use these names
set -u
here=$(dirname "$0")/accept

# Rows of one experiment, or of all, with continued lines joined.
rows() {
	sed -e ':a' -e '/\\$/{N;s/\\\n[[:space:]]*//;ba' -e '}' "$here/table" |
		awk -v name="${1:-}" '/^[a-z]/ && (name == "" || $1 == name)'
}

cells() { rows "$1" | awk '$2 != "=" { print $2 }'; }

refuse() {
	echo "accept.sh: $*" >&2
	exit 3
}

experiment=${1:-}
[ -n "$(rows "${experiment:-none}")" ] ||
	refuse "'$experiment' must be one of: $(rows | awk '!seen[$1]++ { print $1 }' | paste -sd' ')"
shift
# GROUP/CELL is chosen by both names.
for cell; do
	cells "$experiment" | tr -d '()' | tr '/' '\n' | grep -qxF -e "$cell" ||
		refuse "$experiment: '$cell' must be one of: $(cells "$experiment" | tr -d '()' | paste -sd' ')"
done
chosen=" $* "

rift=$(realpath -e "${RIFT:-rift}" 2>/dev/null) || refuse "RIFT=${RIFT:-./rift}: no such program; make builds it"
build=$(dirname "$rift")
out=$(realpath -m "${OUT:-results/$experiment}")
third=$(realpath -m "${THIRD:-.layers/third}")
mkdir -p "$out"
limit=0 # seconds; the table sets another one
row='' status=0

is_chosen() { # (GROUP/CELL)
	local name=${1//[()]/}
	[ "$chosen" != "  " ] || [ "$name" != "$1" ] || return 0
	case $chosen in
	*" ${name%%/*} "* | *" ${name##*/} "*) ;;
	*) return 1 ;;
	esac
}

# Whether a command may run now. DRY prints it instead.
may_run() { # WHAT COMMAND...
	if [ -n "${DRY:-}" ]; then
		printf '%q ' "${@:2}" && echo
	elif [ "$SECONDS" -ge "${BUDGET:-999999999}" ]; then
		echo "$1: not yet measured; run this again"
	else
		return 0
	fi
	return 1
}

# Runs a command that makes FILE, unless FILE is there. FILE.txt gets what it prints, and how it ended.
keep() { # FILE COMMAND...
	local file=$1 begun
	shift
	[ ! -s "$file" ] || return 0
	may_run "$(basename "$file")" "$@" || return
	[ -z "$row" ] || begin "$row"
	begun=$(date +%s%N)
	: >"$file.txt"
	timeout "${LIMIT:-$limit}" "$@" >>"${printed:-$file.txt}" 2>>"$file.txt" </dev/null
	echo "exit code $?, $((($(date +%s%N) - begun) / 1000000)) ms" >>"$file.txt"
	[ ! -s "${printed:-}" ] || mv "$printed" "$file"
	end_daemon
	[ -s "$file" ] || {
		echo "$(basename "$file"): not measured: $(grep '^rift:' "$file.txt" | tail -n 1 | cut -c-150); $(tail -n 1 "$file.txt")"
		return 1
	}
}

# The same of a command that prints what FILE is to hold.
keep_printed() { # FILE COMMAND...
	[ -s "$1" ] || rm -f "$1.part"
	printed=$1.part keep "$@"
}

# A session: OUT/NAME.jsonl, and what `rift compare` says of it, whose exit code is the verdict. Another machine does not
# continue one that was cut off: it begins NAME-2, which is the session from then on.
under=() quiet=--quiet
session() { # NAME WORDS OF rift sweep...
	local file=$out/$1.jsonl anew=$out/$1-2.jsonl end
	shift
	if [ -s "$file.part" ] && [ ! -s "$file" ]; then
		keep "$file" "${under[@]}" "$rift" sweep --resume "$file" --quiet
		if [ -e "$anew" ] || [ -e "$anew.part" ]; then
			rm -f "$file.part" "$file.visits"
			for end in "" .part .visits; do
				[ ! -e "$anew$end" ] || mv "$anew$end" "$file$end"
			done
		fi
	elif [ ! -s "$file" ]; then
		[ -n "${DRY:-}" ] || rm -f "$file"*
		# shellcheck disable=SC2086
		keep "$file" "${under[@]}" "$rift" sweep "$@" $quiet --output "$file"
	fi
	verdict=0
	[ ! -s "$file" ] || "$rift" compare "$file" --json >"$file.json" 2>/dev/null </dev/null || verdict=$?
	[ -s "$file.json" ]
}

export RIFT=$rift OUT=$out
table() { python3 "$here/tables.py" "$@"; }

for part in "$here"/*.sh; do
	# shellcheck source=/dev/null
	. "$part"
done
trap end_daemon EXIT

# Settings, then each cell that is chosen; a command that names $row is run for every row.
while read -r _ cell command <&3; do
	[ "$cell" = "=" ] || is_chosen "$cell" || continue
	cell=${cell//[()]/}
	cell=${cell##*/}
	case $command in
	*'$row'*)
		for row in ${ROWS-$rows}; do
			is_here "$row" || continue
			layer=$(layer_of "$row") || exit 3
			eval "$command"
		done
		row=
		;;
	*) eval "$command" ;;
	esac
done 3< <(rows "$experiment")
[ -n "${DRY:-}" ] || ! declare -F "end_$experiment" >/dev/null || "end_$experiment"
exit "$status"
