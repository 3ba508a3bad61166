"""What a project wants from elsewhere than a registry: refused and named, whoever asks for it, and never run."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.version import Version

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.fetch.requirements import read_python_requirements
from tests.adapters.test_environments import packages
from tests.canaries import source_archive
from tests.fetch.test_packages import index, wheel
from tests.projects import write

__all__ = ["index"]

REFUSED = [
    "canarydep @ file:///{archive}", "canarydep@file:{archive}", "canarydep[x] @ https://example.org/x.whl ; a == 'b'",
    "{archive}", "./canarydep", "file:{archive}", "git+https://example.org/x", "x @ git+ssh://a@b/c", "a b",
]  # fmt: skip


def manifests(text: str) -> Iterator[dict[str, str]]:
    yield {"pyproject__toml": f"[project]\nname = 'x'\ndependencies = [{json.dumps(text)}]\n"}
    yield {"requirements__txt": f"six\n{text}\n"}
    yield {"x-1__dist-info/METADATA": f"Name: x\nRequires-Dist: {text}\n\n"}


@pytest.mark.parametrize("text", REFUSED)
def test_a_requirement_that_is_an_address_or_a_path_is_refused_and_named(text: str, tmp_path: Path) -> None:
    text = text.format(archive=tmp_path / "canarydep-1.0.tar.gz")
    for count, files in enumerate(manifests(text)):
        with pytest.raises(PreparationError, match=r"(toml|txt|METADATA) of the project wants .*set project\.dep"):
            read_python_requirements(write(tmp_path / str(count), **files))


@pytest.mark.parametrize(
    "text", ["-e .", ".[all]", "--index-url x", "-r other.txt", "# a", "six==1 \\\n --hash=sha256:0"]
)
def test_options_and_the_project_itself_are_no_requirements(text: str, tmp_path: Path) -> None:
    assert set(read_python_requirements(write(tmp_path, requirements__txt=f"six==1\n{text}\n"))) == {"six==1"}


@pytest.mark.parametrize(
    "text", ["six", "six>=1,<2", "six (==1.*)", "a.b-c[x, y] ~= 1.0 ; python_version < '3.9' or os_name == 'a@b'"]
)
def test_plain_requirements_are_taken(text: str, tmp_path: Path) -> None:
    assert read_python_requirements(write(tmp_path, **{"x-1__dist-info/METADATA": f"Requires-Dist: {text}"})) == [text]


# An older pip does not say which package wants what it collects.
FROM_TINY = r" \(from tiny" if Version(importlib.metadata.version("pip")) >= Version("23.3") else ""


def test_the_requirement_of_a_wheel_is_not_built(index: Path, tmp_path: Path) -> None:
    archive = source_archive(tmp_path, canary := tmp_path / "canary")
    wheel(index, needs=f"canarydep @ {archive.as_uri()}")
    with pytest.raises(PreparationError, match=rf"not allowed to build .*canarydep-1\.0\.tar\.gz{FROM_TINY}"):
        packages("python", write(tmp_path / "p", requirements__txt="tiny"), tmp_path)
    assert not canary.exists()


def test_no_repository_is_cloned_for_a_wheel(index: Path, tmp_path: Path) -> None:
    wheel(index, needs="canarydep @ git+https://127.0.0.1:9/x")
    with pytest.raises(PreparationError, match=rf"not allowed to build .*git\+https.*{FROM_TINY}"):
        packages("python", write(tmp_path / "p", requirements__txt="tiny"), tmp_path)


def test_a_wheel_by_its_address_is_refused_where_another_wheel_asks_for_it(index: Path, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    wheel(index, needs=f"other @ {wheel(elsewhere, 'other').as_uri()}")
    with pytest.raises(PreparationError, match="other came from elsewhere than an index"):
        packages("python", write(tmp_path / "p", requirements__txt="tiny"), tmp_path)
    assert not list((tmp_path / "environments").glob("[!.]*"))


def test_a_manifest_that_is_a_link_out_of_the_project_is_not_read(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret", requirements__txt="password").joinpath("requirements.txt")
    (root := tmp_path / "p").mkdir()
    (root / "requirements.txt").symlink_to(secret)
    assert read_python_requirements(root) == []
