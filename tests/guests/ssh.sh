#!/bin/sh
# ssh.sh FOLDER quick|all - this machine over ssh, as if it were a guest: README's section and the
# guide's two ways, with a daemon of its own on another port and a key that is removed with it.
set -eu
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
need sshd openssh-server
need ssh openssh-client
port=$((20000 + $$ % 20000))
mkdir -p "$work/home"
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
cat >"$work/sshd_config" <<EOF
Port $port
ListenAddress 127.0.0.1
HostKey $work/host
AuthorizedKeysFile $work/key.pub
PidFile $work/pid
StrictModes no
UsePAM no
Subsystem sftp /usr/lib/openssh/sftp-server
ForceCommand cd $work/home && exec sh -c "\$SSH_ORIGINAL_COMMAND"
EOF
ssh_options "$port" "$(id -un)"
clean_up() { [ ! -s "$work/pid" ] || kill "$(cat "$work/pid")" 2>/dev/null || true; }
"$(command -v sshd)" -f "$work/sshd_config" -E "$work/sshd.log" || skip "sshd: $(cat "$work/sshd.log")"
for try in 1 2 3 4 5 6 7 8 9 10; do
	! ssh guest true 2>"$work/log" || break
	[ "$try" != 10 ] || skip "ssh: $(cat "$work/log" "$work/sshd.log")"
	sleep 0.3
done

# The folder is made already, and its packages are here.
mkdir dist && cp -r "$dist" dist/
typed README.md 'scp -r dist/rift-cuda guest:' \
	-e '/^make /d; /apt-get/d; s/rift-cuda/rift-cpu/g' -e "s/launch --quick/launch $points/"
type_them
finds 'processor' ssh guest cd "$work/rift" '&&'
ends 3 "unknown workload 'nosuch'" ssh guest "$work/rift/rift run nosuch"
against 'ssh guest'
if [ "$size" = all ]; then
	# Ten processes of every point take a quarter of an hour; of these, a minute.
	rm -f guest.jsonl host.jsonl && ssh guest rm -r rift-cpu
	typed docs/guide/comparing.md 'scp -r dist/rift-cuda guest:' -e 's/rift-cuda/rift-cpu/g' \
		-e 's/launch --processes 10/launch us=0 --depth 4,16,64 --mode stream --processes 10/'
	type_them
fi
costs ssh 'ssh guest'
echo "$guest: passed"
