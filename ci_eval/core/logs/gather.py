"""The gathering of logs' parts into the files for training, validation and test, with a manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.chance import draw
from ci_eval.core.logs import formats as log_formats
from ci_eval.core.logs.columns import SCHEMA, describe_columns
from ci_eval.core.logs.contract import SIDES, TEST, TRAIN, VALIDATION, LogFormat, LogRun
from ci_eval.core.logs.records import digest
from ci_eval.core.logs.writing import PartCounts
from ci_eval.core.model import LogCounts, LogsRecord


def assign_side(unit: str, *, seed: int, percent: int, test_percent: int = 0) -> str:
    """Return the side that a file or project is on, independent of all others. `percent` is the share for training;
    `test_percent` is that for the test, which reduces validation alone."""
    drawn = draw(seed, f"split {unit}") * 100
    return TRAIN if drawn < percent else TEST if drawn >= 100 - test_percent else VALIDATION


def gather(
    folder: Path,
    parts: Path,
    names: Sequence[str],
    formats: Sequence[str],
    run: LogRun,
    *,
    unit: Callable[[str], str],
    split_by: str,
    percent: int,
    test_percent: int = 0,
) -> LogsRecord:
    """Put the parts of these names together in `folder`, in that order. The parts are consumed.

    `unit` maps the path of a source file to what is on one side as a whole. See `assign_side` for `percent` and
    `test_percent`.
    """
    parts.mkdir(parents=True, exist_ok=True)
    # Until all files are written, no manifest may vouch for them.
    (folder / "manifest.json").unlink(missing_ok=True)
    # Files on which the engine failed have sessions with a status, and no part.
    names = [name for name in names if (parts / f"{name}.counts.json").exists()]
    counts = {name: _read(parts / f"{name}.counts.json") for name in names}
    sides = {
        name: assign_side(unit(part.file), seed=run.seed, percent=percent, test_percent=test_percent)
        for name, part in counts.items()
    }
    sides_written = SIDES if test_percent else (TRAIN, VALIDATION)
    with atomic.writing(folder):
        for form in map(log_formats.CATALOG.load, formats):
            of_side = {
                side: [parts / f"{name}{form.end}" for name in names if sides[name] == side] for side in sides_written
            }
            _gather(form, of_side, folder, run)
        atomic.write(folder / "schema.json", describe_columns())
    written = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_relative_to(parts))
    record = LogsRecord(
        schema=SCHEMA,
        formats=tuple(formats),
        split_by=split_by,
        seed=run.seed,
        percent=percent,
        train=_total([part for name, part in counts.items() if sides[name] == TRAIN]),
        validation=_total([part for name, part in counts.items() if sides[name] == VALIDATION]),
        test_percent=test_percent,
        test=_total([part for name, part in counts.items() if sides[name] == TEST]) if test_percent else None,
        files=tuple(digest(path, folder) for path in written),
    )
    atomic.write(folder / "manifest.json", msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return record


def _gather(form: LogFormat, parts: Mapping[str, Sequence[Path]], folder: Path, run: LogRun) -> None:
    if form.gather is not None:
        form.gather(parts, folder, run)
        return
    for side, files in parts.items():
        form.join(files, folder / f"{side}{form.end}")


def _read(path: Path) -> PartCounts:
    return stored.decode_json(stored.read(path, stored.MANIFEST), PartCounts, path)


def _total(counts: Sequence[PartCounts]) -> LogCounts:
    rows: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for part in counts:
        rows.update({kind: count.rows for kind, count in part.kinds.items()})
        expected.update({kind: count.expected for kind, count in part.kinds.items()})
    return LogCounts(
        files=len(counts),
        sessions=sum(part.sessions for part in counts),
        selected=sum(part.selected for part in counts),
        queries=sum(part.queries for part in counts),
        rows=rows.total(),
        expected=expected.total(),
        kinds={kind: (rows[kind], expected[kind]) for kind in sorted(rows)},
    )
