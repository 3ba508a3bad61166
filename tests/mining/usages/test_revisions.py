"""Histories of usages from a Git repository."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ci_eval.core.fetch.git import repository
from ci_eval.plugins.mining.usages.languages import CATALOG
from ci_eval.plugins.mining.usages.revisions import snapshots
from ci_eval.plugins.mining.usages.snapshots import Mined, Miner
from tests.fetch import repository as origin


def test_each_commit_of_a_file_is_a_state(tmp_path: Path) -> None:
    made = origin.create(tmp_path / "origin")
    head = "from a import Box\n# " + "x" * 200 + "\ndef put():\n    box = Box()\n"
    made.commit(old_py=head)
    made.commit(old_py=f"{head}    box.open()\n")
    made.git("mv", "old.py", "new.py")
    made.commit(new_py=f"{head}    box.open()\n    box.close()\n")
    (made.folder / "new.py").write_bytes(b"\0" + head.encode())
    made.commit()
    made.commit(new_py="# nothing\n")
    mined = Mined()
    with repository(made.url) as found:
        Miner(dialect=CATALOG.load("python"), project="p").mine(snapshots(found, "new.py", mined.skipped), mined)
    (history,) = mined.histories
    assert (history.project, history.file, history.method) == ("p", "new.py", "new.put")
    assert [state.calls if state else None for state in history.states] == [(), ("open",), ("open", "close"), None]
    assert mined.skipped == Counter({"revision that is no text": 1})
