"""network.py ping|bucket|mtu|jumbo|larger|memory|disk|together|recorded|block SIZE - the layer remote over networks, imitated or
real, and a socket alone beside it; what its daemon holds; what reading inputs costs; and the vmCUDA paper's programs, several at a time.

RUNS processes of each (5) take turns. Copies are of BYTES (64M). OUT keeps NAME.csv; what is there is not measured again. After
BUDGET seconds no turn's next row begins."""
import contextlib
import csv
import ctypes
import fcntl
import os
import random
import resource
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from tables import OUT, load, spread

RUNS, PORT = int(os.environ.get("RUNS", 5)), int(os.environ.get("PORT", 14901))
SIZE = os.environ.get("BYTES", "64M")
SCALE = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
POLL = [f"poll={os.environ['POLL']}"] if os.environ.get("POLL") else []
BUDGET = float(os.environ.get("BUDGET", "inf"))
STREAM = 512 << 20
SERVER, CLIENT, ADDRESS = "rift-server", "rift-client", "10.77.0.1"  # mtu's namespaces


def number(size):
    return int(size[:-1]) * SCALE[size[-1]] if size[-1] in SCALE else int(size)


def copy(direction, blocks):
    return ["transfer", f"bytes={SIZE}", "host=pageable", f"dir={direction}", "--depth", "1", "--samples", str(blocks)]


def under(layer, transport="tcp"):
    """The words of rift that put a command under the layer; of None no words."""
    return [] if layer is None else [os.environ["RIFT"], "layer", "--quiet", "remote", f"transport={transport}", *layer, "--"]


