"""Filter expressions: `report --filter E` has the figures of a run that asked the sessions of E alone."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.interpret.pack import Pack
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.filtering import VALUES, draw_expressions, measure, passes


def restrict(workspace: Path, copy: Path, conditions: dict[str, str]) -> int:
    """Make a copy in which only sessions that pass were ever asked; return their number."""
    copied = Workspace.open(Path(shutil.copytree(workspace, copy)))
    statuses: Counter[str] = Counter()
    for source in list(copied.sources()):
        pack = Pack(source)
        sessions = [each for each in copied.decode_sessions(source.path, Session) if passes(each, conditions)]
        for session in sessions:
            pack.add(session)
            statuses[session.status.value] += 1
        copied.drop_sessions(source.path)
        if sessions:
            copied.write_sessions(source.path, pack.close())
    asked = statuses.total()
    manifest = replace(copied.manifest(), generated=asked, planned=asked, finished=asked, statuses=dict(statuses))
    copied.write_manifest(manifest)
    copied.seal()
    return asked


def figures(workspace: Path, name: str) -> dict[str, Any]:
    (evaluation,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    return dict(evaluation["filters"][name])


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(VALUES))
def test_a_filter_has_the_figures_of_a_run_restricted_to_it(task: str, tmp_path: Path) -> None:
    workspace, expressions = measure(task, tmp_path), draw_expressions(task)
    assert command("report", workspace, *(part for line in expressions for part in ("--filter", line)))[0] == 0
    sizes = set()
    for number, (expression, conditions) in enumerate(expressions.items()):
        filtered = figures(workspace, expression)
        asked = restrict(workspace, tmp_path / f"{number}", conditions)
        assert filtered["sessions"] == asked, expression
        sizes.add(asked)
        if asked:
            code, _, err = command("report", tmp_path / f"{number}", "--set", "reports.headline=all")
            assert code == 0, err
            restricted = figures(tmp_path / f"{number}", "ALL")["metrics"]
            for name, figure in filtered["metrics"].items():
                assert figure == restricted[name], (expression, name)
    assert len(sizes) > 2
