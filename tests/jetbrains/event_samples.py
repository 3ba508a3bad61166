"""Lines of events, as the documented format has them."""

from __future__ import annotations

import json

KINDS = ("METHOD", None)


def line(identity: str, action: str, event: dict[str, object], user: str = "abcdefabcdef") -> str:
    body = json.dumps(event | {"validationStatus": event.get("validationStatus", "VALID")})
    return "\t".join(["1470911998827", "completion-stats", "5", user, identity, "-1", action, body]) + "\n"


def session(identity: str, *, right: int, action: str = "EXPLICIT_SELECT", ended: bool = True, size: int = 5) -> str:
    """A list of which the item with the best `ml_score` is taken; then a letter is typed, and it is taken."""
    items = [
        {
            "id": each,
            "length": 4,
            "relevance": {"ml_score": f"{each == right:d}.5", "ml_kind": "METHOD" if each % 2 else None},
        }
        for each in range(size)
    ]
    ids = list(range(size))
    started = {
        "completionListLength": size, "queryLength": 1, "userFactors": {"age": "3"}, "completionListIds": ids,
        "newCompletionListItems": items, "currentPosition": 0,
    }  # fmt: skip
    typed = {"completionListIds": ids, "newCompletionListItems": [], "itemsDiff": [], "currentPosition": 0}
    text = line(identity, "COMPLETION_STARTED", started) + line(identity, "TYPE", typed)
    end: dict[str, object] = {} if action == "COMPLETION_CANCELED" else {"selectedId": right}
    return text + (line(identity, action, end) if ended else "")
