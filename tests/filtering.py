"""An independent reading of filter expressions, by the words of the documentation."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from ci_eval.core.model import SessionScore


def passes(session: SessionScore, conditions: dict[str, str]) -> bool:
    """Return whether a session passes all conditions, decided apart from ci-eval's own filters."""
    known = session.properties
    lists = {
        "kind": known.kind.value,
        "strategy": known.strategy,
        "scenario": known.scenario,
        "evolution": known.evolution,
    }
    flags = {"argument": known.is_argument, "first": known.first_use}
    patterns = {"file": session.file, "text": session.expected_text}
    for name, value in conditions.items():
        if name in lists and lists[name] not in value.split(","):
            return False
        if name in flags and flags[name] is not (value == "true"):
            return False
        if name in patterns and not fnmatchcase(patterns[name], value):
            return False
        if name == "prefix" and session.typed != int(value):
            return False
        if name == "length" and len(session.expected_text) < int(value):
            return False
        if name == "package" and not re.fullmatch(value, known.package or ""):
            return False
    return True
