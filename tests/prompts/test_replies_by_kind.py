"""The rules by which a corrected function, a whole file and a whole program are found in replies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.prompts.extraction import extract
from koderz_core.records import PublicProblem

FAULTY = 'import math\n\n\ndef half(x):\n    """Half of x, rounded up."""\n    y = x / 2\n    return math.floor(y)\n'
REPAIR = PublicProblem("r/0", FAULTY, "half", "import math\n", kind="repair", given=FAULTY)
RIGHT = "def half(x):\n    return math.ceil(x / 2)"
BODY = "    y = x / 2\n    return math.ceil(y)"
MATCHING = "    match [x / 2]:\n        case [y, *rest]:\n            return math.ceil(y) + len(rest)"
STUB = (
    "EMPTY = None\n\n\nclass Full(BufferError):\n    def __init__(self, message):\n        pass\n\n\n"
    "class Ring:\n    def __init__(self, size):\n        pass\n\n    def read(self):\n        pass\n"
)
MODULE = PublicProblem("m/0", "", "Ring", kind="module", names=("EMPTY", "Full"), file="ring.py", given=STUB)
ERROR = "class Full(BufferError):\n    pass"
RING = "class Ring:\n    def __init__(self, size):\n        self.size = size"
WHOLE = f"EMPTY = 0\n\n\n{ERROR}\n\n\n{RING}"
PROGRAM = PublicProblem("p/0", "", "run", kind="program")
SOLVE = "def solve(n):\n    return n + 1"
MAIN = "if __name__ == '__main__':\n    print(solve(int(input())))"


def block(code: str, tag: str = "python") -> str:
    return f"```{tag}\n{code}\n```"


@pytest.mark.parametrize(
    ("reply", "how", "code"),
    [
        (block(RIGHT), "fence", RIGHT),
        (f"The fault:\n{block(FAULTY)}\nBetter:\n{block(RIGHT)}", "fence-last", RIGHT),
        (f"{block(RIGHT)}\nBefore, it was:\n{block(FAULTY)}", "fence-last", RIGHT),
        (f"It is right already.\n{block(FAULTY)}", "fence", FAULTY),
        (block(BODY), "body", FAULTY.partition("    y =")[0] + BODY),
        (block(MATCHING), "body", FAULTY.partition("    y =")[0] + MATCHING),
        (f"Change the last line:\n{block('return math.ceil(y)')}", "no-entry-point", "return math.ceil(y)"),
        (f"In\n{block(FAULTY)}\nchange\n{block('return math.ceil(y)')}", "fence-last", FAULTY),
        (block("-    return math.floor(y)\n+    return math.ceil(y)", "diff"), "none", None),
    ],
)
def test_a_repair_is_the_whole_corrected_function(reply: str, how: str, code: str | None) -> None:
    found = extract(reply, REPAIR)
    assert (found.how, found.code and found.code.strip()) == (how, code and code.strip())


@pytest.mark.parametrize(
    ("reply", "how", "code"),
    [
        (f"ring.py\n{block(WHOLE, '')}", "fence", WHOLE),  # the format of aider
        (block(WHOLE, "ring.py"), "fence", WHOLE),
        (block(f"ring.py\n{WHOLE}"), "fence", WHOLE),
        (f"ring.py\n{WHOLE}", "prose", WHOLE),
        (f"Here it is:\n{WHOLE}\nThat is all, I think.", "prose", WHOLE),
        (
            block(f"{WHOLE}\n\n\nring = Ring(1)\nprint(ring.read())\nassert ring"),
            "fence",
            f"{WHOLE}\n\n\nring = Ring(1)",
        ),
        (block(f"{ERROR}\n\nFull.register(int)\n\n{RING}"), "fence", f"{ERROR}\n\nFull.register(int)\n\n{RING}"),
        (f"{block(ERROR)}\nand\n{block(RING)}", "joined", f"{ERROR}\n\n{RING}"),
        (f"{block(RING)}\nand\n{block(ERROR)}", "joined", f"{RING}\n\n{ERROR}"),
        (f"{block(WHOLE)}\nBetter:\n{block(RING + ' + 1')}", "joined", f"{WHOLE}\n\n{RING} + 1"),
        (
            f"{block('from __future__ import annotations' + chr(10) + ERROR)}\n"
            f"{block('from __future__ import annotations' + chr(10) + RING)}",
            "joined",
            f"from __future__ import annotations\n\n{ERROR}\n\n\n{RING}",
        ),
        (f"{block(WHOLE)}\nTests:\n{block('from ring import Ring' + chr(10) + 'print(Ring(1))')}", "fence-last", WHOLE),
        (block(STUB), "no-entry-point", STUB),
        (f"{block(WHOLE)}\ninstead of\n{block(STUB)}", "fence-last", WHOLE),
        (block("def read(self):\n    return 1"), "no-entry-point", "def read(self):\n    return 1"),
        (
            block("class Ring:\n    def read(self:\n        return 1"),
            "raw",
            "class Ring:\n    def read(self:\n        return 1",
        ),
        ("I cannot do that.", "none", None),
    ],
)
def test_a_module_is_a_whole_file_with_all_names(reply: str, how: str, code: str | None) -> None:
    found = extract(reply, MODULE)
    assert (found.how, found.code and found.code.strip()) == (how, code and code.strip())
    compile(found.code if found.code and how != "raw" else "", "ring.py", "exec")


@pytest.mark.parametrize(
    ("reply", "how", "code"),
    [
        (block(f"{SOLVE}\n\n{MAIN}"), "fence", f"{SOLVE}\n\n{MAIN}"),
        (block("print(sum(map(int, open(0))))"), "fence", "print(sum(map(int, open(0))))"),
        ("n = int(input())\nprint(n + 1)", "prose", "n = int(input())\nprint(n + 1)"),
        ("So:\nn = int(input())\nprint(n + 1)\nIt adds one.", "prose", "n = int(input())\nprint(n + 1)"),
        (
            f"{block(f'{SOLVE}{chr(10)}{MAIN}')}\nFor\n{block('3', '')}\nit gives\n{block('4', '')}",
            "fence-last",
            f"{SOLVE}\n{MAIN}",
        ),
        (f"{block(f'{SOLVE}{chr(10)}{MAIN}')}\nTry\n{block('print(solve(3))')}", "fence-last", f"{SOLVE}\n{MAIN}"),
        (f"{block(SOLVE)}\nand\n{block(MAIN)}", "joined", f"{SOLVE}\n\n{MAIN}"),
        (f"{block(MAIN)}\nwith\n{block(SOLVE)}", "joined", f"{SOLVE}\n\n{MAIN}"),
        (f"{block('print(1)')}\nor, without input,\n{block('print(2)')}", "fence-last", "print(2)"),
        (block(SOLVE), "no-entry-point", SOLVE),
        (block("n = int(input()"), "raw", "n = int(input()"),
        ("```python\nn = int(input())\nfor i in range(n", "raw", "n = int(input())\nfor i in range(n"),
        (block("int main() { return 0; }", "cpp"), "none", None),
        ("Sorry", "none", None),
    ],
)
def test_a_program_is_the_last_one_that_reads_and_writes(reply: str, how: str, code: str | None) -> None:
    found = extract(reply, PROGRAM)
    assert (found.how, found.code and found.code.strip()) == (how, code and code.strip())


def test_of_a_given_file_with_code_a_changed_one_is_taken_if_there_is_one() -> None:
    problem = replace(MODULE, given=WHOLE)
    assert extract(f"{block(f'{WHOLE} + 1')}\ninstead of\n{block(WHOLE)}", problem).code == f"{WHOLE} + 1"
    assert extract(f"It is right.\n{block(WHOLE)}", problem).how == "fence"
