"""What a Maven project with its modules needs, in a POM of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import PreparationError
from ci_eval.plugins.adapters.poms import read_needs
from tests.projects import write

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
    text = read_needs(write(root, **{"apps/web/pom__xml": web}))
    assert text == (
        "<properties><gson>2.1</gson></properties><dependencyManagement><dependencies></dependencies>"
        f"</dependencyManagement>{needs(gson)}"
    )


def test_a_parent_of_a_registry_only_manages_versions(tmp_path: Path) -> None:
    text = read_needs(write(tmp_path, pom__xml=pom("", f"{PARENT}<artifactId>web</artifactId>")))
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
    with pytest.raises(PreparationError, match=r"pom\.xml of the project wants"):
        read_needs(write(tmp_path / "p", pom__xml=pom(body)))


@pytest.mark.parametrize("text", ["<project>", '<!DOCTYPE p [<!ENTITY a "b">]><project>&a;</project>', ""])
def test_a_file_that_is_broken_or_has_entities_is_named(text: str, tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=r"Cannot read pom\.xml"):
        read_needs(write(tmp_path, pom__xml=text))
