"""Read histories of evaluations, and find the runs at which the level of a figure changed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.filters import EVERYTHING
from ci_eval.core.manifest import commits_between
from ci_eval.core.model.comparison import ChangePoint, Trend, TrendPoint
from ci_eval.core.model.report import EngineInfo, Estimate, GateResult, MetricInfo, ProjectInfo
from ci_eval.core.model.tokens import Number, Value, pick
from ci_eval.core.statistics.nonparametric import find_level_changes
from ci_eval.core.statistics.paired import FLOORS
from ci_eval.core.workspace import Workspace

WITHIN = frozenset({"actions", "sessions", "errors", "logs", "html"})
"""The folders inside a workspace or report that hold no figures."""
Address = Annotated[str, Meta(pattern=r"\A(https?://[^\s<>\"']+)?\Z", max_length=2_000)]
"""An address that may become a link in a report: http or https only, since a browser would run other schemes."""
WATCHED = {"Operating system": "operating system", "CPU": "CPU", "Workers": "workers"}


class _FilterFigures(Value, frozen=True, kw_only=True):
    metrics: dict[str, Estimate]
    sessions: Number = 0


class Figures(Value, frozen=True, kw_only=True):
    title: str
    engine: EngineInfo
    revision: str = ""
    project: ProjectInfo
    completion_type: str = "BASIC"
    client: str = "editor"
    language: str = ""
    conditions: dict[str, str] = {}
    """The conditions (`Manifest.series`) that all evaluations of one trend share."""
    started: str = ""
    environment: dict[str, str] = {}
    seed: int = 0
    filters: dict[str, _FilterFigures]
    headline: str = EVERYTHING
    declared: tuple[str, ...] = ()
    """The compared metrics. This field and the next two are only in histories."""
    gates: tuple[GateResult, ...] = ()
    run: Address = ""

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(self.conditions[name] for name in sorted(self.conditions))


class _StoredReport(msgspec.Struct):
    format: int
    evaluations: list[Figures]


class History(msgspec.Struct, frozen=True):
    evaluations: tuple[Figures, ...]
    workspaces: tuple[Path, ...]
    damaged: tuple[str, ...] = ()
    """The reasons why files could not be read, one for each such file."""


def read(folder: Path) -> History:
    """Find workspaces and figures below a folder. Figures are in metrics.json files, and in JSON files directly in the
    folder. A missing folder is an empty history. Raises WorkspaceError for links and pipes."""
    evaluations: dict[tuple[object, ...], Figures] = {}
    workspaces, damaged = [], []
    for parent, folders, names in os.walk(folder):
        # The list is changed in place, so that os.walk skips the other folders.
        folders[:] = sorted(name for name in folders if name not in WITHIN)
        here = Path(parent)
        if "manifest.json" in names:
            workspaces.append(here)
        for name in sorted(names):
            if name == "metrics.json" or (here == folder and name.endswith(".json")):
                try:
                    figures = _read(here / name)
                except WorkspaceError as error:
                    # A link or a pipe is not damage: somebody put it there.
                    if (here / name).is_symlink() or not (here / name).is_file():
                        raise
                    damaged.append(str(error))
                    continue
                # A workspace in a subfolder may have the same evaluation with fewer facts. The first copy is kept.
                evaluations = {(one.started, one.series): one for one in figures} | evaluations
    return History(tuple(evaluations.values()), tuple(workspaces), tuple(damaged))


def read_figures(workspace: Workspace) -> Iterator[Figures]:
    """Yield the figures in metrics.json. Raises WorkspaceError if the file is missing."""
    path = workspace.folder / "reports" / "metrics.json"
    if not path.is_file():
        raise WorkspaceError(f"{workspace.folder} has no reports/metrics.json: run `ci-eval report {workspace.folder}`")
    yield from _read(path)


def append(
    folder: Path, evaluation: Figures, *, declared: Sequence[str], gates: Sequence[GateResult] = (), run: str = ""
) -> Path:
    """Write the figures into a history, and return the file's path. `run`: the address of the CI job."""
    evaluation = replace(evaluation, declared=tuple(declared), gates=tuple(gates), run=run)
    # Evaluations of several series may have started at the same time.
    digest = hashlib.blake2b(repr(evaluation.series).encode(), digest_size=4).hexdigest()
    # The figures may come from an attacker, and their time becomes part of a path.
    started = re.sub(r"[^0-9A-Za-z+.-]", "-", evaluation.started)[:40]
    name = f"{started}-{digest}.json"
    return atomic.write_json(folder / name, _StoredReport(1, [evaluation]))


def trend(past: Sequence[Figures], new: Figures, infos: Sequence[MetricInfo], seed: int) -> Trend:
    """Return the trend of `new` and the earlier evaluations of its series that have figures of its headline."""
    before = earlier(past, new, new.headline)
    nights = []
    for previous, evaluation in zip([None, *before], [*before, new], strict=True):
        whole = evaluation.filters[new.headline]
        point = TrendPoint(
            **pick(evaluation, "started", "title", "engine", "revision", "project", "gates", "run"),
            sessions=whole.sessions,
            metrics=whole.metrics,
            differs=tuple(_differences(previous, evaluation)) if previous else (),
        )
        nights.append(point)
    changes: dict[str, tuple[ChangePoint, ...]] = {}
    for info in infos:
        estimates = enumerate(night.metrics.get(info.name) for night in nights)
        known = [(night, of.value) for night, of in estimates if of and of.value is not None]
        changes[info.name] = tuple(
            ChangePoint(
                night=known[cut.place][0],
                before=cut.before,
                after=cut.after,
                p=cut.p,
                good=None if info.better == "neither" else (cut.after > cut.before) == (info.better == "higher"),
            )
            for cut in find_level_changes([value for _, value in known], floor=FLOORS.get(info.unit, 0.0), seed=seed)
        )
    return Trend(
        nights=tuple(nights),
        metrics=tuple(infos),
        headline=new.headline,
        changes=changes,
        left_out=len(past) - len(before) - sum(evaluation.started == new.started for evaluation in past),
    )


def earlier(past: Sequence[Figures], new: Figures, part: str) -> list[Figures]:
    """Return the evaluations before `new` in its series that have figures of the filter `part`, the earliest first."""
    alike = [(machine.seconds(of.started), of) for of in past if of.series == new.series and part in of.filters]
    before = [(began, of) for began, of in alike if began < machine.seconds(new.started)]
    return [of for _, of in sorted(before, key=itemgetter(0))]


def _differences(was: Figures, now: Figures) -> Iterator[str]:
    for subject, ours, theirs in (
        (was.engine.name, was.engine.version, now.engine.version),
        (was.project.name, was.project.revision, now.project.revision),
        *((name, was.environment.get(key, ""), now.environment.get(key, "")) for key, name in WATCHED.items()),
    ):
        if ours != theirs:
            yield f"{subject} {ours} → {theirs}"
    if commits := commits_between(was.revision, now.revision):
        yield commits
    if was.project.revision == now.project.revision and was.project.checksum != now.project.checksum:
        yield f"another text of {now.project.name}"


def _read(path: Path) -> list[Figures]:
    try:
        report = stored.decode_json(stored.read(path, stored.FIGURES), _StoredReport, path)
    except WorkspaceError as error:
        raise WorkspaceError(f"{path} is not the metrics.json of an evaluation: {error}; remove the file") from error
    return [evaluation for evaluation in report.evaluations if evaluation.headline in evaluation.filters]
