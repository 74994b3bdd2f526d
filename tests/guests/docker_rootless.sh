#!/bin/sh
# docker_rootless.sh FOLDER quick|all - Docker with a daemon of another user, who is not root, as --against.
set -eu
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "the image and the other user are made by root"
need dockerd docker.io
need rootlesskit rootlesskit uidmap slirp4netns
need_root
PATH=$PATH:/usr/share/docker.io/contrib
command -v dockerd-rootless.sh >/dev/null || skip "no dockerd-rootless.sh"
daemon=
clean_up() {
	[ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null || true
	remove_user
}
need_user
export HOME="$work/home" XDG_RUNTIME_DIR="$work/home" DOCKER_HOST="unix://$work/home/docker.sock"
mkdir -m 700 "$work/home"
root_archive >"$work/image.tar"
chown -R "$user" "$work/home" "$PWD"
$as dockerd-rootless.sh --iptables=false --bridge=none >"$work/daemon.log" 2>&1 </dev/null &
daemon=$!
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	! $as docker version >"$work/log" 2>&1 || break
	[ "$try" != 15 ] || skip "dockerd-rootless.sh: $(tail -n 1 "$work/daemon.log")"
	sleep 1
done
$as docker import "$work/image.tar" guest >"$work/log" 2>&1 || skip "docker import: $(tail -n 1 "$work/log")"
run="docker run --rm -i --network none -v $PWD:$PWD -w $PWD guest"
# shellcheck disable=SC2086
{
	$as $run true >"$work/log" 2>&1 </dev/null || skip "docker run: $(tail -n 1 "$work/log")"
	echo "$guest: $($as docker version --format '{{.Server.Version}}')"
	finds '^note +container +docker' $as $run
	ends 3 "unknown workload 'nosuch'" $as $run ./rift run nosuch
}
against "$run"
echo "$guest: passed"
