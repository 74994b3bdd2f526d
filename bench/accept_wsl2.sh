#!/bin/bash
# accept_wsl2.sh RIFT [OUT] - what NVIDIA's article on CUDA on WSL2 (2021) tells of its generations,
# asked of the presets of the layer emulate: nine statements, each with figures and whether it holds.
# Every preset is sessions of pairs, native beside it: pathtrace, other programs, and mlp apart, since
# a process that has loaded cuBLAS lets nothing wait in packets. bench/packets, which the build makes,
# is for streams and queries. PRESETS, OPTIONS and CELLS="pathtrace programs mlp packets" choose.
# OUT keeps the sessions; what is there already is not measured again. With gnuplot, OUT/charts gets
# the article's figures 1 to 4 and 8 as the presets have them.
# docs/results/wsl2.md holds the statements' words and what came out.
set -u
rift=$(realpath "${1:?usage: accept_wsl2.sh RIFT [OUT]}")
out=${2:-results/wsl2}
options=${OPTIONS:---mode stream --processes 5 --rounds 5}
presets=${PRESETS:-native wddm-packet wsl2-2020 wsl2-2021 wsl2-hags hami vmcuda-tcp}
mkdir -p "$out"

# pathtrace in Blender's place: kernels of tens of milliseconds. myocyte as the original calls it: the
# host decides, a launch a stage, one cell. particlefilter as Rodinia's benchmark: 1000 particles,
# four launches a frame.
pathtrace=${PATHTRACE:-pathtrace samples=1k --depth 1}
programs=${PROGRAMS:-launch launch.us=0,200 memory memory.bytes=4M memory.touch=no,yes
	myocyte myocyte.cells=1 myocyte.control=host myocyte.granularity=stage
	particlefilter particlefilter.particles=1000 particlefilter.granularity=split
	alignment alignment.pairs=1k --depth 1,16,64}
mlp=${MLP:-mlp batch=16,64,256,1k,4k launches=many --depth 16}

measure() { # NAME PRESET WORDS...
	local name=$out/$1.jsonl preset=$2
	shift 2
	if ! [ -s "$name" ]; then
		rm -f "$name"*
		# shellcheck disable=SC2086
		timeout 200 "$rift" sweep "$@" $options --layer "emulate preset=$preset" --quiet \
			--output "$name" >"$name.txt" 2>&1 </dev/null
	fi
	"$rift" compare "$name" --json >"$name.json" 2>/dev/null </dev/null || [ -s "$name.json" ]
}

for preset in $presets; do
	for cell in ${CELLS:-pathtrace programs mlp packets}; do
		# shellcheck disable=SC2086
		case $cell in
		pathtrace) measure "$preset-pathtrace" "$preset" $pathtrace ;;
		programs) measure "$preset" "$preset" $programs ;;
		mlp) measure "$preset-mlp" "$preset" $mlp ;;
		packets)
			[ -s "$out/$preset.packets" ] ||
				"$rift" layer --quiet emulate "preset=$preset" -- \
					"$(dirname "$rift")/bench/packets" >"$out/$preset.packets" 2>&1
			;;
		*) echo "CELLS: pathtrace, programs, mlp, packets" >&2 && exit 1 ;;
		esac
	done
done
# shellcheck disable=SC2086
python3 - "$out" "$(dirname "$0")/../plots" $presets <<'END'
import json, os, shutil, subprocess, sys
out, plots, presets = sys.argv[1], sys.argv[2], sys.argv[3:]

def points(name):
    try:
        return json.load(open(f"{out}/{name}.jsonl.json"))["points"]
    except (OSError, ValueError):
        return []

# The native time of a step, us, and that under the preset over it, with its interval.
def find(preset, workload, depth, **axes):
    for p in points(preset + ("-" + workload if workload in ("mlp", "pathtrace") else "")):
        x = p["axes"]
        if (x["workload"], x["depth"]) == (workload, depth) and all(x.get(k) == v for k, v in axes.items()):
            r = p["ratio"]
            return p["a_step_ns"]["value"] / 1000, r["value"], r["lo"], r["hi"]
    return None

def show(v, what="x"):
    if v is None:
        return "-"
    native, r, lo, hi = v
    if lo is None:
        lo = hi = r
    if what == "us":
        return f"{native * r:.1f} us ({native * lo:.1f} to {native * hi:.1f})"
    return f"{r:.3f} ({lo:.3f} to {hi:.3f})"

def row(title, cells):
    print(title)
    for preset in presets:
        text = cells(preset)
        if text:
            print(f"  {preset:12} {text}")

def statement(title, workload, depths, what="x", **axes):
    def cells(p):
        v = [find(p, workload, d, **axes) for d in depths]
        if any(v):
            native = next(x for x in v if x)[0]
            return f"native {native:.1f} us; " + "; ".join(f"depth {d}: {show(x, what)}" for d, x in zip(depths, v))
    row(title, cells)

