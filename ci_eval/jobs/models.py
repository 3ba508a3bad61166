"""The stored responses of language models, and the agreement of people with each other and with a judge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.base.chance import draw
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.catalogs import tasks
from ci_eval.core.config import Config
from ci_eval.core.model import Session
from ci_eval.core.model.units import NOTHING, amount
from ci_eval.core.statistics.nonparametric import measure_agreement
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.adapters.endpoints.client import MODE, answers_path
from ci_eval.plugins.adapters.endpoints.store import Answers
from ci_eval.plugins.mining.reviews import verdicts as human
from ci_eval.plugins.mining.reviews.verdicts import Rows


@contextmanager
def set_answer_mode(*, record: bool) -> Iterator[None]:
    """Let endpoints answer from the store alone, or with `record` ask again. Worker processes inherit the mode."""
    before = os.environ.get(MODE)
    os.environ[MODE] = "record" if record else "offline"
    try:
        yield
    finally:
        if before is None:
            del os.environ[MODE]
        else:
            os.environ[MODE] = before


def export_answers(path: Path) -> int:
    """Write a line of JSON each; return their number. Raises WorkspaceError."""
    lines = list(Answers(answers_path(machine.cache_folder())).export_lines())
    atomic.write(path, b"".join(lines))
    return len(lines)


def import_answers(paths: Sequence[Path]) -> int:
    """Existing responses stay. Return the number of added ones. Raises ConfigError."""
    store = Answers(answers_path(machine.cache_folder()))
    added = 0
    try:
        for path in paths:
            with path.open("rb") as lines:
                added += store.take(lines, str(path))
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be read: {error.strerror}") from error
    return added


def import_recordings(config: Config) -> None:
    """Add the responses of the files that the configuration names. Raises ConfigError."""
    named = [section.recorded for section in (config.engine, config.judge) if section and section.recorded]
    if named:
        # Engine and judge may name the same file.
        import_answers([Path(path).expanduser() for path in dict.fromkeys(named)])


JUDGE = "judge"
COLUMNS = ("id", "verdict", "change", "expected", "comment")
"""The columns of a table for human raters. What the judge said is left out: it would influence them."""
VERDICTS = ("same", "different")
LONGEST = 8_000
"""Characters of a cell; spreadsheets allow 32,767."""


def compare_judge(folder: Path, paths: Sequence[Path], *, limit: int, seed: int, screen: Screen) -> bool:
    """Print how well the judge of a workspace agrees with human raters; return whether there were verdicts to compare.

    A missing table is written with a sample of `limit` judged comments, the same in all tables. Raises ConfigError,
    WorkspaceError or NothingToEvaluate.
    """
    workspace = Workspace.open(folder)
    most = tasks.CATALOG.load(workspace.manifest().task).graded
    judged: dict[str, dict[str, str]] = {}
    for session in (session for _, sessions in workspace.sessions(Session) for session in sessions):
        change = "\n\n".join(session.record.context.values()) if session.record else ""
        suggestions = session.lookups[-1].suggestions[:most] if session.lookups else ()
        for rank, suggestion in enumerate(suggestions, 1):
            grade = (suggestion.grades or {}).get(JUDGE)
            # A judge that said something else than a verdict left a remark, and no grade.
            if grade is not None or suggestion.remark:
                identity = f"{session.id}-{rank}"
                judged[identity] = {
                    "id": identity,
                    "verdict": "" if grade is None else VERDICTS[0] if grade else VERDICTS[1],
                    "change": change[:LONGEST],
                    "expected": session.expected_text[:LONGEST],
                    "comment": suggestion.text[:LONGEST],
                }
    if not any(row["verdict"] for row in judged.values()):
        raise NothingToEvaluate(f"{folder} has no comment that a judge gave a verdict on: evaluate with `judge:`")
    # The id decides, so that all reviewers get the same sample in the same order.
    chosen = sorted(judged, key=lambda identity: draw(seed, f"judged {identity}"))[:limit]
    tables: dict[str, Rows] = {}
    for path in paths:
        if not path.exists():
            human.write_rows(path, COLUMNS, (), ({**judged[identity], "verdict": ""} for identity in chosen))
            screen.say(f"{len(chosen):,} comments wait for a verdict ({' or '.join(VERDICTS)}) in {path}")
        rows = human.read(path, VERDICTS)
        if rows and not rows.keys() & judged.keys():
            raise ConfigError(f"{path} has no comment of {folder}: it was made from another workspace")
        tables[path.stem] = rows
    return tell_agreement({JUDGE: judged, **tables}, screen)


def tell_agreement(tables: Mapping[str, Rows], screen: Screen) -> bool:
    """Print a row for each two raters with common items; return whether there are any. `tables`: rater → rows."""
    rows = []
    for (first, of_first), (second, of_second) in combinations(tables.items(), 2):
        pairs = human.pair_verdicts(of_first, of_second)
        if not pairs:
            continue
        agreement = measure_agreement(pairs)
        # All but these two verdicts on one item are agreement.
        unlike = {pair: count for pair, count in agreement.counts.items() if pair[0] != pair[1]}
        rows.append((
            f"{first}, {second}",
            f"{agreement.both:,}",
            amount(agreement.equal / agreement.both, "share"),
            NOTHING if agreement.kappa is None else f"{agreement.kappa:.2f}",
            NOTHING if agreement.low is None else f"{agreement.low:.2f} to {agreement.high:.2f}",
            ", ".join(f"{count:,} {one}/{two}" for (one, two), count in sorted(unlike.items())) or NOTHING,
        ))  # fmt: skip
    if rows:
        screen.table(["raters", "both decided", "agree", "kappa", "95 %", "differ"], rows, numbers=4)
    return bool(rows)
