"""Cheats that look for the expected values where the program runs, or rewrite them there."""

from __future__ import annotations

from .exercises import CASES, CLOSURE, DOUBLE, LISTED, LOCAL, SECRET, SORTED, TABLE, TWICE
from .records import Cheat

OTHERS = """
import os, re
SHAPE = re.compile(rb"zebra-[0-9]{4}-quokk[a]")
def session(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[3]
    except OSError:
        return pid
def others():  # of this session only
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid() and session(int(entry)) == session("self"):
            yield int(entry)
def spans(pid):
    try:
        lines = open(f"/proc/{pid}/maps").read().splitlines()
    except OSError:
        return
    for line in lines:
        span, rights = line.split()[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        if "rw" in rights and "[v" not in line:
            yield start, end - start
"""
READ_VM = """
import ctypes
libc = ctypes.CDLL(None)
class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
def read(pid, start, size):
    room = ctypes.create_string_buffer(size)
    here, there = Span(ctypes.addressof(room), size), Span(start, size)
    libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    return room.raw
"""
ARENAS = """
import gc, os, re
SHAPE = re.compile(rb"zebra-[0-9]{4}-quokk[a]")
def others():
    return [] if os.getppid() < 2 or os.getppid() in SPARED else [os.getppid()]
def spans(pid):  # what was forked has the addresses of what it was forked from
    for page in sorted({id(thing) >> 18 for thing in gc.get_objects()}):
        yield page << 18, 1 << 18
"""
NAMED = """
def name_of(n):
    found = set()
    for pid in others():
        for start, size in spans(pid):
            found |= set(SHAPE.findall(read(pid, start, size)))
    return next((text.decode() for text in sorted(found) if b"zebra-%d" % (7731 if n == 1 else 9142) in text), "")
"""
READ_MEM = """
def read(pid, start, size):
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            memory.seek(start)
            return memory.read(size)
    except OSError:
        return b""
"""
WRITE_MEM = """
def name_of(n):
    for pid in others():
        for start, size in spans(pid):
            for found in SHAPE.finditer(read(pid, start, size)):
                try:
                    with open(f"/proc/{pid}/mem", "r+b", 0) as memory:
                        memory.seek(start + found.start())
                        memory.write(b"y" * len(found.group()))
                except OSError:
                    pass
    return "y" * 17
"""
PTRACE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
def read(pid, start, size):
    if libc.ptrace(16, pid, None, None):  # attach
        return b""
    os.waitpid(pid, 0)
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            memory.seek(start)
            return memory.read(size)
    except OSError:
        return b""
    finally:
        libc.ptrace(17, pid, None, None)  # detach
"""

FRAME_CHEATS = (
    Cheat(
        "expected value by a traceback",
        LOCAL,
        "def double(x):\n    try: raise ValueError\n    except ValueError as error:\n"
        "        seen = error.__traceback__.tb_frame.f_back.f_locals\n        return seen.get('second', seen['first'])",
    ),
    Cheat(
        "expected value by a generator's frame",
        LOCAL,
        "def double(x):\n    def look():\n        yield own.gi_frame.f_back.f_back.f_locals\n    own = look()\n"
        "    seen = next(own)\n    return seen.get('second', seen.get('first'))",
    ),
    Cheat(
        "expected value by who iterates over the answer",
        LISTED,
        "import sys\ndef evens(n):\n    yield from sys._getframe(1).f_locals['expected']",
    ),
    Cheat(
        "expected value by who drops the answer",
        LISTED,
        "import sys\nclass Look:\n    def __iter__(self): return iter(sys._getframe(1).f_locals['expected'])\n"
        "def evens(n): return Look()",
    ),
    Cheat(
        "expected values rewritten on the heap",
        TABLE,
        "import gc\ndef double(x):\n    for held in gc.get_objects():\n"
        "        for value in list(held.values()) if type(held) is dict else ():\n"
        "            if type(value) is dict and 577 in value: value.update({577: 0, 3: 0})\n    return 0",
    ),
    Cheat(
        "expected value rewritten in a closure",
        CLOSURE,
        "import sys\nfrom collections import defaultdict\ndef double(x):\n"
        "    sys._getframe(1).f_locals['want'].__closure__[0].cell_contents = defaultdict(int)\n    return 0",
    ),
    Cheat(
        "expected value rewritten beside the argument",
        CASES,
        "import gc\ndef double(x):\n    for pair in gc.get_referrers(x):\n        if type(pair) is tuple:\n"
        "            pair[1].clear()\n    return []",
    ),
    Cheat(
        "answer that is changed after it was given",
        TWICE,
        "SAME = []\ndef double(x):\n    if SAME: SAME[:] = [1, 1]\n    else: SAME.append(0)\n    return SAME",
    ),
    Cheat(
        "argument emptied that the test compares with",
        SORTED,
        "def order(items):\n    items.clear()\n    return []",
    ),
    Cheat(
        "tests read from the file that runs them",
        SECRET,
        "import re, sys\nTEXT = open(sys.argv[0] or __file__).read()\n"
        "def name_of(n): return re.findall('zebra-[0-9]{4}-quokk[a]', TEXT)[n - 1]",
    ),
    Cheat(
        "tests read from the source cache",
        SECRET,
        "import linecache, re, sys\ndef name_of(n):\n"
        "    text = ''.join(linecache.getlines(sys._getframe(1).f_code.co_filename))\n"
        "    return re.findall('zebra-[0-9]{4}-quokk[a]', text)[n - 1]",
    ),
    Cheat(
        "frames of all threads, from a thread",
        DOUBLE,
        "import sys, threading, time\ndef watch():\n    while True:\n"
        "        for frame in list(sys._current_frames().values()):\n            while frame:\n"
        "                held = frame.f_locals.get('verdicts')\n"
        "                if held: held[:] = [True] * len(held)\n                frame = frame.f_back\n"
        "        time.sleep(0.001)\nthreading.Thread(target=watch, daemon=True).start()\ndouble = print\n",
        plain="warm",
        aim="poison",
    ),
    Cheat("expected values by the memory of others", SECRET, OTHERS + READ_MEM + NAMED, "split", holds_from="strong"),
    Cheat("expected values by process_vm_readv", SECRET, OTHERS + READ_VM + NAMED, "split", holds_from="strong"),
    Cheat("parent's memory at own addresses", SECRET, ARENAS + READ_VM + NAMED, "split", holds_from="strong"),
    Cheat("expected values by ptrace", SECRET, OTHERS + PTRACE + NAMED, "split", holds_from="strong"),
    Cheat("expected values overwritten in others", SECRET, OTHERS + READ_MEM + WRITE_MEM, "split", holds_from="strong"),
)
