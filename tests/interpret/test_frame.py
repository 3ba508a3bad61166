"""What is known of sessions before they are asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ci_eval.core.interpret import list_sessions, texts_below
from ci_eval.core.workspace import Workspace
from tests.projects import generate, write

CODE = "def f(a, b):\n    return a\n\n\nf(f)\nf(f(\n    f))\n"
"""`f` is an argument behind a bracket, and another one that begins a line."""


def beside(root: Path, workspace: Workspace) -> list[int]:
    """How many values of what is on the left each kind of token has."""
    kinds, _, _, left, *_ = list_sessions(workspace, text=texts_below(root)).frame.features
    pairs = set(zip(kinds.tolist(), left.tolist(), strict=True))
    return sorted(Counter(kind for kind, _ in pairs).values())


def test_sessions_in_like_places_are_told_apart_by_what_is_on_the_left_of_them(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=CODE)
    assert beside(root, generate(root, tmp_path / "w")) == [2, 3, 3]


def test_a_file_that_is_gone_has_nothing_on_the_left_of_its_tokens(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=CODE)
    workspace = generate(root, tmp_path / "w")
    (root / "a.py").unlink()
    assert set(beside(root, workspace)) == {1}


def test_how_an_earlier_run_went_comes_first(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=CODE)
    workspace = generate(root, tmp_path / "w")
    ids = list_sessions(workspace).frame.ids
    frame = list_sessions(workspace, {ids[0]: 1.0, ids[1]: 0.0}).frame
    assert frame.before is not None
    assert frame.before.tolist() == [1.0, 0.0, *[0.5] * (len(ids) - 2)]
    assert len(set(frame.features[0].tolist())) == 3
