"""Parts of logs → the files for training, validation and test, and an account of what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval import atomic, stored
from ci_eval.chance import draw
from ci_eval.learning.logs import formats as log_formats
from ci_eval.learning.logs.columns import SCHEMA, described
from ci_eval.learning.logs.contract import SIDES, TEST, TRAIN, VALIDATION, LogFormat, LogRun
from ci_eval.learning.logs.records import digest
from ci_eval.learning.logs.writing import PartCounts
from ci_eval.model import LogCounts, LogsRecord


def side_of(unit: str, *, seed: int, percent: int, test_percent: int = 0) -> str:
    """On which side a file (or project) is: the same whatever else there is. `percent`: for training;
    `test_percent`: for the test, which takes from validation alone."""
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
    """Put the parts of those names together in `folder`, in that order; they are then of no use.

    `unit`: path of a source file → what is on one side as a whole. `percent`, `test_percent`: see `side_of`.
    """
    parts.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").unlink(missing_ok=True)
    # Files that could not be asked about have sessions with a status, and no part.
    names = [name for name in names if (parts / f"{name}.counts.json").exists()]
    counts = {name: _read(parts / f"{name}.counts.json") for name in names}
    sides = {
        name: side_of(unit(each.file), seed=run.seed, percent=percent, test_percent=test_percent)
        for name, each in counts.items()
    }
    wanted = SIDES if test_percent else (TRAIN, VALIDATION)
    with atomic.writing(folder):
        for form in map(log_formats.CATALOG.load, formats):
            of_side = {side: [parts / f"{name}{form.end}" for name in names if sides[name] == side] for side in wanted}
            _gather(form, of_side, folder, run)
        atomic.write(folder / "schema.json", described())
    written = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_relative_to(parts))
    record = LogsRecord(
        schema=SCHEMA,
        formats=tuple(formats),
        split_by=split_by,
        seed=run.seed,
        percent=percent,
        train=_total([each for name, each in counts.items() if sides[name] == TRAIN]),
        validation=_total([each for name, each in counts.items() if sides[name] == VALIDATION]),
        test_percent=test_percent,
        test=_total([each for name, each in counts.items() if sides[name] == TEST]) if test_percent else None,
        files=tuple(digest(path, folder) for path in written),
    )
    atomic.write(folder / "manifest.json", msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return record


def _gather(form: LogFormat, parts: Mapping[str, Sequence[Path]], folder: Path, run: LogRun) -> None:
    if form.gather is not None:
        form.gather(parts, folder, run)
        return
    for side, wanted in parts.items():
        form.join(wanted, folder / f"{side}{form.end}")


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
