"""Maven: which coordinates are taken, what mvn is asked, and what is told when it has no sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.core.fetch.download import hash_file
from ci_eval.core.fetch.maven import artifact, check_maven
from tests.fetch.standins import client

UNKNOWN = "[ERROR] Failed: Could not find artifact a:b:jar:sources:1 in central -> [Help 1]"


@pytest.mark.parametrize(
    "text",
    ["a:b", "a:b:1:war", "a:b:1:jar:sources", "a:b:1-SNAPSHOT:jar",
     "a:b:", "a::1", "-a:b:1", "a:-b:1", "a:b:-1", "a:b:1-SNAPSHOT", "a:b:LATEST", "a:b:RELEASE",
     "a:b:[1,2)", "a/b:c:1", "a:b:1 -X", "a:b:1\n", "../a:b:1", "a:b:${x}"],
)  # fmt: skip
def test_an_artifact_must_be_one_exact_release(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"GROUP:ARTIFACT:VERSION.*commons-lang3:3\.14\.0"):
        artifact(text, tmp_path)


@pytest.mark.parametrize("text", ["junit:junit:4.13.2", "org.a_b:c-d_2.13:1.0.0.RELEASE", "com.x:y:r09", "a:b:1.0+2"])
def test_exact_artifacts_are_taken(text: str) -> None:
    assert check_maven(text)["version"] == text.rpartition(":")[2]
    assert check_maven(f"{text}:jar")["version"] == text.rpartition(":")[2]


def test_mvn_is_asked_for_the_sources_alone_in_a_folder_without_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "mvn", 'ls -A > b-1-sources.jar; echo "$@" >> b-1-sources.jar')
    jar = artifact("a:b:1", tmp_path / "out")
    files, asked = jar.read_text().split("\n", 1)[0], jar.read_text()
    assert (jar, files) == (tmp_path / "out/b-1-sources.jar", ".mvn")
    assert "-Dartifact=a:b:1:jar:sources" in asked
    assert "maven-dependency-plugin:3.6.1:copy" in asked


def test_with_jar_behind_the_release_mvn_is_asked_for_the_plain_jar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "mvn", 'echo "$@" > b-1.jar')
    assert "-Dartifact=a:b:1:jar -D" in artifact("a:b:1:jar", tmp_path / "out").read_text()


def test_an_artifact_published_without_sources_is_told_from_an_unknown_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "mvn", f'case "$*" in *:pom*) exit 0;; *) echo "{UNKNOWN}"; exit 1;; esac')
    with pytest.raises(
        InstallError, match=r"has no sources jar(.|\n)*Could not find artifact(.|\n)*a:b:1:jar(.|\n)*git or https"
    ):
        artifact("a:b:1", tmp_path / "out")
    with pytest.raises(InstallError, match=r"a:b:1 has no jar"):
        artifact("a:b:1:jar", tmp_path / "out")
    client(tmp_path, monkeypatch, "mvn", f'echo "{UNKNOWN}"; exit 1')
    with pytest.raises(InstallError, match=r"does not know a:b:1(.|\n)*Check group"):
        artifact("a:b:1", tmp_path / "out")


def test_only_the_cause_that_mvn_gives_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = r"\033[0m[ERROR] Could not transfer x from https://me:secret@h/ -> [Help 1]\n[ERROR] \n[ERROR] Re-run\n"
    client(tmp_path, monkeypatch, "mvn", f"printf '{said}'; exit 1")
    with pytest.raises(InstallError) as caught:
        artifact("a:b:1", tmp_path / "out")
    lines = str(caught.value).splitlines()
    assert lines[1] == "  Could not transfer x from https://h/"
    assert "Check the network" in lines[2]


def test_a_cause_that_maven_tells_in_several_lines_is_shown_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As Maven 3.9 says it.
    said = (
        r"[ERROR] Plugin x could not be resolved:\n[ERROR] \tPKIX path building failed\n[ERROR] -> [Help 1]\n[ERROR] \n"
    )
    client(tmp_path, monkeypatch, "mvn", f"printf '{said}'; exit 1")
    with pytest.raises(InstallError, match=r"resolved:\n.*PKIX path building failed\nCheck the network"):
        artifact("a:b:1", tmp_path / "out")


@pytest.mark.needs("mvn")
@pytest.mark.registry
def test_mvn_brings_a_real_artifact(tmp_path: Path) -> None:
    jar = artifact("org.apache.commons:commons-lang3:3.14.0", tmp_path)
    assert jar.name == "commons-lang3-3.14.0-sources.jar"


@pytest.mark.needs("mvn")
@pytest.mark.registry
@pytest.mark.needs("mvn")
def test_mvn_brings_a_real_plain_jar(tmp_path: Path) -> None:
    jar = artifact("org.asciidoctor:asciidoctorj:3.0.0:jar", tmp_path)
    assert hash_file(jar) == "866afb68d894497e9dc97a2c8c532668f97e5efa4ad7da09494cbbe96b526944"


@pytest.mark.registry
def test_a_release_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="does not know"):
        artifact("org.apache.commons:commons-lang3:3.14.99", tmp_path)
