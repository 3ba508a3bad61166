"""The job matrix of a CI: evaluations of a nightly run that are divided into shards, or jobs that write logs."""

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
from ci_eval.fetch import schemes
from ci_eval.jobs.preparation import load_engine
from ci_eval.jobs.reuse import why_not_reusable
from ci_eval.plugins.adapters.engine import newest_toolchains


class PlannedJob(Value, frozen=True, kw_only=True):
    """A job of the matrix. Its fields become parameters of a CI, so they are strings, numbers and booleans."""

    name: str
    evaluation: str
    language: str
    engine: str
    completion_type: str
    config: str
    shard: str
    shards: int
    allow_failure: bool
    """True if ci-eval's tests do not run the engine, unless it is a command of the user."""
    reusable: bool
    project: str
    ranker: str
    """NAME in `ranker-NAME`: the ranker that is trained on the configuration's logs, for the completion type ML."""
    go: str
    """The lowest version of Go that engine and project need; "" if none. The same for the toolchains below."""
    java: str
    node: str
    php: str
    ruby: str


def plan(
    configs: Sequence[Path],
    *,
    completion_types: Sequence[str],
    shards: int,
    ml_configs: Sequence[Path] = (),
    name: str = "",
) -> list[PlannedJob]:
    """Return the jobs, in the order of the configurations. Raises ConfigError for no jobs, or too many for a matrix.

    Each evaluation is divided into `shards` jobs; a suite is one job. `ml_configs` are also evaluated with the
    completion type ML. All names begin with `name`, unless it is empty.
    """
    kinds = [(path, kind) for path in configs for kind in completion_types] + [(path, "ML") for path in ml_configs]
    chosen = [(path, load(path).config, kind) for path, kind in kinds]
    # A suite is one job.
    planned = sum(1 if config.projects else shards for _, config, _ in chosen)
    if planned > limits.MOST_JOBS:
        count, most = len(chosen), limits.MOST_JOBS
        message = f"{count} evaluations of {shards} shards are {planned} jobs, and a matrix has {most} at most"
        if count > most:
            raise ConfigError(f"{message}: plan the configurations in several calls, of {most} evaluations each")
        raise ConfigError(f"{message}: choose --shards {most // count} or fewer")
    jobs = []
    for path, config, kind in chosen:
        rankers.CATALOG.load(kind)
        of = 1 if config.projects else shards
        evaluation = limits.name(f"{name}{'-' if name else ''}{path.stem}-{load_engine(config).name}-{kind.lower()}")
        for shard in (Shard(index=index, of=of) for index in range(1, of + 1)):
            title = f"{evaluation}-{shard.index}-of-{of}"
            jobs.append(_job(path, config, name=title, evaluation=evaluation, completion_type=kind, shard=shard))
    # All shards of an evaluation have the same evaluation name, so only the first is checked.
    _check_names([job.evaluation for job in jobs if job.shard.startswith("1/")])
    return jobs


def plan_logs(configs: Sequence[Path], projects: Sequence[str]) -> list[PlannedJob]:
    """Return a job for each configuration and each of `projects`, or else of its `trainingProjects`. A configuration
    without projects is skipped. Raises ConfigError for no jobs, or too many for a matrix."""
    jobs = []
    for path in configs:
        config = load(path).config
        for project in projects or config.training_projects:
            # Training finds the logs by the pattern `logs-RANKER-*`.
            name = f"logs-{limits.name(path.stem)}-{limits.name(project)}"
            own = replace(config, project=replace(config.project, spec=project))
            kind, shard = config.interpret.completion_type, Shard(index=1, of=1)
            jobs.append(_job(path, own, name=name, evaluation=name, completion_type=kind, shard=shard, project=project))
    if not jobs:
        raise ConfigError("there is nothing to log: add trainingProjects to the configurations, or --project SPEC")
    if len(jobs) > limits.MOST_JOBS:
        raise ConfigError(
            f"{len(jobs)} projects are to be logged, and a matrix has {limits.MOST_JOBS} jobs at most: "
            "plan the configurations in several calls"
        )
    _check_names(sorted({job.ranker for job in jobs}))
    return jobs


def _check_names(names: Sequence[str]) -> None:
    """Raise ConfigError if two names are equal, or one begins with the other."""
    for name, longer in permutations(names, 2):
        if name == longer:
            raise ConfigError(f"two evaluations are called {name}: give the configurations different names")
        # Shards are found by a pattern that begins with the name of their evaluation.
        if longer.startswith(f"{name}-"):
            raise ConfigError(
                f"{longer} begins with {name}, so the shards of both would be mixed: rename one evaluation"
            )


def _job(
    path: Path, config: Config, *, name: str, evaluation: str, completion_type: str, shard: Shard, project: str = ""
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
        # Users want to see failures of their own command.
        allow_failure=not (engine.verified or config.engine.command),
        reusable=not why_not_reusable(config),
        project=project,
        ranker=limits.name(path.stem),
        **{name: needed.get(name, "") for name in ("go", "java", "node", "php", "ruby")},
    )
