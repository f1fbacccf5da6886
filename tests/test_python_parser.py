from concurrent.futures import ThreadPoolExecutor

from koderz_core.python_parser import parse

DEEP = "x = " + "(1 + " * 60 + "1" + ")" * 60


def test_programs_can_be_parsed_in_several_threads_at_once():
    with ThreadPoolExecutor(8) as pool:
        assert len({len(tree.body) for tree in pool.map(parse, [DEEP] * 2000)}) == 1
