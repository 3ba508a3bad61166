"""The trend of each figure over past evaluations, usually one a night, with the nights on which its level changed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import force_setattr, replace

from ci_eval import atomic, stored
from ci_eval.errors import WorkspaceError
from ci_eval.filters import EVERYTHING
from ci_eval.model import (
    FORMER_LANGUAGES,
    ChangePoint,
    EngineInfo,
    Estimate,
    GateResult,
    MetricInfo,
    Number,
    ProjectInfo,
    Trend,
    TrendPoint,
    Value,
)
from ci_eval.statistics.changepoints import cuts
from ci_eval.statistics.paired import FLOORS
from ci_eval.workspace import Workspace

WITHIN = frozenset({"actions", "sessions", "errors", "logs", "html"})
"""Folders in a workspace or report that hold no figures, so need not be searched for any."""
Address = Annotated[str, Meta(pattern=r"\A(https?://[^\s<>\"']+)?\Z", max_length=2_000)]
"""An address that may become a link in a report: http or https only, so nothing that a browser would run."""
WATCHED = {"Operating system": "operating system", "CPU": "CPU", "Workers": "workers"}


class _Whole(Value, frozen=True, kw_only=True):
    metrics: dict[str, Estimate]
    sessions: Number = 0


class Figures(Value, frozen=True, kw_only=True):
    """The figures of one evaluation, as they are stored in metrics.json or in a history."""

    title: str
    engine: EngineInfo
    project: ProjectInfo
    completion_type: str = "BASIC"
    client: str = "editor"
    language: str = ""
    conditions: dict[str, str] = {}
    """Name → value of what another evaluation must share to be on the same line; see Manifest.series."""
    started: str = ""
    environment: dict[str, str] = {}
    seed: int = 0
    filters: dict[str, _Whole]
    headline: str = EVERYTHING
    """Name of the filter that leads."""
    declared: tuple[str, ...] = ()
    """The metrics that were compared. This and the next two are in histories only, not in metrics.json."""
    gates: tuple[GateResult, ...] = ()
    run: Address = ""

    def __post_init__(self) -> None:
        """Languages have the names of today."""
        force_setattr(self, "language", FORMER_LANGUAGES.get(self.language, self.language))
        if (said := self.conditions.get("language")) in FORMER_LANGUAGES:
            self.conditions["language"] = FORMER_LANGUAGES[said]

    @property
    def series(self) -> tuple[str, ...]:
        """What evaluations must share to be on the same line of a trend."""
        return tuple(self.conditions[name] for name in sorted(self.conditions))


class _StoredReport(msgspec.Struct):
    format: int
    evaluations: list[Figures]


@dataclass(frozen=True)
class History:
    """What was found in a folder: figures, and the workspaces that were kept whole."""

    evaluations: tuple[Figures, ...]
    workspaces: tuple[Path, ...]


def read(folder: Path) -> History:
    """Every workspace and metrics.json below, and every JSON file of figures in the folder itself.

    A folder that is not there yet is an empty history. Raises WorkspaceError where a file of figures is damaged.
    """
    found: dict[tuple[object, ...], Figures] = {}
    workspaces = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in WITHIN)
        here = Path(place)
        if "manifest.json" in names:
            workspaces.append(here)
        for name in sorted(names):
            if name == "metrics.json" or (here == folder and name.endswith(".json")):
                # The same evaluation may also lie in a workspace below, which knows less: keep what was found first.
                found = {(each.started, each.series): each for each in _read(here / name)} | found
    return History(tuple(found.values()), tuple(workspaces))


def figures_of(workspace: Workspace) -> Iterator[Figures]:
    """The figures in the workspace's metrics.json. Raises WorkspaceError where there is none."""
    path = workspace.folder / "reports" / "metrics.json"
    if not path.is_file():
        raise WorkspaceError(f"{workspace.folder} has no reports/metrics.json: `ci-eval report {workspace.folder}`")
    yield from _read(path)


def append(
    folder: Path, evaluation: Figures, *, declared: Sequence[str], gates: Sequence[GateResult] = (), run: str = ""
) -> Path:
    """Store the figures of an evaluation in the history `folder`, for the nights to come; returns the file's path.

    `declared`: names of the metrics that were compared. `run`: address of the CI's run.
    """
    evaluation = replace(evaluation, declared=tuple(declared), gates=tuple(gates), run=run)
    digest = hashlib.blake2b(repr(evaluation.series).encode(), digest_size=4).hexdigest()
    started = re.sub(r"[^0-9A-Za-z+.-]", "-", evaluation.started)[:40]
    name = f"{started}-{digest}.json"
    data = msgspec.json.format(msgspec.json.encode(_StoredReport(1, [evaluation])), indent=2)
    return atomic.write(folder / name, data + b"\n")


def trend(past: Sequence[Figures], new: Figures, infos: Sequence[MetricInfo], seed: int) -> Trend:
    """The trend that ends in `new`: past evaluations that are of the same series and not later, in order of time.

    The figures are those of `new`'s headline; an evaluation that has none of these, such as an old one, is left out.
    """
    before = [
        each
        for each in past
        if each.series == new.series and each.started < new.started and new.headline in each.filters
    ]
    line = [*sorted(before, key=lambda each: each.started), new]
    return Trend(
        nights=tuple(_night(each, line[place - 1] if place else None, new.headline) for place, each in enumerate(line)),
        metrics=tuple(infos),
        headline=new.headline,
        changes={info.name: tuple(_changes(line, info, new.headline, seed)) for info in infos},
        left_out=len(past) - len(before) - sum(each.started == new.started for each in past),
    )


def _night(each: Figures, previous: Figures | None, headline: str) -> TrendPoint:
    whole = each.filters[headline]
    return TrendPoint(
        started=each.started,
        title=each.title,
        engine=each.engine,
        project=each.project,
        sessions=whole.sessions,
        metrics=whole.metrics,
        differs=tuple(_differences(previous, each)) if previous else (),
        gates=each.gates,
        run=each.run,
    )


def _differences(was: Figures, now: Figures) -> Iterator[str]:
    for what, ours, theirs in (
        (was.engine.name, was.engine.version, now.engine.version),
        (was.project.name, was.project.revision, now.project.revision),
        *((name, was.environment.get(key, ""), now.environment.get(key, "")) for key, name in WATCHED.items()),
    ):
        if ours != theirs:
            yield f"{what} {ours} → {theirs}"
    if was.project.revision == now.project.revision and was.project.checksum != now.project.checksum:
        yield f"another text of {now.project.name}"


def _changes(line: Sequence[Figures], info: MetricInfo, headline: str, seed: int) -> Iterator[ChangePoint]:
    known = [
        (place, found.value)
        for place, each in enumerate(line)
        for found in [each.filters[headline].metrics.get(info.name)]
        if found and found.value is not None
    ]
    for cut in cuts([value for _, value in known], floor=FLOORS.get(info.unit, 0.0), seed=seed):
        good = None if info.better == "neither" else (cut.after > cut.before) == (info.better == "higher")
        yield ChangePoint(night=known[cut.place][0], before=cut.before, after=cut.after, p=cut.p, good=good)


def _read(path: Path) -> list[Figures]:
    try:
        report = stored.decoded(stored.read(path, stored.FIGURES), _StoredReport, path)
    except WorkspaceError as error:
        raise WorkspaceError(f"{path} is not the metrics.json of an evaluation: {error}; take it away") from error
    return [each for each in report.evaluations if each.headline in each.filters]
