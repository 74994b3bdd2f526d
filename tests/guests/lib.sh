# shellcheck shell=sh
# lib.sh - what the scripts of this folder share. Each sources it with its arguments: FOLDER, that of
# `make dist`, and quick or all. The script then works in a copy of FOLDER, which is removed at the end.
guest=$(basename "$0" .sh)
dist=$(realpath "${1:?usage: $guest.sh FOLDER quick|all}")
size=${2:?usage: $guest.sh FOLDER quick|all}
top=$(cd "$(dirname "$0")/../.." && pwd)
root=$top/build/guests/root
PATH=$PATH:/usr/sbin:/sbin
user='' as='' daemon='' # of need_user() and need_docker(), never what the environment has
work=$(mktemp -d "${TMPDIR:-/var/tmp}/rift-guests-XXXXXX")
chmod 755 "$work" # other users run what is in it

clean_up() { :; } # a script's own
leave() {
	clean_up
	rm -rf --one-file-system "$work"
}
trap leave EXIT
trap 'exit 1' INT TERM

fail() {
	echo "$guest: FAILED: $*"
	exit 1
}
skip() {
	echo "$guest: skipped: $*"
	exit 0
}

# need PROGRAM PACKAGE...: installs the packages if the program is not there and this is root.
need() {
	program=$1
	shift
	command -v "$program" >/dev/null && return
	[ "${SETUP:-}" != no ] || skip "no $program, and SETUP=no: apt-get install $*"
	[ "$(id -u)" = 0 ] || skip "no $program, and only root can install it: apt-get install $*"
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >"$work/log" 2>&1 ||
		skip "apt-get install $*: $(tail -n 1 "$work/log")"
	command -v "$program" >/dev/null || skip "no $program in $*"
}

# A Docker daemon of this script's own, without networks. Define clean_up() with stop_docker first.
need_docker() {
	[ "$(id -u)" = 0 ] || skip "a daemon of its own needs root"
	need dockerd docker.io
	export DOCKER_HOST="unix://$work/socket"
	dockerd --iptables=false --bridge=none --containerd-namespace "rift-$$" --containerd-plugins-namespace "rift-plugins-$$" --data-root "$work/data" --exec-root "$work/exec" \
		--host "$DOCKER_HOST" --pidfile "$work/pid" >"$work/daemon.log" 2>&1 &
	daemon=$!
	for try in 1 2 3 4 5 6 7 8 9 10; do
		! docker version >"$work/version" 2>&1 || break
		[ "$try" != 10 ] || skip "dockerd: $(tail -n 1 "$work/daemon.log")"
		sleep 1
	done
}

