"""counters.py OPTIONS OF rift run... - what a step's kernels moved and computed by the device's counters, read by ncu, beside
what cost() counts. Prints one line of JSON. Clocks and caches are left alone.

ncu looks at the first launches of a process, which are of its warm-up, and then ends it: later ones may be fused launches of many
steps. It runs a kernel several times for its counters. Kernels that run once in many steps (a reset) are left out: only those that
ran in at least a quarter of the steps count, each by its median. "cold" is of the first two steps, the rest of later ones."""
import collections
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

RIFT = os.environ["RIFT"]
LAUNCHES = int(os.environ.get("LAUNCHES", "240"))  # that are looked at, from a process's first
NCU = ["ncu", "--clock-control", "none", "--cache-control", "none"]
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
# Operations in half precision are not among them: compilers load constants by such instructions.
FLOPS = {SASS.format(p + op): 2 if op == "fma" else 1 for p in "df" for op in ("add", "mul", "fma")}
BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum")
TIME = "gpu__time_duration.sum"


def known():
    """Names of this device's metrics, without their endings."""
    out = subprocess.run(["ncu", "--query-metrics", "--chip", os.environ.get("CHIP", "gh100")], capture_output=True, text=True).stdout
    return {line.split()[0] for line in out.splitlines() if line.strip()}


def wanted(names):
    """What is asked for: operations of tensor cores, and how busy each pipe is, only as far as the device counts them."""
    tensor = [n + ".sum" for n in sorted(names) if n.startswith("sm__ops_path_tensor_src") and "sparsity_on" not in n]
    pipes = [f"sm__inst_executed_pipe_{p}.avg.pct_of_peak_sustained_active" for p in ("alu", "fma", "fp64", "fp16", "xu", "lsu", "tensor")
             if f"sm__inst_executed_pipe_{p}" in names]
    return tensor, pipes


def rows(arguments, metrics):
    """For each launch that ncu saw: its kernel and its metrics."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "ncu.csv")
        done = subprocess.run([*NCU, "--metrics", ",".join(metrics), "--print-units", "base", "--csv", "-c", str(LAUNCHES),
                               "--kill", "yes", "--log-file", log, RIFT, "run", *arguments], capture_output=True, text=True)
        text = open(log, encoding="utf-8").read() if os.path.exists(log) else ""
        lines = [line for line in text.splitlines() if line.startswith('"')]
        if len(lines) < 2:
            sys.exit(f"ncu: {done.stderr.strip()[-300:]} {text[-300:]}")
    launches = {}
    for r in csv.DictReader(lines):
        kernel = launches.setdefault(int(r["ID"]), {"name": r["Kernel Name"].split("(")[0][:80]})
        kernel[r["Metric Name"]] = float(r["Metric Value"].replace(",", ""))
    return [launches[i] for i in sorted(launches)]


def of_steps(launches, per_step):
    """The launches that belong to steps, by the kernels that most of them are."""
    count = collections.Counter(k["name"] for k in launches)
    steps = len(launches) / per_step
    mine = [k for k in launches if count[k["name"]] >= steps / 4]
    return mine, len(mine) / per_step


def per_step(launches, metric, steps):
    """The sum over kernels of what a launch of each has by its median."""
    by_kernel = collections.defaultdict(list)
    for k in launches:
        by_kernel[k["name"]].append(k.get(metric, 0))
    return sum(statistics.median(v) * len(v) / steps for v in by_kernel.values())


def main():
    tensor, pipes = wanted(known())
    run = json.loads(subprocess.run([RIFT, "run", *sys.argv[1:], "--json"], capture_output=True, text=True, check=True).stdout)
    launches = rows(sys.argv[1:], [TIME, *BYTES, *FLOPS, *tensor, *pipes])
    a_step = run["launches_per_step"]
    mine, steps = of_steps(launches, a_step)
    first = round(2 * a_step) if steps > 4 else 0
    late, n = mine[first:], steps - first / a_step

    def total(metric):
        return per_step(late, metric, n)

    by_time = collections.Counter()
    for k in late:
        by_time[k["name"]] += k[TIME]
    longest, its_time = by_time.most_common(1)[0]
    main_kernel = [k for k in late if k["name"] == longest]
    print(json.dumps({
        "options": " ".join(sys.argv[1:]), "launches": len(mine), "steps": n, "left_out": len(launches) - len(mine),
        "kernel_ns": total(TIME), "cost": run["cost"], "flops": sum(total(m) * f for m, f in FLOPS.items()),
        "tensor_ops": {m: total(m) for m in tensor if total(m)}, "read": total(BYTES[0]), "written": total(BYTES[1]),
        "cold": {"read": per_step(mine[:first], BYTES[0], 2), "written": per_step(mine[:first], BYTES[1], 2)} if first else None,
        "main": {"name": longest, "share": its_time / by_time.total(),
                 "pipes": {m.split("pipe_")[1].split(".")[0]: statistics.median(k[m] for k in main_kernel)
                           for m in pipes if m in main_kernel[0]}}}))


main()
