"""What a notice says."""

from __future__ import annotations

from koderz_core.notices.commands import CommandResult
from koderz_core.notices.messages import command_ended, last_lines


def test_of_an_output_the_last_five_lines_are_told_as_a_terminal_shows_them() -> None:
    output = "1\n2\n3\n\x1b[31mred\x1b[0m\n\n10 %\r50 %\r100 %\r\n\x1b]0;title\x07six\nseven\x1b[?25h\n"
    assert last_lines(output) == ("3", "red", "100 %", "six", "seven")


def test_a_secret_is_masked_before_its_line_is_cut() -> None:
    (line,) = last_lines("." * 150 + " sk-MARKED0123456789012345" + " more" * 20)
    assert "MARK" not in line
    assert len(line) == 200


def test_a_terminal_or_a_place_obeys_nothing_in_a_line() -> None:
    (line,) = last_lines("a\x00b\x07\u202ec")
    assert line == "a\ufffdb\ufffd\ufffdc"


def test_a_command_is_told_with_how_it_ended_and_where() -> None:
    told = [command_ended(["make", "all"], CommandResult(code, 65.0, "it\n"), "here").text for code in (0, 3, 137, 127)]
    assert told[0] == "koderz: make all finished\nafter 65.0 s on here\nit"
    assert "failed with exit code 3" in told[1]
    assert "was ended by SIGKILL (exit code 137)" in told[2]
    assert "failed with exit code 127" in told[3]
