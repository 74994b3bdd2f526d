"""programs.py kinds|prices LAYER...|replay|retime - programs recorded on this platform: priced under layers and run there, replayed, re-timed.

The programs are the ten of bench/programs.cu, named before any was priced (PROGRAMS="NAME ..."; none), each doing its work TIMES
over (10); with WORKLOADS="NAME ...", `rift run NAME`, BLOCKS blocks of each (20); with PYTHON, a Python that has PyTorch, bench/mlp.py
as MLP says (eager graph; none), of STEPS steps (500). predict has bench/decode_torch.py as DECODE says (none), of so many tokens, of
which the range `work` alone is recorded, and SAMPLES, a folder of NVIDIA's samples built with a shared runtime. PROBE=no: no copies and
allocations are priced.
Runs with and without what is looked at take turns, as a machine changes from minute to minute; a turn has a ratio.

OUT keeps what was recorded and a line for each turn: what is there is not run again. Record on a quiet machine: kernels that were
interrupted are long in the trace."""
import json
import os
import re
import shlex
import subprocess
import sys
import time
from statistics import median

from tables import OUT, interval, load, rank_interval

RIFT, DRY = os.environ["RIFT"], os.environ.get("DRY")
BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
OWN = os.path.join(os.path.dirname(RIFT), "bench", "programs")
MS = re.compile(r"^[a-z]+: ([0-9.]+) ms", re.M)  # how programs of ours print what their work took


def setting(name, default):
    return os.environ.get(name, default)


def names(variable, default):
    value = setting(variable, default)
    return [] if value == "none" else value.split()


RUNS = int(setting("RUNS", "7"))
ONE_RANGE = ["--range", "work", "--runs", "0", "--recordings", "1"]  # of PyTorch, as starting takes longer than the work
RECORDINGS = ["--runs", str(max(RUNS, 5)), "--recordings", setting("RECORDINGS", "5")]  # the self-check takes 5 runs


def own():
    return [(name, [OWN, name, setting("TIMES", "10")])
            for name in names("PROGRAMS", "mixed host launches waits gpu streams copies pinned memory graph")]


def run(command):
    """What a command prints and how long it took in ms, or None where it fails: run.error says why. DRY only prints it."""
    run.error = "only printed"
    if DRY:
        print(shlex.join(command))
        return None
    begun = time.monotonic_ns()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    took = (time.monotonic_ns() - begun) / 1e6
    run.error = (done.stderr.strip() or f"exit code {done.returncode}").split("\n")[-1]
    return None if done.returncode else (done.stdout, took)


def keep(name, command):
    """A file of OUT that a command makes, unless it is there."""
    path = f"{OUT}/{name}"
    if not os.path.exists(path):
        for end in ".part", ".visits":
            if os.path.exists(path + end):
                os.remove(path + end)
        if not run([RIFT, *command[:1], "--quiet", "--output", path, *command[1:]]) and not DRY:
            print(f"not measured: {shlex.join(command)}: {run.error}")
    return os.path.exists(path)


def turns(name, count, measure):
    """Lines of OUT/NAME, each of a turn, which measure() makes; the missing ones are added."""
    path, lines = f"{OUT}/{name}", []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
    while len(lines) < count:
        line = measure()
        if not line:
            break
        lines.append(" ".join(line))
        with open(path, "a", encoding="utf-8") as f:
            print(lines[-1], file=f)
    return [line.split(None, 3) for line in lines]


def printed(said):
    """ms that a program of ours says that its work took: its first, or -."""
    found = MS.search(said)
    return found.group(1) if found else "-"


def rift_json(words):
    said = run([RIFT, *words, "--json"])
    return json.loads(said[0]) if said else None


# ---- predict ----------------------------------------------------------------------------------------


def stem(command):
    """build/bench/programs mixed -> programs-mixed."""
    return re.sub("[^A-Za-z0-9.-]", "-", "-".join([os.path.basename(command[0]), *command[1:]]))


