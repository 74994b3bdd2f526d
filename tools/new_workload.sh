#!/bin/sh
# new_workload.sh NAME - makes workloads/NAME: workloads/template under that name, which builds,
# passes its test, runs and sweeps at once. Nothing that is there already is changed.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."

refuse() {
	printf 'rift: %s\n' "$(printf '%s' "$*" | tr -c '[:print:]' '?')" >&2
	exit 3
}

if [ $# != 1 ] || [ -z "$1" ]; then refuse "give one name: tools/new_workload.sh NAME"; fi
name=$1 folder=workloads/$1
case $name in
[!a-z]* | *[!a-z0-9]*) refuse "'$name': a name has the letters a to z and digits, and begins with a letter" ;;
esac
[ "${#name}" -le 16 ] || refuse "'$name': a name has at most 16 letters"
if [ -e "$folder" ] || [ -L "$folder" ]; then refuse "$folder is there already, and is left as it is"; fi
if grep -rqE "[.]name = \"$name\",?\$" harness/main.c harness/cmd; then refuse "'$name' is a command of rift; take another name"; fi

# Keywords of C and C++, and what their headers define. Before there is a compiler nothing is.
compiles() {
	printf '#include <%s>\n' errno.h math.h stdio.h stdlib.h string.h cuda_runtime.h |
		{ cat && echo "enum { $1 };"; } | ${CXX:-c++} -std=c++17 -fsyntax-only -Icommon/cpu/include -x c++ - 2>/dev/null
}
if ! compiles "$name" && compiles "rift_$name"; then
	refuse "'$name' is a word of C, C++ or one of their headers; take another name"
fi

# No name that the new folder defines may be another's: workload_find is a function of rift.
upper=$(printf '%s' "$name" | tr '[:lower:]' '[:upper:]')
rename="s/template/$name/g; s/TEMPLATE/$upper/g; /^	\.hidden = true,/d; s/ .tools.new_workload.*not show it\.\$//"
taken=$(grep -ohE '\w*(template_|TEMPLATE_|_template)\w*' workloads/template/* | sed "$rename" | sort -u |
	grep -rhowF -f - --include='*.[ch]' --include='*.cu' --include='*.cuh' common harness tests workloads | head -n 1)
[ -z "$taken" ] || refuse "'$name': $taken is there already; take another name"

# Whole or not at all.
mkdir "$folder" 2>/dev/null || refuse "cannot make the folder $folder"
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
for file in README.md template.h template.c template.cu test_template.c; do
	new=$folder/$(echo "$file" | sed "$rename")
	sed "$rename" "workloads/template/$file" >"$new"
	case $file in *.md) continue ;; esac
	if command -v clang-format >/dev/null; then clang-format -i "$new"; fi
done
trap - EXIT

device=$(tools/device.sh 2>/dev/null || echo cpu)
test=build/$device/workloads/$name/test_$name
cat <<END
$folder: $name.c (host), $name.cu (kernel), $name.h (what they share), test_$name.c, README.md

Next, as it stands:
  make && ./rift run $name
  make -f build.mk DEVICE=$device $test && $test
  ./rift sweep $name --quick
Then write yours in its place: docs/adding-a-workload.md.
END
