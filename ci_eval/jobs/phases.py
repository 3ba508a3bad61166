"""Runs that ask only as many sessions as a confidence interval (`--precision`) or a difference (`--detect`) needs.

Sessions are asked in phases, in the order of `sessionsLimit`; only their number depends on the answers. A difference is
measured in sessions of the headline filter, which are most of the sample. An interval is about a simple random sample.
"""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import compare, interpret, machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.catalogs import tasks
from ci_eval.core.config import USUAL_SESSIONS, Config
from ci_eval.core.contracts import Metric
from ci_eval.core.filters import label
from ci_eval.core.interpret import Progress
from ci_eval.core.model import Determinism, SessionScore
from ci_eval.core.model.comparison import Detection
from ci_eval.core.model.engine import CpuTimes
from ci_eval.core.scoring import evaluated, observe_session
from ci_eval.core.statistics import footprint
from ci_eval.core.statistics.detection import next_size, next_size_of_figure, reach
from ci_eval.core.statistics.paired import FLOORS
from ci_eval.core.workspace import FOLDERS, Workspace
from ci_eval.jobs import pipeline
from ci_eval.jobs.comparison_rules import load_metrics
from ci_eval.jobs.pipeline import prepare_logs
from ci_eval.jobs.preparation import Prepared
from ci_eval.rendering.figures import format_count

PHASES = "phases"
SECONDS = "seconds"
"""The file with the pilot's times. A resumed run reads it, since another speed would lead to another size."""
PILOT = 20
"""The number of sessions that are asked first, to estimate how long more sessions take."""
POWER = 0.8
USUAL_DIFFERENCE = 0.02
USUAL = "Recall"
MOST = 20
SIZES = (200, 400, 600, USUAL_SESSIONS)
"""The possible numbers of sessions of a comparison if the user gives none. The speed of the pilot decides."""
PATIENCE_SECONDS = 120.0


