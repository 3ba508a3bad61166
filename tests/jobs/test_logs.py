"""Logs of completion as users write them: rows, schema, digests, formats, shards."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from ci_eval.core.logs.features import NAMES
from ci_eval.core.model import Lookup, Session
from ci_eval.core.workspace import Workspace
from tests.logged import run, sessions_of, sides
from tests.needs import need_modules
from tests.projects import GREETER, write

pd, pl, _, _ = need_modules("pandas", "polars", "pyarrow", "lightgbm")

# A command line after the other: logs, training, evaluation, together more than a minute.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("file_in_one_process")]


def at_prefix(session: Session, prefix: str) -> Lookup:
    """The lookup of a session at a prefix. A session also has those that its user might have made."""
    return next(lookup for lookup in session.lookups if lookup.prefix == prefix)


def logged_lookups(table: Any, folder: Path) -> list[Lookup]:
    """The stored lookups that are in the logs."""
    stored = {session.id: session for session in sessions_of(folder)}
    asked = table.drop_duplicates(["session", "query_number"])
    return [at_prefix(stored[row.session], row.prefix) for row in asked.itertuples()]


def test_there_is_one_row_per_suggestion_that_was_shown(logs: Path) -> None:
    table = pd.concat(sides(logs))
    lookups = logged_lookups(table, logs)
    assert len(table) == sum(lookup.total for lookup in lookups) > 1000
    assert table.expected.sum() == sum(lookup.rank is not None for lookup in lookups)
    assert table.selected.sum() > 50
    assert (table[table.selected].expected).all()
    for side in ("train", "validation"):
        path = logs / "logs" / f"{side}.parquet"
        assert pl.read_parquet(path).height == len(pd.read_parquet(path))


def test_rows_say_what_was_shown_and_what_the_user_did(logs: Path) -> None:
    table = pd.concat(sides(logs))
    stored = {session.id: session for session in sessions_of(logs)}
    for (name, number), rows in list(table.groupby(["session", "query_number"]))[:200]:
        assert number < len(stored[name].lookups)
        lookup = at_prefix(stored[name], rows.prefix.iloc[0])
        assert rows.text.tolist() == [each.text for each in lookup.suggestions]
        assert rows.place.tolist() == list(range(1, len(rows) + 1))
        assert set(rows.prefix) == {lookup.prefix}
        taken = {"selected"} if rows.selected.any() else {"typed", "cancelled"}
        assert set(rows.outcome) <= taken
        assert (rows.prefix_length == len(lookup.prefix)).all()


def test_a_group_is_one_list_and_texts_are_dictionaries(logs: Path) -> None:
    table = pd.read_parquet(logs / "logs" / "train.parquet")
    sizes = table.groupby("group", sort=False).size()
    assert len(sizes) == len(table.drop_duplicates(["session", "query_number"]))
    assert (table.drop_duplicates("group")["place"] == 1).all()
    words = {"project", "file", "prefix", "before", "after", "text", "candidate", "outcome"}
    assert {name for name in table if isinstance(table[name].dtype, pd.CategoricalDtype)} == words
    texts = {file.path: file.text.split("\n") for file in Workspace.open(logs).sources()}
    for row in table.drop_duplicates("session").itertuples():
        assert "\n".join(texts[row.file])[: row.offset].count("\n") == row.line - 1


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
    while process.poll() is None and len(list(parts.glob("*.zst"))) < 3:
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


def test_a_third_side_is_kept_for_the_test_and_the_code_around_is_logged(project: Path, tmp_path: Path) -> None:
    command = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    settings = ("interpret.testSplit=20", "interpret.trainTestSplit=50", "interpret.logContext=9")
    every = [part for form in ("parquet", "jsonl", "jetbrains") for part in ("--log-format", form)]
    code, out, err = run(*command, *every, *(part for each in settings for part in ("--set", each)))
    assert code == 0, err
    logs = tmp_path / "o" / "logs"
    tables = {side: pd.read_parquet(logs / f"{side}.parquet") for side in ("train", "validation", "test")}
    files = [set(table.file) for table in tables.values()]
    assert all(files)
    assert sum(map(len, files)) == len(set.union(*files))
    record = json.loads((logs / "manifest.json").read_text())
    assert (record["testPercent"], record["test"]["rows"]) == (20, len(tables["test"]))
    assert [line for line in out.splitlines() if line.split()[:1] == ["test"]]
    texts = {file.path: file.text for file in Workspace.open(tmp_path / "o").sources()}
    expected = tables["test"][tables["test"].expected]
    assert len(expected)
    for row in expected.itertuples():
        text = texts[row.file]
        assert (row.before, row.after) == (text[: row.offset][-9:], text[row.offset + len(row.text) :][:9])
    with gzip.open(logs / "test.jsonl.gz") as file:
        assert {json.loads(line)["session"] for line in file} == set(tables["test"].session)
    (events,) = (path for path in (logs / "python" / "test").rglob("*") if path.is_file())
    assert events.read_text()
    model = tmp_path / "model.json"
    code, out, err = run("train-ranker", tmp_path / "o", "--output", model, "--jobs", 1, "--label", "expected")
    assert code == 0, err
    found = json.loads(model.read_text())
    assert found["tested"]["before"]["queries"] > 0
    assert [line for line in out.splitlines() if line.split()[:1] == ["test"]]


def test_sessions_of_a_user_end_where_the_user_stops_asking(logs: Path) -> None:
    # What the session asked besides is for the figures, which are expectations.
    for _, rows in pd.concat(sides(logs)).groupby("session"):
        taken = rows[rows.selected]
        assert len(taken) <= 1
        assert (taken.query_number == rows.query_number.max()).all()


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
    assert len(table) == sum(lookup.total for lookup in logged_lookups(table, tmp_path / "o")) > 50
    assert {"function", "variable", "keyword", "module"} & set(table.candidate)
    assert table.score_rank.notna().all() == (engine == "ty")
