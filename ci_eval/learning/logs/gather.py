"""Parts of logs → the files for training and validation, and an account of what is in them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ci_eval import atomic, stored
from ci_eval.chance import draw
from ci_eval.learning.logs import lines
from ci_eval.learning.logs.columns import SCHEMA, described
from ci_eval.learning.logs.events import user_of
from ci_eval.learning.logs.records import digest
from ci_eval.learning.logs.writing import PartCounts, tables
from ci_eval.model import LogCounts, LogsRecord

TRAIN, VALIDATION = "train", "validation"
ENDS = {"parquet": ".parquet", "jsonl": ".jsonl.gz"}


def side_of(unit: str, *, seed: int, percent: int) -> str:
    """On which side a file (or project) is: the same whatever else there is."""
    return TRAIN if draw(seed, f"split {unit}") * 100 < percent else VALIDATION


def gather(
    folder: Path,
    parts: Path,
    names: Sequence[str],
    formats: Sequence[str],
    *,
    unit: Callable[[str], str],
    split_by: str,
    seed: int,
    percent: int,
    language: str,
    project: str,
    day: str,
) -> LogsRecord:
    """Put the parts of those names together in `folder`, in that order; they are then of no use.

    `unit`: path of a source file → what is on one side as a whole. `day`: as dd_MM_yyyy, for the plugin's events.
    """
    parts.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").unlink(missing_ok=True)
    # Files that could not be asked about have sessions with a status, and no part.
    names = [name for name in names if (parts / f"{name}.counts.json").exists()]
    counts = {name: _read(parts / f"{name}.counts.json") for name in names}
    sides = {name: side_of(unit(each.file), seed=seed, percent=percent) for name, each in counts.items()}
    with atomic.writing(folder):
        for form in formats:
            if form == "jetbrains":
                _join_events(folder, parts, sides, language, day, user_of(seed, project))
                continue
            join = tables().join if form == "parquet" else lines.join
            for side in (TRAIN, VALIDATION):
                wanted = [parts / f"{name}{ENDS[form]}" for name in names if sides[name] == side]
                join(wanted, folder / f"{side}{ENDS[form]}")
        atomic.write(folder / "schema.json", described())
    written = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_relative_to(parts))
    record = LogsRecord(
        schema=SCHEMA,
        formats=tuple(formats),
        split_by=split_by,
        seed=seed,
        percent=percent,
        train=_total([each for name, each in counts.items() if sides[name] == TRAIN]),
        validation=_total([each for name, each in counts.items() if sides[name] == VALIDATION]),
        files=tuple(digest(path, folder) for path in written),
    )
    atomic.write(folder / "manifest.json", msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return record


def _read(path: Path) -> PartCounts:
    return stored.decoded(stored.read(path, stored.MANIFEST), PartCounts, path)


def _total(counts: Sequence[PartCounts]) -> LogCounts:
    rows: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for each in counts:
        rows.update({kind: found.rows for kind, found in each.kinds.items()})
        expected.update({kind: found.expected for kind, found in each.kinds.items()})
    return LogCounts(
        files=len(counts),
        sessions=sum(each.sessions for each in counts),
        selected=sum(each.selected for each in counts),
        queries=sum(each.queries for each in counts),
        rows=rows.total(),
        expected=expected.total(),
        kinds={kind: (rows[kind], expected[kind]) for kind in sorted(rows)},
    )


def _join_events(folder: Path, parts: Path, sides: dict[str, str], language: str, day: str, user: str) -> None:
    """As the plugin lays them out: LANGUAGE/train/DAY/USER, LANGUAGE/validate/DAY/USER, LANGUAGE/info."""
    sessions: Counter[str] = Counter()
    for side, named in ((TRAIN, "train"), (VALIDATION, "validate")):
        target = folder / language / named / day / user
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{target.name}.partial")
        with partial.open("wb") as whole:
            for name, on in sides.items():
                if on == side:
                    with (parts / f"{name}.log").open("rb") as file:
                        shutil.copyfileobj(file, whole)
        partial.rename(target)
        sessions[side] = _sessions(target)
    info = (
        f"All sessions: {sessions.total()}\nTraining sessions: {sessions[TRAIN]}\n"
        f"Validate sessions: {sessions[VALIDATION]}\n"
    )
    atomic.write(folder / language / "info", info.encode())


def _sessions(path: Path) -> int:
    with path.open(encoding="utf-8") as file:
        return sum(line.split("\t", 7)[6] == "COMPLETION_STARTED" for line in file)
