"""The answers of a workspace as tables: in a notebook, and as files."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ci_eval
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.model import Session, Status
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.exports import tables
from ci_eval.plugins.exports.tables import FORMULA, TABLES, _cell
from tests.command import command
from tests.needs import need_module, need_modules
from tests.projects import sessions as stored

pq = need_module("pyarrow.parquet")

PAGE = (Path(ci_eval.__file__).parents[1] / "docs" / "commands.md").read_text()


@pytest.fixture(scope="module")
def night(nights: dict[str, Path]) -> Path:
    return nights["words"]


@pytest.fixture(scope="module")
def sessions(night: Path) -> list[Session]:
    return stored(Workspace(night))


def test_sessions_have_a_row_each_at_their_line(night: Path, sessions: list[Session]) -> None:
    rows = ci_eval.open(night).sessions().to_pylist()
    assert [row["session"] for row in rows] == [each.id for each in sessions]
    texts = {file.path: file.text.split("\n") for file in Workspace(night).sources()}
    for row in rows:
        assert texts[row["file"]][row["line"] - 1][row["column"] :].startswith(row["expected"])


def test_lookups_and_suggestions_have_what_is_stored(night: Path, sessions: list[Session]) -> None:
    run = ci_eval.open(night)
    lookups = [lookup for each in sessions for lookup in each.lookups]
    rows = run.lookups().to_pylist()
    assert [(r["prefix"], r["total"], r["rank"]) for r in rows] == [(e.prefix, e.total, e.rank) for e in lookups]
    suggested = run.suggestions().to_pylist()
    assert [row["text"] for row in suggested] == [each.text for lookup in lookups for each in lookup.suggestions]
    expected = {(row["session"], row["lookup"]): row["place"] for row in suggested if row["is_expected"]}
    assert expected == {(row["session"], row["lookup"]): row["rank"] for row in rows if row["rank"]}


def test_figures_can_be_computed_from_the_table(night: Path) -> None:
    run = ci_eval.open(night)
    lookups: Any = run.lookups()
    first = lookups["rank"].to_pylist().count(1) / run.manifest.finished
    assert first == pytest.approx(run.metrics["ALL"]["RecallAt1"].value)
    assert run.complete


def test_pandas_and_polars_read_them_with_words_as_categories(night: Path) -> None:
    pandas, polars = need_modules("pandas", "polars")
    table: Any = ci_eval.open(night).lookups()
    assert isinstance(table.to_pandas()["file"].dtype, pandas.CategoricalDtype)
    assert polars.DataFrame(table)["file"].dtype == polars.Categorical
    assert len(polars.DataFrame(ci_eval.open(night).suggestions())) == ci_eval.open(night).suggestions().num_rows


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv"])
def test_every_format_has_the_same_rows(night: Path, form: str, tmp_path: Path) -> None:
    code, out, err = command("export", night, "--format", form, "--output", tmp_path / "t")
    assert code == 0, err
    assert out.splitlines()[-1] == str(tmp_path / "t")
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == sorted(f"{name}.{form}" for name in TABLES)
    table: Any = ci_eval.open(night).lookups()
    path = tmp_path / "t" / f"lookups.{form}"
    if form == "parquet":
        assert pq.read_table(path).to_pylist() == table.to_pylist()
    elif form == "jsonl":
        assert [json.loads(line) for line in path.read_text().splitlines()] == [
            row | {"latencies": list(row["latencies"])} for row in table.to_pylist()
        ]
    else:
        with path.open(newline="") as file:
            read = list(csv.DictReader(file))
        assert [row["rank"] for row in read] == [str(row["rank"] or "") for row in table.to_pylist()]
        assert {row["cold"] for row in read} == {"true", "false"}


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", "\n=1", "\uff1d1", "'=1", "''@a", "-", "="]
)
def test_a_text_that_would_be_a_formula_is_none_and_can_be_had_again(text: str) -> None:
    cell = _cell(text)
    assert cell == f"'{text}"
    assert FORMULA.match(str(cell))


@pytest.mark.parametrize("value", ["join", "'a'", "a=1", " x", "", "''", -1, -0.5, 0, None])
def test_other_texts_and_numbers_stay_as_they_are_in_csv(value: object) -> None:
    assert _cell(value) == value


def test_a_session_that_was_never_asked_has_a_row_too(tmp_path: Path, night: Path) -> None:
    """Planned sessions that failed or were skipped are in no table of lookups."""
    rows = ci_eval.open(night).sessions().to_pylist()
    assert {row["status"] for row in rows} <= {status.value for status in Status}
    assert len(rows) == Workspace(night).manifest().planned


def test_every_column_is_explained_in_the_page() -> None:
    missing = [
        f"{table}.{each.name}"
        for table, columns in TABLES.items()
        for each in columns
        if f"| `{each.name}` | {each.meaning} |" not in PAGE
    ]
    assert missing == []


def test_what_was_changed_since_the_run_is_refused(tmp_path: Path, nights: dict[str, Path]) -> None:
    subprocess.run(["cp", "-r", nights["oracle"], tmp_path / "w"], check=True)
    next((tmp_path / "w" / "sessions").iterdir()).unlink()
    with pytest.raises(WorkspaceError, match="sessions changed since"):
        ci_eval.open(tmp_path / "w")


def test_a_folder_without_figures_says_what_to_do(tmp_path: Path, nights: dict[str, Path]) -> None:
    subprocess.run(["cp", "-r", nights["oracle"], tmp_path / "w"], check=True)
    (tmp_path / "w" / "reports" / "metrics.json").unlink()
    with pytest.raises(WorkspaceError, match="ci-eval report"):
        _ = ci_eval.open(tmp_path / "w").metrics


def test_actions_alone_export_as_empty_tables_and_say_so(tmp_path: Path, night: Path) -> None:
    project = Workspace(night).manifest().project.spec
    assert command("actions", "--project", project, "--output", tmp_path / "a")[0] == 0
    code, _, err = command("export", tmp_path / "a", "--format", "csv", "--output", tmp_path / "t")
    assert code == 0
    assert "is unfinished" in " ".join(err.split())
    assert (tmp_path / "t" / "sessions.csv").read_text().count("\n") == 1


@pytest.mark.parametrize("options", [[], ["--format", "csv", "--to", "ij23"]])
def test_what_to_write_is_said_once(options: list[str], night: Path, tmp_path: Path) -> None:
    code, _, err = command("export", night, *options, "--output", tmp_path / "t")
    assert code == 2
    assert "either --format" in " ".join(err.split())


def test_without_pyarrow_the_other_formats_remain(night: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ci_eval.plugins.exports.arrow", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match="pip install pyarrow"):
        ci_eval.open(night).sessions()
    with pytest.raises(ConfigError):
        tables.arrow()
    code, _, err = command("export", night, "--format", "parquet", "--output", tmp_path / "p")
    assert code == 2
    assert "export as jsonl or csv" in " ".join(err.split())
    assert not (tmp_path / "p").exists()
    assert command("export", night, "--format", "jsonl", "--output", tmp_path / "j")[0] == 0


def test_the_package_alone_imports_nothing_heavy() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import ci_eval, sys; print('msgspec' in sys.modules, 'pyarrow' in sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert said.split() == ["False", "False"]
    with pytest.raises(AttributeError, match="close"):
        _ = ci_eval.close  # type: ignore[attr-defined]
