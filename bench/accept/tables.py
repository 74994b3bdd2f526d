"""tables.py TABLE [WORDS] - the tables that accept.sh prints of the files in OUT, and what its other Python files share."""
import collections
import csv
import glob
import json
import math
import os
import random
import statistics
import subprocess
import sys
from statistics import median

OUT = os.environ["OUT"]


def load(name):
    """A JSON file of OUT, or None; bytes are such a file's text."""
    try:
        if isinstance(name, bytes):
            return json.loads(name)
        with open(os.path.join(OUT, name), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def interval(v, scale=1.0, form=".4g"):
    """A value of rift's JSON, with its interval if it has one."""
    if not v or v.get("value") is None:
        return "-"
    text = f"{v['value'] * scale:{form}}"
    if v.get("lo") is not None:
        text += f" ({v['lo'] * scale:{form.replace('+', '')}} to {v['hi'] * scale:{form.replace('+', '')}})"
    return text


def spread(values, form=".3g", n=True):
    """Median, least and most."""
    if not values:
        return "failed"
    return (f"{median(values):{form}} ({min(values):{form}} to {max(values):{form}}" +
            (f", n = {len(values)})" if n else ")"))


def rank_interval(values, misses=0.05):
    """Of the median, by ranks: it misses in at most so many cases. None of fewer than six values."""
    v, n, k = sorted(values), len(values), 0
    while 2 * sum(math.comb(n, i) for i in range(k + 1)) <= misses * 2 ** n:
        k += 1
    return (v[k - 1], v[n - k]) if k else None


def last_line(name):
    with open(f"{OUT}/{name}", encoding="utf-8") as f:
        return f.read().strip().split("\n")[-1]


# ---- sessions -----------------------------------------------------------------------------------


def launch_parameters(d, names=None):
    return [p for p in d["parameters"] if p["workload"] == "launch" and p["unit"] == "ns" and (not names or p["name"] in names)]


def layer(row, name):
    """What a layer adds to launches, and the workloads' ratios: a line."""
    d = load(f"{name}.jsonl.json")
    if not d:
        return
    said = [f"{p['name']} {interval(p['difference'], form='+.0f')}" for p in launch_parameters(d)]
    said += [f"{w['workload']} x{interval(w['ratio'], form='.3f')}" for w in d["workloads"] if w["ratio"]["value"]]
    print(f"{row:15} b-a, ns: {'; '.join(said)}; {last_line(name + '.jsonl.txt')}")


def resolution(length, name):
    """Half of the 95 % intervals of b - a."""
    d = load(f"{name}.jsonl.json")
    said = [f"{p['name']} {(p['difference']['hi'] - p['difference']['lo']) / 2:.0f} ns" for p in launch_parameters(d)
            if p["difference"] and p["difference"]["lo"] is not None]
    for q in d["points"]:
        x, r = q["axes"], q["ratio"]
        if x["workload"] != "launch" and r["lo"] is not None:
            half, ns = (r["hi"] - r["lo"]) / 2, q["a_step_ns"]["value"]
            said.append(f"{x['workload']} {x.get('bytes', '')} {x['mode']} depth {x['depth']}: {ns / 1000:.2f} us, "
                        f"{100 * half:.2f} %, {half * ns:.0f} ns")
    print(f"{length} s: " + "; ".join(said) + "; " + last_line(name + ".jsonl.txt"))


def points(*files):
    files = sorted(filter(os.path.exists, files))
    if not files:
        return
    print("| session | point | bare, us a step | layer, us a step | layer over bare |\n|---|---|---|---|---|")
    for file in files:
        for p in (load(os.path.basename(file)) or {}).get("points", []):
            axes = " ".join(f"{k}={v}" for k, v in p["axes"].items() if v is not None)
            print(f"| {os.path.basename(file)[:-11]} | {axes} | {interval(p.get('a_step_ns'), 1e-3)} "
                  f"| {interval(p.get('b_step_ns'), 1e-3)} | {interval(p.get('ratio'))} |")


# ---- known costs ----------------------------------------------------------------------------------


def pair_differences(name, depth):
    """What pairs of processes differ by at a depth, ns a step. A ratio times the median of one side is something else where
    its processes are of two kinds."""
    ns = {}
    with open(f"{OUT}/{name}.jsonl", encoding="utf-8") as session:
        for r in map(json.loads, session):
            if r["record"] == "point" and r["axes"]["depth"] == depth and "summary" in r:
                ns[r["side"], r["process_index"]] = r["summary"]["t_total_ns"]["median"] / depth
    return [ns["b", i] - ns["a", i] for s, i in ns if s == "a" and ("b", i) in ns]


def found(name, *costs):
    """Costs that were added, us, to parameters or to a step at a depth, and found."""
    d = load(f"{name}.jsonl.json")
    if not d:
        return print(f"{name:14} nothing to compare")
    for what, added in zip(costs[::2], costs[1::2]):
        v, added = None, 1000 * float(added)
        if what.isdigit():
            differences = pair_differences(name, int(what))
            ends = rank_interval(differences)
            v = ends and (median(differences), *ends)
        else:
            difference = next((p["difference"] for p in d["parameters"] if p["name"] == what), None)
            v = difference and difference["lo"] is not None and [difference[k] for k in ("value", "lo", "hi")]
        if not v:
            print(f"{name:14} {what}: not identified")
            continue
        print(f"{name:14} {what}: added {added:.0f} ns, found {v[0]:.0f} ({v[1]:.0f} to {v[2]:.0f}), half-width {(v[2] - v[1]) / 2:.0f}: "
              + ("holds" if v[1] <= added <= v[2] else "misses"))


def null():
    d = load("null.jsonl.json")
    if d:
        verdicts = [p["verdict"] for p in d["points"]]
        print(f"null: {len(verdicts)} points, {sum(v in ('slower', 'faster') for v in verdicts)} findings; mean ratio "
              + interval(d["workloads"][0]["ratio"], form=".4f"))


def draw_sets(count, seed, base):
    """Random pairs of costs, us: number, call and sync of a, of b, and what b has more of a launch and of a launch and a wait."""
    draw, base = random.Random(int(seed)), int(base)
    with open(f"{OUT}/sets", "w", encoding="utf-8") as f:
        for k in range(int(count)):
            call, sync = base + draw.uniform(0, 5), base + draw.uniform(0, 20)
            more, waits = draw.uniform(0.2, 10), draw.uniform(0.5, 40)
            print(f"{k:02d} {call:.3f} {sync:.3f} {call + more:.3f} {sync + waits:.3f} {more:.3f} {more + waits:.3f}", file=f)


def spins(ns, count):
    """How often is a spin before each launch found, and called slower?"""
    verdicts, rows = [], []  # of rows: what was added, value, lo, hi, s
    for name in (f"spin-{ns}-{i + 1}" for i in range(int(count))):
        verdicts.append(int(last_line(name + ".verdict")))
        d = load(name + ".jsonl.json") or {"parameters": []}
        v = next((p["difference"] for p in d["parameters"] if p["name"] == "c" and p["difference"]), {"lo": None})
        if v["lo"] is not None:
            added = 0
            if ns != "0":
                with open(f"{OUT}/{name}.log", encoding="utf-8") as log:
                    added = statistics.mean(float(line.split()[0]) for line in log)
            rows.append((added, v["value"], v["lo"], v["hi"], float(last_line(name + ".jsonl.txt").split()[-2]) / 1000))
    n = len(rows)
    print(f"{ns} ns added: B is called slower in {verdicts.count(1)} sessions of {len(verdicts)}, {verdicts.count(2)} are inconclusive")
    if rows:
        added, value, lo, hi, took = zip(*rows)
        print(f"{ns} ns added (really {statistics.mean(added):.0f}): found {statistics.mean(value):.0f}, interval excludes 0 in "
              f"{sum(a > 0 or b < 0 for a, b in zip(lo, hi))} and holds the truth in {sum(a <= t <= b for t, a, b in zip(added, lo, hi))} of {n}; "
              f"half its width {statistics.median_low((b - a) / 2 for a, b in zip(lo, hi)):.0f} (median); "
              f"{statistics.mean(took):.1f} s a session; {len(verdicts) - n} of {len(verdicts)} sessions gave nothing")


# ---- decode ---------------------------------------------------------------------------------------


def decode(name):
    """How many times as long a token takes under a layer, and natively how many tokens a second there are."""
    d = load(f"{name}.jsonl.json")
    for p in d["points"] if d else []:
        axes = p["axes"]
        said = " ".join(str(axes.get(k, "")) for k in ("batch", "launches", "mode", "depth"))
        a = (p["a_step_ns"] or {}).get("value")
        print(f"{name:20} {said:20} {axes.get('batch', 1) * 1e9 / a if a else math.nan:>9.0f} tokens/s natively, x{interval(p['ratio'], form='.3f')}")


PRICES = {"profiler": "CUPTI", "hami-O2": "HAMi-O2", "mps": "MPS", "wsl2-2020": "../wsl2-h200/wsl2-2020", "wsl2-2021": "../wsl2-h200/wsl2-2021"}


def costs_of(row):
    """The session that has what launches cost under a row: the cell costs of OUT, else a kept one."""
    own = f"{OUT}/costs-{row}.jsonl"
    return own if os.path.exists(own) else f"{os.environ.get('COSTS', 'data/sessions/atlas-h200')}/{PRICES.get(row, row)}.jsonl.gz"


def price_blocks(work, row, *measured):
    """What `rift predict` says of both kinds of launches of a session of decode."""
    kept = costs_of(row)
    for of in ("", " launches=many"):
        said = subprocess.run([os.environ["RIFT"], "predict", work, "--from", f"{kept}:a", "--on", f"{kept}:b", *measured,
                               "--workload", "decode" + of, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
        yield from (load(said) or {"blocks": []})["blocks"]


def prices(row):
    """Of a session without a layer what a token takes under it, before it is measured there."""
    for b in price_blocks(f"{OUT}/native.jsonl", row):
        if b["b_total_ns"]:
            said = " ".join(str(b["axes"].get(k, "")) for k in ("batch", "launches", "mode", "depth"))
            print(f"{row:20} {said:20} x{b['b_total_ns'] / b['a_total_ns']:.3f}")


def predicted():
    """Of each row's session what `rift predict` says by the costs of launches, beside what was measured."""
    every, all_inside = [], 0
    for file in sorted(glob.glob(f"{OUT}/tiny-*.jsonl")):
        row = os.path.basename(file)[5:-6]
        if not os.path.exists(costs_of(row)):
            continue
        errors, inside = [], 0
        for b in price_blocks(f"{file}:a", row, "--measured", f"{file}:b"):
            if b["b_total_ns"] and b["b_measured_ns"]:
                errors.append(100 * (b["b_total_ns"] / b["b_measured_ns"] - 1))
                inside += b["b_lo_ns"] is not None and b["b_lo_ns"] <= b["b_measured_ns"] <= b["b_hi_ns"]
        if row != "none":
            every += errors
            all_inside += inside
        print(f"{row:16} {error_text(errors)}, {inside} inside the interval")
    print(f"{'all but none':16} {error_text(every)}, {all_inside} inside the interval")


def error_text(errors):
    sizes = sorted(map(abs, errors))
    if not sizes:
        return "nothing predicted"
    return (f"{len(sizes)} points: median error {median(sizes):.1f} %, 95 % below {sizes[min(len(sizes) - 1, int(0.95 * len(sizes)))]:.1f} %, "
            f"worst {max(errors, key=abs):+.1f} %")


# ---- graphs ---------------------------------------------------------------------------------------


def read_sample():
    """By length and width, the values of each column that NVIDIA's sample printed."""
    shapes, header = {}, []
    try:
        with open(f"{OUT}/sample.csv", encoding="utf-8") as f:
            for row in csv.reader(f, skipinitialspace=True):
                row = [cell.strip() for cell in row]
                if row and row[0] == "length":
                    header = row
                elif header and row and row[0].isdigit():
                    shape = shapes.setdefault((row[0], row[1]), collections.defaultdict(list))
                    for name, value in zip(header[3:], row[3:]):
                        if name and name != "blockingKernelTimeoutDetected":
                            shape[name].append(float(value))
    except OSError:
        pass
    return shapes


def sample():
    """The columns of NVIDIA's article: rift's medians with intervals, the sample's with their range."""
    columns = {"instantiation": "instantiate", "first_launch_api": "first launch call, idle", "first_launch_total": "first launch end to end",
               "repeat_launch_api": "launch call, idle", "repeat_launch_total": "launch end to end",
               "first_launch_device": "first launch device", "repeat_launch_device": "launch device", "upload_api_time": "upload call",
               "(first, held)": "first launch call", "(uploaded, held)": "first, uploaded, call"}
    grid, shapes = load("roots.json"), read_sample()
    rows = {(r.get("config"), r["name"]): r for r in grid["rows"]}
    print("length width what                   rift, us                     sample, us                   rift/sample")
    for i, config in enumerate(grid["configs"]):
        for theirs, ours in columns.items():
            r, v = rows.get((i, ours), {}), shapes.get((config["length"], config["width"]), {}).get(theirs)
            if r.get("median") is None or (shapes and not v and theirs[0] != "("):
                continue
            text = interval({"value": r["median"], "lo": r["lo"], "hi": r["hi"]})
            ratio = f"{r['median'] / median(v):.3f}" if v and median(v) else ""
            print(f"{config['length']:>6} {config['width']:>5} {theirs:22} {text:28} {spread(v, '.4g', n=False) if v else '-':28} {ratio}")


def chains():
    """What a chain more adds to the call of a repeated launch: the last width's over the first's, process by process. With 5
    processes the range is the 95 % interval of the median."""
    grid, call = load("roots.json"), collections.defaultdict(dict)
    for r in grid["rows"] if grid else []:
        if r["name"] == "launch call, idle":
            config = grid["configs"][r["config"]]
            call[int(config["length"])][int(config["width"])] = r["values"]
    for length, of in sorted(call.items()):
        few, many = min(of), max(of)
        more = [(b - a) / max(many - few, 1) for a, b in zip(of[few], of[many])]
        print(f"chains of {length:>4}: {few} to {many}, each adds {median(more):.2f} us ({min(more):.2f} to {max(more):.2f})")


# ---- remote ---------------------------------------------------------------------------------------


def fit(name, side):
    """The model of launches, from `rift fit --json` on stdin."""
    sides = (load("/dev/stdin") or {}).get("sides") or [{"parameters": {}}]
    print(f"| {name} | {side} | " + " | ".join(interval(sides[0]["parameters"].get(p), 1e-3) for p in ("c_ns", "p_ns", "z_ns")) + " |")


def networks():
    """Where a step takes 5 % longer than natively, and than under the layer alone, without a network."""
    def at(frontier, unit):
        state, value = frontier["state"], frontier["value"]
        return {"at": f"{value or 0:.3g} {unit}", "before": "the layer alone", "beyond": f"not reached at {value or 0:g} {unit}"}.get(state, "-")

    for path in sorted(glob.glob(f"{OUT}/network-*.json")):
        o = load(os.path.basename(path))
        print(f"{' '.join(o['words'])}: {o['device']}, {o['layer']}, {o['mode']}, depth {o['depth']:g}, n = {o['processes']}; natively "
              f"{1e-3 * (o['native']['step_ns'] or math.nan):.4g} us a step; time over native: median (least to most; model)")
        for cost in o["costs"]:
            unit, five = cost["unit"], next(f for f in cost["frontiers"] if f["ratio"] == 1.05)
            print(f"| {cost['name']} | " + " | ".join(f"{v['value']:g} {unit}: " + (
                "failed" if v["ratio"] is None else f"{v['ratio']:.3g} ({v['least']:.3g} to {v['most']:.3g}; {v['predicted']:.3g})")
                for v in cost["values"]) + " |")
            print(f"| {cost['name']}, 5 % longer | " + ", ".join(f"{k}: {at(five[k], unit)}" for k in ("measured", "predicted", "alone")) + " |")
        print()


# ---- share ----------------------------------------------------------------------------------------


def others():
    print(*(w["name"] for w in load("/dev/stdin")["workloads"] if w["name"] not in ("binomial", "blackscholes", "myocyte", "mlp")))


def fairness():
    """How often clients are called unfair, of records on stdin."""
    text, at, n = sys.stdin.read().strip(), 0, collections.Counter()
    while at < len(text):
        d, at = json.JSONDecoder().raw_decode(text, at)
        while at < len(text) and text[at].isspace():
            at += 1
        n.update((s["arm"], s["fairness"]) for s in d["sets"] if s["n"] > 1 and not s["not_run"])
    for (arm, said), k in sorted(n.items()):
        print(f"{arm:14} {said:14} {k}")
    if not n:
        print("not yet run")


def busy():
    """What a load adds to c, p, Z and a, and busy.csv. p is there as c may not be identified under a full load."""
    rows = []
    for load_percent, d in ((k, load(f"busy-{k}.jsonl.json")) for k in range(101)):
        for p in launch_parameters(d, "cpZa") if d else []:
            v = p["difference"] or {}
            value = [(p.get("a") or {}).get("value"), *map(v.get, ("value", "lo", "hi"))]
            rows.append([load_percent, p["name"], *("" if x is None else f"{x:.6g}" for x in value), v.get("n", 0)])
            print(f"{load_percent:>4} %  {p['name']:3} " + ("not known" if v.get("value") is None else interval(v, form="+.0f")))
    with open(f"{OUT}/busy.csv", "w", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([["load_percent", "parameter", "base", "difference", "lo", "hi", "n"], *rows])
    if not rows:
        print("not yet run")


def counters():
    """What cost() counts, and what the device's counters saw of a step (accept/counters.py)."""
    for path in sorted(glob.glob(f"{OUT}/*.counters")):
        with open(path, encoding="utf-8") as f:
            d = json.load(f)
        cost, cold = d["cost"], d["cold"] or {}
        seen = d["flops"] + sum(d["tensor_ops"].values())
        print(f"| `{d['options']}` | {d['kernel_ns'] / 1000:.4g} us | {cost['bytes_moved'] / 1e6:.4g} MB | {d['read'] / 1e6:.4g} + "
              f"{d['written'] / 1e6:.4g} | {cold.get('read', math.nan) / 1e6:.4g} + {cold.get('written', math.nan) / 1e6:.4g} | "
              f"{cost['flops'] / 1e6:.4g} Mflop | {seen / 1e6:.4g} | `{d['main']['name']}` {100 * d['main']['share']:.0f} %: "
              + ", ".join(f"{k} {v:.0f} %" for k, v in sorted(d["main"]["pipes"].items(), key=lambda i: -i[1])[:3]) + " |")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
