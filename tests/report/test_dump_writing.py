"""Files of experiments into folders and zips."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from koderz_core.errors import DataError
from koderz_core.report.dump import DumpFile, write, zipped

FILES = (DumpFile("exp_0_spec.txt", b"Add.\r\n"), DumpFile("exp_0_iter001_code.py", b"a = 1"))


def test_only_files_of_the_same_name_are_replaced() -> None:
    Path("mine.txt").write_text("mine")
    Path("exp_0_spec.txt").write_text("of before")
    write(FILES, Path())
    found = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert found == {"mine.txt": b"mine", **{file.name: file.content for file in FILES}}


def test_a_link_is_replaced_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "exp_0_spec.txt").symlink_to(tmp_path / "mine.txt")
    write(FILES, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert not (tmp_path / "exp_0_spec.txt").is_symlink()


def test_a_file_where_the_folder_should_be_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(
            DataError, match=r"cannot be written into .*file.*free space on its disk, or give another folder"
        ):
            write(FILES, folder)


def test_what_cannot_be_written_leaves_nothing_half_written() -> None:
    Path("exp_0_spec.txt").mkdir()
    with pytest.raises(DataError):
        write(FILES, Path())
    assert [path.name for path in Path().iterdir()] == ["exp_0_spec.txt"]


def test_a_zip_holds_the_same_and_is_always_the_same() -> None:
    made = zipped(FILES)
    assert made == zipped(FILES)
    with ZipFile(BytesIO(made)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {file.name: file.content for file in FILES}
