#!/bin/sh
# new_workload.sh - what docs/adding-a-workload.md begins with, on the CPU device and in a copy of
# the tree: the folder that tools/new_workload.sh makes builds, is listed, passes its test, runs and
# sweeps; with its kernel broken the test and the run fail; and it builds from a folder elsewhere,
# with one other workload and one layer. Ends with 1 where that is not so.
# Half a minute at most on two cores, where rift has been built.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/mutants_shared.sh
. tests/mutants_shared.sh
name=fresh
test=build/cpu/workloads/$name/test_$name
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' INT TERM
copy_tree "$copy"
cd "$copy"

fails() { ! "$@"; }
listed() { ./rift list | grep -q "^$1: "; }
build() { make -j"$(nproc)" -f build.mk DEVICE=cpu rift "$test"; }

must "tools/new_workload.sh" tools/new_workload.sh "$name"
must "no name of the template is left" fails grep -riE 'template|hidden' "workloads/$name"
must "the same name again is refused" fails tools/new_workload.sh "$name"
must "it builds" build
must "it is listed" listed "$name"
must "the template is not" fails listed template
must "its test passes" "$test"
must "it runs" ./rift run "$name" n=1000 --depth 4 --samples 2
must "it sweeps" ./rift sweep "$name" --size 1k,4k --depth 1,4 --processes 2 --output sweep.jsonl
must "its record is whole" ./rift show --check sweep.jsonl

sed 's/= 5 \*/= 6 */' "workloads/$name/$name.cu" >broken
must "there is something to break" fails cmp -s broken "workloads/$name/$name.cu"
cp broken "workloads/$name/$name.cu"
must "it builds when broken" build
must "a broken kernel fails its test" fails "$test"
must "a broken kernel fails its run" fails ./rift run "$name" n=1000 --depth 4 --samples 2

# Elsewhere, whole again, in a build of few parts.
mkdir mine && mv "workloads/$name" mine/ && sed 's/= 6 \*/= 5 */' "mine/$name/$name.cu" >whole && mv whole "mine/$name/$name.cu"
elsewhere=build/cpu/build/cpu/workloads/$name/test_$name
few() { make -j"$(nproc)" -f build.mk DEVICE=cpu WORKLOADS="launch $PWD/mine/$name" LAYERS=none rift "$elsewhere"; }
must "it builds elsewhere" few
must "it is listed from elsewhere" listed "$name"
must "what was not chosen is not" fails listed myocyte
must "its test passes elsewhere" "$elsewhere"
must "it runs from elsewhere" ./rift run "$name" n=1000 --depth 4 --samples 2
echo "a new workload: made, built, tested, run, swept; a broken kernel is found; built from elsewhere"
