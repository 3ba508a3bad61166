"""The changes of results between two versions of an engine, by the version that made them."""

from __future__ import annotations

from ci_eval.core.model.tokens import Number, Value


class ChangeCluster(Value, frozen=True, kw_only=True):
    version: str
    """The commit or release in which the sessions changed; the last of `candidates`, if there are several."""
    title: str
    candidates: tuple[str, ...]
    """The versions in which they may have changed: one, unless some in between cannot be asked."""
    sessions: Number
    worse: Number
    """The number of sessions that are worse since then; the others are better."""
    kinds: dict[str, Number]
    changes: dict[str, Number]
    """The number of sessions by the bands of their ranks before and after."""
    examples: tuple[str, ...]


class Bisection(Value, frozen=True, kw_only=True):
    good: str
    bad: str
    versions: Number
    sessions: Number
    """The number of sessions that both ends were asked."""
    unsteady: Number
    """The number of sessions left out, since one end answered them differently when asked again."""
    changed: Number
    questions: Number
    """The number of sessions asked between the ends, by all versions together."""
    skipped: dict[str, str]
    """The versions that cannot be asked, with the reason."""
    clusters: tuple[ChangeCluster, ...]
