"""The clusters of misses: what a maintainer of an engine would fix first."""

from __future__ import annotations

from ci_eval.core.model.tokens import Number, Value


class MissExample(Value, frozen=True, kw_only=True):
    """A miss as a maintainer looks it up."""

    session: str
    file: str
    line: Number
    expected: str
    rank: Number | None
    """The rank of the expected text; None if absent."""
    ahead: tuple[str, ...]
    """The first suggestions, as far as they are ahead of the expected text."""


class Cluster(Value, frozen=True, kw_only=True):
    """The misses with one cause. Shares and gains are from 0 to 1."""

    cause: str
    kind: str
    """The kinds of the expected tokens, the most frequent first, joined by ", "."""
    first: str
    """The class of the suggestion that was first, most often; "nothing" if there was none."""
    share: float
    """The share of the lost points of RecallAt1."""
    gain: float
    """The points of RecallAt1 that would be gained at most if the cause was gone."""
    mrr_share: float
    mrr_gain: float
    certainty: float
    """The certainty that this is a fault rather than taste, by the rules of docs/causes.md."""
    sessions: Number
    defined: dict[str, Number]
    """The number of sessions by the place where the expected name is defined."""
    others: dict[str, Number] = {}
    """By title of another workspace, the number of sessions in which it has the expected text: first if that was
    offered here, at any rank if that was missing."""
    examples: tuple[MissExample, ...]


class Causes(Value, frozen=True, kw_only=True):
    """The clusters of an evaluation, or of what got worse since `base`, by share times certainty."""

    title: str
    base: str = ""
    headline: str
    """The name of the report filter that the sessions pass."""
    language: str
    sessions: Number
    lost: float
    """The lost points of RecallAt1."""
    mrr_lost: float
    judgeable: Number
    """The number of sessions that lost something although the engine offered something."""
    grammar_judged: Number
    """The number of these in which the grammar told whether words may stand at the caret; it is not known elsewhere."""
    scope_judged: Number
    """The number of these in which the scopes told whether names may stand at the caret; it is not known elsewhere."""
    others: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...]
