"""The job `compare`: workspaces of evaluations → verdicts, reports, and gates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import strftime

from msgspec.structs import replace

from ci_eval import metrics, reporters
from ci_eval.errors import GateFailed, WorkspaceError
from ci_eval.jobs import pipeline
from ci_eval.model import Comparison
from ci_eval.stages import compare as stage
from ci_eval.support.ci import Screen
from ci_eval.support.gates import parse
from ci_eval.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Two sides, and by reporter the file to open first."""

    folder: Path
    comparison: Comparison
    reports: dict[str, Path]

    @property
    def trouble(self) -> GateFailed | None:
        """The rules that are broken."""
        broken = [gate for gate in self.comparison.gates if not gate.passed]
        if not broken:
            return None
        lines = [f"  {gate.rule}: {gate.reason}" for gate in broken]
        return GateFailed("\n".join([f"{len(broken)} of {len(self.comparison.gates)} gates failed", *lines]))


def compare(folders: Sequence[Path], *, gates: Sequence[str], output: Path | None, screen: Screen) -> list[Compared]:
    """The first of the workspaces with each of the others. Raises ConfigError, WorkspaceError, NothingToEvaluate."""
    base, *others = (Workspace.open(folder) for folder in folders)
    target = _target(output)
    done = []
    for number, new in enumerate(others, 1):
        screen.say(f"Comparing {base.folder} with {new.folder}")
        where = target if len(others) == 1 else target / f"{number:02}-{_slug(new.folder.name)}"
        done.append(_compared(base, new, gates, where))
    return done


def _compared(base: Workspace, new: Workspace, gates: Sequence[str], folder: Path) -> Compared:
    config = pipeline.stored_config(new)
    known = metrics.load()
    infos = {metric.info.name: metric.info for metric in known if metric.statistic != "count"}
    rules = [parse(rule, infos) for rule in (*config.comparison.gates, *gates)]
    found = stage.compare(base, new, known, config.reports.sessions_filters, config.comparison.metrics)
    compared = {info.name: info for info in found.metrics}
    judged = tuple(rule.judge(found.filters["ALL"], compared) for rule in rules)
    found = replace(found, gates=judged)
    writers = [reporters.COMPARISONS.load(name) for name in reporters.COMPARISONS.names()]
    sources = stage.StoredPairs(base, new)
    reports = {each.name: each.write(found, sources, folder) for each in writers}
    return Compared(folder=folder, comparison=found, reports=reports)


def _target(output: Path | None) -> Path:
    folder = output or Path("ci-eval-comparison") / strftime("%Y-%m-%d_%H-%M-%S")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WorkspaceError(f"{folder} is not empty: choose another --output")
    return folder


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "new"
