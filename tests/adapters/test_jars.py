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

from ci_eval.core.base.errors import InstallError, PreparationError
from ci_eval.plugins.adapters import jars
from tests.adapters.hostile_locks import MAVEN
from tests.adapters.test_fetching import Listener, listener
from tests.projects import write

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
        monkeypatch.setattr(jars, "_write_settings", lambda: "<settings></settings>")


def package_of(text: str) -> str | None:
    return None if text == "none" else text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "a" / "project"


def write_package(root: Path, path: str, package: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(package)


def test_a_root_is_where_the_folders_of_a_package_begin(root: Path) -> None:
    write_package(root, "src/main/java/a/b/C.java", "a.b")
    write_package(root, "src/main/java/a/D.java", "a")
    write_package(root, "src/test/java/a/b/T.java", "a.b")
    assert jars.source_roots(root, ".java", package_of) == [root / "src/main/java", root / "src/test/java"]


def test_a_file_without_a_package_is_in_a_root(root: Path) -> None:
    write_package(root, "examples/E.java", "")
    assert jars.source_roots(root, ".java", package_of) == [root / "examples"]


def test_a_file_that_is_not_where_its_package_is_has_no_root(root: Path) -> None:
    write_package(root, "data/C.java", "a.b")
    write_package(root, "other/E.java", "none")
    assert jars.source_roots(root, ".java", package_of) == []


def test_no_root_is_outside_the_project(root: Path) -> None:
    write_package(root, "C.java", "a.project")
    assert jars.source_roots(root, ".java", package_of) == []


NEED = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId>{}</dependency>"
PARENT = "<parent><groupId>a</groupId><artifactId>all</artifactId><version>1</version></parent>"


def pom(body: str, own: str = "<groupId>a</groupId><artifactId>all</artifactId><version>1</version>") -> str:
    space = 'xmlns="http://maven.apache.org/POM/4.0.0"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<project {space}>{own}{body}</project>'


def needs(*artifacts: str) -> str:
    return f"<dependencies>{''.join(artifacts)}</dependencies>"


def test_modules_are_no_needs_and_tests_neither(tmp_path: Path) -> None:
    core = NEED.format("${project.groupId}", "core", "<version>${project.version}</version>")
    junit = NEED.format("junit", "junit", "<version>4</version><scope>test</scope>")
    gson = NEED.format("com.google", "gson", "<version>${gson}</version>")
    modules = (
        "<modules><module>core</module><module>apps/web</module></modules><properties><gson>2.1</gson></properties>"
    )
    web = pom(needs(core, junit, gson), f"{PARENT}<artifactId>web</artifactId>")
    root = write(
        tmp_path, pom__xml=pom(modules), **{"core/pom__xml": pom("", f"{PARENT}<artifactId>core</artifactId>")}
    )
    text = jars.read_needs(write(root, **{"apps/web/pom__xml": web}))
    assert text == (
        "<properties><gson>2.1</gson></properties><dependencyManagement><dependencies></dependencies>"
        f"</dependencyManagement>{needs(gson)}"
    )


def test_a_parent_of_a_registry_only_manages_versions(tmp_path: Path) -> None:
    text = jars.read_needs(write(tmp_path, pom__xml=pom("", f"{PARENT}<artifactId>web</artifactId>")))
    imported = "<type>pom</type><scope>import</scope>"
    assert needs(NEED.format("a", "all", f"<version>1</version>{imported}")) in text
    assert "<parent>" not in text


@pytest.mark.parametrize(
    "body",
    [
        "<modules><module>../out</module></modules>",
        "<modules><module>none</module></modules>",
        needs(NEED.format("a", "b", "<version>1</version><scope>system</scope>")),
        needs(NEED.format("a/../b", "b", "<version>1</version>")),
        needs(NEED.format("a", "b", "<version>http://evil.example/x</version>")),
    ],
)
def test_what_no_registry_has_is_refused(body: str, tmp_path: Path) -> None:
    write(tmp_path / "out", pom__xml=pom(""))
    with pytest.raises(PreparationError, match=r"pom\.xml of the project requires"):
        jars.read_needs(write(tmp_path / "p", pom__xml=pom(body)))


@pytest.mark.parametrize("text", ["<project>", '<!DOCTYPE p [<!ENTITY a "b">]><project>&a;</project>', ""])
def test_a_file_that_is_broken_or_has_entities_is_named(text: str, tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=r"Cannot read pom\.xml"):
        jars.read_needs(write(tmp_path, pom__xml=text))
