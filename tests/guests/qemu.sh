#!/bin/sh
# qemu.sh FOLDER quick|all - a virtual machine by QEMU with Debian's kernel: README's section as it is
# typed, with the packages installed from the network, and the guide's interleaved session over ssh. KVM
# where a guest boots with it, else QEMU's emulation (TCG), under which only the verdict counts.
set -eu
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
need qemu-system-x86_64 qemu-system-x86
need ssh openssh-client
need_root
[ "$(id -u)" = 0 ] || skip "only root reads all files of the root folder"
port=$((20000 + $$ % 20000))
pid=
clean_up() { [ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || true; }

# A copy of the root folder, with what is the guest's own, becomes the disk.
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
cp -a "$root" "$work/root"
install -d -m 700 "$work/root/root/.ssh"
install -m 600 "$work/key.pub" "$work/root/root/.ssh/authorized_keys"
printf '[Match]\nName=e*\n[Network]\nDHCP=yes\n' >"$work/root/etc/systemd/network/90-guest.network"
chroot "$work/root" systemctl --quiet enable systemd-networkd
chroot "$work/root" dpkg --purge libjansson4 libnlopt0 >/dev/null 2>&1 # README installs them
mke2fs -q -t ext4 -d "$work/root" "$work/disk" 3G >"$work/log" 2>&1 || skip "mke2fs: $(tail -n 1 "$work/log")"
ssh_options "$port" root

# boot OPTION...: true once the guest answers, within the seconds of $patience.
boot() {
	qemu-system-x86_64 "$@" -smp 2 -m 2G -display none -serial "file:$work/console" -no-reboot \
		-kernel "$root"/boot/vmlinuz-* -initrd "$root"/boot/initrd.img-* -append 'root=/dev/vda rw console=ttyS0' \
		-drive "file=$work/disk,format=raw,if=virtio,snapshot=on" \
		-nic "user,model=virtio-net-pci,hostfwd=tcp:127.0.0.1:$port-:22" >"$work/log" 2>&1 </dev/null &
	pid=$!
	end=$(($(date +%s) + patience))
	while [ "$(date +%s)" -lt "$end" ] && kill -0 "$pid" 2>/dev/null; do
		! ssh -o ConnectTimeout=5 guest true 2>/dev/null </dev/null || return 0
		sleep 1
	done
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	pid=
	return 1
}

accelerator=KVM patience=60
if ! [ -w /dev/kvm ]; then
	echo "$guest: KVM: no /dev/kvm that can be written to"
	accelerator=TCG
elif ! boot -accel kvm -cpu host; then
	echo "$guest: KVM, -cpu host: no guest after $patience s: $(tail -n 1 "$work/log")"
	accelerator=TCG
	# A host that has no such register says so by an assertion of QEMU's.
	if boot -accel kvm -cpu host,-arch-capabilities; then
		accelerator=KVM
	else
		echo "$guest: KVM, -cpu host,-arch-capabilities: no guest after $patience s: $(tail -n 1 "$work/log")"
	fi
fi
if [ "$accelerator" = TCG ]; then
	patience=240
	boot -accel tcg,thread=multi -cpu max || skip "TCG: no guest after $patience s: $(tail -n 1 "$work/console")"
fi
echo "$guest: $(qemu-system-x86_64 --version | head -n 1), $accelerator, $(ssh guest uname -sr </dev/null)"

mkdir dist && cp -r "$dist" dist/
typed README.md 'scp -r dist/rift-cuda guest:' -e '/^make /d; s/rift-cuda/rift-cpu/g' \
	-e "s/launch --quick/launch $points/"
type_them
# shellcheck disable=SC2029 # the path is this machine's
ssh guest "mkdir -p '$PWD' && mv rift-cpu/* '$PWD'" </dev/null
finds '^note +hypervisor +(kvm|qemu|tcg)' ssh guest "cd '$PWD' &&"
ends 3 "unknown workload 'nosuch'" ssh guest "$PWD/rift run nosuch"
ends 0 '^check +passed' ssh guest "$PWD/rift run launch us=0 --samples 1 --layer remote"
against 'ssh guest'
[ "$accelerator" = TCG ] || costs qemu 'ssh guest'
echo "$guest: passed"