def parse(text: str) -> float:
    """Return half the width of the interval, as a share, from a text such as `1pp`. Raises ConfigError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*pp", text.strip())
    if match and 0 < float(match[1]) <= MOST:
        return float(match[1]) / 100
    raise ConfigError(f"{text!r}: give percentage points above 0 and up to {MOST}, for example 1pp or 0.5pp")


def note_goal(workspace: Workspace, precision: float | None = None, detection: Detection | None = None) -> None:
    """Store the goal in the manifest. Raises WorkspaceError if a resumed run began with another goal."""
    manifest = workspace.manifest()
    was = manifest.detection
    if not manifest.stages:
        workspace.write_manifest(replace(manifest, precision=precision, detection=detection))
    elif (manifest.precision, was) != (precision, detection):
        if manifest.precision or precision:
            began = f"with --precision {manifest.precision * 100:g}pp" if manifest.precision else "without --precision"
        elif was is None or was.most:
            began = "without --detect"
        else:
            began = f"with --detect {was.wanted * 100:g}pp --power {was.power:g}"
        raise WorkspaceError(f"{workspace.folder} cannot be resumed: it was begun {began}; repeat that command")


def check_drawn(
    option: str, config: Config, *, shard: Shard | None = None, rounds: int = 1, reuse: Path | None = None
) -> None:
    """Raise ConfigError if sessions cannot be sampled."""
    interpret_config = config.interpret
    reasons = {
        "the records of a dataset are not sampled": bool(config.dataset.spec),
        "a shard does not see the answers of the others, which decide what is asked next": shard is not None,
        "`--repeat` asks all sessions several times": rounds > 1,
        "`--reuse` reuses the answers of whole files": reuse is not None,
        "`interpret.saveLogs` logs whole files": interpret_config.save_logs,
        "`interpret.sessionProbability` and `sessionsLimit` choose the sessions in another way": (
            interpret_config.session_probability < 1 or interpret_config.sessions_limit is not None
        ),
    }
    if reason := next((text for text, applies in reasons.items() if applies), ""):
        raise ConfigError(f"{option} cannot be used here: {reason}; leave one of them out")


def choose_metric(config: Config) -> Metric:
    """Return the first metric with two bounds among `reports.defaultMetrics`, then Recall, then the compared metrics.
    Raises ConfigError if there is none."""
    unit = tasks.CATALOG.load(config.task).unit
    known = {
        metric.info.name: metric
        for metric in load_metrics(config)
        if metric.statistic == "ratio" and metric.info.span is not None and metric.of in {unit, "either"}
    }
    names = (*(config.reports.default_metrics or ()), USUAL, *config.declared)
    if chosen := next((known[name] for name in names if name in known), None):
        return chosen
    raise ConfigError(
        f"--precision needs a share or a score with two bounds, and the task {config.task} has none: drop --precision"
    )


def plan_detection(config: Config, difference: float, power: float) -> Detection:
    """Return the goal for the first declared metric that is a share or a score. Raises ConfigError if there is none, if
    the difference is too small, or if sessions cannot be sampled."""
    check_drawn("--detect", config)
    metric = next((candidate for candidate in list_joint_metrics(config) if candidate.info.span is not None), None)
    if metric is None:
        raise ConfigError(
            "--detect needs a share or a score, and comparison.metrics names none: add one, or leave --detect out"
        )
    if difference < FLOORS[metric.info.unit]:
        least = FLOORS[metric.info.unit] * 100
        raise ConfigError(
            f"differences below {least:g}pp are never called better or worse: give --detect {least:g}pp or more"
        )
    return Detection(metric=metric.info.name, wanted=difference, power=power)


def plan_usual_detection(config: Config) -> Detection | None:
    """Return the goal for a user who named none; None if `plan_detection` would raise ConfigError."""
    try:
        return replace(plan_detection(config, USUAL_DIFFERENCE, POWER), most=USUAL_SESSIONS)
    except ConfigError:  # for example with a dataset; this is not an error, since the user did not name the goal
        return None


def list_joint_metrics(config: Config) -> list[Metric]:
    known = {metric.info.name: metric for metric in load_metrics(config)}
    unit = tasks.CATALOG.load(config.task).unit
    metrics = [known[name] for name in config.declared if name in known]
    return [metric for metric in metrics if metric.compared and not metric.timed and metric.of in {unit, "either"}]


def reach_precision(
    workspace: Workspace, prepared: Prepared, precision: float, metric: Metric, jobs: int, screen: Screen
) -> None:
    """Run stage 2 until half the width of the interval is at most `precision`. Raises NothingToEvaluate."""
    reached = np.inf

    def choose_size(phases: _Phases) -> int:
        nonlocal reached
        sessions = (each for _, file in workspace.sessions(SessionScore) for each in file if evaluated(each))
        # If the metric observes nothing in a session, both numbers are 0.
        rows = [np.sum(observe_session(metric, session) or [(0.0, 0.0)], axis=0) for session in sessions]
        repeats = sum((progress.state for phase in phases.made for progress in phase), Determinism())
        seen = np.array(rows).reshape(-1, 2)
        reached = reach(seen, phases.size, len(phases.order), metric.info.limits, repeats)
        return next_size_of_figure(reached, phases.size, len(phases.order), precision)

    phases = _ask_in_phases([(workspace, prepared)], workspace.folder / PHASES, jobs, screen, choose_size)
    if phases:
        screen.say(
            f"Precision: {metric.info.name} of all {format_count(len(phases.order), 'session')} is known to "
            f"±{reached * 100:.2f} pp (wanted: ±{precision * 100:g} pp), from {phases.size:,} sessions in "
            f"{format_count(len(phases.made), 'phase')}"
        )


def find_difference(
    asked: Sequence[tuple[Workspace, Prepared]], folder: Path, detection: Detection, jobs: int, screen: Screen
) -> None:
    """Run stage 2 of the engines until the difference can be found, or all sessions are asked. Three or more engines
    are asked all sessions, limited by `detection.most` and the time. `folder` stores the phases, so that an interrupted
    run can be resumed. Raises NothingToEvaluate."""
    (base, prepared), (new, _), *others = asked
    metrics, filters = list_joint_metrics(prepared.config), prepared.config.report_filters
    wanted, power, most = detection.wanted, detection.power, detection.most
    pipeline.divide_sample(asked, 0)

    def choose_size(phases: _Phases) -> int:
        size, sessions = phases.size, len(phases.order)
        if not size:
            asked_most = sessions if most is None else min(phases.affordable(most), sessions)
            count = f"{sessions:,} sessions, each {phases.rounds * len(asked)} times"
            takes = minutes(phases.seconds(asked_most))
            goal = f"{wanted * 100:g} points in {detection.metric} of {label(filters.headline)}"
            fewer = "" if others or asked_most <= SIZES[0] else f", or less if fewer sessions show {goal}"
            share = f"all {count}" if asked_most == sessions else f"{asked_most:,} of {count}"
            hint = "" if asked_most == sessions else "; --all asks all, --sessions N another number"
            screen.say(f"Asking {share}: {takes}{fewer}{hint}")
            enough_sessions = next_size(None, size, sessions, wanted, power)
        elif others:
            enough_sessions = sessions
        else:
            # The pilot only covers the class of the headline, so sizes are counted in sessions of this class.
            leading, of = phases.count_leading(size), phases.count_leading(sessions)
            pilot = compare.pilot(base, new, metrics, filters, detection.metric, sessions=of, asked=leading)
            more = next_size(pilot, leading, of, wanted, power)
            enough_sessions = size if more == leading else int(np.searchsorted(phases.leading, more)) + 1
        return enough_sessions if most is None else min(enough_sessions, max(phases.affordable(most), size))

    if phases := _ask_in_phases(asked, folder, jobs, screen, choose_size):
        size, sessions = phases.size, len(phases.order)
        counting = f"{phases.count_leading(size):,} of them are {label(filters.headline)}"
        repeat = f"; --sessions {size} asks the same again" if size < sessions else ""
        screen.say(
            f"Asked {size:,} of {format_count(sessions, 'session')}, in {format_count(len(phases.made), 'phase')}: "
            f"{counting}{repeat}"
        )


def _ask_in_phases(
    asked: Sequence[tuple[Workspace, Prepared]],
    folder: Path,
    jobs: int,
    screen: Screen,
    choose_size: Callable[[_Phases], int],
) -> _Phases | None:
    """Ask sessions in phases; return None if all were asked before. `choose_size` returns the number of sessions asked
    by the end of the next phase, or the current number if no phase is needed."""
    if all("interpret" in workspace.manifest().stages for workspace, _ in asked):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    started, watch = machine.now(), machine.Watch()
    phases = _Phases(asked, folder, jobs, screen)
    phases.measure_speed()
    while (size := choose_size(phases)) > phases.size and not any(
        progress.given_up for phase in phases.made for progress in phase
    ):
        if phases.size:
            left = minutes(phases.seconds(size - phases.size))
            screen.say(f"About {size:,} sessions are needed, and {phases.size:,} were asked: {left} more")
        phases.ask(size)
    for number, (workspace, prepared) in enumerate(asked):
        made = [phase[number] for phase in phases.made]
        total = Progress(
            planned=sum(progress.planned for progress in made),
            files=phases.files,
            statuses=sum((progress.statuses for progress in made), Counter()),
            cpu=sum((progress.cpu for progress in made), CpuTimes()),
            confined=set().union(*(progress.confined for progress in made)),
            footprint=footprint.merge_footprints(progress.footprint for progress in made),
            trouble=next((progress.trouble for progress in made if progress.trouble), ""),
            state=sum((progress.state for progress in made), Determinism()),
            given_up=next((progress.given_up for progress in made if progress.given_up), ""),
        )
        pipeline.record(workspace, prepared, total, started, screen, watch)
    # The phases are only needed to resume a run, and now all sessions are in the workspaces.
    shutil.rmtree(folder, ignore_errors=True)
    return phases


class _Phases:
    """The phases of a run. In each phase, all engines are asked more sessions, in the order of `sessionsLimit`."""

    def __init__(self, asked: Sequence[tuple[Workspace, Prepared]], folder: Path, jobs: int, screen: Screen) -> None:
        self.size = 0
        self.files = 0
        self.made: list[list[Progress]] = []
        (first, prepared) = asked[0]
        self._listed = interpret.list_sessions(first, first.manifest().classes, prepared.config.interpret.seed)
        # `sessionsLimit` uses this order, too, so it chooses the same sessions for the same number.
        self.order = self._listed.order()
        self.leading = np.cumsum(self._listed.classes[self.order] == 0)
        self._sides = [(workspace, prepare_logs(of, workspace)) for workspace, of in asked]
        self.rounds = first.manifest().rounds
        self._folder, self._jobs, self._screen = folder, jobs, screen

    def measure_speed(self) -> None:
        """Ask some sessions once, unless an interrupted run did. Store how long engines take to start and to answer."""
        file, folder = self._folder / SECONDS, self._folder / "pilot"
        if file.exists():
            return
        # The answers are discarded: a session only counts if it was asked in all rounds.
        asked, begun = min(PILOT, len(self.order)), time.monotonic()
        first = begun, 0.0

        def advance(done: int, _: Progress) -> None:
            nonlocal first
            if done and not first[1]:
                first = time.monotonic(), done / len(self._sides)

        # What an interrupted pilot left would make this pilot look faster.
        shutil.rmtree(folder, ignore_errors=True)
        self._play(folder, self.order[:asked], 1, advance)
        now = time.monotonic()
        started, done = first if first[1] < asked else (begun, 0.0)
        atomic.write(file, f"{started - begun:.3f} {(now - started) / (asked - done):.4f}".encode())
        shutil.rmtree(folder)

    def seconds(self, size: int) -> float:
        """Return the estimated time for asking `size` sessions in all rounds, in seconds."""
        start, per_session = map(float, (self._folder / SECONDS).read_text().split())
        return self.rounds * (start + size * per_session)

    def affordable(self, most: int) -> int:
        """Return the largest usual size, up to `most`, that fits into two minutes; the smallest size if none fits."""
        sizes = [size for size in (*SIZES, most) if size <= most]
        fits = [size for size in sizes if self.seconds(size) <= PATIENCE_SECONDS]
        return max(fits, default=min(sizes))

    def count_leading(self, size: int) -> int:
        return int(self.leading[size - 1])

    def ask(self, size: int) -> None:
        number, repeats = len(self.made), self.rounds * len(self._sides)
        with self._screen.steps(f"Phase {number + 1}", "sessions") as steps:

            def advance(done: int, so_far: Progress) -> None:
                # `done` counts questions, and each session is asked `repeats` times.
                steps.show(done // repeats, so_far.planned // repeats, "")

            chosen = self.order[self.size : size]
            self.made.append(self._play(self._folder / f"{number:03}", chosen, self.rounds, advance))
        self.size = size
        for side, (workspace, _) in enumerate(self._sides):
            for path in [source.path for source in workspace.sources()]:
                workspace.drop_sessions(path)  # also those of a run that was killed while it wrote them
            phases = [_open_phase(self._folder / f"{phase:03}", side) for phase in range(len(self.made))]
            self.files = interpret.join_phases(phases, workspace)

    def _play(
        self, folder: Path, sessions: np.ndarray, rounds: int, advance: Callable[[int, Progress], None]
    ) -> list[Progress]:
        return interpret.play_files(
            [interpret.EngineSide(_open_phase(folder, side), of) for side, (_, of) in enumerate(self._sides)],
            jobs=self._jobs,
            rounds=rounds,
            advance=advance,
            chosen=self._listed.choose(sessions),
        )


def _open_phase(folder: Path, side: int) -> Workspace:
    for part in FOLDERS:
        atomic.make_folder(folder / f"{side}" / part)
    return Workspace(folder / f"{side}")


def minutes(seconds: float) -> str:
    return "less than a minute" if seconds < 60 else f"about {seconds / 60:.0f} min"
