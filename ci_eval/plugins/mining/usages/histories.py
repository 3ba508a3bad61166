"""The histories of object usages in the snapshots of edited files, after Proksch et al. (ASE 2016), "micro-commits"."""

from __future__ import annotations

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import ArchiveError
from ci_eval.core.base.files import below
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.core.model import History, ObjectPlace, ObjectUsage, StoredText
from ci_eval.core.queries.carets import hash_text, pack_text
from ci_eval.fetch.archive import Limits, unpack
from ci_eval.fetch.git import Repository
from ci_eval.plugins.mining.sources import LARGEST
from ci_eval.plugins.mining.usages.dialect import Dialect, MinedText, MinedUsage, ProjectContext, Receiver
from ci_eval.plugins.mining.usages.texts import mine

Key = tuple[str, str]
"""(method, type). It identifies a history within one file of one user."""
Dropped = Literal["file with one snapshot", "unchanged", "without any call"]
"""Why a history is left out. A history with a single state or without calls has no queries."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    time: float
    usages: Mapping[Key, ObjectUsage]
    selected: Mapping[Key, ObjectUsage] = msgspec.field(default_factory=dict)
    is_trigger: bool = False
    places: Mapping[Key, ObjectPlace] = msgspec.field(default_factory=dict)


State = tuple[ObjectUsage | None, ObjectPlace | None]


def histories(
    moments: Sequence[Moment], dropped: Counter[Dropped], *, project: str = "", file: str = "", user: str = ""
) -> Iterator[History]:
    """Yield the histories of one file of one user, sorted by their first states. If completion was called at some
    moments, only these moments count. `dropped` counts the histories that are left out."""
    chosen = [moment for moment in moments if moment.is_trigger] or list(moments)
    chosen.sort(key=lambda moment: moment.time)
    if len(chosen) < 2:
        dropped["file with one snapshot"] += bool(chosen)
        return
    for key in dict.fromkeys(key for moment in chosen for key in (*moment.usages, *moment.selected)):
        timeline: list[State] = [(moment.usages.get(key), moment.places.get(key)) for moment in chosen]
        # As in the paper, only the last selected proposal adds a state. The state is in no text, so it has no location.
        if key in chosen[-1].selected:
            timeline.append((chosen[-1].selected[key], None))
        # Of equal consecutive states, keep only the first.
        changes = [state for i, state in enumerate(timeline) if i == 0 or not equal(state[0], timeline[i - 1][0])]
        states, places = zip(*changes, strict=True)
        if len(states) < 2:
            dropped["unchanged"] += 1
        elif not any(state and state.calls for state in states):
            dropped["without any call"] += 1
        else:
            # If no state has a location, store no list of locations.
            located = places if any(places) else ()
            yield History(
                project=project, file=file, user=user, method=key[0], type=key[1], states=states, places=located
            )


def equal(first: ObjectUsage | None, second: ObjectUsage | None) -> bool:
    if first is None or second is None:
        return first is second
    same_context = (first.class_, first.method, first.definition) == (second.class_, second.method, second.definition)
    return same_context and {*first.calls} == {*second.calls}


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """A selected proposal: the method `item` replaces the `typed` characters from `offset` on."""

    item: str
    offset: int = 0
    typed: int = 0
    key: Key | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a file at a time, in seconds since an arbitrary moment."""

    user: str
    file: str
    time: float
    text: str = ""
    usages: Sequence[MinedUsage] | None = None
    """The usages if the recording has them instead of texts."""
    selection: Selection | None = None
    is_trigger: bool = False


class Mined(msgspec.Struct, kw_only=True):
    histories: list[History] = msgspec.field(default_factory=list)
    snapshots: int = 0
    files: set[tuple[str, str]] = msgspec.field(default_factory=set)
    receivers: Counter[Receiver] = msgspec.field(default_factory=Counter)
    own: int = 0
    """The number of usages of the project's own types in all snapshots. These usages are left out."""
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    dropped: Counter[Dropped] = msgspec.field(default_factory=Counter)
    texts: dict[str, StoredText] = msgspec.field(default_factory=dict)
    """Digest of a text → the text."""


