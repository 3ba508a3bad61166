"""Logs of events, read back: those of our own runs, and those of IDEs."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.command import command
from tests.jetbrains.event_samples import line, session
from tests.jobs.conftest import logs, project
from tests.needs import need_module

__all__ = ["logs", "project"]

need_module("lightgbm")

# A run that logs, and trainings on it.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def events(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Only the events of the run, as the plugin lays them out."""
    folder = tmp_path_factory.mktemp("events") / "p"
    shutil.copytree(logs / "logs" / "python", folder / "python")
    assert {path.name for path in (folder / "python").iterdir()} == {"info", "train", "validate"}
    return folder


def trained(source: Path, output: Path, *more: object) -> dict[str, object]:
    code, _, err = command("train-ranker", source, "--output", output, "--jobs", 1, *more)
    assert code == 0, err
    found: dict[str, object] = json.loads(output.read_text())
    return found


def test_events_train_the_ranker_that_tables_of_the_same_run_train(logs: Path, events: Path, tmp_path: Path) -> None:
    assert trained(events, tmp_path / "e.json") == trained(logs, tmp_path / "t.json")


def test_an_archive_and_a_workspace_of_the_plugin_are_the_same_logs(logs: Path, events: Path, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    with tarfile.open(folder / "logs.tar.gz", "w:gz") as archive:
        archive.add(events / "python", "./logs/python")
    (folder / "config.json").write_text("{}")
    wanted = trained(events, tmp_path / "e.json")
    for source in (folder, folder / "logs.tar.gz"):
        found = trained(source, tmp_path / "a.json")
        assert found["digest"] == wanted["digest"]


def test_who_typed_to_the_end_is_learned_from_as_well(logs: Path, events: Path, tmp_path: Path) -> None:
    selected, expected = (trained(events, tmp_path / "m.json", "--label", label) for label in ("selected", "expected"))
    assert int(str(expected["queries"])) > int(str(selected["queries"]))


def test_a_user_is_fitted_to_events(logs: Path, events: Path) -> None:
    code, of_events, err = command("fit-user-model", events)
    assert code == 0, err
    first = [text for text in of_events.splitlines() if "firstPrefix" in text]
    assert first
    assert "userModel" in of_events


def test_logs_of_an_ide_train_on_its_own_features_and_say_so(tmp_path: Path) -> None:
    folder = tmp_path / "completion-stats-data"
    folder.mkdir()
    for chunk in range(3):
        text = "".join(session(f"{chunk:03}{number:09}", right=number % 5) for number in range(120))
        (folder / f"chunk_{chunk}.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "chunk_3").write_text("nonsense\n" + line("1", "UP", {}) + session("0" * 12, right=0, ended=False))
    output = tmp_path / "m.json"
    code, _, err = command("train-ranker", folder, "--output", output, "--jobs", 1)
    assert code == 0, err
    said = " ".join(err.split())
    assert "left out of the logs: 1 lines that are no event" in said
    assert "left out of the logs: 1 sessions that do not end" in said
    assert "left out of the logs: 1 events of sessions that do not begin" in said
    assert "cannot order lists here" in said
    found = json.loads(output.read_text())
    assert found["features"] == ["ml_kind", "ml_score", "user_age", "position"]
    assert found["after"]["top1"] > 0.9 > found["before"]["top1"]


def test_logs_without_a_selection_and_mixed_formats_are_refused(logs: Path, events: Path, tmp_path: Path) -> None:
    (tmp_path / "chunk_0").write_text(session("1", right=0, action="COMPLETION_CANCELED"))
    code, _, err = command("train-ranker", tmp_path, "--output", tmp_path / "m.json")
    assert (code, "no item of a list was taken" in " ".join(err.split())) == (3, True)
    code, _, err = command("train-ranker", events, logs, "--output", tmp_path / "m.json")
    assert (code, "give logs of one format" in " ".join(err.split())) == (2, True)
