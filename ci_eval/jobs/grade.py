"""Grades without an engine: of a workspace's suggestions, or of pairs of texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ci_eval import graders, tasks
from ci_eval.contracts import Pairing
from ci_eval.errors import ConfigError
from ci_eval.jobs import pipeline
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.stages.interpret import Grading, grade_anew
from ci_eval.workspace import Workspace


def grade_workspace(folder: Path) -> Evaluated:
    """Its stored suggestions, graded as the task asks for it now; its reports made anew. Raises ConfigError."""
    workspace = Workspace.open(folder)
    workspace.verify()
    manifest, config = workspace.manifest(), pipeline.stored_config(workspace)
    task = tasks.CATALOG.load(manifest.task)
    if not task.graders:
        raise ConfigError(f"{folder}: sessions of the task {task.name} have ranks, not grades: there is nothing to do")
    grade_anew(workspace, Grading.of(task, manifest.language))
    workspace.seal()
    evaluation, reports = pipeline.make_reports(workspace, config)
    trouble = pipeline.trouble(workspace, config)
    return Evaluated(folder=folder, evaluation=evaluation, reports=reports, trouble=trouble)


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
        scores: dict[str, Any] = {"scores": chosen.grade(pairing)}
        yield msgspec.json.encode(scores)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
