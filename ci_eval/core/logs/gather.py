"""Write a part of the logs for each source file, and gather the parts into files for training, validation and test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from types import ModuleType

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.chance import draw
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.logs import formats as log_formats
from ci_eval.core.logs.features import KIND_NAMES, KINDS
from ci_eval.core.logs.formats import SIDES, TEST, TRAIN, VALIDATION, LoggedSession, LogOrigin, LogRun
from ci_eval.core.model import LogCounts, LogsRecord, pick


def tables() -> ModuleType:
    try:
        return import_module("ci_eval.core.logs.arrow")
    except ImportError as error:
        raise ConfigError(
            f"logs as Parquet need the extra `ml` ({error}): "
            "pip install '.[ml]' in a checkout, or use --log-format jsonl"
        ) from error


def merge(target: Path, sources: Sequence[tuple[Path, LogsRecord]]) -> LogsRecord:
    """Merge the logs of several folders, in order. Raises WorkspaceError if columns or formats differ."""
    first = sources[0][1]
    for folder, record in sources:
        log_formats.check(record, folder)
        if (record.schema, record.formats) != (first.schema, first.formats):
            raise WorkspaceError(f"the logs of {folder} have other columns or formats than those of {sources[0][0]}")
    names = dict.fromkeys(file.path for _, record in sources for file in record.files)
    for form in map(log_formats.CATALOG.load, first.formats):
        for name in (name for name in names if fnmatchcase(name, form.files or f"*{form.end}")):
            parts = [folder / name for folder, _ in sources if (folder / name).is_file()]
            with atomic.writing(target / name):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                form.join(parts, target / name)
    atomic.write_json(target / "schema.json", log_formats.DESCRIPTION)
    record = replace(
        first,
        train=_sum([source.train for _, source in sources]),
        validation=_sum([source.validation for _, source in sources]),
        test=_sum([source.test for _, source in sources if source.test]) if first.test else None,
    )
    return _write_record(target, record, sorted(target.rglob("*")))


def _write_record(folder: Path, record: LogsRecord, paths: Iterable[Path]) -> LogsRecord:
    record = replace(record, files=tuple(log_formats.digest(path, folder) for path in paths if path.is_file()))
    atomic.write_json(folder / "manifest.json", record)
    return record


def _sum(counts: Sequence[LogCounts]) -> LogCounts:
    rows, expected = Counter[str](), Counter[str]()
    for count in counts:
        rows.update({kind: number for kind, (number, _) in count.kinds.items()})
        expected.update({kind: number for kind, (_, number) in count.kinds.items()})
    kinds = {kind: (rows[kind], expected[kind]) for kind in sorted(rows)}
    numbers = [name for name in LogCounts.__struct_fields__ if name != "kinds"]
    return LogCounts(kinds=kinds, **{name: sum(getattr(count, name) for count in counts) for name in numbers})


class PartCounts(LogCounts, frozen=True, kw_only=True):
    file: str


class Log:
    def __init__(self, folder: Path, name: str, origin: LogOrigin, formats: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._counts = folder / f"{name}.counts.json"
        self._file = origin.file
        self._tally = Counter(sessions=0, selected=0, queries=0)
        self._rows: Counter[str] = Counter()
        self._expected: Counter[str] = Counter()
        loaded_formats = map(log_formats.CATALOG.load, formats)
        self._parts = [form.write(folder / f"{name}{form.end}", origin) for form in loaded_formats]

    def add(self, logged: LoggedSession) -> None:
        for part in self._parts:
            part.add(logged)
        self._tally["sessions"] += 1
        self._tally["selected"] += logged.selected
        for query in logged.queries:
            self._tally["queries"] += 1
            kinds = [KIND_NAMES[KINDS.get(suggestion.kind.lower(), 0)] for suggestion in query.suggestions]
            self._rows.update(kinds)
            if query.rank:
                self._expected[kinds[query.rank - 1]] += 1

    def close(self) -> None:
        for part in self._parts:
            part.close()
        rows, expected = self._rows, self._expected
        kinds = {kind: (number, expected[kind]) for kind, number in sorted(rows.items())}
        counts = PartCounts(
            file=self._file, files=1, rows=rows.total(), expected=expected.total(), kinds=kinds, **self._tally
        )
        # The counts are written last, since files without counts are not used as a part.
        atomic.write(self._counts, msgspec.json.encode(counts))


def assign_side(unit: str, *, seed: int, percent: int, test_percent: int = 0) -> str:
    """Draw the side of a unit, independently of other units. `test_percent` is taken from validation."""
    drawn = draw(seed, f"split {unit}") * 100
    return TRAIN if drawn < percent else TEST if drawn >= 100 - test_percent else VALIDATION


def gather(folder: Path, parts: Path, names: Sequence[str], run: LogRun) -> LogsRecord:
    """Join the parts of each side in the order of `names`. Each file or each project has one side (`run.split_by`)."""
    percent, test_percent = run.percent, run.test_percent
    parts.mkdir(parents=True, exist_ok=True)
    # The manifest must not exist until all files are written.
    (folder / "manifest.json").unlink(missing_ok=True)
    # A file on which the engine failed has no part.
    counts, sides = dict[str, PartCounts](), dict[str, str]()
    for name in names:
        if (path := parts / f"{name}.counts.json").exists():
            counts[name] = stored.decode_json(stored.read(path, stored.MANIFEST), PartCounts, path)
            unit = run.project if run.split_by == "project" else f"{run.project}/{counts[name].file}"
            sides[name] = assign_side(unit, seed=run.seed, percent=percent, test_percent=test_percent)
    sides_written = SIDES if test_percent else (TRAIN, VALIDATION)
    with atomic.writing(folder):
        for form in map(log_formats.CATALOG.load, run.formats):
            paths = {name: parts / f"{name}{form.end}" for name in sides}
            of_side = {side: [paths[name] for name in sides if sides[name] == side] for side in sides_written}
            if form.gather is not None:
                form.gather(of_side, folder, run)
                continue
            for side, files in of_side.items():
                form.join(files, folder / f"{side}{form.end}")
        atomic.write_json(folder / "schema.json", log_formats.DESCRIPTION)
    written = (path for path in sorted(folder.rglob("*")) if not path.is_relative_to(parts))
    totals = {side: _sum([part for name, part in counts.items() if sides[name] == side]) for side in SIDES}
    record = LogsRecord(
        schema=log_formats.SCHEMA,
        **pick(run, "formats", "split_by", "seed", "percent", "test_percent"),
        train=totals[TRAIN],
        validation=totals[VALIDATION],
        test=totals[TEST] if test_percent else None,
        files=(),
    )
    return _write_record(folder, record, written)
