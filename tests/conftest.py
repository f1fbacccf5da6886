"""Every test has a data folder of its own and an environment without anybody's keys or servers."""

from __future__ import annotations

import atexit
import gc
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from duckdb import DuckDBPyConnection
from sample import SAMPLE, left_for_whole

import koderz_core
from koderz_core.cli import main
from koderz_core.config import Settings, load_settings
from koderz_core.grading.canonical import Canonical, Measure
from koderz_core.records import Problem, TestSet
from koderz_core.sandbox import local_judge
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.selftest import SelfTest, quick
from koderz_core.sandbox.tiers import probe
from koderz_core.store import store
from koderz_core.store.connection import created
from koderz_core.store.schema import create

TEST_DATA = os.environ.get("KODERZ_TEST_DATA")  # a folder with published files, which are no part of koderz
ROOT = Path(koderz_core.__file__).parents[1]
MODELS_DIR = os.environ.get("KODERZ_MODELS_DIR")  # weights are looked for where the person keeps them
hypothesis.settings.register_profile("patient", deadline=None)  # how busy a machine is, is nobody's fault
hypothesis.settings.load_profile("patient")
TRY_IT = {"sandbox", "diagnosis", "test_doctor.py"}  # where the sandbox itself is tested
MAKE_INDEXES = {"faults", "test_store_file.py", "test_store_ingest.py"}  # where the making of an index is tested
PROBED = cache(probe)
TRIED: dict[str, SelfTest] = {}
PERSONAL = ("KODERZ_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "LMSTUDIO_", "VLLM_", "SLACK_", "CORTEX_")


MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 * 2**30  # more than the folders of all workers hold at any time
SLOWEST = ("e2e", "dask_engine", "cli", "pages", "sandbox", "tests")  # folders with long files, which start first


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="run every case of the lists that are sampled by default")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "only_whole(name): a long test that only --whole runs")
    SAMPLE.whole = config.option.whole or any("[" in argument for argument in config.args)  # a case named by its id
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests send both, and children would inherit that they are ignored,
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as under nohup or in the background of a script
    sys.dont_write_bytecode = False  # else each of the hundreds of child processes would compile koderz anew
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    gc.set_threshold(20_000)  # not after 700 new objects, of which most live no longer than a test
    if _runs_fast(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def _runs_fast(folder: Path) -> bool:
    """Whether test folders may lie there: in memory nobody waits for the disk at every line of a journal."""
    if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < ROOM_BYTES:
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slowest folders first, so that no worker is left alone with a long file in the end."""
    if left_out := left_for_whole(items):
        config.hook.pytest_deselected(items=left_out)
    places = {name: place for place, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: places.get(item.path.parent.name, len(places)))


def pytest_collection_finish() -> None:
    """What was imported and collected stays: to search it for garbage takes most of a second."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One and a half workers for each core: tests wait for servers, browsers and deadlines a third of the time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = SAMPLE.left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:  # Any: a worker of xdist
    SAMPLE.add(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if said := SAMPLE.summary():
        terminalreporter.write_line(said)


@dataclass(frozen=True)
class Said:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # Any: JSON
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _own_ground(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(PERSONAL):
            monkeypatch.delenv(name)
    monkeypatch.setenv("KODERZ_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)  # processes of their own run this koderz too
    monkeypatch.setenv("KODERZ_MEMORY", "off")  # no benchmark of a test starts a memory server unless it means to
    if MODELS_DIR:
        monkeypatch.setenv("KODERZ_MODELS_DIR", MODELS_DIR)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")  # no .env of the checkout is read


@pytest.fixture(scope="session")
def _empty_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables without rows."""
    path = tmp_path_factory.mktemp("index") / "empty.duckdb"
    with created(path) as con:
        create(con)
        con.execute("checkpoint")
    return path


@pytest.fixture(autouse=True)
def _index_copied(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _empty_index: Path) -> None:
    """In one process the tables of an index are made once and copied for each data folder; where it is tested, not."""

    @contextmanager
    def copied(path: Path) -> Iterator[DuckDBPyConnection]:
        path.write_bytes(_empty_index.read_bytes())
        with created(path) as con:
            yield con

    def name_anew(con: DuckDBPyConnection) -> None:
        con.execute("update schema_version set build = uuid()::varchar")

    if not MAKE_INDEXES & set(request.path.parts):
        monkeypatch.setattr(store, "created", copied)
        monkeypatch.setattr(store, "create", name_anew)


class _Lasting(BoxedJudge):
    """A judge whose workers serve the next test as well."""

    def __init__(self, *arguments: Any, **words: Any) -> None:
        super().__init__(*arguments, **words)
        atexit.register(super().close)

    def close(self) -> None:
        """It ends with this process."""


LASTING = cache(_Lasting)
CHECK, MEASURE = BoxedJudge.check, Canonical._measure
MEASURED: dict[tuple[object, Problem, TestSet], Measure] = {}


def _measured_once(canonical: Canonical, problem: Problem, tests: TestSet) -> Measure:
    """As ``MEASURE``: every data folder has a cache of its own, but the programs and the judge are the same ones."""
    judge = canonical._judge()
    is_usual = isinstance(judge, _Lasting) and getattr(judge.check, "__func__", None) is CHECK
    if not is_usual or problem.repository:
        return MEASURE(canonical, problem, tests)
    key = (judge, problem, tests)
    if key not in MEASURED:
        MEASURED[key] = MEASURE(canonical, problem, tests)
    return MEASURED[key]


@pytest.fixture(autouse=True)
def _sandbox_tried(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process the sandbox and solutions are tried once, not by every test; where it is tested, each time."""
    if not TRY_IT & set(request.path.parts):
        monkeypatch.setattr(local_judge, "probe", PROBED)
        monkeypatch.setattr(local_judge, "quick", lambda judge: TRIED.get(judge.isolation) or _tried(judge))
        monkeypatch.setattr(local_judge, "BoxedJudge", LASTING)
        monkeypatch.setattr(Canonical, "_measure", _measured_once)


def _tried(judge: BoxedJudge) -> SelfTest:
    found = quick(judge)
    if found.passed:
        TRIED[judge.isolation] = found
    return found


@pytest.fixture
def settings() -> Settings:
    return load_settings()


@pytest.fixture
def koderz(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """The command line, called as a person would, in this process."""

    def call(*arguments: object) -> Said:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Said(int(end.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture(scope="module")
def _homes() -> dict[tuple[str, ...], Path]:
    """The data folders that commands of this file filled, by command."""
    return {}


@pytest.fixture
def ran_once(
    koderz: Callable[..., Said], _homes: dict[tuple[str, ...], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., None]:
    """The empty data folder of this test as a command leaves it, which all tests of a file run once: others get a copy.

    Only for commands whose output and exit code (0 or 4) no test looks at.
    """

    def fill(*command: str) -> None:
        home = load_settings().home
        if command in _homes:
            shutil.copytree(_homes[command], home)
            return
        said = koderz(*command)
        assert said.code in {0, 4}, said.err
        _homes[command] = Path(shutil.copytree(home, tmp_path_factory.mktemp("ran") / "home"))

    return fill


@pytest.fixture(scope="session")
def test_data() -> Path:
    if not TEST_DATA:
        pytest.skip("KODERZ_TEST_DATA does not name a folder with HumanEvalPlus.jsonl.gz and MbppPlus.jsonl.gz")
    return Path(TEST_DATA)
