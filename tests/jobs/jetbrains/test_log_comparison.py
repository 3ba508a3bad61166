"""Synthetic logs held against real ones."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.command import command
from tests.jetbrains.event_samples import session
from tests.jobs.conftest import logs, project

__all__ = ["logs", "project"]

# Rankers are trained on both.
pytestmark = pytest.mark.slow


def compared(tmp_path: Path, *sources: Path) -> tuple[dict[str, dict[str, object]], dict[str, object], str, str]:
    code, out, err = command("logs", "compare", *sources, "--output", tmp_path / "c.json", "--jobs", 1)
    assert code == 0, err
    found = json.loads((tmp_path / "c.json").read_text())
    return {each["name"]: each for each in found["distributions"]}, found, out, err


def test_tables_and_events_of_one_run_are_the_same_logs(logs: Path, tmp_path: Path) -> None:
    shutil.copytree(logs / "logs" / "python", tmp_path / "p" / "python")
    distributions, found, out, _ = compared(tmp_path, logs, tmp_path / "p")
    # Who typed what is in no list has closed the list, in events; tables call it typing on.
    assert {name for name, each in distributions.items() if each["totalVariation"] == 0} >= {
        "characters typed at the first list", "place of what was taken or typed", "kind of what was taken or typed",
    }  # fmt: skip
    rankers = found["rankers"]
    assert isinstance(rankers, dict)
    assert len(rankers["features"]) == 29, "all but score_rank, which the engine `words` does not tell"
    assert rankers["top1"]["value"] == pytest.approx(rankers["real"]["top1"] - rankers["synthetic"]["top1"])
    assert rankers["real"]["meanRank"] >= 1
    assert "Top-1" in out
    assert "trained on real" in out


def test_users_who_take_from_other_places_are_told_apart(tmp_path: Path) -> None:
    """In both the item with the best score is taken, which stands in other places."""
    draws = random.Random(5)
    for name in ("made", "seen"):
        folder = tmp_path / name
        folder.mkdir()
        texts = []
        for number in range(900):
            right = draws.choice([0, 1, 1, 1, 1] if name == "made" else [2, 3, 3, 4, 4])
            texts.append(session(f"{number:012}", right=right))
        (folder / "chunk_0").write_text("".join(texts))
    distributions, found, out, _ = compared(tmp_path, tmp_path / "made", tmp_path / "seen")
    place = distributions["place of what was taken or typed"]
    assert place["totalVariation"] == 1
    assert isinstance(place["chiSquare"], dict)
    assert place["chiSquare"]["p"] < 1e-100
    assert sum(place["synthetic"].values()) == 900  # type: ignore[attr-defined]
    assert distributions["outcome"]["totalVariation"] == 0
    assert distributions["kind of what was taken or typed"]["chiSquare"] is None
    rankers = found["rankers"]
    assert isinstance(rankers, dict)
    assert rankers["synthetic"]["queries"] == rankers["real"]["queries"]
    assert rankers["real"]["mrr"] >= rankers["synthetic"]["mrr"] > rankers["shown"]["mrr"]
    assert rankers["difference"]["value"] == pytest.approx(rankers["real"]["mrr"] - rankers["synthetic"]["mrr"])
    assert "900 synthetic and 900 real sessions" in out


def test_without_a_common_feature_only_distributions_are_compared(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "chunk_0").write_text("".join(session(f"{number:012}", right=number % 5) for number in range(50)))
    _, found, _, err = compared(tmp_path, logs, tmp_path)
    assert found["rankers"] is None
    assert "no rankers are compared: the logs have no feature in common" in " ".join(err.split())
