"""The jobs that grade without an engine: the suggestions of a workspace, or pairs of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.base.errors import CiEvalError, ConfigError
from ci_eval.core.catalogs import graders, tasks
from ci_eval.core.contracts import Grader, Pairing, RunSettings
from ci_eval.core.interpret import Grading, grade_anew
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs
from ci_eval.jobs import trust as trusting
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.single_stages import only_reports


def grade_workspace(folder: Path, *, trusted: bool = False) -> Evaluated:
    """Grade the stored suggestions as the task grades now, and build the reports again. The same call resumes an
    interrupted one. Raises ConfigError or WorkspaceError."""
    workspace = Workspace.open(folder)
    manifest = workspace.manifest()
    # An interrupted grading leaves a complete run without digests, which this call resumes.
    if manifest.digests or not manifest.complete:
        workspace.verify()
    task = tasks.CATALOG.load(manifest.task)
    if not (task.graders or task.splitting):
        raise ConfigError(f"{folder}: sessions of the task {task.name} have ranks, not grades: there is nothing to do")
    config = runs.stored_config(workspace)
    trusting.refuse_foreign_grading(workspace, config, trusted=trusted)
    grading = Grading(task, manifest.language, machine.cache_folder(), config.judge, config.running)
    # The workspace is not what was sealed until all sessions are graded.
    workspace.write_manifest(replace(manifest, digests={}))
    grade_anew(workspace, grading)
    workspace.write_manifest(
        replace(manifest, digests={}, judge=runs.describe_judge(config), run=runs.describe_test_runs(config))
    )
    # Without digests, `verify` refuses a workspace as unfinished.
    workspace.seal()
    return only_reports([folder])[0]


def grade_pairs(
    grader: str, path: Path, judge: EndpointConfig | None = None, run: RunSettings | None = None
) -> Iterator[bytes]:
    """Yield a line `{"scores": {...}}` for each line `{"reference", "hypothesis", "language"?, "record"?}`. Raises
    ConfigError, PreparationError, or EngineFailure if a pair cannot be graded."""
    (chosen,) = graders.ready([grader], machine.cache_folder(), judge, run)
    for number, line in enumerate(_lines(path), 1):
        yield msgspec.json.encode({"scores": _scores(chosen, line, f"{path}, line {number}")})


def _scores(grader: Grader, line: bytes, place: str) -> Mapping[str, float]:
    try:
        return grader.grade(msgspec.json.decode(line, type=Pairing))
    # JSON that is nested too deeply raises a RecursionError.
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ConfigError(
            f'{place}: {error}; a line is {{"reference": "…", "hypothesis": "…"}}, with "language" where the grader '
            "reads code"
        ) from error
    except CiEvalError as error:
        raise type(error)(f"{place}: {error}") from error


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