def programs_to_price():
    yield from (command for _, command in own())
    for name in names("WORKLOADS", ""):
        yield [RIFT, "run", name, "--samples", setting("BLOCKS", "20")]
    for name in "BlackScholes", "binomialOptions", "simpleCudaGraphs":
        if os.access(os.path.join(setting("SAMPLES", ""), name), os.X_OK):
            yield [os.path.join(setting("SAMPLES", ""), name)]
    if setting("PYTHON", ""):
        python, steps = setting("PYTHON", ""), setting("STEPS", "500")
        yield from ([python, os.path.relpath(f"{BENCH}/mlp.py"), kind] for kind in names("MLP", "eager graph"))
        yield from ([python, os.path.relpath(f"{BENCH}/decode_torch.py"), "tiny", "1", steps, kind] for kind in names("DECODE", "none"))


def how_recorded(command):
    return ONE_RANGE if any(word.endswith("decode_torch.py") for word in command) else RECORDINGS


def kinds():
    print("== kinds\nwall times in ms; off by: re-timed over the median of those without the recorder")
    print(f"{'program':28} {'kind':18} {'recorded':>9} {'re-timed':26} {'without':26} {'off by':>7}  self-check")
    for command in programs_to_price():
        trace = f"{stem(command)}.trace"
        d = keep(trace, ["profile", *how_recorded(command), "--", *command]) and rift_json(["profile", f"{OUT}/{trace}"])
        if d:
            sides = [{k: d[side][f"{k}_ns"] for k in ("value", "lo", "hi")} for side in ("predicted", "without_recorder")]
            off = f"{100 * (sides[0]['value'] / sides[1]['value'] - 1):+.1f}%" if sides[1]["value"] else "-"
            said = [interval(side, 1e-6, ".0f") for side in sides]
            print(f"{stem(command):28} {d['verdict']:18} {d['recorded_ns'] / 1e6:9.0f} {said[0]:26} {said[1]:26} {off:>7}  {d['self_check']}")


def beside(layer, command):
    """Wall time without the layer and under it, ms, and what a program of ours printed of its work."""
    bare, under = run(command), run([RIFT, "layer", "--quiet", *layer.split(), "--", *command])
    ours = OWN in command or any(word.endswith(".py") for word in command)
    return bare and under and [f"{bare[1]:g}", f"{under[1]:g}", *(printed(said[0]) if ours else "-" for said in (bare, under))]


def price(under, layer, programs):
    """A layer's prices beside what was measured under it. What starts differ by is measured with a program that does nothing else,
    and taken off those that print no time of their work; to the others, what B adds to the process is added. What the prices add to
    the start by themselves is taken off. For each price: is the measured median inside its interval, and how wide is that?"""
    keep(f"{under}.jsonl", ["sweep", "launch", *setting("SWEEP", "--quick").split(), "--layer", layer])
    costs = []
    if setting("PROBE", "yes") == "yes":
        keep(f"{under}.json", ["probe", "--layer", layer, "--native", f"{OUT}/{under}.native.json"])
        costs = ["--from-costs", f"{OUT}/{under}.native.json", "--costs", f"{OUT}/{under}.json"]
    starts = turns(f"start.{under}.ms", 3 * RUNS, lambda: beside(layer, [OWN, "start"])) if os.access(OWN, os.X_OK) else []
    start = median(float(t[1]) for t in starts) - median(float(t[0]) for t in starts) if starts else 0
    print(f"{under} adds {start:g} ms to the start of a process")
    for command in programs:
        name = stem(command)
        taken = turns(f"{name}.{under}.ms", RUNS, lambda c=command: beside(layer, c))
        d = rift_json(["predict", f"{OUT}/{name}.trace", "--from", f"{OUT}/{under}.jsonl:a", "--on", f"{OUT}/{under}.jsonl:b", *costs])
        if not d or not taken:
            print(f"{name:28} {under:16} {'does not run there' if d else f'no price: {run.error}'}")
            continue
        work = all(t[2] != "-" and t[3] != "-" for t in taken)
        pairs = [(float(t[2]), float(t[3])) if work else (float(t[0]), float(t[1]) - start) for t in taken]
        on_a, on_b = (median(p[side] for p in pairs) for side in (0, 1))
        ratios = sorted(b / a for a, b in pairs)
        a, more = d["a"]["value_ns"], d.get("start_longer_ns") or 0
        b, b_lo, b_hi = ((d["b"][f"{k}_ns"] or d["b"]["value_ns"]) - more for k in ("value", "lo", "hi"))  # a part has no interval
        priced, lo, hi = (1 + (ns - a) / (1e6 * on_a) if work else ns / a for ns in (b, b_lo, b_hi))
        meet = "they meet" if lo <= ratios[-1] and ratios[0] <= hi else "apart"
        print(f"{name:28} {under:16} {priced:6.3f} {lo:5.3f} to {hi:<6.3f} {median(ratios):6.3f} {ratios[0]:5.3f} to {ratios[-1]:<6.3f} "
              f"{100 * (priced / median(ratios) - 1):+6.1f}% {100 * ((on_a + (b - a) / 1e6) / on_b - 1):+6.1f}%    "
              f"{meet}{', copies are doubtful' if d.get('slow_copies') else ''}")
        yield lo <= median(ratios) <= hi, (b_hi - b_lo) / 2 / b > 0.15


