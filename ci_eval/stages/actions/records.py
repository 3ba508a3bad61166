"""Stage 1 for datasets: each record → a file that shows it, and the one item in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from ci_eval import records
from ci_eval.contracts import Item, Language, Task
from ci_eval.model import FileError, Kind, ProjectInfo, Properties, Record, StrategyConfig
from ci_eval.stages.actions.files import Source
from ci_eval.stages.actions.generate import Generated
from ci_eval.stages.actions.strategy import actions_of_items
from ci_eval.workspace import Workspace, pack_actions

SUFFIX = ".txt"
IDENTITIES = ("id", "meta.id")
"""Fields that name a record, the first one that is there; without any, it is named by a digest of its line."""

Lines = Iterable[tuple[int, dict[str, object] | str]]
"""Number of a line → its fields, or why it has none."""


@dataclass(frozen=True, kw_only=True)
class RecordFile:
    """A record as a file of a project: what is given, then what would be right."""

    path: str
    """`CLUSTER/NAME.txt`, or `NAME.txt` where nothing clusters."""
    text: str
    item: Item


@dataclass
class Records:
    """What a dataset holds."""

    files: list[RecordFile] = field(default_factory=list)
    """In order of their paths."""
    errors: list[FileError] = field(default_factory=list)
    """Lines that are no records."""


def read_records(lines: Lines, read: Callable[[Mapping[str, object]], Record], cluster: str) -> Records:
    """The records in these lines. `cluster`: name of the field by which they are sampled together; "" = none.

    A line that is no record becomes an error; the others go on.
    """
    found, names = Records(), set[str]()
    for number, line in lines:
        try:
            made = _file(line, read, cluster)
            if made.path in names:
                raise ValueError(f"a line before it is the record {made.path.removesuffix(SUFFIX)}, too")
        except ValueError as error:  # noqa: PERF203  a line that is no record costs itself
            found.errors.append(FileError(path=f"line {number}", stage="actions", message=str(error)))
        else:
            names.add(made.path)
            found.files.append(made)
    found.files.sort(key=lambda each: each.path)
    return found


def _file(line: dict[str, object] | str, read: Callable[[Mapping[str, object]], Record], cluster: str) -> RecordFile:
    if isinstance(line, str):
        raise ValueError(line)
    record = _plain_record(read(line))
    given = shown(record.context)
    expected = record.references[0] if record.references else ""
    begin = len(given) + 1
    item = Item(
        begin=begin,
        end=begin + len(expected),
        text=expected,
        properties=Properties(kind=Kind.RECORD, language=record.language or None),
        record=record,
    )
    return RecordFile(path=_path(line, cluster), text=f"{given}\n{expected}\n", item=item)


def shown(context: Mapping[str, str]) -> str:
    """What a person sees of it: short parts by name, then the long ones; a single long one goes without its name."""
    short = [f"{name}: {text}" for name, text in context.items() if text and "\n" not in text]
    long = {name: text.strip("\n") for name, text in context.items() if "\n" in text}
    parts = list(long.values()) if len(long) == 1 else [f"{name}:\n{text}" for name, text in long.items()]
    return "\n\n".join(["\n".join(short), *parts] if short else parts)


def _plain_record(record: Record) -> Record:
    context = {name: _plain(text) for name, text in record.context.items()}
    return replace(record, context=context, references=tuple(map(_plain, record.references)))


def _plain(text: str) -> str:
    """With the line ends that a file of source code is read with, too."""
    if "\0" in text:
        raise ValueError("it holds a NUL character, which no text does")
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


def _path(line: dict[str, object], cluster: str) -> str:
    known = (records.field(line, each) for each in IDENTITIES)
    name = next((str(each) for each in known if isinstance(each, str | int) and each != ""), "")
    own = (_part(name) if name else _digest(msgspec.json.encode(line, order="sorted"))) + SUFFIX
    if not cluster:
        return own
    together = records.field(line, cluster)
    if not isinstance(together, str | int) or together == "":
        raise ValueError(f"it has no field {cluster}, by which records are sampled together (dataset.cluster)")
    return "/".join([*map(_part, str(together).split("/")), own])


def _part(text: str) -> str:
    """A part of a path: the text itself where it is harmless, else as much of it as is, with a digest."""
    safe = re.sub(r"[^A-Za-z0-9._+-]+", "_", text)[:80].lstrip(".")
    return (
        safe
        if safe == text and not safe.endswith(SUFFIX)
        else f"{safe.removesuffix(SUFFIX)}-{_digest(text.encode())[:8]}"
    )


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def generate_records(
    found: Records, project: ProjectInfo, language: Language, strategy: StrategyConfig, task: Task, workspace: Workspace
) -> Generated:
    """Write the actions of every record, and the errors of the lines that are none."""
    made = Generated()
    for each in found.files:
        source = Source(project=project.name, path=each.path, text=each.text, language=language)
        actions = actions_of_items(source, [each.item], strategy, task)
        workspace.write_actions(each.path, pack_actions(actions))
        made.files += 1
        made.sessions += actions.sessions
        made.size += len(each.text)
    for error in found.errors:
        workspace.write_error(error)
    return made