def run_once(layer, words, before=(), transport="tcp"):
    """What one process says, which a command may go before; None where it failed."""
    with open(f"{OUT}/log", "a", encoding="utf-8") as log:
        done = subprocess.run([*before, *under(layer, transport), os.environ["RIFT"], "run", *words, "--json", "--quiet"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, check=False)
    said = load(done.stdout)
    return said if said and said["check"]["passed"] else None


def step_ns(layer, words, before=()):
    """ns of its step; "" where it failed."""
    said = run_once(layer, words, before)
    return said["step_ns"]["median"] if said else ""


def gb_s(ns):
    return number(SIZE) / ns if ns else ""


# ---- a socket alone -------------------------------------------------------------------------------


def ping_pong():
    """ns of a byte there and back, the median of many."""
    s = socket.create_server(("127.0.0.1", 0))
    if not os.fork():
        with socket.create_connection(s.getsockname()) as c:
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while c.recv(1):
                c.sendall(b".")
        os._exit(0)
    took = []
    with s.accept()[0] as c:
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(3000):
            begun = time.monotonic_ns()
            c.sendall(b".")
            c.recv(1)
            took.append(time.monotonic_ns() - begun)
    os.wait()
    return statistics.median(took)


def stream_end(what, address, direction, block):
    """One end of a stream of 512 MiB in sends and receives of so many bytes. The receiver answers when it has all."""
    block = bytearray(int(block))
    if what == "serve":
        s = socket.create_server((address, PORT + 1))
        print("ready", flush=True)
        c, _ = s.accept()
    else:
        c = socket.create_connection((address, PORT + 1))
    begun, got = time.monotonic(), 0
    if (what == "serve") == (direction == "h2d"):
        while got < STREAM:
            got += c.recv_into(block)
        c.sendall(b"!")
    else:
        for _ in range(STREAM // len(block)):
            c.sendall(block)
        c.recv(1)
    if what == "connect":
        print(STREAM / (time.monotonic() - begun) / 1e9)


def stream_alone(direction, block, address="127.0.0.1"):
    """GB/s of such a stream, on loopback or between the namespaces."""
    def end(what):
        before = [] if address == "127.0.0.1" else ["ip", "netns", "exec", SERVER if what == "serve" else CLIENT]
        return subprocess.Popen([*before, sys.executable, __file__, what, address, direction, str(block)], stdout=subprocess.PIPE, text=True)

    with end("serve") as server:
        server.stdout.readline()
        with end("connect") as client:
            return client.stdout.read().strip()


# ---- what is measured -----------------------------------------------------------------------------


def ping():
    """A launch and its wait, by the round trip in us that is imitated."""
    for turn in range(1, RUNS + 1):
        for rtt in os.environ.get("RTTS", "0 50 100 200 500 1000").split():
            ns = step_ns([*POLL, f"network={rtt},0"], ["launch", "us=0", "--mode", "stream", "--depth", "1", "--samples", "200"])
            yield {"rtt_us": rtt, "turn": turn, "step_ns": ns, "ping_pong_ns": ping_pong()}


def bucket():
    """Copies at Gbit/s that are imitated, and in a namespace whose loopback lets through what a token bucket has."""
    for turn in range(1, RUNS + 1):
        for rate in os.environ.get("GBITS", "1 2 5").split():
            slow = ["unshare", "-n", "bash", "-c", 'ip link set lo up && tc qdisc add dev lo root tbf rate "$0"gbit burst 256k '
                    'limit 64m && "$@"', rate]
            for direction in "h2d", "d2h":
                yield {"gbit_s": rate, "direction": direction, "turn": turn,
                       "imitated_ns": step_ns([*POLL, f"network=0,{rate}"], copy(direction, 5)),
                       "bucket_ns": step_ns(POLL, copy(direction, 5), before=slow)}


def ip(namespace, words):
    subprocess.run(["ip", "-n", namespace, *words.split()], check=True)


def remove_namespaces():
    for namespace in SERVER, CLIENT:
        subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL, check=False)


def make_namespaces():
    for namespace in SERVER, CLIENT:
        subprocess.run(["ip", "netns", "add", namespace], check=True)
    subprocess.run(["ip", "link", "add", "rift0", "netns", SERVER, "type", "veth", "peer", "name", "rift0", "netns", CLIENT], check=True)
    for namespace, address in (SERVER, ADDRESS), (CLIENT, "10.77.0.2"):
        ip(namespace, f"addr add {address}/24 dev rift0")
        ip(namespace, "link set rift0 up")
        ip(namespace, "link set lo up")


def mtu():
    """Copies between two network namespaces, by MTU, with segmentation offloads on and off."""
    token = f"{OUT}/token"
    remove_namespaces()
    try:
        make_namespaces()
        with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as f:
            f.write(os.urandom(24).hex() + "\n")
        # the daemon ends with its command
        daemon = subprocess.Popen(["ip", "netns", "exec", SERVER, os.environ["RIFT"], "layer", "--quiet", "remote", "transport=tcp",
                                   f"listen={ADDRESS}:{PORT}", f"token={token}", "--", "cat"], stdin=subprocess.PIPE)
        time.sleep(2)
        for turn in range(1, RUNS + 1):
            for size, offloads in (1500, "on"), (1500, "off"), (9000, "on"), (9000, "off"):
                for namespace in SERVER, CLIENT:
                    ip(namespace, f"link set rift0 mtu {size}")
                    subprocess.run(["ip", "netns", "exec", namespace, "ethtool", "-K", "rift0", "tso", offloads, "gso", offloads, "gro",
                                    offloads], stdout=subprocess.DEVNULL, check=True)
                for direction in "h2d", "d2h":
                    ns = step_ns([f"connect={ADDRESS}:{PORT}", f"token={token}"], copy(direction, os.environ.get("COPIES", 15)),
                                 before=["ip", "netns", "exec", CLIENT])
                    yield {"mtu": size, "offloads": offloads, "direction": direction, "turn": turn, "copies_gb_s": gb_s(ns),
                           "stream_gb_s": stream_alone(direction, 4 << 20, ADDRESS)}
        daemon.communicate()
    finally:
        remove_namespaces()
        if os.path.exists(token):
            os.remove(token)


# ---- programs of the vmCUDA paper -----------------------------------------------------------------


def set_loopback(size, offloads):
    """In a network namespace of its own: loopback with this MTU, with or without segmentation offloads, and up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8922, struct.pack("16si12x", b"lo", size))  # SIOCSIFMTU
        for command in 0x1f, 0x24, 0x2c:  # ETHTOOL_STSO, SGSO, SGRO by SIOCETHTOOL
            value = (ctypes.c_uint * 2)(command, offloads == "on")
            fcntl.ioctl(s, 0x8946, struct.pack("16sP8x", b"lo", ctypes.addressof(value)))
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def jumbo():
    """A step of each program at the sizes of table 1, at most 512 MiB in a wait: bare, and over TCP of a loopback of its own, by its MTU."""
    own = ["unshare", "-n" if os.getuid() == 0 else "-Urn", sys.executable, __file__, "loopback"]
    for turn in range(1, RUNS + 1):
        for name in os.environ.get("PAPER", "blackscholes binomial matmul stereo radixsort").split():
            words = [name, *os.environ.get("WORDS", "preset=vmcuda-table1").split(), "--mode", "stream", "--samples", "3", "--depth"]
            words.append({"binomial": "64", "stereo": "4", "blackscholes": "6"}.get(name, "1"))  # at most 512 MiB in a sample
            yield {"program": name, "mtu": "none", "offloads": "bare", "turn": turn, "step_ns": step_ns(None, words)}
            for size, offloads in (1500, "off"), (9000, "off"), (65536, "on"):
                yield {"program": name, "mtu": size, "offloads": offloads, "turn": turn,
                       "step_ns": step_ns(POLL, words, before=[*own, str(size), offloads])}


def larger():
    """Sets of images a hundred times, in one wait, as the paper's figure 5 has them from 64 to 1248 MiB: bare, and over TRANSPORT (shm)."""
    transport = os.environ.get("TRANSPORT", "shm")
    for turn in range(1, RUNS + 1):
        for of in os.environ.get("SETS", "4096:100 8192:100 16384:100").split():
            width, steps = of.split(":")
            for layer in None, POLL:
                said = run_once(layer, ["stereo", f"width={width}", "upload_output=1", "data=streamed", "--mode", "stream", "--depth", steps,
                                        "--samples", "1"], transport=transport)
                yield {"width": width, "steps": steps, "layer": "bare" if layer is None else transport, "turn": turn,
                       "sample_ns": said["step_ns"]["median"] * int(steps) if said else ""}


def held_kib(mark):
    """Of processes with this variable: KiB that those of clients hold for themselves and with others, and those of daemons."""
    kib = {True: 0, False: 0}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                variables = f.read().split(b"\0")
            with open(f"/proc/{pid}/status", encoding="utf-8") as f:
                held = sum(int(line.split()[1]) for line in f if line.startswith(("RssAnon", "RssShmem")))
        except OSError:
            continue
        if mark in variables:
            kib[any(v.startswith(b"LD_PRELOAD=") for v in variables)] += held
    return kib


def memory():
    """What clients that copy 256 MiB at a time, and their daemon, hold at most, by the blocks that copies travel in."""
    words = ["transfer", f"bytes={SIZE}", "host=pageable", "dir=h2d", "--depth", "1", "--samples", os.environ.get("COPIES", "40")]
    for turn in range(1, RUNS + 1):
        for size in os.environ.get("BLOCKS", "128k 1M 4M 16M 128M").split():
            for clients in os.environ.get("CLIENTS", "1 6").split():
                for shared in "no", "yes":
                    yield {"block": size, "clients": clients, "shared": shared, "turn": turn, **most_held(size, int(clients), shared, words)}


def most_held(size, clients, shared, words):
    mark = f"RIFT_ACCEPT_MEMORY={os.getpid()}"
    loop = f'for i in $(seq {clients}); do "$@" >"$0" & done; wait'
    most = {True: 0, False: 0}
    with open(f"{OUT}/log", "a", encoding="utf-8") as log:
        command = [*under([*POLL, f"block={size}", f"shared={shared}"]), "sh", "-c", loop, "/dev/null", os.environ["RIFT"], "run", *words, "--quiet"]
        with subprocess.Popen(command, env={**os.environ, **dict([mark.split("=")])}, stdin=subprocess.DEVNULL, stderr=log) as p:
            while p.poll() is None:
                now = held_kib(mark.encode())
                most = {k: max(most[k], now[k]) for k in most}
                time.sleep(0.02)
    return {"daemon_kib": most[False], "clients_kib": most[True]}


def disk():
    """A process of stereo that reads its images from files: out of the page cache, or in it; bare, and over TCP."""
    width, height = map(int, os.environ.get("PIXELS", "4096x2048").split("x"))
    row = random.Random(1).randbytes(3 * width)
    for name, shift in ("left", 0), ("right", 24):
        with open(f"{OUT}/{name}.ppm", "wb") as f:
            f.write(f"P6 {width} {height} 255\n".encode())
            for y in range(height):
                at = (y * 48 + shift) % len(row)
                f.write(row[at:] + row[:at])
            os.fsync(f.fileno())
    for turn in range(1, RUNS + 1):
        for cache in "warm", "cold":
            for layer in None, [*POLL]:
                yield {"cache": cache, "layer": "bare" if layer is None else "tcp", "turn": turn, **read_once(layer, cache)}
    for name in "left", "right":
        os.remove(f"{OUT}/{name}.ppm")


def read_once(layer, cache):
    """The process's time, its set-up, which reads the files, a step, and the MB that came from a disk."""
    for name in "left", "right":
        with open(f"{OUT}/{name}.ppm", "rb") as f:
            if cache == "cold":
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            else:
                while f.read(1 << 24):
                    pass
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock, time.monotonic()
    said = run_once(layer, ["stereo", f"left={OUT}/left.ppm", f"right={OUT}/right.ppm", "dmin=0", "upload_output=1", "data=streamed", "slots=1",
                            "--mode", "stream", "--depth", os.environ.get("DEPTH", "1"), "--samples", "1", "--check-steps", "1"])
    return {"process_ns": (time.monotonic() - begun) * 1e9 if said else "", "setup_ns": said["startup"]["setup_ns"] if said else "",
            "step_ns": said["step_ns"]["median"] if said else "",
            "read_mb": (resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock - before) * 512 / 1e6}


# Steps in a wait with which a sample copies the bytes of the paper's table 1.
PAPER = {"blackscholes": 25, "binomial": 64, "matmul": 1, "stereo": 26, "radixsort": 1}


def paper():
    """Its programs, with the words of each."""
    for name in os.environ.get("PAPER", " ".join(PAPER)).split():
        yield name, [name, *os.environ.get("WORDS", "preset=vmcuda-table1").split(), "--mode", "stream"]


def together():
    """Whole programs, several at a time: each with a processor to itself, as the paper's virtual machines have it, and with all of them."""
    for turn in range(1, RUNS + 1):
        for name, words in paper():
            words += ["--depth", str(PAPER[name]), "--samples", "1", "--check-steps", "1"]
            for programs, tied in (1, "yes"), (2, "yes"), (6, "yes"), (1, "no"), (6, "no"):
                yield {"program": name, "programs": programs, "tied": tied, "turn": turn, **run_beside(programs, tied == "yes", words)}


def run_beside(programs, tied, words):
    """Means over the programs, from the start of each to its end; "" where one fails."""
    all_of_them, begun, took, used = os.sched_getaffinity(0), {}, [], []
    for i in range(programs):
        if tied:
            os.sched_setaffinity(0, {sorted(all_of_them)[i % len(all_of_them)]})
        begin = time.monotonic()
        begun[os.posix_spawn(os.environ["RIFT"], [os.environ["RIFT"], "run", *words, "--quiet"], os.environ,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])] = begin
        os.sched_setaffinity(0, all_of_them)
    while begun:
        pid, status, usage = os.wait4(-1, 0)
        took.append((time.monotonic() - begun.pop(pid)) * 1e9 if status == 0 else None)
        used.append((usage.ru_utime + usage.ru_stime) * 1e9)
    return {"process_ns": "" if None in took else statistics.mean(took), "cpu_ns": statistics.mean(used)}