stop_docker() {
	[ -n "$daemon" ] || return 0
	{ kill "$daemon" && wait "$daemon"; } 2>/dev/null || true
	umount "$work"/exec/netns/* 2>/dev/null || true # left by --network host
}

# The system of a guest: Debian 12 with a kernel, an ssh daemon and what rift needs. Made once, and kept.
need_root() {
	[ -d "$root" ] && return
	[ "$(id -u)" = 0 ] || skip "only root can make a root folder of a system"
	need debootstrap debootstrap
	mkdir -p "$(dirname "$root")"
	chmod 700 "$(dirname "$root")" # programs in it run as root
	rm -rf --one-file-system "$root.part"
	debootstrap --variant=minbase --include=libjansson4,libnlopt0,zlib1g,bubblewrap,openssh-server,sudo,systemd-sysv,linux-image-cloud-amd64 \
		bookworm "$root.part" >"$work/log" 2>&1 || skip "debootstrap: $(tail -n 1 "$work/log")"
	mv "$root.part" "$root"
}

# The same system without the kernel and what nobody reads, as images of containers are, on stdout.
root_archive() {
	tar -C "$root" --exclude=./boot --exclude=./usr/lib/modules --exclude=./usr/share/doc --exclude=./usr/share/locale \
		--exclude=./var/lib/apt/lists --exclude=./var/cache/apt -c .
}

# typed FILE FIRST [SED...]: the commands of the fence `sh needs-ssh` of FILE that has the line
# FIRST, as they are typed, but for what each SED replaces.
typed() {
	file=$1 first=$2
	shift 2
	# shellcheck disable=SC2016
	awk -v first="$first" '
		/^```sh needs-ssh$/ { inside = 1; text = ""; next }
		/^```$/ { if (inside && index(text, first)) printf "%s", text; inside = 0 }
		inside { text = text $0 "\n" }' "$top/$file" | sed "$@" >"$work/typed"
	[ -s "$work/typed" ] || fail "$file: no such commands: $first"
}

# The last command's exit code is the verdict; those before it must end with 0.
type_them() {
	sed '$d' "$work/typed" >"$work/first"
	sh -exc '. "$1"' sh "$work/first" </dev/null >"$work/log" 2>&1 || fail "$(tail -n 5 "$work/log")"
	tail -n 1 "$work/typed" >"$work/last"
	verdict sh "$work/last"
}

# verdict COMMAND...: ends as `rift compare` does with a verdict, whose line is printed.
verdict() {
	rc=0
	"$@" >"$work/verdict" 2>&1 </dev/null || rc=$?
	[ "$rc" -le 2 ] || fail "exit code $rc: $(cat "$work/verdict")"
	grep -qE 'B (is|may)' "$work/verdict" || fail "no verdict: $(cat "$work/verdict")"
	! grep -q 'wrong results' "$work/verdict" || fail "$(head -n 1 "$work/verdict")"
	echo "$guest: $(grep -m 1 -E 'B (is|may)' "$work/verdict")"
}

# The points of a sweep: README's, or a few.
points='--quick'
[ "$size" = all ] || points='us=0 --depth 4,64 --mode stream --quick --processes 5 --rounds 8 --warm-up 0.01'

# against COMMAND: a session with COMMAND as its side b ends in a verdict, and nobody is told that the
# machine has changed meanwhile. as: the command before rift itself, such as runuser.
against() { beside --against "$1"; }

# beside OPTION...: the same for a side b that these options of sweep give.
beside() {
	rm -f both.jsonl*
	# shellcheck disable=SC2086
	${as:-} ./rift sweep launch $points --output both.jsonl "$@" >"$work/log" 2>&1 </dev/null ||
		fail "sweep $*: $(tail -n 5 "$work/log")"
	! grep 'rift: changed on.*virt\.' "$work/log" || fail "what is measured is called another machine"
	verdict ./rift compare both.jsonl
}

# costs NAME COMMAND: launches, copies and allocations on both sides, for the row NAME of a page. Kept
# in the folder KEEP, if that is given.
costs() {
	[ -n "${KEEP:-}" ] || return 0
	mkdir -p "$KEEP"
	rm -f "$KEEP/$1".jsonl*
	./rift sweep launch transfer memory launch.us=0 transfer.bytes=4,1M memory.bytes=4M --depth 1,16 --mode stream \
		--quick --processes 9 --quiet --output "$KEEP/$1.jsonl" --against "$2" >"$work/log" 2>&1 </dev/null ||
		fail "costs of $1: $(tail -n 5 "$work/log")"
}

# finds PATTERN COMMAND...: `COMMAND ./rift doctor` says that measuring works, and has such a line.
finds() {
	pattern=$1
	shift
	"$@" ./rift doctor >"$work/doctor" 2>&1 </dev/null || fail "$* ./rift doctor: $(cat "$work/doctor")"
	grep -q '^Measuring works here' "$work/doctor" || fail "$* ./rift doctor: $(cat "$work/doctor")"
	grep -qE "$pattern" "$work/doctor" || fail "no '$pattern' in: $(cat "$work/doctor")"
}

# ends CODE PATTERN COMMAND...: ends within a minute, with this code, and prints such a line.
ends() {
	code=$1 pattern=$2
	shift 2
	rc=0
	timeout 60 "$@" >"$work/out" 2>&1 </dev/null || rc=$?
	[ "$rc" = "$code" ] || fail "$*: exit code $rc, not $code: $(tail -n 3 "$work/out")"
	grep -qE "$pattern" "$work/out" || fail "$*: no '$pattern' in: $(cat "$work/out")"
}

# Makes a user for this script: rift runs as that one by $as. remove_user is for clean_up().
need_user() {
	useradd -m "rift-guest-$$" 2>"$work/log" || skip "useradd: $(cat "$work/log")"
	user=rift-guest-$$
	as="runuser -u $user --"
}

# Podman and Docker leave processes that hold the user's namespace.
remove_user() {
	[ -n "$user" ] || return 0
	for process in $(pgrep -u "$user"); do
		kill -KILL "$process" 2>/dev/null || true
	done
	sleep 1
	userdel -r "$user" >/dev/null 2>&1 || true
}

# ssh_options PORT USER: `ssh guest` and `scp ... guest:` lead to that port of this machine, with $work/key.
ssh_options() {
	cat >"$work/ssh_config" <<-EOF
		Host guest
			HostName 127.0.0.1
			Port $1
			User $2
			IdentityFile $work/key
			StrictHostKeyChecking no
			UserKnownHostsFile /dev/null
			LogLevel ERROR
	EOF
	mkdir -p "$work/bin"
	for program in ssh scp; do
		printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v $program)" "$work/ssh_config" >"$work/bin/$program"
		chmod +x "$work/bin/$program"
	done
	PATH="$work/bin:$PATH"
}

cp -r "$dist" "$work/rift"
cd "$work/rift" || exit 1
