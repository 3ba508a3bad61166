"""Jars of artifacts, with all they need."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ci_eval.core.base.errors import InstallError
from ci_eval.plugins.adapters import jars
from tests.adapters.hostile_locks import MAVEN
from tests.adapters.test_fetching import Listener, listener

__all__ = ["listener"]


@pytest.mark.needs("mvn", "java")
@pytest.mark.registry
def test_an_artifact_comes_with_all_it_needs_or_only_that(tmp_path: Path) -> None:
    whole, needed = tmp_path / "whole", tmp_path / "needed"
    whole.mkdir()
    needed.mkdir()
    assert jars.resolve("org.jetbrains.kotlin:kotlin-stdlib:2.2.20", whole) == {
        "org.jetbrains.kotlin:kotlin-stdlib": "2.2.20",
        "org.jetbrains:annotations": "13.0",
    }
    assert jars.resolve("org.jetbrains.kotlin:kotlin-stdlib:2.2.20", needed, itself=False) == {
        "org.jetbrains:annotations": "13.0"
    }
    assert [path.name for path in jars.list_jars(needed)] == ["annotations-13.0.jar"]


@pytest.mark.needs("mvn", "java")
@pytest.mark.registry
def test_what_has_the_artifact_s_name_in_another_group_stays(tmp_path: Path) -> None:
    others = ("com.google.code.findbugs:annotations:2.0.1",)
    assert jars.resolve("org.jetbrains:annotations:13.0", tmp_path, others=others, itself=False) == {
        "com.google.code.findbugs:annotations": "2.0.1"
    }
    assert [path.name for path in jars.list_jars(tmp_path)] == ["annotations-2.0.1.jar"]


@pytest.mark.needs("mvn", "java")
@pytest.mark.registry
def test_an_artifact_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"Check group, name and version\."):
        jars.resolve("org.jetbrains.kotlin:kotlin-stdlib:0.0.99", tmp_path)


@pytest.fixture
def hostile() -> Iterator[Path]:
    """Yield the folder of an artifact in Maven's local repository, from which it is removed again."""
    named = re.search(r"-Dmaven\.repo\.local=(\S+)", os.environ.get("MAVEN_OPTS", ""))
    repository = Path(named[1]) if named else Path.home() / ".m2" / "repository"
    folder = repository / "ci" / "eval" / "hostile" / "evil" / "1"
    shutil.rmtree(folder.parents[1], ignore_errors=True)  # that of a run that was killed
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "evil-1.jar", "w") as jar:
        jar.writestr("a", "")
    yield folder
    shutil.rmtree(folder.parents[1])


@pytest.mark.needs("mvn", "java")
@pytest.mark.registry
@pytest.mark.xdist_group("hostile artifact")
@pytest.mark.parametrize("text", MAVEN.values(), ids=MAVEN.keys())
def test_what_the_pom_of_an_artifact_names_is_not_asked(
    text: str, hostile: Path, listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "<modelVersion>4.0.0</modelVersion><groupId>ci.eval.hostile</groupId><artifactId>evil</artifactId>"
    pom = f"<project>{head}<version>1</version>{text.replace('EVIL', listener.address)}</project>"
    (hostile / "evil-1.pom").write_text(pom)
    for number in range(2):
        (folder := tmp_path / str(number)).mkdir()
        with suppress(InstallError):
            jars.resolve("ci.eval.hostile:evil:1", folder, itself=False)
        assert bool(listener.heard) == bool(number and "<id>central<" not in text)
        assert not (folder / "settings.xml").exists()
        # With these, the listener would hear it.
        monkeypatch.setattr(jars, "_settings", lambda: "<settings></settings>")