def recorded():
    """Clients that sleep while they wait for each step, under the recorder: one for 200 steps, and several for about STEP_SECONDS of steps
    (14), of which EACH seconds (1.5) are recorded, DELAY seconds (11) after their start, as CUPTI delays it by seconds. Kernels and copies are
    ns of a step, means over the clients; least_s is how long steps took that were recorded of one client, of the one with the fewest: at
    most EACH, as several take up to a second to begin recording."""
    each, delay, seconds = (float(os.environ.get(name, default)) for name, default in (("EACH", 1.5), ("DELAY", 11), ("STEP_SECONDS", 14)))
    for turn in range(1, RUNS + 1):
        for name, words in paper():
            words += ["--sync", "blocking", "--depth", "1", "--check-steps", "1", "--samples"]
            short = record(1, [*words, "200"], [])
            launches = short["launches"] / 200 if short else 0
            for clients in map(int, os.environ.get("CLIENTS", "1 2 6").split()):
                window = ["--delay", str(delay), "--duration", str(each)]
                # Kernels of several clients take turns on the GPU, so a step takes at least as long as theirs.
                expected_ns = max(short["step_ns"], clients * short["kernels"] / 200) if short else 1e9
                steps = max(200, int(seconds * 1e9 / expected_ns))
                got = short if clients == 1 else short and record(clients, [*words, str(steps)], window)
                row = {"program": name, "clients": clients, "turn": turn, **dict.fromkeys(("step_ns", "kernels", "copies", "least_s"), "")}
                if got and got["launches"]:
                    seen = got["launches"] / launches
                    row.update(step_ns=got["step_ns"], kernels=got["kernels"] / seen, copies=got["copies"] / seen,
                               least_s=got["least"] / launches * got["step_ns"] / 1e9)
                yield row


