"""What reports are told of a stored source beside its sessions."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.model import CallCompletion, FileActions, Kind, Properties, SourceFile, unasked_stretches
from ci_eval.core.workspace import Workspace, pack_actions


def test_places_that_were_not_drawn_are_those_without_a_session(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "w")
    source = SourceFile(path="a.py", checksum="", text="one two one")
    assert workspace.find_extents("a.py") == {}
    asked = tuple(
        CallCompletion(
            session=f"{offset} {prefix}",
            offset=offset,
            prefix=prefix,
            expected_text=source.text[offset : offset + 3],
            properties=Properties(kind=Kind.VARIABLE),
        )
        for offset in (0, 4, 8)
        for prefix in ("", "o")
    )
    stored = FileActions(path="a.py", checksum="", sessions=6, unparsable=0.0, actions=asked)
    workspace.write_actions("a.py", pack_actions(stored))
    assert unasked_stretches(workspace.find_extents("a.py"), {4}) == [(0, 3, "U"), (8, 11, "U")]
