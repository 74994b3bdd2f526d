"""decode_torch.py MODEL [BATCH [TOKENS [eager|graph]]] - the models of the workload decode, by
transformers and PyTorch, on random weights in bf16: MODEL is tiny, small, 1b or 8b. Prints
microseconds a token after a prompt of 128 tokens: eager with a static cache, the same as a CUDA
graph, and compiled (`reduce-overhead`). n = 7 runs of TOKENS (64) tokens each, median, least and
most; before them a sum of as many bytes as a token reads of the weights, which is the floor, n = 20.
With eager or graph it is a program that rift profiles and prices (bench/accept.sh predict): one run
alone, which is the NVTX range `work`, and how long it took.

A peer for docs/results, never a dependency: needs PyTorch, transformers and a GPU. Tokens are
chosen on the device, as by the workload. All checks of answers are the workload's; here only that
the logits are numbers."""
import statistics
import sys
import time

import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

SHAPES = {  # dim, layers, heads, key/value heads, hidden, vocabulary, tied, theta
    "tiny": (288, 6, 6, 6, 768, 32000, True, 1e4),
    "small": (768, 12, 12, 12, 2048, 32000, True, 1e4),
    "1b": (2048, 16, 32, 8, 8192, 128256, True, 5e5),
    "8b": (4096, 32, 32, 8, 14336, 128256, False, 5e5),
}
PROMPT, RUNS = 128, 7


def make_model(name):
    dim, layers, heads, kv_heads, hidden, vocab, tied, theta = SHAPES[name]
    config = LlamaConfig(hidden_size=dim, num_hidden_layers=layers, num_attention_heads=heads,
                         num_key_value_heads=kv_heads, intermediate_size=hidden, vocab_size=vocab,
                         tie_word_embeddings=tied, rope_theta=theta, max_position_embeddings=4096)
    torch.manual_seed(1)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config)
    return model.to(torch.bfloat16).eval()


class Decoder:
    """One token a sequence a call; token and position stay on the device."""

    def __init__(self, model, batch, tokens):
        self.model, self.batch = model, batch
        self.length = PROMPT + tokens + 8
        self.cache = StaticCache(config=model.config, max_batch_size=batch, max_cache_len=self.length,
                                 device="cuda", dtype=torch.bfloat16)
        self.prompt = torch.randint(0, model.config.vocab_size, (batch, PROMPT), device="cuda")
        self.token = torch.zeros((batch, 1), dtype=torch.long, device="cuda")
        self.position = torch.zeros(1, dtype=torch.long, device="cuda")
        self.forward = model.forward

    def begin(self):
        self.cache.reset()
        out = self.model(self.prompt, past_key_values=self.cache, use_cache=True,
                         cache_position=torch.arange(PROMPT, device="cuda"))
        self.token.copy_(out.logits[:, -1:].argmax(-1))
        self.position.fill_(PROMPT)

    def step(self):
        out = self.forward(self.token, past_key_values=self.cache, use_cache=True,
                           cache_position=self.position, position_ids=self.position[None].expand(self.batch, 1))
        self.logits = out.logits
        self.token.copy_(out.logits[:, -1:].argmax(-1))
        self.position.add_(1)


def run(name, decoder, call, tokens):
    """Seconds of a run."""
    decoder.begin()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_push("work")
    begin = time.perf_counter()
    for _ in range(tokens):
        call()
    torch.cuda.synchronize()
    took = time.perf_counter() - begin
    torch.cuda.nvtx.range_pop()
    if not torch.isfinite(decoder.logits).all():
        sys.exit(f"decode_torch.py: {name}: logits that are no numbers")
    return took


def measure(name, decoder, call, tokens):
    times = [run(name, decoder, call, tokens) / tokens * 1e6 for _ in range(RUNS)]
    print(f"{name:24} {statistics.median(times):9.1f} us a token ({min(times):.1f} to {max(times):.1f}), "
          f"n = {RUNS} runs of {tokens}", flush=True)


def warm(decoder, call, times=5):
    decoder.begin()
    for _ in range(times):
        call()
    torch.cuda.synchronize()


def capture(decoder):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        warm(decoder, decoder.step, 3)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        decoder.step()
    return graph


def measure_read(model):
    """The embedding of a model that has its own output matrix is read by rows, so it does not count."""
    read = sum(p.numel() * p.element_size() for p in model.parameters())
    if not model.config.tie_word_embeddings:
        read -= model.model.embed_tokens.weight.numel() * 2
    data, times = torch.ones(read // 4, device="cuda"), []
    for _ in range(22):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        data.sum()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    times = times[2:]
    print(f"{'a sum of ' + format(read / 1e9, '.3f') + ' GB':24} {statistics.median(times):9.1f} us "
          f"({min(times):.1f} to {max(times):.1f}), n = {len(times)}", flush=True)


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in SHAPES:
        sys.exit("decode_torch.py: give a model: " + ", ".join(SHAPES))
    name = sys.argv[1]
    batch = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    tokens = int(sys.argv[3]) if len(sys.argv) > 3 else 64
    kind = sys.argv[4] if len(sys.argv) > 4 else None
    if kind not in (None, "eager", "graph"):
        sys.exit(f"decode_torch.py: '{kind}' must be eager or graph")
    print(f"{name}, batch {batch}: {torch.cuda.get_device_name()}, torch {torch.__version__}, "
          f"transformers {transformers.__version__}")
    with torch.inference_mode():
        model = make_model(name)
        if kind is None:
            measure_read(model)
        decoder = Decoder(model, batch, tokens)
        warm(decoder, decoder.step)
        if kind:
            call = decoder.step if kind == "eager" else capture(decoder).replay
            print(f"work: {1e3 * run(kind, decoder, call, tokens):.3f} ms")
            return
        measure("eager, static cache", decoder, decoder.step, tokens)
        graph = capture(decoder)
        measure("CUDA graph of that", decoder, graph.replay, tokens)
        del graph
        decoder.forward = torch.compile(decoder.model.forward, mode="reduce-overhead", fullgraph=True)
        warm(decoder, decoder.step)
        measure("compiled", decoder, decoder.step, tokens)


main()
