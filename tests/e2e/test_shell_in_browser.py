"""The dashboard from outside: how it starts, what it shows first, what it refuses, how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
import streamlit
from forking import Fork
from menu import PAGES
from playwright.sync_api import Browser, Page, expect
from sample import only_whole
from serving import KODERZ, ROOT, WITHIN, Serve, Server, forked, serving

from pages.ui import shell
from pages.ui.document import STYLES

LOGIN = """[auth]
redirect_uri = "http://localhost/oauth2callback"
cookie_secret = "a secret"
client_id = "koderz"
client_secret = "another"
server_metadata_url = "https://id.example/.well-known/openid-configuration"
"""


OTHERS = [pytest.param(name, marks=only_whole("first visits to a page")) for name in PAGES if name != "compare"]


def started_alone(log: Path, *options: str) -> Fork:
    """As a person starts Streamlit without koderz."""
    return forked(os.environ, log, "--server.headless", "true", "--server.port", "0", *options)


def refusal(log: Path, *options: str) -> str:
    """What Streamlit says that does not start with these options."""
    assert started_alone(log, *options).wait(WITHIN) == 2, log.read_text()
    return log.read_text()


def first_start(server: Serve, folder: Path) -> Server:
    """As a person starts it for the first time: it opens the browser, asks nothing and says where it is."""
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {folder}/told && mv {folder}/told {folder}/shown\n')
    browser.chmod(0o755)
    clean = {"HOME": str(folder), "DISPLAY": ":99", "BROWSER": str(browser)}
    running = server(environment=clean, command=(KODERZ, "ui", "--port", "0", "--data-dir", str(folder / "home")))
    last = time.monotonic() + WITHIN
    while not (folder / "shown").exists() and time.monotonic() < last:
        time.sleep(0.1)
    assert (folder / "shown").read_text().strip() == running.url
    assert running.log.read_text().splitlines() == [f"koderz is at {running.url}  (Ctrl-C stops the server)"]
    return running


@pytest.mark.parametrize("name", ["compare", *OTHERS])
def test_it_opens_the_browser_asks_no_question_and_its_first_visit_may_be_to_any_page(
    server: Serve, page: Page, console_errors: list[str], tmp_path: Path, name: str
) -> None:
    page.goto(f"{first_start(server, tmp_path).url}/{'' if name == 'overview' else name}")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text(shell.PAGES[name].title, timeout=60_000)  # a fresh server on a crowded machine
    expect(page.get_by_role("dialog")).to_have_count(0)  # else: "Page not found"
    expect(page.get_by_text("This is a bug in koderz")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert [error for error in console_errors if "Content Security Policy" in error] == []


def test_an_unknown_address_shows_home_and_says_so(server: Serve, page: Page) -> None:
    url = server().url
    for address in ("nonsense", "overview"):
        with urlopen(f"{url}/{address}", timeout=30) as answer:
            assert STYLES.read_bytes() in answer.read()
        page.goto(f"{url}/{address}")
        expect(page.get_by_text("The dashboard has no page at this address, so it shows Home.")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_contain_text(shell.PAGES["overview"].title)
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_test_id("stPageLink-NavLink").filter(has_text=re.compile("System$")).first.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(shell.PAGES["models"].title)
        expect(page.get_by_text("The dashboard has no page at this address")).to_have_count(0)


def test_every_answer_forbids_the_browser_to_load_from_elsewhere(server: Serve) -> None:
    url = server().url
    for path in ("/", "/live", "/_stcore/health", "/no/such/file"):
        with urlopen(url + path, timeout=30) as answer:
            assert "img-src 'self' data: blob:;" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["X-Frame-Options"] == "DENY"


def test_the_browser_loads_no_picture_from_elsewhere_and_does_not_keep_the_server_from_ending(
    server: Serve, chromium: Browser
) -> None:
    running = server()
    with chromium.new_context() as context:  # not the fixture's page, which lets nothing even try
        page = context.new_page()
        page.goto(running.url)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        blocked = page.evaluate("""() => new Promise(done => {
            document.addEventListener('securitypolicyviolation', seen => done(seen.blockedURI))
            const picture = new Image()
            picture.onerror = () => setTimeout(done, 1000, 'asked for')
            picture.src = 'https://elsewhere.example/seen.png'
        })""")
        assert running.end() == -signal.SIGTERM
    assert blocked == "https://elsewhere.example/seen.png"


def test_who_does_not_read_on_holds_up_nobody(server: Serve) -> None:
    running = server()
    static = Path(streamlit.__file__).parent / "static"
    largest = max(static.rglob("*.js"), key=lambda path: path.stat().st_size).relative_to(static)
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", urlsplit(running.url).port))
        slow.sendall(f"GET /{largest} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert b"200 OK" in slow.recv(100)
        assert running.end() == -signal.SIGTERM


@pytest.mark.parametrize("address", ["0.0.0.0", "::", ""])
def test_it_listens_to_no_network_without_a_log_in(address: str, tmp_path: Path) -> None:
    said = refusal(tmp_path / "log", "--server.address", address)
    assert f"server.address '{address}' would open the dashboard to the network" in said


def test_the_programs_interface_to_its_buttons_stays_off(tmp_path: Path) -> None:
    assert "enableAgentApi" in refusal(tmp_path / "log", "--server.enableAgentApi", "true")


def test_secrets_that_cannot_be_read_do_not_open_what_they_should_close(tmp_path: Path) -> None:
    Path(".streamlit").mkdir()
    Path(".streamlit/secrets.toml").write_text("[auth")
    assert "Fix the file secrets.toml" in refusal(tmp_path / "log")


def test_with_a_log_in_nobody_sees_a_page_before(page: Page, tmp_path: Path) -> None:
    Path(".streamlit").mkdir()
    Path(".streamlit/secrets.toml").write_text(LOGIN)
    with serving(started_alone(tmp_path / "log", "--server.address", "0.0.0.0"), tmp_path / "log") as running:
        page.goto(running.url.replace("0.0.0.0", "127.0.0.1") + "/launch")
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        expect(page.get_by_test_id("stPageLink")).to_have_count(0)


def test_an_installed_wheel_has_the_dashboard_in_it(server: Serve, page: Page, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        top = {name.split("/")[0] for name in packed.namelist()}
        packed.extractall(target)
    assert {name for name in top if not name.endswith(".dist-info")} == {"koderz_core", "koderz_dashboard"}
    koderz = (sys.executable, "-P", "-c", "from koderz_core.cli import main; main()")
    running = server(environment={"PYTHONPATH": str(target)}, command=(*koderz, "ui", "--no-browser", "--port", "0"))
    page.goto(f"{running.url}/launch")
    expect(page.get_by_test_id("stSidebar").get_by_test_id("stPageLink")).to_have_count(5)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
