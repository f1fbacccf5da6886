"""A page that is left while a part of it is about to repeat itself, as Launch is by Start."""

from __future__ import annotations

import os
from contextlib import chdir
from pathlib import Path

from playwright.sync_api import Page
from serving import PLAINLY, forked, serving

SLOWLY_LEFT = """
import time
import streamlit as st
from pages.ui.server import ignore_left_pages

ignore_left_pages()

@st.fragment(run_every=0.3, key="what repeats")
def repeat():
    st.text("repeated")

def first():
    with st.container():
        repeat()
    if st.button("Leave"):
        time.sleep(1.5)
        st.switch_page(pages[1])

def second():
    st.text("arrived")
    with st.container():
        repeat()

pages = [st.Page(first), st.Page(second)]
st.navigation(pages).run()
"""


def test_the_page_that_follows_stays(tmp_path: Path, page: Page) -> None:
    script = tmp_path / "script.py"
    script.write_text(SLOWLY_LEFT)
    quiet = (*PLAINLY, "--browser.gatherUsageStats", "false")
    with chdir(tmp_path):  # without koderz's settings of Streamlit
        process = forked(os.environ, tmp_path / "log", *quiet, script=script)
    with serving(process, tmp_path / "log", said="URL:") as server:
        page.goto(server.url)
        page.get_by_role("button", name="Leave").click()
        page.wait_for_url(f"{server.url}/second")
        page.wait_for_timeout(2500)  # until it is drawn, and has repeated itself some times
        assert page.get_by_text("arrived").is_visible()
