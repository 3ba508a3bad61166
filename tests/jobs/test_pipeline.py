"""When a run counts as failed although its reports are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import NothingSuggested, NothingToEvaluate, TooManyFailures, TooMuchUnread
from ci_eval.core.config import Config
from ci_eval.core.config.schema import InterpretConfig
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import EngineInfo
from ci_eval.core.model.settings import ActionsConfig
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.pipeline import find_trouble
from tests.projects import INFO


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ({"ok": 96, "timeout": 4}, None),
        ({"ok": 94, "timeout": 2, "engine-crash": 2, "error": 2}, TooManyFailures),
        ({"ok": 10, "engine-crash": 50, "skipped": 99_940}, TooManyFailures),
        ({"skipped": 100}, NothingToEvaluate),
        ({"ok": 6, "empty": 94}, None),
        ({"ok": 5, "empty": 95}, NothingSuggested),
        ({"empty": 90, "error": 10}, TooManyFailures),
    ],
)
def test_failures_count_against_the_sessions_that_were_evaluated(
    tmp_path: Path, statuses: dict[str, int], expected: type[Exception] | None
) -> None:
    workspace = Workspace.create(tmp_path / "w")
    finished = sum(statuses.values()) - statuses.get("skipped", 0)
    counts = {"planned": sum(statuses.values()), "finished": finished}
    workspace.write_manifest(manifest(statuses, **counts))
    assert type(find_trouble(workspace, Config())) is (expected or type(None))


def test_more_source_than_allowed_that_could_not_be_read_is_a_failure(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "w")
    whole = manifest({"ok": 100}, planned=100, finished=100)
    workspace.write_manifest(replace(whole, unparsable=0.2))
    assert find_trouble(workspace, Config()) is None
    workspace.write_manifest(replace(whole, unparsable=0.21, unparsable_files={"a.php": 0.9}))
    failure = find_trouble(workspace, Config())
    assert isinstance(failure, TooMuchUnread)
    assert (failure.exit_code, "a.php" in str(failure)) == (5, True)
    assert find_trouble(workspace, Config(actions=ActionsConfig(allowed_unparsable=1))) is None


def test_a_run_without_suggestions_counts_where_that_is_wanted(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "w")
    nothing = manifest({"empty": 100}, planned=100, finished=100)
    workspace.write_manifest(nothing)
    assert find_trouble(workspace, Config(interpret=InterpretConfig(allowed_empty=1))) is None
    workspace.write_manifest(replace(nothing, engine=EngineInfo(name="empty", version="1")))
    assert find_trouble(workspace, Config()) is None


def manifest(statuses: dict[str, int], *, planned: int, finished: int) -> Manifest:
    return Manifest(
        ci_eval="0",
        title="t",
        language="python",
        completion_type="BASIC",
        client="editor",
        strategy="ALL",
        seed=0,
        engine=EngineInfo(name="e", version="1"),
        project=INFO,
        grammar="g",
        python="p",
        os="o",
        processor="c",
        jobs=1,
        start="2020-01-01T00:00:00+00:00",
        planned=planned,
        finished=finished,
        statuses=statuses,
    )
