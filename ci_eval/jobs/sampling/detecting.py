"""The option `compare-engines --detect`: as many sessions as it takes to find a difference of a given size between two
engines."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import compare, interpret, machine
from ci_eval.core.base import atomic
from ci_eval.core.base.chance import draw
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.catalogs import tasks
from ci_eval.core.config import USUAL_SESSIONS, Config
from ci_eval.core.contracts import Metric
from ci_eval.core.filters import label
from ci_eval.core.model.detection import Detection
from ci_eval.core.statistics.detection import Pilot, next_size
from ci_eval.core.statistics.paired import FLOORS
from ci_eval.core.workspace import FOLDERS, Workspace
from ci_eval.jobs import pipeline
from ci_eval.jobs.comparison_rules import load_metrics
from ci_eval.jobs.logs import prepare_logs
from ci_eval.jobs.preparation import Prepared
from ci_eval.jobs.sampling import precise
from ci_eval.jobs.sampling.progress import sum_phases

POWER = 0.8
USUAL_DIFFERENCE = 0.02


def plan_detection(config: Config, difference: float, power: float) -> Detection:
    """Return the difference to be found, in the first declared metric that is a share or a score. Raises ConfigError if
    there is none, if the difference is too small, or if sessions cannot be sampled."""
    precise.check_drawn("--detect", config)
    metric = next((candidate for candidate in list_joint_metrics(config) if candidate.info.span is not None), None)
    if metric is None:
        raise ConfigError(
            "--detect is of a share or a score, and comparison.metrics names none: add one, or leave it out"
        )
    if difference < FLOORS[metric.info.unit]:
        least = FLOORS[metric.info.unit] * 100
        raise ConfigError(
            f"smaller differences than {least:g}pp are never called better or worse: --detect that or more"
        )
    return Detection(metric=metric.info.name, wanted=difference, power=power)


def usual(config: Config) -> Detection | None:
    """Return the difference to be found if the user gives no number of sessions; None if `plan_detection` would raise
    ConfigError."""
    try:
        return replace(plan_detection(config, USUAL_DIFFERENCE, POWER), most=USUAL_SESSIONS)
    except ConfigError:  # such as of a dataset: nobody asked for this, so there is nobody to tell
        return None


def list_joint_metrics(config: Config) -> list[Metric]:
    """Return the declared metrics whose intervals hold together, without metrics of time, in the order of
    declaration."""
    known = {metric.info.name: metric for metric in load_metrics(config)}
    unit = tasks.CATALOG.load(config.task).unit
    metrics = [known[name] for name in config.declared if name in known]
    return [metric for metric in metrics if metric.compared and not metric.timed and metric.of in {unit, "either"}]


def note(workspace: Workspace, detection: Detection | None) -> None:
    """Write the difference to be found into the manifest. Raises WorkspaceError if a resumed run was to find another
    one."""
    manifest = workspace.manifest()
    if not manifest.stages:
        workspace.write_manifest(replace(manifest, detection=detection))
    elif manifest.detection != detection:
        raise WorkspaceError(
            f"{workspace.folder} cannot be taken up: it was begun {_spell(manifest.detection)}; give the same "
            "command as then"
        )


def _spell(detection: Detection | None) -> str:
    if detection is None or detection.most:
        return "without --detect"
    return f"with --detect {detection.wanted * 100:g}pp --power {detection.power:g}"


def make_sessions(
    asked: Sequence[tuple[Workspace, Prepared]], folder: Path, detection: Detection, jobs: int, screen: Screen
) -> None:
    """Run stage 2 of both engines, phase by phase, until the wanted difference can be found, or all sessions are asked.

    `folder`: a folder for the phases meanwhile, from which an interrupted run is resumed. Raises NothingToEvaluate.
    """
    if all("interpret" in workspace.manifest().stages for workspace, _ in asked):
        shutil.rmtree(folder, ignore_errors=True)
        return
    started, watch = machine.now(), machine.Watch()
    phases = _Asking(asked, folder, detection, jobs, screen)
    screen.say(_plan(detection, phases, 2 * asked[0][0].manifest().rounds))
    while (size := phases.next_size()) > phases.size and not phases.given_up:
        if phases.size:
            screen.say(f"It takes about {size:,} sessions, of which {phases.size:,} are asked")
        phases.ask(size)
    for number, (workspace, prepared) in enumerate(asked):
        made = [phase[number] for phase in phases.made]
        pipeline.record(workspace, prepared, sum_phases(made, phases.files), started, screen, watch)
    # An interrupted run needed the phases; now all sessions are in the workspaces.
    shutil.rmtree(folder)
    screen.say(f"Asked {phases.size:,} of {len(phases.order):,} sessions, in {len(phases.made)} phases")


def _plan(detection: Detection, asking: _Asking, times: int) -> str:
    points, subject = f"{detection.wanted * 100:g}pp", f"in {detection.metric} of {label(asking.filters.headline)}"
    sessions = f"{len(asking.order):,} sessions, each {times} times"
    if detection.most and detection.most < len(asking.order):
        return (
            f"Asking at most {detection.most:,} of {sessions}, fewer if they show {points} {subject}; "
            f"`--detect {points}` asks as many as that takes, --all asks all"
        )
    return f"Asking as many of {sessions}, as show {points} {subject}; --all asks all"


class _Asking:
    """The phases of a run, each of which asks both engines about more of the sessions. The order is that of
    `sessionsLimit`."""

    def __init__(
        self,
        asked: Sequence[tuple[Workspace, Prepared]],
        folder: Path,
        detection: Detection,
        jobs: int,
        screen: Screen,
    ) -> None:
        self.size = 0
        """The number of sessions that were asked."""
        self.files = 0
        self.made: list[list[interpret.Progress]] = []
        """The progress of each engine in each phase."""
        (first, prepared), _ = asked
        self._listed, seed = interpret.list_sessions(first), prepared.config.interpret.seed
        ids = self._listed.frame.ids
        # With this order, `sessionsLimit` chooses the same sessions for the same number.
        self.order = sorted(range(len(ids)), key=lambda place: (draw(seed, ids[place]), ids[place]))
        self._sides = [(workspace, prepare_logs(of, workspace)) for workspace, of in asked]
        self._metrics = list_joint_metrics(prepared.config)
        self.filters = prepared.config.report_filters
        self._folder, self._detection, self._jobs, self._screen = folder, detection, jobs, screen

    def next_size(self) -> int:
        """Return the number of sessions to have asked after the next phase; the current number if it is enough."""
        detection = self._detection
        size = next_size(self._pilot(), self.size, len(self.order), detection.wanted, detection.power)
        return size if detection.most is None else min(size, max(detection.most, self.size))

    def _pilot(self) -> Pilot | None:
        if not self.size:
            return None
        (base, _), (new, _) = self._sides
        metric, sessions = self._detection.metric, len(self.order)
        return compare.pilot(base, new, self._metrics, self.filters, metric, sessions=sessions, asked=self.size)

    def ask(self, size: int) -> None:
        """Ask both engines until `size` sessions are asked."""
        number = len(self.made)
        with self._screen.steps(f"Phase {number + 1}", "sessions") as steps:
            self.made.append(
                interpret.play_files(
                    [interpret.EngineSide(self._phase(number, side), self._sides[side][1]) for side in range(2)],
                    probability=1.0,
                    limit=None,
                    jobs=self._jobs,
                    rounds=self._sides[0][0].manifest().rounds,
                    advance=lambda done, so_far: steps.show(done, so_far.planned, ""),
                    chosen=self._listed.chosen(self.order[self.size : size]),
                )
            )
        self.size = size
        for side, (workspace, _) in enumerate(self._sides):
            for path in [source.path for source in workspace.sources()]:
                workspace.drop_sessions(path)  # also those of a run that was killed while it wrote them
            phases = [Workspace(self._place(phase, side)) for phase in range(len(self.made))]
            self.files = interpret.join_phases(phases, {}, workspace)

    def _phase(self, number: int, side: int) -> Workspace:
        place = self._place(number, side)
        for part in FOLDERS:
            atomic.make_folder(place / part)
        return Workspace(place)

    def _place(self, number: int, side: int) -> Path:
        return self._folder / f"{number:03}" / ("base", "new")[side]

    @property
    def given_up(self) -> bool:
        """Return whether an engine failed too often to go on."""
        return any(progress.given_up for phase in self.made for progress in phase)
