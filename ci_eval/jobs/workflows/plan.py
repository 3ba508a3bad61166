"""The job matrix: the evaluations of a nightly run in shards, or the jobs that write logs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import limits
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.shards import Shard
from ci_eval.core.catalogs import languages, rankers
from ci_eval.core.config import Config, load
from ci_eval.core.model import Value
from ci_eval.core.workspace import Workspace
from ci_eval.fetch import schemes
from ci_eval.jobs.preparation import load_engine
from ci_eval.jobs.reuse import why_not_reusable
from ci_eval.plugins.adapters.engine import newest_toolchains


class PlannedJob(Value, frozen=True, kw_only=True):
    """A job as texts, numbers and booleans, since they become parameters of a CI."""

    name: str
    evaluation: str
    language: str
    engine: str
    completion_type: str
    config: str
    shard: str
    shards: int
    allow_failure: bool
    """True if this project's tests do not drive the engine."""
    reusable: bool
    project: str
    ranker: str
    """`ranker-NAME`, trained on the configuration's logs, and used by the completion type ML."""
    go: str
    """The lowest version that engine and project need; "" = none. The same for the fields below."""
    java: str
    node: str
    php: str
    ruby: str


def plan(
    configs: Sequence[Path],
    *,
    completion_types: Sequence[str],
    shards: int,
    timings: Sequence[Path],
    ml_configs: Sequence[Path] = (),
    name: str = "",
) -> list[PlannedJob]:
    """Return the jobs, in the order of the configurations. Raises ConfigError for none, or too many jobs for a matrix.

    `shards`: the average number per evaluation; with `timings` (workspaces of earlier runs), in proportion to their
    time. `ml_configs`: also evaluated by the type ML. `name`: begins the names of all evaluations, if not empty.
    """
    if not configs:
        raise ConfigError("there is nothing to plan: name the configurations, for example configs/*.yaml")
    kinds = [(path, kind) for path in configs for kind in completion_types] + [(path, "ML") for path in ml_configs]
    chosen = [(path, load(path).config, kind) for path, kind in kinds]
    if len(chosen) * shards > limits.MOST_JOBS:
        count, most = len(chosen), limits.MOST_JOBS
        message = f"{count} evaluations of {shards} shards are {count * shards} jobs, and a matrix has {most} at most"
        if count > most:
            raise ConfigError(f"{message}: plan the configurations in several calls, of {most} evaluations each")
        raise ConfigError(f"{message}: choose --shards {most // count} or fewer")
    durations = _durations(timings)
    keys = [
        (config.language, load_engine(config).name, _strip_digest(config.project.spec), kind)
        for _, config, kind in chosen
    ]
    counts = _deal_shards([durations.get(key) for key in keys], shards)
    jobs = []
    for (path, config, kind), of in zip(chosen, counts, strict=True):
        rankers.CATALOG.load(kind)
        evaluation = limits.name(f"{name}{'-' if name else ''}{path.stem}-{load_engine(config).name}-{kind.lower()}")
        for shard in (Shard(index=index, of=of) for index in range(1, of + 1)):
            title = f"{evaluation}-{shard.index}-of-{of}"
            jobs.append(_job(path, config, name=title, evaluation=evaluation, completion_type=kind, shard=shard))
    # All shards of an evaluation share its name, so one of them is enough.
    _check_names([job.evaluation for job in jobs if job.shard.startswith("1/")])
    return jobs


def plan_logs(configs: Sequence[Path], projects: Sequence[str]) -> list[PlannedJob]:
    """Return a job for each configuration and each of `projects`, or of its `trainingProjects`; a configuration without
    any is left out. Raises ConfigError for no jobs or too many."""
    jobs = []
    for path in configs:
        config = load(path).config
        for project in projects or config.training_projects:
            # Training finds them by the pattern `logs-RANKER-*`.
            name = f"logs-{limits.name(path.stem)}-{limits.name(project)}"
            own = replace(config, project=replace(config.project, spec=project))
            kind, shard = config.interpret.completion_type, Shard(index=1, of=1)
            jobs.append(_job(path, own, name=name, evaluation=name, completion_type=kind, shard=shard, project=project))
    if not jobs:
        raise ConfigError("there is nothing to log: give the configurations trainingProjects, or say --project SPEC")
    if len(jobs) > limits.MOST_JOBS:
        raise ConfigError(
            f"{len(jobs)} projects are to be logged, and a matrix has {limits.MOST_JOBS} jobs at most: "
            "plan the configurations in several calls"
        )
    _check_names(sorted({job.ranker for job in jobs}))
    return jobs


