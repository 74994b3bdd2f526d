#!/bin/bash
# slurm.sh RIFT - docs/guide/fleets.md with a real Slurm: munge, slurmctld and three slurmd on this
# host, one license so that nodes measure one after the other, and a node whose launches cost more. A
# task is killed, a node is set down in the middle, a job is requeued: nothing may be lost or counted
# twice, and the collector must name the slow node. Needs root, and Debian's packages slurmctld, slurmd,
# slurm-client and munge; without them it says skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
rift=$(readlink -f "${1:?usage: slurm.sh RIFT}")

work=$(mktemp -d /tmp/rift-slurm.XXXXXX)
trap 'rm -rf "$work"' EXIT

# Which GPU a task takes of what Slurm has given, and under which name: no Slurm is needed for that.
cat >"$work/says" <<-'END'
	#!/bin/sh
	echo "$CUDA_VISIBLE_DEVICES" "$@"
END
chmod +x "$work/says"
# takes GIVEN GPUS INDEX WANT: with two runs each
takes() {
	local got
	got=$(env CUDA_VISIBLE_DEVICES="$1" RIFT_GPUS="$2" SLURM_ARRAY_TASK_ID="$3" RIFT_RUNS=2 RIFT="$work/says" \
		SLURMD_NODENAME=n RIFT_FOLDER=/f share/slurm/rift-task.sbatch launch 2>&1) || true
	[ "$got" = "$4" ] || { echo "FAILED: a task of GPU '$1' says '$got', not '$4'" && exit 1; }
}
sweep="sweep launch --processes 1 --platform"
takes 3 1 1 "3 $sweep n --output /f/n.2.jsonl --quiet"
takes 0,1,2,3 4 5 "2 $sweep n.gpu2 --output /f/n.gpu2.2.jsonl --quiet"
takes GPU-a1,GPU-b2 2 2 "GPU-b2 $sweep n.gpu1 --output /f/n.gpu1.1.jsonl --quiet"
takes MIG-x/1/0,MIG-y/2/0 2 0 "MIG-x/1/0 $sweep n.gpu0 --output /f/n.gpu0.1.jsonl --quiet"
takes "" 2 3 "1 $sweep n.gpu1 --output /f/n.gpu1.2.jsonl --quiet"
takes 0 2 3 "rift-task: n has 1 GPUs for this job, and --gpus says 2"

skip() {
	echo "skipped: $*"
	exit 0
}
[ "$(id -u)" = 0 ] || skip "needs root, for daemons of Slurm"
for program in slurmctld slurmd sbatch munged; do
	command -v "$program" >/dev/null || skip "needs $program (slurmctld, slurmd, slurm-client, munge)"
done

