"""Steps of a CI, which run the real jobs with inputs as variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ci.parsers import service_messages
from tests.command import command
from tests.needs import need_modules
from tests.projects import GREETER, write

PROJECT = {"language": "python", "engine": "words", "jobs": "1"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the SPEC of a small project; the test stands in an empty folder."""
    (tmp_path / "steps").mkdir()
    monkeypatch.chdir(tmp_path / "steps")
    return f"path:{write(tmp_path / 'p', main__py=GREETER)}"


def step(monkeypatch: pytest.MonkeyPatch, job: str, **inputs: str) -> tuple[int, str, str]:
    """Run a step of TeamCity."""
    with monkeypatch.context() as patch:
        for name, value in inputs.items():
            patch.setenv(f"INPUT_{name.upper()}", value)
        return command("--ci", "teamcity", "ci", "run", job)


def published(out: str) -> set[str]:
    """Return the names of what a step published."""
    messages = [values[""] for name, values in service_messages(out) if name == "publishArtifacts"]
    return {text.partition(" => ")[2] or Path(text).name for text in messages}


def test_nights_of_a_comparison_are_green_from_the_first_and_publish_their_history(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert step(monkeypatch, "evaluate", project=project, output="tonight", **PROJECT)[0] == 0
    inputs = {"base": "base", "new": "tonight", "history": "history", "gates": "RecallAt1 >= -2pp"}
    assert step(monkeypatch, "compare", output="comparison", **inputs)[0] == 2
    code, out, err = step(monkeypatch, "compare", output="comparison", first_night="true", **inputs)
    assert code == 0, err
    assert "There is no base yet: this is a first night." in err
    assert published(out) == {"comparison.zip", "history.zip"}
    Path("tonight").rename("base")
    assert step(monkeypatch, "evaluate", project=project, output="tonight", **PROJECT)[0] == 0
    code, out, err = step(monkeypatch, "compare", output="second", **inputs)
    assert (code, "first night" in err) == (0, False)
    assert [values["name"] for name, values in service_messages(out) if name == "testFinished"] == ["RecallAt1 >= -2pp"]
    red = {**inputs, "gates": "RecallAt1 >= 100%"}
    code, out, _ = step(monkeypatch, "compare", output="third", **red)
    assert (code, published(out)) == (1, {"third.zip", "history.zip"})


def test_without_a_history_a_base_that_is_not_there_ends_the_step(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert step(monkeypatch, "evaluate", project=project, output="new", **PROJECT)[0] == 0
    assert step(monkeypatch, "compare", base="base", new="new", output="comparison")[0] == 2


def test_two_engines_are_compared_in_one_step(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = {"language": "python", "project": project, "jobs": "1", "rounds": "2", "output": "engines"}
    code, out, err = step(
        monkeypatch, "compare-engines", base="empty", new="oracle", gates="RecallAt1 >= 50%", **inputs
    )
    assert code == 0, err
    assert published(out) == {"comparison.zip"}
    code, out, _ = step(
        monkeypatch,
        "compare-engines",
        base="oracle",
        new="empty",
        gates="RecallAt1 >= -1pp",
        **inputs | {"output": "x"},
    )
    assert code == 1
    assert "buildProblem" in {name for name, _ in service_messages(out)}


def test_shards_of_steps_are_merged_by_a_step(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for shard in ("1", "2"):
        done = step(monkeypatch, "evaluate", project=project, shard=f"{shard}/2", output=f"s{shard}", **PROJECT)
        assert done[0] == 0
    code, out, err = step(monkeypatch, "merge", workspaces="s1\ns2", output="workspace")
    assert code == 0, err
    assert published(out) == {"workspace.zip"}


def test_a_ranker_that_a_step_trains_is_published_as_a_file(
    project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_modules("lightgbm", "pyarrow")
    # Files are divided into those for training and those for validation: either side needs some.
    write(tmp_path / "p", **{f"part{number}__py": GREETER for number in range(12)})
    inputs = {**PROJECT, "project": project, "output": "logs"}
    assert step(monkeypatch, "generate-ml-logs", **inputs)[0] == 0
    code, out, err = step(monkeypatch, "train-ranker", logs="logs", output="model.json")
    assert code == 0, err
    assert published(out) == {"model.json"}
