"""Recorded editing as logs: what was shown, and what people did with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.user_model import UserModel
from ci_eval.jobs.jetbrains.recorded import Recorded, find_keywords
from ci_eval.plugins.learning.events import ShownSession
from tests.command import command
from tests.mining.usages.streams.test_neutral import completion, edit, written
from tests.needs import need_module
from tests.typists import recorded

TEXT = "def put(box):\n    box."
SHOWN = ["close", "open", "opened"]


def read(path: Path) -> tuple[Sequence[ShownSession], Counter[str]]:
    found = Recorded.named(Path(f"neutral={path}"))
    assert found
    left_out: Counter[str] = Counter()
    return list(found.sessions(left_out)), left_out


def test_lists_at_one_word_are_one_session(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        edit(0, 0, TEXT),
        completion(1, len(TEXT), candidates=SHOWN, outcome="typed"),
        edit(2, len(TEXT), "o"),
        completion(3, len(TEXT) + 1, prefix="o", candidates=["opened", "open"], outcome="select", index=1),
        completion(4, 4, prefix="", candidates=["put"], outcome="cancel"),
    )
    (first, second), left_out = read(path)
    assert (first.user, first.outcome, [each.typed for each in first.lookups]) == ("u", "selected", [0, 1])
    assert [first.rank(each) for each in first.lookups] == [2, 2]
    assert (second.outcome, second.wanted, len(second.lookups)) == ("cancelled", None, 1)
    assert not left_out


def test_features_are_those_of_our_logs_and_what_is_not_known_is_missing(tmp_path: Path) -> None:
    asked = completion(1, len(TEXT), candidates=["box", "open"], outcome="typed", item="open")
    ((session,), _) = read(written(tmp_path, edit(0, 0, TEXT), asked))
    box = session.lookups[0].features[0]
    assert (box["in_file"], box["position"], box["is_parameter"], box["same_line"]) == (2, 1, 1, 1)
    assert (box["in_project"], box["kind"], box["score_rank"]) == (None, None, None)
    ((session,), _) = read(written(tmp_path, asked))
    box = session.lookups[0].features[0]
    assert (box["in_file"], box["position"], box["length"]) == (None, 1, 3)


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (completion(1, 0, candidates=["a"]), "sessions of which no end is recorded"),
        (completion(1, 0, candidates=["a"], outcome="select", item="b"), "sessions that took what is not in the list"),
        (completion(1, 0, outcome="cancel"), "lists without candidates"),
        ("{", "line that is neither an edit nor a completion"),
    ],
)
def test_what_cannot_be_used_is_counted(tmp_path: Path, event: object, why: str) -> None:
    good = completion(1, 0, candidates=["a"], outcome="cancel", user="other")
    found, left_out = read(written(tmp_path, event, good))
    assert len(found) == 1
    assert left_out == {why: 1}


def test_keywords_are_those_of_the_file_s_language() -> None:
    assert "def" in find_keywords("a/b.py")
    assert "func" in find_keywords("b.go")
    assert find_keywords("b.unknown") == frozenset()


def test_formats_without_lists_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"not which lists completion showed.*neutral can tell that"):
        Recorded.named(Path(f"kave={tmp_path}"))
    path = written(tmp_path, edit(0, 0, TEXT))
    for name in ("fit-user-model", "train-ranker"):
        more = ("--output", tmp_path / "m") if name == "train-ranker" else ()
        code, _, err = command(name, f"neutral={path}", *more)
        assert (code, "edits alone do not tell what was offered" in " ".join(err.split())) == (3, True), err
    code, _, err = command("fit-user-model", f"neutral={tmp_path / 'none'}")
    assert (code, "is not there" in err) == (2, True), err


PLANTED = UserModel(
    first_prefix=(0.2, 0.7, 0.1),
    select=((0.8, 0.9), (0.5,), (0.4,), (0.3,), (0.25,), (0.1,)),
    cancel=(0.05, 0.1, 0.2, 0.25, 0.3),
)


@pytest.mark.slow
def test_a_planted_user_is_found_again(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r.jsonl", PLANTED, users=40, lines=150)
    code, out, err = command("fit-user-model", f"neutral={path}")
    assert code == 0, err
    fitted = yaml.safe_load(out)["interpret"]["userModel"]
    assert fitted["firstPrefix"][:3] == pytest.approx(PLANTED.first_prefix, abs=0.03)
    # Who gives up does not say what was wanted, so that taking is found a little too often; cancelling exactly.
    assert fitted["cancel"][:3] == pytest.approx(PLANTED.cancel[:3], abs=0.03)
    assert fitted["select"][0][0] == pytest.approx(0.8, abs=0.08)
    assert fitted["select"][1][0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow
def test_a_recording_trains_a_ranker_and_is_compared(tmp_path: Path) -> None:
    need_module("lightgbm")
    paths = [recorded(tmp_path / f"{seed}.jsonl", PLANTED, users=20, seed=seed) for seed in (1, 2)]
    code, out, err = command("train-ranker", f"neutral={paths[0]}", "--output", tmp_path / "m.json", "--jobs", 1)
    assert code == 0, err
    assert "features of their own" not in err
    assert json.loads((tmp_path / "m.json").read_text())["features"]
    code, out, err = command("logs", "compare", f"neutral={paths[0]}", f"neutral={paths[1]}", "--jobs", 1)
    assert code == 0, err
    assert "trained on synthetic" in out
