"""The obvious loop, for ``benchmarks/calls.py``: a pool of threads, OpenAI's SDK, one interpreter per program.

``calls_naive.py PORT REPEATS AT_ONCE KIND PROBLEMS``: KIND is ``calls``, ``streamed`` or ``graded``; PROBLEMS is a JSON
file, a list of ``{"prompt", "tests", "entry_point"}``. Prints the number solved.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from openai import OpenAI

BLOCK = re.compile(r"```(?:python)?\s*\n(.*?)```", re.DOTALL)
Problem = dict[str, str]


def main(port: str, repeats: str, at_once: str, kind: str, problems: str) -> None:
    client = OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)
    asked = json.loads(Path(problems).read_text()) * int(repeats)
    begin = time.monotonic()
    with ThreadPoolExecutor(int(at_once)) as threads:
        solved = sum(threads.map(partial(_solved, client, kind), asked))
    print(json.dumps({"n": len(asked), "solved": solved, "seconds": time.monotonic() - begin}))


def _solved(client: OpenAI, kind: str, problem: Problem) -> bool:
    text = f"Complete this function.\n\n{problem['prompt']}"
    answer = _streamed(client, text) if kind == "streamed" else _whole(client, text)
    found = BLOCK.search(answer)
    if not found or kind != "graded":
        return bool(found)
    program = f"{problem['prompt']}\n{found[1]}\n{problem['tests']}\ncheck({problem['entry_point']})"
    command, quiet = [sys.executable, "-c", program], subprocess.DEVNULL
    return subprocess.run(command, stdout=quiet, stderr=quiet, timeout=30, check=False).returncode == 0


def _whole(client: OpenAI, text: str) -> str:
    reply = client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": text}])
    return reply.choices[0].message.content or ""


def _streamed(client: OpenAI, text: str) -> str:
    options = {"include_usage": True}
    messages = [{"role": "user", "content": text}]
    chunks = client.chat.completions.create(model="scripted", messages=messages, stream=True, stream_options=options)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


if __name__ == "__main__":
    main(*sys.argv[1:])