def record(clients, words, window):
    """Means over the clients of what their traces hold, and the fewest launches; None where one fails."""
    command = [os.environ["RIFT"], "profile", "--range", "timed", *window, "--runs", "0", "--json", "--quiet"]
    run = ["--", os.environ["RIFT"], "run", *words, "--json", "--quiet"]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        started = [stack.enter_context(subprocess.Popen([*command, "--output", f"{folder}/{i}.trace", *run], stdin=subprocess.DEVNULL,
                                                        stdout=subprocess.PIPE, stderr=open(f"{folder}/{i}", "wb")))
                   for i in range(clients)]
        said = []
        for i, p in enumerate(started):
            profile = load(p.communicate()[0])
            with open(f"{folder}/{i}", "rb") as f:
                text = f.read()
            ran = load(text[text.find(b"{"):text.rfind(b"}") + 1])
            if profile and ran and ran["check"]["passed"]:
                said.append([ran["step_ns"]["median"], *(profile["shares"][k]["ns"] for k in ("kernels", "copies")), profile["work"]["launches"]])
            else:
                with open(f"{OUT}/log", "ab") as log:
                    log.write(text[-2000:])
    if len(said) < clients:
        return None
    return {**dict(zip(("step_ns", "kernels", "copies", "launches"), map(statistics.mean, zip(*said)))), "least": min(s[3] for s in said)}