class Miner(msgspec.Struct, frozen=True, kw_only=True):
    dialect: Dialect
    project: str = ""
    around: ProjectContext = msgspec.field(default_factory=ProjectContext)
    own_types: bool = False

    def mine(self, snapshots: Iterable[Snapshot], mined: Mined) -> None:
        moments = defaultdict[tuple[str, str], list[Moment]](list)
        last: dict[tuple[str, str], tuple[str, MinedText]] = {}
        texts: dict[str, str] = {}
        for snapshot in snapshots:
            at = snapshot.user, snapshot.file
            mined.snapshots += 1
            try:
                moments[at].append(self._moment(snapshot, mined, last))
                if moments[at][-1].places:
                    texts[hash_text(snapshot.text)] = snapshot.text
            except NotText as error:
                mined.skipped[f"snapshot that is not read: {error}"] += 1
        mined.files |= moments.keys()
        before = len(mined.histories)
        for user, file in sorted(moments):
            mined.histories += histories(moments[user, file], mined.dropped, project=self.project, file=file, user=user)
        needed = {place.text for history in mined.histories[before:] for place in history.places if place}
        mined.texts |= {digest: pack_text(text) for digest, text in texts.items() if digest in needed}

    def _moment(self, snapshot: Snapshot, mined: Mined, last: dict[tuple[str, str], tuple[str, MinedText]]) -> Moment:
        places: dict[Key, ObjectPlace] = {}
        if snapshot.usages is not None:
            usages, selected = self._choose_usages(snapshot.usages, mined), {}
            selection = snapshot.selection
            if selection and selection.key:
                method, type_ = selection.key
                usage = usages.get(selection.key) or ObjectUsage(type=type_, method=method)
                # If the usage has the call already, the call keeps its position.
                calls = tuple(dict.fromkeys((*usage.calls, selection.item)))
                selected[selection.key] = replace(usage, calls=calls)
        else:
            at = snapshot.user, snapshot.file
            if at not in last or last[at][0] != snapshot.text:
                last[at] = snapshot.text, mine(snapshot.text, snapshot.file, self.dialect, self.around)
            mined_text = last[at][1]
            mined.receivers += mined_text.receivers
            usages = self._choose_usages(mined_text.usages, mined)
            selected = self._select_usage(snapshot, usages)
            digest = hash_text(snapshot.text) if self.around.places else ""
            for mined_usage in mined_text.usages if self.around.places else ():
                key = mined_usage.method, mined_usage.usage.type
                if mined_usage.place and usages.get(key) is mined_usage.usage:
                    places[key] = replace(mined_usage.place, text=digest)
        return Moment(
            time=snapshot.time, usages=usages, selected=selected, is_trigger=snapshot.is_trigger, places=places
        )

    def _choose_usages(self, usages: Sequence[MinedUsage], mined: Mined) -> dict[Key, ObjectUsage]:
        chosen: dict[Key, ObjectUsage] = {}
        for mined_usage in usages:
            if mined_usage.own and not self.own_types:
                mined.own += 1
            else:
                chosen.setdefault((mined_usage.method, mined_usage.usage.type), mined_usage.usage)
        return chosen

    def _select_usage(self, snapshot: Snapshot, usages: dict[Key, ObjectUsage]) -> dict[Key, ObjectUsage]:
        selection = snapshot.selection
        # The item may have brackets or arguments after the method's name.
        name = re.match(r"\w+", selection.item) if selection else None
        if selection is None or name is None:
            return {}
        before = snapshot.text[: selection.offset]
        text = f"{before}{name[0]}(){snapshot.text[selection.offset + selection.typed :]}"
        after = self._choose_usages(mine(text, snapshot.file, self.dialect, self.around).usages, Mined())
        for key, usage in after.items():
            known = usages.get(key)
            if name[0] in usage.calls and (known is None or name[0] not in known.calls):
                return {key: replace(known, calls=(*known.calls, name[0])) if known else usage}
        return {}


def git_snapshots(repository: Repository, path: str, skipped: Counter[str]) -> Iterator[Snapshot]:
    """Yield a snapshot for each commit that changes the file, earliest first. All snapshots have the newest name of the
    file. A deleted file has an empty text. `skipped` counts the revisions that are not text."""
    revisions = repository.revisions(path)
    contents = repository.contents([revision.blob for revision in revisions if revision.blob], LARGEST)
    for position, revision in enumerate(revisions):
        data = next(contents) if revision.blob else b""
        if data is None:
            skipped[f"revision of more than {LARGEST:,} bytes"] += 1
            continue
        try:
            text = decode(data)
        except NotText:
            skipped["revision that is not text"] += 1
            continue
        # The dates of commits may decrease, so the position is used as the time.
        yield Snapshot(user="", file=path, time=position, text=text)


LARGEST_FILE = 256 << 20
"""The size limit of a file in an archive, and of a file that is read at once, in bytes."""
LIMITS = Limits(entries=500_000, file_bytes=LARGEST_FILE)


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    ends: tuple[str, ...]
    """The extensions of the edited files whose events are read."""
    skipped: Counter[str] = msgspec.field(default_factory=Counter)


class RecordedLookup(msgspec.Struct, frozen=True, kw_only=True):
    user: str
    file: str
    start: int
    """The offset of the word, in code points."""
    before: str | None
    """The text before the word, or None if it is unknown."""
    prefix: str
    candidates: Sequence[str]
    outcome: str
    """`select`, `typed`, `cancel`, or another word of the recorder."""
    item: str
    """The selected item, or "" if it is not recorded."""


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    summary: str
    read: Callable[[Path, Recording], Iterator[Snapshot]]
    """File or folder → snapshots. Counts broken parts in `Recording.skipped`; raises only OSError."""
    languages: frozenset[str] = frozenset()
    """The languages whose usages the format records. Empty if the format records texts (of any language)."""
    lookups: Callable[[Path, Recording], Iterator[RecordedLookup]] | None = None
    """File or folder → completion lists in order of time, like `read`. None if the format records no lists."""


@contextmanager
def unpack_files(path: Path, ends: Sequence[str], recording: Recording) -> Iterator[list[Path]]:
    """Yield the files with the extensions `ends`, sorted. A zip is unpacked within LIMITS. If this fails, the zip is
    counted in `recording.skipped`, and there are no files."""
    with tempfile.TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True) as name:
        root = path
        if path.is_file() and path.suffix == ".zip":
            root = Path(name, "unpacked")
            try:
                unpack(path, root, LIMITS)
            except ArchiveError as error:
                recording.skipped[f"zip that cannot be unpacked: {error}"] += 1
                root.mkdir(exist_ok=True)
        yield [root / relative for relative in sorted(below(root, root, ends))] if root.is_dir() else [root]
