"""`evaluate --precision`: as many sessions as it takes for the interval of one metric to be narrow enough."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ci_eval import atomic, machine, tasks
from ci_eval.ci import Screen
from ci_eval.config import Config
from ci_eval.contracts import Metric
from ci_eval.errors import ConfigError, WorkspaceError
from ci_eval.jobs import pipeline
from ci_eval.jobs.comparison_rules import metrics_of
from ci_eval.jobs.logs import with_logs
from ci_eval.jobs.preparation import Prepared
from ci_eval.jobs.sampling.progress import summed
from ci_eval.model import SessionScore
from ci_eval.model.sampling import Sampling
from ci_eval.observing import observations_of
from ci_eval.rendering.figures import counted
from ci_eval.shards import Shard
from ci_eval.stages import interpret
from ci_eval.statistics.expected import Floats
from ci_eval.statistics.phases import Phase, Sampler
from ci_eval.workspace import FOLDERS, Workspace

PHASES = "phases"
"""The folder of what was asked in each phase, while not all are through."""
KNOWN = 0.75
"""Share of the sessions that an earlier run must tell of; by `benchmarks/precision.py --told`, with less more are asked
than without it."""
USUAL = "Recall"


def parse(text: str) -> float:
    """Half the width of the interval, as a share, that a text such as `1pp` stands for. Raises ConfigError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*pp", text.strip())
    if found and 0 < float(found[1]) <= MOST:
        return float(found[1]) / 100
    raise ConfigError(f"{text!r}: give percentage points above 0 and up to {MOST}, for example 1pp or 0.5pp")


MOST = 20


def note(workspace: Workspace, precision: float | None, expect: Path | None) -> None:
    """Note in the manifest how precise the run is to be, and the earlier run that tells what to expect. Raises
    WorkspaceError where a resumed run was to be another.

    Which sessions a phase asks depends on both, so that a run cannot change them on its way.
    """
    manifest, expects = workspace.manifest(), _digest(expect) if expect else ""
    if not manifest.stages:
        workspace.write_manifest(replace(manifest, precision=precision, expects=expects))
    elif (manifest.precision, manifest.expects) != (precision, expects):
        was = f"with --precision {manifest.precision * 100:g}pp" if manifest.precision else "without --precision"
        was += " and --expect another run" if manifest.expects else ""
        raise WorkspaceError(
            f"{workspace.folder} cannot be taken up: it was begun {was}; give the same command as then"
        )


def _digest(folder: Path) -> str:
    return hashlib.blake2b((folder / "manifest.json").read_bytes(), digest_size=16).hexdigest()


def earlier_run(expect: Path | None, engine: str, screen: Screen) -> Path | None:
    """Return the folder, if there is a workspace in it: a first night has none, which is said. Raises ConfigError if it
    is not of that engine."""
    if expect is None:
        return None
    if not (expect / "manifest.json").is_file():
        screen.say(f"Nothing is expected: there is no workspace in {expect} yet")
        return None
    # Measured: other engines spare no sessions, and where misses are rare intervals hold the truth too seldom.
    if (other := Workspace.open(expect).manifest().engine.name) != engine:
        raise ConfigError(f"--expect takes a run of {engine}, of any version, and {expect} is of {other}: leave it out")
    return expect


def went(folder: Path, metric: Metric) -> dict[str, float]:
    """Id of a session → how well it went in that run by the metric (0 to 1). Raises WorkspaceError."""
    workspace = Workspace.open(folder)
    workspace.verify()
    found = {}
    for _, sessions in workspace.sessions(SessionScore):
        for session in sessions:
            above, below = _observed(metric, session)
            if below:
                found[session.id] = float(above / below)
    return found


def _observed(metric: Metric, session: SessionScore) -> Floats:
    """Its numerator and denominator; both 0 where the metric observes nothing."""
    return np.asarray(np.sum(observations_of(metric, session) or [(0.0, 0.0)], axis=0))


def check(config: Config, *, shard: Shard | None, rounds: int, reuse: bool) -> Metric:
    """Return the metric whose interval is to be narrow enough. Raises ConfigError if sessions cannot be drawn for
    it."""
    more = {
        "a shard does not see the answers of the others, which decide what is asked next": shard is not None,
        "`--repeat` asks all sessions several times": rounds > 1,
        "`--reuse` takes over whole files": reuse,
    }
    check_drawn("--precision", config, more)
    return metric_of(config)


def check_drawn(option: str, config: Config, more: Mapping[str, bool] | None = None) -> None:
    """Raises ConfigError if the option cannot draw sessions; `more`: reason → whether it applies."""
    wanted = config.interpret
    why = {
        "the records of a dataset are drawn as they are": bool(config.dataset.spec),
        **(more or {}),
        "`interpret.saveLogs` logs whole files": wanted.save_logs,
        "`interpret.sessionProbability` and `sessionsLimit` draw sessions in another way": (
            wanted.session_probability < 1 or wanted.sessions_limit is not None
        ),
    }
    if reason := next((text for text, applies in why.items() if applies), ""):
        raise ConfigError(f"{option} cannot be used here: {reason}; leave one of them out")


