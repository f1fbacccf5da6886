"""Every page in this process, on a data folder that the real runner filled."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import koderz_core
from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.records import Plan
from koderz_core.workspace import leave

APP = Path(koderz_core.__file__).parent.parent / "app.py"


@pytest.fixture(autouse=True, scope="session")
def _run_as_served() -> None:
    """Scripts run as the dashboard runs them: a test's own folder has no configuration of Streamlit."""
    served = tomllib.loads((APP.parent / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    for name, value in served["runner"].items():
        config.set_option(f"runner.{name}", value)


@pytest.fixture(autouse=True, scope="session")
def _scanned_once() -> Iterator[None]:
    """Each ``AppTest`` reads the metadata of all installed packages for Streamlit components: once is enough."""
    found = manifest_scanner.scan_component_manifests()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: found)
        yield


@pytest.fixture(autouse=True)
def _no_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What Launch offers must not depend on what the machine has: only scripted models can run."""
    monkeypatch.setenv("KODERZ_MODELS_DIR", str(tmp_path / "no weights"))


@pytest.fixture
def visit() -> Iterator[Callable[..., AppTest]]:
    """A page as its address opens it; the process's workspace is a fresh one for each test, and no answer is kept."""
    leave()
    st.cache_resource.clear()  # two tests on copies of one journal would share them

    def open_page(page: str, **query: str) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=30)
        if page != "overview":
            app.switch_page(f"pages/{page}.py")
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    yield open_page
    leave()


@pytest.fixture(scope="session")
def _recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    home = tmp_path_factory.mktemp("recorded")
    weak = Wanted("supervised", {"coder": "scripted/weak"}, {"max_iterations": 3, "checkpoint_interval": 1})
    order = Order([Wanted("direct", {"coder": "scripted/strong"}), weak], "0:3")
    with open_workspace(home=home, memory="off") as workspace:
        plan = workspace.plans.plan(order)
        workspace.runs.run(plan)
        workspace.results.benchmarks()  # from here on the index has all that the journal says
    return home, plan


@pytest.fixture
def recorded(_recorded: tuple[Path, Plan]) -> Plan:
    """Three problems with two configurations, one of which fails at times, as the runner recorded them."""
    home, plan = _recorded
    shutil.copytree(home, load_settings().home, dirs_exist_ok=True)
    return plan
