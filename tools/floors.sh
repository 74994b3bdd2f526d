#!/bin/sh
# floors.sh - are the floors of the CPU device floors (docs/cpu-device.md)? Fails where a file
# includes a header of a floor above its own, where an object uses what a floor above defines, and
# where files call each other in a circle, within a floor too. With --calls it prints which file
# calls which, and by how many names.
set -eu
floors=$(sed -n 's/^FLOORS := //p' build.mk) # from below

fail() {
	echo "rift: the floors of the CPU device: $1, see above" >&2
	exit 1
}

[ -n "$floors" ] || fail 'build.mk names none'

below=
for floor in $floors; do
	below="$below|$floor"
	if grep -Hn '#include "' common/cpu/"$floor"/*.[ch] |
		grep -vE "\"common/((cpu/(${below#|}|include)|recorder)/[a-z_]+|plural)\.h\""; then
		fail "$floor includes from above or from elsewhere"
	fi
done
if git grep -nE "#include \"common/cpu/(${below#|})/" | grep -vE "^common/cpu/(${below#|})/"; then
	fail "others have common/cpu/include"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/rift-floors.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Lines of FLOOR/FILE.c NAME KIND, for each name that an object defines for others or uses.
for floor in $floors; do
	for source in common/cpu/"$floor"/*.c; do
		${CC:-cc} -std=gnu11 -w -D_GNU_SOURCE -I. -Icommon/cpu/include -c "$source" -o "$work/object.o"
		nm -P "$work/object.o" | sed "s,^,${source#common/cpu/} ,"
	done
done >"$work/names"

# CALLER CALLEE NAMES
awk '
	$3 ~ /^[TDBRC]$/ { owner[$2] = $1 }
	$3 == "U" { user[++n] = $1; name[n] = $2 }
	END {
		for (i = 1; i <= n; i++)
			if (name[i] in owner)
				calls[user[i] " " owner[name[i]]]++
		for (c in calls)
			print c, calls[c]
	}' "$work/names" | sort >"$work/calls"
[ -s "$work/calls" ] || fail "no calls at all were found"
if [ "${1:-}" = --calls ]; then cat "$work/calls"; fi

if awk -v floors="$floors" '
	BEGIN { n = split(floors, f, " "); for (i = 1; i <= n; i++) level[f[i]] = i }
	{
		split($1, from, "/"); split($2, to, "/")
		if (level[from[1]] < level[to[1]])
			print $1 " calls " $2
	}' "$work/calls" | grep .; then
	fail "calls go upwards"
fi
if ! cut -d' ' -f1,2 "$work/calls" | tsort >/dev/null 2>"$work/circles"; then
	cat "$work/circles" >&2
	fail "files call each other in a circle"
fi
