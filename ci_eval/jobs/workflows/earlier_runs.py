"""The search for earlier nightly runs: the last good evaluation, histories, this week's rankers, other artifacts."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from ci_eval.ci import Screen, limits
from ci_eval.ci.builds import Builds
from ci_eval.ci.gitlab import TOKEN, Project
from ci_eval.ci.repository import Artifact, Repository
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, DownloadError, WorkspaceError
from ci_eval.core.manifest import Manifest, unlike
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.compare import append_figures


def fetch_of_complete_run(repository: Repository, name: str, pattern: str, output: Path, screen: Screen) -> list[Path]:
    """Find the newest run of the default branch that left an artifact `name`. Download its artifacts that match
    `pattern`, each into a folder of the artifact's name. Raises DownloadError, ArchiveError."""
    mark = next(iter(repository.artifacts(name)), None)
    if mark is None:
        raise DownloadError(
            f"no run of the default branch has an artifact {name}: no run has left one yet, or all have expired"
        )
    artifacts = repository.all_of_run(mark.run, pattern)
    if not artifacts:
        raise DownloadError(
            f"run {mark.run} has no artifact {pattern}: the run's page lists its artifacts, even expired ones"
        )
    screen.say(f"{len(artifacts)} artifacts of run {mark.run}, of {mark.created}")
    return [repository.fetch(artifact, output / _folder_name(artifact.name)) for artifact in artifacts]


def fetch_of_newest_build(builds: Builds, pattern: str, output: Path, screen: Screen) -> list[Path]:
    """Download the zip files that match `pattern` from the newest successful build of the default branch, each into a
    folder of the file's name. Raises DownloadError, ArchiveError."""
    build = builds.newest()
    names = builds.archives(build, pattern)
    if not names:
        raise DownloadError(f"build {build.number} of {builds.name} has no artifact {pattern}.zip: look at its page")
    screen.say(f"{len(names)} artifacts of build {build.number}, of {build.finished}")
    return [builds.fetch(build, name, output / _folder_name(name)) for name in names]


def _folder_name(name: str) -> str:
    # The name becomes a folder below the output, and must not lead out of it.
    if name in {"", ".", ".."} or "/" in name:
        raise DownloadError(f"{name!r} is not the name of a folder: rename the artifact in the workflow that makes it")
    return name


HISTORY = "history-"
MOST_NIGHTS = 30
"""The maximum number of runs without a comparison that are added to the trend. The newest runs are taken."""
MOST_RUNS = 100
MOST_BASES = 10
BEGIN = "To begin without a base, start one night with the input first-night: true."


def fetch_base(
    repository: Repository,
    evaluation: str,
    *,
    base: Path,
    history: Path,
    run: int | None,
    new: Path | None,
    is_first: bool,
    screen: Screen,
) -> int | None:
    """Fetch the base and the history of an evaluation. Return the base's run; None on a first night.

    The base is from `run`, or from the newest run in which no gate of this evaluation is broken. Runs that cannot be
    compared are skipped: otherwise no run would have a base after a change of the configuration. If `is_first`, there
    may be no base although GitHub knows earlier successful runs. Raises DownloadError, ArchiveError, WorkspaceError,
    and ConfigError if the base is missing.
    """
    _fetch_history(repository, evaluation, history, screen)
    tonight = Workspace.open(new).manifest() if new else None
    good = (mark.run for mark in _before(repository, f"good-{evaluation}"))
    for number in [run] if run else islice(good, MOST_BASES):
        stored = repository.find_artifact(number, f"workspace-{evaluation}")
        trouble = _trouble(repository.fetch(stored, base), tonight) if stored else "its workspace is gone"
        if not trouble or (run and stored):
            screen.say(f"{evaluation} is compared with run {number}")
            return number
        screen.say(f"Run {number} is not a base: {trouble}")
        # The next candidate is unpacked into the same folder.
        shutil.rmtree(base, ignore_errors=True)
    if not is_first:
        names = {f"{evaluation}-1-of-1", f"merge {evaluation}", f"compare {evaluation}"}
        numbers = list(islice(repository.earlier_runs(), MOST_RUNS))
        # The name of a job in a called workflow is CALLER / JOB.
        own = [job for number in numbers for job in repository.jobs(number) if job.name.rpartition(" / ")[2] in names]
        # If there are more than MOST_RUNS runs, the earlier ones are unknown.
        is_new = all(job.conclusion != "success" for job in own) and (not own or len(numbers) < MOST_RUNS)
        if not is_new:
            raise ConfigError(
                f"{evaluation} is not new, but no earlier run can be its base: the lines above say why. {BEGIN}"
            )
    screen.say(f"{evaluation} has no good night before this one, so no gate is judged")
    return None


