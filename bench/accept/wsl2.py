"""wsl2.py PRESET... - what NVIDIA's article on CUDA on WSL2 (2021) says, asked of the presets' sessions in OUT: its statements,
whose words docs/results/wsl2.md has; and with gnuplot the article's figures 1 to 4 and 8, by plots/model.gp, in OUT/charts."""
import glob
import json
import os
import shutil
import subprocess
import sys

from tables import OUT, interval, load

PRESETS = sys.argv[1:]
PLOTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "plots")
BATCHES = (16, 64, 256, 1024, 4096)

# A figure's programs, each with its workload, depth and parameters.
FIGURES = {
    1: ("pathtrace in Blender's place", [("pathtrace", "pathtrace", 1, {})]),
    2: ("Rodinia's programs", [("myocyte, a cell", "myocyte", 1, {}),
                               ("particlefilter, frames", "particlefilter", 1, {}),
                               ("particlefilter, 16 at once", "particlefilter", 16, {}),
                               ("particlefilter, 64 at once", "particlefilter", 64, {})]),
    3: ("short kernels of an aligner", [(f"alignment, depth {d}", "alignment", d, {}) for d in (1, 16, 64)]),
    4: ("mlp over the size of its batch", [(f"mlp, batch {b}", "mlp", 16, {"batch": b}) for b in BATCHES]),
    8: ("one launch and a synchronize", [("launch us=0", "launch", 1, {"us": 0})]),
}


def find(preset, workload, depth, **axes):
    """The native time of a step in us, and the ratio of that under the preset, or None."""
    own = f"-{workload}" if workload in ("mlp", "pathtrace") else ""
    for p in (load(f"{preset}{own}.jsonl.json") or {"points": []})["points"]:
        x = p["axes"]
        if (x["workload"], x["depth"]) == (workload, depth) and all(x.get(k) == v for k, v in axes.items()):
            return p["a_step_ns"]["value"] / 1000, p["ratio"]
    return None


def show(found, unit="x"):
    if not found:
        return "-"
    native, ratio = found
    ratio = {k: ratio["value"] if ratio[k] is None else ratio[k] for k in ("value", "lo", "hi")}
    if unit == "us":
        return "{:.1f} us ({:.1f} to {:.1f})".format(*(native * x for x in ratio.values()))
    return interval(ratio, form=".3f")


def statement(title, said):
    print(title)
    for preset in PRESETS:
        text = said(preset)
        if text:
            print(f"  {preset:12} {text}")


def times(title, workload, depths, unit="x", **axes):
    def said(preset):
        cells = [(d, find(preset, workload, d, **axes)) for d in depths]
        native = next((f"native {c[0]:.1f} us; " for _, c in cells if c), None)
        return native and native + "; ".join(f"depth {d}: {show(c, unit)}" for d, c in cells)
    statement(title, said)


def batches(preset):
    cells = [(b, find(preset, "mlp", 16, batch=b)) for b in BATCHES]
    return any(c for _, c in cells) and "; ".join(f"batch {b}: {show(c)}" for b, c in cells)


def packets(preset):
    path = f"{OUT}/{preset}.packets"
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            return f.read().strip()
    return None


def statements():
    times("1 pathtrace, time over native: 0.99 to 1.01 in all", "pathtrace", (1,))
    times("2 myocyte, a launch a stage: 5 to 12 in 2020, at most 1.3 in 2021", "myocyte", (1,))
    times("3 particlefilter: at most 1.1 in 2021", "particlefilter", (1, 16, 64))
    times("4 alignment of 1k pairs: at most 1.11 in 2021", "alignment", (1, 16, 64))
    statement("5 mlp, depth 16: falls as the batch grows", batches)
    times("6, 11 a launch and a synchronize: longer than native, and under wsl2-hags-async longer than under windows-hags",
          "launch", (1,), "us", us=0)
    times("7 launches of 200 us: at most 1.01 where depth hides the latency", "launch", (1, 16, 64), us=200)
    statement("8 two streams cost what one does, and a query flushes", packets)
    times("9 4 MiB allocated and freed: milliseconds in 2020, near native in 2021", "memory", (1, 16), "us", touch="no")
    times("9 the same, and written to: the wait is at first use in 2021", "memory", (1, 16), "us", touch="yes")
    times("10 launches that queue: as long under wsl2-hags-async as under windows-hags", "launch", (64,), "us", us=0)
    times("12 launches of 200 us: what wsl2-hags-async adds to a series does not grow with the depth", "launch", (1, 16, 64), "us", us=200)


