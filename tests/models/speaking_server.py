"""What a llama-server does at its beginning and in a chat, without any model; the last message says how it acts."""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Chat(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(200 if self.path == "/health" else 404, {})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {os.environ['LLAMA_API_KEY']}":
            return self.answer(401, {"error": {"message": "Invalid API Key"}})
        word = request["messages"][-1]["content"]
        if word == "too long":
            error = {"code": 400, "message": "request (9 tokens) exceeds", "type": "exceed_context_size_error"}
            return self.answer(400, {"error": error})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        return self.speak(word, request)

    def speak(self, word, request):
        if word == "die":
            self.say("half a sen")
            sys.stderr.write("first\nGGML_ASSERT(x) failed\n")
            sys.stderr.flush()
            os._exit(7)
        if word == "sleep":
            self.say("awake")
            time.sleep(600)
        answers = {
            "request": json.dumps(request),
            "started": json.dumps({"arguments": sys.argv[1:], **os.environ}),
            "pid": str(os.getpid()),
            "slow": "a b c d e",
            "endless": " ".join("abcdefghijklmnopqrstuvwxyz"),
            "silence": "",
        }
        for piece in answers.get(word, "one two  thrée").split(" "):
            self.say(piece + " " if word != "silence" else "")
            time.sleep(0.3 if word in ("slow", "endless") else 0)
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}}
        reason = "length" if word == "cut" else "stop"
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        self.event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def say(self, text):
        self.event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})

    def event(self, body):
        self.wfile.write(b"data: " + json.dumps(body).encode() + b"\n\n")

    def answer(self, status, body):
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


if os.environ["LLAMA_ARG_CTX_SIZE"] == "666":
    sys.stderr.write("too little memory\n")
    sys.exit(1)
if os.environ["LLAMA_ARG_CTX_SIZE"] == "777":
    Path(sys.argv[0]).with_name("loading").touch()
    time.sleep(600)
host, port = (sys.argv[sys.argv.index(option) + 1] for option in ("--host", "--port"))
ThreadingHTTPServer((host, int(port)), Chat).serve_forever()
