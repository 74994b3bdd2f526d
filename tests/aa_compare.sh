#!/bin/sh
# aa_compare.sh RIFT [TRIES] - what rift compare says of a system against itself: how often it calls
# B slower, or halves of a session different, and whether that is more than the 5 % that each verdict
# may be wrong in by chance. Halves of the sessions in data/sessions may not differ. Then, on the CPU
# device, of 5 us more for every launch: that has to be found. Then how many of the 95 % intervals of
# what differs nowhere hold no difference. About 15 s a try, 5 minutes for the default of 20.
#
# KEEP=FOLDER keeps the sessions.
set -eu
rift=${1:?usage: aa_compare.sh RIFT [TRIES]}
tries=${2:-20}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

fail() {
	echo "aa_compare: $*" >&2
	exit 1
}

# Sessions of A and B in turn: name, variables of both sides, command of B. The rest is of the
# machine: points that hold every parameter of streams and graphs, and few of them.
sweep() {
	name=$1
	shift
	env "$@" "$rift" sweep launch us=0,5,20 --depth 1,16,64 --mode stream,graph --express \
		--rounds 16 --quiet --against "$against" --output "$dir/$name.jsonl" >"$dir/out" 2>"$dir/err" ||
		fail "$name: $(cat "$dir/err")"
}

# The exit code of rift compare, which must be one of a comparison.
compare() {
	code=0
	"$rift" compare "$@" >"$dir/out" 2>"$dir/err" || code=$?
	[ "$code" -le 2 ] || fail "rift compare $*: $code, $(cat "$dir/err")"
}

against='env'
same=0 inconclusive=0 slower=0 halves=0 tested=0
while [ "$tested" -lt "$tries" ]; do
	tested=$((tested + 1))
	sweep "aa$tested" RIFT_AA="$tested"
	compare "$dir/aa$tested.jsonl"
	case $code in
	0) same=$((same + 1)) ;;
	1) slower=$((slower + 1)) && head -n 1 "$dir/out" ;;
	2) inconclusive=$((inconclusive + 1)) ;;
	esac
	"$rift" compare "$dir/aa$tested.jsonl" --json >"$dir/aa$tested.json" 2>"$dir/err" ||
		[ $? -le 2 ] || fail "rift compare --json: $(cat "$dir/err")"
	compare --self-test "$dir/aa$tested.jsonl"
	[ "$code" != 1 ] || { halves=$((halves + 1)) && echo "halves of try $tested: $(head -n 1 "$dir/out")"; }
done
echo "a system against itself, $tested tries: $same same or faster, $inconclusive inconclusive, $slower slower; halves differ in $halves"

# The differences of parameters and the ratios of points of a system against itself.
python3 - "$dir"/aa*.json <<-'END'
	import json, sys
	rows = {}
	for path in sys.argv[1:]:
	    d = json.load(open(path))
	    for p in d["parameters"]:
	        v = p["difference"]
	        if v and v["lo"] is not None:
	            rows.setdefault(p["name"], []).append(v["lo"] <= 0 <= v["hi"])
	    for p in d["points"]:
	        v = p["ratio"]
	        if v["lo"] is not None:
	            rows.setdefault("points", []).append(v["lo"] <= 1 <= v["hi"])
	for name, hold in rows.items():
	    print(f"95 % intervals, {name}: {sum(hold)} of {len(hold)} hold no difference")
END

kept=0
for f in "$(dirname "$0")"/../data/sessions/*.jsonl "$(dirname "$0")"/../data/sessions/*.jsonl.gz; do
	[ -e "$f" ] || continue
	compare --self-test "$f"
	[ "$code" != 1 ] || fail "--self-test of $f: $(head -n 1 "$dir/out")"
	kept=$((kept + 1))
done
[ "$kept" = 0 ] || echo "--self-test of $kept sessions in data/sessions: no half is another"

if "$rift" --version | grep -q CPU; then
	against='env RIFT_CPU_LAUNCH_NS=7000'
	sweep slower RIFT_CPU_LAUNCH_NS=2000
	compare "$dir/slower.jsonl"
	echo "5 us more a launch: exit code $code; $(head -n 1 "$dir/out")"
	[ "$code" = 1 ] || fail "5 us more a launch are not found"
fi
[ -z "${KEEP:-}" ] || cp "$dir"/*.jsonl "$KEEP"
# Of n tries with 5 % each, more than these come in less than one run of a thousand.
allowed=$((3 + tries / 8))
[ "$slower" -le "$allowed" ] && [ "$halves" -le "$allowed" ]
