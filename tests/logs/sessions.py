"""A session of two queries, in which the second list has the expected text second."""

from __future__ import annotations

import numpy as np

from ci_eval.core.logs.features import FEATURES
from ci_eval.core.logs.formats import Logged, LoggedSession, LogOrigin
from ci_eval.core.model import EngineInfo, Kind, Properties, Session, Status, Suggestion

ORIGIN = LogOrigin(
    project="p", file="a.py", language="python", engine=EngineInfo(name="e", version="1"), completion_type="BASIC",
    seed=0, began=1000,
)  # fmt: skip
SHOWN = (Suggestion(text="other", kind="function"), Suggestion(text="name", kind="variable"))


def logged(*, selected: bool = False, cancelled: bool = False) -> LoggedSession:
    """Whether the user took the text at the last query, or gave up there."""
    session = Session(
        id="1", file="a.py", offset=0, expected_text="name", properties=Properties(kind=Kind.FIELD), status=Status.OK
    )
    features = np.zeros((len(SHOWN), len(FEATURES)), dtype=np.float32)
    queries = [
        Logged(prefix=prefix, suggestions=SHOWN, features=features, rank=rank, selected=taken, latency=1.0)
        for prefix, rank, taken in (("", None, False), ("n", 2, selected))
    ]
    return LoggedSession(session=session, queries=queries, cancelled=cancelled)
