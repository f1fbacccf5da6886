"""An error of a button in a part that repeats by itself: told in that part, while the head of the page stays."""

from __future__ import annotations

import time

from streamlit.testing.v1 import AppTest

from koderz_core import the_workspace


def dashboard() -> None:
    import streamlit as st  # noqa: PLC0415 (AppTest runs the body alone)

    from koderz_core import KoderzError  # noqa: PLC0415
    from pages.ui.edge import attempt, show_failure  # noqa: PLC0415

    def act() -> None:
        if not st.session_state.get("works"):
            raise KoderzError("Nobody is at it any more.")

    @st.fragment
    def part() -> None:
        st.button("Stop", on_click=attempt, args=["here", act])
        show_failure("here")

    st.title("Live")
    part()


def test_what_a_button_could_not_do_is_told_below_it_and_not_over_the_head_of_the_page() -> None:
    app = AppTest.from_function(dashboard).run()
    app.button[0].click().run()
    title, part = app.main.children.values()
    assert title == app.title[0]
    assert list(part.children.values())[:2] == [app.button[0], app.error[0]]
    assert app.text[0].value == "Nobody is at it any more."


def test_what_a_button_did_is_seen_by_whoever_looks_next() -> None:
    shared = the_workspace().results.shared
    began = time.time()
    assert shared.of("state", began, lambda: "running", 60.0) == "running"
    AppTest.from_function(dashboard).run().button[0].click().run()
    assert shared.of("state", began, lambda: "stopping", 60.0) == "stopping"


def test_it_is_told_until_the_next_attempt() -> None:
    app = AppTest.from_function(dashboard).run()
    app.button[0].click().run()
    assert len(app.run().error) == 1
    app.session_state["works"] = True
    app.button[0].click().run()
    assert not app.error
