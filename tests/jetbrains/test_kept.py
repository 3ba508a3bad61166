"""Interrupted runs of the plugin, put together."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.plugins.jetbrains import kept
from ci_eval.plugins.jetbrains.generations import ij21, ij23, k19
from ci_eval.plugins.jetbrains.kept import find_complete_files, whole


def part(folder: Path, *files: str, errors: tuple[str, ...] = ()) -> Path:
    """A workspace with these files."""
    for number, path in enumerate(files):
        for name, field in (("data/files", "filePath"), ("actions", "path")):
            packed(folder / name / f"a.py({number}).json.gz", {field: path})
    for number, path in enumerate(errors):
        packed(folder / "errors" / f"a.py({number}).json.gz", {"path": path, "message": folder.name})
    (folder / "config.json").write_text(json.dumps({"of": folder.name}))
    (folder / "features" / "a").mkdir(parents=True)
    (folder / "features" / "a" / "1.gz").write_bytes(b"")
    return folder


def packed(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(value).encode()))


def test_each_file_is_taken_from_the_run_that_finished_it(tmp_path: Path) -> None:
    first = part(tmp_path / "1", "x/a.py", "y/a.py", errors=("z/a.py", "y/a.py"))
    half = first / "data/files/a.py(1).json.gz"
    half.write_bytes(half.read_bytes()[:-9])
    assert find_complete_files(first) == {"x/a.py"}
    last = part(tmp_path / "2", "y/a.py", "z/a.py", errors=("z/a.py",))
    whole([first, last], tmp_path / "o")
    for generation in (k19, ij21, ij23):
        listed = generation.GENERATION.listed(tmp_path / "o" / "data")
        assert [each.path for each in listed] == ["x/a.py", "y/a.py", "z/a.py"]
        assert [json.loads(gzip.decompress(each.file.read_bytes()))["filePath"] for each in listed] == [
            "x/a.py",
            "y/a.py",
            "z/a.py",
        ]
    errors = [json.loads(gzip.decompress(each.read_bytes())) for each in (tmp_path / "o/errors").iterdir()]
    assert errors == [{"path": "z/a.py", "message": "2"}]
    assert len([*(tmp_path / "o/actions").iterdir()]) == 3
    assert json.loads((tmp_path / "o/config.json").read_text()) == {"of": "2"}
    assert len([*(tmp_path / "o/features").rglob("*.gz")]) == 2


@pytest.mark.parametrize("name", [*kept.FOLDERS])
def test_a_run_that_finished_is_refused_where_it_is_damaged(tmp_path: Path, name: str) -> None:
    last = part(tmp_path / "1", "a.py", errors=("b.py",))
    file = next((last / name).rglob("*.gz"))
    file.write_bytes(b"damaged")
    with pytest.raises(WorkspaceError, match=r"a\.py\(0\)"):
        whole([last], tmp_path / "o")
