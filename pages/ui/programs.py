"""Programs on pages, and what changed from one to the next: Python as code, patches of a repository file by file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff

import streamlit as st

from koderz_core.report.formats import numbered, one_line
from koderz_core.report.patches import FileChange, change_between, changes_of, is_patch, patch_size
from pages.ui.text import show_text

MOST_FILES = 12  # with their changes; of further files only the names
LONG = 60  # lines of the changes of a file; longer ones are folded


def show_program(program: str, name: str) -> None:
    """Show a program of unknown origin; ``name`` as for ``show_text``."""
    if is_patch(program):
        show_patch(program, name)
    else:
        show_text(program, name, "python")


def show_patch(patch: str, name: str) -> None:
    """Show the changes of each file of a patch; ``name`` as for ``show_text``."""
    changes = changes_of(patch)
    st.caption(patch_size(changes))
    for place, change in enumerate(changes[:MOST_FILES]):
        with st.container(border=True, key=f"changes-{place}-{name}", gap="xsmall"):
            _show_file(change, f"{name}-{place}")
    if further := changes[MOST_FILES:]:
        st.caption(f"The changes of {numbered(len(further), 'further file')} are not shown:")
        show_text("\n".join(f"{one_line(change.path)} {change.size}" for change in further), f"{name}-files")
        data = patch.encode(errors="replace")
        st.download_button("Download the patch", data, f"{name}.diff", "text/plain", key=f"download patch {name}")


def _show_file(change: FileChange, name: str) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.text(one_line(change.path), width="content")
        st.text(" · ".join(filter(None, (change.what, change.size))), width="content")
    length = change.text.count("\n")
    if not length:
        st.caption("No line of this file changes.")
    elif length <= LONG:
        show_text(change.text, name, "diff")
    else:
        with st.expander(f"Show {numbered(length, 'line')} of changes", key=f"open {name}"):
            show_text(change.text, name, "diff")


def show_diff(
    before: str,
    after: str,
    name: str,
    sides: tuple[str, str] = ("previous", "this"),
    files: Callable[[], Mapping[str, str]] = dict,
) -> None:
    """Show the changes from one program to the next; ``sides``: their names, in our words.

    ``files`` returns the texts that patches apply to. Of two patches it shows how these differ after the one and after
    the other.
    """
    both = is_patch(before) and is_patch(after)
    patch = change_between(before, after, files()) if both else None
    if patch:
        show_patch(patch, name)
        return
    if both and patch is None:
        st.caption("The files of the repository are not available, so the two patches are compared as texts.")
    changed = "".join(unified_diff(_whole_lines(before), _whole_lines(after), *sides, n=5))
    if patch == "" and changed:
        st.info("The two patches have the same effect.", icon="🔁")
    elif changed:
        show_text(changed, name, "diff")
    else:
        st.info("The two programs are identical.", icon="🔁")


def _whole_lines(text: str) -> Sequence[str]:
    return [f"{line}\n" for line in text.splitlines()]
