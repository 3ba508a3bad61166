"""The packages that a project of Python has itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.python_layout import read_layout, source_roots
from ci_eval.core.fetch.requirements import read_python_requirements
from tests.projects import write


def member(name: str, *needs: str) -> str:
    return f"[project]\nname = {name!r}\ndependencies = {list(needs)}\n"


UV = '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["packages/old"]\n'
POETRY = '[tool.poetry]\nname = "top"\n[tool.poetry.group.dev.dependencies]\nnear = {path = "near"}\nfar = "^1"\n'


def test_members_of_a_workspace_are_the_projects_own(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": member("top", "Its_Dangerous>=1", "six") + UV,
        "packages/a/pyproject.toml": member("its.dangerous", "click", "top"),
        "packages/a/src/its/x.py": "",
        "packages/b/pyproject.toml": member("flat"),
        "packages/old/pyproject.toml": member("six"),
        "packages/none/x.py": "",
        "src/top/x.py": "",
    }
    root = write(tmp_path, **files)
    assert read_python_requirements(root) == ["six", "click"]
    roots = [place.relative_to(root).as_posix() for place in source_roots(root)]
    assert roots == ["src", "packages/a/src", "packages/b"]


@pytest.mark.parametrize("manifest", ['[tool.uv.sources]\nnear = {path = "near"}\n', POETRY])
def test_a_path_within_the_project_is_its_own(tmp_path: Path, manifest: str) -> None:
    write(tmp_path, **{"pyproject.toml": member("top", "near", "far") + manifest, "near/src/near.py": ""})
    assert read_python_requirements(tmp_path) == ["far"]
    assert source_roots(tmp_path) == (tmp_path / "near" / "src",)


@pytest.mark.parametrize("source", ['{path = "../near"}', '{git = "https://host/near"}', '[{url = "https://h/x.whl"}]'])
def test_what_lies_elsewhere_is_not_asked_for_at_a_registry(tmp_path: Path, source: str) -> None:
    write(tmp_path / "near", x__py="")
    root = write(tmp_path / "p", **{"pyproject.toml": member("top", "near") + f"[tool.uv.sources]\nnear = {source}\n"})
    with pytest.raises(PreparationError, match=r"near from .*, which no registry has"):
        read_python_requirements(root)


@pytest.mark.parametrize("pattern", ["../*", "/tmp/*", ".", "", "packages/../../*"])
def test_a_pattern_that_leaves_the_project_names_nothing(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, **{"other/pyproject.toml": member("other")})
    root = write(tmp_path / "p", **{"pyproject.toml": f"[tool.uv.workspace]\nmembers = [{pattern!r}]\n"})
    assert read_layout(root).members == {}


def test_a_link_out_of_the_project_is_no_member(tmp_path: Path) -> None:
    write(tmp_path / "other", **{"pyproject.toml": member("other")})
    root = write(tmp_path / "p", **{"pyproject.toml": UV, "packages/x": ""})
    (root / "packages" / "link").symlink_to(tmp_path / "other")
    assert read_layout(root).members == {}


@pytest.mark.parametrize("manifest", ["[project\n", "project = 5\n", "[tool]\nuv = []\n", "[tool.uv]\nworkspace = 7\n"])
def test_a_manifest_of_another_shape_hides_no_src(tmp_path: Path, manifest: str) -> None:
    root = write(tmp_path, **{"pyproject.toml": manifest, "src/x.py": ""})
    assert source_roots(root) == (root / "src",)
