#!/bin/bash
# accept_vmcuda.sh RIFT [OUT] - the studies that the vmCUDA paper made of its layer, of the layer remote
# over TCP. CELLS chooses:
#   programs  its five programs by its table 1, and by 12.5 GB (figures 4 and 5): accept_remote.sh does
#             it, in OUT/programs; on a GPU alone
#   block     copies of pageable memory by the size of the blocks that they travel in (figure 7): pairs,
#             bare beside the layer, for each of BLOCKS; behind each what a socket alone does with
#             sends and receives of that size, on loopback, RUNS times
#   mtu       the same copies between two network namespaces, by MTU, with segmentation offloads on and
#             off (figure 6); needs root, ip and ethtool. Beside them what a socket alone does there:
#             a stream of the same bytes. RUNS processes of each, in turns
# BYTES is how large a copy is (64M). OUT keeps what was measured; what is there already is not measured
# again. It prints figures, writes OUT/block.csv, OUT/mtu.csv and charts of both, and judges nothing.
set -u
rift=$(realpath "${1:?usage: accept_vmcuda.sh RIFT [OUT]}")
out=$(realpath -m "${2:-results/vmcuda}")
bytes=${BYTES:-64M}
runs=${RUNS:-5}
port=${PORT:-14901}
server=127.0.0.1 # the address of a socket alone; of mtu's, that of its namespace
mkdir -p "$out"

# ---- a socket alone ---------------------------------------------------------------------------

in_server() { if [ $server = 127.0.0.1 ]; then "$@"; else ip netns exec rift-server "$@"; fi; }
in_client() { if [ $server = 127.0.0.1 ]; then "$@"; else ip netns exec rift-client "$@"; fi; }

