#!/bin/bash
# docs.sh [--update] RIFT [FILE.md...] - holds the documents, all that git knows or those named, to what is there:
#
#   links     relative links lead to files, and #headings to headings
#   options   the tables in docs/guide/options.md are what `rift help NAME --format=markdown` prints;
#             --update writes them anew, and does nothing else
#   figures   in docs/validation.md, docs/results and docs/lab a section with a table of times or
#             shares has a date, a kept session or the word "quoted", itself, above it or in what it belongs to;
#             above a sample output in docs/guide and docs/reference stands "From `COMMAND`, DEVICE, DATE:", and where
#             the command reads a kept session, it prints the sample's lines
#   fences    each says what it is: text, a language, or commands for bash:
#               sh test        they run here, in a folder of each document's own that has ./rift,
#                              data, plots and workloads; all end with 0, or as a line above says:
#                              <!-- expect CODE REGEX --> means that the last one ends with CODE,
#                              and a line of the output matches the extended REGEX
#               sh ci          they are in .ci/run
#               sh gpu         they need a GPU, or minutes
#               sh needs-ssh   they need a second machine, or a container
#             those that do not run here give rift only options that its help knows
#
# Prints what is wrong, a line each, with file and line; ends with 1 then, with 3 for wrong use.
set -u
cd "$(dirname "$0")/.." || exit 3
update='' status=0
[ "${1:-}" != --update ] || { update=yes && shift; }
rift=${1:?usage: docs.sh [--update] RIFT [FILE.md...]}
shift
[ -x "$rift" ] || { echo "rift: docs.sh: $rift is no program" >&2 && exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 0 ]; then
	printf '%s\n' "$@" >"$work/files"
else
	git ls-files -co --exclude-standard '*.md' | while IFS= read -r f; do [ ! -e "$f" ] || echo "$f"; done >"$work/files"
fi
bad() { # FILE:LINE WHAT
	echo "rift: $1: $2"
	status=1
}

# ---- options ----------------------------------------------------------------------------------

# The document with its tables of options made anew.
with_options() { # FILE
	awk -v rift="$rift" '
		/^<!-- end of options -->$/ { skip = 0 }
		!skip { print }
		/^<!-- options of rift [a-z]* -->$/ {
			command = rift " help " $5 " --format=markdown"
			print ""
			while ((command | getline line) > 0) print line
			close(command)
			print ""
			skip = 1
		}' "$1"
}

check_options() {
	grep -l '^<!-- options of rift' -r docs | while IFS= read -r f; do
		with_options "$f" >"$work/made"
		cmp -s "$f" "$work/made" && continue
		if [ "$update" ]; then
			cp "$work/made" "$f"
		else
			echo "$f"
		fi
	done >"$work/stale"
	while IFS= read -r f; do
		bad "$f" "its options are not those of today: tests/docs.sh --update $rift"
	done <"$work/stale"
}

# ---- links ------------------------------------------------------------------------------------

# FILE:LINE TARGET, a line for each relative link outside of fences and code.
links() {
	# shellcheck disable=SC2016
	xargs -d '\n' awk '
		FNR == 1 { fence = 0 }
		/^ *```/ { fence = !fence; next }
		fence { next }
		{
			gsub(/`[^`]*`/, "")
			while (match($0, /\]\([^) ]*\)/)) {
				target = substr($0, RSTART + 2, RLENGTH - 3)
				if (target !~ /^[a-z]+:/) print FILENAME ":" FNR, target
				$0 = substr($0, RSTART + RLENGTH)
			}
		}' <"$work/files"
}

# As GitHub makes them of headings.
anchors() { # FILE
	awk '/^```/ { fence = !fence } !fence && /^#+ / { sub(/^#+ /, ""); print }' "$1" |
		tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g'
}

