"""The command train-recommender."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders.training import Trained
from tests.command import command
from tests.learning.recommenders.trained import NEW, T, proposed, usage, write


@pytest.mark.parametrize("kind", recommenders.names())
def test_usages_become_a_model_and_bad_lines_are_named(kind: str, tmp_path: Path) -> None:
    source = write(tmp_path / "u.jsonl", T)
    source.write_bytes(source.read_bytes() + b'{"calls": []}\n')
    model = tmp_path / "new" / "m"
    code, said, told = command("train-recommender", source, "--kind", kind, "--output", model)
    assert code == 0, told
    assert said.splitlines()[-1] == str(model)
    assert "20" in said
    assert "line 21: Object missing required field" in " ".join(told.split())
    assert proposed(Trained(model), usage("", NEW))["m1"] >= 0.8


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--set", "t1=2"), "options of pbn: Expected `float` <= 1.0"),
        (("--set", "t1"), "expected key=value"),
        (("--set", "depth=2"), "known are methodContext"),
        (("--output", "."), "is a folder"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_read(given: tuple[str, ...], said: str, tmp_path: Path) -> None:
    rest = () if "--output" in given else ("--output", tmp_path / "m")
    code, _, told = command("train-recommender", tmp_path / "none.jsonl", "--kind", "pbn", *given, *rest)
    assert code == 2, told
    assert said in told
