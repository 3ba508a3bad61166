"""The option `evaluate --precision`: as many sessions as it takes for the interval of one metric to be narrow
enough."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import interpret, machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.catalogs import tasks
from ci_eval.core.config import Config
from ci_eval.core.contracts import Metric
from ci_eval.core.model import SessionScore
from ci_eval.core.model.sampling import Sampling
from ci_eval.core.rendering.figures import format_count
from ci_eval.core.scoring import observe_session
from ci_eval.core.statistics.expected import Floats
from ci_eval.core.statistics.phases import Phase, Sampler
from ci_eval.core.workspace import FOLDERS, Workspace
from ci_eval.jobs import pipeline
from ci_eval.jobs.comparison_rules import load_metrics
from ci_eval.jobs.logs import prepare_logs
from ci_eval.jobs.preparation import Prepared
from ci_eval.jobs.sampling.progress import sum_phases

PHASES = "phases"
"""The folder of the sessions of each phase, while the run goes on."""
KNOWN = 0.75
"""The least share of the sessions that an earlier run must know. With less, more sessions are asked than without an
earlier run (`benchmarks/precision.py --told`)."""
USUAL = "Recall"


def parse(text: str) -> float:
    """Return half the width of the interval, as a share, from a text such as `1pp`. Raises ConfigError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*pp", text.strip())
    if match and 0 < float(match[1]) <= MOST:
        return float(match[1]) / 100
    raise ConfigError(f"{text!r}: give percentage points above 0 and up to {MOST}, for example 1pp or 0.5pp")


MOST = 20


def note(workspace: Workspace, precision: float | None, expect: Path | None) -> None:
    """Write the precision of the run into the manifest, and the earlier run that it learns from. Raises WorkspaceError
    if a resumed run began with others."""
    manifest, digest = workspace.manifest(), _digest(expect) if expect else ""
    if not manifest.stages:
        workspace.write_manifest(replace(manifest, precision=precision, expects=digest))
    elif (manifest.precision, manifest.expects) != (precision, digest):
        was = f"with --precision {manifest.precision * 100:g}pp" if manifest.precision else "without --precision"
        was += " and --expect another run" if manifest.expects else ""
        raise WorkspaceError(
            f"{workspace.folder} cannot be taken up: it was begun {was}; give the same command as then"
        )


def _digest(folder: Path) -> str:
    return hashlib.blake2b((folder / "manifest.json").read_bytes(), digest_size=16).hexdigest()


def earlier_run(expect: Path | None, engine: str, screen: Screen) -> Path | None:
    """Return the folder if it holds a workspace; else None, with a message, since a first nightly run has none. Raises
    ConfigError if the workspace is of another engine."""
    if expect is None:
        return None
    if not (expect / "manifest.json").is_file():
        screen.say(f"Nothing is expected: there is no workspace in {expect} yet")
        return None
    # Measured: other engines spare no sessions, and if misses are rare, intervals hold the truth too seldom.
    if (earlier_engine := Workspace.open(expect).manifest().engine.name) != engine:
        raise ConfigError(
            f"--expect takes a run of {engine}, of any version, and {expect} is of {earlier_engine}: leave it out"
        )
    return expect


def went(folder: Path, metric: Metric) -> dict[str, float]:
    """Return how well each session of that run went by the metric (0 to 1), by the session's id. Raises
    WorkspaceError."""
    workspace = Workspace.open(folder)
    workspace.verify()
    shares = {}
    for _, sessions in workspace.sessions(SessionScore):
        for session in sessions:
            above, below = _observe(metric, session)
            if below:
                shares[session.id] = float(above / below)
    return shares


def _observe(metric: Metric, session: SessionScore) -> Floats:
    """Return the numerator and the denominator of a session; both 0 if the metric observes nothing."""
    return np.asarray(np.sum(observe_session(metric, session) or [(0.0, 0.0)], axis=0))


def check(config: Config, *, shard: Shard | None, rounds: int, reuse: bool) -> Metric:
    """Return the metric whose interval is to be narrow enough. Raises ConfigError if sessions cannot be sampled for
    it."""
    more = {
        "a shard does not see the answers of the others, which decide what is asked next": shard is not None,
        "`--repeat` asks all sessions several times": rounds > 1,
        "`--reuse` takes over whole files": reuse,
    }
    check_drawn("--precision", config, more)
    return choose_metric(config)


def check_drawn(option: str, config: Config, more: Mapping[str, bool] | None = None) -> None:
    """Check that the option can sample sessions. `more`: further reasons against it → whether they apply. Raises
    ConfigError if any reason applies."""
    interpret_config = config.interpret
    reasons = {
        "the records of a dataset are drawn as they are": bool(config.dataset.spec),
        **(more or {}),
        "`interpret.saveLogs` logs whole files": interpret_config.save_logs,
        "`interpret.sessionProbability` and `sessionsLimit` draw sessions in another way": (
            interpret_config.session_probability < 1 or interpret_config.sessions_limit is not None
        ),
    }
    if reason := next((text for text, applies in reasons.items() if applies), ""):
        raise ConfigError(f"{option} cannot be used here: {reason}; leave one of them out")


