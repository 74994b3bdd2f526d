#!/bin/sh
# nspawn.sh FOLDER quick|all - systemd-nspawn in a root folder, as --against. It needs no systemd here:
# the container is neither registered nor given a unit of its own.
set -eu
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "systemd-nspawn needs root"
need systemd-nspawn systemd-container
need_root
run="systemd-nspawn --quiet --register=no --keep-unit --pipe --directory=$root --bind=$PWD --chdir=$PWD"
$run true >"$work/log" 2>&1 </dev/null || skip "systemd-nspawn: $(tail -n 1 "$work/log")"
echo "$guest: $(systemd-nspawn --version | head -n 1)"
# shellcheck disable=SC2086
{
	finds '^note +container +systemd-nspawn' $run
	ends 3 "unknown workload 'nosuch'" $run ./rift run nosuch
	ends 0 '^check +passed' $run --read-only ./rift run launch us=0 --samples 1 --layer remote
}
against "$run"
costs nspawn "$run"
echo "$guest: passed"
