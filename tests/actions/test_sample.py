"""A sample of a large project: each session has the same chance, and only files that were hit are parsed."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from ci_eval.core.actions import sample
from ci_eval.core.actions.generate import GeneratedFile, SourceTree, make, make_at
from ci_eval.core.actions.sample import Found, Sample, SampleGoal, Targets, count_slots, draw_sample, may_begin
from ci_eval.core.model import ActionsConfig, PrefixConfig, Session, StrategyConfig
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.languages.python import LANGUAGE
from ci_eval.plugins.reports.html import evaluation
from ci_eval.plugins.tasks import completion
from tests.command import command
from tests.projects import GREETER, write

FILES = {
    "a__py": GREETER,
    "b__py": "# nothing but a long comment in this file, and a name: é\n" * 20 + "import os\nos.sep\n",
    "c__py": "import re\n\n\ndef find(text):\n    return re.search(text, text)\n",
    "d__py": "x=1;y=x;z=y\r\nprint(x,y,z)\r\n",
    "e__py": "",
}


def tree(root: Path, prefix: PrefixConfig) -> SourceTree:
    config = ActionsConfig(strategy=StrategyConfig(prefix=prefix))
    slots = count_slots(config.strategy, completion.COMPLETION)
    return SourceTree(
        root=root,
        name="p",
        language=LANGUAGE,
        config=config,
        declared={},
        task=completion.COMPLETION,
        slots=slots,
        attributes=[],
    )


def draw_once(job: SourceTree, seed: int, limit: int) -> Sample | None:
    def find(targets: Sequence[Targets]) -> Iterator[Found]:
        for target in targets:
            made = make_at(job, target)
            assert isinstance(made, GeneratedFile)
            yield made.path, made.darts > 0, made.hits

    sizes = {path.name: path.stat().st_size * job.slots for path in job.root.iterdir()}
    goal = SampleGoal(limit=limit, probability=1.0, classes=(), choose=lambda draws, _: np.argsort(draws)[:limit])
    return draw_sample(sizes, seed, goal, find)


@pytest.mark.parametrize(
    "prefix", [PrefixConfig(), PrefixConfig(name="Ladder", lengths=(0, 1, 3))], ids=["one", "three"]
)
def test_each_session_has_the_same_chance(
    prefix: PrefixConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "SMALLEST_POOL", 1)
    monkeypatch.setattr(sample, "MOST_READ", math.inf)
    monkeypatch.setattr(sample, "MOST_DARTS", math.inf)
    job, limit, seeds = tree(write(tmp_path / "p", **FILES), prefix), 3, 300
    files = {path.name: make(job, path.name) for path in job.root.iterdir()}
    count = sum(made.sessions for made in files.values() if isinstance(made, GeneratedFile))
    drawn, estimates = Counter[tuple[str, int]](), []
    for seed in range(seeds):
        sampled = draw_once(job, seed, limit)
        assert sampled
        drawn.update((path, slot) for path, slots in sampled.slots.items() for slot in slots)
        estimates.append(sampled.sampling.sessions)
    assert len(drawn) == count
    expected = seeds * limit / count
    # Without replacement, the statistic is smaller by this factor.
    squares = sum((times - expected) ** 2 / expected for times in drawn.values()) * (count - 1) / (count - limit)
    assert abs(squares - (count - 1)) < 3.5 * math.sqrt(2 * (count - 1))
    assert abs(np.mean(estimates) - count) < 3.5 * np.std(estimates) / math.sqrt(seeds)


def test_a_token_never_begins_where_darts_are_lost_without_parsing(tmp_path: Path) -> None:
    job = tree(write(tmp_path / "p", **FILES), PrefixConfig())
    for path in job.root.iterdir():
        text = path.read_text()
        tokens = LANGUAGE.extract(text, path.name, {}).tokens
        assert all(may_begin(text, token.offset) for token in tokens)
    assert [may_begin("é_b c", offset) for offset in range(6)] == [True, True, False, False, True, False]


def test_a_project_with_too_few_sessions_is_not_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MOST_READ", math.inf)
    monkeypatch.setattr(sample, "MOST_DARTS", 5)
    job = tree(write(tmp_path / "p", **FILES), PrefixConfig())
    assert draw_once(job, 0, 1) is None


def test_a_project_of_which_most_would_be_parsed_is_not_sampled(tmp_path: Path) -> None:
    job = tree(write(tmp_path / "p", **FILES), PrefixConfig())
    assert draw_once(job, 0, 1) is None


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("ci_eval.core.actions.generate"), "FEWEST_FILES", 10)
    monkeypatch.setattr(sample, "SMALLEST_POOL", 60)
    monkeypatch.setattr(sample, "MOST_READ", 1e9)


def read_sessions(folder: Path) -> dict[str, tuple[str, int | None]]:
    every = (session for _, sessions in Workspace(folder).sessions(Session) for session in sessions)
    return {session.id: (session.file, session.lookups[-1].rank) for session in every}


@pytest.mark.usefixtures("in_one_process", "small_limits")
def test_a_sample_has_sessions_of_the_whole_run_and_says_that_their_number_is_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "MOST_PAGES_OF_SAMPLE", 3)
    names = {f"file{number}__py": GREETER + f"name_{number} = Greeter()\n" for number in range(40)}
    root = write(tmp_path / "p", **names, made__py=f"# @generated\n{GREETER}", bad__py=b"caf\xe9 = 1\n" * 90)

    def run(name: str, *options: object) -> Path:
        argv = ("--engine", "words", "--jobs", 1, "--output", tmp_path / name, *options)
        code, _, err = command("evaluate", "--project", f"path:{root}", *argv)
        assert code == 0, err
        return tmp_path / name

    whole, some = (
        run("whole", "--all", "--set", "actions.allowedUnparsable=1"),
        run("some", "--sessions", 30, "--set", "actions.allowedUnparsable=1"),
    )
    drawn, every = read_sessions(some), read_sessions(whole)
    assert len(drawn) == 30
    assert drawn.items() <= every.items()
    with monkeypatch.context() as patched:
        # The sample of the same content is stored, so nothing is listed or drawn again.
        patched.setattr(import_module("ci_eval.core.actions.generate"), "_draw", None)
        again = run("again", "--sessions", 30, "--set", "actions.allowedUnparsable=1")
    assert read_sessions(again) == drawn
    assert Workspace(again).manifest().sampling == Workspace(some).manifest().sampling
    assert Workspace(again).manifest().unparsable == Workspace(some).manifest().unparsable
    assert Workspace(again).errors() == Workspace(some).errors()
    manifest, of_whole = Workspace(some).manifest(), Workspace(whole).manifest()
    assert manifest.sampling
    assert of_whole.sampling is None
    assert manifest.sampling.files == 42
    assert len(Workspace(some).action_files()) <= 30
    assert manifest.generated == sum(manifest.strata[""].values())
    assert abs(manifest.generated / of_whole.generated - 1) < 0.5
    assert abs(manifest.unparsable - of_whole.unparsable) < 0.2
    (result,) = json.loads((some / "reports" / "metrics.json").read_text())["evaluations"]
    assert result["populationEstimated"] is True
    pages = [list((folder / "reports" / "html" / "files").glob("*.html")) for folder in (some, whole)]
    assert [*map(len, pages)] == [3, 40]
    assert f"30 of its about {manifest.generated:,} sessions" in (some / "reports" / "report.md").read_text()

    shards = [
        run(f"shard{index}", "--sessions", 30, "--shard", f"{index}/2", "--set", "actions.allowedUnparsable=1")
        for index in (1, 2)
    ]
    parts = [read_sessions(shard) for shard in shards]
    assert not parts[0].keys() & parts[1].keys()
    assert parts[0] | parts[1] == drawn
    command("merge", *shards, "--output", tmp_path / "merged")
    merged = Workspace(tmp_path / "merged").manifest()
    assert merged.generated == manifest.generated
    assert all(abs(merged.strata[""][name] - size) <= 2 for name, size in manifest.strata[""].items())

    code, _, _ = command("compare", some, whole, "--output", tmp_path / "compared")
    assert code == 0
    comparison = json.loads((tmp_path / "compared" / "comparison.json").read_text())
    assert (comparison["paired"], comparison["population"]) == (30, manifest.generated)


@pytest.mark.usefixtures("in_one_process", "small_limits")
def test_a_sample_below_a_link_is_drawn_again(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{f"{'one' if n < 20 else 'two'}/file{n}__py": GREETER for n in range(50)})
    for folder, files in (("one", 20), ("two", 30)):
        (root / "src").unlink(missing_ok=True)
        (root / "src").symlink_to(folder)
        argv = ("--engine", "words", "--jobs", 1, "--sessions", 30, "--set", "actions.evaluationRoots=[src]")
        code, _, err = command("evaluate", "--project", f"path:{root}", *argv, "--output", tmp_path / folder)
        assert code == 0, err
        sampling = Workspace(tmp_path / folder).manifest().sampling
        assert sampling
        assert sampling.files == files


@pytest.mark.usefixtures("in_one_process", "small_limits")
def test_a_probability_draws_that_share_of_all_sessions(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{f"file{number}__py": GREETER for number in range(40)})
    argv = ("--engine", "words", "--jobs", 1, "--output", tmp_path / "w")
    code, _, err = command("evaluate", "--project", f"path:{root}", "--set", "interpret.sessionProbability=0.1", *argv)
    assert code == 0, err
    manifest = Workspace(tmp_path / "w").manifest()
    assert manifest.sampling
    assert manifest.generated == pytest.approx(manifest.planned / 0.1, abs=1)
