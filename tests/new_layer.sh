#!/bin/sh
# new_layer.sh - the layer that layers/README.md adds, on the CPU device and in a copy of the tree:
# its two files as they stand there build, are listed and can be entered, and a session finds
# that a launch costs 10 us more. Ends with 1 where that is not so. Some 10 s where rift has been built.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/mutants_shared.sh
. tests/mutants_shared.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' INT TERM
copy_tree "$copy"
cd "$copy"

# take N FILE: the Nth fence of C in the README.
take() {
	mkdir -p "$(dirname "$2")"
	awk -v n="$1" '/^```c$/ { at++; inside = 1; next } /^```/ { inside = 0 } inside && at == n' \
		layers/README.md >"$2"
	[ -s "$2" ]
}
build() { make -j"$(nproc)" -f build.mk DEVICE=cpu rift; }
listed() { ./rift layer | grep -q '^late  *model '; }
# With 10 us more a launch, of less than 1 us without the layer, the session calls the workload slower.
finds() {
	rm -f late.jsonl
	./rift sweep launch us=0 --depth 1,4,16,64 --mode stream --quick --processes 7 --rounds 6 --warm-up 0.01 \
		--layer 'late us=10' --output late.jsonl
	./rift compare late.jsonl >compared || true
	grep -E '^  launch +[0-9.]+ \(.*\) +slower +4 points$' compared || { cat compared && false; }
}
# A busy machine may hide it once.
finds_in_three() { finds || finds || finds; }

must "its first file is there" take 1 layers/late/late.c
must "its second file is there" take 2 layers/late/preload/late.c
must "it builds" build
must "it is listed" listed
must "a command runs under it" ./rift layer late us=1 -- ./rift run launch us=0 --depth 8 --samples 3
must "a sweep finds its cost" finds_in_three
echo "a new layer: built, listed, entered; its cost is found"
