#!/bin/sh
# gvisor.sh FOLDER quick|all - gVisor's kernel in user space: `runsc do`, with this machine's files.
set -eu
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
need runsc runsc
[ "$(id -u)" = 0 ] || skip "runsc do needs root"
inside='runsc --network=none do'
$inside true 2>"$work/log" </dev/null || skip "$inside true: $(tail -n 1 "$work/log")"

# runsc writes a file from its beginning, whatever is in it: only pipes are given to it.
cat >"$work/in_gvisor" <<EOF
#!/bin/bash
set -o pipefail
$inside "\$@" 2>&1 | cat
EOF
chmod +x "$work/in_gvisor"
finds '^note +sandbox +gvisor' "$work/in_gvisor"
ends 3 "unknown workload 'nosuch'" "$work/in_gvisor" ./rift run nosuch
ends 0 '^check +passed' "$work/in_gvisor" ./rift run mlp --samples 1
ends 0 'layer shim: saw [0-9]+ calls' "$work/in_gvisor" ./rift layer shim -- ./rift run launch us=0 --samples 1
ends 0 '^check +passed' "$work/in_gvisor" ./rift run launch us=0 --samples 1 --layer remote
against "$inside"
costs gvisor "$inside"
echo "$guest: passed"
