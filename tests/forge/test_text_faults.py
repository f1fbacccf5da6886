"""Faults as edits of a text: only their lines change, they do what was wanted, and a seed repeats them."""

from __future__ import annotations

import ast
import difflib
from itertools import islice

from tiny_package import MODULE

from koderz_core.forge.mutations import Mutation, Mutator
from koderz_core.forge.text_edits import EditedModule
from koderz_core.grading.mutants import changes_in, fingerprint

SOURCE = '''def f(a,  b = 1):   # spaces that stay
    """Text."""
    x = [n for n in a
         if n > b]  # a filter
    if not (x or b):
        c = { "k":b }
        d = ( c,
              b )
        e = c ["k"]
        return   "é" + str( b )
    elif len(x)==2: return None
    while b: b -= 1; break
    return sorted(x, key=lambda n: -n)[1:]
'''


def faults(text: str = MODULE, seed: str = "0") -> list[Mutation]:
    return [mutation for group in Mutator({"m.py": text}, seed).rounds() for mutation in group]


def changed(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in lines if line[0] in "+-"]


def test_every_edit_does_what_its_change_of_the_tree_does() -> None:
    module = EditedModule(SOURCE)
    function = module.tree.body[0]
    made = 0
    for change in changes_in(module.tree):
        wanted = fingerprint(change.apply(module.tree))
        if wanted is not None and (edit := module.edit_of(change, function)) is not None:
            assert fingerprint(ast.unparse(ast.parse(module.applied([edit])))) == wanted or "removed" in change.text
            made += 1
    assert made > 30


def test_an_expression_that_python_places_wrongly_is_left_as_it_is() -> None:
    """Python 3.11 places the parts of an f-string inside of another wrongly, here in the middle of a letter."""
    module = EditedModule("def f(x):\n    y = x + 1\n    return f\"\"\"\néé{f'''é\né{x+1}é'''}é\n\"\"\"\n")
    edits = [module.edit_of(change, module.tree.body[0]) for change in changes_in(module.tree)]
    assert any(edits)


def test_a_fault_keeps_all_other_lines() -> None:
    for mutation in faults(SOURCE):
        if mutation.operator not in ("combined", "removed body", "dropped branch", "removed block"):
            assert len(changed(SOURCE, mutation.text)) <= 4, mutation
        assert mutation.text.startswith("def f(a,  b = 1):   # spaces that stay\n")


def test_the_tiny_module_gets_faults_of_many_kinds() -> None:
    found = faults()
    assert {"removed body", "combined", "dropped branch", "comparison", "removed statement"} <= {
        mutation.operator for mutation in found
    }
    assert len({mutation.text for mutation in found}) == len(found)
    assert all("# a comment that stays" in it.text for it in found if it.place.name != "total")
    assert {(it.place.name, it.place.line, it.place.lines) for it in found} >= {("largest", 14, 6), ("label", 22, 7)}


def test_a_round_has_at_most_one_fault_per_function() -> None:
    for group in islice(Mutator({"m.py": MODULE}, "0").rounds(), 5):
        assert len({mutation.place for mutation in group}) == len(group)


def test_a_seed_repeats_faults_and_another_seed_does_not() -> None:
    assert faults(seed="1") == faults(seed="1")
    assert faults(seed="1") != faults(seed="2")


def test_what_cannot_be_parsed_gets_no_fault() -> None:
    assert not faults("def f(:\n")
    assert not faults("def f():\r\n    return 1\r\n")
