"""Usages and cases for tests."""

from __future__ import annotations

from hypothesis import strategies as st

from ci_eval.core.model import Definition, History, ObjectUsage
from ci_eval.core.queries.cases import QueryCase

A = Definition(kind="NEW", member="T")
B = Definition(kind="RETURN", member="T.Create")


def usage(calls: str, definition: Definition = A, method: str = "M") -> ObjectUsage:
    """Of the type T; `calls`: their names, with spaces between."""
    return ObjectUsage(type="T", method=method, definition=definition, calls=tuple(calls.split()))


def case(start: ObjectUsage | None, end: ObjectUsage | None) -> QueryCase:
    """The case of a history of these two states."""
    return QueryCase(History(project="p", file="f", type="T", method="M", states=(start, end)), 0, start, end, 1)


usages = st.none() | st.builds(
    usage, st.lists(st.sampled_from("abcdefgh"), max_size=8).map(" ".join), st.sampled_from([A, B, Definition()])
)


@st.composite
def evaluated_cases(draw: st.DrawFn, *, kept: int = 4, noise: bool = True) -> QueryCase:
    """With at least one added call. `kept`: the most calls that stay; `noise`: whether calls may go, and the definition
    may change."""
    staying = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=kept))
    added = draw(st.lists(st.sampled_from("efgh"), unique=True, min_size=1))
    going = draw(st.lists(st.sampled_from("xyz"), unique=True, max_size=3 if noise else 0))
    first, last = draw(st.permutations(staying + going)), draw(st.permutations(staying + added))
    definitions = [draw(st.sampled_from([A, B, Definition()])) for _ in range(2)]
    start = usage(" ".join(first), definitions[0])
    end = usage(" ".join(last), definitions[1 if noise else 0])
    return case(None if noise and not staying and draw(st.booleans()) else start, end)
