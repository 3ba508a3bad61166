"""The orders that need no model: what they put first, and what they do not know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.catalogs import rankers
from ci_eval.core.contracts import CaretContext, FileContext, Surroundings
from ci_eval.core.logs.names import count
from ci_eval.core.model import Suggestion
from ci_eval.plugins.adapters.averaging import ByAverage, EmbeddingOptions
from ci_eval.plugins.adapters.scoring import KINDS
from ci_eval.plugins.adapters.spelling import BeamOptions, SubtokenBeam
from ci_eval.plugins.languages.python import KEYWORDS
from tests.projects import write

OTHERS = ["alpha = alpha(beta)\nalpha(gamma)\nuse(delta)\n", "alpha(gamma)\n"]
BEFORE = "alpha = 1\nbeta = 2\nuse(beta)\nuse(beta)\nalpha(alpha)\nalpha = use("
CODE = "import os\n\n\ndef size_of(path):\n    total = os.stat(path)\n    return total\n"
NAMES = ["nobody", "gamma", "delta", "alpha", "beta"]


def order(kind: str, folder: Path, behind: str = "") -> list[str]:
    """Of NAMES, as that completion type shows them."""
    path = folder / "names.npz"
    count([BEFORE + behind, *OTHERS]).save(path)
    context = FileContext(path="a.py", text=BEFORE + behind, keywords=frozenset(), names=path)
    shown = [Suggestion(text=name) for name in NAMES]
    caret = CaretContext(path="a.py", before=BEFORE, prefix="")
    return [each.text for each in rankers.CATALOG.load(kind).open(context)(shown, caret)]


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("FREQUENCY", ["alpha", "beta", "gamma", "delta", "nobody"]),  # alpha 4 times, beta 3
        ("RECENCY", ["alpha", "beta", "gamma", "delta", "nobody"]),  # alpha on the line, then beta
        ("NGRAM", ["beta", "delta", "alpha", "gamma", "nobody"]),  # use(beta twice in the file, use(delta in another
    ],
)
def test_a_baseline_orders_by_what_its_summary_says(kind: str, first: list[str], tmp_path: Path) -> None:
    assert order(kind, tmp_path) == first


@pytest.mark.parametrize("kind", ["FREQUENCY", "RECENCY", "NGRAM"])
def test_what_is_behind_the_caret_changes_no_order(kind: str, tmp_path: Path) -> None:
    behind = "nobody)\nuse(nobody)\ndelta = nobody\n" * 3
    (tmp_path / "names").mkdir()
    assert order(kind, tmp_path / "names", behind) == order(kind, tmp_path)


def place(root: Path) -> Surroundings:
    return Surroundings(
        root=root, language="python", keywords=KEYWORDS, cache=root, timeout=1, memory=0, suffixes=(".py",)
    )


def shown(kind: str, root: Path, texts: list[str], before: str, after: str = "") -> list[str]:
    """In the order of that completion type, in a file `a.py` of the project at `root`."""
    context = FileContext(path="a.py", text=before + after, keywords=KEYWORDS, surroundings=place(root))
    caret = CaretContext(path="a.py", before=before, prefix="", after=after)
    suggestions = [Suggestion(text=text) for text in texts]
    return [each.text for each in rankers.CATALOG.load(kind).open(context)(suggestions, caret)]


def test_spellings_that_n_grams_know_come_first(tmp_path: Path) -> None:
    write(tmp_path, a__py="", b__py="def read_line(file):\n    return file.read_line()\n" * 5)
    before = "def read(file):\n    return file."
    wanted = ["zzz", "line", "read_file", "read_line("]
    assert shown("SUBTOKEN_BEAM", tmp_path, wanted, before)[:2] == ["read_line(", "read_file"]
    assert shown("SUBTOKEN_BEAM", tmp_path, wanted[:1], before) == ["zzz"]


def test_what_stands_near_such_words_comes_first(tmp_path: Path) -> None:
    money = "price = amount * tax\ntotal_price = price + tax\n"
    sound = "volume = loud * tone\ntotal_volume = volume + tone\n"
    texts = {f"f{number}__py": (money if number % 2 else sound) * 5 for number in range(30)}
    write(tmp_path, **texts)
    assert shown("EMBEDDING", tmp_path, ["volume", "price"], "amount * tax + ", " - tax")[0] == "price"
    assert shown("EMBEDDING", tmp_path, ["price", "volume"], "loud * tone + ", " - tone")[0] == "volume"
    assert shown("EMBEDDING", tmp_path, ["nowhereseen", "tax"], "amount * ")[0] == "tax"


@pytest.mark.parametrize("kind", ["EMBEDDING", "SUBTOKEN_BEAM"])
def test_without_the_project_it_is_said_what_to_do(kind: str) -> None:
    context = FileContext(path="a.py", text="", keywords=frozenset())
    with pytest.raises(ConfigError, match=f"evaluate with `--completion-type {kind}` instead"):
        rankers.CATALOG.load(kind).open(context)


@pytest.mark.parametrize("kind", ["EMBEDDING", "SUBTOKEN_BEAM"])
def test_what_the_engine_predicts_is_ordered_as_the_engine_orders_it(kind: str, tmp_path: Path) -> None:
    write(tmp_path, a__py="", **{f"f{number}__py": CODE for number in range(9)})
    before = "import os\n\n\ndef size_of(path):\n    total = "
    scorer: ByAverage | SubtokenBeam
    if kind == "EMBEDDING":
        scorer = ByAverage(EmbeddingOptions(), replace(place(tmp_path), kinds=KINDS))
    else:
        scorer = SubtokenBeam(BeamOptions(), replace(place(tmp_path), kinds=KINDS))
    scorer.path = "a.py"
    scorer.begin()
    predicted = list(dict.fromkeys(scorer.predict(before, "")))[:8]
    scores = scorer.scores(before, "", predicted)
    assert len(predicted) > 3
    assert scores == sorted(scores, reverse=True)
    assert shown(kind, tmp_path, predicted, before) == predicted
