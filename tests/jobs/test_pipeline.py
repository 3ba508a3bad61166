"""When a run counts as failed although its reports are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.config import Config
from ci_eval.errors import NothingToEvaluate, TooManyFailures
from ci_eval.jobs.pipeline import trouble
from ci_eval.model import EngineInfo
from ci_eval.workspace import Manifest, Workspace
from tests.projects import INFO


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ({"ok": 96, "timeout": 4}, None),
        ({"ok": 94, "timeout": 2, "engine-crash": 2, "error": 2}, TooManyFailures),
        ({"ok": 10, "engine-crash": 50, "skipped": 99_940}, TooManyFailures),
        ({"skipped": 100}, NothingToEvaluate),
    ],
)
def test_failures_count_against_the_sessions_that_were_evaluated(
    tmp_path: Path, statuses: dict[str, int], expected: type[Exception] | None
) -> None:
    workspace = Workspace.create(tmp_path / "w")
    finished = sum(statuses.values()) - statuses.get("skipped", 0)
    counts = {"planned": sum(statuses.values()), "finished": finished}
    workspace.write_manifest(manifest(statuses, **counts))
    assert type(trouble(workspace, Config())) is (expected or type(None))


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
        cpu="c",
        jobs=1,
        start="2020-01-01T00:00:00+00:00",
        planned=planned,
        finished=finished,
        statuses=statuses,
    )
