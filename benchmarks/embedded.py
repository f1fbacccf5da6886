"""How fast embedded models answer, by the server's cache and options: the calls of a recorded benchmark again.

Run: ``python benchmarks/embedded.py qwen2.5-coder-0.5b``; it needs idle cores. The prompts are those of the study, in
their order, and each answer may be as long as the recorded one, so the work is that of real experiments: *first* calls
(one per problem), *iterations* (each prompt contains the history of its experiment) and *samples* (one prompt
repeatedly). Every variant does all of it in a fresh server. The yardsticks are the variant ``one by one``, which keeps
nothing between calls like the worker of koderz 0.0, llama-cpp-python itself if it is installed (``--old``), and a bare
``llama-server`` (``--server PATH``). Texts differ between variants, so the table also shows the tokens.

``--texts`` compares greedy texts instead: of 20 prompts, from llama-cpp-python and from the server.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from koderz_core.config import load_settings
from koderz_core.models import weights
from koderz_core.models.embedded import EmbeddedModel
from koderz_core.models.embedded_server import Order, parameters, threads
from koderz_core.records import Message, Request, Sampling

JOURNAL = Path(__file__).parent.parent / "docs" / "study" / "journals" / "bench_20a02f27b685.jsonl.gz"
RECORDED = "embedded/qwen2.5-coder-0.5b"
CONTEXT = 4096
ONCE = "one by one"

Ask = Callable[[Request], tuple[str, int]]
"""Gives the text of an answer and how many tokens it has."""

KEY = "benchmark"
WRITING, THREADS = threads()
EIGHT_BITS = {"cache_type_k": "GGML_TYPE_Q8_0", "cache_type_v": "GGML_TYPE_Q8_0"}
NOTHING_DRAFTED = {"speculative.types": ["NONE"]}
NOTHING_KEPT = {**NOTHING_DRAFTED, "cache_prompt": False, "cache_ram_mib": 0}
VARIANTS: Mapping[str, Mapping[str, Any]] = {  # Any: what xllamacpp's parameters take, by their path
    ONCE: NOTHING_KEPT,
    "all cores generate": {**NOTHING_KEPT, "cpuparams.n_threads": THREADS},
    "prompt cache": NOTHING_DRAFTED,
    "prompt cache, all cores generate": {**NOTHING_DRAFTED, "cpuparams.n_threads": THREADS},
    "prompt cache, 2 slots": {**NOTHING_DRAFTED, "n_parallel": 2},
    "prompt cache, 4 slots": {**NOTHING_DRAFTED, "n_parallel": 4},
    "prompt cache, n-gram": {},
    "prompt cache, n-gram, all cores generate": {"cpuparams.n_threads": THREADS},
    "prompt cache, n-gram, 2 slots": {"n_parallel": 2},
    "prompt cache, n-gram modulo": {"speculative.types": ["NGRAM_MOD"]},
    "prompt cache, keys and values in 8 bits": {**NOTHING_DRAFTED, **EIGHT_BITS},
    "prompt cache, 0.5B drafts": {"speculative.types": ["DRAFT_SIMPLE"], "speculative.draft.mparams.path": "draft"},
}


@dataclass(frozen=True, slots=True)
class Work:
    """Calls in the order in which they were made, by experiment."""

    name: str
    experiments: Sequence[Sequence[Request]]

    @property
    def calls(self) -> int:
        return sum(map(len, self.experiments))


def main() -> None:
    asked = _arguments()
    if asked.serve:
        return _serve(json.loads(asked.serve))
    path = weights.find(weights.weights_of(asked.model), load_settings())
    if path is None:
        sys.exit(f"koderz models pull {asked.model}")
    if asked.texts:
        return _compare_texts(path, asked.model)
    all_work = [_first(2 * asked.experiments), _iterations(asked.experiments), _samples(asked.experiments)]
    print(f"{asked.model}, {THREADS} cores; " + ", ".join(f"{work.name}: {work.calls} calls" for work in all_work))
    print(f"| variant | {' | '.join(f'{work.name}: s, tokens, times {ONCE}' for work in all_work)} |")
    print(f"|---|{'---|' * len(all_work)}")
    yardstick: list[float] = []
    for name, start in _variants(asked, path):
        cells = []
        for index, work in enumerate(all_work):
            with start() as (ask, lanes):
                seconds, tokens = _timed(work, ask, lanes)
            yardstick += [seconds] if name == asked.variants[0] else []
            ratio = f", {yardstick[index] / seconds:.2f}" if index < len(yardstick) else ""
            cells.append(f"{seconds:.1f}, {tokens}{ratio}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="qwen2.5-coder-0.5b")
    parser.add_argument("--experiments", type=int, default=4, help="per kind; twice as many first calls")
    parser.add_argument(
        "--variants", nargs="*", default=list(VARIANTS), help="only these variants; the first is the yardstick"
    )
    parser.add_argument("--old", action="store_true", help="also llama-cpp-python")
    parser.add_argument("--server", type=Path, help="also koderz on this llama-server")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    return parser.parse_args()


# --- the work -----------------------------------------------------------------------------------


def _experiments() -> list[list[Request]]:
    """The calls of one model in each experiment of the study, with answers of the recorded length."""
    texts: dict[str, str] = {}
    begun: dict[tuple[str, int], Request] = {}
    calls: dict[str, list[Request]] = defaultdict(list)
    with gzip.open(JOURNAL, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            event, call = line["event"], (line["experiment"], line["ordinal"])
            if line["kind"] == "text_stored":
                texts[event["sha256"]] = event["text"]
            elif line["kind"] == "call_started" and event["model"] == RECORDED:
                begun[call] = _request(event, texts)
            elif line["kind"] == "call_finished" and call in begun:
                length = replace(begun[call].sampling, max_tokens=event["usage"]["output_tokens"])
                calls[line["experiment"]].append(replace(begun.pop(call), sampling=length))
    return list(calls.values())


def _request(event: Mapping[str, Any], texts: Mapping[str, str]) -> Request:  # Any: JSON
    messages = tuple(Message(message["role"], texts[message["text"]]) for message in event["messages"])
    return Request(messages, Sampling(event["sampling"]["temperature"]), event["seed"])


def _first(experiments: int) -> Work:
    """Each prompt once."""
    prompts = {calls[0].messages: calls[0] for calls in _experiments()}
    return Work("first", _middling([[request] for request in prompts.values()], experiments))


def _iterations(experiments: int) -> Work:
    """Each prompt quotes the earlier attempts."""
    return Work("iterations", _middling([calls for calls in _experiments() if _prompts(calls) > 2], experiments))


def _samples(experiments: int) -> Work:
    """One prompt five times; no sample waits for another, so each lane takes the next one."""
    same = [calls for calls in _experiments() if len(calls) == 5 and _prompts(calls) == 1]
    return Work("samples", [[call] for calls in _middling(same, experiments) for call in calls])


def _prompts(calls: Sequence[Request]) -> int:
    return len({call.messages for call in calls})


def _middling(experiments: Sequence[Sequence[Request]], count: int) -> Sequence[Sequence[Request]]:
    """Calls whose answers are neither the shortest nor the longest."""
    by_length = sorted(experiments, key=lambda calls: sum(call.sampling.max_tokens or 0 for call in calls))
    first = (len(by_length) - count) // 2
    return by_length[first : first + count]


def _timed(work: Work, ask: Ask, lanes: int) -> tuple[float, int]:
    """Seconds and generated tokens of all calls; each lane takes one experiment after the other."""

    def one(calls: Sequence[Request]) -> int:
        return sum(ask(call)[1] for call in calls)

    started = time.monotonic()
    with ThreadPoolExecutor(lanes) as pool:
        tokens = sum(pool.map(one, work.experiments))
    return time.monotonic() - started, tokens


# --- who answers --------------------------------------------------------------------------------

Start = Callable[[], AbstractContextManager[tuple[Ask, int]]]


def _variants(asked: argparse.Namespace, path: Path) -> Iterator[tuple[str, Start]]:
    """Each starts afresh, and returns the function to call and the number of concurrent experiments."""
    for name in asked.variants:
        yield name, lambda name=name: _served(path, VARIANTS[name])
    yield "koderz", lambda: _koderz(asked.model)
    yield "koderz, KODERZ_REPRODUCIBLE=1 (no prompt cache)", lambda: _koderz(asked.model, reproducible=True)
    if asked.server:
        yield "koderz, KODERZ_LLAMA_SERVER", lambda: _koderz(asked.model, llama_server=asked.server)
    if asked.old:
        yield "llama-cpp-python, no cache", lambda: _old(path)


@contextmanager
def _koderz(name: str, **changed: Any) -> Iterator[tuple[Ask, int]]:  # Any: settings
    model = EmbeddedModel(weights.weights_of(name), load_settings(num_ctx=CONTEXT, **changed))
    model.complete(Request((Message("user", "Hi"),), Sampling(max_tokens=1), 0))

    def ask(request: Request) -> tuple[str, int]:
        answer = model.complete(request)
        return answer.text, answer.usage.output_tokens or 0

    try:
        yield ask, 1
    finally:
        model.close()


@contextmanager
def _served(path: Path, changed: Mapping[str, Any]) -> Iterator[tuple[Ask, int]]:
    order = json.dumps({"path": str(path), "changed": changed})
    command = (sys.executable, __file__, "--serve", order)
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, text=True, **streams) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        with httpx2.Client(base_url=url, timeout=600, headers={"Authorization": f"Bearer {KEY}"}) as client:

            def ask(request: Request) -> tuple[str, int]:
                reply = client.post("/v1/chat/completions", json=_body(request)).raise_for_status().json()
                return reply["choices"][0]["message"]["content"], reply["usage"]["completion_tokens"]

            try:
                ask(Request((Message("user", "Hi"),), Sampling(max_tokens=1), 0))
                yield ask, changed.get("n_parallel", 1)
            finally:
                server.kill()


def _body(request: Request) -> dict[str, Any]:  # Any: JSON
    sampling = request.sampling
    return {
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "seed": request.seed % 0xFFFF_FFFF,
    }


def _serve(order: Mapping[str, Any]) -> None:  # Any: JSON
    """In the child: llama.cpp's server as koderz starts it, with the changes of the variant, until it is killed."""
    import xllamacpp  # noqa: PLC0415 (only here)

    changed = order["changed"]
    wanted = parameters(Order(order["path"], CONTEXT * changed.get("n_parallel", 1), KEY, "", reproducible=False))
    for name, value in changed.items():
        *path, last = name.split(".")
        owner: Any = wanted  # Any: a part of xllamacpp's parameters
        for part in path:
            owner = getattr(owner, part)
        setattr(owner, last, _value(xllamacpp, last, value))
    server = xllamacpp.Server(wanted)
    print(server.listening_address, flush=True)
    sys.stdin.read()


