"""The engines that a driver of ours asks, for real: the compilers of Kotlin and Scala."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from ci_eval.core.contracts import Query, Running, Surroundings
from ci_eval.plugins.adapters.engine import FromRecipe
from tests.needs import need_engine

JAVA = """package a.b;

import java.util.*;

class C {
    int size(List<String> é, D other) {
        Queue<String> queue = new ArrayDeque<>(é);
        return é.get(0).length() + other.width + queue.size();
    }
}
"""
KOTLIN = """package a.b

import java.util.ArrayDeque

fun size(é: List<String>, other: D): Int {
    val queue = ArrayDeque(é)
    return é.first().length + other.width + queue.size
}
"""
SCALA = """package a.b

import scala.collection.mutable

class C {
  def size(é: List[String], other: D): Int = {
    val queue = mutable.ArrayDeque.from(é)
    é.head.length + other.width + queue.size
  }
}
"""
BROKEN = "package a.b;\n\npublic class D { public int width; Unknown broken; }\n"
FILES = {
    "jdt": ("java", JAVA, BROKEN),
    "kotlin-ide-services": ("kt", KOTLIN, "package a.b\n\ninternal class D { val width = 1; val broken: Unknown }\n"),
    "scala-presentation-compiler": ("scala", SCALA, "package a.b\n\nclass D { val width = 1; val broken: Unknown }\n"),
}
IMPORTED = {"jdt": "util", "kotlin-ide-services": "util", "scala-presentation-compiler": "mutable"}
LOCALS = {"jdt": "queue.", "kotlin-ide-services": "queue.", "scala-presentation-compiler": "queue."}

pytestmark = [pytest.mark.engine, pytest.mark.registry]


@pytest.fixture(params=FILES)
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Running]]:
    engine = engines.CATALOG.load(request.param)
    assert isinstance(engine, FromRecipe)
    need_engine(engine)
    suffix, text, other = FILES[engine.name]
    root = tmp_path / "project"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / f"C.{suffix}").write_text(text)
    (root / "a" / "b" / f"D.{suffix}").write_text(other)
    cache = machine.cache_folder()
    language = next(iter(engine.languages or ()))
    surroundings = Surroundings(
        root=root, language=language, keywords=frozenset(), cache=cache, timeout=60, memory=4 * 10**9
    )
    started = engine.start(engine.install(None, cache), surroundings)
    yield engine.name, started
    started.close()


def names(name: str, running: Running, expected: str, *, prefix: str = "") -> list[str]:
    suffix, text, _ = FILES[name]
    offset = text.index(expected)
    running.open(f"a/b/C.{suffix}", text)
    running.edit([(offset, len(expected), prefix)])
    answer = running.complete(Query(offset=offset + len(prefix), prefix=prefix, expected=expected))
    # Where nothing is asked, no time is taken.
    assert answer.latency > 0 or not answer.suggestions
    return [found.text for found in answer.suggestions]


@pytest.mark.parametrize("prefix", ["", "w"])
def test_members_of_a_library_and_of_another_file_are_found(running: tuple[str, Running], prefix: str) -> None:
    assert "length" in names(*running, "length")
    assert "width" in names(*running, "width", prefix=prefix)


def test_a_local_variable_is_found(running: tuple[str, Running]) -> None:
    name, engine = running
    suffix, text, _ = FILES[name]
    offset = text.index(LOCALS[name])
    engine.open(f"a/b/C.{suffix}", text)
    engine.edit([(offset, len("queue"), "")])
    answer = engine.complete(Query(offset=offset, prefix="", expected="queue"))
    assert {"queue", "other", "é"} <= {found.text for found in answer.suggestions}


def test_among_the_imports_the_compilers_know_packages(running: tuple[str, Running]) -> None:
    assert IMPORTED[running[0]] in names(*running, IMPORTED[running[0]])


def test_a_killed_driver_is_started_anew(running: tuple[str, Running]) -> None:
    name, engine = running
    assert "width" in names(name, engine, "width")
    engine.restart()
    assert "width" in names(name, engine, "width")
