"""The frame of all sessions that could be asked, with what is known of each beforehand. It also joins sessions that
were asked in several phases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.core.base.files import read_own
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.core.interpret.assignments import first_calls
from ci_eval.core.interpret.pack import Pack
from ci_eval.core.interpret.run import Chosen
from ci_eval.core.model import CallCompletion, PlayItem, Session
from ci_eval.core.statistics.phases import Frame
from ci_eval.core.workspace import Workspace, read_actions


@dataclass(frozen=True)
class Listed:
    """The sessions of a workspace's actions."""

    frame: Frame
    files: Sequence[tuple[Path, str]]
    """The file of actions and the source file of each session."""

    def chosen(self, places: Sequence[int]) -> Chosen:
        """Return the sessions at these indices of the frame, file by file."""
        by_file: dict[Path, tuple[str, set[str]]] = {}
        for index in places:
            file, path = self.files[index]
            by_file.setdefault(file, (path, set()))[1].add(self.frame.ids[index])
        return {file: (path, frozenset(by_file[file][1])) for file, (path, _) in sorted(by_file.items())}


def list_sessions(
    workspace: Workspace, before: Mapping[str, float] | None = None, text: Callable[[str], str] = lambda _: ""
) -> Listed:
    """Return the sessions of all actions of a workspace, in their order.

    `before`: id → how well the session went in an earlier run (0 to 1). `text`: path → the text of a source file, as
    far as it is known.
    """
    ids: list[str] = []
    files: list[tuple[Path, str]] = []
    columns: list[Sequence[Hashable]] = []
    for file in workspace.action_files():
        actions = read_actions(file)
        calls = list(first_calls(actions))
        ids += (call.session for call in calls)
        files += [(file, actions.path)] * len(calls)
        columns += _values(calls, text(actions.path))
    features: list[Sequence[Hashable]] = [*zip(*columns, strict=True)]
    if before is None:
        return Listed(Frame(ids, [*map(_number_keys, features)]), files)
    # The earlier result tells most, so it comes first; the other features tell what has changed.
    went = [before.get(session_id) for session_id in ids]
    # Features are categories, so scores are rounded to eleven of them.
    earlier = [None if score is None else round(score, 1) for score in went]
    features = [earlier, *(list(zip(earlier, values, strict=True)) for values in features)]
    return Listed(
        Frame(ids, [*map(_number_keys, features)], np.array([0.5 if score is None else score for score in went])), files
    )


def texts_below(root: Path) -> Callable[[str], str]:
    """Return a function: path → text of a file of the project, or "" if it can no longer be read, which its sessions
    say."""

    def text(path: str) -> str:
        try:
            return decode(read_own(root, path))
        except (NotText, OSError):
            return ""

    return text


_WORDS = re.compile(r"\w+|[^\w\s]")
_WIDTH = 80
"""The number of code points before a token that are looked at."""
_OFTEN = 3
"""The number up to which each count is a value of its own."""


def _values(calls: Sequence[CallCompletion | PlayItem], text: str) -> Iterator[tuple[Hashable, ...]]:
    """Yield what is known of the sessions of a file, of which `text` is the text.

    The values of a session are: its kind and what is typed of it; also where it stands and what it refers to; all that,
    the word or sign on the left of it, the package that it comes from, and its text; what is on its left, and whether
    it begins the line; the two words or signs on its left; its text; how that is written; how many of the file's
    sessions have that text.
    """
    often = Counter(call.expected_text for call in calls)
    for call in calls:
        known, typed = call.properties, len(call.prefix) if isinstance(call, CallCompletion) else 0
        before = text[max(call.offset - _WIDTH, 0) : call.offset]
        words = _WORDS.findall(before)
        left, second = words[-1] if words else None, words[-2] if len(words) > 1 else None
        begins_line = not before.rpartition("\n")[2].strip()
        kind, expected, number = known.kind, call.expected_text, often[call.expected_text]
        usage = (kind, typed, known.location, known.first_use, known.is_argument)
        yield (
            (kind, typed),
            usage,
            (*usage, None if begins_line else left, known.package, expected),
            (kind, left, begins_line),
            (left, second),
            (kind, expected),
            (kind, _shape(expected), left if left and not left.isalnum() else None),
            (kind, number if number < _OFTEN else _OFTEN + int(log2(number / _OFTEN))),
        )


def _shape(text: str) -> str:
    """Return how a name is written; "" for a text that is no name."""
    if not (text[:1].isalpha() or text[:1] == "_"):
        return ""
    if text.startswith("_"):
        return "__" if text.startswith("__") else "_"
    if text.isupper():
        return "A" if len(text) == 1 else "AA"
    if text[0].isupper():
        return "Aa"
    return "a_a" if "_" in text else "a" if text.islower() else "aA"


def _number_keys(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def join_phases(phases: Sequence[Workspace], strata: Mapping[str, int], into: Workspace) -> int:
    """Write the sessions of all phases into one workspace, in order of their offsets in the file; return the number of
    files.

    `strata`: id of the session → number of its stratum.
    """
    paths = sorted({source.path for phase in phases for source in phase.sources()})
    for path in paths:
        holders = [phase for phase in phases if phase.has_sessions(path)]
        sessions = [session for phase in holders for session in phase.decode_sessions(path, Session)]
        pack = Pack(holders[0].source(path))
        for session in sorted(sessions, key=lambda session: (session.offset, session.typed)):
            pack.add(replace(session, stratum=strata.get(session.id, 0)))
        # An interrupted run may have stored an error for that file.
        into.drop_error(path, "interpret")
        if pack.trouble:
            into.write_error(pack.trouble)
        into.write_sessions(path, pack.close())
    return len(paths)
