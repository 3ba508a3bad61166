"""The sessions whose expected text did not come first, as SARIF 2.1.0, which editors and GitHub's code scanning show at
their lines.

Format: OASIS, Static Analysis Results Interchange Format Version 2.1.0.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import quote

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import Task
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import Session
from ci_eval.core.model.actions import NOTABLE
from ci_eval.core.scoring import outcome, shown_rank
from ci_eval.core.text_spans import Lines
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.exports.rows import Passes

NAME = "misses.sarif"
LEVELS = {"failed": "error", "absent": "warning", "low": "note", "near": "note"}
"""Outcome → how SARIF calls its weight; the worst first."""
ORDER = tuple(LEVELS)
ROOT = "%SRCROOT%"
"""Placeholder that viewers replace, by convention, by the folder of the project."""
LONGEST = 80
"""Characters of a text in a message."""

HELP = (
    "`ci-eval show WORKSPACE SESSION` prints the list that was shown; the HTML report has each session in its source."
)


@dataclass(frozen=True)
class Written:
    """The file of results, with the number of results in it and of those left out."""

    path: Path
    results: int
    left_out: int


def write_misses(workspace: Workspace, task: Task, folder: Path, *, passes: Passes, most: int) -> Written:
    """Write the `most` worst misses among the sessions that pass, in order of location. Raises ConfigError if
    sessions have no location in source code, WorkspaceError if a file cannot be read or written."""
    numbers = count()
    misses = ((weight, next(numbers), result) for weight, result in _misses(workspace, task, passes))
    # The number decides between equal weights, since results cannot be compared.
    worst = heapq.nsmallest(most, misses, key=lambda miss: miss[:2])
    left_out = next(numbers) - len(worst)
    results = [result for _, _, result in sorted(worst, key=lambda miss: miss[1])]
    log = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [_run(workspace.manifest(), task, results, left_out)],
    }
    path = atomic.write(folder / NAME, msgspec.json.format(msgspec.json.encode(log), indent=1) + b"\n")
    return Written(path, len(results), left_out)


def _run(manifest: Manifest, task: Task, results: list[dict[str, object]], left_out: int) -> dict[str, object]:
    return {
        "tool": {
            "driver": {
                "name": "ci-eval",
                "semanticVersion": manifest.ci_eval,
                "rules": [_rule(outcome_name, _meaning(task)[outcome_name]) for outcome_name in ORDER],
            }
        },
        # GitHub takes what stands before the last slash for the category of the results.
        "automationDetails": {"id": f"ci-eval/{manifest.title}/"},
        **_unread(manifest),
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {
            "engine": f"{manifest.engine.name} {manifest.engine.version}",
            "project": f"{manifest.project.name} {manifest.project.revision}",
            "leftOut": left_out,
            "unparsable": round(manifest.unparsable, 4),
        },
    }


def _unread(manifest: Manifest) -> dict[str, object]:
    """A warning for each file of which most could not be read, where that is a notable share of the source."""
    if manifest.unparsable <= NOTABLE:
        return {}
    notifications = [
        {
            "level": "warning",
            "message": {
                "text": f"{share:.1%} of this file could not be read, so it has no sessions there "
                f"({manifest.unparsable:.1%} of all source)"
            },
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": quote(path), "uriBaseId": ROOT}}}],
        }
        for path, share in manifest.unparsable_files.items()
    ]
    return {"invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}]}


def _rule(outcome: str, meaning: str) -> dict[str, object]:
    # GitHub's code scanning demands all three texts.
    return {
        "id": outcome,
        "shortDescription": {"text": meaning},
        "fullDescription": {"text": f"The expected text did not stand first in the list: {meaning}."},
        "help": {"text": HELP},
        "defaultConfiguration": {"level": LEVELS[outcome]},
    }


def _meaning(task: Task) -> Mapping[str, str]:
    return {
        "failed": "the engine failed: timeout, crash or error",
        # Results name rules by their number, so each outcome needs one.
        **dict.fromkeys(ORDER[1:], "does not occur in this task"),
        **task.legend,
    }


def _misses(workspace: Workspace, task: Task, passes: Passes) -> Iterator[tuple[int, dict[str, object]]]:
    for file, sessions in workspace.sessions(Session):
        lines = Lines(file.text)
        for session in sessions:
            if session.record:
                raise ConfigError(
                    f"sessions of the task {task.name} are records of a dataset: they have no line in source code; "
                    "--format jsonl writes them"
                )
            went = outcome(task, session)
            if went in LEVELS and passes(session):
                yield ORDER.index(went), _result(session, task, went, _region(session, lines))


def _region(session: Session, lines: Lines) -> dict[str, int]:
    line, column = lines.place(session.offset)
    last, end = lines.place(session.offset + len(session.expected_text))
    # SARIF counts columns from 1.
    return {"startLine": line, "startColumn": column + 1, "endLine": last, "endColumn": end + 1}


def _result(session: Session, task: Task, went: str, region: dict[str, int]) -> dict[str, object]:
    file = {"uri": quote(session.file), "uriBaseId": ROOT}
    return {
        "ruleId": went,
        "ruleIndex": ORDER.index(went),
        "level": LEVELS[went],
        "message": {"text": _escape(_message(session, task, went))},
        "locations": [{"physicalLocation": {"artifactLocation": file, "region": region}}],
        "partialFingerprints": {"ciEvalSession/v1": session.id},
        "properties": {"kind": session.properties.kind.value, "status": session.status.value},
    }


def _message(session: Session, task: Task, went: str) -> str:
    """Return what was expected, the outcome, and the first suggestion if it was another."""
    last = session.lookups[session.until - 1] if session.lookups else None
    prefix = last.prefix if last else session.expected_text[: session.typed]
    rank = shown_rank(task, session)
    how = f"rank {rank}" if rank else "absent" if went == "absent" else _meaning(task)[went]
    if went == "failed":
        how = f"failed ({session.status.value})"
    said = f"`{_short(session.expected_text)}`: {how} {f'after “{_short(prefix)}”' if prefix else 'with nothing typed'}"
    if went == "failed":
        return f"{said}. {session.message}".strip()
    return f"{said}; first was `{_short(last.suggestions[0].text)}`" if last and last.suggestions else said


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _escape(message: str) -> str:
    """Return the message with braces and links escaped."""
    # In messages, SARIF gives both a meaning (3.11.5, 3.11.6).
    return message.replace("{", "{{").replace("}", "}}").replace("](", "\\](")
