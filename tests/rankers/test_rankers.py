"""The orders that need no model: what they put first, and what they do not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.catalogs import rankers
from ci_eval.core.contracts import CaretContext, FileContext
from ci_eval.core.logs.names import count
from ci_eval.core.model import Suggestion

OTHERS = ["alpha = alpha(beta)\nalpha(gamma)\nuse(delta)\n", "alpha(gamma)\n"]
BEFORE = "alpha = 1\nbeta = 2\nuse(beta)\nuse(beta)\nalpha(alpha)\nalpha = use("
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