def native_time(times_us):
    us = sorted(times_us)[len(times_us) // 2] if times_us else 0
    return f"{us:.1f} us" if us < 1000 else f"{us / 1000:.1f} ms"


def draw(number, title, rows, platform):
    found = [(i, p, find(p, workload, depth, **axes)) for i, (_, workload, depth, axes) in enumerate(rows, 1) for p in PRESETS]
    found = [(i, p, f[0], [f[1][k] for k in ("value", "lo", "hi")]) for i, p, f in found if f and f[1]["lo"] is not None]
    shown = [p for p in PRESETS if any(p == q for _, q, _, _ in found)]
    if len(shown) < 2:
        return print(f"figure {number}: fewer than two presets have been measured")
    charts, name = f"{OUT}/charts", f"figure-{number}"
    os.makedirs(charts, exist_ok=True)
    with open(f"{charts}/{name}.csv", "w", encoding="utf-8") as f:
        print("row,preset,ratio,from,to", file=f)
        for i, p, _, ratio in found:
            print(i, shown.index(p) + 1, *(f"{x:.4g}" for x in ratio), sep=",", file=f)
    row, preset, _, worst = max(found, key=lambda f: f[3][0])
    title = f"{title}: up to {worst[0]:.2f} times as long ({preset}, {rows[row - 1][0]})"
    def quote(text):
        return "'" + text.replace("'", "''") + "'"
    lines = [f"name = '{name}'"]
    lines += [f"row{i} = {quote(r[0])}; native{i} = {quote(native_time([us for k, _, us, _ in found if k == i]))}" for i, r in enumerate(rows, 1)]
    lines += [f"preset{i} = {quote(p)}; style{i} = {PRESETS.index(p) % 7 + 1}" for i, p in enumerate(shown, 1)]
    lines += [f"rows = {len(rows)}", f"presets = {len(shown)}", f"least = {min(r[1] for *_, r in found):.4g}",
              f"most = {max(r[2] for *_, r in found):.4g}", f"title = {quote('Model: ' + title)}",
              "finding = 'Costs that the layer emulate adds. WSL2 itself was not measured.'",
              f"made1 = {quote('rift, bench/accept.sh wsl2; ' + platform)}",
              "made2 = 'median over processes with its 95 % interval'", f"points = '{name}.csv'"]
    with open(f"{charts}/{name}.gp", "w", encoding="utf-8") as f:
        print(*lines, sep="\n", end="\n\n", file=f)
        for part in ("style.gp", "model.gp"):
            with open(f"{PLOTS}/{part}", encoding="utf-8") as g:
                print(g.read(), file=f)
    failed = subprocess.run(["gnuplot", f"{name}.gp"], cwd=charts, check=False).returncode
    print(f"figure {number}: {'not drawn' if failed else f'{charts}/{name}.png'}")


def first_header():
    for path in sorted(glob.glob(f"{OUT}/*.jsonl")):
        with open(path, encoding="utf-8") as session:
            for r in map(json.loads, session):
                if r["record"] == "header":
                    return r
    return None


statements()
header = first_header()
if header and shutil.which("gnuplot"):
    for n, (what, programs) in FIGURES.items():
        draw(n, what, programs, f"{header['gpu']['name']}, {header['start_utc'][:10]}")
