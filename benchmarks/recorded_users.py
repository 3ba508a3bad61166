"""Writes a recording of made-up people who type real projects, in the neutral format.

python benchmarks/recorded_users.py OUTPUT.jsonl [--tokens 500] [--folder DIR]

Ten hidden users of benchmarks/user_emulation_experiment.py, each of whom types another project from top to bottom.
What they are shown are the lists of the engine `words`, ordered by FREQUENCY, at most 50 suggestions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from user_emulation_experiment import PROJECTS, SHOWN, Hidden, List, Token

from ci_eval.core.logs.features import NAMES
from ci_eval.core.model import Lookup, Session, SourceFile
from ci_eval.core.workspace import Workspace

USERS = PROJECTS[:10]
NO_ROWS = np.empty((0, len(NAMES)), np.float32)


def evaluated(folder: Path, spec: str, limit: int) -> Workspace:
    """The project with a list at every prefix; evaluated once and kept in `folder`."""
    workspace = folder / spec.partition("==")[0]
    if not (workspace / "reports").exists():
        subprocess.run(
            [
                sys.executable, "-m", "ci_eval", "evaluate", "--project", f"pypi:{spec}", "--engine", "words",
                "--completion-type", "FREQUENCY", "--output", workspace,
                "--set", "actions.strategy.prefix={name: EveryPrefix}", "--set", f"interpret.sessionsLimit={limit}",
            ],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    return Workspace.open(workspace)


def typed(user: Hidden, file: SourceFile, sessions: Sequence[Session]) -> Iterator[dict[str, object]]:
    """The events of one file, typed up to its last token."""
    of = {"user": f"user {user.number}", "file": file.path}
    written = 0
    for session in sorted(sessions, key=lambda each: each.offset):
        if session.offset < written or len(session.lookups) != len(session.expected_text):
            continue
        asked = user(Token(session.id, session.properties.kind, tuple(map(_listed, session.lookups))))
        for number, (_, at, _, taken) in enumerate(asked):
            yield {
                **of,
                "t": session.offset + at,
                "op": "edit",
                "offset": written,
                "ins": file.text[written : session.offset + at],
            }
            written = session.offset + at
            end = _end(session, at, taken=taken) if number == len(asked) - 1 else {"outcome": "typed"}
            shown = [each.text for each in session.lookups[at].suggestions[:SHOWN]]
            prefix = session.expected_text[:at]
            yield {
                **of,
                "t": written,
                "op": "completion",
                "offset": written,
                "prefix": prefix,
                "candidates": shown,
                **end,
            }


def _listed(lookup: Lookup) -> List:
    return List(NO_ROWS, lookup.rank if lookup.rank and lookup.rank <= SHOWN else None)


def _end(session: Session, at: int, *, taken: bool) -> dict[str, str]:
    if taken:
        return {"outcome": "select", "item": session.expected_text}
    if at < len(session.expected_text) - 1:
        return {"outcome": "cancel"}
    return {"outcome": "typed", "item": session.expected_text}


def main() -> None:
    """Write the recording."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--tokens", type=int, default=500, help="of each project, about")
    parser.add_argument("--folder", type=Path, help="keeps the evaluations there")
    given = parser.parse_args()
    events = 0
    with tempfile.TemporaryDirectory() as temporary, given.output.open("w") as output:
        for number, spec in enumerate(USERS):
            workspace = evaluated(given.folder or Path(temporary), spec, given.tokens)
            for file, sessions in workspace.sessions(Session):
                for event in typed(Hidden(100 + number), file, list(sessions)):
                    output.write(json.dumps(event) + "\n")
                    events += 1
    print(f"{events:,} events of {len(USERS)} users")


if __name__ == "__main__":
    main()
