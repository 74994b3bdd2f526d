#!/bin/sh
# bare.sh [FOLDER] - README's first commands, as they are typed there, on a bare Debian 12, or a bare
# Ubuntu: a root folder by debootstrap that has git and make and nothing else of what rift needs, and a
# clone of what is committed here. It has the network and packages of this machine's apt, no terminal,
# and no GPU that the driver's libraries would show.
#
#   RELEASE=noble   Ubuntu 24.04, or jammy for 22.04 (default: bookworm). Its archive's signature is
#                   checked if the package ubuntu-keyring is here
# With FOLDER, which must not be there yet, what was built moves to FOLDER, whatever came out. Ends
# with 1 where a command fails, and with 3 where no such root can be made.
#   KEEP=yes   leaves the root where it is, and says where
# What is in single quotes is for another shell, or for apt.
# shellcheck disable=SC2016
set -eu
cd "$(dirname "$0")/.."
to=${1:-}
release=${RELEASE:-bookworm}
cannot() {
	echo "rift: bare.sh: $*" >&2
	exit 3
}
[ "$(id -u)" = 0 ] || cannot "be root: a root folder of a system is made"
command -v debootstrap >/dev/null || cannot "no debootstrap; on Debian or Ubuntu: apt-get install debootstrap"
unshare --mount --pid --fork true 2>/dev/null || cannot "no namespaces of mounts and processes here"
[ ! -e "$to" ] || cannot "$to is there already"

root=$(mktemp -d "${TMPDIR:-/var/tmp}/rift-bare-XXXXXX")
trap '[ -n "${KEEP:-}" ] && echo "rift: the root is $root" || rm -rf --one-file-system "$root"' EXIT
trap 'exit 1' INT TERM
chmod 755 "$root"

# The mirror that apt uses here for this system, if it does, and how it gets there.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $release" 'Component: main' | head -n 1)
ubuntu='' script=''
case $release in
jammy | noble)
	ubuntu="--components=main,universe"
	[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || ubuntu="$ubuntu --no-check-gpg"
	mirror=${mirror:-http://archive.ubuntu.com/ubuntu}
	script=/usr/share/debootstrap/scripts/gutsy # that of all of Ubuntu; Debian 12 does not know noble by name
	;;
esac
# shellcheck disable=SC2086 # options, or none
debootstrap --variant=minbase --include=git,make $ubuntu "$release" "$root" ${mirror:+"$mirror"} $script >"$root.log" 2>&1 ||
	{ cat "$root.log" && rm -f "$root.log" && cannot "debootstrap failed"; }
rm -f "$root.log"
apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90machine"
git clone --quiet --bare . "$root/srv/rift"

# As typed, but for the name of the repository, and each command after the one before it.
sed -n '/^```sh ci$/,/^```$/p' README.md | sed '/^```/d; s,<this repository>,/srv/rift,' >"$root/root/typed"
grep -q 'make test' "$root/root/typed" || cannot "README.md: no commands marked \`sh ci\`"
echo "rift: a bare $release in $root; there:"
rc=0
# The mounts and all processes end with this command. No chroot: namespaces of users need a true root.
unshare --mount --pid --fork --kill-child --mount-proc sh -c '
	mount --rbind "$1" "$1" && cd "$1" && mount --rbind /dev dev && mount --rbind /sys sys &&
		mount -t proc proc proc && pivot_root . mnt && umount -l /mnt &&
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
			sh -exc "cd /root && . ./typed"' sh "$root" </dev/null || rc=1
if [ -n "$to" ] && [ -d "$root/root/rift/build" ]; then
	mv "$root/root/rift/build" "$to"
fi
[ "$rc" = 0 ] || echo "rift: README's first commands fail on a bare $release" >&2
exit "$rc"
