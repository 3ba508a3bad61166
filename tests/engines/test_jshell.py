"""JShell for real."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_eval.contracts import Query, Running, Surroundings
from ci_eval.engines.jshell import ENGINE

TEXT = """package a.b;

import java.util.List;

class C {
    int size(List<String> é, D other) {
        return é.get(0).length() + other.width;
    }
}
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not (shutil.which("javac") or os.environ.get("CI")), reason="no JDK is installed"),
]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    root = tmp_path / "project"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "C.java").write_text(TEXT)
    (root / "a" / "b" / "D.java").write_text("package a.b;\n\npublic class D { public int width; Unknown broken; }\n")
    installation = ENGINE.install(None, tmp_path)
    surroundings = Surroundings(
        root=root, language="java", keywords=frozenset(), cache=tmp_path, timeout=60, memory=4 * 10**9
    )
    engine = ENGINE.start(installation, surroundings)
    yield engine
    engine.close()


@pytest.mark.parametrize("name", ["length", "width"])
def test_members_of_the_jdk_and_of_the_project_are_found(running: Running, name: str) -> None:
    offset = TEXT.index(name)
    running.open("a/b/C.java", TEXT)
    running.edit([(offset, len(name), "")])
    answer = running.complete(Query(offset=offset, prefix="", expected=name))
    assert name in [found.text for found in answer.suggestions]
    assert answer.latency > 0


def test_there_is_nothing_among_the_imports(running: Running) -> None:
    running.open("a/b/C.java", TEXT)
    assert running.complete(Query(offset=TEXT.index("util"), prefix="", expected="util")).suggestions == []