host=$(hostname -s)
export SLURM_CONF=$work/slurm.conf
fail() {
	echo "FAILED: $*"
	tail -n 5 "$work"/log/* "$work"/fleet/logs/* 2>/dev/null || true
	exit 1
}
tidy() {
	if [ -e "$SLURM_CONF" ]; then scontrol shutdown >/dev/null 2>&1 || true; fi
	sleep 1
	for pid in "$work"/*.pid; do
		if [ -e "$pid" ]; then kill -9 "$(cat "$pid")" 2>/dev/null || true; fi
	done
	rm -rf "$work"
}
trap tidy EXIT

# Ports and keys of its own: a cluster that this host belongs to stays as it is.
base=$((20000 + $$ % 20000))
mkdir -p "$work/state" "$work/log"
head -c 1024 /dev/urandom >"$work/key" && chmod 400 "$work/key"
munged --force --key-file="$work/key" --socket="$work/munge" --pid-file="$work/munged.pid" \
	--log-file="$work/log/munged" --seed-file="$work/seed" 2>/dev/null || skip "munged does not start here"
cat >"$SLURM_CONF" <<-END
	ClusterName=test
	SlurmctldHost=$host(127.0.0.1)
	AuthInfo=socket=$work/munge,cred_expire=5
	SlurmUser=root
	SlurmdUser=root
	SlurmctldPort=$base
	StateSaveLocation=$work/state
	SlurmdSpoolDir=$work/spool.%n
	SlurmctldPidFile=$work/slurmctld.pid
	SlurmdPidFile=$work/slurmd.%n.pid
	SlurmctldLogFile=$work/log/slurmctld
	SlurmdLogFile=$work/log/%n
	ProctrackType=proctrack/pgid
	TaskPlugin=task/none
	SelectType=select/linear
	SwitchType=switch/none
	MpiDefault=none
	ReturnToService=2
	KillWait=5
	Licenses=measure:1
	SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0,batch_sched_delay=0
	PriorityType=priority/basic
	AccountingStorageType=accounting_storage/none
	PartitionName=all Nodes=node[1-3] Default=YES State=UP
END
for i in 1 2 3; do
	echo "NodeName=node$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + i)) CPUs=1 State=UNKNOWN"
done >>"$SLURM_CONF"
slurmctld || skip "slurmctld does not start here: $(tail -n 1 "$work/log/slurmctld")"
for i in 1 2 3; do
	mkdir -p "$work/spool.node$i"
	slurmd -N "node$i" || skip "slurmd does not start here: $(tail -n 1 "$work/log/node$i")"
done

# until_true SECONDS COMMAND...
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "waited too long for: $*"
		sleep 0.2
	done
}
idle() { [ "$(sinfo --noheader --Node --format='%N %T' | grep -c ' idle$')" = 3 ]; }
for ((i = 0; i < 100; i++)); do
	! idle || break
	sleep 0.2
done
idle || skip "Slurm's nodes do not come up here: $(tail -n 1 "$work/log/node1")"

# Launches of node2 take 500 us more: three nodes on a busy machine scatter by tens of percent.
cat >"$work/rift" <<-END
	#!/bin/sh
	if [ "\${SLURMD_NODENAME:-}" = node2 ]; then export RIFT_CPU_LAUNCH_NS=500000; fi
	exec '$rift' "\$@"
END
chmod +x "$work/rift"
submit() {
	share/slurm/rift-fleet --rift "$work/rift" --sbatch --licenses=measure:1 "$work/fleet" \
		launch us=20 --depth 1,4 --mode stream --quick
}

# What would fail on each node is refused here.
refused() { # WHAT WORDS...
	local said
	if said=$(share/slurm/rift-fleet "${@:2}" 2>&1) || [[ $said != *"$1"* ]]; then fail "rift-fleet ${*:2} says '$said'"; fi
}
scontrol update nodename=node2 state=drain reason=test
refused "left out: node2 (drained)" --rift "$work/rift" --sbatch --licenses=nosuch:1 "$work/drained" launch us=20
scontrol update nodename=node2 state=resume
until_true 20 idle
refused "comes before the folder" "$work/none" launch --quick --runs 5
refused "write one option with its value" --sbatch --time 10 "$work/none" launch --quick
refused "unknown option '--bogus'" --rift "$work/rift" "$work/none" launch --bogus
if [ -e "$work/none" ]; then fail "a refused fleet has a folder"; fi

collector=$(submit)
refused "take another folder" --rift "$work/rift" "$work/fleet" launch us=30
# Called again meanwhile, it submits nothing twice.
scancel "$collector"
collector=$(submit)
[ "$(squeue --noheader --array --name=rift-fleet | wc -l)" -le 9 ] || fail "tasks are there twice"

# One is killed as it runs, one is requeued, one runs out of time; a node goes and comes back.
running() { [ "$(squeue --noheader --states=running --nodelist="$1" | wc -l)" -gt 0 ]; }
began() { compgen -G "$work/fleet/$1.jsonl.part" >/dev/null; }
until_true 60 began 'node?.1'
pkill -KILL -f "sweep launch.*$work/fleet/node" || fail "there was nothing to kill"
job=$(squeue --noheader --array --states=running,pending --name=rift-fleet --format=%A | head -n 1)
scontrol requeue "$job" 2>/dev/null || true
scontrol update nodename=node3 state=down reason=test
until_true 60 began 'node1.2'
scontrol update nodename=node3 state=resume
# Each task that runs may have ended by itself before the signal comes: the next one is tried.
signal_one() {
	local job
	job=$(squeue --noheader --array --states=running --name=rift-fleet --format=%A | head -n 1)
	[ -n "$job" ] || return 1
	scancel --batch --signal=USR1 "$job" 2>/dev/null || return 1
	sleep 0.5
	grep -rq '^rift: interrupted' "$work/fleet/logs"
}
until_true 60 signal_one

ended() { [ -z "$(squeue --noheader --jobs="$1" 2>/dev/null)" ]; }
until_true 90 ended "$collector"
cat "$work/fleet/finding.txt"

# A killed task has ended for Slurm: what is missing is submitted again.
whole() { find "$work/fleet" -name '*.jsonl' | wc -l; }
if [ "$(whole)" -lt 9 ]; then
	grep -q '^missing: node' "$work/fleet/finding.txt" || fail "the collector does not name what is missing"
	collector=$(submit)
	until_true 60 ended "$collector"
	cat "$work/fleet/finding.txt"
fi
[ "$(whole)" = 9 ] || fail "of 9 files there are $(whole)"
if compgen -G "$work/fleet/*.part" >/dev/null; then fail "something is still under way"; fi
"$rift" show --check "$work"/fleet/*.jsonl >/dev/null || fail "a file is not whole"
[ "$(head -qn 1 "$work"/fleet/*.jsonl | grep -o '"session_id":"[0-9a-f]*"' | sort -u | wc -l)" = 9 ] || fail "a session is there twice"
grep -q '1 of 3 nodes is slower than the fleet by more than 2 %: node2 ' "$work/fleet/finding.txt" ||
	fail "node2 is not named"
[ "$(cat "$work/fleet/finding.status")" = 1 ] || fail "exit status $(cat "$work/fleet/finding.status"), not 1"

# A damaged file is kept and measured again, and a plan that fails twice is put aside.
truncate -s 2000 "$work/fleet/node1.2.jsonl"
head -c 100 "$work/fleet/node3.1.jsonl" >"$work/fleet/node3.1.jsonl.part" && rm "$work/fleet/node3.1.jsonl"
collector=$(submit)
until_true 60 ended "$collector"
grep -q '^missing: node1, run 2: it was damaged' "$work/fleet/finding.txt" || fail "the damaged file is not named"
grep -q '^missing: node3, run 1: rift: .*part.* (.*/logs/' "$work/fleet/finding.txt" || fail "why a run failed is not said"
collector=$(submit)
until_true 60 ended "$collector"
[ "$(whole)" = 9 ] || fail "of 9 files there are $(whole) after damage"
for kept in node1.2.jsonl.damaged node3.1.jsonl.part.failed; do
	[ -s "$work/fleet/$kept" ] || fail "$kept was lost"
done
echo "passed in $SECONDS s"
