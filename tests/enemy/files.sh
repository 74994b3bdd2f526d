#!/bin/sh
# files.sh BINARY quick|all - files that are none, that have no end, or that are of another kind, under
# every option and parameter that reads one. Each is refused at once: exit code 3 and one line with
# its name.
set -eu
rift=${1:?usage: files.sh BINARY quick|all}
case ${2:?usage: files.sh BINARY quick|all} in
quick | all) size=$2 ;;
*)
	echo "files.sh: $2: use quick or all" >&2
	exit 3
	;;
esac
rift=$(realpath "$rift")
data=$(realpath "$(dirname "$0")/../../data/sessions")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cd "$dir"
passed=0 failed=0

fail() {
	echo "files: $*"
	failed=$((failed + 1))
}

# NAME COMMAND... - must be refused with a line that holds NAME. Whatever waits is ended, and fails.
refused() {
	name=$1 rc=0
	shift
	timeout -k 1 20 "$rift" "$@" </dev/null >out 2>err || rc=$?
	if [ "$rc" != 3 ]; then
		fail "rift $*: exit code $rc, not 3: $(head -c 300 err)"
	elif [ "$(wc -l <err)" != 1 ] || ! grep -q "^rift: .*$name" err; then
		fail "rift $*: not one line with $name: $(head -c 300 err)"
	elif [ -s out ]; then
		fail "rift $*: prints, though it is refused"
	else
		passed=$((passed + 1))
	fi
}

# Every reader of rift, on one file.
readers() { # FILE
	for command in 'show --check' show fit 'fit --stack' compare plot report 'predict --validate'; do
		# shellcheck disable=SC2086 # words
		refused "$1" $command "$1"
	done
	refused "$1" predict "$1" --on "$data/h200-launch.jsonl"
	refused "$1" predict "$data/h200-block.jsonl" --on "$1"
	refused "$1" fit --stack "$data/h200-block.jsonl" --costs "$1"
	refused "$1" compare "$data/h200-launch.jsonl" "$1"
	refused "$1" sweep --resume "$1"
	refused "$1" share --from "$1"
	refused "$1" share --resume "$1"
	refused "$1" show --check "$1" --csv points.csv
	inputs "$1"
}
inputs() {
	refused "$1" run alignment input="$1"
	refused "$1" run alignment input="$1,$1"
	refused "$1" run particlefilter input="$1"
	refused "$1" run stereo left="$1" right="$1"
	refused "$1" run myocyte initial="$1"
	refused "$1" run myocyte parameters="$1"
	refused "$1" run myocyte states="$1" derivatives=out.csv
}

mkdir folder
mkfifo pipe
ln -s loop loop
truncate -s 3G zeros
: >empty
head -c 300 /dev/urandom >noise
gzip -c "$data/h200-block.jsonl" | head -c -1 >cut.jsonl.gz
set -- folder /dev/zero none cut.jsonl.gz
[ "$size" = quick ] || set -- "$@" loop zeros empty noise /dev/null /dev/full
for file; do
	readers "$file"
done
# A pipe that nobody writes to is given a second, so not all of them are tried in the short form.
if [ "$size" = all ]; then
	readers pipe
else
	refused pipe fit --stack "$data/h200-block.jsonl" --costs pipe
	refused pipe show --check pipe
	refused pipe run stereo left=pipe right=pipe
	refused pipe run alignment input=pipe
	inputs zeros
fi

# What takes all memory where it is read to its end. A pipe has none, and no length that could be asked.
head -c 80M /dev/zero | gzip -1 >bomb.gz
refused bomb.gz:1 run alignment input=bomb.gz
refused bomb.gz:1 show --check bomb.gz
{
	printf '>a\n'
	head -c 80M /dev/zero | tr '\0' A
} | gzip -1 >long.gz
refused long.gz:2 run alignment input=long.gz
refused long.gz:2 run alignment input=long.gz,long.gz
endless() { # TEXT FILE COMMAND... - the text for ever, through a pipe
	text=$1
	shift
	yes "$text" 2>/dev/null >pipe &
	writer=$!
	refused "$@"
	kill "$writer" 2>/dev/null || true
	wait "$writer" 2>/dev/null || true
}
endless ACGT pipe run alignment input=pipe
endless '>' pipe run alignment input=pipe
endless 'P6' pipe run particlefilter input=pipe
[ "$size" = quick ] || endless a,b pipe run myocyte states=pipe derivatives=out.csv

# The files of mlp have names of their own.
mkdir mlp
for name in train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte; do
	mkfifo mlp/$name
	[ "$size" = all ] || break
done
refused mlp run mlp folder=mlp
rm mlp/train-images-idx3-ubyte
printf '\0\0\010\003\0\077\377\377\0\0\0\034\0\0\0\034' >mlp/train-images-idx3-ubyte
refused mlp run mlp folder=mlp

# A card that is cut off is damaged, not something else; a session is none.
head -c 20000 "$data/h200-costs.json" >cut.json
refused cut.json compare "$data/h200-costs.json" cut.json
refused cut.json show --check cut.json
refused h200-launch.jsonl fit --stack "$data/h200-block.jsonl" --costs "$data/h200-launch.jsonl"

echo "files: $passed passed, $failed failed"
[ "$failed" = 0 ]
