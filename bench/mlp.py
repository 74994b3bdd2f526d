"""mlp.py eager|graph|switched [STEPS] - PyTorch trains a small network on made-up data: a program
that rift profiles (bench/accept.sh predict, bench/accept.sh retime). It prints how long its steps
took, which are the NVTX range `work`, and its loss; exit 1 where that is no number or has not
fallen. switched: eager steps in blocks, every other one between cudaProfilerStart() and
cudaProfilerStop(), 100 steps at least. It prints how much longer those are: what a recorder with
`--range @profiler` adds to a call that it records, beyond one that it lets pass. Differences between
processes are not in it."""
import math
import statistics
import sys
import time

import torch


BLOCK = 50  # steps


def in_blocks(step, steps):
    profiler = torch.cuda.cudart()
    switch = [profiler.cudaProfilerStop, profiler.cudaProfilerStart]
    times = [[], []]
    for i in range(steps // BLOCK // 2 * 2):
        is_on = (i + i // 2) % 2  # off, on, on, off: what drifts is in both
        switch[is_on]()
        begin = time.perf_counter()
        for _ in range(BLOCK):
            loss = step()
        torch.cuda.synchronize()
        times[is_on].append(time.perf_counter() - begin)
    profiler.cudaProfilerStop()
    off, on = times
    ratios = [b / a for a, b in zip(off, on)]
    print(f"switched on: {100 * (statistics.median(ratios) - 1):+.2f} % longer, n = {len(ratios)} pairs, "
          f"off {1e3 * statistics.median(off) / BLOCK:.3f} ms a step")
    return loss


def main():
    kind, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500
    if steps < (2 * BLOCK if kind == "switched" else 1):
        sys.exit(f"mlp.py: {steps} steps are too few: {2 * BLOCK} for switched, else 1")
    torch.manual_seed(1)
    sizes = [784, 512, 512, 512, 10]
    layers = []
    for n, m in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(n, m), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers[:-1]).cuda()
    adam = torch.optim.Adam(net.parameters(), lr=1e-4, capturable=True)
    x = torch.randn(64, 784, device="cuda")
    y = torch.randint(0, 10, (64,), device="cuda")

    def step():
        adam.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        return loss

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        first = [step() for _ in range(3)][0].item()
    torch.cuda.current_stream().wait_stream(side)
    begin = None

    def work_begins():
        nonlocal begin
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_push("work")
        begin = time.perf_counter()

    if kind == "graph":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = step()
        work_begins()
        for _ in range(steps):
            graph.replay()
    elif kind == "switched":
        work_begins()
        loss = in_blocks(step, steps)
    else:
        work_begins()
        for _ in range(steps):
            loss = step()
    torch.cuda.synchronize()
    work_ms = 1e3 * (time.perf_counter() - begin)
    torch.cuda.nvtx.range_pop()
    last = loss.item()
    print(f"work: {work_ms:.3f} ms")
    print(f"loss {first:.4f} to {last:.4f}")
    return 0 if math.isfinite(last) and last < first else 1


if __name__ == "__main__":
    sys.exit(main())
