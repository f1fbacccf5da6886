"""The programs that compute the results of the second study, on draws whose results are known."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[1] / "docs" / "study2"))

import analysis
import described
import registered
import sensitivity
import tiers
from analysis import LARGE as L
from analysis import SMALL as S

from koderz_core.records import Configuration
from koderz_core.strategies import name_of, recorded

COLUMNS = ["dataset", "problem", "model", "method", "temperature", "gate", "solved", "tokens", "seconds"]


def test_tries_are_means_over_all_orders_of_the_draws() -> None:
    """By hand: three draws, of which the first fails the gate, the second passes it wrongly, and the third is right."""
    group = pd.DataFrame({"gate": [False, True, True], "solved": [False, False, True], "tokens": 10, "seconds": 1.0})
    curve = analysis.tries(group, 5)
    assert curve["solved"].tolist() == pytest.approx([0, 1 / 3, 1 / 2, 1 / 2, 1 / 2, 1 / 2])
    assert curve["tokens"].tolist() == pytest.approx([0, 10, 10 * 4 / 3, 10 * 4 / 3, 10 * 4 / 3, 10 * 4 / 3])


def test_the_verdicts_are_those_of_draws_made_to_match_or_fall_short() -> None:
    """60 problems: the small model solves all but the last ``missed`` in one try, the large model solves all."""

    def draws(missed: int) -> pd.DataFrame:
        rows = []
        for number in range(60):
            right = number < 60 - missed
            small = ("set", f"p{number}", analysis.SMALL, "retry", 0.8, right, right, 100, 1.0)
            large = ("set", f"p{number}", analysis.LARGE, "retry", 0.8, True, True, 100, 2.0)
            repair = ("set", f"p{number}", analysis.SMALL, "repair", 0.8, right, right, 100, 1.0)
            greedy = ("set", f"p{number}", analysis.SMALL, "ladder", 0.0, False, False, 100, 1.0)
            rows += [*([small] * 5), *([large] * 2), greedy, *([repair] if number % 2 else [])]
        return pd.DataFrame(rows, columns=COLUMNS)

    matching, short = analysis.results(draws(1)), analysis.results(draws(20))
    assert [table["verdict"].iloc[0] for table in (matching, short)] == ["matches", "falls short"]
    assert short["difference"].iloc[0] == pytest.approx(-20 / 60)
    assert short.loc["escalation - 5 tries", "difference"] == pytest.approx(20 / 60)
    assert short.loc["escalation - 1.5B once", "difference"] == 0


def test_the_short_program_finds_the_registered_results_again(tmp_path: Path) -> None:
    """24 problems of two datasets, on some of which not all draws were made, and a repair on each third."""
    random = np.random.default_rng(3)
    arms = [(S, "retry", 0.8, 5), (L, "retry", 0.8, 2), (S, "ladder", 0.0, 1), (S, "repair", 0.8, 1)]
    rows = [
        (f"set{number % 2}", f"p{number}", model, method, temperature, *marks, 100 + int(99 * marks[0]), seconds)
        for number, chance in enumerate(random.beta(1.2, 1.5, 24))
        for model, method, temperature, made in arms[: 4 if number % 3 == 0 else 3]
        for _ in range(made if number % 5 else 1)
        for marks, seconds in [((bool(random.random() < 0.6), bool(random.random() < chance)), random.random())]
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    names = {"gate": "gate_passed", "seconds": "machine_seconds", "tokens": "input_tokens"}
    frame.rename(columns=names).assign(output_tokens=0).to_parquet(tmp_path / "draws.parquet")
    program = Path(analysis.__file__).with_name("recompute.py")
    command = [sys.executable, str(program), str(tmp_path / "draws.parquet")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = [[float(word) for word in re.findall(r"-?\d+\.\d{2,}", line)] for line in printed.splitlines()]
    expected = analysis.results(frame)
    assert printed.splitlines()[1] == expected["verdict"].iloc[0]
    for line, (name, row) in zip([found[0], *found[2:]], expected.iterrows(), strict=True):
        signed = row if not str(name).startswith("repair") else -row[["difference", "high", "low"]]
        assert line == pytest.approx([*signed.iloc[:3], row["p"]], abs=6e-5), name


def test_holm_adjusts_as_statsmodels_does() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    values = [0.04, 0.001, 0.2, 0.03, 0.03]
    assert analysis.holm(values) == pytest.approx(list(multitest.multipletests(values, method="holm")[1]))


def test_described_figures_are_those_of_draws_counted_by_hand() -> None:
    """On one problem, two of five draws are right, and the first that passes the gate is often wrong."""
    gates, right = [True, True, False, False, True], [True, False, False, False, True]
    rows = [("set", "a", S, "retry", 0.8, *marks, 100, 3.6e3) for marks in zip(gates, right, strict=True)]
    rows += [("set", "b", S, "retry", 0.8, True, True, 100, 3.6e3)] * 4
    frame = pd.DataFrame(rows, columns=COLUMNS)
    drawn = described.draw_table(frame).iloc[0]
    assert drawn["pass@1 (%)"].startswith("70.0 [")
    assert drawn["pass@2 (%)"].startswith("85.0 [")  # (1 - 3/10 + 1) / 2
    assert drawn["pass@5 (%)"] == "100.0 (1)"  # one problem has five draws
    assert drawn["right, of those that pass the gate (%)"] == pytest.approx(100 * 6 / 7)
    assert drawn["pass the gate, of the wrong ones (%)"] == pytest.approx(100 * 1 / 3)
    chosen = described.selection_table(frame)[described.SOLVED].iloc[:3]
    assert [text.partition(" ")[0] for text in chosen] == ["100.0", "83.3", "70.0"]  # (2/3 + 1) / 2
    assert described.tries_table(frame).iloc[0]["dollars"] == pytest.approx(0.065 * 0.15)


def test_escalation_pays_for_the_large_model_only_where_the_gate_refuses() -> None:
    draws = [("set", "a", S, "retry", 0.8, gate, gate, 100, 1.0) for gate in (True, False, False, False)]
    frame = pd.DataFrame([*draws, ("set", "a", L, "retry", 0.8, True, True, 200, 2.0)], columns=COLUMNS)
    found = described.escalation(*described.both_models(frame)[0])
    assert (found["solved"], found["tokens"], found["seconds"]) == (1, 250, 2.5)


def test_left_out_problems_count_against_the_small_model() -> None:
    """Ten problems that both solve; one has no draw of the small model, one none of the large."""
    rows = [("set", f"p{n}", m, "retry", 0.8, True, True, 1, 1.0) for n in range(10) for m in (S, L)]
    rows += [("set", "x", L, "retry", 0.8, True, True, 1, 1.0), ("set", "y", S, "retry", 0.8, True, True, 1, 1.0)]
    line = registered.left_out_table(pd.DataFrame(rows, columns=COLUMNS)).iloc[0]
    assert line["left out"] == "x, y"
    assert line["points [95 %] with them"].startswith("-16.67 [")  # -2 / 12


def test_a_comparison_at_more_cost_than_five_tries_says_so() -> None:
    rows = [("set", f"p{n}", S, "retry", 0.8, True, True, 10, 1.0) for n in range(3) for _ in range(5)]
    rows += [("set", f"p{n}", L, "retry", 0.8, True, True, 5, 9.0) for n in range(3)]
    rows += [("set", "p1", S, "repair", 0.8, True, True, 50, 1.0)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    at = registered.reach_table(frame)["compared at"].tolist()
    assert at == ["5.0 tokens", "five tries, which use less", "five tries, which use less"]


def test_greedy_draws_are_no_loops_and_the_tries_beside_loops_are_of_their_problems() -> None:
    """Three problems, of which one was repaired."""
    drawn = [("set", f"p{n}", model, "retry", 0.8, True, True, 1, 1.0) for n in range(3) for model in (S, S, L)]
    greedy = [("set", f"p{n}", model, "ladder", 0.0, True, True, 1, 1.0) for n in range(3) for model in (S, L)]
    frame = pd.DataFrame([*drawn, *greedy, ("set", "p1", S, "repair", 0.8, True, True, 1, 1.0)], columns=COLUMNS)
    table = described.other_table(frame).query("dataset == 'both'").set_index("configuration")["problems"]
    assert table.to_dict() == {
        "escalation, 0.5B then 1.5B": 3,
        f"repair, {S}": 1,
        f"one greedy draw, {S}": 3,
        f"one greedy draw, {L}": 3,
        f"5 tries, {S}, on these problems": 1,
    }
    retry = recorded("retry", {"max_iterations": 1, "temperature": 0.0})
    label = name_of(Configuration("ladder", {"coder": (S,)}, retry))
    assert label.split()[0] == "ladder"  # as above


def test_a_benchmark_of_the_design_with_experiments_to_run_is_missing() -> None:
    """All are there, but one has an experiment without a result yet, and one has another name."""
    digest = sha256(registered.DESIGN.read_bytes()).hexdigest()[:8]
    names = {
        f"b{n}{m}": f"{p}-{s}-{digest}" for n, p in enumerate(registered.PARTS) for m, s in enumerate(registered.SETS)
    }
    rows = [(benchmark, outcome) for benchmark in names for outcome in ("solved", "unsolved", "error")]
    experiments = pd.DataFrame(rows, columns=["benchmark", "outcome"])
    assert registered.missing(experiments, names) == []
    unfinished = pd.concat([experiments, pd.DataFrame([("b11", None)], columns=experiments.columns)])
    assert registered.missing(unfinished, {**names, "b00": "small"}) == [
        f"small-humaneval-{digest}",
        f"large-mbpp-{digest}",
    ]


def test_other_readings_change_the_draws_they_name(tmp_path: Path) -> None:
    """Ten problems: a draw of the large model and a program of repair fail an example only; one draw was disturbed."""
    rows = [("set", f"p{n}", m, "retry", 0.8, True, n > 0, 9, 1.0) for n in range(10) for m in (S, L)]
    rows += [("set", f"p{n}", S, "repair", 0.8, True, n > 0, 9, 1.0) for n in range(10)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    busy = [sensitivity.BUSY[0] + 60 if place == 19 else 0.0 for place in frame.index]
    times = {"started_at": busy, "finished_at": [start + 9 for start in busy]}
    experiments = pd.DataFrame({"id": [f"exp_{place}" for place in frame.index], **times})
    marks = [(0, True, "PF", "PP"), (0, False, "F", "PP--"), (1, True, "F", "PP--"), (2, True, "F", "PF--")]
    marks += [(3, True, "P", "PP--"), (20, True, "F", "PP--")]
    lines = [
        {"kind": "candidate_scored", "experiment": f"exp_{place}"}
        | {"event": {"returned": returned, "gate": {"marks": gate}, "held_out": {"marks": rest, "error": None}}}
        for place, returned, gate, rest in marks
    ]
    text = "\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
    (tmp_path / "bench.jsonl").write_text(text)
    table = sensitivity.sensitivity_table(frame, experiments, tmp_path)
    points = [float(text.partition(" ")[0]) for text in table["points [95 %]"]]
    assert points == [*[0.0] * 4, *[-10.0] * 3, *[10.0] * 2, 0.0]
    assert table["problems"].tolist() == [*[10] * 9, 9]
    assert table["reading"].iloc[[4, 7, 9]].tolist() == [
        "1 unclear draws of the 1.5B model solved",
        "1 unclear programs of repair solved",
        "without 1 disturbed draws",
    ]


def test_a_beta_distribution_is_found_again_in_two_draws() -> None:
    chances = np.random.default_rng(1).beta(2, 3, 20_000)
    right = np.random.default_rng(2).binomial(2, chances)
    assert described.beta_binomial(list(right), 2) == pytest.approx((2, 3), rel=0.1)


def test_published_models_are_compared_on_the_same_problems() -> None:
    """Of 40 problems, the small model solves half; published models solve all, the same, and none."""
    problems = [f"p{number}" for number in range(40)]
    rows = [("set", p, m, "retry", 0.8, n < 20, n < 20, 1, 1.0) for n, p in enumerate(problems) for m in (S, L)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    marks = {"all": [1] * 40, "same": [1] * 20 + [0] * 20, "none": [0] * 40}
    others = pd.DataFrame([("set", p, m, v) for m, vs in marks.items() for p, v in zip(problems, vs, strict=True)])
    others = pd.concat([others, pd.DataFrame([("set", "p1", "unfinished", 1)])])
    others.columns = ["dataset", "problem", "model", "solved"]
    table = tiers.tier_table(frame, others)
    readings = {"all": "falls short", "same": "matches", "none": "better"}
    assert dict(zip(table["model"], table[tiers.VERDICT], strict=True)) == readings
    assert tiers.places(frame, table)["models with fewer"].tolist() == [1] * 6


def test_the_bank_has_a_line_per_experiment_with_its_program(tmp_path: Path) -> None:
    """With a recorded journal of the first study."""
    pytest.importorskip(
        "matplotlib", reason="the figures of the studies are drawn by matplotlib: pip install '.[study]'"
    )
    import rebuild  # noqa: PLC0415 (needs matplotlib)

    journals = tmp_path / "given"
    journals.mkdir()
    source = Path(__file__).parents[1] / "docs" / "study" / "journals"
    shutil.copy(
        next(path for path in source.glob("*.gz") if b"retry20" in gzip.decompress(path.read_bytes())[:3000]), journals
    )
    names = rebuild.tables_of_journals(journals, tmp_path)
    frame = analysis.draws(tmp_path)
    rows = rebuild.bank_rows(tmp_path, frame)
    experiments = pd.read_parquet(tmp_path / "experiments.parquet")
    run, total = described.run_table(experiments, frame, names).to_dict("records")
    assert {run["experiments"], run["with a result"], total["with a result"]} == {20}
    assert run["dollars"] == pytest.approx(run["hours of calls"] * 0.065 * 0.15)
    journal = next((tmp_path / "journals").glob("*.jsonl"))
    hashed = rebuild.journal_table(tmp_path / "journals", names).iloc[0].tolist()
    assert hashed == ["retry20", journal.stem, sha256(journal.read_bytes()).hexdigest()]
    experiments = experiments.set_index("id")
    assert len(rows) == len(experiments) == 20
    codes = [sha256(program.encode()).hexdigest() for program in rows["program"]]
    assert codes == experiments.loc[rows["experiment"], "code"].tolist()
    assert list(rows["solved"]) == list(experiments.loc[rows["experiment"], "outcome"] == "solved")
