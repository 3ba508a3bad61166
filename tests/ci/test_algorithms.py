"""The workflow of a night executed: all evaluations of two engines end in one ranking, two nights in a trend."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.stand_ins import THEIRS, GitHub, github
from tests.command import command as run
from tests.needs import need_modules
from tests.projects import GREETER, write

pytestmark = [
    pytest.mark.engine,
    pytest.mark.registry,
    pytest.mark.needs("go", "node", "npm"),
    pytest.mark.slow(minutes=4),
    pytest.mark.xdist_group("algorithms"),
]

# Each evaluation under act takes seconds: a night of three engines was run once, and shows no more.
ENGINES = ("recency", "words")
RANKERS, FIRST, SECOND = 30, 31, 32
"""Runs; the rankers of the first one were trained before."""
CALLING = """
on: workflow_dispatch
jobs:
  night:
    permissions: {contents: read, actions: read}
    uses: OWNER/ci-eval/.github/workflows/nightly.yml@COMMIT
    with:
      configs: configs/*.yaml
      ml-configs: configs/*.yaml
      shards: 1
      algorithm-gates: |
        Recall >= -100pp
        RecallAt5 >= -100pp
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """Return a repository with the engines and their rankers, after two nights."""
    need_modules("lightgbm", "pyarrow")
    folder = tmp_path_factory.mktemp("github")
    project = write(folder / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" for i in range(4)})
    config: dict[str, object] = {"language": "python", "project": {"spec": "path:project", "name": "project"}}
    configs = {f"python-{engine}": {**config, "engine": engine} for engine in ENGINES}
    with github(folder, configs, project, {"calling": CALLING}) as served:
        train(served, project, folder / "training")
        yield served


def train(hub: GitHub, project: Path, folder: Path) -> None:
    """Store the same ranker for each configuration, as a run of generate-ml-logs does."""
    for step in (
        ["generate-ml-logs", "--language", "python", "--engine", "words", "--project", f"path:{project}",
         "--output", folder / "logs"],
        ["train-ranker", folder / "logs", "--output", folder / "model.json"],
    ):  # fmt: skip
        code, _, err = run(*step)
        assert code == 0, err
    for engine in ENGINES:
        stored = hub.zip(RANKERS, f"ranker-python-{engine}")
        stored.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(stored, "w") as archive:
            archive.write(folder / "model.json", "model.json")


def ranked(hub: GitHub, night: int) -> dict[str, Any]:
    """Run a night, and return what its page of algorithms shows."""
    code, log = hub.run("calling", night, repository=THEIRS)
    assert code == 0, log
    page = hub.artifact(night, "algorithms")
    assert (page / "html" / "index.html").is_file()
    return dict(json.loads((page / "overview.json").read_text()))


def test_a_night_ranks_all_evaluations_and_the_next_one_has_a_trend_of_each(hub: GitHub) -> None:
    names = {f"workspace-python-{engine}-{engine}-{kind}" for engine in ENGINES for kind in ("basic", "ml")}
    for number, night in enumerate((FIRST, SECOND), 1):
        overview = ranked(hub, night)
        assert {name for name in hub.names(night) if name.startswith("workspace-")} == names
        assert {side["workspace"] for side in overview["ranking"]["sides"]} == names
        assert [len(trend["nights"]) for trend in overview["trends"]] == [number] * len(names)
    page = (hub.artifact(SECOND, "algorithms") / "html" / "index.html").read_text()
    assert {chart.count("<polyline") for chart in page.split("<figure")[1:]} == {len(names)}
    gates = [
        gate["rule"]
        for path in sorted(hub.artifact(SECOND, "algorithms").glob("*/comparison.json"))
        for gate in json.loads(path.read_text())["gates"]
    ]
    assert gates == ["Recall >= -100pp", "RecallAt5 >= -100pp"] * 3


CHEAP = ("empty", "oracle", "recency", "words", "frequency")
TWO_NIGHTS = """
on: workflow_dispatch
jobs:
  five:
    permissions: {contents: read, actions: read}
    uses: OWNER/ci-eval/.github/workflows/nightly.yml@COMMIT
    with: {name: five, configs: cheap/*.yaml}
  one:
    permissions: {contents: read, actions: read}
    uses: OWNER/ci-eval/.github/workflows/nightly.yml@COMMIT
    with: {name: one, configs: cheap/words.yaml, shards: 2}
"""


def test_two_nights_in_one_file_of_which_one_has_five_engines_in_at_most_nine_jobs(hub: GitHub) -> None:
    config: dict[str, object] = {"language": "python", "project": {"spec": "path:project", "name": "project"}}
    engines = {f"{engine}__yaml": yaml.safe_dump({**config, "engine": engine}) for engine in CHEAP}
    write(hub.repository(THEIRS) / "cheap", **engines)
    hub.call(THEIRS, "two", TWO_NIGHTS)
    hub.commit(THEIRS)
    code, log = hub.run("two", 51, repository=THEIRS)
    assert code == 0, log
    names = {f"five-{engine}-{engine}-basic" for engine in CHEAP} | {"one-words-words-basic"}
    for kind in ("workspace", "comparison", "history", "good"):
        assert {name for name in hub.names(51) if name.startswith(f"{kind}-")} == {f"{kind}-{name}" for name in names}
    assert {"algorithms-five"} <= hub.names(51)
    jobs = [name.rpartition(" / ")[2] for name, _ in hub.services.jobs[51]]
    of_one = {"one-words-words-basic-1-of-2", "one-words-words-basic-2-of-2", "merge one-words-words-basic"}
    assert of_one <= set(jobs)
    assert [jobs.count(name) for name in ("plan", "summary")] == [2, 2]
    # Of the five: the plan, an evaluation each, the summary.
    assert len([name for name in jobs if name not in of_one]) - 2 == 7 <= 9