def _value(xllamacpp: Any, name: str, value: Any) -> Any:  # Any: a module without types, and what its parameters take
    if name == "types":
        return [getattr(xllamacpp.common_speculative_type, f"COMMON_SPECULATIVE_TYPE_{kind}") for kind in value]
    if name.startswith("cache_type"):
        return getattr(xllamacpp.ggml_type, value)
    draft = weights.WEIGHTS["qwen2.5-coder-0.5b"]
    return str(weights.find(draft, load_settings())) if value == "draft" else value


@contextmanager
def _old(path: Path) -> Iterator[tuple[Ask, int]]:
    """llama-cpp-python as koderz used it before: each prompt read from its beginning, half of the cores generate."""
    os.environ["OMP_WAIT_POLICY"] = "passive"
    import llama_cpp  # noqa: PLC0415 (optional)

    llama = llama_cpp.Llama(str(path), n_ctx=CONTEXT, n_threads=WRITING, n_threads_batch=THREADS, verbose=False)

    def ask(request: Request) -> tuple[str, int]:
        llama.reset()
        reply = llama.create_chat_completion(**_body(request))
        return reply["choices"][0]["message"]["content"], reply["usage"]["completion_tokens"]

    yield ask, 1
    llama.close()


def _compare_texts(path: Path, name: str) -> None:
    work = _first(20)
    requests = [replace(calls[0], sampling=Sampling(0.0, max_tokens=128)) for calls in work.experiments]
    with _old(path) as (ask, _):
        before = [ask(request)[0] for request in requests]
    with _koderz(name, reproducible=True) as (ask, _):
        after = [ask(request)[0] for request in requests]
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        print(f"{index:2} {'equal' if old == new else f'the first {same} of {len(old)} characters are equal'}")
        if old != new:
            print(f"     before: {old[same : same + 60]!r}\n     now:    {new[same : same + 60]!r}")
    print(f"{sum(map(str.__eq__, before, after))} of {len(before)} greedy texts are equal")


if __name__ == "__main__":
    main()