check_links() {
	links >"$work/links"
	while read -r at target; do
		from=${at%%:*} path=${target%%#*} anchor=''
		case $target in *'#'*) anchor=${target#*#} ;; esac
		path=${path:+$(dirname "$from")/$path}
		if [ ! -e "${path:-$from}" ]; then
			bad "$at" "there is no $target"
		elif [ "$anchor" ] && ! anchors "${path:-$from}" | grep -qxF -e "$anchor"; then
			bad "$at" "no heading makes $target"
		fi
	done <"$work/links"
}

# ---- figures ----------------------------------------------------------------------------------

check_figures() {
	grep -E '^docs/(validation\.md|results/|lab/)' "$work/files" | while IFS= read -r f; do
		awk '
			function section_ends() {
				if (figures && !sourced[level] && !(level > 2 && sourced[2]))
					print FILENAME ":" at, title
			}
			BEGIN { level = 1 }
			/^```/ { fence = !fence }
			!fence && /^##+ / {
				section_ends()
				match($0, /^#+/)
				level = RLENGTH
				for (i = level; i <= 4; i++) sourced[i] = 0
				figures = 0
				at = FNR
				title = $0
			}
			/20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]|data\/sessions\/|h200-[a-z]+\.jsonl|quoted/ { sourced[level] = 1 }
			/^\|.*[0-9] ?(ns|us|ms|s|min|%|GB\/s) *\|/ { figures = 1 }
			END { section_ends() }' "$f"
	done >"$work/unsourced"
	while read -r at title; do
		bad "$at" "'$title' has figures without a date or a kept session"
	done <"$work/unsourced"
}

# Each sample with figures as $work/samples/N: its place, its command or nothing, its lines.
check_samples() {
	local f at command
	mkdir "$work/samples"
	# shellcheck disable=SC2016
	grep -E '^docs/(guide|reference)/' "$work/files" | xargs -r -d '\n' awk -v out="$work/samples/" '
		FNR == 1 { open = 0; command = "" }
		/^From `[^`]*`, .*20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]:$/ { split($0, part, "`"); command = part[2]; next }
		/^```text$/ { open = 1; file = sprintf("%s%04d", out, ++n); print FILENAME ":" FNR > file; print command > file; next }
		open && /^```$/ { open = 0; close(file) }
		open { print > file }
		/./ { command = "" }'
	for f in "$work"/samples/*; do
		[ -e "$f" ] || continue
		at=$(sed -n 1p "$f")
		command=$(sed -n 2p "$f")
		case $command in
		'') ! sed 1,2d "$f" | grep -qE '[0-9] ?(ns|us|ms|GB/s|%)|[0-9]/[0-9]|[0-9]\.[0-9]' || bad "$at" "a sample without 'From \`COMMAND\`, DEVICE, DATE:'" ;;
		*data/sessions/*)
			(cd "$(folder_of "${at%%:*}")" && $command) >"$work/said" 2>&1
			while IFS= read -r line; do
				grep -qxF -e "$line" "$work/said" || bad "$at" "'$command' does not print: $line"
			done < <(sed '1,2d; /^$/d' "$f")
			;;
		esac
	done
}

# ---- fences -----------------------------------------------------------------------------------

# Each fence of commands as $work/fences/N: its place, its kind, what is expected, the commands.
split_fences() {
	mkdir "$work/fences"
	# shellcheck disable=SC2016
	xargs -d '\n' awk -v out="$work/fences/" '
		FNR == 1 { open = 0; expect = "" }
		/^<!-- expect [0-9]+/ { expect = $0; next }
		open && /^```$/ { open = 0; close(file); next }
		open { if (file) print > file; next }
		/^```/ {
			open = 1; file = ""; info = substr($0, 4)
			if (info !~ /^(text|c|cuda|cpp|json|make|gnuplot|sh (test|ci|gpu|needs-ssh))$/)
				print FILENAME ":" FNR, info
			else if (info ~ /^sh /) {
				file = sprintf("%s%04d", out, ++n)
				print FILENAME ":" FNR > file
				print substr(info, 4) > file
				print expect > file
			}
			expect = ""
			next
		}' <"$work/files" >"$work/unmarked"
	while read -r at info; do
		bad "$at" "a fence of '$info': say text, a language, or sh test, ci, gpu, needs-ssh"
	done <"$work/unmarked"
}

# A folder for the fences of one document.
folder_of() { # FILE
	local folder
	folder=$work/run/$(echo "$1" | tr / _)
	if [ ! -d "$folder" ]; then
		mkdir -p "$folder"
		ln -s "$(realpath "$rift")" "$folder/rift"
		ln -s "$PWD"/bench "$PWD"/data "$PWD"/plots "$PWD"/workloads "$folder/"
	fi
	echo "$folder"
}

# The limit ends what hangs. A sweep of 9 s was not done after 60 s where other builds ran beside it.
run_fence() { # FENCE
	local at expect code=0 want=0 regex='' limit_s=300
	at=$(sed -n 1p "$1")
	expect=$(sed -n '3s/^<!-- expect \(.*\) -->$/\1/p' "$1")
	[ -z "$expect" ] || read -r want regex <<<"$expect"
	(cd "$(folder_of "${at%%:*}")" && sed 1,3d "$1" | timeout "$limit_s" bash -e) >"$work/said" 2>&1 </dev/null || code=$?
	if [ "$code" = 124 ]; then
		bad "$at" "not done after $limit_s s: $(tail -n 2 "$work/said" | tr '\r\n' '  ')"
	elif [ "$code" != "$want" ]; then
		bad "$at" "ended with $code, not $want: $(tail -n 2 "$work/said" | tr '\n' ' ')"
	elif [ "$regex" ] && ! grep -qE -e "$regex" "$work/said"; then
		bad "$at" "no line of the output matches '$regex': $(head -n 3 "$work/said" | tr '\n' ' ')"
	fi
}

# Without what stands behind a #, and what leads to the folder.
check_in_ci() { # FENCE
	sed '1,3d; s/ *#.*//; /^git clone/d; /^$/d' "$1" >"$work/commands"
	while IFS= read -r command; do
		grep -qE "(^|[; ])${command%% *}( -j2)? ${command#* }( |;|\$)" .ci/run ||
			bad "$(sed -n 1p "$1")" "'$command' is not in .ci/run"
	done <"$work/commands"
}

# In lines with several commands the last one; what stands behind --against is left aside.
check_options_of() { # FENCE
	local command option
	sed "1,3d; s/  *#.*//; s/ --against.*//; s/'//g" "$1" | sed -nE 's,^(.*[ /])?rift ([a-z]+)( .*)?$,\2 \3,p' >"$work/commands"
	while read -r command words; do
		"$rift" help "$command" >"$work/help" 2>&1 || bad "$(sed -n 1p "$1")" "there is no 'rift $command'"
		for option in $(tr ' ' '\n' <<<"$words" | sed -n 's/^\(--[a-z0-9-]*\).*/\1/p'); do
			grep -qE -e "$option([^a-z0-9-]|\$)" "$work/help" || bad "$(sed -n 1p "$1")" "'rift $command' has no $option"
		done
	done <"$work/commands"
}

check_fences() {
	local f
	split_fences
	for f in "$work"/fences/*; do
		[ -e "$f" ] || continue
		case $(sed -n 2p "$f") in
		test) run_fence "$f" ;;
		ci) check_in_ci "$f" ;;
		*) check_options_of "$f" ;;
		esac
	done
}

check_options
[ -z "$update" ] || exit "$status"
check_links
check_figures
check_samples
check_fences
echo "$(wc -l <"$work/files") documents, $(wc -l <"$work/links") links, $(grep -lx test "$work"/fences/* 2>/dev/null | wc -l) of $(find "$work/fences" -type f | wc -l) fences of commands run, $SECONDS s"
exit "$status"