def evaluations(jobs: Sequence[PlannedJob]) -> dict[str, bool]:
    return {job.evaluation: job.allow_failure for job in sorted(jobs, key=lambda job: job.evaluation)}


def list_rankers(jobs: Sequence[PlannedJob]) -> dict[str, bool]:
    return {job.ranker: job.allow_failure for job in sorted(jobs, key=lambda job: job.ranker)}


def _check_names(names: Sequence[str]) -> None:
    """Raises ConfigError if a name is another's beginning, too."""
    for name, longer in permutations(names, 2):
        if name == longer:
            raise ConfigError(f"two evaluations are called {name}: give the configurations different names")
        # Shards are found by a pattern that begins with the name of their evaluation.
        if longer.startswith(f"{name}-"):
            raise ConfigError(f"{longer} begins like {name}, and its shards would be taken for the other's: rename it")


def _job(
    path: Path,
    config: Config,
    *,
    name: str,
    evaluation: str,
    completion_type: str,
    shard: Shard,
    project: str = "",
) -> PlannedJob:
    engine = load_engine(config)
    scheme = config.project.spec.partition(":")[0]
    client = schemes.CATALOG.load(scheme).toolchains if scheme in schemes.names() else {}
    needed = newest_toolchains(engine.toolchains, client)
    return PlannedJob(
        name=name,
        evaluation=evaluation,
        language=languages.CATALOG.load(config.language).name,
        engine=engine.name + (f"@{config.engine.version}" if config.engine.version else ""),
        completion_type=completion_type,
        config=path.as_posix(),
        shard=str(shard),
        shards=shard.of,
        # Where it runs a command of the user's own, they want to know of its failures.
        allow_failure=not (engine.verified or config.engine.command),
        reusable=not why_not_reusable(config),
        project=project,
        ranker=limits.name(path.stem),
        go=needed.get("go", ""),
        java=needed.get("java", ""),
        node=needed.get("node", ""),
        php=needed.get("php", ""),
        ruby=needed.get("ruby", ""),
    )


Key = tuple[str, str, str, str]


def _strip_digest(spec: str) -> str:
    # Workspaces have the digest, and configurations may leave it out.
    return spec.partition("#")[0]


def _durations(timings: Sequence[Path]) -> dict[Key, float]:
    """Return the seconds of stage 2 by evaluation, summed over shards and processes."""
    durations: dict[Key, float] = {}
    for folder in timings:
        manifest = Workspace.open(folder).manifest()
        key = (
            manifest.language,
            manifest.engine.name,
            _strip_digest(manifest.project.spec),
            manifest.completion_type,
        )
        stage = manifest.stages.get("interpret")
        seconds = stage.seconds if stage else None
        # Seconds of one process; a run of less than a second still counts.
        durations[key] = durations.get(key, 0.0) + (0.0 if seconds is None else max(seconds, 1.0) * manifest.jobs)
    return durations


def _deal_shards(seconds: Sequence[float | None], shards: int) -> list[int]:
    """Return the shards of each evaluation in proportion to its seconds; `shards` on average."""
    known = [value for value in seconds if value]
    if not known:
        return [shards] * len(seconds)
    usual = sum(known) / len(known)
    all_of_them = [value or usual for value in seconds]
    per_shard = sum(all_of_them) / (len(all_of_them) * shards)
    counts = [max(round(value / per_shard), 1) for value in all_of_them]
    # Rounding may exceed the size of a matrix.
    while sum(counts) > limits.MOST_JOBS:
        counts[counts.index(max(counts))] -= 1
    return counts