def metric_of(config: Config) -> Metric:
    """Return the first of `reports.defaultMetrics` that is a share or a score; of none, Recall, or what is compared
    first. Raises ConfigError."""
    unit = tasks.CATALOG.load(config.task).unit
    known = {
        each.info.name: each
        for each in metrics_of(config)
        if each.statistic == "ratio" and each.info.unit in {"share", "score"} and each.of in {unit, "either"}
    }
    wanted = (*(config.reports.default_metrics or ()), USUAL, *config.declared)
    if found := next((known[name] for name in wanted if name in known), None):
        return found
    raise ConfigError(f"--precision is of a share or a score, and the task {config.task} has none: leave it out")


def make_sessions(
    workspace: Workspace,
    prepared: Prepared,
    precision: float,
    metric: Metric,
    jobs: int,
    screen: Screen,
    expect: Path | None = None,
) -> None:
    """Stage 2, phase by phase, until the interval of the metric is `precision` wide to both sides, or all are asked.

    `expect`: the workspace of an earlier run, whose answers tell what to expect if it has enough. An interrupted run
    goes on where it was: the phases that are on disk are not asked again. Raises NothingToEvaluate, WorkspaceError.
    """
    if "interpret" in workspace.manifest().stages:
        return
    started, watch = machine.now(), machine.Watch()
    before = went(expect, metric) if expect else None
    text = interpret.texts_below(prepared.setup.root)
    listed = interpret.listed(workspace, before, text)
    ids = listed.frame.ids
    if before is not None and (told := sum(each in before for each in ids)) < KNOWN * len(ids):
        screen.warn(
            f"{expect} is not used: it tells of {told:,} of the {counted(len(ids), 'session')}, and it takes "
            f"{KNOWN:.0%} to spare any; give a run of this project in which all were asked"
        )
        listed = interpret.listed(workspace, None, text)
    asking = _Asking(workspace, prepared, metric, jobs, screen, listed)
    sampler = Sampler(listed.frame, metric.info.name, precision, prepared.config.interpret.seed)
    while not sampler.is_precise and not asking.given_up:
        phase = sampler.next_phase()
        sampler.take(phase, *asking(phase))
    sampling = sampler.sampling
    for path in [source.path for source in workspace.sources()]:
        workspace.drop_sessions(path)  # of a run that was killed while it wrote them
    files = interpret.joined(asking.phases, sampler.strata(), workspace)
    workspace.write_manifest(replace(workspace.manifest(), sampling=sampling))
    pipeline.record(workspace, prepared, asking.made(files), started, screen, watch)
    shutil.rmtree(workspace.folder / PHASES)
    screen.say(said(sampling, sampler.reach(), len(ids)))


def said(sampling: Sampling, reach: float, sessions: int) -> str:
    """How precise the figure is, and what that took."""
    asked, phases = sum(each.asked for each in sampling.strata), counted(sampling.strata[-1].phase + 1, "phase")
    return (
        f"Precision: {sampling.metric} of all {counted(sessions, 'session')} is known to "
        f"±{reach * 100:.2f} pp (wanted: ±{sampling.precision * 100:g} pp), from {asked:,} drawn in {phases}"
    )


class _Asking:
    """Asks the engine about one phase after the other, each in a folder of its own below the workspace."""

    def __init__(
        self,
        workspace: Workspace,
        prepared: Prepared,
        metric: Metric,
        jobs: int,
        screen: Screen,
        listed: interpret.Listed,
    ) -> None:
        self.phases: list[Workspace] = []
        self._listed = listed
        self._setup = with_logs(prepared, workspace)
        self._folder = workspace.folder / PHASES
        self._metric, self._jobs, self._screen = metric, jobs, screen
        self._made: list[interpret.Progress] = []

    def __call__(self, phase: Phase) -> tuple[Floats, Floats]:
        """What the metric observed: numerators and denominators."""
        workspace = Workspace(self._folder / f"{phase.number:03}")
        for part in FOLDERS:
            atomic.make_folder(workspace.folder / part)
        places = [int(place) for drawn in phase.drawn for place in drawn]
        with self._screen.steps(f"Phase {phase.number + 1}", "sessions") as steps:
            (made,) = interpret.in_turns(
                [interpret.EngineSide(workspace, self._setup)],
                probability=1.0,
                limit=None,
                jobs=self._jobs,
                advance=lambda done, so_far: steps.show(done, so_far.planned, ""),
                chosen=self._listed.chosen(places),
            )
        self.phases.append(workspace)
        self._made.append(made)
        return self._answers(workspace, [self._listed.frame.ids[place] for place in places])

    def _answers(self, workspace: Workspace, ids: list[str]) -> tuple[Floats, Floats]:
        seen = {
            session.id: _observed(self._metric, session)
            for _, sessions in workspace.sessions(SessionScore)
            for session in sessions
        }
        rows = np.array([seen[each] for each in ids])
        return rows[:, 0], rows[:, 1]

    @property
    def given_up(self) -> str:
        """Why no more is asked, if the engine failed too often."""
        return next((each.given_up for each in self._made if each.given_up), "")

    def made(self, files: int) -> interpret.Progress:
        """Return the sum of all phases, over so many files."""
        return summed(self._made, files)
