"""The third job and what is made of it: logs, a ranker, and the loop closed, as users run them."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pytest

from ci_eval.learning.features import NAMES
from ci_eval.model import Session
from ci_eval.workspace import Workspace
from tests.projects import GREETER, write

# A command line after the other: logs, training, evaluation, together more than a minute.
pytestmark = pytest.mark.slow


def run(*arguments: object) -> tuple[int, str, str]:
    argv = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def lines(number: int) -> str:
    """Code in which what is typed can be learned: the newest name is the likeliest."""
    body = "".join(f"    value_{i} = make_{number}(value_{i - 1})\n    print(value_{i})\n" for i in range(1, 9))
    return f"{GREETER}\ndef make_{number}(value_0):\n{body}    return value_0\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("ml") / "p", **{f"file{i:02}__py": lines(i) for i in range(14)})


@pytest.fixture(scope="module")
def logs(project: Path) -> Path:
    """A workspace with logs in every format."""
    folder = project.parent / "logs"
    formats = [part for form in ("parquet", "jsonl", "jetbrains") for part in ("--log-format", form)]
    command = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", folder, *formats)
    code, out, err = run(*command, "--jobs", 2)
    assert code == 0, err
    assert "candidate" in out
    return folder


def sides(folder: Path) -> list[pd.DataFrame]:
    return [pd.read_parquet(folder / "logs" / f"{side}.parquet") for side in ("train", "validation")]


def sessions_of(folder: Path) -> list[Session]:
    return [each for _, sessions in Workspace.open(folder).sessions(Session) for each in sessions]


# --------------------------------------------------------------------------------------------------------------- logs


def test_there_is_one_row_per_suggestion_that_was_shown(logs: Path) -> None:
    table = pd.concat(sides(logs))
    lookups = [lookup for session in sessions_of(logs) for lookup in session.lookups]
    assert len(table) == sum(lookup.total for lookup in lookups) > 1000
    assert table.expected.sum() == sum(lookup.rank is not None for lookup in lookups)
    assert table.selected.sum() == sum(lookup.selected for lookup in lookups) > 50
    assert (table[table.selected].expected).all()
    for side in ("train", "validation"):
        path = logs / "logs" / f"{side}.parquet"
        assert pl.read_parquet(path).height == len(pd.read_parquet(path))


def test_rows_say_what_was_shown_and_what_the_user_did(logs: Path) -> None:
    table = pd.concat(sides(logs))
    stored = {session.id: session for session in sessions_of(logs)}
    for (name, number), rows in list(table.groupby(["session", "query_number"]))[:200]:
        lookup = stored[name].lookups[number]
        assert rows.text.tolist() == [each.text for each in lookup.suggestions]
        assert rows.place.tolist() == list(range(1, len(rows) + 1))
        assert set(rows.prefix) == {lookup.prefix}
        taken = {"selected"} if lookup.selected else {"typed", "cancelled"}
        assert set(rows.outcome) <= taken
        assert (rows.prefix_length == len(lookup.prefix)).all()


def test_a_file_is_on_one_side_and_both_sides_have_some(logs: Path) -> None:
    train, validation = sides(logs)
    assert len(set(train.file)) >= 5
    assert len(set(validation.file)) >= 1
    assert not set(train.file) & set(validation.file)


def test_the_schema_describes_every_column(logs: Path) -> None:
    schema = json.loads((logs / "logs" / "schema.json").read_text())
    assert [each["name"] for each in schema["columns"]] == list(sides(logs)[0].columns)
    assert all(each["meaning"] and each["type"] for each in schema["columns"])


def test_the_manifest_counts_and_has_a_digest_of_every_file(logs: Path) -> None:
    record = json.loads((logs / "manifest.json").read_text())["logs"]
    train, validation = sides(logs)
    assert (record["train"]["rows"], record["validation"]["rows"]) == (len(train), len(validation))
    assert sum(rows for rows, _ in record["train"]["kinds"].values()) == len(train)
    files = {each["path"]: each for each in record["files"]}
    there = {str(path.relative_to(logs / "logs")) for path in (logs / "logs").rglob("*") if path.is_file()}
    assert there - set(files) == {"manifest.json"}
    for path, each in files.items():
        assert hashlib.sha256((logs / "logs" / path).read_bytes()).hexdigest() == each["sha256"]


def test_lines_of_json_hold_the_same(logs: Path) -> None:
    table = sides(logs)[0]
    with gzip.open(logs / "logs" / "train.jsonl.gz") as file:
        queries = [json.loads(line) for line in file]
    assert sum(len(query["suggestions"]) for query in queries) == len(table)
    first = queries[0]["suggestions"][0]
    row = table.iloc[0]
    assert (first["text"], queries[0]["session"]) == (row.text, row.session)
    for name in NAMES:
        assert first["features"][name] == (None if np.isnan(row[name]) else pytest.approx(row[name]))


def events(logs: Path, side: str) -> list[list[str]]:
    (path,) = (logs / "logs" / "python" / side).glob("*/*")
    return [line.split("\t") for line in path.read_text().splitlines()]


def test_the_plugins_events_keep_the_plugins_rules(logs: Path) -> None:
    """Items are registered before use, moves go by one, what is selected is where the cursor is, and sessions end."""
    by_session: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    times = []
    for columns in events(logs, "train"):
        assert len(columns) == 8
        time, recorder, version, user, session, bucket, action, body = columns
        assert (recorder, version, bucket, len(user), len(session)) == ("completion-stats", "5", "-1", 12, 12)
        assert "value_1" not in body  # never the text
        times.append(int(time))
        by_session[session].append((action, json.loads(body)))
    assert min(times) > 1e12
    assert len(by_session) > 100
    for happened in by_session.values():
        _check_plugin_session(happened)


def _check_plugin_session(happened: list[tuple[str, dict[str, Any]]]) -> None:
    known: set[int] = set()
    cursor = 0
    assert [action for action, _ in happened].index("COMPLETION_STARTED") == 0
    assert [action for action, _ in happened].count("COMPLETION_STARTED") == 1
    for action, event in happened[:-1]:
        known |= {item["id"] for item in event["newCompletionListItems"]}
        assert set(event["completionListIds"]) <= known
        assert action in {"COMPLETION_STARTED", "TYPE", "DOWN"}
        assert event["currentPosition"] == (cursor + 1 if action == "DOWN" else 0)
        cursor = event["currentPosition"]
    last, event = happened[-1]
    assert last in {"EXPLICIT_SELECT", "TYPED_SELECT", "COMPLETION_CANCELED"}
    if last == "EXPLICIT_SELECT":
        assert event["completionListIds"][event["currentPosition"]] == event["selectedId"]
        assert event["currentPosition"] == cursor


def test_the_info_of_the_plugins_logs_counts_sessions(logs: Path) -> None:
    counts = [
        sum(columns[6] == "COMPLETION_STARTED" for columns in events(logs, side)) for side in ("train", "validate")
    ]
    assert (logs / "logs" / "python" / "info").read_text().splitlines() == [
        f"All sessions: {sum(counts)}",
        f"Training sessions: {counts[0]}",
        f"Validate sessions: {counts[1]}",
    ]


def test_shards_concatenate_to_the_whole(logs: Path, project: Path, tmp_path: Path) -> None:
    shards = []
    for index in (1, 2, 3):
        shards.append(tmp_path / f"s{index}")
        command = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", shards[-1])
        code, _, err = run(*command, "--shard", f"{index}/3", "--log-format", "parquet", "--jobs", 1)
        assert code == 0, err
    code, _, err = run("merge", *shards, "--output", tmp_path / "all")
    assert code == 0, err
    order = ["session", "query_number", "place"]
    for number, whole in enumerate(sides(logs)):
        pieces = pd.concat([sides(shard)[number] for shard in shards])
        for table in (pieces, sides(tmp_path / "all")[number]):
            pd.testing.assert_frame_equal(
                table.sort_values(order, ignore_index=True), whole.sort_values(order, ignore_index=True)
            )
    records = [json.loads((folder / "manifest.json").read_text())["logs"] for folder in (logs, tmp_path / "all")]
    assert [record["train"] for record in records] == [records[0]["train"]] * 2
    assert Workspace.open(tmp_path / "all").names_path.read_bytes() == Workspace.open(logs).names_path.read_bytes()


def test_an_interrupted_run_is_taken_up_without_losing_or_repeating_a_row(
    logs: Path, project: Path, tmp_path: Path
) -> None:
    command = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    argv = [sys.executable, "-m", "ci_eval", *map(str, command), "--log-format", "parquet", "--jobs", "1"]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parts = tmp_path / "o" / "sessions"
    while process.poll() is None and len(list(parts.glob("*.gz"))) < 3:
        pass
    process.kill()
    process.wait()
    code, _, err = run(*command, "--log-format", "parquet", "--resume")
    assert code == 0, err
    order = ["session", "query_number", "place"]
    for whole, again in zip(sides(logs), sides(tmp_path / "o"), strict=True):
        pd.testing.assert_frame_equal(
            again.sort_values(order, ignore_index=True), whole.sort_values(order, ignore_index=True)
        )


def test_a_project_may_be_on_one_side_as_a_whole(project: Path, tmp_path: Path) -> None:
    command = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    code, _, err = run(*command, "--set", "interpret.splitBy=project")
    assert code == 0, err
    assert 0 in [len(side) for side in sides(tmp_path / "o")]
    assert "nothing was logged for" in " ".join(err.split())


# ------------------------------------------------------------------------------------------------------------- ranker


@pytest.fixture(scope="module")
def model(logs: Path) -> Path:
    path = logs.parent / "model.json"
    code, out, err = run("train-ranker", logs, "--output", path, "--jobs", 1)
    assert code == 0, err
    assert "by the model" in out
    return path


@pytest.fixture(scope="module")
def plain(project: Path) -> Path:
    folder = project.parent / "plain"
    one = "actions.strategy.prefix={name: SimplePrefix, n: 1}"
    command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--set", one, "--output", folder)
    code, _, err = run(*command)
    assert code == 0, err
    return folder


def test_a_trained_ranker_says_what_it_was_made_of(model: Path) -> None:
    found = json.loads(model.read_text())
    assert found["trainedOn"] == ["p"]
    assert found["after"]["top1"] > found["before"]["top1"]
    assert sum(found["importance"].values()) == pytest.approx(1)
    assert list(found["importance"].values()) == sorted(found["importance"].values(), reverse=True)


def test_a_folder_of_logs_trains_the_ranker_that_they_train(model: Path, logs: Path, tmp_path: Path) -> None:
    shutil.copytree(logs, tmp_path / "logs" / "logs-0")
    code, _, err = run("train-ranker", tmp_path / "logs", "--output", tmp_path / "again.json", "--jobs", 1)
    assert code == 0, err
    assert (tmp_path / "again.json").read_bytes() == model.read_bytes()


def test_training_twice_gives_the_same_model(model: Path, logs: Path, tmp_path: Path) -> None:
    assert run("train-ranker", logs, "--output", tmp_path / "again.json", "--jobs", 1)[0] == 0
    assert (tmp_path / "again.json").read_bytes() == model.read_bytes()


def test_the_loop_closes_and_rerank_says_the_same_without_the_engine(plain: Path, model: Path, tmp_path: Path) -> None:
    asked, moved = tmp_path / "asked", tmp_path / "moved"
    chosen = ("--completion-type", "ML", "--model", model)
    assert run("interpret", plain, *chosen, "--output", asked)[0] == 0
    assert run("report", asked)[0] == 0
    code, _, err = run("rerank", plain, *chosen, "--output", moved)
    assert code == 0, err
    ranks = [
        {session.id: [lookup.rank for lookup in session.lookups] for session in sessions_of(folder)}
        for folder in (asked, moved)
    ]
    assert ranks[0] == ranks[1]
    assert run("compare", plain, moved, "--output", tmp_path / "out", "--gate", "RecallAt1 >= 5pp")[0] == 0
    report = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert report["filters"]["ALL"]["metrics"]["RecallAt1"]["verdict"] == "better"
    assert report["filters"]["ALL"]["metrics"]["Recall"]["difference"] == 0
    assert report["sides"]["new"]["completionType"] == "ML"
    digests = {Workspace.open(folder).manifest().model for folder in (asked, moved)}
    assert digests == {hashlib.sha256(model.read_bytes()).hexdigest()}


def test_a_stored_order_can_be_taken_back(plain: Path, tmp_path: Path) -> None:
    assert run("rerank", plain, "--completion-type", "ALPHABETICAL", "--output", tmp_path / "a")[0] == 0
    assert run("rerank", tmp_path / "a", "--completion-type", "BASIC", "--output", tmp_path / "b")[0] == 0
    stored = [
        {session.id: [[each.text for each in lookup.suggestions] for lookup in session.lookups] for session in sessions}
        for sessions in (sessions_of(plain), sessions_of(tmp_path / "b"))
    ]
    assert stored[0] == stored[1]


def test_frequency_is_a_completion_type(plain: Path, tmp_path: Path) -> None:
    code, out, err = run("rerank", plain, "--completion-type", "FREQUENCY", "--output", tmp_path / "f")
    assert code == 0, err
    assert "FREQUENCY" in out


def test_ml_without_a_model_or_with_another_schema_is_refused(plain: Path, model: Path, tmp_path: Path) -> None:
    code, _, err = run("rerank", plain, "--completion-type", "ML", "--output", tmp_path / "o")
    assert (code, "--model FILE" in err) == (2, True)
    found = json.loads(model.read_text())
    (tmp_path / "old.json").write_text(json.dumps(found | {"schema": "0" * 16}))
    old = ("--completion-type", "ML", "--model", tmp_path / "old.json")
    code, _, err = run("rerank", plain, *old, "--output", tmp_path / "o")
    assert (code, "trained on other features" in " ".join(err.split())) == (2, True)
    (tmp_path / "broken.json").write_text("{}")
    code, _, err = run("evaluate", *old[:3], tmp_path / "broken.json", "--engine", "words", "--project", "path:.")
    assert (code, "is not a model" in err) == (2, True)


def test_shards_ranked_by_one_model_are_merged_wherever_it_lay(model: Path, project: Path, tmp_path: Path) -> None:
    shards = []
    for index in (1, 2):
        place = tmp_path / f"machine{index}" / "model.json"
        place.parent.mkdir()
        place.write_bytes(model.read_bytes())
        shards.append(tmp_path / f"s{index}")
        command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", shards[-1])
        code, _, err = run(*command, "--completion-type", "ML", "--model", place, "--shard", f"{index}/2")
        assert code == 0, err
    code, _, err = run("merge", *shards, "--output", tmp_path / "all")
    assert code == 0, err


def test_logs_of_a_modelled_user_cannot_be_reranked(logs: Path, tmp_path: Path) -> None:
    code, _, err = run("rerank", logs, "--completion-type", "ALPHABETICAL", "--output", tmp_path / "o")
    assert (code, "whose choices depend on the order" in " ".join(err.split())) == (2, True)


def test_training_needs_logs(plain: Path, tmp_path: Path) -> None:
    code, _, err = run("train-ranker", plain, "--output", tmp_path / "m.json")
    assert (code, "generate-ml-logs" in err) == (2, True)


# --------------------------------------------------------------------------------------------------------------- users


def test_a_user_is_fitted_to_logs_and_can_be_used(logs: Path, project: Path, tmp_path: Path) -> None:
    code, out, err = run("fit-user-model", logs)
    assert code == 0, err
    config = tmp_path / "config.yaml"
    config.write_text(out)
    command = ("evaluate", config, "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    code, _, err = run(*command, "--set", "interpret.sessionsLimit=50")
    assert code == 0, err
    user = Workspace.open(tmp_path / "o").config_path.read_text()
    assert "firstPrefix" in user


def test_what_a_user_would_do_on_average_is_computed_and_drawing_agrees(project: Path, tmp_path: Path) -> None:
    every = "actions.strategy.prefix={name: EveryPrefix}"
    command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output")
    assert run(*command, tmp_path / "every", "--set", every)[0] == 0
    code, out, err = run("expect", tmp_path / "every", "--user-model", "jetbrains")
    assert code == 0, err
    selected = next(line.split()[1] for line in out.splitlines() if line.startswith("Selected"))
    assert run(*command, tmp_path / "drawn", "--set", "interpret.userModel=jetbrains")[0] == 0
    drawn = sessions_of(tmp_path / "drawn")
    share = sum(any(lookup.selected for lookup in session.lookups) for session in drawn) / len(drawn)
    assert float(selected.rstrip("%")) / 100 == pytest.approx(share, abs=0.04)


def test_sessions_of_a_user_end_where_the_user_stops_asking(logs: Path) -> None:
    for session in sessions_of(logs):
        assert session.lookups
        assert session.typed == len(session.lookups[0].prefix)
        assert not any(lookup.selected for lookup in session.lookups[:-1])


def test_expectations_need_every_prefix(plain: Path, logs: Path) -> None:
    for folder in (plain, logs):
        code, _, err = run("expect", folder)
        assert (code, "EveryPrefix" in err) == (2, True)


def test_two_users_are_not_comparable(logs: Path, project: Path, tmp_path: Path) -> None:
    command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    assert run(*command, "--set", "interpret.userModel=first")[0] == 0
    code, _, err = run("compare", logs, tmp_path / "o", "--output", tmp_path / "out")
    assert (code, "the user model is" in " ".join(err.split())) == (2, True)


def test_the_same_user_meets_two_engines(project: Path, tmp_path: Path) -> None:
    """What does not depend on the answers is the same: where the first query is made."""
    first = []
    for engine in ("words", "oracle"):
        command = ("evaluate", "--project", f"path:{project}", "--engine", engine, "--output", tmp_path / engine)
        assert run(*command, "--set", "interpret.userModel=thesis", "--set", "interpret.sessionsLimit=100")[0] == 0
        first.append({session.id: session.typed for session in sessions_of(tmp_path / engine)})
    assert first[0] == first[1]


def test_the_names_of_a_project_are_kept_with_the_run(logs: Path) -> None:
    assert Workspace.open(logs).names_path.stat().st_size > 1000
    assert msgspec.json.decode((logs / "logs" / "manifest.json").read_bytes())["percent"] == 70


@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.parametrize("engine", ["jedi", "ty"])
def test_real_engines_are_logged_with_their_own_scores(engine: str, tmp_path: Path) -> None:
    project = write(tmp_path / "p", **{f"file{i}__py": GREETER for i in range(4)})
    command = ("generate-ml-logs", "--project", f"path:{project}", "--engine", engine, "--output", tmp_path / "o")
    code, _, err = run(*command, "--jobs", 1)
    assert code == 0, err
    table = pd.concat(sides(tmp_path / "o"))
    lookups = [lookup for session in sessions_of(tmp_path / "o") for lookup in session.lookups]
    assert len(table) == sum(lookup.total for lookup in lookups) > 50
    assert {"function", "variable", "keyword", "module"} & set(table.candidate)
    assert table.score_rank.notna().all() == (engine == "ty")
