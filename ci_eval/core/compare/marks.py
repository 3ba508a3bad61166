"""The marks ▲ and ▼ of a page: only the verdicts that hold if the page is read as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ci_eval.core.model import Difference, Elsewhere, FailureVerdict, Verdict
from ci_eval.core.statistics.paired import holm


def mark(
    filters: Mapping[str, Mapping[str, Difference]],
    declared: Sequence[str],
    headline: str,
    failures: FailureVerdict | None = None,
) -> tuple[dict[str, dict[str, Difference]], FailureVerdict | None]:
    """Return the same verdicts, marked where they hold among all of the page (Holm): those on the declared metrics
    under every filter, those on other code, and that on failures. The verdicts themselves stay."""
    p_values = [of.p for figures in filters.values() for name, of in figures.items() if name in declared]
    # Pages show other code under the headline alone.
    p_values += [filters[headline][name].elsewhere.p for name in declared if name in filters[headline]]
    p_values += [failures.p] if failures else []
    level = holm([p for p in p_values if p is not None])

    def marks(of: Difference | Elsewhere | FailureVerdict, *, shown: bool) -> bool:
        # Without a p-value, nothing is uncertain.
        return of.verdict in {Verdict.BETTER, Verdict.WORSE} and (of.p is None or (shown and of.p <= level))

    marked: dict[str, dict[str, Difference]] = {}
    for part, figures in filters.items():
        marked[part] = {}
        for name, of in figures.items():
            elsewhere = marks(of.elsewhere, shown=part == headline and name in declared)
            there = replace(of.elsewhere, marked=elsewhere)
            marked[part][name] = replace(of, marked=marks(of, shown=name in declared), elsewhere=there)
    return marked, failures and replace(failures, marked=marks(failures, shown=True))
