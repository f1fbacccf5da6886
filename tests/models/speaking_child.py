"""A child process that speaks the embedded worker's protocol without any model; the last message says how it acts."""

import json
import os
import select
import sys
import time


def say(**reply):
    sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
    sys.stdout.buffer.flush()


def done(stopped=True):
    say(type="done", stopped=stopped, input_tokens=7, output_tokens=3)


load = json.loads(sys.stdin.buffer.raw.readline())
if load["num_ctx"] == 666:
    say(type="failed", message="too little memory")
    sys.exit()
say(type="ready")
while line := sys.stdin.buffer.raw.readline():
    request = json.loads(line)
    word = request["messages"][-1]["content"]
    if word == "die":
        say(type="piece", text="half a sen")
        sys.stderr.write("first\nGGML_ASSERT(x) failed\n")
        sys.exit(7)
    if word == "sleep":
        say(type="piece", text="awake")
        time.sleep(600)
    if word == "slow":
        for piece in "abcde":
            say(type="piece", text=piece + " ")
            time.sleep(0.3)
        done()
        continue
    if word == "chatter":
        sys.stdout.buffer.write(b"llama_model_load: chatter\n")
    if word == "too long":
        say(type="failed", message="the prompt has 9 tokens, the context only 8", too_long=True)
        continue
    if word == "silence":
        done()
        continue
    answers = {
        "request": json.dumps(request),
        "load": json.dumps(load),
        "environment": json.dumps(dict(os.environ)),
        "pid": str(os.getpid()),
        "overlap": str(bool(select.select([sys.stdin], [], [], 0.2)[0])),
    }
    for piece in answers.get(word, "one two  thrée").split(" "):
        say(type="piece", text=piece + " ")
    done(stopped=word != "cut")
