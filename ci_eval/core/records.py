"""Reading of dataset records, and the parts that tasks about records have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b

import msgspec

from ci_eval.core.base.catalog import guess
from ci_eval.core.contracts import Band, Hands, Lines, RecordItem, SourceHole, Split, Splitter, Task
from ci_eval.core.model.records import Record, Runnable
from ci_eval.core.model.sessions import LookupScore, PlayItem, SessionScore, Status
from ci_eval.core.model.settings import QueriesConfig
from ci_eval.core.model.tokens import Kind, Properties


class Sample(msgspec.Struct):
    """A line of a dataset in the neutral format (see docs/datasets.md)."""

    context: dict[str, str | None]
    references: list[str | None] | None = []
    language: str | None = ""
    instruction: str | None = ""
    run: Runnable | None = None


def neutral(line: Mapping[str, object]) -> Record:
    """Return the record of a line `{"context": {"name": "text"}, "references": ["text"], "language"?, "instruction"?,
    "run"?}`. Raises ValueError if a field is missing or has the wrong type."""
    fields = msgspec.convert(line, Sample)
    return _record(fields.language, fields.instruction, fields.context, fields.references, fields.run)


class _Hole(msgspec.Struct):
    prefix: str
    suffix: str
    expected: str
    language: str
    tests: object = None


def read_hole(line: Mapping[str, object], endings: Mapping[str, str]) -> Split:
    """Return a source file with a hole, from a line of a dataset. `endings`: language → suffix. Raises ValueError."""
    fields = msgspec.convert(line, _Hole)
    language = fields.language.lower()
    if language not in endings:
        known = ", ".join(sorted(endings))
        raise ValueError(f"unknown language {fields.language!r}{guess(language, endings)}; known are {known}")
    if not fields.expected.strip():
        raise ValueError("`expected` is empty: it is the text between `prefix` and `suffix`")
    before, expected, after = fields.prefix, fields.expected, fields.suffix
    line_of = Properties(kind=Kind.LINE, language=language)
    hole = SourceHole(before=before, expected=expected, after=after, ending=endings[language], properties=line_of)
    return Split(hole=hole, trouble="its `tests` are not run: only texts are compared" if fields.tests else "")


def takes_dataset(task: Task) -> bool:
    return bool(task.record or task.splitting)


def has_carets(task: Task) -> bool:
    """Return whether the task's records have carets in texts, at which completion engines can be asked."""
    return bool(task.splitting and task.splitting.named)


def choose_splitter(task: Task, lines: Lines, queries: QueriesConfig, seed: int) -> Splitter:
    if task.splitting:
        return task.splitting.splitter(lines, queries, seed)
    assert task.record
    return partial(_read_item, task.record)


def _read_item(read: Callable[[Mapping[str, object]], Record], line: Mapping[str, object]) -> Split:
    record, name = read(line), field(line, "meta.prompt")
    prompt = name.strip()[:LONGEST_NAME] if isinstance(name, str) else ""
    # An instruction is a prompt only if it has placeholders. Otherwise, the instruction is the record's own question.
    if not prompt and any(f"{{{part}}}" in record.instruction for part in record.context):
        prompt = blake2b(record.instruction.encode(), digest_size=4).hexdigest()
    properties = Properties(kind=Kind.RECORD, language=record.language or None, prompt=prompt or None)
    expected = record.references[0] if record.references else ""
    return Split(items=[RecordItem(record=record, expected=expected, properties=properties)])


LONGEST_NAME = 40
"""The largest number of characters of a prompt's name."""


def field(line: Mapping[str, object], name: str) -> object:
    """Return the value of a field, or of a nested field such as `meta.repository`; None if the field is missing."""
    value: object = line
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def ask_once(item: PlayItem, hands: Hands) -> None:
    hands.ask("", item.expected_text)


class _Mera(msgspec.Struct):
    instruction: str
    inputs: dict[str, str | None]
    outputs: str | None = ""
    meta: dict[str, object] | None = {}
    run: Runnable | None = None


def read_mera_line(line: Mapping[str, object]) -> Record:
    """Return the record of a line in the format of MERA CODE (with `inputs`) or the neutral one. Raises ValueError."""
    if "inputs" not in line:
        return neutral(line)
    fields = msgspec.convert(line, _Mera)
    language = (fields.meta or {}).get("language") or fields.inputs.get("language") or ""
    return _record(str(language).lower(), fields.instruction, fields.inputs, [fields.outputs], fields.run)


def _record(
    language: str | None,
    instruction: str | None,
    context: Mapping[str, str | None],
    references: Iterable[str | None] | None,
    run: Runnable | None,
) -> Record:
    return Record(
        language=language or "",
        instruction=instruction or "",
        # Data frames write null for an empty field.
        context={name: text or "" for name, text in context.items()},
        # Published test sets hide their references: the field is null or blank.
        references=tuple(text for text in references or () if text and text.strip()),
        run=run,
    )


LEASTS = (0.75, 0.5, 0.25)
BANDS = (
    Band(name="0.75 and more", outcome="first"),
    Band(name="0.5 to 0.75", outcome="near"),
    Band(name="0.25 to 0.5", outcome="low"),
    Band(name="below 0.25", outcome="absent"),
)
LEGEND: dict[str, str] = {band.outcome: f"score {band.name}" for band in reversed(BANDS)}


def find_band(score: Callable[[SessionScore], float], session: SessionScore) -> Band:
    return BANDS[sum(score(session) < least for least in LEASTS)]


def status(lookups: Sequence[LookupScore]) -> Status:
    return Status.OK if lookups[-1].total else Status.EMPTY


record_task = partial(Task, record=read_mera_line, status=status, bands=BANDS, legend=LEGEND, play=ask_once)
"""A constructor of tasks whose items are records (of MERA CODE or neutral). Each record is asked about once."""
