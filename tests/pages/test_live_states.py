"""What Live says of a benchmark that grows, has errors or was stopped, and what can be done from there."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from chat_server import Server, sends, serving_chat, streams
from reading import components, said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace, the_workspace
from koderz_core.events import AllowanceSet
from koderz_core.journal import read_all
from koderz_core.records import Plan
from koderz_core.workspace.engines import workers_file

Visit = Callable[..., AppTest]


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that refuses every call."""
    with serving_chat() as server:
        server.answer = sends(400, {})
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        yield server


def failed(problems: str = "0:3") -> Plan:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "vllm/it"})], problems))
        workspace.runs.run(plan)
    return plan


def eventually(claim: Callable[[], object], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(claim())


def links(app: AppTest) -> list[str]:
    return [link.proto.label for link in app.get("page_link")]


def counted(app: AppTest) -> tuple[set[int], int]:
    """How many experiments have a result, by all that says it on the page; and how many iterations the feed needs."""
    shown = {
        name: data[name] for data in components(app) for name in ("bar", "lines", "states", "rates") if name in data
    }
    bar = int(shown["bar"]["text"].split(" of ")[0])
    states = [name for name, _ in shown["states"]]
    cells = [states[cell % len(states)] for line in shown["lines"] for cell in line["cells"]]
    totals = sum(int(line["total"].partition("/")[2] or 0) for line in shown["lines"])
    parts = [re.search(r"partial: (\d+) of (\d+)|no result yet \((\d+) planned", line) for line in shown["rates"]]
    rates = sum(int(part[2] or part[3]) - int(part[1] or part[3]) for part in parts if part)
    feed = {(row.experiment, row.iteration) for table in app.dataframe for row in table.value.itertuples()}
    return {bar, cells.count("solved") + cells.count("unsolved"), totals, rates}, len(feed)


def test_whatever_counts_experiments_says_the_same_in_each_frame_while_the_journal_grows(visit: Visit) -> None:
    visit("overview")
    wanted = Wanted("supervised", {"coder": "scripted/slow"}, {"max_iterations": 50})
    plan = the_workspace().plans.plan(Order([wanted], "0:40"))
    the_workspace().runs.start(plan, 2)
    app, seen, begun = visit("live", benchmark=plan.id), set[int](), time.monotonic()
    while len(seen) < 4 and time.monotonic() - begun < 60:
        numbers, feed = counted(app.run())
        (iterations,) = (int(words) for words in re.findall("^iterations ([0-9]+)$", said(app), re.MULTILINE))
        assert len(numbers) == 1
        assert feed == min(iterations, 15)
        seen |= numbers
    assert len(seen) == 4  # it grew meanwhile


def test_what_finished_with_errors_says_so_and_each_cause_once(visit: Visit, refusing: Server) -> None:
    plan = failed()
    app = visit("live", benchmark=plan.id)
    words = said(app)
    assert "state ended without a result: 3 errors" in words
    assert "no result: 3 of 3 experiments ended with an error" in words
    assert "3 of 3 experiments" in words
    assert words.count("answered 400") == 1
    assert "3 experiments: " in words
    overview = visit("overview")
    assert "Ended without a result: 3 errors." in said(overview)
    assert "! ended without a result: 3 errors" in links(overview)


@pytest.mark.parametrize("page", ["live", "overview"])
def test_retry_errors_runs_again_what_ended_as_error(visit: Visit, refusing: Server, page: str) -> None:
    plan = failed("0:2")
    refusing.answer = streams({"content": "No idea."})
    app = visit(page, **({"benchmark": plan.id} if page == "live" else {}))
    app.button(key=f"retry errors {page} {plan.id}").click().run()
    assert not app.exception
    assert eventually(lambda: the_workspace().results.benchmark(plan.id).unsolved == 2)
    assert the_workspace().results.benchmark(plan.id).errors == 0


def test_a_stopped_benchmark_stays_on_its_page_and_in_its_address_and_leads_to_its_results(
    visit: Visit, recorded: Plan
) -> None:
    visit("overview")
    plan = the_workspace().plans.plan(
        Order([Wanted("supervised", {"coder": "scripted/stubborn"})], "0:2", name="older")
    )
    the_workspace().runs.start(plan)
    app = visit("live")  # shows what runs
    assert "See results" not in links(app)
    app.button(key=f"stop live {plan.id}").click().run()
    assert eventually(lambda: the_workspace().results.benchmark(plan.id).state == "stopped")
    app.run()
    assert app.query_params["benchmarks"] in (plan.id, [plan.id])
    assert "See results" in links(app)


def test_while_text_streams_nothing_is_said_of_silence(
    visit: Visit, refusing: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koderz_core.report.status.QUIET_SECONDS", 1.0)
    over = threading.Event()
    refusing.answer = speaks_until(over)
    visit("overview")
    plan = the_workspace().plans.plan(Order([Wanted("direct", {"coder": "vllm/it"})], "0:1"))
    the_workspace().runs.start(plan)
    (experiment,) = plan.experiments()
    assert eventually(lambda: (spoken := the_workspace().runs.live.of(experiment.id)) and len(spoken.text) > 100)
    words = said(visit("live", benchmark=plan.id))
    over.set()
    assert "newest text" in words
    assert "No call or test has been completed" not in words


def speaks_until(over: threading.Event) -> Callable[[BaseHTTPRequestHandler], None]:
    """An answer of a word every few moments."""
    chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]})

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        while not over.wait(0.05):
            handler.wfile.write(f"data: {chunk}\n\n".encode())
            handler.wfile.flush()
        handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def test_resume_keeps_the_concurrency_that_was_last_allowed(visit: Visit) -> None:
    visit("overview")
    plan = the_workspace().plans.plan(Order([Wanted("supervised", {"coder": "scripted/stubborn"})], "0:4"))
    the_workspace().runs.start(plan, 3)
    the_workspace().runs.change(plan.id, concurrency=2)
    the_workspace().runs.stop(plan.id)
    assert eventually(lambda: the_workspace().results.benchmark(plan.id).state == "stopped")
    visit("live", benchmark=plan.id).button(key=f"resume live {plan.id}").click().run()
    journal = the_workspace().settings.journals_dir / f"{plan.id}.jsonl"
    allowed = [entry.event.after.concurrency for entry in read_all(journal) if isinstance(entry.event, AllowanceSet)]
    assert allowed == [3, 2, 2]


def test_the_experiments_of_each_worker_are_shown_while_workers_run_the_benchmark(visit: Visit) -> None:
    visit("overview")
    plan = the_workspace().plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1"))
    the_workspace().runs.run(plan)
    file = workers_file(the_workspace().settings, plan.id)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"1 (tcp://10.0.0.6:40123)": ("exp_1", "exp_2"), "0 (tcp://10.0.0.5:40123)": ()}))
    tables = [table.value for table in visit("live", benchmark=plan.id).dataframe if "worker" in table.value]
    assert [table.to_numpy().tolist() for table in tables] == [
        [["0 (tcp://10.0.0.5:40123)", 0], ["1 (tcp://10.0.0.6:40123)", 2]]
    ]
    file.unlink()
    assert "Workers" not in said(visit("live", benchmark=plan.id))