# Of each: what tells its cells apart, their title, the columns, what these are called, and their unit.
TABLES = {
    ping: (["rtt_us"], "round trip {} us", {"step_ns": "a launch and its wait", "ping_pong_ns": "a socket alone"}, "us", lambda ns: ns / 1e3),
    bucket: (["gbit_s", "direction"], "{} Gbit/s, {}", {"imitated_ns": "imitated", "bucket_ns": "a token bucket"}, "Gbit/s", lambda ns: 8 * gb_s(ns)),
    mtu: (["mtu", "offloads", "direction"], "MTU {}, offloads {}, {}", {"copies_gb_s": "copies", "stream_gb_s": "a socket alone"}, "GB/s", float),
    jumbo: (["program", "mtu", "offloads"], "{}, MTU {}, {}", {"step_ns": "a step"}, "ms", lambda ns: ns / 1e6),
    larger: (["width", "steps", "layer"], "images {} pixels wide, {} steps, {}", {"sample_ns": "a sample"}, "s", lambda ns: ns / 1e9),
    memory: (["block", "clients", "shared"], "blocks of {}, {} clients, shared={}", {"daemon_kib": "the daemon", "clients_kib": "the clients"}, "MiB",
             lambda kib: kib / 1024),
    together: (["program", "programs", "tied"], "{}, {} at a time, a processor each: {}", {"process_ns": "a process", "cpu_ns": "its processor time"},
               "ms", lambda ns: ns / 1e6),
    recorded: (["program", "clients"], "{}, {} clients", {"step_ns": "a step", "kernels": "kernels", "copies": "copies"}, "ms", lambda ns: ns / 1e6),
    disk: (["cache", "layer"], "files in the page cache: {}, {}", {"process_ns": "the process", "setup_ns": "its set-up", "step_ns": "a step"}, "ms", lambda ns: ns / 1e6),
}
NEEDS = {bucket: ["tc"], mtu: ["ip", "ethtool"]}


