"""Recorded editing as logs: what was shown, and what people did with it."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.user_model import UserModel
from ci_eval.jobs.jetbrains.event_logs import Recorded, find_keywords
from ci_eval.plugins.learning.events import ShownSession
from tests.command import command
from tests.jetbrains.event_samples import line, session
from tests.jobs.conftest import logs, project
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
        (completion(1, 0, candidates=["a"]), "sessions without a recorded end"),
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
    with pytest.raises(ConfigError, match=r"not the lists that completion showed.*can hold lists are neutral"):
        Recorded.named(Path(f"kave={tmp_path}"))
    path = written(tmp_path, edit(0, 0, TEXT))
    for name in ("fit-user-model", "train-ranker"):
        more = ("--output", tmp_path / "m") if name == "train-ranker" else ()
        code, _, err = command(name, f"neutral={path}", *more)
        assert (code, "edits alone are not enough" in " ".join(err.split())) == (3, True), err
    code, _, err = command("fit-user-model", f"neutral={tmp_path / 'none'}")
    assert (code, "does not exist" in err) == (2, True), err


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
def test_a_recording_trains_a_ranker(tmp_path: Path) -> None:
    need_module("lightgbm")
    path = recorded(tmp_path / "r.jsonl", PLANTED, users=20, seed=1)
    code, _, err = command("train-ranker", f"neutral={path}", "--output", tmp_path / "m.json", "--jobs", 1)
    assert code == 0, err
    assert "does not compute" not in err
    assert json.loads((tmp_path / "m.json").read_text())["features"]


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
    assert "left out of the logs: 1 lines that are not events" in said
    assert "left out of the logs: 1 sessions that do not end" in said
    assert "left out of the logs: 1 events of sessions that do not begin" in said
    assert "cannot order lists" in said
    found = json.loads(output.read_text())
    assert found["features"] == ["ml_kind", "ml_score", "user_age", "position"]
    assert found["after"]["top1"] > 0.9 > found["before"]["top1"]


def test_logs_without_a_selection_and_mixed_formats_are_refused(logs: Path, events: Path, tmp_path: Path) -> None:
    (tmp_path / "chunk_0").write_text(session("1", right=0, action="COMPLETION_CANCELED"))
    code, _, err = command("train-ranker", tmp_path, "--output", tmp_path / "m.json")
    assert (code, "no item of a list was taken" in " ".join(err.split())) == (3, True)
    code, _, err = command("train-ranker", events, logs, "--output", tmp_path / "m.json")
    assert (code, "give logs of one format" in " ".join(err.split())) == (2, True)
