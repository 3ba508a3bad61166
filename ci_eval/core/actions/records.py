"""The first stage for datasets: turn each line into a text file with questions, and find the items in the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from ci_eval.core import records
from ci_eval.core.actions.files import Source
from ci_eval.core.actions.generate import Generated
from ci_eval.core.actions.strategy import actions_of_items
from ci_eval.core.contracts import Item, Language, Lines, RecordItem, SourceHole, Splitter, Task
from ci_eval.core.model import FileError, Histories, ProjectInfo, StrategyConfig, sum_histories
from ci_eval.core.workspace import Workspace, pack_actions

SUFFIX = ".txt"
IDENTITIES = ("id", "meta.id")
"""The fields that may identify a record. The first field present is used; if there is none, a digest of the line."""


class RecordFile(msgspec.Struct, frozen=True, kw_only=True):
    """A line as a text file: for each item the question, then the right result."""

    path: str
    """The path `CLUSTER/NAME.txt`, or `NAME.txt` without clusters."""
    text: str
    items: tuple[Item, ...]


class Records(msgspec.Struct):
    files: list[RecordFile] = msgspec.field(default_factory=list)
    errors: list[FileError] = msgspec.field(default_factory=list)
    drawn: bool = False
    """True if another seed would make other items."""
    fates: Counter[str] = msgspec.field(default_factory=Counter)
    """Outcome → number of possible items with that outcome, for tasks that make several items from a line."""
    histories: Histories = msgspec.field(default_factory=Histories)
    texts: dict[str, str] = msgspec.field(default_factory=dict)


def read_records(lines: Lines, split: Splitter, cluster: Sequence[str]) -> Records:
    """Return the records as files, and an error for each line that is not a record.

    The values of the fields `cluster` name the cluster of a record. Without fields, each record is its own cluster. If
    there is exactly one field, every record must have it.
    """
    dataset, names, histories = Records(), set[str](), list[Histories]()
    for number, line in lines:
        try:
            if isinstance(line, str):
                raise ValueError(line)
            parts = split(line)
            ending = parts.hole.ending if parts.hole else SUFFIX
            path = _path(line, cluster, ending)
            text, items = _lay_out_hole(parts.hole) if parts.hole else _show_items(parts.items)
            if path in names:
                raise ValueError(f"an earlier line has the same record: {path.removesuffix(ending)}")
        except ValueError as error:  # noqa: PERF203  a broken line is reported, and others are read
            dataset.errors.append(FileError(path=f"line {number}", stage="actions", message=str(error)))
        else:
            names.add(path)
            dataset.texts.update(parts.texts)
            if parts.trouble:
                dataset.errors.append(FileError(path=f"line {number}", stage="actions", message=parts.trouble))
            dataset.fates.update(parts.fates)
            dataset.drawn |= parts.drawn
            histories.append(parts.histories)
            dataset.files += [RecordFile(path=path, text=text, items=items)] if items else []
    dataset.histories = sum_histories(histories)
    dataset.files.sort(key=lambda file: file.path)
    return dataset


def _lay_out_hole(hole: SourceHole) -> tuple[str, tuple[Item, ...]]:
    before, after = _plain(hole.before), _plain(hole.after)
    expected = "\n".join(line.rstrip() for line in _plain(hole.expected).split("\n"))
    # Blanks and line ends after the answer are not part of the expected text.
    filled = expected.rstrip()
    item = Item(begin=len(before), end=len(before) + len(filled), text=filled, properties=hole.properties)
    return f"{before}{expected}{after}", (item,)


def _show_items(parts: Sequence[RecordItem]) -> tuple[str, tuple[Item, ...]]:
    text, items = "", list[Item]()
    for part in parts:
        context = {name: _plain(content) for name, content in part.record.context.items()}
        references = tuple(map(_plain, part.record.references))
        record, expected = replace(part.record, context=context, references=references), _plain(part.expected)
        text += ("\n" if text else "") + shown(record.context) + "\n"
        begin, end = len(text), len(text) + len(expected)
        items.append(Item(begin=begin, end=end, text=expected, properties=part.properties, record=record))
        text += f"{expected}\n"
    return text, tuple(items)


def shown(context: Mapping[str, str]) -> str:
    """Return the context as text: short parts with names, then long parts. A single long part has no name."""
    short = [f"{name}: {text}" for name, text in context.items() if text and "\n" not in text]
    long = {name: text.strip("\n") for name, text in context.items() if "\n" in text}
    parts = list(long.values()) if len(long) == 1 else [f"{name}:\n{text}" for name, text in long.items()]
    return "\n\n".join(["\n".join(short), *parts] if short else parts)


def _plain(text: str) -> str:
    """Return the text without byte order marks, with "\n" line ends. Raises ValueError for a NUL character."""
    if "\0" in text:
        raise ValueError("it contains a NUL character")
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


def _path(line: dict[str, object], cluster: Sequence[str], ending: str) -> str:
    known = (records.field(line, field) for field in IDENTITIES)
    name = next((str(value) for value in known if isinstance(value, str | int) and value != ""), "")
    # The digest must not depend on the order of a line's fields.
    own = (_part(name) if name else _digest(msgspec.json.encode(line, order="sorted"))) + ending
    values = [records.field(line, field) for field in cluster]
    clusters = [str(value) for value in values if isinstance(value, str | int) and value != ""]
    if len(cluster) == 1 and not clusters:
        raise ValueError(f"it has no field {cluster[0]}, which groups records into clusters (`dataset.cluster`)")
    return "/".join([*(_part(part) for value in clusters for part in value.split("/")), own])


def _part(text: str) -> str:
    """Return the text as a part of a path that is safe on every system. If that changes the text, add a digest."""
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
    generated = Generated()
    for file in found.files:
        source = Source(project=project.identity_name, path=file.path, text=file.text, language=language)
        actions = actions_of_items(source, file.items, strategy, task)
        workspace.write_actions(file.path, pack_actions(actions))
        generated.files += 1
        generated.sessions += actions.sessions
        generated.size += len(file.text)
    for error in found.errors:
        workspace.write_error(error)
    return generated
