#!/bin/sh
# docker.sh FOLDER quick|all - Docker with a daemon of its own, and an image from a root folder: the
# commands of README and of the guide, then containers with a quota, without a root that can be
# written to, and with another user.
set -eu
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
clean_up() { stop_docker; }
need_docker
need_root
root_archive | docker import - guest >"$work/log" 2>&1 || skip "docker import: $(tail -n 1 "$work/log")"
docker run --rm --network none guest true >"$work/log" 2>&1 || skip "docker run: $(tail -n 1 "$work/log")"
echo "$guest: $(docker version --format '{{.Server.Version}}'), runtime $(runc --version | head -n 1)"

run="docker run --rm -i --network none -v $PWD:$PWD -w $PWD"
# No GPU, and no network: the daemon has no bridge.
as_here="s/ --gpus all/ --network none/; s/IMAGE/guest/; s/sweep launch --quick/sweep launch $points/"
typed docs/guide/comparing.md "docker run" -e "$as_here"
type_them
# shellcheck disable=SC2086
{
	finds '^note +container +docker' $run guest
	finds '^warn +cgroup limits +CPU time of 0\.5' $run --cpus 0.5 guest
	ends 3 "unknown workload 'nosuch'" $run guest ./rift run nosuch
	ends 0 '^check +passed' $run --read-only --user 1234:1234 guest ./rift run launch us=0 --samples 1
	ends 3 'cannot make the folder results here' $run --read-only -w / guest "$PWD/rift" sweep launch --express
	ends 4 'set TMPDIR to a folder' $run --read-only guest ./rift run launch us=0 --layer remote
	ends 0 '^check +passed' $run --read-only --user 1234 -e TMPDIR=/dev/shm guest ./rift run launch us=0 --samples 1 --layer remote
	ends 0 '^check +passed' $run guest env -i ./rift run memory --samples 1
	ends 125 'bwrap may not make namespaces here' $run guest ./rift layer container -- true
}
# A quota is a difference of the sides that the record has. A few points show it.
all_points=$points
points='us=0 --depth 4,64 --mode stream --quick --processes 5 --rounds 8 --warm-up 0.01'
against "$run --cpus 0.5 guest"
grep -qE '^ +host\.cgroup_cpus +[a-z0-9.]+ +0\.5' "$work/verdict" || fail "no quota in: $(cat "$work/verdict")"
points=$all_points
# A sweep that is killed leaves no container.
./rift sweep launch --quick --output killed.jsonl --against "$run guest" >"$work/log" 2>&1 </dev/null &
sweep=$!
sleep 10
kill -KILL "$sweep"
wait "$sweep" 2>/dev/null || true
for try in 1 2 3 4 5 6 7 8 9 10; do
	[ -n "$(docker ps -q)" ] || break
	[ "$try" != 10 ] || fail "a container is left: $(docker ps)"
	sleep 1
done
# The layer `container` beside it, where this machine can have it.
if ./rift layer container -- true 2>"$work/log"; then
	echo "$guest: the next verdict is that of rift layer container:"
	beside --layer container
else
	echo "$guest: rift layer container: not here: $(cat "$work/log")"
fi
costs docker "$run guest"
echo "$guest: passed"
