"""Programs that are one change away from a published solution, and what a plain interpreter says of them."""

import ast
import json
import random
import subprocess
import sys
from dataclasses import dataclass

PLAIN = """
import json, os, signal, sys
def verdict(source):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(2)
            names = {"__name__": "__main__"}
            for part in source:
                exec(part, names)
            code = 0
        finally:
            os._exit(code)
    return {0: True, 256: False}.get(os.waitpid(pid, 0)[1])
print(json.dumps([verdict(source) for source in json.load(sys.stdin)]))
"""
OPPOSITE = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Mod: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def plain_verdicts(problems, codes):
    """Whether each program passes where it is run in one process with its tests; None if that takes too long."""
    sources = [
        [f"{problem.public.preamble}\n{code}", f"{problem.tests.source}\ncheck({problem.public.entry_point})"]
        for problem, code in zip(problems, codes, strict=True)
    ]
    plain = subprocess.run(
        [sys.executable, "-I", "-c", PLAIN],
        check=True,
        input=json.dumps(sources),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return json.loads(plain.stdout.splitlines()[-1])


def changed(problem, at_most=6):
    """Up to ``at_most`` programs with one change each in the function asked for, then one that returns nothing."""
    tree = ast.parse(problem.canonical_solution)
    places = range(len(changeable(tree, problem.public.entry_point)))
    chosen = random.Random(problem.id).sample(places, min(at_most, len(places)))
    programs = [with_change(problem, place) for place in chosen]
    return [
        *programs,
        f"{problem.canonical_solution}\n\ndef {problem.public.entry_point}(*arguments):\n    return None\n",
    ]


def with_change(problem, place):
    tree = ast.parse(problem.canonical_solution)
    changeable(tree, problem.public.entry_point)[place].apply()
    return ast.unparse(tree)


@dataclass(frozen=True)
class Change:
    node: ast.AST
    field: str
    new: object

    def apply(self):
        setattr(self.node, self.field, self.new)


def changeable(tree, entry_point):
    """Every change that can be made to the function: other constants, opposite comparisons and operators."""
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry_point)
    body = [part for statement in function.body if not is_docstring(statement) for part in ast.walk(statement)]
    return [change for node in body if (change := change_of(node))]


def is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def change_of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return Change(node, "value", not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return Change(node, "value", node.value + ("x" if isinstance(node.value, str) else 1))
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPPOSITE:
        return Change(node, "op", OPPOSITE[type(node.op)]())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPPOSITE:
        return Change(node, "ops", [OPPOSITE[type(node.ops[0])](), *node.ops[1:]])
    return None