def prices(layers):
    """Layers are the words of rift layer, or NAME=WORDS."""
    print("== prices\ntimes on B for one on A: priced with its 95 % interval, measured with the range of its turns")
    print("errors: of that ratio, and of what B adds, where the machine was slower than when it was recorded")
    print(f"{'program':28} {'layer':16} {'priced':22} {'measured':22} {'ratio':>7} {'added':>7}")
    said = []
    for layer in layers:
        name, words = layer.split("=", 1) if "=" in layer.split()[0] else (stem(layer.split()), layer)
        said += price(name, words, programs_to_price())
    print(f"{sum(inside for inside, _ in said)} of {len(said)} measured medians are inside the price's interval; "
          f"{sum(wide for _, wide in said)} intervals are wider than 15 % on either side")


# ---- replay -----------------------------------------------------------------------------------------


def replayed(trace, part):
    """ns of a step of a replay, and of one in the program where the trace says it."""
    d = rift_json(["run", "replay", f"trace={trace}", f"part={part}", "--samples", "3"])
    program = next((1e3 * m["value"] for m in d["report"] if m["name"] == "without the recorder"), None) if d else None
    return (d["step_ns"]["median"], program) if d else None


def replay():
    """How far a replay is off the program's own time. re-timed: the trace without the recorder. whole: a step is all of the trace, in
    every third turn, as it takes six times as long. period: a step is a period."""
    print(f"{'program':10} {'program, ms (range)':26} {'re-timed, ms':>12} {'error':>8} {'whole, ms':>12} {'error':>8} "
          f"{'period, us':>14} {'replayed, us':>14} {'error':>8}")
    for name, command in own():
        trace = f"{OUT}/{name}.trace"
        if not keep(f"{name}.trace", ["profile", *RECORDINGS, "--", *command]) or DRY:
            continue
        program, whole, period = [], [], []
        for turn in range(RUNS):
            program.append(float(printed(run(command)[0])))
            whole += [replayed(trace, "whole")] if turn % 3 == 0 else []
            period.append(replayed(trace, "auto"))
        ms, wanted, step = median(program), period[0][1] or 0, median(p[0] for p in period)
        retimed, all_of_it = (whole[0][1] or 0) / 1e6, median(w[0] for w in whole) / 1e6

        def off(a, b):
            return f"{100 * (a / b - 1):+.1f}%" if a and b else "-"
        print(f"{name:10} {f'{ms:g} ({min(program):g} to {max(program):g})':26} {retimed:12.2f} {off(retimed, ms):>8} {all_of_it:12.2f} "
              f"{off(all_of_it, ms):>8} {wanted / 1e3:14.2f} {step / 1e3:14.2f} {off(step, wanted):>8}")


# ---- retime -----------------------------------------------------------------------------------------

HOST_RUNS = setting("HOST_RUNS", "")
SUFFIX = f".host-{HOST_RUNS}" if HOST_RUNS else ""  # of files, as turns of both kinds are no one sample