def fetch_base_of_job(
    project: Project, name: str, *, base: Path, history: Path, new: Path, is_first: bool, screen: Screen
) -> bool:
    """Fetch the base and the history from earlier jobs of that name at GitLab. Return whether there is a base.

    The base is from the newest comparable job that succeeded; the history is from the newest job that has one, failed
    or not. All paths are relative to the project's folder. Raises as `fetch_base` does.
    """
    tonight = Workspace.open(new).manifest()
    jobs = list(islice(project.earlier_jobs(name), MOST_NIGHTS))
    for job in jobs:
        with tempfile.TemporaryDirectory() as temporary:
            artifacts = Path(temporary) / "artifacts"
            trouble = "" if project.fetch(job, artifacts) else "it has no artifacts"
            if (artifacts / history).is_dir() and not history.exists():
                shutil.copytree(artifacts / history, history)
            trouble = trouble or _trouble(artifacts / new, tonight) if job.succeeded else "it failed"
            if not trouble:
                shutil.copytree(artifacts / new, base)
                screen.say(f"{name} is compared with {job.page or 'the newest pipeline that succeeded'}")
                return True
            screen.say(f"{job.page or 'The newest pipeline that succeeded'} is not a base: {trouble}")
    is_new = project.may_list and len(jobs) < MOST_NIGHTS and not any(job.succeeded for job in jobs)
    if not is_first and not is_new:
        unknown = "" if project.may_list else f" Without a token in {TOKEN} (read_api), jobs cannot be listed."
        raise ConfigError(f"no base of {name} is left, or none is known.{unknown} {BEGIN}")
    return False


def find_rankers(repository: Repository, names: Sequence[str], screen: Screen) -> tuple[int | None, list[str]]:
    newest = {name: next(iter(repository.artifacts(f"ranker-{name}")), None) for name in names}
    run = max((artifact.run for artifact in newest.values() if artifact), default=None)
    if run is None:
        screen.warn("generate-ml-logs has left no ranker yet, or all have expired: nothing is evaluated with ML")
    return run, [name for name, artifact in newest.items() if artifact and artifact.run == run]


def fetch_histories(repository: Repository, run: int, folder: Path, screen: Screen) -> list[str]:
    """Fetch the newest history of each evaluation into a folder of the evaluation's name. Histories may be from
    different nightly runs. Return the sorted names. Raises DownloadError, ArchiveError."""
    workflow_of = cache(repository.find_workflow)
    if not workflow_of(run):
        raise DownloadError(f"this repository has no run {run}: name a newer night with --run")
    atomic.make_folder(folder)
    newest: dict[str, Artifact] = {}
    for artifact in repository.artifacts():
        name = limits.name(artifact.name.removeprefix(HISTORY))
        if artifact.name.startswith(HISTORY) and name not in newest and workflow_of(artifact.run) == workflow_of(run):
            newest[name] = artifact
    for name, artifact in sorted(newest.items()):
        screen.say(f"{name}: nights up to run {artifact.run}")
        repository.fetch(artifact, folder / name)
    return sorted(newest)


def _trouble(folder: Path, tonight: Manifest | None) -> str:
    """Return why a workspace cannot be the base; "" if it can. Raises WorkspaceError if it is damaged."""
    workspace = Workspace.open(folder)
    workspace.verify()
    if tonight:
        for condition, was, now in unlike(workspace.manifest().conditions(), tonight.conditions()):
            return f"its {condition} is {was or 'none'}, and tonight's is {now or 'none'}"
    return str(pipeline.find_trouble(workspace, runs.stored_config(workspace)) or "")


def _before(repository: Repository, name: str, since: int = 0) -> Iterator[Artifact]:
    """Yield the artifacts of earlier runs of this workflow, the newest first."""
    for artifact in repository.artifacts(name):
        # GitHub limits the number of requests, so the workflow of an artifact is only requested when it is needed.
        if since < artifact.run < repository.run and repository.is_of_this_workflow(artifact):
            yield artifact


def _fetch_history(repository: Repository, evaluation: str, history: Path, screen: Screen) -> None:
    """Fetch the newest history, and add the figures of later nightly runs that left a workspace but no history."""
    newest = next(_before(repository, f"{HISTORY}{evaluation}"), None)
    if newest:
        repository.fetch(newest, history)
    history.mkdir(parents=True, exist_ok=True)
    lost = _before(repository, f"workspace-{evaluation}", since=newest.run if newest else 0)
    for stored in islice(lost, MOST_NIGHTS):
        screen.say(f"Run {stored.run} ended before it was compared: its figures are added to the trend")
        with tempfile.TemporaryDirectory() as temporary:
            try:
                workspace = Workspace.open(repository.fetch(stored, Path(temporary) / "workspace"))
                append_figures([(workspace, ())], history, repository.page_of_run(stored.run))
            except (ConfigError, WorkspaceError) as error:
                # A damaged run is left out with a warning, since an error would be repeated every night.
                screen.warn(f"run {stored.run} is not in the trend: {error}")
