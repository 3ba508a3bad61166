"""`rerank` is `interpret` with that completion type, byte for byte but for the times."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.orders import check_turns
from tests.projects import GREETER, timeless, write

pytestmark = pytest.mark.usefixtures("in_one_process")
KINDS = ("FREQUENCY", "RECENCY", "NGRAM")
TIMES = (*(each.info.name for each in metrics.load() if each.timed), "StartUpLatency", "PeakMemory")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Most names of a file stand in others too, in each another number of times."""
    chance = random.Random(1)
    words = [f"name_{number}" for number in range(25)]
    files = {}
    for number in range(12):
        lines = [f"{chance.choice(words)} = {chance.choice(words)}.{chance.choice(words)}" for _ in range(12)]
        files[f"file{number:02}__py"] = GREETER + "\n".join(lines) + "\n"
    return write(tmp_path_factory.mktemp("rerank") / "p", **files)


def evaluated(project: Path, output: Path, *more: str) -> Path:
    common = ("--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--output", output)
    code, _, err = command("evaluate", *common, *more)
    assert code == 0, err
    return output


def figures(folder: Path) -> dict[str, Any]:
    """All of metrics.json but what is about times."""
    (evaluation,) = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"]
    text = json.dumps(evaluation["filters"])
    parts = json.loads(text, object_hook=lambda each: {key: value for key, value in each.items() if key not in TIMES})
    return {**evaluation, "filters": parts, "started": ""}


def same(project: Path, folder: Path, *how: str) -> None:
    """Both ways to each completion type."""
    plain = evaluated(project, folder / "plain", *how)
    for kind in KINDS:
        asked = evaluated(project, folder / f"{kind}-asked", *how, "--completion-type", kind)
        code, _, err = command("rerank", plain, "--completion-type", kind, "--output", folder / kind)
        assert code == 0, err
        assert timeless(folder / kind) == timeless(asked)
        assert figures(folder / kind) == figures(asked)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_on_a_sample_both_ways_are_the_same(project: Path, tmp_path: Path, seed: int) -> None:
    same(project, tmp_path, "--set", "interpret.sessionsLimit=25", "--set", f"interpret.seed={seed}")


STRATEGIES = (
    "{prefix: {name: EveryPrefix}}",
    "{context: PREVIOUS, prefix: {name: SimplePrefix, n: 2}}",
    "{prefix: {name: SimplePrefix, n: 3, emulateTyping: true}}",
    "{evolution: {what: imports, share: 1.0}}",
    "{evolution: {what: lines, share: 0.5, how: different}}",
)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_with_each_strategy_both_ways_are_the_same(project: Path, tmp_path: Path, strategy: str) -> None:
    same(project, tmp_path, "--set", f"actions.strategy={strategy}", "--set", "interpret.sessionProbability=0.1")


def test_what_is_merged_of_several_projects_is_not_ordered_by_their_names(project: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", a__py=GREETER)
    few = ("--set", "interpret.sessionsLimit=5")
    made = [evaluated(each, tmp_path / name, *few) for name, each in (("one", project), ("two", other))]
    assert command("merge", *made, "--output", tmp_path / "all")[0] == 0
    code, _, err = command("rerank", tmp_path / "all", "--completion-type", "FREQUENCY", "--output", tmp_path / "f")
    assert (code, "rerank the workspace of each project" in " ".join(err.split())) == (2, True)


@pytest.mark.slow
def test_a_comparison_in_turns_has_the_verdicts_of_a_new_order(project: Path, tmp_path: Path) -> None:
    assert check_turns(project, tmp_path, "FREQUENCY") & {"better", "worse"}


def latencies(folder: Path) -> list[tuple[str, list[float], bool]]:
    return [
        (session.id, [lookup.latency for lookup in session.lookups], session.reused)
        for _, sessions in Workspace(folder).sessions(Session)
        for session in sessions
    ]


def ranks(folder: Path) -> list[int | None]:
    return [
        lookup.rank
        for _, sessions in Workspace(folder).sessions(Session)
        for session in sessions
        for lookup in session.lookups
    ]


def test_times_with_a_former_ranker_in_them_are_left_out(project: Path, tmp_path: Path) -> None:
    plain = evaluated(project, tmp_path / "plain", "--set", "interpret.sessionsLimit=20")
    for source, target, has_times in (("plain", "once", True), ("once", "twice", False), ("twice", "thrice", False)):
        kind = "BASIC" if target == "thrice" else KINDS[target == "twice"]
        code, _, err = command("rerank", tmp_path / source, "--completion-type", kind, "--output", tmp_path / target)
        assert code == 0, err
        assert {reused for *_, reused in latencies(tmp_path / target)} == {not has_times}
        assert (" ms" in command("show", tmp_path / target, latencies(tmp_path / target)[0][0])[1]) is has_times
        (evaluation,) = json.loads((tmp_path / target / "reports" / "metrics.json").read_text())["evaluations"]
        assert (evaluation["filters"]["ALL"]["metrics"]["MeanLatency"]["value"] is not None) is has_times
        assert evaluation["environment"].get("Answers of an earlier run") == (None if has_times else "20 sessions")
    before, after = latencies(plain), latencies(tmp_path / "once")
    assert [session for session, *_ in before] == [session for session, *_ in after]
    # The new ranker takes time, too.
    assert all(olds <= news for (_, olds, _), (_, news, _) in zip(before, after, strict=True))
    assert ranks(tmp_path / "thrice") == ranks(plain) != ranks(tmp_path / "twice")