def choose_metric(config: Config) -> Metric:
    """Return the first of `reports.defaultMetrics` that has two bounds, as a share has. Without any, return Recall, or
    the first compared metric. Raises ConfigError if there is none."""
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
        f"--precision is of a share or a score with two bounds, and the task {config.task} has none: leave it out"
    )


def make_sessions(
    workspace: Workspace,
    prepared: Prepared,
    precision: float,
    metric: Metric,
    jobs: int,
    screen: Screen,
    expect: Path | None = None,
) -> None:
    """Run stage 2, phase by phase, until the interval of the metric is `precision` wide to both sides, or all sessions
    are asked.

    `expect`: the workspace of an earlier run, from which the expected results are taken if it has enough sessions. An
    interrupted run is resumed: the phases on disk are not asked again. Raises NothingToEvaluate, WorkspaceError.
    """
    if "interpret" in workspace.manifest().stages:
        return
    started, watch = machine.now(), machine.Watch()
    before = went(expect, metric) if expect else None
    text = interpret.texts_below(prepared.setup.root)
    listed = interpret.list_sessions(workspace, before, text)
    ids = listed.frame.ids
    if before is not None and (known := sum(identity in before for identity in ids)) < KNOWN * len(ids):
        screen.warn(
            f"{expect} is not used: it tells of {known:,} of the {format_count(len(ids), 'session')}, and it takes "
            f"{KNOWN:.0%} to spare any; give a run of this project in which all were asked"
        )
        listed = interpret.list_sessions(workspace, None, text)
    asker = _Asking(workspace, prepared, metric, jobs, screen, listed)
    sampler = Sampler(listed.frame, metric.info.name, precision, prepared.config.interpret.seed)
    while not sampler.is_precise and not asker.given_up:
        phase = sampler.next_phase()
        sampler.take(phase, *asker(phase))
    sampling = sampler.sampling
    for path in [source.path for source in workspace.sources()]:
        workspace.drop_sessions(path)  # of a run that was killed while it wrote them
    files = interpret.join_phases(asker.phases, sampler.strata(), workspace)
    workspace.write_manifest(replace(workspace.manifest(), sampling=sampling))
    pipeline.record(workspace, prepared, asker.made(files), started, screen, watch)
    shutil.rmtree(workspace.folder / PHASES)
    screen.say(said(sampling, sampler.reach(), len(ids)))


def said(sampling: Sampling, reach: float, sessions: int) -> str:
    """Return a sentence that says how precise the figure is, and how many sessions that took."""
    asked, phases = (
        sum(stratum.asked for stratum in sampling.strata),
        format_count(sampling.strata[-1].phase + 1, "phase"),
    )
    return (
        f"Precision: {sampling.metric} of all {format_count(sessions, 'session')} is known to "
        f"±{reach * 100:.2f} pp (wanted: ±{sampling.precision * 100:g} pp), from {asked:,} drawn in {phases}"
    )


class _Asking:
    """The phases of a run, each of which asks the engine in a folder of its own below the workspace."""

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
        self._setup = prepare_logs(prepared, workspace)
        self._folder = workspace.folder / PHASES
        self._metric, self._jobs, self._screen = metric, jobs, screen
        self._made: list[interpret.Progress] = []

    def __call__(self, phase: Phase) -> tuple[Floats, Floats]:
        """Ask the sessions of a phase. Return the numerators and the denominators that the metric observed."""
        workspace = Workspace(self._folder / f"{phase.number:03}")
        for part in FOLDERS:
            atomic.make_folder(workspace.folder / part)
        ranks = [int(rank) for drawn in phase.drawn for rank in drawn]
        with self._screen.steps(f"Phase {phase.number + 1}", "sessions") as steps:
            (made,) = interpret.play_files(
                [interpret.EngineSide(workspace, self._setup)],
                probability=1.0,
                limit=None,
                jobs=self._jobs,
                advance=lambda done, so_far: steps.show(done, so_far.planned, ""),
                chosen=self._listed.chosen(ranks),
            )
        self.phases.append(workspace)
        self._made.append(made)
        return self._answers(workspace, [self._listed.frame.ids[rank] for rank in ranks])

    def _answers(self, workspace: Workspace, ids: list[str]) -> tuple[Floats, Floats]:
        seen = {
            session.id: _observe(self._metric, session)
            for _, sessions in workspace.sessions(SessionScore)
            for session in sessions
        }
        # The sampler takes results in the order of its sample, and files come in another one.
        rows = np.array([seen[identity] for identity in ids])
        return rows[:, 0], rows[:, 1]

    @property
    def given_up(self) -> str:
        """Return the reason why no more is asked, if the engine failed too often; else ""."""
        return next((progress.given_up for progress in self._made if progress.given_up), "")

    def made(self, files: int) -> interpret.Progress:
        """Return the sum of all phases, for this number of files."""
        return sum_phases(self._made, files)