def measure(what):
    path, keys, title, columns, unit, scale = f"{OUT}/{what.__name__}.csv", *TABLES[what]
    if not os.path.exists(path):
        if what in NEEDS and (os.getuid() != 0 or not all(map(shutil.which, NEEDS[what]))):
            return print(f"{what.__name__}: not measured, it needs root, {' and '.join(NEEDS[what])}")
        with open(path + ".part", "w", encoding="utf-8", newline="", buffering=1) as f:
            writer, begun = None, time.monotonic()
            for row in what():
                if not writer:
                    writer = csv.DictWriter(f, row, lineterminator="\n")
                    writer.writeheader()
                writer.writerow(row)
                if time.monotonic() - begun > BUDGET:
                    break
        os.rename(path + ".part", path)
    with open(path, encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    for cell in dict.fromkeys(tuple(r[k] for k in keys) for r in rows):
        said = [f"{name} {spread([scale(float(r[c])) for r in rows if r[c] and tuple(r[k] for k in keys) == cell], '.4g')} {unit}"
                for c, name in columns.items()]
        print(title.format(*cell) + ": " + "; ".join(said))


def block(size):
    """Copies in blocks of so many bytes: a line of block.csv of each direction, beside a socket alone, in OUT/block-SIZE.alone."""
    d, path = load(f"block-{size}.jsonl.json"), f"{OUT}/block-{size}.alone"
    if not os.path.exists(path):
        alone = [[direction] + [stream_alone(direction, number(size)) for _ in range(RUNS)] for direction in ("h2d", "d2h")]
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(" ".join(words) + "\n" for words in alone)
    with open(path, encoding="utf-8") as f:
        alone = {words[0]: [float(v) for v in words[1:]] for words in map(str.split, f)}
    for p in d["points"]:
        r, direction, ns = p["ratio"], p["axes"].get("dir") or "h2d", p["b_step_ns"]["value"]
        ends = "," if r["lo"] is None else f"{r['lo']:.4g},{r['hi']:.4g}"
        with open(f"{OUT}/block.csv", "a", encoding="utf-8") as f:
            print(number(size), direction, ns, f"{r['value']:.4g}", ends, r["n"], f"{gb_s(ns):.4g}",
                  f"{statistics.median(alone[direction]):.4g}", sep=",", file=f)
        print(f"{size:>5}  {direction}: {ns / 1e6:.4g} ms, {r['value']:.4g} times bare ({ends}); {gb_s(ns):.3g} GB/s, "
              f"a socket alone {spread(alone[direction], n=False)}")


if sys.argv[1] in ("serve", "connect"):
    stream_end(*sys.argv[1:])
elif sys.argv[1] == "loopback":
    set_loopback(int(sys.argv[2]), sys.argv[3])
    os.execvp(sys.argv[4], sys.argv[4:])
elif sys.argv[1] == "block":
    block(sys.argv[2])
else:
    measure(globals()[sys.argv[1]])
