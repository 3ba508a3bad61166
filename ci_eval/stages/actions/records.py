"""Stage 1 for datasets: each line → a file that shows what is asked, and the items in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from ci_eval import records
from ci_eval.contracts import Item, Language, Task
from ci_eval.model import FileError, ProjectInfo, Record, StrategyConfig
from ci_eval.splitting.contract import Lines, RecordItem, Splitter
from ci_eval.stages.actions.files import Source
from ci_eval.stages.actions.generate import Generated
from ci_eval.stages.actions.strategy import actions_of_items
from ci_eval.workspace import Workspace, pack_actions

SUFFIX = ".txt"
IDENTITIES = ("id", "meta.id")
"""Fields that name a record, the first one that is there; without any, it is named by a digest of its line."""


@dataclass(frozen=True, kw_only=True)
class RecordFile:
    """A line as a file of a project: of each of its items what is given, then what would be right."""

    path: str
    """`CLUSTER/NAME.txt`, or `NAME.txt` where nothing clusters."""
    text: str
    items: tuple[Item, ...]


@dataclass
class Records:
    """What a dataset holds."""

    files: list[RecordFile] = field(default_factory=list)
    """In order of their paths."""
    errors: list[FileError] = field(default_factory=list)
    """Lines that are no records."""
    fates: Counter[str] = field(default_factory=Counter)
    """What became of all that might have been an item, in tasks whose lines are several."""
    texts: dict[str, str] = field(default_factory=dict)
    """Digest → the texts that the records' carets are in."""


def read_records(lines: Lines, split: Splitter, cluster: Sequence[str]) -> Records:
    """The records in these lines. `cluster`: names of the fields by which they are sampled together; none = each by
    itself. One field must be there; of several, those that are.

    A line that is no record becomes an error; the others go on.
    """
    found, names = Records(), set[str]()
    for number, line in lines:
        try:
            if isinstance(line, str):
                raise ValueError(line)
            parts = split(line)
            path, (text, items) = _path(line, cluster), _shown(parts.items)
            if path in names:
                raise ValueError(f"a line before it is the record {path.removesuffix(SUFFIX)}, too")
        except ValueError as error:  # noqa: PERF203  a line that is no record costs itself
            found.errors.append(FileError(path=f"line {number}", stage="actions", message=str(error)))
        else:
            names.add(path)
            found.texts.update(parts.texts)
            if parts.trouble:
                found.errors.append(FileError(path=f"line {number}", stage="actions", message=parts.trouble))
            found.fates.update(parts.fates)
            found.files += [RecordFile(path=path, text=text, items=items)] if items else []
    found.files.sort(key=lambda each: each.path)
    return found


def _shown(parts: Sequence[RecordItem]) -> tuple[str, tuple[Item, ...]]:
    """The text that shows these items, one below the other, and where they are in it."""
    text, items = "", list[Item]()
    for each in parts:
        record, expected = _plain_record(each.record), _plain(each.expected)
        text += ("\n" if text else "") + shown(record.context) + "\n"
        begin, end = len(text), len(text) + len(expected)
        items.append(Item(begin=begin, end=end, text=expected, properties=each.properties, record=record))
        text += f"{expected}\n"
    return text, tuple(items)


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


def _path(line: dict[str, object], cluster: Sequence[str]) -> str:
    known = (records.field(line, each) for each in IDENTITIES)
    name = next((str(each) for each in known if isinstance(each, str | int) and each != ""), "")
    own = (_part(name) if name else _digest(msgspec.json.encode(line, order="sorted"))) + SUFFIX
    given = [records.field(line, each) for each in cluster]
    together = [str(each) for each in given if isinstance(each, str | int) and each != ""]
    if len(cluster) == 1 and not together:
        raise ValueError(f"it has no field {cluster[0]}, by which records are sampled together (dataset.cluster)")
    return "/".join([*(_part(part) for each in together for part in each.split("/")), own])


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
        source = Source(project=project.identified, path=each.path, text=each.text, language=language)
        actions = actions_of_items(source, each.items, strategy, task)
        workspace.write_actions(each.path, pack_actions(actions))
        made.files += 1
        made.sessions += actions.sessions
        made.size += len(each.text)
    for error in found.errors:
        workspace.write_error(error)
    return made
