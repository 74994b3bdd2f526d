#!/bin/bash
# accept_network.sh RIFT [OUT] - is the network that the layer remote imitates (network=) one? CELLS:
#   ping    a launch and its wait, by the round trip of RTTS (us), beside the ping-pong of a byte on a
#           socket alone
#   bucket  copies of pageable memory at rates of GBITS (Gbit/s): imitated, and on a loopback whose
#           packets a token bucket lets through (tc's tbf); needs root and tc
# Processes take turns over all settings, RUNS times. BYTES is how large a copy is (64M). OUT keeps
# ping.csv and bucket.csv; what is there is not measured again. It prints figures and judges nothing.
set -u
rift=$(realpath "${1:?usage: accept_network.sh RIFT [OUT]}")
out=$(realpath -m "${2:-results/network}")
bytes=${BYTES:-64M}
runs=${RUNS:-5}
mkdir -p "$out"
export rift out POLL=${POLL:-}

step() { # NETWORK WORDS...: ns of a step in one process
	local network=$1
	shift
	"$rift" layer --quiet remote transport=tcp ${POLL:+poll=$POLL} ${network:+network=$network} -- \
		"$rift" run "$@" --json --quiet 2>>"$out/log" </dev/null | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["check"]["passed"]
print(d["step_ns"]["median"])'
}
export -f step

ping_pong() { # ns of a byte there and back, the median of many
	python3 -c '
import os, socket, statistics, time
s = socket.create_server(("127.0.0.1", 0))
if not os.fork():
    c = socket.create_connection(s.getsockname()); c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while c.recv(1): c.sendall(b".")
    os._exit(0)
c, _ = s.accept(); c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); took = []
for _ in range(3000):
    t = time.monotonic_ns(); c.sendall(b"."); c.recv(1); took.append(time.monotonic_ns() - t)
c.close(); os.wait()
print(statistics.median(took))'
}

ping() {
	local turn rtt
	if ! [ -s "$out/ping.csv" ]; then
		echo "rtt_us,turn,step_ns,ping_pong_ns" >"$out/ping.part"
		for turn in $(seq "$runs"); do
			for rtt in ${RTTS:-0 50 100 200 500 1000}; do
				echo "$rtt,$turn,$(step "$rtt,0" launch us=0 --mode stream --depth 1 --blocks 200),$(ping_pong)"
			done
		done >>"$out/ping.part"
		mv "$out/ping.part" "$out/ping.csv"
	fi
	table ping
}

# In a namespace of its own, where nobody else's loopback is slowed.
behind_a_bucket() { # GBIT WORDS...
	local rate=$1
	shift
	# shellcheck disable=SC2016
	unshare -n bash -c '
		ip link set lo up && tc qdisc add dev lo root tbf rate "$0"gbit burst 256k limit 64m &&
			step "" "$@"' "$rate" "$@"
}

bucket() {
	local turn rate dir words
	if [ "$(id -u)" != 0 ] || ! command -v tc >/dev/null; then
		echo "bucket: not measured, it needs root and tc"
		return
	fi
	if ! [ -s "$out/bucket.csv" ]; then
		echo "gbit_s,direction,turn,imitated_ns,bucket_ns" >"$out/bucket.part"
		for turn in $(seq "$runs"); do
			for rate in ${GBITS:-1 2 5}; do
				for dir in h2d d2h; do
					words="transfer bytes=$bytes host=pageable dir=$dir --depth 1 --blocks 5"
					# shellcheck disable=SC2086
					echo "$rate,$dir,$turn,$(step "0,$rate" $words),$(behind_a_bucket "$rate" $words)"
				done
			done
		done >>"$out/bucket.part"
		mv "$out/bucket.part" "$out/bucket.csv"
	fi
	table bucket
}

table() { # ping|bucket
	python3 - "$out/$1.csv" "$(numfmt --from=iec "$bytes")" <<-'END'
		import collections, csv, statistics, sys
		cells = collections.defaultdict(list)
		for r in csv.DictReader(open(sys.argv[1])):
		    cells[tuple(r[k] for k in ("rtt_us", "gbit_s", "direction") if k in r)].append(r)
		def said(rows, name, scale):
		    v = sorted(scale(float(r[name])) for r in rows if r[name])
		    return f"{statistics.median(v):.4g} ({v[0]:.4g} to {v[-1]:.4g}, n = {len(v)})" if v else "failed"
		gbit = lambda ns: 8 * int(sys.argv[2]) / ns
		us = lambda ns: ns / 1e3
		for key, rows in cells.items():
		    if "rtt_us" in rows[0]:
		        print(f"round trip {key[0]} us: a launch and its wait {said(rows, 'step_ns', us)} us; a socket alone {said(rows, 'ping_pong_ns', us)} us")
		    else:
		        print(f"{key[0]} Gbit/s, {key[1]}: imitated {said(rows, 'imitated_ns', gbit)} Gbit/s; a token bucket {said(rows, 'bucket_ns', gbit)} Gbit/s")
	END
}

for cell in ${CELLS:-ping bucket}; do
	case $cell in
	ping | bucket) $cell ;;
	*) echo "CELLS: ping, bucket" >&2 && exit 1 ;;
	esac
done
