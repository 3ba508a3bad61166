"""Past evaluations → the trend of each figure, with the nights on which its level changed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_eval.errors import WorkspaceError
from ci_eval.model import ChangePoint, EngineInfo, Estimate, MetricInfo, Night, ProjectInfo, Trend, Value
from ci_eval.stages.compare.compare import EVERYTHING, FLOORS
from ci_eval.support import atomic, stored
from ci_eval.support.changepoints import cuts
from ci_eval.workspace import Workspace

WITHIN = frozenset({"actions", "sessions", "errors", "logs", "html"})
"""Folders of a workspace and of a report where no figures are."""
WATCHED = {"Operating system": "operating system", "CPU": "CPU", "Workers": "workers"}


class _Figures(Value, frozen=True, kw_only=True):
    metrics: dict[str, Estimate]
    sessions: int = 0


class _Past(Value, frozen=True, kw_only=True):
    title: str
    engine: EngineInfo
    project: ProjectInfo
    completion_type: str = "BASIC"
    client: str = "editor"
    language: str = ""
    started: str = ""
    environment: dict[str, str] = {}
    filters: dict[str, _Figures]

    @property
    def series(self) -> tuple[str, ...]:
        """What has to be the same for a line to be drawn."""
        strategy = self.environment.get("Strategy", "")
        return self.language, self.engine.name, self.project.name, self.completion_type, self.client, strategy


class _Report(msgspec.Struct):
    format: int
    evaluations: list[_Past]


@dataclass(frozen=True)
class Past:
    """What lies in a folder: figures, and the workspaces that are still whole."""

    evaluations: tuple[_Past, ...]
    workspaces: tuple[Path, ...]


def read(folder: Path) -> Past:
    """Every workspace and metrics.json below, and every JSON file of figures in the folder itself.

    A folder that is not there yet is an empty history. Raises WorkspaceError where a file of figures is damaged.
    """
    found: dict[tuple[object, ...], _Past] = {}
    workspaces = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in WITHIN)
        here = Path(place)
        if "manifest.json" in names:
            workspaces.append(here)
        for name in sorted(names):
            if name == "metrics.json" or (here == folder and name.endswith(".json")):
                # The same night may lie there as a workspace and as figures.
                found |= {(each.started, each.series): each for each in _read(here / name)}
    return Past(tuple(found.values()), tuple(workspaces))


def figures_of(workspace: Workspace) -> Iterator[_Past]:
    """Of one evaluation. Raises WorkspaceError where it has no metrics.json."""
    path = workspace.folder / "reports" / "metrics.json"
    if not path.is_file():
        raise WorkspaceError(f"{workspace.folder} has no reports/metrics.json: `ci-eval report {workspace.folder}`")
    yield from _read(path)


def append(folder: Path, evaluation: _Past) -> Path:
    """Keep the figures of an evaluation (without those of its files) for the nights to come."""
    digest = hashlib.blake2b(repr(evaluation.series).encode(), digest_size=4).hexdigest()
    started = re.sub(r"[^0-9A-Za-z+.-]", "-", evaluation.started)[:40]
    name = f"{started}-{digest}.json"
    data = msgspec.json.format(msgspec.json.encode(_Report(1, [evaluation])), indent=2)
    return atomic.write(folder / name, data + b"\n")


def trend(past: Sequence[_Past], new: _Past, infos: Sequence[MetricInfo], seed: int) -> Trend:
    """The line that ends in `new`; nights after it are left out, and so is what was evaluated otherwise."""
    before = [each for each in past if each.series == new.series and each.started < new.started]
    line = [*sorted(before, key=lambda each: each.started), new]
    return Trend(
        nights=tuple(_night(each, line[place - 1] if place else None) for place, each in enumerate(line)),
        metrics=tuple(infos),
        changes={info.name: tuple(_changes(line, info, seed)) for info in infos},
        left_out=len(past) - len(before) - sum(each.started == new.started for each in past),
    )


def _night(each: _Past, previous: _Past | None) -> Night:
    whole = each.filters[EVERYTHING]
    return Night(
        started=each.started,
        title=each.title,
        engine=each.engine,
        project=each.project,
        sessions=whole.sessions,
        metrics=whole.metrics,
        differs=tuple(_differences(previous, each)) if previous else (),
    )


def _differences(was: _Past, now: _Past) -> Iterator[str]:
    for what, ours, theirs in (
        (was.engine.name, was.engine.version, now.engine.version),
        (was.project.name, was.project.revision, now.project.revision),
        *((name, was.environment.get(key, ""), now.environment.get(key, "")) for key, name in WATCHED.items()),
    ):
        if ours != theirs:
            yield f"{what} {ours} → {theirs}"
    if was.project.revision == now.project.revision and was.project.checksum != now.project.checksum:
        yield f"another text of {now.project.name}"


def _changes(line: Sequence[_Past], info: MetricInfo, seed: int) -> Iterator[ChangePoint]:
    known = [
        (place, found.value)
        for place, each in enumerate(line)
        for found in [each.filters[EVERYTHING].metrics.get(info.name)]
        if found and found.value is not None
    ]
    for cut in cuts([value for _, value in known], floor=FLOORS.get(info.unit, 0.0), seed=seed):
        good = None if info.better == "neither" else (cut.after > cut.before) == (info.better == "higher")
        yield ChangePoint(night=known[cut.place][0], before=cut.before, after=cut.after, p=cut.p, good=good)


def _read(path: Path) -> list[_Past]:
    try:
        report = stored.decoded(stored.read(path, stored.FIGURES), _Report, path)
    except WorkspaceError as error:
        raise WorkspaceError(f"{path} is not the metrics.json of an evaluation: {error}; take it away") from error
    return [each for each in report.evaluations if EVERYTHING in each.filters]
