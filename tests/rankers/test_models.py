"""The order that a recommender of method calls gives an engine's list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.catalogs import rankers
from ci_eval.core.contracts import CaretContext, FileContext
from ci_eval.core.model import Definition, Suggestion
from tests.command import command
from tests.learning.recommenders.trained import trained, usage
from tests.packed import unpacked
from tests.projects import write

NEW = Definition(kind="NEW", member="a.Box")
USAGES = [*[usage("open close", NEW, "x", "a.Box")] * 6, *[usage("open full", NEW, "x", "a.Box")] * 3]
LIST = ["__init__", "close(self)", "full", "open(", "unknown"]
HEAD = "from a import Box\nclass Crate(Box): pass\ndef f():\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a model."""
    folder = tmp_path_factory.mktemp("pbn")
    trained(folder, "pbn", USAGES)
    return folder


def order(folder: Path, code: str, path: str = "a.py") -> list[str]:
    """Of LIST, at the bar."""
    before, _, after = code.partition("|")
    ranker = rankers.CATALOG.load("PBN").configured(folder / "pbn.model")
    ordering = ranker.open(FileContext(path=path, text=before + after, keywords=frozenset()))
    caret = CaretContext(path=path, before=before, prefix="", after=after)
    return [each.text for each in ordering([Suggestion(text=name) for name in LIST], caret)]


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("b = Box()\n    b.|\n", ["open(", "close(self)", "full", "__init__", "unknown"]),
        ("b = Box()\n    b.open()\n    b.|\n", ["close(self)", "full", "__init__", "open(", "unknown"]),
        ("b = Box()\n    b.|\n    b.open()\n    b.full()\n", ["close(self)", "__init__", "full", "open(", "unknown"]),
        ("b = Crate()\n    b.|\n", ["open(", "close(self)", "full", "__init__", "unknown"]),
    ],
)
def test_likely_calls_come_first_and_the_others_stay_as_they_were(folder: Path, body: str, first: list[str]) -> None:
    assert order(folder, f"{HEAD}    {body}") == first


@pytest.mark.parametrize(
    ("code", "path"),
    [
        (f"{HEAD}    x.|\n", "a.py"),
        (f"{HEAD}    d = {{}}\n    d.|\n", "a.py"),
        (f"{HEAD}    B|\n", "a.py"),
        (f"{HEAD}    b = Box()\n    b.|\n", "a.go"),
    ],
)
def test_an_object_that_the_model_knows_nothing_of_moves_nothing(folder: Path, code: str, path: str) -> None:
    assert order(folder, code, path) == LIST


def test_without_a_model_of_its_kind_it_says_what_to_do(folder: Path) -> None:
    with pytest.raises(ConfigError, match="add --model FILE, made by `ci-eval train-recommender"):
        rankers.CATALOG.load("PBN").configured(None)
    trained(folder, "frequency", USAGES)
    with pytest.raises(ConfigError, match="is a model of the kind frequency"):
        rankers.CATALOG.load("PBN").configured(folder / "frequency.model")


CODE = "import csv\ndef save(out, rows):\n    table = csv.DictWriter(out, rows)\n    table.writerows(rows)\n"


@pytest.mark.engine
@pytest.mark.slow
def test_it_orders_what_an_engine_suggests_for_tokens(tmp_path: Path) -> None:
    write(tmp_path / "p", a__py=CODE)
    trained(tmp_path, "pbn", [usage("writerows", method="x", type_="csv.DictWriter")] * 4)
    model = ("--completion-type", "PBN", "--model", tmp_path / "pbn.model")
    argv = ("--project", f"path:{tmp_path / 'p'}", "--engine", "jedi", "--jobs", 1)
    wanted = ("--set", "actions.strategy.filters.statementTypes=[METHOD_CALL]", "--set", "interpret.allowedEmpty=1")
    code, _, told = command("evaluate", *argv, *wanted, *model, "--output", tmp_path / "pbn")
    assert code == 0, told
    assert ranks(tmp_path / "pbn")["writerows"] == 1
    code, _, told = command("evaluate", *argv, *wanted, "--output", tmp_path / "basic")
    assert code == 0, told
    assert ranks(tmp_path / "basic")["writerows"] > 1
    code, _, told = command("rerank", tmp_path / "basic", *model, "--output", tmp_path / "again")
    assert code == 0, told
    assert ranks(tmp_path / "again") == ranks(tmp_path / "pbn")
    assert json.loads((tmp_path / "again" / "manifest.json").read_text())["model"]


def ranks(workspace: Path) -> dict[str, int]:
    """By token."""
    texts = [unpacked(path) for path in workspace.glob("sessions/*.zst")]
    found = [json.loads(line) for text in texts for line in text.splitlines()[1:]]
    return {each["expectedText"]: each["lookups"][0]["rank"] for each in found}
