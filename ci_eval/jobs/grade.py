"""Grades without an engine: of a workspace's suggestions, or of pairs of texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ci_eval import graders, tasks
from ci_eval.contracts import Pairing
from ci_eval.errors import ConfigError
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.single_stages import only_reports
from ci_eval.stages.interpret import Grading, grade_anew
from ci_eval.workspace import Workspace


def grade_workspace(folder: Path) -> Evaluated:
    """Its stored suggestions, graded as the task asks for it now; its reports made anew. Raises ConfigError."""
    workspace = Workspace.open(folder)
    workspace.verify()
    manifest = workspace.manifest()
    task = tasks.CATALOG.load(manifest.task)
    if not task.graders:
        raise ConfigError(f"{folder}: sessions of the task {task.name} have ranks, not grades: there is nothing to do")
    grade_anew(workspace, Grading.of(task, manifest.language))
    workspace.seal()
    return only_reports([folder])[0]


def grade_pairs(grader: str, path: Path) -> Iterator[bytes]:
    """A line `{"scores": {...}}` for each line `{"reference", "hypothesis", "language"?}`. Raises ConfigError."""
    chosen = graders.CATALOG.load(grader)
    for number, line in enumerate(_lines(path), 1):
        try:
            pairing = msgspec.json.decode(line, type=Pairing)
        except msgspec.MsgspecError as error:
            raise ConfigError(
                f'{path}, line {number}: {error}; a line is {{"reference": "…", "hypothesis": "…"}}, with "language" '
                "where the grader reads code"
            ) from error
        yield msgspec.json.encode({"scores": chosen.grade(pairing)})


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
