#!/bin/sh
# image.sh FOLDER quick|all - FOLDER's share/container: the Containerfile, built and run by a Docker daemon
# of this script's own, and the command of the Kubernetes Job, run in that image three times under each of
# three node names. There is no cluster, so nothing schedules these pods.
#
# The base is Debian's image if its registry answers, else what debootstrap makes. Building needs Debian's
# packages.
set -eu
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
clean_up() { stop_docker; }
need_docker
echo "$guest: Docker $(docker version --format '{{.Server.Version}}'), runtime $(runc --version | head -n 1)"

# The file's own base, or one of debootstrap's.
base=$(sed -n 's/^ARG BASE=//p' share/container/Containerfile)
if timeout 60 docker pull "$base" >"$work/log" 2>&1; then
	echo "$guest: base: $base"
else
	echo "$guest: base: debootstrap, because of $base: $(tail -n 1 "$work/log")"
	need debootstrap debootstrap
	debootstrap --variant=minbase bookworm "$work/base" >"$work/log" 2>&1 || skip "debootstrap: $(tail -n 1 "$work/log")"
	base=rift-base
	tar -C "$work/base" -c . | docker import - "$base" >"$work/log" 2>&1 || skip "docker import: $(tail -n 1 "$work/log")"
fi
docker run --rm --network none "$base" true >"$work/log" 2>&1 || skip "docker run: $(tail -n 1 "$work/log")"
docker run --rm --network host "$base" apt-get update >"$work/log" 2>&1 ||
	skip "apt-get update in a container: $(tail -n 1 "$work/log")"

# As from a machine where nobody else may read the folder.
chmod -R go-rwx .
docker build --network host --build-arg "BASE=$base" -t rift -f share/container/Containerfile . >"$work/log" 2>&1 ||
	fail "docker build: $(tail -n 5 "$work/log")"

mkdir "$work/files"
chown 1234:1234 "$work/files"
as_other='--user 1234:1234 --read-only --cap-drop ALL --security-opt no-new-privileges'
image="docker run --rm --network none $as_other"
# shellcheck disable=SC2086
{
	ends 0 '^check +passed' docker run --rm --network none rift run myocyte
	ends 0 '^check +passed' $image rift run mlp --samples 1 # with the BLAS of the image
	ends 0 '^note +container +docker' $image rift doctor
	ends 3 'cannot write x.jsonl: ' $image rift sweep launch --express --output x.jsonl
	$image -v "$work/files:/work" rift sweep launch $points --output x.jsonl >"$work/log" 2>&1 ||
		fail "sweep: $(tail -n 5 "$work/log")"
	ends 0 'valid; schema' $image -v "$work/files:/work" rift show --check x.jsonl
}
[ "$(stat -c %u "$work/files/x.jsonl")" = 1234 ] || fail "x.jsonl belongs to user $(stat -c %u "$work/files/x.jsonl")"
echo "$guest: built and run"

# The Job against the schema of the interface, if PyPI has what checks it.
job=share/container/fleet-job.yaml
if python3 -m venv "$work/venv" >"$work/log" 2>&1 && "$work/venv/bin/pip" install --quiet kubernetes-validate==1.37.0 >"$work/log" 2>&1; then
	for version in 1.25 1.32 1.37; do
		"$work/venv/bin/kubernetes-validate" --strict -k "$version" $job >"$work/log" 2>&1 || fail "$job: $(cat "$work/log")"
	done
	echo "$guest: $job: valid for Kubernetes 1.25, 1.32 and 1.37"
else
	echo "$guest: $job: schema not checked: $(tail -n 1 "$work/log")"
fi

# Its command: the text below `- |`, without the indentation of its first line.
awk '/^ *- \|$/ { inside = 1; next }
	inside && !indent { match($0, /^ */); indent = substr($0, 1, RLENGTH) }
	inside && index($0, indent) != 1 { exit }
	inside { print substr($0, length(indent) + 1) }' $job >"$work/command"
grep -q '^exec rift sweep' "$work/command" || fail "$job: no such command: $(cat "$work/command")"
mkdir "$work/fleet"
chown 1234:1234 "$work/fleet"
docker tag rift "$(sed -n 's/^ *image: //p' $job)"
# pod NODE INDEX OPTION...: one pod of the Job.
pod() {
	node=$1 index=$2
	shift 2
	# shellcheck disable=SC2086
	docker run --network none $as_other -v "$work/fleet:/fleet" -e "NODE=$node" -e "JOB_COMPLETION_INDEX=$index" "$@" \
		--entrypoint /bin/sh "$(sed -n 's/^ *image: //p' $job)" -c "$(cat "$work/command")"
}
# stopped SIGNAL CODE: a pod of index 0 ends so in the middle, and leaves what it has.
stopped() {
	pod node1 0 -d --name stopped >"$work/log" 2>&1 || fail "$(cat "$work/log")"
	sleep 3
	docker kill --signal "$1" stopped >"$work/log" 2>&1 || fail "SIG$1: $(docker logs stopped 2>&1 | tail -n 3)"
	rc=$(docker wait stopped)
	[ "$rc" = "$2" ] || fail "SIG$1: exit code $rc, not $2: $(docker logs stopped 2>&1 | tail -n 3)"
	docker rm stopped >"$work/log"
	[ -s "$work/fleet/node1.0.jsonl.part" ] || fail "SIG$1: nothing is kept: $(ls "$work/fleet")"
}
stopped TERM 75
stopped KILL 137
# Launches of node2 take 500 us more.
for index in 0 1 2 3 4 5 6 7 8; do
	node=node$((index % 3 + 1)) slow=
	[ "$node" != node2 ] || slow='-e RIFT_CPU_LAUNCH_NS=500000'
	# shellcheck disable=SC2086
	pod "$node" "$index" --rm $slow >"$work/log" 2>&1 </dev/null || fail "pod $index: $(tail -n 5 "$work/log")"
done
[ "$(find "$work/fleet" -type f | wc -l)" = 9 ] || fail "not nine files: $(ls "$work/fleet")"
before=$(cksum "$work/fleet/node1.0.jsonl")
pod node1 0 --rm >"$work/log" 2>&1 </dev/null || fail "pod 0 again: $(tail -n 5 "$work/log")"
[ "$(cksum "$work/fleet/node1.0.jsonl")" = "$before" ] || fail "a pod that is started again changes a whole file"
./rift show --check "$work"/fleet/*.jsonl >"$work/log" 2>&1 || fail "a file is not whole: $(cat "$work/log")"
rc=0
./rift compare --each node "$work"/fleet/*.jsonl >"$work/finding" 2>&1 || rc=$?
[ "$rc" -le 1 ] || fail "compare: exit code $rc: $(cat "$work/finding")"
[ "$(grep -cE '^node[1-3] .* 3 +3' "$work/finding")" = 3 ] || fail "not three nodes of three processes: $(cat "$work/finding")"
grep -m 1 -A 1 '^node  ' "$work/finding" | grep -q '^node2 ' || fail "node2 is not the slowest: $(cat "$work/finding")"
echo "$guest: $(head -n 1 "$work/finding")"
echo "$guest: passed"
