#!/bin/sh
# podman.sh FOLDER quick|all - Podman, as root and as another user, with an image from a root folder: the
# guide's command. Where Podman's defaults are refused, two other ways are tried: no control groups, and
# runc; both with limits of files and processes that nobody must be privileged to set.
set -eu
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "the image and the other user are made by root"
need podman podman crun uidmap slirp4netns
need runc runc
need_root
clean_up() { remove_user; }
root_archive >"$work/image.tar"

limits='default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]'
: >"$work/defaults.conf"
printf '[containers]\ncgroups = "disabled"\n%s\n' "$limits" >"$work/groupless.conf"
printf '[containers]\n%s\n[engine]\nruntime = "runc"\n' "$limits" >"$work/runc.conf"
chmod 644 "$work"/*.conf "$work/image.tar"

# starts WHO FOLDER: the image is imported into FOLDER by ${as:-}, and the first way that can run it
# stays as CONTAINERS_CONF.
starts() {
	mkdir -p "$2/run"
	printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/storage"\nrunroot = "%s/run"\n' "$2" "$2" >"$2/storage.conf"
	export CONTAINERS_STORAGE_CONF="$2/storage.conf" XDG_RUNTIME_DIR="$2/run" HOME="$2"
	[ -z "${as:-}" ] || chown -R "$user" "$2"
	${as:-} podman import "$work/image.tar" guest >"$work/log" 2>&1 </dev/null || {
		echo "$guest: $1: not run: podman import: $(tail -n 1 "$work/log")"
		return 1
	}
	for way in defaults groupless runc; do
		export CONTAINERS_CONF="$work/$way.conf"
		if ${as:-} podman run --rm --network none localhost/guest true >"$work/log" 2>&1 </dev/null; then
			echo "$guest: $1: $(podman --version), $way"
			return
		fi
		echo "$guest: $1: $way: $(tail -n 1 "$work/log")"
	done
	return 1
}

run="podman run --rm -i --network none -v $PWD:$PWD -w $PWD localhost/guest"
some=
if starts root "$work/home-root"; then
	some=yes
	# shellcheck disable=SC2086
	{
		finds '^note +container +podman' $run
		ends 3 "unknown workload 'nosuch'" $run ./rift run nosuch
		ends 0 '^check +passed' $run ./rift run launch us=0 --samples 1 --layer remote
	}
	typed docs/guide/comparing.md "docker run" \
		-e "s/docker/podman/; s/ --gpus all/ --network none/; s/IMAGE/localhost\\/guest/; s/sweep launch --quick/sweep launch $points/"
	type_them
	costs podman "$run"
fi
need_user
if starts 'without root' "$work/home-user"; then
	some=yes
	chown -R "$user" "$PWD"
	# shellcheck disable=SC2086
	finds '^note +container +podman' $as $run
	against "$run"
fi
[ -n "$some" ] || skip "neither root nor another user can run a container here"
echo "$guest: passed"
