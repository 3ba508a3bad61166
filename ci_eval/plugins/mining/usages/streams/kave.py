"""The events of KaVE, recorded in Visual Studio: zips of JSON, whose trees have the usages, in C#."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ci_eval.plugins.mining.usages.kave.names import method_name, type_name
from ci_eval.plugins.mining.usages.kave.trees import SstWalk
from ci_eval.plugins.mining.usages.recordings import Recording, Stream, read_whole, seconds, unpack_files
from ci_eval.plugins.mining.usages.snapshots import Selection, Snapshot

COMPLETION = "CompletionEvent"
APPLIED = 0
"""Value of TerminatedState for an applied proposal."""


class Proposal(msgspec.Struct, rename="pascal"):
    name: str = ""


class Selected(msgspec.Struct, rename="pascal"):
    """A proposal that was highlighted."""

    proposal: Proposal = msgspec.field(default_factory=Proposal)


class Context(msgspec.Struct):
    tree: dict[str, object] = msgspec.field(name="SST", default_factory=dict)


class Event(msgspec.Struct, rename="pascal"):
    """A call of completion that was recorded."""

    context: Context = msgspec.field(name="Context2", default_factory=Context)
    proposal_collection: list[Proposal] = []
    selections: list[Selected] = []
    terminated_state: int = 3
    triggered_at: str = ""

    def selected(self) -> str:
        """Return the method that was taken, or an empty string. If the taken proposal is not recorded, the first of the
        list counts."""
        if self.terminated_state != APPLIED:
            return ""
        shown = [selection.proposal for selection in self.selections[-1:]] or self.proposal_collection[:1]
        name = method_name(shown[0].name) if shown else None
        return name.name if name else ""


class Kind(msgspec.Struct):
    type: str = msgspec.field(name="$type", default="")


def read(path: Path, recording: Recording) -> Iterator[Snapshot]:
    zips = sorted(path.rglob("*.zip")) if path.is_dir() else []
    for source in zips or [path]:
        user = source.relative_to(path).with_suffix("").as_posix() if zips else path.stem
        with unpack_files(source, (".json",), recording) as files:
            for file in files:
                yield from _snapshot(file, user, recording)


def _snapshot(file: Path, user: str, recording: Recording) -> Iterator[Snapshot]:
    data = read_whole(file, recording)
    if data is None:
        return
    try:
        if COMPLETION not in msgspec.json.decode(data, type=Kind).type:
            recording.skipped["event other than a completion"] += 1
            return
        event = msgspec.json.decode(data, type=Event)
        time = seconds(event.triggered_at)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError):
        recording.skipped["file that is no event of KaVE"] += 1
        return
    tree = event.context.tree
    enclosing = tree.get("EnclosingType")
    tree_usages = SstWalk().run(tree)
    item = event.selected()
    yield Snapshot(
        user=user,
        file=type_name(enclosing).name if isinstance(enclosing, str) else "",
        time=time,
        usages=tree_usages.usages,
        selection=Selection(item=item, key=tree_usages.completed) if item and tree_usages.completed else None,
        is_trigger=True,
    )


STREAM = Stream(
    summary="KaVE's events from Visual Studio: zips of JSON, C# only", read=read, languages=frozenset(["csharp"])
)
