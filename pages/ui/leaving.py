"""Leaving a page while a part of it is about to repeat itself.

Streamlit 1.67 keeps such a request until the next page is drawn and then draws the part as one of the page that was
left: the browser throws the new page away, finds no place for the part ("Cannot set a node at a delta path") and shows
nothing at all from then on. What is asked for a page that is no longer shown is passed over here instead.
"""

from __future__ import annotations

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData


def pass_over_left_pages() -> None:
    """From now on, in every session of this process."""
    run = ScriptRunner._run_script

    def run_if_shown(self: ScriptRunner, rerun_data: RerunData) -> None:
        shown = self._pages_manager.current_page_script_hash
        if not rerun_data.fragment_id_queue or rerun_data.page_script_hash == shown:
            run(self, rerun_data)

    ScriptRunner._run_script = run_if_shown  # type: ignore[method-assign]