statement("1 pathtrace, time over native: 0.99 to 1.01 in all", "pathtrace", (1,))
statement("2 myocyte, a launch a stage: 5 to 12 in 2020, at most 1.3 in 2021", "myocyte", (1,))
statement("3 particlefilter: at most 1.1 in 2021", "particlefilter", (1, 16, 64))
statement("4 alignment of 1k pairs: at most 1.11 in 2021", "alignment", (1, 16, 64))
def mlp(p):
    v = [(b, find(p, "mlp", 16, batch=b)) for b in (16, 64, 256, 1024, 4096)]
    if any(x for _, x in v):
        return "; ".join(f"batch {b}: {show(x)}" for b, x in v)
row("5 mlp, depth 16: falls as the batch grows", mlp)
statement("6 a launch and a synchronize: native < hags < 2021 < 2020", "launch", (1,), "us", us=0)
statement("7 launches of 200 us: at most 1.01 where depth hides the latency", "launch", (1, 16, 64), us=200)
def packets(p):
    try:
        return open(f"{out}/{p}.packets").read().strip()
    except OSError:
        return None
row("8 two streams cost what one does, and a query flushes", packets)
statement("9 4 MiB allocated and freed: milliseconds in 2020, near native in 2021", "memory", (1, 16), "us", touch="no")
statement("9 the same, and written to: the wait is at first use in 2021", "memory", (1, 16), "us", touch="yes")

# ---- the article's figures, drawn by plots/model.gp ----

# What a figure shows: programs, each with its workload, depth and parameters.
figures = {
    1: ("pathtrace in Blender's place", [("pathtrace", "pathtrace", 1, {})]),
    2: ("Rodinia's programs", [("myocyte, a cell", "myocyte", 1, {}),
                               ("particlefilter, frames", "particlefilter", 1, {}),
                               ("particlefilter, 16 at once", "particlefilter", 16, {}),
                               ("particlefilter, 64 at once", "particlefilter", 64, {})]),
    3: ("short kernels of an aligner", [(f"alignment, depth {d}", "alignment", d, {}) for d in (1, 16, 64)]),
    4: ("mlp over the size of its batch", [(f"mlp, batch {b}", "mlp", 16, {"batch": b})
                                           for b in (16, 64, 256, 1024, 4096)]),
    8: ("one launch and a synchronize", [("launch us=0", "launch", 1, {"us": 0})]),
}

# Row, preset, time over native with its interval, native us, of all presets that have been measured.
def figure_points(rows):
    for i, (_, workload, depth, axes) in enumerate(rows, 1):
        for p in presets:
            v = find(p, workload, depth, **axes)
            if v and v[2] is not None:
                yield i, p, v[1:], v[0]

def native_time(drawn, row):
    all = sorted(us for i, _, _, us in drawn if i == row)
    us = all[len(all) // 2] if all else 0
    return f"{us:.1f} us" if us < 1000 else f"{us / 1000:.1f} ms"

def draw(number, title, rows):
    drawn = list(figure_points(rows))
    shown = [p for p in presets if any(q == p for _, q, _, _ in drawn)]
    if len(shown) < 2:
        return print(f"figure {number}: fewer than two presets have been measured")
    name = f"figure-{number}"
    with open(f"{charts}/{name}.csv", "w") as f:
        print("row,preset,ratio,from,to", file=f)
        for i, p, ratio, _ in drawn:
            print(i, shown.index(p) + 1, *(f"{x:.4g}" for x in ratio), sep=",", file=f)
    quote = lambda text: "'" + text.replace("'", "''") + "'"
    lines = [f"name = '{name}'"]
    lines += [f"row{i} = {quote(r[0])}; native{i} = {quote(native_time(drawn, i))}"
              for i, r in enumerate(rows, 1)]
    lines += [f"preset{i} = {quote(p)}; style{i} = {presets.index(p) % 7 + 1}" for i, p in enumerate(shown, 1)]
    lines += [f"rows = {len(rows)}", f"presets = {len(shown)}",
              f"least = {min(r[1] for _, _, r, _ in drawn):.4g}", f"most = {max(r[2] for _, _, r, _ in drawn):.4g}",
              f"title = {quote('Model: ' + title)}",
              "finding = 'Costs that the layer emulate adds. WSL2 itself was not measured.'",
              f"made1 = {quote('rift, bench/accept_wsl2.sh; ' + platform)}",
              "made2 = 'median over processes with its 95 % interval'", f"points = '{name}.csv'"]
    with open(f"{charts}/{name}.gp", "w") as f:
        f.write("\n".join(lines) + "\n\n")
        for part in ("style.gp", "model.gp"):
            f.write(open(f"{plots}/{part}").read() + "\n")
    failed = subprocess.run(["gnuplot", f"{name}.gp"], cwd=charts).returncode
    print(f"figure {number}: {'not drawn' if failed else f'{charts}/{name}.png'}")

def first_header():
    for name in sorted(os.listdir(out)):
        if name.endswith(".jsonl"):
            for line in open(f"{out}/{name}"):
                r = json.loads(line)
                if r.get("record") == "header":
                    return r

header = first_header()
if header and shutil.which("gnuplot"):
    charts = f"{out}/charts"
    os.makedirs(charts, exist_ok=True)
    platform = f"{header['gpu']['name']}, {header['start_utc'][:10]}"
    for number, (title, rows) in figures.items():
        draw(number, title, rows)
END
