"""Trees of repositories in the data folder."""

import pytest

from koderz_core.config import Settings
from koderz_core.datasets.archives import contents_sha256
from koderz_core.datasets.trees import keep_tree, load_tree, tree_path
from koderz_core.errors import DataError

FILES = {"src/a.py": b"A = 1\n", "tests/test_a.py": b"def test_a(): pass\n", "päth/ä.txt": b"\xff\0"}


def test_a_tree_comes_back_with_its_name_and_is_shared(settings: Settings) -> None:
    kept = keep_tree(FILES, "mine-1.0", "MIT", settings)
    first, second = load_tree(kept.sha256, settings), load_tree(kept.sha256, settings)
    assert kept.sha256 == contents_sha256(FILES)
    assert (first.name, first.licence, dict(first.files)) == ("mine-1.0", "MIT", FILES)
    assert second is first


def test_the_archive_depends_on_the_tree_only(settings: Settings) -> None:
    path = tree_path(keep_tree(FILES, "mine-1.0", "MIT", settings).sha256, settings)
    content = path.read_bytes()
    path.unlink()
    keep_tree(dict(reversed(FILES.items())), "mine-1.0", "MIT", settings)
    assert path.read_bytes() == content


def test_a_missing_and_a_changed_tree_name_the_command_that_makes_them(settings: Settings) -> None:
    with pytest.raises(DataError, match=r"missing.*with: koderz forge more-itertools==10\.1"):
        load_tree("0" * 64, settings, "more-itertools-10.1")
    one, other = (keep_tree(files, "mine-1.0", "", settings) for files in (FILES, {"a.py": b""}))
    tree_path(one.sha256, settings).write_bytes(tree_path(other.sha256, settings).read_bytes())
    with pytest.raises(DataError, match=r"differs from the SHA-256 in its name.*koderz forge mine==1\.0"):
        load_tree(one.sha256, settings, "mine-1.0")


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("../a.py", b"", "not a relative path"),
        ("/a.py", b"", "not a relative path"),
        (".git/config", b"", "is part of .git"),
        ("a.bin", b"\0" * (1 << 20) + b"1", "too large for a binary file"),
    ],
)
def test_what_a_tree_may_not_contain(settings: Settings, path: str, content: bytes, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        keep_tree({path: content}, "mine-1.0", "", settings)
