"""forms_torch.py [precision] [pruning] [work] - what an article says would help a GPU-bound
program (docs/results/sources.md), asked of PyTorch: lower precision and pruning, of the three
products of the model `wide` of the workload mlp for 16,384 images; and work before and after a
model on the host's processors or on the GPU, of ResNet-18 on 64 images. Medians of 25 runs, least
and most; products and models are CUDA graphs, except ResNet's.

A peer for docs/results, never a dependency: needs PyTorch, torchvision and a GPU."""
import statistics
import sys
import time

import torch
import torchvision

RUNS, IMAGES, LAYERS = 25, 16384, (784, 512, 512, 16)  # 10 outputs, in a multiple of 16
HALF = (784, 256, 256, 16)


def report(name, times, error=""):
    print(f"{name:34} {statistics.median(times):9.1f} us ({min(times):.1f} to {max(times):.1f}), n = {len(times)}{error}", flush=True)


def timed(call):
    times = []
    for _ in range(RUNS + 3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
    return times[3:]


def captured(call, repeats=20):
    """us of one of the calls of a graph of several."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            call()
    return [t / repeats for t in timed(graph.replay)]


def attempt(name, make):
    """What a form takes; its result against fp32's where it has one; or why it cannot be had."""
    try:
        call, error = make()
        report(name, captured(call), error)
    except (RuntimeError, ValueError, TypeError, AttributeError, AssertionError) as e:
        print(f"{name:34} failed: {str(e).splitlines()[0]}", flush=True)


def make_layers(sizes):
    torch.manual_seed(1)
    weights = [torch.randn(n, m, device="cuda") / m ** 0.5 for m, n in zip(sizes, sizes[1:])]
    inputs = [torch.randn(IMAGES, m, device="cuda").relu() for m in sizes[:-1]]
    return inputs, weights


def off(x, exact):
    return f", off by {(x.float() - exact).norm() / exact.norm():.1e} of the last product's norm"


def products(sizes, kind):
    def make():
        torch.backends.cuda.matmul.allow_tf32 = False
        x, w = make_layers(sizes)
        exact = x[-1] @ w[-1].t()
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        scale = torch.ones((), device="cuda")
        if kind == "int8":
            k = [(127 / a.abs().max(), 127 / b.abs().max()) for a, b in zip(x, w)]
            q = [((a * s).round().to(torch.int8), (b * t).round().to(torch.int8).t()) for a, b, (s, t) in zip(x, w, k)]

            def call():
                return [torch._int_mm(a, b) for a, b in q]
            result = call()[-1].float() / (k[-1][0] * k[-1][1])
        elif kind == "fp8":
            q = [(a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn).t()) for a, b in zip(x, w)]

            def call():
                return [torch._scaled_mm(a, b, scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16) for a, b in q]
            result = call()[-1]
        else:
            dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(kind, torch.float32)
            q = [(a.to(dtype), b.to(dtype).t()) for a, b in zip(x, w)]

            def call():
                return [a @ b for a, b in q]
            result = call()[-1]
        return call, off(result, exact)
    return make


def sparse():
    """Two of four weights are zero, which tensor cores skip; the last layer stays dense."""
    x, w = make_layers(LAYERS)
    x, w = [a.half() for a in x], [b.half() for b in w]
    for b in w[:2]:
        groups = b.view(-1, 4)
        groups.scatter_(1, groups.abs().topk(2, dim=1, largest=False).indices, 0)
    dense = [torch.nn.functional.linear(a, b) for a, b in zip(x, w)]
    packed = [torch.sparse.to_sparse_semi_structured(b) for b in w[:2]] + w[2:]

    def call():
        return [torch.nn.functional.linear(a, b) for a, b in zip(x, packed)]
    return call, off(call()[1], dense[1].float())


def precision():
    print("products of 784-512-512-16, 16,384 images:")
    for kind in "fp32", "tf32", "bf16", "fp16", "fp8", "int8":
        attempt(kind, products(LAYERS, kind))


def pruning():
    for kind in "fp32", "fp16":
        attempt(f"{kind}, half of the units", products(HALF, kind))
    attempt("fp16, two of four weights", sparse)


def work():
    """Images of bytes become numbers of the model's size before it; its five likeliest classes are found after it."""
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    images = torch.randint(0, 256, (64, 3, 512, 512), dtype=torch.uint8).pin_memory()
    model = torchvision.models.resnet18(weights=None).cuda().eval()

    def before(x):
        x = torch.nn.functional.interpolate(x.float() / 255, size=(224, 224), mode="bilinear", antialias=True)
        return (x - 0.45) / 0.225

    def after(y):
        return y.softmax(1).topk(5)

    def on_host():
        return after(model(before(images).cuda()).cpu())

    def on_device():
        return [v.cpu() for v in after(model(before(images.cuda(non_blocking=True))))]

    with torch.inference_mode():
        here, there = on_host(), on_device()
        print(f"ResNet-18, 64 images of 512 x 512, {torch.get_num_threads()} threads; probabilities differ by "
              f"{(here[0] - there[0]).abs().max():.1e}:")
        ready = before(images).cuda()
        report("the model alone", timed(lambda: model(ready)))
        report("work before and after: host", timed(on_host))
        report("work before and after: GPU", timed(on_device))
        report("before alone, host", timed(lambda: before(images)))
        resident = images.cuda()
        report("before alone, GPU", timed(lambda: before(resident)))


print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
for part in sys.argv[1:] or ("precision", "pruning", "work"):
    globals()[part]()
