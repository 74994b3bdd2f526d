"""conv_torch.py train|alone|fresh [ITERATIONS] - does PyTorch's convolution get faster from 1 to 10
to 100 iterations, as the thread of docs/results/warmup.md asks? One convolution of cuDNN, forward:
as the second layer of a network that is trained (train), by itself on one input (alone), and on 32
inputs in turn (fresh). Prints a line of JSON: us that its kernels take on the device in each
iteration from the process's first on, by PyTorch's profiler, which uses CUPTI as nvprof did, and
the SM clock before and after. Without ITERATIONS it runs 100, and no profiler, for Nsight Compute:
the convolution is the NVTX range `conv`.

A peer for docs/results, never a dependency: needs PyTorch and a GPU."""
import json
import sys

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function

BATCH, CHANNELS, SIDE, INPUTS = 64, 64, 56, 32


class Marked(torch.nn.Conv2d):
    """The convolution that is looked at."""

    def forward(self, x):
        torch.cuda.nvtx.range_push("conv")
        with record_function("conv"):
            y = super().forward(x)
        torch.cuda.nvtx.range_pop()
        return y


def make_training(conv):
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, CHANNELS, 7, stride=2, padding=3), torch.nn.ReLU(), conv, torch.nn.ReLU(),
        torch.nn.Conv2d(CHANNELS, 128, 3, stride=2, padding=1), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(128, 10)).cuda()
    sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
    x = torch.randn(BATCH, 3, 2 * SIDE, 2 * SIDE, device="cuda")
    y = torch.randint(0, 10, (BATCH,), device="cuda")

    def step(_):
        sgd.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(net(x), y).backward()
        sgd.step()

    return step


def make_alone(conv, inputs):
    x = torch.randn(inputs, BATCH, CHANNELS, SIDE, SIDE, device="cuda")

    def step(i):
        with torch.no_grad():
            conv(x[i % inputs])

    return step


def kernels_us(event):
    """Of the calls in a range, without the range's own entry on the device."""
    return sum(k.duration for k in event.kernels if k.name != "conv") + sum(map(kernels_us, event.cpu_children))


def main():
    kind = sys.argv[1]
    torch.manual_seed(1)
    conv = Marked(CHANNELS, CHANNELS, 3, padding=1).cuda()
    step = make_training(conv) if kind == "train" else make_alone(conv, INPUTS if kind == "fresh" else 1)
    torch.cuda.synchronize()
    if len(sys.argv) < 3:
        for i in range(100):
            step(i)
        torch.cuda.synchronize()
        return
    clocks = [torch.cuda.clock_rate()]
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for i in range(int(sys.argv[2])):
            step(i)
        torch.cuda.synchronize()
    clocks.append(torch.cuda.clock_rate())
    us = [kernels_us(e) for e in profiler.events() if e.key == "conv" and e.device_type == DeviceType.CPU]
    print(json.dumps({"kind": kind, "torch": torch.__version__, "cudnn": torch.backends.cudnn.version(), "clock_mhz": clocks, "us": us}))


main()
