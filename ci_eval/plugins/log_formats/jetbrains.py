"""The logs as the JetBrains plugin's events: eight columns, separated by tabs, one line per event.

The columns are timestamp, recorder, its version, user, session, bucket, action, and the event as JSON. As in the
plugin's logs, suggestions are described by numbers and lengths, never by their text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs import formats
from ci_eval.core.logs.features import NAMES
from ci_eval.core.logs.formats import Logged, LoggedSession, LogOrigin, LogRun

RECORDER, VERSION, BUCKET = "completion-stats", "5", "-1"
KEY_MS = 100
"""Milliseconds between two keys."""


def make_user_id(seed: int, project: str) -> str:
    return hashlib.blake2b(f"{seed}\0{project}".encode(), digest_size=6).hexdigest()


class EventsPart:
    def __init__(self, path: Path, origin: LogOrigin) -> None:
        self._partial, self._path = path.with_name(f"{path.name}.partial"), path
        self._origin = origin
        self._user = make_user_id(origin.seed, origin.project)
        self._file = self._partial.open("w", encoding="utf-8", newline="\n")
        self._time = float(origin.began)

    def add(self, logged: LoggedSession) -> None:
        queries = [query for query in logged.queries if query.suggestions]
        if not queries:
            return
        items, origin = Items(), self._origin
        for number, query in enumerate(queries):
            body = items.list_event(query) | {"currentPosition": 0, "queryLength": len(query.prefix)}
            if number:
                self._write(logged, "TYPE", body, query.latency)
                continue
            start = {
                "completionListLength": len(query.suggestions),
                "isOneLineMode": False,
                "isAutoPopup": bool(query.prefix),
                "lookupShownTime": round(query.latency),
                "mlTimeContribution": 0,
                "ideVersion": f"ci-eval {origin.engine.name} {origin.engine.version}",
                "pluginVersion": origin.engine.version,
                "mlRankingVersion": "NONE" if origin.completion_type == "BASIC" else origin.completion_type,
                "language": origin.language,
                "performExperiment": True,
                "experimentVersion": 0,
                "userFactors": {},
                "originalCompletionType": "BASIC",
                "originalInvokationCount": 0 if query.prefix else 1,
            }
            self._write(logged, "COMPLETION_STARTED", start | body, query.latency)
        last = queries[-1]
        if last.selected and last.rank is not None:
            ids = [items.known[suggestion.text] for suggestion in last.suggestions]
            for place in range(1, last.rank):
                body = {"currentPosition": place, "completionListIds": ids, "newCompletionListItems": []}
                self._write(logged, "DOWN", body, KEY_MS)
            body = {"selectedId": ids[last.rank - 1], "currentPosition": last.rank - 1, "completionListIds": ids}
            self._write(logged, "EXPLICIT_SELECT", body, KEY_MS)
            return
        # If no list had the expected text, the events cannot refer to what was typed.
        expected = items.known.get(logged.session.expected_text)
        if expected is None or logged.cancelled:
            self._write(logged, "COMPLETION_CANCELED", {}, KEY_MS)
        else:
            self._write(logged, "TYPED_SELECT", {"selectedId": expected}, KEY_MS)

    def _write(self, logged: LoggedSession, action: str, body: dict[str, object], passed: float) -> None:
        self._time += passed
        event = msgspec.json.encode(body | {"validationStatus": "UNKNOWN"}).decode()
        session = logged.session.id[:12]
        columns = (str(round(self._time)), RECORDER, VERSION, self._user, session, BUCKET, action, event)
        self._file.write("\t".join(columns) + "\n")

    def close(self) -> None:
        self._file.close()
        self._partial.rename(self._path)


class Items:
    """The suggestions of a session that the events have described so far."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._relevance: dict[str, dict[str, str | None]] = {}

    def list_event(self, query: Logged) -> dict[str, object]:
        """Return an event with all numbers, length and features of new suggestions, and changed features of others."""
        new, changed = [], []
        for suggestion, row in zip(query.suggestions, query.features.tolist(), strict=True):
            # Nine digits distinguish any two numbers of 32 bits; missing features are NaN.
            texts = (f"{value:.9g}" if value == value else None for value in row)
            relevance = dict(zip(NAMES, texts, strict=True))
            was = self._relevance.get(suggestion.text)
            number = self.known.setdefault(suggestion.text, len(self.known))
            if was is None:
                new.append({"id": number, "length": len(suggestion.text), "relevance": relevance})
            elif differing := {name: value for name, value in relevance.items() if value != was[name]}:
                changed.append({"id": number, "added": {}, "changed": differing, "removed": []})
            self._relevance[suggestion.text] = relevance
        ids = [self.known[suggestion.text] for suggestion in query.suggestions]
        return {"completionListIds": ids, "newCompletionListItems": new, "itemsDiff": changed}


NAMED = {formats.TRAIN: "train", formats.VALIDATION: "validate", formats.TEST: "test"}
COUNTED = ("All sessions", "Training sessions", "Validate sessions")
NUMBERS = re.compile(rb"\D+(\d{1,18})\D+(\d{1,18})\D+(\d{1,18})\s*")


def gather(sides: Mapping[str, Sequence[Path]], folder: Path, run: LogRun) -> None:
    """Write the plugin's layout: LANGUAGE/train/DAY/USER, LANGUAGE/validate/DAY/USER, LANGUAGE/info.

    The plugin has no test set. Its folder is like the others, and `info` does not count it.
    """
    sessions = {}
    for side, parts in sides.items():
        target = folder / run.language / NAMED[side] / run.day / make_user_id(run.seed, run.project)
        target.parent.mkdir(parents=True, exist_ok=True)
        join(parts, target)
        with target.open(encoding="utf-8") as file:
            sessions[side] = sum(line.split("\t", 7)[6] == "COMPLETION_STARTED" for line in file)
    counts = [sessions[formats.TRAIN], sessions[formats.VALIDATION]]
    _write_info(folder / run.language / "info", [sum(counts), *counts])


def join(parts: Sequence[Path], target: Path) -> None:
    """Join events in order, or add up the counts of files `info`. Raises WorkspaceError if one is damaged."""
    if target.name != "info":
        formats.join_bytes(parts, target)
        return
    matches = [NUMBERS.fullmatch(stored.read(info, stored.MANIFEST)) for info in parts]
    if None in matches:
        raise WorkspaceError(f"{parts[matches.index(None)]} is damaged: evaluate again")
    _write_info(
        target, [sum(map(int, digits)) for digits in zip(*(match.groups() for match in matches if match), strict=True)]
    )


def _write_info(target: Path, counts: Sequence[int]) -> None:
    rows = (f"{text}: {count}\n" for text, count in zip(COUNTED, counts, strict=True))
    atomic.write(target, "".join(rows).encode())


FORMAT = formats.LogFormat(
    summary="events as the JetBrains plugin logs them, without any text",
    end=".log",
    write=EventsPart,
    join=join,
    files="*/*",
    gather=gather,
)
