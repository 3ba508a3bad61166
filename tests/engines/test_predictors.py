"""Engines that predict masked tokens, on a project that repeats itself."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from ci_eval.core.catalogs.engines import CATALOG
from ci_eval.core.contracts import Configurable, Engine, Query, Running, Surroundings
from ci_eval.plugins.adapters.controls import PredictorOptions
from ci_eval.plugins.languages.python import KEYWORDS
from tests.command import command
from tests.projects import timeless, write

pytestmark = pytest.mark.slow

CODE = "import os\n\n\ndef size_of(path):\n    total = os.stat(path)\n    return total\n"
PREDICTORS = [
    name for name in CATALOG.names() if isinstance(getattr(CATALOG.load(name), "options", 0), PredictorOptions)
]


def running(engine: Engine, root: Path) -> Running:
    surroundings = Surroundings(
        root=root, language="python", keywords=KEYWORDS, cache=root, timeout=1, memory=0, suffixes=(".py",)
    )
    return engine.start(engine.install(None, root), surroundings)


def ask(engine: str, root: Path, before: str, after: str = "") -> list[str]:
    found = CATALOG.load(engine)
    assert isinstance(found, Configurable)
    started = running(found.configured({"limit": 30}), root)
    started.open("a.py", before + after)
    answer = started.complete(Query(offset=len(before), prefix="", expected="never read"))
    return [each.text for each in answer.suggestions]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", a__py=CODE, b__py=CODE.replace("total", "count"), c__py="leaked = 1\n")


def test_the_most_frequent_token_comes_first(project: Path) -> None:
    assert ask("frequency", project, "b = b\nc = ", "\n")[:2] == ["=", "b"]


def test_what_is_not_in_the_file_comes_by_how_often_it_is_in_the_others(project: Path) -> None:
    found = ask("frequency", project, "b = ")
    assert found.index("count") < found.index("leaked")


def test_the_nearest_token_on_either_side_comes_first(project: Path) -> None:
    assert ask("recency", project, "a b ", " c d")[:4] == ["b", "c", "a", "d"]


def test_the_usual_sequence_is_predicted(project: Path) -> None:
    assert ask("ngram", project, "    count = os.")[0] == "stat"
    assert ask("ngram", project, "def ", "(path):\n")[0] == "size_of"


@pytest.mark.parametrize("engine", PREDICTORS)
def test_the_file_as_it_is_on_disk_is_not_read(engine: str, project: Path) -> None:
    started = running(CATALOG.load(engine), project)
    started.open("c.py", " = 1\n")
    answer = started.complete(Query(offset=0, prefix="", expected="leaked"))
    assert answer.suggestions
    assert "leaked" not in [each.text for each in answer.suggestions]


@pytest.mark.parametrize("engine", PREDICTORS)
def test_answers_depend_neither_on_workers_nor_on_what_was_asked_before(
    engine: str, project: Path, tmp_path: Path
) -> None:
    given = ("evaluate", "--task", "tokens", "--engine", engine, "--project", f"path:{project}")
    for jobs in (1, 2):
        code, _, said = command(*given, "--jobs", jobs, "--output", tmp_path / str(jobs))
        assert code == 0, said
    assert timeless(tmp_path / "1") == timeless(tmp_path / "2")


@pytest.mark.parametrize("engine", PREDICTORS)
def test_options_come_from_the_configuration(engine: str, project: Path, tmp_path: Path) -> None:
    given = ("evaluate", "--task", "tokens", "--project", f"path:{project}", "--jobs", 1)
    wanted = ("--set", f"engine.name={engine}", "--set", "engine.options.limit=3")
    code, said, _ = command(*given, *wanted, "--output", tmp_path / "out")
    assert code == 0
    assert "(limit 3)" in said


def test_an_engine_without_options_is_told_so(project: Path) -> None:
    code, _, said = command("evaluate", "--project", f"path:{project}", "--set", "engine.options.limit=3")
    assert code == 2
    assert "has no effect on jedi" in said


@pytest.mark.parametrize("engine", PREDICTORS)
def test_answers_do_not_depend_on_the_order_of_questions(engine: str, project: Path) -> None:
    text = CODE * 3
    places = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    random.Random(1).shuffle(places)
    kept = running(CATALOG.load(engine), project)
    kept.open("a.py", text)
    for begin, end in places:
        question = Query(offset=begin, prefix="", expected="never read")
        kept.edit([(begin, end - begin, "")])
        fresh = running(CATALOG.load(engine), project)
        fresh.open("a.py", text[:begin] + text[end:])
        assert kept.complete(question).suggestions == fresh.complete(question).suggestions
        kept.edit([(begin, 0, text[begin:end])])
