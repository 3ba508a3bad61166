"""Token prediction: what is asked for, and the controls at their ends."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.tasks.tokens import summarise_scores
from tests.command import command
from tests.projects import GREETER, write

OTHER = "import os\n\nprint(os.sep, 1)\n"


def evaluated(folder: Path, *arguments: object) -> tuple[int, Path, str]:
    if not (folder / "p").exists():
        write(folder / "p", a__py=GREETER, b__py=OTHER)
    out = folder / f"out{len(list(folder.iterdir()))}"
    given = ("--task", "tokens", "--project", f"path:{folder / 'p'}", "--jobs", 1, "--output", out)
    code, _, said = command("evaluate", *arguments, *given)
    return code, out, said


def sessions(folder: Path) -> list[Session]:
    return [each for _, found in Workspace.open(folder).sessions(Session) for each in found]


def figures(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"][0]
    return {name: each["value"] for name, each in found["filters"]["ALL"]["metrics"].items()}


OF_RANKS = (
    "GradedReciprocalRank GradedReciprocalRankInOrder SubtokenF1At1 SubtokenF1Best SubtokenLcsAt1 SubtokenLcsBest "
    "GradedNDCG MeanReciprocalRank MeanAveragePrecision NDCG RecallAt1 Recall"
).split()


@pytest.mark.parametrize(("engine", "figure"), [("oracle", 1.0), ("empty", 0.0)])
def test_controls_are_at_their_ends(tmp_path: Path, engine: str, figure: float) -> None:
    code, out, said = evaluated(tmp_path, "--engine", engine)
    assert code == 0, said
    found = figures(out)
    assert {name: found[name] for name in OF_RANKS} == dict.fromkeys(OF_RANKS, figure)


def test_every_token_of_the_code_is_asked_for_once(tmp_path: Path) -> None:
    _, out, _ = evaluated(tmp_path, "--engine", "oracle")
    asked = [each.expected_text for each in sessions(out) if each.file == "b.py"]
    assert asked == ["import", "os", "print", "(", "os", ".", "sep", ",", "1", ")"]


@pytest.mark.slow
def test_a_class_of_tokens_is_chosen_by_the_filter(tmp_path: Path) -> None:
    _, out, _ = evaluated(tmp_path, "--set", "actions.strategy.filters.statementTypes=[LITERAL,OPERATOR]")
    asked = [each.expected_text for each in sessions(out)]
    assert asked == ['"""Greets."""', "=", '"Hello "', "+", "+", '"you"', "1"]


def test_the_report_has_the_vocabulary_and_its_open_rate(tmp_path: Path) -> None:
    _, out, _ = evaluated(tmp_path, "--engine", "oracle")
    found = Workspace.open(out).manifest().vocabulary
    assert found
    assert found.tokens == len(sessions(out))
    assert 0 < found.new < found.open < 1
    assert f"{found.open:.1%}" in (out / "reports" / "report.md").read_text()


def test_on_the_left_nothing_behind_the_token_is_there(tmp_path: Path) -> None:
    _, both, _ = evaluated(tmp_path, "--engine", "words")
    _, left, _ = evaluated(tmp_path, "--engine", "words", "--set", "actions.strategy.context=LEFT")
    (first, *_), (same, *_) = sessions(both), sessions(left)
    assert first.expected_text == same.expected_text
    assert "Greeter" in [each.text for each in first.lookups[0].suggestions]
    assert "Greeter" not in [each.text for each in same.lookups[0].suggestions]


def test_another_task_has_no_such_tokens(tmp_path: Path) -> None:
    write(tmp_path / "p", a__py=GREETER)
    wanted = "actions.strategy.filters.statementTypes=[LITERAL]"
    code, _, said = command("evaluate", "--project", f"path:{tmp_path / 'p'}", "--set", wanted)
    assert code == 2
    assert "task: tokens" in said


# ----------------------------------------------------------------------------------- the sums over the predictions


def over(*f1: float) -> list[float]:
    found = summarise_scores([{"f1": each} for each in f1])
    return [found[name] for name in ("f1", "f1.best", "f1.reciprocalRank", "f1.ndcg")]


def test_a_poor_list_is_not_measured_by_its_own_best_order() -> None:
    assert over(0.0, 0.5) == [0.0, 0.5, 0.25, 0.5 / log2(3)]
    assert over(0.5, 1.0) == [0.5, 1.0, 0.5, 0.5 + 0.5 / log2(3)]
    assert over(0.5, 0.5, 0.5) == [0.5, 0.5, 0.5, 0.5]


@given(st.integers(1, 10))
def test_of_exact_predictions_alone_it_is_what_is_known_without_grades(rank: int) -> None:
    assert over(*[0.0] * (rank - 1), 1.0) == [float(rank == 1), 1.0, 1 / rank, 1 / log2(1 + rank)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_all_are_between_nothing_and_an_exact_first_prediction(scores: list[float]) -> None:
    first, best, reciprocal, gain = over(*scores)
    assert 0 <= first <= reciprocal <= best <= 1
    assert reciprocal <= gain + 1e-12 <= best + 2e-12
    assert over(*scores, 0.0) == [first, best, reciprocal, gain]
