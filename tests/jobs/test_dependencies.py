"""What a project needs: installed where that is safe and cheap or asked for, and told where it is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.fetch.test_packages import index, wheel
from tests.projects import write

__all__ = ["index", "run"]

CODE = "import tiny\nfrom no.where import that\n\nprint(tiny.x, that)\n"
PINNED = {"a__py": CODE, "requirements__txt": "tiny==1.0\n"}
OPEN = {"a__py": CODE, "pyproject__toml": "[project]\nname = 'a'\ndependencies = ['tiny']\n"}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))


def manifest(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "manifest.json").read_text())
    return found


@pytest.mark.parametrize(
    ("files", "options", "installed"),
    [
        pytest.param(PINNED, [], {"tiny": "1.0"}, marks=pytest.mark.slow),
        pytest.param(PINNED, ["--no-dependencies"], {}, marks=pytest.mark.slow),
        (PINNED, ["--engine", "words"], {}),
        pytest.param(OPEN, [], {}, marks=pytest.mark.slow),
        pytest.param(OPEN, ["--dependencies"], {"tiny": "1.0"}, marks=pytest.mark.slow),
    ],
)
def test_a_lock_or_an_option_decides(
    files: dict[str, str], options: list[str], installed: dict[str, str], index: Path, run: Run, tmp_path: Path
) -> None:
    wheel(index)
    project = write(tmp_path / "p", **files)
    code, out, err = run("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o", *options)
    assert code == 0, err
    found = manifest(tmp_path / "o")
    assert found["dependencies"] == installed
    left_out = "words" not in options and not installed
    assert found["unresolvedPackages"] == ({"no": 1} if installed else {"no": 1, "tiny": 1})
    told = "imports of 2 packages cannot be resolved: no, tiny"
    page = (tmp_path / "o" / "reports" / "html" / "index.html").read_text()
    assert [told in " ".join(each.split()) for each in (err, page)] == [left_out, left_out], out


@pytest.mark.slow
def test_what_cannot_be_installed_unasked_is_a_warning(index: Path, run: Run, tmp_path: Path) -> None:
    assert not list(index.iterdir())
    asked = ["evaluate", "--project", f"path:{write(tmp_path / 'p', **PINNED)}", "--output", tmp_path / "o"]
    code, _, err = run(*asked)
    said = " ".join(err.split())
    assert (code, "the dependencies of p are not installed" in said, "--no-dependencies skips them" in said) == (
        0,
        True,
        True,
    )
    assert manifest(tmp_path / "o")["dependenciesLeftOut"] is True
    assert run(*asked[:-1], tmp_path / "other", "--dependencies")[0] == 4