def retimed_turn(name, recorded, ranged, ms_of, command):
    """A turn: ms without the recorder, recorded, re-timed, the kind; with host runs, what these took."""
    trace = f"{OUT}/{name}{SUFFIX}.trace"
    bare = run(command)
    if os.path.exists(trace):
        os.remove(trace)
    what = ["--ranges", "--host-runs", HOST_RUNS] if HOST_RUNS else ["--range", recorded]
    said = run([RIFT, "profile", "--quiet", "--runs", "0", "--recordings", "1", *what, "--output", trace, "--", *command])
    d = rift_json(["profile", trace]) if bare and said else None
    r = next((r for r in d["ranges"] if r["name"] == ranged), None) if d else None
    hosts, ms = int(HOST_RUNS or 0), ms_of(bare[0]) if bare else "-"
    if ms == "-" or not r or not r["retimed_ns"] or (hosts and not d.get("host_runs", {}).get("gaps")):  # host runs that tell nothing are a turn of another kind
        return None if DRY else print(f"not measured: {shlex.join(command)}: {run.error}", file=sys.stderr)
    line = [str(ms), str(r["ns"] / 1e6), str(r["retimed_ns"] / 1e6), d["verdict"] or "-"]
    if hosts:
        took = [float(ms) for ms in MS.findall(said[0])][1:]
        line.append(f"{sum(took) / hosts:.3f}" if len(took) == hosts else "-")
    return line


def retime():
    """How far a re-timed trace is off what the program takes by itself, by TURNS turns (15). A program times its work itself, and names
    it by a range of NVTX. HOST_RUNS=N: the whole program is recorded, and N runs with calls alone say how long the host takes; 0: the
    whole program, and no such runs; otherwise the range alone. Re-timed over what host runs say that they took is a check of the joining."""
    programs = [(name, "work", "work", printed, command) for name, command in own()]
    programs += [(f"run-{name}", "timed", "block", lambda said: 1e-6 * sum(json.loads(said)["blocks"]["t_total_ns"]),
                  [RIFT, "run", name, "--samples", setting("BLOCKS", "20"), "--json", "--quiet"]) for name in names("WORKLOADS", "")]
    if setting("PYTHON", ""):
        programs += [(f"mlp-{kind}", "work", "work", printed, [setting("PYTHON", ""), f"{BENCH}/mlp.py", kind, setting("STEPS", "500")])
                     for kind in names("MLP", "eager graph")]
    print(f"{'program':24} {'n':>3} without, ms (range)   recorded   re-timed, ms   off by (95 %)   kind   off the host runs by (range)")
    for name, *how in programs:
        rows = turns(f"{name}{SUFFIX}.turns", int(setting("TURNS", "15")), lambda n=name, h=how: retimed_turn(n, *h))
        if not rows:
            print(f"{name:24} not measured")
            continue
        bare, recorded, retimed = ([float(r[k]) for r in rows] for k in range(3))
        off = [100 * (b / a - 1) for a, b in zip(bare, retimed)]
        ends, rest = rank_interval(off), [r[3].split() for r in rows]
        light = [100 * (b / float(r[1]) - 1) for b, r in zip(retimed, rest) if len(r) > 1 and r[1] != "-"]
        within = f"({ends[0]:+.1f} to {ends[1]:+.1f} %)" if ends else ""
        print(f"{name:24} {len(rows):3} {median(bare):9.2f} ({min(bare):.2f} to {max(bare):.2f})  {median(recorded):9.2f} {median(retimed):9.2f}"
              f"  {median(off):+6.1f} % {within:22} {', '.join(sorted({r[0] for r in rest}))}"
              + (f"  n = {len(light)}: {median(light):+.1f} % ({min(light):+.1f} to {max(light):+.1f})" if light else ""))


if names("PROGRAMS", "all") and not os.access(OWN, os.X_OK) and not DRY:
    sys.exit(f"programs.py: {OWN} is missing; DEVICE=cuda tools/build.sh bench builds it")
{"kinds": kinds, "prices": lambda: prices(sys.argv[2:]), "replay": replay, "retime": retime}[sys.argv[1]]()