# GB/s of a stream of 512 MiB, from the server or to it, in sends and receives of so many bytes.
stream_alone() { # h2d|d2h BYTES
	local pid
	in_server python3 -c '
import socket, sys
n, to_server, size = int(sys.argv[1]), sys.argv[2] == "h2d", int(sys.argv[5])
s = socket.create_server((sys.argv[4], int(sys.argv[3]))); print("ready", flush=True)
c, _ = s.accept(); block = bytearray(size); got = 0
while to_server and got < n: got += c.recv_into(block)
if to_server: c.sendall(b"!")
else:
    for _ in range(n // len(block)): c.sendall(block)
c.recv(1)' "$((512 << 20))" "$1" "$((port + 1))" "$server" "$2" >"$out/ready" &
	pid=$!
	until grep -q ready "$out/ready" 2>/dev/null; do sleep 0.05; done
	in_client python3 -c '
import socket, sys, time
n, to_server, size = int(sys.argv[1]), sys.argv[2] == "h2d", int(sys.argv[5])
c = socket.create_connection((sys.argv[4], int(sys.argv[3]))); block = bytearray(size); got = 0
begin = time.monotonic()
while to_server and got < n: c.sendall(block); got += len(block)
while not to_server and got < n: got += c.recv_into(block)
if to_server: c.recv(1)
print(n / (time.monotonic() - begin) / 1e9)' "$((512 << 20))" "$1" "$((port + 1))" "$server" "$2"
	wait "$pid"
	rm -f "$out/ready"
}

# ---- by the size of a block -------------------------------------------------------------------

block() {
	local size name alone dir
	echo "block_bytes,direction,step_ns,ratio,lo,hi,n,copies_gb_s,stream_gb_s" >"$out/block.csv"
	for size in ${BLOCKS:-128k 512k 1M 2M 4M 8M 16M 32M 64M 128M}; do
		name=$out/block-$size.jsonl
		if ! [ -s "$name" ]; then
			rm -f "$name"*
			# shellcheck disable=SC2086
			"$rift" sweep transfer transfer.bytes="$bytes" transfer.host=pageable transfer.dir=h2d,d2h \
				--depth 1 --mode stream ${OPTIONS:---processes $runs --rounds 3} --quiet --output "$name" \
				--layer "remote transport=tcp${POLL:+ poll=$POLL} block=$size" >"$name.txt" 2>&1 </dev/null
		fi
		alone=${name%.jsonl}.alone
		[ -s "$alone" ] || for dir in h2d d2h; do
			echo "$dir $(for _ in $(seq "$runs"); do stream_alone $dir "$(numfmt --from=iec "${size^^}")"; done | paste -sd' ')"
		done >"$alone"
		"$rift" compare "$name" --json 2>/dev/null </dev/null | python3 -c '
import json, statistics, sys
size, out, alone, n = sys.argv[1:]
alone = {w[0]: [float(v) for v in w[1:]] for w in map(str.split, open(alone))}
n = int(n)
scale = {"k": 1 << 10, "M": 1 << 20}
try: d = json.load(sys.stdin)
except ValueError: print(f"{size:>5}  not measured, see {out}/block-{size}.jsonl.txt"); sys.exit()
for p in d["points"]:
    r, dir = p["ratio"], p["axes"].get("dir") or "h2d"
    ends = "" if r["lo"] is None else f"{r['"'"'lo'"'"']:.4g},{r['"'"'hi'"'"']:.4g}"
    ns, socket = p["b_step_ns"]["value"], alone[dir]
    with open(out + "/block.csv", "a") as f:
        print(int(size[:-1]) * scale[size[-1]], dir, ns, "%.4g" % r["value"], ends or ",", r["n"], "%.4g" % (n / ns), "%.4g" % statistics.median(socket), sep=",", file=f)
    print(f"{size:>5}  {dir}: {ns / 1e6:.4g} ms, {r['"'"'value'"'"']:.4g} times bare ({ends}); {n / ns:.3g} GB/s, a socket alone {statistics.median(socket):.3g} ({min(socket):.3g} to {max(socket):.3g})")' \
			"$size" "$out" "$alone" "$(numfmt --from=iec "$bytes")"
	done
}

# ---- by what a network carries at a time ------------------------------------------------------

network_remove() {
	[ -z "${daemon:-}" ] || kill -- "-$daemon" 2>/dev/null
	daemon=
	ip netns del rift-server 2>/dev/null
	ip netns del rift-client 2>/dev/null
}

network_make() {
	ip netns add rift-server && ip netns add rift-client &&
		ip link add rift0 netns rift-server type veth peer name rift1 netns rift-client &&
		in_server ip addr add 10.77.0.1/24 dev rift0 && in_client ip addr add 10.77.0.2/24 dev rift1 &&
		in_server ip link set rift0 up && in_client ip link set rift1 up &&
		in_server ip link set lo up && in_client ip link set lo up
}

network_set() { # MTU on|off
	in_server ip link set rift0 mtu "$1" && in_client ip link set rift1 mtu "$1" &&
		in_server ethtool -K rift0 tso "$2" gso "$2" gro "$2" >/dev/null &&
		in_client ethtool -K rift1 tso "$2" gso "$2" gro "$2" >/dev/null
}

copies() { # h2d|d2h: GB/s of copies in one process
	in_client "$rift" layer --quiet remote transport=tcp connect=$server:"$port" token="$out/token" -- \
		"$rift" run transfer bytes="$bytes" host=pageable dir="$1" --depth 1 --blocks "${COPIES:-15}" --json --quiet \
		2>"$out/mtu.log" </dev/null | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["check"]["passed"]
print(d["params"]["bytes"] / d["step_ns"]["median"])'
}

mtu() {
	local turn size offloads dir
	if [ "$(id -u)" != 0 ] || ! command -v ip ethtool >/dev/null; then
		echo "mtu: not measured, it needs root, ip and ethtool"
		return
	fi
	server=10.77.0.1
	if ! [ -s "$out/mtu.csv" ]; then
		network_remove
		trap network_remove EXIT
		network_make || return
		(umask 077 && head -c 24 /dev/urandom | base64 >"$out/token")
		setsid ip netns exec rift-server "$rift" layer --quiet remote transport=tcp listen=$server:"$port" \
			token="$out/token" -- sleep 3600 >"$out/daemon" 2>&1 </dev/null &
		daemon=$!
		sleep 2
		for turn in $(seq "$runs"); do
			for size in 1500 9000; do
				for offloads in on off; do
					network_set $size $offloads || return
					for dir in h2d d2h; do
						echo "$size,$offloads,$dir,$turn,$(copies $dir),$(stream_alone $dir $((4 << 20)))"
					done
				done
			done
		done >"$out/mtu.part"
		(echo "mtu,offloads,direction,turn,copies_gb_s,stream_gb_s" && cat "$out/mtu.part") >"$out/mtu.csv"
		network_remove
		rm -f "$out/mtu.part" "$out/token"
	fi
	python3 - "$out/mtu.csv" <<-'END'
		import collections, csv, statistics, sys
		cells = collections.defaultdict(list)
		for r in csv.DictReader(open(sys.argv[1])):
		    cells[r["mtu"], r["offloads"], r["direction"]].append(r)
		for (mtu, offloads, direction), rows in cells.items():
		    said = []
		    for what in "copies", "stream":
		        v = [float(r[what + "_gb_s"]) for r in rows if r[what + "_gb_s"]]
		        said.append(f"{what} {statistics.median(v):.3g} GB/s ({min(v):.3g} to {max(v):.3g}, n = {len(v)})" if v else f"{what} failed")
		    print(f"MTU {mtu}, offloads {offloads:3}, {direction}: " + "; ".join(said))
	END
}

# ---- charts -----------------------------------------------------------------------------------

draw() { # NAME LINES-OF-GNUPLOT
	command -v gnuplot >/dev/null || return 0
	gnuplot <<-END || echo "$1: no chart"
		set datafile separator ','
		set terminal pngcairo size 900,520
		set output '$out/$1.png'
		set grid
		set key outside below
		$2
	END
}

for cell in ${CELLS:-programs block mtu}; do
	case $cell in
	programs) CELLS="table1 large" ARMS=ahead "$(dirname "$0")/accept_remote.sh" "$rift" "$out/programs" ;;
	block)
		block
		draw block "set title 'copies of $bytes by the blocks that they travel in, over TCP'
			set logscale x 2
			set xtics ('128 KiB' 2**17, '1 MiB' 2**20, '4 MiB' 2**22, '16 MiB' 2**24, '128 MiB' 2**27)
			set ylabel 'time over bare, 95 %'
			set yrange [0:*]
			set xrange [2**16:2**28]
			set datafile missing NaN
			plot for [d in 'h2d d2h'] '$out/block.csv' every ::1 using (strcol(2) eq d ? \$1 : NaN):4:5:6 with yerrorlines title d"
		;;
	mtu)
		mtu
		[ ! -s "$out/mtu.csv" ] || draw mtu "set title 'copies of $bytes between two namespaces'
			set xtics ('1500, on' 0, '1500, off' 1, '9000, on' 2, '9000, off' 3)
			set xlabel 'MTU, offloads'
			set ylabel 'GB/s'
			set yrange [0:*]
			set xrange [-0.5:3.5]
			at(m, o) = (m == 9000 ? 2 : 0) + (o eq 'off' ? 1 : 0)
			plot for [d in 'h2d d2h'] '$out/mtu.csv' every ::1 using (strcol(3) eq d ? at(\$1, strcol(2)) - (d eq 'h2d' ? 0.1 : -0.1) : NaN):5 with points pt 7 title 'copies, '.d, \
				for [d in 'h2d d2h'] '$out/mtu.csv' every ::1 using (strcol(3) eq d ? at(\$1, strcol(2)) - (d eq 'h2d' ? 0.1 : -0.1) : NaN):6 with points pt 6 title 'a socket alone, '.d"
		;;
	*) echo "CELLS: programs, block, mtu" >&2 && exit 1 ;;
	esac
done
