"""The results of cases, and what their lists begin with."""

from __future__ import annotations

from ci_eval.core.model.tokens import Number, Value


class CaseResult(Value, frozen=True, kw_only=True):
    file: str
    line: Number
    caret: str
    """The line, with a bar at the caret."""
    directives: str
    reasons: tuple[str, ...]
    """The reasons why it is broken; none if it is kept."""
    first: tuple[str, ...]
    """The beginning of the list."""

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.directives}"


class ListChange(Value, frozen=True, kw_only=True):
    """A list that does not begin as in the snapshot; None on the side that does not have the case."""

    key: str
    base: tuple[str, ...] | None
    new: tuple[str, ...] | None


class Cases(Value, frozen=True, kw_only=True):
    title: str
    """The engines that were asked, with their versions."""
    left_out: tuple[str, ...] = ()
    """The languages whose cases the engine does not know."""
    cases: tuple[CaseResult, ...]
    base: str | None = None
    """The title of the snapshot that the lists are compared with; None if there is none."""
    changes: tuple[ListChange, ...] = ()

    @property
    def broken(self) -> int:
        return sum(bool(case.reasons) for case in self.cases)


class Snapshot(Value, frozen=True, kw_only=True):
    """The beginning of each list in an earlier run. `lists`: file and line of code → its first suggestions."""

    title: str
    lists: dict[str, tuple[str, ...]]
