"""holds.py RIFT FOLDER [CHARTS] - what a launch and its wait take more while a process holds memory,
streams, events or modules, under each layer: from the sessions FOLDER/holds-ROW.jsonl, compressed or
not, that bench/accept.sh holds takes, all with the same things. It prints a table and how
long single blocks were. With CHARTS and gnuplot it draws holds.png there, data and script beside it.

Every process measures all combinations of what can be held. What one thing adds is, in a process,
the median over the combinations of the others of the time with it less the time without it; then
the median over processes, with its 95 % interval. All at once is against nothing."""
import glob
import gzip
import json
import os
import random
import shutil
import subprocess
import sys

KINDS = ["pinned", "mapped", "device", "streams", "events", "modules"]
HELD = []  # those that the sessions vary
ROWS = ["none", "shim", "container", "cpu-50", "cpu-100", "mps", "profiler", "hami-O0", "hami-O2",
        "vgpu-manager", "nvshare", "xsched", "remote", "lupine", "neighbour-copy",
        "neighbour-launch", "neighbour-spin"]
BARE = "no layer"
DRAWS = 5000


def median(values):
    v = sorted(values)
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


def interval(values):
    """Median, and its 95 % interval by bootstrap, as `rift compare` has it (docs/guide/concepts.md)."""
    draw = random.Random(1)
    drawn = sorted(median(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    return median(values), drawn[DRAWS // 40], drawn[-1 - DRAWS // 40]


def held(axes):
    """What is held at a point, in the order of HELD."""
    return tuple(bool(axes["hold_" + kind]) for kind in HELD)


def nothing():
    return (False,) * len(HELD)


def everything():
    return (True,) * len(HELD)


class Session:
    def __init__(self, path):
        self.path = path
        self.row = os.path.basename(path)[len("holds-"):].split(".jsonl")[0]
        self.processes = {"a": {}, "b": {}}  # by index: by what is held, median time of a block in ns
        self.blocks = {"a": [], "b": []}  # what is held, time of each block in ns
        self.amounts = {}
        self.header = None
        for line in (gzip.open if path.endswith(".gz") else open)(path, "rt"):
            self.read(json.loads(line))

    def read(self, r):
        if r["record"] == "header":
            self.header = self.header or r
        if r["record"] != "point" or r["status"] != "ok":
            return
        if "axes" not in r:
            sys.exit(f"holds.py: {self.row}: is thinned; this needs single blocks, so the session as it was recorded")
        if not HELD:
            HELD.extend(k for k in KINDS if "hold_" + k in r["axes"])
        here = held(r["axes"])
        process = self.processes[r["side"]].setdefault(r["process_index"], {})
        process[here] = r["summary"]["t_total_ns"]["median"]
        self.blocks[r["side"]] += [(here, t) for t in r["t_total_ns"]]
        for kind in HELD:
            self.amounts[kind] = max(self.amounts.get(kind, 0), r["axes"]["hold_" + kind])

    def compared(self, rift):
        """The time of side b with nothing held, and b over a."""
        said = subprocess.run([rift, "compare", self.path, "--json"], stdout=subprocess.PIPE, text=True)
        for p in json.loads(said.stdout)["points"]:
            if held(p["axes"]) == nothing():
                return p["b_step_ns"], p["ratio"]
        sys.exit(f"holds.py: {self.path}: no point with nothing held")


def adds(process, kind):
    i = HELD.index(kind)
    return median([t - process[h[:i] + (False,) + h[i + 1:]] for h, t in process.items() if h[i]])


def whole(processes):
    """Those that have measured all combinations: a layer may refuse some."""
    return [p for p in processes if len(p) == 2 ** len(HELD)]


def costs(processes):
    """How many processes, and in us: of each kind, and of all at once; none where all is refused."""
    processes = whole(processes)
    if not processes:
        return 0, []
    ns = [interval([adds(p, kind) for p in processes]) for kind in HELD]
    if len(HELD) > 1:
        ns.append(interval([p[everything()] - p[nothing()] for p in processes]))
    return len(processes), [[x / 1e3 for x in v] for v in ns]


def amount(kind, n):
    if kind in ("streams", "events", "modules"):
        return f"{n} {kind}"
    return f"{n >> 30} GiB {kind}" if n >= 1 << 30 else f"{n >> 20} MiB {kind}"


def signed(v):
    return f"{v[0]:+.2f} ({v[1]:.2f} to {v[2]:.2f})"


def print_table(heads, rows):
    columns = ["layer", "nothing held", "times as long"] + heads + ["all at once"] * (len(heads) > 1)
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for name, n, wait, ratio, v in rows:
        cells = map(signed, v) if v else ["refused"] * (len(columns) - 3)
        print(f"| {name}, n = {n} | {wait} | {ratio} | " + " | ".join(cells) + " |")


def print_blocks(sessions):
    """A median does not show a few long waits. The last of what is held is told apart."""
    print(f"\nblocks over twice the median of their side, in per cent with and without {HELD[-1]}; the longest")
    for s in sessions:
        said = []
        for side, blocks in s.blocks.items():
            limit = 2 * median([t for _, t in blocks])
            share = [100 * sum(t > limit for t in part) / max(1, len(part)) for part in
                     ([t for h, t in blocks if h[-1] == e] for e in (True, False))]
            said.append(f"side {side}: {share[0]:.2f}, {share[1]:.2f} of {len(blocks)}, "
                        f"{max(t for _, t in blocks) / 1e6:.1f} ms")
        print(f"{s.row:17}{'; '.join(said)}")


def draw(charts, heads, rows, header):
    os.makedirs(charts, exist_ok=True)
    plots = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plots")
    with open(f"{charts}/holds-cells.csv", "w", encoding="utf-8") as f:
        print("panel,row,value,lo,hi,resolved,processes,unit,what,state,name", file=f)
        for k, head in enumerate(heads):
            for i, (name, n, _, _, v) in enumerate(rows):
                known = int(v[k][1] * v[k][2] > 0)
                print(k + 1, i, *(f"{x:.4g}" for x in v[k]), known, n, "µs", head,
                      "known" if known else "not resolved", f'"{name}"', sep=",", file=f)
    far = 1.05 * max(abs(x) for row in rows for v in row[4][:len(heads)] for x in v)
    lines = ["# holds.gp - draws holds.png and holds.svg from the data beside it: gnuplot holds.gp (5.2 or newer)",
             "name = 'holds'", "title = 'what a launch and its wait take more while the process holds this'",
             "finding = 'µs more, with 95 % intervals over processes; hollow: not resolved'",
             f"made1 = '{header['gpu']['name']}, {header['start_utc'][:10]}, launch us=0, depth 1'",
             "made2 = 'left: the wait with nothing held; no layer: the bare sides of all sessions'",
             f"rows = {len(rows)}", f"panels = {len(heads)}", "words = 0", "cells = 'holds-cells.csv'"]
    lines += [f"row{i} = '{name}, {wait.split(' (')[0].replace('us', 'µs')}'"
              for i, (name, _, wait, _, _) in enumerate(rows, 1)]
    for k, head in enumerate(heads, 1):
        lines.append(f"head{k} = '{head}'; own{k} = ''; nothing{k} = 0; least{k} = {-far:.3g}; "
                     f"most{k} = {far:.3g}; step{k} = 2")
    with open(f"{charts}/holds.gp", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n\n")
        for part in ("style.gp", "atlas.gp"):
            f.write(open(f"{plots}/{part}", encoding="utf-8").read() + "\n")
    failed = subprocess.run(["gnuplot", "holds.gp"], cwd=charts).returncode
    print(f"\n{charts}/holds.png" + (": not drawn" if failed else ""))


def time(value, lo, hi):
    unit, ns, digits = ("us", 1e3, 1) if value < 1e6 else ("ms", 1e6, 3)
    return f"{value / ns:.{digits}f} {unit} ({lo / ns:.{digits}f} to {hi / ns:.{digits}f})"


def of(v):
    """The three figures of an interval of `rift compare`."""
    return v["value"], v["lo"], v["hi"]


def main():
    rift, folder = sys.argv[1:3]
    paths = glob.glob(f"{folder}/holds-*.jsonl") + glob.glob(f"{folder}/holds-*.jsonl.gz")
    sessions = sorted(map(Session, paths), key=lambda s: (ROWS + [s.row]).index(s.row))
    if not sessions:
        sys.exit(f"holds.py: {folder}: no session holds-ROW.jsonl")
    heads = [amount(kind, n) for kind, n in sessions[0].amounts.items()]
    bare = [p for s in sessions for p in s.processes["a"].values()]
    n, v = costs(bare)
    if not n:
        sys.exit("holds.py: no process has measured all combinations of what can be held")
    rows = [(BARE, n, time(*interval([p[nothing()] for p in bare if nothing() in p])), "1", v)]
    for s in sessions:
        wait, ratio = s.compared(rift)
        n, v = costs(s.processes["b"].values())
        rows.append((s.row, n, time(*of(wait)), "{:.2f} ({:.2f} to {:.2f})".format(*of(ratio)), v))
    print_table(heads, rows)
    print_blocks([s for s in sessions if whole(s.processes["b"].values())])
    if len(sys.argv) > 3 and shutil.which("gnuplot"):
        draw(sys.argv[3], heads, [r for r in rows if r[4]], sessions[0].header)


main()
